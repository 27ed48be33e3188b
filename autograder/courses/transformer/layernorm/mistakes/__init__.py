"""Mistakes in `layernorm`: layer normalization and the RMS norm."""

from autograder.courses.transformer.layernorm.mistakes.backward import MISTAKES as BACKWARD
from autograder.courses.transformer.layernorm.mistakes.rmsnorm import MISTAKES as RMSNORM
from autograder.courses.transformer.layernorm.mistakes.rmsnorm_backward import MISTAKES as RMSNORM_BACKWARD
from autograder.courses.transformer.layernorm.mistakes.statistics import FORWARD
from autograder.courses.transformer.layernorm.mistakes.statistics import MISTAKES as STATISTICS
from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes(STATISTICS, BACKWARD, RMSNORM, RMSNORM_BACKWARD)

_FORMULA = "gamma * (x - mean) / std + beta"

mistake = MISTAKES.for_functions("layernorm.layernorm")
mistake("gain-forgotten", "    y *= gamma\n", "", common=True).explain("""
    the gain gamma was not used
    why: With gamma 1, as at the start of training, the mistake stays hidden.
    ask: Compare your results for gamma = 1 and gamma = 2. How should they differ?""")
mistake("bias-forgotten", "    y += beta\n", "", common=True).explain("""
    the bias beta was not added
    why: With beta 0, as at the start of training, the mistake stays hidden.
    ask: Try beta = 5. What should the mean of a row be?""")
mistake("gain-and-bias-forgotten", "    y *= gamma\n", "", "    y += beta\n", "").explain("""
    neither the gain gamma nor the bias beta was used
    why: With gamma 1 and beta 0, as at the start of training, the mistake stays hidden.
    ask: Which arguments does your code use? What comes after the normalization in the formula?""")
mistake("gain-bias-swapped", "y *= gamma", "y *= beta", "y += beta", "y += gamma").explain("""
    gamma and beta were swapped
    why: One is multiplied, the other added. With gamma 1 and beta 0 every entry of the result is 1.
    ask: Which of the two has to be 1 to change nothing?""")
mistake("bias-inside-gain", "y *= gamma\n    y += beta", "y += beta\n    y *= gamma").explain("""
    the bias was added before the gain was multiplied
    why: The bias is then multiplied by the gain, too.
    ask: In the formula, which comes first: the multiplication by gamma or the addition of beta?""")
mistake("bias-subtracted", "y += beta", "y -= beta").explain("""
    the bias was subtracted, not added
    why: With beta 0, as at the start of training, the mistake stays hidden.
    ask: Try beta = 5. What should the mean of a row be?""")
mistake("gain-added", "y *= gamma", "y += gamma").explain("""
    the gain was added, not multiplied
    why: The gain changes the scale of each feature, the bias its centre.
    ask: What should the result be for gamma = 0?""")
mistake("gain-divided", "y *= gamma", "y /= gamma").explain("""
    the result was divided by the gain, not multiplied by it
    why: With gamma 1, as at the start of training, the mistake stays hidden.
    ask: What should the result be for gamma = 2: larger or smaller?""")
mistake("one-plus-gain", "y *= gamma", "y *= 1 + gamma").explain("""
    1 + gamma was used as the gain, not gamma
    why: Some models store the gain as its difference from 1. Here gamma is the gain itself.
    ask: What should the result be for gamma = 0?""")
mistake("root-of-gain", "y *= gamma", "y *= np.abs(gamma)").explain("""
    the absolute value of the gain was used
    why: A learned gain may be negative.
    ask: What should happen to the signs of a feature whose gain is -1?""")
mistake("mean-not-subtracted", "(x - mean)", "x").body(FORWARD).explain("""
    the mean was not subtracted before dividing
    why: The variance is correct, but the result is not centred. Adding 1000 to every entry should change nothing.
    ask: What is the mean of a row of your result, with gamma 1 and beta 0?""")
mistake("not-normalized", "(x - mean) / std", "x").body(FORWARD).explain("""
    gain and bias were applied to x itself, which was not normalized
    why: Each row is first brought to mean 0 and variance 1.
    ask: Which variable holds the normalized row, and which one does your last line use?""")
mistake("not-divided", " / std", "").body(FORWARD).explain("""
    the row was not divided by its standard deviation
    why: If you double a vector, the result is doubled; it should stay the same.
    ask: What is the variance of a row of your result, with gamma 1 and beta 0?""")
mistake("multiplied-by-std", "/ std", "* std").body(FORWARD).explain("""
    the row was multiplied by its standard deviation, not divided by it
    why: If you double a vector, the result becomes four times as large; it should stay the same.
    ask: What is the variance of a row of your result, with gamma 1 and beta 0?""")
mistake("rms-instead", "x.mean(axis=-1, keepdims=True)", "0.0", "x.var(", "(x * x).mean(").body(FORWARD).explain("""
    the RMS norm was computed: the mean was not used anywhere
    why: Rows whose mean is 0 come out right, all others do not.
    ask: The mean of the row appears in two places of the formula. Where are they in your code?""")
