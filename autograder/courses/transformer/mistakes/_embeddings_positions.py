"""Mistakes in assignment 3 about positions."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_TABLE = """
    powers = 10000.0 ** (np.arange(0, d_model, 2) / d_model)
    angles = {angles}
    table = np.zeros((length, d_model))
    table[:, 0::2] = np.sin(angles)
    table[:, 1::2] = np.cos(angles)
    return table
"""

mistake = MISTAKES.for_functions("embeddings.sinusoidal_positions")
mistake("exponent-doubled", "even_columns / d_model)", "2 * even_columns / d_model)", common=True).explain("""
    the exponent is twice too large: 2i, where i already counts in steps of two
    why: A loop over 0, 2, 4, … has the 2i of the formula already. The waves get longer twice as fast as they should.
    ask: For the second pair of columns i is 1. What is 2i then, and what is it in your code?""")
mistake("exponent-halved", "even_columns / d_model)", "even_columns / 2 / d_model)", common=True).explain("""
    the factor 2 in the exponent is missing
    why: The waves get longer only half as fast as they should, and the last columns still change quickly.
    ask: For the last pair of columns, what should the exponent nearly be?""")
mistake(
    "cosine-with-its-own-exponent",
    "np.cos(angles[:, : d_model // 2])",
    "np.cos(np.arange(length)[:, None] / 10000.0 ** (np.arange(1, d_model, 2) / d_model))",
).explain("""
    the cosine uses the number of its own column, 2i + 1, in the exponent
    why: Sine and cosine of a pair must have the same frequency: only then is moving on by k places a rotation.
    ask: In the formula, what stands in the exponent below the cosine, and what below the sine?""")
mistake(
    "cosine-one-pair-ahead",
    "np.cos(angles[:, : d_model // 2])",
    "np.cos(np.arange(length)[:, None] / 10000.0 ** (np.arange(2, d_model + 1, 2) / d_model))",
).explain("""
    the cosine uses the frequency of the next pair of columns
    why: Sine and cosine of a pair must have the same frequency: only then is moving on by k places a rotation.
    ask: For the first pair, i is 0 in both columns. What is it in your cosine?""")
mistake(
    "halves-not-interleaved",
    "table[:, 0::2]",
    "table[:, : len(even_columns)]",
    "table[:, 1::2]",
    "table[:, len(even_columns) :]",
    common=True,
).explain("""
    all sines come first and then all cosines
    why: Some libraries do it like that, but in the formula sine and cosine alternate: columns 2i and 2i + 1.
    ask: Which two columns belong to i = 0?""")
mistake(
    "sine-and-cosine-exchanged",
    "np.sin(angles)",
    "np.cos(0.0 + angles)",
    "np.cos(angles[",
    "np.sin(angles[",
    common=True,
).explain("""
    sine and cosine are exchanged
    why: Position 0 must begin 0, 1, 0, 1, …
    ask: What is the sine of 0? In which columns should it stand?""")
mistake("one-based", "np.arange(length)", "np.arange(1, length + 1)").explain("""
    the positions were counted from 1
    why: The first position is 0: its row is 0, 1, 0, 1, …
    ask: What is the first row of the table, by the formula with pos = 0?""")
mistake("base-1000", "10000.0", "1000.0").explain("""
    the base is 1000 instead of 10000
    why: The slowest wave is ten times too fast.
    ask: Count the zeros.""")
mistake("multiplied", "[:, None] / 10000.0", "[:, None] * 10000.0").explain("""
    the position was multiplied by the power, not divided by it
    why: The waves get shorter from pair to pair instead of longer, far too short to tell positions apart.
    ask: What is the exponent's sign, if the power stands in the denominator?""")
mistake("last-pair-reaches-10000", "even_columns / d_model)", "even_columns / max(d_model - 2, 1))").explain("""
    the exponent was divided by D - 2, so that the last pair reaches exactly 10000
    why: The paper's own program does it that way, but the formula of the paper divides by D.
    ask: By what is 2i divided in the formula?""")
mistake("odd-width", "angles[:, : d_model // 2]", "angles").explain("""
    it does not work for an odd width
    why: With an odd D there is one sine more than there are cosines.
    ask: How many columns are there for the cosines when D is 7? How many angles do you have?""")
mistake("float32", "np.empty((length, d_model))", "np.empty((length, d_model), dtype=np.float32)").explain("""
    the table is float32
    why: Copied from programs that have only float32. Here tables are made in float64; who wants less, converts them.
    ask: What dtype does the docstring ask for?""")
