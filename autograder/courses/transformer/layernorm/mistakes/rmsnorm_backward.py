"""Mistakes in the backward pass of the RMS norm, apart from those in its mean square."""

from autograder.courses.transformer.common.mistakes.difference_quotients import difference_quotient
from autograder.courses.transformer.common.mistakes.row_sums import wrong_row_sums
from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_MEAN_OF_PRODUCT = "(np.vecdot(g, normalized) / d)[..., None]"

mistake = MISTAKES.for_functions("layernorm.rmsnorm_backward")
mistake("direct-path-only", f"g - normalized * {_MEAN_OF_PRODUCT}", "g * 1.0", common=True).explain("""
    the root mean square was treated as a constant in dx
    why: It depends on every entry of the row, so each entry also changes the output by changing the divisor.
    ask: In how many places of the forward formula does x appear?""")
mistake("direct-path-missing", "dx = g - normalized", "dx = -normalized").explain("""
    the direct term is missing in dx
    why: Every entry of x appears directly in the numerator, and also in the root mean square.
    ask: In how many places of the forward formula does x appear?""")
mistake("mean-path-too", "dx = g -", "dx = g - g.mean(axis=-1, keepdims=True) -", common=True).explain("""
    a mean was subtracted in dx, as in layer normalization
    why: The forward pass subtracts no mean, so there is no path through one in the backward pass.
    ask: Which of the three terms of layernorm_backward belongs to a step that rmsnorm does not have?""")
mistake("centred", "    dx /= rms\n", "    dx /= rms\n    dx -= dx.mean(axis=-1, keepdims=True)\n").explain("""
    the mean of dx was subtracted from it, as if rmsnorm centred its input
    why: The forward pass subtracts no mean, so the entries of dx need not add up to 0.
    ask: Shifting all entries of x by the same number changes nothing after layernorm. Is that so after rmsnorm?""")
mistake("passed-through", "return dx,", "return dout * 1.0,").explain("""
    dx is dout, as if the layer did nothing
    why: The forward pass divides and scales, and each of these steps changes the gradient.
    ask: Which steps of the forward pass does your dx take into account?""")
for name, edits, text in (
    ("gain-missing", ("g = dout * gamma", "g = dout"), "the gain gamma was not used in dx"),
    ("gain-missing-in-direct-term", ("dx = g -", "dx = dout -"), "in dx the gain gamma is missing in the first term"),
    (
        "gain-missing-in-second-term",
        ("vecdot(g, normalized)", "vecdot(dout, normalized)"),
        "in dx the gain gamma is missing in the second term",
    ),
    (
        "gain-last",
        ("g = dout * gamma", "g = dout", "dx /= rms", "dx *= gamma / rms"),
        "the gain was multiplied at the end, after the second term was subtracted",
    ),
    ("gain-twice", ("g = dout * gamma", "g = dout * gamma * gamma"), "in dx, dout was multiplied by gamma twice"),
    (
        "gain-divided",
        ("g = dout * gamma", "g = dout / gamma"),
        "in dx, dout was divided by gamma, not multiplied by it",
    ),
):
    mistake(name, *edits, common=name == "gain-missing").explain(f"""
        {text}
        why: With gamma 1 the mistake stays hidden. The gradient with respect to x̂ is g, which is dout times gamma.
        ask: What is the gradient of gamma * x̂ with respect to x̂? Where does the formula contain g?""")
for name, edits, text in (
    ("not-divided", ("    dx /= rms\n", ""), "dx was not divided by the root mean square"),
    ("multiplied-by-rms", ("dx /= rms", "dx *= rms"), "dx was multiplied by the root mean square, not divided by it"),
    ("divided-by-square", ("dx /= rms", "dx /= rms * rms"), "dx was divided by the mean square, not by its root"),
    ("divided-by-d", ("dx /= rms", "dx /= rms * d"), "dx was divided by D, too"),
    (
        "only-last-term-divided",
        (f"g - normalized * {_MEAN_OF_PRODUCT}", f"g - normalized * {_MEAN_OF_PRODUCT} / rms", "    dx /= rms\n", ""),
        "only the second of the two terms was divided by the root mean square",
    ),
    (
        "divided-without-eps",
        ("dx /= rms", "dx /= np.sqrt((x * x).mean(axis=-1, keepdims=True))"),
        "dx was divided by the root mean square without eps",
    ),
):
    mistake(name, *edits).explain(f"""
        {text}
        why: The formula ends with one division of both terms by r, the root of the mean square plus eps.
        ask: If you multiply x by 10, by which factor does the slope change? By which does yours?""")
