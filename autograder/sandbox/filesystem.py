"""What student code may read: the standard library, NumPy, the shared libraries under them. And bubblewrap's command.

Everything else that is installed stays out of reach, above all PyTorch: who can read `site-packages` can import it.
"""

import importlib.util
import sys
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

INSTALLED = ("site-packages", "dist-packages")


@dataclass(frozen=True)
class ReadablePaths:
    """Paths that may be read.

    Attributes:
        roots: folders, coarsely: some have installed packages beneath them.
        hidden: those folders of installed packages.
        packages: what of them may be read: NumPy and the libraries that its wheel brings along.
    """

    roots: tuple[Path, ...]
    hidden: tuple[Path, ...]
    packages: tuple[Path, ...]

    def coarse(self) -> list[str]:
        """The few paths that every student process lists again for itself."""
        return [str(path) for path in (*self.roots, *self.packages)]

    def rules(self) -> list[tuple[str, bool]]:
        """The exact paths, with whether files may be read: Landlock can only allow, so what is hidden is left out."""
        listed = [(str(root), False) for root in self.roots]  # importing lists a folder before it reads from it
        readable = [path for root in self.roots for path in _around(root, self.hidden)]
        return [*listed, *((str(path), True) for path in (*readable, *self.packages))]


def numpy_folder() -> Path:
    """Where NumPy is installed, without importing it."""
    spec = importlib.util.find_spec("numpy")
    assert spec is not None and spec.origin is not None
    return Path(spec.origin).parent


def readable_paths() -> ReadablePaths:
    """What student code may read on this machine (Linux)."""
    numpy = numpy_folder()
    packages = [path for path in (numpy, numpy.with_name("numpy.libs")) if path.is_dir()]
    standard = Path(sysconfig.get_path("stdlib")).resolve()  # of the base installation, also in a virtual environment
    roots = _topmost({standard, *_library_folders(), *(path.resolve() for path in packages)})
    hidden = sorted({path for root in roots for path in _installed_in(root)})
    return ReadablePaths(tuple(roots), tuple(hidden), tuple(path.resolve() for path in packages))


def bubblewrap_command(command: str, within: ReadablePaths, files: list[Path], submissions_root: Path) -> list[str]:
    """The beginning of a command line: what follows runs in a file system that has these paths, and nothing else.

    Args:
        command: the bubblewrap program.
        within: what may be read.
        files: single files that are needed beyond it.
        submissions_root: the folder in which submissions will appear.
    """
    # All namespaces of its own: no network, no other processes, no other users; gone when the grader is gone.
    line = [command, "--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
    for folder in (Path("/lib"), Path("/lib64")):
        if folder.is_symlink():
            line += ["--symlink", str(folder.readlink()), str(folder)]
    for root in within.roots:
        line += ["--ro-bind", str(root), str(root)]
    for folder in within.hidden:
        line += ["--tmpfs", str(folder)]
    for path in (*within.packages, *files, *_loaders()):
        line += ["--ro-bind", str(path), str(path)]
    return [*line, "--ro-bind", str(submissions_root), str(submissions_root), "--remount-ro", "/", "--chdir", "/", "--"]


def _loaders() -> list[Path]:
    """What every program names by its full path: the dynamic loader; and its list of libraries."""
    places = [Path(place) for place in ("/lib", "/lib64", "/usr/lib", "/usr/lib64")]
    found = [loader for place in places if not place.is_symlink() for loader in place.glob("ld-*.so*")]
    return [path for path in (*found, Path("/etc/ld.so.cache")) if path.exists()]


def _library_folders() -> set[Path]:
    """Folders of the shared libraries that this very interpreter has loaded, the dynamic loader's among them."""
    import ctypes
    import ssl
    import zlib

    _ = (ctypes, ssl, zlib)  # imported for the libraries under them
    folders = set()
    for line in Path("/proc/self/maps").read_text("utf-8", "surrogateescape").splitlines():
        path = line[line.find("/") :] if "/" in line else ""
        if ".so" in path:
            folders.add(Path(path).resolve().parent)
    return {folder for folder in folders if not set(INSTALLED) & set(folder.parts) and folder.is_dir()}


def _installed_in(root: Path) -> Iterator[Path]:
    for name in INSTALLED:
        for path in (root / name, *root.glob(f"python*/{name}")):
            if path.is_dir():
                yield path


def _topmost(folders: set[Path]) -> list[Path]:
    return sorted(folder for folder in folders if not any(other in folder.parents for other in folders))


def _around(folder: Path, hidden: tuple[Path, ...]) -> Iterator[Path]:
    """The folder; or, where something beneath it is hidden, everything in it that is not."""
    if folder in hidden:
        return
    if not any(folder in path.parents for path in hidden):
        yield folder
        return
    for entry in sorted(folder.iterdir()):
        yield from _around(entry, hidden)


def real_interpreter() -> Path:
    """The interpreter that is started under bubblewrap: the real one, a virtual environment's is a link to it."""
    return Path(sys.executable).resolve()
