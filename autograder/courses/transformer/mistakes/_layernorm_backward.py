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
ONE_PASS = "the variance is the mean of the squares less the square of the mean"
CANCELLED = (
    "On paper that is the same. Far from 0 both are huge, almost equal, and rounded: of a row around a million six "
    "digits are left, in float32 none, and the difference may even be negative."
)
SUBTRACT_FIRST = "What is left of 1000000.1² - 1000000² in 16 digits? And what if the mean is subtracted first?"
# The gradient put together step by step, by way of the gradients of the variance and of the mean.
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
    why: The variance depends on every entry of the row, so each entry also moves the output by moving the divisor.
    ask: Stretching a vector changes nothing. What does that say about the sum of x times dx over a row?""")
mistake("mean-path-missing", "dx -= (dout @ gamma / d)[:, None]", "dx -= 0.0", common=True).explain("""
    the path through the mean is missing in dx
    why: Shifting a vector changes nothing, so each row of dx must add up to 0.
    ask: What is the sum of a row of your dx?""")
mistake("direct-path-only", "g - mean_path - variance_path", "g").body(_LAYERNORM_BACKWARD).explain("""
    dx takes the mean and the standard deviation for constants
    why: Both of them depend on x; every entry moves every output of its row.
    ask: Through how many places in the forward formula does one entry of x reach the output?""")
mistake("passed-through", "(g - mean_path - variance_path) / std", "dout * 1.0").body(_LAYERNORM_BACKWARD).explain("""
    dx is dout, as if the layer did nothing
    why: The norm divides, shifts and scales, and all of it has a gradient.
    ask: Which of the three steps of the forward pass does your dx know about?""")
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
    dx does not use the gain gamma
    why: With gamma 1 nothing shows. What arrives at the normalized vector is dout times gamma.
    ask: What is the gradient of gamma * x̂ + beta with respect to x̂?""")
mistake("gain-last", "g = dout * gamma", "g = dout", "return (", "return gamma * (").body(
    _LAYERNORM_BACKWARD
).explain("""
    the gain is multiplied at the end, after the means were subtracted
    why: The two means in the formula are means of dout times gamma, not of dout.
    ask: On its way back the gradient meets the gain. Before or after the normalization?""")
mistake("not-divided", "    dx /= std\n", "", common=True).explain("""
    dx is not divided by the standard deviation
    why: Rows with standard deviation 1 come out right, all others have the wrong size.
    ask: If x is stretched by 10 the output stays. What happens to the slope?""")
mistake("sums-for-means", "g.mean(", "g.sum(", "(g * normalized).mean(", "(g * normalized).sum(").body(
    _LAYERNORM_BACKWARD
).explain("""
    sums over the features where the formula has means
    why: The mean and the variance were divided by D on the way forward; so are their gradients.
    ask: Where has the factor 1/D of the mean gone?""")
mistake("variance-sign", "dx -= normalized", "dx += normalized").explain("""
    the path through the variance has the wrong sign
    why: A larger variance makes the output smaller: this path counts against the direct one.
    ask: The derivative of 1/√v is negative. Where is that minus sign in your code?""")
mistake("mean-sign", "dx -= (dout", "dx += (dout").explain("""
    the path through the mean has the wrong sign
    why: The mean is subtracted in the forward pass, so what comes back through it is subtracted too.
    ask: What is the sum of a row of your dx, and what should it be?""")
mistake("centred-for-normalized", "variance_path = normalized *", "variance_path = centred *").body(
    _LAYERNORM_BACKWARD
).explain("""
    the path through the variance uses x - mean instead of the normalized x
    why: With standard deviation 1 the two are the same; with another one this term is too large or too small.
    ask: Print the standard deviation of the row: your third term is off by a power of it.""")
mistake("batch-means", "g.mean(axis=-1", "g.mean(axis=0", "normalized).mean(axis=-1", "normalized).mean(axis=0").body(
    _LAYERNORM_BACKWARD
).explain("""
    the means in dx are taken over the first axis
    why: Each row was normalized on its own; its gradient has nothing to do with the other rows.
    ask: Over which axis were the mean and the variance taken on the way forward?""")
mistake("unbiased-variance", "x.var(axis=-1", "x.var(axis=-1, ddof=1").body(_LAYERNORM_BACKWARD).explain("""
    the variance was divided by D - 1, not by D
    why: The backward pass has to use the standard deviation of the forward pass.
    ask: Is the variance here computed in the same way as in layernorm?""")
mistake("eps-missing", " + eps)", ")").body(_LAYERNORM_BACKWARD).explain("""
    eps is not used
    why: A row of equal numbers is divided by 0: nan. On small vectors the gradient is far too large.
    ask: The gradient has to be that of the function that was computed, eps included.""")
mistake("eps-fixed", "+ eps)", "+ 1e-5)").body(_LAYERNORM_BACKWARD).explain("""
    the eps argument is ignored: it is always 1e-5
    why: With the default nothing shows.
    ask: Call it with eps=10. Does anything change?""")
