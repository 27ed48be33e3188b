"""Mistakes in `training`: the norm of the gradients, and clipping."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

mistake = MISTAKES.for_functions("training.clip_grad_norm")
mistake("each-by-itself", common=True).body("""
    norm = math.sqrt(sum(float(np.vdot(g, g)) for g in grads.values()))
    clipped = {}
    for name, g in grads.items():
        own = math.sqrt(float(np.vdot(g, g)))
        clipped[name] = g * min(1.0, max_norm / (own + 1e-6))
    return clipped, norm
""").explain("""
    every array was clipped separately
    why: All gradients together are one long vector. Clipping each array changes its direction, and the whole can still
         be too long.
    ask: By how many different factors does your function multiply?""")
mistake("always-scaled", "if scale >= 1:", "if False:", common=True).explain("""
    short gradients were made longer
    why: Clipping never makes a gradient longer: the factor is at most 1.
    ask: What is your factor if the norm is 0.1 and max_norm is 5?""")
mistake("numbers-clipped", "g * scale", "np.clip(g, -max_norm, max_norm)", common=True).explain("""
    each entry was clipped to ±max_norm
    why: That is clipping by value: it changes the direction, and it does not limit the norm.
    ask: After your clipping to 1, does [3, 4] still have the same direction?""")
mistake(
    "sum-of-norms",
    "math.sqrt(sum(float(np.vdot(g, g)) for",
    "sum(math.sqrt(float(np.vdot(g, g))) for",
    "grads.values()))",
    "grads.values())",
).explain("""
    the norms of the arrays were added up
    why: The square of the whole norm is the sum of all squares: add up the squares first, then take one root.
    ask: How long is the vector (3, 4), and what is the sum of the lengths of its two parts?""")
mistake("norm-after", "for name, g in grads.items()}, norm", "for name, g in grads.items()}, norm * scale").explain("""
    the norm after clipping was returned
    why: The norm before clipping is the one to watch: it shows whether training is stable.
    ask: Which norm does the docstring list as the second result?""")
mistake(
    "in-place",
    "return {name: g * scale for name, g in grads.items()}, norm",
    "for g in grads.values():\n        g *= scale\n    return dict(grads), norm",
).explain("""
    the gradients were changed in place
    why: PyTorch's clip_grad_norm_ does that. This function leaves its arguments unchanged.
    ask: Which of your lines write into an array that was passed in?""")
for name, wrong_divisor, code in (
    ("no-small-number", "norm", "(norm or math.inf)"),
    ("no-small-number-at-0", "norm", "np.float64(norm)"),
):
    mistake(name, "(norm + 1e-6)", code, group="small number beside the norm").explain(f"""
        max_norm was divided by {wrong_divisor}, not by norm + 1e-6
        why: The 1e-6 is PyTorch's, against division by 0. For norms near 1 it changes about the sixth digit; for tiny
             norms it matters more.
        ask: What is max_norm divided by in the formula of the docstring?""")
mistake(
    "largest-number",
    "math.sqrt(sum(float(np.vdot(g, g)) for g in grads.values()))",
    "max(float(np.abs(g).max()) for g in grads.values())",
).explain("""
    the largest absolute entry was used as the norm
    why: The norm is the length of all gradients as one long vector: the root of the sum of all squares.
    ask: What is the norm of a gradient of four entries that are all 1?""")
mistake(
    "no-root",
    "math.sqrt(sum(float(np.vdot(g, g)) for g in grads.values()))",
    "sum(float(np.vdot(g, g)) for g in grads.values())",
).explain("""
    the root is missing from the norm: it is the sum of the squares
    why: A gradient that is twice as long should have twice the norm, not four times.
    ask: What is the norm of a gradient of four entries that are all 2?""")
mistake("norm-not-returned", "return dict(grads), norm", "return dict(grads)", "items()}, norm", "items()}").explain("""
    only the gradients were returned, without the norm
    why: It is useful to watch the norm before clipping: where it jumps, training is unstable.
    ask: How many values does the docstring list under Returns?""")

mistake("another-small-number", "(norm + 1e-6)", "(norm + CONSTANT)", constant=1e-8).explain("""
    max_norm was divided by norm + {constant}, not by norm + 1e-6
    why: The 1e-6 is PyTorch's. For norms near 1 it changes about the sixth digit; for tiny norms it matters more.
    ask: What is max_norm divided by in the formula of the docstring?""")
_NORM = "math.sqrt(sum(float(np.vdot(g, g)) for g in grads.values()))"
_CLIPPED = "{name: g * scale for name, g in grads.items()}"
_ARRAYS = "np.concatenate([g.ravel() for g in grads.values()])"
for name, code, text, why in (
    (
        "first-array-only",
        "math.sqrt(float(np.vdot(g := next(iter(grads.values())), g)))",
        "the norm is that of the first array only",
        "All gradients together are one long vector.",
    ),
    (
        "last-array-only",
        "math.sqrt(float(np.vdot(g := list(grads.values())[-1], g)))",
        "the norm is that of the last array only",
        "Each iteration of the loop must add to the sum, not overwrite it.",
    ),
    (
        "sum-of-absolute-values",
        f"float(np.abs({_ARRAYS}).sum())",
        "the absolute values were added up",
        "That is another norm. This one is the root of the sum of all squares.",
    ),
    (
        "root-of-mean-square",
        f"math.sqrt(float(np.mean({_ARRAYS} ** 2)))",
        "the norm is the root of the mean of the squares",
        "The norm is the length of the gradient: the squares are added up, not averaged.",
    ),
    (
        "mean-of-norms",
        "float(np.mean([math.sqrt(float(np.vdot(g, g))) for g in grads.values()]))",
        "the norms of the arrays were averaged",
        "All gradients together are one long vector.",
    ),
    (
        "largest-norm",
        "max(math.sqrt(float(np.vdot(g, g))) for g in grads.values())",
        "the norm is that of the array with the largest norm",
        "All gradients together are one long vector.",
    ),
    (
        "matrices-only",
        "math.sqrt(sum(float(np.vdot(g, g)) for g in grads.values() if g.ndim > 1))",
        "arrays with one axis were left out of the norm",
        "Biases and norms have gradients, too.",
    ),
    (
        "signed-sum",
        f"abs(float({_ARRAYS}.sum()))",
        "the entries were added up without squaring them",
        "Entries of opposite signs then cancel.",
    ),
    (
        "spectral-norm",
        "math.sqrt(sum(float(np.linalg.norm(g, 2) if g.ndim < 3 else np.linalg.norm(g)) ** 2 for g in grads.values()))",
        "np.linalg.norm(g, 2) was used: of a matrix, that is the largest singular value",
        "Without its second argument, np.linalg.norm is the root of the sum of all squares.",
    ),
):
    mistake(name, _NORM, code).explain(f"""
    {text}
    why: {why}
    ask: What is the norm of two arrays, [3.0] and [4.0]?""")
for name, code, text in (
    ("scale-inverted", "(norm + 1e-6) / float(max_norm)", "the factor is norm / max_norm: it is upside down"),
    ("limit-ignored", "1.0 / (norm + 1e-6)", "max_norm was ignored: the limit is always 1"),
    ("scaled-by-squares", "float(max_norm) ** 2 / (norm + 1e-6) ** 2", "the factor is the square of max_norm / norm"),
    ("root-of-scale", "math.sqrt(float(max_norm) / (norm + 1e-6))", "the factor is the root of max_norm / norm"),
    ("difference", "1 - (norm - float(max_norm))", "the excess was subtracted from the factor"),
):
    mistake(name, "float(max_norm) / (norm + 1e-6)", code).explain(f"""
    {text}
    why: The factor is max_norm / (norm + 1e-6), so that the new norm is max_norm.
    ask: If the norm is 10 and max_norm is 5, by what should every gradient be multiplied?""")
mistake("limit-of-0-ignored", "scale = float(max_norm)", "scale = float(max_norm or math.inf)").explain("""
    max_norm=0 was treated like None: nothing was clipped
    why: `if max_norm` and `max_norm or …` treat 0 like None.
    ask: What is bool(0.0)?""")
mistake("never-clipped", "scale >= 1", "True").explain("""
    the gradients were never scaled
    why: `g = g * scale` in a loop makes a new array and binds it to the name g. The dictionary still holds the old one.
    ask: Into which dictionary do you put the scaled gradients?""")
mistake(
    "first-array-not-scaled", _CLIPPED, "{name: g * (scale if i else 1) for i, (name, g) in enumerate(grads.items())}"
).explain("""
    the first array was not scaled
    why: All arrays are multiplied by the same factor.
    ask: Which arrays does your loop visit?""")
mistake(
    "matrices-scaled-only", _CLIPPED, "{name: g * (scale if g.ndim > 1 else 1) for name, g in grads.items()}"
).explain("""
    arrays with one axis were not scaled
    why: All arrays are multiplied by the same factor.
    ask: Which arrays does your code scale?""")
mistake(
    "small-number-added-to-limit", "float(max_norm) / (norm + 1e-6)", "(float(max_norm) + 1e-6) / (norm + 1e-6)"
).explain("""
    1e-6 was added to max_norm, too
    why: Only the divisor needs it.
    ask: What is max_norm divided by in the formula of the docstring?""")
mistake("small-number-inside-root", _NORM, f"math.sqrt({_NORM[10:-1]} + 1e-6)", "(norm + 1e-6)", "norm").explain("""
    1e-6 was added to the sum of the squares, inside the root
    why: For small gradients, the root of 1e-6 is a thousand times larger than 1e-6.
    ask: Is 1e-6 added before or after the root is taken?""")
mistake("small-number-in-norm", _NORM, f"{_NORM} + 1e-6", "(norm + 1e-6)", "norm").explain("""
    1e-6 was added to the norm that is returned, too
    why: Only the divisor needs it.
    ask: Which norm does a gradient of 0 have?""")
mistake(
    "scale-returned",
    "return dict(grads), norm",
    "return dict(grads), min(1.0, scale)",
    "items()}, norm",
    "items()}, scale",
).explain("""
    the factor was returned, not the norm
    why: The norm before clipping is the one to watch.
    ask: Which number does the docstring list as the second result?""")
mistake(
    "square-returned", "return dict(grads), norm", "return dict(grads), norm**2", "items()}, norm", "items()}, norm**2"
).explain("""
    the square of the norm was returned
    why: A gradient that is twice as long should have twice the norm.
    ask: What does your function return for a gradient of four entries that are all 2?""")
mistake(
    "results-exchanged",
    "return dict(grads), norm",
    "return norm, dict(grads)",
    f"return {_CLIPPED}, norm",
    f"return norm, {_CLIPPED}",
).explain("""
    the gradients and the norm were returned in the wrong order
    why: The docstring lists the gradients first, then the norm.
    ask: In which order does the docstring list the results?""")
mistake(
    "values-only",
    "return dict(grads), norm",
    "return list(grads.values()), norm",
    f"return {_CLIPPED}, norm",
    "return [g * scale for g in grads.values()], norm",
).explain("""
    a list of arrays was returned, without the names
    why: The next step looks the gradients up by the names of their parameters.
    ask: Which type does the docstring give for grads?""")
mistake(
    "one-long-array",
    "return dict(grads), norm",
    f"return {_ARRAYS}, norm",
    f"return {_CLIPPED}, norm",
    f"return {_ARRAYS} * scale, norm",
).explain("""
    one long array was returned, not a dictionary
    why: The next step looks the gradients up by the names of their parameters.
    ask: Which type does the docstring give for grads?""")
mistake("float64", _CLIPPED, "{name: g * np.float64(scale) for name, g in grads.items()}").explain("""
    the gradients are float64 even when they were float32
    why: A np.float64 scalar, such as what np.sqrt returns, makes every array that it meets float64. float(…) makes it a
         Python number.
    ask: What is the type of your factor?""")
mistake(
    "numpy-norm",
    "items()}, norm",
    "items()}, np.float64(norm)",
    "return dict(grads), norm",
    "return dict(grads), np.float64(norm)",
).explain("""
    the norm is a NumPy scalar, not a Python float
    why: np.sqrt and np.linalg.norm return NumPy's own numbers, which make float32 arrays float64.
    ask: What is type(np.sqrt(2.0))?""")
