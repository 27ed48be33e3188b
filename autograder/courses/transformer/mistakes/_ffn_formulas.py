"""Mistakes in assignment 7 about formulas: brackets and constants of GELU, sums and biases of linear layers."""

from autograder.engine.diagnosis.mistake import Mistake

_GELU = """
    x = as_float(x)
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)))
"""
_SLOPE = """
    x = as_float(x)
    u = math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)
    du = math.sqrt(2 / math.pi) * (1 + 3 * 0.044715 * x * x)
    tanh = np.tanh(u)
    return dout * (0.5 * (1 + tanh) + 0.5 * x * (1 - tanh * tanh) * du)
"""
_ERF = "phi = 0.5 * (1 + _erf(x / math.sqrt(2)))"
_ROWS = """
    x, dout = as_float(x), as_float(dout)
    rows, drows = x.reshape(-1, x.shape[-1]), dout.reshape(-1, dout.shape[-1])
    return dout @ W.T, rows.T @ drows, {db}
"""

FORMULAS = (
    # --- gelu
    Mistake(
        "ffn.gelu",
        "bracket-closed-too-early",
        "the factor √(2/π) multiplies x only, not the cubic term",
        "In the formula it stands before the whole bracket (x + 0.044715 x³).",
        "Where does the bracket behind √(2/π) open, and where does it close?",
        body=_GELU.replace("* (x + 0.044715 * x * x * x)))", "* x + 0.044715 * x * x * x))"),
    ),
    Mistake(
        "ffn.gelu",
        "factor-x-missing",
        "the factor x is missing: this is the gate alone",
        "GELU is x times a gate between 0 and 1.",
        "What should gelu(10) be?",
        body=_GELU.replace("0.5 * x *", "0.5 *"),
    ),
    Mistake(
        "ffn.gelu",
        "one-missing",
        "the 1 before tanh is missing",
        "tanh goes from -1 to 1; the gate should go from 0 to 1.",
        "What should gelu(-10) be?",
        body=_GELU.replace("1 + np.tanh(", "np.tanh("),
    ),
    *(
        Mistake(
            "ffn.gelu",
            f"constant-{constant}",
            "√(2/π) was rounded",
            "A constant of a few digits makes a result of a few digits.",
            "How many digits of √(2/π) are in your code? Which function of math gives all of them?",
            body=_GELU.replace("math.sqrt(2 / math.pi)", constant),
        )
        for constant in ("0.8", "0.79", "0.798", "0.7979", "0.79788", "0.797885", "0.7978846", "0.79788456")
    ),
    # --- gelu_exact
    Mistake(
        "ffn.gelu_exact",
        "erf-by-a-short-formula",
        "erf was computed by a polynomial that has seven right digits",
        "The formula of Abramowitz and Stegun (7.1.26) is off by up to 1.5e-7. Python knows erf to sixteen digits.",
        "Which module of Python has erf? How is it applied to every number of an array?",
        body="""
    x = as_float(x)
    z = x / math.sqrt(2)
    t = 1 / (1 + 0.3275911 * np.abs(z))
    polynomial = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t
    return (x * 0.5 * (1 + np.sign(z) * (1 - polynomial * np.exp(-z * z)))).astype(x.dtype)
""",
    ),
    Mistake(
        "ffn.gelu_exact",
        "sigmoid-form",
        "this is the rough approximation x σ(1.702 x)",
        "It is up to 0.02 off; gelu_exact is the one with erf.",
        "Which function of the normal distribution does the docstring name?",
        edits=((_ERF, "phi = 1 / (1 + np.exp(-1.702 * x))"),),
    ),
    Mistake(
        "ffn.gelu_exact",
        "factor-x-missing",
        "the factor x is missing: this is Φ(x) alone",
        "GELU is x times a gate between 0 and 1.",
        "What should gelu_exact(10) be?",
        edits=(("(x * phi)", "phi"),),
    ),
    Mistake(
        "ffn.gelu_exact",
        "nothing-not-handled",
        "it does not work without elements: np.vectorize was not told the dtype of its results",
        "np.vectorize calls the function once to see what it gives, and of an empty array there is nothing to call it "
        "with.",
        "What does the documentation of np.vectorize say about otypes?",
        edits=((_ERF, "phi = 0.5 * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))"),),
    ),
    # --- gelu_backward
    Mistake(
        "ffn.gelu_backward",
        "second-half-missing",
        "the factor ½ is missing in the second term",
        "The gate is (1 + tanh u)/2, and the ½ stays when it is differentiated.",
        "What is the derivative of (1 + tanh u)/2 with respect to u?",
        body=_SLOPE.replace("+ 0.5 * x *", "+ x *"),
    ),
    Mistake(
        "ffn.gelu_backward",
        "sigmoid-form",
        "this is the gradient of the rough approximation x σ(1.702 x)",
        "The gradient has to be that of the function that was computed: the tanh form.",
        "Which formula does your gelu use?",
        body="""
    x = as_float(x)
    gate = 1 / (1 + np.exp(-1.702 * x))
    return dout * (gate + 1.702 * x * gate * (1 - gate))
""",
    ),
    # --- linear
    Mistake(
        "ffn.linear",
        "bias-as-column",
        "the bias stands along the rows: b[:, None]",
        "Every column of the output has a bias of its own. A new axis at the end makes one for each row: an error, "
        "or, for a square matrix, silently wrong numbers.",
        "With which axis of (N, D_out) does broadcasting line up a vector (D_out,), without any new axis?",
        body="""
    x = as_float(x)
    return x @ W if b is None else x @ W + b[:, None]
""",
    ),
    Mistake(
        "ffn.linear",
        "float64-bias",
        "a missing bias became float64 zeros",
        "np.zeros is float64, and a float32 product plus float64 zeros is float64.",
        "Which dtype does np.zeros give? Is anything to be added at all?",
        body="""
    x = as_float(x)
    return x @ W + (np.zeros(W.shape[1]) if b is None else b)
""",
    ),
    # --- linear_backward
    *(
        Mistake("ffn.linear_backward", name, title, explanation, hint, body=_ROWS.format(db=db))
        for name, title, explanation, hint, db in (
            (
                "db-two-axes",
                "db is always summed over the first two axes",
                "That is right for (B, T, D_out). A matrix has only one axis of rows, and a vector none.",
                "How could (..., D_out) be made into rows (N, D_out), whatever stands before the last axis?",
                "dout.sum(axis=(0, 1))",
            ),
            (
                "db-over-features",
                "db is summed over the features, not over the rows",
                "One number for each row is left, where one for each feature is wanted.",
                "What is the shape of b? Which axes have to go, and which one has to stay?",
                "dout.sum(axis=-1)",
            ),
            (
                "db-one-number",
                "db is summed over all axes, the features too",
                "Each of the D_out features has a bias of its own, and so a gradient of its own.",
                "What is the shape of b, and what does .sum() without an axis leave?",
                "dout.sum()",
            ),
        )
    ),
)
