"""What stands around student code: a wall of mechanisms that the system has, as the command and the rules for them.

Whether a wall holds is proven elsewhere: `ladder.py`.
"""

import shutil
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autograder.core import wire_format
from autograder.sandbox import filesystem, syscalls

INSIDE = Path(__file__).with_name("child")
UNSAFE = "unsafe-no-sandbox"


@dataclass(frozen=True)
class Wall:
    """What stands around student processes.

    Attributes:
        mechanisms: bubblewrap, landlock, seccomp; none of them is the process of its own, which is always there.
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


class CannotBuild(Exception):
    """This machine has not what a mechanism needs."""

    def __init__(self, mechanism: str, text: str) -> None:
        super().__init__(text)
        self.mechanism = mechanism


def build(mechanisms: tuple[str, ...], spool: Path) -> Wall:
    """A wall of these mechanisms, not yet proven.

    Args:
        spool: the folder that submissions will be in.

    Raises:
        CannotBuild: if one of them is not there.
    """
    if not sys.platform.startswith("linux"):
        raise CannotBuild(mechanisms[0], f"needs Linux, this is {sys.platform}")
    within = filesystem.reach()
    spool = spool.resolve()
    inside: dict[str, Any] = {"mechanisms": mechanisms}
    if "landlock" in mechanisms:
        inside |= {"rules": [*within.rules(), (str(spool), True)], "roots": within.coarse()}
    if "seccomp" in mechanisms:
        try:
            inside["program"] = syscalls.program().hex()
        except syscalls.Unavailable as error:
            raise CannotBuild("seccomp", str(error)) from None
    if "bubblewrap" not in mechanisms:
        return Wall(mechanisms, inside=inside, spool=spool)
    command = shutil.which("bwrap")
    if command is None:
        raise CannotBuild("bubblewrap", "bwrap is not installed: apt install bubblewrap")
    python = filesystem.interpreter()
    files = [python, INSIDE, Path(wire_format.__file__)]
    prefix = filesystem.bubblewrap(command, within, files, spool)
    return Wall(mechanisms, tuple(prefix), str(python), inside, spool)
