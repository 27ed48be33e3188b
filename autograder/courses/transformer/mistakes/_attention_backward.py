"""Mistakes in attention.attention_backward."""

from autograder.courses.transformer.mistakes._difference_quotients import difference_quotient
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
mistake("weights-not-transposed", "dv = weights.swapaxes(-1, -2) @ dout", "dv = weights @ dout").explain("""
    the weights were not transposed for dv
    why: The gradient of a value comes from all queries that attended to it: it is a sum over the queries.
    ask: dv has one row for each key. Over which axis of the weights must the sum run?""")
mistake("scores-not-transposed", "dk = dscores.swapaxes(-1, -2) @ q", "dk = dscores @ q").explain("""
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
mistake("all-axes-reversed", "weights.swapaxes(-1, -2)", "weights.T", "v.swapaxes(-1, -2)", "v.T").explain("""
    .T reversed all axes, including the batch axes
    why: .T is correct for a matrix. With batch axes, only the last two may be swapped.
    ask: What is the shape of weights.T for weights of shape (2, 3, 5)?""")
mistake("three-axes-only", "weights.swapaxes(-1, -2)", "weights.transpose(0, 2, 1)").explain("""
    the function needs exactly one batch axis: transpose(0, 2, 1)
    why: The next assignment adds another batch axis, and a single text has none at all.
    ask: How can you swap the last two axes, whatever comes before them?""")
mistake("float64-from-root", "/= math.sqrt(q.shape[-1])", "= dscores / np.sqrt(q.shape[-1])").explain("""
    np.sqrt(d_k) is a float64 scalar and turned float32 into float64
    why: A NumPy float64 scalar takes part in type promotion like an array. A Python float, such as math.sqrt returns,
         does not.
    ask: What is the dtype of np.sqrt(4)? And the type of float(np.sqrt(4))?""")
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