mistake("sum-for-mean-in-dx", "np.vecdot(g, normalized) / d", "np.vecdot(g, normalized)").explain("""
    a sum over the features was used where the formula has a mean
    why: The forward pass divides the sum of the squares by D, so the backward pass divides its gradient by D.
    ask: Where is the factor 1/D in your code?""")
mistake("factor-of-second-term", "(g, normalized) / d", "(g, normalized) * CONSTANT / d", constant=2.0).explain("""
    the second term was multiplied by {constant}
    why: The square has the slope 2x, and the root the slope 1/(2r): the factors of 2 and ½ cancel.
    ask: Which derivatives does your second term multiply? Is each factor of 2 or ½ there?""")
mistake("factor-of-first-term", "dx = g -", "dx = CONSTANT * g -", constant=2.0).explain("""
    the first term was multiplied by {constant}
    why: In the formula the two terms of dx have no other factors.
    ask: Which derivatives does your first term multiply?""")
mistake("gain-twice-in-second-term", "dx = g - normalized", "dx = g - gamma * normalized").explain("""
    the second term was multiplied by gamma once more
    why: With gamma 1 the mistake stays hidden. The gain is in g already, inside the mean.
    ask: Where is the gain multiplied, and where is g used?""")
mistake("d-minus-1", "(g, normalized) / d", "(g, normalized) / (d - 1)").explain("""
    the mean of g x̂ was divided by D - 1, not by D
    why: The forward pass divides the sum of the squares by D, so the backward pass divides its gradient by D.
    ask: By what does the forward pass divide the sum of the squares?""")
mistake("second-sign", "dx = g -", "dx = g +").explain("""
    the second term has the wrong sign
    why: A larger root mean square makes the output smaller, so this path has the opposite sign of the direct one.
    ask: The derivative of 1/r is negative. Where is that minus sign in your code?""")
for name, old, new in (("dx", "dx /= rms", "dx /= -rms"), ("dgamma", "dgamma = (dout", "dgamma = (-dout")):
    mistake(f"{name}-sign", old, new).explain(f"""
        {name} has the wrong sign
        why: A step along it would then increase the loss.
        ask: What sign does a difference quotient of one entry have? Where does your minus come from?""")
for name, edits, text in (
    ("normalized-missing", ("g - normalized *", "g -"), "only the mean of g x̂, without the x̂ before it"),
    ("g-inside-mean", ("np.vecdot(g, normalized) / d", "g.mean(axis=-1)"), "the mean of g instead of the mean of g x̂"),
    (
        "normalized-with-gain",
        ("g - normalized *", "g - gamma * normalized *", "vecdot(g, normalized)", "vecdot(g, gamma * normalized)"),
        "x̂ times gamma instead of x̂",
    ),
    ("batch-mean", (_MEAN_OF_PRODUCT, "(g * normalized).mean(axis=0)"), "a mean over the first axis"),
    ("mean-over-everything", (_MEAN_OF_PRODUCT, "(g * normalized).mean()"), "a mean over the whole array"),
    (
        "mean-over-axis-1",
        (_MEAN_OF_PRODUCT, "(g * normalized).mean(axis=1, keepdims=True)"),
        "a mean over axis 1, counted from the front",
    ),
    ("keepdims-missing-in-dx", (_MEAN_OF_PRODUCT, "(g * normalized).mean(axis=-1)"), "a mean without keepdims=True"),
    (
        "divided-by-rows",
        ("(g, normalized) / d", "(g, normalized) / len(x)"),
        "a sum over the features that was divided by the number of rows",
    ),
):
    mistake(name, *edits).explain(f"""
        the second term of dx used {text}
        why: In the formula this term is x̂ mean(g x̂), the mean is that of one row, and x̂ is x / r.
        ask: Which factors does your second term have before the mean and inside it? What is the mean taken over?""")
