"""Pictures of assignment 1: text as numbers."""

from typing import TYPE_CHECKING, Any

import numpy as np

from autograder.errors import UsageError
from autograder.workspace.plots import Picture
from autograder.workspace.plots import figure as paper
from autograder.workspace.plots.inputs import Subject

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TEXT = "hello world, hello there"
LONGEST = 80


def token_ids(picture: Picture, subject: Subject) -> "Figure":
    """The id of every character of a text, in the order of the text."""
    text = TEXT if subject.text is None else subject.text
    if not 1 <= len(text) <= LONGEST:
        raise UsageError(f"the text has {len(text)} characters. Give 1 to {LONGEST} of them: --text")
    chars, stoi, _ = _vocabulary(subject.work.arrays("tokenizer.build_vocab", 3, text))
    ids = subject.work.array("tokenizer.encode", (len(text),), text, stoi)
    figure, axes = paper.sheet(
        picture.title, size=(max(6.0, 1.5 + 0.28 * len(text)), max(3.0, 1.4 + 0.24 * len(chars)))
    )
    plot = axes[0, 0]
    plot.plot(ids, color=paper.SKY, linewidth=0.8, zorder=1)
    plot.scatter(np.arange(len(ids)), ids, color=paper.BLUE, s=28, zorder=2)
    paper.plain(plot, "position in the text (character)", "token id (character)")
    paper.ticks(plot, [paper.visible(char) for char in text], x=True)
    plot.set_yticks([stoi[char] for char in chars])
    plot.set_yticklabels([f"{paper.visible(char)}  {stoi[char]}" for char in chars], parse_math=False)
    plot.grid(axis="y", color="#e5e5e5", linewidth=0.6)
    plot.set_axisbelow(True)
    return figure


def _vocabulary(values: tuple[Any, ...]) -> tuple[list[str], dict[str, int], Any]:
    chars, stoi, itos = values
    lists = isinstance(chars, list) and isinstance(stoi, dict)
    known = lists and all(isinstance(char, str) and len(char) == 1 and type(stoi.get(char)) is int for char in chars)
    if not known or not all(0 <= stoi[char] < 1_000_000 for char in chars):
        raise UsageError(
            "tokenizer.build_vocab does not give a list of characters and their ids. "
            "Look at it first: headway check tokenizer.build_vocab"
        )
    return chars, stoi, itos
