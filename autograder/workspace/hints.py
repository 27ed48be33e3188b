"""Hints: three steps for each function (a question, the idea, the shape of the line), never the solution."""

import tomllib
from functools import cache

from autograder.course import registry
from autograder.errors import UsageError
from autograder.workspace.state import State

KINDS = ("question", "idea", "shape")
KEY = "hints"  # key of the state file: function -> how many steps were shown


@cache
def load(module: str, package: str) -> dict[str, tuple[str, ...]]:
    """Return the steps of each function of an assignment by its short name, each on one line."""
    path = registry.assignment_folder(module, package) / "hints.toml"
    try:
        tables = tomllib.loads(path.read_text("utf-8"))
        hints = {name: tuple(" ".join(step.split()) for step in table["steps"]) for name, table in tables.items()}
        if wrong := [name for name, steps in hints.items() if len(steps) != len(KINDS)]:
            raise ValueError(f"{wrong[0]} does not have {len(KINDS)} steps")
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"{path} is invalid ({error}). Please report it to the course's authors") from None
    return hints


def steps(function: str, package: str) -> tuple[str, ...]:
    """Return the three steps of a function, by qualified name; none if the course has no hints for it."""
    module, _, name = function.partition(".")
    return load(module, package).get(name, ())


def require_steps(function: str, package: str) -> tuple[str, ...]:
    """Return the steps of a function; raise UsageError if there are none."""
    if not (found := steps(function, package)):
        raise UsageError(f"this course has no hints for {function}. Read its docstring")
    return found


def shown_count(state: State, function: str) -> int:
    """Return how many steps the state says were shown; 0 if the entry is missing or invalid."""
    count = state.section(KEY).get(function)
    return min(count, len(KINDS)) if isinstance(count, int) and not isinstance(count, bool) and count > 0 else 0


def show_more(state: State, function: str, more: int, *, save: bool = True) -> int:
    """Record that `more` further steps are shown, at least the first one; return how many are shown then."""
    already = shown_count(state, function)
    count = min(max(already, 1) + more, len(KINDS))
    if count != already:
        state.section(KEY)[function] = count
        if save:
            state.save()
    return count
