"""The maps of the models: where the function of each lesson is in a GPT, and the encoder–decoder."""

from autograder.models.lesson_figures.diagram import INK, MUTED, PAPER, PLAIN_EDGE, Diagram
from autograder.models.plots import figure

PANEL = "#fafafa"


def gpt_map(highlight: str) -> str:
    """Return the map of a GPT and its training; the parts of the assignment `highlight` are marked.

    Raises:
        ValueError: if the map has no part of this assignment.
    """
    d = Diagram(860, 616)
    is_llama = highlight == "llama"
    norm = "RMS norm" if is_llama else "layer norm"

    def part(names: str, x: float, y: float, width: float, height: float, *lines: str) -> None:
        d.box(x, y, width, height, *lines, marked=highlight in names.split())

    def panel(name: str, x: float, y: float, width: float, height: float, title: str) -> None:
        marked = highlight == name
        d.rect(x, y, width, height, "#fff3df" if marked else PANEL, figure.ORANGE if marked else PLAIN_EDGE,
               2.5 if marked else 1, 8)  # fmt: skip
        d.text(x + 12, y + 16, title, 14, "start", bold=True)

    # The model, from top to bottom.
    if highlight in ("gpt", "gpt2"):
        d.rect(22, 120, 264, 338, "#fff3df", figure.ORANGE, 2.5, 8)
    d.text(154, 16, "the text: “to be or not t”", 14)
    steps = (
        ("tokenizer bpe", 44, ("tokenizer",), "ids (B, T)"),
        ("embeddings llama", 130, ("token embeddings" if is_llama else "embeddings: token + position",), "x (B, T, D)"),
        ("blocks", 210, ("block 0",), ""),
        ("blocks", 250, ("block 1",), ""),
        ("blocks", 290, ("… N blocks",), "x (B, T, D)"),
        ("layernorm llama", 362, (norm,), ""),
        ("gpt", 412, ("output head: D → V",), "logits (B, T, V)"),
        ("softmax bigram", 484, ("softmax",), "probabilities (B, T, V)"),
        ("generation bigram", 562, ("sample the next token",), ""),
    )
    for i, (name, y, lines, shape) in enumerate(steps):
        part(name, 34, y, 240, 32, *lines)
        following = steps[i + 1][1] if i + 1 < len(steps) else None
        if following is not None:
            d.arrow((154, y + 32), (154, following))
        if shape:
            d.text(164, y + 32 + (following - y - 32) / 2 if following else y, shape, 13, "start", MUTED)
    d.arrow((154, 25), (154, 44))
    marked = highlight == "generation"
    d.arrow((34, 578), (12, 578), (12, 16), (50, 16), color=figure.ORANGE if marked else MUTED,
            width=2.5 if marked else 1.5, dashed=not marked)  # fmt: skip

    # Inside one block.
    panel("blocks", 322, 10, 246, 370, "inside one block")
    for y in (210, 242):
        d.arrow((274, y), (322, 10 if y == 210 else 380), color=MUTED, dashed=True, head=False, width=1)
    d.text(356, 50, "x", 14)
    d.arrow((356, 60), (356, 186), head=False)
    d.arrow((356, 206), (356, 332), head=False)
    d.arrow((356, 352), (356, 374))
    attention, ffn = "multi-head attention", "feed-forward network"
    if is_llama:
        attention, ffn = "rotary attention", "SwiGLU"
    for top, names in ((72, (("layernorm llama", norm), ("multihead llama", attention))),
                       (218, (("layernorm llama", norm), ("ffn llama", ffn)))):  # fmt: skip
        d.arrow((356, top), (466, top), (466, top + 12))
        part(names[0][0], 376, top + 12, 180, 32, names[0][1])
        d.arrow((466, top + 44), (466, top + 58))
        part(names[1][0], 376, top + 58, 180, 32, names[1][1])
        d.arrow((466, top + 90), (466, top + 124), (366, top + 124))
        d.circle(356, top + 124, 10, "+")
    d.text(470, 358, "x (B, T, D), as before", 13, color=MUTED)

    # Inside one head.
    panel("attention", 604, 10, 246, 370, "inside one head")
    d.arrow((556, 132), (604, 10), color=MUTED, dashed=True, head=False, width=1)
    d.arrow((556, 160), (604, 380), color=MUTED, dashed=True, head=False, width=1)
    for x, name in ((642, "q"), (702, "k"), (836, "v")):
        d.text(x, 48, name, 14)
    d.text(714, 66, "(B, H, T, K) each", 13, "start", MUTED)
    part("attention", 622, 88, 120, 32, "q kᵀ / √K")
    d.arrow((642, 58), (642, 88))
    d.arrow((702, 58), (702, 88))
    d.text(692, 134, "scores (B, H, T, T)", 13, "start", MUTED)
    d.arrow((682, 120), (682, 148))
    part("attention", 622, 148, 120, 32, "causal mask")
    d.arrow((682, 180), (682, 206))
    part("attention softmax", 622, 206, 120, 32, "softmax")
    d.text(692, 252, "weights (B, H, T, T)", 13, "start", MUTED)
    d.arrow((682, 238), (682, 270))
    part("attention", 622, 270, 222, 32, "weights v")
    d.arrow((836, 58), (836, 270))
    d.arrow((733, 302), (733, 330))
    d.text(733, 344, "out (B, H, T, K)", 13, color=MUTED)

    # Training.
    panel("training", 322, 400, 528, 206, "training")
    d.arrow((274, 440), (300, 440), (300, 466), (342, 466), head=True)
    part("softmax bigram", 342, 450, 140, 32, "cross-entropy")
    d.text(412, 434, "logits, targets (B, T)", 13, color=MUTED)
    d.arrow((482, 466), (520, 466))
    part("softmax bigram", 520, 450, 80, 32, "loss")
    d.arrow((600, 466), (650, 466))
    part("gradients bigram", 650, 440, 180, 52, "backward pass:", "gradients")
    d.arrow((740, 492), (740, 536))
    step = ("step: W − lr · dW",) if highlight == "bigram" else ("clip, learning rate,", "AdamW step")
    part("training bigram", 650, 536, 180, 52, *step)
    d.arrow((650, 562), (600, 562))
    part("training bigram", 420, 546, 180, 32, "new parameters")
    d.arrow((420, 562), (338, 562), dashed=True, color=MUTED)
    d.text(338, 532, "to every part of the model, for the next batch", 13, "start", MUTED)
    svg = d.svg()
    if figure.ORANGE not in svg:  # the color of what is marked
        raise ValueError(f"the map marks no part of {highlight}. Name it where {__name__} draws the part")
    return svg


