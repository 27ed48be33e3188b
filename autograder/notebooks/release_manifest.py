"""The files that `headway release` wrote into an nbgrader course, so that a second release keeps later changes.

A manifest in the course's folder holds the fingerprint of every file as it was written, and the seed of the hidden
inputs, so that they stay the same. Running and saving a notebook does not count as a change: only cells are compared.
"""

import contextlib
import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autograder.core.files import write_atomically

MANIFEST = ".headway-release.json"


@dataclass
class WrittenFiles:
    """The names of the files of a release, by what was done with them."""

    written: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)  # changed or created by somebody, and left as they are
    removed: list[str] = field(default_factory=list)  # unchanged files that the course no longer has


def released_seed(folder: Path) -> int | None:
    """Return the seed of the hidden inputs of the course in `folder`; None if no course was released there."""
    seed = _read_manifest(folder).get("seed")
    return seed if isinstance(seed, int) else None


def write_release(folder: Path, files: dict[str, str], seed: int) -> WrittenFiles:
    """Write a course, or update an earlier release of it; raise OSError if a file cannot be written."""
    known = _read_manifest(folder).get("files")
    before: dict[str, str] = known if isinstance(known, dict) else {}
    after, done = dict(before), WrittenFiles()
    for name, text in files.items():
        current, new = _read_text(folder / name), _fingerprint(name, text)
        if current is not None and _fingerprint(name, current) not in (new, before.get(name)):
            done.kept.append(name)
            continue
        if current != text:
            write_atomically(folder / name, text.encode())
        after[name] = new
        done.written.append(name)
    for name in before.keys() - files.keys():
        current, fingerprint = _read_text(folder / name), after.pop(name)
        if current is not None and _fingerprint(name, current) == fingerprint:
            (folder / name).unlink()
            done.removed.append(name)
    manifest = {"seed": seed, "files": dict(sorted(after.items()))}
    write_atomically(folder / MANIFEST, (json.dumps(manifest, indent=1) + "\n").encode())
    return done


def _read_manifest(folder: Path) -> dict[str, Any]:
    try:
        manifest = json.loads((folder / MANIFEST).read_bytes())
    except (OSError, ValueError):
        return {}
    return manifest if isinstance(manifest, dict) else {}


def _read_text(path: Path) -> str | None:
    try:
        return path.read_bytes().decode("utf-8", "surrogateescape")
    except FileNotFoundError:
        return None


def _fingerprint(name: str, text: str) -> str:
    """Return the SHA-256 of a file's text; of a notebook, that of its cells without outputs."""
    if name.endswith(".ipynb"):
        # A damaged notebook counts as changed.
        with contextlib.suppress(ValueError, KeyError, TypeError, AttributeError):
            text = repr([_cell_content(cell) for cell in json.loads(text)["cells"]])
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def _cell_content(cell: dict[str, Any]) -> tuple[Any, str, Any]:
    nbgrader = cell.get("metadata", {}).get("nbgrader")
    return cell["cell_type"], "".join(cell["source"]), nbgrader and sorted(nbgrader.items())