for name, power, title in (
    ("one-division-missing", "1", "one division by the root mean square is missing"),
    ("two-divisions-missing", "2", "two divisions by the root mean square are missing"),
    ("three-divisions-missing", "3", "the division by the root mean square is missing"),
    ("one-division-too-many", "-1", "there is one division by the root mean square too many"),
):
    mistake(f"{name}-in-second-term", "dx = g - normalized", f"dx = g - rms**{power} * normalized").explain(f"""
        in the second term of dx {title}
        why: This term is x mean(g x) / r³: each of the two x̂ is divided by r, and the whole difference once more.
        ask: Write x / r for x̂ in the formula. By which power of r is the second term divided?""")
for name, factor, text in (
    ("x", "x", "with x instead of the normalized x"),
    ("squares", "normalized * normalized", "with the square of the normalized x"),
    ("twice-divided", "normalized / rms", "with the normalized x, divided by the root mean square once more"),
    ("g", "normalized * gamma", "from dout times gamma"),
):
    mistake(f"dgamma-from-{name}", "(dout * normalized)", f"(dout * {factor})", common=name == "x").explain(f"""
        dgamma was computed {text}
        why: The forward pass multiplies gamma by the normalized x, and dout is the gradient of the product.
        ask: What exactly is gamma multiplied by in the forward pass?""")
for name, code, text in (
    ("dout", "normalized", "dgamma is the sum of the normalized x, without dout"),
    ("normalized", "dout", "dgamma is the sum of dout, without the normalized x"),
):
    mistake(f"dgamma-without-{name}", "(dout * normalized)", f"({code} * 1.0)").explain(f"""
        {text}
        why: Chain rule: dgamma is the sum of dout times the factor of gamma in the forward pass.
        ask: What exactly is gamma multiplied by in the forward pass?""")
wrong_row_sums(
    mistake,
    {"dgamma": ("(dout * normalized).reshape(-1, d).sum(axis=0)", "SUM", "(dout * normalized)")},
    (("dgamma",),),
)
mistake("wrong-order", "return dx, dgamma", "return dgamma, dx").explain("""
    the gradients were returned in the wrong order: dgamma, dx
    why: The caller unpacks them by position, so it uses one gradient in place of the other.
    ask: In which order does the docstring list the results?""")
mistake("dx-flat", "return dx, dgamma", "return dx.reshape(-1, d), dgamma").explain("""
    dx has lost the leading axes of x
    why: (B, T, D) was reshaped to rows, and was not reshaped back.
    ask: What is the shape of x, and what is the shape of your dx?""")
for names in (("dx", "dgamma"), ("dx",), ("dgamma",)):
    results = "return dx, dgamma"
    for name in names:
        results = results.replace(name, f"{name}.astype(float)")
    mistake("float64" if len(names) == 2 else f"float64-{names[0]}", "return dx, dgamma", results).explain(f"""
        {" and ".join(names)} {"are" if len(names) == 2 else "is"} float64 for every input
        why: float32 should stay float32: np.zeros, np.ones and np.sqrt of a Python number give float64.
        ask: Which dtype does each array have on the way to the result?""")
mistake("writes-into-dout", "g = dout * gamma", "g = dout\n    g *= gamma").explain("""
    dout was changed in place
    why: In a block, the same dout also goes along the residual path. `dout *= gamma` writes into the caller's array.
    ask: Which of your lines write into an array that you did not create?""")
mistake("writes-into-x", "normalized = x / rms", "x /= rms\n    normalized = x").explain("""
    x was changed in place
    why: `x /= …` writes into the caller's array, which is still needed elsewhere.
    ask: Which of your lines write into an array that you did not create?""")
mistake("layer-normalization").body("""
    dx, dgamma, _ = layernorm_backward(dout, x, gamma, eps)
    return dx, dgamma
""").explain("""
    the gradient of layer normalization was computed, with means
    why: The forward pass subtracts no mean, so the backward pass has no term for it.
    ask: Which steps of layernorm_backward belong to something that rmsnorm does not do?""")
difference_quotient(
    mistake,
    "    x, gamma = as_float(x).copy(), as_float(gamma).copy()",
    "float((rmsnorm(x, gamma, eps) * dout).sum())",
    "tuple(map(quotients, (x, gamma)))",
)
