"""Mistakes in the backward pass of layer normalization, apart from those in its mean and variance."""

from autograder.courses.transformer.common.mistakes.difference_quotients import difference_quotient
from autograder.courses.transformer.common.mistakes.row_sums import wrong_row_sums
from autograder.courses.transformer.layernorm.mistakes.statistics import BACKWARD
from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

# The gradient computed step by step, by way of the gradients of the variance and of the mean.
_STEPS = """
    x, dout = as_float(x), as_float(dout)
    d = x.shape[-1]
    mean, var = x.mean(axis=-1, keepdims=True), x.var(axis=-1, keepdims=True)
    normalized = (x - mean) / np.sqrt(var + eps)
    g = dout * gamma
    dvar = (g * (x - mean) * -0.5 * (var + eps) ** -1.5).sum(axis=-1, keepdims=True)
    dmean = (-g / np.sqrt(var + eps)).sum(axis=-1, keepdims=True)
    dx = g / np.sqrt(var + eps) + dvar * 2 * (x - mean) / d + dmean / d
    return dx, (dout * normalized).reshape(-1, d).sum(axis=0), dout.reshape(-1, d).sum(axis=0)
"""
# The three terms of dx in the solution, and what they are without the gain.
_DIRECT, _MEAN_PATH, _VARIANCE_PATH = "dx = dout * gamma", "(dout @ gamma / d)[:, None]", "(product @ gamma / d)"
_WITHOUT_GAIN = {
    "direct term": (_DIRECT, "dx = dout * 1.0"),
    "path through the mean": (_MEAN_PATH, "dout.mean(axis=-1)[:, None]"),
    "path through the variance": (_VARIANCE_PATH, "product.mean(axis=-1)"),
}
_RESULTS = "return dx.reshape(np.shape(x)), dgamma, dbeta"
_MEANS = {
    "": ("g.mean(axis=-1, keepdims=True)", "(g * normalized).mean(axis=-1, keepdims=True)"),
    "mean": ("g.mean(axis=-1, keepdims=True)",),
    "variance": ("(g * normalized).mean(axis=-1, keepdims=True)",),
}

mistake = MISTAKES.for_functions("layernorm.layernorm_backward")
mistake("variance-path-missing", "    dx -= normalized\n", "", common=True).explain("""
    the path through the variance is missing in dx
    why: The variance depends on every entry of the row, so each entry also changes the output by changing the divisor.
    ask: Scaling a vector changes nothing in the output. What does that say about the sum of x times dx over a row?""")
mistake("mean-path-missing", f"dx -= {_MEAN_PATH}", "dx -= 0.0", common=True).explain("""
    the path through the mean is missing in dx
    why: Shifting a vector changes nothing in the output, so each row of dx must add up to 0.
    ask: What is the sum of a row of your dx?""")
mistake("direct-path-only", f"dx -= {_MEAN_PATH}", "dx -= 0.0", "    dx -= normalized\n", "").explain("""
    the mean and the standard deviation were treated as constants in dx
    why: Both depend on x, so every entry changes every output of its row.
    ask: In how many places of the forward formula does x appear?""")
mistake("direct-path-missing", _DIRECT, "dx = dout * 0.0").explain("""
    the direct term is missing in dx
    why: Every entry of x appears directly in the numerator, and also in the mean and in the variance.
    ask: In how many places of the forward formula does x appear?""")
mistake("passed-through", "return dx.reshape(np.shape(x))", "return dout.reshape(np.shape(x))").explain("""
    dx is dout, as if the layer did nothing
    why: Layer norm divides, shifts and scales, and each of these steps changes the gradient.
    ask: Which steps of the forward pass does your dx take into account?""")
mistake("gain-missing", *sum(_WITHOUT_GAIN.values(), ()), common=True).explain("""
    the gain gamma was not used in dx
    why: With gamma 1 the mistake stays hidden. The gradient with respect to x̂ is dout times gamma.
    ask: What is the gradient of gamma * x̂ + beta with respect to x̂?""")
