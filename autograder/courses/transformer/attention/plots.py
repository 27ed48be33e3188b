"""Panels of the plots: the example of the lesson step by step, and the distribution of each query."""

import math
from functools import partial

import numpy as np

from autograder.courses.transformer.attention.figures import LENGTH, WIDTH, WORDS, example
from autograder.drawing import panels
from autograder.drawing.function_caller import Array, FunctionCaller, drawable
from autograder.drawing.panels import Panels


def attention(functions: FunctionCaller) -> tuple[Array, Array, Array, Array]:
    """Return scores, masked scores and weights of the example, (T, T), and its output, (T, d_v)."""
    q, k, v = example()
    mask = functions.array("attention.causal_mask", (LENGTH, LENGTH), LENGTH)
    values = functions.values("attention.attention", 2, q, k, v, mask=mask.astype(bool))
    out = drawable(values[0], (LENGTH, WIDTH), "attention.attention")
    weights = drawable(values[1], (LENGTH, LENGTH), "attention.attention")
    scores = q @ k.T / math.sqrt(WIDTH)
    return scores, np.where(mask > 0, scores, -np.inf), weights, out


def steps(functions: FunctionCaller, text: str | None) -> Panels:
    """Return scores, masked scores, weights and output."""
    scores, masked, weights, out = attention(functions)
    largest = float(np.abs(scores).max())
    words = partial(panels.heatmap, y_names=WORDS, texts=True)
    scale, shares = panels.Scale("score", True, (-largest, largest)), panels.Scale("weight", limits=(0.0, 1.0))
    return 2, [
        words("scores: q kᵀ / √d_k", "key", "query", scores, scale, x_names=WORDS),
        words("after the mask", "key", "query", masked, scale, x_names=WORDS),
        words("weights: softmax of each row", "key", "query", weights, shares, x_names=WORDS),
        words("output: weights times v", "feature", "query", out, panels.Scale("value", signed=True)),
    ]


def queries(functions: FunctionCaller, text: str | None) -> Panels:
    """Return the weights, a panel for each query."""
    _, _, weights, _ = attention(functions)
    y = panels.spanning("attention weight", 0, 1, weights)
    drawn = [panels.bars(f"query “{word}”", "key", WORDS, y, row) for word, row in zip(WORDS, weights, strict=True)]
    return len(WORDS), drawn
