"""Mistakes in attention.attention_backward."""

from autograder.courses.transformer.common.mistakes.difference_quotients import difference_quotient
from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

mistake = MISTAKES.for_functions("attention.attention_backward")
mistake("no-scale", "dscores /= math.sqrt(q.shape[-1])", "pass", common=True).explain("""
    the gradient of the scores was not divided by √d_k
    why: The forward pass divides the scores by √d_k, so their gradient must be divided too. Without it, dq and dk are
         √d_k times too large.
    ask: Which step of the forward pass has no counterpart in your backward pass?""")
mistake("no-root", "math.sqrt(q.shape[-1])", "q.shape[-1]").explain("""
    the gradient of the scores was divided by d_k, not by its square root
    why: dq and dk are then √d_k times too small. Dividing both dscores and dq, dk by √d_k has the same effect.
    ask: How often does the forward pass divide by √d_k, and how often does your code?""")
mistake("scale-multiplied", "dscores /= math.sqrt", "dscores *= math.sqrt", common=True).explain("""
    the gradient of the scores was multiplied by √d_k instead of divided
    why: A backward pass does not invert the forward pass: the derivative of s/√d_k with respect to s is 1/√d_k.
    ask: What is the derivative of s/3 with respect to s?""")
mistake("scaled-by-width-of-values", "math.sqrt(q.shape[-1])", "math.sqrt(v.shape[-1])").explain("""
    the gradient was divided by the root of the width of v
    why: The factor must be that of the forward pass, which uses the width of queries and keys.
    ask: By what does the forward pass divide?""")
mistake(
    "only-dq-scaled",
    "dscores /= math.sqrt(q.shape[-1])",
    "pass",
    "dq = dscores @ k",
    "dq = dscores @ k / math.sqrt(q.shape[-1])",
).explain("""
    dq was divided by √d_k, but dk was not
    why: The forward pass divides the scores, which depend on both q and k.
    ask: In the backward pass, is the division before or after the point where the gradients of q and k separate?""")
mistake("values-scaled", "@ dout  #", "@ dout / math.sqrt(q.shape[-1])  #").explain("""
    dv was divided by √d_k, too
    why: The values are combined after the softmax, so the division of the scores does not affect their gradient.
    ask: Does the path from v to the output include the scores?""")
mistake("no-softmax", "softmax_backward(dweights, weights)", "dweights.copy()", common=True).explain("""
    the softmax was skipped in the backward pass
    why: The gradient of the weights was used as that of the scores.
    ask: Which steps does the forward pass have between q kᵀ and the weights?""")
mistake("no-sum", "softmax_backward(dweights, weights)", "dweights * weights", common=True).explain("""
    the sum over the row is missing from the backward pass of the softmax
    why: Raising one score lowers all other weights of the row. The sum accounts for that.
    ask: Compare your line with softmax_backward, which you have written. Does it do the same?""")
mistake("diagonal-only", "softmax_backward(dweights, weights)", "dweights * weights * (1 - weights)").explain("""
    only the diagonal of the Jacobian was used: weights * (1 - weights)
    why: That is the derivative of the sigmoid. In a softmax, every score also changes all other weights.
    ask: Compare your line with softmax_backward, which you have written. Does it do the same?""")
mistake("softmax-over-queries", "(dweights, weights)", "(dweights, weights, axis=-2)").explain("""
    softmax_backward was applied along the queries, not along the keys
    why: The weights of each query sum to 1, and the backward pass must use the same axis.
    ask: Along which axis does the forward pass take the softmax?""")
mistake("softmax-of-weights", "(dweights, weights)", "(dweights, softmax(weights))").explain("""
    the softmax was taken of the weights again
    why: `weights` are already probabilities.
    ask: What does softmax_backward expect as its second argument: scores or probabilities?""")
