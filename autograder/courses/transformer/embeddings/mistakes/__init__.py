"""Mistakes in `embeddings`: one-hot rows and the look-up in the table."""

from autograder.courses.transformer.embeddings.mistakes.backward import MISTAKES as BACKWARD
from autograder.courses.transformer.embeddings.mistakes.ids import MISTAKES as IDS
from autograder.courses.transformer.embeddings.mistakes.positions import MISTAKES as POSITIONS
from autograder.courses.transformer.embeddings.mistakes.sum import MISTAKES as SUM
from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes(POSITIONS, SUM, BACKWARD, IDS)

_ROW = "W_tok[_check_ids(ids, len(W_tok))]"

mistake = MISTAKES.for_functions("embeddings.one_hot")
mistake("booleans", ".astype(np.float64)", "", common=True).explain("""
    the result is boolean, not float
    why: True and False are in the correct places, but arithmetic with booleans is different: True + True is True.
    ask: What is the dtype of np.arange(3) == 1, and what is True + True?""")
mistake("integers", "np.float64", "np.int64", common=True).explain("""
    the result holds integers, not floats
    why: The entries are correct, but the dtype is not, and results computed from them may get another dtype, too.
    ask: What happens in your code in `rows = one_hot(ids, 3)`, then `rows *= 0.5`?""")
mistake("as-wide-as-the-largest-id", "np.arange(vocab_size)", "np.arange(ids.max(initial=0) + 1)").explain("""
    the rows are only as long as the largest id requires
    why: Two texts then have rows of different lengths, depending on which tokens happen to occur.
    ask: How many columns should there be for a text in which the last tokens of the vocabulary do not occur?""")
mistake(
    "new-axis-first",
    "ids[..., None] == np.arange(vocab_size)",
    "np.moveaxis(ids[..., None] == np.arange(vocab_size), -1, 0)",
).explain("""
    the new axis came first, not last
    why: The rows of the tokens are then along the wrong axis.
    ask: Which index of the result selects the token, and which the column?""")
mistake("one-text-only", group="one text only").body("""
    ids = _check_ids(ids, vocab_size)
    rows = np.zeros((len(ids), vocab_size))
    rows[np.arange(len(ids)), ids] = 1.0
    return rows
""").explain("""
    the function works for one text only, not for a batch
    why: `rows[np.arange(len(ids)), ids] = 1` pairs each id with one row index. The ids of a batch have two axes.
    ask: What is the shape of `ids` for two texts of three tokens? Could you flatten the batch first?""")
mistake("one-text-only-by-loop", group="one text only").body("""
    ids = _check_ids(ids, vocab_size)
    rows = np.zeros((len(ids), vocab_size))
    for i in range(len(ids)):
        rows[i, ids[i]] = 1.0
    return rows
""").explain("""
    the function works for one text only, not for a batch
    why: With a batch, a loop over the first axis gets whole texts where it expects single ids.
    ask: What is the shape of `ids` for two texts of three tokens, and what is ids[0]?""")
mistake("columns-of-all-ids").body("""
    ids = _check_ids(ids, vocab_size)
    rows = np.zeros((*ids.shape, vocab_size))
    rows[..., ids] = 1.0
    return rows
""").explain("""
    1 was set in the columns of all ids, in every row
    why: `rows[..., ids] = 1` means every row, and all these columns. Each row has only one column of its own.
    ask: How many ones should a row have? Which index pairs every row with its own column?""")
mistake("float32", "np.float64", "np.float32").explain("""
    the rows are float32, not float64
    why: The course computes in float64. 0 and 1 are exact in both, but a mean of such rows has only seven digits.
    ask: What is one_hot([0, 1, 1], 2).mean(axis=0) in your code, and what is its dtype?""")
mistake("one-column-too-many", "np.arange(vocab_size)", "np.arange(vocab_size + 1)").explain("""
    the rows have one column too many
    why: The ids are 0 … V - 1, so there are V columns.
    ask: How many different ids are there in [0, V)?""")
mistake("all-columns-up-to-the-id", "ids[..., None] == np", "ids[..., None] >= np").explain("""
    all columns up to that of the id are 1
    why: Each row has only a single 1, in the column of the id.
    ask: How many ones should a row have?""")

mistake = MISTAKES.for_functions("embeddings.embed_tokens")
mistake("columns-not-rows", "W_tok[_check_ids(ids, len(W_tok))]", "W_tok[:, _check_ids(ids, len(W_tok))]").explain("""
    columns of the table were selected, not rows
    why: The table is (V, D): one row for each token.
    ask: How many rows does the table have, and how many columns? Which of the two does an id select?""")
mistake(
    "take-without-axis", "W_tok[_check_ids(ids, len(W_tok))]", "np.take(W_tok, _check_ids(ids, len(W_tok)))"
).explain("""
    single entries were looked up, not rows: np.take without an axis
    why: Without an axis, np.take indexes the flattened table.
    ask: How many entries of the table belong to one id? What does the `axis` argument of np.take do?""")
mistake("one-text-only").body("""
    ids, W_tok = _check_ids(ids, len(W_tok)), as_float(W_tok)
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
mistake("row-of-the-next-id", _ROW, "W_tok[(_check_ids(ids, len(W_tok)) + 1) % len(W_tok)]").explain("""
    the row of the next id was taken
    why: Rows are counted from 0, like ids: token v has row v.
    ask: Which row of the table belongs to id 0?""")
mistake("vectors-joined", _ROW, f"{_ROW}.reshape(*np.shape(ids)[:-1], -1)").explain("""
    the vectors of a text were joined to one long vector
    why: Some models read a window of tokens as one vector. Here each token keeps a vector of length D.
    ask: What is the length of the last axis of your result: D or T times D?""")
mistake("always-float64", _ROW, f"{_ROW}.astype(np.float64)", common=True).explain("""
    the vectors are float64 even when the table is float32
    why: np.zeros creates float64 arrays unless a dtype is given, and a product with one-hot rows, which are float64, is
         float64, too.
    ask: Which of your lines creates an array, and what is its dtype?""")
