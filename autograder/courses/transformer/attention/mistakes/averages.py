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
mistake("future-not-past", ": t + 1, :]", "t:, :]").explain("""
    the average includes the position and everything after it
    why: A language model must not see later positions.
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

mistake("divided-by-t-or-1", ".mean(axis=-2)", ".sum(axis=-2) / max(t, 1)").explain("""
    the sum was divided by t, or by 1 at position 0, not by t + 1
    why: Positions are counted from 0, so at position t there are t + 1 vectors.
    ask: How many vectors are summed at position 0, and how many at position 1?""")
mistake("divided-by-the-length", ".mean(axis=-2)", ".sum(axis=-2) / x.shape[-2]").explain("""
    every sum was divided by T, not by t + 1
    why: Position t averages t + 1 vectors, so only the last average is right.
    ask: How many vectors are summed at position 0, and by which number do you divide?""")

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
mistake("keepdims-forgotten", "weights.sum(axis=-1, keepdims=True)", "weights.sum(axis=-1)").explain("""
    column j was divided by j + 1, not row t by t + 1: the row sums need keepdims=True
    why: A vector of T sums then divides the columns. The matrix is square, so NumPy gives no error.
    ask: Row 2 has the sum 3. Which entries of the matrix does your code divide by 3?""")
mistake("columns-normalised", "weights.sum(axis=-1, keepdims=True)", "weights.sum(axis=0, keepdims=True)").explain("""
    the columns of the matrix sum to 1, not the rows
    why: Row t holds the weights with which position t averages, so each row must sum to 1.
    ask: Which axis do you sum over to get one sum for each row?""")
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
mistake("wrong-side", "weights @ x", "x @ weights").explain("""
    the matrix is on the wrong side: x @ weights
    why: A matrix on the left combines the rows of x, which are the positions. On the right it combines the columns.
    ask: What are the shapes of the weights and of x, and in which order do they fit?""")
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
