"""The policy of a course: what `course.toml` says, validated; errors name the key, its line, and what was meant.

title = "CS 601"
seed = 7                        # without it a fresh one is drawn for each OUT and kept there
roster = "roster.csv"           # beside this file
attempts = "best"               # last, first or best
drop_lowest = 1

[late]
penalty_per_day = 0.1           # of the points earned; grace_hours, cap, of, marked_days
[limits]
call_seconds = 5
[checks]
hidden = ["softmax.softmax::*"]
[assignments.softmax]
points = 20
weight = 2
due = 2026-10-01T23:59:00+02:00
[[exceptions]]
student = "bo"                  # see `rulings.py`
assignment = "softmax"
due = 2026-10-05T23:59:00+02:00
"""

import dataclasses
import difflib
import fnmatch
import os
import re
import tomllib
import types
import typing
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from autograder.classroom.student_exceptions import PolicyException
from autograder.curriculum import Curriculum
from autograder.errors import UsageError
from autograder.results import Level
from autograder.sandbox import Limits

POLICY_FILE = "course.toml"
MIB = 1 << 20


@dataclass(frozen=True)
class LatePolicy:
    """What being late costs.

    Attributes:
        penalty_per_day: share of the points lost for each day begun.
        grace_hours: later than that is late; the grace is then not counted.
        cap: the largest share that can be lost.
        of: whether the share is one of the points earned, or of those possible.
        marked_days: how many days a submission counts as late that the platform only marks as late.
    """

    penalty_per_day: float = 0.0
    grace_hours: float = 0.0
    cap: float = 1.0
    of: Literal["earned", "possible"] = "earned"
    marked_days: int = 1


@dataclass(frozen=True)
class LimitsPolicy:
    """What one submission may use; see `worker/limits.py`."""

    call_seconds: float = 10.0
    submission_seconds: float = 300.0
    memory_mib: int = 2048
    output_mib: int = 8
    result_mib: int = 64

    def sandbox_limits(self) -> Limits:
        """As the grader has them."""
        return Limits(
            call_seconds=self.call_seconds,
            submission_seconds=self.submission_seconds,
            cpu_seconds=self.submission_seconds,
            memory_bytes=self.memory_mib * MIB,
            output_bytes=self.output_mib * MIB,
            result_bytes=self.result_mib * MIB,
        )


@dataclass(frozen=True)
class ChecksPolicy:
    """Which checks are hidden: graded, but of what they found only the points are told. Patterns of check ids."""

    hidden: tuple[str, ...] = ()


@dataclass(frozen=True)
class AssignmentPolicy:
    """What one assignment counts.

    Attributes:
        points: what it is worth in full; None: the points of its checks.
        weight: its share of the total; None: its points, and then those of all others, too (0 leaves one out).
        due: later is late.
    """

    points: float | None = None
    weight: float | None = None
    due: datetime | None = None


@dataclass(frozen=True)
class Policy:
    """Everything that `course.toml` can say. `roster` and `layout` are those of `headway grade`."""

    title: str = ""
    seed: int | None = None
    roster: str = ""
    layout: Literal["auto", "plain", "nbgrader", "canvas", "moodle", "gradescope"] = "auto"
    attempts: Literal["last", "first", "best"] = "last"
    feedback: Level = "summary"
    own_prerequisites: bool = False
    drop_lowest: int = 0
    late: LatePolicy = LatePolicy()
    limits: LimitsPolicy = LimitsPolicy()
    checks: ChecksPolicy = ChecksPolicy()
    assignments: dict[str, AssignmentPolicy] = field(default_factory=dict)
    exceptions: tuple[PolicyException, ...] = ()

    def is_hidden(self, check: str) -> bool:
        """Whether a check, by its id, is hidden."""
        return any(fnmatch.fnmatchcase(check, pattern) for pattern in self.checks.hidden)


# The smallest values that make sense, by key; everything else that is a number must not be negative.
_AT_LEAST = {
    "call_seconds": 0.05,
    "submission_seconds": 0.1,
    "memory_mib": 256,
    "output_mib": 1,
    "result_mib": 1,
    "bonus": -10_000,
}
_AT_MOST = {"penalty_per_day": 1.0, "cap": 1.0, "result_mib": 256}


@dataclass(frozen=True)
class Found:
    """A policy, and the roster that it names (beside its file)."""

    policy: Policy
    roster: Path | None = None


