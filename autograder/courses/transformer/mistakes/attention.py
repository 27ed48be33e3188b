"""Mistakes in assignment 4. Those of `attention` and its backward pass are in two modules of their own."""

from autograder.courses.transformer.mistakes._attention_backward import MISTAKES as BACKWARD
from autograder.courses.transformer.mistakes._attention_forward import MISTAKES as FORWARD
from autograder.courses.transformer.mistakes._attention_forward import READ_FROM_THE_END
from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes(FORWARD, BACKWARD)

_TRI = "np.tri(n_queries, n_keys, k=n_keys - n_queries, dtype=bool)"
_TRIL = "np.tril(np.ones((n_queries, n_keys), dtype=bool), k=n_keys - n_queries)"


mistake = MISTAKES.for_functions("attention.causal_average_loop")
mistake("sees-the-next", ": t + 1, :]", ": t + 2, :]", common=True).explain("""
    the average includes the next position
    why: A model that sees the next token does not need to learn to predict it.
    ask: A slice excludes its end. For position 0, which positions does your slice include?""")
mistake("not-itself", ": t + 1, :]", ":t, :]", common=True).explain("""
    the average leaves out the position itself
    why: A slice excludes its end: `:t` stops before t. At position 0 nothing is left to average, which gives nan.
    ask: For position 0, how many vectors does your slice contain?""")
mistake("sum-not-mean", ".mean(axis=-2)", ".sum(axis=-2)", common=True).explain("""
    the vectors were summed, not averaged
    why: The vectors then grow with the position.
    ask: If all vectors are ones, what should the result be?""")
mistake("divided-by-length", ".mean(axis=-2)", ".sum(axis=-2) / x.shape[-2]").explain("""
    every sum was divided by the length of the text
    why: At position t, only t + 1 vectors were summed.
    ask: If all vectors are ones, what should the result be at position 0?""")
mistake("divided-by-t", ".mean(axis=-2)", ".sum(axis=-2) / t").explain("""
    the sum was divided by t, not by t + 1
    why: Positions are counted from 0, so at position t there are t + 1 vectors. At position 0 this is a division by 0.
    ask: How many vectors are averaged at position 0?""")
mistake("future-not-past", ": t + 1, :]", "t:, :]").explain("""
    the average includes the position and everything after it
    why: A language model must not see later positions.
    ask: What should the result be at the first position, if it can only see itself?""")
mistake("whole-text", ": t + 1, :]", ":, :]").explain("""
    every position got the average of the whole text
    why: All positions then have the same vector, and all but the last one have seen later positions.
    ask: What should the result be at the first position, if it can only see itself?""")
mistake(
    "second-axis",
    "range(x.shape[-2])",
    "range(x.shape[1])",
    "out[..., t, :] = x[..., : t + 1, :].mean(axis=-2)",
    "out[:, t] = x[:, : t + 1].mean(axis=1)",
).explain("""
    the loop runs over the second axis: it needs exactly one batch axis
    why: With no batch axis, or with two of them, the second axis is not that of the positions.
    ask: Counted from the end, which axis is that of the positions, whatever comes before it?""")
mistake("always-float64", "np.empty_like(x)", "np.empty(x.shape)", common=True).explain("""
    the result is always float64
    why: np.empty and np.zeros create float64 arrays unless a dtype is given.
    ask: What is the dtype of the array in which you collect the results?""")
mistake("integers-truncated", "x = as_float(x)", "x = np.asarray(x)").explain("""
    integers stay integers, so the averages are truncated
    why: An average written into an integer array loses its decimals.
    ask: What is the dtype of the array in which you collect the results if `x` holds integers?""")
mistake(
    "one-batch-axis-only",
    "    out = np.empty_like(x)",
    "    _, _, _ = x.shape\n    out = np.empty_like(x)",
    common=True,
).explain(f"""
    the function needs exactly one batch axis: B, T, D = x.shape
    why: A single text has no batch axis, and there may be more than one.
    ask: {READ_FROM_THE_END}""")
mistake("first-axis").body("""
    x = as_float(x)
    out = np.zeros_like(x)
    for t in range(len(x)):
        out[t] = x[: t + 1].mean(axis=0)
    return out
""").explain("""
    the loop and the mean run over the first axis
    why: That is correct for a single text. With a batch, the first axis is that of the texts, which are then mixed.
    ask: Which axis holds the positions, counted from the end?""")
mistake("last-axis").body("""
    x = as_float(x)
    out = np.zeros_like(x)
    for t in range(x.shape[-1]):
        out[..., t] = x[..., : t + 1].mean(axis=-1)
    return out
""").explain("""
    the loop and the mean run over the last axis, the entries of a vector
    why: The average is over positions, which are on the second-to-last axis.
    ask: Which axis of (B, T, D) holds the positions?""")
