"""The key of a result: a digest of everything that it depends on. The same key, the same result, times apart.

The sandbox counts by whether there is one, not by its level: every level is proven, before it is used, to refuse what
could change a grade, so a result from another machine's level is as good.
"""

import hashlib
import json
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

from autograder.core.versions import versions
from autograder.curriculum import Curriculum, registry
from autograder.curriculum.stubs import bundled
from autograder.engine.session import Options

# What of the kit has a part in a result. Views, commands and exports are not in it: they read results.
_PARTS = (
    "*.py",
    "core/*.py",
    "curriculum/*.py",
    "courses/transformer/**/*.py",
    "courses/transformer/hints.toml",
    "engine/**/*.py",
    "sandbox/**/*.py",
    "classroom/submissions/intake.py",
    "classroom/worker.py",
    "notebooks/*.py",
)


@cache
def headway_digest() -> str:
    """Digest of the checks, the references, the solutions beneath a submission and the code that runs them."""
    root = Path(__file__).parents[1]
    state = hashlib.sha256()
    files = [path for part in _PARTS for path in sorted(root.glob(part))]
    for path in [*files, *sorted(bundled("solutions").glob("*.py"))]:
        content = path.read_bytes()
        state.update(f"{path.name}\0{len(content)}\0".encode() + content)
    return state.hexdigest()


def _course_digest(curriculum: Curriculum) -> str:
    """The course's name; for one that another package brings, with a digest of that package."""
    if curriculum.package == registry.BUILT_IN:
        return curriculum.name
    state = hashlib.sha256(repr(curriculum).encode())
    for path in registry.sources(curriculum.package):
        content = path.read_bytes()
        state.update(f"{path.name}\0{len(content)}\0".encode() + content)
    return f"{curriculum.name} {state.hexdigest()}"


def run_key(options: Options, **more: Any) -> str:
    """Digest of all that is the same for every submission of a run."""
    settings = {
        "kit": headway_digest(),
        "course": _course_digest(options.curriculum),
        "versions": versions(),
        "functions": options.functions,
        "seed": options.seed,
        "limits": {name: str(value) for name, value in asdict(options.limits).items()},
        "official": options.official,
        "diagnose": options.diagnose,
        **more,
    }
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()


def result_key(run: str, name: str, digest: str) -> str:
    """The key of one submission's result."""
    return hashlib.sha256(json.dumps([run, name, digest]).encode("utf-8", "replace")).hexdigest()