def encoder_decoder_map() -> str:
    """Return the map of the encoder–decoder."""
    d = Diagram(860, 560)
    columns = (
        (40, "source ids (B, S)", "encoder × N", (
            ("self attention", "every position sees all"), ("add, layer norm",), ("feed-forward network",),
            ("add, layer norm",))),
        (500, "target ids (B, T)", "decoder × N", (
            ("causal self attention", "no later positions"), ("add, layer norm",),
            ("source attention", "keys, values: memory"), ("add, layer norm",), ("feed-forward network",),
            ("add, layer norm",))),
    )  # fmt: skip
    for x, ids, title, steps in columns:
        middle = x + 130
        d.text(middle, 18, ids, 14)
        d.arrow((middle, 28), (middle, 46))
        d.box(x, 46, 260, 32, "embeddings + sine positions")
        d.rect(x - 16, 98, 292, len(steps) * 58 + 32, PANEL, PLAIN_EDGE, 1, 8)
        d.text(x - 4, 114, title, 14, "start", bold=True)
        d.arrow((middle, 78), (middle, 130))
        for i, lines in enumerate(steps):
            top = 130 + i * 58
            own = "source" in lines[0] or "self" in lines[0]
            d.box(x + 10, top, 240, 40, *lines, size=13, marked=own and "source" in lines[0],
                  fill="#d6e9f8" if own else "#f0f0f0")  # fmt: skip
            if i + 1 < len(steps):
                d.arrow((middle, top + 40), (middle, top + 58))
    d.arrow((170, 344), (170, 432))
    d.text(180, 414, "x (B, S, D)", 13, "start", MUTED)
    d.box(80, 432, 180, 44, "memory", "(B, S, D)", marked=True)
    d.arrow((260, 454), (400, 454), (400, 266), (510, 266), color=figure.ORANGE, width=2.5)
    d.text(392, 286, "the same for", 13, "end", MUTED)
    d.text(392, 303, "all blocks", 13, "end", MUTED)
    d.arrow((630, 460), (630, 510))
    d.text(640, 497, "x (B, T, D)", 13, "start", MUTED)
    d.box(500, 510, 260, 40, "output head, log-softmax", size=14, fill=PAPER, edge=INK)
    d.arrow((500, 530), (440, 530))
    d.text(432, 530, "log-probabilities (B, T, Vt)", 13, "end", MUTED)
    return d.svg()
