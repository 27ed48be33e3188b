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
    at exactly 0 the gradient was passed on
    why: ReLU has a corner at 0 and no derivative there; PyTorch and this course use 0.
    ask: Is your comparison > or ≥, and what does the docstring say about x = 0?""")
mistake("sign-of-dout", common=True).body("""
    return as_float(dout) * (dout > 0)
""").explain("""
    the sign of dout was used instead of the sign of x
    why: The input of the forward pass decides whether the gradient is passed on.
    ask: What do you use the argument x for?""")
mistake("dout-missing").body("""
    return (as_float(x) > 0) * np.ones_like(as_float(dout))
""").explain("""
    the slope was not multiplied by dout
    why: Chain rule: the gradient of the output, times the slope of this step.
    ask: Which of the two arguments does your result depend on?""")
mistake("times-relu").body("""
    return as_float(dout) * relu(x)
""").explain("""
    dout was multiplied by relu(x) instead of the slope
    why: The slope of ReLU is 1 for every positive x, however large.
    ask: What is the derivative of x with respect to x?""")
mistake("gate-inverted", "> 0", "<= 0").explain("""
    the gradient was passed on where x is negative
    why: There the output does not change with x, so the gradient is 0.
    ask: For which x does relu(x) change when x does?""")
mistake("writes-into-dout").body("""
    dout = as_float(dout)
    dout[np.asarray(x) <= 0] = 0
    return dout
""").explain("""
    dout[x <= 0] = 0 changed the caller's array
    why: The same dout may still be needed along another path.
    ask: Which of your lines write into an array that you did not create?""")

mistake = MISTAKES.for_functions("ffn.gelu_backward")
mistake("gate-constant", " + 0.5 * x * (1 - tanh * tanh) * du", "", common=True).body(_GELU_BACKWARD).explain("""
    the gate was treated as a constant: only (1 + tanh u)/2 is left
    why: GELU is x times a gate that depends on x, so the product rule gives two terms.
    ask: What is the derivative of f(x) g(x)?""")
mistake("gate-missing", "0.5 * (1 + tanh) + ", "", common=True).body(_GELU_BACKWARD).explain("""
    the gate itself is missing: only the term with the slope of tanh is left
    why: GELU is x times a gate that depends on x, so the product rule gives two terms.
    ask: For a large x the slope of gelu is 1. What is yours?""")
mistake("inner-slope-missing", " * du", "", common=True).body(_GELU_BACKWARD).explain("""
    du/dx is missing: the chain rule stops at tanh
    why: tanh is a function of u, and u is a function of x.
    ask: Which functions are nested here, and how many derivatives does your second term multiply?""")
mistake("no-three", "3 * 0.044715", "0.044715", common=True).body(_GELU_BACKWARD).explain("""
    du/dx has 0.044715 x² without the factor 3
    why: The derivative of x³ is 3 x².
    ask: What is the derivative of x + 0.044715 x³ by hand?""")
mistake("inner-root-missing", "du = math.sqrt(2 / math.pi) * ", "du = ").body(_GELU_BACKWARD).explain("""
    the factor √(2/π) is missing from du/dx
    why: In u the factor multiplies the whole parenthesis, so it is in the derivative, too.
    ask: What is the derivative of u by hand? What happens to a constant factor?""")
mistake("tanh-not-squared", "tanh * tanh", "tanh").body(_GELU_BACKWARD).explain("""
    1 - tanh u was used as the slope of tanh, without the square
    why: The derivative of tanh u is 1 - tanh² u.
    ask: What is the slope of tanh far to the left, where tanh is -1?""")
mistake("factor-x-missing", "0.5 * x * (1", "0.5 * (1").body(_GELU_BACKWARD).explain("""
    the factor x is missing in the second term
    why: By the product rule, the derivative of the gate is multiplied by x.
    ask: GELU is x times a gate. Which of the two factors is not differentiated in the second term?""")
mistake("exact-form").body("""
    x = as_float(x)
    cdf = 0.5 * (1 + _erf(x / math.sqrt(2)))
    pdf = np.exp(-0.5 * x * x) / math.sqrt(2 * math.pi)
    return (dout * (cdf + x * pdf)).astype(x.dtype)
""").explain("""
    the gradient of the exact GELU with erf was computed
    why: The forward pass uses the tanh form, and the gradient has to belong to the same function.
    ask: Of which function is your result the gradient: gelu or gelu_exact?""")
mistake("dout-missing", "dout * (0.5", "(0.5").body(_GELU_BACKWARD).explain("""
    the slope was not multiplied by dout
    why: Chain rule: the gradient of the output, times the slope of this step.
    ask: Which of the two arguments does your result depend on?""")
mistake("second-half-missing", "+ 0.5 * x *", "+ x *").body(_GELU_BACKWARD).explain("""
    the factor ½ is missing in the second term
    why: The gate is (1 + tanh u)/2, and its derivative keeps the ½.
    ask: What is the derivative of (1 + tanh u)/2 with respect to u?""")
mistake("sigmoid-form").body("""
    x = as_float(x)
    gate = 1 / (1 + np.exp(-1.702 * x))
    return dout * (gate + 1.702 * x * gate * (1 - gate))
