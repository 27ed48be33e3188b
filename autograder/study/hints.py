"""Graded hints: three steps for each function, a question, the idea, the shape of the line. Never the solution."""

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

FILE = Path(__file__).parents[1] / "hints.toml"
KINDS = ("question", "idea", "shape")
KEY = "hints"  # in the workspace's state: function -> how many steps were shown


@cache
def load() -> dict[str, tuple[str, ...]]:
    """Every function's steps, by its qualified name; line breaks of the file are spaces."""
    with open(FILE, "rb") as file:
        tables = tomllib.load(file)
    return {name: tuple(" ".join(step.split()) for step in table["steps"]) for name, table in tables.items()}


def steps(function: str) -> tuple[str, ...]:
    """The three steps of one function, by its qualified name."""
    return load()[function]


def shown(section: Mapping[str, Any], function: str) -> int:
    """How many steps were shown, as the state has it; 0 for anything that is no such number."""
    count = section.get(function)
    return min(count, len(KINDS)) if isinstance(count, int) and not isinstance(count, bool) and count > 0 else 0


def next_count(already: int | None, more: int) -> int:
    """How many steps to show now.

    Args:
        already: how many were shown before; None where nothing is remembered. Then `more` counts from the first step.
        more: how many further ones are asked for.
    """
    count = 1 + more if already is None else max(already + more, 1)
    return min(count, len(KINDS))
