"""Plots that need no trained model, drawn with matplotlib from the panels that a lesson page shows, too."""

import numpy as np

from autograder.course import Plot
from autograder.drawing import figure
from autograder.drawing.panels import Axis, Panel
from autograder.models.plot_data import panels_of
from autograder.models.plots.inputs import PlotInputs

_SIZES = {1: (9.0, 1.8), 2: (5.0, 3.8), 5: (2.0, 3.2)}  # width and height of a panel, by the number of columns
_LEAST_HEIGHT = {1: 4.0, 2: 4.2, 5: 3.2}
_LINES = {"line": "-", "dashed": "--", "dotted": ":"}


def draw(plot: Plot, inputs: PlotInputs) -> "figure.Figure":
    """Draw the panels of the plot; those with the same axis share its labels."""
    columns, panels = panels_of(plot, inputs.functions, inputs.text)
    rows = -(-len(panels) // columns)
    width, height = _SIZES[columns]
    first_x, first_y = panels[0]["x"], panels[0]["y"]
    size = (
        max(columns * width, 0.28 * len(first_x["ticks"]) + 1.5),
        max(rows * height, 0.24 * len(first_y["ticks"]) + 1.4, _LEAST_HEIGHT[columns]),
    )
    shares_x = all(panel["x"] == first_x for panel in panels)
    shares_y = all(panel["y"] == first_y for panel in panels)
    fig, axes = figure.subplots(plot.title, rows, columns, size, sharex=shares_x, sharey=shares_y)
    for (row, column), place in np.ndenumerate(axes):
        panel = panels[row * columns + column]
        is_heatmap = panel["kind"] == "heatmap"
        (_draw_heatmap if is_heatmap else _draw_series)(place, panel)
        x = panel["x"]["label"] if row == rows - 1 or not shares_x else ""
        y = panel["y"]["label"] if column == 0 or not shares_y else ""
        figure.label_axes(place, x, y, panel["title"], frame=is_heatmap)
        _set_axis(place, "x", panel["x"])
        _set_axis(place, "y", panel["y"])
        if columns == 5 and max(len(tick["label"]) for tick in first_x["ticks"]) > 4:
            place.tick_params(axis="x", rotation=60)
    return fig


def _set_axis(axes: "figure.Axes", which: str, axis: Axis) -> None:
    ends = (axis["high"], axis["low"]) if axis["reversed"] else (axis["low"], axis["high"])
    axes.set(**{f"{which}scale": "log" if axis["log"] else "linear", f"{which}lim": ends})
    side = axes.xaxis if which == "x" else axes.yaxis
    side.set_ticks([tick["at"] for tick in axis["ticks"]])
    side.set_ticklabels([_shown(tick["label"]) for tick in axis["ticks"]], parse_math=False)


def _shown(label: str) -> str:
    """Return a label; characters that are not in the font are shown as code points."""
    return "".join(char if char == " " else figure.visible_character(char) for char in label)


def _draw_heatmap(axes: "figure.Axes", panel: Panel) -> None:
    scale, values = panel["scale"], np.array(panel["values"], np.float64)
    image = figure.heatmap(axes, values, "", "", signed=panel["signed"], vmin=scale["low"], vmax=scale["high"])
    assert axes.figure is not None
    axes.figure.colorbar(image, ax=axes, label=scale["label"])
    for (row, column), text in np.ndenumerate(np.array(panel.get("texts", []))):
        color = figure.text_color(image, values[row, column])
        axes.text(column, row, text, ha="center", va="center", fontsize=10, color=color)


def _draw_series(axes: "figure.Axes", panel: Panel) -> None:
    for series in panel["series"]:
        x, y = series["x"], np.array(series["y"], np.float64)  # nan in place of None
        color = figure.COLORS[series["color"]]
        if panel["kind"] == "bars":
            axes.bar(x, y, color=color)
        elif series["style"] == "dots":
            axes.scatter(x, y, color=color, alpha=0.7, zorder=2)
            axes.grid(axis="y", color="#e5e5e5")
        else:
            axes.plot(x, y, _LINES[series["style"]], color=color, label=series["label"], linewidth=2, clip_on=False)
    for marks in panel.get("marks", []):
        for place, (start, end, *middle) in enumerate(marks["x"]):
            if marks["kind"] == "band":
                axes.axvspan(start, end, color="#e0e0e0")
                axes.text((start + end) / 2, 0.5, marks["label"].replace("on, ", "on,\n"), ha="center", va="center")
            else:
                label = marks["label"] if place == 0 else None
                half, at = (end - start) / 2, marks["y"][place]
                axes.errorbar(middle[0], at, xerr=half, label=label, color=figure.ORANGE, marker="|", capsize=4)
    if axes.get_legend_handles_labels()[1]:
        axes.legend(frameon=False, fontsize=9, ncols=2, loc="upper center", bbox_to_anchor=(0.5, -0.16))
