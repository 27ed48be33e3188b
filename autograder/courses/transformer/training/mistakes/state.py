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
_M64 = ("m = (1 - beta1) * g", "m = np.float64(1 - beta1) * g")
_V64 = ("v *= 1 - beta2", "v = v * np.float64(1 - beta2)")
for name, edits, text in (
    (
        "parameters",
        ("new_params[name] -= update", "new_params[name] = new_params[name] - np.float64(1) * update"),
        "the new parameters are",
    ),
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
    why: The next step would then start from the averages m and v, as if they were the weights.
    ask: What does `params, state = adamw_step(...)` put into `params`: weights, or m and v?""")
mistake("step-not-stored", '"step": step, ', "").explain("""
`step` is missing in the new state
why: The next step reads step, m and v from the state.
ask: What does the next call find under state.get("step", 0), and which t does it then use?""")
