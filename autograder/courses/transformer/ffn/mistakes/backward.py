"""Mistakes in the backward pass of the feed-forward network."""

from autograder.courses.transformer.common.mistakes.row_sums import wrong_row_sums
from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_SLOPE = '_gelu_backward(dactivated, hidden, gate) if cache["activation"] == "gelu" else dactivated * gate'
_GRADIENTS = "{name: grads[name] for name in params}"
_RETURN = "    return dx,"
_FIRST, _SECOND = (
    'linear_backward(dhidden, cache["x"], params["W_1"])',
    'linear_backward(dout, cache["activated"], params["W_2"])',
)
_ALL = ("W_1", "b_1", "W_2", "b_2")

mistake = MISTAKES.for_functions("ffn.ffn_backward")
mistake("activation-skipped", _SLOPE, "dactivated", common=True).explain("""
    the gradient did not go through the activation
    why: The first linear_backward returns the gradient of the activated values. W_1 needs the gradient of the values
         before the activation.
    ask: Which steps did the forward pass take? Is each of them in your backward pass?""")
for name, edits in (
    ("b_1", (_RETURN, '    grads["b_1"] = dactivated.reshape(-1, dactivated.shape[-1]).sum(axis=0)\n    return dx,')),
    (
        "W_1",
        (_RETURN, '    _, grads["W_1"], _ = linear_backward(dactivated, cache["x"], params["W_1"])\n    return dx,'),
    ),
    ("x", (_RETURN, '    dx = linear_backward(dactivated, cache["x"], params["W_1"])[0]\n    return dx,')),
):
    mistake(f"activation-skipped-for-{name}", *edits).explain(f"""
        the gradient of {name} did not go through the activation
        why: W_1, b_1 and x come before the activation, so their gradients are made from that of the hidden values
             before it.
        ask: Which of your gradients use the value before the slope of the activation, and which the one after it?""")
mistake(
    "slope-after-activation", _SLOPE.partition(" if ")[0], 'gelu_backward(dactivated, cache["activated"])', common=True
).explain("""
    the slope of the activation was taken at its output instead of its input
    why: ReLU hides it, because its output is positive exactly where its input is. GELU does not.
    ask: Which of the two arrays was the input of the activation?""")
for name, slope, title in (
    ("gelu-always", "gelu_backward(dactivated, hidden)", "the gradient of GELU was always used"),
    ("relu-always", "relu_backward(dactivated, hidden)", "the gradient of ReLU was always used"),
    (
        "activations-exchanged",
        'relu_backward(dactivated, hidden) if cache["activation"] == "gelu" else gelu_backward(dactivated, hidden)',
        "the gradients of GELU and ReLU were swapped",
    ),
    (
        "relu-at-zero",
        'gelu_backward(dactivated, hidden) if cache["activation"] == "gelu" else dactivated * (hidden >= 0)',
        "the gradient of ReLU was passed on at exactly 0",
    ),
    (
        "relu-from-dout",
        'gelu_backward(dactivated, hidden) if cache["activation"] == "gelu" else relu_backward(dactivated, dactivated)',
        "for ReLU, the sign of the gradient was used instead of the sign of the hidden values",
    ),
    (
        "gelu-forward",
        'dactivated * gelu(hidden) if cache["activation"] == "gelu" else dactivated * relu(hidden)',
        "the gradient was multiplied by the activated values, not by the slope",
    ),
    (
        "slope-without-dout",
        'gelu_backward(np.ones_like(hidden), hidden) if cache["activation"] == "gelu" else 1.0 * gate',
        "the slope of the activation was not multiplied by the upstream gradient",
    ),
):
    mistake(name, _SLOPE, slope).explain(f"""
        {title}
        why: The activation of the forward pass decides: its slope is taken at the hidden values before it,
             and multiplied by the gradient of the activated values.
        ask: How does your backward pass find out which activation was used, and where is its slope taken?""")
for name, condition, text in (
    ("relu", 'cache["activation"] == "relu"', " with ReLU"),
    ("gelu", 'cache["activation"] == "gelu"', " with GELU"),
):
    code = f"{_SLOPE}\n    dhidden = dhidden.astype(float) if {condition} else dhidden"
    mistake(f"float64-slope-of-{name}", _SLOPE, code).explain(f"""
        the gradient became float64 at the activation{text}
        why: A mask or slope made by np.where of Python numbers, np.zeros or .astype(float) is float64, and so is all
             that is multiplied by it.
        ask: Which dtype does the slope of the activation have if the hidden values are float32?""")
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
mistake(
    "weight-gradients-swapped",
    '["W_2"], grads["b_2"]',
    '["W_1"], grads["b_2"]',
    '["W_1"], grads["b_1"]',
    '["W_2"], grads["b_1"]',
).explain("""
    the gradients of W_1 and W_2 were swapped
    why: They have the shapes (D, F) and (F, D).
    ask: What is the shape of W_1, and what is the shape of its gradient?""")

# What may be missing in the dictionary, or be there too much.
mistake("gradients-of-absent-biases", _GRADIENTS, "grads").explain("""
    gradients were returned for biases that do not exist
    why: The optimizer goes through gradients and parameters together, so their keys must be the same.
    ask: Which keys does `params` have when there are no biases?""")
mistake(
    "none-for-absent-biases", _GRADIENTS, "{name: grads[name] if name in params else None for name in grads}"
).explain("""
    absent biases have the gradient None
    why: The optimizer goes through gradients and parameters together, so their keys must be the same.
    ask: Which keys does `params` have when there are no biases?""")
mistake("no-bias-gradients", _GRADIENTS, '{name: grads[name] for name in ("W_1", "W_2")}').explain("""
    the gradients of the biases were not returned
    why: A bias without a gradient is never trained.
    ask: Which keys does `params` have, and which keys does your dict have?""")
for name in _ALL:
    mistake(
        f"no-gradient-of-{name}", _GRADIENTS, f'{{name: grads[name] for name in params if name != "{name}"}}'
    ).explain(f"""
        the gradient of {name} was not returned
        why: A parameter without a gradient is never trained.
        ask: Which keys does `params` have, and which keys does your dict have?""")
for bias, other in (("b_1", "b_2"), ("b_2", "b_1")):
    mistake(
        f"gradient-of-{bias}-only-with-{other}",
        _GRADIENTS,
        f'{{name: grads[name] for name in params if name != "{bias}" or "{other}" in params}}',
    ).explain(f"""
        the gradient of {bias} was returned only if {other} exists, too
        why: Each bias may be absent, independently of the other.
        ask: Which keys does your dict have if `params` has {bias}, but not {other}?""")
    mistake(
        f"gradient-of-{bias}-always",
        _GRADIENTS,
        f'{{name: grads[name] for name in grads if name in params or name == "{bias}"}}',
    ).explain(f"""
        the gradient of {bias} was returned even if there is no {bias}
        why: The optimizer goes through gradients and parameters together, so their keys must be the same.
        ask: Which keys does `params` have when there are no biases?""")
    mistake(
        f"gradient-of-{bias}-if-{other}",
        _GRADIENTS,
        f'{{name: grads[name] for name in grads if ("{other}" if name == "{bias}" else name) in params}}',
    ).explain(f"""
        the gradient of {bias} was returned if {other} exists, whether or not {bias} does
        why: Each bias may be absent, independently of the other.
        ask: Which key does your code look up before it adds the gradient of {bias}?""")
mistake(
    "bias-gradients-together",
    _GRADIENTS,
    '{name: grads[name] for name in params if name[0] == "W" or {"b_1", "b_2"} <= params.keys()}',
).explain("""
    the gradients of the biases were returned only if both exist
    why: Each bias may be absent, independently of the other.
    ask: Which keys does your dict have if `params` has one bias only?""")
for name, code, form in (
    ("keys-with-d", '"d" + name', "dW_1"),
    ("keys-with-d_", '"d_" + name', "d_W_1"),
    ("keys-without-underscore", 'name.replace("_", "")', "W1"),
    ("keys-with-d-without-underscore", '"d" + name.replace("_", "")', "dW1"),
):
    mistake(name, _GRADIENTS, f"{{{code}: grads[name] for name in params}}").explain(f"""
        the gradients were returned under keys like {form}
        why: Gradients have the same keys as the parameters, so that the optimizer can go through both together.
        ask: Which keys does the docstring ask for?""")
for name, results, title in (
    ("results-exchanged", f"{_GRADIENTS}, dx", "the dictionary was returned before dx"),
    ("dx-not-returned", _GRADIENTS, "only the gradients of the parameters were returned, without dx"),
    ("x-in-grads", f'dx, {_GRADIENTS[:-1]} }} | {{"x": dx}}', "the dictionary contains the gradient of x, too"),
):
    mistake(name, f"return dx, {_GRADIENTS}", f"return {results}").explain(f"""
        {title}
        why: The caller expects two results: dx, and a dict with the keys of `params`.
        ask: Which results does the docstring list, and in which order?""")
mistake("residual-added", _RETURN, "    dx = dx + dout\n    return dx,").explain("""
    dout was added to dx
    why: The residual connection belongs to the block, not to this network.
    ask: Is there a path from x to the output that bypasses the two layers?""")
mistake("dx-flat", _RETURN, "    return dx.reshape(-1, dx.shape[-1]),").explain("""
    dx has lost the leading axes of x
    why: (B, T, D) was reshaped to a matrix, and was not reshaped back.
    ask: What is the shape of x, and what is the shape of your dx?""")

