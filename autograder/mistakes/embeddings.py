"""Mistakes in assignment 3: embeddings and positions."""

from autograder.mistakes import Mistake

MISTAKES = (
    # --- one_hot
    Mistake(
        "embeddings.one_hot",
        "booleans",
        "the result is boolean",
        "True and False have the right pattern, but a matrix product with them is not what it should be.",
        "What does a comparison return? What dtype does the docstring ask for?",
        edits=((".astype(np.float64)", ""),),
        common=True,
    ),
    Mistake(
        "embeddings.one_hot",
        "integers",
        "the result holds integers, not floats",
        "The numbers are right; the dtype is not, and it spreads to whatever is computed with them.",
        "What dtype has your array, and what dtype does the docstring ask for?",
        edits=((".astype(np.float64)", ".astype(np.int64)"),),
        common=True,
    ),
    Mistake(
        "embeddings.one_hot",
        "as-wide-as-the-largest-id",
        "a row is only as long as the largest id needs",
        "Two texts then have rows of different lengths, depending on which characters happen to occur.",
        "How many columns are there for a text in which the last characters of the vocabulary do not occur?",
        edits=(("np.arange(vocab_size)", "np.arange(ids.max() + 1)"),),
    ),
    Mistake(
        "embeddings.one_hot",
        "one-based",
        "the columns were numbered from 1",
        "Every 1 stands one place too far to the left, and id 0 has none at all.",
        "In which column should the 1 stand for id 0?",
        edits=(("np.arange(vocab_size)", "np.arange(1, vocab_size + 1)"),),
    ),
    Mistake(
        "embeddings.one_hot",
        "new-axis-first",
        "the new axis comes first, not last",
        "The rows that belong to the tokens now stand along the wrong axis.",
        "Which index of the result says which token it is, and which says which column?",
        edits=(
            ("ids[..., None] == np.arange(vocab_size)", "np.moveaxis(ids[..., None] == np.arange(vocab_size), -1, 0)"),
        ),
    ),
    Mistake(
        "embeddings.one_hot",
        "one-text-only",
        "it works for one text only, not for a batch",
        "`rows[np.arange(len(ids)), ids] = 1` pairs a row number with each id; with a batch there are two axes to "
        "number.",
        "What is the shape of `ids` for two texts of three tokens? Could the batch be flattened first?",
        body="""
    ids = np.asarray(ids)
    rows = np.zeros((len(ids), vocab_size))
    rows[np.arange(len(ids)), ids] = 1.0
    return rows
""",
    ),
    # --- embed_tokens
    Mistake(
        "embeddings.embed_tokens",
        "columns-not-rows",
        "columns of the table were looked up, not rows",
        "The table is (V, D): one row for each token.",
        "How many rows has the table, and how many columns? Which of the two does an id choose?",
        edits=(("W_tok[_check_ids(ids, len(W_tok))]", "W_tok[:, _check_ids(ids, len(W_tok))]"),),
    ),
    Mistake(
        "embeddings.embed_tokens",
        "scaled",
        "the vectors were multiplied by √D",
        "The 2017 transformer does that, but it is the business of `embed`, which has a `scale` for it.",
        "Take a table of small whole numbers. Is each vector of the result one of its rows?",
        edits=(("len(W_tok))]", "len(W_tok))] * float(np.sqrt(W_tok.shape[-1]))"),),
    ),
    Mistake(
        "embeddings.embed_tokens",
        "float64-one-hot",
        "a product with one-hot rows turned float32 into float64",
        "The values are right. A float64 array that takes part in a product makes the result float64.",
        "What is the dtype of your one-hot rows, and what is that of the table?",
        edits=(("W_tok[_check_ids(ids, len(W_tok))]", "one_hot(ids, len(W_tok)) @ W_tok"),),
    ),
    Mistake(
        "embeddings.embed_tokens",
        "integers-kept",
        "a table of integers gives integers",
        "Everything later divides and multiplies by fractions; integers are computed in float64 throughout the course.",
        "What dtype comes out if you build the table by hand from whole numbers? Which helper is there for that?",
        edits=(("as_float(W_tok)", "np.asarray(W_tok)"),),
    ),
    # --- embed_tokens_backward
    Mistake(
        "embeddings.embed_tokens_backward",
        "repeats-lost",
        "of a token that occurs several times, only the last gradient was added: dW[ids] += dout",
        "With a repeated index NumPy reads once and writes several times, so the last one wins. Nothing shows as "
        "long as "
        "all tokens are different.",
        "What is a after `a = np.zeros(2); a[[0, 0, 0]] += 1`? Which NumPy function adds every time?",
        edits=(
            (
                "return hot.T @ dout.reshape(-1, dout.shape[-1])",
                (
                    "dW = np.zeros((vocab_size, dout.shape[-1]), dout.dtype)\n"
                    "    dW[np.asarray(ids)] += dout\n    return dW"
                ),
            ),
        ),
        common=True,
        group="last occurrence only",
    ),
    Mistake(
        "embeddings.embed_tokens_backward",
        "repeats-overwritten",
        "of a token that occurs several times, only the last gradient was kept: dW[ids] = dout",
        "All places at which a token stands used the same row of the table, so their gradients are added up.",
        "A token stands at three places and its vector changes: at how many places does the loss notice?",
        edits=(
            (
                "return hot.T @ dout.reshape(-1, dout.shape[-1])",
                (
                    "dW = np.zeros((vocab_size, dout.shape[-1]), dout.dtype)\n"
                    "    dW[np.asarray(ids)] = dout\n    return dW"
                ),
            ),
        ),
        group="last occurrence only",
    ),
    Mistake(
        "embeddings.embed_tokens_backward",
        "mean-of-repeats",
        "the gradients of a token's places were averaged, not added",
        "A token that occurs often has more influence on the loss, and its gradient is larger.",
        "A token stands at three places and its vector changes: by how much more does the loss change than for one "
        "place?",
        edits=(
            (
                "return hot.T @ dout.reshape(-1, dout.shape[-1])",
                (
                    "counts = np.maximum(hot.sum(axis=0), 1)[:, None]\n"
                    "    return hot.T @ dout.reshape(-1, dout.shape[-1]) / counts"
                ),
            ),
        ),
    ),
    Mistake(
        "embeddings.embed_tokens_backward",
        "divided-by-places",
        "the sum was divided by the number of places",
        "If the loss is a mean, that is in `dout` already; dividing once more makes the gradient too small.",
        "Does the formula contain a 1/N? Who divided by N, if anybody did?",
        edits=(("dout.reshape(-1, dout.shape[-1])", "dout.reshape(-1, dout.shape[-1]) / len(hot)"),),
    ),
    Mistake(
        "embeddings.embed_tokens_backward",
        "divided-by-texts",
        "the sum was divided by the number of texts",
        "If the loss is a mean, that is in `dout` already; dividing once more makes the gradient too small.",
        "Does the formula contain a 1/B? Who divided by B, if anybody did?",
        edits=(("dout.reshape(-1, dout.shape[-1])", "dout.reshape(-1, dout.shape[-1]) / len(dout)"),),
    ),
    Mistake(
        "embeddings.embed_tokens_backward",
        "transposed",
        "the result is transposed, (D, V)",
        "A gradient always has the shape of the thing it belongs to.",
        "What is the shape of the table? What is the shape of your gradient?",
        edits=(("return hot.T @ dout.reshape(-1, dout.shape[-1])", "return dout.reshape(-1, dout.shape[-1]).T @ hot"),),
    ),
    Mistake(
        "embeddings.embed_tokens_backward",
        "as-tall-as-the-largest-id",
        "the gradient has only as many rows as the largest id needs",
        "Rows of tokens that do not occur must be there too, with gradient 0, or it cannot be subtracted from the "
        "table.",
        "How many rows has the table when the last character of the vocabulary does not occur in the batch?",
        edits=(("vocab_size).astype", "int(np.max(ids)) + 1).astype"),),
    ),
    Mistake(
        "embeddings.embed_tokens_backward",
        "per-text",
        "the texts of the batch were not added up",
        "All texts used the same table, so there is one gradient of shape (V, D), not one for each text.",
        "How many tables are there, and how many gradients did you compute?",
        edits=(
            (
                "return hot.T @ dout.reshape(-1, dout.shape[-1])",
                "return hot.reshape(*np.shape(ids), vocab_size).swapaxes(-1, -2) @ dout",
            ),
        ),
    ),
    Mistake(
        "embeddings.embed_tokens_backward",
        "always-float64",
        "float32 became float64",
        "np.zeros makes float64 unless it is told otherwise, and so do the one-hot rows.",
        "Which of your lines makes a new array, and of what dtype?",
        edits=((".astype(dout.dtype, copy=False)", ""),),
    ),
    # --- sinusoidal_positions
    Mistake(
        "embeddings.sinusoidal_positions",
        "exponent-doubled",
        "the exponent is twice too large: 2i, where i already counts in steps of two",
        "A loop over 0, 2, 4, … has the 2i of the formula already. The waves get longer twice as fast as they should.",
        "For the second pair of columns i is 1. What is 2i then, and what is it in your code?",
        edits=(("even_columns / d_model)", "2 * even_columns / d_model)"),),
        common=True,
    ),
    Mistake(
        "embeddings.sinusoidal_positions",
        "exponent-halved",
        "the factor 2 in the exponent is missing",
        "The waves get longer only half as fast as they should, and the last columns still change quickly.",
        "For the last pair of columns, what should the exponent nearly be?",
        edits=(("even_columns / d_model)", "even_columns / 2 / d_model)"),),
        common=True,
    ),
    Mistake(
        "embeddings.sinusoidal_positions",
        "cosine-with-its-own-exponent",
        "the cosine uses the number of its own column, 2i + 1, in the exponent",
        "Sine and cosine of a pair must have the same frequency: only then is moving on by k places a rotation.",
        "In the formula, what stands in the exponent below the cosine, and what below the sine?",
        edits=(
            (
                "np.cos(angles[:, : d_model // 2])",
                "np.cos(np.arange(length)[:, None] / 10000.0 ** (np.arange(1, d_model, 2) / d_model))",
            ),
        ),
    ),
    Mistake(
        "embeddings.sinusoidal_positions",
        "cosine-one-pair-ahead",
        "the cosine uses the frequency of the next pair of columns",
        "Sine and cosine of a pair must have the same frequency: only then is moving on by k places a rotation.",
        "For the first pair, i is 0 in both columns. What is it in your cosine?",
        edits=(
            (
                "np.cos(angles[:, : d_model // 2])",
                "np.cos(np.arange(length)[:, None] / 10000.0 ** (np.arange(2, d_model + 1, 2) / d_model))",
            ),
        ),
    ),
    Mistake(
        "embeddings.sinusoidal_positions",
        "halves-not-interleaved",
        "all sines come first and then all cosines",
        "Some libraries do it like that, but in the formula sine and cosine alternate: columns 2i and 2i + 1.",
        "Which two columns belong to i = 0?",
        edits=(
            ("table[:, 0::2]", "table[:, : len(even_columns)]"),
            ("table[:, 1::2]", "table[:, len(even_columns) :]"),
        ),
        common=True,
    ),
    Mistake(
        "embeddings.sinusoidal_positions",
        "sine-and-cosine-exchanged",
        "sine and cosine are exchanged",
        "Position 0 must begin 0, 1, 0, 1, …",
        "What is the sine of 0? In which columns should it stand?",
        edits=(
            ("np.sin(angles)", "np.cos(0.0 + angles)"),
            ("np.cos(angles[", "np.sin(angles["),
        ),
        common=True,
    ),
    Mistake(
        "embeddings.sinusoidal_positions",
        "one-based",
        "the positions were counted from 1",
        "The first position is 0: its row is 0, 1, 0, 1, …",
        "What is the first row of the table, by the formula with pos = 0?",
        edits=(("np.arange(length)", "np.arange(1, length + 1)"),),
    ),
    Mistake(
        "embeddings.sinusoidal_positions",
        "base-1000",
        "the base is 1000 instead of 10000",
        "The slowest wave is ten times too fast.",
        "Count the zeros.",
        edits=(("10000.0", "1000.0"),),
    ),
    Mistake(
        "embeddings.sinusoidal_positions",
        "multiplied",
        "the position was multiplied by the power, not divided by it",
        "The waves get shorter from pair to pair instead of longer, far too short to tell positions apart.",
        "What is the exponent's sign, if the power stands in the denominator?",
        edits=(("[:, None] / 10000.0", "[:, None] * 10000.0"),),
    ),
    Mistake(
        "embeddings.sinusoidal_positions",
        "last-pair-reaches-10000",
        "the exponent was divided by D - 2, so that the last pair reaches exactly 10000",
        "The paper's own program does it that way, but the formula of the paper divides by D.",
        "By what is 2i divided in the formula?",
        edits=(("even_columns / d_model)", "even_columns / max(d_model - 2, 1))"),),
    ),
    Mistake(
        "embeddings.sinusoidal_positions",
        "odd-width",
        "it does not work for an odd width",
        "With an odd D there is one sine more than there are cosines.",
        "How many columns are there for the cosines when D is 7? How many angles do you have?",
        edits=(("angles[:, : d_model // 2]", "angles"),),
    ),
    Mistake(
        "embeddings.sinusoidal_positions",
        "float32",
        "the table is float32",
        "Copied from programs that have only float32. Here tables are made in float64; who wants less, converts them.",
        "What dtype does the docstring ask for?",
        edits=(("np.empty((length, d_model))", "np.empty((length, d_model), dtype=np.float32)"),),
    ),
    # --- embed
    Mistake(
        "embeddings.embed",
        "sum-scaled",
        "the whole sum was scaled, not only the token vectors",
        "The positions get the factor too, so that its purpose, the balance between the two, is lost.",
        "In the formula, which of the two terms does `scale` stand in front of?",
        edits=(
            (
                "embed_tokens(ids, W_tok) * float(scale) + W_pos[:length]",
                "(embed_tokens(ids, W_tok) + W_pos[:length]) * float(scale)",
            ),
        ),
        common=True,
    ),
    Mistake(
        "embeddings.embed",
        "positions-scaled",
        "the positions were scaled instead of the tokens",
        "The factor is there to make the token vectors as large as the positions.",
        "In the formula, which of the two terms does `scale` stand in front of?",
        edits=((" * float(scale) + W_pos[:length]", " + W_pos[:length] * float(scale)"),),
    ),
    Mistake(
        "embeddings.embed",
        "scale-ignored",
        "the scale is not used",
        "With the default, 1, nothing shows.",
        "Which of your arguments does the last line not mention?",
        edits=((" * float(scale)", ""),),
        common=True,
    ),
    Mistake(
        "embeddings.embed",
        "scaled-by-root-of-width",
        "the token vectors were multiplied by √D instead of the given scale",
        "The 2017 transformer does so, GPT-2 does not: therefore `scale` is an argument.",
        "What should the factor be when nobody says anything about it?",
        edits=(("float(scale)", "float(np.sqrt(W_pos.shape[-1]))"),),
        common=True,
    ),
    Mistake(
        "embeddings.embed",
        "divided-by-scale",
        "the token vectors were divided by the scale",
        "The scale makes them larger, to match the positions.",
        "Does the formula multiply or divide?",
        edits=(("* float(scale)", "/ float(scale)"),),
    ),
    Mistake(
        "embeddings.embed",
        "no-positions",
        "the position vectors were not added",
        "Attention cannot tell the order of the tokens without them: a text and its anagram look the same.",
        "Does your result for a token depend on where the token stands?",
        edits=((" + W_pos[:length]", ""),),
        common=True,
    ),
    Mistake(
        "embeddings.embed",
        "all-positions",
        "the table of positions was not cut to the length of the text",
        "Only texts of exactly the block size fit; shorter ones are an error.",
        "How many rows has W_pos, and how many tokens has the text?",
        edits=(("W_pos[:length]", "W_pos"),),
    ),
    Mistake(
        "embeddings.embed",
        "last-positions",
        "the last rows of the position table were used, not the first",
        "A text begins at position 0, however long it is.",
        "Which row of W_pos belongs to the first token of a short text?",
        edits=(("W_pos[:length]", "W_pos[-length:]"),),
    ),
    Mistake(
        "embeddings.embed",
        "positions-from-one",
        "the positions were counted from 1",
        "Row 0 of the table is for the first token.",
        "Which row of W_pos belongs to the first token?",
        edits=(("W_pos[:length]", "W_pos[1 : length + 1]"),),
    ),
    Mistake(
        "embeddings.embed",
        "length-of-first-axis",
        "the length of the text was read from the first axis, which is the batch",
        "With as many texts as tokens nothing shows; otherwise too many or too few positions are added.",
        "What does len(ids) count, when ids is (B, T)?",
        edits=(("np.shape(ids)[-1]", "np.shape(ids)[0]"),),
        common=True,
    ),
    Mistake(
        "embeddings.embed",
        "position-of-the-text",
        "the position was added along the batch: one for each text, not one for each token",
        "All tokens of a text get the same vector, so that their order is lost. The shapes agree if there are "
        "enough rows.",
        "To which axis of the token vectors, (B, T, D), does the T of W_pos[:T] have to line up?",
        edits=(("W_pos[:length]", "W_pos[: len(ids), None]"),),
    ),
    Mistake(
        "embeddings.embed",
        "position-of-the-token",
        "the positions were looked up with the ids",
        "The same token gets the same position vector wherever it stands.",
        "Which index does the formula use for W_tok, and which for W_pos?",
        edits=(("W_pos[:length]", "W_pos[np.asarray(ids)]"),),
    ),
    Mistake(
        "embeddings.embed",
        "concatenated",
        "tokens and positions were put side by side, not added",
        "The vectors become twice as wide as the layers after them expect.",
        "What is the last axis of the result: D or 2 D?",
        edits=(
            (
                "return embed_tokens(ids, W_tok) * float(scale) + W_pos[:length]",
                (
                    "tokens = embed_tokens(ids, W_tok) * float(scale)\n"
                    "    return np.concatenate([tokens, np.broadcast_to(W_pos[:length], tokens.shape)], axis=-1)"
                ),
            ),
        ),
    ),
)
