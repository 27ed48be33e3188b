"""Mistakes in assignment 4: averages and masks; those of `attention` itself are in `_attention_forward`."""

from autograder.courses.transformer.mistakes._attention_backward import MISTAKES as BACKWARD
from autograder.courses.transformer.mistakes._attention_forward import HOW_MANY
from autograder.courses.transformer.mistakes._attention_forward import MISTAKES as FORWARD
from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes(FORWARD, BACKWARD)


mistake = MISTAKES.for_functions("attention.causal_average_loop")
mistake("sees-the-next", ": t + 1, :]", ": t + 2, :]", common=True).explain("""
    the average includes the next position
    why: A model that sees the next character needs not learn to predict it.
    ask: A slice leaves out its end. For position 0, which positions does your slice hold?""")
mistake("not-itself", ": t + 1, :]", ":t, :]", common=True).explain("""
    the average leaves out the position itself
    why: A slice leaves out its end: `:t` stops before t. At position 0 nothing is left to average, and that is nan.
    ask: For position 0, how many vectors does your slice hold?""")
mistake("sum-not-mean", ".mean(axis=-2)", ".sum(axis=-2)", common=True).explain("""
    the vectors were added up, not averaged
    why: Later positions get larger and larger vectors.
    ask: Try it on vectors that are all ones. What should come out?""")
mistake("divided-by-length", ".mean(axis=-2)", ".sum(axis=-2) / x.shape[-2]").explain("""
    every sum was divided by the length of the text
    why: At position t only t + 1 vectors were added.
    ask: Try it on vectors that are all ones. What should come out at position 0?""")
mistake("divided-by-t", ".mean(axis=-2)", ".sum(axis=-2) / t").explain("""
    the sum was divided by t, not by t + 1
    why: Positions are counted from 0: at position t there are t + 1 vectors. At position 0 it is a division by 0.
    ask: How many vectors are there to average at position 0?""")
mistake("future-not-past", ": t + 1, :]", "t:, :]").explain("""
    the average runs over the position and everything after it
    why: The future is what a language model must not see.
    ask: What should the first position be after averaging, if it can only see itself?""")
mistake("whole-text", ": t + 1, :]", ":, :]").explain("""
    every position got the average of the whole text
    why: All positions then carry the same vector, and every one of them has seen the future.
    ask: What should the first position be after averaging, if it can only see itself?""")
mistake(
    "second-axis",
    "range(x.shape[-2])",
    "range(x.shape[1])",
    "out[..., t, :] = x[..., : t + 1, :].mean(axis=-2)",
    "out[:, t] = x[:, : t + 1].mean(axis=1)",
).explain("""
    the loop runs over the second axis: it works only with exactly one batch axis
    why: With no batch axis or two of them, the second axis is not that of the positions.
    ask: Counted from the end, which axis is that of the positions, whatever stands before it?""")
mistake("always-float64", "np.empty_like(x)", "np.empty(x.shape)", common=True).explain("""
    the result is always float64
    why: np.empty and np.zeros make float64 unless they are told otherwise.
    ask: Of what dtype is the array in which you collect the results?""")
mistake("integers-truncated", "x = as_float(x)", "x = np.asarray(x)").explain("""
    integers stay integers, so that the averages are cut off
    why: An average written into an array of integers loses what comes after the point.
    ask: Of what dtype is the array in which you collect the results, if `x` holds integers?""")
mistake(
    "one-batch-axis-only",
    "    out = np.empty_like(x)",
    "    _, _, _ = x.shape\n    out = np.empty_like(x)",
    common=True,
).explain(f"""
    it works with exactly one batch axis: B, T, D = x.shape
    why: A single text has no batch axis, and there may be more than one.
    ask: {HOW_MANY}""")
mistake("first-axis").body("""
    x = as_float(x)
    out = np.zeros_like(x)
    for t in range(len(x)):
        out[t] = x[: t + 1].mean(axis=0)
    return out
""").explain("""
    the loop and the mean ran over the first axis
    why: That is right for a single text. With a batch the first axis is the texts, and they get mixed.
    ask: Which axis holds the positions, counted from which end?""")
mistake("last-axis").body("""
    x = as_float(x)
    out = np.zeros_like(x)
    for t in range(x.shape[-1]):
        out[..., t] = x[..., : t + 1].mean(axis=-1)
    return out
""").explain("""
    the loop ran over the last axis, the numbers of a vector
    why: Positions are to be averaged, and they are the last axis but one.
    ask: Which axis of (B, T, D) holds the positions?""")
mistake("mean-of-everything", ".mean(axis=-2)", ".mean()").explain("""
    the mean went over all numbers so far, not over the positions
    why: One number is left for all texts and all D entries of the vector.
    ask: What shape should the mean of (..., t + 1, D) have? What does .mean() without an axis give?""")