mistake(
    "weights-not-transposed", "dv = weights.swapaxes(-1, -2) @ dout", "dv = weights @ dout", common=True
).explain("""
    the weights were not transposed for dv
    why: The gradient of a value comes from all queries that attended to it: it is a sum over the queries.
    ask: dv has one row for each key. Over which axis of the weights must the sum run?""")
mistake("scores-not-transposed", "dk = dscores.swapaxes(-1, -2) @ q", "dk = dscores @ q", common=True).explain("""
    dscores was not transposed for dk
    why: The gradient of a key comes from all queries that attended to it: it is a sum over the queries.
    ask: dk has one row for each key. Over which axis of dscores must the sum run?""")
mistake("query-and-key-exchanged", "dq = dscores @ k", "dq = dscores @ q", "(-1, -2) @ q", "(-1, -2) @ k").explain("""
    dq was computed from q, and dk from k
    why: The derivative of q·k with respect to q is k, and with respect to k it is q.
    ask: What is the derivative of a·b with respect to a?""")
mistake("results-exchanged", "return dq, dk, dv", "return dk, dq, dv", common=True).explain("""
    dq and dk were returned in the wrong order
    why: With as many queries as keys, the shapes do not reveal it.
    ask: In which order does the docstring list the three gradients?""")
mistake("values-first", "return dq, dk, dv", "return dv, dq, dk").explain("""
    dv was returned first
    why: The gradients are returned in the order of the arguments: q, k, v.
    ask: In which order does the docstring list the three gradients?""")
mistake(
    "weights-recomputed-without-mask",
    "dv = weights",
    "weights = softmax(q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1]))\n    dv = weights",
).explain("""
    the weights were recomputed without the mask
    why: The weights are an argument because they already include the mask. The mistake stays hidden without a mask.
    ask: Which of the function's arguments does your code not use?""")
mistake(
    "sign",
    "softmax_backward(dweights, weights)",
    "weights * (dweights + (dweights * weights).sum(axis=-1, keepdims=True))",
).explain("""
    the sum in the backward pass of the softmax was added, not subtracted
    why: The gradient along a row of scores must sum to 0.
    ask: Sum dscores along one row. Is it 0?""")
mistake(
    "values-forgotten",
    "dweights = dout @ v.swapaxes(-1, -2)",
    "dweights = np.broadcast_to(dout.sum(axis=-1, keepdims=True), weights.shape)",
).explain("""
    the values were left out of the gradient of the weights
    why: How much a weight affects the output depends on the value it multiplies.
    ask: How does the output change when one weight grows a little? In the direction of which vector?""")
mistake("always-float64", "/= math.sqrt(q.shape[-1])", "= dscores / np.sqrt(q.shape[-1])", common=True).explain("""
    dq and dk are float64 even when the inputs are float32
    why: np.sqrt(d_k) is a float64 scalar, which takes part in type promotion like an array (the Python float that
         math.sqrt returns does not). np.zeros makes float64 arrays, too, unless a dtype is given.
    ask: What is the dtype of np.sqrt(4)? And that of each of your intermediate results?""")
mistake("arguments-of-softmax-backward", "(dweights, weights)", "(weights, dweights)").explain("""
    the arguments of softmax_backward were swapped
    why: The first argument is the upstream gradient, the second the probabilities.
    ask: In which order does softmax_backward take its two arguments? Which of yours are the probabilities?""")
mistake("results-reversed", "return dq, dk, dv", "return dv, dk, dq").explain("""
    the gradients were returned in reverse order: dv, dk, dq
    why: The gradients are returned in the order of the arguments: q, k, v.
    ask: In which order does the docstring list the three gradients?""")
mistake(
    "keepdims-forgotten",
    "softmax_backward(dweights, weights)",
    "weights * (dweights - (dweights * weights).sum(axis=-1))",
).explain("""
    keepdims=True is missing from the sum in the softmax's backward pass
    why: The reduced axis is then gone, and broadcasting matches the sums with the wrong axis. Most shapes give an
         error, but with as many queries as keys the results are silently wrong.
    ask: Print the shape of dweights and the shape of the sum. How does broadcasting align the two?""")
