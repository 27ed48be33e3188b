"""Byte-pair encoding: the symbols of bytes, the merges of a word, and what makes it fast."""

from itertools import pairwise

import numpy as np

from autograder.courses.transformer.common.figures.diagram import INK, MUTED, TINTS, Diagram
from autograder.drawing import figure
from autograder.drawing.function_caller import FunctionCaller

WORDS = 5 * " low" + 2 * " lower" + 6 * " newest" + 3 * " widest"  # the example of the lesson
WORD = " lowest"
# Measured on tinyshakespeare (1,115,394 characters) with the official functions and GPT-2's merges, on one core. The
# naive way was timed for three merges of 50,000.
PIECES, DIFFERENT_PIECES = 297_833, 15_057
SECONDS = (
    ("a pass over the text for each merge", 17_300, "4.8 hours"),
    ("the lowest rank, in each piece", 2.0, "2.0 seconds"),
    ("the same, each different piece once", 0.6, "0.6 seconds"),
)


def byte_table(functions: FunctionCaller) -> str:
    """Return the symbols of the 256 bytes, with those that are not shown as themselves marked."""
    symbols = functions.call("bpe.byte_symbols")
    d = Diagram(860, 500)
    d.text(70, 16, "byte = row + column", 14, "start", bold=True)
    d.labels([str(column) for column in range(16)], 70, 40, 47, color=MUTED)
    d.labels([str(16 * row) for row in range(16)], 60, 54, 25, down=True, color=MUTED)
    texts = [[symbols[16 * row + column] for column in range(16)] for row in range(16)]
    itself = np.array([ord(symbols[byte]) == byte for byte in range(256)]).reshape(16, 16)
    d.table(np.where(itself, 1, -1), 70, 54, (47, 25), largest=6.0, texts=texts)
    others = sum(ord(symbol) != byte for byte, symbol in symbols.items())
    d.note(
        472,
        f"Blue: the {256 - others} bytes shown as the character with the same code point. Orange: the other {others}.",
        x=70,
    )
    return d.svg()


def bpe_tree(functions: FunctionCaller) -> str:
    """Return the merges of one word as a tree, the symbols at the bottom."""
    symbols = functions.call("bpe.byte_symbols")
    ranks = {tuple(pair): rank for rank, pair in enumerate(functions.call("bpe.train_bpe", WORDS, 268))}
    leaves = [symbols[byte] for byte in WORD.encode("utf-8")]
    step, level, bottom = 92.0, 56.0, 234.0
    d = Diagram(860, 306)
    nodes = [(token, 130 + step * i, bottom) for i, token in enumerate(leaves)]
    for token, x, y in nodes:
        _node(d, token, x, y)
    count = 0
    while True:
        found = [
            (ranks[left[0], right[0]], i)
            for i, (left, right) in enumerate(pairwise(nodes))
            if (left[0], right[0]) in ranks
        ]
        if not found:
            break
        rank, i = min(found)
        left, right = nodes[i], nodes[i + 1]
        x, y = (left[1] + right[1]) / 2, min(left[2], right[2]) - level
        for child in (left, right):
            d.arrow((x, y + 16), (child[1], child[2] - 16), head=False)
        nodes[i : i + 2] = [(left[0] + right[0], x, y)]
        count += 1
        _node(d, left[0] + right[0], x, y, f"rank {rank}")
    for _, x, y in nodes:
        d.rect(x - 36, y - 16, 72, 32, "none", figure.ORANGE, 2.5)
        d.text(x, y - 30, "token", 13, color=MUTED)
    d.note(
        276,
        f"The pairs are merged in the order of their ranks, 0 to {count - 1}. The two tokens at the top are left,",
        "because no learned pair consists of both.",
        x=60,
    )
    return d.svg()


def _node(d: Diagram, token: str, x: float, y: float, comment: str = "") -> None:
    d.rect(x - 36, y - 16, 72, 32, TINTS[1] if comment else TINTS[0], INK, 1)
    d.text(x, y, token, 15)
    if comment:
        d.text(x + 42, y, comment, 13, "start", MUTED)


def bpe_speed(_: FunctionCaller) -> str:
    """Return how few different pieces a text has, and how long three ways to encode it take."""
    d = Diagram(860, 300)
    d.text(20, 18, "pieces of 1,115,394 characters of Shakespeare", 14, "start", bold=True)
    for row, (label, number) in enumerate((("all", PIECES), ("different ones", DIFFERENT_PIECES))):
        _bar(d, 34 + 38 * row, label, 380 * number / PIECES, f"{number:,}", figure.BLUE)
    d.text(20, 142, "time to encode them with GPT-2's 50,000 merges", 14, "start", bold=True)
    for row, (label, seconds, text) in enumerate(SECONDS):
        _bar(d, 158 + 38 * row, label, 80 * (1 + np.log10(seconds)), text, figure.ORANGE)
    d.note(286, "The bars of the times are logarithmic.")
    return d.svg()


def _bar(d: Diagram, y: float, label: str, length: float, text: str, color: str) -> None:
    d.text(300, y + 14, label, 14, "end")
    d.rect(310, y, length, 28, color, INK, 0.5, 2)
    d.text(318 + length, y + 14, text, 14, "start")


FIGURES = (byte_table, bpe_tree, bpe_speed)
