"""The panels of a plot as data, for a page or for matplotlib: axes with their ticks, series, heat maps."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NotRequired, TypedDict

import numpy as np
import numpy.typing as npt

from autograder.core.text import clean
from autograder.drawing.function_caller import Array

Number = float | None  # None where a value is not finite
Style = Literal["line", "dashed", "dotted", "dots"]


class Tick(TypedDict):
    """A labeled place on an axis."""

    at: float
    label: str


class Axis(TypedDict):
    """An axis, from its lowest to its highest value; of the y axis of a heat map, the lowest is at the top."""

    label: str
    low: float
    high: float
    log: bool
    reversed: bool  # whether the lowest value is at the top
    ticks: list[Tick]


class Series(TypedDict):
    """Points in the order of x, or bars."""

    label: str  # empty if there is only one
    style: Style
    color: int  # the number of its color
    x: list[float]
    y: list[Number]


class Marks(TypedDict):
    """What is drawn besides the values: a shaded range of x, or ranges of x with their middle."""

    kind: Literal["band", "range"]
    label: str
    x: list[list[float]]  # from, to; of a range also its middle
    y: list[float]  # of a range: its height


class Panel(TypedDict):
    """One pair of axes, with the values of a heat map, or with series."""

    kind: Literal["heatmap", "lines", "bars"]
    title: str
    x: Axis
    y: Axis
    values: NotRequired[list[list[Number]]]
    texts: NotRequired[list[list[str]]]  # the values as text, for the cells
    scale: NotRequired[Axis]  # of the colors
    signed: NotRequired[bool]  # whether 0 is a neutral color
    series: NotRequired[list[Series]]
    marks: NotRequired[list[Marks]]


Panels = tuple[int, list[Panel]]  # of one plot: how many stand side by side where there is room, and all of them


def axis(label: str, low: float, high: float, ticks: list[Tick] | None = None) -> Axis:
    """Return an axis from `low` to `high`, longer if they are so close that no tick fits between them."""
    if high - low <= 1e-9 * max(abs(low), abs(high)):
        margin = max(0.5, 0.1 * abs(low))
        low, high = low - margin, high + margin
    ticks = _round_ticks(low, high) if ticks is None else ticks
    return {"label": label, "low": low, "high": high, "log": False, "reversed": False, "ticks": ticks}


def spanning(label: str, low: float, high: float, *values: Array) -> Axis:
    """Return an axis from `low` to `high`, longer if a value is outside: a wrong function may return any number."""
    finite = [part[np.isfinite(part)] for part in values]
    low = min(float(part.min(initial=low)) for part in finite)
    high = max(float(part.max(initial=high)) for part in finite)
    return axis(label, low, high)


def log_axis(label: str, low: float, high: float) -> Axis:
    """Return a logarithmic axis with ticks at powers of ten, at most six."""
    powers = range(math.ceil(math.log10(low)), math.floor(math.log10(high)) + 1)
    step = max(1, -(-len(powers) // 6))
    ticks: list[Tick] = [{"at": 10.0**power, "label": f"{10.0**power:,.0f}"} for power in powers[::step]]
    return {"label": label, "low": low, "high": high, "log": True, "reversed": False, "ticks": ticks}


def categories(label: str, names: Sequence[str]) -> Axis:
    """Return an axis with a name at 0, 1, 2, …"""
    ticks: list[Tick] = [{"at": number, "label": clean(name, 40)} for number, name in enumerate(names)]
    return axis(label, -0.5, len(names) - 0.5, ticks)


def _round_ticks(low: float, high: float) -> list[Tick]:
    """Return 3 to 6 ticks at multiples of 1, 2 or 5 times a power of ten."""
    rough = (high - low) / 5
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough * 0.999)
    numbers = range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)
    return [{"at": number * step, "label": _tick_label(number * step)} for number in numbers]


def _tick_label(value: float) -> str:
    text = f"{value:,.0f}" if abs(value) >= 1000 and value == round(value) else f"{value:.6g}"
    return "0" if float(f"{value:.6g}") == 0 else text.replace("-", "−")


def series(
    label: str, x: Sequence[float] | Array | range, y: Sequence[float] | Array, *, color: int = 0, style: Style = "line"
) -> Series:
    """Return points in the order of x."""
    numbers = [float(f"{value:.6g}") for value in x]
    return {"label": label, "style": style, "color": color, "x": numbers, "y": _numbers(y)}


def lines(title: str, x: Axis, y: Axis, *drawn: Series) -> Panel:
    """Return a panel of lines or dots."""
    return {"kind": "lines", "title": title, "x": x, "y": y, "series": [*drawn]}


def bars(title: str, label: str, names: Sequence[str], y: Axis, heights: Array) -> Panel:
    """Return a panel of one bar for each name."""
    drawn = series("", range(len(names)), heights)
    return {"kind": "bars", "title": title, "x": categories(label, names), "y": y, "series": [drawn]}


@dataclass(frozen=True)
class Scale:
    """The color scale of a heat map."""

    label: str  # what the values are
    signed: bool = False  # whether 0 has a neutral color
    limits: tuple[float, float] | None = None  # the values at its ends; it is longer if a value is outside of them


def heatmap(
    title: str,
    x_label: str,
    y_label: str,
    values: Array,
    scale: Scale,
    *,
    x_names: Sequence[str] | None = None,
    y_names: Sequence[str] | None = None,
    texts: bool = False,
) -> Panel:
    """Return a heat map, row 0 at the top; names replace the numbers of columns and rows, `texts` shows the values."""
    finite = values[np.isfinite(values)]
    limits = scale.limits
    if limits is None:
        largest = float(np.abs(finite).max(initial=0.0)) or 1.0
        limits = (-largest, largest) if scale.signed else (float(finite.min()), float(finite.max()))
    low, high = float(finite.min(initial=limits[0])), float(finite.max(initial=limits[1]))
    x, y = (
        categories(label, names) if names else axis(label, -0.5, size - 0.5, _index_ticks(size))
        for label, names, size in ((x_label, x_names, values.shape[1]), (y_label, y_names, values.shape[0]))
    )
    panel: Panel = {
        "kind": "heatmap",
        "title": title,
        "x": x,
        "y": {**y, "reversed": True},
        "values": [_numbers(row, 4) for row in values],
        "scale": axis(scale.label, low, high),
        "signed": scale.signed,
    }
    return {**panel, "texts": [[_cell_text(value) for value in row] for row in values]} if texts else panel


def _index_ticks(size: int) -> list[Tick]:
    """Return ticks at whole numbers, at most eight."""
    step = next(step for step in (1, 2, 5, 8, 10, 16, 20, 50, 100, 1000) if size <= 8 * step)
    return [{"at": number, "label": str(number)} for number in range(0, size, step)]


def _cell_text(value: float) -> str:
    if not math.isfinite(value):
        return "−∞" if value == -math.inf else str(value)
    return f"{value:.2f}".replace("-", "−")


def _numbers(values: Sequence[float] | npt.NDArray[Any], digits: int = 6) -> list[Number]:
    """Return numbers for JSON; None for those that are not finite."""
    return [float(f"{value:.{digits}g}") if math.isfinite(value) else None for value in values]