for name, places in (
    ("variance", ("path through the variance",)),
    ("mean", ("path through the mean",)),
    ("direct-term", ("direct term",)),
    ("both-paths", ("path through the mean", "path through the variance")),
    ("direct-term-and-variance", ("direct term", "path through the variance")),
    ("direct-term-and-mean", ("direct term", "path through the mean")),
):
    changes = [edit for place in places for edit in _WITHOUT_GAIN[place]]
    mistake(f"gain-missing-in-{name}", *changes).explain(f"""
        in dx the gain gamma is missing in the {" and in the ".join(places)}
        why: With gamma 1 the mistake stays hidden. All three terms of the formula contain g, which is dout times gamma.
        ask: Where does your dx use dout, and where g?""")
mistake("gain-last", *sum(_WITHOUT_GAIN.values(), ()), "dx /= std", "dx *= gamma / std").explain("""
    the gain was multiplied at the end, after the means were subtracted
    why: The two means in the formula are means of dout times gamma, not of dout.
    ask: In the backward pass, which comes first: the gain or the normalization?""")
for name, gain, text in (
    ("gain-twice", "(gamma * gamma)", "dout was multiplied by gamma twice"),
    ("gain-divided", "(1 / gamma)", "dout was divided by gamma, not multiplied by it"),
    ("one-plus-gain", "(1 + gamma)", "dout was multiplied by 1 + gamma, not by gamma"),
):
    mistake(
        name, _DIRECT, f"dx = dout * {gain}", "dout @ gamma", f"dout @ {gain}", "product @ gamma", f"product @ {gain}"
    ).explain(f"""
        in dx, {text}
        why: The gradient with respect to x̂ is dout times gamma.
        ask: What is the gradient of gamma * x̂ + beta with respect to x̂?""")
mistake("not-divided", "    dx /= std\n", "", common=True).explain("""
    dx was not divided by the standard deviation
    why: Rows with standard deviation 1 come out right, all others have the wrong scale.
    ask: If you multiply x by 10, the output stays the same. What happens to the slope?""")
for name, scale, text in (
    ("multiplied-by-std", "dx *= std", "multiplied by the standard deviation, not divided by it"),
    ("divided-by-variance", "dx /= std * std", "divided by the variance, not by its root"),
    ("divided-by-root-of-std", "dx /= np.sqrt(std)", "divided by the root of the standard deviation"),
    (
        "divided-without-eps",
        "dx /= _rows(x).std(axis=-1, keepdims=True)",
        "divided by the standard deviation without eps",
    ),
    ("eps-added-to-divisor", "dx /= std + float(eps)", "divided by the root plus eps: eps was added twice"),
    ("divided-by-d", "dx /= std * d", "divided by D, too"),
    ("multiplied-by-d", "dx *= d / std", "multiplied by D"),
    ("divided-by-rows", "dx /= std * len(dx)", "divided by the number of rows, too"),
):
    mistake(f"dx-{name}", "dx /= std", scale).explain(f"""
        dx was {text}
        why: The formula ends with one division, by the standard deviation of the forward pass, √(var + eps).
        ask: If you multiply x by 10, by which factor does the slope change? By which does yours?""")
for name, dx, text in (
    ("only-last-term-divided", "dx - {mean} - normalized / std", "only the last of the three terms was divided"),
    ("only-direct-term-divided", "dx / std - {mean} - normalized", "only the first of the three terms was divided"),
    ("direct-term-not-divided", "dx - ({mean} + normalized) / std", "the first of the three terms was not divided"),
    ("mean-not-divided", "(dx - normalized) / std - {mean}", "the mean of g was not divided"),
):
    code = f"dx = {dx.format(mean=_MEAN_PATH)}"
    mistake(name, f"dx -= {_MEAN_PATH}", "pass", "    dx -= normalized\n", "", "dx /= std", code).explain(f"""
        {text} by the standard deviation
        why: Python divides before it subtracts. In the formula the three terms are in parentheses, and all of them are
             divided.
        ask: Which operation does Python do first in a - b - c / d?""")
