"""Helpers for drawing with matplotlib: color-blind safe colors, labeled axes, reproducible files."""

import io
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from autograder.core.current_folder import hidden_matplotlibrc
from autograder.errors import missing_package

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes
    from matplotlib.figure import Figure as Figure
    from matplotlib.image import AxesImage

# The palette of Okabe and Ito (2008), which color-blind readers can tell apart.
BLUE, ORANGE, GREEN = "#0072b2", "#d55e00", "#009e73"
PINK, SKY, YELLOW, BLACK = "#cc79a7", "#56b4e9", "#e69f00", "#000000"
COLORS = (BLUE, ORANGE, GREEN, PINK, SKY, YELLOW, BLACK)
SEQUENTIAL = "cividis"  # color-blind safe (Nuñez, Anderton and Renslow 2018)
SIGNED = "PuOr_r"  # diverging: negative, zero, positive

WHITE_SPACE = {"\n": "↵", " ": "␣", "\t": "⇥"}

MARK = "Headway, headway plot"  # in the metadata of each plot
FONT = "DejaVu Sans"  # comes with matplotlib, so that plots look the same everywhere
_SETTINGS: Any = {"font.family": FONT, "svg.hashsalt": "headway", "svg.fonttype": "path", "savefig.facecolor": "white",
                  "figure.constrained_layout.h_pad": 0.08, "figure.constrained_layout.w_pad": 0.08}  # fmt: skip


def require_matplotlib() -> None:
    """Import matplotlib; raise UsageError unless it is installed."""
    try:
        with hidden_matplotlibrc():
            import matplotlib  # noqa: F401
    except ImportError:
        raise missing_package("plots need Matplotlib", "train") from None


def subplots(
    title: str, rows: int = 1, columns: int = 1, size: tuple[float, float] = (8, 4.5), **options: Any
) -> tuple["Figure", Any]:
    """Return an empty figure and its axes as a (rows, columns) array; `options` go to `Figure.subplots`."""
    require_matplotlib()
    import matplotlib
    from matplotlib.figure import Figure

    # Without pyplot there is no global state to change and no figure to close.
    with matplotlib.rc_context(_SETTINGS):
        figure = Figure(figsize=size, dpi=120, layout="constrained")
        axes = figure.subplots(rows, columns, squeeze=False, **options)
    figure.suptitle(title, parse_math=False)
    return figure, axes


def label_axes(axes: "Axes", x: str, y: str, title: str = "", frame: bool = False) -> None:
    """Label the axes and, unless `frame`, hide the right and top edges of the frame."""
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    if title:
        axes.set_title(title, fontsize="medium")
    if not frame:
        axes.spines[["top", "right"]].set_visible(False)


def heatmap(
    axes: "Axes", values: Any, x: str, y: str, title: str = "", signed: bool = False, **limits: Any
) -> "AxesImage":
    """Draw a matrix as a heat map, row 0 at the top; for signed values, white is 0."""
    values = np.asarray(values, dtype=np.float64)
    if signed and not limits:
        largest = float(np.abs(values[np.isfinite(values)]).max(initial=0.0)) or 1.0
        limits = {"vmin": -largest, "vmax": largest}
    image = axes.imshow(values, cmap=SIGNED if signed else SEQUENTIAL, aspect="auto", interpolation="nearest", **limits)
    axes.set_facecolor("#d9d9d9")  # visible where a value is not finite
    label_axes(axes, x, y, title, frame=True)
    return image


def is_dark(red: float, green: float, blue: float) -> bool:
    """Return whether white text has a higher contrast on this color (from 0 to 1 each) than black text."""
    return bool(0.2126 * red**2.2 + 0.7152 * green**2.2 + 0.0722 * blue**2.2 < 0.18)


def text_color(image: "AxesImage", value: Any) -> str:
    """Return the color of a text in the cell of a heat map that has this value."""
    red, green, blue, _ = image.cmap(image.norm(value))
    return "white" if np.isfinite(value) and is_dark(red, green, blue) else "black"


def log_scale(axes: "Axes") -> None:
    """Make the y axis logarithmic, with ticks such as 1,000 instead of small exponents."""
    from matplotlib.ticker import FuncFormatter

    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:,.0f}" if y >= 1 else f"{y:g}"))


def tick_labels(axes: "Axes", labels: Sequence[str], x: bool = False, y: bool = False) -> None:
    """Put the labels at 0, 1, 2, …; they may be any text."""
    for axis, enabled in ((axes.xaxis, x), (axes.yaxis, y)):
        if enabled:
            axis.set_ticks(range(len(labels)))
            axis.set_ticklabels([*labels], parse_math=False)


def integer_ticks(axes: "Axes") -> None:
    """Restrict the ticks of the x axis to integers."""
    from matplotlib.ticker import MaxNLocator

    axes.xaxis.set_major_locator(MaxNLocator(integer=True))


def visible_character(character: str) -> str:
    """Return a character as an axis label: a symbol for white space, its code point where the font has no glyph."""
    if character in WHITE_SPACE:
        return WHITE_SPACE[character]
    return character if character.isprintable() and ord(character) in _glyphs() else f"U+{ord(character):04X}"


@cache
def _glyphs() -> frozenset[int]:
    from matplotlib.font_manager import findfont, get_font

    return frozenset(get_font(findfont(FONT)).get_charmap())


def to_bytes(figure: "Figure", suffix: str, svg_font: str = "path") -> bytes:
    """Return the figure as a PNG, SVG or PDF file, which `is_plot` recognizes. Equal figures give equal bytes.

    Text in SVG is drawn as outlines; with the `svg_font` "none" it stays text.
    """
    import matplotlib

    buffer = io.BytesIO()
    metadata = {
        "png": {"Software": MARK},
        "svg": {"Creator": MARK, "Date": None},
        "pdf": {"Creator": MARK, "CreationDate": None},
    }
    with matplotlib.rc_context(_SETTINGS), matplotlib.rc_context({"svg.fonttype": svg_font}):
        figure.savefig(buffer, format=suffix, metadata=metadata.get(suffix))
    return buffer.getvalue()


def is_plot(content: bytes) -> bool:
    """Return whether a file was written as a plot by Headway: a figure, or the page of the attention viewer."""
    return MARK.encode() in content
