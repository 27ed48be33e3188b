"""The ladder: what can stand around student code on this machine, strongest first, and the proof that it holds.

    bubblewrap + Landlock + seccomp     its own file system, processes, network; files by rule; system calls by list
    Landlock + seccomp                  without user namespaces: metadata of files whose path is known stays visible
    bubblewrap + seccomp                before Linux 5.13, or with Landlock switched off
    nothing                             a class is not graded, unless somebody takes that upon themselves

No version number is believed. A rung holds if a small hostile submission (`inside/probe.py`), started exactly like a
student's, is refused everything that it tries.
"""

import tempfile
from errno import EACCES, ENOENT, EPERM
from pathlib import Path

from autograder.sandbox.limits import Limits
from autograder.sandbox.policy import INSIDE, CannotBuild, Wall, build
from autograder.sandbox.process import WorkerDied, Workers
from autograder.sandbox.session import Session, WorkerTimedOut

RUNGS = (("bubblewrap", "landlock", "seccomp"), ("landlock", "seccomp"), ("bubblewrap", "seccomp"))
PROBE = INSIDE / "probe.py"


class TooWeak(Exception):
    """No rung of the ladder holds here; the text says why, for each mechanism."""


def strongest(spool: Path) -> Wall:
    """The highest rung that holds on this machine, proven.

    Args:
        spool: submissions will be copied to folders in it, and only they; it must exist.

    Raises:
        TooWeak: if there is none.
    """
    why: dict[str, str] = {}
    for rung in RUNGS:
        lacking = [mechanism for mechanism in rung if mechanism in why]
        if lacking:
            continue
        wall, problems = prove(rung, spool)
        if wall is not None:
            return wall
        why.update(problems)
    raise TooWeak("; ".join(f"{mechanism}: {text}" for mechanism, text in why.items()))


def prove(rung: tuple[str, ...], spool: Path) -> tuple[Wall | None, dict[str, str]]:
    """Build one rung and probe it: the wall, or why which mechanism does not hold."""
    try:
        wall = build(rung, spool)
    except CannotBuild as error:
        return None, {error.mechanism: str(error)}
    problems = probe(wall, spool)
    return (None if problems else wall), problems


# What each mechanism must refuse by itself, and with which error. Where two of them guard the same thing, only the
# error tells which of them did: seccomp answers EPERM before a path is looked at, Landlock EACCES, and what bubblewrap
# hides is not there.
PROVES: dict[str, dict[str, set[int]]] = {
    "bubblewrap": {"stat_outside": {ENOENT}, "read_outside": {ENOENT}},
    "landlock": {
        "read_outside": {EACCES, ENOENT},
        "read_sibling": {EACCES},
        "list_sibling": {EACCES},
        "list_root": {EACCES},
    },
    "seccomp": {
        "write": {EPERM},
        "fork": {EPERM},
        "execute": {EPERM},
        "signal": {EPERM},
        "memory_file": {EPERM},
        "internet_socket": {EPERM},
        "unix_socket": {EPERM},
        "netlink_socket": {EPERM},
        "thread": {-1},  # Python says only that it cannot
        "raise_limit": {-1},  # Python turns this EPERM into a ValueError
    },
}


def probe(wall: Wall, spool: Path) -> dict[str, str]:
    """Run the hostile submission behind the wall; say for each mechanism what it let through, or nothing."""
    with tempfile.TemporaryDirectory(prefix="headway-") as outside, tempfile.TemporaryDirectory(dir=spool) as folder:
        secret, sibling = Path(outside, "secret"), Path(folder, "sibling", "secret")
        own = Path(folder, "own")
        for path in (secret, sibling, own / "probe.py"):
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(PROBE.read_bytes())
        limits = Limits()
        arguments = {"outside": str(secret), "sibling": str(sibling), "memory": limits.memory_bytes}
        request = {"op": "call", "module": "probe", "function": "probe", "args": (), "opaque": [], "kwargs": arguments}
        try:
            with Workers(wall=wall) as workers:
                session = Session(workers, own, limits)
                try:
                    reply = session.request(request, 20.0)
                finally:
                    session.forget()
        except (WorkerDied, WorkerTimedOut) as error:
            # The outermost mechanism is the one to do without: inside it, nothing else came to speak.
            return {wall.mechanisms[0]: f"does not work here ({error})"}
    found = reply.get("value")
    if not isinstance(found, dict):
        return {wall.mechanisms[0]: f"the probe failed ({reply.get('type')}: {reply.get('message')})"}
    problems: dict[str, str] = {}
    for mechanism in wall.mechanisms:
        let_through = [what for what, errors in PROVES[mechanism].items() if found.get(what) not in errors]
        if let_through:
            problems[mechanism] = f"does not hold here ({', '.join(let_through).replace('_', ' ')})"
    if found.get("memory") != -1:
        problems.setdefault(wall.mechanisms[0], "does not hold here (memory)")
    return problems
