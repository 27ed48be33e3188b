"""A class of hostile students at every level that this machine has, as this user and as nobody.

`tests/support/hostile_levels.py` grades them; the tests look at what came of it. The honest students of a class get
what they get without hostile ones.
"""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from support import hostile_class, mixed_class
from support.built_in import solution_source
from support.commands import HEADWAY, headway
from support.editing import write_files
from support.hostile_levels import CLASSES, NOBODY, as_nobody, grade, why_no_nobody, why_not
from support.process_tree import children, family
from support.required_sandbox import skip_without_sandbox
from support.waiting import is_running, wait_until

from autograder.engine.session import Options, run_in_session
from autograder.sandbox import probe
from autograder.sandbox.policy import NO_SANDBOX

pytestmark = [
    pytest.mark.sandbox,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the sandbox needs Linux"),
]


def chosen_attacks(name, drawing):
    """Return the names of the attacks to try on a class; what any process holds and modules make, at one level only."""
    level = hostile_class.LEVELS[name.partition(" as ")[0]]
    held = [attack for attack in hostile_class.attacks() if attack.is_held_at(level)]
    if name != CLASSES[0]:
        held = [attack for attack in held if not attack.is_read or attack.held_by != "process"]
    return [attack.name for attack in drawing.some(held, 40)]


def test_attacks_are_many_and_documented():
    attacks = hostile_class.attacks()
    assert len(attacks) >= 60
    assert {attack.held_by for attack in attacks} == {"process", "sandbox", "bubblewrap", "landlock"}


@pytest.mark.drawn(1)
@pytest.mark.parametrize("name", CLASSES[:1])
def test_attacks_at_the_strongest_level_are_held(name, drawing):
    assert_held(name, drawing)


@pytest.mark.drawn(1)
@pytest.mark.parametrize("name", CLASSES[1:])
def test_attacks_at_other_levels_are_held(name, drawing):
    assert_held(name, drawing)


def assert_held(name, drawing):
    """No attack gains anything or exceeds its time, and the honest submission after each of them passes."""
    if reason := why_not(name):
        pytest.skip(reason)
    attacks = chosen_attacks(name, drawing)
    outcomes, report, text = grade(name, attacks)
    assert sorted(outcomes) == sorted(attacks) and len(outcomes) >= 40
    assert [outcome for outcome in outcomes.values() if not outcome["held"]] == []
    assert report == {"disturbed": [], "left": []}
    assert "the grader's own secret" not in text


@pytest.mark.parametrize(("missing", "attack"), [
    ("landlock", "read_other_submission"), ("seccomp", "network_all_families"), ("bubblewrap", "stat_known_paths"),
])  # fmt: skip
def test_missing_mechanism_makes_attacks_succeed(missing, attack, tmp_path):
    """The tests above could not fail if these attacks did nothing without what holds them."""
    level = tuple(mechanism for mechanism in probe.LEVELS[0] if mechanism != missing)
    proven, problems = probe.prove(level, tmp_path)
    if proven is None:
        pytest.skip(f"this machine has no such level: {problems}")
    report = hostile_class.grade(level, [found for found in hostile_class.attacks() if found.name == attack])
    assert not report.outcomes[0].held


@pytest.fixture
def place():
    """A folder that every user may enter: pytest's own are closed to others, whenever another session begins."""
    with tempfile.TemporaryDirectory(prefix="hostile-", dir="/tmp") as folder:
        os.chmod(folder, 0o755)
        yield Path(folder)


@pytest.fixture(params=["this user", "nobody"])
def user(request, place):
    if request.param == "nobody":
        if reason := why_no_nobody():
            pytest.skip(reason)
        shutil.chown(place, int(NOBODY))
        return as_nobody
    return list


