"""Mistakes in assignment 6: layer normalization and the RMS norm."""

from autograder.mistakes import Mistake
from autograder.mistakes._layernorm_backward import BACKWARD

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

FORWARD = (
    Mistake(
        "layernorm.layernorm",
        "unbiased-variance",
        "the variance was divided by D - 1, not by D",
        "Statistics books, torch.var and torch.std divide by D - 1; layer normalization takes the plain mean of the "
        "squared distances. With few features the result is several percent too small.",
        "Which of its two variances does your library compute by default? Try the row 1, 2, 3, 6: it should be 3.5.",
        edits=(("np.vecdot(centred, centred)", "np.vecdot(centred, centred) * d / (d - 1)"),),
        inside="_normalize",
        common=True,
    ),
    Mistake(
        "layernorm.layernorm",
        "eps-outside-root",
        "eps was added to the standard deviation, outside the root",
        "On ordinary vectors hardly anything shows; on small ones, or with a large eps, the result is far too large.",
        "Try eps=0.1 by hand on a row whose entries are all nearly equal. What is taken the root of?",
        edits=((" + float(eps))[:, None]", ")[:, None] + float(eps)"),),
        inside="_normalize",
        common=True,
    ),
    Mistake(
        "layernorm.layernorm",
        "no-eps",
        "eps is not used",
        "A row of equal numbers has variance 0 and is divided by 0: nan.",
        "What comes out for the row 5, 5, 5, and what would have to be different?",
        edits=((" + float(eps)", ""),),
        inside="_normalize",
        common=True,
    ),
    Mistake(
        "layernorm.layernorm",
        "eps-fixed",
        "the eps argument is ignored: it is always 1e-5",
        "With the default nothing shows; with another eps the answer does not move.",
        "Call it with eps=10. Does anything change?",
        edits=(("float(eps)", "1e-5"),),
        inside="_normalize",
    ),
    Mistake(
        "layernorm.layernorm",
        "eps-smaller",
        "eps is 1e-6 by default, not 1e-5",
        "On vectors with a variance around 1 the difference is in the sixth digit; on small vectors it is large.",
        "Compare the signature with the one in the assignment.",
        edits=(("eps=1e-5", "eps=1e-6"),),
    ),
    Mistake(
        "layernorm.layernorm",
        "eps-tiny",
        "eps is 1e-12 by default, not 1e-5",
        "1e-12 is what BERT uses. Rows with very small variance are blown up.",
        "Compare the signature with the one in the assignment.",
        edits=(("eps=1e-5", "eps=1e-12"),),
    ),
    Mistake(
        "layernorm.layernorm",
        "no-root",
        "divided by the variance instead of the standard deviation",
        "A vector that is twice as long then comes out half as long, instead of the same.",
        "Stretch a row by 10. By how much does your denominator grow, and by how much should it?",
        edits=(("np.sqrt(", "("),),
        inside="_normalize",
        common=True,
    ),
    Mistake(
        "layernorm.layernorm",
        "mean-not-subtracted",
        "the mean was not subtracted before dividing",
        "The variance is right but the result is not centred: adding 1000 to every entry must change nothing.",
        "What is the mean of a row of your result, with gamma 1 and beta 0?",
        body=_LAYERNORM.replace("(x - mean)", "x"),
    ),
    Mistake(
        "layernorm.layernorm",
        "rms-instead",
        "this is the RMS norm: no mean is taken anywhere",
        "Rows whose mean is 0 come out right, all others do not.",
        "There are two places in the formula where the mean of the row appears. Where are they in your code?",
        body=_LAYERNORM.replace("x.mean(axis=-1, keepdims=True)", "0.0").replace(
            "x.var(axis=-1, keepdims=True)", "(x * x).mean(axis=-1, keepdims=True)"
        ),
    ),
    Mistake(
        "layernorm.layernorm",
        "gain-forgotten",
        "the gain gamma is not used",
        "With gamma 1, as at the start of training, nothing shows.",
        "Try gamma = 2: every distance from beta should double.",
        edits=(("    y *= gamma\n", ""),),
        common=True,
    ),
    Mistake(
        "layernorm.layernorm",
        "bias-forgotten",
        "the bias beta is not added",
        "With beta 0, as at the start of training, nothing shows.",
        "Try beta = 5: what should the mean of a row be?",
        edits=(("    y += beta\n", ""),),
        common=True,
    ),
    Mistake(
        "layernorm.layernorm",
        "gain-bias-swapped",
        "gamma and beta are exchanged",
        "One is multiplied, the other one added. With gamma 1 and beta 0 everything comes out as 1.",
        "Which of the two has to be 1 if it is to do nothing?",
        edits=(("y *= gamma", "y *= beta"), ("y += beta", "y += gamma")),
    ),
    Mistake(
        "layernorm.layernorm",
        "bias-inside-gain",
        "the bias is added before the gain is multiplied",
        "The bias is then stretched by the gain.",
        "In which order do the formula's multiplication and addition happen?",
        body=_LAYERNORM.replace("gamma * (x - mean)", "gamma * ((x - mean)").replace("+ beta", "+ beta)"),
    ),
    Mistake(
        "layernorm.layernorm",
        "first-axis",
        "the mean and the variance are taken over the first axis",
        "This is batch normalization: every feature over the batch, instead of every vector over its features.",
        "Which numbers share one mean: those of one token, or those of one feature?",
        body=_LAYERNORM.replace("axis=-1", "axis=0"),
        common=True,
    ),
    Mistake(
        "layernorm.layernorm",
        "second-axis",
        "the mean and the variance are taken over axis 1, counted from the front",
        "For a matrix that is the last axis. A single vector has no axis 1, and in a batch of texts it is the "
        "positions.",
        "Which axis holds the numbers of one token, counted from which end?",
        body=_LAYERNORM.replace("axis=-1", "axis=1"),
        common=True,
    ),
    Mistake(
        "layernorm.layernorm",
        "all-axes",
        "there is one mean and one variance for the whole array",
        "The tokens then depend on each other. A single vector comes out right, a batch does not.",
        "Normalize one row alone and together with others. Should the answer be another one?",
        body=_LAYERNORM.replace("axis=-1, ", ""),
    ),
    Mistake(
        "layernorm.layernorm",
        "axes-without-batch",
        "the mean and the variance are taken over everything but the batch axis",
        "The positions of a text must not see each other here: each token has a mean of its own.",
        "What shape should the means of a (B, T, D) array have?",
        body=_LAYERNORM.replace("axis=-1", "axis=tuple(range(min(1, x.ndim - 1), x.ndim))"),
    ),
    Mistake(
        "layernorm.layernorm",
        "keepdims-missing",
        "the mean and the variance lack the last axis (keepdims)",
        "(B, T) does not broadcast against (B, T, D). If the sizes happen to be equal there is no error, and the "
        "means of other rows are subtracted.",
        "What is the shape of x.mean(axis=-1), and with which axis of x does broadcasting line it up?",
        body=_LAYERNORM.replace(", keepdims=True", ""),
    ),
    Mistake(
        "layernorm.layernorm",
        "float64",
        "the result is float64, whatever x is",
        "Everything after it in the network becomes twice as large and half as fast.",
        "Where does your code name a dtype, or use a NumPy number made from a Python one?",
        body=_LAYERNORM.replace("as_float(x)", "np.asarray(x, dtype=np.float64)"),
    ),
    Mistake(
        "layernorm.layernorm",
        "writes-into-x",
        "x -= … changes the caller's array",
        "The residual stream still needs the x that went in.",
        "Which of your lines write into an array that you did not make?",
        body=_LAYERNORM.replace("    return gamma * (x - mean) /", "    x -= mean\n    return gamma * x /"),
    ),
    Mistake(
        "layernorm.rmsnorm",
        "eps-outside-root",
        "eps was added to the root mean square, outside the root",
        "On ordinary vectors hardly anything shows; on small ones, or with a large eps, it does.",
        "What is taken the root of?",
        body=_RMSNORM.replace(" + eps)", ") + eps").replace("/ np.sqrt(square) + eps", "/ (np.sqrt(square) + eps)"),
        common=True,
    ),
    Mistake(
        "layernorm.rmsnorm",
        "no-eps",
        "eps is not used",
        "A row of zeros is divided by 0: nan.",
        "What comes out for a row of zeros?",
        edits=((" + float(eps)", ""),),
        common=True,
    ),
    Mistake(
        "layernorm.rmsnorm",
        "eps-smaller",
        "eps is 1e-6 by default, not 1e-5",
        "1e-6 is what Llama uses. On small vectors the difference is large.",
        "Compare the signature with the one in the assignment.",
        edits=(("eps=1e-5", "eps=1e-6"),),
    ),
    Mistake(
        "layernorm.rmsnorm",
        "mean-subtracted",
        "the mean is subtracted, as in layer normalization",
        "The RMS norm takes no mean. Rows whose mean is 0 come out right.",
        "What remains of layer normalization if the mean is left out everywhere?",
        edits=(("x = as_float(x)\n", "x = as_float(x)\n    x = x - x.mean(axis=-1, keepdims=True)\n"),),
        common=True,
    ),
    Mistake(
        "layernorm.rmsnorm",
        "variance-for-square",
        "divided by the standard deviation instead of the root mean square",
        "The variance measures the distance from the mean; here it is the distance from 0.",
        "Is the mean of the row anywhere in the formula?",
        body=_RMSNORM.replace("(x * x).mean(axis=-1, keepdims=True)", "x.var(axis=-1, keepdims=True)"),
    ),
    Mistake(
        "layernorm.rmsnorm",
        "sum-for-mean",
        "the squares are added up, but not divided by D",
        "This makes vectors of length 1 instead of entries of size 1: too small by a factor of √D.",
        "What is the M in RMS?",
        edits=((" / x.shape[-1]", ""),),
        common=True,
    ),
    Mistake(
        "layernorm.rmsnorm",
        "no-root",
        "divided by the mean square, without the root",
        "A vector that is twice as long then comes out half as long, instead of the same.",
        "What is the R in RMS?",
        edits=(("np.sqrt(", "("),),
    ),
    Mistake(
        "layernorm.rmsnorm",
        "gain-forgotten",
        "the gain gamma is not used",
        "With gamma 1, as at the start of training, nothing shows.",
        "Try gamma = 2: every entry should double.",
        edits=(("    y *= gamma\n", ""),),
        common=True,
    ),
    Mistake(
        "layernorm.rmsnorm",
        "one-plus-gain",
        "multiplied by 1 + gamma instead of gamma",
        "Some models keep the gain as a distance from 1; here gamma is the gain itself.",
        "What should come out if gamma is 0?",
        edits=(("y *= gamma", "y *= 1 + gamma"),),
    ),
    Mistake(
        "layernorm.rmsnorm",
        "keepdims-missing",
        "the mean square lacks the last axis (keepdims)",
        "(B, T) does not broadcast against (B, T, D). If the sizes happen to be equal, other rows' numbers are used.",
        "What is the shape of your mean square, and with which axis of x does broadcasting line it up?",
        body=_RMSNORM.replace(", keepdims=True", ""),
    ),
)

MISTAKES = FORWARD + BACKWARD
