"""Store the settings of a run in `OUT/run.json`: the seed, the policy file and the roster.

So `headway grade --out OUT` and `headway comment` find them again. Paths are relative to OUT.
"""

import contextlib
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import msgspec

from autograder.classroom.policy.model import Count, Policy
from autograder.classroom.policy.policy_file import POLICY_FILE, find_policy_file, load_policy
from autograder.core.files import read_plain_file, write_atomically
from autograder.course import Curriculum
from autograder.engine.inputs import fresh_seed
from autograder.errors import UsageError

SCHEMA: Final = "headway.run/1"
RUN = "run.json"


@dataclass
class RunRecord:
    """The stored settings of the last run; None or empty where nothing was given."""

    seed: Count | None = None
    course: str = ""
    roster: str = ""


def read(out: Path) -> RunRecord:
    """Return the record in the folder `out`; an empty one if there is none that can be read."""
    with contextlib.suppress(OSError, ValueError, RecursionError):
        return msgspec.json.decode(read_plain_file(out / RUN), type=RunRecord)
    return RunRecord()


def write(out: Path, record: RunRecord) -> None:
    """Store the record, if it has changed."""
    if record != read(out):
        content = json.dumps({"schema": SCHEMA, **asdict(record)}, ensure_ascii=False).encode("utf-8", "replace")
        write_atomically(out / RUN, content + b"\n", durable=True)


def find_seed(out: Path, policy: Policy) -> int:
    """Return the seed of the policy, or that of the last run, or a fresh one."""
    seed = read(out).seed if policy.seed is None else policy.seed
    return fresh_seed() if seed is None else seed


def find_policy(
    out: Path, folder: Path | None, course: Path | None, curriculum: Curriculum
) -> tuple[Policy, Path | None]:
    """Return the policy and its file: `course`, or course.toml in the submissions or in OUT, or that of the last run.

    The roster in the policy is relative to the working directory.
    """
    path = course or (find_policy_file(folder) if folder else None)
    if path is None and os.path.isfile(out / POLICY_FILE):
        path = out / POLICY_FILE
    if path is None and (recorded := read(out).course):
        path = _resolved(out, recorded)
        if not os.path.isfile(path):
            raise UsageError(f"the policy file of the last run is gone: {path}. Name it again: --course FILE")
    return (Policy(), None) if path is None else (load_policy(path, curriculum), path)


def find_roster(out: Path, policy: Policy, course: Path | None, roster: Path | None) -> Path | None:
    """Return the roster: `roster`, or that of the policy, or that of the last run if it still exists."""
    if roster is not None:
        return roster
    if policy.roster and course is not None:
        return course.parent / policy.roster
    recorded = read(out).roster
    path = _resolved(out, recorded)
    return path if recorded and os.path.isfile(path) else None


def relative_to(out: Path, path: Path | None) -> str:
    """Return a path as it is stored: relative to OUT, or absolute if it is on another drive."""
    if path is None:
        return ""
    try:
        return Path(os.path.relpath(path, out)).as_posix()
    except ValueError:
        return str(path.resolve())


def _resolved(out: Path, recorded: str) -> Path:
    return Path(os.path.normpath(out / recorded))
