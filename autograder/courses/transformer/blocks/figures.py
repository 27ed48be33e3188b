"""The computation graph of a block, one token on the stream, and the variance of the stream."""

import numpy as np

from autograder.courses.transformer.common.figures.diagram import INK, MUTED, TINTS, Diagram
from autograder.courses.transformer.common.figures.small_svg import small_svg
from autograder.courses.transformer.common.figures.trained_model import measured
from autograder.drawing import figure
from autograder.drawing.function_caller import FunctionCaller


def block_graph(_: FunctionCaller) -> str:
    """Return the computation graph of one block, with the gradient that comes back along each edge."""
    d = Diagram(860, 330)
    y = 150
    d.circle(50, y, 22, "x", fill=TINTS[0])
    for i, (left, norm, step, name) in enumerate(((80, "ln1", "attention", "a"), (440, "ln2", "ffn", "y"))):
        right = left + 330
        d.arrow((left - 8, y), (right - 40, y))
        d.text(left + 132, y - 12, "the stream passes unchanged", 13, color=MUTED)
        d.arrow((left + 8, y), (left + 8, 72), (left + 36, 72))
        d.box(left + 36, 52, 64, 40, norm)
        d.arrow((left + 100, 72), (left + 134, 72))
        d.box(left + 134, 52, 110, 40, step)
        d.arrow((left + 244, 72), (right - 26, 72), (right - 26, y - 14))
        d.circle(right - 26, y, 14, "+")
        if i == 0:
            d.arrow((right - 12, y), (left + 352, y), head=False)
            d.text(right + 4, y - 14, name, 14, bold=True)
    d.arrow((758, y), (792, y))
    d.circle(814, y, 22, "y", fill=TINTS[0])
    d.text(20, 20, "forward, from left to right: a = x + attention(ln1(x)),  y = a + ffn(ln2(a))", 14, "start")
    back = 250
    color = figure.ORANGE
    d.text(20, 206, "backward, from right to left: every + copies the gradient to both of its inputs", 14, "start")
    d.text(820, back, "dy", 15, color=INK)
    for right, names, label in ((800, "ffn, ln2", "da"), (430, "attention, ln1", "dx")):
        left = right - 330
        d.arrow((right, back), (left, back), color=color, width=2)
        d.arrow((right - 50, back), (right - 50, back + 44), (right - 74, back + 44), color=color, width=2)
        d.box(right - 264, back + 27, 190, 34, f"{names} backward")
        d.arrow((right - 264, back + 44), (left + 28, back + 44), (left + 28, back + 12), color=color, width=2)
        d.circle(left + 28, back, 12, "+", edge=color)
        d.text(left - 20, back, label, 15)
    return d.svg()


def stream_steps(functions: FunctionCaller) -> str:
    """Return one token's vector on its way through two blocks with random weights, and what each step adds."""
    rng = np.random.default_rng(0)
    x, mask = rng.normal(size=(1, 4, 8)), functions.array("attention.causal_mask", (4, 4), 4).astype(bool)
    stream = [x[0, -1]]
    for _ in range(2):
        params = {
            f"ln{i}.{name}": value for i in (1, 2) for name, value in (("gamma", np.ones(8)), ("beta", np.zeros(8)))
        }
        for name, shape in (("attn.W_qkv", (8, 24)), ("attn.W_o", (8, 8)), ("ffn.W_1", (8, 32)), ("ffn.W_2", (32, 8))):
            params[name] = rng.normal(size=shape) / np.sqrt(shape[0])
        x, cache = functions.values("blocks.block", 2, x, params, 2, mask=mask)
        stream += [np.asarray(cache[step])[0, -1] for step in ("after_attention", "after_ffn")]
    d = Diagram(860, 496)
    d.text(24, 18, "what each step adds", 14, "start", bold=True)
    d.text(488, 18, "the stream at the last token", 14, "start", bold=True)
    names = ("attention of block 0", "ffn of block 0", "attention of block 1", "ffn of block 1")
    largest = float(np.abs(stream).max())
    for i, vector in enumerate(stream):
        y = 62 + 84 * i
        d.text(488, y - 14, f"{i + 1}. after the {names[i - 1] if i else 'embedding'}", 13, "start")
        d.table([vector], 488, y, (45, 34), largest=largest, form=".2f")
        if i:
            d.text(24, y - 14, names[i - 1], 13, "start")
            d.table([np.round(vector - stream[i - 1], 2) + 0.0], 24, y, (45, 34), largest=largest, form=".2f")
            d.arrow((388, y + 17), (418, y + 17))
            before = ((486, y - 67), (430, y - 67)) if i == 1 else ((430, y - 55),)
            d.arrow(*before, (430, y + 5))
            d.arrow((442, y + 17), (486, y + 17))
            d.circle(430, y + 17, 12, "+")
    d.note(
        460,
        'Computed with a random embedding and random weights, D = 8, H = 2, norm="pre"; rounded to two digits.',
        "Nothing is overwritten: vector 5 is vector 1 plus the four vectors on the left.",
        x=24,
    )
    return d.svg()


def stream_variance(_: FunctionCaller) -> str:
    """Return the variance of the residual stream after each step, and of what the step added."""
    seen = measured()
    fig, [[panel]] = figure.subplots("Variance of the residual stream, and of what is added to it", size=(9, 4.2))
    at = np.arange(len(seen["stages"]))
    panel.plot(at, seen["stream_variance"], "o-", color=figure.BLUE, label="the stream, trained")
    panel.plot(at, seen["new_stream_variance"], "o--", color=figure.BLACK, label="the stream, untrained")
    for start, color, marker, label in (
        (0, figure.GREEN, "s", "attention output, trained"),
        (1, figure.ORANGE, "D", "feed-forward output, trained"),
    ):
        panel.plot(at[1 + start :: 2], seen["added_variance"][start::2], marker, color=color, markersize=9, label=label)
    figure.log_scale(panel)
    figure.label_axes(panel, "after block and step", "variance over the features (log scale)")
    figure.tick_labels(panel, seen["stages"], x=True)
    panel.legend(frameon=False)
    return small_svg(fig)


FIGURES = (block_graph, stream_steps, stream_variance)