mistake(
    "only-dk-scaled",
    "    dscores /= math.sqrt(q.shape[-1])\n",
    "",
    "dscores.swapaxes(-1, -2) @ q",
    "dscores.swapaxes(-1, -2) @ q / math.sqrt(q.shape[-1])",
).explain("""
    dk was divided by √d_k, but dq was not
    why: The forward pass divides the scores, which depend on both q and k.
    ask: In the backward pass, is the division before or after the point where the gradients of q and k separate?""")
difference_quotient(
    mistake,
    "    q, k, v = (as_float(x).copy() for x in (q, k, v))",
    "float((attention(q, k, v, weights > 0)[0] * dout).sum())",
    "tuple(map(quotients, (q, k, v)))",
)

_RESULT = "return dq, dk, dv"
_SCALE = "    dscores /= math.sqrt(q.shape[-1])\n"
_GRADIENTS = ("dq", "dk", "dv")
for gradient in _GRADIENTS:
    mistake(f"sign-of-{gradient}", _RESULT, _RESULT.replace(gradient, f"-{gradient}")).explain(f"""
        {gradient} has the wrong sign
        why: With this gradient, every training step goes in the wrong direction. The formula has no minus sign
             outside softmax_backward.
        ask: Compare the line that computes {gradient} with the formula. Where does the minus sign come from?""")
    mistake(
        f"{gradient}-times", _RESULT, _RESULT.replace(gradient, f"CONSTANT * {gradient}"), constant=2.0
    ).explain(f"""
        {gradient} is {{constant}} times what it should be
        why: Something was scaled, or added more than once. A model trains at the wrong speed if its gradient is too
             large or too small.
        ask: How often does your code compute, add or scale {gradient}, and how often should it?""")
    mistake(f"{gradient}-missing", _RESULT, _RESULT.replace(gradient, f"np.zeros_like({gradient})")).explain(f"""
        {gradient} is 0 everywhere
        why: The array was created, but the gradient was never written into it.
        ask: Which line of your code writes into {gradient}? Does it run?""")
    mistake(
        f"{gradient}-always-float64", _RESULT, _RESULT.replace(gradient, f"{gradient}.astype(np.float64)")
    ).explain(f"""
        {gradient} is float64 even when the inputs are float32
        why: np.zeros and np.array create float64 arrays unless a dtype is given.
        ask: What is the dtype of the array in which you collect {gradient}?""")
    mistake(f"{gradient}-summed-over-batch", _RESULT, _RESULT.replace(gradient, f"{gradient}.sum(axis=0)")).explain(f"""
        {gradient} was summed over the first axis
        why: Each text has its own queries, keys and values, and they have their own gradients.
        ask: What is the shape of {gradient}, and what should it be?""")
for gradient, array in zip(_GRADIENTS, ("q", "k", "v"), strict=True):
    for name, factor in (("length", f"{array}.shape[-2]"), ("batch", f"len({array})")):
        mistake(
            f"{gradient}-averaged-over-{name}", _RESULT, _RESULT.replace(gradient, f"{gradient} / {factor}")
        ).explain(
            f"""
            {gradient} was divided by {"the number of its rows" if name == "length" else "its first size, the batch"}
            why: If the loss is a mean, the division is already in dout.
            ask: Which divisions does the forward pass contain, and which gradients go back through them?"""
        )
mistake("scaled-by-power", "math.sqrt(q.shape[-1])", "q.shape[-1] ** CONSTANT", constant=0.25).explain("""
    the gradient of the scores was divided by d_k to the power {constant}, not by its square root
    why: The factor must be that of the forward pass, √d_k.
    ask: Which power is the square root? How often does your code divide?""")
mistake("scaled-by-constant", "math.sqrt(q.shape[-1])", "CONSTANT", constant=8.0).explain("""
    the gradient of the scores was divided by {constant}, whatever the width
    why: The factor must be that of the forward pass, √d_k.
    ask: What is √d_k for vectors of length 4, and what for 64?""")
