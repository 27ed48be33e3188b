"""Milestones, one line each, told once: the first head that looks back, the first block, the first loss that falls …"""

import datetime
from collections.abc import Iterable

from autograder.workspace.state import State

KEY = "badges"
BY_FUNCTION = {
    "attention.attention": ("head", "your first attention head looks back"),
    "blocks.block": ("block", "your first transformer block"),
    "gpt.gpt_loss": ("gpt", "your GPT knows how wrong it is, and in which direction to change"),
}
LOSS = ("loss", "your first loss that falls")
NAME = ("name", "your model invented its first name")


def for_functions(state: State, passed: Iterable[str]) -> list[str]:
    """Lines for milestones reached by functions that pass now; noted in the state, which the caller saves."""
    return [line for name in passed if name in BY_FUNCTION for line in award(state, *BY_FUNCTION[name])]


def award(state: State, badge: str, text: str) -> list[str]:
    """The line of one badge, or nothing if it has been awarded before."""
    section = state.section(KEY)
    if badge in section:
        return []
    section[badge] = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    return [f"★ {text}"]


def fell(losses: list[float]) -> bool:
    """Whether a run's loss has fallen for good: the mean of the last tenth is 5 % below that of the first."""
    part = len(losses) // 10
    return part > 0 and sum(losses[-part:]) < 0.95 * sum(losses[:part])


def invented(text: str, known: str) -> str | None:
    """The first whole line of `text` that is not a line of `known`; None if there is none."""
    lines = set(known.split("\n"))
    return next((line for line in text.split("\n")[1:-1] if len(line) > 1 and line not in lines), None)
