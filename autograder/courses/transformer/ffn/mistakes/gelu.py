"""Mistakes in GELU."""

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

mistake = MISTAKES.for_functions("ffn.gelu")
gates = MISTAKES.for_functions("ffn.gelu", "ffn.ffn")
mistake("exact-form", common=True).body("return gelu_exact(x)").explain("""
    the exact GELU with erf was used, not the tanh form
    why: The two never differ by more than 0.0005. GPT-2 was trained with the tanh form.
    ask: Which formula belongs to gelu, and which to gelu_exact?""")
mistake("sigmoid-form").body("x = as_float(x)\nreturn x / (1 + np.exp(-1.702 * x))").explain("""
    the rough approximation x σ(1.702 x) was used, not the tanh form
    why: The two differ by up to 0.021. GPT-2 was trained with the tanh form.
    ask: Which formula of GELU is asked for here: with erf, with tanh, or with σ?""")
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
