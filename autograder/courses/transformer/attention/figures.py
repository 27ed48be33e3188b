"""Masks, and the example of the lesson step by step."""

import numpy as np

from autograder.courses.transformer.common.figures.diagram import MARKED, MUTED, PAPER, PLAIN, TINTS, Diagram
from autograder.drawing import figure
from autograder.drawing.function_caller import Array, FunctionCaller

WORDS = ("the", "river", "bank", "was", "green")
LENGTH, WIDTH = len(WORDS), 4


def example() -> tuple[Array, Array, Array]:
    """Return queries, keys and values made up by hand, (T, d_k) each: "bank" attends as in the picture of the lesson.

    The four features can be read as article, water, noun and what is said about the noun.
    """
    q = [[1.0, 0.0, 1.6, 0.0], [1.0, 0.5, 2.0, 0.0], [0.0, 1.3, 1.1, 1.0], [0.0, 0.0, 2.0, 0.0], [0.0, -0.5, 3.0, 1.0]]
    k = [[1.0, 0.0, 0.0, 0.0], [0.0, 2.0, 1.0, 0.0], [0.0, 0.0, 2.0, 0.0], [0.0, 0.0, 0.0, 2.0], [0.0, 0.0, 0.0, 1.0]]
    v = [[0.5, 0.0, 0.0, 0.0], [0.0, 2.0, 1.0, 0.0], [0.0, -0.5, 2.0, 0.0], [0.0, 0.0, 0.0, 1.0], [0.0, 0.5, 0.0, 2.0]]
    return np.array(q), np.array(k), np.array(v)


def masks(functions: FunctionCaller) -> str:
    """Return four masks: causal, causal with earlier keys, padding, and both combined."""
    causal = functions.array("attention.causal_mask", (4, 4), 4)
    last = functions.array("attention.causal_mask", (2, 5), 2, 5)
    keep = np.array([[True, True, True, False]])
    padding = functions.array("attention.padding_mask", (1, 1, 1, 4), keep)[0, 0]
    d = Diagram(860, 280)
    shown = (
        (causal, "causal_mask(4)", "no later keys"),
        (last, "causal_mask(2, 5)", "queries are the last 2"),
        (np.repeat(padding, 4, axis=0), "padding_mask", "key 3 is padding*"),
        (causal * padding, "causal & padding", "where both allow it"),
    )
    for i, (values, title, comment) in enumerate(shown):
        x, y, cell = 44 + 212 * i, 62, 32
        d.text(x + 72, 16, title, 14, bold=True)
        texts = [["✓" if allowed else "" for allowed in row] for row in values]
        first = values.shape[1] - values.shape[0]
        d.labels([str(j) for j in range(values.shape[1])], x, 50, cell, color=MUTED)
        d.labels([str(first + j) for j in range(len(values))], x - 8, y, cell, down=True, color=MUTED)
        d.table(values, x, y, cell, largest=1.0, texts=texts)
        d.text(x + 72, 34, "key", 13, color=MUTED)
        d.text(x + 72, 212, comment, 13, color=MUTED)
    d.note(
        244,
        "Rows are queries, columns are keys. Blue with ✓: True, the query may attend to the key.",
        "* The function returns a single row for each text; broadcasting repeats it for every query.",
        x=44,
    )
    return d.svg()


def attention_steps(functions: FunctionCaller) -> str:
    """Return the example of the lesson: scores, mask, weights and output."""
    q, k, v = example()
    mask = functions.array("attention.causal_mask", (LENGTH, LENGTH), LENGTH).astype(bool)
    values = functions.values("attention.attention", 2, q, k, v, mask=mask)
    out, weights = (np.asarray(value) for value in values)
    scores = q @ k.T / np.sqrt(WIDTH)
    d = Diagram(860, 560)
    features = ("article", "water", "noun", "said")
    shown = (
        (0, 0, "1. scores: q kᵀ / √K", scores, WORDS, None),
        (1, 0, "2. after the causal mask", np.where(mask, scores, -np.inf), WORDS, None),
        (0, 1, "3. weights: softmax of each row", weights, WORDS, 1.0),
        (1, 1, "4. output: weights v", out, features, None),
    )
    for column, row, title, table, names, largest in shown:
        x, y = 74 + 440 * column, 56 + 278 * row
        wide = 64 if names is WORDS else 80
        d.text(x, y - 40, title, 14, "start", bold=True)
        d.labels(names, x, y - 14, wide)
        d.labels(WORDS, x - 8, y, 38, down=True)
        d.table(table, x, y, (wide, 38), largest=largest, form=".2f")
    for left, top in ((74, 334), (514, 334)):
        d.rect(left - 2, top + 74, 322, 41, "none", figure.ORANGE, 3, 3)
    d.note(
        544,
        "The row of “bank”: 0.1 × “the” + 0.6 × “river” + 0.3 × its own value. Now its vector says water, too.",
        x=74,
    )
    return d.svg()


def causal_sentence(functions: FunctionCaller) -> str:
    """Return the keys that each word of the sentence may attend to, with the weights of the example."""
    mask = functions.array("attention.causal_mask", (LENGTH, LENGTH), LENGTH).astype(bool)
    weights = np.asarray(functions.values("attention.attention", 2, *example(), mask=mask)[1])
    d = Diagram(860, 330)
    for y, name in ((34, "query"), (150, "keys"), (304, "weights")):
        d.text(20, y, name, 13, "start", MUTED)
    for t, word in enumerate(WORDS):
        d.frame(word)
        for j, other in enumerate(WORDS):
            x = 100 + 150 * j
            d.box(x, 16, 110, 36, other, fill=MARKED if j == t else PAPER)
            d.box(x, 132, 110, 36, other if mask[t, j] else "hidden", fill=TINTS[0] if mask[t, j] else PLAIN)
            if mask[t, j]:
                d.arrow((155 + 150 * t, 52), (x + 55, 132), color=figure.BLUE, width=1.5 + 5 * weights[t, j])
        d.bars(weights[t], 80, 304, 150, 90, figure.BLUE)
    return d.svg("query")


def scaling(functions: FunctionCaller) -> str:
    """Return the weights of a random query for five random keys with more and more features."""
    draws = np.random.default_rng(1).standard_normal((6, 1024))
    d = Diagram(860, 250)
    for width in (1, 4, 16, 64, 256, 1024):
        d.frame(str(width))
        q, k = draws[:1, :width], draws[1:, :width]
        for x, factor, color, root in ((40, 1.0, figure.BLUE, " / √K"), (460, width**0.5, figure.ORANGE, "")):
            d.text(x + 190, 18, f"K = {width}: softmax(q kᵀ{root})", 14, bold=True)
            weights = functions.values("attention.attention", 2, factor * q, k, k)[1]
            d.bars(np.asarray(weights)[0], x, 220, 76, 170, color)
    return d.svg("K")


FIGURES = (masks, attention_steps, causal_sentence, scaling, "attention-queries")
