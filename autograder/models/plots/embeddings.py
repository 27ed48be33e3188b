"""Plots of `embeddings`: tokens and positions as vectors."""

import numpy as np

from autograder.course import Plot
from autograder.drawing import figure
from autograder.drawing.function_caller import Array
from autograder.models.plots.inputs import PlotInputs, shown_model


def principal_axes(vectors: Array) -> tuple[Array, Array, Array]:
    """Return the mean (D,) of vectors (N, D), their two principal directions (2, D), and the variance shares (2,)."""
    mean = vectors.mean(axis=0)
    _, lengths, directions = np.linalg.svd(vectors - mean, full_matrices=False)
    total = float((lengths**2).sum()) or 1.0
    return mean, directions[:2], lengths[:2] ** 2 / total


def position_vectors(inputs: PlotInputs, learned: Array | None, table: Array, length: int) -> Array:
    """Return the vectors of the positions of a model: its own, or sines and cosines like those of its tokens."""
    if learned is not None:
        return learned
    shape = (length, table.shape[1])
    return inputs.functions.array("embeddings.sinusoidal_positions", shape, *shape).astype(table.dtype)


def token_map(plot: Plot, inputs: PlotInputs) -> "figure.Figure":
    """Draw the token vectors of a trained model in two dimensions: alone, and at every position."""
    run = inputs.checkpoint()
    table = run.params["W_tok"]
    places = position_vectors(inputs, run.params.get("W_pos"), table, int(run.settings.model["block_size"]))
    n_tokens, width, n_places = len(table), table.shape[1], len(places)
    tokens = inputs.functions.array("embeddings.embed_tokens", (n_tokens, width), np.arange(n_tokens), table)
    grid = np.repeat(np.arange(n_tokens)[:, None], n_places, axis=1)  # (V, T): each token at every position
    placed = inputs.functions.array("embeddings.embed", (n_tokens, n_places, width), grid, table, places)
    fig, axes = figure.subplots(plot.title, 1, 2, (10, 5.2))
    vowels = set("aeiouy")
    shown = [i for i, char in enumerate(run.chars) if char.lower() in vowels][:3]
    shown += [i for i in range(n_tokens) if i not in shown][: 6 - len(shown)]  # all of them would hide each other
    for panel, vectors, drawn, title in (
        (axes[0, 0], tokens[:, None], range(n_tokens), "tokens alone"),
        (axes[0, 1], placed, shown, f"six tokens at positions 0 to {n_places - 1}"),
    ):
        flat = vectors.reshape(-1, width)
        mean, directions, shares = principal_axes(flat)
        points = ((flat - mean) @ directions.T).reshape(*vectors.shape[:2], 2)
        for i in drawn:
            color = figure.ORANGE if run.chars[i].lower() in vowels else figure.BLUE
            panel.plot(*points[i].T, color=color, linewidth=0.8, marker="o", markersize=4)
            panel.annotate(figure.visible_character(run.chars[i]), points[i, 0], xytext=(4, 4), fontsize=11,
                           textcoords="offset points", color=color, parse_math=False)  # fmt: skip
        figure.label_axes(panel, f"first direction ({shares[0]:.0%} of the differences)",
                    f"second direction ({shares[1]:.0%} of the differences)", title)  # fmt: skip
        panel.margins(0.08)
    for color, label in ((figure.ORANGE, "vowels"), (figure.BLUE, "other characters")):
        axes[0, 0].plot([], [], color=color, marker="o", linestyle="", label=label)
    fig.legend(frameon=False, loc="outside lower center", ncols=2)
    return fig


def norms(plot: Plot, inputs: PlotInputs) -> "figure.Figure":
    """Draw the lengths of the token part, the position part and their sum at every position of a text."""
    model = shown_model(inputs)
    ids, labels = model.read()
    table, shape = model.params.get("W_tok"), (len(ids), model.config.d_model)
    places = position_vectors(inputs, model.params.get("W_pos"), table, len(ids))
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
    figure.label_axes(panel, f"position in the text ({model.unit})", "length of the vector")
    figure.tick_labels(panel, labels, x=True)
    panel.margins(y=0.15)
    panel.legend(frameon=False, ncols=3, loc="upper right")
    return fig