mistake("written-into-x", "out = np.empty_like(x)", "out = x").explain("""
    the averages were written into x itself
    why: Later positions then average averages, and the caller's array is changed.
    ask: When position 2 is averaged, what stands at positions 0 and 1 by then?""")
for name, title, mean in (
    ("the-features", "the numbers of each vector (axis=-1)", ".mean(axis=-1)"),
    ("the-features-kept", "the numbers of each vector (axis=-1)", ".mean(axis=-1, keepdims=True)"),
    ("the-texts", "the first axis (axis=0)", ".mean(axis=0)"),
):
    mistake(f"mean-over-{name}", ".mean(axis=-2)", mean).explain(f"""
        the mean went over {title}
        why: Positions are to be averaged, and nothing else. The shape that is left is an error, or, where two sizes are
             equal, silently wrong numbers.
        ask: The slice is (..., t + 1, D), and (..., D) should be left. Which axis has to go, counted from the end?""")
mistake("mean-over-second-axis", ".mean(axis=-2)", ".mean(axis=1)").explain("""
    the mean went over axis 1, counted from the front
    why: That is right with exactly one batch axis. A single text has its features there, and a batch of batches its
         texts.
    ask: The slice is (..., t + 1, D). Which axis holds the positions, counted from the end?""")
mistake("mean-with-the-mean-before").body("""
    x = as_float(x)
    out = x.copy()
    for t in range(1, x.shape[-2]):
        out[..., t, :] = (out[..., t - 1, :] + x[..., t, :]) / 2
    return out
""").explain("""
    each position was averaged with the average before it, half and half
    why: The average before stands for t vectors and the new one for one: they do not count the same.
    ask: At position 2, which share of the result should the vector at position 0 have? Which one does it have?""")

mistake = MISTAKES.for_functions("attention.causal_average_matmul")
mistake(
    "upper-triangle", "np.tri(x.shape[-2], dtype=x.dtype)", "np.tri(x.shape[-2], dtype=x.dtype).T.copy()", common=True
).explain("""
    the ones stand above the diagonal: everybody sees the future
    why: Row t says whom position t looks at; the past is to the left of the diagonal.
    ask: In row 0 of the matrix, which entries should not be 0?""")
mistake(
    "without-diagonal", "np.tri(x.shape[-2], dtype=x.dtype)", "np.tri(x.shape[-2], k=-1, dtype=x.dtype)", common=True
).explain("""
    the diagonal is left out: no position sees itself
    why: Row 0 is then empty, and 0/0 is nan.
    ask: In row 0 of the matrix, which entries should not be 0?""")
mistake("sees-the-next", "np.tri(x.shape[-2], dtype=x.dtype)", "np.tri(x.shape[-2], k=1, dtype=x.dtype)").explain("""
    one diagonal too many: every position sees the next one
    why: A model that sees the next character needs not learn to predict it.
    ask: In row 0 of the matrix, which entries should not be 0?""")
mistake("rows-not-normalised", "weights /= weights.sum(axis=-1, keepdims=True)", "pass", common=True).explain("""
    the rows do not add up to 1
    why: A matrix of ones and zeros adds up; it does not average.
    ask: Try it on vectors that are all ones. What should come out?""")
mistake("columns-normalised", "weights.sum(axis=-1, keepdims=True)", "weights.sum(axis=0)").explain("""
    the columns add up to 1, not the rows
    why: Each row is the weights of one average.
    ask: Position t of the result uses one row of the matrix. What must this row add up to?""")
mistake("keepdims-forgotten", "weights.sum(axis=-1, keepdims=True)", "weights.sum(axis=-1)").explain("""
    keepdims=True is missing from the row sums
    why: A vector of T sums is divided along the columns: the matrix is square, so that nothing complains.
    ask: Row 2 has the sum 3. Which entries of the matrix does your code divide by 3?""")
mistake("divided-by-length", "weights.sum(axis=-1, keepdims=True)", "x.shape[-2]").explain("""
    every row was divided by the length of the text
    why: Row t has only t + 1 ones.
    ask: Try it on vectors that are all ones. What should come out at position 0?""")
mistake("everything", "tri(x.shape[-2], dtype=x.dtype)", "ones((x.shape[-2], x.shape[-2]), dtype=x.dtype)").explain("""
    the matrix has no zeros: every position sees the whole text
    why: All positions then carry the same vector, and every one of them has seen the future.
    ask: Which entries of the matrix should be 0?""")
mistake("second-axis", "x.shape[-2]", "x.shape[1]").explain("""
    the length was read from the second axis: it works only with exactly one batch axis
    why: With no batch axis or two of them, the second axis is not that of the positions.
    ask: Counted from the end, which axis is that of the positions, whatever stands before it?""")