mistake("mean-of-everything", ".mean(axis=-2)", ".mean()").explain("""
    the mean was taken over all entries so far, not over the positions
    why: A single number remains for all texts and all D entries of the vector.
    ask: What should be the shape of the mean of (..., t + 1, D)? What does .mean() return without an axis?""")
mistake("written-into-x", "out = np.empty_like(x)", "out = x").explain("""
    the averages were written into x itself
    why: Later positions then average averages, and the caller's array is changed.
    ask: When position 2 is averaged, what do positions 0 and 1 contain by then?""")
for name, axis, mean in (
    ("the-features", "the entries of each vector (axis=-1)", ".mean(axis=-1)"),
    ("the-features-kept", "the entries of each vector (axis=-1)", ".mean(axis=-1, keepdims=True)"),
    ("the-texts", "the first axis (axis=0)", ".mean(axis=0)"),
):
    mistake(f"mean-over-{name}", ".mean(axis=-2)", mean).explain(f"""
        the mean was taken over {axis}
        why: Only positions should be averaged. The result has the wrong shape, which gives an error or, where two sizes
             are equal, silently wrong results.
        ask: The slice is (..., t + 1, D), and its mean should be (..., D). Which axis is missing, counted from the
             end?""")
mistake("mean-over-second-axis", ".mean(axis=-2)", ".mean(axis=1)").explain("""
    the mean was taken over axis 1, counted from the front
    why: That is correct with exactly one batch axis. Axis 1 of a single text holds its features, and with two batch
         axes it is one of those.
    ask: The slice is (..., t + 1, D). Which axis holds the positions, counted from the end?""")
mistake("mean-with-the-mean-before").body("""
    x = as_float(x)
    out = x.copy()
    for t in range(1, x.shape[-2]):
        out[..., t, :] = (out[..., t - 1, :] + x[..., t, :]) / 2
    return out
""").explain("""
    each vector was averaged with the previous average, half and half
    why: The previous average stands for t vectors and the new vector for one, so their weights must differ.
    ask: At position 2, what weight should the vector of position 0 have? Which one does it have?""")

mistake = MISTAKES.for_functions("attention.causal_average_matmul")
mistake(
    "upper-triangle", "np.tri(x.shape[-2], dtype=x.dtype)", "np.tri(x.shape[-2], dtype=x.dtype).T.copy()", common=True
).explain("""
    the ones are above the diagonal: every position sees later ones
    why: Row t holds the weights of position t, and earlier positions are to the left of the diagonal.
    ask: In row 0 of the matrix, which entries should not be 0?""")
mistake(
    "without-diagonal", "np.tri(x.shape[-2], dtype=x.dtype)", "np.tri(x.shape[-2], k=-1, dtype=x.dtype)", common=True
).explain("""
    the diagonal was left out: no position sees itself
    why: Row 0 is then empty, and 0/0 is nan.
    ask: In row 0 of the matrix, which entries should not be 0?""")
mistake("sees-the-next", "np.tri(x.shape[-2], dtype=x.dtype)", "np.tri(x.shape[-2], k=1, dtype=x.dtype)").explain("""
    one diagonal too many: every position sees the next one
    why: A model that sees the next token does not need to learn to predict it.
    ask: In row 0 of the matrix, which entries should not be 0?""")
mistake("rows-not-normalised", "weights /= weights.sum(axis=-1, keepdims=True)", "pass", common=True).explain("""
    the rows do not sum to 1
    why: A matrix of ones and zeros computes sums, not averages.
    ask: If all vectors are ones, what should the result be?""")
mistake("columns-normalised", "weights.sum(axis=-1, keepdims=True)", "weights.sum(axis=0)").explain("""
    the columns were divided by their sums, not the rows
    why: Each row holds the weights of one average, so each row should sum to 1.
    ask: Position t of the result uses one row of the matrix. What is the sum of that row?""")
mistake("keepdims-forgotten", "weights.sum(axis=-1, keepdims=True)", "weights.sum(axis=-1)").explain("""
    keepdims=True is missing from the row sums
    why: A vector of T sums then divides the columns. The matrix is square, so NumPy gives no error.
    ask: Row 2 has the sum 3. Which entries of the matrix does your code divide by 3?""")
mistake("divided-by-length", "weights.sum(axis=-1, keepdims=True)", "x.shape[-2]").explain("""
    every row was divided by the length of the text
    why: Row t has only t + 1 ones.
    ask: If all vectors are ones, what should the result be at position 0?""")
mistake("everything", "tri(x.shape[-2], dtype=x.dtype)", "ones((x.shape[-2], x.shape[-2]), dtype=x.dtype)").explain("""
    the matrix has no zeros: every position sees the whole text
    why: All positions then have the same vector, and all but the last one have seen later positions.
    ask: Which entries of the matrix should be 0?""")
