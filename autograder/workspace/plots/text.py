"""Plots of assignment 1: text as numbers."""

from typing import TYPE_CHECKING, Any

import numpy as np

from autograder.errors import UsageError
from autograder.workspace.plots import figure
from autograder.workspace.plots.catalog import Plot
from autograder.workspace.plots.inputs import PlotInputs

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TEXT = "hello world, hello there"
LONGEST = 80


def token_ids(plot: Plot, inputs: PlotInputs) -> "Figure":
    """Draw the id of every character of a text, in the order of the text."""
    text = TEXT if inputs.text is None else inputs.text
    if not 1 <= len(text) <= LONGEST:
        raise UsageError(f"the text has {len(text)} characters; give 1 to {LONGEST}: --text TEXT")
    chars, stoi, _ = _vocabulary(inputs.functions.values("tokenizer.build_vocab", 3, text))
    ids = inputs.functions.array("tokenizer.encode", (len(text),), text, stoi)
    fig, axes = figure.subplots(plot.title, size=(max(6.0, 1.5 + 0.28 * len(text)), max(3.0, 1.4 + 0.24 * len(chars))))
    panel = axes[0, 0]
    panel.plot(ids, color=figure.SKY, linewidth=0.8, zorder=1)
    panel.scatter(np.arange(len(ids)), ids, color=figure.BLUE, s=28, zorder=2)
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
