"""Mistakes in the backward passes of assignment 7."""

from autograder.engine.diagnosis.mistake import Mistake

_GELU_BACKWARD = """
    x = as_float(x)
    u = math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)
    du = math.sqrt(2 / math.pi) * (1 + 3 * 0.044715 * x * x)
    tanh = np.tanh(u)
    return dout * (0.5 * (1 + tanh) + 0.5 * x * (1 - tanh * tanh) * du)
"""
_SLOPE = '_gelu_backward(dactivated, hidden, gate) if cache["activation"] == "gelu" else dactivated * gate'
_GRADIENTS = "{name: grads[name] for name in params}"

MISTAKES = (
    Mistake(
        "ffn.relu_backward",
        "one-at-zero",
        "at exactly 0 the gradient passes",
        "There is a corner at 0 and no derivative; PyTorch and this kit say 0.",
        "Is your comparison > or ≥, and what does the docstring say about x = 0?",
        edits=(("> 0", ">= 0"),),
        common=True,
    ),
    Mistake(
        "ffn.relu_backward",
        "sign-of-dout",
        "the gate looks at the sign of dout instead of that of x",
        "Whether the gradient passes is decided by what went into the forward pass.",
        "Why does the function get x?",
        body="""
    return as_float(dout) * (dout > 0)
""",
        common=True,
    ),
    Mistake(
        "ffn.relu_backward",
        "dout-missing",
        "the slope was not multiplied by dout",
        "The chain rule: what comes in from behind, times the slope of this step.",
        "Which of the two arguments does your answer depend on?",
        body="""
    return (as_float(x) > 0) * np.ones_like(as_float(dout))
""",
    ),
    Mistake(
        "ffn.relu_backward",
        "times-relu",
        "dout was multiplied by relu(x) instead of its slope",
        "The slope of ReLU is 1 where x is positive, however large x is.",
        "What is the derivative of x?",
        body="""
    return as_float(dout) * relu(x)
""",
    ),
    Mistake(
        "ffn.relu_backward",
        "gate-inverted",
        "the gradient passes where x is negative",
        "There the output does not move, and the gradient is 0.",
        "For which x does relu(x) change when x does?",
        edits=(("> 0", "<= 0"),),
    ),
    Mistake(
        "ffn.relu_backward",
        "writes-into-dout",
        "dout[x <= 0] = 0 changes the caller's array",
        "The same dout may still be needed along another path.",
        "Which of your lines write into an array that you did not make?",
        body="""
    dout = as_float(dout)
    dout[np.asarray(x) <= 0] = 0
    return dout
""",
    ),
    Mistake(
        "ffn.gelu_backward",
        "gate-constant",
        "the gate was taken for a constant: only (1 + tanh u)/2 is left",
        "GELU is x times a gate that depends on x: the product rule has two terms.",
        "What is the derivative of f(x) g(x)?",
        body=_GELU_BACKWARD.replace(" + 0.5 * x * (1 - tanh * tanh) * du", ""),
        common=True,
    ),
    Mistake(
        "ffn.gelu_backward",
        "gate-missing",
        "the gate itself is missing: only the slope of tanh is left",
        "GELU is x times a gate that depends on x: the product rule has two terms.",
        "For a large x the slope of gelu is 1. What is yours?",
        body=_GELU_BACKWARD.replace("0.5 * (1 + tanh) + ", ""),
        common=True,
    ),
    Mistake(
        "ffn.gelu_backward",
        "inner-slope-missing",
        "du/dx is missing: the chain rule stops at tanh",
        "tanh is a function of u, and u is a function of x.",
        "Which three functions are inside each other, and how many derivatives does your second term multiply?",
        body=_GELU_BACKWARD.replace(" * du", ""),
        common=True,
    ),
    Mistake(
        "ffn.gelu_backward",
        "no-three",
        "du/dx has 0.044715 x² without the factor 3",
        "The derivative of x³ is 3 x².",
        "Take the derivative of the bracket in u by hand.",
        body=_GELU_BACKWARD.replace("3 * 0.044715", "0.044715"),
        common=True,
    ),
    Mistake(
        "ffn.gelu_backward",
        "inner-root-missing",
        "du/dx lacks the factor √(2/π)",
        "The factor stands in front of the whole bracket of u, so it is there in the derivative too.",
        "Take the derivative of u by hand: what happens to a constant factor?",
        body=_GELU_BACKWARD.replace("du = math.sqrt(2 / math.pi) * ", "du = "),
    ),
    Mistake(
        "ffn.gelu_backward",
        "tanh-not-squared",
        "the slope of tanh was taken to be 1 - tanh u, without the square",
        "The derivative of tanh is 1 - tanh².",
        "What is the slope of tanh far to the left, where tanh is -1?",
        body=_GELU_BACKWARD.replace("tanh * tanh", "tanh"),
    ),
    Mistake(
        "ffn.gelu_backward",
        "factor-x-missing",
        "the factor x is missing in the second term",
        "The product rule: the derivative of the gate is multiplied by x.",
        "GELU is x times a gate. Which of the two is not differentiated in the second term?",
        body=_GELU_BACKWARD.replace("0.5 * x * (1", "0.5 * (1"),
    ),
    Mistake(
        "ffn.gelu_backward",
        "exact-form",
        "this is the gradient of the exact GELU, with erf",
        "The forward pass is the tanh form; a gradient has to belong to the function that was computed.",
        "Which of gelu and gelu_exact is this the gradient of?",
        body="""
    x = as_float(x)
    cdf = 0.5 * (1 + _erf(x / math.sqrt(2)))
    pdf = np.exp(-0.5 * x * x) / math.sqrt(2 * math.pi)
    return (dout * (cdf + x * pdf)).astype(x.dtype)
""",
    ),
    Mistake(
        "ffn.gelu_backward",
        "dout-missing",
        "the slope was not multiplied by dout",
        "The chain rule: what comes in from behind, times the slope of this step.",
        "Which of the two arguments does your answer depend on?",
        body=_GELU_BACKWARD.replace("dout * (0.5", "(0.5"),
    ),
    Mistake(
        "ffn.linear_backward",
        "dW-transposed",
        "dW is transposed: doutᵀ x instead of xᵀ dout",
        "A gradient has the shape of what it is the gradient of. Square weights hide it.",
        "What is the shape of W, and what is the shape of your dW?",
        edits=(("return dx, dW, db", "return dx, dW.T, db"),),
        common=True,
    ),
    Mistake(
        "ffn.linear_backward",
        "dx-not-transposed",
        "dx was made with W instead of its transpose",
        "W leads from D_in to D_out; the gradient goes the other way. Square weights hide it.",
        "Write down the shapes of dout, W and dx: how do they fit?",
        edits=(("dout_rows @ W.T", "dout_rows @ W"),),
        common=True,
    ),
    Mistake(
        "ffn.linear_backward",
        "not-summed",
        "dW and db are not summed over the batch",
        "Every row used the same weights, and what they contribute adds up: dW has the shape of W.",
        "What is the shape of W, and what is the shape of your dW?",
        body="""
    x, dout = as_float(x), as_float(dout)
    return dout @ W.T, np.swapaxes(x, -1, -2) @ dout, dout.sum(axis=-2)
""",
    ),
    Mistake(
        "ffn.linear_backward",
        "db-not-summed",
        "db is dout, not summed over the rows",
        "Every row used the same bias: its gradient has the shape (D_out,). Otherwise b - lr * db broadcasts.",
        "What is the shape of b, and what is the shape of your db?",
        edits=(("return dx, dW, db", "return dx, dW, as_float(dout)"),),
        common=True,
    ),
    Mistake(
        "ffn.linear_backward",
        "db-one-axis",
        "db is summed over the first axis only",
        "A matrix comes out right. With a batch of texts, (B, T, D_out), there are two axes to sum over.",
        "How many axes stand before the last one, and over how many do you sum?",
        edits=(("return dx, dW, db", "return dx, dW, as_float(dout).sum(axis=0)"),),
    ),
    Mistake(
        "ffn.linear_backward",
        "db-keepdims",
        "db has an axis of length 1 too many",
        "A gradient has the shape of what it is the gradient of: (D_out,).",
        "What is the shape of b, and what is the shape of your db?",
        edits=(("return dx, dW, db", "return dx, dW, db[None]"),),
    ),
    Mistake(
        "ffn.linear_backward",
        "db-mean",
        "db is the mean over the rows instead of the sum",
        "If the loss is a mean, the division is already in dout.",
        "Where in the forward pass would a division by the number of rows stand?",
        edits=(("return dx, dW, db", "return dx, dW, db / len(dout_rows)"),),
        common=True,
    ),
    Mistake(
        "ffn.linear_backward",
        "means-over-rows",
        "dW and db were divided by the number of rows",
        "If the loss is a mean, the division is already in dout.",
        "Where in the forward pass would a division by the number of rows stand?",
        edits=(("return dx, dW, db", "return dx, dW / len(dout_rows), db / len(dout_rows)"),),
    ),
    Mistake(
        "ffn.linear_backward",
        "dx-flat",
        "dx has lost the leading axes of x",
        "(B, T, D) was made a matrix for the product, and was not unfolded again.",
        "What is the shape of x, and what is the shape of your dx?",
        edits=((".reshape(x.shape)", ""),),
    ),
    Mistake(
        "ffn.linear_backward",
        "matrices-only",
        "x.T turns all axes around, which is right for a matrix only",
        "With a batch of texts, (B, T, D), the axes come out as (D, T, B).",
        "What is the shape of x.T if x has three axes? And how many axes should there be in the product?",
        body="""
    x, dout = as_float(x), as_float(dout)
    return dout @ W.T, x.T @ dout, dout.sum(axis=0)
""",
    ),
    Mistake(
        "ffn.linear_backward",
        "wrong-order",
        "the gradients are returned in the wrong order: dW, db, dx",
        "Whoever unpacks them uses one for the other.",
        "In which order does the docstring list them?",
        edits=(("return dx, dW, db", "return dW, db, dx"),),
    ),
    Mistake(
        "ffn.dropout_backward",
        "mask-ignored",
        "the mask is not used: dx is dout",
        "A value that was dropped had no influence, so its gradient is 0.",
        "What can a change of a dropped value do to the output?",
        edits=((" * mask", " * 1.0"),),
    ),
    Mistake(
        "ffn.dropout_backward",
        "scale-lost",
        "only 0 and 1 of the mask are used, not the scale that is in it",
        "The kept values were divided by 1 - p, and so are their gradients.",
        "out = x * mask. What is the derivative with respect to x?",
        edits=(("* mask", "* (mask != 0)"),),
        common=True,
    ),
    Mistake(
        "ffn.dropout_backward",
        "scaled-twice",
        "the scale was applied twice",
        "The mask already contains 1 / (1 - p).",
        "out = x * mask. What is the derivative with respect to x?",
        edits=(("* mask", "* mask * mask"),),
    ),
    Mistake(
        "ffn.dropout_backward",
        "divided-by-mask",
        "dout was divided by the mask",
        "Going back does not mean undoing: the slope of x * mask is the mask.",
        "out = x * mask. What is the derivative with respect to x?",
        edits=(("* mask", "/ mask"),),
    ),
    Mistake(
        "ffn.dropout_backward",
        "writes-into-dout",
        "dout *= mask changes the caller's array",
        "The same dout may still be needed along another path.",
        "Which of your lines write into an array that you did not make?",
        body="""
    dout *= mask
    return dout
""",
    ),
    Mistake(
        "ffn.ffn_backward",
        "activation-skipped",
        "the gradient does not go through the activation",
        "What comes out of W_2 is the gradient of the activated values; W_1 needs that of the values before.",
        "Which steps did the forward pass take, and how many of them has your way back?",
        edits=((_SLOPE, "dactivated"),),
        common=True,
    ),
    Mistake(
        "ffn.ffn_backward",
        "slope-after-activation",
        "the slope of the activation was taken at its output instead of its input",
        "ReLU hides it, because its output is positive where its input is. GELU does not.",
        "Which of the two arrays went *into* the activation?",
        edits=((_SLOPE.partition(" if ")[0], 'gelu_backward(dactivated, cache["activated"])'),),
        common=True,
    ),
    Mistake(
        "ffn.ffn_backward",
        "gelu-always",
        "the gradient is always that of GELU",
        "With the default nothing shows; ReLU has another slope.",
        "How does the backward pass know which activation it was?",
        edits=((_SLOPE, "gelu_backward(dactivated, hidden)"),),
    ),
    Mistake(
        "ffn.ffn_backward",
        "relu-always",
        "the gradient is always that of ReLU",
        "The default activation is GELU, which has another slope.",
        "How does the backward pass know which activation it was?",
        edits=((_SLOPE, "relu_backward(dactivated, hidden)"),),
    ),
    Mistake(
        "ffn.ffn_backward",
        "W_2-before-activation",
        "the gradient of W_2 was made with the values before the activation",
        "W_2 was multiplied with the activated values.",
        "What exactly is the input of the second layer?",
        edits=(('linear_backward(dout, cache["activated"]', "linear_backward(dout, hidden"),),
        common=True,
    ),
    Mistake(
        "ffn.ffn_backward",
        "bias-gradients-swapped",
        "the gradients of b_1 and b_2 are exchanged",
        "They have the shapes (F,) and (D,).",
        "What is the shape of b_1, and what is the shape of its gradient?",
        edits=(
            ('grads["W_2"], grads["b_2"]', 'grads["W_2"], grads["b_1"]'),
            ('grads["W_1"], grads["b_1"]', 'grads["W_1"], grads["b_2"]'),
        ),
    ),
    Mistake(
        "ffn.ffn_backward",
        "gradients-of-absent-biases",
        "there are gradients of biases that the network does not have",
        "The optimizer goes through gradients and parameters together: both have the same keys.",
        "What are the keys of params if there is no bias?",
        edits=((_GRADIENTS, "grads"),),
    ),
    Mistake(
        "ffn.ffn_backward",
        "no-bias-gradients",
        "the gradients of the biases are not returned",
        "The biases would never learn anything.",
        "Compare the keys of your gradients with those of params.",
        edits=((_GRADIENTS, '{name: grads[name] for name in ("W_1", "W_2")}'),),
    ),
    Mistake(
        "ffn.ffn_backward",
        "keys-with-d",
        "the keys of the gradients begin with a d",
        "The gradient of W_1 is found under the name of its parameter, W_1.",
        "Compare the keys of your gradients with those of params.",
        edits=((_GRADIENTS, '{"d" + name: grads[name] for name in params}'),),
    ),
    Mistake(
        "ffn.ffn_backward",
        "residual-added",
        "dout was added to dx",
        "The residual connection belongs to the block, not to this network.",
        "Is there a path from x to the output that goes round the two layers?",
        edits=(("    return dx,", "    dx = dx + dout\n    return dx,"),),
    ),
    Mistake(
        "ffn.ffn_backward",
        "cache-used-up",
        "the cache is changed: a second call does not find what it needs",
        "dict.pop removes the entry.",
        "Which of your lines change the dictionary?",
        edits=(('cache["hidden"], cache["gate"]', 'cache.pop("hidden"), cache["gate"]'),),
    ),
)
