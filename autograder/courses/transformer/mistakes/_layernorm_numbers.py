"""Mistakes in assignment 6 about numbers: where eps stands, variances in one pass, powers of the standard deviation."""

from autograder.courses.transformer.mistakes._layernorm_plain import LAYERNORM, LAYERNORM_BACKWARD, RMSNORM
from autograder.engine.diagnosis.mistake import Mistake

_VAR = "x.var(axis=-1, keepdims=True)"
_ONE_PASS = "the variance is the mean of the squares less the square of the mean"
_CANCELLED = (
    "On paper that is the same. Far from 0 both are huge, almost equal, and rounded: of a row around a million six "
    "digits are left, in float32 none, and the difference may even be negative."
)
_SUBTRACT_FIRST = "What is left of 1000000.1² - 1000000² in 16 digits? And what if the mean is subtracted first?"
_SAME_STATISTICS = "Only rows with a very small variance show it: there eps decides."

# In the gradient as it is put together step by step, by way of the gradients of the variance and of the mean.
_STEPS = """
    x, dout = as_float(x), as_float(dout)
    d = x.shape[-1]
    mean, var = x.mean(axis=-1, keepdims=True), x.var(axis=-1, keepdims=True)
    normalized = (x - mean) / np.sqrt(var + eps)
    g = dout * gamma
    dvar = (g * (x - mean) * -0.5 * (var + eps) ** -1.5).sum(axis=-1, keepdims=True)
    dmean = (-g / np.sqrt(var + eps)).sum(axis=-1, keepdims=True)
    dx = g / np.sqrt(var + eps) + dvar * 2 * (x - mean) / d + dmean / d
    return dx, (dout * normalized).reshape(-1, d).sum(axis=0), dout.reshape(-1, d).sum(axis=0)
"""

