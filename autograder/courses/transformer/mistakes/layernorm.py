"""Mistakes in assignment 6: layer normalization and the RMS norm."""

from autograder.courses.transformer.mistakes._layernorm_backward import CANCELLED, ONE_PASS, SUBTRACT_FIRST
from autograder.courses.transformer.mistakes._layernorm_backward import MISTAKES as BACKWARD
from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes(BACKWARD)

_LAYERNORM = """
    x = as_float(x)
    mean = x.mean(axis=-1, keepdims=True)
    var = x.var(axis=-1, keepdims=True)
    return gamma * (x - mean) / np.sqrt(var + eps) + beta
"""
_RMSNORM = """
    x = as_float(x)
    square = (x * x).mean(axis=-1, keepdims=True)
    return gamma * x / np.sqrt(square + eps)
"""
_VAR = "x.var(axis=-1, keepdims=True)"

mistake = MISTAKES.for_functions("layernorm.layernorm", "layernorm.rmsnorm")
mistake("eps-smaller", "eps=1e-5", "eps=1e-6").explain("""
    eps is 1e-6 by default, not 1e-5
    why: Llama uses 1e-6. On ordinary vectors hardly anything shows; small ones come out too large.
    ask: Compare the signature with the one in the assignment.""")
mistake("gain-forgotten", "    y *= gamma\n", "", common=True).explain("""
    the gain gamma was not used
    why: With gamma 1, as at the start of training, nothing shows.
    ask: Compare your results for gamma = 1 and gamma = 2. How should they differ?""")

mistake = MISTAKES.for_functions("layernorm.layernorm")
mistake(
    "unbiased-variance",
    "np.vecdot(centred, centred)",
    "np.vecdot(centred, centred) * d / (d - 1)",
    common=True,
    inside="_normalize",
).explain("""
    the variance was divided by D - 1, not by D
    why: Statistics books, torch.var and torch.std divide by D - 1. Layer normalization uses the plain mean of the
         squared distances. With few features the result is several percent too small.
    ask: Which variance does your library compute by default? For the row 1, 2, 3, 6 it should be 3.5.""")
mistake(
    "eps-outside-root", " + float(eps))[:, None]", ")[:, None] + float(eps)", common=True, inside="_normalize"
).explain("""
    eps was added to the standard deviation, outside the root
    why: On ordinary vectors hardly anything shows. On very small ones the result is far too large, and with a large eps
         it is too small.
    ask: By hand, with eps=0.1 and a row whose entries are nearly equal: what goes into the root?""")
mistake("no-eps", " + float(eps)", "", common=True, inside="_normalize").explain("""
    eps was not used
    why: A row of equal entries has variance 0; it is divided by 0, which gives nan.
    ask: What is your result for the row 5, 5, 5, and what should it be?""")
mistake("eps-fixed", "float(eps)", "1e-5", inside="_normalize").explain("""
    the eps argument was ignored: eps is always 1e-5
    why: With the default nothing shows. With another eps the result does not change.
    ask: If you call your function with eps=10, does anything change?""")
mistake("eps-always", "float(eps)", "CONSTANT", inside="_normalize", constant=1e-3).explain("""
    the eps argument was ignored: eps is always {constant}
    why: A call with another eps must give another result; on vectors of small numbers the difference is large.
    ask: If you call your function with eps=10, does anything change?""")
mistake("eps-tiny", "eps=1e-5", "eps=1e-12").explain("""
    eps is 1e-12 by default, not 1e-5
    why: BERT uses 1e-12. Rows with a very small variance come out much larger with it.
    ask: Compare the signature with the one in the assignment.""")
mistake("no-root", "np.sqrt(", "(", common=True, inside="_normalize").explain("""
    x was divided by the variance, not by the standard deviation
    why: If you double a vector, the result is halved; it should stay the same.
    ask: If you multiply a row by 10, by which factor does your denominator grow? By which factor should it grow?""")
mistake("mean-not-subtracted", "(x - mean)", "x").body(_LAYERNORM).explain("""
    the mean was not subtracted before dividing
    why: The variance is correct, but the result is not centred. Adding 1000 to every entry should change nothing.
    ask: What is the mean of a row of your result, with gamma 1 and beta 0?""")
