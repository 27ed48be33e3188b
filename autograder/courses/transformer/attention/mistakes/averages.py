"""Mistakes in the causal averages of `attention`."""

from autograder.courses.transformer.attention.mistakes.forward import READ_FROM_THE_END
from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

mistake = MISTAKES.for_functions("attention.causal_average_loop")
mistake("sees-the-next", ": t + 1, :]", ": t + 2, :]", common=True).explain("""
    the average includes the next position
    why: A model that sees the next token does not need to learn to predict it.
    ask: A slice excludes its end. For position 0, which positions does your slice include?""")
mistake("not-itself", ": t + 1, :]", ":t, :]", common=True).explain("""
    the average left out the position itself
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
    the loop ran over the second axis: it needs exactly one batch axis
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

for name, positions, title in (
    ("last-position-missing", "range(x.shape[-2] - 1)", "the last position got no average"),
    ("first-position-missing", "range(1, x.shape[-2])", "the first position got no average"),
):
    mistake(name, "np.empty_like(x)", "np.zeros_like(x)", "range(x.shape[-2])", positions).explain(f"""
        {title}
        why: Every position has at least itself to average.
        ask: For T = 3, which values does t take in your loop?""")
for name, start, title in (
    ("previous-only", "max(t - 1, 0)", "the average covers only the position and the one before it"),
    ("three-only", "max(t - 2, 0)", "the average covers only the last three positions"),
    ("without-the-first", "min(1, t)", "the average left out the first position"),
):
    mistake(name, ": t + 1, :]", f"{start} : t + 1, :]").explain(f"""
        {title}
        why: Position t averages all positions from 0 up to and including itself.
        ask: Which positions does the formula sum for t = 3?""")
for name, divisor, title in (
    ("t-plus-2", "(t + 2)", "t + 2"),
    ("t-or-1", "max(t, 1)", "t, or by 1 at position 0"),
    ("width", "x.shape[-1]", "the width D"),
    ("texts", "len(x)", "the size of the first axis"),
):
    mistake(f"divided-by-{name}", ".mean(axis=-2)", f".sum(axis=-2) / {divisor}").explain(f"""
        the sum was divided by {title}, not by t + 1
        why: Positions are counted from 0, so at position t there are t + 1 vectors.
        ask: How many vectors are summed at position 0, and how many at position 1?""")
mistake(
    "first-text-only", "x[..., : t + 1, :].mean(axis=-2)", "x.reshape(-1, *x.shape[-2:])[0, : t + 1].mean(axis=0)"
).explain("""
    all texts got the averages of the first text
    why: Each text has its own vectors.
    ask: Which index of your code belongs to the text?""")
mistake("running-sum-changes-x").body("""
    x = as_float(x)
    out = np.empty_like(x)
    total = x[..., 0, :]
    out[..., 0, :] = total
    for t in range(1, x.shape[-2]):
        total += x[..., t, :]
        out[..., t, :] = total / (t + 1)
    return out
""").explain("""
    the running sum is a view of x, and changed it
    why: x[..., 0, :] is not a copy: `total += …` writes into the caller's array.
    ask: Which array does `total` belong to before the loop? What would a copy change?""")
for name, axis in (("everything", "None"), ("features", "-1"), ("first-axis", "0"), ("second-axis", "1")):
    total = f"x.cumsum(axis={axis})" + (".reshape(x.shape)" if axis == "None" else "")
    mistake(f"cumsum-over-{name}").body(f"""
        x = as_float(x)
        counts = np.arange(1, x.shape[-2] + 1, dtype=x.dtype)[:, None]
        return {total} / counts
    """).explain("""
        np.cumsum ran along the wrong axis
        why: The sum goes over the positions, the second-to-last axis. Without an axis, np.cumsum goes over all entries.
        ask: Which axis of (..., T, D), counted from the end, holds the positions?""")

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
    column j was divided by j + 1, not row t by t + 1: the row sums need keepdims=True
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

mistake(
    "integers-truncated",
    "x = as_float(x)",
    "x = np.asarray(x)",
    "dtype=x.dtype)",
    ")",
    "return weights @ x",
    "return (weights @ x).astype(x.dtype)",
).explain("""
    integers stay integers, so the averages are truncated
    why: An average written into an integer array loses its decimals.
    ask: What is the dtype of your result if `x` holds integers?""")
mistake(
    "integer-weights",
    "x = as_float(x)",
    "x = np.asarray(x)",
    "weights /= weights.sum(axis=-1, keepdims=True)",
    "weights = (weights / weights.sum(axis=-1, keepdims=True)).astype(x.dtype)",
).explain("""
    for integers, the weights were truncated to 0 and 1
    why: A matrix of integers cannot hold 1/2.
    ask: What is the dtype of the matrix if `x` holds integers?""")
mistake(
    "everything-in-one-row", "weights /= weights.sum(axis=-1, keepdims=True)", "weights /= weights.sum()"
).explain("""
    all rows were divided by the sum of the whole matrix
    why: Each row holds the weights of one average, so each row should sum to 1.
    ask: What does .sum() return without an axis? What is the sum of each row?""")
for name, divisor, title in (
    ("t", "np.arange(x.shape[-2], dtype=x.dtype)[:, None]", "t, not by t + 1"),
    ("t-or-1", "np.maximum(np.arange(x.shape[-2], dtype=x.dtype), 1)[:, None]", "t, or by 1 at position 0"),
    ("t-plus-2", "np.arange(2, x.shape[-2] + 2, dtype=x.dtype)[:, None]", "t + 2, not by t + 1"),
    ("reversed-counts", "np.arange(x.shape[-2], 0, -1, dtype=x.dtype)[:, None]", "T - t, not by t + 1"),
    ("width", "x.shape[-1]", "the width D, not by t + 1"),
):
    mistake(f"divided-by-{name}", "weights.sum(axis=-1, keepdims=True)", divisor).explain(f"""
        row t was divided by {title}
        why: Row t has t + 1 ones, because positions are counted from 0.
        ask: What is the sum of row 0 of your matrix, and what is that of row 1?""")
mistake(
    "softmax-of-zeros-and-ones", "weights /= weights.sum(axis=-1, keepdims=True)", "weights = softmax(weights)"
).explain("""
    the softmax was taken of ones and zeros, not of zeros and -inf
    why: exp(0) is 1, so later positions get weight, too.
    ask: Which score gets the weight 0 in a softmax?""")
mistake("averages-of-features").body("""
    x = as_float(x)
    weights = np.tri(x.shape[-1], dtype=x.dtype)
    weights /= weights.sum(axis=-1, keepdims=True)
    return x @ weights.T
""").explain("""
    the averages run over the entries of each vector, not over the positions
    why: The second-to-last axis holds the positions.
    ask: Which axis of x does your matrix combine?""")