NUMBERS = (
    # --- layernorm
    *(
        Mistake(
            "layernorm.layernorm",
            name,
            _ONE_PASS,
            _CANCELLED,
            _SUBTRACT_FIRST,
            body=LAYERNORM.replace(_VAR, variance),
        )
        for name, variance in (
            ("one-pass-variance", "(x * x).mean(axis=-1, keepdims=True) - mean**2"),
            (
                "one-pass-variance-of-sums",
                "((x * x).sum(axis=-1, keepdims=True) - x.shape[-1] * mean**2) / x.shape[-1]",
            ),
        )
    ),
    Mistake(
        "layernorm.layernorm",
        "eps-squared",
        "eps was squared",
        "What is added to the variance is eps itself. " + _SAME_STATISTICS,
        "With eps=0.1, what is added under the root?",
        body=LAYERNORM.replace("var + eps", "var + eps**2"),
    ),
    Mistake(
        "layernorm.layernorm",
        "eps-as-smallest",
        "eps is the smallest standard deviation that is allowed; it is not added to the variance",
        _SAME_STATISTICS + " A row of equal numbers comes out right.",
        "With eps=0.1 and the variance 1, what is the row divided by?",
        body=LAYERNORM.replace("np.sqrt(var + eps)", "np.maximum(np.sqrt(var), eps)"),
    ),
    Mistake(
        "layernorm.layernorm",
        "root-of-standard-deviation",
        "the root was taken of the standard deviation, which is a root already",
        "np.std is the root of np.var: the row is then divided by the fourth root of what it should be.",
        "Which of the two belongs under the root: x.var or x.std?",
        body=LAYERNORM.replace("x.var(", "x.std("),
    ),
    Mistake(
        "layernorm.layernorm",
        "one-plus-gain",
        "multiplied by 1 + gamma instead of gamma",
        "Some models keep the gain as a distance from 1. Here gamma itself is the gain.",
        "What should gamma = 0 make of a row?",
        body=LAYERNORM.replace("gamma * (x", "(1 + gamma) * (x"),
    ),
    Mistake(
        "layernorm.layernorm",
        "gain-as-column",
        "gamma and beta stand along the rows: gamma[:, None]",
        "Every feature, every column of a matrix, has a gain of its own. A new axis at the end makes one for each "
        "row: an error, or, for a square matrix, silently wrong numbers.",
        "With which axis of (N, D) does broadcasting line up a vector (D,), without any new axis?",
        body=LAYERNORM.replace("gamma * (x", "gamma[:, None] * (x").replace("+ beta", "+ beta[:, None]"),
    ),
    # --- layernorm_backward
    Mistake(
        "layernorm.layernorm_backward",
        "one-pass-variance",
        _ONE_PASS,
        _CANCELLED,
        _SUBTRACT_FIRST,
        body=LAYERNORM_BACKWARD.replace(
            "x.var(axis=-1, keepdims=True)",
            "(x * x).mean(axis=-1, keepdims=True) - x.mean(axis=-1, keepdims=True) ** 2",
        ),
    ),
    Mistake(
        "layernorm.layernorm_backward",
        "divided-by-rows",
        "the paths through the variance and the mean were divided by the number of rows, not of features",
        "That is the gradient of batch normalization, where a mean goes over the batch. Here it goes over the "
        "features.",
        "Over how many numbers is the mean of a row taken? By what is its gradient shared out?",
        body=_STEPS.replace("(x - mean) / d + dmean / d", "(x - mean) / len(x) + dmean / len(x)"),
    ),
    Mistake(
        "layernorm.layernorm_backward",
        "power-of-variance",
        "the gradient of the variance has the power -1/2, where -3/2 belongs",
        "The derivative of v to the power -1/2 is -1/2 times v to the power -3/2: one power less.",
        "What is the derivative of v ** a with respect to v?",
        body=_STEPS.replace("** -1.5", "** -0.5"),
    ),
    Mistake(
        "layernorm.layernorm_backward",
        "square-without-factor",
        "in the path through the variance the factor 2 is missing",
        "The variance is a mean of squares, and the derivative of a square is twice what was squared.",
        "What is the derivative of (x - mean)² / D with respect to x?",
        body=_STEPS.replace("dvar * 2 *", "dvar *"),
    ),
    # --- rmsnorm
    Mistake(
        "layernorm.rmsnorm",
        "standard-deviation",
        "divided by the standard deviation, and eps is not used",
        "The standard deviation subtracts the mean first; the root mean square does not. A row of equal numbers is "
        "divided by 0.",
        "What is the standard deviation of the row 5, 5, 5, and what is its root mean square?",
        body=RMSNORM.replace("np.sqrt(square + eps)", "x.std(axis=-1, keepdims=True)"),
    ),
    Mistake(
        "layernorm.rmsnorm",
        "standard-deviation-plus-eps",
        "divided by the standard deviation plus eps",
        "The standard deviation subtracts the mean first; the root mean square does not. And eps belongs under the "
        "root.",
        "What is the standard deviation of the row 5, 5, 5, and what is its root mean square?",
        body=RMSNORM.replace("np.sqrt(square + eps)", "(x.std(axis=-1, keepdims=True) + eps)"),
    ),
    Mistake(
        "layernorm.rmsnorm",
        "length",
        "divided by the length of the vector plus eps, not by its root mean square",
        "The length is √D times the root mean square: the result is too small by that factor. And eps belongs under "
        "the root, beside the mean of the squares.",
        "What should be the root mean square of your result, with gamma 1?",
        body=RMSNORM.replace("np.sqrt(square + eps)", "(np.linalg.norm(x, axis=-1, keepdims=True) + eps)"),
    ),
    *(
        Mistake(
            "layernorm.rmsnorm",
            name,
            title,
            "The tokens then depend on each other.",
            "Which numbers share one mean of squares: those of one token, or others, too?",
            body=RMSNORM.replace("axis=-1, keepdims=True", axis),
        )
        for name, title, axis in (
            ("first-axis", "the squares are averaged over the first axis", "axis=0"),
            ("all-axes", "there is one mean square for the whole array", ""),
        )
    ),
    Mistake(
        "layernorm.rmsnorm",
        "eps-fixed",
        "the eps argument is ignored: it is always 1e-5",
        "With the default nothing shows; with another eps the answer does not move.",
        "Call it with eps=10. Does anything change?",
        body=RMSNORM.replace("+ eps", "+ 1e-5"),
    ),
    # --- rmsnorm_backward
    Mistake(
        "layernorm.rmsnorm_backward",
        "one-power-missing",
        "the second term was divided by the square of the root mean square, where its third power belongs",
        "x̂ is x divided by the root mean square once; it stands there twice, and the bracket is divided once more.",
        "Write x̂ as x / r in the formula. How many times does r stand below the second term?",
        edits=(("dx /= rms\n", "dx = g / rms - x * (np.vecdot(g, x) / d)[..., None] / rms**2\n"),),
    ),
    Mistake(
        "layernorm.rmsnorm_backward",
        "layer-normalization",
        "this is the gradient of layer normalization, with means",
        "No mean was subtracted on the way forward, so none is on the way back.",
        "Which steps of layernorm_backward belong to something that rmsnorm does not do?",
        body="""
    dx, dgamma, _ = layernorm_backward(dout, x, gamma, eps)
    return dx, dgamma
""",
    ),
)
