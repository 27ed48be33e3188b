"""Shapes of tensors: which entries are where, which are read together, and in which order steps run."""

import numpy as np

from autograder.models.lesson_figures.diagram import INK, MUTED, PAPER, PLAIN, PLAIN_EDGE, TINTS, Diagram, number
from autograder.models.plot_data.function_calls import FunctionCaller
from autograder.models.plots import figure

DERIVATIVE = "#a34400"  # a darker orange, for text


def batch(functions: FunctionCaller) -> str:
    """Return windows of a text as a batch: inputs and targets."""
    text = "hello world"
    d = Diagram(860, 268)
    d.text(20, 20, "the text, with two windows of T = 4 characters", 14, "start")
    for i, char in enumerate(text):
        fill = TINTS[0] if 1 <= i < 5 else TINTS[1] if 6 <= i < 10 else PLAIN
        d.rect(20 + 44 * i, 40, 40, 40, fill)
        d.text(40 + 44 * i, 60, figure.visible_character(char), 16)
        d.text(40 + 44 * i, 94, str(i), 13, color=MUTED)
    chars, stoi, _ = functions.values("tokenizer.build_vocab", 3, text)
    shown = " ".join(map(figure.visible_character, chars))
    ids = functions.array("tokenizer.encode", (len(text),), text, stoi).astype(int)
    for left, title, shift in ((20, "x (B, T): the windows", 0), (470, "y (B, T): the targets, one later", 1)):
        d.text(left, 128, title, 14, "start", bold=True)
        for row, start in enumerate((1, 6)):
            for t in range(4):
                char = text[start + t + shift]
                x, y = left + 86 * t, 146 + 46 * row
                d.rect(x, y, 80, 40, TINTS[row])
                name = figure.visible_character(char)
                d.text(x + 40, y + 20, f"{name} → {ids[start + t + shift]}", 15)
    d.note(252, f"The id of a character is its place in the sorted vocabulary: {shown} are 0 to {len(chars) - 1}.")
    return d.svg()


