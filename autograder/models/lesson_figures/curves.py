"""Curves and bars from matplotlib: most are the plots of `headway plot`, drawn from the official functions."""

from typing import Any

import numpy as np

from autograder.models.lesson_figures.diagram import Diagram
from autograder.models.lesson_figures.small_svg import small_svg
from autograder.models.plot_data.catalog import find_plot
from autograder.models.plot_data.function_calls import FunctionCaller
from autograder.models.plots import draw, figure
from autograder.models.plots.embeddings import wavelengths
from autograder.models.plots.inputs import PlotInputs
from autograder.models.training import datasets

SCORES = np.array([3.2, 2.9, 2.2, 1.6, 1.2, 0.4, -0.3, -1.0])
NAMES = "aeionlst"


def plot(name: str, functions: FunctionCaller) -> str:
    """Return a plot of `headway plot` that needs no trained model."""
    return small_svg(draw(find_plot(name), PlotInputs(functions)))


def positions(functions: FunctionCaller) -> str:
    """Return the table of sinusoidal positions as colored cells."""
    length, width = 24, 24
    table = functions.array("embeddings.sinusoidal_positions", (length, width), length, width)
    d = Diagram(860, 446)
    d.text(60, 16, "sinusoidal positions (T, D), T = D = 24", 14, "start", bold=True)
    d.labels([str(i) for i in range(width)], 60, 38, 31)
    d.labels([str(t) for t in range(length)], 54, 50, 15, down=True)
    d.table(table, 60, 50, (31, 15), largest=1.0, gap=0)
    d.note(
        428,
        "Rows are positions, columns are features. Blue: 1, white: 0, orange: −1. Waves become longer to the right.",
    )
    return d.svg()


def slopes() -> str:
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


def why_10000() -> str:
    """Return the wavelengths of the position table for three bases."""
    fig, [[panel]] = figure.subplots("Sinusoidal positions, D = 64: the wavelength of each column", size=(8, 4.2))
    wavelengths(panel, 64)
    panel.set_title("")
    return small_svg(fig)


def sampling(functions: FunctionCaller) -> str:
    """Return one row of probabilities under temperature, top-k and top-p."""
    settings: tuple[tuple[dict[str, Any], str], ...] = (
        ({}, "temperature 1"), ({"temperature": 0.5}, "temperature 0.5"), ({"temperature": 2.0}, "temperature 2"),
        ({"top_k": 3}, "top_k=3"), ({"top_p": 0.9}, "top_p=0.9"), ({"temperature": 0.0}, "temperature 0"),
    )  # fmt: skip
    fig, axes = figure.subplots("The probabilities that the next token is drawn from", 2, 3, (9, 5), sharey=True)
    for panel, (options, title) in zip(axes.flat, settings, strict=True):
        probs = functions.array("generation.next_token_probs", SCORES.shape, SCORES, **options)
        panel.bar(np.arange(len(SCORES)), probs, color=[figure.BLUE if p > 0 else figure.ORANGE for p in probs])
        for i in np.flatnonzero(probs == 0):
            panel.text(i, 0.02, "0", ha="center", color=figure.ORANGE)
        figure.label_axes(panel, "next token", "", title)
        figure.tick_labels(panel, list(NAMES), x=True)
    for panel in axes[:, 0]:
        panel.set_ylabel("probability")
    return small_svg(fig)


def bigram_table(functions: FunctionCaller) -> str:
    """Return the probabilities of the bigram model that counts, for the names that come with Headway."""
    text = datasets.load("names")
    chars, stoi, _ = functions.values("tokenizer.build_vocab", 3, text)
    ids = functions.call("tokenizer.encode", text, stoi)
    train, _ = functions.values("tokenizer.train_val_split", 2, ids)
    size = len(chars)
    probs = functions.array("bigram.bigram_counts", (size, size), train, size)
    names = [figure.visible_character(char) for char in chars]
    row, column = np.unravel_index(probs.argmax(), probs.shape)
    d = Diagram(860, 650)
    d.text(40, 14, "probability of the next token (column) after a token (row)", 14, "start", bold=True)
    d.labels(names, 40, 38, 30)
    d.labels(names, 30, 50, 20, down=True)
    d.table(probs, 40, 50, (30, 20), gap=0)
    d.note(
        612,
        "Counted in the names; ↵ ends a name and begins the next one. The darker a cell, the more likely:",
        f"from white, 0, to the darkest blue, {probs.max():.2f}, for “{names[column]}” after “{names[row]}”.",
        x=40,
    )
    return d.svg()
