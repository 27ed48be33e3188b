"""Known mistakes: runnable wrong implementations; docs/contributing/mistakes.md describes how they are written."""

import importlib
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

from autograder.course import registry
from autograder.errors import HeadwayError

CONSTANT = "CONSTANT"  # stands for the free constant of a family, in edits and bodies


class BrokenMistake(HeadwayError):
    """A mistake is not written correctly, or does not fit the solution that it changes."""

    def __init__(self, mistake: str, reason: str) -> None:
        super().__init__(f"{mistake}: {reason}")
        self.mistake, self.reason = mistake, reason


@dataclass(frozen=True)
class Mistake:
    """One wrong implementation of one function."""

    function: str  # qualified name
    name: str  # short, unique for the function
    title: str  # what went wrong, in the student's words: "the scores were not divided by √d_k"
    explanation: str  # why it matters and how it shows, one or two sentences
    hint: str  # question that leads to the line without giving it away
    edits: tuple[tuple[str, str], ...] = ()  # (old, new): exact text in the solution, which must occur once
    body: str = ""  # new body for the function, indented by four spaces; used instead of edits
    inside: str = ""  # private helper of the solution in which the edits are made, instead of the function itself
    common: bool = False  # is also tried in combination with another common one
    group: str = ""  # Mistakes of one group give the same answers, and are reported together.
    # Set for a difference quotient, which cannot be reproduced to the last digit; it is recognized by the rounding that
    # it leaves (`finite_differences.py`). "one": of a single number, such as a loss; "each": of each entry separately.
    quotient: str = ""
    # Set for a family, in which CONSTANT stands for any number: a typical value. With an int, the others are ints, too.
    constant: float | None = None
    generated: bool = False  # was derived from the solution, and is not in the course's table
    fitted: bool = False  # is a member of a family whose constant was found from the answer

    def __hash__(self) -> int:
        return hash((self.function, self.name))  # Every comparison is looked up by its mistakes.

    @property
    def id(self) -> str:
        """`module.function/name`."""
        return f"{self.function}/{self.name}"

    @property
    def module(self) -> str:
        """The assignment of the function."""
        return self.function.partition(".")[0]

    def with_constant(self, value: float, text: str = "") -> "Mistake":
        """Return the member of a family with this constant; `text` stands for it in the title."""
        texts = {"title": self.title, "explanation": self.explanation, "hint": self.hint}
        shown: dict[str, Any] = {name: old.replace("{constant}", text or f"{value:g}") for name, old in texts.items()}
        edits = tuple((old, new.replace(CONSTANT, repr(value))) for old, new in self.edits)
        body = self.body.replace(CONSTANT, repr(value))
        return replace(self, **shown, edits=edits, body=body, constant=None, fitted=True)


class Mistakes:
    """The known mistakes of an assignment, in the order in which they are tried."""

    def __init__(self, *parts: "Mistakes") -> None:
        """Create a registry that begins with the mistakes of others."""
        self._entries: list[MistakeEntry] = [entry for part in parts for entry in part._entries]

    def for_functions(self, *functions: str) -> "partial[MistakeEntry]":
        """Return a callable that adds a mistake to functions: its arguments are those of `MistakeEntry` after them."""
        return partial(MistakeEntry, self._entries, functions)

    def __iter__(self) -> Iterator[Mistake]:
        for entry in self._entries:
            yield from entry.mistakes()


class MistakeEntry:
    """A registered mistake, of one or several functions, which is complete once it is explained."""

    def __init__(
        self,
        entries: list["MistakeEntry"],
        functions: tuple[str, ...],
        name: str,
        *edits: str,
        inside: str = "",
        common: bool = False,
        group: str = "",
        quotient: str = "",
        constant: float | None = None,
    ) -> None:
        if len(edits) % 2:
            raise BrokenMistake(f"{functions[0]}/{name}", "edits come in pairs, and the last one has only one half")
        pairs = tuple(zip(edits[::2], edits[1::2], strict=True))
        self._functions = functions
        self._mistake = Mistake(functions[0], name, "", "", "", pairs, "", inside, common, group, quotient, constant)
        entries.append(self)

    def body(self, code: str) -> "MistakeEntry":
        """Set a new body of the function, in any indentation, and make the edits in it."""
        for old, new in self._mistake.edits:
            if code.count(old) != 1:
                raise BrokenMistake(self._mistake.id, f"{old!r} occurs {code.count(old)} times in the new body")
            code = code.replace(old, new)
        body = textwrap.indent(textwrap.dedent(code).strip("\n"), "    ") + "\n"
        self._mistake = replace(self._mistake, edits=(), body=body)
        return self

    def explain(self, text: str) -> None:
        """Set the title, the explanation (`why:`) and the hint (`ask:`), which are all required."""
        sections: dict[str, list[str]] = {"title": []}
        current = "title"
        for line in map(str.strip, text.strip().splitlines()):
            label, colon, rest = line.partition(": ")
            if colon and label in ("why", "ask"):
                current, line = label, rest
            sections.setdefault(current, []).append(line)
        if len(sections) != 3 or not all(map(any, sections.values())):
            raise BrokenMistake(self._mistake.id, "the text needs a title, `why: …` and `ask: …`")
        title, why, ask = (" ".join(sections[section]) for section in ("title", "why", "ask"))
        self._mistake = replace(self._mistake, title=title, explanation=why, hint=ask)

    def mistakes(self) -> Iterator[Mistake]:
        """Yield the mistake for each of its functions; raise BrokenMistake if it has no explanation."""
        if not self._mistake.title:
            raise BrokenMistake(self._mistake.id, "not explained; end the entry with .explain(…)")
        yield from (replace(self._mistake, function=function) for function in self._functions)


@cache
def mistakes_of_module(module: str, package: str) -> tuple[Mistake, ...]:
    """Return the known mistakes of an assignment of a course; an empty tuple if it has none."""
    package = registry.home(module, package)
    name = f"{package}.{module}.mistakes"
    try:
        return tuple(importlib.import_module(name).MISTAKES)
    except ModuleNotFoundError as error:
        if error.name not in (name, f"{package}.{module}"):
            raise
        return ()


def mistakes_of_function(function: str, package: str) -> tuple[Mistake, ...]:
    """Return the known mistakes of a function, given by its qualified name."""
    known = mistakes_of_module(function.partition(".")[0], package)
    return tuple(mistake for mistake in known if mistake.function == function)
