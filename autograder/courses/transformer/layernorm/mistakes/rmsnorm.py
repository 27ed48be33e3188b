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
mistake("no-root", "np.sqrt(", "(", common=True).explain("""
    x was divided by the mean square, without the root
    why: If you double a vector, the normalized vector is halved; it should stay the same.
    ask: What does the R in RMS stand for?""")

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
    mistake("eps-divided-by-width", _RMS, "rms = np.sqrt(square + eps / x.shape[-1])").body(body).explain("""
        eps was added to the sum of the squares, before the division by D
        why: Only eps / D then reaches the root. On ordinary vectors the mistake hardly shows.
        ask: In the formula, is eps added to the sum of the squares or to their mean?""")
    for name, old, new, title, why in (
        (
            "variance-for-square",
            _SQUARE,
            "square = x.var(axis=-1, keepdims=True)",
            "the standard deviation was used instead of the root mean square",
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
            "sum-for-mean",
            _SQUARE,
            "square = (x * x).sum(axis=-1, keepdims=True)",
            "the squares were added up, but not divided by D",
            "Each row then gets the length 1 instead of the root mean square 1: it is too small by a factor of √D.",
        ),
        (
            "length",
            _RMS,
            "rms = np.linalg.norm(x, axis=-1, keepdims=True) + eps",
            "x was divided by its length plus eps, not by its root mean square",
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
            "all-axes",
            _SQUARE,
            "square = (x * x).mean()",
            "one mean square was taken over the whole array",
            "The tokens then depend on each other.",
        ),
        (
            "two-axes-expected",
            "    x = as_float(x)" if "dout" not in body else "    d = x.shape[-1]",
            "    x = as_float(x)\n    n, d = x.shape" if "dout" not in body else "    n, d = x.shape",
            "x was expected to have exactly two axes, (N, D)",
            "Unpacking x.shape into two names fails for every other number of axes.",
        ),
    ):
        ask = (
            "Root, mean, square, from right to left: what is the root mean square of the row 1, 2, 3, 6, with eps=0.1? "
            "Which entries share one?"
        )
        if name.endswith("expected"):
            ask = "What does `n, d = x.shape` do for one vector, and for x of shape (2, 3, 4)? Which sizes do you need?"
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
mistake("gain-plus-one", "gamma *", "(1 + gamma) *").body(_RMSNORM).explain("""
    1 + gamma is the gain, not gamma
    why: Some models, such as Gemma, store how far the gain is from 1. Here gamma is the gain itself.
    ask: What does your function return for gamma = 0, and what does the formula give?""")
mistake(
    "mean-subtracted", "x = as_float(x)\n", "x = as_float(x)\n    x = x - x.mean(axis=-1, keepdims=True)\n", common=True
).explain("""
    the mean was subtracted, as in layer normalization
    why: The RMS norm uses no mean. Rows whose mean is 0 come out right.
    ask: What is left of layer normalization if the mean is left out everywhere?""")
mistake("gain-as-column", "gamma *", "gamma[:, None] *").body(_RMSNORM).explain("""
    gamma was applied to the rows: gamma[:, None]
    why: Each feature, that is each column, has its own gain. A new axis at the end makes one for each row: this fails,
         or gives wrong values if the matrix is square.
    ask: With which axis of (N, D) does broadcasting line up a vector (D,), without a new axis?""")
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
