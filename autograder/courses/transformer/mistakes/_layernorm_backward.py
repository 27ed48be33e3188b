"""Mistakes in the backward passes of assignment 6."""

from autograder.courses.transformer.mistakes._difference_quotients import difference_quotient
from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_LAYERNORM_BACKWARD = """
    x, dout = as_float(x), as_float(dout)
    d = x.shape[-1]
    centred = x - x.mean(axis=-1, keepdims=True)
    std = np.sqrt(x.var(axis=-1, keepdims=True) + eps)
    normalized = centred / std
    dgamma = (dout * normalized).reshape(-1, d).sum(axis=0)
    dbeta = dout.reshape(-1, d).sum(axis=0)
    g = dout * gamma
    mean_path = g.mean(axis=-1, keepdims=True)
    variance_path = normalized * (g * normalized).mean(axis=-1, keepdims=True)
    return (g - mean_path - variance_path) / std, dgamma, dbeta
"""
ONE_PASS = "the variance was computed as mean(x²) - mean(x)²"
CANCELLED = (
    "In exact arithmetic that is the same. Far from 0 the two are large and almost equal, and rounding spoils their "
    "difference: for a row around a million six digits are right, in float32 none; it may even be negative."
)
SUBTRACT_FIRST = (
    "For the row 1000000, 1000001, 1000002, compare mean(x²) - mean(x)² with the mean of (x - mean)². Which is right?"
)
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

mistake = MISTAKES.for_functions("layernorm.layernorm_backward")
mistake("variance-path-missing", "    dx -= normalized\n", "", common=True).explain("""
    the path through the variance is missing in dx
    why: The variance depends on every entry of the row, so each entry also changes the output by changing the divisor.
    ask: Scaling a vector changes nothing in the output. What does that say about the sum of x times dx over a row?""")
mistake("mean-path-missing", "dx -= (dout @ gamma / d)[:, None]", "dx -= 0.0", common=True).explain("""
    the path through the mean is missing in dx
    why: Shifting a vector changes nothing in the output, so each row of dx must add up to 0.
    ask: What is the sum of a row of your dx?""")
mistake("direct-path-only", "g - mean_path - variance_path", "g").body(_LAYERNORM_BACKWARD).explain("""
    the mean and the standard deviation were treated as constants in dx
    why: Both depend on x, so every entry changes every output of its row.
    ask: In how many places of the forward formula does x appear?""")
mistake("passed-through", "(g - mean_path - variance_path) / std", "dout * 1.0").body(_LAYERNORM_BACKWARD).explain("""
    dx is dout, as if the layer did nothing
    why: Layer norm divides, shifts and scales, and each of these steps changes the gradient.
    ask: Which steps of the forward pass does your dx take into account?""")
mistake(
    "gain-missing",
    "dx = dout * gamma",
    "dx = dout * 1.0",
    "dout @ gamma / d",
    "dout.mean(axis=-1)",
    "product @ gamma / d",
    "product.mean(axis=-1)",
    common=True,
).explain("""
    the gain gamma was not used in dx
    why: With gamma 1 nothing shows. The gradient that arrives at x̂ is dout times gamma.
    ask: What is the gradient of gamma * x̂ + beta with respect to x̂?""")
mistake("gain-last", "g = dout * gamma", "g = dout", "return (", "return gamma * (").body(
    _LAYERNORM_BACKWARD
).explain("""
    the gain was multiplied at the end, after the means were subtracted
    why: The two means in the formula are means of dout times gamma, not of dout.
    ask: In the backward pass, which comes first: the gain or the normalization?""")
mistake("not-divided", "    dx /= std\n", "", common=True).explain("""
    dx was not divided by the standard deviation
    why: Rows with standard deviation 1 come out right, all others have the wrong scale.
    ask: If you multiply x by 10, the output stays the same. What happens to the slope?""")
mistake("sums-for-means", "g.mean(", "g.sum(", "(g * normalized).mean(", "(g * normalized).sum(").body(
    _LAYERNORM_BACKWARD
).explain("""
    sums over the features were used where the formula has means
    why: The forward pass divides the mean and the variance by D, so the backward pass divides their gradients by D.
    ask: Where is the factor 1/D of the mean in your code?""")
