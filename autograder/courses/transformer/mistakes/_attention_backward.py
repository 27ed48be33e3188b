"""Mistakes in the backward pass of assignment 4."""

from autograder.courses.transformer.mistakes._difference_quotients import difference_quotient
from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

mistake = MISTAKES.for_functions("attention.attention_backward")
mistake("no-scale", "dscores /= math.sqrt(q.shape[-1])", "pass", common=True).explain("""
    the gradient of the scores was not divided by √d_k
    why: What was divided on the way forward has to be divided on the way back. Then dq and dk are right but for a
         factor.
    ask: Which step of the forward pass has no counterpart in your backward pass?""")
mistake("no-root", "math.sqrt(q.shape[-1])", "q.shape[-1]").explain("""
    the gradient of the scores was divided by d_k, not by its square root
    why: dq and dk are right but for a factor. Perhaps dq and dscores were both divided.
    ask: How often does the forward pass divide by √d_k, and how often do you?""")
mistake("scale-multiplied", "dscores /= math.sqrt", "dscores *= math.sqrt", common=True).explain("""
    the gradient of the scores was multiplied by √d_k instead of divided
    why: The way back does not undo the way forward: the derivative of s/√d_k is 1/√d_k once more.
    ask: What is the derivative of s/3 with respect to s?""")
mistake("scaled-by-width-of-values", "math.sqrt(q.shape[-1])", "math.sqrt(v.shape[-1])").explain("""
    the gradient was divided by the root of the width of v
    why: The factor is that of the forward pass: the width of queries and keys.
    ask: By what did the forward pass divide?""")
mistake(
    "only-dq-scaled",
    "dscores /= math.sqrt(q.shape[-1])",
    "pass",
    "dq = dscores @ k",
    "dq = dscores @ k / math.sqrt(q.shape[-1])",
).explain("""
    dq was divided by √d_k, dk was not
    why: The scores are divided, and both q and k are behind them.
    ask: On the way back, at which point do the ways of q and k part: before the division or after it?""")
mistake("values-scaled", "@ dout  #", "@ dout / math.sqrt(q.shape[-1])  #").explain("""
    dv was divided by √d_k too
    why: The values are mixed after the softmax; the division has nothing to do with them.
    ask: Does the way from the output to v lead past the scores?""")
mistake("no-softmax", "softmax_backward(dweights, weights)", "dweights.copy()", common=True).explain("""
    the way back does not go through the softmax
    why: The gradient of the weights was taken for that of the scores.
    ask: How many steps has the forward pass between q kᵀ and the weights?""")
mistake("no-sum", "softmax_backward(dweights, weights)", "dweights * weights", common=True).explain("""
    the sum over the row is missing in the backward of the softmax
    why: Raising one score lowers all other weights of the row; that is what the sum stands for.
    ask: You have written softmax_backward. Does your line do the same?""")
mistake("diagonal-only", "softmax_backward(dweights, weights)", "dweights * weights * (1 - weights)").explain("""
    only the diagonal of the softmax's Jacobian was used: weights * (1 - weights)
    why: That is the derivative of the sigmoid. In a softmax every score also changes all other weights.
    ask: You have written softmax_backward. Does your line do the same?""")
mistake("softmax-over-queries", "(dweights, weights)", "(dweights, weights, axis=-2)").explain("""
    the softmax was gone back through along the queries, not along the keys
    why: The weights of a query add up to 1; the sum has to run along the same axis.
    ask: Along which axis did the forward pass take the softmax?""")
mistake("softmax-of-weights", "(dweights, weights)", "(dweights, softmax(weights))").explain("""
    the softmax was taken of the weights once more
    why: `weights` are the probabilities already.
    ask: What does softmax_backward expect as its second argument: scores or probabilities?""")
mistake("weights-not-transposed", "dv = weights.swapaxes(-1, -2) @ dout", "dv = weights @ dout").explain("""
    the weights were not transposed for dv
    why: A value's gradient comes from all queries that looked at it: a sum over the queries.
    ask: dv has one row for each key. Which axis of the weights must be summed over?""")
mistake("scores-not-transposed", "dk = dscores.swapaxes(-1, -2) @ q", "dk = dscores @ q").explain("""
    dscores was not transposed for dk
    why: A key's gradient comes from all queries that looked at it: a sum over the queries.
    ask: dk has one row for each key. Which axis of dscores must be summed over?""")
mistake("query-and-key-exchanged", "dq = dscores @ k", "dq = dscores @ q", "(-1, -2) @ q", "(-1, -2) @ k").explain("""
    dq was computed from q, and dk from k
    why: The derivative of q·k with respect to q is k, and the other way round.
    ask: What is the derivative of a·b with respect to a?""")
