"""How far the student is: what the latest check of each function found, kept in the workspace's state.

An entry counts as long as the function's fingerprint (see `impact.py`) and the kit are what they were.
"""

import datetime
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from autograder import __version__
from autograder.curriculum import Curriculum
from autograder.results import STATUSES, CheckResult, Status, function_status
from autograder.workspace.state import State

KEY, KIT = "progress", "kit"
AT = "at"  # in the workspace's state: the function in hand


@dataclass(frozen=True)
class Entry:
    """The latest check of one function.

    Attributes:
        print: the function's fingerprint at that time.
        earned, possible: points.
        since: when it came to its status, ISO 8601 in UTC.
    """

    print: str
    status: Status
    earned: float
    possible: float
    since: str


def load(state: State) -> dict[str, Entry]:
    """What the state says, by qualified name; entries of another kit, or that make no sense, count as none."""
    if state.content.get(KIT) != __version__:
        return {}
    found = {}
    for name, values in state.section(KEY).items():
        entry = _entry(values)
        if entry is not None and name in state.curriculum.functions:
            found[name] = entry
    return found


def _entry(values: Any) -> Entry | None:
    try:
        entry = Entry(**values)
        datetime.datetime.fromisoformat(entry.since)
        sensible = entry.status in STATUSES and 0 <= entry.earned + 0.0 <= 1e6 and 0 < entry.possible + 0.0 <= 1e6
    except (TypeError, ValueError):
        return None
    return entry if sensible and isinstance(entry.print, str) else None


def store(state: State, entries: Mapping[str, Entry]) -> None:
    """Put the entries into the state, to be saved."""
    state.content[KIT] = __version__
    state.content[KEY] = {name: asdict(entries[name]) for name in state.curriculum.functions if name in entries}


def update(
    entries: dict[str, Entry], checks: Iterable[CheckResult], prints: Mapping[str, str], now: str | None = None
) -> tuple[str, ...]:
    """Take note of what checks found.

    Returns:
        The functions that pass now and did not before.
    """
    now = now or datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    by_function: dict[str, list[CheckResult]] = {}
    for check in checks:
        by_function.setdefault(check.function, []).append(check)
    fresh = []
    for name, found in by_function.items():
        before = entries.get(name)
        status = function_status(found)
        since = before.since if before and before.status == status else now
        earned, possible = sum(c.earned for c in found), sum(c.possible for c in found)
        entries[name] = Entry(prints[name], status, earned, possible, since)
        if status == "passed" and not (before and before.status == "passed"):
            fresh.append(name)
    return tuple(fresh)


def valid(entries: Mapping[str, Entry], prints: Mapping[str, str]) -> dict[str, Status]:
    """The status of each function whose entry is of the code as it is now."""
    return {name: entry.status for name, entry in entries.items() if entry.print == prints[name]}


def next_open(statuses: Mapping[str, Status], curriculum: Curriculum, after: str | None = None) -> str | None:
    """The first function in course order, bonus ones last, that does not pass.

    Args:
        after: the function in hand: what is left of its own assignment comes first, then what stands behind it.
    """
    names = sorted(curriculum.functions, key=lambda name: curriculum.functions[name].bonus)
    if after in names:
        start = names.index(after) + 1
        names = names[start:] + names[:start]
        functions = curriculum.functions
        module = functions[after].module
        names.sort(key=lambda name: name == after or functions[name].bonus or functions[name].module != module)
    return next((name for name in names if statuses.get(name) != "passed"), None)


def in_hand(state: State) -> str | None:
    """The function that was in hand when the workspace was watched last; None if that is not known."""
    at = state.content.get(AT)
    return at if isinstance(at, str) and at in state.curriculum.functions else None


def passed_modules(statuses: Mapping[str, Status], curriculum: Curriculum) -> tuple[str, ...]:
    """The assignments of which everything passes but for bonus work, in course order."""
    return tuple(
        assignment.module
        for assignment in curriculum.assignments
        if all(statuses.get(f.qualified) == "passed" for f in assignment.functions if not f.bonus)
    )
