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
mistake("positions-scaled", " * float(scale) + W_pos[:length]", " + W_pos[:length] * float(scale)").explain("""
    the position vectors were scaled instead of the token vectors
    why: The purpose of the factor is to make the token vectors as large as the position vectors.
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
    the token table was changed in place
    why: `W_tok *= scale` changes the caller's table, which is then scaled again at the next call.
    ask: Which of your lines write into an array that you did not create?""")
mistake("scaled-twice", "float(scale)", "float(scale) ** 2").explain("""
    the token vectors were scaled twice
    why: The factor should be `scale`, not its square. The mistake stays hidden with the default, 1.
    ask: At how many places does your code multiply by the scale?""")
mistake("root-of-scale", "float(scale)", "float(scale) ** 0.5").explain("""
    the token vectors were multiplied by the root of the scale
    why: `scale` is the factor itself: a caller who wants √D passes √D.
    ask: What should embed do with scale=2.5?""")
mistake("scale-added", "* float(scale)", "+ float(scale)").explain("""
    the scale was added to the token vectors, not multiplied with them
    why: The formula has a product. A constant added to all entries makes the vectors more alike.
    ask: Which operation is between the scale and the token vector in the formula?""")
mistake(
    "no-tokens", "embed_tokens(ids, W_tok) * float(scale) + W_pos", "0.0 * embed_tokens(ids, W_tok) + W_pos"
).explain("""
    the token vectors were not added
    why: The result then does not depend on the tokens at all.
    ask: Does your result change when the ids change?""")
mistake("positions-subtracted", "+ W_pos[:length]", "- W_pos[:length]").explain("""
    the position vectors were subtracted, not added
    why: The formula has a sum.
    ask: Which sign does W_pos have in the formula?""")
mistake("averaged", "+ W_pos[:length]", "* 0.5 + W_pos[:length] * 0.5").explain("""
    the mean of the two vectors was returned, not their sum
    why: The formula has a sum, without a factor 1/2.
    ask: Does the formula contain a division?""")
mistake("positions-reversed", "W_pos[:length]", "W_pos[:length][::-1]").explain("""
    the positions were counted backwards
    why: Row 0 of the table belongs to the first token.
    ask: Which row of W_pos belongs to the first token?""")
for name, row in (("first", "0"), ("last", "length - 1")):
    mistake(f"only-the-{name}-position", "W_pos[:length]", f"W_pos[{row}]").explain(f"""
        the vector of the {name} position was added to every token
        why: All positions then have the same vector, so that the order of the tokens is lost.
        ask: How many rows of W_pos does a text of three tokens need?""")

_SUM = "embed_tokens(ids, W_tok) * float(scale) + W_pos[:length]"
mistake("always-float64", f"return {_SUM}", f"return ({_SUM}).astype(np.float64)", common=True).explain("""
    the vectors are float64 even when the tables are float32
    why: One float64 array makes the whole sum float64, and so does a NumPy number: np.float64(2.0), np.sqrt(4). With a
         Python number such as 2.0 it stays float32.
    ask: Which arrays and factors are in your sum, and what is the type of each?""")
mistake("always-float32", f"return {_SUM}", f"return ({_SUM}).astype(np.float32)").explain("""
    the vectors are float32 even when the tables are float64
    why: The result should have the dtype of the tables.
    ask: Which of your lines chooses the dtype of the result?""")
mistake("positions-in-place", f"return {_SUM}", f"x = {_SUM}\n    W_pos *= 0.0\n    return x").explain("""
    the position table was changed in place
    why: `W_pos += …` writes into the caller's table, which is used again for the next batch.
    ask: Which of your lines write into an array that you did not create?""")

mistake("too-long-accepted", "length > len(W_pos)", "False", common=True).explain("""
    a text with more tokens than positions was not rejected
    why: A table with a single position is broadcast without any error, so that all tokens get the same position.
    ask: What does NumPy do with W_pos[:3] if the table has only one row?""")
mistake("full-length-refused", "length > len(W_pos)", "length >= len(W_pos)").explain("""
    a text as long as the table of positions was rejected
    why: T tokens need T positions, and that many are allowed.
    ask: How many positions does a text of 5 tokens need?""")
mistake("first-axis-compared", "length > len(W_pos)", "np.shape(ids)[0] > len(W_pos)").explain("""
    the number of texts was compared with the number of positions
    why: With a batch, the first axis counts the texts. Their length is that of the last axis.
    ask: What does len(ids) count when ids is (B, T)?""")
for name, part in (("beginning", "[..., : len(W_pos)]"), ("end", "[..., -len(W_pos) :]")):
    mistake(
        f"cut-to-the-{name}",
        "if length > len(W_pos):",
        f"ids = np.asarray(ids){part}\n    length = ids.shape[-1]\n    if False:",
    ).explain(f"""
        a text with more tokens than positions was cut: only its {name} was used
        why: The caller would not notice that tokens are missing. The docstring promises a ValueError.
        ask: What should your function do with five tokens and three positions?""")
mistake("positions-by-index", "length > len(W_pos)", "False", "W_pos[:length]", "W_pos[np.arange(length)]").explain("""
    a text with more tokens than positions gave an IndexError, not a ValueError
    why: The docstring promises a ValueError, whose message can name the two numbers.
    ask: Where could you compare the two numbers before you look up the rows?""")
mistake(
    "positions-repeated",
    "length > len(W_pos)",
    "False",
    "W_pos[:length]",
    "W_pos[np.arange(length) % len(W_pos)]",
).explain("""
    in a text with more tokens than positions, the positions begin again
    why: Two tokens of a text then have the same position. The docstring promises a ValueError.
    ask: What should your function do with five tokens and three positions?""")
