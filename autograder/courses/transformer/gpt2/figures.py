"""The pictures of the lesson on GPT-2: where the tensors of a checkpoint go, and what is read for each token."""

from autograder.courses.transformer.common.figures.diagram import INK, MUTED, PAPER, PLAIN_EDGE, TINTS, Diagram
from autograder.drawing.function_caller import FunctionCaller

# The tensors of a checkpoint in the order of the computation: name, shape, the name in the course; by their part.
TENSORS = (
    ("before the blocks", TINTS[0], (
        ("wte.weight", "(V, D)", "W_tok"), ("wpe.weight", "(block_size, D)", "W_pos"))),
    ("block i: attention", TINTS[1], (
        ("h.{i}.ln_1.weight, .bias", "(D,)", "ln1.gamma, ln1.beta"),
        ("h.{i}.attn.c_attn.weight", "(D, 3D)", "attn.W_qkv: q | k | v"),
        ("h.{i}.attn.c_attn.bias", "(3D,)", "attn.b_qkv"),
        ("h.{i}.attn.c_proj.weight", "(D, D)", "attn.W_o"), ("h.{i}.attn.c_proj.bias", "(D,)", "attn.b_o"))),
    ("block i: feed-forward", TINTS[2], (
        ("h.{i}.ln_2.weight, .bias", "(D,)", "ln2.gamma, ln2.beta"),
        ("h.{i}.mlp.c_fc.weight", "(D, F)", "ffn.W_1"), ("h.{i}.mlp.c_fc.bias", "(F,)", "ffn.b_1"),
        ("h.{i}.mlp.c_proj.weight", "(F, D)", "ffn.W_2"), ("h.{i}.mlp.c_proj.bias", "(D,)", "ffn.b_2"))),
    ("after the blocks", TINTS[0], (("ln_f.weight, .bias", "(D,)", "ln_f.gamma, ln_f.beta"),)),
)  # fmt: skip
SPECIAL = (
    ("lm_head.weight", "(V, D)", "W_head, transposed; none if it is tied"),
    ("h.{i}.attn.bias, .masked_bias", "buffers", "left out"),
)


def checkpoint_tensors(_: FunctionCaller) -> str:
    """Return the tensors of a GPT-2 checkpoint beside the parameters of the course."""
    d, y = Diagram(860, 560), 40
    d.text(300, 16, "in model.safetensors (also with transformer. in front)", 14, bold=True)
    d.text(690, 16, "in your params", 14, bold=True)
    for part, tint, rows in TENSORS:
        d.text(146, y + 15 * len(rows) - 2, part, 13, "end", MUTED)
        for name, shape, ours in rows:
            _row(d, y, name, shape, ours, tint)
            y += 30
        y += 12
    for name, shape, ours in SPECIAL:
        _row(d, y, name, shape, ours, PAPER, dashed=True)
        y += 30
    return d.svg()


def _row(d: Diagram, y: float, name: str, shape: str, ours: str, fill: str, dashed: bool = False) -> None:
    d.rect(156, y, 330, 26, fill, PLAIN_EDGE, -1 if dashed else 1)
    d.text(168, y + 13, name, 13, "start")
    d.text(474, y + 13, shape, 13, "end", MUTED)
    d.arrow((490, y + 13), (528, y + 13), color=MUTED if dashed else INK, dashed=dashed)
    d.rect(532, y, 318, 26, fill, PLAIN_EDGE, -1 if dashed else 1)
    d.text(544, y + 13, ours, 13, "start")


def bytes_per_token(_: FunctionCaller) -> str:
    """Return what GPT-2 small reads to compute one token, with an empty cache and with a full window."""
    width, layers, ffn, vocabulary, window = 768, 12, 3072, 50257, 1024
    attention = 4 * layers * (width * 3 * width + 3 * width + width * width + width)
    feed_forward = 4 * layers * (2 * width * ffn + ffn + width)
    parts = [("attention", attention, TINTS[1]), ("feed-forward networks", feed_forward, TINTS[2]),
             ("head", 4 * vocabulary * width, TINTS[0])]  # fmt: skip
    norms = 4 * (2 * layers + 1) * 2 * width
    cache = ("keys, values", 4 * 2 * layers * width * window, TINTS[3])
    d, scale = Diagram(860, 208), 1.32e-6
    for y, title, shown in ((44, "the first token: an empty cache", parts),
                            (126, f"token {window:,}: a full window", [*parts, cache])):  # fmt: skip
        x = 20.0
        d.text(x, y - 16, title, 14, "start", bold=True)
        for name, size, tint in shown:
            d.rect(x, y, scale * size, 46, tint, PLAIN_EDGE, radius=0)
            d.text(x + scale * size / 2, y + 14, name, 13)
            d.text(x + scale * size / 2, y + 32, f"{size / 1e6:.0f} MB", 13)
            x += scale * size
        d.text(x + 10, y + 23, f"{(norms + sum(size for _, size, _ in shown)) / 1e6:.0f} MB", 14, "start", bold=True)
    d.note(194, "The layer norms (0.15 MB) and one row of each table are too small to show.")
    return d.svg()


FIGURES = (checkpoint_tensors, bytes_per_token)
