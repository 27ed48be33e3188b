"""Mistakes in the causal average of `attention`."""

from autograder.courses.transformer.attention.mistakes.forward import READ_FROM_THE_END
from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

mistake = MISTAKES.for_functions("attention.causal_average_matmul")
mistake(
    "upper-triangle", "np.tri(x.shape[-2], dtype=x.dtype)", "np.tri(x.shape[-2], dtype=x.dtype).T.copy()", common=True
).explain("""
    the ones are above the diagonal: every position sees later ones
    why: Row t holds the weights of position t, and earlier positions are to the left of the diagonal.
    ask: In row 0 of the matrix, which entries should not be 0?""")
mistake("without-diagonal", "x.shape[-2], dtype=x.dtype", "x.shape[-2], k=-1, dtype=x.dtype", common=True).explain("""
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
mistake("one-batch-axis-only", "    weights = np", "    _, _, _ = x.shape\n    weights = np", common=True).explain(f"""
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
    "integers-truncated", "as_float", "np.asarray", "dtype=x.dtype", "", "weights @ x", "(weights @ x).astype(x.dtype)"
).explain("""
    integers stay integers, so the averages are truncated
    why: An average written into an integer array loses its decimals.
    ask: What is the dtype of your result if `x` holds integers?""")
