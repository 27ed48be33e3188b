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
    the exponent is twice too large: an even column number is already 2i
    why: A loop over 0, 2, 4, … already runs over the 2i of the formula. The wavelengths then grow twice as fast as they
         should.
    ask: For the second pair of columns i is 1. What is 2i then, and what is it in your code?""")
mistake("exponent-halved", "even_columns / d_model)", "even_columns / 2 / d_model)", common=True).explain("""
    the factor 2 in the exponent is missing
    why: The wavelengths grow only half as fast as they should, so the last columns still change quickly.
    ask: For the last pair of columns, which number should the exponent be close to?""")
mistake(
    "cosine-with-its-own-exponent",
    "np.cos(angles[:, : d_model // 2])",
    "np.cos(np.arange(length)[:, None] / 10000.0 ** (np.arange(1, d_model, 2) / d_model))",
).explain("""
    the cosine's exponent uses its own column number, 2i + 1
    why: The sine and the cosine of a pair need the same frequency. Only then is a shift by k positions a rotation.
    ask: In the formula, which exponent does the cosine have, and which the sine?""")
mistake(
    "cosine-one-pair-ahead",
    "np.cos(angles[:, : d_model // 2])",
    "np.cos(np.arange(length)[:, None] / 10000.0 ** (np.arange(2, d_model + 1, 2) / d_model))",
).explain("""
    the cosine uses the frequency of the next pair of columns
    why: The sine and the cosine of a pair need the same frequency. Only then is a shift by k positions a rotation.
    ask: For the first pair, i is 0 in both columns. What is it in your cosine?""")
mistake(
    "halves-not-interleaved",
    "table[:, 0::2]",
    "table[:, : len(even_columns)]",
    "table[:, 1::2]",
    "table[:, len(even_columns) :]",
    common=True,
).explain("""
    all sines come first, then all cosines
    why: Some libraries do that, but in the formula sines and cosines alternate: columns 2i and 2i + 1.
    ask: Which two columns belong to i = 0?""")
mistake(
    "sine-and-cosine-exchanged",
    "np.sin(angles)",
    "np.cos(0.0 + angles)",
    "np.cos(angles[",
    "np.sin(angles[",
    common=True,
).explain("""
    sine and cosine were swapped
    why: The row of position 0 must be 0, 1, 0, 1, …
    ask: What is the sine of 0? In which columns should it be?""")
mistake("one-based", "np.arange(length)", "np.arange(1, length + 1)").explain("""
    the positions were counted from 1
    why: The first position is 0, and its row is 0, 1, 0, 1, …
    ask: What is the first row of the table, according to the formula with pos = 0?""")
mistake("base-1000", "10000.0", "1000.0").explain("""
    the base is 1000 instead of 10000
    why: The longest wavelengths are then up to ten times too short.
    ask: How many zeros does the base in the formula have?""")
mistake("base", "10000.0", "CONSTANT", constant=500.0).explain("""
    the base is {constant} instead of 10000
    why: The slowest waves then have another length, so that positions far apart look alike, or neighbours do.
    ask: Which number stands in the formula before the exponent?""")
mistake("multiplied", "[:, None] / 10000.0", "[:, None] * 10000.0").explain("""
    the position was multiplied by the power, not divided by it
    why: The wavelengths then shrink from pair to pair instead of growing, and become far too short to distinguish
         positions.
    ask: In the formula, is the power in the numerator or in the denominator?""")
mistake("last-pair-reaches-10000", "even_columns / d_model)", "even_columns / max(d_model - 2, 1))").explain("""
    the exponent was divided by D - 2, not by D
    why: The authors' own program does that, so that the last pair reaches exactly 10000, but the formula of the paper
         divides by D.
    ask: By what is 2i divided in the formula?""")
mistake("odd-width", "angles[:, : d_model // 2]", "angles").explain("""
    the function does not work for an odd width
    why: With an odd D there is one more sine than cosines.
    ask: How many columns are there for the cosines when D is 7? How many angles do you have?""")
mistake("float32", "np.empty((length, d_model))", "np.empty((length, d_model), dtype=np.float32)").explain("""
    the table is float32, not float64
    why: Many programs compute in float32 only. In this course new tables are float64, and callers convert them if
         needed.
    ask: Which dtype does the docstring ask for?""")
mistake(
    "column-number-doubled",
    "even_columns / d_model)",
    "2 * even_columns / d_model)",
    "np.cos(angles[:, : d_model // 2])",
    "np.cos(np.arange(length)[:, None] / 10000.0 ** (2 * np.arange(1, d_model, 2) / d_model))",
    common=True,
).explain("""
    the exponent is twice the column number, for the cosine twice its own
    why: The sine's column number is already the 2i of the formula, and the cosine to its right has the same exponent.
    ask: For the pair in columns 2 and 3, i is 1. What is 2i then, and what is it in your code for each of the two?""")
mistake("last-column-empty", "return", "if d_model % 2:\n        table[:, -1] = 0.0\n    return").explain("""
    the last column of an odd width is 0
    why: With an odd D there is one more sine than cosines, and the last column holds that sine.
    ask: How many sines are there when D is 7? How often does your loop run?""")
mistake("transposed", "return table", "return table.T").explain("""
    the table is transposed, (D, T)
    why: Each row should be the vector of one position.
    ask: What is the shape of the table in the docstring? What is its first row?""")
mistake("new-axis-missing").body(_TABLE.format(angles="np.arange(length) / powers")).explain("""
    the positions need a new axis: np.arange(length)[:, None]
    why: Positions and columns are different axes. One of the two vectors needs a new axis, so that every position is
         combined with every column.
    ask: What is the shape of np.arange(5)[:, None] / np.arange(1, 4)? What happens without [:, None]?""")
mistake("new-axis-on-columns").body(_TABLE.format(angles="np.arange(length) / powers[:, None]")).explain("""
    the columns have the new axis, not the positions
    why: The angles are then (D / 2, T), not (T, D / 2): their rows are columns of the table instead of positions.
    ask: Which of the two should the rows of the table be: positions or columns?""")
mistake("sines-only", "np.cos(angles", "np.sin(angles").explain("""
    all columns are sines: the cosine is missing
    why: With the sine and the cosine of each frequency, a shift by k positions is a rotation. With the sine alone it is
         not.
    ask: What should row 0 of the table be, where all angles are 0?""")
mistake("axis-for-the-batch", "return table", "return table[None]").explain("""
    the table has a batch axis: (1, T, D)
    why: The docstring asks for (T, D). Broadcasting adds an axis in front by itself.
    ask: What does broadcasting do with (T, D) and (B, T, D)?""")
mistake(
    "float32-angles",
    "np.arange(length)[:, None] / 10000.0 ** (even_columns / d_model)",
    "np.arange(length, dtype=np.float32)[:, None] / np.float32(10000) ** (even_columns / d_model).astype(np.float32)",
).explain("""
    the angles were computed in float32
    why: The table is float64, but only about seven digits of it are correct, and fewer at late positions, where the
         angles are large.
    ask: What is the dtype of your positions, and what is that of the powers they are divided by?""")

mistake = MISTAKES.for_functions("embeddings.embed")
mistake(
    "sum-scaled",
    "embed_tokens(ids, W_tok) * float(scale) + W_pos[:length]",
    "(embed_tokens(ids, W_tok) + W_pos[:length]) * float(scale)",
    common=True,
).explain("""
    the whole sum was scaled, not only the token vectors
    why: The position vectors get the factor too, so it does not change the balance between the two.
    ask: In the formula, which of the two terms is multiplied by `scale`?""")
mistake("positions-scaled", " * float(scale) + W_pos[:length]", " + W_pos[:length] * float(scale)").explain("""
    the position vectors were scaled instead of the token vectors
    why: The purpose of the factor is to make the token vectors as large as the position vectors.
    ask: In the formula, which of the two terms is multiplied by `scale`?""")
mistake("scale-ignored", " * float(scale)", "", common=True).explain("""
    the scale was ignored
    why: The mistake stays hidden with the default, 1.
    ask: Which of the function's arguments does your code not use?""")
