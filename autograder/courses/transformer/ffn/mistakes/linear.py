"""Mistakes in linear layers and their gradients."""

from autograder.courses.transformer.common.mistakes.difference_quotients import difference_quotient
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
for name, new, title in (
    ("bias-subtracted", "- b", "the bias was subtracted, not added"),
    ("bias-multiplied", "* b", "the product was multiplied by the bias"),
    ("bias-twice", "+ 2 * b", "the bias was added twice"),
    ("bias-summed", "+ b.sum()", "the sum of the bias was added to every entry"),
    ("first-bias-only", "+ b[0]", "the first entry of the bias was added to every entry"),
):
    mistake(name, "+ b", new).body(_LINEAR).explain(f"""
        {title}
        why: Each output has its own bias, which is added once. With a bias of 0 the mistake stays hidden.
        ask: What should the result be for x = 0?""")
mistake("bias-on-first-row", "out += b", "out[0] += b").explain("""
    the bias was added to the first row only
    why: All rows get the same bias.
    ask: What should the result be for x = 0, in every row?""")
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
mistake("weights-reshaped", "x.reshape(-1, d_in) @ W", "x.reshape(-1, d_in) @ W.reshape(d_out, d_in).T").explain("""
    the weights were brought into another order by a reshape
    why: A reshape to (D_out, D_in) is not a transpose: it reads the entries in the same order into other rows.
    ask: Does W need any change before the product with x?""")
mistake("none-not-handled").body("return as_float(x) @ W + b").explain("""
    b=None was not handled
    why: A layer without a bias gets None, and an array plus None is a TypeError.
    ask: Which values may b have according to the docstring?""")
mistake("truth-of-bias").body("""
    out = as_float(x) @ W
    if b:
        out = out + b
    return out
""").explain("""
    the bias was tested by its truth value, not with `is None`
    why: An array of several entries is neither true nor false, so NumPy raises an error.
    ask: What does `if b:`, or `b != None`, give for an array? Which operator asks whether b is the object None?""")
mistake("flattened-input").body("""
    x = as_float(x)
    out = x.reshape(x.shape[0], -1) @ W
    return out if b is None else out + b
""").explain("""
    all axes of x after the first were flattened into one
    why: Here each vector along the last axis is multiplied separately.
    ask: How many rows does your matrix have for an x of shape (B, T, D)?""")
mistake("leading-axes-lost", _RESULT, "return out").explain("""
    the result has lost the leading axes of x
    why: (B, T, D_in) was reshaped to a matrix for the product, and was not reshaped back.
    ask: What is the shape of x, and what is the shape of your result?""")
mistake("extra-axis-for-a-vector", _RESULT, "return out.reshape(*np.atleast_2d(x).shape[:-1], d_out)").explain("""
    a single vector (D_in,) gave a matrix (1, D_out)
    why: The result has the leading axes of x, and a vector has none.
    ask: What is the shape of your result for an x of shape (3,)?""")
mistake("vector-for-one-row", _RESULT, "return np.squeeze(out.reshape(*x.shape[:-1], d_out))").explain("""
    axes of length 1 were removed from the result
    why: The result has the leading axes of x, whatever their lengths.
    ask: What is the shape of your result for an x of shape (1, 1, 3)?""")
for name, axes, text in (("two", "n, d", "(N, D)"), ("three", "b_, t, d", "(B, T, D)")):
    code = f"    x = as_float(x)\n    {axes} = x.shape\n"
    mistake(f"{name}-axes-expected", "    x = as_float(x)\n", code).body(_LINEAR).explain(f"""
        x was expected to have exactly {name} axes, {text}
        why: Unpacking x.shape into {name} names fails for every other number of axes.
        ask: Which shapes of x does the docstring allow? Which of the sizes do you need?""")
for name, subscripts, text in (("two", "ni,ij->nj", "(N, D)"), ("three", "bti,ij->btj", "(B, T, D)")):
    mistake(
        f"{name}-axes-in-einsum",
        "x @ W if",
        f'np.einsum("{subscripts}", x, W) if',
        "x @ W +",
        f'np.einsum("{subscripts}", x, W) +',
    ).body(_LINEAR).explain(f"""
        the subscripts of einsum fit {name} axes only, {text}
        why: x may have any number of leading axes.
        ask: What do three dots mean in the subscripts of einsum?""")