mistake("second-axis", "x.shape[-2]", "x.shape[1]").explain("""
    the length was read from the second axis: it needs exactly one batch axis
    why: With no batch axis, or with two of them, the second axis is not that of the positions.
    ask: Counted from the end, which axis is that of the positions, whatever comes before it?""")
mistake("always-float64", "dtype=x.dtype", "dtype=np.float64", common=True).explain("""
    the result is float64 even when x is float32
    why: A float64 matrix of weights makes the product float64.
    ask: What is the dtype of the matrix of ones? How can it get the dtype of `x`?""")
mistake(
    "one-batch-axis-only", "    weights = np.tri(", "    _, _, _ = x.shape\n    weights = np.tri(", common=True
).explain(f"""
    the function needs exactly one batch axis: B, T, D = x.shape
    why: A single text has no batch axis, and there may be more than one.
    ask: {READ_FROM_THE_END}""")
mistake("first-axis", "x.shape[-2]", "x.shape[0]").explain(f"""
    the triangle has the size of the first axis
    why: That is correct for a single text. With a batch, the first axis is that of the texts.
    ask: {READ_FROM_THE_END}""")
mistake("wrong-side", "weights @ x", "x @ weights").explain("""
    the matrix is on the wrong side: x @ weights
    why: A matrix on the left combines the rows of x, which are the positions. On the right it combines the columns.
    ask: What are the shapes of the weights and of x, and in which order do they fit?""")
mistake("entry-by-entry", "weights @ x", "weights * x").explain("""
    * was used instead of the matrix product @
    why: * multiplies entry by entry. @ computes weighted sums of rows.
    ask: Which operator multiplies and sums?""")
mistake("weights-transposed", "return weights @ x", "return weights.T @ x").explain("""
    the matrix of weights was transposed
    why: Row t of the matrix holds the weights for position t. Transposed, each position combines itself and later ones.
    ask: Which entry of the matrix is the weight of position 0 in the average of position 3: [0, 3] or [3, 0]?""")

mistake = MISTAKES.for_functions("attention.causal_mask")
mistake("inverted", "return np.tri", "return ~np.tri", common=True).explain("""
    the mask was inverted: True where a query must not attend
    why: Some libraries mark the hidden keys with True. Here True means that the query may attend to the key.
    ask: What is the entry for the first query and the last key, and what should it be?""")
mistake(
    "upper-triangle",
    "return np.tri(n_queries, n_keys, k=n_keys - n_queries, dtype=bool)",
    "return np.triu(np.ones((n_queries, n_keys), dtype=bool), k=n_keys - n_queries)",
).explain("""
    the upper triangle was kept, not the lower one
    why: Every query then sees itself and later positions, but not earlier ones.
    ask: Rows are queries and columns are keys. Which keys may the first query see?""")
mistake("aligned-with-the-first-keys", "k=n_keys - n_queries, ", "", common=True).explain("""
    the queries were treated as the first positions, not as the last
    why: If there are fewer queries than keys, they are the newest positions and may see all earlier keys.
    ask: With a single query and six keys, how many keys may the query see?""")
mistake("without-diagonal", "k=n_keys - n_queries", "k=n_keys - n_queries - 1", common=True).explain("""
    a query cannot see itself
    why: The first query then sees nothing at all.
    ask: Should the condition be j < i or j ≤ i?""")
mistake("sees-the-next", "k=n_keys - n_queries", "k=n_keys - n_queries + 1").explain("""
    every query sees one later key
    why: A model that sees the next token does not need to learn to predict it.
    ask: With four queries and four keys, how many keys may the first query see?""")
mistake("offset-reversed", "k=n_keys - n_queries", "k=n_queries - n_keys").explain("""
    the offset of the diagonal has the wrong sign
    why: The mistake stays hidden with as many queries as keys. With fewer, the queries see too few keys.
    ask: With a single query and six keys, how many keys may the query see?""")
mistake("numbers", ", dtype=bool", "", common=True).explain("""
    the mask holds 1.0 and 0.0, not True and False
    why: The pattern is correct, but ~mask, indexing with a mask and `where=` need booleans.
    ask: What is the dtype of np.tri if none is given?""")
mistake(
    "additive",
    "np.tri(n_queries, n_keys, k=n_keys - n_queries, dtype=bool)",
    "np.where(np.tri(n_queries, n_keys, k=n_keys - n_queries, dtype=bool), 0.0, -np.inf)",
).explain("""
    the mask holds 0 and -inf, to be added to the scores
    why: That is another convention. In this course a mask is boolean.
    ask: What should the dtype of the mask be?""")
