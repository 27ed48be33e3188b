"""Find, read and validate `course.toml`; errors name the file, the line and the key."""

import fnmatch
import os
import re
import tomllib
import typing
import zoneinfo
from collections import Counter
from collections.abc import Iterable
from datetime import date, datetime, time
from pathlib import Path
from typing import Any, Literal, TypeVar

import msgspec
from msgspec.structs import replace

from autograder.classroom.policy.model import Amount, AssignmentPolicy, Policy, PolicyException, RubricItem
from autograder.core.files import report_read_error
from autograder.core.text import did_you_mean, time_zone
from autograder.course import Curriculum
from autograder.errors import UsageError

POLICY_FILE = "course.toml"
T = TypeVar("T")


def find_policy_file(folder: Path) -> Path | None:
    """Return the `course.toml` of a folder of submissions, or None.

    An nbgrader course has it at its top, next to nbgrader's settings: `submitted/` holds nothing but submissions.
    """
    in_nbgrader_course = os.path.isfile(folder.parent / "nbgrader_config.py")
    candidates = [folder / POLICY_FILE, *([folder.parent / POLICY_FILE] if in_nbgrader_course else [])]
    return next(filter(os.path.isfile, candidates), None)  # os.path: an unreadable folder has no policy


def load_policy(path: Path, curriculum: Curriculum) -> Policy:
    """Read and validate a `course.toml`; raise UsageError if it cannot be read, is not TOML or breaks a rule."""
    try:
        with report_read_error(path, "Check the path: --course FILE"):
            text = path.read_text("utf-8-sig")
        content = tomllib.loads(text)
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not UTF-8 text. Save it as UTF-8.") from None
    except tomllib.TOMLDecodeError as error:
        hint = "Strings need quotes; a table begins with [name]."
        raise UsageError(f"{path} is not valid TOML: {error}. {hint}") from None
    return _Validator(path, text, curriculum).policy(content)