mistake(
    "column-number-doubled",
    "even_columns / d_model)",
    "2 * even_columns / d_model)",
    "np.cos(angles[:, : d_model // 2])",
    "np.cos(np.arange(length)[:, None] / 10000.0 ** (2 * np.arange(1, d_model, 2) / d_model))",
    common=True,
).explain("""
    the exponent is twice the number of the column: 2·column for the sine, 2·(column + 1) for the cosine
    why: The 2i of the formula is the number of the sine's column already, and the cosine beside it has the same. A blog
         post had it wrong, and books copied it.
    ask: For the pair in columns 2 and 3 i is 1. What is 2i then, and what is it in your code for each of the two?""")
mistake("last-column-empty", "return", "if d_model % 2:\n        table[:, -1] = 0.0\n    return").explain("""
    with an odd width the last column is empty
    why: With an odd D there is one sine more than there are cosines, and it stands alone at the end.
    ask: How many sines are there when D is 7? How often does your loop run?""")
mistake("transposed", "return table", "return table.T").explain("""
    the table is transposed, (D, T)
    why: Each row should be the vector of one position.
    ask: What is the shape of the table in the docstring? What does its first row stand for?""")
mistake("new-axis-missing").body(_TABLE.format(angles="np.arange(length) / powers")).explain("""
    the positions lack a new axis: np.arange(length)[:, None]
    why: Positions and columns are two different axes: one of the two vectors needs a new axis, so that every position
         meets every column.
    ask: What is the shape of np.arange(5) / np.arange(1, 4), and what is that of np.arange(5)[:, None] / np.arange(1,
         4)?""")
mistake("new-axis-on-columns").body(_TABLE.format(angles="np.arange(length) / powers[:, None]")).explain("""
    the new axis stands at the columns, not at the positions: the angles are (D / 2, T), not (T, D / 2)
    why: Positions and columns are two different axes: one of the two vectors needs a new axis, so that every position
         meets every column. Here rows should be positions.
    ask: Which of the two should run down the rows of the table: positions or columns?""")
mistake("sines-only", "np.cos(angles", "np.sin(angles").explain("""
    all columns are sines: there is no cosine
    why: With sine and cosine of each frequency, moving on by k places is a rotation; with the sine alone it is not.
    ask: What should row 0 of the table be, where all angles are 0?""")
mistake("axis-for-the-batch", "return table", "return table[None]").explain("""
    the table has an axis for the batch: (1, T, D)
    why: The docstring asks for (T, D). Broadcasting adds the axis in front by itself.
    ask: What does broadcasting do with (T, D) and (B, T, D)?""")
mistake(
    "float32-angles",
    "np.arange(length)[:, None] / 10000.0 ** (even_columns / d_model)",
    "np.arange(length, dtype=np.float32)[:, None] / np.float32(10000) ** (even_columns / d_model).astype(np.float32)",
).explain("""
    the angles were computed in float32
    why: The table is float64, and only seven digits of it are right; far along a text there are still fewer, because
         the angles are large.
    ask: Which dtype do your positions have, and which one the powers they are divided by?""")

mistake = MISTAKES.for_functions("embeddings.embed")
mistake(
    "sum-scaled",
    "embed_tokens(ids, W_tok) * float(scale) + W_pos[:length]",
    "(embed_tokens(ids, W_tok) + W_pos[:length]) * float(scale)",
    common=True,
).explain("""
    the whole sum was scaled, not only the token vectors
    why: The positions get the factor too, so that its purpose, the balance between the two, is lost.
    ask: In the formula, which of the two terms does `scale` stand in front of?""")
mistake("positions-scaled", " * float(scale) + W_pos[:length]", " + W_pos[:length] * float(scale)").explain("""
    the positions were scaled instead of the tokens
    why: The factor is there to make the token vectors as large as the positions.
    ask: In the formula, which of the two terms does `scale` stand in front of?""")
mistake("scale-ignored", " * float(scale)", "", common=True).explain("""
    the scale is not used
    why: With the default, 1, nothing shows.
    ask: Which of your arguments does the last line not mention?""")
mistake("scaled-by-root-of-width", "float(scale)", "float(np.sqrt(W_pos.shape[-1]))", common=True).explain("""
    the token vectors were multiplied by √D instead of the given scale
    why: The 2017 transformer does so, GPT-2 does not: therefore `scale` is an argument.
    ask: What should the factor be when nobody says anything about it?""")
