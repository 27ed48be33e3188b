"""Mistakes in the gradient of GELU."""

from autograder.courses.transformer.common.mistakes.difference_quotients import difference_quotient_of_each
from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_GELU_BACKWARD = """
    x = as_float(x)
    u = math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)
    du = math.sqrt(2 / math.pi) * (1 + 3 * 0.044715 * x * x)
    tanh = np.tanh(u)
    return dout * (0.5 * (1 + tanh) + 0.5 * x * (1 - tanh * tanh) * du)
"""

mistake = MISTAKES.for_functions("ffn.gelu_backward")
slopes = MISTAKES.for_functions("ffn.gelu_backward", "ffn.ffn_backward")
for name, old, new, title, why in (
    (
        "gate-constant",
        " + 0.5 * x * (1 - tanh * tanh) * du",
        "",
        "the gate was treated as a constant: only (1 + tanh u)/2 is left",
        "GELU is x times a gate that depends on x, so the product rule gives two terms.",
    ),
    (
        "gate-missing",
        "0.5 * (1 + tanh) + ",
        "",
        "the gate itself is missing: only the term with the slope of tanh is left",
        "GELU is x times a gate that depends on x, so the product rule gives two terms.",
    ),
    (
        "second-term-subtracted",
        "tanh) + 0.5",
        "tanh) - 0.5",
        "the second term was subtracted, not added",
        "The product rule adds the two terms.",
    ),
    (
        "inner-slope-missing",
        " * du",
        "",
        "du/dx was missing: the chain rule stopped at tanh",
        "tanh is a function of u, and u is a function of x.",
    ),
    (
        "slope-of-tanh-missing",
        " * (1 - tanh * tanh)",
        "",
        "the slope of tanh, 1 - tanh² u, is missing",
        "Chain rule: tanh is a function of u, and its own slope is a factor, too.",
    ),
    (
        "no-three",
        "3 * 0.044715",
        "0.044715",
        "du/dx has 0.044715 x² without the factor 3",
        "The derivative of x³ is 3 x².",
    ),
    (
        "two-for-three",
        "3 * 0.044715",
        "2 * 0.044715",
        "du/dx has the factor 2 instead of 3",
        "The derivative of x³ is 3 x².",
    ),
    (
        "cube-not-differentiated",
        "3 * 0.044715 * x * x)",
        "3 * 0.044715 * x * x * x)",
        "du/dx has x³ instead of x²",
        "The derivative of x³ is 3 x².",
    ),
    (
        "power-one",
        "3 * 0.044715 * x * x)",
        "3 * 0.044715 * x)",
        "du/dx has x instead of x²",
        "The derivative of x³ is 3 x².",
    ),
    (
        "inner-one-missing",
        "(1 + 3 *",
        "(3 *",
        "the 1, which is the derivative of x, is missing in du/dx",
        "u is a sum of x and a cubic term, and both have a derivative.",
    ),
    ("inner-x-kept", "(1 + 3 *", "(x + 3 *", "du/dx has x instead of 1", "The derivative of x is 1."),
    (
        "inner-cubic-missing",
        "1 + 3 * 0.044715 * x * x",
        "1",
        "the cubic term is missing in du/dx",
        "u is a sum of x and a cubic term, and both have a derivative.",
    ),
    (
        "cubic-of-u-missing",
        " + 0.044715 * x * x * x",
        "",
        "the cubic term is missing in u",
        "u is the argument of tanh in the forward pass.",
    ),
    (
        "square-in-u",
        "0.044715 * x * x * x",
        "0.044715 * x * x",
        "u has x² instead of x³",
        "u is the argument of tanh in the forward pass.",
    ),
    (
        "inner-root-missing",
        "du = math.sqrt(2 / math.pi) * ",
        "du = ",
        "the factor √(2/π) is missing from du/dx",
        "In u the factor multiplies the whole parenthesis, so it is in the derivative, too.",
    ),
    (
        "outer-root-missing",
        "u = math.sqrt(2 / math.pi) * (x",
        "u = (x",
        "the factor √(2/π) is missing from u",
        "u is the argument of tanh in the forward pass.",
    ),
    (
        "inner-root-alone",
        "du = math.sqrt(2 / math.pi) * (1 + 3 * 0.044715 * x * x)",
        "du = math.sqrt(2 / math.pi) + 3 * 0.044715 * x * x",
        "in du/dx the factor √(2/π) covers the 1 only",
        "In u the factor multiplies everything in the parentheses, so it does so in the derivative, too.",
    ),
    (
        "tanh-not-squared",
        "tanh * tanh",
        "tanh",
        "1 - tanh u was used as the slope of tanh, without the square",
        "The derivative of tanh u is 1 - tanh² u.",
    ),
    (
        "slope-of-tanh-plus",
        "1 - tanh * tanh",
        "1 + tanh * tanh",
        "1 + tanh² u was used as the slope of tanh",
        "The derivative of tanh u is 1 - tanh² u.",
    ),
    (
        "square-of-difference",
        "(1 - tanh * tanh)",
        "(1 - tanh) ** 2",
        "(1 - tanh u)² was used as the slope of tanh",
        "The derivative of tanh u is 1 - tanh² u.",
    ),
    (
        "slope-like-sigmoid",
        "(1 - tanh * tanh)",
        "tanh * (1 - tanh)",
        "the slope of the sigmoid, s (1 - s), was used for tanh",
        "The derivative of tanh u is 1 - tanh² u.",
    ),
    (
        "sech-not-squared",
        "(1 - tanh * tanh)",
        "np.sqrt(1 - tanh * tanh)",
        "1 / cosh u was used as the slope of tanh, without the square",
        "The derivative of tanh u is 1 - tanh² u = 1 / cosh² u.",
    ),
    (
        "factor-x-missing",
        "0.5 * x * (1",
        "0.5 * (1",
        "the factor x is missing in the second term",
        "By the product rule, the derivative of the gate is multiplied by x.",
    ),
    (
        "factor-x-twice",
        "0.5 * x * (1",
        "0.5 * x * x * (1",
        "the second term has the factor x²",
        "By the product rule, the derivative of the gate is multiplied by x once.",
    ),
    (
        "first-half-missing",
        "0.5 * (1 + tanh)",
        "(1 + tanh)",
        "the factor ½ is missing in the first term",
        "The gate is (1 + tanh u)/2.",
    ),
    (
        "second-half-missing",
        "+ 0.5 * x *",
        "+ x *",
        "the factor ½ is missing in the second term",
        "The gate is (1 + tanh u)/2, and its derivative keeps the ½.",
    ),
    (
        "second-term-halved",
        "+ 0.5 * x *",
        "+ 0.25 * x *",
        "the second term is half of what it should be",
        "Written with the sigmoid, the gate is σ(2u), and the 2 belongs to its derivative: 2 σ(2u) (1 - σ(2u)) du/dx.",
    ),
    (
        "both-halves-missing",
        "dout * (0.5 * (1 + tanh) + 0.5",
        "dout * ((1 + tanh) + 1.0",
        "the factor ½ is missing in both terms",
        "The gate is (1 + tanh u)/2.",
    ),
    (
        "first-one-missing",
        "0.5 * (1 + tanh)",
        "0.5 * tanh",
        "the 1 is missing in the first term",
        "The gate is (1 + tanh u)/2.",
    ),
    (
        "first-one-minus",
        "0.5 * (1 + tanh)",
        "0.5 * (1 - tanh)",
        "the first term has 1 - tanh u instead of 1 + tanh u",
        "The gate is (1 + tanh u)/2.",
    ),
    (
        "first-term-with-x",
        "0.5 * (1 + tanh)",
        "0.5 * x * (1 + tanh)",
        "the first term is gelu(x) itself",
        "By the product rule, the x before the gate is replaced by its derivative, 1.",
    ),
    (
        "dout-missing",
        "dout * (0.5",
        "(0.5",
        "the slope was not multiplied by the upstream gradient",
        "Chain rule: the gradient of the output, times the slope of this step.",
    ),
    (
        "dout-on-first-term",
        "dout * (0.5 * (1 + tanh) + 0.5 * x * (1 - tanh * tanh) * du)",
        "dout * 0.5 * (1 + tanh) + 0.5 * x * (1 - tanh * tanh) * du",
        "only the first term was multiplied by the upstream gradient",
        "Chain rule: the gradient of the output, times the whole slope of this step.",
    ),
    (
        "dout-on-second-term",
        "dout * (0.5 * (1 + tanh) + 0.5 * x",
        "(0.5 * (1 + tanh) + dout * 0.5 * x",
        "only the second term was multiplied by the upstream gradient",
        "Chain rule: the gradient of the output, times the whole slope of this step.",
    ),
    (
        "sign",
        "return dout",
        "return -dout",
        "the slope of GELU has the wrong sign",
        "A step along it would then increase the loss.",
    ),
    (
        "slope-of-relu",
        "dout * (0.5 * (1 + tanh) + 0.5 * x * (1 - tanh * tanh) * du)",
        "dout * (x > 0)",
        "the slope of ReLU was used",
        "GELU opens its gate gradually, and has another slope.",
    ),
    (
        "passed-through",
        "dout * (0.5 * (1 + tanh) + 0.5 * x * (1 - tanh * tanh) * du)",
        "dout * 1.0",
        "GELU was left out, as if it did nothing",
        "Chain rule: the gradient of the output, times the slope of this step.",
    ),
    (
        "times-gelu",
        "dout * (0.5 * (1 + tanh) + 0.5 * x * (1 - tanh * tanh) * du)",
        "dout * gelu(x)",
        "the gradient was multiplied by gelu(x), not by its slope",
        "Chain rule: the gradient of the output, times the slope of this step.",
    ),
):
    common = name in ("gate-constant", "gate-missing", "inner-slope-missing", "no-three")
    add = mistake if name == "slope-of-relu" else slopes  # `ffn_backward` has its own.
    add(name, old, new, inside="_gelu_backward", common=common).body(_GELU_BACKWARD).explain(f"""
        {title}
        why: {why}
        ask: Take the derivative by hand, factor by factor, and compare it with your code. For a large x the slope is 1,
             for a very negative one 0. What are yours?""")
