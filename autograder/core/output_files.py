"""Files that a user names for the output of a command: possible work is not overwritten unless the user asks.

A command may replace what it has written itself, such as a plot that is drawn again. It recognizes its own files by a
mark in them, or, where the format has none, by their digests in a record (`OutputRecord`): then a file that was changed
since is kept, too.
"""

import contextlib
import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path

from autograder.core.files import write_atomically
from autograder.errors import UsageError

MAX_BYTES = 16 << 20  # of a file that is read to recognize it; a larger one is not recognized
RECORD = ".headway-outputs.json"
_WORK = (".py", ".ipynb", ".toml")  # what people write, and no command has as its only output
_WORKSPACE = (".headway.json", "README.md", "AGENTS.md")


def require_replaceable(
    path: Path, is_own: Callable[[bytes], bool], what: str, *, option: str, force: bool | None
) -> None:
    """Raise UsageError if writing `path` would destroy a file that this command has not written.

    Args:
        is_own: whether a file with this content was written by the command.
        what: what the command writes, such as "a plot of headway plot".
        option: the option that names the file, such as "--out FILE".
        force: whether the user wants it replaced anyway; None if the command cannot be asked to.
    """
    require_no_work(path, option)
    if force or not path.is_file():  # A folder cannot be replaced, and a pipe or a device loses nothing.
        return
    try:
        content = path.read_bytes() if path.stat().st_size <= MAX_BYTES else None
    except OSError:
        content = None
    if content is None or (content and not is_own(content)):
        remedy = _remedy(option, can_force=force is not None)
        raise UsageError(f"{path} exists and is not {what}, so it was kept. {remedy}")


def require_no_work(path: Path, option: str) -> None:
    """Raise UsageError if a file is code, a notebook, settings or the state of a workspace: `--force` is not enough."""
    if (path.suffix.lower() in _WORK or path.name in _WORKSPACE) and path.is_file() and path.stat().st_size:
        raise UsageError(f"{path} may be your work, so no command replaces it. Name another file: {option}")


def _remedy(option: str, *, can_force: bool = True) -> str:
    return f"Name another one: {option}{'. To replace it: --force' if can_force else ''}"


class OutputRecord:
    """The digests of files as Headway has written them, kept in a folder of its own, such as that of results.

    In a folder that only Headway writes to (`is_own_folder`), files that are not recorded are its own, too.
    """

    def __init__(self, folder: Path, *, is_own_folder: bool = False) -> None:
        self._folder, self._is_own_folder = folder, is_own_folder
        self._digests: dict[str, str] = {}
        with contextlib.suppress(OSError, ValueError, RecursionError):
            stored = json.loads((folder / RECORD).read_bytes())
            if isinstance(stored, dict):
                self._digests = {name: text for name, text in stored.items() if isinstance(text, str)}

    def require_replaceable(self, paths: Iterable[Path], *, option: str, force: bool) -> None:
        """Raise UsageError if one of the files exists and is not as Headway has written it."""
        for path in paths:
            key = self._key(path)
            known = key in self._digests
            if not known:
                require_no_work(path, option)
            if force:
                continue
            is_own = self._is_own_folder and not known and not key.startswith(("../", "/"))
            if not is_own and path.is_file() and path.stat().st_size and self._digests.get(key) != _digest(path):
                reason = "was changed after Headway wrote it" if known else "exists and was not written by this command"
                raise UsageError(f"{path} {reason}, so it was kept. {_remedy(option)}")

    def add(self, paths: Iterable[Path]) -> None:
        """Record files that have just been written; raise OSError if the record cannot be written."""
        self._digests |= {self._key(path): _digest(path) for path in paths if path.is_file()}
        content = json.dumps(dict(sorted(self._digests.items())), indent=1) + "\n"
        write_atomically(self._folder / RECORD, content.encode())

    def _key(self, path: Path) -> str:
        with contextlib.suppress(ValueError):  # On Windows, no relative path leads from one drive to another.
            return Path(os.path.relpath(path.absolute(), self._folder.absolute())).as_posix()
        return path.absolute().as_posix()


def _digest(path: Path) -> str:
    import hashlib

    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
