"""Mistakes in linear layers and their gradients."""

from autograder.courses.transformer.common.mistakes.row_sums import wrong_row_sums
from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_LINEAR = """
    x = as_float(x)
    return x @ W if b is None else x @ W + b
"""
_RESULT = "return out.reshape(*x.shape[:-1], d_out)"
_RESULTS = "return dx, dW, db"
_DW = "dW = x.reshape(-1, d_in).T @ dout_rows"
_ROWS = "np.ones(len(dout_rows), dtype=dout_rows.dtype) @ dout_rows"
_TEXTS = "len(as_float(dout).reshape(-1, *as_float(dout).shape[-2:])) if as_float(dout).ndim > 2 else 1"

mistake = MISTAKES.for_functions("ffn.linear")
mistake("bias-forgotten", "out += b", "out += 0.0", common=True).explain("""
    the bias was not added
    why: With a bias of 0, as at the start of training, the mistake stays hidden.
    ask: What should the result be for x = 0?""")
mistake("bias-subtracted", "+ b", "- b").body(_LINEAR).explain("""
    the bias was subtracted, not added
    why: Each output has its own bias, which is added once. With a bias of 0 the mistake stays hidden.
    ask: What should the result be for x = 0?""")
mistake("bias-as-column", "+ b", "+ b[:, None]").body(_LINEAR).explain("""
    the bias was applied to the rows: b[:, None]
    why: Each column of the output has its own bias. A new axis at the end makes one for each row: this fails, or gives
         wrong values if the matrix is square.
    ask: With which axis of (N, D_out) does broadcasting line up a vector (D_out,), without a new axis?""")
mistake("weights-transposed", "x @ W if", "x @ W.T if", "x @ W +", "x @ W.T +", common=True).body(_LINEAR).explain("""
    x was multiplied by the transposed weights
    why: PyTorch's nn.Linear stores its weights as (D_out, D_in); here W is (D_in, D_out). With square weights the shape
         is right, too.
    ask: Which axis of W must have the size of the last axis of x?""")
mistake("flattened-input").body("""
    x = as_float(x)
    out = x.reshape(x.shape[0], -1) @ W
    return out if b is None else out + b
""").explain("""
    all axes of x after the first were flattened into one
    why: Here each vector along the last axis is multiplied separately.
    ask: How many rows does your matrix have for an x of shape (B, T, D)?""")
mistake("extra-axis-for-a-vector", _RESULT, "return out.reshape(*np.atleast_2d(x).shape[:-1], d_out)").explain("""
    a single vector (D_in,) gave a matrix (1, D_out)
    why: The result has the leading axes of x, and a vector has none.
    ask: What is the shape of your result for an x of shape (3,)?""")
code = "    x = as_float(x)\n    n, d = x.shape\n"
mistake("two-axes-expected", "    x = as_float(x)\n", code).body(_LINEAR).explain("""
    x was expected to have exactly two axes, (N, D)
    why: Unpacking x.shape into two names fails for every other number of axes.
    ask: What happens in `n, d = x.shape` if x has the shape (2, 5, 3)? Which sizes do you need?""")
mistake("float64-bias").body("""
    x = as_float(x)
    return x @ W + (np.zeros(W.shape[1]) if b is None else b)
""").explain("""
    a missing bias was replaced by float64 zeros
    why: np.zeros is float64, and a float32 product plus float64 zeros is float64.
    ask: Which dtype does np.zeros give? Does anything have to be added when there is no bias?""")
mistake = MISTAKES.for_functions("ffn.linear_backward")
mistake("dW-transposed", _RESULTS, "return dx, dW.T, db", common=True).explain("""
    dW was transposed: doutᵀ x instead of xᵀ dout
    why: A gradient has the shape of its parameter. With square weights the shape is right, too.
    ask: What is the shape of W, and what is the shape of your dW?""")
mistake("dx-not-transposed", "dout_rows @ W.T", "dout_rows @ W", common=True).explain("""
    dx was computed with W instead of its transpose
    why: W maps D_in to D_out; the gradient goes the other way. With square weights the shape is right, too.
    ask: What are the shapes of dout, W and dx? How do they fit together?""")
mistake("dx-with-reshaped-weights", "dout_rows @ W.T", "dout_rows @ W.reshape(d_out, d_in)").explain("""
    dx was computed with W reshaped, not transposed
    why: A reshape to (D_out, D_in) reads the entries in the same order into other rows.
    ask: Which operation swaps rows and columns?""")
for name, code, title, why in (
    (
        "dW-mean",
        "{} / len(dout_rows)",
        "dW is the mean over the rows instead of the sum",
        "If the loss is a mean, the division is already in dout.",
    ),
    (
        "dW-divided-by-first-axis",
        "{} / len(x)",
        "dW was divided by the length of the first axis",
        "If the loss is a mean, the division is already in dout.",
    ),
    (
        "dW-means-over-batch",
        f"{{}} / ({_TEXTS})",
        "dW was averaged over the batch and summed over the positions only",
        "If the loss is a mean, the division is already in dout. A matrix comes out right.",
    ),
    (
        "dW-not-summed",
        "np.swapaxes(x, -1, -2) @ as_float(dout)",
        "dW was not summed over the batch",
        "All rows used the same weights, so their contributions are added: dW has the shape of W.",
    ),
    (
        "dW-of-ones",
        "x.reshape(-1, d_in).T @ np.ones_like(dout_rows)",
        "dW was computed without dout",
        "Chain rule: dout times the factor of W, which is x.",
    ),
    (
        "dW-without-x",
        "np.ones_like(x.reshape(-1, d_in)).T @ dout_rows",
        "dW was computed without x",
        "Chain rule: dout times the factor of W, which is x.",
    ),
):
    mistake(name, _DW, "dW = " + code.format(_DW[5:])).explain(f"""
        {title}
        why: {why}
        ask: dW has the shape of W, (D_in, D_out). Which rows contribute to its first entry, and how?""")
mistake("db-count", _RESULTS, "return dx, dW, 0 * db + len(dout_rows)").explain("""
    db is the number of rows, without dout
    why: The gradients are dout Wᵀ, xᵀ dout and the sum of dout.
    ask: How do the sign and the size of one entry compare with a difference quotient?""")
mistake("batch-not-summed").body("""
    x, dout = as_float(x), as_float(dout)
    return dout @ W.T, np.swapaxes(x, -1, -2) @ dout, dout.sum(axis=-2)
""").explain("""
    dW and db were not summed over the batch
    why: All rows used the same weights, so their contributions are added: dW has the shape of W.
    ask: What is the shape of W, and what is the shape of your dW?""")
wrong_row_sums(mistake, {"db": (_ROWS, "SUM", "as_float(dout)")}, (("db",),))
mistake("dx-flat", ".reshape(x.shape)", "").explain("""
    dx has lost the leading axes of x
    why: (B, T, D) was reshaped to a matrix for the product, and was not reshaped back.
    ask: What is the shape of x, and what is the shape of your dx?""")
mistake("matrices-only").body("""
    x, dout = as_float(x), as_float(dout)
    return dout @ W.T, x.T @ dout, dout.sum(axis=0)
""").explain("""
    x.T was used, which reverses all axes: that is right for a matrix only
    why: For a batch of texts, (B, T, D), x.T has the shape (D, T, B).
    ask: What is the shape of x.T if x has three axes? Which shape does the product need?""")
