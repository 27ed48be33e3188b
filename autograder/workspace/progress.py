"""The student's progress: the latest result of each function, valid for its fingerprint and Headway's version.

Each milestone, such as the first attention head that works, has a badge: one line, shown once.
"""

import datetime
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from autograder import __version__
from autograder.core.text import clean
from autograder.course import Curriculum
from autograder.documents.results import STATUSES, CheckResult, ProgressEntry, Status, function_status
from autograder.workspace.state import FILE, State

# Keys of the state file.
KEY, VERSION = "progress", "kit"  # codespell:ignore kit
CURRENT_FUNCTION = "at"
BADGES = "badges"

BADGE_OF_FUNCTION = {
    "attention.attention": ("head", "your first working attention head"),
    "blocks.block": ("block", "your first transformer block"),
    "gpt.gpt_loss": ("gpt", "your GPT can compute its loss and every gradient"),
}
LOSS_BADGE = ("loss", "your first training run whose loss falls")
NAME_BADGE = ("name", "your model invented its first name")


def load(state: State, curriculum: Curriculum) -> dict[str, ProgressEntry]:
    """Return the recorded progress by qualified name, without damaged entries and those of another version."""
    if (version := state.content.get(VERSION, __version__)) != __version__:
        version = clean(str(version), 20)
        state.add_note(f"The results in {FILE} are of Headway {version}. Check again: headway check")
        return {}
    recorded = {name: _parse_entry(values) for name, values in state.section(KEY).items()}
    return {name: entry for name, entry in recorded.items() if entry is not None and name in curriculum.functions}


def _parse_entry(values: Any) -> ProgressEntry | None:
    try:
        entry = ProgressEntry(**values)
        datetime.datetime.fromisoformat(entry.since)
        valid = entry.status in STATUSES and 0 <= entry.earned + 0.0 <= 1e6 and 0 < entry.possible + 0.0 <= 1e6
    except (TypeError, ValueError):
        return None
    return entry if valid and isinstance(entry.fingerprint, str) else None


def store(state: State, entries: Mapping[str, ProgressEntry], curriculum: Curriculum) -> None:
    """Put the entries into the state; the caller saves it."""
    state.content[VERSION] = __version__
    state.content[KEY] = {name: asdict(entries[name]) for name in curriculum.functions if name in entries}


def update(
    entries: dict[str, ProgressEntry],
    checks: Sequence[CheckResult],
    fingerprints: Mapping[str, str],
    now: str | None = None,
) -> tuple[str, ...]:
    """Update the entries, in place, with the results of checks; return the functions that newly pass."""
    now = now or datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    newly_passed = []
    for name in dict.fromkeys(check.function for check in checks):
        results = [check for check in checks if check.function == name]
        before = entries.get(name)
        status = function_status(results)
        since = before.since if before and before.status == status else now
        earned, possible = sum(check.earned for check in results), sum(check.possible for check in results)
        entries[name] = ProgressEntry(fingerprints[name], status, earned, possible, since)
        if status == "passed" and not (before and before.status == "passed"):
            newly_passed.append(name)
    return tuple(newly_passed)


def current_statuses(entries: Mapping[str, ProgressEntry], fingerprints: Mapping[str, str]) -> dict[str, Status]:
    """Return the status of each function whose code has not changed since it was checked."""
    return {name: entry.status for name, entry in entries.items() if entry.fingerprint == fingerprints[name]}


def total_points(entries: Mapping[str, ProgressEntry], curriculum: Curriculum) -> tuple[float, float]:
    """Return the points earned and possible of the functions checked so far; bonus points count as earned only."""
    earned = sum(entry.earned for entry in entries.values())
    return earned, sum(e.possible for name, e in entries.items() if not curriculum.functions[name].bonus)


def next_unfinished(statuses: Mapping[str, Status], curriculum: Curriculum, after: str | None = None) -> str | None:
    """Return the first function that does not pass, in the rest of the assignment of `after` first; bonus last."""
    functions, names, module = curriculum.functions, list(curriculum.functions), ""
    if after in functions:
        start, module = names.index(after) + 1, functions[after].module
        names = names[start:] + names[:start]
    names.sort(key=lambda name: (functions[name].bonus, name == after or functions[name].module != module))
    return next((name for name in names if statuses.get(name) != "passed"), None)


def passed_assignments(statuses: Mapping[str, Status], curriculum: Curriculum) -> tuple[str, ...]:
    """Return the assignments whose functions all pass, apart from bonus functions, in course order."""
    return tuple(
        assignment.module
        for assignment in curriculum.assignments
        if all(statuses.get(function.qualified) == "passed" for function in assignment.functions if not function.bonus)
    )


def award_badges(state: State, passed: Iterable[str]) -> list[str]:
    """Award the badges for functions that now pass, and return their lines; the caller saves the state."""
    badges = [BADGE_OF_FUNCTION[name] for name in passed if name in BADGE_OF_FUNCTION]
    return [line for badge, text in badges for line in award_badge(state, badge, text)]


def award_badge(state: State, badge: str, text: str) -> list[str]:
    """Award one badge and return its line; no line if it was awarded before."""
    section = state.section(BADGES)
    if badge in section:
        return []
    section[badge] = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    return [f"★ {text}"]


def loss_has_fallen(losses: list[float]) -> bool:
    """Return whether the mean loss of the last tenth of a run is at least 5 % below that of the first tenth."""
    tenth = len(losses) // 10
    return tenth > 0 and sum(losses[-tenth:]) < 0.95 * sum(losses[:tenth])


def first_new_line(text: str, known: str) -> str | None:
    """Return the first complete line of `text` that is not a line of `known`, if any."""
    known_lines = set(known.split("\n"))
    return next((line for line in text.split("\n")[1:-1] if len(line) > 1 and line not in known_lines), None)
