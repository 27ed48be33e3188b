"""The command line as a whole: help, exit codes, error messages, completion, and what it imports."""

import errno
import json
import os
import re
import shutil
import subprocess
import sys

import pytest
from support.commands import HEADWAY, SOFTMAX, headway, invoke, refusal, run_program, succeed
from support.editing import write_files

from autograder.cli import COMMANDS, FIRST_COMMANDS, SECTIONS, diagnostics, options
from autograder.course.stubs import bundled


def test_help_lists_every_command_in_its_section_after_the_first_five(tmp_path):
    lines = invoke("-h", cwd=tmp_path, COLUMNS="80").stdout.splitlines()
    assert all(len(line) <= 80 for line in lines)
    assert [line for line in lines if line.rstrip(":") in SECTIONS] == [f"{title}:" for title in SECTIONS]
    rows = {line.split()[0]: line for line in lines if line.startswith("  ") and line.split()[0] in COMMANDS}
    assert list(rows) == list(COMMANDS)
    assert "..." not in "".join(rows.values())
    titles = [line for line in lines if line.endswith(":") and not line.startswith(" ")]
    assert titles[0] == "Start here:"
    assert len(FIRST_COMMANDS) == 5
    for command in FIRST_COMMANDS:
        assert command.split()[:2][-1] in {*COMMANDS, "headway"}
        assert any(line.startswith(f"  {command}  ") for line in lines), command


def test_headway_outside_a_workspace_says_where_to_go(tmp_path):
    here = succeed(cwd=tmp_path)
    assert here.stdout.splitlines()[0] == f"{tmp_path} is not a workspace."
    assert "headway init my-gpt" in here.stdout
    assert re.search(r"^names +[\d,]+ +yes ", invoke("data", cwd=tmp_path).stdout, re.M)
    assert invoke("init", tmp_path / "my work").returncode == 0
    assert "cd 'my work' " in invoke(cwd=tmp_path).stdout
    (tmp_path / "my work" / "figures" / "more").mkdir()
    for steps, below in (("..", "figures"), ("../..", "figures/more")):
        inside = invoke(cwd=tmp_path / "my work" / below).stdout
        assert f"  cd {steps} " in inside and "init" not in inside
    write_files(tmp_path, {f"{name}/.headway.json": "{}" for name in "dcab"})
    named = invoke(cwd=tmp_path).stdout
    assert re.findall(r"  cd (\S+) ", named) == ["a", "b", "c"] and "create another workspace" in named


@pytest.mark.parametrize(("arguments", "words"), [
    (["check", "sotfmax"], "Did you mean 'softmax'"), (["check", "softmax.sofmax"], "Did you mean 'softmax.softmax'"),
    (["check", "--dir", "no-such-folder"], "headway init no-such-folder"), (["check", "--dir", "a-file"], "a-file"),
    (["check", "--dir", "x" * 300], "File name too long"), (["grade", "x" * 300, "--out", "out"], "File name too long"),
    (["check", "--dir", "empty"], "headway init"),
    (["check", "softmax", "--json", "no/such/folder.json"], "cannot write no/such/folder.json"),
    (["grade", "no-such-folder", "--out", "out"], "no such folder: no-such-folder"),
    (["grade", "empty", "--out", "out"], "no submissions in empty"), (["grade", "class", "--out", "a-file"], "a-file"),
    (["chekc", "x"], "Did you mean 'check'"), (["release", "out"], "headway release DIR --format stubs"),
    (["release", "work", "--format", "policy"], "work/course.toml already exists"),
    (["release", "x", "--format", "stubs", "--install", "headway"], "--format github, not stubs"),
    (["init", "a-file"], "cannot write to a-file"), (["check", "--no-such-option"], "headway check --help"),
    (["check", "--seed", "-1"], "headway check --help"), (["grade", "class"], "--out"),
])  # fmt: skip
def test_bad_input_is_one_line_and_exit_code_2(arguments, words, tmp_path):
    write_files(tmp_path, {"a-file": "x", "softmax.py": SOFTMAX, "work/softmax.py": SOFTMAX, "work/course.toml": ""})
    (tmp_path / "empty").mkdir()
    (tmp_path / "class" / "ada").mkdir(parents=True)
    done = refusal(*arguments, cwd=tmp_path)
    assert words in done and done.startswith("headway: ") and "Traceback" not in done


def without_root_privileges():
    """Return a command prefix that drops root's right to read every file; skip the test where that is impossible."""
    if os.geteuid() != 0:
        return []
    rights = "-dac_override,-dac_read_search"
    prefix = ["setpriv", f"--bounding-set={rights}", f"--inh-caps={rights}"]
    if shutil.which("setpriv") is None or subprocess.run([*prefix, "true"], check=False).returncode:
        pytest.skip("root may read everything here")
    return prefix


