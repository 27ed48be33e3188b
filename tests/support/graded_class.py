"""A small graded class, made with the command, and comments on its students."""

from support.commands import invoke, succeed


def grade_class(folder, submissions, **files):
    """Grade softmax of these students, with more files such as `course_toml`; return the folder of the results."""
    for name, text in submissions.items():
        (folder / "class" / name).mkdir(parents=True)
        (folder / "class" / name / "softmax.py").write_text(text)
    for name, text in files.items():
        (folder / "class" / name.replace("_", ".")).write_text(text)
    succeed("grade", folder / "class", "--out", folder / "out", "--unsafe-no-sandbox")
    return folder / "out"


def comment(out, *arguments, code=0):
    """Run `headway comment`, which must end with this exit code; return what it says."""
    done = invoke("comment", out, *arguments, "--no-color", COLUMNS="300")
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr
