"""Mistakes in the backward pass of layer normalization, apart from those in its mean and variance."""

from autograder.courses.transformer.common.mistakes.difference_quotients import difference_quotient
from autograder.courses.transformer.common.mistakes.row_sums import wrong_row_sums
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
mistake("gain-missing", *sum(_WITHOUT_GAIN.values(), ()), common=True).explain("""
    the gain gamma was not used in dx
    why: With gamma 1 the mistake stays hidden. The gradient with respect to x̂ is dout times gamma.
    ask: What is the gradient of gamma * x̂ + beta with respect to x̂?""")
mistake("gain-at-the-end", *sum(_WITHOUT_GAIN.values(), ()), "dx /= std", "dx *= gamma / std").explain("""
    in dx, the gain gamma was multiplied at the end, not into dout at the beginning
    why: The two means are those of g and g x̂, where g is dout times gamma. With equal gains the mistake stays hidden.
    ask: Is the mean of dout * gamma the same as gamma times the mean of dout?""")
mistake("gain-missing-in-variance", *_WITHOUT_GAIN["path through the variance"]).explain("""
    in dx the gain gamma is missing in the path through the variance
    why: With gamma 1 the mistake stays hidden. All three terms of the formula contain g, which is dout times gamma.
    ask: Where does your dx use dout, and where g?""")
mistake(
    "one-plus-gain",
    _DIRECT,
    "dx = dout * (1 + gamma)",
    "dout @ gamma",
    "dout @ (1 + gamma)",
    "product @ gamma",
    "product @ (1 + gamma)",
).explain("""
    in dx, dout was multiplied by 1 + gamma, not by gamma
    why: The gradient with respect to x̂ is dout times gamma.
    ask: What is the gradient of gamma * x̂ + beta with respect to x̂?""")
mistake("not-divided", "    dx /= std\n", "", common=True).explain("""
    dx was not divided by the standard deviation
    why: Rows with standard deviation 1 come out right, all others have the wrong scale.
    ask: If you multiply x by 10, the output stays the same. What happens to the slope?""")
mistake("variance-sign", "dx -= normalized", "dx += normalized").explain("""
    the path through the variance has the wrong sign
    why: A larger variance makes the output smaller, so this path has the opposite sign of the direct one.
    ask: The derivative of 1/√v is negative. Where is that minus sign in your code?""")
mistake("dgamma-from-x", "ones @ product,", "ones @ (dout * _rows(x)),", common=True).explain("""
    dgamma was computed with x instead of the normalized x
    why: The forward pass multiplies gamma by the normalized x, and dout is the gradient of the product.
    ask: What exactly is gamma multiplied by in the forward pass?""")
mistake("dgamma-from-centred", "ones @ product,", "ones @ (product * std),").explain("""
    dgamma was computed with x - mean, not divided by the standard deviation
    why: The forward pass multiplies gamma by the normalized x, and dout is the gradient of the product.
    ask: What exactly is gamma multiplied by in the forward pass?""")
mistake("dgamma-without-dout", "ones @ product,", "ones @ normalized,").explain("""
    dgamma is the sum of the normalized x, without dout
    why: Chain rule: dout times the factor of gamma is summed for dgamma, dout itself for dbeta.
    ask: In gamma * x̂ + beta, which factor does gamma have, and which does beta have?""")
_SUMS = {
    "dgamma": ("ones @ product", "SUM", "product.reshape(np.shape(x))"),
    "dbeta": ("ones @ dout", "SUM", "dout.reshape(np.shape(x))"),
}
wrong_row_sums(mistake, _SUMS, (("dgamma", "dbeta"), ("dgamma",), ("dbeta",)))
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
mistake("two-divisions-missing-in-variance-path", "normalized *= (", "normalized *= std**2 * (").explain("""
    in the path through the variance two divisions by the standard deviation are missing
    why: This term is (x - mean) mean(g (x - mean)) / std³: each of the two x̂ is divided by std, and the whole
         difference once more. Written with the variance, the power is -3/2.
    ask: How many divisions by the standard deviation does your third term contain, counted with those in x̂?""")
mistake("divided-by-rows", "(x - mean) / d + dmean / d", "(x - mean) / len(x) + dmean / len(x)").body(
    _STEPS
).explain("""
    the paths through variance and mean were divided by the number of rows
    why: In batch normalization the means are taken over the rows. Here they are taken over the D features.
    ask: Over how many entries is the mean of a row taken? By what is its gradient divided?""")
mistake("variance-path-without-eps", "(var + eps) ** -1.5", "var**-1.5").body(_STEPS).explain("""
    eps is missing in the path through the variance
    why: The forward pass divides by the root of var + eps. Its derivative has the power -3/2 of that sum.
    ask: In how many places does your code use the variance, and how many of them add eps?""")
mistake("square-without-factor", "dvar * 2 *", "dvar *").body(_STEPS).explain("""
    the factor 2 is missing in the path through the variance
    why: The variance is a mean of squares, and the derivative of a square u² is 2 u.
    ask: What is the derivative of (x - mean)² / D with respect to x?""")
difference_quotient(
    mistake,
    "    x, gamma = as_float(x).copy(), as_float(gamma).copy()\n    beta = np.zeros_like(gamma)",
    "float((layernorm(x, gamma, beta, eps) * dout).sum())",
    "tuple(map(quotients, (x, gamma, beta)))",
)
