"""A small graded class, made with the command, and comments on its students."""

from support.commands import invoke, succeed
from support.editing import write_files


def grade_class(folder, submissions, **files):
    """Grade softmax of these students, with more files such as `course_toml`; return the folder of the results."""
    code = {f"{name}/softmax.py": text for name, text in submissions.items()}
    write_files(folder / "class", code | {name.replace("_", "."): text for name, text in files.items()})
    succeed("grade", folder / "class", "--out", folder / "out", "--unsafe-no-sandbox")
    return folder / "out"


def comment(out, *arguments, code=0):
    """Run `headway comment`, which must end with this exit code; return what it says."""
    done = invoke("comment", out, *arguments, "--no-color", COLUMNS="300")
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr
