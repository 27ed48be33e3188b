"""Mistakes in assignment 3: embeddings and positions."""

from autograder.courses.transformer.mistakes._embeddings_positions import MISTAKES as POSITIONS
from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes(POSITIONS)

_GRADIENT = "return hot.T @ dout.reshape(-1, dout.shape[-1])"

mistake = MISTAKES.for_functions("embeddings.one_hot")
mistake("booleans", ".astype(np.float64)", "", common=True).explain("""
    the result is boolean
    why: True and False have the right pattern, but a matrix product with them is not what it should be.
    ask: What does a comparison return? What dtype does the docstring ask for?""")
mistake("integers", ".astype(np.float64)", ".astype(np.int64)", common=True).explain("""
    the result holds integers, not floats
    why: The numbers are right; the dtype is not, and it spreads to whatever is computed with them.
    ask: What dtype has your array, and what dtype does the docstring ask for?""")
mistake("as-wide-as-the-largest-id", "np.arange(vocab_size)", "np.arange(ids.max() + 1)").explain("""
    a row is only as long as the largest id needs
    why: Two texts then have rows of different lengths, depending on which characters happen to occur.
    ask: How many columns are there for a text in which the last characters of the vocabulary do not occur?""")
mistake("one-based", "np.arange(vocab_size)", "np.arange(1, vocab_size + 1)").explain("""
    the columns were numbered from 1
    why: Every 1 stands one place too far to the left, and id 0 has none at all.
    ask: In which column should the 1 stand for id 0?""")
mistake(
    "new-axis-first",
    "ids[..., None] == np.arange(vocab_size)",
    "np.moveaxis(ids[..., None] == np.arange(vocab_size), -1, 0)",
).explain("""
    the new axis comes first, not last
    why: The rows that belong to the tokens now stand along the wrong axis.
    ask: Which index of the result says which token it is, and which says which column?""")
mistake("one-text-only", group="one text only").body("""
    ids = np.asarray(ids)
    rows = np.zeros((len(ids), vocab_size))
    rows[np.arange(len(ids)), ids] = 1.0
    return rows
""").explain("""
    it works for one text only, not for a batch
    why: `rows[np.arange(len(ids)), ids] = 1` pairs a row number with each id; with a batch there are two axes to
         number.
    ask: What is the shape of `ids` for two texts of three tokens? Could the batch be flattened first?""")
mistake("one-text-only-by-loop", group="one text only").body("""
    ids = np.asarray(ids)
    rows = np.zeros((len(ids), vocab_size))
    for i in range(len(ids)):
        rows[i, ids[i]] = 1.0
    return rows
""").explain("""
    it works for one text only, not for a batch
    why: A loop over the first axis meets a whole text where it expects one id, if there is a batch.
    ask: What is the shape of `ids` for two texts of three tokens, and what is ids[0]?""")
mistake("columns-of-all-ids").body("""
    ids = np.asarray(ids)
    rows = np.zeros((*ids.shape, vocab_size))
    rows[..., ids] = 1.0
    return rows
""").explain("""
    1 was set in the columns of all ids, in every row
    why: `rows[..., ids] = 1` means every row, all these columns. Each row has one column of its own.
    ask: How many ones should a row have? Which index pairs every row with its own column?""")
mistake("float32", "np.float64", "np.float32").explain("""
    the rows are float32
    why: The docstring asks for float64.
    ask: Which dtype does the docstring name?""")
mistake("one-column-too-many", "np.arange(vocab_size)", "np.arange(vocab_size + 1)").explain("""
    the rows are one longer than the vocabulary
    why: The ids are 0 … V - 1: that is V columns.
    ask: How many different ids are there in [0, V)?""")

mistake = MISTAKES.for_functions("embeddings.embed_tokens")
mistake("columns-not-rows", "W_tok[_check_ids(ids, len(W_tok))]", "W_tok[:, _check_ids(ids, len(W_tok))]").explain("""
    columns of the table were looked up, not rows
    why: The table is (V, D): one row for each token.
    ask: How many rows has the table, and how many columns? Which of the two does an id choose?""")