mistake("eps-outside-root", " + eps)", ") + eps").body(_LAYERNORM_BACKWARD).explain("""
    eps was added to the standard deviation, outside the root
    why: On ordinary vectors hardly anything shows; on small ones, or with a large eps, it does.
    ask: Is the standard deviation here computed in the same way as in layernorm?""")
mistake("dgamma-from-x", "ones @ product,", "ones @ (dout * _rows(x)),", common=True).explain("""
    dgamma was made with x instead of the normalized x
    why: The gain was multiplied with the normalized vector.
    ask: What exactly is gamma multiplied with in the forward pass?""")
mistake("dgamma-from-centred", "dgamma = (dout * normalized)", "dgamma = (dout * centred)").body(
    _LAYERNORM_BACKWARD
).explain("""
    dgamma was made with x - mean, which was not yet divided by the standard deviation
    why: The gain was multiplied with the normalized vector: with standard deviation 1 nothing shows.
    ask: What exactly is gamma multiplied with in the forward pass?""")
mistake(
    "dgamma-dbeta-with-gain",
    "(dout * normalized).resh",
    "(dout * gamma * normalized).resh",
    "dout.reshape",
    "(dout * gamma).reshape",
).body(_LAYERNORM_BACKWARD).explain("""
    dgamma and dbeta were made from dout times gamma
    why: The gain stands between the normalized x and the output; gradients of gain and bias do not pass it.
    ask: Which of the three gradients go through the multiplication with gamma?""")
mistake("means-over-rows", common=True).body(_LAYERNORM_BACKWARD.replace("sum(axis=0)", "mean(axis=0)")).explain("""
    dgamma and dbeta are means over the rows instead of sums
    why: Each row used the same gain and bias, and what they contribute adds up.
    ask: Where in the forward pass would a division by the number of rows stand?""")
mistake("not-summed").body(_LAYERNORM_BACKWARD.replace(".reshape(-1, d).sum(axis=0)", " * 1.0")).explain("""
    dgamma and dbeta are not summed over the rows
    why: A gradient has the shape of what it is the gradient of: (D,).
    ask: What is the shape of gamma, and what is the shape of your dgamma?""")
mistake("summed-over-one-axis").body(
    _LAYERNORM_BACKWARD.replace(".reshape(-1, d).sum(axis=0)", ".sum(axis=0)")
).explain("""
    dgamma and dbeta are summed over the first axis only
    why: A matrix comes out right. With a batch of texts, (B, T, D), there are two axes to sum over.
    ask: How many axes stand before the last one, and over how many do you sum?""")
mistake("dgamma-dbeta-swapped", "dgamma, dbeta = ones", "dbeta, dgamma = ones").explain("""
    dgamma and dbeta are returned in the wrong order
    why: Both have the shape (D,), so nothing complains.
    ask: Which of the two needs the normalized x?""")
mistake("writes-into-dout", "g = dout * gamma", "g = dout\n    g *= gamma").body(_LAYERNORM_BACKWARD).explain("""
    dout *= gamma changes the caller's array
    why: In a block the same dout also goes along the residual path.
    ask: Which of your lines write into an array that you did not make?""")
mistake("only-last-term-divided", "(g - mean_path - variance_path) / std", "g - mean_path - variance_path / std").body(
    _LAYERNORM_BACKWARD
).explain("""
    only the last of the three terms was divided by the standard deviation
    why: Python divides before it subtracts. The formula has the three terms in brackets, and divides all of them.
    ask: Which operation does Python do first in a - b - c / d?""")
mistake("normalized-inside-mean", "normalized * (g * normalized).mean(", "(normalized * g * normalized).mean(").body(
    _LAYERNORM_BACKWARD
).explain("""
    the normalized x stands inside the mean of the third term, not before it
    why: x̂ · mean(g · x̂) is another number for every entry; mean(x̂ · g · x̂) is the same one for the whole row.
    ask: Where does the bracket of the last mean open: before the first x̂ or after it?""")
mistake("normalized-with-gain", "centred / std", "gamma * centred / std").body(_LAYERNORM_BACKWARD).explain("""
    the gain is already in what was taken for the normalized x
    why: x̂ is what stands before gain and bias. What layernorm returns has been multiplied by the gain.
    ask: What is x̂ for gamma = 2? Does it depend on gamma?""")
mistake(
    "keepdims-missing",
    "g.mean(axis=-1, keepdims=True)",
    "g.mean(axis=-1)",
    "normalized).mean(axis=-1, keepdims=True)",
    "normalized).mean(axis=-1)",
).body(_LAYERNORM_BACKWARD).explain("""
    the means lack the last axis (keepdims)
    why: (B, T) does not broadcast against (B, T, D). If the sizes happen to be equal there is no error, and the means
         of other rows are subtracted.
    ask: What is the shape of g.mean(axis=-1), and with which axis of g does broadcasting line it up?""")
