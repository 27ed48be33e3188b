"""Mistakes with names: known wrong implementations, runnable, so that a student's answer can be compared with theirs.

A mistake is written as the change that turns the official solution into it, so that everything else about it is right
and stays right when the solution is rewritten. One module per assignment holds a tuple `MISTAKES`.
"""

import importlib
from dataclasses import dataclass
from functools import cache

from autograder.curriculum.registry import BUILT_IN


@dataclass(frozen=True)
class Mistake:
    """One wrong implementation of one function.

    Attributes:
        function: qualified name of the function that is wrong.
        name: short name, unique for the function.
        title: what went wrong, in the student's words: "the scores were not divided by √d_k".
        explanation: why it matters and how it shows, one or two sentences.
        hint: leads to the line without giving it away.
        edits: pairs (old, new): exact text in the solution of the function, which must occur once.
        body: instead of edits, a new body for the function, indented by four spaces.
        inside: name of the private helper of the solution in which the edits are made, instead of the function itself.
        common: whether it is looked for in combination with another one.
        group: mistakes of one group give the same answers, and are named together.
        quotient: a difference quotient, whose answers nobody can repeat to the last digit: it is recognised by what it
            leaves behind (`quotient.py`). "one": of one number, such as a loss; "each": of each entry by itself.
    """

    function: str
    name: str
    title: str
    explanation: str
    hint: str
    edits: tuple[tuple[str, str], ...] = ()
    body: str = ""
    inside: str = ""
    common: bool = False
    group: str = ""
    quotient: str = ""

    @property
    def id(self) -> str:
        """`module.function/name`."""
        return f"{self.function}/{self.name}"


@cache
def mistakes_of(module: str, package: str = BUILT_IN) -> tuple[Mistake, ...]:
    """The known mistakes of an assignment of a course; none if nobody has written any down."""
    name = f"{package}.mistakes.{module}"
    try:
        found: tuple[Mistake, ...] = importlib.import_module(name).MISTAKES
    except ModuleNotFoundError as error:
        if error.name not in (name, f"{package}.mistakes"):
            raise
        return ()
    return found


def of_function(function: str, package: str = BUILT_IN) -> tuple[Mistake, ...]:
    """The known mistakes of one function."""
    known = mistakes_of(function.partition(".")[0], package)
    return tuple(mistake for mistake in known if mistake.function == function)
