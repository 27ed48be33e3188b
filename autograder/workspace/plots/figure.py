"""The paper that all pictures are drawn on: matplotlib, colours for every eye, axes that say what they show."""

import io
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from autograder.errors import missing_package

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage

# Okabe and Ito (2008): apart for colour-blind readers too.
BLUE, ORANGE, GREEN = "#0072b2", "#d55e00", "#009e73"
PINK, SKY, YELLOW, BLACK = "#cc79a7", "#56b4e9", "#e69f00", "#000000"
COLOURS = (BLUE, ORANGE, GREEN, PINK, SKY, YELLOW, BLACK)
AMOUNTS = "cividis"  # from nothing to much; made for colour-blind eyes (Nuñez, Anderton and Renslow 2018)
SIGNED = "PuOr_r"  # negative, zero, positive

FONT = "DejaVu Sans"  # comes with matplotlib, so that pictures are the same everywhere
_SETTINGS: Any = {"font.family": FONT, "svg.hashsalt": "headway", "svg.fonttype": "path", "savefig.facecolor": "white"}
_NAMES = {"\n": "↵", " ": "␣", "\t": "⇥"}


def require() -> None:
    """Make sure that pictures can be drawn.

    Raises:
        UsageError: if matplotlib is not installed.
    """
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise missing_package("pictures need Matplotlib", "train") from None


def sheet(
    title: str, rows: int = 1, columns: int = 1, size: tuple[float, float] = (8, 4.5), **more: Any
) -> tuple["Figure", Any]:
    """An empty figure with (rows, columns) axes.

    Returns:
        figure, and the axes as an array of shape (rows, columns).
    """
    require()
    import matplotlib
    from matplotlib.figure import Figure

    # A figure of its own, without pyplot: nothing global is changed, and nothing has to be closed.
    with matplotlib.rc_context(_SETTINGS):
        figure = Figure(figsize=size, dpi=120, layout="constrained")
        axes = figure.subplots(rows, columns, squeeze=False, **more)
    figure.suptitle(title)
    return figure, axes


def plain(axes: "Axes", x: str, y: str, title: str = "") -> None:
    """Name the axes, and take away the frame where it says nothing."""
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    if title:
        axes.set_title(title, fontsize="medium")
    axes.spines[["top", "right"]].set_visible(False)


def heat(
    axes: "Axes", values: Any, x: str, y: str, title: str = "", signed: bool = False, **limits: Any
) -> "AxesImage":
    """A heat map of a matrix, row 0 on top. Signed values get a map that is white at 0."""
    values = np.asarray(values, dtype=np.float64)
    if signed and not limits:
        largest = float(np.abs(values[np.isfinite(values)]).max(initial=0.0)) or 1.0
        limits = {"vmin": -largest, "vmax": largest}
    image = axes.imshow(values, cmap=SIGNED if signed else AMOUNTS, aspect="auto", interpolation="nearest", **limits)
    axes.set_facecolor("#d9d9d9")  # shows through where there is no number
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    if title:
        axes.set_title(title, fontsize="medium")
    return image


def scale(figure: "Figure", image: "AxesImage", axes: Any, label: str) -> None:
    """The scale that belongs to a heat map."""
    figure.colorbar(image, ax=axes, label=label)


def numbers(axes: "Axes", values: Any) -> None:
    """Write the values into the cells of a small heat map."""
    values = np.asarray(values, dtype=np.float64)
    image = axes.images[0]
    for row, column in np.ndindex(values.shape):
        value = values[row, column]
        if not np.isfinite(value):
            text, dark = "−∞" if value == -np.inf else str(value), False
        else:
            red, green, blue, _ = image.cmap(image.norm(value))
            text, dark = f"{value:.2f}".replace("-", "−"), 0.3 * red + 0.6 * green + 0.1 * blue < 0.5
        axes.text(column, row, text, ha="center", va="center", fontsize=8, color="white" if dark else "black")


def ticks(axes: "Axes", labels: Sequence[str], x: bool = False, y: bool = False) -> None:
    """One tick per label, at 0, 1, 2, …; the labels may be any text."""
    for axis, wanted in ((axes.xaxis, x), (axes.yaxis, y)):
        if wanted:
            axis.set_ticks(range(len(labels)))
            axis.set_ticklabels([*labels], parse_math=False)


def whole_numbers(axes: "Axes", x: bool = False, y: bool = False) -> None:
    """Ticks at whole numbers only."""
    from matplotlib.ticker import MaxNLocator

    for axis, wanted in ((axes.xaxis, x), (axes.yaxis, y)):
        if wanted:
            axis.set_major_locator(MaxNLocator(integer=True))


def visible(character: str) -> str:
    """A character as it can be shown on an axis: signs for white space, the code where the font has no glyph."""
    if character in _NAMES:
        return _NAMES[character]
    return character if character.isprintable() and ord(character) in _glyphs() else f"U+{ord(character):04X}"


@cache
def _glyphs() -> frozenset[int]:
    from matplotlib.font_manager import findfont, get_font

    return frozenset(get_font(findfont(FONT)).get_charmap())


def to_bytes(figure: "Figure", suffix: str) -> bytes:
    """The figure as a file: "png", "svg" or "pdf". The same figure gives the same bytes."""
    import matplotlib

    buffer = io.BytesIO()
    dates = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
    with matplotlib.rc_context(_SETTINGS):
        figure.savefig(buffer, format=suffix, metadata=dates.get(suffix))
    return buffer.getvalue()
