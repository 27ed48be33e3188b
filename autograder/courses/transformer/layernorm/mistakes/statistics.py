"""Mistakes in the mean, the variance and eps of layer normalization, forward and backward."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_STATISTICS = """
    x = as_float(x)
    mean = x.mean(axis=-1, keepdims=True)
    var = x.var(axis=-1, keepdims=True)
    std = np.sqrt(var + eps)
"""
FORWARD = f"""{_STATISTICS}
    return gamma * (x - mean) / std + beta
"""
BACKWARD = f"""{_STATISTICS}
    dout = as_float(dout)
    d = x.shape[-1]
    normalized = (x - mean) / std
    dgamma = (dout * normalized).reshape(-1, d).sum(axis=0)
    dbeta = dout.reshape(-1, d).sum(axis=0)
    g = dout * gamma
    mean_path = g.mean(axis=-1, keepdims=True)
    variance_path = normalized * (g * normalized).mean(axis=-1, keepdims=True)
    return (g - mean_path - variance_path) / std, dgamma, dbeta
"""
_MEAN, _VAR, _STD = (
    "mean = x.mean(axis=-1, keepdims=True)",
    "var = x.var(axis=-1, keepdims=True)",
    "std = np.sqrt(var + eps)",
)
_BATCH_NORMALIZATION = """That is what batch normalization does: each feature over the batch.
    Here it is each vector over its features."""

mistake = MISTAKES.for_functions("layernorm.layernorm", "layernorm.layernorm_backward")
mistake(
    "unbiased-variance", "(centered, centered)", "(centered, centered) * d / (d - 1)", common=True, inside="_normalize"
).explain("""
    the variance was divided by D - 1, not by D
    why: Statistics books, torch.var and torch.std divide by D - 1. Layer normalization uses the plain mean of the
         squared distances. With few features the result is several percent too small.
    ask: Which variance does your library compute by default? For the row 1, 2, 3, 6 it should be 3.5.""")
mistake(
    "eps-outside-root", " + float(eps))[:, None]", ")[:, None] + float(eps)", common=True, inside="_normalize"
).explain("""
    eps was added to the standard deviation, outside the root
    why: On ordinary vectors the mistake hardly shows. On very small ones the result is far too large, and with a large
         eps it is too small.
    ask: By hand, with eps=0.1 and a row whose entries are nearly equal: what goes into the root?""")
mistake("no-eps", " + float(eps)", "", common=True, inside="_normalize").explain("""
    eps was not used
    why: A row of equal entries has variance 0; it is divided by 0, which gives nan.
    ask: Where is eps in your code? What does the row 5, 5, 5 give?""")
mistake("eps-always", "float(eps)", "CONSTANT", inside="_normalize", constant=1e-3).explain("""
    the eps argument was ignored: eps was always {constant}
    why: A call with another eps must give another result; on vectors of small numbers the difference is large.
    ask: If you call your function with eps=10, does anything change?""")
mistake("eps-scaled", "float(eps)", "CONSTANT * float(eps)", inside="_normalize", constant=2.0).explain("""
    eps was multiplied by {constant}
    why: eps itself is added to the variance. With the default, only rows with a small variance show the difference.
    ask: With eps=0.1, what is added inside the root?""")
mistake("no-root", "np.sqrt(", "(", common=True, inside="_normalize").explain("""
    x - mean was divided by the variance, not by the standard deviation
    why: If you double a vector, the normalized vector is halved; it should stay the same.
    ask: If you multiply a row by 10, by which factor does your denominator grow? By which factor should it grow?""")
mistake("eps-squared", "float(eps)", "float(eps) ** 2", inside="_normalize").explain("""
    eps was squared
    why: eps itself is added to the variance. With the default, only rows with a very small variance show the
         difference.
    ask: With eps=0.1, what is added inside the root?""")

for function, body in (("layernorm.layernorm", FORWARD), ("layernorm.layernorm_backward", BACKWARD)):
    mistake = MISTAKES.for_functions(function)
    for name, title, why, old, new in (
        (
            "eps-as-smallest",
            "eps was used as a lower limit, not added to the variance",
            "With the default, only rows with a very small variance show the difference.",
            _STD,
            "std = np.maximum(np.sqrt(var), eps)",
        ),
        (
            "root-of-standard-deviation",
            "the root was taken twice: of np.std, which is a root already",
            "np.std is the root of np.var. The row is then divided by the fourth root of the variance.",
            _VAR,
            _VAR.replace("x.var", "x.std"),
        ),
    ):
        mistake(name, old, new).body(body).explain(f"""
            {title}
            why: {why}
            ask: By hand, with eps=0.1, for the row 1, 2, 3, 6: what is subtracted, and what is divided by?""")
    # Wrong axes of the mean, of the variance, or of both.
    nouns = {"": "the mean and the variance", "-of-mean": "the mean", "-of-variance": "the variance"}[""]
    for name, axis, text in (
        ("first-axis", "axis=0, keepdims=True", "over the first axis"),
        ("second-axis", "axis=1, keepdims=True", "over axis 1, counted from the front"),
        ("all-axes", "", "over the whole array"),
        (
            "axes-without-batch",
            "axis=tuple(range(min(1, x.ndim - 1), x.ndim)), keepdims=True",
            "over all axes but the first",
        ),
    ):
        edits = [
            text for place in ("mean", "var") for text in (f"x.{place}(axis=-1, keepdims=True)", f"x.{place}({axis})")
        ]
        why = _BATCH_NORMALIZATION if name == "first-axis" else "The rows then depend on each other."
        mistake(name + "", *edits, common=True and name.endswith("axis")).body(body).explain(f"""
            {nouns} were taken {text}
            why: {why}
            ask: Which entries share one mean and one variance: those of one token, or those of one feature?""")
    edits = [
        text for place in ("mean", "var") for text in (f"x.{place}(axis=-1, keepdims=True)", f"x.{place}(axis=-1)")
    ]
    mistake("keepdims-missing", *edits).body(body).explain(f"""
        keepdims=True is missing from {nouns}
        why: (B, T) does not broadcast against (B, T, D). If the sizes happen to be equal there is no error, and the
             values of other rows are used.
        ask: What is the shape of x.mean(axis=-1), and with which axis of x does broadcasting line it up?""")
    mistake("two-axes-expected", "    x = as_float(x)\n", "    x = as_float(x)\n    n, d = x.shape\n").body(
        body
    ).explain("""
        x was expected to have exactly two axes, (N, D)
        why: Unpacking x.shape into two names fails for every other number of axes.
        ask: What does `n, d = x.shape` do for one vector, and for x of shape (2, 3, 4)? Which sizes do you need?""")
    for name, variance in (
        ("", "(x * x).mean(axis=-1, keepdims=True) - x.mean(axis=-1, keepdims=True) ** 2"),
        ("-from-0", "np.maximum((x * x).mean(axis=-1, keepdims=True) - mean**2, 0)"),
    ):
        mistake(f"one-pass-variance{name}", _VAR, f"var = {variance}", group="one pass").body(body).explain("""
            the variance was computed as mean(x²) - mean(x)²
            why: In exact arithmetic that is the same. Far from 0 the two are large and almost equal, and rounding
                 spoils their difference: for a row around a million six digits are right, in float32 none; it may even
                 be negative.
            ask: For the row 1000000, 1000001, 1000002, compare mean(x²) - mean(x)² with the mean of (x - mean)². Which
                 is right?""")