class _Validator:
    """The rules of `course.toml`: msgspec checks types and ranges, the methods check the rest."""

    def __init__(self, path: Path, text: str, curriculum: Curriculum) -> None:
        self._path, self._lines, self._curriculum = path, text.splitlines(), curriculum

    def policy(self, content: dict[str, Any]) -> Policy:
        """Convert the content of the file, and check what its types cannot express."""
        # msgspec does not report the keys of dictionaries, so these tables are converted one by one.
        assignments = self._convert(content.pop("assignments", {}), dict[str, Any], "assignments")
        exceptions = self._convert(content.pop("exceptions", []), list[dict[str, Any]], "exceptions")
        for name in assignments:
            if name not in self._curriculum.modules:
                raise self._unknown("assignments", name, "assignment", self._curriculum.modules)
            assignments[name] = self._assignment(assignments[name], name)
        entries = [self._convert(table, PolicyException, f"exceptions[{n}]") for n, table in enumerate(exceptions, 1)]
        policy = replace(self._convert(content, Policy), assignments=assignments, exceptions=tuple(entries))
        self._check_time_zone(policy.time_zone)
        self._check_hidden(policy)
        self._check_weights(policy)
        self._check_names_and_exceptions(policy)
        return policy

    def _assignment(self, table: Any, name: str) -> AssignmentPolicy:
        """Convert the table of one assignment, and check its functions and its rubric."""
        key = f"assignments.{name}"
        table = dict(self._convert(table, dict[str, Any], key))
        points = self._convert(table.pop("functions", {}), dict[str, Any], f"{key}.functions")
        tables = self._convert(table.pop("rubric", []), list[dict[str, Any]], f"{key}.rubric")
        known = self._curriculum.function_names[name]
        for function in points:
            if function not in known:
                raise self._unknown(f"{key}.functions", function, "function", known)
            points[function] = self._convert(points[function], Amount, f"{key}.functions.{function}")
        required = [function.name for function in self._curriculum.modules[name].functions if not function.bonus]
        if required and not any(points.get(function, 1.0) for function in required):
            raise self._error(f"{key}.functions", "gives every function 0 points. Give points to at least one.")
        rubric = [self._rubric_item(item, f"{key}.rubric[{number}]") for number, item in enumerate(tables, 1)]
        for number, item in enumerate(rubric, 1):
            if item.id in (other.id for other in rubric[: number - 1]):
                problem = f"{item.id!r} is used twice. Give each item its own id."
                raise self._error(f"{key}.rubric[{number}].id", problem)
        return replace(self._convert(table, AssignmentPolicy, key), functions=points, rubric=tuple(rubric))

    def _rubric_item(self, table: Any, key: str) -> RubricItem:
        item = self._convert(table, RubricItem, key)
        if not item.id.strip():
            raise self._error(key, 'has no id. Add one, for headway comment --rubric ID: id = "q1"')
        if not item.points:
            raise self._error(key, "has no points. Add the most that an answer can earn: points = 5")
        return replace(item, id=item.id.strip(), title=item.title.strip() or item.id.strip())

    def _convert(self, value: Any, kind: type[T], key: str = "") -> T:
        """Convert TOML data to `kind`; `key` is its place in the file."""
        try:
            return msgspec.convert(value, kind, builtin_types=(datetime, date, time))
        except msgspec.ValidationError as error:
            problem, _, path = str(error).partition(" - at `$")
        expected: Any = kind
        for name in re.sub(r"\[.*|`", "", path).split(".")[1:]:
            expected = typing.get_type_hints(expected, include_extras=True)[name]
            value, key = value[name], _join(key, name)
        if unknown := re.fullmatch(r"Object contains unknown field `(.*)`", problem, re.DOTALL):
            raise self._unknown(key, unknown[1], "key", expected.__struct_fields__)
        shown = value if isinstance(value, date | time) else repr(value)
        hint = _suggest(str(value), typing.get_args(expected)) if typing.get_origin(expected) is Literal else ""
        raise self._error(key, f"must be {_describe(expected, key)}, not {shown}. {hint}".rstrip())

    def _check_time_zone(self, name: str) -> None:
        if time_zone(name) is None:
            known = zoneinfo.available_timezones()
            example = 'Example: "Europe/Berlin"' if known else "Install the names: pip install tzdata"
            raise self._error("time_zone", f"{name!r} is not a time zone. {_suggest(name, known, example)}")

    def _check_hidden(self, policy: Policy) -> None:
        functions = self._curriculum.functions
        for pattern in policy.checks.hidden:
            if not fnmatch.filter(functions, pattern.partition("::")[0]):
                hint = _suggest(pattern, [f"{name}::*" for name in functions], 'Example: "softmax.softmax::*"')
                raise self._error("checks.hidden", f"{pattern!r} matches no function. {hint}")

    def _check_weights(self, policy: Policy) -> None:
        """Weights and points are different scales: a weight of 2 beside 30 points would nearly vanish."""
        weighted = [name for name, assignment in policy.assignments.items() if assignment.weight]
        unweighted = [name for name, assignment in policy.assignments.items() if assignment.weight is None]
        if weighted and unweighted:
            problem = f"has no weight, but {weighted[0]} has one. Give every assignment a weight, or none of them."
            raise self._error(f"assignments.{unweighted[0]}", problem)

    def _check_names_and_exceptions(self, policy: Policy) -> None:
        graded = list(policy.assignments or self._curriculum.modules)
        if (final := policy.replace_lowest_by) and final not in graded:
            hint = _suggest(final, graded, f"Graded assignments: {', '.join(graded)}.")
            raise self._error("replace_lowest_by", f"{final!r} is not graded. {hint}")
        for number, entry in enumerate(policy.exceptions, start=1):
            key = f"exceptions[{number}]"
            if not entry.student:
                raise self._error(key, 'has no student. Add a name, id or email: student = "…"')
            if entry.assignment and entry.assignment not in graded:
                hint = _suggest(entry.assignment, graded, f"Graded assignments: {', '.join(graded)}.")
                raise self._error(f"{key}.assignment", f"{entry.assignment!r} is not graded. {hint}")
            if replace(entry, student="", assignment="", reason="") == PolicyException():
                raise self._error(key, "has no effect. Add due, late_days, bank_days, bonus, score or excused = true.")
            if entry.bank_days and not policy.late.bank:
                raise self._error(f"{key}.bank_days", "needs a bank of late days. Add one: [late] bank = 5")
            if not entry.assignment and (entry.bonus or entry.score is not None):
                raise self._error(key, f'needs an assignment for bonus or score: assignment = "{graded[0]}"')

    def _unknown(self, table: str, key: str, noun: str, choices: Iterable[str]) -> UsageError:
        where = f" in [{table}]" if table else ""
        hint = _suggest(key, list(choices), f"Known {noun}s: {', '.join(choices)}.")
        return self._error(_join(table, key), f"unknown {noun}{where}. {hint}")

    def _error(self, key: str, problem: str) -> UsageError:
        line = _line_of(self._lines, key)
        return UsageError(f"{self._path}{f', line {line}' if line else ''}: {key}: {problem}")


def _describe(expected: Any, key: str) -> str:
    if type(None) in typing.get_args(expected):  # Amount | None
        expected = typing.get_args(expected)[0]
    if hasattr(expected, "__metadata__"):
        return str(expected.__metadata__[0].description)
    if typing.get_origin(expected) is Literal:
        return f"one of {', '.join(typing.get_args(expected))}"
    if typing.get_origin(expected) is list:
        return f"a list of tables, each of which begins with [[{key}]]"
    return {str: "text in quotes", bool: "true or false"}.get(expected, f"a table: [{key}]")


def _suggest(name: str, choices: Iterable[str], otherwise: str = "") -> str:
    return did_you_mean(name, choices).strip() or otherwise


def _join(table: str, key: str) -> str:
    return f"{table}.{key}" if table else key


def _line_of(lines: list[str], key: str) -> int | None:
    """Return the line that sets a key, counted from 1; tomllib does not record it."""
    table = ""
    counts: Counter[str] = Counter()
    line_numbers: dict[str, int] = {}
    for number, line in enumerate(lines, start=1):
        if header := re.match(r"\s*\[+([^\]]+)\]", line):
            table = ".".join(part.strip().strip("\"'") for part in header[1].split("."))
            if line.lstrip().startswith("[["):
                counts[table] += 1
                table = f"{table}[{counts[table]}]"
            line_numbers.setdefault(table, number)
        elif name := re.match(r"\s*([A-Za-z0-9_.\"'-]+)\s*=", line):
            line_numbers[_join(table, name[1].replace('"', "").replace("'", ""))] = number
    while key and key not in line_numbers:
        key = key.rpartition(".")[0]  # an inline table, or a table that has no header of its own
    return line_numbers.get(key)