mistake("always-float64", "dtype=x.dtype", "dtype=np.float64", common=True).explain("""
    float32 became float64
    why: A matrix of averages in float64 makes the product float64.
    ask: Of what dtype is the matrix of ones? Where could it get the dtype of `x`?""")
mistake(
    "one-batch-axis-only", "    weights = np.tri(", "    _, _, _ = x.shape\n    weights = np.tri(", common=True
).explain(f"""
    it works with exactly one batch axis: B, T, D = x.shape
    why: A single text has no batch axis, and there may be more than one.
    ask: {HOW_MANY}""")
mistake("first-axis", "x.shape[-2]", "x.shape[0]").explain(f"""
    the triangle has the size of the first axis
    why: That is right for a single text. With a batch the first axis is the texts.
    ask: {HOW_MANY}""")
mistake("wrong-side", "weights @ x", "x @ weights").explain("""
    the matrix stands on the wrong side: x @ weights
    why: A matrix on the left mixes the rows of x, which are the positions; on the right it mixes the columns.
    ask: What are the shapes of the weights and of x, and in which order do they fit?""")
mistake("entry-by-entry", "weights @ x", "weights * x").explain("""
    * was written, where the matrix product @ belongs
    why: * multiplies entry by entry. A weighted sum of rows is what @ computes.
    ask: Which operator multiplies and adds up?""")
mistake("weights-transposed", "return weights @ x", "return weights.T @ x").explain("""
    the matrix of the weights was transposed
    why: Row t of the matrix says what goes into position t. Transposed, a position is made of itself and the future.
    ask: Which entry of the matrix says how much of position 0 is in position 3: [0, 3] or [3, 0]?""")

mistake = MISTAKES.for_functions("attention.causal_mask")
mistake("inverted", "return np.tri", "return ~np.tri", common=True).explain("""
    the mask is inverted: True where a query must not look
    why: Some libraries mark what is hidden. Here True means: may look.
    ask: What is the entry for the first query and the last key? And what should it be?""")
mistake(
    "upper-triangle",
    "return np.tri(n_queries, n_keys, k=n_keys - n_queries, dtype=bool)",
    "return np.triu(np.ones((n_queries, n_keys), dtype=bool), k=n_keys - n_queries)",
).explain("""
    the upper triangle was kept, not the lower one
    why: Every query sees itself and the future, and not the past.
    ask: Rows are queries, columns are keys. Which keys may the first query see?""")
mistake("aligned-with-the-first-keys", "k=n_keys - n_queries, ", "", common=True).explain("""
    the queries were taken for the first positions, not for the last
    why: When fewer queries than keys are given, they are the newest ones, and may see all the older keys.
    ask: With a single query and six keys, how many keys may it see?""")
mistake("without-diagonal", "k=n_keys - n_queries", "k=n_keys - n_queries - 1", common=True).explain("""
    a query cannot see itself
    why: The first query then sees nothing at all.
    ask: Is the condition j < i or j ≤ i?""")
mistake("sees-the-next", "k=n_keys - n_queries", "k=n_keys - n_queries + 1").explain("""
    every query sees one key of the future
    why: A model that sees the next character needs not learn to predict it.
    ask: How many keys may the first of four queries see, when there are four keys?""")
mistake("offset-reversed", "k=n_keys - n_queries", "k=n_queries - n_keys").explain("""
    the offset of the diagonal has the wrong sign
    why: With as many queries as keys nothing shows; with fewer, the last queries see too little.
    ask: With a single query and six keys, how many keys may it see?""")
mistake("numbers", ", dtype=bool", "", common=True).explain("""
    the mask holds 1.0 and 0.0, not True and False
    why: The pattern is right, but ~mask, mask indexing and `where=` need booleans.
    ask: What does np.tri return if it is not told otherwise?""")
mistake(
    "additive",
    "np.tri(n_queries, n_keys, k=n_keys - n_queries, dtype=bool)",
    "np.where(np.tri(n_queries, n_keys, k=n_keys - n_queries, dtype=bool), 0.0, -np.inf)",
).explain("""
    the mask holds 0 and -inf, to be added to the scores
    why: That is another convention. Here a mask is boolean.
    ask: What should the dtype of the mask be?""")
mistake("keys-ignored", "(n_queries, n_keys, k=n_keys - n_queries, dtype=bool)", "(n_queries, dtype=bool)").explain("""
    the mask is always square: n_keys is not used
    why: During generation there are fewer queries than keys.
    ask: What is the shape of the mask for two queries and five keys?""")
