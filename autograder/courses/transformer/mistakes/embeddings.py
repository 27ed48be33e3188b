"""Mistakes in assignment 3: embeddings and positions."""

from autograder.courses.transformer.mistakes._embeddings_positions import MISTAKES as POSITIONS
from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes(POSITIONS)

_GRADIENT = "return hot.T @ dout.reshape(-1, dout.shape[-1])"

mistake = MISTAKES.for_functions("embeddings.one_hot")
mistake("booleans", ".astype(np.float64)", "", common=True).explain("""
    the result is boolean, not float
    why: True and False are in the correct places, but arithmetic with booleans is different: True + True is True.
    ask: What does a comparison return? Which dtype does the docstring ask for?""")
mistake("integers", ".astype(np.float64)", ".astype(np.int64)", common=True).explain("""
    the result holds integers, not floats
    why: The entries are correct, but the dtype is not, and results computed from them may get another dtype, too.
    ask: What is the dtype of your array, and which one does the docstring ask for?""")
mistake("as-wide-as-the-largest-id", "np.arange(vocab_size)", "np.arange(ids.max() + 1)").explain("""
    the rows are only as long as the largest id requires
    why: Two texts then have rows of different lengths, depending on which tokens happen to occur.
    ask: How many columns should there be for a text in which the last tokens of the vocabulary do not occur?""")
mistake("one-based", "np.arange(vocab_size)", "np.arange(1, vocab_size + 1)").explain("""
    the columns were numbered from 1
    why: Every 1 is one column too far to the left, and the row of id 0 has no 1 at all.
    ask: In which column should the 1 be for id 0?""")
mistake(
    "new-axis-first",
    "ids[..., None] == np.arange(vocab_size)",
    "np.moveaxis(ids[..., None] == np.arange(vocab_size), -1, 0)",
).explain("""
    the new axis comes first, not last
    why: The rows of the tokens are then along the wrong axis.
    ask: Which index of the result selects the token, and which the column?""")
mistake("one-text-only", group="one text only").body("""
    ids = np.asarray(ids)
    rows = np.zeros((len(ids), vocab_size))
    rows[np.arange(len(ids)), ids] = 1.0
    return rows
""").explain("""
    the function works for one text only, not for a batch
    why: `rows[np.arange(len(ids)), ids] = 1` pairs each id with one row index. The ids of a batch have two axes.
    ask: What is the shape of `ids` for two texts of three tokens? Could you flatten the batch first?""")
mistake("one-text-only-by-loop", group="one text only").body("""
    ids = np.asarray(ids)
    rows = np.zeros((len(ids), vocab_size))
    for i in range(len(ids)):
        rows[i, ids[i]] = 1.0
    return rows
""").explain("""
    the function works for one text only, not for a batch
    why: With a batch, a loop over the first axis gets whole texts where it expects single ids.
    ask: What is the shape of `ids` for two texts of three tokens, and what is ids[0]?""")
mistake("columns-of-all-ids").body("""
    ids = np.asarray(ids)
    rows = np.zeros((*ids.shape, vocab_size))
    rows[..., ids] = 1.0
    return rows
""").explain("""
    1 was set in the columns of all ids, in every row
    why: `rows[..., ids] = 1` means every row, and all these columns. Each row has only one column of its own.
    ask: How many ones should a row have? Which index pairs every row with its own column?""")
mistake("float32", "np.float64", "np.float32").explain("""
    the rows are float32, not float64
    why: The docstring asks for float64, the default of the course.
    ask: Which dtype does the docstring ask for?""")
mistake("one-column-too-many", "np.arange(vocab_size)", "np.arange(vocab_size + 1)").explain("""
    the rows have one column too many
    why: The ids are 0 … V - 1, so there are V columns.
    ask: How many different ids are there in [0, V)?""")

mistake = MISTAKES.for_functions("embeddings.embed_tokens")
mistake("columns-not-rows", "W_tok[_check_ids(ids, len(W_tok))]", "W_tok[:, _check_ids(ids, len(W_tok))]").explain("""
    columns of the table were selected, not rows
    why: The table is (V, D): one row for each token.
    ask: How many rows does the table have, and how many columns? Which of the two does an id select?""")
