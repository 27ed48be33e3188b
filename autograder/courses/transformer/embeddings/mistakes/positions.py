"""Mistakes in `embeddings` about positions."""

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
    the exponent is twice as large as it should be: an even column number is already 2i
    why: A loop over 0, 2, 4, … already runs over the 2i of the formula. With twice the exponent, the wavelengths grow
         too fast from pair to pair.
    ask: For the second pair of columns i is 1. What is 2i then, and what is it in your code?""")
mistake("exponent-halved", "even_columns / d_model)", "even_columns / 2 / d_model)", common=True).explain("""
    the factor 2 in the exponent is missing
    why: The wavelengths grow too slowly from pair to pair, so the last columns still change quickly.
    ask: For the last pair of columns, which number should the exponent be close to?""")
mistake("base", "10000.0", "CONSTANT", constant=500.0).explain("""
    the base is {constant} instead of 10000
    why: The slowest waves then have another length, so that positions far apart look alike, or neighbors do.
    ask: Which number comes before the exponent in the formula?""")
mistake(
    "cosine-with-its-own-exponent",
    "even_columns = np.arange(0, d_model, 2)",
    "even_columns = np.arange(d_model)",
    "np.sin(angles)",
    "np.sin(angles[:, 0::2])",
    "np.cos(angles[:, : d_model // 2])",
    "np.cos(angles[:, 1::2])",
    common=True,
).explain("""
    the cosine's exponent used its own column number, 2i + 1
    why: The sine and the cosine of a pair need the same frequency. Only then is a shift by k positions a rotation.
    ask: In the formula, which exponent does the cosine have, and which the sine?""")
mistake(
    "cosine-one-pair-ahead",
    "even_columns = np.arange(0, d_model, 2)",
    "even_columns = np.arange(0, d_model + 2, 2)",
    "np.sin(angles)",
    "np.sin(angles[:, : (d_model + 1) // 2])",
    "np.cos(angles[:, : d_model // 2])",
    "np.cos(angles[:, 1 : d_model // 2 + 1])",
).explain("""
    the cosine used the frequency of the next pair of columns
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
    all sines came first, then all cosines
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
mistake("odd-width-rounded-up", "even_columns / d_model)", "even_columns / (d_model + d_model % 2))").explain("""
    an odd width was rounded up to an even one in the exponent
    why: The exponents are 2i / D for an odd D, too. The mistake stays hidden with an even width.
    ask: By what is 2i divided for D = 7: by 6, 7 or 8?""")
for name, edits in (
    ("odd-width", ("angles[:, : d_model // 2]", "angles")),
    ("odd-width-by-loop", ("table[:, 1::2]", "table[:, d_model if d_model % 2 else slice(1, None, 2)]")),
):
    mistake(name, *edits).explain("""
        the function does not work for an odd width
        why: With an odd D there is one more sine than cosines.
        ask: How many columns are there for the cosines when D is 7? How many angles do you have?""")
mistake(
    "odd-width-one-column-more", "((length, d_model))", "((length, d_model + d_model % 2))", "[:, : d_model // 2]", ""
).explain("""
    the table has one column too many if the width is odd
    why: With an odd D there is one more sine than cosines.
    ask: How many columns are there for the cosines when D is 7?""")
mistake(
    "column-number-doubled",
    "even_columns / d_model)",
    "2 * even_columns / d_model)",
    "even_columns = np.arange(0, d_model, 2)",
    "even_columns = np.arange(d_model)",
    "np.sin(angles)",
    "np.sin(angles[:, 0::2])",
    "np.cos(angles[:, : d_model // 2])",
    "np.cos(angles[:, 1::2])",
    common=True,
).explain("""
    every column, even that of a cosine, has twice its own number in the exponent
    why: The sine's column number is already the 2i of the formula, and the cosine to its right has the same exponent.
    ask: For the pair in columns 2 and 3, i is 1. What is 2i then, and what is it in your code for each of the two?""")
mistake("last-column-empty", "return", "if d_model % 2:\n        table[:, -1] = 0.0\n    return").explain("""
    the last column of an odd width is 0
    why: With an odd D there is one more sine than cosines, and the last column holds that sine.
    ask: How many sines are there when D is 7? How often does your loop run?""")
mistake("transposed", "return table", "return table.T").explain("""
    the table is transposed, (D, T)
    why: Each row should be the vector of one position.
    ask: With 5 positions and D = 4, which shape does your table have, and how many rows should it have?""")
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
    why: Broadcasting adds an axis in front by itself. With (1, T, D), a single text would become a batch.
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
mistake("divided-by-length", "even_columns / d_model)", "even_columns / length)").explain("""
    the exponent was divided by the number of positions, not by D
    why: The wavelengths must not depend on the length of the text, or the same position has another vector in a longer
         one.
    ask: By what is 2i divided in the formula: by D or by T?""")
mistake("positions-as-fractions", "np.arange(length)[:, None]", "np.arange(length)[:, None] / length").explain("""
    the positions were divided by the length
    why: The vector of a position must not depend on the length of the text.
    ask: What is pos in the formula for the third position: 2, or a fraction?""")