def lookup(functions: FunctionCaller) -> str:
    """Return how ids pick rows of the token table, to which the rows of the position table are added."""
    token_table = np.array([[0.9, 0.1, -0.4], [-0.6, 0.8, 0.2], [0.3, -0.7, 0.5], [-0.2, -0.3, 0.9]])
    position_table = np.array([[0.0, 0.1, 0.2], [0.1, -0.1, 0.0], [-0.2, 0.2, 0.1]])
    ids = np.array([2, 0, 2])
    x = functions.array("embeddings.embed", (3, 3), ids, token_table, position_table)
    d = Diagram(860, 258)
    d.text(104, 20, "W_tok (V, D)", 14, bold=True)
    d.table(token_table, 40, 44, (56, 36), largest=1.2, form=".1f")
    d.labels([f"id {i}" for i in range(4)], 34, 44, 36, down=True)
    d.text(300, 20, "ids (T,)", 14, bold=True)
    for t, index in enumerate(ids):
        y = 44 + 36 * t
        d.rect(276, y, 48, 34, TINTS[(0, 1, 0)[t]])
        d.text(300, y + 17, str(index), 15)
        color = figure.BLUE if index == 2 else figure.ORANGE
        d.arrow((276, y + 17), (214, 61 + 36 * index), color=color)
        d.arrow((324, y + 17), (366, y + 17), color=color)
    tables = ((370, token_table[ids], "rows of W_tok"), (530, position_table, "rows of W_pos"), (690, x, "x (T, D)"))
    for left, values, title in tables:
        d.text(left + 72, 20, title, 14, bold=True)
        d.table(values, left, 44, (48, 36), largest=1.2, form=".1f")
    d.text(522, 96, "+", 20)
    d.text(682, 96, "=", 20)
    d.note(
        208,
        "The same id picks the same row, wherever it appears. Only their positions make the two vectors of token 2",
        "different: rows 0 and 2 of x are not equal.",
    )
    return d.svg()


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
    from autograder.models.plot_data.computations import LENGTH, WIDTH, WORDS, example

    q, k, v = example()
    mask = functions.array("attention.causal_mask", (LENGTH, LENGTH), LENGTH).astype(bool)
    values = functions.values("attention.attention", 2, q, k, v, mask=mask)
    out, weights = (np.asarray(value) for value in values)
    scores = q @ k.T / np.sqrt(WIDTH)
    d = Diagram(860, 560)
    features = ("article", "water", "noun", "said")
    shown = (
        (0, 0, "scores: q kᵀ / √K", scores, WORDS, None),
        (1, 0, "after the causal mask", np.where(mask, scores, -np.inf), WORDS, None),
        (0, 1, "weights: softmax of each row", weights, WORDS, 1.0),
        (1, 1, "output: weights v", out, features, None),
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


def split_heads() -> str:
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


def multihead_shapes() -> str:
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


def batch_rows() -> str:
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


def normalized_axes() -> str:
    """Return which numbers share a mean and a variance: layer norm beside batch norm."""
    d = Diagram(860, 270)
    for left, title, comment in (
        (70, "layer norm", "over each row: the D features of one token"),
        (500, "batch norm", "over each column: one feature of all tokens"),
    ):
        d.text(left, 16, title, 14, "start", bold=True)
        d.text(left, 40, "D features", 13, "start", MUTED)
        for row in range(5):
            for column in range(6):
                fill = TINTS[(row if title == "layer norm" else column) % 4]
                d.rect(left + 50 * column, 54 + 34 * row, 48, 32, fill, radius=2)
        if title == "layer norm":
            d.rect(left - 2, 86, 302, 36, "none", figure.ORANGE, 3, 3)
        else:
            d.rect(left + 48, 52, 52, 170, "none", figure.ORANGE, 3, 3)
        d.text(left, 244, comment, 13, "start")
        d.text(left - 8, 122, "B · T", 13, "end", MUTED)
        d.text(left - 8, 140, "tokens", 13, "end", MUTED)
    return d.svg()


def block_graph() -> str:
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


def kv_cache() -> str:
    """Return which keys and queries are computed for each new token, without and with a cache."""
    d = Diagram(860, 308)
    names = ("h", "e", "l", "l", "o")
    for left, title, cached in ((60, "without a cache", False), (480, "with a cache", True)):
        d.text(left, 16, title, 14, "start", bold=True)
        d.labels(names, left, 42, 56)
        for step in range(5):
            y = 58 + 38 * step
            d.text(left - 8, y + 16, f"{step + 1}", 13, "end", MUTED)
            for t in range(step + 1):
                new = not cached or t == step
                d.rect(left + 56 * t, y, 53, 34, TINTS[1] if new else PAPER, figure.ORANGE if new else PLAIN_EDGE)
                d.text(left + 56 * t + 26, y + 17, "k, v" if new else "kept", 13, color=INK if new else MUTED)
    d.note(
        270,
        "Orange: keys and values computed in this step; white: kept from earlier steps. The 15 computations become 5;",
        "for T tokens, T (T + 1) / 2 become T. The query of the last position still attends to all keys.",
    )
    return d.svg()


def tape(functions: FunctionCaller) -> str:
    """Return the computation of the lesson on gradients as a graph, with its values and derivatives."""
    steps = [("mul", (0, 1)), ("add", (3, 2)), ("tanh", (4,))]
    inputs = [np.array(value) for value in (2.0, 0.5, -0.8)]
    values = functions.call("gradients.tape_values", steps, inputs)
    # The derivative with respect to a result: the tape after it, with the result as an input.
    product, total = (
        functions.call("gradients.tape_gradients", rest, start)[0]
        for rest, start in (
            ([("add", (0, 1)), ("tanh", (2,))], [values[3], values[2]]),
            ([("tanh", (0,))], [values[4]]),
        )
    )
    derivatives = [*functions.call("gradients.tape_gradients", steps, inputs), product, total, 1.0]
    places = ((10, 20), (10, 120), (240, 170), (240, 70), (480, 120), (716, 120))
    d = Diagram(860, 250)
    for start, end in ((0, 3), (1, 3), (3, 4), (2, 4), (4, 5)):
        d.arrow((places[start][0] + 130, places[start][1] + 34), (places[end][0], places[end][1] + 34))
    names = ("w", "x", "b", "p = w · x", "s = p + b", "L = tanh(s)")
    for (x, y), name, value, derivative in zip(places, names, values, derivatives, strict=True):
        d.rect(x, y, 130, 68, TINTS[0])
        d.text(x + 65, y + 14, name, 14, bold=True)
        d.text(x + 65, y + 34, number(float(value), ".4f"), 14)
        d.text(x + 65, y + 55, number(float(derivative), ".4f"), 14, color=DERIVATIVE)
    d.text(470, 20, "black: values, computed from left to right", 13, "start")
    d.text(470, 40, "orange: how fast L changes with each, from right to left", 13, "start", DERIVATIVE)
    return d.svg()


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


def label_smoothing() -> str:
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
