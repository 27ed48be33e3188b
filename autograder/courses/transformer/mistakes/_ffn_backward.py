"""Mistakes in the backward passes of assignment 7."""

from autograder.courses.transformer.mistakes._difference_quotients import (
    difference_quotient,
    difference_quotient_of_each,
)
from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_GELU_BACKWARD = """
    x = as_float(x)
    u = math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)
    du = math.sqrt(2 / math.pi) * (1 + 3 * 0.044715 * x * x)
    tanh = np.tanh(u)
    return dout * (0.5 * (1 + tanh) + 0.5 * x * (1 - tanh * tanh) * du)
"""
_SLOPE = '_gelu_backward(dactivated, hidden, gate) if cache["activation"] == "gelu" else dactivated * gate'
_GRADIENTS = "{name: grads[name] for name in params}"
_ROWS = """
    x, dout = as_float(x), as_float(dout)
    rows, drows = x.reshape(-1, x.shape[-1]), dout.reshape(-1, dout.shape[-1])
    return dout @ W.T, rows.T @ drows, {db}
"""

mistake = MISTAKES.for_functions("ffn.relu_backward")
mistake("one-at-zero", "> 0", ">= 0", common=True).explain("""
    at exactly 0 the gradient passes
    why: There is a corner at 0 and no derivative; PyTorch and Headway say 0.
    ask: Is your comparison > or ≥, and what does the docstring say about x = 0?""")
mistake("sign-of-dout", common=True).body("""
    return as_float(dout) * (dout > 0)
""").explain("""
    the gate looks at the sign of dout instead of that of x
    why: Whether the gradient passes is decided by what went into the forward pass.
    ask: Why does the function get x?""")
mistake("dout-missing").body("""
    return (as_float(x) > 0) * np.ones_like(as_float(dout))
""").explain("""
    the slope was not multiplied by dout
    why: The chain rule: what comes in from behind, times the slope of this step.
    ask: Which of the two arguments does your answer depend on?""")
mistake("times-relu").body("""
    return as_float(dout) * relu(x)
""").explain("""
    dout was multiplied by relu(x) instead of its slope
    why: The slope of ReLU is 1 where x is positive, however large x is.
    ask: What is the derivative of x?""")
mistake("gate-inverted", "> 0", "<= 0").explain("""
    the gradient passes where x is negative
    why: There the output does not move, and the gradient is 0.
    ask: For which x does relu(x) change when x does?""")
mistake("writes-into-dout").body("""
    dout = as_float(dout)
    dout[np.asarray(x) <= 0] = 0
    return dout
""").explain("""
    dout[x <= 0] = 0 changes the caller's array
    why: The same dout may still be needed along another path.
    ask: Which of your lines write into an array that you did not make?""")

mistake = MISTAKES.for_functions("ffn.gelu_backward")
mistake("gate-constant", " + 0.5 * x * (1 - tanh * tanh) * du", "", common=True).body(_GELU_BACKWARD).explain("""
    the gate was taken for a constant: only (1 + tanh u)/2 is left
    why: GELU is x times a gate that depends on x: the product rule has two terms.
    ask: What is the derivative of f(x) g(x)?""")
mistake("gate-missing", "0.5 * (1 + tanh) + ", "", common=True).body(_GELU_BACKWARD).explain("""
    the gate itself is missing: only the slope of tanh is left
    why: GELU is x times a gate that depends on x: the product rule has two terms.
    ask: For a large x the slope of gelu is 1. What is yours?""")
mistake("inner-slope-missing", " * du", "", common=True).body(_GELU_BACKWARD).explain("""
    du/dx is missing: the chain rule stops at tanh
    why: tanh is a function of u, and u is a function of x.
    ask: Which three functions are inside each other, and how many derivatives does your second term multiply?""")
