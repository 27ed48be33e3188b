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
mistake("norm-after", "for name, g in grads.items()}, norm", "for name, g in grads.items()}, norm * scale").explain("""
    the norm after clipping was returned
    why: The norm before clipping is the one to watch: it shows whether training is stable.
    ask: For the gradient (3, 4) and max_norm=1, is your second result 5 or 1?""")
mistake("norms-added", "math.sqrt(sum(float(np.vdot(g, g))", "(sum(math.sqrt(np.vdot(g, g))").explain("""
    the norms of the arrays were added
    why: All gradients together are one long vector. Its norm is the root of the sum of all squares.
    ask: What is the norm of the vector [3, 4], and what the sum of the norms of [3] and [4]?""")
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
        ask: If norm and max_norm are both 1e-6, the factor should be 0.5. What is it in your code?""")
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
    ask: What happens in `grads, norm = clip_grad_norm(grads, 1.0)` with what you return?""")

mistake("another-small-number", "(norm + 1e-6)", "(norm + CONSTANT)", constant=1e-8).explain("""
    max_norm was divided by norm + {constant}, not by norm + 1e-6
    why: The 1e-6 is PyTorch's. For norms near 1 it changes about the sixth digit; for tiny norms it matters more.
    ask: If norm and max_norm are both 1e-6, the factor should be 0.5. What is it in your code?""")
_NORM = "math.sqrt(sum(float(np.vdot(g, g)) for g in grads.values()))"
_CLIPPED = "{name: g * scale for name, g in grads.items()}"
_ARRAYS = "np.concatenate([g.ravel() for g in grads.values()])"
for name, code, text, why in (
    (
        "last-array-only",
        "math.sqrt(float(np.vdot(g := list(grads.values())[-1], g)))",
        "the norm is that of the last array only",
        "Each iteration of the loop must add to the sum, not overwrite it.",
    ),
    (
        "matrices-only",
        "math.sqrt(sum(float(np.vdot(g, g)) for g in grads.values() if g.ndim > 1))",
        "arrays with one axis were left out of the norm",
        "Biases and norms have gradients, too.",
    ),
):
    mistake(name, _NORM, code).explain(f"""
    {text}
    why: {why}
    ask: What is the norm of two arrays, [3.0] and [4.0]?""")
mistake("limit-ignored", "float(max_norm) / (norm + 1e-6)", "1.0 / (norm + 1e-6)").explain("""
max_norm was ignored: the limit is always 1
why: The factor is max_norm / (norm + 1e-6), so that the new norm is max_norm.
ask: If the norm is 10 and max_norm is 5, by what should every gradient be multiplied?""")
mistake("limit-of-0-ignored", "scale = float(max_norm)", "scale = float(max_norm or math.inf)").explain("""
    max_norm=0 was treated like None: nothing was clipped
    why: `if max_norm` and `max_norm or …` treat 0 like None.
    ask: What is bool(0.0)?""")
mistake(
    "results-exchanged",
    "return dict(grads), norm",
    "return norm, dict(grads)",
    f"return {_CLIPPED}, norm",
    f"return norm, {_CLIPPED}",
).explain("""
    the gradients and the norm were returned in the wrong order
    why: The optimizer would get a number where it needs a gradient for each parameter.
    ask: What does `grads, norm = clip_grad_norm(grads, 1.0)` put into `grads`: a number or a dictionary?""")
mistake(
    "one-long-array",
    "return dict(grads), norm",
    f"return {_ARRAYS}, norm",
    f"return {_CLIPPED}, norm",
    f"return {_ARRAYS} * scale, norm",
).explain("""
    one long array was returned, not a dictionary
    why: The next step looks the gradients up by the names of their parameters.
    ask: What happens in grads["W"] when `grads` is your first result?""")
mistake("float64", _CLIPPED, "{name: g * np.float64(scale) for name, g in grads.items()}").explain("""
    the gradients are float64 even when they were float32
    why: A np.float64 scalar, such as what np.sqrt returns, makes every array that it meets float64. float(…) makes it a
         Python number.
    ask: What is the type of your factor?""")