for name, place, title in (
    ("sums-for-means", "", "sums over the features were used where the formula has means"),
    ("sum-for-mean-of-g", "mean", "a sum was used for the mean of g"),
    ("sum-for-mean-of-product", "variance", "a sum was used for the mean of g x̂"),
):
    changes = [text for code in _MEANS[place] for text in (code, code.replace(".mean", ".sum"))]
    mistake(name, *changes).body(BACKWARD).explain(f"""
        {title}
        why: The forward pass divides the mean and the variance by D, so the backward pass divides their gradients by D.
        ask: Where is the factor 1/D of the mean in your code?""")
for name, edits, title in (
    ("mean-path", (_MEAN_PATH, "(dout @ gamma / (d - 1))[:, None]"), "the mean of g was divided by D - 1, not by D"),
    (
        "variance-path",
        (_VARIANCE_PATH, "(product @ gamma / (d - 1))"),
        "the mean of g x̂ was divided by D - 1, not by D",
    ),
    (
        "both-paths",
        (_MEAN_PATH, "(dout @ gamma / (d - 1))[:, None]", _VARIANCE_PATH, "(product @ gamma / (d - 1))"),
        "the means in dx were divided by D - 1, not by D",
    ),
):
    mistake(f"d-minus-1-in-{name}", *edits).explain(f"""
        {title}
        why: The forward pass divides the mean and the variance by D, so the backward pass divides their gradients by D.
        ask: By what does the forward pass divide the sum of the squared distances?""")
for name, old, new, path in (
    ("mean", _MEAN_PATH, "(CONSTANT * (dout @ gamma) / d)[:, None]", "the path through the mean"),
    ("variance", _VARIANCE_PATH, "(CONSTANT * (product @ gamma) / d)", "the path through the variance"),
    ("direct", _DIRECT, "dx = CONSTANT * dout * gamma", "the direct term"),
):
    mistake(f"factor-of-{name}", old, new, constant=3.0).explain(f"""
        {path} was multiplied by {{constant}}
        why: In the formula the three terms of dx have no other factors.
        ask: Which derivatives does this term multiply? Is each factor of 2 or ½ there?""")
for name, edits in (
    ("direct-term", (_DIRECT, "dx = dout * gamma * gamma")),
    ("path through the mean", (_MEAN_PATH, "(dout @ (gamma * gamma) / d)[:, None]")),
    ("path through the variance", (_VARIANCE_PATH, "(product @ (gamma * gamma) / d)")),
):
    mistake(f"gain-twice-in-{name.removeprefix('path through the ')}", *edits).explain(f"""
        in dx the gain gamma appears twice in the {name.replace("-", " ")}
        why: With gamma 1 the mistake stays hidden. All three terms of the formula contain g, which is dout times gamma,
             once.
        ask: Where is the gain multiplied, and where is g used?""")
mistake("variance-sign", "dx -= normalized", "dx += normalized").explain("""
    the path through the variance has the wrong sign
    why: A larger variance makes the output smaller, so this path has the opposite sign of the direct one.
    ask: The derivative of 1/√v is negative. Where is that minus sign in your code?""")
mistake("mean-sign", "dx -= (dout", "dx += (dout").explain("""
    the path through the mean has the wrong sign
    why: The forward pass subtracts the mean, so the gradient through it is subtracted, too.
    ask: What is the sum of a row of your dx, and what should it be?""")
mistake("both-signs", "dx -= (dout", "dx += (dout", "dx -= normalized", "dx += normalized").explain("""
    the paths through the mean and through the variance have the wrong sign
    why: Both are subtracted from the direct term.
    ask: Which signs are there between the three terms of the formula?""")