mistake("scaled-by-root-of-width", "float(scale)", "float(np.sqrt(W_pos.shape[-1]))", common=True).explain("""
    the token vectors were multiplied by √D, not by the given scale
    why: The 2017 transformer multiplies by √D and GPT-2 does not, so `scale` is an argument.
    ask: What should the factor be if the caller does not give one?""")
mistake("divided-by-scale", "* float(scale)", "/ float(scale)").explain("""
    the token vectors were divided by the scale
    why: The purpose of the factor is to make the token vectors as large as the position vectors.
    ask: Does the formula multiply or divide by the scale?""")
mistake("no-positions", " + W_pos[:length]", "", common=True).explain("""
    the position vectors were not added
    why: Without them, attention does not depend on the order of the tokens.
    ask: Does your result for a token depend on its position?""")
mistake("all-positions", "W_pos[:length]", "W_pos").explain("""
    the position table was not cut to the length of the text
    why: Only texts of exactly the block size then work. Most shorter ones give an error.
    ask: How many rows does W_pos have, and how many tokens does the text have?""")
mistake("last-positions", "W_pos[:length]", "W_pos[-length:]").explain("""
    the last rows of the position table were used, not the first
    why: A text begins at position 0, however short it is.
    ask: Which row of W_pos belongs to the first token of a short text?""")