for name, expression, title in (
    ("all", "-dq, -dk, -dv", "all three gradients have the wrong sign"),
    ("scores", "-dq, -dk, dv", "dq and dk have the wrong sign"),
):
    mistake(f"sign-of-{name}", _RESULT, f"return {expression}").explain(f"""
        {title}
        why: With these gradients, every training step goes in the wrong direction.
        ask: What is dscores in a row in which softmax_backward gets 1 for the first weight and 0 for the others?""")
for name, order in (("dq-dv-dk", "dq, dv, dk"), ("dk-dv-dq", "dk, dv, dq")):
    mistake(f"order-{name}", _RESULT, f"return {order}").explain(f"""
        the gradients were returned in the order {order}
        why: The gradients are returned in the order of the arguments: q, k, v.
        ask: In which order does the docstring list the three gradients?""")
mistake(
    "keys-and-queries-gradient-added", _RESULT, "return dq, dk + dq if dq.shape == dk.shape else dk, dv"
).explain("""
    dq was added to dk
    why: q and k are different inputs, and each has its own gradient.
    ask: Does k change dq's formula, or q that of dk?""")

for gradient, old, array in (("dq", "dq = dscores @ k", "q"), ("dk", "(-1, -2) @ q", "k")):
    mistake(f"{gradient}-from-{array}", old, old[:-1] + array).explain(f"""
        {gradient} was computed from {array} itself
        why: The derivative of q·k with respect to one of the two is the other.
        ask: What is the derivative of a·b with respect to a?""")
    mistake(f"{gradient}-from-values", old, old[:-1] + "v").explain(f"""
        {gradient} was computed from the values
        why: The scores depend on queries and keys only.
        ask: Which two arrays are multiplied to get the scores?""")
    mistake(
        f"{gradient}-from-weights",
        old,
        old.replace("dscores", "weights") if gradient == "dq" else old,
        *(() if gradient == "dq" else ("dk = dscores", "dk = weights")),
    ).explain(f"""
        {gradient} was computed with the weights, not with the gradient of the scores
        why: A backward pass passes gradients on. Without dscores, {gradient} does not depend on dout.
        ask: Does your {gradient} change when dout changes?""")
    line = "dq = dscores @ k" if gradient == "dq" else "dk = dscores.swapaxes(-1, -2) @ q"
    other = {"dq": "k", "dk": "q"}[gradient]
    side = "dscores" if gradient == "dq" else "dscores.swapaxes(-1, -2)"
    mistake(
        f"{gradient}-skips-softmax",
        line,
        f"{gradient} = {side.replace('dscores', 'dweights')} @ {other} / math.sqrt(q.shape[-1])",
    ).explain(f"""
        the softmax was skipped in {gradient}
        why: The gradient of the weights was used as that of the scores.
        ask: Which steps does the forward pass have between q kᵀ and the weights?""")
    for name, factor, title in (
        ("root-twice", " / math.sqrt(q.shape[-1])", "divided by √d_k twice"),
        ("multiplied", " * q.shape[-1]", "multiplied by √d_k instead of divided"),
        ("by-length", " * math.sqrt(q.shape[-1] / q.shape[-2])", "divided by the root of the number of queries"),
        ("by-keys", " * math.sqrt(q.shape[-1] / k.shape[-2])", "divided by the root of the number of keys"),
        ("by-values", " * math.sqrt(q.shape[-1] / v.shape[-1])", "divided by the root of the width of v"),
    ):
        mistake(f"{gradient}-{name}", line, line + factor).explain(f"""
            {gradient} was {title}
            why: The forward pass divides the scores once, by the root of the width of queries and keys.
            ask: Is the scale in dscores already, or is it still to be applied to {gradient}?""")
