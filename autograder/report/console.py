"""A console of rich on which text from files cannot write control sequences or markup."""

import io
import sys
from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from autograder.core.safe_output import unwrapped
from autograder.core.text import without_controls


class SafeConsole(Console):
    """A console whose control sequences are rich's own: those of styles, and of displays that redraw themselves."""

    def __init__(self, *, stderr: bool = False, **options: Any) -> None:
        options.setdefault("file", unwrapped(sys.stderr if stderr else sys.stdout))
        super().__init__(stderr=stderr, markup=False, emoji=False, highlight=False, **options)

    def print_text(self, text: str, style: str = "") -> None:
        """Print lines of text, in which no command is broken."""
        for line in text.split("\n"):
            for part in break_before_command(line, self.width).split("\n"):
                self.print(Text(part, style), soft_wrap=part.lstrip().startswith("headway "))

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Yield the segments of a renderable, whose texts contain no control characters."""
        for segment in super().render(renderable, options):
            safe = segment.text if segment.control else without_controls(segment.text)
            yield segment if safe == segment.text else Segment(safe, segment.style)


def break_before_command(line: str, width: int) -> str:
    """Break a line that is too long for the terminal before its commands, so that they can be copied."""
    return line.replace(" headway ", "\n    headway ") if len(line) > width else line


def text_console(columns: int, no_color: bool | None, **options: Any) -> SafeConsole:
    """Return a console that renders for a terminal or a page of that width, into text."""
    options = {"file": io.StringIO(), "force_terminal": True, "legacy_windows": False, **options}
    return SafeConsole(width=columns, no_color=no_color, **options)