mistake("scaled", "len(W_tok))]", "len(W_tok))] * float(np.sqrt(W_tok.shape[-1]))").explain("""
    the vectors were multiplied by √D
    why: The 2017 transformer does that, but it is the business of `embed`, which has a `scale` for it.
    ask: Take a table of small whole numbers. Is each vector of the result one of its rows?""")
mistake("float64-one-hot", "W_tok[_check_ids(ids, len(W_tok))]", "one_hot(ids, len(W_tok)) @ W_tok").explain("""
    a product with one-hot rows turned float32 into float64
    why: The values are right. A float64 array that takes part in a product makes the result float64.
    ask: What is the dtype of your one-hot rows, and what is that of the table?""")
mistake("integers-kept", "as_float(W_tok)", "np.asarray(W_tok)").explain("""
    a table of integers gives integers
    why: Everything later divides and multiplies by fractions; integers are computed in float64 throughout the course.
    ask: What dtype comes out if you build the table by hand from whole numbers? Which helper is there for that?""")
mistake(
    "take-without-axis", "W_tok[_check_ids(ids, len(W_tok))]", "np.take(W_tok, _check_ids(ids, len(W_tok)))"
).explain("""
    single numbers were looked up, not rows: np.take without an axis
    why: np.take without an axis counts through the whole table, number by number.
    ask: How many numbers belong to one id? What does `axis` say to np.take?""")
mistake("one-text-only").body("""
    ids, W_tok = np.asarray(ids), as_float(W_tok)
    out = np.zeros((len(ids), W_tok.shape[1]), W_tok.dtype)
    for i in range(len(ids)):
        out[i] = W_tok[ids[i]]
    return out
""").explain("""
    it works for one text only, not for a batch
    why: A loop over the first axis meets a whole text where it expects one id, if there is a batch.
    ask: What is the shape of `ids` for two texts of three tokens? Does looking up rows need a loop?""")
mistake("batch-flattened", "[_check_ids(ids, len(W_tok))]", "[_check_ids(ids, len(W_tok)).reshape(-1)]").explain("""
    the batch was flattened: all tokens stand along one axis
    why: The values are right, but which text a token belongs to can no longer be seen.
    ask: What is the shape of `ids`, and which axis should the result have in addition?""")

mistake = MISTAKES.for_functions("embeddings.embed_tokens_backward")
mistake(
    "repeats-lost",
    "return hot.T @ dout.reshape(-1, dout.shape[-1])",
    "dW = np.zeros((vocab_size, dout.shape[-1]), dout.dtype)\n    dW[np.asarray(ids)] += dout\n    return dW",
    common=True,
    group="last occurrence only",
).explain("""
    of a token that occurs several times, only the last gradient was added: dW[ids] += dout
    why: With a repeated index NumPy reads once and writes several times, so the last one wins. Nothing shows as long as
         all tokens are different.
    ask: What is a after `a = np.zeros(2); a[[0, 0, 0]] += 1`? Which NumPy function adds every time?""")
mistake(
    "repeats-overwritten",
    "return hot.T @ dout.reshape(-1, dout.shape[-1])",
    "dW = np.zeros((vocab_size, dout.shape[-1]), dout.dtype)\n    dW[np.asarray(ids)] = dout\n    return dW",
    group="last occurrence only",
).explain("""
    of a token that occurs several times, only the last gradient was kept: dW[ids] = dout
    why: All places at which a token stands used the same row of the table, so their gradients are added up.
    ask: A token stands at three places and its vector changes: at how many places does the loss notice?""")
mistake(
    "mean-of-repeats",
    "return hot.T @ dout.reshape(-1, dout.shape[-1])",
    "counts = np.maximum(hot.sum(axis=0), 1)[:, None]\n    return hot.T @ dout.reshape(-1, dout.shape[-1]) / counts",
).explain("""
    the gradients of a token's places were averaged, not added
    why: A token that occurs often has more influence on the loss, and its gradient is larger.
    ask: A token stands at three places and its vector changes: by how much more does the loss change than for one
         place?""")