mistake("keys-ignored", "(n_queries, n_keys, k=n_keys - n_queries, dtype=bool)", "(n_queries, dtype=bool)").explain("""
    the mask is always square: n_keys was ignored
    why: While a model writes text, there are fewer queries than keys.
    ask: What is the shape of the mask for two queries and five keys?""")
for name, more in (("keys-required", (_TRI, _TRIL)), ("keys-required-for-offset", ())):
    mistake(
        name,
        "    if n_keys is None:\n        n_keys = n_queries\n",
        "",
        "    if n_queries > n_keys:",
        "    if False:",
        *more,
        group="without the number of keys",
    ).explain("""
        the function does not work without n_keys
        why: n_keys is None if the caller does not give it. There are then as many keys as queries.
        ask: What is n_keys in causal_mask(4)? What does the docstring say about that?""")
for name, title, mask in (
    ("without-diagonal", "no query sees itself", "np.tri(n_queries, n_keys, k=-1, dtype=bool)"),
    ("upper-triangle", "the upper triangle was kept", "np.triu(np.ones((n_queries, n_keys), dtype=bool))"),
):
    mistake(f"{name}-from-the-first-keys", _TRI, mask).explain(f"""
        {title}, with the queries as the first positions
        why: A query may see its own position and all earlier ones. With fewer queries than keys, the queries are the
             last positions, so the diagonal has to be shifted.
        ask: With one query and three keys, how many keys may the query see? And with three queries, may the first see
             key 0?""")
mistake("integers", ", dtype=bool)", ", dtype=np.int64)").explain("""
    the mask holds 1 and 0, not True and False
    why: The pattern is correct, but ~mask, indexing with a mask and `where=` need booleans. For example, ~1 is -2.
    ask: What is ~np.array(1), and what is ~np.array(True)?""")
mistake("axes-for-batch-and-heads", "dtype=bool)", "dtype=bool)[None, None]").explain("""
    the mask has extra axes in front: (1, 1, T, S)
    why: The docstring asks for (T, S). Broadcasting adds axes in front by itself, wherever they are needed.
    ask: What does broadcasting do with (T, S) and (B, H, T, S)?""")

mistake = MISTAKES.for_functions("attention.padding_mask")
mistake("query-axis", "[..., None, None, :]", "[:, None, :, None]", common=True).explain("""
    the padding is along the query axis, not along the key axis
    why: That prevents padding from attending, but does not prevent other positions from attending to padding.
    ask: The scores are (B, H, T, S). With which of these axes should the S of `keep` be aligned?""")
mistake("head-axis-missing", "[..., None, None, :]", "[..., None, :]", common=True).explain("""
    only one axis was added: (B, 1, S)
    why: Against scores of shape (B, H, T, S), the B of the mask is aligned with the H of the scores.
    ask: Broadcasting aligns axes from the right. With which axis of the scores is your B aligned?""")
mistake("no-new-axes", "[..., None, None, :]", "").explain("""
    the mask has the shape of `keep`
    why: Against scores of shape (B, H, T, S), the B of the mask is aligned with the T of the scores.
    ask: Broadcasting aligns axes from the right. With which axis of the scores is your B aligned?""")
mistake("inverted", "return np.asarray", "return ~np.asarray", common=True).explain("""
    the mask was inverted: True where there is padding
    why: Some libraries mark the padding with True. Here True means that queries may attend to the key.
    ask: What does True mean in `keep`, and what does it mean in a mask?""")
mistake(
    "both-axes",
    "return np.asarray(keep, dtype=bool)[..., None, None, :]",
    "keep = np.asarray(keep, dtype=bool)\n    return keep[:, None, None, :] & keep[:, None, :, None]",
).explain("""
    padding was masked as a query, too: (B, 1, S, S)
    why: What padding attends to does no harm, and the number of queries need not be the number of keys.
    ask: How many queries are there? Can you tell from `keep`?""")
mistake("numbers", "np.asarray(keep, dtype=bool)", "np.asarray(keep, dtype=np.float64)").explain("""
    the mask holds 1.0 and 0.0, not True and False
    why: The pattern is correct, but ~mask, indexing with a mask and `where=` need booleans.
    ask: What should the dtype of the mask be?""")
mistake("keys-not-last", "[..., None, None, :]", "[..., None, None]").explain("""
    the new axes come last, after the keys
    why: The keys are the last axis of the scores (B, H, T, S), so they must be the last axis of the mask.
    ask: With which axis of (B, H, T, S) is the last axis of your mask aligned?""")
mistake("additive", "np.asarray(keep, dtype=bool)", "np.where(keep, 0.0, -np.inf)").explain("""
    the mask holds 0 and -inf, to be added to the scores
    why: That is another convention. In this course a mask is boolean.
    ask: What should the dtype of the mask be?""")