mistake(
    "rms-instead",
    "x.mean(axis=-1, keepdims=True)",
    "0.0",
    "x.var(axis=-1, keepdims=True)",
    "(x * x).mean(axis=-1, keepdims=True)",
).body(_LAYERNORM).explain("""
    the RMS norm was computed: the mean was not used anywhere
    why: Rows whose mean is 0 come out right, all others do not.
    ask: The mean of the row appears in two places of the formula. Where are they in your code?""")
mistake("bias-forgotten", "    y += beta\n", "", common=True).explain("""
    the bias beta was not added
    why: With beta 0, as at the start of training, nothing shows.
    ask: Try beta = 5. What should the mean of a row be?""")
mistake("gain-bias-swapped", "y *= gamma", "y *= beta", "y += beta", "y += gamma").explain("""
    gamma and beta were swapped
    why: One is multiplied, the other added. With gamma 1 and beta 0 every entry of the result is 1.
    ask: Which of the two has to be 1 to change nothing?""")
mistake("bias-inside-gain", "gamma * (x - mean)", "gamma * ((x - mean)", "+ beta", "+ beta)").body(
    _LAYERNORM
).explain("""
    the bias was added before the gain was multiplied
    why: The bias is then multiplied by the gain, too.
    ask: In the formula, which comes first: the multiplication by gamma or the addition of beta?""")
mistake("first-axis", common=True).body(_LAYERNORM.replace("axis=-1", "axis=0")).explain("""
    the mean and the variance were taken over the first axis
    why: That is what batch normalization does: each feature over the batch. Here it is each vector over its features.
    ask: Which entries share one mean: those of one token, or those of one feature?""")
mistake("second-axis", common=True).body(_LAYERNORM.replace("axis=-1", "axis=1")).explain("""
    the mean and the variance were taken over axis 1, counted from the front
    why: In a matrix that is the last axis. A single vector has no axis 1, and in a batch of texts axis 1 holds the
         positions.
    ask: Counted from the end, which axis holds the entries of one token?""")
mistake("all-axes").body(_LAYERNORM.replace("axis=-1, ", "")).explain("""
    one mean and one variance were taken over the whole array
    why: The tokens then depend on each other. A single vector comes out right, a batch does not.
    ask: Normalize one row alone, then together with other rows. Should its result change?""")
mistake("axes-without-batch").body(
    _LAYERNORM.replace("axis=-1", "axis=tuple(range(min(1, x.ndim - 1), x.ndim))")
).explain("""
    the mean and the variance were taken over all axes but the first
    why: The positions of a text must not affect each other here: each token has its own mean.
    ask: What shape should the means of an array (B, T, D) have?""")
mistake("keepdims-missing").body(_LAYERNORM.replace(", keepdims=True", "")).explain("""
    keepdims=True is missing from the mean and the variance
    why: (B, T) does not broadcast against (B, T, D). If the sizes happen to be equal there is no error, and the means
         of other rows are subtracted.
    ask: What is the shape of x.mean(axis=-1), and with which axis of x does broadcasting line it up?""")
mistake("float64", "as_float(x)", "np.asarray(x, dtype=np.float64)").body(_LAYERNORM).explain("""
    the result is float64 for every input
    why: A float32 network then computes in float64 from here on: twice the memory, and slower.
    ask: Where does your code name a dtype, or use a NumPy scalar instead of a Python number?""")
mistake("writes-into-x", "    return gamma * (x - mean) /", "    x -= mean\n    return gamma * x /").body(
    _LAYERNORM
).explain("""
    x -= … changed the caller's array
    why: The residual stream still needs the original x.
    ask: Which of your lines write into an array that you did not create?""")
for name, formula in (
    ("mean-alone-divided", "gamma * x - mean / np.sqrt(var + eps) + beta"),
    ("mean-alone-divided-and-scaled", "x - mean / np.sqrt(var + eps) * gamma + beta"),
):
    mistake(name, "gamma * (x - mean) / np.sqrt(var + eps) + beta", formula, group="brackets around x - mean").body(
        _LAYERNORM
    ).explain("""
        only the mean was divided: parentheses are missing around x - mean
        why: Python divides before it subtracts: x - mean / std is x - (mean / std).
        ask: Which operation does Python do first in a - b / c? Which should come first here?""")
