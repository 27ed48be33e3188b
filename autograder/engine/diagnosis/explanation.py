"""What the diagnosis says of a check: which mistakes, and how sure that is, in words."""

import re
from dataclasses import dataclass
from typing import Any

from autograder.engine.diagnosis.mistake import Mistake

_SHAPES = re.compile(r"\(\d*(?:,\d+)*,?\)")
_INTEGER = re.compile(r"np\.u?int\d*\((-?\d+)\)")
_BROADCAST = "operands could not be broadcast together with shapes"


@dataclass(frozen=True)
class Diagnosis:
    """The mistakes whose answers are exactly the student's.

    Attributes:
        mistakes: usually one; several of one group, or made together (`together`), or not to be told apart.
        together: whether all of them were made at once.
        here_only: they explain some of the failing checks and not all: something else is wrong, too.
        in_part: of several results the first wrong one is the same, and the other wrong ones are not.
        up_to_dtype: the values are the same, the dtype is not: that is a second mistake.
        raised: the check ended with an exception, and not with an answer.
        proof: what was found in the answer, if it was not compared with another.
    """

    mistakes: tuple[Mistake, ...]
    together: bool = False
    here_only: bool = False
    in_part: bool = False
    up_to_dtype: bool = False
    raised: bool = False
    proof: str = ""

    @property
    def id(self) -> str:
        """The mistakes' ids, joined by + if made together, by | if not to be told apart."""
        return ("+" if self.together else "|").join(mistake.id for mistake in self.mistakes)

    @property
    def titles(self) -> tuple[str, ...]:
        """What they are called; mistakes of one group may share their title."""
        return tuple(dict.fromkeys(mistake.title for mistake in self.mistakes))

    @property
    def title(self) -> str:
        """One sentence."""
        return ", and ".join(self.titles) if self.together else ", or ".join(self.titles)

    @property
    def reason(self) -> str:
        """Why it looks like that: what was compared, and what it does not explain."""
        if self.proof:
            return self.proof
        which = "that mistake" if len(self.titles) == 1 else "both mistakes" if self.together else "either mistake"
        here = " in this case" if self.here_only else ""
        if self.in_part:
            return f"with {which} this result is exactly yours; something else is wrong, too"
        if self.up_to_dtype:
            return f"with {which} the numbers are exactly yours{here}; the dtype is wrong, too"
        same = "the error is the same as yours" if self.raised else "the answer is exactly yours"
        return f"with {which} {same}{here}" + ("; something else is wrong, too" if here else "")

    def as_record(self) -> dict[str, Any]:
        """For the result document."""
        return {
            "id": self.id,
            "title": self.title,
            "reason": self.reason,
            "explanation": " ".join(dict.fromkeys(mistake.explanation for mistake in self.mistakes)),
            "hint": " ".join(dict.fromkeys(mistake.hint for mistake in self.mistakes)),
        }


def same_error(mine: str, ours: str) -> bool:
    """Whether two exceptions of one type say the same: shapes in any order, integers of any type."""
    mine, ours = (_INTEGER.sub(r"\1", text) for text in (mine, ours))
    if mine.startswith(_BROADCAST) and ours.startswith(_BROADCAST):
        return sorted(_SHAPES.findall(mine)) == sorted(_SHAPES.findall(ours))
    return mine == ours
