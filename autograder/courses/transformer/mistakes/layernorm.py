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

mistake = MISTAKES.for_functions("layernorm.layernorm")
mistake(
    "unbiased-variance",
    "np.vecdot(centred, centred)",
    "np.vecdot(centred, centred) * d / (d - 1)",
    common=True,
    inside="_normalize",
).explain("""
    the variance was divided by D - 1, not by D
    why: Statistics books, torch.var and torch.std divide by D - 1; layer normalization takes the plain mean of the
         squared distances. With few features the result is several percent too small.
    ask: Which of its two variances does your library compute by default? Try the row 1, 2, 3, 6: it should be 3.5.""")
mistake(
    "eps-outside-root", " + float(eps))[:, None]", ")[:, None] + float(eps)", common=True, inside="_normalize"
).explain("""
    eps was added to the standard deviation, outside the root
    why: On ordinary vectors hardly anything shows; on small ones, or with a large eps, the result is far too large.
    ask: Try eps=0.1 by hand on a row whose entries are all nearly equal. What is taken the root of?""")
mistake("no-eps", " + float(eps)", "", common=True, inside="_normalize").explain("""
    eps is not used
    why: A row of equal numbers has variance 0 and is divided by 0: nan.
    ask: What comes out for the row 5, 5, 5, and what would have to be different?""")
mistake("eps-fixed", "float(eps)", "1e-5", inside="_normalize").explain("""
    the eps argument is ignored: it is always 1e-5
    why: With the default nothing shows; with another eps the answer does not move.
    ask: Call it with eps=10. Does anything change?""")
mistake("eps-smaller", "eps=1e-5", "eps=1e-6").explain("""
    eps is 1e-6 by default, not 1e-5
    why: On vectors with a variance around 1 the difference is in the sixth digit; on small vectors it is large.
    ask: Compare the signature with the one in the assignment.""")
mistake("eps-tiny", "eps=1e-5", "eps=1e-12").explain("""
    eps is 1e-12 by default, not 1e-5
    why: 1e-12 is what BERT uses. Rows with very small variance are blown up.
    ask: Compare the signature with the one in the assignment.""")
mistake("no-root", "np.sqrt(", "(", common=True, inside="_normalize").explain("""
    divided by the variance instead of the standard deviation
    why: A vector that is twice as long then comes out half as long, instead of the same.
    ask: Stretch a row by 10. By how much does your denominator grow, and by how much should it?""")
mistake("mean-not-subtracted", "(x - mean)", "x").body(_LAYERNORM).explain("""
    the mean was not subtracted before dividing
    why: The variance is right but the result is not centred: adding 1000 to every entry must change nothing.
    ask: What is the mean of a row of your result, with gamma 1 and beta 0?""")
mistake(
    "rms-instead",
    "x.mean(axis=-1, keepdims=True)",
    "0.0",
    "x.var(axis=-1, keepdims=True)",
    "(x * x).mean(axis=-1, keepdims=True)",
).body(_LAYERNORM).explain("""
    this is the RMS norm: no mean is taken anywhere
    why: Rows whose mean is 0 come out right, all others do not.
    ask: There are two places in the formula where the mean of the row appears. Where are they in your code?""")
mistake("gain-forgotten", "    y *= gamma\n", "", common=True).explain("""
    the gain gamma is not used
    why: With gamma 1, as at the start of training, nothing shows.
    ask: Try gamma = 2: every distance from beta should double.""")
mistake("bias-forgotten", "    y += beta\n", "", common=True).explain("""
    the bias beta is not added
    why: With beta 0, as at the start of training, nothing shows.
    ask: Try beta = 5: what should the mean of a row be?""")
mistake("gain-bias-swapped", "y *= gamma", "y *= beta", "y += beta", "y += gamma").explain("""
    gamma and beta are exchanged
    why: One is multiplied, the other one added. With gamma 1 and beta 0 everything comes out as 1.
    ask: Which of the two has to be 1 if it is to do nothing?""")
