"""Mistakes in `gradients`: central differences."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_COPY = "np.array(x, dtype=np.float64)"
_QUOTIENT = "(above - below) / (2 * eps)"
_RESTORE = "        x[place] = entry\n        gradient"

mistake = MISTAKES.for_functions("gradients.numerical_gradient")
mistake(
    "forward-difference",
    "entry - eps\n        below = f(x)\n        x[place] = entry\n",
    "entry\n        below = f(x)\n",
    "(2 * eps)",
    "eps",
    common=True,
).explain("""
    the forward difference was taken, not the central one
    why: Its error is as large as the step; that of the central difference is as small as the square of the step.
    ask: At which two points does the central difference evaluate f? How far apart are they?""")
mistake("divided-by-one-step", "(2 * eps)", "eps", common=True).explain("""
    the difference was divided by eps, not by 2 * eps
    why: The two points x + eps and x - eps are 2 * eps apart. Without the 2 the gradient is twice as large as it should
         be.
    ask: How far apart are the two points at which f was evaluated?""")
mistake("precedence", _QUOTIENT, "(above - below) / 2 * eps", common=True).explain("""
    the difference was divided by 2 and multiplied by eps: parentheses are missing
    why: Division and multiplication are done from left to right: a / 2 * eps means (a / 2) * eps.
    ask: What is 1 / 2 * 0.5 in Python, and what is 1 / (2 * 0.5)?""")
mistake("sign", "(above - below)", "(below - above)").explain("""
    the sign is reversed: the value above was subtracted from the value below
    why: The derivative is positive where f rises with x.
    ask: For f(x) = x² at 3, f rises with x. Which of the two values is larger?""")
mistake(
    "step-ignored",
    "entry + eps",
    "entry + CONSTANT",
    "entry - eps",
    "entry - CONSTANT",
    "(2 * eps)",
    "(2 * CONSTANT)",
    constant=0.003,
).explain("""
    `eps` was ignored: the step was always {constant}
    why: The caller chooses the step. With a large one, the result differs from the derivative in a known way.
    ask: Where does your code use the argument `eps`?""")
mistake(
    "step-always-1e-5", "entry + eps", "entry + 1e-5", "entry - eps", "entry - 1e-5", "2 * eps", "2 * 1e-5"
).explain("""
    `eps` was ignored: the step was always 1e-5
    why: The caller chooses the step. With a large one, the result differs from the derivative in a known way.
    ask: Where does your code use the argument `eps`?""")
mistake(
    "half-steps", "entry + eps", "entry + eps / 2", "entry - eps", "entry - eps / 2", "(2 * eps)", "eps"
).explain("""
    the two points are half a step away from x, not a whole one
    why: The step is to be added to the entry and subtracted from it, so the points are 2 * eps apart.
    ask: By how much does your code change an entry? By how much should it?""")
mistake("entry-not-restored", _RESTORE, "        gradient", common=True).explain("""
    the entry was not set back before the next one was changed
    why: The following differences are then taken at another point: every entry before them is off by a step. The
         mistake stays hidden if f treats all entries separately.
    ask: After the first entry was changed, which array is passed to f for the second one?""")
mistake(
    "restored-by-arithmetic",
    _COPY,
    "np.asarray(x, dtype=np.float64)",
    "x[place] = entry + eps",
    "x[place] += eps",
    "x[place] = entry - eps",
    "x[place] -= 2 * eps",
    _RESTORE,
    "        x[place] += eps\n        gradient",
).explain("""
    the entry was set back by adding the step again, which does not give exactly the same number
    why: Every sum is rounded: x + eps - 2 * eps + eps can differ from x in its last digit, so the caller's array is
         changed.
    ask: Can you keep the old value of the entry, or work on a copy?""")
_ALIASES = """
    x = np.asarray(x, dtype=np.float64)
    gradient = np.zeros_like(x)
    for place in np.ndindex(x.shape):
        x_above, x_below = POINTS
        x_above[place] += eps
        x_below[place] -= eps
        gradient[place] = (f(x_above) - f(x_below)) / (2 * eps)
    return gradient
"""
mistake("points-are-one-array", "POINTS", "x, x").body(_ALIASES).explain("""
    the points above and below are one and the same array, so that the gradient is 0
    why: `above = x` does not copy the array: it is a second name for it. Both steps are made in the same array.
    ask: How many arrays does your code have in memory? Which method makes a copy?""")
mistake("dtype-kept", _COPY, "np.array(x)", "np.zeros_like(x)", "np.zeros(x.shape)").explain("""
    x was not converted to float64
    why: An integer array cannot hold 3.125: the decimals are cut off. In float32 a small step is lost in rounding.
    ask: What is in the array np.array([3]) after its entry was set to 3.125?""")
mistake("dtype-of-x", _COPY, "np.array(x)").explain("""
    x was not converted to float64, and neither is the gradient
    why: An integer array cannot hold 3.125: the decimals are cut off. In float32 a small step is lost in rounding.
    ask: What is in the array np.array([3]) after its entry was set to 3.125?""")
mistake("float32-kept", _COPY, "np.array(x, dtype=None if np.asarray(x).dtype.kind == 'f' else np.float64)").explain("""
    float32 was kept: only integers were converted to float64
    why: float32 has seven digits. In a difference of two numbers that agree in most of them, hardly one is correct.
    ask: What is np.float32(1) + np.float32(1e-8)?""")
mistake("all-entries-at-once").body("""
    x = np.asarray(x, dtype=np.float64)
    return (f(x + eps) - f(x - eps)) / (2 * eps)
""").explain("""
    all entries were changed at once, so that the result is a single number
    why: That is the sum of all derivatives. The gradient has one number for each entry.
    ask: Which entries of x does x + eps change? Which should change for one entry of the gradient?""")
mistake("rows-at-once").body("""
    x = np.array(x, dtype=np.float64)
    gradient = np.zeros_like(x)
    for i in range(len(x)):
        step = np.zeros_like(x)
        step[i] = eps
        gradient[i] = (f(x + step) - f(x - step)) / (2 * eps)
    return gradient
""").explain("""
    whole rows were changed at once: the loop ran over the first axis only
    why: x[i] is a single number only if x has one axis. In a matrix it is a row.
    ask: How many entries does a matrix of shape (3, 4) have? How often does your loop run?""")
mistake("matrices-only").body("""
    x = np.array(x, dtype=np.float64)
    gradient = np.zeros_like(x)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            entry = x[i, j]
            x[i, j] = entry + eps
            above = f(x)
            x[i, j] = entry - eps
            gradient[i, j] = (above - f(x)) / (2 * eps)
            x[i, j] = entry
    return gradient
""").explain("""
    the function works only for matrices
    why: Two loops fit an array with two axes. x may have any number of axes.
    ask: Which function of NumPy yields all places of an array of any shape?""")
mistake("flattened", "    return gradient", "    return gradient.ravel()").explain("""
    the gradient has one axis, not the shape of x
    why: A gradient always has the shape of the array that it belongs to.
    ask: What is the shape of your result when x is a matrix?""")
mistake("flat-point", "(x)\n        x[place] = entry - eps", "(x.ravel())\n        x[place] = entry - eps").explain("""
    f was given an array with one axis, not one of the shape of x
    why: f takes arrays of the shape of x. With another shape it fails, or computes something else.
    ask: What is the shape of the array that your code passes to f?""")
mistake("called-too-often", "        above = f(x)", "        f(x)\n        above = f(x)").explain("""
    f was called more than twice for an entry
    why: f may be a whole model, so each call may take long. A central difference needs two.
    ask: How many times does your code call f for one entry?""")
