"""Mistakes in both forms of GELU."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

# The gate: what x is multiplied by, in `gelu` and in `ffn`.
_GATE = """
    return 0.5 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)))
"""
_GELU = """
    x = as_float(x)
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)))
"""
_ERF = "phi = 0.5 * (1 + _erf(x / math.sqrt(2)))"

mistake = MISTAKES.for_functions("ffn.gelu")
gates = MISTAKES.for_functions("ffn.gelu", "ffn.ffn")
mistake("exact-form", common=True).body("return gelu_exact(x)").explain("""
    the exact GELU with erf was used, not the tanh form
    why: The two never differ by more than 0.0005. GPT-2 was trained with the tanh form.
    ask: Which formula belongs to gelu, and which to gelu_exact?""")
for name, old, new, title, why in (
    (
        "no-cubic",
        " + 0.044715 * x * x * x",
        "",
        "the cubic term 0.044715 x³ is missing",
        "Near 0 the mistake stays hidden; at 2 the result is about 0.03 too small.",
    ),
    (
        "square-for-cube",
        "* x * x * x",
        "* x * x",
        "x² was used inside the tanh instead of x³",
        "For a negative x the term then has the wrong sign, because a square is never negative.",
    ),
    (
        "no-root",
        "math.sqrt(2 / math.pi)",
        "2 / math.pi",
        "the factor inside the tanh is 2/π, without the root",
        "It is 0.64 instead of 0.80, so the gate opens too slowly.",
    ),
    ("no-half", "0.5 * (1", "(1", "the factor ½ is missing", "Every result is twice as large as it should be."),
    (
        "bracket-closed-too-early",
        "* (x + 0.044715 * x * x * x)))",
        "* x + 0.044715 * x * x * x))",
        "the factor √(2/π) multiplies x only, not the cubic term",
        "In the formula it multiplies the whole parenthesis (x + 0.044715 x³).",
    ),
    (
        "one-missing",
        "1 + np.tanh(",
        "np.tanh(",
        "the 1 before tanh is missing",
        "tanh goes from -1 to 1, but the gate should go from 0 to 1.",
    ),
):
    edits = (old, new, "* x)))", "* x)))))") if name == "sigmoid-for-tanh" else (old, new)
    common = name in ("no-cubic", "square-for-cube", "no-root", "no-half")
    gates(name, *edits, inside="_gelu_gate", common=common).body(_GATE).explain(f"""
        {title}
        why: {why}
        ask: Compare your code with the formula sign by sign and digit by digit. What should gelu(10) and gelu(-10)
             be?""")
mistake("factor-x-missing", "0.5 * x *", "0.5 *").body(_GELU).explain("""
    the factor x is missing: the result is the gate alone
    why: GELU is x times a gate between 0 and 1.
    ask: Compare your code with the formula, parenthesis by parenthesis. What should gelu(10) and gelu(-10) be?""")
gates("cubic-constant", "0.044715", "CONSTANT", inside="_gelu_gate", constant=0.05).body(_GATE).explain("""
    the constant before x³ is {constant} instead of 0.044715
    why: With another constant the gate opens too fast or too slowly.
    ask: Which of the formula's constants differ from yours, digit by digit?""")
gates("factor-constant", "math.sqrt(2 / math.pi)", "CONSTANT", inside="_gelu_gate", constant=0.79788).body(
    _GATE
).explain("""
    the factor inside the tanh is {constant}, not √(2/π)
    why: √(2/π) is 0.7978845608…; a constant with few digits makes the result correct to few digits only.
    ask: How many digits of √(2/π) are in your code? Which function of math gives all of them?""")
mistake("overflow", inside="_gelu_gate").body("""
    u = math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)
    return 0.5 * (1 + (np.exp(u) - np.exp(-u)) / (np.exp(u) + np.exp(-u)))
""").explain("""
    tanh was computed from exponentials, which overflow
    why: exp(1000) is infinite, and infinity divided by infinity is nan. np.tanh does not overflow.
    ask: What does your formula return for x = 1000, and what for x = -1000?""")
mistake("integers-cubed", "x = as_float(x)", "x = np.asarray(x)", "x * x * x", "x**3").body(_GELU).explain("""
    integers were cubed before they were converted to floats
    why: The cubes of small integer types overflow: in 8 bits, 6 · 6 · 6 is -40.
    ask: Which dtype does x have in the line that cubes it, if x holds integers?""")

mistake = MISTAKES.for_functions("ffn.gelu_exact")
mistake("tanh-form").body("return gelu(x)").explain("""
    the tanh form was used, not the exact GELU with erf
    why: The two never differ by more than 0.0005, but they are two functions.
    ask: Which formula belongs to gelu, and which to gelu_exact?""")
for name, new, title, why in (
    (
        "no-root-two",
        "phi = 0.5 * (1 + _erf(x))",
        "x was not divided by √2 before erf",
        "erf belongs to a normal distribution with variance ½; the √2 converts it to variance 1.",
    ),
    (
        "no-half",
        "phi = 1 + _erf(x / math.sqrt(2))",
        "the factor ½ is missing",
        "Every result is twice as large as it should be.",
    ),
    (
        "sigmoid-form",
        "phi = 1 / (1 + np.exp(-1.702 * x))",
        "the rough approximation x σ(1.702 x) was used, not erf",
        "It is off by up to 0.02.",
    ),
    (
        "erf-of-array",
        "phi = 0.5 * (1 + math.erf(x / math.sqrt(2)))",
        "math.erf was called with a whole array",
        "The functions of the math module take one number at a time.",
    ),
    (
        "nothing-not-handled",
        "phi = 0.5 * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))",
        "an empty array fails: np.vectorize was not given a dtype for its results",
        "np.vectorize calls the function once to find the dtype. An empty array has no element. See otypes.",
    ),
):
    ask = {
        "erf-of-array": "What may the argument of math.erf be? Which function of NumPy applies it to every element?",
        "nothing-not-handled": "What does your function return for an x of shape (0, 3)?",
    }.get(name, "Φ(1) is 0.8413 and Φ(-10) nearly 0. What does your gate give for 1 and for -10?")
    mistake(name, _ERF, new, common=name in ("no-root-two", "no-half")).explain(f"""
        {title}
        why: {why}
        ask: {ask}""")
mistake("erf-by-a-short-formula").body("""
    x = as_float(x)
    z = x / math.sqrt(2)
    t = 1 / (1 + 0.3275911 * np.abs(z))
    polynomial = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t
    return (x * 0.5 * (1 + np.sign(z) * (1 - polynomial * np.exp(-z * z)))).astype(x.dtype)
""").explain("""
    erf was computed with a polynomial that is accurate to about seven digits
    why: The formula of Abramowitz and Stegun (7.1.26) is off by up to 1.5e-7. Python's erf has sixteen digits.
    ask: Which module of Python has erf? How can you apply it to every element of an array?""")
mistake("factor-x-missing", "(x * phi)", "phi").explain("""
    the factor x is missing: the result is Φ(x) alone
    why: GELU is x times a gate between 0 and 1.
    ask: What should gelu_exact(10) be?""")
