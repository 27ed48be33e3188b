"""Mistakes in attention.attention_backward."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

mistake = MISTAKES.for_functions("attention.attention_backward")
mistake("no-scale", "dscores /= math.sqrt(q.shape[-1])", "pass", common=True).explain("""
    the gradient of the scores was not divided by √d_k
    why: The forward pass divides the scores by √d_k, so their gradient must be divided too. Without it, dq and dk are
         √d_k times too large.
    ask: Which step of the forward pass has no counterpart in your backward pass?""")
mistake("scale-multiplied", "dscores /= math.sqrt", "dscores *= math.sqrt", common=True).explain("""
    the gradient of the scores was multiplied by √d_k instead of divided
    why: A backward pass does not invert the forward pass: the derivative of s/√d_k with respect to s is 1/√d_k.
    ask: What is the derivative of s/3 with respect to s?""")
mistake(
    "only-dq-scaled", "dscores /= math.sqrt(q.shape[-1])", "pass", "dscores @ k", "dscores @ k / math.sqrt(q.shape[-1])"
).explain("""
    dq was divided by √d_k, but dk was not
    why: The forward pass divides the scores, which depend on both q and k.
    ask: In the backward pass, is the division before or after the point where the gradients of q and k separate?""")
mistake("no-softmax", "softmax_backward(dweights, weights)", "dweights.copy()", common=True).explain("""
    the softmax was skipped in the backward pass
    why: The gradient of the weights was used as that of the scores.
    ask: Which steps does the forward pass have between q kᵀ and the weights?""")
mistake("no-sum", "softmax_backward(dweights, weights)", "dweights * weights", common=True).explain("""
    the sum over the row is missing from the backward pass of the softmax
    why: Raising one score lowers all other weights of the row. The sum accounts for that.
    ask: Compare your line with softmax_backward, which you have written. Does it do the same?""")
mistake(
    "plain-mean",
    "softmax_backward(dweights, weights)",
    "weights * (dweights - dweights.mean(axis=-1, keepdims=True))",
).explain("""
    in the backward pass of the softmax, the plain mean of a row was subtracted, not the weighted one
    why: What is subtracted is an average of the gradients, in which each counts as much as its attention weight.
    ask: Compare your line with softmax_backward, which you have written. Does it do the same?""")
mistake("weights-not-transposed", "= weights.swapaxes(-1, -2) @ dout", "= weights @ dout", common=True).explain("""
    the weights were not transposed for dv
    why: The gradient of a value comes from all queries that attended to it: it is a sum over the queries.
    ask: dv has one row for each key. Over which axis of the weights must the sum run?""")
mistake("scores-not-transposed", "dk = dscores.swapaxes(-1, -2) @ q", "dk = dscores @ q", common=True).explain("""
    dscores was not transposed for dk
    why: The gradient of a key comes from all queries that attended to it: it is a sum over the queries.
    ask: dk has one row for each key. Over which axis of dscores must the sum run?""")
mistake("results-exchanged", "return dq, dk, dv", "return dk, dq, dv", common=True).explain("""
    dq and dk were returned in the wrong order
    why: With as many queries as keys, the shapes do not reveal it.
    ask: With 3 queries and 5 keys, how many rows do your first and your second result have?""")
mistake(
    "weights-recomputed-without-mask",
    "dv = weights",
    "weights = softmax(q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1]))\n    dv = weights",
).explain("""
    the weights were recomputed without the mask
    why: The weights are an argument because they already include the mask. The mistake stays hidden without a mask.
    ask: Which of the function's arguments does your code not use?""")
mistake("always-float64", "/= math.sqrt(q.shape[-1])", "= dscores / np.sqrt(q.shape[-1])", common=True).explain("""
    dq and dk are float64 even when the inputs are float32
    why: np.sqrt(d_k) is a float64 scalar, which takes part in type promotion like an array (the Python float that
         math.sqrt returns does not). np.zeros makes float64 arrays, too, unless a dtype is given.
    ask: What is the dtype of np.sqrt(4)? And that of each of your intermediate results?""")
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

_RESULT = "return dq, dk, dv"
mistake("order-dq-dv-dk", _RESULT, "return dq, dv, dk").explain("""
    the gradients were returned in the order dq, dv, dk
    why: The gradients are returned in the order of the arguments: q, k, v.
    ask: With keys of width 4 and values of width 6, which width does your second result have?""")

mistake("dv-multiplied-by-root", _RESULT, "return dq, dk, dv * math.sqrt(q.shape[-1])").explain("""
    dv was multiplied by √d_k
    why: The values are combined after the softmax, so the division of the scores does not affect their gradient.
    ask: Does the path from v to the output include the scores?""")
mistake("dv-from-values", "= weights.swapaxes(-1, -2) @ dout", "= weights.swapaxes(-1, -2) @ (weights @ v)").explain("""
    dv was computed from the output of the forward pass, not from its gradient
    why: A backward pass passes gradients on. This dv does not depend on dout.
    ask: Does your dv change when dout changes?""")
for name, code, title in (
    ("all-axes-reversed", ".T", ".T reversed all axes, including the batch axes"),
    ("axes-1-and-2", ".swapaxes(1, 2)", "axes 1 and 2 were swapped, counted from the front"),
):
    for array in ("weights", "dscores", "v"):
        mistake(f"{name}-{array}", f"{array}.swapaxes(-1, -2)", array + code, group=name).explain(f"""
            {title}
            why: There may be any number of batch axes. Only the last two axes may be swapped.
            ask: How can you swap the last two axes, whatever comes before them?""")
mistake("exactly-one-batch-axis", "    dv = weights", "    _, _, _ = q.shape\n    dv = weights").explain("""
    the function needs exactly one batch axis: B, T, K = q.shape
    why: A single text has no batch axis, and the next assignment adds one for the heads.
    ask: How can you read the sizes from the end of the shape, whatever comes before them?""")
