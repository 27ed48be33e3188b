"""Mistakes in `gradients`: central differences."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_COPY = "np.array(x, dtype=np.float64)"
_BELOW = "x[place] = entry - eps\n        below = f(x)\n"
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
mistake("backward-difference", "x[place] = entry + eps\n        above", "above", "(2 * eps)", "eps").explain("""
    the backward difference was taken, not the central one
    why: Its error is as large as the step; that of the central difference is as small as the square of the step.
    ask: At which two points does the central difference evaluate f? How far apart are they?""")
for name, old, new in (
    ("forward", "entry - eps\n        below = f(x)\n        x[place] = entry\n", "entry\n        below = f(x)\n"),
    ("backward", "x[place] = entry + eps\n        above", "above"),
):
    mistake(f"{name}-difference-halved", old, new).explain(f"""
        the {name} difference was taken and divided by twice the step
        why: The two points are only one step apart, so the gradient is half as large as it should be, and less accurate
             than a central difference.
        ask: At which two points does your code evaluate f? How far apart are they?""")
mistake("divided-by-one-step", "(2 * eps)", "eps", common=True).explain("""
    the difference was divided by eps, not by 2 * eps
    why: The two points x + eps and x - eps are 2 * eps apart. Without the 2 the gradient is twice as large as it should
         be.
    ask: How far apart are the two points at which f was evaluated?""")
mistake("precedence", _QUOTIENT, "(above - below) / 2 * eps", common=True).explain("""
    the difference was divided by 2 and multiplied by eps: parentheses are missing
    why: Division and multiplication are done from left to right: a / 2 * eps means (a / 2) * eps.
    ask: What is 1 / 2 * 0.5 in Python, and what is 1 / (2 * 0.5)?""")
mistake("only-below-divided", _QUOTIENT, "above - below / (2 * eps)").explain("""
    only the value below was divided: parentheses are missing
    why: Division comes before subtraction: a - b / c means a - (b / c).
    ask: What has to be divided by the distance of the two points?""")
mistake("not-divided", _QUOTIENT, "above - below").explain("""
    the difference was not divided by the distance of the two points
    why: A derivative is a ratio: the change of the result for each unit of change of the input.
    ask: For f(x) = x² at 3, which number should come out? Which one does your code give?""")
mistake("multiplied", _QUOTIENT, "(above - below) * (2 * eps)").explain("""
    the difference was multiplied by the distance of the two points, not divided
    why: A derivative is a ratio: the change of the result for each unit of change of the input.
    ask: For f(x) = x² at 3, which number should come out? Which one does your code give?""")
mistake("sign", "(above - below)", "(below - above)").explain("""
    the sign is reversed: the value above was subtracted from the value below
    why: The derivative is positive where f rises with x.
    ask: For f(x) = x² at 3, f rises with x. Which of the two values is larger?""")
mistake("absolute-difference", "(above - below)", "abs(above - below)").explain("""
    the absolute value of the difference was taken
    why: The sign says whether f rises or falls with x, so it belongs to the derivative.
    ask: What is the derivative of x² at -3?""")
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
for step in ("1e-3", "1e-4", "1e-5", "1e-6", "1e-7", "1e-8"):
    mistake(
        f"step-always-{step}",
        "entry + eps",
        f"entry + {step}",
        "entry - eps",
        f"entry - {step}",
        "2 * eps",
        f"2 * {step}",
    ).explain(f"""
        `eps` was ignored: the step was always {step}
        why: The caller chooses the step. With a large one, the result differs from the derivative in a known way.
        ask: Where does your code use the argument `eps`?""")
    mistake(f"divided-by-{step}", "(2 * eps)", f"(2 * {step})").explain(f"""
        `eps` was ignored in the division: the distance was always 2 * {step}
        why: The distance of the two points depends on the step that the caller chooses.
        ask: At how many places does the formula need the step? At which of them does your code use `eps`?""")
mistake("divided-by-a-number", "(2 * eps)", "CONSTANT", constant=0.3).explain("""
    the difference was divided by {constant}, whatever the step
    why: The distance of the two points depends on the step that the caller chooses.
    ask: At how many places does the formula need the step? At which of them does your code use `eps`?""")
mistake(
    "half-steps", "entry + eps", "entry + eps / 2", "entry - eps", "entry - eps / 2", "(2 * eps)", "eps"
).explain("""
    the two points are half a step away from x, not a whole one
    why: The step is to be added to the entry and subtracted from it, so the points are 2 * eps apart.
    ask: By how much does your code change an entry? By how much should it?""")
mistake("half-steps-divided-by-two", "entry + eps", "entry + eps / 2", "entry - eps", "entry - eps / 2").explain("""
    the two points are half a step away from x, but the difference was divided by 2 * eps
    why: The points are then only eps apart, so the gradient is half as large as it should be.
    ask: How far apart are the two points at which f was evaluated?""")
mistake(
    "relative-steps",
    "entry + eps",
    "entry + eps * entry",
    "entry - eps",
    "entry - eps * entry",
    "(2 * eps)",
    "(2 * eps * entry)",
).explain("""
    the step was multiplied by the entry
    why: The step is the same for every entry. Where the entry is 0, a step relative to it is 0, too.
    ask: By how much does your code change the entry 3? By how much should it?""")
for name, first, second, what in (
    ("multiplied-points", "entry * (1 + eps)", "entry * (1 - eps)", "multiplied by 1 + eps and 1 - eps"),
    ("product-points", "entry * eps", "entry / eps", "multiplied and divided by eps"),
):
    mistake(name, "entry + eps", first, "entry - eps", second).explain(f"""
        the entry was {what}, not changed by eps
        why: The step is added to the entry and subtracted from it.
        ask: Which two numbers should the entry 3 be replaced by, if eps is 0.5?""")
mistake("entry-not-restored", _RESTORE, "        gradient", common=True).explain("""
    the entry was not set back before the next one was changed
    why: The following differences are then taken at another point: every entry before them is off by a step. The
         mistake stays hidden if f treats all entries separately.
    ask: After the first entry was changed, which array is passed to f for the second one?""")
mistake(
    "entry-not-restored-in-x", _COPY, "np.asarray(x, dtype=np.float64)", _RESTORE, "        gradient", group="x below"
).explain("""
    the entries of x were changed and not set back
    why: The following differences are taken at another point, and the caller's array is changed.
    ask: Which array does your code write into: the caller's, or a copy?""")
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
mistake("point-above-is-x", "POINTS", "x, x.copy()").body(_ALIASES).explain("""
    the point above is x itself, not a copy
    why: `above = x` does not copy the array: it is a second name for it, and the caller's array is changed.
    ask: How many arrays does your code have in memory? Which method makes a copy?""")
