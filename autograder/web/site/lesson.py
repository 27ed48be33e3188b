"""The page of one assignment: its lesson in sections, with the stubs of functions as cells, and their points.

A section is about a function, or has another heading of the second level. A lesson is read from the stub, so that a
page holds what a student's file holds and no solution.
"""

import ast
import html
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from autograder.course import Assignment, Curriculum, registry
from autograder.course.stubs import FOLDED, experiment_name
from autograder.web.site.markdown import Markdown, PageText, Term, highlight
from autograder.workspace.file_cells import FileCell, split_cells

HEADING = re.compile(r"(#{1,6}) +(.+?) *#* *$")


@dataclass
class SectionHtml:
    """A section of a page, ready for its template: a heading, and what follows it up to the next of its level."""

    id: str
    heading: str  # HTML, empty for the text below the title
    body: str
    function: str = ""  # the qualified name, if the section is about a function that students write
    folded: bool = False  # whether students should guess before they read it


@dataclass(frozen=True)
class PageHtml:
    """The content of the page of a lesson or a guide, ready for its template."""

    title: str
    sections: Sequence[SectionHtml]
    terms: Sequence[Term] = ()  # that are linked on the page of a lesson
    name: str = ""  # the title of a lesson in Markdown
    summary: str = ""  # the first line of a lesson's docstring


def render_lesson(stub: str, assignment: Assignment, markdown: Markdown, page: PageText) -> PageHtml:
    """Return the lesson of a stub, as it is in a student's file, as HTML."""
    page.ids.update(function.qualified for function in assignment.functions)
    renderer = _LessonRenderer(assignment, markdown, page)
    head, *cells = split_cells(stub)
    for cell in cells:
        if cell.is_lesson:
            renderer.add_text(lesson_text(cell))
        elif cell.text:
            renderer.add_code(cell.text)
    name = renderer.title or assignment.title
    sections = [section for section in renderer.sections if section.heading or section.body]
    terms = sorted(page.used.values(), key=lambda term: term.text.lower())
    return PageHtml(markdown.render_inline(name, page), sections, terms, name, _summary(head.text))


def lesson_text(cell: FileCell) -> str:
    """Return the text of a lesson cell in Markdown."""
    return re.sub(r"(?m)^# ?", "", cell.text).strip("\n")


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


class _LessonRenderer:
    """Makes the sections of a lesson, cell by cell; the first one has no heading and stands below the title."""

    def __init__(self, assignment: Assignment, markdown: Markdown, page: PageText) -> None:
        self.title = ""  # in Markdown
        self.sections = [SectionHtml("", "", "")]
        self._missing = {function.name: function.qualified for function in assignment.functions}
        self._markdown, self._page = markdown, page

    def add_text(self, text: str) -> None:
        for level, heading, part in split_headings(text):
            if level == 1 and not self.title:
                self.title = heading
            elif level:
                names = [name for name in re.findall(r"`(\w+)`", heading) if name in self._missing]
                self._begin_section(heading, self._missing[names[0]] if names else "")
            self.sections[-1].body += self._markdown.render(part, self._page) if part else ""

    def _begin_section(self, heading: str, function: str) -> None:
        self._page.begin_section(function)
        shown = self._markdown.render_inline(heading, self._page)
        folded = f"## {heading}".startswith(FOLDED)
        self.sections.append(SectionHtml(function or self._page.new_id(heading), shown, "", function, folded))

    def add_code(self, code: str) -> None:
        """Add a cell with the stubs of functions, or code that is given."""
        names = [node.name for node in ast.parse(code).body if isinstance(node, ast.FunctionDef)]
        functions = [self._missing.pop(name) for name in names if name in self._missing]
        if not functions:
            self.sections[-1].body += _given_code(code)
            return
        if self.sections[-1].function not in functions:
            self._begin_section(_heading_of(functions[0]), functions[0])
        first = self.sections[-1].function
        functions.sort(key=first.__ne__)  # the section's own function first
        shared = f' data-shared="{html.escape(" ".join(functions))}"' if len(functions) > 1 else ""
        self.sections[-1].body += (
            f'<div class="cell" data-function="{html.escape(first)}"{shared}>'
            f'<pre class="code"><code class="stub">{highlight(code)}</code></pre></div>\n'
        )
        for other in functions[1:]:
            self._begin_section(_heading_of(other), other)
            text = f"Its stub is in the cell of `{first.partition('.')[2]}`, above."
            self.sections[-1].body = self._markdown.render(text, self._page)


def _given_code(code: str) -> str:
    given = f'<pre class="code given"><code>{highlight(code)}</code></pre>'
    if (experiment := experiment_name(code)) is None:
        return f"{given}\n"
    return f'<div class="experiment" data-experiment="{html.escape(experiment)}">{given}</div>\n'


def _heading_of(function: str) -> str:
    return f"`{function.partition('.')[2]}`"


def points_of(curriculum: Curriculum) -> dict[str, float]:
    """Return the possible points of functions by qualified name, without assignments whose checks cannot be read.

    They are read from the source of the checks, and nothing is run.
    """
    result: dict[str, float] = {}
    for module in curriculum.modules:
        points = defaultdict[str, float](float)
        try:
            for path in registry.check_files(module, curriculum.package):
                for function, value in _graded(ast.parse(path.read_bytes())):
                    points[function] += value
        except ValueError:  # The points depend on something that is known only when the checks run.
            continue
        result |= {name: points[name] for name in curriculum.functions if name in points}
    return result


def _graded(tree: ast.Module) -> Iterator[tuple[str, float]]:
    """Yield the function and the points of each check; raise ValueError if they are not literals or constants."""
    constants = dict(_constants(tree))

    def value_of(node: ast.expr) -> Any:
        return ast.literal_eval(constants.get(node.id, node) if isinstance(node, ast.Name) else node)

    for test in ast.walk(tree):
        if not isinstance(test, ast.FunctionDef) or not test.name.startswith("test"):
            continue
        for mark in (mark for mark in test.decorator_list if isinstance(mark, ast.Call)):
            name = ast.unparse(mark.func).rpartition(".")[2]
            if name == "parametrize":
                raise ValueError("the number of checks is known only when they run")
            if name == "graded":
                points = [value_of(keyword.value) for keyword in mark.keywords if keyword.arg == "points"]
                for argument in mark.args:
                    names = value_of(argument.value) if isinstance(argument, ast.Starred) else [value_of(argument)]
                    for function in names:
                        yield str(function), float(points[0] if points else 1)


def _constants(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    """Yield the names that a module assigns, and their values."""
    for node in [node for node in tree.body if isinstance(node, ast.Assign)]:
        for target in node.targets:
            if isinstance(target, ast.Name):
                yield target.id, node.value
            elif isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                names = [name.id if isinstance(name, ast.Name) else "" for name in target.elts]
                yield from zip(names, node.value.elts, strict=False)
