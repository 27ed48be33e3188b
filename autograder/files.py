"""Reading what lies in a folder that others work in; writing so that nobody ever sees half of a file."""

import contextlib
import hashlib
import os
import re
import tempfile
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal

MAX_NAME = 120  # bytes; the longest that file systems take is 255, with an ending
_DEVICES = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)  # what Windows keeps for itself


def modules_in(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Names and contents of the Python files in a folder, in the order of the names.

    What is no plain file is left out: Emacs puts a broken link `.#softmax.py` beside what it edits. So is what vanishes
    in the moment in which it is read.
    """
    for path in sorted(folder.glob("*.py")):
        if path.is_file():
            with contextlib.suppress(FileNotFoundError):
                yield path.name, path.read_bytes()


def users_folder(variable: str, kind: Literal["cache", "data"]) -> Path | None:
    """The folder that an environment variable names, or the platform's for this; None for a user without a home."""
    if os.environ.get(variable):
        return Path(os.environ[variable])
    import platformdirs

    find = {"cache": platformdirs.user_cache_path, "data": platformdirs.user_data_path}[kind]
    try:
        found = find("headway", appauthor=False)
    except RuntimeError:
        return None
    return found if found.is_absolute() else None  # an older platformdirs: ~/.cache, and no ~


def write_atomically(path: Path, content: bytes, *, durable: bool = False) -> None:
    """Write `content` to `path`: the old file stays until the new one is whole.

    Args:
        path: a pipe or a device (/dev/stdout) is written into, not replaced.
        durable: on the disk when this returns, also if the power fails the moment after.

    Raises:
        OSError: if it cannot be written; nothing is left behind.
    """
    if path.exists() and (not path.is_file() or path.is_relative_to("/dev")):
        path.write_bytes(content)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=".tmp-")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        os.chmod(temporary, 0o666 & ~_umask())  # as any new file, not only for its owner
        os.replace(temporary, path)
        if durable:
            _sync_folder(path.parent)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def _sync_folder(folder: Path) -> None:
    """Put the new name of a file on the disk; where folders cannot be opened, the system does it by itself."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def readable_names(texts: Iterable[str]) -> dict[str, str]:
    """File names for texts from strangers, without an ending: the text itself wherever every file system takes it.

    Otherwise what is left of it, and eight digits of its digest, so that no two are the same, not even where a file
    system makes no difference between capitals and small letters. A text keeps its name from one time to the next.
    """
    wanted = list(dict.fromkeys(texts))
    plain = {text: _plain_name(text) for text in wanted}
    alike = Counter(name.casefold() for name in plain.values())
    return {
        text: name
        if name and name == text and alike[name.casefold()] == 1
        else f"{name} {hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}".strip()
        for text, name in plain.items()
    }


def _plain_name(text: str) -> str:
    """Letters and digits of every script and a few marks; nothing that a shell, a link or a file system takes amiss."""
    composed = unicodedata.normalize("NFC", text)
    kept = "".join(c if unicodedata.category(c)[0] in "LMN" or c in "-_.,@()" else " " for c in composed)
    while len(kept.encode()) > MAX_NAME:
        kept = kept[:-1]
    kept = " ".join(kept.split()).strip(" .-")
    return "" if _DEVICES.fullmatch(kept) else kept