mistake("point-below-is-x", "POINTS", "x.copy(), x", group="x below").body(_ALIASES).explain("""
    the point below is x itself, not a copy
    why: `below = x` does not copy the array: it is a second name for it, and the caller's array is changed.
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
mistake(
    "gradient-in-dtype-of-x",
    "x = np.array(",
    "dtype = np.asarray(x).dtype\n    x = np.array(",
    "    return gradient",
    "    return gradient.astype(dtype)",
).explain("""
    the gradient has the dtype of x, not float64
    why: np.zeros_like(x) has the dtype of x, and writing into an array of integers cuts off all decimals.
    ask: What is the dtype of your result when x holds integers or float32?""")
mistake("always-float32", "    return gradient", "    return gradient.astype(np.float32)").explain("""
    the gradient is float32, not float64
    why: float32 keeps only about seven digits, and a central difference has ten.
    ask: Which of your lines chooses the dtype of the result?""")
mistake("all-entries-at-once").body("""
    x = np.asarray(x, dtype=np.float64)
    return (f(x + eps) - f(x - eps)) / (2 * eps)
""").explain("""
    all entries were changed at once, so that the result is a single number
    why: That is the sum of all derivatives. The gradient has one number for each entry.
    ask: Which entries of x does x + eps change? Which should change for one entry of the gradient?""")
mistake("all-entries-at-once-everywhere").body("""
    x = np.asarray(x, dtype=np.float64)
    return np.full(x.shape, (f(x + eps) - f(x - eps)) / (2 * eps))
""").explain("""
    all entries were changed at once, and the same number was written into every entry of the gradient
    why: That number is the sum of all derivatives. Each entry has its own, for which only this entry is changed.
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
mistake(
    "flat-point", "f(x)\n        x[place] = entry - eps", "f(x.ravel())\n        x[place] = entry - eps"
).explain("""
    f was given an array with one axis, not one of the shape of x
    why: f takes arrays of the shape of x. With another shape it fails, or computes something else.
    ask: What is the shape of the array that your code passes to f?""")
mistake("only-entry-passed", "x[place] = entry + eps\n        above = f(x)", "above = f(entry + eps)").explain("""
    f was given a single entry, not the whole array
    why: f takes an array of the shape of x. Only one of its entries changes, but f needs all of them.
    ask: What is the shape of the argument that your code passes to f?""")
mistake("returned-too-early", "(2 * eps)\n    return", "(2 * eps)\n        return").explain("""
    the gradient was returned after the first entry: return is inside the loop
    why: All other entries are still 0.
    ask: How far is your return statement indented?""")
mistake(
    "new-gradient-each-time", "        entry = x", "        gradient = np.zeros_like(x)\n        entry = x"
).explain("""
    a new gradient was made for each entry, so that only the last one is left
    why: The array of zeros has to be made once, before the loop.
    ask: Which of your lines belong into the loop?""")
mistake("last-entry-skipped", "np.ndindex(x.shape)", "list(np.ndindex(x.shape))[:-1]").explain("""
    the last entry was skipped
    why: Its derivative stays 0.
    ask: At which number does your loop end? Does range include its end?""")
mistake("called-too-often", "        above = f(x)", "        f(x)\n        above = f(x)").explain("""
    f was called more than twice for an entry
    why: f may be a whole model, so each call may take long. A central difference needs two.
    ask: How many times does your code call f for one entry?""")
mistake("averaged", "    return gradient", "    return gradient / gradient.size").explain("""
    the gradient was divided by the number of entries
    why: Each entry is the derivative with respect to one number, whatever the number of the others.
    ask: Does the definition contain the number of entries?""")
