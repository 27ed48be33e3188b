"""Build the sandbox of student processes: the command line that starts them and the rules that confine them.

Student code may read the standard library, NumPy, `regex`, their shared libraries, and what the course allows. Nothing
else that is installed is readable, above all not PyTorch: code that can read `site-packages` can import it. `probe.py`
proves whether a sandbox built here refuses what it must.
"""

import shutil
import sys
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autograder.sandbox.packages import AllowedPackages
from autograder.sandbox.server import CHILD_FOLDER, FRAMES, IMPORTABLE, PARSING_FOLDER, UNCONFINED, package_folder
from autograder.sandbox.syscalls import MechanismUnavailable, compiled_filter

UNSAFE = "unsafe-no-sandbox"
INSTALLED = ("site-packages", "dist-packages")


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
    def unconfined(cls, packages: AllowedPackages, *, unsafe: bool = False) -> "SandboxPolicy":
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
    readable = readable_paths(packages.paths)
    submissions_root = submissions_root.resolve()
    child_setup: dict[str, Any] = {"mechanisms": mechanisms, **packages.child_setup()}
    if "landlock" in mechanisms:
        child_setup["rules"] = [*readable.rules(), (str(submissions_root), True)]
        # The few paths that every student process confines itself to once more.
        child_setup["roots"] = [str(path) for path in (*readable.roots, *readable.packages)]
    if "seccomp" in mechanisms:
        child_setup["program"] = compiled_filter().hex()
    python, prefix = sys.executable, list[str]()
    if "bubblewrap" in mechanisms:
        if (command := shutil.which("bwrap")) is None:
            raise MechanismUnavailable("bubblewrap", "bwrap is not installed: apt install bubblewrap")
        python = str(Path(python).resolve())  # The real one, to which a virtual environment's is a link.
        files = [Path(python), CHILD_FOLDER, PARSING_FOLDER, FRAMES]
        prefix = bubblewrap_command(command, readable, files, submissions_root)
    versions = dict(packages.versions)
    return SandboxPolicy(mechanisms, tuple(prefix), python, child_setup, submissions_root, packages=versions)


@dataclass(frozen=True)
class ReadablePaths:
    """The paths that student code may read."""

    roots: tuple[Path, ...]  # Some of them contain folders of installed packages.
    hidden: tuple[Path, ...]  # those folders of installed packages, which must not be read
    packages: tuple[Path, ...]  # the exceptions: NumPy, `regex`, their libraries, and what the course allows

    def rules(self) -> list[tuple[str, bool]]:
        """Return the exact paths, each with whether its files may be read; Landlock rules can only allow."""
        # An import lists a folder before it reads a file in it.
        listed = [(str(root), False) for root in self.roots if root.is_dir()]
        readable = [path for root in self.roots for path in _visible_parts(root, self.hidden)]
        return [*listed, *((str(path), True) for path in (*readable, *self.packages))]


def readable_paths(allowed: tuple[Path, ...] = ()) -> ReadablePaths:
    """Return what student code may read on this machine (Linux); `allowed` are files of further packages."""
    folders_of_packages = [package_folder(name) for name in IMPORTABLE]
    exceptions = [path for folder in folders_of_packages for path in (folder, folder.with_name(f"{folder.name}.libs"))]
    packages = [*(path.resolve() for path in exceptions if path.is_dir()), *allowed]
    standard = Path(sysconfig.get_path("stdlib")).resolve()  # In a virtual environment: that of the base installation.
    folders = {standard, *_library_folders(), *packages}
    roots = sorted(folder for folder in folders if folders.isdisjoint(folder.parents))
    installed = (path for root in roots for name in INSTALLED for path in (root / name, *root.glob(f"python*/{name}")))
    return ReadablePaths(tuple(roots), tuple(sorted({path for path in installed if path.is_dir()})), tuple(packages))


def bubblewrap_command(command: str, readable: ReadablePaths, files: list[Path], submissions_root: Path) -> list[str]:
    """Return the beginning of a command line whose program sees a file system of these paths and nothing else."""
    # Every namespace is new: no network, no other processes, no other users. It ends when the grader ends.
    line = [command, "--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
    for folder in (Path("/lib"), Path("/lib64")):
        if folder.is_symlink():
            line += ["--symlink", str(folder.readlink()), str(folder)]
    for root in readable.roots:
        line += ["--ro-bind", str(root), str(root)]
    for folder in readable.hidden:
        line += ["--tmpfs", str(folder)]
    for path in (*readable.packages, *files, *_loaders()):
        line += ["--ro-bind", str(path), str(path)]
    return [*line, "--ro-bind", str(submissions_root), str(submissions_root), "--remount-ro", "/", "--chdir", "/", "--"]


def _loaders() -> list[Path]:
    """Return the dynamic loader, which every program names by its full path, and the loader's list of libraries."""
    folders = [Path(folder) for folder in ("/lib", "/lib64", "/usr/lib", "/usr/lib64")]
    loaders = [loader for folder in folders if not folder.is_symlink() for loader in folder.glob("ld-*.so*")]
    return [path for path in (*loaders, Path("/etc/ld.so.cache")) if path.exists()]


def _library_folders() -> set[Path]:
    """Return the folders of the shared libraries that this interpreter has loaded, including the dynamic loader's."""
    import ctypes
    import ssl
    import zlib

    _ = (ctypes, ssl, zlib)  # Imported for the shared libraries that they load.
    lines = Path("/proc/self/maps").read_text("utf-8", "surrogateescape").splitlines()
    mapped = {line[line.find("/") :] for line in lines if "/" in line}
    folders = {Path(path).resolve().parent for path in mapped if ".so" in path}
    return {folder for folder in folders if not set(INSTALLED) & set(folder.parts) and folder.is_dir()}


def _visible_parts(folder: Path, hidden: tuple[Path, ...]) -> Iterator[Path]:
    """Yield the folder; or, if something below it is hidden, the parts of it that are not."""
    if folder in hidden:
        return
    if not any(folder in path.parents for path in hidden):
        yield folder
        return
    for entry in sorted(folder.iterdir()):
        yield from _visible_parts(entry, hidden)