for name, forms, title in (
    (
        "cubic-constant",
        ("x + 0.044715", "x + CONSTANT", "3 * 0.044715", "3 * CONSTANT"),
        "the constant before x³ is {constant} instead of 0.044715",
    ),
    ("cubic-constant-of-slope", ("3 * 0.044715", "3 * CONSTANT"), "in du/dx the constant 0.044715 is {constant}"),
    ("cubic-constant-of-u", ("x + 0.044715", "x + CONSTANT"), "in u the constant 0.044715 is {constant}"),
    (
        "factor-constant",
        ("    u = math.sqrt(2 / math.pi)", "    u = CONSTANT", "du = math.sqrt(2 / math.pi)", "du = CONSTANT"),
        "the factor inside the tanh is {constant}, not √(2/π)",
    ),
    (
        "factor-constant-of-slope",
        ("du = math.sqrt(2 / math.pi)", "du = CONSTANT"),
        "in du/dx the factor √(2/π) is {constant}",
    ),
    (
        "factor-constant-of-u",
        ("    u = math.sqrt(2 / math.pi)", "    u = CONSTANT"),
        "in u the factor √(2/π) is {constant}",
    ),
):
    mistake(name, *forms, inside="_gelu_backward", constant=0.05 if "cubic" in name else 0.7).body(
        _GELU_BACKWARD
    ).explain(f"""
        {title}
        why: The forward pass and its gradient must have the same constants.
        ask: Which of the formula's constants differ from yours, digit by digit?""")
