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
mistake("bias-inside-gain", "y *= gamma\n    y += beta", "y += beta\n    y *= gamma").explain("""
    the bias was added before the gain was multiplied
    why: The bias is then multiplied by the gain, too.
    ask: In the formula, which comes first: the multiplication by gamma or the addition of beta?""")
mistake("one-plus-gain", "y *= gamma", "y *= 1 + gamma").explain("""
    1 + gamma was used as the gain, not gamma
    why: Some models store the gain as its difference from 1. Here gamma is the gain itself.
    ask: What should the result be for gamma = 0?""")
mistake("gain-as-column", _FORMULA, "gamma[:, None] * (x - mean) / std + beta[:, None]").body(FORWARD).explain("""
    gamma and beta were applied to the rows: gamma[:, None]
    why: Each feature, that is each column, has its own gain and bias. A new axis at the end makes one for each row:
         this fails, or gives wrong values if the matrix is square.
    ask: With which axis of (N, D) does broadcasting line up a vector (D,), without a new axis?""")

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