mistake("bias-inside-gain", "gamma * (x - mean)", "gamma * ((x - mean)", "+ beta", "+ beta)").body(
    _LAYERNORM
).explain("""
    the bias is added before the gain is multiplied
    why: The bias is then stretched by the gain.
    ask: In which order do the formula's multiplication and addition happen?""")
mistake("first-axis", common=True).body(_LAYERNORM.replace("axis=-1", "axis=0")).explain("""
    the mean and the variance are taken over the first axis
    why: This is batch normalization: every feature over the batch, instead of every vector over its features.
    ask: Which numbers share one mean: those of one token, or those of one feature?""")
mistake("second-axis", common=True).body(_LAYERNORM.replace("axis=-1", "axis=1")).explain("""
    the mean and the variance are taken over axis 1, counted from the front
    why: For a matrix that is the last axis. A single vector has no axis 1, and in a batch of texts it is the positions.
    ask: Which axis holds the numbers of one token, counted from which end?""")
mistake("all-axes").body(_LAYERNORM.replace("axis=-1, ", "")).explain("""
    there is one mean and one variance for the whole array
    why: The tokens then depend on each other. A single vector comes out right, a batch does not.
    ask: Normalize one row alone and together with others. Should the answer be another one?""")
mistake("axes-without-batch").body(
    _LAYERNORM.replace("axis=-1", "axis=tuple(range(min(1, x.ndim - 1), x.ndim))")
).explain("""
    the mean and the variance are taken over everything but the batch axis
    why: The positions of a text must not see each other here: each token has a mean of its own.
    ask: What shape should the means of a (B, T, D) array have?""")
mistake("keepdims-missing").body(_LAYERNORM.replace(", keepdims=True", "")).explain("""
    the mean and the variance lack the last axis (keepdims)
    why: (B, T) does not broadcast against (B, T, D). If the sizes happen to be equal there is no error, and the means
         of other rows are subtracted.
    ask: What is the shape of x.mean(axis=-1), and with which axis of x does broadcasting line it up?""")
mistake("float64", "as_float(x)", "np.asarray(x, dtype=np.float64)").body(_LAYERNORM).explain("""
    the result is float64, whatever x is
    why: Everything after it in the network becomes twice as large and half as fast.
    ask: Where does your code name a dtype, or use a NumPy number made from a Python one?""")
mistake("writes-into-x", "    return gamma * (x - mean) /", "    x -= mean\n    return gamma * x /").body(
    _LAYERNORM
).explain("""
    x -= … changes the caller's array
    why: The residual stream still needs the x that went in.
    ask: Which of your lines write into an array that you did not make?""")
for name, formula in (
    ("mean-alone-divided", "gamma * x - mean / np.sqrt(var + eps) + beta"),
    ("mean-alone-divided-and-scaled", "x - mean / np.sqrt(var + eps) * gamma + beta"),
):
    mistake(name, "gamma * (x - mean) / np.sqrt(var + eps) + beta", formula, group="brackets around x - mean").body(
        _LAYERNORM
    ).explain("""
        only the mean was divided: brackets are missing around x - mean
        why: Python divides before it subtracts: x - mean / std is x - (mean / std).
        ask: Which operation does Python do first in a - b / c? Which should come first here?""")
mistake("squares-not-centred", "x.var(axis=-1, keepdims=True)", "(x * x).mean(axis=-1, keepdims=True)").body(
    _LAYERNORM
).explain("""
    the variance was taken without subtracting the mean first
    why: The mean of the squares is the variance only where the mean is 0. Far from 0 it is much larger.
    ask: What is the variance of the row 5, 5, 5, and what does your line make of it?""")
mistake("sum-for-mean", "x.var(axis=-1, keepdims=True)", "((x - mean) ** 2).sum(axis=-1, keepdims=True)").body(
    _LAYERNORM
).explain("""
    the squared distances are added up, but not divided by D
    why: The variance is their mean. With the sum the result is too small by a factor of √D.
    ask: What is the variance of the row 1, 2, 3, 6? It should be 3.5.""")