# Each gradient alone.
for name in ("dx", *_ALL):
    target = name if name == "dx" else f'grads["{name}"]'
    title = name if name == "dx" else f"the gradient of {name}"
    mistake(f"{name}-sign", _RETURN, f"    {target} = -{target}\n    return dx,").explain(f"""
        {title} has the wrong sign
        why: A step along it would then increase the loss.
        ask: How does the sign of one entry compare with a difference quotient?""")
    mistake(f"{name}-zero", _RETURN, f"    {target} = {target} * 0\n    return dx,").explain(f"""
        {title} is 0 everywhere
        why: np.zeros_like is only a start: the gradient has to be written into it, or added.
        ask: Which of your lines computes it, and where does its result go?""")
    mistake(f"{name}-float64", _RETURN, f"    {target} = {target}.astype(np.float64)\n    return dx,").explain(f"""
        {title} is float64 for every input
        why: float32 should stay float32: np.zeros and np.ones give float64.
        ask: Which dtype does the array have where it is created?""")
    if name[0] == "W":
        mistake(
            f"{name}-mean", _RETURN, f"    {target} = {target} / (dout.size // dout.shape[-1])\n    return dx,"
        ).explain(f"""
            {title} was divided by the number of rows
            why: All rows used the same parameters, so their contributions are added. If the loss is a mean, the
                 division is already in dout.
            ask: Does the forward pass divide by the number of rows anywhere?""")
        mistake(
            f"{name}-divided-by-batch", _RETURN, f"    {target} = {target} / len(dout)\n    return dx,"
        ).explain(f"""
            {title} was divided by the length of the first axis
            why: All rows used the same parameters, so their contributions are added. If the loss is a mean, the
                 division is already in dout.
            ask: Does the forward pass divide by the size of the batch anywhere?""")
for name in ("W_1", "W_2"):
    mistake(f"{name}-transposed", _RETURN, f'    grads["{name}"] = grads["{name}"].T\n    return dx,').explain(f"""
        the gradient of {name} was transposed
        why: A gradient has the shape of its parameter.
        ask: What is the shape of {name}, and what is the shape of its gradient?""")
    mistake(
        f"{name}-reshaped",
        _RETURN,
        f'    grads["{name}"] = grads["{name}"].T.reshape(params["{name}"].shape)\n    return dx,',
    ).explain(f"""
        the gradient of {name} has its entries in another order: it was transposed and reshaped
        why: A reshape of the transpose has the right shape, but not the right order.
        ask: Does xᵀ dout need any change before you return it?""")
for name, code, title in (
    (
        "means",
        "{name: value / (dout.size // dout.shape[-1]) for name, value in grads.items()}",
        "all gradients of parameters were divided by the number of rows",
    ),
    (
        "divided-by-batch",
        "{name: value / len(dout) for name, value in grads.items()}",
        "all gradients of parameters were divided by the length of the first axis",
    ),
    (
        "weights-means",
        "{name: value / (dout.size // dout.shape[-1] if name[0] == 'W' else 1) for name, value in grads.items()}",
        "the gradients of the weights were divided by the number of rows",
    ),
    ("signs", "{name: -value for name, value in grads.items()}", "all gradients of parameters have the wrong sign"),
    ("transposed", "{name: value.T for name, value in grads.items()}", "the gradients of the weights were transposed"),
    (
        "float64",
        "{name: value.astype(float) for name, value in grads.items()}",
        "all gradients of parameters are float64 for every input",
    ),
):
    ask = "Compare one entry of each gradient with a difference quotient. By which factor do they differ?"
    if name in ("transposed", "float64"):
        ask = "What are the shape and the dtype of each parameter, and what are those of its gradient?"
    mistake(f"grads-{name}", _RETURN, f"    grads = {code}\n    return dx,").explain(f"""
        {title}
        why: A gradient has the shape and dtype of its parameter, and is the sum of what all rows contribute.
        ask: {ask}""")
wrong_row_sums(
    mistake,
    {
        "b_1": (
            f'    dx, grads["W_1"], grads["b_1"] = {_FIRST}',
            f'    dx, grads["W_1"], _ = {_FIRST}\n    grads["b_1"] = SUM',
            "dhidden",
        ),
        "b_2": (_SECOND, f'{_SECOND}\n    grads["b_2"] = SUM', "dout"),
    },
    (("b_1", "b_2"), ("b_1",), ("b_2",)),
    named_by_parameter=True,
)

# The cache
mistake("cache-used-up", 'cache["hidden"], cache["gate"]', 'cache.pop("hidden"), cache["gate"]').explain("""
    the cache was changed, so it can be used only once
    why: `cache.pop` removes the entry that it returns. The backward pass may be called again with the same cache.
    ask: What is left in the cache after your function has run?""")
mistake(
    "gradients-accumulated",
    "    grads = {}\n",
    '    total = cache.setdefault("total", {})\n    grads = {}\n',
    _RETURN,
    "    for name in params:\n        grads[name] = total[name] = total.get(name, 0) + grads[name]\n    return dx,",
).explain("""
    gradients were kept in the cache and added up from call to call
    why: A second call with the same cache must return the same result.
    ask: Where do your gradients start, and is that a new dictionary in every call?""")
mistake("writes-into-cache", "    dhidden = ", '    cache["hidden"] = hidden * gate\n    dhidden = ').explain("""
    the cache was changed: a value in it was overwritten
    why: A second call with the same cache must return the same result.
    ask: Which of your lines write into the cache, or into an array that is in it?""")
