"""Plots of single functions: token ids, softmax, layer norm, activations."""

from typing import Any

import numpy as np

from autograder.errors import UsageError
from autograder.workspace.plots import figure
from autograder.workspace.plots.catalog import Plot
from autograder.workspace.plots.inputs import PlotInputs

TEXT = "hello world, hello there"
LONGEST = 80
SCORES = np.array([1.0, 2.0, 3.0, 2.5, -0.5])
TEMPERATURES = (0.25, 0.5, 1.0, 2.0, 10.0)
LARGEST_SCORES = np.concatenate([np.arange(0.0, 120.0, 2.0), np.arange(120.0, 1001.0, 8.0)])
WIDTH = 24
KINDS = ("small", "large", "shifted", "one outlier")


def token_ids(plot: Plot, inputs: PlotInputs) -> "figure.Figure":
    """Draw the id of every character of a text, in the order of the text."""
    text = TEXT if inputs.text is None else inputs.text
    if not 1 <= len(text) <= LONGEST:
        raise UsageError(f"the text has {len(text)} characters; give 1 to {LONGEST}: --text TEXT")
    chars, stoi, _ = _vocabulary(inputs.functions.values("tokenizer.build_vocab", 3, text))
    ids = inputs.functions.array("tokenizer.encode", (len(text),), text, stoi)
    fig, [[panel]] = figure.subplots(
        plot.title, size=(max(6.0, 1.5 + 0.28 * len(text)), max(3.0, 1.4 + 0.24 * len(chars)))
    )
    # Dots only: a line from one to the next would suggest that an id between two others means something.
    panel.scatter(np.arange(len(ids)), ids, color=figure.BLUE, marker="s", s=40, zorder=2)
    figure.label_axes(panel, "position in the text (character)", "token id (character)")
    figure.tick_labels(panel, [figure.visible_character(char) for char in text], x=True)
    panel.set_yticks([stoi[char] for char in chars])
    panel.set_yticklabels([f"{figure.visible_character(char)}  {stoi[char]}" for char in chars], parse_math=False)
    panel.grid(axis="y", color="#e5e5e5", linewidth=0.6)
    panel.set_axisbelow(True)
    return fig


def _vocabulary(values: tuple[Any, ...]) -> tuple[list[str], dict[str, int], Any]:
    chars, stoi, itos = values
    lists = isinstance(chars, list) and isinstance(stoi, dict)
    known = lists and all(isinstance(char, str) and len(char) == 1 and type(stoi.get(char)) is int for char in chars)
    if not known or not all(0 <= stoi[char] < 1_000_000 for char in chars):
        raise UsageError(
            "tokenizer.build_vocab did not return a list of characters and their ids. "
            "To see more: headway check tokenizer.build_vocab"
        )
    return chars, stoi, itos


def temperatures(plot: Plot, inputs: PlotInputs) -> "figure.Figure":
    """Draw the probabilities of one row of scores, one panel for each temperature."""
    fig, axes = figure.subplots(plot.title, 1, len(TEMPERATURES), (10, 3.2), sharey=True)
    names = [f"{score:g}".replace("-", "−") for score in SCORES]
    for panel, temperature in zip(axes[0], TEMPERATURES, strict=True):
        probs = inputs.functions.array("softmax.softmax", SCORES.shape, SCORES, temperature=temperature)
        panel.bar(np.arange(len(SCORES)), probs, color=figure.BLUE)
        figure.label_axes(panel, "score", "", f"temperature {temperature:g}")
        figure.tick_labels(panel, names, x=True)
    axes[0, 0].set_ylabel("probability")
    axes[0, 0].set_ylim(0, 1)
    return fig