mistake("divided-by-places", ".reshape(-1, dout.shape[-1])", ".reshape(-1, dout.shape[-1]) / len(hot)").explain("""
    the sum was divided by the number of places
    why: If the loss is a mean, that is in `dout` already; dividing once more makes the gradient too small.
    ask: Does the formula contain a 1/N? Who divided by N, if anybody did?""")
mistake("divided-by-texts", ".reshape(-1, dout.shape[-1])", ".reshape(-1, dout.shape[-1]) / len(dout)").explain("""
    the sum was divided by the number of texts
    why: If the loss is a mean, that is in `dout` already; dividing once more makes the gradient too small.
    ask: Does the formula contain a 1/B? Who divided by B, if anybody did?""")
mistake(
    "transposed", "return hot.T @ dout.reshape(-1, dout.shape[-1])", "return dout.reshape(-1, dout.shape[-1]).T @ hot"
).explain("""
    the result is transposed, (D, V)
    why: A gradient always has the shape of the thing it belongs to.
    ask: What is the shape of the table? What is the shape of your gradient?""")
mistake("as-tall-as-the-largest-id", "vocab_size).astype", "int(np.max(ids)) + 1).astype").explain("""
    the gradient has only as many rows as the largest id needs
    why: Rows of tokens that do not occur must be there too, with gradient 0, or it cannot be subtracted from the table.
    ask: How many rows has the table when the last character of the vocabulary does not occur in the batch?""")
mistake(
    "per-text",
    "return hot.T @ dout.reshape(-1, dout.shape[-1])",
    "return hot.reshape(*np.shape(ids), vocab_size).swapaxes(-1, -2) @ dout",
).explain("""
    the texts of the batch were not added up
    why: All texts used the same table, so there is one gradient of shape (V, D), not one for each text.
    ask: How many tables are there, and how many gradients did you compute?""")
mistake("always-float64", ".astype(dout.dtype, copy=False)", "").explain("""
    float32 became float64
    why: np.zeros makes float64 unless it is told otherwise, and so do the one-hot rows.
    ask: Which of your lines makes a new array, and of what dtype?""")
mistake(
    "one-text-only",
    _GRADIENT,
    "dW = np.zeros((vocab_size, dout.shape[-1]), dout.dtype)\n"
    "    for i in range(len(ids)):\n        dW[ids[i]] += dout[i]\n    return dW",
    group="one text only",
).explain("""
    it works for one text only, not for a batch
    why: A loop over the first axis meets a whole text where it expects one id, if there is a batch.
    ask: How could ids (B, T) and dout (B, T, D) be made into one long text first?""")
mistake(
    "one-text-only-width",
    _GRADIENT,
    "dW = np.zeros((vocab_size, dout.shape[1]), dout.dtype)\n"
    "    for i in range(len(ids)):\n        dW[ids[i]] += dout[i]\n    return dW",
    group="one text only",
).explain("""
    it works for one text only, not for a batch
    why: dout.shape[1] is the width for one text; for a batch it is the number of tokens.
    ask: What are the axes of dout for one text, and for a batch? Which one is always the width?""")
mistake(
    "one-text-only-product", "np.reshape(ids, -1)", "ids", _GRADIENT, "return hot.T @ dout", group="one text only"
).explain("""
    it works for one text only, not for a batch
    why: one_hot(ids).T reverses all axes, the batch's too.
    ask: How could ids (B, T) and dout (B, T, D) be made into one long text first?""")
mistake("integers-kept", "dout = as_float(dout)", "dout = np.asarray(dout)").explain("""
    a gradient of integers gives integers
    why: Everything later multiplies by fractions; integers are computed in float64 throughout the course.
    ask: What is the dtype of your new array when dout holds integers? Which helper is there for that?""")