mistake("variance-sign", "dx -= normalized", "dx += normalized").explain("""
    the path through the variance has the wrong sign
    why: A larger variance makes the output smaller, so this path has the opposite sign of the direct one.
    ask: The derivative of 1/√v is negative. Where is that minus sign in your code?""")
mistake("mean-sign", "dx -= (dout", "dx += (dout").explain("""
    the path through the mean has the wrong sign
    why: The forward pass subtracts the mean, so the gradient through it is subtracted, too.
    ask: What is the sum of a row of your dx, and what should it be?""")
mistake("centred-for-normalized", "variance_path = normalized *", "variance_path = centred *").body(
    _LAYERNORM_BACKWARD
).explain("""
    the path through the variance uses x - mean instead of the normalized x
    why: With standard deviation 1 the two are the same. Otherwise this term is too large or too small.
    ask: Does your third term use x - mean or x̂ outside its mean? By which factor do the two differ?""")
mistake("batch-means", "g.mean(axis=-1", "g.mean(axis=0", "normalized).mean(axis=-1", "normalized).mean(axis=0").body(
    _LAYERNORM_BACKWARD
).explain("""
    the means in dx were taken over the first axis
    why: Each row was normalized separately, so its gradient does not depend on the other rows.
    ask: Over which axis were the mean and the variance taken in the forward pass?""")
mistake("unbiased-variance", "x.var(axis=-1", "x.var(axis=-1, ddof=1").body(_LAYERNORM_BACKWARD).explain("""
    the variance was divided by D - 1, not by D
    why: The backward pass has to use the standard deviation of the forward pass.
    ask: Do you compute the variance in the same way as in layernorm?""")
mistake("eps-missing", " + eps)", ")").body(_LAYERNORM_BACKWARD).explain("""
    eps was not used
    why: A row of equal entries is divided by 0, which gives nan. On small vectors the gradient is far too large.
    ask: Where is eps in your forward pass, and where in your backward pass?""")
mistake("eps-fixed", "+ eps)", "+ 1e-5)").body(_LAYERNORM_BACKWARD).explain("""
    the eps argument was ignored: eps is always 1e-5
    why: With the default nothing shows.
    ask: If you call your function with eps=10, does anything change?""")
mistake("eps-outside-root", " + eps)", ") + eps").body(_LAYERNORM_BACKWARD).explain("""
    eps was added to the standard deviation, outside the root
    why: On ordinary vectors hardly anything shows; on very small ones, or with a large eps, it does.
    ask: Do you compute the standard deviation in the same way as in layernorm?""")
mistake("dgamma-from-x", "ones @ product,", "ones @ (dout * _rows(x)),", common=True).explain("""
    dgamma was computed with x instead of the normalized x
    why: The forward pass multiplies gamma by the normalized x.
    ask: What exactly is gamma multiplied by in the forward pass?""")
mistake("dgamma-from-centred", "dgamma = (dout * normalized)", "dgamma = (dout * centred)").body(
    _LAYERNORM_BACKWARD
).explain("""
    dgamma was computed with x - mean, not divided by the standard deviation
    why: The forward pass multiplies gamma by the normalized x. With standard deviation 1 nothing shows.
    ask: What exactly is gamma multiplied by in the forward pass?""")
mistake(
    "dgamma-dbeta-with-gain",
    "(dout * normalized).resh",
    "(dout * gamma * normalized).resh",
    "dout.reshape",
    "(dout * gamma).reshape",
).body(_LAYERNORM_BACKWARD).explain("""
    dgamma and dbeta were computed from dout times gamma
    why: The gain comes after the normalized x, so only dx passes through it; dgamma and dbeta use dout itself.
    ask: Which of the three gradients pass through the multiplication by gamma?""")
mistake("means-over-rows", common=True).body(_LAYERNORM_BACKWARD.replace("sum(axis=0)", "mean(axis=0)")).explain("""
    dgamma and dbeta are means over the rows instead of sums
    why: All rows used the same gain and bias, so their contributions are added.
    ask: Does the forward pass divide by the number of rows anywhere?""")
