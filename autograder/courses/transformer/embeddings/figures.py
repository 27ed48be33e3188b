"""Lookups, and positions as waves and as a table that was learned."""

import numpy as np

from autograder.courses.transformer.common.figures.diagram import TINTS, Diagram
from autograder.courses.transformer.common.figures.small_svg import small_svg
from autograder.courses.transformer.common.figures.trained_model import measured
from autograder.drawing import figure
from autograder.drawing.function_caller import Array, FunctionCaller

BASES = (100, 10_000, 1_000_000)
LONG_TEXT = 2048  # positions, to compare the wavelengths with


def embedding_lookup(functions: FunctionCaller) -> str:
    """Return how ids pick rows of the token table, to which the rows of the position table are added."""
    token_table = np.array([[0.9, 0.1, -0.4], [-0.6, 0.8, 0.2], [0.3, -0.7, 0.5], [-0.2, -0.3, 0.9]])
    position_table = np.array([[0.0, 0.1, 0.2], [0.1, -0.1, 0.0], [-0.2, 0.2, 0.1]])
    ids = np.array([2, 0, 2])
    x = functions.array("embeddings.embed", (3, 3), ids, token_table, position_table)
    d = Diagram(860, 258)
    d.text(104, 20, "W_tok (V, D)", 14, bold=True)
    d.table(token_table, 40, 44, (56, 36), largest=1.2, form=".1f")
    d.labels([f"id {i}" for i in range(4)], 34, 44, 36, down=True)
    d.text(300, 20, "ids (T,)", 14, bold=True)
    for t, index in enumerate(ids):
        y = 44 + 36 * t
        d.rect(276, y, 48, 34, TINTS[(0, 1, 0)[t]])
        d.text(300, y + 17, str(index), 15)
        color = figure.BLUE if index == 2 else figure.ORANGE
        d.arrow((276, y + 17), (214, 61 + 36 * index), color=color)
        d.arrow((324, y + 17), (366, y + 17), color=color)
    tables = ((370, token_table[ids], "rows of W_tok"), (530, position_table, "rows of W_pos"), (690, x, "x (T, D)"))
    for left, values, title in tables:
        d.text(left + 72, 20, title, 14, bold=True)
        d.table(values, left, 44, (48, 36), largest=1.2, form=".1f")
    d.text(522, 96, "+", 20)
    d.text(682, 96, "=", 20)
    d.note(
        208,
        "The same id picks the same row, wherever it appears. Only their positions make the two vectors of token 2",
        "different: rows 0 and 2 of x are not equal.",
    )
    return d.svg()


def sinusoidal_positions(functions: FunctionCaller) -> str:
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


def wavelengths(width: int, base: int) -> tuple[Array, Array]:
    """Return the first column of each pair of columns, and the wavelength of the pair."""
    columns: Array = np.arange(0.0, width - 1, 2.0)
    return columns, np.asarray(2 * np.pi * base ** (columns / width), np.float64)


def why_10000(_: FunctionCaller) -> str:
    """Return the wavelengths of the position table for three bases."""
    fig, [[panel]] = figure.subplots("Sinusoidal positions, D = 64: the wavelength of each column", size=(8, 4.2))
    for base, color in zip(BASES, (figure.ORANGE, figure.BLUE, figure.GREEN), strict=True):
        panel.plot(*wavelengths(64, base), color=color, label=f"base {base:,}")
    panel.axhline(LONG_TEXT, color="gray", linestyle=":", label=f"{LONG_TEXT:,} positions")
    figure.log_scale(panel)
    figure.label_axes(panel, "column (feature)", "wavelength (positions)")
    panel.legend(frameon=False, fontsize=9)
    return small_svg(fig)


def learned_positions(_: FunctionCaller) -> str:
    """Return the learned position table as a heat map, and the similarity of its rows."""
    table = np.array(measured()["W_pos"])
    length = np.linalg.norm(table, axis=1, keepdims=True)
    similarity = (table / length) @ (table / length).T
    d = Diagram(860, 346)
    for left, title, values, cell, across in (
        (60, "W_pos after training (T, D)", table, 14.0, "feature"),
        (570, "cosine of each pair of rows", similarity, 15.0, "position"),
    ):
        d.text(left, 16, title, 14, "start", bold=True)
        d.text(left, 36, f"{across} →", 13, "start")
        d.table(values, left, 50, (cell, 15), gap=0)
        d.labels([str(t) for t in range(len(table))], left - 6, 50, 15, down=True)
    d.text(20, 306, "↑ position", 13, "start")
    d.note(
        328,
        "Nobody put order into this table. Blue: above 0, orange: below. Rows 1 to 3 apart are most alike on average.",
    )
    return d.svg()


FIGURES = (embedding_lookup, sinusoidal_positions, why_10000, learned_positions, "embedding-map")
