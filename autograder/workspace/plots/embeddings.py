"""Plots of assignment 3: tokens and positions as vectors."""

import numpy as np

from autograder.workspace.plots import figure
from autograder.workspace.plots.catalog import Plot
from autograder.workspace.plots.inputs import Array, PlotInputs, encode_text, text_to_show

LENGTH, WIDTH = 64, 48
WAVES = (0, 8, 16, 24)  # even columns: sines


def positions(plot: Plot, inputs: PlotInputs) -> "figure.Figure":
    """Draw the position table, some of its columns as waves, and the dot products of all pairs of positions."""
    table = inputs.functions.array("embeddings.sinusoidal_positions", (LENGTH, WIDTH), LENGTH, WIDTH)
    fig, axes = figure.subplots(plot.title, 1, 3, (14, 4.4))
    image = figure.heatmap(axes[0, 0], table, "column (feature)", "position", "the table", signed=True)
    fig.colorbar(image, ax=axes[0, 0], label="value")
    for column, color in zip(WAVES, figure.COLORS, strict=False):
        axes[0, 1].plot(table[:, column], color=color, label=f"column {column} (sine)")
    axes[0, 1].plot(table[:, 1], color=figure.BLUE, linestyle=":", label="column 1 (cosine)")
    figure.label_axes(axes[0, 1], "position", "value", "some columns as waves")
    axes[0, 1].set_ylim(-1.1, 1.9)
    axes[0, 1].legend(frameon=False, fontsize=8, ncols=2, loc="upper right")
    image = figure.heatmap(axes[0, 2], table @ table.T, "position", "position", "similarity: dot products")
    fig.colorbar(image, ax=axes[0, 2], label="dot product of two rows")
    return fig


def principal_axes(vectors: Array) -> tuple[Array, Array, Array]:
    """Return the mean (D,) of vectors (N, D), their two principal directions (2, D), and the variance shares (2,)."""
    mean = vectors.mean(axis=0)
    _, lengths, directions = np.linalg.svd(vectors - mean, full_matrices=False)
    total = float((lengths**2).sum()) or 1.0
    return mean, directions[:2], lengths[:2] ** 2 / total


def token_map(plot: Plot, inputs: PlotInputs) -> "figure.Figure":
    """Draw the token vectors of a trained model in two dimensions: alone, and at every position."""
    run = inputs.checkpoint()
    table, places = run.params["W_tok"], run.params["W_pos"]
    n_tokens, width, n_places = len(table), table.shape[1], len(places)
    tokens = inputs.functions.array("embeddings.embed_tokens", (n_tokens, width), np.arange(n_tokens), table)
    grid = np.repeat(np.arange(n_tokens)[:, None], n_places, axis=1)  # (V, T): each token at every position
    placed = inputs.functions.array("embeddings.embed", (n_tokens, n_places, width), grid, table, places)
    fig, axes = figure.subplots(plot.title, 1, 2, (13, 6))
    vowels = set("aeiouy")
    for panel, vectors, title in (
        (axes[0, 0], tokens[:, None], "tokens alone"),
        (axes[0, 1], placed, f"tokens at positions 0 to {n_places - 1}"),
    ):
        flat = vectors.reshape(-1, width)
        mean, directions, shares = principal_axes(flat)
        points = ((flat - mean) @ directions.T).reshape(*vectors.shape[:2], 2)
        for char, path in zip(run.chars, points, strict=True):
            color = figure.ORANGE if char.lower() in vowels else figure.BLUE
            panel.plot(*path.T, color=color, linewidth=0.6, alpha=0.6, marker="o", markersize=3)
            panel.annotate(figure.visible_character(char), path[0], xytext=(3, 3), textcoords="offset points",
                           fontsize=9, parse_math=False)  # fmt: skip
        figure.label_axes(panel, f"first direction ({shares[0]:.0%} of the variance)",
                    f"second direction ({shares[1]:.0%} of the variance)", title)  # fmt: skip
    for color, label in ((figure.ORANGE, "vowels"), (figure.BLUE, "other characters")):
        axes[0, 0].plot([], [], color=color, marker="o", linestyle="", label=label)
    axes[0, 0].legend(frameon=False)
    return fig


def norms(plot: Plot, inputs: PlotInputs) -> "figure.Figure":
    """Draw the lengths of the token part, the position part and their sum at every position of a text."""
    run = inputs.checkpoint()
    text = text_to_show(inputs, run)
    ids = encode_text(text, run, inputs.functions)
    table, places = run.params["W_tok"], run.params["W_pos"]
    shape = (len(ids), table.shape[1])
    tokens = inputs.functions.array("embeddings.embed_tokens", shape, ids, table)
    total = inputs.functions.array("embeddings.embed", shape, ids, table, places)
    fig, axes = figure.subplots(plot.title, size=(9, 4))
    panel = axes[0, 0]
    at = np.arange(len(ids))
    for shift, vectors, color, label in (
        (-0.27, tokens, figure.BLUE, "token"),
        (0.0, total - tokens, figure.ORANGE, "position"),
        (0.27, total, figure.GREEN, "sum of both"),
    ):
        panel.bar(at + shift, np.linalg.norm(vectors, axis=-1), width=0.25, color=color, label=label)
    figure.label_axes(panel, "position in the text (character)", "length of the vector")
    figure.tick_labels(panel, [figure.visible_character(char) for char in text], x=True)
    panel.margins(y=0.15)
    panel.legend(frameon=False, ncols=3, loc="upper right")
    return fig
