"""Mistakes in the backward passes of assignment 6."""

from autograder.mistakes import Mistake

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

BACKWARD = (
    Mistake(
        "layernorm.layernorm_backward",
        "variance-path-missing",
        "the path through the variance is missing in dx",
        "The variance depends on every entry of the row, so each entry also moves the output by moving the divisor.",
        "Stretching a vector changes nothing. What does that say about the sum of x times dx over a row?",
        edits=(("    dx -= normalized\n", ""),),
        common=True,
    ),
    Mistake(
        "layernorm.layernorm_backward",
        "mean-path-missing",
        "the path through the mean is missing in dx",
        "Shifting a vector changes nothing, so each row of dx must add up to 0.",
        "What is the sum of a row of your dx?",
        edits=(("dx -= (dout @ gamma / d)[:, None]", "dx -= 0.0"),),
        common=True,
    ),
    Mistake(
        "layernorm.layernorm_backward",
        "direct-path-only",
        "dx takes the mean and the standard deviation for constants",
        "Both of them depend on x; every entry moves every output of its row.",
        "Through how many places in the forward formula does one entry of x reach the output?",
        body=_LAYERNORM_BACKWARD.replace("g - mean_path - variance_path", "g"),
    ),
    Mistake(
        "layernorm.layernorm_backward",
        "passed-through",
        "dx is dout, as if the layer did nothing",
        "The norm divides, shifts and scales, and all of it has a gradient.",
        "Which of the three steps of the forward pass does your dx know about?",
        body=_LAYERNORM_BACKWARD.replace("(g - mean_path - variance_path) / std", "dout * 1.0"),
    ),
    Mistake(
        "layernorm.layernorm_backward",
        "gain-missing",
        "dx does not use the gain gamma",
        "With gamma 1 nothing shows. What arrives at the normalized vector is dout times gamma.",
        "What is the gradient of gamma * x̂ + beta with respect to x̂?",
        edits=(
            ("dx = dout * gamma", "dx = dout * 1.0"),
            ("dout @ gamma / d", "dout.mean(axis=-1)"),
            ("product @ gamma / d", "product.mean(axis=-1)"),
        ),
        common=True,
    ),
    Mistake(
        "layernorm.layernorm_backward",
        "gain-last",
        "the gain is multiplied at the end, after the means were subtracted",
        "The two means in the formula are means of dout times gamma, not of dout.",
        "On its way back the gradient meets the gain. Before or after the normalization?",
        body=_LAYERNORM_BACKWARD.replace("g = dout * gamma", "g = dout").replace("return (", "return gamma * ("),
    ),
    Mistake(
        "layernorm.layernorm_backward",
        "not-divided",
        "dx is not divided by the standard deviation",
        "Rows with standard deviation 1 come out right, all others have the wrong size.",
        "If x is stretched by 10 the output stays. What happens to the slope?",
        edits=(("    dx /= std\n", ""),),
        common=True,
    ),
    Mistake(
        "layernorm.layernorm_backward",
        "sums-for-means",
        "sums over the features where the formula has means",
        "The mean and the variance were divided by D on the way forward; so are their gradients.",
        "Where has the factor 1/D of the mean gone?",
        body=_LAYERNORM_BACKWARD.replace("g.mean(", "g.sum(").replace(
            "(g * normalized).mean(", "(g * normalized).sum("
        ),
    ),
    Mistake(
        "layernorm.layernorm_backward",
        "variance-sign",
        "the path through the variance has the wrong sign",
        "A larger variance makes the output smaller: this path counts against the direct one.",
        "The derivative of 1/√v is negative. Where is that minus sign in your code?",
        edits=(("dx -= normalized", "dx += normalized"),),
    ),
    Mistake(
        "layernorm.layernorm_backward",
        "mean-sign",
        "the path through the mean has the wrong sign",
        "The mean is subtracted in the forward pass, so what comes back through it is subtracted too.",
        "What is the sum of a row of your dx, and what should it be?",
        edits=(("dx -= (dout", "dx += (dout"),),
    ),
    Mistake(
        "layernorm.layernorm_backward",
        "centred-for-normalized",
        "the path through the variance uses x - mean instead of the normalized x",
        "With standard deviation 1 the two are the same; with another one this term is too large or too small.",
        "Print the standard deviation of the row: your third term is off by a power of it.",
        body=_LAYERNORM_BACKWARD.replace("variance_path = normalized *", "variance_path = centred *"),
    ),
    Mistake(
        "layernorm.layernorm_backward",
        "batch-means",
        "the means in dx are taken over the first axis",
        "Each row was normalized on its own; its gradient has nothing to do with the other rows.",
        "Over which axis were the mean and the variance taken on the way forward?",
        body=_LAYERNORM_BACKWARD.replace("g.mean(axis=-1", "g.mean(axis=0").replace(
            "normalized).mean(axis=-1", "normalized).mean(axis=0"
        ),
    ),
    Mistake(
        "layernorm.layernorm_backward",
        "unbiased-variance",
        "the variance was divided by D - 1, not by D",
        "The backward pass has to use the standard deviation of the forward pass.",
        "Is the variance here computed in the same way as in layernorm?",
        body=_LAYERNORM_BACKWARD.replace("x.var(axis=-1", "x.var(axis=-1, ddof=1"),
    ),
    Mistake(
        "layernorm.layernorm_backward",
        "eps-missing",
        "eps is not used",
        "A row of equal numbers is divided by 0: nan. On small vectors the gradient is far too large.",
        "The gradient has to be that of the function that was computed, eps included.",
        body=_LAYERNORM_BACKWARD.replace(" + eps)", ")"),
    ),
    Mistake(
        "layernorm.layernorm_backward",
        "eps-fixed",
        "the eps argument is ignored: it is always 1e-5",
        "With the default nothing shows.",
        "Call it with eps=10. Does anything change?",
        body=_LAYERNORM_BACKWARD.replace("+ eps)", "+ 1e-5)"),
    ),
    Mistake(
        "layernorm.layernorm_backward",
        "eps-outside-root",
        "eps was added to the standard deviation, outside the root",
        "On ordinary vectors hardly anything shows; on small ones, or with a large eps, it does.",
        "Is the standard deviation here computed in the same way as in layernorm?",
        body=_LAYERNORM_BACKWARD.replace(" + eps)", ") + eps"),
    ),
    Mistake(
        "layernorm.layernorm_backward",
        "dgamma-from-x",
        "dgamma was made with x instead of the normalized x",
        "The gain was multiplied with the normalized vector.",
        "What exactly is gamma multiplied with in the forward pass?",
        edits=(("ones @ product,", "ones @ (dout * _rows(x)),"),),
        common=True,
    ),
    Mistake(
        "layernorm.layernorm_backward",
        "dgamma-from-centred",
        "dgamma was made with x - mean, which was not yet divided by the standard deviation",
        "The gain was multiplied with the normalized vector: with standard deviation 1 nothing shows.",
        "What exactly is gamma multiplied with in the forward pass?",
        body=_LAYERNORM_BACKWARD.replace("dgamma = (dout * normalized)", "dgamma = (dout * centred)"),
    ),
    Mistake(
        "layernorm.layernorm_backward",
        "dgamma-dbeta-with-gain",
        "dgamma and dbeta were made from dout times gamma",
        "The gain stands between the normalized x and the output; gradients of gain and bias do not pass it.",
        "Which of the three gradients go through the multiplication with gamma?",
        body=_LAYERNORM_BACKWARD.replace("(dout * normalized).resh", "(dout * gamma * normalized).resh").replace(
            "dout.reshape", "(dout * gamma).reshape"
        ),
    ),
    Mistake(
        "layernorm.layernorm_backward",
        "means-over-rows",
        "dgamma and dbeta are means over the rows instead of sums",
        "Each row used the same gain and bias, and what they contribute adds up.",
        "Where in the forward pass would a division by the number of rows stand?",
        body=_LAYERNORM_BACKWARD.replace("sum(axis=0)", "mean(axis=0)"),
        common=True,
    ),
    Mistake(
        "layernorm.layernorm_backward",
        "not-summed",
        "dgamma and dbeta are not summed over the rows",
        "A gradient has the shape of what it is the gradient of: (D,).",
        "What is the shape of gamma, and what is the shape of your dgamma?",
        body=_LAYERNORM_BACKWARD.replace(".reshape(-1, d).sum(axis=0)", " * 1.0"),
    ),
    Mistake(
        "layernorm.layernorm_backward",
        "summed-over-one-axis",
        "dgamma and dbeta are summed over the first axis only",
        "A matrix comes out right. With a batch of texts, (B, T, D), there are two axes to sum over.",
        "How many axes stand before the last one, and over how many do you sum?",
        body=_LAYERNORM_BACKWARD.replace(".reshape(-1, d).sum(axis=0)", ".sum(axis=0)"),
    ),
    Mistake(
        "layernorm.layernorm_backward",
        "dgamma-dbeta-swapped",
        "dgamma and dbeta are returned in the wrong order",
        "Both have the shape (D,), so nothing complains.",
        "Which of the two needs the normalized x?",
        edits=(("dgamma, dbeta = ones", "dbeta, dgamma = ones"),),
    ),
    Mistake(
        "layernorm.layernorm_backward",
        "writes-into-dout",
        "dout *= gamma changes the caller's array",
        "In a block the same dout also goes along the residual path.",
        "Which of your lines write into an array that you did not make?",
        body=_LAYERNORM_BACKWARD.replace("g = dout * gamma", "g = dout\n    g *= gamma"),
    ),
    Mistake(
        "layernorm.rmsnorm_backward",
        "direct-path-only",
        "dx takes the root mean square for a constant",
        "It depends on every entry of the row; each entry also moves the output by moving the divisor.",
        "Through how many places in the forward formula does one entry of x reach the output?",
        edits=(("g - normalized * (np.vecdot(g, normalized) / d)[..., None]", "g * 1.0"),),
        common=True,
    ),
    Mistake(
        "layernorm.rmsnorm_backward",
        "mean-path-too",
        "a mean is subtracted in dx, as in layer normalization",
        "No mean was taken on the way forward, so there is no path through it on the way back.",
        "Which of the three terms of layernorm_backward belongs to a step that rmsnorm does not have?",
        edits=(("dx = g -", "dx = g - g.mean(axis=-1, keepdims=True) -"),),
        common=True,
    ),
    Mistake(
        "layernorm.rmsnorm_backward",
        "gain-missing",
        "dx does not use the gain gamma",
        "With gamma 1 nothing shows. What arrives at the normalized vector is dout times gamma.",
        "What is the gradient of gamma * x̂ with respect to x̂?",
        edits=(("g = dout * gamma", "g = dout"),),
        common=True,
    ),
    Mistake(
        "layernorm.rmsnorm_backward",
        "not-divided",
        "dx is not divided by the root mean square",
        "Rows with root mean square 1 come out right, all others have the wrong size.",
        "If x is stretched by 10 the output stays. What happens to the slope?",
        edits=(("    dx /= rms\n", ""),),
    ),
    Mistake(
        "layernorm.rmsnorm_backward",
        "sum-for-mean",
        "a sum over the features where the formula has a mean",
        "The mean of the squares was divided by D on the way forward; so is its gradient.",
        "Where has the factor 1/D gone?",
        edits=(("np.vecdot(g, normalized) / d", "np.vecdot(g, normalized)"),),
    ),
    Mistake(
        "layernorm.rmsnorm_backward",
        "dgamma-from-x",
        "dgamma was made with x instead of the normalized x",
        "The gain was multiplied with the normalized vector.",
        "What exactly is gamma multiplied with in the forward pass?",
        edits=(("dout * normalized)", "dout * x)"),),
        common=True,
    ),
    Mistake(
        "layernorm.rmsnorm_backward",
        "summed-over-one-axis",
        "dgamma is summed over the first axis only",
        "A matrix comes out right. With a batch of texts, (B, T, D), there are two axes to sum over.",
        "How many axes stand before the last one, and over how many do you sum?",
        edits=((".reshape(-1, d).sum(axis=0)", ".sum(axis=0)"),),
    ),
    Mistake(
        "layernorm.rmsnorm_backward",
        "eps-missing",
        "eps is not used",
        "A row of zeros is divided by 0: nan. On small vectors the gradient is far too large.",
        "The gradient has to be that of the function that was computed, eps included.",
        edits=((" + float(eps)", ""),),
    ),
)