for result, old, new in (
    ("dx", "dx /= std", "dx /= -std"),
    ("dgamma", "ones @ product,", "-ones @ product,"),
    ("dbeta", "ones @ dout", "-ones @ dout"),
):
    mistake(f"{result}-sign", old, new).explain(f"""
        {result} has the wrong sign
        why: A step along it would then increase the loss.
        ask: What sign does a difference quotient of one entry have? Where does your minus come from?""")
for name, edits, text in (
    ("x-for-normalized", ("normalized *=", "normalized = _rows(x) *"), "x instead of the normalized x"),
    ("x-for-centred", ("normalized *=", "normalized = _rows(x) / std *"), "x / std instead of the normalized x"),
    (
        "x-for-centred-inside-mean",
        (_VARIANCE_PATH, "((dout * _rows(x) / std) @ gamma / d)"),
        "x / std instead of the normalized x inside its mean",
    ),
    (
        "x-inside-mean",
        (_VARIANCE_PATH, "((dout * _rows(x)) @ gamma / d)"),
        "x instead of the normalized x inside its mean",
    ),
    (
        "x-twice",
        ("normalized *= (product", "normalized = _rows(x) * ((dout * _rows(x))"),
        "x instead of the normalized x, outside its mean and inside",
    ),
    (
        "normalized-missing",
        ("normalized *= (product @ gamma / d)", "normalized = (product @ gamma / d)"),
        "only the mean of g x̂, without the x̂ before it",
    ),
    ("g-inside-mean", (_VARIANCE_PATH, "(dout @ gamma / d)"), "the mean of g instead of the mean of g x̂"),
    (
        "squares-inside-mean",
        (_VARIANCE_PATH, "((product * normalized) @ gamma / d)"),
        "the mean of g x̂² instead of g x̂",
    ),
):
    mistake(name, *edits).explain(f"""
        the path through the variance used {text}
        why: In the formula this term is x̂ mean(g x̂), and x̂ is (x - mean) / std.
        ask: Which factors does your third term have before the mean and inside it?""")
for name, axis, text in (
    ("batch-means", "axis=0, keepdims=True", "over the first axis"),
    ("means-over-axis-1", "axis=1, keepdims=True", "over axis 1, counted from the front"),
    ("means-over-everything", "", "over the whole array"),
    ("keepdims-missing-in-dx", "axis=-1", "without keepdims=True"),
):
    for place, codes in _MEANS.items():
        changes = [text for code in codes for text in (code, code.replace("axis=-1, keepdims=True", axis))]
        noun = {"": "the means in dx were", "mean": "the mean of g was", "variance": "the mean of g x̂ was"}[place]
        mistake(name + (f"-in-{place}-path" if place else ""), *changes).body(BACKWARD).explain(f"""
            {noun} taken {text}
            why: Each row was normalized separately, so its gradient does not depend on the other rows.
            ask: Over which axis were the mean and the variance taken in the forward pass? What shape do your means
                 have?""")
for name, dgamma, text in (
    ("x", "(dout * _rows(x))", "with x instead of the normalized x"),
    ("centred", "(product * std)", "with x - mean, not divided by the standard deviation"),
    ("squares", "(product * normalized)", "with the square of the normalized x"),
    ("twice-divided", "(product / std)", "with the normalized x, divided by the standard deviation once more"),
    ("g", "(product * gamma)", "from dout times gamma"),
):
    mistake(f"dgamma-from-{name}", "ones @ product,", f"ones @ {dgamma},", common=name == "x").explain(f"""
        dgamma was computed {text}
        why: The forward pass multiplies gamma by the normalized x, and dout is the gradient of the product.
        ask: What exactly is gamma multiplied by in the forward pass?""")
