"""Pictures of assignment 3: tokens and positions as vectors."""

from typing import TYPE_CHECKING

import numpy as np

from autograder.workspace.plots import Picture
from autograder.workspace.plots import figure as paper
from autograder.workspace.plots.inputs import Array, Subject, ids_of, text_for

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LENGTH, WIDTH = 64, 48
WAVES = (0, 8, 16, 24)  # even columns: sines


def positions(picture: Picture, subject: Subject) -> "Figure":
    """The table as a heat map, some of its columns as waves, and the dot products of all pairs of positions."""
    table = subject.work.array("embeddings.sinusoidal_positions", (LENGTH, WIDTH), LENGTH, WIDTH)
    figure, axes = paper.sheet(picture.title, 1, 3, (14, 4.4))
    image = paper.heat(axes[0, 0], table, "column (feature)", "position", "the table", signed=True)
    paper.scale(figure, image, axes[0, 0], "value")
    for column, colour in zip(WAVES, paper.COLOURS, strict=False):
        axes[0, 1].plot(table[:, column], color=colour, label=f"column {column} (sine)")
    axes[0, 1].plot(table[:, 1], color=paper.BLUE, linestyle=":", label="column 1 (cosine)")
    paper.plain(axes[0, 1], "position", "value", "some columns as waves")
    axes[0, 1].set_ylim(-1.1, 1.9)
    axes[0, 1].legend(frameon=False, fontsize=8, ncols=2, loc="upper right")
    image = paper.heat(axes[0, 2], table @ table.T, "position", "position", "similarity: dot products")
    paper.scale(figure, image, axes[0, 2], "dot product of two rows")
    return figure


def principal_axes(vectors: Array) -> tuple[Array, Array, Array]:
    """The plane in which vectors (N, D) differ most (principal component analysis).

    Returns:
        mean (D,), directions (2, D), and the share of the variance along each of them, (2,).
    """
    mean = vectors.mean(axis=0)
    _, lengths, directions = np.linalg.svd(vectors - mean, full_matrices=False)
    total = float((lengths**2).sum()) or 1.0
    return mean, directions[:2], lengths[:2] ** 2 / total


def token_map(picture: Picture, subject: Subject) -> "Figure":
    """The token vectors of a trained model in two dimensions: alone, and at every position."""
    run = subject.run()
    table, places = run.params["W_tok"], run.params["W_pos"]
    n_tokens, width, n_places = len(table), table.shape[1], len(places)
    tokens = subject.work.array("embeddings.embed_tokens", (n_tokens, width), np.arange(n_tokens), table)
    grid = np.repeat(np.arange(n_tokens)[:, None], n_places, axis=1)  # (V, T): each token at every position
    placed = subject.work.array("embeddings.embed", (n_tokens, n_places, width), grid, table, places)
    figure, axes = paper.sheet(picture.title, 1, 2, (13, 6))
    vowels = set("aeiouy")
    for plot, vectors, title in (
        (axes[0, 0], tokens[:, None], "tokens alone"),
        (axes[0, 1], placed, f"tokens at positions 0 to {n_places - 1}"),
    ):
        flat = vectors.reshape(-1, width)
        mean, directions, shares = principal_axes(flat)
        points = ((flat - mean) @ directions.T).reshape(*vectors.shape[:2], 2)
        for char, path in zip(run.chars, points, strict=True):
            colour = paper.ORANGE if char.lower() in vowels else paper.BLUE
            plot.plot(*path.T, color=colour, linewidth=0.6, alpha=0.6, marker="o", markersize=3)
            plot.annotate(
                paper.visible(char), path[0], xytext=(3, 3), textcoords="offset points", fontsize=9, parse_math=False
            )
        paper.plain(plot, f"first direction ({shares[0]:.0%} of the variance)",
                    f"second direction ({shares[1]:.0%} of the variance)", title)  # fmt: skip
    from matplotlib.lines import Line2D

    marks = [
        Line2D([], [], color=colour, marker="o", linestyle="", label=label)
        for colour, label in ((paper.ORANGE, "vowels"), (paper.BLUE, "all others"))
    ]
    axes[0, 0].legend(handles=marks, frameon=False)
    return figure


def norms(picture: Picture, subject: Subject) -> "Figure":
    """The lengths of the token part, the position part and their sum, at every place of a text."""
    run = subject.run()
    text = text_for(subject, run)
    ids = ids_of(text, run, subject.work)
    table, places = run.params["W_tok"], run.params["W_pos"]
    shape = (len(ids), table.shape[1])
    tokens = subject.work.array("embeddings.embed_tokens", shape, ids, table)
    total = subject.work.array("embeddings.embed", shape, ids, table, places)
    figure, axes = paper.sheet(picture.title, size=(9, 4))
    plot = axes[0, 0]
    at = np.arange(len(ids))
    for shift, vectors, colour, label in (
        (-0.27, tokens, paper.BLUE, "token"),
        (0.0, total - tokens, paper.ORANGE, "position"),
        (0.27, total, paper.GREEN, "sum of both"),
    ):
        plot.bar(at + shift, np.linalg.norm(vectors, axis=-1), width=0.25, color=colour, label=label)
    paper.plain(plot, "position in the text (character)", "length of the vector")
    paper.ticks(plot, [paper.visible(char) for char in text], x=True)
    plot.margins(y=0.15)
    plot.legend(frameon=False, ncols=3, loc="upper right")
    return figure
