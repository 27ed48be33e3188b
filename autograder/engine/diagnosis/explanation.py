"""Describe the diagnosis of a check: the mistakes, and what was compared."""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from autograder.engine.diagnosis.mistake import Mistake
from autograder.errors import StudentException

if TYPE_CHECKING:
    from autograder.documents.types import DiagnosedMistake

MAX_PARTS = 4  # More results are not listed.
_SHAPES = re.compile(r"\(\d*(?:,\d+)*,?\)")
_INTEGER = re.compile(r"np\.u?int\d*\((-?\d+)\)")
_NUMBER = re.compile(r"-?\d+(\.\d+)?")
_BROADCAST = "operands could not be broadcast together with shapes"


@dataclass(frozen=True)
class Diagnosis:
    """The mistakes whose answers are exactly the student's."""

    mistakes: tuple[Mistake, ...]  # several if they are of one group, made together, or indistinguishable
    together: bool = False  # All of them were made at once.
    here_only: bool = False  # They explain some, but not all, of the failing checks.
    parts: tuple[str, ...] = ()  # the wrong results that they explain, if there are others
    up_to_dtype: bool = False  # The values are the same, but the dtype is not.
    raised: bool = False  # The check ended with an exception, not with an answer.
    function: str = ""  # whose checks are explained, if the mistakes may belong to others that it calls
    proof: str = ""  # what was found in the answer, if it was not compared with another answer

    @property
    def id(self) -> str:
        """The mistakes' ids, joined by + if made together, by | if indistinguishable."""
        return ("+" if self.together else "|").join(mistake.id for mistake in self.mistakes)

    @property
    def titles(self) -> tuple[str, ...]:
        """The distinct titles; mistakes of one group may share theirs. Of alternatives, "a, or a, and b" is "a"."""
        titles = dict.fromkeys(mistake.title for mistake in self.mistakes)
        if self.together:
            return tuple(titles)
        return tuple(title for title in titles if not any(title.startswith(f"{other}, and ") for other in titles))

    @property
    def title(self) -> str:
        """The titles in one sentence."""
        if self.together:  # A semicolon shows where the alternatives to a mistake end.
            return ("; and " if any("either " in title for title in self.titles) else ", and ").join(self.titles)
        return "either " * any(", and " in title for title in self.titles[:-1]) + ", or ".join(self.titles)

    @property
    def reason(self) -> str:
        """What was compared, and which failures it explains."""
        if self.proof:
            return self.proof
        words = {1: "this mistake", 2: "both mistakes" if self.together else "either mistake"}
        which = words.get(len(self.titles), "all these mistakes" if self.together else "any of these mistakes")
        if elsewhere := sorted({m.function for m in self.mistakes if self.function not in ("", m.function)}):
            which += f" in what {' and '.join(elsewhere)} should do"
        same = "raises the same error" if self.raised else "gives exactly your numbers"
        if self.parts:
            results = ", ".join(self.parts) if len(self.parts) <= MAX_PARTS else "some of the results"
            return f"code with {which} {same} for {results}; fix it, then look at the others"
        same += ", except for the dtype" if self.up_to_dtype else ""
        advice = " in this check; fix it, then look at the other failed checks" if self.here_only else ""
        return f"code with {which} {same}{advice}"

    def as_record(self) -> "DiagnosedMistake":
        """Return the diagnosis as in the result document."""
        explanation = " ".join(dict.fromkeys(mistake.explanation for mistake in self.mistakes))
        hint = " ".join(dict.fromkeys(mistake.hint for mistake in self.mistakes))
        return {"id": self.id, "title": self.title, "reason": self.reason, "explanation": explanation, "hint": hint}


def is_same_refusal(first: StudentException | None, second: StudentException | None) -> bool:
    """Return whether two errors have the same type and, up to numbers, the same message, which is not empty."""
    errors = [(error.type, _NUMBER.sub("", error.message)) for error in (first, second) if error is not None]
    return len(errors) == 2 and errors[0] == errors[1] and errors[0][1] != ""


def is_same_error(first: str, second: str) -> bool:
    """Return whether two messages of one exception type agree: shapes in any order, integers of any type."""
    first, second = (_INTEGER.sub(r"\1", text) for text in (first, second))
    if first.startswith(_BROADCAST) and second.startswith(_BROADCAST):
        return sorted(_SHAPES.findall(first)) == sorted(_SHAPES.findall(second))
    return first == second