mistake(
    "keys-required",
    "    if n_keys is None:\n        n_keys = n_queries\n",
    "",
    "    if n_queries > n_keys:",
    "    if False:",
    "np.tri(n_queries, n_keys, k=n_keys - n_queries, dtype=bool)",
    "np.tril(np.ones((n_queries, n_keys), dtype=bool), k=n_keys - n_queries)",
    group="without the number of keys",
).explain("""
    it does not work without the number of keys
    why: n_keys is None when nobody gives it: then there are as many keys as queries.
    ask: What is n_keys in causal_mask(4)? What does the docstring say about that?""")
mistake(
    "keys-required-for-offset",
    "    if n_keys is None:\n        n_keys = n_queries\n",
    "",
    "    if n_queries > n_keys:",
    "    if False:",
    group="without the number of keys",
).explain("""
    it does not work without the number of keys
    why: n_keys is None when nobody gives it: then there are as many keys as queries.
    ask: What is n_keys in causal_mask(4)? What does the docstring say about that?""")
for name, title, mask in (
    ("without-diagonal", "a query cannot see itself", "np.tri(n_queries, n_keys, k=-1, dtype=bool)"),
    ("upper-triangle", "the upper triangle was kept", "np.triu(np.ones((n_queries, n_keys), dtype=bool))"),
):
    mistake(
        f"{name}-from-the-first-keys", "np.tri(n_queries, n_keys, k=n_keys - n_queries, dtype=bool)", mask
    ).explain(f"""
        {title}, and the queries were taken for the first positions, not for the last
        why: np.triu(…, k=1) is the future without the present, k=0 the future and the present; what is not in it may be
             seen. And with fewer queries than keys the diagonal has to be moved.
        ask: For one query and three keys: how many of them may it see? And for three queries, may the first see key
             0?""")
mistake("integers", ", dtype=bool)", ", dtype=np.int64)").explain("""
    the mask holds 1 and 0, not True and False
    why: The pattern is right, but ~mask, mask indexing and `where=` need booleans: ~1 is -2.
    ask: What does ~1 give, and what ~True?""")
mistake("axes-for-batch-and-heads", "dtype=bool)", "dtype=bool)[None, None]").explain("""
    the mask has axes for the batch and the heads: (1, 1, T, S)
    why: The docstring asks for (T, S). Broadcasting adds the axes in front by itself, wherever they are needed.
    ask: What does broadcasting do with (T, S) and (B, H, T, S)?""")

mistake = MISTAKES.for_functions("attention.padding_mask")
mistake("query-axis", "[..., None, None, :]", "[:, None, :, None]", common=True).explain("""
    the padding stands along the queries, not along the keys
    why: It would forbid padding to look, not others to look at padding.
    ask: The scores are (B, H, T, S). Which of these axes should the S of `keep` land on?""")
mistake("head-axis-missing", "[..., None, None, :]", "[..., None, :]", common=True).explain("""
    there is only one new axis: (B, 1, S)
    why: Against scores of shape (B, H, T, S), the B of the mask meets the H of the scores.
    ask: Broadcasting lines axes up from the right. Which axis of the scores does your B meet?""")
mistake("no-new-axes", "[..., None, None, :]", "").explain("""
    the mask has the shape of `keep`
    why: Against scores of shape (B, H, T, S), the B of the mask meets the T of the scores.
    ask: Broadcasting lines axes up from the right. Which axis of the scores does your B meet?""")
mistake("inverted", "return np.asarray", "return ~np.asarray", common=True).explain("""
    the mask is inverted: True where there is padding
    why: Some libraries mark the padding. Here True means: may be looked at.
    ask: What does True mean in `keep`, and what in a mask?""")
mistake(
    "both-axes",
    "return np.asarray(keep, dtype=bool)[..., None, None, :]",
    "keep = np.asarray(keep, dtype=bool)\n    return keep[:, None, None, :] & keep[:, None, :, None]",
).explain("""
    padding was forbidden to look, too: a mask of shape (B, 1, S, S)
    why: What padding looks at does no harm, and in cross attention there are not even as many queries as keys.
    ask: How many queries are there? Does `keep` know?""")
mistake("numbers", "np.asarray(keep, dtype=bool)", "np.asarray(keep, dtype=np.float64)").explain("""
    the mask holds 1.0 and 0.0, not True and False
    why: The pattern is right, but ~mask, mask indexing and `where=` need booleans.
    ask: What should the dtype of the mask be?""")
mistake("keys-not-last", "[..., None, None, :]", "[..., None, None]").explain("""
    the new axes come last, after the keys
    why: The keys are the last axis of the scores, (B, H, T, S), and the mask has to line up with them.
    ask: With which axis of (B, H, T, S) does the last axis of your mask line up?""")
mistake("additive", "np.asarray(keep, dtype=bool)", "np.where(keep, 0.0, -np.inf)").explain("""
    the mask holds 0 and -inf, to be added to the scores
    why: That is another convention. Here a mask is boolean.
    ask: What should the dtype of the mask be?""")