mistake("matrices-only").body("""
    x = as_float(x)
    y = np.zeros_like(x)
    for i in range(len(x)):
        y[i] = gamma * (x[i] - x[i].mean()) / np.sqrt(x[i].var() + eps) + beta
    return y
""").explain("""
    it works for the rows of a matrix only
    why: A loop over the first axis meets single numbers in a vector, and whole matrices in a batch.
    ask: What is x[0] if x has one axis, and what is it if x has three? Which operation needs no loop over rows?""")
mistake(
    "matrix-product-with-gain", "gamma * (x - mean) / np.sqrt(var + eps)", "((x - mean) / np.sqrt(var + eps)) @ gamma"
).body(_LAYERNORM).explain("""
    the gain was multiplied with @ instead of *
    why: The gain stretches every feature on its own. The matrix product adds up the features, and one number is left.
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
    why: What is added to the variance is eps itself. Only rows with a very small variance show it: there eps decides.
    ask: With eps=0.1, what is added under the root?""")
mistake("eps-as-smallest", "np.sqrt(var + eps)", "np.maximum(np.sqrt(var), eps)").body(_LAYERNORM).explain("""
    eps is the smallest standard deviation that is allowed; it is not added to the variance
    why: Only rows with a very small variance show it: there eps decides. A row of equal numbers comes out right.
    ask: With eps=0.1 and the variance 1, what is the row divided by?""")
mistake("root-of-standard-deviation", "x.var(", "x.std(").body(_LAYERNORM).explain("""
    the root was taken of the standard deviation, which is a root already
    why: np.std is the root of np.var: the row is then divided by the fourth root of what it should be.
    ask: Which of the two belongs under the root: x.var or x.std?""")
mistake("one-plus-gain", "gamma * (x", "(1 + gamma) * (x").body(_LAYERNORM).explain("""
    multiplied by 1 + gamma instead of gamma
    why: Some models keep the gain as a distance from 1. Here gamma itself is the gain.
    ask: What should gamma = 0 make of a row?""")
mistake("gain-as-column", "gamma * (x", "gamma[:, None] * (x", "+ beta", "+ beta[:, None]").body(_LAYERNORM).explain("""
    gamma and beta stand along the rows: gamma[:, None]
    why: Every feature, every column of a matrix, has a gain of its own. A new axis at the end makes one for each row:
         an error, or, for a square matrix, silently wrong numbers.
    ask: With which axis of (N, D) does broadcasting line up a vector (D,), without any new axis?""")

mistake = MISTAKES.for_functions("layernorm.rmsnorm")
mistake(
    "eps-outside-root", " + eps)", ") + eps", "/ np.sqrt(square) + eps", "/ (np.sqrt(square) + eps)", common=True
).body(_RMSNORM).explain("""
    eps was added to the root mean square, outside the root
    why: On ordinary vectors hardly anything shows; on small ones, or with a large eps, it does.
    ask: What is taken the root of?""")
mistake("no-eps", " + float(eps)", "", common=True).explain("""
    eps is not used
    why: A row of zeros is divided by 0: nan.
    ask: What comes out for a row of zeros?""")
mistake("eps-smaller", "eps=1e-5", "eps=1e-6").explain("""
    eps is 1e-6 by default, not 1e-5
    why: 1e-6 is what Llama uses. On small vectors the difference is large.
    ask: Compare the signature with the one in the assignment.""")
mistake(
    "mean-subtracted", "x = as_float(x)\n", "x = as_float(x)\n    x = x - x.mean(axis=-1, keepdims=True)\n", common=True
).explain("""
    the mean is subtracted, as in layer normalization
    why: The RMS norm takes no mean. Rows whose mean is 0 come out right.
    ask: What remains of layer normalization if the mean is left out everywhere?""")
