"""Texts that help with a course in the terminal: hints, the documentation of a function, terms by assignment."""

import re
from collections.abc import Iterator, Mapping, Sequence

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from autograder.course import Curriculum
from autograder.report import styles

FULL_WIDTH = 100  # columns of a line in a docstring to which no further word was added
_ENTRY = re.compile(r"^ {4,}(?P<it>[A-Za-z_]\w*(?:, [A-Za-z_]\w*)*)(?=: )")  # of Args or Raises
# What stands out: the name that is defined, the headings of sections, names of arguments, code, shapes and exceptions.
_HIGHLIGHTS = (
    (re.compile(r"^def (?P<it>\w+)"), "bold"),
    (re.compile(r"^(?P<it>def) "), styles.BLUE),
    (re.compile(r"^ *(?P<it>(?:Args|Returns|Raises|Yields|Examples?|Notes?):)$"), f"bold {styles.BLUE}"),
    (_ENTRY, styles.GREEN),
    (re.compile(r"(?P<it>`[^`]+`)"), "bold"),
    (re.compile(r"(?P<it>\((?:\.\.\., |[A-Za-z0-9_]+, ?)+[A-Za-z0-9_]*\))"), styles.ORANGE),
    (re.compile(r"\b(?P<it>[A-Z]\w+Error)\b"), styles.VERMILION),
)


def render_hints(
    function: str,
    steps: Sequence[tuple[str, str]],
    total: int,
    commands: tuple[str, str],
    console: Console,
    solution: str | None = None,
    points: str = "",
    *,
    passes: bool = False,
) -> None:
    """Print the shown steps (kind and text) of a function's `total` hints, and the commands that follow.

    These check the function and show one more hint. After the last one, `solution` is the command that shows the
    solution, if there is one. `points` are those of the code as it is now, if known.
    """
    about = f" · hint {len(steps)} of {total}{f' · {points}' if points else ''}\n"
    console.print(Text.assemble((function, "bold"), about))
    console.print(hint_table(steps))
    check_command, hint_command = commands
    more = len(steps) < total
    before = "" if more else "There are no more hints for this function.\n"
    following = "Your code passes already." if passes else f"Next: try it, then: {check_command}"
    after = f"\n{'One more hint:' if passes else 'Still stuck?'} {hint_command}" if more else ""
    if solution and not more:
        after = f"\nTo see the solution{'' if passes else ' (recorded)'}: {solution}"
    console.print(Text(f"\n{before}{following}{after}"), soft_wrap=True)


def hint_table(steps: Sequence[tuple[str, str]]) -> Table:
    """Return the steps as a table of number, kind and text; code in the text is bold."""
    table = styles.grid("right", "dim")
    table.add_column(ratio=1)
    for number, (kind, text) in enumerate(steps, 1):
        if number > 1:
            table.add_row()
        body = Text(text)
        body.highlight_regex("`[^`]+`", "bold")
        table.add_row(Text(str(number), "bold" if number == len(steps) else "dim"), Text(kind), body)
    return table


def render_hint_choice(assignment: str, counts: Mapping[str, int], commands: Sequence[str], console: Console) -> None:
    """Print the hint command of each function of an assignment, with the number of steps shown so far."""
    table = styles.grid("fold", "dim fold")
    for command, count in zip(commands, counts.values(), strict=True):
        table.add_row(Text(command), Text(f"{count} shown" if count else ""))
    console.print(Text(f"{assignment}: each function has its own hints. Choose one:\n"))
    console.print(table)


def documentation_panel(title: str, text: str) -> Panel:
    """Return the documentation of a function, in a frame."""
    return Panel(Group(*_lines(text)), title=Text(f" {title} "), title_align="left", border_style="dim")


def _paragraphs(text: str) -> Iterator[str]:
    """Yield the lines, those joined that were broken only because they were too long for the file."""
    paragraph, width = "", 0  # and the width of its last line in the file
    for line in text.rstrip().split("\n"):
        words = line.split()
        is_table = "  " in line.strip() or "  " in paragraph.strip()  # columns, such as those of formulas
        is_entry = _ENTRY.match(line) and line[: -len(line.lstrip())] == paragraph[: -len(paragraph.lstrip())]
        if words and width + 1 + len(words[0]) > FULL_WIDTH and not is_table and not is_entry:
            paragraph += " " + " ".join(words)
        else:
            if width:
                yield paragraph
            paragraph = line
            if not line:
                yield ""
        width = len(line)
    yield paragraph


def _lines(text: str) -> Iterator[RenderableType]:
    """Yield a signature with its docstring; where a line wraps, the rest keeps its indentation."""
    for line in _paragraphs(text):
        stripped = line.lstrip()
        shown = Text(stripped)
        indentation = len(line) - len(stripped)
        for pattern, style in _HIGHLIGHTS:
            for match in pattern.finditer(line):
                shown.stylize(style, match.start("it") - indentation, match.end("it") - indentation)
        yield Padding(shown, (0, 0, 0, indentation)) if indentation else shown


def render_by_assignment(texts: Mapping[str, Mapping[str, str]], curriculum: Curriculum, console: Console) -> None:
    """Print each name and its text (`texts[assignment][name]`), terms or plots, below the assignment of each."""
    table = styles.grid("right", "left", "fold")
    for assignment in curriculum.assignments:
        if of_assignment := texts.get(assignment.module):
            number, module = Text(str(assignment.number), "bold"), Text(assignment.module, "bold")
            table.add_row(number, module, Text(assignment.title, "dim"))
            for name, text in of_assignment.items():
                table.add_row("", Text(f"  {name}"), Text(text))
    console.print(table)
