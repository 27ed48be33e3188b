"""Mistakes in assignment 3 about the waves of the positions: axes that are missing, and what is computed in float32."""

from autograder.engine.diagnosis.mistake import Mistake

_TABLE = """
    powers = 10000.0 ** (np.arange(0, d_model, 2) / d_model)
    angles = {angles}
    table = np.zeros((length, d_model))
    table[:, 0::2] = np.sin(angles)
    table[:, 1::2] = np.cos(angles)
    return table
"""
_LINES_UP = (
    "Positions and columns are two different axes: one of the two vectors needs a new axis, so that every position "
    "meets every column."
)

WAVES = (
    Mistake(
        "embeddings.sinusoidal_positions",
        "new-axis-missing",
        "the positions lack a new axis: np.arange(length)[:, None]",
        _LINES_UP,
        "What is the shape of np.arange(5) / np.arange(1, 4), and what is that of np.arange(5)[:, None] / "
        "np.arange(1, 4)?",
        body=_TABLE.format(angles="np.arange(length) / powers"),
    ),
    Mistake(
        "embeddings.sinusoidal_positions",
        "new-axis-on-columns",
        "the new axis stands at the columns, not at the positions: the angles are (D / 2, T), not (T, D / 2)",
        _LINES_UP + " Here rows should be positions.",
        "Which of the two should run down the rows of the table: positions or columns?",
        body=_TABLE.format(angles="np.arange(length) / powers[:, None]"),
    ),
    Mistake(
        "embeddings.sinusoidal_positions",
        "sines-only",
        "all columns are sines: there is no cosine",
        "With sine and cosine of each frequency, moving on by k places is a rotation; with the sine alone it is not.",
        "What should row 0 of the table be, where all angles are 0?",
        edits=(("np.cos(angles", "np.sin(angles"),),
    ),
    Mistake(
        "embeddings.sinusoidal_positions",
        "axis-for-the-batch",
        "the table has an axis for the batch: (1, T, D)",
        "The docstring asks for (T, D). Broadcasting adds the axis in front by itself.",
        "What does broadcasting do with (T, D) and (B, T, D)?",
        edits=(("return table", "return table[None]"),),
    ),
    Mistake(
        "embeddings.sinusoidal_positions",
        "float32-angles",
        "the angles were computed in float32",
        "The table is float64, and only seven digits of it are right; far along a text there are still fewer, because "
        "the angles are large.",
        "Which dtype do your positions have, and which one the powers they are divided by?",
        edits=(
            (
                "np.arange(length)[:, None] / 10000.0 ** (even_columns / d_model)",
                (
                    "np.arange(length, dtype=np.float32)[:, None]"
                    " / np.float32(10000) ** (even_columns / d_model).astype(np.float32)"
                ),
            ),
        ),
    ),
    # --- one_hot
    Mistake(
        "embeddings.one_hot",
        "float32",
        "the rows are float32",
        "The docstring asks for float64.",
        "Which dtype does the docstring name?",
        edits=(("np.float64", "np.float32"),),
    ),
    Mistake(
        "embeddings.one_hot",
        "one-column-too-many",
        "the rows are one longer than the vocabulary",
        "The ids are 0 … V - 1: that is V columns.",
        "How many different ids are there in [0, V)?",
        edits=(("np.arange(vocab_size)", "np.arange(vocab_size + 1)"),),
    ),
    # --- embed
    Mistake(
        "embeddings.embed",
        "multiplied",
        "the vectors of tokens and positions were multiplied, not added",
        "A position vector with a 0 in it would wipe out that number of every token.",
        "Which operation stands between the two in the formula?",
        edits=(("* float(scale) + W_pos", "* float(scale) * W_pos"),),
    ),
    Mistake(
        "embeddings.embed",
        "scaled-by-width",
        "the token vectors were multiplied by D instead of the given scale",
        "The scale is an argument. (The 2017 transformer multiplies by √D, and that is handed in as the scale.)",
        "What does embed do with scale=2.5?",
        edits=(("float(scale)", "W_pos.shape[-1]"),),
    ),
    Mistake(
        "embeddings.embed",
        "table-in-place",
        "the table of the tokens was scaled in place",
        "`W_tok *= scale` changes the caller's table, which is then scaled again at the next call.",
        "Which of your lines write into an array that you did not make?",
        edits=(
            (
                "return embed_tokens(ids, W_tok) * float(scale)",
                "W_tok *= scale\n    return embed_tokens(ids, W_tok)",
            ),
        ),
    ),
)
