"""Which entries each head gets, and which scores exist."""

import numpy as np

from autograder.courses.transformer.common.figures.diagram import MARKED_EDGE, MUTED, PAPER, PLAIN_EDGE, TINTS, Diagram
from autograder.drawing.function_caller import FunctionCaller


def split_heads(_: FunctionCaller) -> str:
    """Return how q is projected from all features of x, then cut into heads, which attend apart."""
    d = Diagram(860, 540)

    def entries(x: float, y: float, row: int, first: int, count: int) -> None:
        for j in range(first, first + count):
            d.rect(x + 36 * (j - first), y, 34, 34, TINTS[j // 2], radius=2)
            d.text(x + 36 * (j - first) + 17, y + 17, f"{'abcd'[row]}{j}", 14)

    d.text(24, 18, "1. project: q = x W_q, here D = 6", 14, "start", bold=True)
    for name, x, rows, step in (("x (T, D)", 60, 4, 36), ("W_q (D, D)", 318, 6, 24)):
        d.text(x + 3 * step, 46, name, 13, color=MUTED)
        for t, j in np.ndindex(rows, 6):
            fill = PAPER if rows == 4 else TINTS[j // 2]
            d.rect(x + step * j, 62 + step * t, step - 2, step - 2, fill, radius=2)
    d.text(297, 133, "×", 20)
    d.text(488, 133, "=", 20)
    d.text(624, 46, "q (T, D)", 13, color=MUTED)
    d.text(24, 240, "2. reshape: (T, H, K), here K = 2", 14, "start", bold=True)
    d.text(480, 240, "3. swap two axes: (H, T, K)", 14, "start", bold=True)
    d.text(480, 444, "4. attention, in each head alone", 14, "start", bold=True)
    for t in range(4):
        d.text(44, 79 + 36 * t, "abcd"[t], 13, color=MUTED)
        d.text(44, 277 + 44 * t, "abcd"[t], 13, color=MUTED)
        d.rect(56, 258 + 44 * t, 270, 40, "none", radius=3)
        entries(516, 62 + 36 * t, t, 0, 6)
        for h in range(3):
            entries(60 + 96 * h, 261 + 44 * t, t, 2 * h, 2)
            entries(499 + 120 * h, 264 + 36 * t, t, 2 * h, 2)
    for h in range(3):
        d.rect(495 + 120 * h, 260, 78, 150, "none", radius=3)
        d.arrow((534 + 120 * h, 410), (534 + 120 * h, 428))
        d.box(480 + 120 * h, 462, 108, 60, f"head {h}", "weights (T, T)", "out (T, K)", fill=TINTS[h], size=13)
    d.arrow((346, 336), (474, 336))
    for x, y, width, height in ((58, 132, 218, 38), (388, 60, 26, 146), (622, 132, 38, 38)):
        d.rect(x, y, width, height, "none", MARKED_EDGE, 3, 3)
    d.text(744, 98, "c3 reads all of", 13, "start", MUTED)
    d.text(744, 116, "row c of x, and", 13, "start", MUTED)
    d.text(744, 134, "column 3 of W_q", 13, "start", MUTED)
    d.note(
        470,
        "A letter is a position, a number is a feature of q, a color is a head.",
        "x is never cut: each head owns columns of W_q, which read",
        "every feature of x. W_k and W_v make k and v in the same way.",
    )
    return d.svg()


def multihead_shapes(_: FunctionCaller) -> str:
    """Return the steps of multi-head attention with the shape after each."""
    d = Diagram(860, 330)
    d.box(20, 126, 110, 44, "x", "(B, T, D)", fill=PAPER)
    for i, (name, tint) in enumerate(zip("qkv", TINTS, strict=False)):
        y = 40 + 86 * i
        d.arrow((130, 148), (158, 148), (158, y + 22), (180, y + 22))
        d.box(180, y, 150, 44, f"x W_{name}", "(B, T, D)", fill=tint)
        d.arrow((330, y + 22), (362, y + 22))
        d.box(362, y, 150, 44, f"{name}: split_heads", "(B, H, T, K)", fill=tint)
        d.arrow((512, y + 22), (548, 148 if i == 1 else 126 if i == 0 else 170))
    for shift in (12, 6, 0):
        d.rect(548 + shift, 106 - shift, 122, 84, PAPER, PLAIN_EDGE)
    d.text(609, 136, "attention", 14)
    d.text(609, 156, "once for", 13, color=MUTED)
    d.text(609, 174, "each head", 13, color=MUTED)
    d.arrow((682, 148), (716, 148))
    d.box(716, 126, 130, 44, "merge_heads", "(B, T, D)", fill=PAPER)
    d.arrow((781, 170), (781, 222))
    d.box(716, 222, 130, 44, "times W_o", "out (B, T, D)", fill=PAPER)
    d.text(699, 84, "(B, H, T, K)", 13, color=MUTED)
    d.text(255, 14, "W_qkv (D, 3D) holds all three", 13, color=MUTED)
    d.note(312, "The leading axes (B, H) stay: NumPy does one matrix product for each of the B · H heads.")
    return d.svg()


def batch_rows(_: FunctionCaller) -> str:
    """Return why the rows of a batch never see each other: scores exist within each text only."""
    d = Diagram(860, 312)
    texts = (("the", "cat", "sat"), ("we", "are", "here"))
    for b, words in enumerate(texts):
        y = 52 + 140 * b
        d.text(14, y - 12, f"text {b}", 13, "start", bold=True)
        d.labels(words, 104, y - 12, 52)
        d.table(np.ones((3, 3)) * 0.25, 104, y, (52, 34), largest=1.0)
        d.labels(words, 96, y, 34, down=True)
    d.text(182, 14, "scores (B, T, T)", 14, bold=True)
    d.text(538, 14, "the same as one (BT, BT) table", 14, bold=True)
    left, top, cell = 400, 52, 38
    allowed = np.kron(np.eye(2), np.ones((3, 3)))
    names = [word for words in texts for word in words]
    d.labels(names, left, top - 12, 46)
    d.labels(names, left - 6, top, cell, down=True)
    d.table(np.where(allowed > 0, 0.25, np.nan), left, top, (46, cell), largest=1.0,
            texts=[["" if allowed[i, j] else "–" for j in range(6)] for i in range(6)])  # fmt: skip
    d.text(692, 92, "q kᵀ multiplies", 13, "start", MUTED)
    d.text(692, 110, "within a text.", 13, "start", MUTED)
    d.text(692, 186, "The gray scores are", 13, "start", MUTED)
    d.text(692, 204, "never computed: no", 13, "start", MUTED)
    d.text(692, 222, "mask is needed.", 13, "start", MUTED)
    return d.svg()


FIGURES = (split_heads, multihead_shapes, batch_rows)
