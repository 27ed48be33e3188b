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
        "inner-slope-missing",
        " * du",
        "",
        "du/dx was missing: the chain rule stopped at tanh",
        "tanh is a function of u, and u is a function of x.",
    ),
    (
        "no-three",
        "3 * 0.044715",
        "0.044715",
        "du/dx has 0.044715 x² without the factor 3",
        "The derivative of x³ is 3 x².",
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
        "dout-missing",
        "dout * (0.5",
        "(0.5",
        "the slope was not multiplied by the upstream gradient",
        "Chain rule: the gradient of the output, times the slope of this step.",
    ),
    (
        "passed-through",
        "dout * (0.5 * (1 + tanh) + 0.5 * x * (1 - tanh * tanh) * du)",
        "dout * 1.0",
        "GELU was left out, as if it did nothing",
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
slopes("sigmoid-form", inside="_gelu_backward").body("""
    with np.errstate(over="ignore"):
        gate = 1 / (1 + np.exp(-1.702 * x))
    return dout * (gate + 1.702 * x * gate * (1 - gate))
""").explain("""
    the gradient of the rough approximation x σ(1.702 x) was computed
    why: The forward pass uses the tanh form, and the gradient has to belong to the same function.
    ask: Which formula does your gelu use?""")
mistake("float64", "(dout, x, _gelu_gate(x))", "(dout, x, _gelu_gate(x)).astype(np.float64)").explain("""
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