mistake("summed-over-features").body(
    _LAYERNORM_BACKWARD.replace(".reshape(-1, d).sum(axis=0)", ".sum(axis=-1)")
).explain("""
    dgamma and dbeta are summed over the features, not over the rows
    why: One number for each row is left, where one for each feature is wanted.
    ask: What is the shape of gamma? Which axes have to go, and which one has to stay?""")
mistake("summed-to-one-number").body(_LAYERNORM_BACKWARD.replace(".reshape(-1, d).sum(axis=0)", ".sum()")).explain("""
    dgamma and dbeta are summed over all axes, the features too
    why: Each of the D features has a gain and a bias of its own, and so a gradient of its own.
    ask: What is the shape of gamma, and what does .sum() without an axis leave?""")
mistake("summed-over-two-axes").body(
    _LAYERNORM_BACKWARD.replace(".reshape(-1, d).sum(axis=0)", ".sum(axis=(0, 1))")
).explain("""
    dgamma and dbeta are always summed over the first two axes
    why: That is right for (B, T, D). A matrix has only one axis of rows, and a batch may have more than two.
    ask: How could (..., D) be made into rows (N, D), whatever stands before the last axis?""")
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
    the paths through the variance and the mean were divided by the number of rows, not of features
    why: That is the gradient of batch normalization, where a mean goes over the batch. Here it goes over the features.
    ask: Over how many numbers is the mean of a row taken? By what is its gradient shared out?""")
mistake("power-of-variance", "** -1.5", "** -0.5").body(_STEPS).explain("""
    the gradient of the variance has the power -1/2, where -3/2 belongs
    why: The derivative of v to the power -1/2 is -1/2 times v to the power -3/2: one power less.
    ask: What is the derivative of v ** a with respect to v?""")
mistake("square-without-factor", "dvar * 2 *", "dvar *").body(_STEPS).explain("""
    in the path through the variance the factor 2 is missing
    why: The variance is a mean of squares, and the derivative of a square is twice what was squared.
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
    dx takes the root mean square for a constant
    why: It depends on every entry of the row; each entry also moves the output by moving the divisor.
    ask: Through how many places in the forward formula does one entry of x reach the output?""")
mistake("mean-path-too", "dx = g -", "dx = g - g.mean(axis=-1, keepdims=True) -", common=True).explain("""
    a mean is subtracted in dx, as in layer normalization
    why: No mean was taken on the way forward, so there is no path through it on the way back.
    ask: Which of the three terms of layernorm_backward belongs to a step that rmsnorm does not have?""")
mistake("gain-missing", "g = dout * gamma", "g = dout", common=True).explain("""
    dx does not use the gain gamma
    why: With gamma 1 nothing shows. What arrives at the normalized vector is dout times gamma.
    ask: What is the gradient of gamma * x̂ with respect to x̂?""")
mistake("not-divided", "    dx /= rms\n", "").explain("""
    dx is not divided by the root mean square
    why: Rows with root mean square 1 come out right, all others have the wrong size.
    ask: If x is stretched by 10 the output stays. What happens to the slope?""")
mistake("sum-for-mean", "np.vecdot(g, normalized) / d", "np.vecdot(g, normalized)").explain("""
    a sum over the features where the formula has a mean
    why: The mean of the squares was divided by D on the way forward; so is its gradient.
    ask: Where has the factor 1/D gone?""")
mistake("dgamma-from-x", "dout * normalized)", "dout * x)", common=True).explain("""
    dgamma was made with x instead of the normalized x
    why: The gain was multiplied with the normalized vector.
    ask: What exactly is gamma multiplied with in the forward pass?""")
mistake("summed-over-one-axis", ".reshape(-1, d).sum(axis=0)", ".sum(axis=0)").explain("""
    dgamma is summed over the first axis only
    why: A matrix comes out right. With a batch of texts, (B, T, D), there are two axes to sum over.
    ask: How many axes stand before the last one, and over how many do you sum?""")
mistake("eps-missing", " + float(eps)", "").explain("""
    eps is not used
    why: A row of zeros is divided by 0: nan. On small vectors the gradient is far too large.
    ask: The gradient has to be that of the function that was computed, eps included.""")
mistake("one-power-missing", "dx /= rms", "dx = g / rms - x * (np.vecdot(g, x) / d)[..., None] / rms**2").explain("""
    the second term was divided by the square of the root mean square, where its third power belongs
    why: x̂ is x divided by the root mean square once; it stands there twice, and the bracket is divided once more.
    ask: Write x̂ as x / r in the formula. How many times does r stand below the second term?""")
mistake("layer-normalization").body("""
    dx, dgamma, _ = layernorm_backward(dout, x, gamma, eps)
    return dx, dgamma
""").explain("""
    this is the gradient of layer normalization, with means
    why: No mean was subtracted on the way forward, so none is on the way back.
    ask: Which steps of layernorm_backward belong to something that rmsnorm does not do?""")
difference_quotient(
    mistake,
    "    x, gamma = as_float(x).copy(), as_float(gamma).copy()",
    "float((rmsnorm(x, gamma, eps) * dout).sum())",
    "tuple(map(quotients, (x, gamma)))",
)
