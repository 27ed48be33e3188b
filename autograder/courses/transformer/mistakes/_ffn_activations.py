"""Mistakes in assignment 7: the activations."""

from autograder.engine.diagnosis.mistake import Mistake

_GELU = """
    x = as_float(x)
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)))
"""

ACTIVATIONS = (
    Mistake(
        "ffn.relu",
        "leaky",
        "negative values leak through: this is the leaky ReLU",
        "ReLU makes exactly 0 of everything negative.",
        "What should become of -1000?",
        body="""
    x = as_float(x)
    return np.where(x > 0, x, x * 0.01)
""",
    ),
    Mistake(
        "ffn.relu",
        "minimum",
        "the minimum with 0 was taken, not the maximum",
        "This keeps what should go and drops what should stay.",
        "What is relu(3)?",
        edits=(("np.maximum", "np.minimum"),),
    ),
    Mistake(
        "ffn.relu",
        "gate-only",
        "1 comes out for positive values instead of the values themselves",
        "That is the gate, or the slope; the function lets the value itself pass.",
        "What is relu(3)?",
        edits=(("np.maximum(as_float(x), 0)", "(as_float(x) > 0) * np.ones_like(as_float(x))"),),
    ),
    Mistake(
        "ffn.relu",
        "float64",
        "the result is float64, whatever x is",
        "An array of zeros that NumPy makes by itself is float64, and so is everything that it meets.",
        "Which dtype do np.zeros and np.where(…, 0.0) with it give you? A plain 0 does not change the dtype of x.",
        edits=(("as_float(x), 0", "as_float(x), np.zeros(np.shape(x))"),),
    ),
    Mistake(
        "ffn.relu",
        "integers-stay",
        "integers stay integers",
        "Everything in the kit computes in floats; integers are turned into float64 first.",
        "What does as_float do, and who calls it?",
        edits=(("as_float(x)", "np.asarray(x)"),),
    ),
    Mistake(
        "ffn.relu",
        "writes-into-x",
        "x[x < 0] = 0 changes the caller's array",
        "The backward pass still needs to know where x was negative.",
        "Which of your lines write into an array that you did not make?",
        body="""
    x = as_float(x)
    x[x < 0] = 0
    return x
""",
    ),
    Mistake(
        "ffn.gelu",
        "exact-form",
        "this is the exact GELU, with erf; the assignment's gelu is the tanh form",
        "The two are never more than 0.0005 apart. GPT-2 was trained with the tanh form.",
        "Which of the two names, gelu and gelu_exact, belongs to which formula?",
        body="""
    return gelu_exact(x)
""",
        common=True,
    ),
    Mistake(
        "ffn.gelu",
        "sigmoid-form",
        "this is the rough approximation x σ(1.702 x)",
        "It is off by about 0.02 at worst. The assignment asks for the tanh form.",
        "How many constants does the formula in the docstring have?",
        body="""
    x = as_float(x)
    with np.errstate(over="ignore"):
        return x / (1 + np.exp(-1.702 * x))
""",
    ),
    Mistake(
        "ffn.gelu",
        "silu",
        "this is SiLU (swish), x σ(x), not GELU",
        "The gate opens more slowly: at 1 it gives 0.73 instead of 0.84.",
        "Compare your values at -3, -1, 1 and 3 with those in the assignment.",
        body="""
    x = as_float(x)
    with np.errstate(over="ignore"):
        return x / (1 + np.exp(-x))
""",
    ),
    Mistake(
        "ffn.gelu",
        "no-cubic",
        "the cubic term 0.044715 x³ is missing",
        "Near 0 nothing shows; around 2 the result is off in the second digit.",
        "What does tanh get besides x?",
        body=_GELU.replace(" + 0.044715 * x * x * x", ""),
        common=True,
    ),
    Mistake(
        "ffn.gelu",
        "square-for-cube",
        "the term in tanh has x² instead of x³",
        "A square is positive on both sides, so negative values come out wrong.",
        "What sign should the correction have for a negative x?",
        body=_GELU.replace("* x * x * x", "* x * x"),
        common=True,
    ),
    Mistake(
        "ffn.gelu",
        "wrong-cubic",
        "the constant is 0.44715 instead of 0.044715",
        "A lost zero: the gate opens too fast.",
        "Compare your constants with the formula digit by digit.",
        body=_GELU.replace("0.044715", "0.44715"),
    ),
    Mistake(
        "ffn.gelu",
        "no-root",
        "the factor in tanh is 2/π, without the root",
        "0.64 instead of 0.80: the gate opens too slowly.",
        "What does the formula have in front of the bracket?",
        body=_GELU.replace("math.sqrt(2 / math.pi)", "2 / math.pi"),
        common=True,
    ),
    Mistake(
        "ffn.gelu",
        "fraction-upside-down",
        "the factor in tanh is √(π/2) instead of √(2/π)",
        "1.25 instead of 0.80: the gate opens too fast.",
        "Is the factor smaller or larger than 1?",
        body=_GELU.replace("2 / math.pi", "math.pi / 2"),
    ),
    Mistake(
        "ffn.gelu",
        "no-half",
        "the factor ½ is missing",
        "Everything is twice as large as it should be.",
        "For a large x, gelu(x) should be nearly x.",
        body=_GELU.replace("0.5 * x", "x"),
        common=True,
    ),
    Mistake(
        "ffn.gelu",
        "float64",
        "float32 becomes float64, because of a NumPy number such as np.sqrt(2 / np.pi)",
        "np.sqrt gives a NumPy float64, and an array that meets it becomes float64. A Python float does not do that.",
        "What is type(np.sqrt(2.0)), and what is type(math.sqrt(2.0))?",
        body=_GELU.replace("math.sqrt(2 / math.pi)", "np.sqrt(2 / np.pi)"),
    ),
    Mistake(
        "ffn.gelu",
        "overflow",
        "tanh was written with exponentials, and they overflow",
        "exp(1000) is infinite, and infinity divided by infinity is nan. np.tanh has no such trouble.",
        "What does your formula give for x = 1000?",
        body="""
    x = as_float(x)
    u = math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)
    tanh = (np.exp(u) - np.exp(-u)) / (np.exp(u) + np.exp(-u))
    return 0.5 * x * (1 + tanh)
""",
    ),
    Mistake(
        "ffn.gelu_exact",
        "tanh-form",
        "this is the tanh form; gelu_exact is the one with erf",
        "The two are never more than 0.0005 apart, but they are two functions.",
        "Which of the two names, gelu and gelu_exact, belongs to which formula?",
        body="""
    return gelu(x)
""",
    ),
    Mistake(
        "ffn.gelu_exact",
        "no-root-two",
        "x was not divided by √2 before erf",
        "erf belongs to a normal distribution with another width than 1; the √2 brings the two together.",
        "Φ(1) is 0.8413. Which argument of erf gives that?",
        edits=(("_erf(x / math.sqrt(2))", "_erf(x)"),),
        common=True,
    ),
    Mistake(
        "ffn.gelu_exact",
        "no-half",
        "the factor ½ is missing",
        "Everything is twice as large as it should be.",
        "For a large x, gelu_exact(x) should be nearly x.",
        edits=(("0.5 * (1", "(1"),),
        common=True,
    ),
    Mistake(
        "ffn.gelu_exact",
        "float64",
        "the result is float64, whatever x is",
        "math.erf works with Python floats; what comes out of np.vectorize is float64.",
        "Which dtype did x have, and which one has your result?",
        edits=((".astype(x.dtype)", ""),),
    ),
    Mistake(
        "ffn.gelu_exact",
        "erf-of-array",
        "math.erf was called with a whole array",
        "The functions of the math module take one number.",
        "How do you apply a function of one number to every element?",
        edits=(("_erf(x", "math.erf(x"),),
    ),
)