mistake("scaled", "len(W_tok))]", "len(W_tok))] * float(np.sqrt(W_tok.shape[-1]))").explain("""
    the vectors were multiplied by √D
    why: The 2017 transformer does that, but here `embed` does it, with its argument `scale`.
    ask: For a table of small integers, is each vector of the result one of its rows?""")
mistake("float64-one-hot", "W_tok[_check_ids(ids, len(W_tok))]", "one_hot(ids, len(W_tok)) @ W_tok").explain("""
    a product with one-hot rows turned float32 into float64
    why: The entries are correct, but one float64 factor makes the whole product float64.
    ask: What is the dtype of your one-hot rows, and what is that of the table?""")
mistake("integers-kept", "as_float(W_tok)", "np.asarray(W_tok)").explain("""
    a table of integers gave integers
    why: Later steps multiply by fractions, so the course computes integers in float64.
    ask: What is the dtype of the result for a table of integers? Which helper converts it?""")
mistake(
    "take-without-axis", "W_tok[_check_ids(ids, len(W_tok))]", "np.take(W_tok, _check_ids(ids, len(W_tok)))"
).explain("""
    single entries were looked up, not rows: np.take without an axis
    why: Without an axis, np.take indexes the flattened table.
    ask: How many entries of the table belong to one id? What does the `axis` argument of np.take do?""")
mistake("one-text-only").body("""
    ids, W_tok = np.asarray(ids), as_float(W_tok)
    out = np.zeros((len(ids), W_tok.shape[1]), W_tok.dtype)
    for i in range(len(ids)):
        out[i] = W_tok[ids[i]]
    return out
""").explain("""
    the function works for one text only, not for a batch
    why: With a batch, a loop over the first axis gets whole texts where it expects single ids.
    ask: What is the shape of `ids` for two texts of three tokens? Do you need a loop to look up rows?""")
mistake("batch-flattened", "[_check_ids(ids, len(W_tok))]", "[_check_ids(ids, len(W_tok)).reshape(-1)]").explain("""
    the batch was flattened: all tokens are along one axis
    why: The vectors are correct, but the result no longer shows to which text a token belongs.
    ask: What is the shape of `ids`, and which axis should the result have in addition?""")

mistake = MISTAKES.for_functions("embeddings.embed_tokens_backward")
mistake(
    "repeats-lost",
    "return hot.T @ dout.reshape(-1, dout.shape[-1])",
    "dW = np.zeros((vocab_size, dout.shape[-1]), dout.dtype)\n    dW[np.asarray(ids)] += dout\n    return dW",
    common=True,
    group="last occurrence only",
).explain("""
    repeated tokens lost all gradients but the last: dW[ids] += dout
    why: With a repeated index NumPy reads once and writes several times, so only the last one counts. The mistake stays
         hidden as long as all tokens are different.
    ask: What is a after `a = np.zeros(2); a[[0, 0, 0]] += 1`? Which NumPy function adds every time?""")
mistake(
    "repeats-overwritten",
    "return hot.T @ dout.reshape(-1, dout.shape[-1])",
    "dW = np.zeros((vocab_size, dout.shape[-1]), dout.dtype)\n    dW[np.asarray(ids)] = dout\n    return dW",
    group="last occurrence only",
).explain("""
    repeated tokens lost all gradients but the last: dW[ids] = dout
    why: All positions with the same token use the same row of the table, so their gradients are added.
    ask: If a token occurs at three positions and its vector changes, at how many positions does that affect the
         loss?""")
mistake(
    "mean-of-repeats",
    "return hot.T @ dout.reshape(-1, dout.shape[-1])",
    "counts = np.maximum(hot.sum(axis=0), 1)[:, None]\n    return hot.T @ dout.reshape(-1, dout.shape[-1]) / counts",
).explain("""
    the gradients of a repeated token were averaged, not added
    why: A token that occurs often has more influence on the loss, so its gradient is larger.
    ask: If a token occurs at three positions and its vector changes, how does that affect the loss, compared with a
         single position?""")