mistake("positions-from-one", "W_pos[:length]", "W_pos[1 : length + 1]").explain("""
    the positions were counted from 1
    why: Row 0 of the table belongs to the first token.
    ask: Which row of W_pos belongs to the first token?""")
mistake("length-of-first-axis", "np.shape(ids)[-1]", "np.shape(ids)[0]", common=True).explain("""
    the length of the text was read from the first axis
    why: With a batch, the first axis counts the texts. The mistake stays hidden when there are as many texts as tokens.
    ask: What does len(ids) count when ids is (B, T)?""")
mistake("position-of-the-text", "W_pos[:length]", "W_pos[: len(ids), None]").explain("""
    the position vectors were added along the batch, one for each text
    why: All tokens of a text then get the same vector, so their order is lost. Broadcasting accepts it if W_pos has
         enough rows.
    ask: With which axis of the token vectors (B, T, D) must the T of W_pos[:T] be aligned?""")
mistake("position-of-the-token", "W_pos[:length]", "W_pos[np.asarray(ids)]").explain("""
    the position vectors were looked up with the ids
    why: The same token then gets the same position vector at every position.
    ask: Which index does the formula use for W_tok, and which for W_pos?""")
mistake(
    "concatenated",
    "return embed_tokens(ids, W_tok) * float(scale) + W_pos[:length]",
    "tokens = embed_tokens(ids, W_tok) * float(scale)\n"
    "    return np.concatenate([tokens, np.broadcast_to(W_pos[:length], tokens.shape)], axis=-1)",
).explain("""
    token and position vectors were concatenated, not added
    why: The vectors are then twice as wide as the next layers expect.
    ask: What is the length of the last axis of your result: D or 2 D?""")
mistake("length-of-second-axis", "np.shape(ids)[-1]", "np.shape(ids)[1]", "length > len(W_pos)", "False").explain("""
    the length of the text was read from the second axis
    why: That is correct for (B, T). A single text (T,) has no second axis, and with more batch axes it is another one.
    ask: Which axis of `ids` always runs along the text, counted from the end?""")
mistake("two-axes-only", "length = np.shape(ids)[-1]", "_, length = np.shape(ids)").explain("""
    the function works for (B, T) only: B, T = ids.shape
    why: A single text has the shape (T,), and with more batch axes the shape has more than two entries.
    ask: Which of the two names do you use? Which axis is that, counted from the end?""")
mistake("multiplied", "* float(scale) + W_pos", "* float(scale) * W_pos").explain("""
    token and position vectors were multiplied, not added
    why: A 0 in a position vector would erase that entry of every token.
    ask: Which operation combines the two in the formula?""")
mistake("scaled-by-width", "float(scale)", "W_pos.shape[-1]").explain("""
    the token vectors were multiplied by D, not by the given scale
    why: The factor is an argument. A caller who wants the 2017 transformer passes √D.
    ask: What should embed do with scale=2.5?""")
mistake(
    "table-in-place",
    "return embed_tokens(ids, W_tok) * float(scale)",
    "W_tok *= scale\n    return embed_tokens(ids, W_tok)",
).explain("""
    the token table was scaled in place
    why: `W_tok *= scale` changes the caller's table, which is then scaled again at the next call.
    ask: Which of your lines write into an array that you did not create?""")