mistake("not-summed").body(_LAYERNORM_BACKWARD.replace(".reshape(-1, d).sum(axis=0)", " * 1.0")).explain("""
    dgamma and dbeta were not summed over the rows
    why: A gradient has the shape of its parameter: (D,).
    ask: What is the shape of gamma, and what is the shape of your dgamma?""")
mistake("summed-over-one-axis").body(
    _LAYERNORM_BACKWARD.replace(".reshape(-1, d).sum(axis=0)", ".sum(axis=0)")
).explain("""
    dgamma and dbeta were summed over the first axis only
    why: A matrix comes out right. A batch of texts, (B, T, D), has two axes to sum over.
    ask: How many axes come before the last one, and over how many do you sum?""")
mistake("dgamma-dbeta-swapped", "dgamma, dbeta = ones", "dbeta, dgamma = ones").explain("""
    dgamma and dbeta were returned in the wrong order
    why: Both have the shape (D,), so there is no error message.
    ask: Which of the two needs the normalized x?""")
mistake("writes-into-dout", "g = dout * gamma", "g = dout\n    g *= gamma").body(_LAYERNORM_BACKWARD).explain("""
    dout *= gamma changed the caller's array
    why: In a block, the same dout also goes along the residual path.
    ask: Which of your lines write into an array that you did not create?""")
mistake("only-last-term-divided", "(g - mean_path - variance_path) / std", "g - mean_path - variance_path / std").body(
    _LAYERNORM_BACKWARD
).explain("""
    only the last of the three terms was divided by the standard deviation
    why: Python divides before it subtracts. In the formula the three terms are in parentheses, and all of them are
         divided.
    ask: Which operation does Python do first in a - b - c / d?""")
mistake("normalized-inside-mean", "normalized * (g * normalized).mean(", "(normalized * g * normalized).mean(").body(
    _LAYERNORM_BACKWARD
).explain("""
    in the third term, the x̂ before the mean was moved into it
    why: x̂ mean(g x̂) has a different value for each entry; mean(x̂ g x̂) has the same value for the whole row.
    ask: Where does the last mean begin in the formula: before the first x̂ or after it?""")
mistake("normalized-with-gain", "centred / std", "gamma * centred / std").body(_LAYERNORM_BACKWARD).explain("""
    the gain was included in the normalized x
    why: x̂ is the value before gain and bias. The result of layernorm already contains the gain.
    ask: What is x̂ for gamma = 2? Does it depend on gamma?""")
mistake(
    "keepdims-missing",
    "g.mean(axis=-1, keepdims=True)",
    "g.mean(axis=-1)",
    "normalized).mean(axis=-1, keepdims=True)",
    "normalized).mean(axis=-1)",
).body(_LAYERNORM_BACKWARD).explain("""
    keepdims=True is missing from the means
    why: (B, T) does not broadcast against (B, T, D). If the sizes happen to be equal there is no error, and the means
         of other rows are subtracted.
    ask: What is the shape of g.mean(axis=-1), and with which axis of g does broadcasting line it up?""")
mistake("summed-over-features").body(
    _LAYERNORM_BACKWARD.replace(".reshape(-1, d).sum(axis=0)", ".sum(axis=-1)")
).explain("""
    dgamma and dbeta were summed over the features, not over the rows
    why: This leaves one value for each row instead of one for each feature.
    ask: What is the shape of gamma? Over which axes do you sum, and which one has to stay?""")
mistake("summed-to-one-number").body(_LAYERNORM_BACKWARD.replace(".reshape(-1, d).sum(axis=0)", ".sum()")).explain("""
    dgamma and dbeta were summed over all axes, including the features
    why: Each of the D features has its own gain and bias, and so its own gradients.
    ask: What is the shape of gamma, and what is the shape of .sum() without an axis?""")
mistake("summed-over-two-axes").body(
    _LAYERNORM_BACKWARD.replace(".reshape(-1, d).sum(axis=0)", ".sum(axis=(0, 1))")
).explain("""
    dgamma and dbeta were always summed over the first two axes
    why: That is right for (B, T, D). A matrix has only one axis of rows, and a batch may have more than two.
    ask: How could you reshape (..., D) to rows (N, D), for any number of leading axes?""")
