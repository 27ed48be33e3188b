"""Slopes, and the computation of the lesson as a graph."""

import numpy as np

from autograder.courses.transformer.common.figures.diagram import TINTS, Diagram, number
from autograder.courses.transformer.common.figures.small_svg import small_svg
from autograder.drawing import figure
from autograder.drawing.function_caller import FunctionCaller

DERIVATIVE = "#a34400"  # a darker orange, for text


def slopes(_: FunctionCaller) -> str:
    """Return the lines whose slopes are difference quotients, at x = 1, of x² and of x³."""
    fig, [[square, cube]] = figure.subplots("The slope at x = 1", 1, 2, (9, 4))
    x = np.linspace(0.2, 1.8, 65)
    for panel, power, title in ((square, 2, "f(x) = x²"), (cube, 3, "f(x) = x³, h = 0.5")):
        panel.plot(x, x**power, color=figure.BLACK, linewidth=2)
        figure.label_axes(panel, "x", "", title)
    lines = (
        (square, 2, 1, 1.75, figure.ORANGE, "h = 0.75: slope 2.75"),
        (square, 2, 1, 1.25, figure.GREEN, "h = 0.25: slope 2.25"),
        (square, 2, 1, 1, figure.BLUE, "tangent: slope 2"),
        (cube, 3, 1, 1.5, figure.ORANGE, "forward: slope 4.75"),
        (cube, 3, 0.5, 1.5, figure.GREEN, "central: slope 3.25"),
        (cube, 3, 1, 1, figure.BLUE, "tangent: slope 3"),
    )
    for panel, power, start, end, color, label in lines:
        slope = (end**power - start**power) / (end - start) if end > start else power
        panel.plot(x[[0, -1]], start**power + slope * (x[[0, -1]] - start), color=color, label=label)
        panel.plot([start, end], [start**power, end**power], "o", color=color)
    for panel in (square, cube):
        panel.legend(loc="upper left")
    return small_svg(fig)


def gradient_graph(functions: FunctionCaller) -> str:
    """Return the computation of the lesson on gradients as a graph, with its values and derivatives."""
    steps = [("mul", (0, 1)), ("add", (3, 2)), ("tanh", (4,))]
    inputs = [np.array(value) for value in (2.0, 0.5, -0.8)]
    values = functions.call("gradients.tape_values", steps, inputs)
    # The derivative with respect to a result: the tape after it, with the result as an input.
    product, total = (
        functions.call("gradients.tape_gradients", rest, start)[0]
        for rest, start in (
            ([("add", (0, 1)), ("tanh", (2,))], [values[3], values[2]]),
            ([("tanh", (0,))], [values[4]]),
        )
    )
    derivatives = [*functions.call("gradients.tape_gradients", steps, inputs), product, total, 1.0]
    places = ((10, 20), (10, 120), (240, 170), (240, 70), (480, 120), (716, 120))
    d = Diagram(860, 250)
    for start, end in ((0, 3), (1, 3), (3, 4), (2, 4), (4, 5)):
        d.arrow((places[start][0] + 130, places[start][1] + 34), (places[end][0], places[end][1] + 34))
    names = ("w", "x", "b", "p = w · x", "s = p + b", "L = tanh(s)")
    for (x, y), name, value, derivative in zip(places, names, values, derivatives, strict=True):
        d.rect(x, y, 130, 68, TINTS[0])
        d.text(x + 65, y + 14, name, 14, bold=True)
        d.text(x + 65, y + 34, number(float(value), ".4f"), 14)
        d.text(x + 65, y + 55, number(float(derivative), ".4f"), 14, color=DERIVATIVE)
    d.text(470, 20, "black: values, computed from left to right", 13, "start")
    d.text(470, 40, "orange: how fast L changes with each, from right to left", 13, "start", DERIVATIVE)
    return d.svg()


FIGURES = (slopes, gradient_graph)
