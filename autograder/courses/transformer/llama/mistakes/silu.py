"""Mistakes in SiLU and in its gradient."""

from autograder.courses.transformer.common.mistakes.difference_quotients import difference_quotient_of_each
from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_RESULT = "x * _sigmoid(x)"

mistake = MISTAKES.for_functions("llama.silu")
for name, code, title in (
    ("sigmoid-alone", "_sigmoid(x)", "the factor x is missing: the result is the sigmoid alone"),
    ("gate-inverted", "x * _sigmoid(-x)", "the gate is 1/(1 + exp(x)), with the wrong sign in the exponent"),
    ("gate-with-minus", "x / (1 - np.exp(-x))", "the gate is 1/(1 - exp(-x)), with a minus sign"),
    ("gelu", "__import__('ffn').gelu(x)", "GELU was computed, in the tanh form"),
    ("gelu-exact", "__import__('ffn').gelu_exact(x)", "GELU was computed, in the erf form"),
    ("sigmoid-form-of-gelu", "x * _sigmoid(1.702 * x)", "x σ(1.702 x) was computed, an approximation of GELU"),
    ("sigmoid-of-2x", "x * _sigmoid(2 * x)", "the gate is σ(2x), or (1 + tanh x)/2, not σ(x)"),
    ("relu", "np.maximum(x, 0)", "ReLU was computed"),
    ("tanh", "x * np.tanh(x)", "the gate is tanh x, not the sigmoid"),
    ("tanh-of-half", "x * np.tanh(x / 2)", "the gate is tanh(x/2), without adding 1 and dividing by 2"),
    (
        "twice",
        "2 * x * _sigmoid(x)",
        "the result is twice what it should be: the gate is 1 + tanh(x/2), not half of it",
    ),
    ("softplus", "np.logaddexp(0, x)", "the softplus, log(1 + exp(x)), was computed"),
    ("mish", "x * np.tanh(np.logaddexp(0, x))", "the mish, x tanh(softplus(x)), was computed"),
    ("hard", "x * np.clip(x / 6 + 0.5, 0, 1)", "the gate is made of straight lines, as in the hard swish"),
    ("squared", "x * x * _sigmoid(x)", "x was multiplied twice"),
    ("square-of-gate", "x * _sigmoid(x) ** 2", "the gate was squared"),
    ("copy", "x * 1", "x was returned unchanged"),
    ("absolute-value", "np.abs(x) * _sigmoid(x)", "the absolute value of x was multiplied by the gate"),
    ("gate-of-absolute-value", "x * _sigmoid(np.abs(x))", "the gate is the sigmoid of the absolute value of x"),
    ("sigmoid-of-silu", "_sigmoid(x * _sigmoid(x))", "the sigmoid was applied once more"),
    ("added", "x + _sigmoid(x)", "the sigmoid was added to x, not multiplied by it"),
):
    mistake(name, _RESULT, code, common=name in ("sigmoid-alone", "sigmoid-form-of-gelu")).explain(f"""
        {title}
        why: SiLU is x times the sigmoid of x: 0.7311 at 1, and -0.2689 at -1.
        ask: What does your code return for 1, -1, 10 and -10, and what should it?""")
mistake("overflow", _RESULT, "x * np.exp(x) / (1 + np.exp(x))").explain("""
    the exponential of a large x overflows
    why: exp(1000) is infinite, and infinity divided by infinity is nan. exp(-1000) is 0 and does no harm.
    ask: For which x is the exponent in your code a large positive number? What is the result then?""")
mistake("exponential-limited", _RESULT, "x / (1 + np.exp(np.clip(-x, -CONSTANT, CONSTANT)))", constant=5.0).explain("""
    the exponent was limited to {constant}
    why: For a very negative x the gate then stays above 0, and is multiplied by the large x.
    ask: What does your code return for x = -1000? It should be 0.""")
mistake("sigmoid-with", _RESULT, "x * _sigmoid(CONSTANT * x)", constant=1.5).explain("""
    the gate is the sigmoid of {constant} x, not of x
    why: That is the swish with a parameter β. SiLU has β = 1.
    ask: Which factor does x have in your exponent?""")
mistake("factor", _RESULT, f"CONSTANT * {_RESULT}", constant=0.5).explain("""
    the result is {constant} times what it should be
    why: SiLU is x times the sigmoid of x, with no other factor.
    ask: What should silu(1000) be?""")
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
mistake("writes-into-x", f"return {_RESULT}", "x *= _sigmoid(x)\n    return x").explain("""
    x was changed in place
    why: The backward pass still needs x.
    ask: Which of your lines write into an array that you did not create?""")
mistake("one-comparison", f"return {_RESULT}", f"if x < -100:\n        return 0.0\n    return {_RESULT}").explain("""
    a whole array was compared in an `if`
    why: An array of several entries is neither true nor false, so NumPy raises an error.
    ask: Which function of NumPy chooses between two values for every element?""")

