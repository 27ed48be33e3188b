"""Which entries each head gets, and which scores exist."""

import numpy as np

from autograder.courses.transformer.common.figures.maps import gpt_map
from autograder.drawing.diagram import MUTED, PAPER, PLAIN_EDGE, TINTS, Diagram
from autograder.drawing.function_caller import FunctionCaller


def split_heads(_: FunctionCaller) -> str:
    """Return how the features of all positions are cut into heads."""
    d = Diagram(860, 300)
    d.text(24, 18, "x (T, D), here D = 6", 14, "start", bold=True)
    d.text(294, 18, "reshape: (T, H, K)", 14, "start", bold=True)
    d.text(592, 18, "swap two axes: (H, T, K)", 14, "start", bold=True)

    def entries(x: float, y: float, row: int, first: int, count: int) -> None:
        for j in range(first, first + count):
            d.rect(x + 36 * (j - first), y, 34, 34, TINTS[j // 2], radius=2)
            d.text(x + 36 * (j - first) + 17, y + 17, f"{'abcd'[row]}{j}", 14)

    for t in range(4):
        d.text(12, 57 + 44 * t, str(t), 13, color=MUTED)
        entries(24, 40 + 44 * t, t, 0, 6)
        for h in range(3):
            entries(294 + 80 * h, 40 + 44 * t, t, 2 * h, 2)
            entries(592 + 84 * h, 40 + 36 * t, t, 2 * h, 2)
    for h in range(3):
        d.text(627 + 84 * h, 198, f"head {h}", 13, color=MUTED)
    d.arrow((246, 124), (284, 124))
    d.arrow((540, 124), (580, 124))
    d.note(
        238,
        "A row of x is one position; the letter is its position, the number its feature. Each head gets K = D / H = 2",
        "features of every position: a (T, K) matrix, on which attention runs as if it were alone.",
        "merge_heads goes from right to left.",
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


FIGURES = {
    "map-multihead": gpt_map("multihead"),
    "split-heads": split_heads,
    "multihead-shapes": multihead_shapes,
    "batch-rows": batch_rows,
}
