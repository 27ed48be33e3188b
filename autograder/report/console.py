"""A console of rich on which text from files cannot write control sequences or markup."""

import io
import sys
from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from autograder.core.safe_output import unwrapped
from autograder.core.text import without_controls


class SafeConsole(Console):
    """A console whose control sequences are rich's own: those of styles, and of displays that redraw themselves."""

    def __init__(self, *, stderr: bool = False, **options: Any) -> None:
        options.setdefault("file", unwrapped(sys.stderr if stderr else sys.stdout))
        super().__init__(stderr=stderr, markup=False, emoji=False, highlight=False, **options)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Yield the segments of a renderable, whose texts contain no control characters."""
        for segment in super().render(renderable, options):
            safe = segment.text if segment.control else without_controls(segment.text)
            yield segment if safe == segment.text else Segment(safe, segment.style)


def text_console(columns: int, no_color: bool | None, **options: Any) -> SafeConsole:
    """Return a console that renders for a terminal or a page of that width, into text."""
    options = {"file": io.StringIO(), "force_terminal": True, "legacy_windows": False, **options}
    return SafeConsole(width=columns, no_color=no_color, **options)
