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
    ask: Which of the two arrays was the input of the activation?""")
mistake(
    "b_1-before-slope",
    _FIRST,
    f'{_FIRST}\n    grads["b_1"] = dactivated.reshape(-1, dactivated.shape[-1]).sum(axis=0)',
).explain("""
    the gradient of b_1 was summed without the slope of the activation
    why: b_1 is added before the activation, so its gradient goes through the activation, like that of W_1.
    ask: In the forward pass, does b_1 come before or after the activation?""")
mistake("W_2-before-activation", 'dout, cache["activated"]', "dout, hidden", common=True).explain("""
    the gradient of W_2 was computed with the values before the activation
    why: W_2 was multiplied by the activated values.
    ask: What exactly is the input of the second layer?""")

# What may be missing in the dictionary, or be there too much.
mistake(
    "gradient-of-b_2-only-with-b_1",
    _GRADIENTS,
    '{name: grads[name] for name in params if name != "b_2" or "b_1" in params}',
).explain("""
    the gradient of b_2 was returned only if b_1 exists, too
    why: Each bias may be absent, independently of the other.
    ask: Which keys does your dict have if `params` has b_2, but not b_1?""")
mistake("keys-with-d", _GRADIENTS, '{f"d{name}": grads[name] for name in params}').explain("""
    the gradients were returned under keys like dW_1
    why: Gradients have the same keys as the parameters, so that the optimizer can go through both together.
    ask: An optimizer reads grads["W_1"] for the parameter W_1. What does it find in your dictionary?""")
mistake("results-exchanged", f"return dx, {_GRADIENTS}", f"return {_GRADIENTS}, dx").explain("""
    the dictionary was returned before dx
    why: The caller expects two results: dx, and a dict with the keys of `params`.
    ask: What is the type of your first result: an array of the shape of x, or a dictionary?""")
mistake("dx-flat", _RETURN, "    return dx.reshape(-1, dx.shape[-1]),").explain("""
    dx has lost the leading axes of x
    why: (B, T, D) was reshaped to a matrix, and was not reshaped back.
    ask: What is the shape of x, and what is the shape of your dx?""")

# Each gradient alone.
mistake("W_1-transposed", _RETURN, '    grads["W_1"] = grads["W_1"].T\n    return dx,').explain("""
    the gradient of W_1 was transposed
    why: A gradient has the shape of its parameter.
    ask: What is the shape of W_1, and what is the shape of its gradient?""")
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