for name, old, new, text in (
    (
        "dgamma-without-dout",
        "ones @ product,",
        "ones @ normalized,",
        "dgamma is the sum of the normalized x, without dout",
    ),
    ("dgamma-like-dbeta", "ones @ product,", "ones @ dout,", "dgamma is the sum of dout, without the normalized x"),
    (
        "dbeta-like-dgamma",
        "ones @ dout",
        "ones @ product",
        "dbeta is the sum of dout times the normalized x, like dgamma",
    ),
    ("dbeta-from-x", "ones @ dout", "ones @ (dout * _rows(x))", "dbeta is the sum of dout times x"),
    ("dbeta-from-centred", "ones @ dout", "ones @ (product * std)", "dbeta is the sum of dout times x - mean"),
    (
        "dbeta-divided",
        "ones @ dout",
        "ones @ (dout / std)",
        "dbeta is the sum of dout divided by the standard deviation",
    ),
    ("dbeta-from-g", "ones @ dout", "ones @ dout * gamma", "dbeta was computed from dout times gamma"),
    (
        "dbeta-without-dout",
        "ones @ dout",
        "0 * ones @ dout + len(dout)",
        "dbeta is the number of rows, without dout",
    ),
):
    mistake(name, old, new).explain(f"""
        {text}
        why: Chain rule: dout times the factor of gamma is summed for dgamma, dout itself for dbeta.
        ask: In gamma * x̂ + beta, which factor does gamma have, and which does beta have?""")
mistake(
    "dgamma-dbeta-with-gain", "ones @ product,", "ones @ product * gamma,", "ones @ dout", "ones @ dout * gamma"
).explain("""
    dgamma and dbeta were computed from dout times gamma
    why: The gain comes after the normalized x, so only dx passes through it; dgamma and dbeta use dout itself.
    ask: Which of the three gradients pass through the multiplication by gamma?""")
_SUMS = {
    "dgamma": ("ones @ product", "SUM", "product.reshape(np.shape(x))"),
    "dbeta": ("ones @ dout", "SUM", "dout.reshape(np.shape(x))"),
}
wrong_row_sums(mistake, _SUMS, (("dgamma", "dbeta"), ("dgamma",), ("dbeta",)))
for name, results, text in (
    ("dgamma-dbeta-swapped", "dx, dbeta, dgamma", "dgamma and dbeta were returned in the wrong order"),
    ("dx-last", "dgamma, dbeta, dx", "the gradients were returned in the wrong order: dx last"),
    ("dx-last-and-swapped", "dbeta, dgamma, dx", "the gradients were returned in the wrong order: dbeta, dgamma, dx"),
):
    mistake(name, _RESULTS, "return " + results.replace("dx", "dx.reshape(np.shape(x))")).explain(f"""
        {text}
        why: The caller unpacks them by position, so it uses one gradient in place of another.
        ask: In which order does the docstring list the results?""")
mistake("dx-flat", ".reshape(np.shape(x))", "").explain("""
    dx has lost the leading axes of x
    why: (B, T, D) was reshaped to rows, and was not reshaped back.
    ask: What is the shape of x, and what is the shape of your dx?""")
for names in (("dx", "dgamma", "dbeta"), ("dx",), ("dgamma", "dbeta"), ("dgamma",), ("dbeta",)):
    results = _RESULTS
    for name in names:
        old, new = (
            ("(np.shape(x))", "(np.shape(x)).astype(float)")
            if name == "dx"
            else (f", {name}", f", {name} * np.ones(d)")
        )
        results = results.replace(old, new)
    text = {1: f"{names[0]} is", 2: "dgamma and dbeta are", 3: "each gradient is"}[len(names)]
    mistake("float64" if len(names) == 3 else f"float64-{'-and-'.join(names)}", _RESULTS, results).explain(f"""
        {text} float64 for every input
        why: float32 should stay float32: np.zeros, np.ones and np.sqrt of a Python number give float64.
        ask: Which dtype does each array have on the way to the result?""")
mistake(
    "writes-into-dout",
    "dout = _rows(dout)",
    "dout = _rows(dout)\n    original = dout",
    "dx = dout * gamma",
    "dx = original",
    "dx -= (dout @ gamma / d)[:, None]",
    "mean = (dout @ gamma / d)[:, None]\n    dx *= gamma\n    dx -= mean",
).explain("""
    dout was changed in place
    why: In a block, the same dout also goes along the residual path. `dout *= gamma` writes into the caller's array.
    ask: Which of your lines write into an array that you did not create?""")
