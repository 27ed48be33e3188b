"""Store PyTorch's answers on disk, so that most checks need not import torch.

There are two places: `answers.memo` of each assignment, which ships with the course (the answers to the public inputs),
and the user's cache (one file per answer). A key is the digest of everything the answer depends on.

Keys must not depend on the processor. PyTorch's answers do, in the last bit, and some requests contain earlier answers:
they have the same key everywhere because the earlier answers come from the memo, too.
"""

import contextlib
import copy
import hashlib
import json
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

from autograder.core import wire_format
from autograder.core.files import user_folder, write_atomically

INDEX = "answers.json"  # in the folder of a course


def digest_of(*parts: bytes) -> str:
    """Return the hex digest of byte strings, each preceded by its length, so that their boundaries count."""
    state = hashlib.blake2b(digest_size=20)
    for part in parts:
        state.update(len(part).to_bytes(8, "little") + part)
    return state.hexdigest()


def user_cache() -> Path | None:
    """Return the folder of the user's cache: $HEADWAY_CACHE, or the platform's cache folder, if there is one."""
    return user_folder("HEADWAY_CACHE", "cache")


class Memo:
    """Looks up answers in the course's folder, then in `cache`; computes and stores those that are missing."""

    def __init__(self, course: Path, cache: Path | None = None) -> None:
        self._course, self._cache = course, cache
        self._loaded: dict[str, dict[str, bytes]] = {}
        self._decoded: dict[str, Any] = {}  # by key
        self.used: dict[str, dict[str, bytes]] = {}  # every packed answer that was returned, by module and key

    def get_or_compute(self, module: str, request: bytes, compute: Callable[[], Any]) -> Any:
        """Return the answer to `request` (a packed frame), from the nearest place that has it."""
        key = digest_of(request)
        if key in self._decoded:
            return copy.deepcopy(self._decoded[key])
        if module not in self._loaded:
            self._loaded[module] = read_shipped(shipped_file(self._course, module))
        frame = self._loaded[module].get(key)
        path = self._cache / key[:2] / f"{key}.memo" if self._cache and frame is None else None
        frame = _read_checked(path) if path else frame
        if frame is None:
            frame = wire_format.pack(compute())
            # A cache that cannot be written (full, read-only, not owned) only costs time.
            with contextlib.suppress(OSError):
                if path is not None:
                    _write_checked(path, frame)
        self.used.setdefault(module, {})[key], self._decoded[key] = frame, wire_format.unpack(frame)
        return copy.deepcopy(self._decoded[key])

    @cached_property
    def index(self) -> dict[str, str]:
        """What computed the shipped answers: the version of "torch", the digest of the "sources"; empty if unknown."""
        try:
            index = json.loads((self._course / INDEX).read_text("utf-8"))
            return {str(key): str(value) for key, value in index.items()}
        except (OSError, ValueError, AttributeError):
            return {}


def _read_checked(path: Path) -> bytes | None:
    """Return the frame in a file; None if the file is missing or damaged."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    return content[40:] if digest_of(content[40:]).encode() == content[:40] else None


def _write_checked(path: Path, frame: bytes) -> None:
    write_atomically(path, digest_of(frame).encode() + frame)


def shipped_file(course: Path, module: str) -> Path:
    """Return the file with the answers of an assignment in the folder of a course."""
    return course / module / "answers.memo"


def read_shipped(path: Path) -> dict[str, bytes]:
    """Read one module's shipped answers, by key; empty if the file is missing or damaged."""
    try:
        return {key: value.tobytes() for key, value in wire_format.unpack(_read_checked(path) or b"").items()}
    except (wire_format.FrameError, AttributeError):
        return {}


def write_shipped(course: Path, used: dict[str, dict[str, bytes]], index: dict[str, str]) -> None:
    """Write answers by module for `read_shipped`, and the index."""
    import numpy as np

    for module, entries in used.items():
        body = wire_format.pack({key: np.frombuffer(entries[key], np.uint8) for key in sorted(entries)})
        _write_checked(shipped_file(course, module), body)
    write_atomically(course / INDEX, (json.dumps(index, indent=1) + "\n").encode())
