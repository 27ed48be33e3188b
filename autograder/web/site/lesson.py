"""A lesson as sections: one for each function, and one for each other heading of the second level.

A lesson is read from the stub, so that a page holds what a student's file holds and no solution.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from autograder.course import Assignment
from autograder.course.stubs import FOLDED, experiment_name

HEADING = re.compile(r"(#{1,6}) +(.+?) *#* *$")
_MARKDOWN_CELL = " [markdown]"


@dataclass(frozen=True)
class LessonPart:
    """A piece of a lesson: text in Markdown, given code, or a cell with the stubs of functions."""

    kind: Literal["text", "code", "cell"]
    text: str
    functions: tuple[str, ...] = ()  # of a cell, by qualified name
    experiment: str | None = None  # the name of the experiment that given code is, "" for the main one


@dataclass
class LessonSection:
    """A heading, in Markdown, and what follows it up to the next heading of the same level."""

    heading: str
    function: str = ""  # the qualified name, if the section is about a function that students write
    parts: list[LessonPart] = field(default_factory=list)

    @property
    def folded(self) -> bool:
        """Return whether students should guess before they read it."""
        return f"## {self.heading}".startswith(FOLDED)


@dataclass(frozen=True)
class Lesson:
    """A title, in Markdown, and sections; the first section has no heading and stands below the title."""

    title: str
    summary: str  # the first line of the module's docstring
    sections: tuple[LessonSection, ...]


def read_lesson(stub: str, assignment: Assignment) -> Lesson:
    """Return the lesson of a stub as it is in a student's file."""
    reader = _Reader(assignment)
    head, *cells = re.split(r"(?m)^# %%", stub)
    for cell in cells:
        kind, _, text = cell.partition("\n")
        if kind == _MARKDOWN_CELL:
            reader.add_text(re.sub(r"(?m)^# ?", "", text).strip("\n"))
        elif text.strip():
            reader.add_code(text.strip("\n"))
    return Lesson(reader.title or assignment.title, _summary(head), tuple(reader.sections))


def split_headings(markdown: str) -> Iterator[tuple[int, str, str]]:
    """Yield the level, the heading and the text of each part of a Markdown text; the level is 0 before a heading."""
    lines: list[str] = []
    level, heading, fenced = 0, "", False
    for line in markdown.splitlines():
        fenced ^= line.startswith("```")
        found = None if fenced else HEADING.match(line)
        if found and len(found[1]) <= 2:
            yield level, heading, "\n".join(lines).strip("\n")
            level, heading, lines = len(found[1]), found[2], []
        else:
            lines.append(line)
    yield level, heading, "\n".join(lines).strip("\n")


def _summary(head: str) -> str:
    try:
        return (ast.get_docstring(ast.parse(head)) or "").partition("\n")[0]
    except SyntaxError:
        return ""


class _Reader:
    """Collects the sections of a lesson, cell by cell."""

    def __init__(self, assignment: Assignment) -> None:
        self.title = ""
        self.sections = [LessonSection("")]
        self._missing = {function.name: function.qualified for function in assignment.functions}

    def add_text(self, markdown: str) -> None:
        for level, heading, text in split_headings(markdown):
            if level == 1 and not self.title:
                self.title = heading
            elif level:
                self.sections.append(LessonSection(heading, self._function_named_in(heading)))
            if text:
                self.sections[-1].parts.append(LessonPart("text", text))

    def _function_named_in(self, heading: str) -> str:
        names = [name for name in re.findall(r"`(\w+)`", heading) if name in self._missing]
        return self._missing[names[0]] if names else ""

    def add_code(self, code: str) -> None:
        names = [node.name for node in ast.parse(code).body if isinstance(node, ast.FunctionDef)]
        functions = [self._missing.pop(name) for name in names if name in self._missing]
        if not functions:
            self.sections[-1].parts.append(LessonPart("code", code, experiment=experiment_name(code)))
            return
        if self.sections[-1].function not in functions:
            self.sections.append(LessonSection(_heading_of(functions[0]), functions[0]))
        first = self.sections[-1].function
        functions.sort(key=first.__ne__)  # the section's own function first
        self.sections[-1].parts.append(LessonPart("cell", code, tuple(functions)))
        for other in functions[1:]:
            text = f"Its stub is in the cell of `{first.partition('.')[2]}`, above."
            self.sections.append(LessonSection(_heading_of(other), other, [LessonPart("text", text)]))


def _heading_of(function: str) -> str:
    return f"`{function.partition('.')[2]}`"
