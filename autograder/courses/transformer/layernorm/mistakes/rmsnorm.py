"""Mistakes in the RMS norm, and in its mean square in the backward pass."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_RMSNORM = """
    x = as_float(x)
    square = (x * x).mean(axis=-1, keepdims=True)
    rms = np.sqrt(square + eps)
    return gamma * x / rms
"""
_BACKWARD = """
    x, dout = as_float(x), as_float(dout)
    d = x.shape[-1]
    square = (x * x).mean(axis=-1, keepdims=True)
    rms = np.sqrt(square + eps)
    normalized = x / rms
    dgamma = (dout * normalized).reshape(-1, d).sum(axis=0)
    g = dout * gamma
    return (g - normalized * (g * normalized).mean(axis=-1, keepdims=True)) / rms, dgamma
"""
_SQUARE, _RMS = "square = (x * x).mean(axis=-1, keepdims=True)", "rms = np.sqrt(square + eps)"

mistake = MISTAKES.for_functions("layernorm.rmsnorm", "layernorm.rmsnorm_backward")
mistake("no-eps", " + float(eps)", "", common=True).explain("""
    eps was not used
    why: A row of zeros is divided by 0, which gives nan.
    ask: Where is eps in your code? What does a row of zeros give?""")
mistake("eps-always", "float(eps)", "CONSTANT", constant=1e-3).explain("""
    the eps argument was ignored: eps was always {constant}
    why: A call with another eps must give another result; on vectors of small numbers the difference is large.
    ask: If you call your function with eps=10, does anything change?""")
mistake("eps-scaled", "float(eps)", "CONSTANT * float(eps)", constant=2.0).explain("""
    eps was multiplied by {constant}
    why: eps itself is added to the mean of the squares. With the default, only small rows show the difference.
    ask: With eps=0.1, what is added inside the root?""")
mistake("no-root", "np.sqrt(", "(", common=True).explain("""
    x was divided by the mean square, without the root
    why: If you double a vector, the normalized vector is halved; it should stay the same.
    ask: What does the R in RMS stand for?""")
for name, new, title, why in (
    ("eps-squared", "float(eps) ** 2", "eps was squared", "eps itself is added to the mean of the squares."),
    (
        "eps-root",
        "float(eps) ** 0.5",
        "the root of eps was added inside the root",
        "eps itself is added to the mean of the squares.",
    ),
    (
        "eps-divided-by-d",
        "float(eps) / x.shape[-1]",
        "eps was divided by D",
        "eps is added after the division by D, to the mean of the squares.",
    ),
    (
        "eps-for-each",
        "float(eps) * x.shape[-1]",
        "eps was added D times",
        "eps is added once, to the mean of the squares, not to each of them before the sum.",
    ),
):
    mistake(name, "float(eps)", new).explain(f"""
        {title}
        why: {why} With the default, only small rows show the difference.
        ask: With eps=0.1, what is added inside the root, and at which step?""")

_KEEPDIMS = """
    keepdims=True is missing from the mean square
    why: (B, T) does not broadcast against (B, T, D). If the sizes happen to be equal there is no error, and the mean
         squares of other rows are used.
    ask: What is the shape of your mean square, and with which axis of x does broadcasting line it up?"""
for function, body in (("layernorm.rmsnorm", _RMSNORM), ("layernorm.rmsnorm_backward", _BACKWARD)):
    mistake = MISTAKES.for_functions(function)
    mistake("eps-outside-root", _RMS, "rms = np.sqrt(square) + eps", common=True).body(body).explain("""
        eps was added to the root mean square, outside the root
        why: On ordinary vectors the mistake hardly shows. On very small ones the result is far too large, and with a
             large eps it is too small.
        ask: What exactly goes into the root in the formula?""")
    for name, old, new, title, why in (
        (
            "eps-twice",
            _RMS,
            "rms = np.sqrt(square + eps) + eps",
            "eps was added twice: inside the root and outside",
            "The formula has one eps, inside the root.",
        ),
        (
            "eps-as-smallest",
            _RMS,
            "rms = np.maximum(np.sqrt(square), eps)",
            "eps was used as a lower limit, not added to the mean square",
            "With the default, only rows with very small entries show the difference.",
        ),
        (
            "eps-as-smallest-square",
            _RMS,
            "rms = np.sqrt(np.maximum(square, eps))",
            "eps was used as a lower limit of the mean square, not added to it",
            "With the default, only rows with very small entries show the difference.",
        ),
        (
            "variance-for-square",
            _SQUARE,
            "square = x.var(axis=-1, keepdims=True)",
            "the standard deviation was used instead of the root mean square",
            "The variance measures the distance from the mean; the mean square measures the distance from 0.",
        ),
        (
            "unbiased-variance-for-square",
            _SQUARE,
            "square = x.var(axis=-1, keepdims=True, ddof=1)",
            "the standard deviation with D - 1 was used instead of the root mean square",
            "The variance measures the distance from the mean; the mean square measures the distance from 0.",
        ),
        (
            "standard-deviation",
            _RMS,
            "rms = x.std(axis=-1, keepdims=True)",
            "x was divided by the standard deviation, and eps was not used",
            "The standard deviation subtracts the mean first. A row of equal entries is divided by 0.",
        ),
        (
            "standard-deviation-plus-eps",
            _RMS,
            "rms = x.std(axis=-1, keepdims=True) + eps",
            "x was divided by the standard deviation plus eps",
            "The standard deviation subtracts the mean first, and eps belongs inside the root.",
        ),
        (
            "square-of-the-mean",
            _SQUARE,
            "square = x.mean(axis=-1, keepdims=True) ** 2",
            "the mean was squared, instead of averaging the squares",
            "Positive and negative entries cancel in the mean, so the divisor is much too small.",
        ),
        (
            "absolute-values",
            _RMS,
            "rms = np.abs(x).mean(axis=-1, keepdims=True) + eps",
            "the mean of the absolute values was used, not the root mean square",
            "The entries are squared, averaged, and then the root is taken.",
        ),
        (
            "largest-entry",
            _RMS,
            "rms = np.abs(x).max(axis=-1, keepdims=True) + eps",
            "x was divided by its largest absolute value",
            "The entries are squared, averaged, and then the root is taken.",
        ),
        (
            "sum-for-mean",
            _SQUARE,
            "square = (x * x).sum(axis=-1, keepdims=True)",
            "the squares were added up, but not divided by D",
            "Each row then gets the length 1 instead of the root mean square 1: it is too small by a factor of √D.",
        ),
        (
            "divided-by-d-minus-1",
            _SQUARE,
            "square = (x * x).sum(axis=-1, keepdims=True) / (x.shape[-1] - 1)",
            "the sum of the squares was divided by D - 1, not by D",
            "The M stands for mean. A division by D - 1 is for the variance of a sample.",
        ),
        (
            "square-root-of-sum",
            _RMS,
            "rms = np.sqrt((x * x).sum(axis=-1, keepdims=True) + eps) / x.shape[-1]",
            "the division by D came after the root, not before it",
            "Root, mean, square are computed from right to left: the mean is taken before the root.",
        ),
        (
            "length",
            _RMS,
            "rms = np.linalg.norm(x, axis=-1, keepdims=True) + eps",
            "x was divided by its length plus eps, not by its root mean square",
            "The length is √D times the root mean square, and eps belongs inside the root.",
        ),
        (
            "length-without-eps",
            _RMS,
            "rms = np.linalg.norm(x, axis=-1, keepdims=True)",
            "x was divided by its length, not by its root mean square",
            "The length is √D times the root mean square, and eps belongs inside the root.",
        ),
        (
            "first-axis",
            _SQUARE,
            "square = (x * x).mean(axis=0)",
            "the squares were averaged over the first axis",
            "The tokens then depend on each other.",
        ),
        (
            "second-axis",
            _SQUARE,
            "square = (x * x).mean(axis=1, keepdims=True)",
            "the squares were averaged over axis 1, counted from the front",
            "In a matrix that is the last axis; in a batch of texts it holds the positions.",
        ),
        (
            "all-axes",
            _SQUARE,
            "square = (x * x).mean()",
            "one mean square was taken over the whole array",
            "The tokens then depend on each other.",
        ),
        (
            "axes-without-batch",
            _SQUARE,
            "square = (x * x).mean(axis=tuple(range(min(1, x.ndim - 1), x.ndim)), keepdims=True)",
            "the squares were averaged over all axes but the first",
            "The tokens of a text then depend on each other.",
        ),
        (
            "two-axes-expected",
            "    x = as_float(x)" if "dout" not in body else "    d = x.shape[-1]",
            "    x = as_float(x)\n    n, d = x.shape" if "dout" not in body else "    n, d = x.shape",
            "x was expected to have exactly two axes, (N, D)",
            "Unpacking x.shape into two names fails for every other number of axes.",
        ),
        (
            "three-axes-expected",
            "    x = as_float(x)" if "dout" not in body else "    d = x.shape[-1]",
            "    x = as_float(x)\n    b, t, d = x.shape" if "dout" not in body else "    b, t, d = x.shape",
            "x was expected to have exactly three axes, (B, T, D)",
            "Unpacking x.shape into three names fails for every other number of axes.",
        ),
    ):
        ask = (
            "Root, mean, square, from right to left: what is the root mean square of the row 1, 2, 3, 6, with eps=0.1? "
            "Which entries share one?"
        )
        if name.endswith("expected"):
            ask = "Which shapes of x does the docstring allow? Which of the sizes do you need?"
        mistake(name, old, new).body(body).explain(f"""
            {title}
            why: {why}
            ask: {ask}""")
    mistake("keepdims-missing", ", keepdims=True)\n    rms", ")\n    rms").body(body).explain(_KEEPDIMS)

mistake = MISTAKES.for_functions("layernorm.rmsnorm")
mistake("gain-forgotten", "    y *= gamma\n", "", common=True).explain("""
    the gain gamma was not used
    why: With gamma 1, as at the start of training, the mistake stays hidden.
    ask: Compare your results for gamma = 1 and gamma = 2. How should they differ?""")
mistake(
    "mean-subtracted", "x = as_float(x)\n", "x = as_float(x)\n    x = x - x.mean(axis=-1, keepdims=True)\n", common=True
).explain("""
    the mean was subtracted, as in layer normalization
    why: The RMS norm uses no mean. Rows whose mean is 0 come out right.
    ask: What is left of layer normalization if the mean is left out everywhere?""")
mistake("mean-subtracted-outside", "gamma * x", "gamma * (x - x.mean(axis=-1, keepdims=True))").body(
    _RMSNORM
).explain("""
    the mean was subtracted before dividing
    why: The RMS norm uses no mean: x itself is divided by its root mean square.
    ask: Does the mean of the row appear anywhere in the formula?""")
for name, new, title in (
    ("one-plus-gain", "y *= 1 + gamma", "1 + gamma was used as the gain, not gamma"),
    ("gain-added", "y += gamma", "the gain was added, not multiplied"),
    ("gain-divided", "y /= gamma", "the result was divided by the gain, not multiplied by it"),
    ("absolute-gain", "y *= np.abs(gamma)", "the absolute value of the gain was used"),
):
    mistake(name, "y *= gamma", new).explain(f"""
        {title}
        why: The result is gamma times the normalized x. A learned gain may be negative.
        ask: What should the result be for gamma = 0, and what for gamma = -1?""")
mistake("multiplied", "x / rms", "x * rms").body(_RMSNORM).explain("""
    x was multiplied by its root mean square, not divided by it
    why: If you double a vector, the result becomes four times as large; it should stay the same.
    ask: What should the root mean square of your result be, with gamma 1?""")
mistake("gain-as-column", "gamma *", "gamma[:, None] *").body(_RMSNORM).explain("""
    gamma was applied to the rows: gamma[:, None]
    why: Each feature, that is each column, has its own gain. A new axis at the end makes one for each row: this fails,
         or gives wrong values if the matrix is square.
    ask: With which axis of (N, D) does broadcasting line up a vector (D,), without a new axis?""")
mistake("matrix-product-with-gain", "gamma * x / rms", "(x / rms) @ gamma").body(_RMSNORM).explain("""
    the gain was multiplied with @ instead of *
    why: The gain scales each feature separately. The matrix product also sums over the features, so one number per row
         is left.
    ask: What is the shape of (B, T, D) @ (D,), and what should it be?""")
mistake("leading-axes-lost", "    return y", "    return y.reshape(-1, x.shape[-1])").explain("""
    the result has lost the leading axes of x
    why: (B, T, D) was reshaped to rows, and was not reshaped back.
    ask: What is the shape of x, and what is the shape of your result?""")
mistake("matrices-only").body("""
    x = as_float(x)
    y = np.zeros_like(x)
    for i in range(len(x)):
        y[i] = gamma * x[i] / np.sqrt((x[i] ** 2).mean() + eps)
    return y
""").explain("""
    the code works only for the rows of a matrix
    why: A loop over the first axis gets single numbers from a vector, and whole matrices from a batch.
    ask: What is x[0] if x has one axis, and what if x has three? Which operations need no loop over rows?""")
mistake(
    "integers-squared",
    "x = as_float(x)",
    "squares = np.square(x)\n    x = as_float(x)",
    "np.vecdot(x, x)",
    "squares.sum(axis=-1)",
).explain("""
    integers were squared before they were converted to floats
    why: The squares of small integer types overflow: in 8 bits, 100 · 100 is 16.
    ask: Which dtype does x have in the line that squares it, if x holds integers?""")
mistake("writes-into-x", "y = x /", "x /=", "y *= gamma", "y = x * gamma").explain("""
    x /= … changed the caller's array
    why: The residual stream still needs the original x.
    ask: Which of your lines write into an array that you did not create?""")