mistake("divided-by-places", ".reshape(-1, dout.shape[-1])", ".reshape(-1, dout.shape[-1]) / len(hot)").explain("""
    the sum was divided by the number of positions
    why: If the loss is a mean, `dout` already includes that factor. Dividing again makes the gradient too small.
    ask: Does the formula contain a factor 1/N? Which function divided by N, if any?""")
mistake("divided-by-texts", ".reshape(-1, dout.shape[-1])", ".reshape(-1, dout.shape[-1]) / len(dout)").explain("""
    the sum was divided by the length of the first axis of dout
    why: If the loss is a mean, `dout` already includes that factor. Dividing again makes the gradient too small.
    ask: Does the formula contain a factor 1/B? Which function divided by B, if any?""")
mistake(
    "transposed", "return hot.T @ dout.reshape(-1, dout.shape[-1])", "return dout.reshape(-1, dout.shape[-1]).T @ hot"
).explain("""
    the result is transposed, (D, V)
    why: A gradient always has the shape of the array it belongs to.
    ask: What is the shape of the table? What is the shape of your gradient?""")
mistake("as-tall-as-the-largest-id", "vocab_size).astype", "int(np.max(ids)) + 1).astype").explain("""
    the gradient has only as many rows as the largest id requires
    why: Tokens that do not occur need rows too, with gradient 0. Otherwise the shapes of table and gradient differ.
    ask: How many rows does the table have when the last token of the vocabulary does not occur in the batch?""")
mistake(
    "per-text",
    "return hot.T @ dout.reshape(-1, dout.shape[-1])",
    "return hot.reshape(*np.shape(ids), vocab_size).swapaxes(-1, -2) @ dout",
).explain("""
    the gradients were not summed over the texts of the batch
    why: All texts use the same table, so there is one gradient of shape (V, D), not one for each text.
    ask: How many tables are there, and how many gradients did you compute?""")
mistake("always-float64", ".astype(dout.dtype, copy=False)", "").explain("""
    the result is float64 even when dout is float32
    why: np.zeros creates float64 arrays unless a dtype is given, and one-hot rows are float64, too.
    ask: Which of your lines creates a new array, and with which dtype?""")
mistake(
    "one-text-only",
    _GRADIENT,
    "dW = np.zeros((vocab_size, dout.shape[-1]), dout.dtype)\n"
    "    for i in range(len(ids)):\n        dW[ids[i]] += dout[i]\n    return dW",
    group="one text only",
).explain("""
    the function works for one text only, not for a batch
    why: With a batch, a loop over the first axis gets whole texts where it expects single ids.
    ask: How can you reshape ids (B, T) and dout (B, T, D) into one long text first?""")
mistake(
    "one-text-only-width",
    _GRADIENT,
    "dW = np.zeros((vocab_size, dout.shape[1]), dout.dtype)\n"
    "    for i in range(len(ids)):\n        dW[ids[i]] += dout[i]\n    return dW",
    group="one text only",
).explain("""
    the function works for one text only, not for a batch
    why: dout.shape[1] is the width for a single text, but the number of tokens for a batch.
    ask: What are the axes of dout for one text, and for a batch? Which axis is always the width?""")
mistake(
    "one-text-only-product", "np.reshape(ids, -1)", "ids", _GRADIENT, "return hot.T @ dout", group="one text only"
).explain("""
    the function works for one text only, not for a batch
    why: one_hot(ids).T reverses all axes, including the batch axis.
    ask: How can you reshape ids (B, T) and dout (B, T, D) into one long text first?""")
mistake("integers-kept", "dout = as_float(dout)", "dout = np.asarray(dout)").explain("""
    a gradient of integers gave integers
    why: Later steps multiply by fractions, so the course computes integers in float64.
    ask: What is the dtype of your new array when dout holds integers? Which helper converts it?""")
