"""Mistakes in assignment 6 about the formula: brackets, means and sums that stand in the wrong place."""

from autograder.courses.transformer.mistakes._layernorm_plain import LAYERNORM, LAYERNORM_BACKWARD, RMSNORM
from autograder.engine.diagnosis.mistake import Mistake

FORMULA = (
    # --- layernorm
    *(
        Mistake(
            "layernorm.layernorm",
            name,
            "only the mean was divided: brackets are missing around x - mean",
            "Python divides before it subtracts: x - mean / std is x - (mean / std).",
            "Which operation does Python do first in a - b / c? Which should come first here?",
            body=LAYERNORM.replace("gamma * (x - mean) / np.sqrt(var + eps) + beta", formula),
            group="brackets around x - mean",
        )
        for name, formula in (
            ("mean-alone-divided", "gamma * x - mean / np.sqrt(var + eps) + beta"),
            ("mean-alone-divided-and-scaled", "x - mean / np.sqrt(var + eps) * gamma + beta"),
        )
    ),
    Mistake(
        "layernorm.layernorm",
        "squares-not-centred",
        "the variance was taken without subtracting the mean first",
        "The mean of the squares is the variance only where the mean is 0. Far from 0 it is much larger.",
        "What is the variance of the row 5, 5, 5, and what does your line make of it?",
        body=LAYERNORM.replace("x.var(axis=-1, keepdims=True)", "(x * x).mean(axis=-1, keepdims=True)"),
    ),
    Mistake(
        "layernorm.layernorm",
        "sum-for-mean",
        "the squared distances are added up, but not divided by D",
        "The variance is their mean. With the sum the result is too small by a factor of √D.",
        "What is the variance of the row 1, 2, 3, 6? It should be 3.5.",
        body=LAYERNORM.replace("x.var(axis=-1, keepdims=True)", "((x - mean) ** 2).sum(axis=-1, keepdims=True)"),
    ),
    Mistake(
        "layernorm.layernorm",
        "matrices-only",
        "it works for the rows of a matrix only",
        "A loop over the first axis meets single numbers in a vector, and whole matrices in a batch.",
        "What is x[0] if x has one axis, and what is it if x has three? Which operation needs no loop over rows?",
        body="""
    x = as_float(x)
    y = np.zeros_like(x)
    for i in range(len(x)):
        y[i] = gamma * (x[i] - x[i].mean()) / np.sqrt(x[i].var() + eps) + beta
    return y
""",
    ),
    Mistake(
        "layernorm.layernorm",
        "matrix-product-with-gain",
        "the gain was multiplied with @ instead of *",
        "The gain stretches every feature on its own. The matrix product adds up the features, and one number is left.",
        "What is the shape of (B, T, D) @ (D,), and what should it be?",
        body=LAYERNORM.replace("gamma * (x - mean) / np.sqrt(var + eps)", "((x - mean) / np.sqrt(var + eps)) @ gamma"),
    ),
    # --- layernorm_backward
    Mistake(
        "layernorm.layernorm_backward",
        "only-last-term-divided",
        "only the last of the three terms was divided by the standard deviation",
        "Python divides before it subtracts. The formula has the three terms in brackets, and divides all of them.",
        "Which operation does Python do first in a - b - c / d?",
        body=LAYERNORM_BACKWARD.replace("(g - mean_path - variance_path) / std", "g - mean_path - variance_path / std"),
    ),
    Mistake(
        "layernorm.layernorm_backward",
        "normalized-inside-mean",
        "the normalized x stands inside the mean of the third term, not before it",
        "x̂ · mean(g · x̂) is another number for every entry; mean(x̂ · g · x̂) is the same one for the whole row.",
        "Where does the bracket of the last mean open: before the first x̂ or after it?",
        body=LAYERNORM_BACKWARD.replace("normalized * (g * normalized).mean(", "(normalized * g * normalized).mean("),
    ),
    Mistake(
        "layernorm.layernorm_backward",
        "normalized-with-gain",
        "the gain is already in what was taken for the normalized x",
        "x̂ is what stands before gain and bias. What layernorm returns has been multiplied by the gain.",
        "What is x̂ for gamma = 2? Does it depend on gamma?",
        body=LAYERNORM_BACKWARD.replace("centred / std", "gamma * centred / std"),
    ),
    Mistake(
        "layernorm.layernorm_backward",
        "keepdims-missing",
        "the means lack the last axis (keepdims)",
        "(B, T) does not broadcast against (B, T, D). If the sizes happen to be equal there is no error, and the "
        "means of other rows are subtracted.",
        "What is the shape of g.mean(axis=-1), and with which axis of g does broadcasting line it up?",
        body=LAYERNORM_BACKWARD.replace("g.mean(axis=-1, keepdims=True)", "g.mean(axis=-1)").replace(
            "normalized).mean(axis=-1, keepdims=True)", "normalized).mean(axis=-1)"
        ),
    ),
    Mistake(
        "layernorm.layernorm_backward",
        "summed-over-features",
        "dgamma and dbeta are summed over the features, not over the rows",
        "One number for each row is left, where one for each feature is wanted.",
        "What is the shape of gamma? Which axes have to go, and which one has to stay?",
        body=LAYERNORM_BACKWARD.replace(".reshape(-1, d).sum(axis=0)", ".sum(axis=-1)"),
    ),
    Mistake(
        "layernorm.layernorm_backward",
        "summed-to-one-number",
        "dgamma and dbeta are summed over all axes, the features too",
        "Each of the D features has a gain and a bias of its own, and so a gradient of its own.",
        "What is the shape of gamma, and what does .sum() without an axis leave?",
        body=LAYERNORM_BACKWARD.replace(".reshape(-1, d).sum(axis=0)", ".sum()"),
    ),
    Mistake(
        "layernorm.layernorm_backward",
        "summed-over-two-axes",
        "dgamma and dbeta are always summed over the first two axes",
        "That is right for (B, T, D). A matrix has only one axis of rows, and a batch may have more than two.",
        "How could (..., D) be made into rows (N, D), whatever stands before the last axis?",
        body=LAYERNORM_BACKWARD.replace(".reshape(-1, d).sum(axis=0)", ".sum(axis=(0, 1))"),
    ),
    # --- rmsnorm
    Mistake(
        "layernorm.rmsnorm",
        "square-of-the-mean",
        "the mean was squared, where the squares should be averaged",
        "Positive and negative entries cancel in the mean, and almost nothing is left to divide by.",
        "Root, mean, square: which of the three is done first?",
        body=RMSNORM.replace("(x * x).mean(axis=-1, keepdims=True)", "x.mean(axis=-1, keepdims=True) ** 2"),
    ),
)