mistake("no-three", "3 * 0.044715", "0.044715", common=True).body(_GELU_BACKWARD).explain("""
    du/dx has 0.044715 x² without the factor 3
    why: The derivative of x³ is 3 x².
    ask: Take the derivative of the bracket in u by hand.""")
mistake("inner-root-missing", "du = math.sqrt(2 / math.pi) * ", "du = ").body(_GELU_BACKWARD).explain("""
    du/dx lacks the factor √(2/π)
    why: The factor stands in front of the whole bracket of u, so it is there in the derivative too.
    ask: Take the derivative of u by hand: what happens to a constant factor?""")
mistake("tanh-not-squared", "tanh * tanh", "tanh").body(_GELU_BACKWARD).explain("""
    the slope of tanh was taken to be 1 - tanh u, without the square
    why: The derivative of tanh is 1 - tanh².
    ask: What is the slope of tanh far to the left, where tanh is -1?""")
mistake("factor-x-missing", "0.5 * x * (1", "0.5 * (1").body(_GELU_BACKWARD).explain("""
    the factor x is missing in the second term
    why: The product rule: the derivative of the gate is multiplied by x.
    ask: GELU is x times a gate. Which of the two is not differentiated in the second term?""")
mistake("exact-form").body("""
    x = as_float(x)
    cdf = 0.5 * (1 + _erf(x / math.sqrt(2)))
    pdf = np.exp(-0.5 * x * x) / math.sqrt(2 * math.pi)
    return (dout * (cdf + x * pdf)).astype(x.dtype)
""").explain("""
    this is the gradient of the exact GELU, with erf
    why: The forward pass is the tanh form; a gradient has to belong to the function that was computed.
    ask: Which of gelu and gelu_exact is this the gradient of?""")
mistake("dout-missing", "dout * (0.5", "(0.5").body(_GELU_BACKWARD).explain("""
    the slope was not multiplied by dout
    why: The chain rule: what comes in from behind, times the slope of this step.
    ask: Which of the two arguments does your answer depend on?""")
mistake("second-half-missing", "+ 0.5 * x *", "+ x *").body(_GELU_BACKWARD).explain("""
    the factor ½ is missing in the second term
    why: The gate is (1 + tanh u)/2, and the ½ stays when it is differentiated.
    ask: What is the derivative of (1 + tanh u)/2 with respect to u?""")
mistake("sigmoid-form").body("""
    x = as_float(x)
    gate = 1 / (1 + np.exp(-1.702 * x))
    return dout * (gate + 1.702 * x * gate * (1 - gate))
""").explain("""
    this is the gradient of the rough approximation x σ(1.702 x)
    why: The gradient has to be that of the function that was computed: the tanh form.
    ask: Which formula does your gelu use?""")
difference_quotient_of_each(mistake, "gelu")

mistake = MISTAKES.for_functions("ffn.linear_backward")
mistake("dW-transposed", "return dx, dW, db", "return dx, dW.T, db", common=True).explain("""
    dW is transposed: doutᵀ x instead of xᵀ dout
    why: A gradient has the shape of what it is the gradient of. Square weights hide it.
    ask: What is the shape of W, and what is the shape of your dW?""")
mistake("dx-not-transposed", "dout_rows @ W.T", "dout_rows @ W", common=True).explain("""
    dx was made with W instead of its transpose
    why: W leads from D_in to D_out; the gradient goes the other way. Square weights hide it.
    ask: Write down the shapes of dout, W and dx: how do they fit?""")
mistake("not-summed").body("""
    x, dout = as_float(x), as_float(dout)
    return dout @ W.T, np.swapaxes(x, -1, -2) @ dout, dout.sum(axis=-2)
""").explain("""
    dW and db are not summed over the batch
    why: Every row used the same weights, and what they contribute adds up: dW has the shape of W.
    ask: What is the shape of W, and what is the shape of your dW?""")