mistake("squares-not-centred", "x.var(axis=-1, keepdims=True)", "(x * x).mean(axis=-1, keepdims=True)").body(
    _LAYERNORM
).explain("""
    the variance was taken without subtracting the mean first
    why: The mean of the squares is the variance only if the mean is 0. Far from 0 it is much larger.
    ask: What is the variance of the row 5, 5, 5, and what does your line compute?""")
mistake("sum-for-mean", "x.var(axis=-1, keepdims=True)", "((x - mean) ** 2).sum(axis=-1, keepdims=True)").body(
    _LAYERNORM
).explain("""
    the squared distances were added up, but not divided by D
    why: The variance is their mean. With the sum the result is too small by a factor of √D.
    ask: What does your line compute for the row 1, 2, 3, 6? The variance is 3.5.""")
mistake("matrices-only").body("""
    x = as_float(x)
    y = np.zeros_like(x)
    for i in range(len(x)):
        y[i] = gamma * (x[i] - x[i].mean()) / np.sqrt(x[i].var() + eps) + beta
    return y
""").explain("""
    the code works only for the rows of a matrix
    why: A loop over the first axis gets single numbers from a vector, and whole matrices from a batch.
    ask: What is x[0] if x has one axis, and what if x has three? Which operations need no loop over rows?""")
mistake(
    "matrix-product-with-gain", "gamma * (x - mean) / np.sqrt(var + eps)", "((x - mean) / np.sqrt(var + eps)) @ gamma"
).body(_LAYERNORM).explain("""
    the gain was multiplied with @ instead of *
    why: The gain scales each feature separately. The matrix product also sums over the features, so one number per row
         is left.
    ask: What is the shape of (B, T, D) @ (D,), and what should it be?""")
for name, variance in (
    ("one-pass-variance", "(x * x).mean(axis=-1, keepdims=True) - mean**2"),
    (
        "one-pass-variance-of-sums",
        "((x * x).sum(axis=-1, keepdims=True) - x.shape[-1] * mean**2) / x.shape[-1]",
    ),
):
    mistake(name, _VAR, variance).body(_LAYERNORM).explain(f"""
        {ONE_PASS}
        why: {CANCELLED}
        ask: {SUBTRACT_FIRST}""")
mistake("eps-squared", "var + eps", "var + eps**2").body(_LAYERNORM).explain("""
    eps was squared
    why: eps itself is added to the variance. With the default, only rows with a very small variance show the
         difference.
    ask: With eps=0.1, what is added inside the root?""")
mistake("eps-as-smallest", "np.sqrt(var + eps)", "np.maximum(np.sqrt(var), eps)").body(_LAYERNORM).explain("""
    eps was used as a lower limit, not added to the variance
    why: With the default, only rows with a very small variance show the difference. A row of equal entries comes out
         right.
    ask: With eps=0.1 and a variance of 1, what is the row divided by?""")
mistake("root-of-standard-deviation", "x.var(", "x.std(").body(_LAYERNORM).explain("""
    the root was taken twice: of np.std, which is a root already
    why: np.std is the root of np.var. The row is then divided by the fourth root of the variance.
    ask: Which of the two belongs inside the root: x.var or x.std?""")
mistake("one-plus-gain", "gamma * (x", "(1 + gamma) * (x").body(_LAYERNORM).explain("""
    1 + gamma was used as the gain, not gamma
    why: Some models store the gain as its difference from 1. Here gamma is the gain itself.
    ask: What should the result be for gamma = 0?""")
mistake("gain-as-column", "gamma * (x", "gamma[:, None] * (x", "+ beta", "+ beta[:, None]").body(_LAYERNORM).explain("""
    gamma and beta were applied to the rows: gamma[:, None]
    why: Each feature, that is each column, has its own gain. A new axis at the end makes one for each row: this fails,
         or gives wrong values if the matrix is square.
    ask: With which axis of (N, D) does broadcasting line up a vector (D,), without a new axis?""")

mistake = MISTAKES.for_functions("layernorm.rmsnorm")
mistake(
    "eps-outside-root", " + eps)", ") + eps", "/ np.sqrt(square) + eps", "/ (np.sqrt(square) + eps)", common=True
).body(_RMSNORM).explain("""
    eps was added to the root mean square, outside the root
    why: On ordinary vectors hardly anything shows. On very small ones the result is far too large, and with a large eps
         it is too small.
    ask: What exactly goes into the root in the formula?""")