def find_policy(path: Path | None, folder: Path, curriculum: Curriculum) -> Found:
    """The policy of that file, or of the one in the folder of submissions, or the default one.

    A course of nbgrader's has it at its top, beside nbgrader's settings: `submitted/` holds nothing but submissions.

    Raises:
        UsageError: see `load`.
    """
    places = [folder, *([folder.parent] if os.path.isfile(folder.parent / "nbgrader_config.py") else [])]
    there = (
        place / POLICY_FILE for place in places if os.path.isfile(place / POLICY_FILE)
    )  # not there, or not to be seen: none
    path = path or next(there, None)
    if path is None:
        return Found(Policy())
    policy = load_policy(path, curriculum)
    return Found(policy, path.parent / policy.roster if policy.roster else None)


def override_policy(policy: Policy, limits: dict[str, Any], **more: Any) -> Policy:
    """The policy with what was said on the command line in its place; None was not said."""
    given = {key: value for key, value in more.items() if value is not None}
    changed = {key: value for key, value in limits.items() if value is not None}
    return dataclasses.replace(policy, limits=dataclasses.replace(policy.limits, **changed), **given)


def load_policy(path: Path, curriculum: Curriculum) -> Policy:
    """Read and validate a `course.toml`.

    Raises:
        UsageError: if it cannot be read or says something that it cannot say: the file, the line and the key.
    """
    try:
        text = path.read_text("utf-8-sig")
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror}). Name a file: --course FILE") from None
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not UTF-8 text. Save it as UTF-8") from None
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(
            f"{path} is not TOML: {error}. A string stands in quotes, a table begins with [name]"
        ) from None
    reader = _Reader(path, text, curriculum)
    policy: Policy = reader.section(Policy, content, "")
    reader.weights(policy.assignments)
    reader.exceptions(policy)
    return policy


