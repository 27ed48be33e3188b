"""A class of hostile students at every rung of the ladder that this machine has, as this user and as nobody.

Each rung is graded by a process of its own (`tests/hostile_class.py`), some at a time; the tests look at what came of
it.
"""

import json
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import hostile_class
import pytest

from autograder.worker import wall

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the ladder stands on Linux")
NOBODY = "65534"
AT_A_TIME = 4  # most of a class is waiting for time limits
STRONGEST = "+".join(wall.RUNGS[0])
ATTACKS = hostile_class.attacks()
CLASSES = [*hostile_class.RUNGS, *(f"{rung} as nobody" for rung in hostile_class.RUNGS)]


def as_nobody(command):
    """The command as an unprivileged user, who may not be allowed to enter the folder that Python is installed in.

    In a mount namespace of its own, that folder is put where everybody may enter.
    """
    base = Path(sys.base_prefix).resolve()
    closed = [folder for folder in base.parents if not folder.stat().st_mode & 1]
    script = 'exec setpriv --reuid "$0" --regid "$0" --clear-groups "$@"'
    if closed:
        gate = closed[-1] / base.relative_to(closed[-1]).parts[0]
        script = (
            f'held=$(mktemp -d) && mount --bind "{gate}" "$held" && mount -t tmpfs -o mode=755 none "{closed[-1]}" '
            f'&& mkdir "{gate}" && mount --bind "$held" "{gate}" && {script}'
        )
    return ["unshare", "--mount", "sh", "-c", script, NOBODY, *command]


def grade(name):
    rung, _, user = name.partition(" as ")
    command = [sys.executable, hostile_class.__file__, rung]
    if user:
        command = as_nobody(command)
    cache = os.environ["HEADWAY_CACHE"] if not user else "/nonexistent"
    environment = {**os.environ, "HEADWAY_CACHE": cache, "HEADWAY_HOSTILE": "the grader's own secret", "TMPDIR": "/tmp"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    *outcomes, report = map(json.loads, done.stdout.splitlines())
    return {outcome["attack"]: outcome for outcome in outcomes}, report, done.stdout


def why_not(name, tmp_path):
    """Why this class cannot be graded on this machine, if so."""
    rung, _, user = name.partition(" as ")
    if user and os.geteuid() != 0:
        return "this is an unprivileged user already"
    if user and subprocess.run(as_nobody(["true"]), capture_output=True, check=False).returncode:
        return "another user cannot be had here"
    if not hostile_class.RUNGS[rung]:
        return None
    proven, problems = wall.prove(hostile_class.RUNGS[rung], tmp_path)
    return None if proven else f"this machine has no such rung: {problems}"


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """By name of the class: its outcomes and report, or why there are none."""
    lacking = {name: why_not(name, tmp_path_factory.mktemp("probe")) for name in CLASSES}
    here = [name for name in CLASSES if lacking[name] is None]
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        return {**lacking, **dict(zip(here, pool.map(grade, here), strict=True))}


@pytest.fixture
def class_(graded, request):
    found = graded[request.param]
    if isinstance(found, str):
        pytest.skip(found)
    return found


def test_there_are_enough_and_each_says_what_it_tries():
    assert len(ATTACKS) >= 60
    assert {attack.held_by for attack in ATTACKS} == {"process", "wall", "bubblewrap", "landlock"}


@pytest.mark.parametrize("class_", CLASSES, indirect=True)
def test_every_attack_is_held(class_):
    outcomes, _, _ = class_
    assert len(outcomes) > 50
    assert {name: outcome for name, outcome in outcomes.items() if not outcome["held"]} == {}


@pytest.mark.parametrize("class_", CLASSES, indirect=True)
def test_an_honest_submission_after_each_has_full_marks_and_nothing_is_left(class_):
    _, report, text = class_
    assert report == {"disturbed": [], "left": []}
    assert "the grader's own secret" not in text


@pytest.mark.parametrize("class_", CLASSES, indirect=True)
def test_nothing_runs_beyond_its_limit(class_):
    outcomes, _, _ = class_
    assert max(outcome["seconds"] for outcome in outcomes.values()) < hostile_class.LIMITS.submission_seconds + 4


@pytest.mark.parametrize("missing", ["landlock", "seccomp", "bubblewrap"])
def test_the_suite_finds_what_a_missing_mechanism_lets_through(missing, tmp_path):
    """The tests above could not fail if these attacks did nothing without what holds them."""
    revealing = {
        "landlock": "read_other_submission",
        "seccomp": "network_all_families",
        "bubblewrap": "stat_known_paths",
    }[missing]
    rung = tuple(mechanism for mechanism in wall.RUNGS[0] if mechanism != missing)
    proven, problems = wall.prove(rung, tmp_path)
    if proven is None:
        pytest.skip(f"this machine has no such rung: {problems}")
    report = hostile_class.grade(rung, [attack for attack in ATTACKS if attack.name == revealing])
    assert not report.outcomes[0].held


@pytest.mark.skipif(shutil.which("sh") is None, reason="needs a shell")
def test_a_killed_grader_leaves_no_process(tmp_path):
    folder = tmp_path / "class" / "loop"
    folder.mkdir(parents=True)
    (folder / "softmax.py").write_text("import time\ntime.sleep(3600)\n")
    command = [sys.executable, "-m", "autograder.cli", "grade", str(folder.parent), "--out", str(tmp_path / "out")]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    if not wall_here(tmp_path):
        command.append("--unsafe-no-sandbox")
    arguments = ["--seed", "0", "--assignment", "softmax.log_softmax", "--call-seconds", "60"]
    with subprocess.Popen([*command, *arguments], env=environment, stdout=subprocess.DEVNULL) as grader:
        assert eventually(lambda: processes_below(grader.pid)), "no student process came"
        below = processes_below(grader.pid)
        grader.kill()
    assert eventually(lambda: not [pid for pid in below if alive(pid)]), "student processes outlive the grader"


def wall_here(tmp_path):
    try:
        return wall.strongest(tmp_path)
    except wall.TooWeak:
        return None


def eventually(condition, seconds=30):
    import time

    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    return False


def parents():
    found = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            found[int(path.parent.name)] = int(path.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    return found


def processes_below(pid):
    """Every process that has the sleeping student's file before it: three below the grader, or deeper."""
    tree = parents()
    found, level = [], [pid]
    while level:
        level = [child for child, parent in tree.items() if parent in level]
        found += level
    return found if len(found) >= 2 else []


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