def test_killed_grader_leaves_no_process(place, user):
    submissions = write_files(place / "class", {"loop/softmax.py": "import time\ntime.sleep(3600)\n"})
    command = [*HEADWAY, "grade", str(submissions), "--out", str(place / "out")]
    if not sandbox_here(place):
        command.append("--unsafe-no-sandbox")
    command += ["--seed", "0", "--assignment", "softmax.log_softmax", "--call-seconds", "60"]
    environment = {**os.environ, "TMPDIR": str(place), "HEADWAY_CACHE": str(place / "cache")}
    with subprocess.Popen(user(command), env=environment, stdout=subprocess.DEVNULL) as grader:
        # The probes start a server and a student too, which are gone again: this one stays.
        wait_until(lambda: sleeping_student(grader.pid), what=lambda: "no student process came")
        below = [pid for pid in family(grader.pid) if pid != grader.pid]
        grader.kill()
    wait_until(lambda: not any(map(is_running, below)), what=lambda: "student processes outlive the grader")


def test_killed_server_is_replaced_during_a_run(tmp_path):
    """In the sandbox, killed from outside after each submission."""
    names, found = ["first", "second", "third"], []
    root = write_files(tmp_path / "root", {f"{name}/softmax.py": solution_source("softmax") for name in names})
    sandbox = sandbox_here(root) or NO_SANDBOX

    def check_and_kill_the_servers(session):
        for name in names:
            result = session.check(name, root / name, (hostile_class.FUNCTION,))
            found.append((result.submission, result.passed, result.internal_errors))
            servers = [pid for pid in family(os.getpid()) if "child/main.py" in command_line(pid)]
            assert servers, "there is no server"
            for pid in servers:
                with contextlib.suppress(ProcessLookupError):  # the sandbox dies with its parent, perhaps before it
                    os.kill(pid, signal.SIGKILL)

    run_in_session(Options(functions=(hostile_class.FUNCTION,), sandbox=sandbox), check_and_kill_the_servers)
    assert found == [(name, True, []) for name in names]


def test_grade_without_sandbox_is_refused_or_recorded(tmp_path):
    """No level holds without seccomp."""
    submissions = write_files(tmp_path / "class", {"ada/softmax.py": solution_source("softmax")})
    lacking = write_files(tmp_path / "lacking", {"pyseccomp.py": "raise ImportError('not here')\n"})
    chosen = ("--seed", "0", "--assignment", "softmax.log_softmax")
    arguments = ("grade", submissions, "--out", tmp_path / "out", *chosen)

    def results():
        documents = [json.loads(path.read_text()) for path in (tmp_path / "out").rglob("*.json")]
        return [document for document in documents if document.get("schema") == "headway.result/1"]

    refused = headway(*arguments, PYTHONPATH=str(lacking))
    assert refused.returncode == 2 and not results()
    said = " ".join(refused.stderr.split())
    assert "this machine has no sandbox" in said and "pyseccomp is not installed" in said and "headway doctor" in said
    marked = headway(*arguments, "--unsafe-no-sandbox", PYTHONPATH=str(lacking))
    assert marked.returncode == 0, marked.stderr
    assert "sandbox" in (marked.stdout + marked.stderr).lower()
    assert [document["sandbox"] for document in results()] == [["process", "limits", "unsafe-no-sandbox"]]


def sandbox_here(root):
    try:
        return probe.strongest_level(root)
    except probe.SandboxUnavailable:
        return None


def sleeping_student(grader):
    """The student process that a server below the grader forked, if it has been there for a while."""
    servers = {pid for pid in family(grader) if "child/main.py" in command_line(pid)}
    forked = (child for pid in servers if "bwrap" not in command_line(pid) for child in children(pid))
    return next((pid for pid in forked if pid in servers and age(pid) > 1), None)


def age(pid):
    """Seconds since the process began; 0 if it is gone."""
    with contextlib.suppress(OSError):
        began = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]) / os.sysconf("SC_CLK_TCK")
        return float(Path("/proc/uptime").read_text().split()[0]) - began
    return 0.0


def command_line(pid):
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_text("utf-8", "replace")
    return ""


def test_honest_results_are_the_same_with_hostile_students(tmp_path):
    skip_without_sandbox(tmp_path)
    alone = mixed_class.grade(tmp_path / "alone", 20, 0)
    mixed = mixed_class.grade(tmp_path / "mixed", 20, 6)
    assert len({str(document["points"]) for document in alone.documents.values()}) > 2  # right and wrong ones
    assert mixed.documents == alone.documents and mixed.sprung == () and len(mixed.hostile_points) == 6
    assert 0 < mixed.process_mib < 1024