for name, formula in (
    ("mean-alone-divided", "gamma * x - mean / std + beta"),
    ("mean-alone-divided-and-scaled", "x - mean / std * gamma + beta"),
    ("mean-alone-divided-inside-gain", "gamma * (x - mean / std) + beta"),
):
    mistake(name, _FORMULA, formula, group="brackets around x - mean").body(FORWARD).explain("""
        only the mean was divided: parentheses are missing around x - mean
        why: Python divides before it subtracts: x - mean / std is x - (mean / std).
        ask: Which operation does Python do first in a - b / c? Which should come first here?""")
mistake("beta-divided", _FORMULA, "(gamma * (x - mean) + beta) / std").body(FORWARD).explain("""
    the bias was divided by the standard deviation, too
    why: Gain and bias come after the normalization.
    ask: Which parts of the formula does your division cover?""")
mistake("scaled-by-both", _FORMULA, "gamma * (x - mean) / std + beta * (x - mean) / std").body(FORWARD).explain("""
    the bias was multiplied by the normalized x
    why: The bias is added to every row unchanged.
    ask: For a row of equal entries, the normalized x is 0. What should the result be?""")
for name, title, old, new in (
    (
        "gain-as-column",
        "gamma and beta were applied to the rows: gamma[:, None]",
        _FORMULA,
        "gamma[:, None] * (x - mean) / std + beta[:, None]",
    ),
    ("gain-alone-as-column", "gamma was applied to the rows: gamma[:, None]", "gamma *", "gamma[:, None] *"),
    ("bias-alone-as-column", "beta was applied to the rows: beta[:, None]", "+ beta", "+ beta[:, None]"),
):
    mistake(name, old, new).body(FORWARD).explain(f"""
        {title}
        why: Each feature, that is each column, has its own gain and bias. A new axis at the end makes one for each row:
             this fails, or gives wrong values if the matrix is square.
        ask: With which axis of (N, D) does broadcasting line up a vector (D,), without a new axis?""")
mistake("matrix-product-with-gain", _FORMULA, "((x - mean) / std) @ gamma + beta").body(FORWARD).explain("""
    the gain was multiplied with @ instead of *
    why: The gain scales each feature separately. The matrix product also sums over the features, so one number per row
         is left.
    ask: What is the shape of (B, T, D) @ (D,), and what should it be?""")
mistake("leading-axes-lost", ".reshape(np.shape(x))", "").explain("""
    the result has lost the leading axes of x
    why: (B, T, D) was reshaped to rows, and was not reshaped back.
    ask: What is the shape of x, and what is the shape of your result?""")
mistake("extra-axis-for-a-vector", ".reshape(np.shape(x))", ".reshape(np.atleast_2d(x).shape)").explain("""
    a single vector (D,) became a matrix (1, D)
    why: The result has the shape of x, whatever the number of axes.
    ask: What is the shape of your result for an x of shape (4,)?""")
mistake("short-axes-lost", ".reshape(np.shape(x))", ".reshape(np.shape(x)).squeeze()").explain("""
    axes of length 1 were removed from the result
    why: The result has the shape of x, whatever the lengths of its axes.
    ask: What is the shape of your result for an x of shape (1, 1, 4)?""")
mistake(
    "first-axis-of-1-lost",
    "return y.reshape(np.shape(x))",
    "y = y.reshape(np.shape(x))\n    return y[0] if len(y) == 1 and y.ndim > 1 else y",
).explain("""
    a batch of one has lost its first axis
    why: The result has the shape of x, whatever the lengths of its axes.
    ask: What is the shape of your result for an x of shape (1, 3, 4)?""")
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
mistake("writes-into-x", "(x - mean) / std", "x / std", "    return", "    x -= mean\n    return").body(
    FORWARD
).explain("""
    x -= … changed the caller's array
    why: The residual stream still needs the original x.
    ask: Which of your lines write into an array that you did not create?""")

mistake = MISTAKES.for_functions("layernorm.layernorm", "layernorm.rmsnorm")
mistake("float64", "    return y", "    y = y.astype(np.float64)\n    return y").explain("""
    the result is float64 for every input
    why: A float32 network then computes in float64 from here on: twice the memory, and slower.
    ask: Where does your code name a dtype, or use a NumPy scalar instead of a Python number?""")
mistake(
    "integers-truncated",
    "    return y",
    "    y = y.astype(kind)\n    return y",
    "eps=1e-5):\n",
    "eps=1e-5):\n    kind = np.asarray(x).dtype\n",
).explain("""
    the result for integers is made of integers
    why: The result is written to an array of the dtype of x, or converted to it, which cuts off the fractions.
    ask: If x holds integers, what is the dtype of np.zeros_like(x), and what should that of the result be?""")
