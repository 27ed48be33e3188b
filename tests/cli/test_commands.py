"""The command line as its users meet it: exit codes, one clear line for bad input, text that is readable anywhere."""

import json
import os
import shutil
import subprocess
import sys

import pytest
from support.commands import HEADWAY, SOFTMAX, headway, timeless
from support.paths import SUBMISSIONS

from autograder.curriculum.stubs import bundled


@pytest.fixture
def workspace(submission):
    return submission(softmax=SOFTMAX)


def test_exit_codes(workspace, submission, tmp_path):
    assert headway("check", "softmax.softmax", "--dir", workspace).returncode == 0
    assert headway("check", "softmax", "--dir", workspace).returncode == 1
    assert headway("check", "sofmax", "--dir", workspace).returncode == 2
    assert headway("check", "--no-such-option").returncode == 2
    assert headway("list").returncode == 0


def test_when_all_that_was_asked_for_is_right_the_next_function_is_named(submission, solutions):
    softmax = (solutions / "softmax.py").read_text("utf-8")
    stub = "def one_hot(ids, vocab_size):\n    raise NotImplementedError\n"
    folder = submission(softmax=softmax, embeddings=stub)
    done = headway("check", "softmax", "--dir", folder)
    assert done.returncode == 0
    told = " ".join(done.stdout.split())
    assert "All 28 checks passed. Next: write one_hot in embeddings.py" in told
    assert "softmax.py ends with an experiment. Guess first, then: python softmax.py" in told
    (folder / "softmax.py").write_text(softmax.replace("__main__", "never"), "utf-8")
    assert "experiment" not in headway("check", "softmax", "--dir", folder).stdout
    done = headway("check", "softmax.softmax", "--dir", folder)
    told = " ".join(done.stdout.split())
    assert "All 9 checks passed. Next: softmax.log_softmax, which has not passed yet" in told
    assert "experiment" not in told, "not all of the assignment is known to pass"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["check", "sotfmax"], "Did you mean 'softmax'"),
        (["check", "softmax.sofmax"], "Did you mean 'softmax.softmax'"),
        (["check", "--dir", "no-such-folder"], "headway init no-such-folder"),
        (["check", "--dir", "a-file"], "a-file is not a folder"),
        (["check", "--dir", "x" * 300], "File name too long"),
        (["grade", "x" * 300, "--out", "out"], "File name too long"),
        (["check", "--dir", "empty"], "holds none of the assignments"),
        (["check", "softmax", "--dir", "work", "--json", "no/such/folder.json"], "cannot write no/such/folder.json"),
        (["grade", "no-such-folder", "--out", "out"], "no such folder: no-such-folder"),
        (["grade", "empty", "--out", "out"], "no submissions in empty"),
        (["grade", "class", "--out", "a-file"], "cannot write to a-file"),
        (["chekc"], "Did you mean 'check'"),
        (["release", "out"], "headway release DIR --format stubs"),
        (["release", "work", "--format", "policy"], "work/course.toml is there already, and stays"),
        (["init", "a-file"], "cannot write to a-file"),
        (["check", "--no-such-option"], "headway check --help"),
        (["check", "--seed", "-1"], "headway check --help"),
        (["grade", "class"], "Missing option '--out'"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(arguments, words, tmp_path):
    (tmp_path / "a-file").write_text("x")
    (tmp_path / "empty").mkdir()
    (tmp_path / "class" / "ada").mkdir(parents=True)
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "softmax.py").write_text(SOFTMAX)
    (tmp_path / "work" / "course.toml").touch()
    done = headway(*arguments, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert words in done.stderr
    assert done.stderr.startswith("headway: ")
    assert len(done.stderr.splitlines()) == 1
    assert "Traceback" not in done.stderr


def as_others():
    """What a command begins with so that permissions count, which they do not for root."""
    if os.geteuid() != 0:
        return []
    rights = "-dac_override,-dac_read_search"
    prefix = ["setpriv", f"--bounding-set={rights}", f"--inh-caps={rights}"]
    if shutil.which("setpriv") is None or subprocess.run([*prefix, "true"], check=False).returncode:
        pytest.skip("root may read everything here")
    return prefix


@pytest.mark.parametrize("arguments", [["check"], ["list"], ["grade", "--out", "out"], ["report"]])
@pytest.mark.parametrize("inside", [".", "inside"])
def test_what_one_may_not_read_is_one_line(tmp_path, arguments, inside):
    (tmp_path / "locked").mkdir()
    (tmp_path / "locked").chmod(0o000)
    name, *options = arguments
    where = ["--dir"] if name in ("check", "list") else []
    command = [*as_others(), *HEADWAY, name, *where, f"locked/{inside}", *options]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    (tmp_path / "locked").chmod(0o700)
    assert done.returncode == 2, done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert "locked" in done.stderr and "Traceback" not in done.stderr


def test_json_to_a_file_and_to_standard_output(workspace, tmp_path):
    done = headway("check", "softmax.softmax", "--dir", workspace, "--json", tmp_path / "r.json")
    written = json.loads((tmp_path / "r.json").read_text("utf-8"))
    assert written["passed"]
    assert "all passed" in done.stdout
    done = headway("check", "softmax.softmax", "--dir", workspace, "--json", "-")
    assert json.loads(done.stdout)["schema"] == "headway.result/2"
    assert "all passed" in done.stderr


def test_a_fresh_seed_is_recorded(workspace):
    document = json.loads(headway("check", "softmax.softmax", "--dir", workspace, "--seed", "7", "--json", "-").stdout)
    assert (document["seed"], document["public_seed"], document["passed"]) == (7, False, True)


HOSTILE = r"""print("[red]not markup[/red] [b", "\x1b[31mred\x1b[2J", "y" * 10_000_000)
    for i in range(100): print("line [bold]", i)
    x = x + 1e-3 * np.arange(np.shape(x)[-1])"""


@pytest.mark.parametrize("columns", ["40", "80", "120"])
@pytest.mark.parametrize("color", [{"NO_COLOR": "1"}, {"FORCE_COLOR": "1"}, {}])
def test_hostile_output_is_shown_safely(submission, columns, color):
    folder = submission(softmax=SOFTMAX.replace("x = np", f"{HOSTILE}\n    x = np", 1))
    done = headway("check", "softmax.softmax", "--dir", folder, COLUMNS=columns, **color)
    assert done.returncode == 1
    if "FORCE_COLOR" not in color:
        assert "\x1b" not in done.stdout
    assert "\x1b[2J" not in done.stdout
    flat = done.stdout.replace("\n", "").replace("│", "").replace(" ", "")
    assert "[red]not" in flat
    assert len(done.stdout) < 60_000
    if "FORCE_COLOR" not in color:
        assert max(len(line) for line in done.stdout.splitlines()) <= int(columns)


def test_a_closed_pipe_is_no_error(workspace):
    command = " ".join([*HEADWAY, "list"])
    done = subprocess.run(["sh", "-c", f"{command} | head -n 1"], capture_output=True, text=True, check=False)
    assert done.stderr == ""


def test_what_is_not_utf8_gets_the_verdict_without_the_marks(workspace):
    done = headway("check", "softmax.softmax", "--dir", workspace, PYTHONIOENCODING="ascii")
    assert done.returncode == 0, done.stderr
    assert "All 9 checks passed" in done.stdout
    plain, usual = (
        json.loads(headway("check", "softmax", "--dir", workspace, "--json", "-", **environment).stdout)
        for environment in ({"PYTHONIOENCODING": "ascii"}, {})
    )
    assert timeless(plain) == timeless(usual)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere file names are text")
def test_a_folder_whose_name_is_no_text(workspace, tmp_path):
    folder = tmp_path / os.fsdecode(b"caf\xe9 \x1b[2J")
    workspace.rename(folder)
    done = headway("check", "softmax.softmax", "--dir", folder, "--json", tmp_path / "r.json")
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "r.json").read_text("utf-8"))["submission"]["id"] == "caf? "
    assert "\x1b[2J" not in done.stdout


