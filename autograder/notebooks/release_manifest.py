"""What `headway release` wrote into a course, so that doing it again loses nothing that somebody changed since.

The course's folder has a record of it: the fingerprint of every file as it was written, and the seed of the hidden
inputs, which stay the same. Running and saving a notebook is no change; its cells are looked at, not its outputs.
"""

import contextlib
import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autograder.core.files import write_atomically

RECORD = ".headway-release.json"


@dataclass
class WrittenFiles:
    """What was done with each file, by name.

    Attributes:
        kept: files that somebody has changed or made; they are as they were.
        removed: files that the kit wrote earlier, nobody changed, and the course no longer has.
    """

    written: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)


def seed_of(folder: Path) -> int | None:
    """The seed of the hidden inputs of the course in `folder`; None where none was released."""
    seed = _record(folder).get("seed")
    return seed if isinstance(seed, int) else None


def write(folder: Path, files: dict[str, str], seed: int) -> WrittenFiles:
    """Write a course, or bring one up to date.

    Raises:
        OSError: if a file cannot be written.
    """
    known = _record(folder).get("files")
    before: dict[str, str] = known if isinstance(known, dict) else {}
    now, done = dict(before), WrittenFiles()
    for name, text in files.items():
        there = _there(folder / name)
        new = _fingerprint(name, text)
        if there is not None and _fingerprint(name, there) not in (new, before.get(name)):
            done.kept.append(name)
            continue
        if there != text:
            write_atomically(folder / name, text.encode())
        now[name] = new
        done.written.append(name)
    for name in before.keys() - files.keys():
        there = _there(folder / name)
        if there is not None and _fingerprint(name, there) == before[name]:
            (folder / name).unlink()
            done.removed.append(name)
        now.pop(name)
    record = {"seed": seed, "files": dict(sorted(now.items()))}
    write_atomically(folder / RECORD, (json.dumps(record, indent=1) + "\n").encode())
    return done


def _record(folder: Path) -> dict[str, Any]:
    try:
        found = json.loads((folder / RECORD).read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _there(path: Path) -> str | None:
    try:
        return path.read_bytes().decode("utf-8", "surrogateescape")
    except FileNotFoundError:
        return None


def _fingerprint(name: str, text: str) -> str:
    """SHA-256 of what somebody writes in a file: of a notebook the cells, without outputs."""
    if name.endswith(".ipynb"):
        with contextlib.suppress(ValueError, KeyError, TypeError, AttributeError):  # damaged, and so somebody's
            text = repr([_written(cell) for cell in json.loads(text)["cells"]])
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def _written(cell: dict[str, Any]) -> tuple[Any, str, Any]:
    source = cell["source"]
    about = cell.get("metadata", {}).get("nbgrader")
    return cell["cell_type"], source if isinstance(source, str) else "".join(source), about and sorted(about.items())