for name, factor, title in (
    ("number-of-queries", "math.sqrt(q.shape[-2])", "the root of the number of queries"),
    ("number-of-keys", "math.sqrt(k.shape[-2])", "the root of the number of keys"),
    ("second-axis", "math.sqrt(q.shape[1])", "the root of q.shape[1]"),
):
    mistake(f"scaled-by-{name}", "math.sqrt(q.shape[-1])", factor).explain(f"""
        the gradient of the scores was divided by {title}
        why: The factor must be that of the forward pass, √d_k.
        ask: By what does the forward pass divide? Which axis of q, counted from the end, has this length?""")
mistake("dv-multiplied-by-root", _RESULT, "return dq, dk, dv * math.sqrt(q.shape[-1])").explain("""
    dv was multiplied by √d_k
    why: The values are combined after the softmax, so the division of the scores does not affect their gradient.
    ask: Does the path from v to the output include the scores?""")
for name, expression, title in (
    ("gradient-of-weights", "dweights.swapaxes(-1, -2) @ dout", "the gradient of the weights"),
    ("gradient-of-scores", "dscores.swapaxes(-1, -2) @ dout", "the gradient of the scores"),
):
    mistake(f"dv-from-{name}", "dq = dscores @ k", f"dq = dscores @ k\n    dv = {expression}").explain(f"""
        dv was computed with {title}, not with the weights
        why: The output is weights @ v, so the derivative with respect to v has the weights as factors.
        ask: For c = a b, what is db?""")
mistake(
    "dv-from-values", "dv = weights.swapaxes(-1, -2) @ dout", "dv = weights.swapaxes(-1, -2) @ (weights @ v)"
).explain("""
    dv was computed from the output of the forward pass, not from its gradient
    why: A backward pass passes gradients on. This dv does not depend on dout.
    ask: Does your dv change when dout changes?""")
mistake(
    "dv-entry-by-entry",
    "weights.swapaxes(-1, -2) @ dout",
    "weights.sum(axis=-2)[..., None] * dout.sum(axis=-2, keepdims=True)",
).explain("""
    the weights and dout were each summed over the queries, and then multiplied
    why: The sum over the queries is that of the products, as in the matrix product weightsᵀ dout.
    ask: Is (a + b)(c + d) the same as ac + bd?""")
mistake("weights-from-keys", "dout @ v.swapaxes", "dout @ k.swapaxes").explain("""
    the gradient of the weights was computed with the keys, not with the values
    why: The output is weights @ v, so the values are the other factor.
    ask: For c = a b, what is da?""")
for name, expression, title in (
    ("factor", "dweights - (dweights * weights).sum(axis=-1, keepdims=True)", "the factor `weights` is missing from"),
    (
        "weights-in-sum",
        "weights * (dweights - dweights.sum(axis=-1, keepdims=True))",
        "the sum does not contain the weights in",
    ),
    (
        "mean",
        "weights * (dweights - (dweights * weights).mean(axis=-1, keepdims=True))",
        "a mean was taken, not a sum, in",
    ),
    (
        "everything",
        "weights * (dweights - (dweights * weights).sum())",
        "the sum was taken over everything, not over each row, in",
    ),
    (
        "squared",
        "weights**2 * (dweights - (dweights * weights).sum(axis=-1, keepdims=True))",
        "the weights were multiplied twice in",
    ),
    (
        "factor-one-minus",
        "(1 - weights) * (dweights - (dweights * weights).sum(axis=-1, keepdims=True))",
        "1 - weights is the factor, not weights, in",
    ),
    (
        "sum-of-both",
        "weights * dweights - (dweights * weights).sum(axis=-1, keepdims=True)",
        "the sum was not multiplied by the weights in",
    ),
):
    mistake(f"softmax-{name}", "softmax_backward(dweights, weights)", expression).explain(f"""
        {title} the backward pass of the softmax
        why: softmax_backward computes weights * (dweights - the sum of dweights * weights over the row).
        ask: Compare your line with softmax_backward, which you have written. Does it do the same?""")
