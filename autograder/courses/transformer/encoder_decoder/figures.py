"""The encoder–decoder, its masks and its targets."""

import numpy as np

from autograder.courses.transformer.common.figures.diagram import Diagram
from autograder.drawing.function_caller import FunctionCaller


def source_masks(functions: FunctionCaller) -> str:
    """Return the three attentions of the encoder–decoder with their masks."""
    source, target = ("wir", "sind", "da", "·"), ("we", "are", "here")
    keep = np.array([[True, True, True, False]])
    padding = functions.array("attention.padding_mask", (1, 1, 1, 4), keep)[0, 0]
    causal = functions.array("attention.causal_mask", (3, 3), 3)
    d = Diagram(860, 262)
    for x, title, values, queries, keys in (
        (70, "encoder: self attention", np.repeat(padding, 4, axis=0), source, source),
        (370, "decoder: self attention", causal, target, target),
        (640, "decoder: source attention", np.repeat(padding, 3, axis=0), target, source),
    ):
        d.text(x - 40, 16, title, 14, "start", bold=True)
        d.labels(keys, x, 44, 46)
        d.labels(queries, x - 8, 60, 38, down=True)
        d.table(values, x, 60, (46, 38), largest=1.0, texts=[["✓" if on else "" for on in row] for row in values])
    d.note(
        236,
        "Rows are queries, columns are keys; the dot is padding. Nothing attends to padding, and no target token to",
        "later ones.",
    )
    return d.svg()


def label_smoothing(_: FunctionCaller) -> str:
    """Return the targets of a short text as heat maps, plain and smoothed."""
    tokens, answer = ("start", "end", "a", "b", "c"), (4, 3, 2, 1)
    plain = np.eye(5)[list(answer)]
    d = Diagram(660, 240)
    for x, title, targets in ((70, "plain targets", plain), (390, "smoothed by 0.1", 0.9 * plain + 0.1 / 5)):
        d.text(x, 16, title, 14, "start", bold=True)
        d.labels(tokens, x, 44, 48)
        d.labels([tokens[i] for i in answer], x - 8, 60, 38, down=True)
        d.table(targets, x, 60, (48, 38), largest=1.0, form=".2f")
    d.note(232, "Rows are the positions of the text, columns are the vocabulary.")
    return d.svg()


FIGURES = (source_masks, label_smoothing)