def test_kit_and_work_may_lie_anywhere(workspace, tmp_path):
    kit, work = tmp_path / "kit [2026] ü", tmp_path / "my 'work' [1] ü"
    kit.mkdir()
    for name in ("autograder", "solutions", "assignments"):
        (kit / name).symlink_to(bundled("solutions").parent / name)
    workspace.rename(work)
    done = headway("check", "softmax.softmax", "--dir", work, cwd=tmp_path, PYTHONPATH=str(kit))
    assert done.returncode == 0, done.stderr


def test_the_kits_own_failure_is_told_apart(workspace):
    code = (
        "import autograder.engine.session as e\n"
        "def broken(*a): raise RuntimeError('boom')\n"
        "e.check = broken\n"
        "from autograder.cli import main\n"
        f"main(['check', '--dir', {str(workspace)!r}])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert "the kit itself failed: RuntimeError: boom" in done.stderr
    assert "Traceback" not in done.stderr


def test_init_writes_stubs_and_never_overwrites(tmp_path):
    folder = tmp_path / "my-gpt"
    done = headway("init", folder)
    assert done.returncode == 0
    assert done.stderr == ""
    assert f"cd {folder}\n    headway " in done.stdout
    (folder / "softmax.py").write_text("my work")
    (folder / "attention.py").unlink()
    again = headway("init", folder)
    assert "1 files written" in again.stdout
    assert (folder / "softmax.py").read_text() == "my work"
    assert (folder / "attention.py").exists()


def test_list_and_help_import_nothing_heavy():
    for arguments in (["--help"], ["--version"], ["check", "--help"]):
        code = (
            "import sys\nfrom autograder.cli import main\n"
            f"try: main({arguments!r})\nexcept SystemExit: pass\n"
            "heavy = {'numpy', 'torch', 'pytest', 'rich', 'importlib.metadata'} & set(sys.modules)\n"
            "assert not heavy, heavy"
        )
        assert subprocess.run([sys.executable, "-c", code], check=False, stdout=subprocess.DEVNULL).returncode == 0


def test_doctor_finds_this_environment_well():
    done = headway("doctor", COLUMNS="200")
    assert done.returncode == 0, done.stdout
    assert "isolated" in done.stdout
    assert "Everything that is needed is here" in done.stdout


def test_doctor_names_what_mends(tmp_path):
    (tmp_path / "file").write_text("")
    done = headway("doctor", HEADWAY_CACHE=str(tmp_path / "file"), COLUMNS="200")
    assert "→ set HEADWAY_CACHE" in done.stdout


CLASS = SUBMISSIONS / "class"


def test_a_class_is_graded(tmp_path):
    import csv
    from importlib.resources import files

    import jsonschema

    done = headway("grade", CLASS, "--out", tmp_path / "out", "--assignment", "softmax", "--seed", "3")
    assert done.returncode == 0, done.stderr
    with open(tmp_path / "out" / "grades.csv", encoding="utf-8") as file:
        rows = {row["submission"]: row for row in csv.DictReader(file)}
    assert list(rows) == ["ada", "bo", "chen", "dara", "emil", "fay"]
    assert rows["ada"]["points"] == rows["ada"]["possible"]
    assert rows["fay"]["points"] == rows["emil"]["points"] == "0"
    assert 0 < float(rows["bo"]["points"]) < float(rows["ada"]["points"])
    for name in rows:
        document = json.loads((tmp_path / "out" / "results" / f"{name}.json").read_text("utf-8"))
        assert document["submission"]["id"] == name
        assert document["seed"] == 3
        assert f"{document['points']['earned']:g}" == rows[name]["points"]
    group = json.loads((tmp_path / "out" / "class.json").read_text("utf-8"))
    jsonschema.validate(group, json.loads(files("autograder").joinpath("schema/class-2.json").read_text("utf-8")))
    assert [student["submission"] for student in group["students"]] == list(rows)
    assert {student["status"] for student in group["students"]} == {"graded"}
    assert group["students"][0]["earned"] == group["assignments"][0]["possible"]


def test_grading_draws_and_records_a_fresh_seed(tmp_path):
    seeds = set()
    for out in ("one", "two"):
        (tmp_path / "class" / "ada").mkdir(parents=True, exist_ok=True)
        (tmp_path / "class" / "ada" / "softmax.py").write_text(SOFTMAX)
        headway("grade", tmp_path / "class", "--out", tmp_path / out, "--assignment", "softmax.softmax")
        document = json.loads((tmp_path / out / "results" / "ada.json").read_text())
        assert document["passed"]
        seeds.add(document["seed"])
    assert len(seeds) == 2
    assert 0 not in seeds


def test_one_bad_submission_never_stops_the_class(tmp_path):
    group = tmp_path / "class"
    for name in ("a good one", "=cmd()", "＝cmd()", "[red]x", "ünï"):
        (group / name).mkdir(parents=True)
        (group / name / "softmax.py").write_text(SOFTMAX)
    (group / "links").mkdir()
    (tmp_path / "secret.py").write_text("SECRET = 1")
    (group / "links" / "softmax.py").symlink_to(tmp_path / "secret.py")
    (group / "pipe").mkdir()
    os.mkfifo(group / "pipe" / "softmax.py")
    (group / "huge").mkdir()
    (group / "huge" / "softmax.py").write_bytes(b"#" * (2 << 20))
    (group / "empty").mkdir()
    (group / "binary").mkdir()
    (group / "binary" / "softmax.py").write_bytes(bytes(range(256)))
    done = headway("grade", group, "--out", tmp_path / "out", "--assignment", "softmax.softmax", "--seed", "0")
    assert done.returncode == 0, done.stderr
    table = (tmp_path / "out" / "grades.csv").read_text("utf-8")
    lines = {line.split(",")[0]: line for line in table.splitlines()[1:]}
    full = lines["a good one"].split(",")[2]
    assert {name for name, line in lines.items() if line.split(",")[2] == full} == {
        "a good one",
        "'=cmd()",
        "'＝cmd()",
        "[red]x",
        "ünï",
    }
    assert "not a plain file" in lines["pipe"]
    assert "larger than 1 MiB" in lines["huge"]
    assert "left out" in lines["links"]
    assert "SECRET" not in "".join(path.read_text("utf-8") for path in (tmp_path / "out").rglob("*.json"))
    assert "[red]x" in done.stdout
