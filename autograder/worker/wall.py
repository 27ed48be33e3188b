"""The ladder: what can stand around student code on this machine, strongest first, and the proof that it holds.

    bubblewrap + Landlock + seccomp     its own file system, processes, network; files by rule; system calls by list
    Landlock + seccomp                  without user namespaces: metadata of files whose path is known stays visible
    bubblewrap + seccomp                before Linux 5.13, or with Landlock switched off
    nothing                             a class is not graded, unless somebody takes that upon themselves

No version number is believed. A rung holds if a small hostile submission (`inside/probe.py`), started exactly like a
student's, is refused everything that it tries.
"""

import shutil
import sys
import tempfile
from dataclasses import dataclass, field
from errno import EACCES, ENOENT, EPERM
from pathlib import Path
from typing import Any

from autograder.worker import reach, syscalls
from autograder.worker.limits import Limits

RUNGS = (("bubblewrap", "landlock", "seccomp"), ("landlock", "seccomp"), ("bubblewrap", "seccomp"))
PROBE = Path(__file__).with_name("inside") / "probe.py"
UNSAFE = "unsafe-no-sandbox"


@dataclass(frozen=True)
class Wall:
    """What stands around student processes.

    Attributes:
        mechanisms: names from `RUNGS`; none of them is the process of its own, which is always there.
        prefix: what the server's command line begins with.
        python: the interpreter of the server.
        inside: what the student's side needs in order to confine itself.
        spool: the folder in which submissions must lie; None where it does not matter.
        unsafe: strangers' code is run without a wall, and somebody said so.
    """

    mechanisms: tuple[str, ...] = ()
    prefix: tuple[str, ...] = ()
    python: str = sys.executable
    inside: dict[str, Any] = field(default_factory=lambda: {"mechanisms": ()})
    spool: Path | None = None
    unsafe: bool = False

    @property
    def names(self) -> list[str]:
        """For the result document."""
        limits = ["limits"] if sys.platform != "win32" else []
        return ["process", *limits, *self.mechanisms, *([UNSAFE] if self.unsafe else [])]


OPEN = Wall()


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
    except _CannotBuild as error:
        return None, {error.mechanism: str(error)}
    problems = probe(wall, spool)
    return (None if problems else wall), problems


class _CannotBuild(Exception):
    def __init__(self, mechanism: str, text: str) -> None:
        super().__init__(text)
        self.mechanism = mechanism


def build(mechanisms: tuple[str, ...], spool: Path) -> Wall:
    """A wall of these mechanisms, not yet proven."""
    if not sys.platform.startswith("linux"):
        raise _CannotBuild(mechanisms[0], f"needs Linux, this is {sys.platform}")
    within = reach.reach()
    spool = spool.resolve()
    inside: dict[str, Any] = {"mechanisms": mechanisms}
    if "landlock" in mechanisms:
        inside |= {"rules": [*within.rules(), (str(spool), True)], "roots": within.coarse()}
    if "seccomp" in mechanisms:
        try:
            inside["program"] = syscalls.program().hex()
        except syscalls.Unavailable as error:
            raise _CannotBuild("seccomp", str(error)) from None
    if "bubblewrap" not in mechanisms:
        return Wall(mechanisms, inside=inside, spool=spool)
    command = shutil.which("bwrap")
    if command is None:
        raise _CannotBuild("bubblewrap", "bwrap is not installed: apt install bubblewrap")
    from autograder import frames

    python = reach.interpreter()
    files = [python, PROBE.parent, Path(frames.__file__)]
    prefix = reach.bubblewrap(command, within, files, spool)
    return Wall(mechanisms, tuple(prefix), str(python), inside, spool)


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
    from autograder.worker.launch import WorkerDied, Workers
    from autograder.worker.session import Session, WorkerTimedOut

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