_SLOPE = "dout * (gate + x * gate * (1 - gate))"
mistake = MISTAKES.for_functions("llama.silu_backward")
for name, code, title in (
    ("gate-constant", "dout * gate", "the gate was treated as a constant: only σ(x) is left"),
    (
        "gate-missing",
        "dout * (x * gate * (1 - gate))",
        "the gate itself is missing: only the term with its slope is left",
    ),
    ("slope-of-sigmoid", "dout * gate * (1 - gate)", "the slope of the sigmoid was used, as if x were not multiplied"),
    ("factor-x-missing", "dout * (gate + gate * (1 - gate))", "the factor x is missing in the second term"),
    ("second-term-subtracted", "dout * (gate - x * gate * (1 - gate))", "the second term was subtracted, not added"),
    (
        "slope-of-gate-plus",
        "dout * (gate + x * gate * (1 + gate))",
        "the slope of the sigmoid was taken to be σ (1 + σ)",
    ),
    ("slope-of-tanh", "dout * (gate + x * (1 - gate * gate))", "the slope of tanh, 1 - σ², was used for the sigmoid"),
    ("one-minus-gate-missing", "dout * (gate + x * gate)", "the factor 1 - σ is missing in the second term"),
    ("gate-missing-in-slope", "dout * (gate + x * (1 - gate))", "the factor σ is missing in the second term"),
    ("silu-twice", "dout * (gate + x * gate * (1 - x * gate))", "the second term has 1 - silu(x) instead of 1 - σ(x)"),
    ("first-term-with-x", "dout * (x * gate + x * gate * (1 - gate))", "the first term is silu(x), not σ(x)"),
    ("second-term-with-x-twice", "dout * (gate + x * x * gate * (1 - gate))", "the second term has the factor x²"),
    ("terms-multiplied", "dout * (gate * x * gate * (1 - gate))", "the two terms were multiplied, not added"),
    (
        "dout-missing",
        "gate + x * gate * (1 - gate) + 0 * dout",
        "the slope was not multiplied by the upstream gradient",
    ),
    (
        "dout-on-first-term",
        "dout * gate + x * gate * (1 - gate)",
        "only the first term was multiplied by the upstream gradient",
    ),
    (
        "dout-on-second-term",
        "gate + dout * x * gate * (1 - gate)",
        "only the second term was multiplied by the upstream gradient",
    ),
    ("dout-for-x", "dout * (gate + dout * gate * (1 - gate))", "dout is in the place of x in the second term"),
    ("sign", "-dout * (gate + x * gate * (1 - gate))", "the slope of SiLU has the wrong sign"),
    ("slope-of-relu", "dout * (x > 0)", "the slope of ReLU was used"),
    ("passed-through", "dout * 1", "dx is dout, as if the activation did nothing"),
    ("times-silu", "dout * (x * gate)", "the gradient was multiplied by silu(x), not by its slope"),
    ("silu-of-dout", "silu(dout)", "SiLU was applied to dout"),
):
    mistake(name, _SLOPE, code, common=name in ("gate-constant", "gate-missing", "dout-missing")).explain(f"""
        {title}
        why: SiLU is x times a gate σ that depends on x: the product rule gives σ + x σ', and σ' is σ (1 - σ).
        ask: Take the derivative by hand, factor by factor, and compare it with your code. At 0 the slope is ½, for a
             large x it is 1, for a very negative one 0. What are yours?""")
for name, edits, title in (
    (
        "slope-at-output",
        ("_sigmoid(x)", "_sigmoid(silu(x))"),
        "the gate was computed from the output silu(x), not from x",
    ),
    (
        "slope-at-silu",
        ("gate = _sigmoid(x)", "x = silu(x)\n    gate = _sigmoid(x)"),
        "the slope was taken at the output instead of the input",
    ),
    (
        "gate-inverted",
        ("_sigmoid(x)", "_sigmoid(-x)"),
        "the gate is 1/(1 + exp(x)), with the wrong sign in the exponent",
    ),
    (
        "gate-of-gelu",
        ("_sigmoid(x)", "_sigmoid(1.702 * x)"),
        "the gate is σ(1.702 x), an approximation of that of GELU",
    ),
    (
        "gelu",
        (f"    gate = _sigmoid(x)\n    return {_SLOPE}", "    return __import__('ffn').gelu_backward(dout, x)"),
        "the gradient of GELU was computed",
    ),
):
    mistake(name, *edits).explain(f"""
        {title}
        why: The derivative is taken at x, the input of the forward pass, and belongs to the function of the forward
             pass.
        ask: Which argument does the gate have in your forward pass?""")
mistake("overflow", "_sigmoid(x)", "np.exp(x) / (1 + np.exp(x))").explain("""
    the exponential of a large x overflows
    why: exp(1000) is infinite, and infinity divided by infinity is nan.
    ask: For which x is the exponent in your code a large positive number? What is the result then?""")
mistake(
    "overflow-of-both", "_sigmoid(x)", "1 / (1 + np.exp(-x))", _SLOPE, "dout * (gate + x * np.exp(-x) * gate * gate)"
).explain("""
    the slope of the sigmoid was computed from exp(-x), which overflows for a very negative x
    why: exp(1000) is infinite, and infinity times 0 is nan.
    ask: Which of your factors is infinite for x = -1000? How can the slope be written with σ alone?""")
mistake("factor", f"return {_SLOPE}", f"return CONSTANT * {_SLOPE}", constant=2.0).explain("""
    the gradient is {constant} times what it should be
    why: The slope of SiLU is 1 for a large x.
    ask: Which factor does your result have for x = 1000?""")
mistake("float64", f"return {_SLOPE}", f"return ({_SLOPE}).astype(np.float64)").explain("""
    the result is float64 for every input
    why: np.zeros and np.empty give float64, and so does all that is combined with them.
    ask: Which dtype does x have, and which dtype does your result have? From which line on?""")
mistake("writes-into-dout", f"return {_SLOPE}", "dout *= gate + x * gate * (1 - gate)\n    return dout").explain("""
    dout was changed in place
    why: `dout *= …` writes into the caller's array, which may still be needed along another path.
    ask: Which of your lines write into an array that you did not create?""")
difference_quotient_of_each(mistake, "silu")
