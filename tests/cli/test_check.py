"""`headway check`: exit codes, documents, the next step, and output that is safe anywhere."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from dataclasses import replace

import pytest
from support.commands import HEADWAY, SOFTMAX, headway, invoke, refusal, succeed, timeless
from support.reading import checks_of, read_json
from support.waiting import wait_until

from autograder.courses.transformer import TRANSFORMER
from autograder.documents.results import CheckResult, SubmissionResult, to_document
from autograder.engine.job_runner import JobRunner
from autograder.sandbox import probe
from autograder.sandbox.probe import SandboxUnavailable
from autograder.workspace import state
from autograder.workspace.check import CheckOutcome

pytestmark = pytest.mark.slow


@pytest.fixture
def workspace(submission):
    return submission(softmax=SOFTMAX)


@pytest.mark.parametrize(("arguments", "exit_code"), [
    (["softmax.softmax"], 0), (["softmax"], 1), (["sofmax"], 2), (["--no-such-option"], 2)
])  # fmt: skip
def test_check_exit_code(workspace, arguments, exit_code):
    assert invoke("check", *arguments, "--dir", workspace).returncode == exit_code


@pytest.mark.parametrize("earned", [2.0, 0.0])
def test_check_internal_error_is_the_exit_code_whatever_passed(workspace, monkeypatch, earned):
    more, given = ("softmax.softmax", "Rows", "passed" if earned else "failed", 2.0, earned), {}
    checks = [CheckResult(f"softmax.softmax::{name}", *more) for name in ("rows", "columns")]
    problem = {"internal_errors": ["the reference failed"], "notes": ["Read [b] this."]}
    result = SubmissionResult("w", "0" * 64, 0, checks, **problem)
    outcome = CheckOutcome(result, to_document(result, TRANSFORMER), ["★ a badge"])
    monkeypatch.setattr("autograder.workspace.check.check_workspace", lambda *_, **how: given.update(how) or outcome)
    done = invoke("check", "softmax.softmax", "--dir", workspace, "--call-seconds", 0.05)
    assert done.returncode == 3 and given["limits"].call_seconds == 0.05
    assert "Read [b] this." in done.stdout and "★ a badge" in done.stdout and ("--all" in done.stdout) == (not earned)
    assert "--all" not in invoke("check", "softmax.softmax", "--dir", workspace, "--all").stdout


def test_check_reads_and_writes_the_state_once(tmp_path, monkeypatch):
    work = tmp_path / "work"
    succeed("init", work)
    used = []
    for name in ("read_plain_file", "replace_file"):
        real = getattr(state, name)
        monkeypatch.setattr(state, name, lambda *given, name=name, real=real: used.append(name) or real(*given))
    assert invoke("check", "softmax.softmax", "--dir", work).returncode == 1
    assert sorted(used) == ["read_plain_file", "replace_file"]


def test_check_passed_names_the_next_function(submission, solutions):
    softmax = (solutions / "softmax.py").read_text("utf-8")
    stub = "def generate_bigram(W, start, n_new, rng):\n    raise NotImplementedError\n"
    folder = submission(softmax=softmax, bigram=stub)
    text = " ".join(succeed("check", "softmax", "--dir", folder).stdout.split())
    assert re.search(r"([\d.]+) / \1 points · ✓ \d+ passed .*\d+ checks passed", text)
    assert "headway check bigram.generate_bigram" in text and "headway experiment softmax" in text
    (folder / "softmax.py").write_text(softmax.replace("__main__", "never"), "utf-8")
    assert "experiment" not in invoke("check", "softmax", "--dir", folder).stdout
    text = " ".join(invoke("check", "softmax.softmax", "--dir", folder).stdout.split())
    assert re.search(r" / 9\.5 points · ✓ \d+ passed .*\d+ checks passed", text)
    assert "headway check softmax.log_softmax" in text
    assert "experiment" not in text, "the other functions of the assignment are not known to pass"


def test_check_json_to_a_file_and_standard_output(workspace, tmp_path):
    files = ("--json", tmp_path / "r.json", "--markdown", tmp_path / "r.md", "--junit", tmp_path / "r.xml")
    done = invoke("check", "softmax.softmax", "--dir", workspace, *files)
    assert "Score: **" in (tmp_path / "r.md").read_text() and "<testsuites>" in (tmp_path / "r.xml").read_text()
    assert read_json(tmp_path / "r.json")["passed"]
    assert "all passed" in done.stdout
    done = invoke("check", "softmax.softmax", "--dir", workspace, "--json", "-")
    assert json.loads(done.stdout)["schema"] == "headway.result/1"
    assert "all passed" in done.stderr


def test_check_seed_is_recorded(workspace):
    (workspace / ".headway.json").write_text("{}")
    document = json.loads(invoke("check", "softmax.softmax", "--dir", workspace, "--seed", "7", "--json", "-").stdout)
    assert read_json(workspace / ".headway.json") == {}, "only results on the public inputs are recorded"
    assert (document["seed"], document["public_seed"], document["passed"]) == (7, False, True)


HOSTILE = r"""print("[red]not markup[/red] [b", "\x1b[31mred\x1b[2J", "y" * 10_000_000)
    for i in range(100): print("line [bold]", i)
    x = x + 1e-3 * np.arange(np.shape(x)[-1])"""


@pytest.mark.parametrize(("module", "edit", "help"), [
    ("tokenizer", lambda text: text.encode("utf-16"), "perhaps UTF-16: save it as UTF-8"),
    ("gradients", lambda text: text.replace("list(inputs)", "inputs", 1).encode(), "work on a copy: inputs["),
])  # fmt: skip
def test_check_gives_help_that_fits(submission, solutions, module, edit, help):
    folder = submission(**{module: (solutions / f"{module}.py").read_text("utf-8")})
    (folder / f"{module}.py").write_bytes(edit((folder / f"{module}.py").read_text("utf-8")))
    text = re.sub(r"[\s│]+", " ", invoke("check", module, "--dir", folder, COLUMNS="200").stdout)
    assert help in text and " and out=inputs[" not in text


@pytest.mark.parametrize("columns", ["40", "80", "120"])
@pytest.mark.parametrize("color", [{"NO_COLOR": "1"}, {"FORCE_COLOR": "1"}, {}])
def test_check_shows_hostile_output_safely(submission, columns, color):
    folder = submission(softmax=SOFTMAX.replace("x = np", f"{HOSTILE}\n    x = np", 1))
    done = invoke("check", "softmax.softmax", "--dir", folder, COLUMNS=columns, **color)
    assert done.returncode == 1
    assert "\x1b[2J" not in done.stdout
    assert "[red]not" in done.stdout.replace("\n", "").replace("│", "").replace(" ", "")
    assert len(done.stdout) < 60_000
    if "FORCE_COLOR" not in color:
        assert "\x1b" not in done.stdout
        assert max(len(line) for line in done.stdout.splitlines()) <= int(columns)


def test_check_without_utf8_prints_readable_text(workspace):
    done = succeed("check", "softmax.softmax", "--dir", workspace, PYTHONIOENCODING="ascii", run=headway)
    assert "checks passed" in done.stdout
    command = ("check", "softmax", "--dir", workspace, "--json", "-")
    plain, usual = headway(*command, PYTHONIOENCODING="ascii"), headway(*command)
    assert plain.returncode == usual.returncode == 1
    assert timeless(json.loads(plain.stdout)) == timeless(json.loads(usual.stdout))


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere file names are text")
def test_check_folder_with_undecodable_name(workspace, tmp_path):
    folder = tmp_path / os.fsdecode(b"caf\xe9 \x1b[2J")
    workspace.rename(folder)
    done = succeed("check", "softmax.softmax", "--dir", folder, "--json", tmp_path / "r.json", run=headway)
    assert read_json(tmp_path / "r.json")["submission"]["id"] == "caf? "
    assert "\x1b[2J" not in done.stdout


def test_check_interrupted_by_ctrl_c_is_one_line(tmp_path):
    marker = tmp_path / "running"
    code = f"def softmax(*a, **k):\n    open({str(marker)!r}, 'w').close()\n    while True: pass\n"
    (tmp_path / "softmax.py").write_text(code)
    command = [*HEADWAY, "check", "softmax.softmax", "--call-seconds", "120"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_until(marker.exists)
    process.send_signal(signal.SIGINT)
    _, complaint = process.communicate(timeout=300)
    assert (process.returncode, complaint) == (130, "headway: interrupted\n")


SPY = """
def softmax(x):
    import os
    try:
        found = os.listdir("{secret}")
    except OSError as error:
        found = f"refused: {{error.errno}}"
    raise ValueError(found)
