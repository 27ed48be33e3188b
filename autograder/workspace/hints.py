"""Graded hints: three steps for each function, a question, the idea, the shape of the line. Never the solution."""

import tomllib
from collections.abc import Mapping
from functools import cache
from typing import Any

from autograder.curriculum import registry
from autograder.errors import UsageError

FILE = "hints.toml"  # in the course's package
KINDS = ("question", "idea", "shape")
KEY = "hints"  # in the workspace's state: function -> how many steps were shown


@cache
def load(package: str = registry.BUILT_IN) -> dict[str, tuple[str, ...]]:
    """Every function's steps, by its qualified name; line breaks of the file are spaces.

    Raises:
        UsageError: if the course's file cannot be understood.
    """
    path = registry.folder(package) / FILE
    try:
        tables = tomllib.loads(path.read_text("utf-8"))
        found = {name: tuple(" ".join(step.split()) for step in table["steps"]) for name, table in tables.items()}
        wrong = next((name for name, steps in found.items() if len(steps) != len(KINDS)), None)
        if wrong is not None:
            raise ValueError(f"{wrong} does not have {len(KINDS)} steps")
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"{path} cannot be used ({error}). Tell the course's authors") from None
    return found


def steps(function: str, package: str = registry.BUILT_IN) -> tuple[str, ...]:
    """The three steps of one function, by its qualified name; none if its course has none for it."""
    return load(package).get(function, ())


def shown(section: Mapping[str, Any], function: str) -> int:
    """How many steps were shown, as the state has it; 0 for anything that is no such number."""
    count = section.get(function)
    return min(count, len(KINDS)) if isinstance(count, int) and not isinstance(count, bool) and count > 0 else 0


def next_count(already: int, more: int) -> int:
    """How many steps to show now.

    Args:
        already: how many were shown before. Whoever asks for more without having seen any gets the first one as well.
        more: how many further ones are asked for.
    """
    return min(max(already, 1) + more, len(KINDS))
