"""Build the sandbox of student processes: the command line that starts them and the rules that confine them.

`probe.py` proves whether a sandbox built here refuses what it must.
"""

import shutil
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autograder.sandbox import filesystem
from autograder.sandbox.packages import AllowedPackages
from autograder.sandbox.server import CHILD_FOLDER, FRAMES, PARSING_FOLDER, UNCONFINED
from autograder.sandbox.syscalls import MechanismUnavailable, compiled_filter

UNSAFE = "unsafe-no-sandbox"


@dataclass(frozen=True)
class SandboxPolicy:
    """How student processes are isolated from the grader and from each other."""

    mechanisms: tuple[str, ...] = ()  # bubblewrap, landlock, seccomp
    prefix: tuple[str, ...] = ()  # the beginning of the server's command line
    python: str = sys.executable  # the server's interpreter
    # What the student's process needs in order to confine itself.
    child_setup: dict[str, Any] = field(default_factory=UNCONFINED.copy)
    submissions_root: Path | None = None  # in which submissions must lie; None if they may lie anywhere
    unsafe: bool = False  # The instructor asked for untrusted code to be run without a sandbox.
    packages: dict[str, str] = field(default_factory=dict)  # what code may import besides NumPy: name -> version

    @classmethod
    def without(cls, packages: AllowedPackages, *, unsafe: bool = False) -> "SandboxPolicy":
        """Return the policy of processes that are not confined."""
        setup = UNCONFINED | packages.child_setup()
        return cls(child_setup=setup, unsafe=unsafe, packages=dict(packages.versions))

    @property
    def layers(self) -> list[str]:
        """Return everything that isolates the student's code, as listed in the result document."""
        limits = ["limits"] if sys.platform != "win32" else []
        return ["process", *limits, *self.mechanisms, *([UNSAFE] if self.unsafe else [])]


NO_SANDBOX = SandboxPolicy()


def build(mechanisms: tuple[str, ...], submissions_root: Path, packages: AllowedPackages) -> SandboxPolicy:
    """Return a sandbox of at least one mechanism, not yet proven; raise MechanismUnavailable if one is missing."""
    if not sys.platform.startswith("linux"):
        raise MechanismUnavailable(mechanisms[0], f"needs Linux, this is {sys.platform}")
    readable = filesystem.readable_paths(packages.paths)
    submissions_root = submissions_root.resolve()
    versions = dict(packages.versions)
    child_setup: dict[str, Any] = {"mechanisms": mechanisms, **packages.child_setup()}
    if "landlock" in mechanisms:
        child_setup |= {"rules": [*readable.rules(), (str(submissions_root), True)], "roots": readable.coarse()}
    if "seccomp" in mechanisms:
        child_setup["program"] = compiled_filter().hex()
    if "bubblewrap" not in mechanisms:
        return SandboxPolicy(mechanisms, child_setup=child_setup, submissions_root=submissions_root, packages=versions)
    command = shutil.which("bwrap")
    if command is None:
        raise MechanismUnavailable("bubblewrap", "bwrap is not installed: apt install bubblewrap")
    python = Path(sys.executable).resolve()  # The real one, to which a virtual environment's is a link.
    files = [python, CHILD_FOLDER, PARSING_FOLDER, FRAMES]
    prefix = filesystem.bubblewrap_command(command, readable, files, submissions_root)
    return SandboxPolicy(mechanisms, tuple(prefix), str(python), child_setup, submissions_root, packages=versions)
