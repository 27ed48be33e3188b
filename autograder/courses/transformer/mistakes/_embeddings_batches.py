"""Mistakes in assignment 3: token functions that work for one text and not for a batch, and others about axes."""

from autograder.engine.diagnosis.mistake import Mistake

_GRADIENT = "return hot.T @ dout.reshape(-1, dout.shape[-1])"

AXES = (
    # --- one_hot
    Mistake(
        "embeddings.one_hot",
        "one-text-only-by-loop",
        "it works for one text only, not for a batch",
        "A loop over the first axis meets a whole text where it expects one id, if there is a batch.",
        "What is the shape of `ids` for two texts of three tokens, and what is ids[0]?",
        body="""
    ids = np.asarray(ids)
    rows = np.zeros((len(ids), vocab_size))
    for i in range(len(ids)):
        rows[i, ids[i]] = 1.0
    return rows
""",
        group="one text only",
    ),
    Mistake(
        "embeddings.one_hot",
        "columns-of-all-ids",
        "1 was set in the columns of all ids, in every row",
        "`rows[..., ids] = 1` means every row, all these columns. Each row has one column of its own.",
        "How many ones should a row have? Which index pairs every row with its own column?",
        body="""
    ids = np.asarray(ids)
    rows = np.zeros((*ids.shape, vocab_size))
    rows[..., ids] = 1.0
    return rows
""",
    ),
    # --- embed_tokens
    Mistake(
        "embeddings.embed_tokens",
        "take-without-axis",
        "single numbers were looked up, not rows: np.take without an axis",
        "np.take without an axis counts through the whole table, number by number.",
        "How many numbers belong to one id? What does `axis` say to np.take?",
        edits=(("W_tok[_check_ids(ids, len(W_tok))]", "np.take(W_tok, _check_ids(ids, len(W_tok)))"),),
    ),
    Mistake(
        "embeddings.embed_tokens",
        "one-text-only",
        "it works for one text only, not for a batch",
        "A loop over the first axis meets a whole text where it expects one id, if there is a batch.",
        "What is the shape of `ids` for two texts of three tokens? Does looking up rows need a loop?",
        body="""
    ids, W_tok = np.asarray(ids), as_float(W_tok)
    out = np.zeros((len(ids), W_tok.shape[1]), W_tok.dtype)
    for i in range(len(ids)):
        out[i] = W_tok[ids[i]]
    return out
""",
    ),
    Mistake(
        "embeddings.embed_tokens",
        "batch-flattened",
        "the batch was flattened: all tokens stand along one axis",
        "The values are right, but which text a token belongs to can no longer be seen.",
        "What is the shape of `ids`, and which axis should the result have in addition?",
        edits=(("W_tok[_check_ids(ids, len(W_tok))]", "W_tok[_check_ids(ids, len(W_tok)).reshape(-1)]"),),
    ),
    # --- embed_tokens_backward
    Mistake(
        "embeddings.embed_tokens_backward",
        "one-text-only",
        "it works for one text only, not for a batch",
        "A loop over the first axis meets a whole text where it expects one id, if there is a batch.",
        "How could ids (B, T) and dout (B, T, D) be made into one long text first?",
        edits=(
            (
                _GRADIENT,
                (
                    "dW = np.zeros((vocab_size, dout.shape[-1]), dout.dtype)\n"
                    "    for i in range(len(ids)):\n        dW[ids[i]] += dout[i]\n    return dW"
                ),
            ),
        ),
        group="one text only",
    ),
    Mistake(
        "embeddings.embed_tokens_backward",
        "one-text-only-width",
        "it works for one text only, not for a batch",
        "dout.shape[1] is the width for one text; for a batch it is the number of tokens.",
        "What are the axes of dout for one text, and for a batch? Which one is always the width?",
        edits=(
            (
                _GRADIENT,
                (
                    "dW = np.zeros((vocab_size, dout.shape[1]), dout.dtype)\n"
                    "    for i in range(len(ids)):\n        dW[ids[i]] += dout[i]\n    return dW"
                ),
            ),
        ),
        group="one text only",
    ),
    Mistake(
        "embeddings.embed_tokens_backward",
        "one-text-only-product",
        "it works for one text only, not for a batch",
        "one_hot(ids).T reverses all axes, the batch's too.",
        "How could ids (B, T) and dout (B, T, D) be made into one long text first?",
        edits=(
            ("np.reshape(ids, -1)", "ids"),
            (_GRADIENT, "return hot.T @ dout"),
        ),
        group="one text only",
    ),
    Mistake(
        "embeddings.embed_tokens_backward",
        "integers-kept",
        "a gradient of integers gives integers",
        "Everything later multiplies by fractions; integers are computed in float64 throughout the course.",
        "What is the dtype of your new array when dout holds integers? Which helper is there for that?",
        edits=(("dout = as_float(dout)", "dout = np.asarray(dout)"),),
    ),
)
