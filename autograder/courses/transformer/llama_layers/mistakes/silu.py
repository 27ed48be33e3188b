"""Mistakes in SiLU and in its gradient."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_RESULT = "x * _sigmoid(x)"

mistake = MISTAKES.for_functions("llama_layers.silu")
for name, code, title in (
    ("sigmoid-alone", "_sigmoid(x)", "the factor x is missing: the result is the sigmoid alone"),
    ("sigmoid-form-of-gelu", "x * _sigmoid(1.702 * x)", "x σ(1.702 x) was computed, an approximation of GELU"),
    ("relu", "np.maximum(x, 0)", "ReLU was computed"),
    ("copy", "x * 1", "x was returned unchanged"),
):
    mistake(name, _RESULT, code, common=name in ("sigmoid-alone", "sigmoid-form-of-gelu")).explain(f"""
        {title}
        why: SiLU is x times the sigmoid of x: 0.7311 at 1, and -0.2689 at -1.
        ask: What does your code return for 1, -1, 10 and -10, and what should it?""")
mistake("overflow", _RESULT, "x * np.exp(x) / (1 + np.exp(x))").explain("""
    the exponential of a large x overflows
    why: exp(1000) is infinite, and infinity divided by infinity is nan. exp(-1000) is 0 and does no harm.
    ask: For which x is the exponent in your code a large positive number? What is the result then?""")
mistake("float64", f"return {_RESULT}", f"return ({_RESULT}).astype(np.float64)").explain("""
    the result is float64 for every input
    why: np.zeros, np.empty and np.vectorize give float64, and so does all that is combined with them.
    ask: Which dtype does x have, and which dtype does your result have? From which line on?""")
mistake(
    "integers-stay",
    "x = as_float(x)",
    "kind = np.asarray(x).dtype\n    x = as_float(x)",
    f"return {_RESULT}",
    f"return ({_RESULT}).astype(kind)",
).explain("""
    the result for integers is made of integers
    why: All functions of this course compute in floats; integers are converted to float64 first.
    ask: What does as_float do, and where do you call it?""")
mistake("flattened", f"return {_RESULT}", f"return np.ravel({_RESULT})").explain("""
    the result has lost the shape of x
    why: An activation works element by element, so the result has the shape of x.
    ask: Which of your lines flatten x, and where is the shape restored?""")
mistake("one-comparison", f"return {_RESULT}", f"if x < -100:\n        return 0.0\n    return {_RESULT}").explain("""
    a whole array was compared in an `if`
    why: An array of several entries is neither true nor false, so NumPy raises an error.
    ask: Which function of NumPy chooses between two values for every element?""")

_SLOPE = "dout * (gate + x * gate * (1 - gate))"
mistake = MISTAKES.for_functions("llama_layers.silu_backward")
for name, code, title in (
    ("gate-constant", "dout * gate", "the gate was treated as a constant: only σ(x) is left"),
    (
        "gate-missing",
        "dout * (x * gate * (1 - gate))",
        "the gate itself is missing: only the term with its slope is left",
    ),
    ("slope-of-sigmoid", "dout * gate * (1 - gate)", "the slope of the sigmoid was used, as if x were not multiplied"),
    (
        "dout-missing",
        "gate + x * gate * (1 - gate) + 0 * dout",
        "the slope was not multiplied by the upstream gradient",
    ),
    ("passed-through", "dout * 1", "dx is dout, as if the activation did nothing"),
):
    mistake(name, _SLOPE, code, common=name in ("gate-constant", "gate-missing", "dout-missing")).explain(f"""
        {title}
        why: SiLU is x times a gate σ that depends on x: the product rule gives σ + x σ', and σ' is σ (1 - σ).
        ask: Take the derivative by hand, factor by factor, and compare it with your code. At 0 the slope is ½, for a
             large x it is 1, for a very negative one 0. What are yours?""")
mistake("slope-at-silu", "gate = _sigmoid(x)", "x = silu(x)\n    gate = _sigmoid(x)").explain("""
    the slope was taken at the output instead of the input
    why: The derivative is taken at x, the input of the forward pass, and belongs to the function of the forward
         pass.
    ask: Which argument does the gate have in your forward pass?""")
mistake("slope-of-sigmoid-from-silu", _SLOPE, "dout * (gate + x * gate * (1 - x * gate))").explain("""
    in the second term, 1 - silu(x) was taken, not 1 - σ(x)
    why: The slope of the sigmoid is σ (1 - σ), and x times that is silu(x) (1 - σ).
    ask: Which of the two does your 1 - … contain: x σ(x), or σ(x) alone?""")
mistake(
    "overflow-of-both", "_sigmoid(x)", "1 / (1 + np.exp(-x))", _SLOPE, "dout * (gate + x * np.exp(-x) * gate * gate)"
).explain("""
    the slope of the sigmoid was computed from exp(-x), which overflows for a very negative x
    why: exp(1000) is infinite, and infinity times 0 is nan.
    ask: Which of your factors is infinite for x = -1000? How can the slope be written with σ alone?""")
mistake("float64", f"return {_SLOPE}", f"return ({_SLOPE}).astype(np.float64)").explain("""
    the result is float64 for every input
    why: np.zeros and np.empty give float64, and so does all that is combined with them.
    ask: Which dtype does x have, and which dtype does your result have? From which line on?""")
mistake("writes-into-dout", f"return {_SLOPE}", "dout *= gate + x * gate * (1 - gate)\n    return dout").explain("""
    dout was changed in place
    why: `dout *= …` writes into the caller's array, which may still be needed along another path.
    ask: Which of your lines write into an array that you did not create?""")