mistake("divided-by-scale", "* float(scale)", "/ float(scale)").explain("""
    the token vectors were divided by the scale
    why: The scale makes them larger, to match the positions.
    ask: Does the formula multiply or divide?""")
mistake("no-positions", " + W_pos[:length]", "", common=True).explain("""
    the position vectors were not added
    why: Attention cannot tell the order of the tokens without them: a text and its anagram look the same.
    ask: Does your result for a token depend on where the token stands?""")
mistake("all-positions", "W_pos[:length]", "W_pos").explain("""
    the table of positions was not cut to the length of the text
    why: Only texts of exactly the block size fit; shorter ones are an error.
    ask: How many rows has W_pos, and how many tokens has the text?""")
mistake("last-positions", "W_pos[:length]", "W_pos[-length:]").explain("""
    the last rows of the position table were used, not the first
    why: A text begins at position 0, however long it is.
    ask: Which row of W_pos belongs to the first token of a short text?""")
mistake("positions-from-one", "W_pos[:length]", "W_pos[1 : length + 1]").explain("""
    the positions were counted from 1
    why: Row 0 of the table is for the first token.
    ask: Which row of W_pos belongs to the first token?""")
mistake("length-of-first-axis", "np.shape(ids)[-1]", "np.shape(ids)[0]", common=True).explain("""
    the length of the text was read from the first axis, which is the batch
    why: With as many texts as tokens nothing shows; otherwise too many or too few positions are added.
    ask: What does len(ids) count, when ids is (B, T)?""")
mistake("position-of-the-text", "W_pos[:length]", "W_pos[: len(ids), None]").explain("""
    the position was added along the batch: one for each text, not one for each token
    why: All tokens of a text get the same vector, so that their order is lost. The shapes agree if there are enough
         rows.
    ask: To which axis of the token vectors, (B, T, D), does the T of W_pos[:T] have to line up?""")
mistake("position-of-the-token", "W_pos[:length]", "W_pos[np.asarray(ids)]").explain("""
    the positions were looked up with the ids
    why: The same token gets the same position vector wherever it stands.
    ask: Which index does the formula use for W_tok, and which for W_pos?""")
mistake(
    "concatenated",
    "return embed_tokens(ids, W_tok) * float(scale) + W_pos[:length]",
    "tokens = embed_tokens(ids, W_tok) * float(scale)\n"
    "    return np.concatenate([tokens, np.broadcast_to(W_pos[:length], tokens.shape)], axis=-1)",
).explain("""
    tokens and positions were put side by side, not added
    why: The vectors become twice as wide as the layers after them expect.
    ask: What is the last axis of the result: D or 2 D?""")
mistake("length-of-second-axis", "np.shape(ids)[-1]", "np.shape(ids)[1]", "length > len(W_pos)", "False").explain("""
    the length of the text was read from the second axis
    why: That is right for (B, T). A single text (T,) has no second axis, and with more batch axes it is another one.
    ask: Which axis of `ids` is always the one along the text, counted from which end?""")
mistake("two-axes-only", "length = np.shape(ids)[-1]", "_, length = np.shape(ids)").explain("""
    it works for (B, T) only: B, T = ids.shape
    why: A single text has the shape (T,), and with more batch axes there are more numbers than two names.
    ask: Which of the two names do you use? Which axis is it, counted from the end?""")
mistake("multiplied", "* float(scale) + W_pos", "* float(scale) * W_pos").explain("""
    the vectors of tokens and positions were multiplied, not added
    why: A position vector with a 0 in it would wipe out that number of every token.
    ask: Which operation stands between the two in the formula?""")
mistake("scaled-by-width", "float(scale)", "W_pos.shape[-1]").explain("""
    the token vectors were multiplied by D instead of the given scale
    why: The scale is an argument. (The 2017 transformer multiplies by √D, and that is handed in as the scale.)
    ask: What does embed do with scale=2.5?""")
mistake(
    "table-in-place",
    "return embed_tokens(ids, W_tok) * float(scale)",
    "W_tok *= scale\n    return embed_tokens(ids, W_tok)",
).explain("""
    the table of the tokens was scaled in place
    why: `W_tok *= scale` changes the caller's table, which is then scaled again at the next call.
    ask: Which of your lines write into an array that you did not make?""")