def overflow(plot: Plot, inputs: PlotInputs) -> "figure.Figure":
    """Draw the probability of the largest of the scores (s, s - 1, s - 2) for increasing s."""
    rows = LARGEST_SCORES[:, None] - np.arange(3.0)  # (N, 3)
    yours = inputs.functions.array("softmax.softmax", rows.shape, rows)[:, 0]
    fig, axes = figure.subplots(plot.title, 3, 1, (9, 5.4), sharex=True, sharey=True)
    panels = axes[:, 0]
    panels[0].plot(LARGEST_SCORES, yours, color=figure.GREEN, linewidth=3)
    figure.label_axes(panels[0], "", "probability", "softmax.softmax, float64")
    for panel, dtype, color in ((panels[1], np.float64, figure.BLUE), (panels[2], np.float32, figure.ORANGE)):
        with np.errstate(over="ignore", invalid="ignore"):  # the plot shows this overflow
            powers = np.exp(rows.astype(dtype))
            naive = powers[:, 0] / powers.sum(axis=-1)
        name, end = np.dtype(dtype).name, float(np.log(np.finfo(dtype).max))
        panel.plot(LARGEST_SCORES, naive, color=color, linewidth=3)
        panel.axvspan(end, LARGEST_SCORES[-1], color="#e0e0e0")
        panel.text(
            (end + LARGEST_SCORES[-1]) / 2, 0.5, f"from {end:.1f} on,\nexp overflows: nan", ha="center", va="center"
        )
        figure.label_axes(panel, "", "probability", f"exp(x) / Σ exp(x), {name}")
    panels[2].set_xlabel("s, the largest of the scores s, s − 1, s − 2")
    panels[0].set_ylim(0, 1)
    panels[0].margins(x=0)
    return fig


def vectors() -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """Return four vectors that need normalizing for different reasons, (4, D)."""
    x = np.random.default_rng(6).normal(size=(len(KINDS), WIDTH))
    x *= np.array([0.3, 4.0, 1.0, 1.0])[:, None]
    x[2] += 8.0
    x[3, 5] = 12.0
    return x


def layernorm(plot: Plot, inputs: PlotInputs) -> "figure.Figure":
    """Draw the values of each vector as dots on a line, with mean and standard deviation."""
    x = vectors()
    normed = inputs.functions.array("layernorm.layernorm", x.shape, x, np.ones(WIDTH), np.zeros(WIDTH))
    fig, axes = figure.subplots(plot.title, 1, 2, (10, 4.2), sharey=True)
    for panel, values, title in ((axes[0, 0], x, "before"), (axes[0, 1], normed, "after, with γ = 1 and β = 0")):
        for row, numbers in enumerate(values):
            panel.plot(numbers, np.full(WIDTH, row), "o", color=figure.BLUE, markersize=5, alpha=0.5)
            panel.errorbar(numbers.mean(), row - 0.25, xerr=numbers.std(), color=figure.ORANGE, marker="|", capsize=4)
        panel.axvline(0, color="gray", linewidth=0.6)
        figure.label_axes(panel, "value of a feature", "", title)
        figure.tick_labels(panel, KINDS, y=True)
    axes[0, 0].set_ylabel("vector")
    axes[0, 0].set_ylim(len(KINDS) - 0.6, -0.6)
    axes[0, 0].plot([], [], color=figure.ORANGE, label="mean ± standard deviation")
    axes[0, 0].legend(frameon=False, loc="upper right", fontsize=9)
    return fig


def activations(plot: Plot, inputs: PlotInputs) -> "figure.Figure":
    """Draw the functions (left) and their slopes (right): the backward functions with an upstream gradient of 1."""
    x = np.linspace(-4.0, 4.0, 401)
    fig, axes = figure.subplots(plot.title, 1, 2, (10, 4.2))
    for name, color, style in (("relu", figure.ORANGE, "--"), ("gelu", figure.BLUE, "-")):
        value = inputs.functions.array(f"ffn.{name}", x.shape, x)
        slope = inputs.functions.array(f"ffn.{name}_backward", x.shape, np.ones_like(x), x)
        label = {"relu": "ReLU", "gelu": "GELU"}[name]
        axes[0, 0].plot(x, value, color=color, linestyle=style, label=label)
        axes[0, 1].plot(x, slope, color=color, linestyle=style, label=label)
    figure.label_axes(axes[0, 0], "x, before the activation", "after the activation", "the functions")
    figure.label_axes(axes[0, 1], "x, before the activation", "slope", "their derivatives")
    for panel in axes[0]:
        panel.axhline(0, color="gray", linewidth=0.6)
        panel.legend(frameon=False, loc="upper left")
    return fig