mistake("float64", _RESULT, f"{_RESULT}.astype(np.float64)").explain("""
    the result is float64 for every input
    why: A float32 network then computes in float64 from here on: twice the memory, and slower.
    ask: Where does your code name a dtype, or make an array that has one by default?""")
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
mistake("dx-like-dout", "dx = (dout_rows @ W.T).reshape(x.shape)", "dx = as_float(dout) * 1.0").explain("""
    dx is dout, as if the layer did nothing
    why: Each entry of x reaches all outputs, by its row of W.
    ask: What is the shape of x, and what is the shape of dout?""")
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
        "dW-for-each-row",
        "x[..., :, None] * as_float(dout)[..., None, :]",
        "dW was not summed over the rows",
        "All rows used the same weights, so their contributions are added: dW has the shape of W.",
    ),
    (
        "dW-summed-over-batch",
        "(x[..., :, None] * as_float(dout)[..., None, :]).sum(axis=0)",
        "dW was summed over the first axis only",
        "All rows used the same weights, so the contributions of all of them are added.",
    ),
    (
        "dW-last-row",
        "np.outer(x.reshape(-1, d_in)[-1], dout_rows[-1])",
        "dW came from the last row only",
        "In a loop, `=` keeps the last contribution; `+=` adds all of them.",
    ),
    (
        "dW-last-text",
        "(x[-1:] if x.ndim > 2 else x).reshape(-1, d_in).T @ dout_rows[-x[-1].size // d_in * (x.ndim > 2) :]",
        "dW came from the last text of the batch only",
        "In a loop, `=` keeps the last contribution; `+=` adds all of them.",
    ),
    (
        "dW-from-sums",
        "np.outer(x.reshape(-1, d_in).sum(axis=0), dout_rows.sum(axis=0))",
        "dW is the product of two sums, not the sum of products",
        "Each row of x belongs to the same row of dout: multiply first, then sum.",
    ),
    ("dW-sign", "-{}", "dW has the wrong sign", "A step along it would then increase the loss."),
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
    (
        "dW-float64",
        "({}).astype(np.float64)",
        "dW is float64 for every input",
        "float32 should stay float32: np.zeros gives float64.",
    ),
    (
        "dW-reshaped",
        "({}).T.reshape(d_in, d_out)",
        "dW has its entries in another order: it was transposed and reshaped",
        "A reshape of the transpose has the right shape, but not the right order.",
    ),
):
    mistake(name, _DW, "dW = " + code.format(_DW[5:])).explain(f"""
        {title}
        why: {why}
        ask: dW has the shape of W, (D_in, D_out). Which rows contribute to its first entry, and how?""")
for name, new, title in (
    ("dx-sign", "return -dx, dW, db", "dx has the wrong sign"),
    ("db-sign", "return dx, dW, -db", "db has the wrong sign"),
    ("db-count", "return dx, dW, 0 * db + len(dout_rows)", "db is the number of rows, without dout"),
    (
        "db-with-gate",
        "return dx, dW, (as_float(dout) * as_float(dout)).reshape(-1, d_out).sum(axis=0)",
        "db is the sum of the squares of dout",
    ),
):
    mistake(name, _RESULTS, new).explain(f"""
        {title}
        why: The gradients are dout Wᵀ, xᵀ dout and the sum of dout.
        ask: How do the sign and the size of one entry compare with a difference quotient?""")
mistake("dx-mean", _RESULTS, "return dx / len(dout_rows), dW, db").explain("""
    dx was divided by the number of rows
    why: Each row of x has its own gradient. If the loss is a mean, the division is already in dout.
    ask: Does the forward pass divide by the number of rows anywhere?""")
mistake("dx-summed", _RESULTS, "return dx.reshape(-1, d_in).sum(axis=0), dW, db").explain("""
    dx was summed over the rows
    why: Each row of x has its own gradient: dx has the shape of x. Only parameters are shared by all rows.
    ask: What is the shape of x, and what is the shape of your dx?""")
