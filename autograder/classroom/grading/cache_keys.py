"""Compute the key of a result: a digest of everything it depends on. Equal keys mean equal results, except for times.

The sandbox counts by whether there is one, not by its level: every level is proven, before it is used, to refuse what
could change a grade, so a result from another machine's level is as good.
"""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

from autograder.core.versions import versions
from autograder.course import registry
from autograder.course.stubs import bundled
from autograder.engine.session import Options

# The files of Headway that results depend on. Reports, commands and exports only read results.
_RESULT_FILES = (
    "*.py", "core/*.py", "course/*.py", "documents/*.py", "courses/transformer/**/*.py",
    "courses/transformer/*/hints.toml", "courses/transformer/*/plain.txt", "engine/**/*.txt",
    "engine/**/*.py", "sandbox/**/*.py", "classroom/submissions/intake.py", "classroom/submissions/account.py",
    "classroom/submissions/folder_reader.py", "classroom/grading/worker.py", "notebooks/*.py", "parsing/*.py",
)  # fmt: skip


@cache
def headway_digest() -> str:
    """Return the digest of the checks, references, official solutions and the code that runs them."""
    root = Path(__file__).parents[2]
    files = [path for pattern in _RESULT_FILES for path in sorted(root.glob(pattern))]
    return _digest_of_files([*files, *sorted(bundled("solutions").glob("*.py"))])


def _digest_of_files(paths: Iterable[Path], prefix: str = "") -> str:
    digest = hashlib.sha256(prefix.encode())
    for path in paths:
        content = path.read_bytes()
        digest.update(f"{path.name}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()


def run_key(options: Options, **settings: Any) -> str:
    """Return the digest of everything that all submissions of a run share; `settings` are added to it."""
    curriculum = options.curriculum
    course = curriculum.name
    if not curriculum.is_built_in:
        course += f" {_digest_of_files(registry.source_files(curriculum.package), repr(curriculum))}"
    shared = {
        "headway": headway_digest(),
        "course": course,
        "versions": versions(),
        **{name: getattr(options, name) for name in ("functions", "seed", "official", "diagnose")},
        "limits": {name: str(value) for name, value in asdict(options.limits).items()},
        **settings,
    }
    return hashlib.sha256(json.dumps(shared, sort_keys=True).encode()).hexdigest()


def result_key(run: str, submission: str, digest: str) -> str:
    """Return the key of one submission's result, from the run's key and the digest of the submitted files."""
    return hashlib.sha256(json.dumps([run, submission, digest]).encode("utf-8", "replace")).hexdigest()
