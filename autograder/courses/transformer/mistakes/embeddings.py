"""Mistakes in assignment 3: embeddings and positions."""

from autograder.courses.transformer.mistakes._embeddings_batches import AXES
from autograder.courses.transformer.mistakes._embeddings_positions import POSITIONS
from autograder.courses.transformer.mistakes._embeddings_waves import WAVES
from autograder.engine.diagnosis.mistake import Mistake

TOKENS = (
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
        group="one text only",
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
)

MISTAKES = TOKENS + AXES + POSITIONS + WAVES