mistake(
    "writes-into-x",
    "    normalized, std",
    "    rows = _rows(x)\n    normalized, std",
    "    dout = _rows(dout)",
    "    rows[...] = normalized\n    dout = _rows(dout)",
).explain("""
    x was changed in place
    why: `x -= …` and `x /= …` write into the caller's array, which is still needed elsewhere.
    ask: Which of your lines write into an array that you did not create?""")
mistake("normalized-with-gain", "normalized = (x", "normalized = gamma * (x").body(BACKWARD).explain("""
    the gain was included in the normalized x
    why: x̂ is the value before gain and bias. The result of layernorm already contains the gain.
    ask: What is x̂ for gamma = 2? Does it depend on gamma?""")
mistake("matrices-only").body("""
    x, dout = as_float(x), as_float(dout)
    dx, d = np.zeros_like(x), x.shape[-1]
    dgamma, dbeta = np.zeros(d), np.zeros(d)
    for i in range(len(x)):
        std = np.sqrt(x[i].var() + eps)
        normalized = (x[i] - x[i].mean()) / std
        g = dout[i] * gamma
        dx[i] = (g - g.mean() - normalized * (g * normalized).mean()) / std
        dgamma += dout[i] * normalized
        dbeta += dout[i]
    return dx, dgamma, dbeta
""").explain("""
    the code works only for the rows of a matrix
    why: A loop over the first axis gets single numbers from a vector, and whole matrices from a batch.
    ask: What is x[0] if x has one axis, and what if x has three? Which operations need no loop over rows?""")
for name, power, title in (
    ("one-division-missing", "1", "one division by the standard deviation is missing"),
    ("two-divisions-missing", "2", "two divisions by the standard deviation are missing"),
    ("three-divisions-missing", "3", "the division by the standard deviation is missing"),
    ("one-division-too-many", "-1", "there is one division by the standard deviation too many"),
    ("three-divisions-too-many", "-3", "the power of the standard deviation is 6, not 3"),
    ("power-positive", "6", "there is a multiplication by the power of the standard deviation, not a division"),
):
    mistake(f"{name}-in-variance-path", "normalized *= (", f"normalized *= std**{power} * (").explain(f"""
        in the path through the variance {title}
        why: This term is (x - mean) mean(g (x - mean)) / std³: each of the two x̂ is divided by std, and the whole
             difference once more. Written with the variance, the power is -3/2.
        ask: How many divisions by the standard deviation does your third term contain, counted with those in x̂?""")
mistake("divided-by-rows", "(x - mean) / d + dmean / d", "(x - mean) / len(x) + dmean / len(x)").body(
    _STEPS
).explain("""
    the paths through variance and mean were divided by the number of rows
    why: In batch normalization the means are taken over the rows. Here they are taken over the D features.
    ask: Over how many entries is the mean of a row taken? By what is its gradient divided?""")
mistake("square-without-factor", "dvar * 2 *", "dvar *").body(_STEPS).explain("""
    the factor 2 is missing in the path through the variance
    why: The variance is a mean of squares, and the derivative of a square u² is 2 u.
    ask: What is the derivative of (x - mean)² / D with respect to x?""")
mistake("root-without-factor", "* -0.5 *", "* -1 *").body(_STEPS).explain("""
    the factor 1/2 is missing in the path through the variance
    why: The derivative of v to the power -1/2 is -1/2 times v to the power -3/2.
    ask: What is the derivative of v ** a with respect to v?""")
difference_quotient(
    mistake,
    "    x, gamma = as_float(x).copy(), as_float(gamma).copy()\n    beta = np.zeros_like(gamma)",
    "float((layernorm(x, gamma, beta, eps) * dout).sum())",
    "tuple(map(quotients, (x, gamma, beta)))",
)