mistake("no-eps", " + float(eps)", "", common=True).explain("""
    eps was not used
    why: A row of zeros is divided by 0, which gives nan.
    ask: What is your result for a row of zeros?""")
mistake(
    "mean-subtracted", "x = as_float(x)\n", "x = as_float(x)\n    x = x - x.mean(axis=-1, keepdims=True)\n", common=True
).explain("""
    the mean was subtracted, as in layer normalization
    why: The RMS norm uses no mean. Rows whose mean is 0 come out right.
    ask: What is left of layer normalization if the mean is left out everywhere?""")
mistake("variance-for-square", "(x * x).mean(axis=-1, keepdims=True)", "x.var(axis=-1, keepdims=True)").body(
    _RMSNORM
).explain("""
    the standard deviation was used instead of the root mean square
    why: The variance measures the distance from the mean; the mean square measures the distance from 0.
    ask: Does the mean of the row appear anywhere in the formula?""")
mistake("sum-for-mean", " / x.shape[-1]", "", common=True).explain("""
    the squares were added up, but not divided by D
    why: Each row then gets the length 1 instead of the root mean square 1: it is too small by a factor of √D.
    ask: What does the M in RMS stand for?""")
mistake("no-root", "np.sqrt(", "(").explain("""
    x was divided by the mean square, without the root
    why: If you double a vector, the result is halved; it should stay the same.
    ask: What does the R in RMS stand for?""")
mistake("one-plus-gain", "y *= gamma", "y *= 1 + gamma").explain("""
    1 + gamma was used as the gain, not gamma
    why: Some models store the gain as its difference from 1. Here gamma is the gain itself.
    ask: What should the result be for gamma = 0?""")
mistake("keepdims-missing", ", keepdims=True", "").body(_RMSNORM).explain("""
    keepdims=True is missing from the mean square
    why: (B, T) does not broadcast against (B, T, D). If the sizes happen to be equal there is no error, and the mean
         squares of other rows are used.
    ask: What is the shape of your mean square, and with which axis of x does broadcasting line it up?""")
mistake("square-of-the-mean", "(x * x).mean(axis=-1, keepdims=True)", "x.mean(axis=-1, keepdims=True) ** 2").body(
    _RMSNORM
).explain("""
    the mean was squared, instead of averaging the squares
    why: Positive and negative entries cancel in the mean, so the divisor is much too small.
    ask: Root, mean, square: which of the three is computed first?""")
mistake("standard-deviation", "np.sqrt(square + eps)", "x.std(axis=-1, keepdims=True)").body(_RMSNORM).explain("""
    x was divided by the standard deviation, and eps was not used
    why: The standard deviation subtracts the mean first; the root mean square does not. A row of equal entries is
         divided by 0.
    ask: What is the standard deviation of the row 5, 5, 5, and what is its root mean square?""")
mistake("standard-deviation-plus-eps", "np.sqrt(square + eps)", "(x.std(axis=-1, keepdims=True) + eps)").body(
    _RMSNORM
).explain("""
    x was divided by the standard deviation plus eps
    why: The standard deviation subtracts the mean first; the root mean square does not. And eps belongs inside the
         root.
    ask: What is the standard deviation of the row 5, 5, 5, and what is its root mean square?""")
mistake("length", "np.sqrt(square + eps)", "(np.linalg.norm(x, axis=-1, keepdims=True) + eps)").body(
    _RMSNORM
).explain("""
    x was divided by its length plus eps, not by its root mean square
    why: The length is √D times the root mean square, so the result is too small by that factor. And eps belongs inside
         the root, next to the mean of the squares.
    ask: What should the root mean square of your result be, with gamma 1?""")
for name, title, axis in (
    ("first-axis", "the squares were averaged over the first axis", "axis=0"),
    ("all-axes", "one mean square was taken over the whole array", ""),
):
    mistake(name, "axis=-1, keepdims=True", axis).body(_RMSNORM).explain(f"""
        {title}
        why: The tokens then depend on each other.
        ask: Which entries share one mean of squares: those of one token, or those of several?""")
mistake("eps-fixed", "+ eps", "+ 1e-5").body(_RMSNORM).explain("""
    the eps argument was ignored: eps is always 1e-5
    why: With the default nothing shows. With another eps the result does not change.
    ask: If you call your function with eps=10, does anything change?""")