mistake("variance-for-square", "(x * x).mean(axis=-1, keepdims=True)", "x.var(axis=-1, keepdims=True)").body(
    _RMSNORM
).explain("""
    divided by the standard deviation instead of the root mean square
    why: The variance measures the distance from the mean; here it is the distance from 0.
    ask: Is the mean of the row anywhere in the formula?""")
mistake("sum-for-mean", " / x.shape[-1]", "", common=True).explain("""
    the squares are added up, but not divided by D
    why: This makes vectors of length 1 instead of entries of size 1: too small by a factor of √D.
    ask: What is the M in RMS?""")
mistake("no-root", "np.sqrt(", "(").explain("""
    divided by the mean square, without the root
    why: A vector that is twice as long then comes out half as long, instead of the same.
    ask: What is the R in RMS?""")
mistake("gain-forgotten", "    y *= gamma\n", "", common=True).explain("""
    the gain gamma is not used
    why: With gamma 1, as at the start of training, nothing shows.
    ask: Try gamma = 2: every entry should double.""")
mistake("one-plus-gain", "y *= gamma", "y *= 1 + gamma").explain("""
    multiplied by 1 + gamma instead of gamma
    why: Some models keep the gain as a distance from 1; here gamma is the gain itself.
    ask: What should come out if gamma is 0?""")
mistake("keepdims-missing", ", keepdims=True", "").body(_RMSNORM).explain("""
    the mean square lacks the last axis (keepdims)
    why: (B, T) does not broadcast against (B, T, D). If the sizes happen to be equal, other rows' numbers are used.
    ask: What is the shape of your mean square, and with which axis of x does broadcasting line it up?""")
mistake("square-of-the-mean", "(x * x).mean(axis=-1, keepdims=True)", "x.mean(axis=-1, keepdims=True) ** 2").body(
    _RMSNORM
).explain("""
    the mean was squared, where the squares should be averaged
    why: Positive and negative entries cancel in the mean, and almost nothing is left to divide by.
    ask: Root, mean, square: which of the three is done first?""")
mistake("standard-deviation", "np.sqrt(square + eps)", "x.std(axis=-1, keepdims=True)").body(_RMSNORM).explain("""
    divided by the standard deviation, and eps is not used
    why: The standard deviation subtracts the mean first; the root mean square does not. A row of equal numbers is
         divided by 0.
    ask: What is the standard deviation of the row 5, 5, 5, and what is its root mean square?""")
mistake("standard-deviation-plus-eps", "np.sqrt(square + eps)", "(x.std(axis=-1, keepdims=True) + eps)").body(
    _RMSNORM
).explain("""
    divided by the standard deviation plus eps
    why: The standard deviation subtracts the mean first; the root mean square does not. And eps belongs under the root.
    ask: What is the standard deviation of the row 5, 5, 5, and what is its root mean square?""")
mistake("length", "np.sqrt(square + eps)", "(np.linalg.norm(x, axis=-1, keepdims=True) + eps)").body(
    _RMSNORM
).explain("""
    divided by the length of the vector plus eps, not by its root mean square
    why: The length is √D times the root mean square: the result is too small by that factor. And eps belongs under the
         root, beside the mean of the squares.
    ask: What should be the root mean square of your result, with gamma 1?""")
for name, title, axis in (
    ("first-axis", "the squares are averaged over the first axis", "axis=0"),
    ("all-axes", "there is one mean square for the whole array", ""),
):
    mistake(name, "axis=-1, keepdims=True", axis).body(_RMSNORM).explain(f"""
        {title}
        why: The tokens then depend on each other.
        ask: Which numbers share one mean of squares: those of one token, or others, too?""")
mistake("eps-fixed", "+ eps", "+ 1e-5").body(_RMSNORM).explain("""
    the eps argument is ignored: it is always 1e-5
    why: With the default nothing shows; with another eps the answer does not move.
    ask: Call it with eps=10. Does anything change?""")