""").explain("""
    the gradient of the rough approximation x σ(1.702 x) was computed
    why: The forward pass uses the tanh form, and the gradient has to belong to the same function.
    ask: Which formula does your gelu use?""")
difference_quotient_of_each(mistake, "gelu")

mistake = MISTAKES.for_functions("ffn.linear_backward")
mistake("dW-transposed", "return dx, dW, db", "return dx, dW.T, db", common=True).explain("""
    dW was transposed: doutᵀ x instead of xᵀ dout
    why: A gradient has the shape of its parameter. With square weights the shape is right, too.
    ask: What is the shape of W, and what is the shape of your dW?""")
mistake("dx-not-transposed", "dout_rows @ W.T", "dout_rows @ W", common=True).explain("""
    dx was computed with W instead of its transpose
    why: W maps D_in to D_out; the gradient goes the other way. With square weights the shape is right, too.
    ask: What are the shapes of dout, W and dx? How do they fit together?""")
mistake("not-summed").body("""
    x, dout = as_float(x), as_float(dout)
    return dout @ W.T, np.swapaxes(x, -1, -2) @ dout, dout.sum(axis=-2)
""").explain("""
    dW and db were not summed over the batch
    why: All rows used the same weights, so their contributions are added: dW has the shape of W.
    ask: What is the shape of W, and what is the shape of your dW?""")
mistake("db-not-summed", "return dx, dW, db", "return dx, dW, as_float(dout)", common=True).explain("""
    db is dout, not summed over the rows
    why: All rows used the same bias, so its gradient has the shape (D_out,). Otherwise b - lr * db is broadcast to a
         matrix.
    ask: What is the shape of b, and what is the shape of your db?""")
mistake("db-one-axis", "return dx, dW, db", "return dx, dW, as_float(dout).sum(axis=0)").explain("""
    db was summed over the first axis only
    why: A matrix comes out right. A batch of texts, (B, T, D_out), has two axes to sum over.
    ask: How many axes come before the last one, and over how many do you sum?""")
mistake("db-keepdims", "return dx, dW, db", "return dx, dW, db[None]").explain("""
    db has an extra axis of length 1
    why: A gradient has the shape of its parameter: (D_out,).
    ask: What is the shape of b, and what is the shape of your db?""")
mistake("db-mean", "return dx, dW, db", "return dx, dW, db / len(dout_rows)", common=True).explain("""
    db is the mean over the rows instead of the sum
    why: If the loss is a mean, the division is already in dout.
    ask: Does the forward pass divide by the number of rows anywhere?""")
mistake("means-over-rows", "return dx, dW, db", "return dx, dW / len(dout_rows), db / len(dout_rows)").explain("""
    dW and db were divided by the number of rows
    why: If the loss is a mean, the division is already in dout.
    ask: Does the forward pass divide by the number of rows anywhere?""")
mistake("dx-flat", ".reshape(x.shape)", "").explain("""
    dx has lost the leading axes of x
    why: (B, T, D) was reshaped to a matrix for the product, and was not reshaped back.
    ask: What is the shape of x, and what is the shape of your dx?""")
mistake("matrices-only").body("""
    x, dout = as_float(x), as_float(dout)
    return dout @ W.T, x.T @ dout, dout.sum(axis=0)