class _Reader:
    def __init__(self, path: Path, text: str, curriculum: Curriculum) -> None:
        self._path = path
        self._lines = text.splitlines()
        self._curriculum = curriculum

    def section(self, kind: type[Any], content: dict[str, Any], at: str) -> Any:
        """One table as its dataclass."""
        hints = typing.get_type_hints(kind)
        for key in content:
            if key not in hints:
                self._unknown(at, key, list(hints), "key")
        return kind(**{key: self._value(hints[key], value, _join(at, key)) for key, value in content.items()})

    def weights(self, assignments: dict[str, AssignmentPolicy]) -> None:
        """Weights and points are different scales: a weight of 2 beside 30 points would nearly vanish."""
        weighed = [name for name, one in assignments.items() if one.weight]
        left = [name for name, one in assignments.items() if one.weight is None]
        if weighed and left:
            self._fail(
                _join("assignments", left[0]),
                f"has no weight, and {weighed[0]} has one. Without weights points count; give all a weight, or none",
            )

    def exceptions(self, policy: Policy) -> None:
        """An exception says for whom, of which assignment, and what."""
        graded = list(policy.assignments or self._curriculum.modules)
        for number, one in enumerate(policy.exceptions, start=1):
            at = f"exceptions[{number}]"
            if not one.student:
                self._fail(at, 'says not for whom. A name, number or address: student = "…"')
            if one.assignment and one.assignment not in graded:
                close = difflib.get_close_matches(one.assignment, graded, n=1)
                meant = f"Did you mean {close[0]!r}?" if close else f"Graded are: {', '.join(graded)}"
                self._fail(f"{at}.assignment", f"{one.assignment!r} is not graded. {meant}")
            if not one.says_something:
                self._fail(at, "changes nothing. Give it due, late_days, bonus, score or excused = true")
            if not one.assignment and (one.bonus or one.score is not None):
                self._fail(at, f'says not of which assignment: assignment = "{graded[0]}"')

    def _value(self, hint: Any, value: Any, key: str) -> Any:
        if dataclasses.is_dataclass(hint):
            return self.section(typing.cast("type[Any]", hint), self._table(value, key), key)
        if key == "assignments":
            table = self._table(value, key)
            for name in table:
                if name not in self._curriculum.modules:
                    self._unknown(key, name, list(self._curriculum.modules), "assignment")
            return {
                name: self.section(AssignmentPolicy, self._table(inner, _join(key, name)), _join(key, name))
                for name, inner in table.items()
            }
        if key == "exceptions":
            if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
                self._fail(key, "must be tables, each begun with [[exceptions]]")
            return tuple(self.section(PolicyException, item, f"{key}[{n}]") for n, item in enumerate(value, start=1))
        if key == "checks.hidden":
            return self._patterns(value, key)
        if isinstance(hint, types.UnionType):
            (hint,) = [kind for kind in typing.get_args(hint) if kind is not type(None)]
        if typing.get_origin(hint) is Literal:
            choices = typing.get_args(hint)
            if value not in choices:
                close = difflib.get_close_matches(str(value), choices, n=1)
                meant = f"Did you mean {close[0]!r}?" if close else f"One of: {', '.join(choices)}"
                self._fail(key, f"must be one of its words, not {value!r}. {meant}")
            return value
        return self._plain(hint, value, key)

    def _plain(self, hint: Any, value: Any, key: str) -> Any:
        short = key.rpartition(".")[2]
        if hint is datetime:
            if not isinstance(value, datetime):
                self._fail(key, "must be a date with a time, without quotes: 2026-10-01T23:59:00+02:00")
            if value.tzinfo is None:
                when = value.isoformat()
                self._fail(key, f"says no time zone: {when}+02:00 is two hours east of UTC, {when}Z is UTC")
            return value
        if hint is float and type(value) in (int, float):
            return float(self._within(value, short, key))
        if hint is int and type(value) is int:
            return self._within(value, short, key)
        if type(value) is not hint or hint in (int, float):
            words = {float: "a number", int: "a whole number", str: "text in quotes", bool: "true or false"}
            self._fail(key, f"must be {words[hint]}, not {value!r}")
        return value

    def _within(self, value: float, short: str, key: str) -> float:
        low, high = _AT_LEAST.get(short, 0), _AT_MOST.get(short)
        if not value >= low or value == float("inf"):  # not a number is not at least anything
            self._fail(key, f"must be at least {low:g}, not {value!r}")
        if high is not None and value > high:
            share = " (a share: 0.1 is a tenth)" if high == 1.0 else ""
            self._fail(key, f"must be at most {high:g}, not {value!r}{share}")
        return value

    def _patterns(self, value: Any, key: str) -> tuple[str, ...]:
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            self._fail(key, 'must be a list of texts: ["softmax.softmax::*"]')
        for pattern in value:
            function = pattern.partition("::")[0]
            if not any(fnmatch.fnmatchcase(name, function) for name in self._curriculum.functions):
                close = difflib.get_close_matches(function, self._curriculum.functions, n=1)
                meant = f" Did you mean {close[0] + '::*'!r}?" if close else ' As in: "softmax.softmax::*"'
                self._fail(key, f"no function of the course fits {pattern!r}.{meant}")
        return tuple(value)

    def _table(self, value: Any, key: str) -> dict[str, Any]:
        if not isinstance(value, dict):
            self._fail(key, f"must be a table: [{key}]")
        return typing.cast("dict[str, Any]", value)

    def _unknown(self, at: str, key: str, choices: list[str], what: str) -> None:
        close = difflib.get_close_matches(key, choices, n=1)
        meant = f"Did you mean {close[0]!r}?" if close else f"There are: {', '.join(choices)}"
        self._fail(_join(at, key), f"there is no {what} of that name{f' in [{at}]' if at else ''}. {meant}")

    def _fail(self, key: str, text: str) -> typing.NoReturn:
        line = _line_of(self._lines, key)
        where = f"{self._path}, line {line}" if line else str(self._path)
        raise UsageError(f"{where}: {key}: {text}")


def _join(at: str, key: str) -> str:
    return f"{at}.{key}" if at else key


def _line_of(lines: list[str], key: str) -> int | None:
    """The line that sets a key, counted from 1: tomllib does not tell."""
    table = ""
    counts: Counter[str] = Counter()
    candidates: dict[str, int] = {}
    for number, line in enumerate(lines, start=1):
        header = re.match(r"\s*\[+([^\]]+)\]", line)
        if header:
            table = ".".join(part.strip().strip("\"'") for part in header[1].split("."))
            if line.lstrip().startswith("[["):
                counts[table] += 1
                table = f"{table}[{counts[table]}]"
            candidates.setdefault(table, number)
            continue
        name = re.match(r"\s*([A-Za-z0-9_.\"'-]+)\s*=", line)
        if name:
            candidates[_join(table, name[1].replace('"', "").replace("'", ""))] = number
    while key:
        if key in candidates:
            return candidates[key]
        key = key.rpartition(".")[0]  # an inline table, or a table that is only implied
    return None
