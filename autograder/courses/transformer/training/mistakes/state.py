"""Mistakes in `training`: what AdamW changes in place, the dtypes of its results, and their order."""

from autograder.courses.transformer.training.mistakes.adamw import ADAM
from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

mistake = MISTAKES.for_functions("training.adamw_step")
mistake(
    "averages-in-place",
    "m = beta1 * m_before + (1 - beta1) * g",
    "m = m_before\n        m *= beta1\n        m += (1 - beta1) * g",
    "else (0.0, 0.0)",
    "else (0 * p, 0 * p)",
).body(ADAM).explain("""
    the arrays m or v of the state were changed in place
    why: The dictionary may be new, but its arrays are still the caller's. `m = β₁ * m + …` makes a new array; `m *= β₁`
         does not.
    ask: Which of your lines create a new array, and which write into one that was passed in?""")
mistake(
    "gradients-in-place",
    "        g = grads[name]\n",
    "        g = grads[name]\n        square = g * g\n",
    "v = g * g\n",
    "v = square\n",
    "m = (1 - beta1) * g\n",
    "g *= 1 - beta1\n        m = g\n",
).explain("""
    the gradients were changed in place
    why: `g *= …` writes into the caller's array.
    ask: Which of your lines create a new array, and which write into one that was passed in?""")
mistake(
    "decay-in-gradient-in-place",
    "g = grads[name]",
    "g = grads[name]\n        g += weight_decay * p",
    "p * (1 - lr * weight_decay)",
    "p.copy()",
).explain("""
    the weight decay was added to the gradient, in place
    why: That is Adam with L2 regularization, and it changes the caller's gradients, too.
    ask: What does the W in AdamW stand for? Do your m and v depend on weight_decay?""")
_M64 = ("m = (1 - beta1) * g", "m = np.float64(1 - beta1) * g")
_V64 = ("v *= 1 - beta2", "v = v * np.float64(1 - beta2)")
_P32 = ("new_params[name] -= update", "new_params[name] -= update.astype(p.dtype)")
for name, edits, text in (
    (
        "parameters",
        ("new_params[name] -= update", "new_params[name] = new_params[name] - np.float64(1) * update"),
        "the new parameters are",
    ),
    ("averages", (*_M64, *_V64, *_P32), "m and v are"),
    ("m", (*_M64, *_P32), "m is"),
    ("v", (*_V64, *_P32), "v is"),
    (
        "all",
        (*_M64, *_V64, "new_params[name] -= update", "new_params[name] = new_params[name] - update"),
        "the new parameters, m and v are",
    ),
):
    mistake(f"{name}-float64", *edits).explain(f"""
    {text} float64 even when the parameters are float32
    why: A np.float64 scalar, such as what np.sqrt of a Python number returns, makes every array that it meets float64.
         So does an array of np.zeros without a dtype.
    ask: Which of your numbers come from a NumPy function? What is their dtype?""")
mistake(
    "results-exchanged",
    'return new_params, {"step": step, "m": new_m, "v": new_v}',
    'return {"step": step, "m": new_m, "v": new_v}, new_params',
).explain("""
    the state and the parameters were returned in the wrong order
    why: The docstring lists the parameters first, then the state.
    ask: In which order does the docstring list the results?""")
mistake("parameters-only", 'return new_params, {"step": step, "m": new_m, "v": new_v}', "return new_params").explain("""
    only the parameters were returned, without the state
    why: The next step needs the averages.
    ask: How many values does the docstring list under Returns?""")
for name, edits, text in (
    ("step-not-stored", ('"step": step, ', ""), "`step`"),
    ("m-not-stored", ('"m": new_m, ', ""), "`m`"),
    ("v-not-stored", (', "v": new_v', ""), "`v`"),
):
    mistake(name, *edits).explain(f"""
    {text} is missing in the new state
    why: The next step reads step, m and v from the state.
    ask: Which three entries does the docstring list for the state?""")
for name, code in (("float", "float(step)"), ("numpy-integer", "np.int64(step)")):
    mistake(f"step-is-{name}", '"step": step,', f'"step": {code},').explain(f"""
    `step` in the new state is a {name.replace("numpy-", "NumPy ")}, not a Python int
    why: It counts the steps.
    ask: What is type(state["step"]) after your first step?""")