mistake("db-not-summed", "return dx, dW, db", "return dx, dW, as_float(dout)", common=True).explain("""
    db is dout, not summed over the rows
    why: Every row used the same bias: its gradient has the shape (D_out,). Otherwise b - lr * db broadcasts.
    ask: What is the shape of b, and what is the shape of your db?""")
mistake("db-one-axis", "return dx, dW, db", "return dx, dW, as_float(dout).sum(axis=0)").explain("""
    db is summed over the first axis only
    why: A matrix comes out right. With a batch of texts, (B, T, D_out), there are two axes to sum over.
    ask: How many axes stand before the last one, and over how many do you sum?""")
mistake("db-keepdims", "return dx, dW, db", "return dx, dW, db[None]").explain("""
    db has an axis of length 1 too many
    why: A gradient has the shape of what it is the gradient of: (D_out,).
    ask: What is the shape of b, and what is the shape of your db?""")
mistake("db-mean", "return dx, dW, db", "return dx, dW, db / len(dout_rows)", common=True).explain("""
    db is the mean over the rows instead of the sum
    why: If the loss is a mean, the division is already in dout.
    ask: Where in the forward pass would a division by the number of rows stand?""")
mistake("means-over-rows", "return dx, dW, db", "return dx, dW / len(dout_rows), db / len(dout_rows)").explain("""
    dW and db were divided by the number of rows
    why: If the loss is a mean, the division is already in dout.
    ask: Where in the forward pass would a division by the number of rows stand?""")
mistake("dx-flat", ".reshape(x.shape)", "").explain("""
    dx has lost the leading axes of x
    why: (B, T, D) was made a matrix for the product, and was not unfolded again.
    ask: What is the shape of x, and what is the shape of your dx?""")
mistake("matrices-only").body("""
    x, dout = as_float(x), as_float(dout)
    return dout @ W.T, x.T @ dout, dout.sum(axis=0)
""").explain("""
    x.T turns all axes around, which is right for a matrix only
    why: With a batch of texts, (B, T, D), the axes come out as (D, T, B).
    ask: What is the shape of x.T if x has three axes? And how many axes should there be in the product?""")
mistake("wrong-order", "return dx, dW, db", "return dW, db, dx").explain("""
    the gradients are returned in the wrong order: dW, db, dx
    why: Whoever unpacks them uses one for the other.
    ask: In which order does the docstring list them?""")
mistake("db-two-axes").body(_ROWS.format(db="dout.sum(axis=(0, 1))")).explain("""
    db is always summed over the first two axes
    why: That is right for (B, T, D_out). A matrix has only one axis of rows, and a vector none.
    ask: How could (..., D_out) be made into rows (N, D_out), whatever stands before the last axis?""")
mistake("db-over-features").body(_ROWS.format(db="dout.sum(axis=-1)")).explain("""
    db is summed over the features, not over the rows
    why: One number for each row is left, where one for each feature is wanted.
    ask: What is the shape of b? Which axes have to go, and which one has to stay?""")
mistake("db-one-number").body(_ROWS.format(db="dout.sum()")).explain("""
    db is summed over all axes, the features too
    why: Each of the D_out features has a bias of its own, and so a gradient of its own.
    ask: What is the shape of b, and what does .sum() without an axis leave?""")
difference_quotient(
    mistake,
    "    x, W = as_float(x).copy(), W.copy()\n    b = np.zeros(W.shape[1])",
    "float((linear(x, W, b) * dout).sum())",
    "tuple(map(quotients, (x, W, b)))",
)

mistake = MISTAKES.for_functions("ffn.dropout_backward")
mistake("mask-ignored", " * mask", " * 1.0").explain("""
    the mask is not used: dx is dout
    why: A value that was dropped had no influence, so its gradient is 0.
    ask: What can a change of a dropped value do to the output?""")
mistake("scale-lost", "* mask", "* (mask != 0)", common=True).explain("""
    only 0 and 1 of the mask are used, not the scale that is in it
    why: The kept values were divided by 1 - p, and so are their gradients.
    ask: out = x * mask. What is the derivative with respect to x?""")