mistake("results-exchanged", "return dq, dk, dv", "return dk, dq, dv", common=True).explain("""
    dq and dk were returned in the wrong order
    why: When there are as many queries as keys, the shapes do not tell.
    ask: In which order does the docstring list the three gradients?""")
mistake("values-first", "return dq, dk, dv", "return dv, dq, dk").explain("""
    dv was returned first
    why: The order of the results is that of the arguments: q, k, v.
    ask: In which order does the docstring list the three gradients?""")
mistake(
    "weights-recomputed-without-mask",
    "dv = weights",
    "weights = softmax(q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1]))\n    dv = weights",
).explain("""
    the weights were computed once more, without the mask
    why: The weights are an argument because they know the mask. Without one, nothing shows.
    ask: Which of your arguments does your code not use?""")
mistake(
    "sign",
    "softmax_backward(dweights, weights)",
    "weights * (dweights + (dweights * weights).sum(axis=-1, keepdims=True))",
).explain("""
    the sum in the backward of the softmax was added, not subtracted
    why: The gradient along a row of scores must add up to 0.
    ask: Add up dscores along one row. Is it 0?""")
mistake(
    "values-forgotten",
    "dweights = dout @ v.swapaxes(-1, -2)",
    "dweights = np.broadcast_to(dout.sum(axis=-1, keepdims=True), weights.shape)",
).explain("""
    the way back to the weights leaves out the values
    why: A weight matters as much as the value that it lets through.
    ask: How does the output change when one weight grows a little? Which vector does it move along?""")
mistake("all-axes-reversed", "weights.swapaxes(-1, -2)", "weights.T", "v.swapaxes(-1, -2)", "v.T").explain("""
    .T reverses all axes, the batch axes too
    why: For a matrix .T is right; with batch axes, only the last two may be exchanged.
    ask: What is the shape of weights.T for weights of shape (2, 3, 5)?""")
mistake("three-axes-only", "weights.swapaxes(-1, -2)", "weights.transpose(0, 2, 1)").explain("""
    it works with exactly one batch axis: transpose(0, 2, 1)
    why: Later on there will be heads as well, and a single text has no batch axis at all.
    ask: How can the last two axes be exchanged, whatever stands before them?""")
mistake("float64-from-root", "/= math.sqrt(q.shape[-1])", "= dscores / np.sqrt(q.shape[-1])").explain("""
    np.sqrt(d_k) is a float64 scalar and turned float32 into float64
    why: A NumPy float64 scalar takes part in the type rules like an array; a Python float, as from math.sqrt, does not.
    ask: What is the dtype of np.sqrt(4)? And of float(np.sqrt(4))?""")
mistake("arguments-of-softmax-backward", "(dweights, weights)", "(weights, dweights)").explain("""
    the arguments of softmax_backward are exchanged
    why: First comes the gradient that arrives, then the probabilities.
    ask: In which order does softmax_backward take its two arguments? Which of yours are the probabilities?""")
mistake("results-reversed", "return dq, dk, dv", "return dv, dk, dq").explain("""
    the gradients were returned the other way round: dv, dk, dq
    why: The order of the results is that of the arguments: q, k, v.
    ask: In which order does the docstring list the three gradients?""")
mistake(
    "keepdims-forgotten",
    "softmax_backward(dweights, weights)",
    "weights * (dweights - (dweights * weights).sum(axis=-1))",
).explain("""
    keepdims=True is missing from the sum in the backward of the softmax
    why: Without it the axis is gone, and NumPy subtracts along the wrong axis: an error for most shapes, silently wrong
         numbers where there are as many queries as keys.
    ask: Print the shape of dweights and the shape of the sum. How does broadcasting line the two up?""")
mistake(
    "only-dk-scaled",
    "    dscores /= math.sqrt(q.shape[-1])\n",
    "",
    "dscores.swapaxes(-1, -2) @ q",
    "dscores.swapaxes(-1, -2) @ q / math.sqrt(q.shape[-1])",
).explain("""
    dk was divided by √d_k, dq was not
    why: The scores were divided; their gradient is divided once, and then goes both ways.
    ask: Which of the gradients pass the division on their way back?""")
difference_quotient(
    mistake,
    "    q, k, v = (as_float(x).copy() for x in (q, k, v))",
    "float((attention(q, k, v, weights > 0)[0] * dout).sum())",
    "tuple(map(quotients, (q, k, v)))",
)