""").explain("""
    x.T reverses all axes, which is right for a matrix only
    why: For a batch of texts, (B, T, D), x.T has the shape (D, T, B).
    ask: What is the shape of x.T if x has three axes? Which shape does the product need?""")
mistake("wrong-order", "return dx, dW, db", "return dW, db, dx").explain("""
    the gradients were returned in the wrong order: dW, db, dx
    why: The caller then uses one gradient in place of another.
    ask: In which order does the docstring list them?""")
mistake("db-two-axes").body(_ROWS.format(db="dout.sum(axis=(0, 1))")).explain("""
    db was always summed over the first two axes
    why: That is right for (B, T, D_out). A matrix has only one axis of rows, and a vector none.
    ask: How could you reshape (..., D_out) to rows (N, D_out), for any number of leading axes?""")
mistake("db-over-features").body(_ROWS.format(db="dout.sum(axis=-1)")).explain("""
    db was summed over the features, not over the rows
    why: This leaves one value for each row instead of one for each feature.
    ask: What is the shape of b? Over which axes do you sum, and which one has to stay?""")
mistake("db-one-number").body(_ROWS.format(db="dout.sum()")).explain("""
    db was summed over all axes, including the features
    why: Each of the D_out features has its own bias, and so its own gradient.
    ask: What is the shape of b, and what is the shape of .sum() without an axis?""")
difference_quotient(
    mistake,
    "    x, W = as_float(x).copy(), W.copy()\n    b = np.zeros(W.shape[1])",
    "float((linear(x, W, b) * dout).sum())",
    "tuple(map(quotients, (x, W, b)))",
)

mistake = MISTAKES.for_functions("ffn.dropout_backward")
mistake("mask-ignored", " * mask", " * 1.0").explain("""
    the mask was not used: dx is dout
    why: A dropped value had no influence on the output, so its gradient is 0.
    ask: If a dropped value changes, what happens to the output?""")
mistake("scale-lost", "* mask", "* (mask != 0)", common=True).explain("""
    the mask was used as 0 and 1 only, without its scale
    why: The kept values were divided by 1 - p, so their gradients are, too.
    ask: For out = x * mask, what is the derivative with respect to x?""")
mistake("scaled-twice", "* mask", "* mask * mask").explain("""
    the scale was applied twice
    why: The mask already contains 1 / (1 - p).
    ask: For out = x * mask, what is the derivative with respect to x?""")
mistake("divided-by-mask", "* mask", "/ mask").explain("""
    dout was divided by the mask
    why: The backward pass does not undo the forward pass: the slope of x * mask is the mask.
    ask: For out = x * mask, what is the derivative with respect to x?""")
mistake("writes-into-dout").body("""
    dout *= mask
    return dout
""").explain("""
    dout *= mask changed the caller's array
    why: The same dout may still be needed along another path.
    ask: Which of your lines write into an array that you did not create?""")

mistake = MISTAKES.for_functions("ffn.ffn_backward")
mistake("activation-skipped", _SLOPE, "dactivated", common=True).explain("""
    the gradient did not go through the activation
    why: The first linear_backward returns the gradient of the activated values. W_1 needs the gradient of the values
         before the activation.
    ask: Which steps did the forward pass take? Is each of them in your backward pass?""")
mistake(
    "slope-after-activation", _SLOPE.partition(" if ")[0], 'gelu_backward(dactivated, cache["activated"])', common=True
).explain("""
    the slope of the activation was taken at its output instead of its input
    why: ReLU hides it, because its output is positive exactly where its input is. GELU does not.
    ask: Which of the two arrays was the *input* of the activation?""")
mistake("gelu-always", _SLOPE, "gelu_backward(dactivated, hidden)").explain("""
    the gradient of GELU was always used
    why: With the default nothing shows; ReLU has another slope.
    ask: How does the backward pass find out which activation was used?""")
mistake("relu-always", _SLOPE, "relu_backward(dactivated, hidden)").explain("""
    the gradient of ReLU was always used
    why: The default activation is GELU, which has another slope.
    ask: How does the backward pass find out which activation was used?""")
mistake(
    "W_2-before-activation", 'linear_backward(dout, cache["activated"]', "linear_backward(dout, hidden", common=True
).explain("""
    the gradient of W_2 was computed with the values before the activation
    why: W_2 was multiplied by the activated values.
    ask: What exactly is the input of the second layer?""")
mistake("bias-gradients-swapped", '["b_2"]', '["b_1"]', '["W_1"], grads["b_1"]', '["W_1"], grads["b_2"]').explain("""
    the gradients of b_1 and b_2 were swapped
    why: They have the shapes (F,) and (D,).
    ask: What is the shape of b_1, and what is the shape of its gradient?""")
mistake("gradients-of-absent-biases", _GRADIENTS, "grads").explain("""
    gradients were returned for biases that do not exist
    why: The optimizer goes through gradients and parameters together, so their keys must be the same.
    ask: Which keys does `params` have when there are no biases?""")
mistake("no-bias-gradients", _GRADIENTS, '{name: grads[name] for name in ("W_1", "W_2")}').explain("""
    the gradients of the biases were not returned
    why: A bias without a gradient is never trained.
    ask: Which keys does `params` have, and which keys does your dict have?""")
mistake("keys-with-d", _GRADIENTS, '{"d" + name: grads[name] for name in params}').explain("""
    the gradients were returned under keys like dW_1
    why: Gradients have the same keys as the parameters, so that the optimizer can go through both together.
    ask: Which keys does the docstring ask for?""")
mistake("residual-added", "    return dx,", "    dx = dx + dout\n    return dx,").explain("""
    dout was added to dx
    why: The residual connection belongs to the block, not to this network.
    ask: Is there a path from x to the output that bypasses the two layers?""")
mistake("cache-used-up", 'cache["hidden"], cache["gate"]', 'cache.pop("hidden"), cache["gate"]').explain("""
    the cache was changed, so it can be used only once
    why: `cache.pop` removes the entry that it returns. The backward pass may be called again with the same cache.
    ask: What is left in the cache after your function has run?""")
