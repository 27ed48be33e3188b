"""The colors and tables of the terminal. Wherever a color has a meaning, a mark next to it has the same meaning.

Colour-blind readers can tell them apart (Okabe and Ito 2008, "Color Universal Design"). Orange and sky blue are darker
than in that palette, so that every color has a contrast of at least 3 to 1 with white and with black, as WCAG 2.2
requires (success criterion 1.4.11).
"""

from rich.table import Table
from rich.text import Text

GREEN = "#009e73"
VERMILION = "#d55e00"
ORANGE = "#c08400"
BLUE = "#2e93d1"
PINK = "#cc79a7"


def bar(share: float, width: int) -> Text:
    """Return a bar of that width, filled in proportion to `share`, which may be more than 1."""
    filled = round(width * share)
    return Text.assemble(("█" * filled, GREEN), ("░" * (width - filled), "dim"))


def grid(*columns: str, gap: int = 2) -> Table:
    """Return a table without lines. Words describe a column: `right`, `dim` or a color, `fold` (only these wrap)."""
    table = Table.grid(padding=(0, gap))
    for words in map(str.split, columns):
        folds = "fold" in words
        table.add_column(
            justify="right" if "right" in words else "left",
            style=next((word for word in words if word == "dim" or word.startswith("#")), None),
            no_wrap=not folds,
            overflow="fold" if folds else "ellipsis",
        )
    return table
