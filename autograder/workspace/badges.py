"""Badges: one line for each milestone, such as the first attention head that works, shown once."""

import datetime
from collections.abc import Iterable

from autograder.workspace.state import State

KEY = "badges"
BY_FUNCTION = {
    "attention.attention": ("head", "your first working attention head"),
    "blocks.block": ("block", "your first transformer block"),
    "gpt.gpt_loss": ("gpt", "your GPT can compute its loss and every gradient"),
}
LOSS = ("loss", "your first training run whose loss falls")
NAME = ("name", "your model invented its first name")


def award_for_functions(state: State, passed: Iterable[str]) -> list[str]:
    """Award the badges for functions that now pass, and return their lines; the caller saves the state."""
    return [line for name in passed if name in BY_FUNCTION for line in award(state, *BY_FUNCTION[name])]


def award(state: State, badge: str, text: str) -> list[str]:
    """Award one badge and return its line; no line if it was awarded before."""
    section = state.section(KEY)
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