@pytest.mark.parametrize("arguments", [["check"], ["list"], ["grade", "--out", "out"], ["report"]])
@pytest.mark.parametrize("inside", [".", "inside"])
def test_unreadable_folder_is_one_line_and_exit_code_2(tmp_path, arguments, inside):
    (tmp_path / "locked").mkdir()
    (tmp_path / "locked").chmod(0o000)
    name, *options = arguments
    where = ["--dir"] if name in ("check", "list") else []
    command = [*without_root_privileges(), *HEADWAY, name, *where, f"locked/{inside}", *options]
    done = run_program(*command, cwd=tmp_path, code=2)
    (tmp_path / "locked").chmod(0o700)
    assert len(done.stderr.splitlines()) == 1 and "locked" in done.stderr and "Traceback" not in done.stderr


def test_internal_error_is_one_line_and_exit_code_3(submission, tmp_path, monkeypatch):
    def fail(*arguments):
        raise RuntimeError("boom")

    monkeypatch.setattr("autograder.engine.session.check", fail)
    done = invoke("check", "--dir", submission(softmax=SOFTMAX))
    assert done.returncode == 3 and "RuntimeError: boom" in done.stderr and "Traceback" not in done.stderr
    with pytest.raises(RuntimeError):
        invoke("check", cwd=tmp_path / "submission", HEADWAY_TRACEBACK="1")


@pytest.mark.slow
def test_closed_pipe_is_no_error(tmp_path):
    assert run_program("sh", "-c", f"{' '.join(HEADWAY)} list | head -n 1").stderr == ""


@pytest.mark.slow
def test_headway_and_workspace_in_unusual_paths(submission, tmp_path):
    installation, workspace = tmp_path / "headway [2026] ü", tmp_path / "my 'work' [1] ü"
    installation.mkdir()
    for name in ("autograder", "solutions", "assignments"):
        (installation / name).symlink_to(bundled("solutions").parent / name)
    submission(softmax=SOFTMAX).rename(workspace)
    succeed("check", "softmax.softmax", "--dir", workspace, cwd=tmp_path, PYTHONPATH=str(installation), run=headway)


@pytest.mark.parametrize(("arguments", "complete", "heavy"), [
    *((arguments, "", "importlib.metadata") for arguments in (["--help"], ["--version"], ["check", "--help"])),
    ([], "headway check sof", "pygments"),
])  # fmt: skip
def test_help_and_completion_import_nothing_heavy(arguments, complete, heavy):
    code = (
        "import sys\nfrom autograder.cli import main\n"
        f"try: main({arguments!r})\nexcept SystemExit: pass\n"
        f"heavy = {{'numpy', 'torch', 'pytest', 'rich', 'watchfiles', {heavy!r}}} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    asked = {"_HEADWAY_COMPLETE": "bash_complete", "COMP_WORDS": complete, "COMP_CWORD": "2"} if complete else {}
    done = run_program(sys.executable, "-c", code, env={**os.environ, **asked})
    assert ("softmax.log_softmax" in done.stdout) == bool(complete)


@pytest.mark.parametrize(("number", "advice"), [
    (errno.ENOSPC, "Free some disk space"), (errno.EDQUOT, "Free some disk space"), (errno.ENAMETOOLONG, "shorter"),
    *((number, "Check its permissions") for number in (errno.EACCES, errno.EPERM, errno.EROFS)), (errno.EIO, ""),
])  # fmt: skip
def test_error_of_the_system_says_what_to_do(number, advice):
    said = options.describe_os_error(OSError(number, "refused", "a\x1b[2Jb"))
    assert said is None if not advice else said.startswith("ab: refused. ") and advice in said


@pytest.mark.parametrize(("words", "index", "expected"), [
    ("headway wa", 1, ["watch"]), ("headway check multi", 2, ["multihead", "multihead.split_heads"]),
    ("headway hint softmax.log", 2, ["softmax.log_softmax"]), ("headway check --dir some f", 4, ["ffn", "ffn.relu"]),
    ("headway check --dir other softmax.log", 4, ["softmax.log_softmax"]),
])  # fmt: skip
def test_completion_of_commands_and_names(tmp_path, words, index, expected):
    states = {"some": {"assignments": ["ffn"]}, "other": {"curriculum": "nowhere"}}
    write_files(tmp_path, {f"{name}/.headway.json": json.dumps(state) for name, state in states.items()})
    environment = {"_HEADWAY_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(index)}
    lines = invoke(cwd=tmp_path, **environment).stdout.splitlines()
    assert [line.partition(",")[2] for line in lines][: len(expected)] == expected
    assert invoke("completion", "zsh", cwd=tmp_path).stdout.startswith("#compdef headway")


@pytest.mark.slow
def test_doctor_reports_how_to_fix_a_problem(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    done = succeed("doctor", HEADWAY_CACHE=str(tmp_path / "file"), COLUMNS="200").stdout
    assert "isolated" in done and "set HEADWAY_CACHE" in done and "jupyterlab" in done
    missing = diagnostics.Diagnostic("numpy", False, "not installed", "install it")
    optional = diagnostics.Diagnostic("jinja2", False, "not installed", "install it", optional=True)
    monkeypatch.setattr(diagnostics, "run_diagnostics", lambda: [optional, missing])
    done = invoke("doctor")
    assert done.returncode == 1 and "Fix this first: numpy." in done.stdout
    monkeypatch.setattr(diagnostics, "run_diagnostics", lambda: [optional])
    assert "Everything required works." in succeed("doctor").stdout
