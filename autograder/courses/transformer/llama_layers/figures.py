"""Pictures of the layers of Llama: arrows that turn with the position, and heads that share keys and values."""

import numpy as np

from autograder.courses.transformer.common.figures.diagram import MUTED, PAPER, PLAIN_EDGE, TINTS, Diagram
from autograder.drawing import figure
from autograder.drawing.function_caller import FunctionCaller

QUERY, KEY, PALE = figure.BLUE, figure.ORANGE, "#b5d5ea"


def _dial(d: Diagram, x: float, y: float, radius: float) -> None:
    """Draw a circle with its two axes."""
    d.circle(x, y, radius, fill=PAPER, edge=PLAIN_EDGE)
    for dx, dy in ((radius, 0.0), (0.0, radius)):
        d.arrow((x - dx, y - dy), (x + dx, y + dy), color="#d9d9d9", width=1, head=False)


def _hand(d: Diagram, x: float, y: float, arrow: np.ndarray, radius: float, color: str) -> None:
    """Draw an arrow of length 1 from the center of a dial; y points up."""
    d.arrow((x, y), (x + radius * float(arrow[0]), y - radius * float(arrow[1])), color=color, width=2.5)


def rope_distance(functions: FunctionCaller) -> str:
    """Return a query and a key before they turn, turned, both moved on by 3, and only the query moved on."""
    q, k = np.array([[1.0, 0.0]]), np.array([[0.6, 0.8]])
    d = Diagram(860, 284)
    steps = ("1. not turned", "2. turned", "3. both moved on by 3", "4. key back at 3")
    for i, (m, n) in enumerate(((0, 0), (5, 3), (8, 6), (8, 3))):
        x, y, radius = 120 + 208 * i, 130, 74
        query, key = (
            functions.array("llama_layers.rope", (1, 2), vector, np.array([at]))[0] for vector, at in ((q, m), (k, n))
        )
        _dial(d, x, y, radius)
        _hand(d, x, y, key, radius, KEY)
        _hand(d, x, y, query, radius, QUERY)
        start, angle = np.arctan2(query[1], query[0]), np.arctan2(query[0] * key[1] - query[1] * key[0], query @ key)
        arc = [(x + 24 * float(np.cos(a)), y - 24 * float(np.sin(a))) for a in start + np.linspace(0, angle, 17)]
        d.arrow(*arc, head=False)
        d.text(x, 16, steps[i], 14, bold=True)
        d.text(x, 38, f"query at {m}, key at {n}", 13)
        d.text(x, 228, f"{abs(np.degrees(angle)):.0f}°, q · k = {float(query @ key):.4f}".replace("-", "−"), 14)
    d.note(
        264, "Blue: the query (1, 0), orange: the key (0.6, 0.8), each turned by one radian for each position.", x=46
    )
    return d.svg()


def rope_pairs(functions: FunctionCaller) -> str:
    """Return the pairs of a vector with K = 8 as arrows, which turn from position 0 to 8 at four speeds."""
    size, length = 8, 9
    x = np.repeat([1.0, 0.0], size // 2)[None].repeat(length, axis=0)  # each pair is (1, 0)
    turned = functions.array("llama_layers.rope", x.shape, x, np.arange(length))
    d = Diagram(860, 290)
    for i in range(size // 2):
        d.text(115 + 210 * i, 18, f"pair {i}: entries {i} and {i + size // 2}", 14, bold=True)
        d.text(115 + 210 * i, 40, f"{10000.0 ** (-2 * i / size):g} radians per position", 13, color=MUTED)
        _dial(d, 115 + 210 * i, 142, 84)
        for t in range(length):
            _hand(d, 115 + 210 * i, 142, turned[t, [i, i + size // 2]], 84, PALE)
    d.note(270, "K = 8, base 10,000. Each pair is (1, 0) at position 0. Pale: all positions from 0 to 8.")
    for t in range(length):
        d.frame(str(t))
        for i in range(size // 2):
            _hand(d, 115 + 210 * i, 142, turned[t, [i, i + size // 2]], 84, figure.BLUE)
    return d.svg("position")


def shared_heads(_: FunctionCaller) -> str:
    """Return which head of the queries uses which head of the keys and values."""
    d = Diagram(860, 292)
    for left, title, groups in (
        (20, "multi-head: G = H = 6", 6),
        (310, "grouped-query: G = 2", 2),
        (600, "multi-query: G = 1", 1),
    ):
        d.text(left, 16, title, 14, "start", bold=True)
        each = 6 // groups
        for j in range(groups):
            x = left + 40 * (j * each + (each - 1) / 2)
            for row, name in enumerate(("k", "v")):
                d.box(x, 176 + 38 * row, 36, 34, f"{name}{j}", size=13, fill=TINTS[j % 4])
            for h in range(j * each, (j + 1) * each):
                d.arrow((left + 40 * h + 18, 80), (x + 18, 176), color=MUTED)
        for h in range(6):
            d.box(left + 40 * h, 46, 36, 34, f"q{h}", size=13, fill=TINTS[h // each % 4])
    d.note(272, "Each head of queries uses the keys and values that its arrow leads to. Only k and v have to be kept.")
    return d.svg()


FIGURES = (rope_distance, rope_pairs, shared_heads)