"""


@pytest.mark.sandbox
def test_check_sandbox_hides_the_files_of_its_user(submission, tmp_path, monkeypatch):
    def run_with_a_note(runner, job, run=JobRunner.run):
        found = run(runner, job)
        return replace(found, notes=["cut short"])

    monkeypatch.setattr(JobRunner, "run", run_with_a_note)
    secret = tmp_path / "secret"
    (secret / "treasure").mkdir(parents=True)
    folder = submission(softmax=SPY.format(secret=secret))
    before = sorted(path.name for path in folder.iterdir())
    assert "treasure" in invoke("check", "softmax.softmax", "--dir", folder, "--json", "-").stdout
    sandboxed = invoke("check", "softmax.softmax", "--dir", folder, "--sandbox", "--seed", 3, "--json", "-")
    assert (sandboxed.returncode, "not a workspace" in sandboxed.stderr) == (1, False), sandboxed.stderr
    assert "treasure" not in sandboxed.stdout and "refused" in sandboxed.stdout
    document = json.loads(sandboxed.stdout)
    assert "seccomp" in document["sandbox"] and document["seed"] == 3 and "cut short" in document["notes"]
    assert {check["id"].partition("::")[0] for check in checks_of(document)} == {"softmax.softmax"}
    assert "headway init" in refusal("check", "--dir", secret, "--sandbox")
    assert sorted(path.name for path in folder.iterdir()) == before


def test_check_sandbox_missing_is_an_error(workspace, monkeypatch):
    def unavailable(root, packages):
        raise SandboxUnavailable("seccomp: is missing")

    monkeypatch.setattr(probe, "strongest_level", unavailable)
    refused = invoke("check", "softmax", "--dir", workspace, "--sandbox")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "headway doctor" in refused.stderr


def test_check_other_folder_recommends_the_sandbox(workspace):
    folder = workspace.rename(workspace.with_name("ada's work"))
    advice = f"headway check --dir {shlex.quote(str(folder))} --sandbox\n"
    assert invoke("check", "softmax.softmax", "--dir", folder).stderr.endswith(advice)
    assert invoke("check", "softmax.softmax", cwd=folder).stderr == ""
    (folder / ".headway.json").write_text("{}")
    assert invoke("check", "softmax.softmax", "--dir", folder).stderr == ""