for axis in ("0", "1"):
    mistake(f"softmax-axis-{axis}", "(dweights, weights)", f"(dweights, weights, axis={axis})").explain(f"""
        the backward pass of the softmax was taken along axis {axis}, counted from the front
        why: The keys are the last axis, whatever comes before them.
        ask: Along which axis does the forward pass take the softmax?""")
for name, code, title in (
    ("all-axes-reversed", ".T", ".T reversed all axes, including the batch axes"),
    ("three-axes-only", ".transpose(0, 2, 1)", "the function needs exactly one batch axis: transpose(0, 2, 1)"),
    ("four-axes-only", ".transpose(0, 1, 3, 2)", "the function needs exactly two batch axes: transpose(0, 1, 3, 2)"),
    ("axes-1-and-2", ".swapaxes(1, 2)", "axes 1 and 2 were swapped, counted from the front"),
    ("axes-2-and-3", ".swapaxes(2, 3)", "axes 2 and 3 were swapped, counted from the front"),
):
    for array in ("weights", "dscores", "v"):
        mistake(f"{name}-{array}", f"{array}.swapaxes(-1, -2)", array + code, group=name).explain(f"""
            {title}
            why: There may be any number of batch axes. Only the last two axes may be swapped.
            ask: How can you swap the last two axes, whatever comes before them?""")
for count, names in (("one batch axis", "B, T, K"), ("two batch axes", "B, H, T, K")):
    variables = ", ".join("_" for _ in names.split())
    mistake(
        f"exactly-{count.replace(' ', '-')}", "    dv = weights", f"    {variables} = q.shape\n    dv = weights"
    ).explain(f"""
        the function needs exactly {count}: {names} = q.shape
        why: A single text has no batch axis, and the next assignment adds one for the heads.
        ask: How can you read the sizes from the end of the shape, whatever comes before them?""")
mistake("dot-for-matmul", "dq = dscores @ k", "dq = np.dot(dscores, k)").explain("""
    np.dot was used on arrays with batch axes
    why: np.dot multiplies every matrix of the first array with every matrix of the second. `@` goes through the batch
         axes of both together.
    ask: What is the shape of np.dot(a, b) for shapes (2, 3, 5) and (2, 5, 4), and what is that of a @ b?""")
mistake(
    "weights-recomputed-without-scale",
    "dv = weights",
    """weights = np.where(weights > 0, q @ k.swapaxes(-1, -2), -np.inf)
    weights = np.nan_to_num(softmax(weights))
    dv = weights""",
).explain("""
    the weights were computed again, without the scale
    why: The weights are an argument, so that they need not be computed again.
    ask: Which of the function's arguments does your code not use?""")
mistake("logarithm-of-weights", "dv = weights", "weights = softmax(np.log(weights))\n    dv = weights").explain("""
    the weights were computed again from their logarithms, and a query that saw nothing got nan
    why: The weights are an argument, and can be used as they are.
    ask: What is softmax of a row in which all entries are -inf?""")
for name, code in (
    ("weights", "weights *= dweights - (dweights * weights).sum(axis=-1, keepdims=True)\n    dscores = weights"),
    ("dout", "dscores = softmax_backward(dweights, weights)\n    dout *= 1.5"),
):
    mistake(f"{name}-in-place", "dscores = softmax_backward(dweights, weights)", code).explain(f"""
        {name} was changed in place
        why: `{name} *= …` writes into the caller's array, which may still be needed.
        ask: Which of your lines create a new array, and which write into an argument?""")
mistake(
    "all-always-float64",
    "    dv = weights",
    "    dout, q, k, v, weights = (x.astype(np.float64) for x in (dout, q, k, v, weights))\n    dv = weights",
).explain("""
    all three gradients are float64 even when the inputs are float32
    why: np.zeros and np.array create float64 arrays unless a dtype is given. float32 should stay float32.
    ask: What is the dtype of the arrays in which you collect the gradients?""")