for name, results, title in (
    ("means-of-both", "dx, dW / len(dout_rows), db / len(dout_rows)", "dW and db were divided by the number of rows"),
    (
        "means-of-all",
        "dx / len(dout_rows), dW / len(dout_rows), db / len(dout_rows)",
        "all gradients were divided by the number of rows",
    ),
    (
        "both-divided-by-first-axis",
        "dx, dW / len(x), db / len(x)",
        "dW and db were divided by the length of the first axis",
    ),
    (
        "both-means-over-batch",
        f"dx, dW / ({_TEXTS}), db / ({_TEXTS})",
        "dW and db were averaged over the batch and summed over the positions only",
    ),
):
    mistake(name, _RESULTS, f"return {results}").explain(f"""
        {title}
        why: All rows used the same parameters, so their contributions are added. If the loss is a mean, the division is
             already in dout.
        ask: Does the forward pass divide by the number of rows anywhere?""")
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
mistake("dx-extra-axis", ".reshape(x.shape)", ".reshape(np.atleast_2d(x).shape)").explain("""
    for a single vector, dx is a matrix of one row
    why: dx has the shape of x, and a vector has no axis of rows.
    ask: What is the shape of your dx for an x of shape (3,)?""")
mistake("matrices-only").body("""
    x, dout = as_float(x), as_float(dout)
    return dout @ W.T, x.T @ dout, dout.sum(axis=0)
""").explain("""
    x.T was used, which reverses all axes: that is right for a matrix only
    why: For a batch of texts, (B, T, D), x.T has the shape (D, T, B).
    ask: What is the shape of x.T if x has three axes? Which shape does the product need?""")
for name, axes, text in (("two", "n, d", "(N, D)"), ("three", "b, t, d", "(B, T, D)")):
    mistake(
        f"{name}-axes-expected", "    d_in, d_out = W.shape\n", f"    {axes} = x.shape\n    d_in, d_out = W.shape\n"
    ).explain(f"""
        x was expected to have exactly {name} axes, {text}
        why: Unpacking x.shape into {name} names fails for every other number of axes.
        ask: Which shapes of x does the docstring allow? Which of the sizes do you need?""")
for name, subscripts, text in (("two", "ni,nj->ij", "(N, D)"), ("three", "bti,btj->ij", "(B, T, D)")):
    mistake(f"{name}-axes-in-einsum", _DW, f'dW = np.einsum("{subscripts}", x, as_float(dout))').explain(f"""
        the subscripts of einsum fit {name} axes only, {text}
        why: x and dout may have any number of leading axes, or none.
        ask: How can you flatten all leading axes to one axis of rows first?""")
for order in ("dW, db, dx", "dx, db, dW", "dW, dx, db", "db, dW, dx", "db, dx, dW"):
    mistake(
        "wrong-order" if order == "dW, db, dx" else f"wrong-order-{order.replace(', ', '-')}",
        _RESULTS,
        f"return {order}",
    ).explain(f"""
        the gradients were returned in the wrong order: {order}
        why: The caller then uses one gradient in place of another.
        ask: In which order does the docstring list them?""")
mistake("db-missing", _RESULTS, "return dx, dW").explain("""
    db was not returned
    why: The caller expects three gradients; without a bias it ignores the third.
    ask: How many results does the docstring list?""")
mistake("float64", _RESULTS, "return dx.astype(float), dW.astype(float), db.astype(float)").explain("""
    the gradients are float64 for every input
    why: float32 should stay float32: np.zeros and np.ones give float64.
    ask: Which dtype does each array have on the way to the result?""")
for name in ("dx", "db"):
    mistake(f"{name}-float64", _RESULTS, _RESULTS.replace(name, f"{name}.astype(float)")).explain(f"""
        {name} is float64 for every input
        why: float32 should stay float32: np.zeros and np.ones give float64.
        ask: Which dtype does {name} have where it is created?""")
difference_quotient(
    mistake,
    "    x, W = as_float(x).copy(), W.copy()\n    b = np.zeros(W.shape[1])",
    "float((linear(x, W, b) * dout).sum())",
    "tuple(map(quotients, (x, W, b)))",
)
