"""Mistakes in `embeddings`: the sum of token and position vectors."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

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
mistake("scale-ignored", " * float(scale)", "", common=True).explain("""
    the scale was ignored
    why: The mistake stays hidden with the default, 1.
    ask: Which of the function's arguments does your code not use?""")
mistake(
    "scale-defaults-to-root-of-width",
    "scale=1.0",
    "scale=None",
    "float(scale)",
    "float(np.sqrt(W_pos.shape[-1]) if scale is None else scale)",
    common=True,
).explain("""
    the default of the scale is √D, not 1
    why: The 2017 transformer multiplies by √D and GPT-2 does not, so `scale` is an argument, with the default 1.
    ask: What should the factor be if the caller does not give one?""")
mistake("scaled-by-root-of-width", "float(scale)", "float(np.sqrt(W_pos.shape[-1]))", common=True).explain("""
    the token vectors were multiplied by √D, not by the given scale
    why: The 2017 transformer multiplies by √D and GPT-2 does not, so `scale` is an argument.
    ask: What should the factor be if the caller does not give one?""")
mistake("no-positions", " + W_pos[:length]", "", common=True).explain("""
    the position vectors were not added
    why: Without them, attention does not depend on the order of the tokens.
    ask: Does your result for a token depend on its position?""")
mistake("all-positions", "W_pos[:length]", "W_pos").explain("""
    the position table was not cut to the length of the text
    why: Only texts of exactly the block size then work. Most shorter ones give an error.
    ask: How many rows does W_pos have, and how many tokens does the text have?""")
mistake("length-of-first-axis", "np.shape(ids)[-1]", "np.shape(ids)[0]", common=True).explain("""
    the length of the text was read from the first axis
    why: With a batch, the first axis counts the texts. The mistake stays hidden when there are as many texts as tokens.
    ask: What does len(ids) count when ids is (B, T)?""")
mistake("position-of-the-token", "W_pos[:length]", "W_pos[np.asarray(ids)]").explain("""
    the position vectors were looked up with the ids
    why: The same token then gets the same position vector at every position.
    ask: Which index does the formula use for W_tok, and which for W_pos?""")
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
    the token table was changed in place
    why: `W_tok *= scale` changes the caller's table, which is then scaled again at the next call.
    ask: Which of your lines write into an array that you did not create?""")

_SUM = "embed_tokens(ids, W_tok) * float(scale) + W_pos[:length]"
mistake("always-float64", f"return {_SUM}", f"return ({_SUM}).astype(np.float64)", common=True).explain("""
    the vectors are float64 even when the tables are float32
    why: One float64 array makes the whole sum float64, and so does a NumPy number: np.float64(2.0), np.sqrt(4). With a
         Python number such as 2.0 it stays float32.
    ask: Which arrays and factors are in your sum, and what is the type of each?""")

mistake("too-long-accepted", "length > len(W_pos)", "False", common=True).explain("""
    a text with more tokens than positions was not rejected
    why: A table with a single position is broadcast without any error, so that all tokens get the same position.
    ask: What does NumPy do with W_pos[:3] if the table has only one row?""")
mistake("full-length-refused", "length > len(W_pos)", "length >= len(W_pos)").explain("""
    a text as long as the table of positions was rejected
    why: T tokens need T positions, and that many are allowed.
    ask: How many positions does a text of 5 tokens need?""")
mistake("positions-by-index", "length > len(W_pos)", "False", "W_pos[:length]", "W_pos[np.arange(length)]").explain("""
    a text with more tokens than positions gave an IndexError, not a ValueError
    why: An IndexError speaks of axes. A ValueError can say that the text is too long, and name the two numbers.
    ask: Where could you compare the two numbers before you look up the rows?""")
