"""Grade the hostile class at every level of this machine, as this user and as nobody; print the table of results.

    python tests/support/hostile_levels.py > tests/submissions/hostile/README.md

Each level is graded by a process of its own (`hostile_class.py`), some at a time.
"""

import json
import os
import platform
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from autograder.sandbox import probe
from support import hostile_class
from support.commands import run_program

NOBODY = "65534"
AT_A_TIME = 4  # most of a class is waiting for time limits
CLASSES = [*hostile_class.LEVELS, *(f"{level} as nobody" for level in hostile_class.LEVELS)]


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


def why_no_nobody():
    """Why a process cannot be run as nobody here, if so."""
    if os.geteuid() != 0:
        return "this is an unprivileged user already"
    if run_program(*as_nobody(["true"]), code=None).returncode:
        return "another user cannot be had here"
    return None


def why_not(name):
    """Why this class cannot be graded on this machine, if so."""
    level, _, user = name.partition(" as ")
    if user and (reason := why_no_nobody()):
        return reason
    if not hostile_class.LEVELS[level]:
        return None
    with tempfile.TemporaryDirectory() as root:
        proven, problems = probe.prove(hostile_class.LEVELS[level], Path(root))
    return None if proven else f"this machine has no such level: {problems}"


def grade(name, attacks=()):
    """Grade a class, or the named attacks; return outcomes by attack, the report, and all that was printed."""
    level, _, user = name.partition(" as ")
    command = [sys.executable, hostile_class.__file__, level, *attacks]
    cache = {"HEADWAY_CACHE": "/nonexistent"} if user else {}
    if user:
        command = as_nobody(command)
    environment = {**os.environ, **cache, "HEADWAY_HOSTILE": "the grader's own secret", "TMPDIR": "/tmp"}
    # Each attack has a limit of its own, which `hostile_class.py` keeps.
    done = run_program(*command, env=environment)
    *outcomes, report = map(json.loads, done.stdout.splitlines())
    return {outcome["attack"]: outcome for outcome in outcomes}, report, done.stdout


def grade_all():
    """By name of the class: what `grade` gives, or why it cannot be had here."""
    lacking = {name: why_not(name) for name in CLASSES}
    here = [name for name in CLASSES if lacking[name] is None]
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        return {**lacking, **dict(zip(here, pool.map(grade, here), strict=True))}


def table():
    """Lines of Markdown: every attack at every level."""
    graded = grade_all()
    here = {name: found for name, found in graded.items() if not isinstance(found, str)}
    all_attacks = hostile_class.attacks()
    user = "root" if os.geteuid() == 0 else "an unprivileged user"
    yield "# Hostile submissions: results at every level of the sandbox"
    system = f"{platform.system()} {platform.release().partition('-')[0]}"
    yield f"\nWritten by `python tests/support/hostile_levels.py` on {system}."
    yield f'The submissions are graded as {user} or, with "as nobody", as an unprivileged user. A cell says:'
    yield "\n- held: the attack gained no undeserved points, kept its time limit, and read, wrote, sent and left behind"
    yield "  nothing that is forbidden; the honest submission right after it got full marks"
    yield "- **no**: the attack succeeded"
    yield "- –: this level does not promise to stop the attack, so it is not tried\n"
    yield "| level | attacks | held | honest submissions disturbed | left behind | longest, seconds |"
    yield "|---|---|---|---|---|---|"
    for name in CLASSES:
        if name not in here:
            yield f"| {name} | not on this machine | | | | |"
            continue
        outcomes, report, _ = here[name]
        held = sum(outcome["held"] for outcome in outcomes.values())
        longest = max(outcome["seconds"] for outcome in outcomes.values())
        disturbed, left = len(report["disturbed"]), len(report["left"])
        yield f"| {name} | {len(outcomes)} | {held} | {disturbed} | {left} | {longest:.1f} |"
    yield f"\nA submission's own limit in these runs is {hostile_class.LIMITS.submission_seconds} s.\n"
    yield f"| attack | what it tries | {' | '.join(here)} |"
    yield f"|---|---|{'---|' * len(here)}"
    for attack in all_attacks:
        cells = [_cell(outcomes.get(attack.name)) for outcomes, _, _ in here.values()]
        tries = " ".join(attack.tries.split()).replace("|", "\\|")
        yield f"| {attack.name} | {tries} | {' | '.join(cells)} |"


def _cell(outcome):
    if outcome is None:
        return "–"
    return "held" if outcome["held"] else "**no**"


if __name__ == "__main__":
    print("\n".join(table()))