mistake("scaled-twice", "* mask", "* mask * mask").explain("""
    the scale was applied twice
    why: The mask already contains 1 / (1 - p).
    ask: out = x * mask. What is the derivative with respect to x?""")
mistake("divided-by-mask", "* mask", "/ mask").explain("""
    dout was divided by the mask
    why: Going back does not mean undoing: the slope of x * mask is the mask.
    ask: out = x * mask. What is the derivative with respect to x?""")
mistake("writes-into-dout").body("""
    dout *= mask
    return dout
""").explain("""
    dout *= mask changes the caller's array
    why: The same dout may still be needed along another path.
    ask: Which of your lines write into an array that you did not make?""")

mistake = MISTAKES.for_functions("ffn.ffn_backward")
mistake("activation-skipped", _SLOPE, "dactivated", common=True).explain("""
    the gradient does not go through the activation
    why: What comes out of W_2 is the gradient of the activated values; W_1 needs that of the values before.
    ask: Which steps did the forward pass take, and how many of them has your way back?""")
mistake(
    "slope-after-activation", _SLOPE.partition(" if ")[0], 'gelu_backward(dactivated, cache["activated"])', common=True
).explain("""
    the slope of the activation was taken at its output instead of its input
    why: ReLU hides it, because its output is positive where its input is. GELU does not.
    ask: Which of the two arrays went *into* the activation?""")
mistake("gelu-always", _SLOPE, "gelu_backward(dactivated, hidden)").explain("""
    the gradient is always that of GELU
    why: With the default nothing shows; ReLU has another slope.
    ask: How does the backward pass know which activation it was?""")
mistake("relu-always", _SLOPE, "relu_backward(dactivated, hidden)").explain("""
    the gradient is always that of ReLU
    why: The default activation is GELU, which has another slope.
    ask: How does the backward pass know which activation it was?""")
mistake(
    "W_2-before-activation", 'linear_backward(dout, cache["activated"]', "linear_backward(dout, hidden", common=True
).explain("""
    the gradient of W_2 was made with the values before the activation
    why: W_2 was multiplied with the activated values.
    ask: What exactly is the input of the second layer?""")
mistake("bias-gradients-swapped", '["b_2"]', '["b_1"]', '["W_1"], grads["b_1"]', '["W_1"], grads["b_2"]').explain("""
    the gradients of b_1 and b_2 are exchanged
    why: They have the shapes (F,) and (D,).
    ask: What is the shape of b_1, and what is the shape of its gradient?""")
mistake("gradients-of-absent-biases", _GRADIENTS, "grads").explain("""
    there are gradients of biases that the network does not have
    why: The optimizer goes through gradients and parameters together: both have the same keys.
    ask: What are the keys of params if there is no bias?""")
mistake("no-bias-gradients", _GRADIENTS, '{name: grads[name] for name in ("W_1", "W_2")}').explain("""
    the gradients of the biases are not returned
    why: The biases would never learn anything.
    ask: Compare the keys of your gradients with those of params.""")
mistake("keys-with-d", _GRADIENTS, '{"d" + name: grads[name] for name in params}').explain("""
    the keys of the gradients begin with a d
    why: The gradient of W_1 is found under the name of its parameter, W_1.
    ask: Compare the keys of your gradients with those of params.""")
mistake("residual-added", "    return dx,", "    dx = dx + dout\n    return dx,").explain("""
    dout was added to dx
    why: The residual connection belongs to the block, not to this network.
    ask: Is there a path from x to the output that goes round the two layers?""")
mistake("cache-used-up", 'cache["hidden"], cache["gate"]', 'cache.pop("hidden"), cache["gate"]').explain("""
    the cache is changed: a second call does not find what it needs
    why: dict.pop removes the entry.
    ask: Which of your lines change the dictionary?""")