mistake(
    "one-pass-variance",
    "x.var(axis=-1, keepdims=True)",
    "(x * x).mean(axis=-1, keepdims=True) - x.mean(axis=-1, keepdims=True) ** 2",
).body(_LAYERNORM_BACKWARD).explain(f"""
    {ONE_PASS}
    why: {CANCELLED}
    ask: {SUBTRACT_FIRST}""")
mistake("divided-by-rows", "(x - mean) / d + dmean / d", "(x - mean) / len(x) + dmean / len(x)").body(
    _STEPS
).explain("""
    the paths through variance and mean were divided by the number of rows
    why: In batch normalization the means are taken over the rows. Here they are taken over the D features.
    ask: Over how many entries is the mean of a row taken? By what is its gradient divided?""")
mistake("power-of-variance", "** -1.5", "** -0.5").body(_STEPS).explain("""
    the gradient of the variance has the power -1/2 instead of -3/2
    why: The derivative of v to the power -1/2 is -1/2 times v to the power -3/2.
    ask: What is the derivative of v ** a with respect to v?""")
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

mistake = MISTAKES.for_functions("layernorm.rmsnorm_backward")
mistake(
    "direct-path-only", "g - normalized * (np.vecdot(g, normalized) / d)[..., None]", "g * 1.0", common=True
).explain("""
    the root mean square was treated as a constant in dx
    why: It depends on every entry of the row, so each entry also changes the output by changing the divisor.
    ask: In how many places of the forward formula does x appear?""")
mistake("mean-path-too", "dx = g -", "dx = g - g.mean(axis=-1, keepdims=True) -", common=True).explain("""
    a mean was subtracted in dx, as in layer normalization
    why: The forward pass subtracts no mean, so there is no path through one in the backward pass.
    ask: Which of the three terms of layernorm_backward belongs to a step that rmsnorm does not have?""")
mistake("gain-missing", "g = dout * gamma", "g = dout", common=True).explain("""
    the gain gamma was not used in dx
    why: With gamma 1 nothing shows. The gradient that arrives at x̂ is dout times gamma.
    ask: What is the gradient of gamma * x̂ with respect to x̂?""")
mistake("not-divided", "    dx /= rms\n", "").explain("""
    dx was not divided by the root mean square
    why: Rows with root mean square 1 come out right, all others have the wrong scale.
    ask: If you multiply x by 10, the output stays the same. What happens to the slope?""")
mistake("sum-for-mean", "np.vecdot(g, normalized) / d", "np.vecdot(g, normalized)").explain("""
    a sum over the features was used where the formula has a mean
    why: The forward pass divides the sum of the squares by D, so the backward pass divides its gradient by D.
    ask: Where is the factor 1/D in your code?""")
mistake("dgamma-from-x", "dout * normalized)", "dout * x)", common=True).explain("""
    dgamma was computed with x instead of the normalized x
    why: The forward pass multiplies gamma by the normalized x.
    ask: What exactly is gamma multiplied by in the forward pass?""")
mistake("summed-over-one-axis", ".reshape(-1, d).sum(axis=0)", ".sum(axis=0)").explain("""
    dgamma was summed over the first axis only
    why: A matrix comes out right. A batch of texts, (B, T, D), has two axes to sum over.
    ask: How many axes come before the last one, and over how many do you sum?""")
mistake("eps-missing", " + float(eps)", "").explain("""
    eps was not used
    why: A row of zeros is divided by 0, which gives nan. On small vectors the gradient is far too large.
    ask: Where is eps in your forward pass, and where in your backward pass?""")
mistake("one-power-missing", "dx /= rms", "dx = g / rms - x * (np.vecdot(g, x) / d)[..., None] / rms**2").explain("""
    the second term was divided by r² instead of r³, r the root mean square
    why: Each of the two x̂ in this term is x / r, and the whole difference is divided by r once more.
    ask: Write x / r for x̂ in the formula. By which power of r is the second term divided?""")
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