for name, gate, slope, title in (
    ("sigmoid-form", "1.702 * x", "1.702", "the gradient of the rough approximation x σ(1.702 x) was computed"),
    ("silu", "x", "1", "the gradient of SiLU (swish), x σ(x), was computed"),
):
    slopes(name, inside="_gelu_backward").body(f"""
        with np.errstate(over="ignore"):
            gate = 1 / (1 + np.exp(-{gate}))
        return dout * (gate + {slope} * x * gate * (1 - gate))
    """).explain(f"""
        {title}
        why: The forward pass uses the tanh form, and the gradient has to belong to the same function.
        ask: Which formula does your gelu use?""")
slopes("exact-form", inside="_gelu_backward").body("""
    cdf = 0.5 * (1 + _erf(x / math.sqrt(2)))
    pdf = np.exp(-0.5 * x * x) / math.sqrt(2 * math.pi)
    return (dout * (cdf + x * pdf)).astype(x.dtype)
""").explain("""
    the gradient of the exact GELU with erf was computed
    why: The forward pass uses the tanh form, and the gradient has to belong to the same function.
    ask: Of which function is your result the gradient: gelu or gelu_exact?""")
mistake("overflow", "np.tanh(u)", "(np.exp(u) - np.exp(-u)) / (np.exp(u) + np.exp(-u))", inside="_gelu_backward").body(
    _GELU_BACKWARD
).explain("""
    tanh was computed from exponentials, which overflow
    why: exp(1000) is infinite, and infinity divided by infinity is nan. np.tanh does not overflow.
    ask: What does your formula return for x = 1000, and what for x = -1000?""")
mistake(
    "float64",
    "return _gelu_backward(dout, x, _gelu_gate(x))",
    "return _gelu_backward(dout, x, _gelu_gate(x)).astype(np.float64)",
).explain("""
    the result is float64 for every input
    why: np.sqrt of a Python number and np.zeros give float64, and so does all that is combined with them.
    ask: Which dtype does x have, and which dtype does your result have? From which line on?""")
mistake(
    "writes-into-dout", "_gelu_backward(dout, x", "_gelu_backward(np.multiply(dout, 1.5, out=dout) / 1.5, x"
).explain("""
    dout was changed in place
    why: `dout *= …` writes into the caller's array, which may still be needed along another path.
    ask: Which of your lines write into an array that you did not create?""")
difference_quotient_of_each(mistake, "gelu")
