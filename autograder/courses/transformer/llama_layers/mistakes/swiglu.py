"""Mistakes in the gated feed-forward network and in its gradients."""

from autograder.courses.transformer.common.mistakes.batch_axes import add_batch_axes_mistakes
from autograder.courses.transformer.common.mistakes.weight_gradients import (
    add_gradient_mistakes,
    add_key_mistake,
)
from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_GATE = 'gate = linear(x, params["W_gate"], None)'
_OPENED = "opened = silu(gate)"
_HIDDEN = "hidden = opened * up"
_OUT = 'out = linear(hidden, params["W_down"], None)'
_RETURN = 'return out, {"x": x,'

mistake = MISTAKES.for_functions("llama_layers.swiglu")
for name, edits, title in (
    (
        "gate-and-up-exchanged",
        ("opened = silu(gate)", "opened = silu(up)", _HIDDEN, "hidden = opened * gate"),
        "SiLU was applied to x W_up, not to x W_gate",
    ),
    ("no-activation", (_OPENED, "opened = gate"), "SiLU is missing: the two products were multiplied as they are"),
    ("sigmoid", (_OPENED, "opened = _sigmoid(gate)"), "the sigmoid was applied to x W_gate, not SiLU"),
    (
        "silu-of-product",
        (_HIDDEN, "hidden = silu(gate * up)"),
        "the two products were multiplied first, and SiLU came after",
    ),
    ("no-gate", (_HIDDEN, "hidden = opened * 1"), "x W_up was not used: only silu(x W_gate) is left"),
    ("up-alone", (_HIDDEN, "hidden = up * 1"), "the gate was not used: only x W_up is left"),
):
    mistake(name, *edits, common=name in ("gate-and-up-exchanged", "no-activation", "sigmoid")).explain(f"""
        {title}
        why: The formula is (silu(x W_gate) · (x W_up)) W_down: SiLU makes the gate, and the gate is multiplied by the
             other product, entry by entry.
        ask: For D = F = 1 and all weights 1, what should come out for x = 2, and what does your code return?""")
mistake("no-down", _OUT, "out = hidden").explain("""
    the product with W_down is missing
    why: The hidden features, (..., F), are brought back to the width D.
    ask: What is the shape of your output, and what should it be?""")
mistake(
    "down-transposed",
    _OUT,
    'out = linear(hidden, params["W_down"].reshape(params["W_up"].T.shape), None)\n'
    '    out = linear(hidden, params["W_down"].T if len({*params["W_up"].shape}) == 1 else params["W_down"], None)',
).explain("""
    W_down was transposed
    why: The weights are stored as (in, out). If D and F are equal, there is no error message.
    ask: What is the shape of W_down? Which of its axes is summed over?""")
square = 'params["W_gate"].T if len({*params["W_gate"].shape}) == 1 else params["W_gate"]'
mistake("W_gate-transposed", _GATE, _GATE.replace('params["W_gate"]', square)).explain("""
    W_gate was transposed
    why: The weights are stored as (in, out). If D and F are equal, there is no error message.
    ask: What is the shape of W_gate? Which of its axes is summed over?""")
mistake("cache-not-returned", _RETURN, f"return out\n    {_RETURN}").explain("""
    only the output was returned, without the cache
    why: The backward pass needs what the forward pass computed.
    ask: What is cache after `out, cache = swiglu(x, params)` in your code, if x has exactly two rows?""")
mistake("cache-first", _RETURN, 'return {}, out\n    return out, {"x": x,').explain("""
    cache and out were returned in the wrong order
    why: The caller uses the first result as the output.
    ask: llama_block adds the first result to the stream. What is the type of yours?""")
mistake("float64", _RETURN, 'return out.astype(np.float64), {"x": x,').explain("""
    the output is float64 for every input
    why: np.zeros and np.empty give float64 unless a dtype is given. float32 should stay float32.
    ask: What is the dtype of each intermediate result if the inputs are float32?""")
add_batch_axes_mistakes(mistake, _GATE)

mistake = MISTAKES.for_functions("llama_layers.swiglu_backward")
_DGATE = 'dgate = silu_backward(dhidden * cache["up"], cache["gate"])'
_DUP = 'dup = dhidden * cache["opened"]'
_END = "return dx_gate + dx_up, grads"
_FACTOR = "Which factor does each of s = silu(z) and u have in their product?"
for name, edits, title, ask in (
    (
        "silu-skipped",
        (_DGATE, 'dgate = dhidden * cache["up"]'),
        "the slope of SiLU is missing on the way to W_gate",
        "Your line gives the gradient of s = silu(z). What is still missing to that of z?",
    ),
    (
        "gate-without-up",
        ('dhidden * cache["up"]', "dhidden"),
        "on the way to W_gate, the factor x W_up is missing",
        _FACTOR,
    ),
    ("up-without-gate", (_DUP, "dup = dhidden"), "on the way to W_up, the factor silu(x W_gate) is missing", _FACTOR),
    (
        "dout-missing-for-gate",
        ('dhidden * cache["up"]', 'cache["up"]'),
        "on the way to W_gate, the upstream gradient is missing",
        "Where does dh enter your two lines?",
    ),
):
    mistake(name, *edits, common=name in ("silu-skipped", "gate-without-up", "up-without-gate")).explain(f"""
        {title}
        why: For hidden = s · u, the product rule gives du = dhidden s and ds = dhidden u. Then comes the slope of SiLU
             at z = x W_gate.
        ask: {ask}""")
for name, code, title in (
    ("gate-only", "return dx_gate, grads", "dx has only the gradient that came through W_gate"),
    ("up-only", "return dx_up, grads", "dx has only the gradient that came through W_up"),
):
    mistake(f"dx-{name}", _END, code, common=name in ("gate-only", "up-only")).explain(f"""
        {title}
        why: x was used twice, for the gate and for the other product, and the two gradients are added.
        ask: How often was x used in the forward pass?""")
for parameter, left, right in (("W_gate", "x", "dgate"), ("W_down", 'cache["hidden"]', "dout")):
    per_text = f"({left}[..., None] * {right}[..., None, :])"
    not_summed = f"{per_text}.sum(axis=-3) if x.ndim > 1 else {per_text}"
    add_gradient_mistakes(mistake, _END, parameter, not_summed)
add_key_mistake(mistake, _END)
mistake("dx-float64", _END, "return (dx_gate + dx_up).astype(np.float64), grads").explain("""
    dx is float64 even when the inputs are float32
    why: np.zeros gives float64 unless a dtype is given.
    ask: What is the dtype of the array in which you collect dx?""")
mistake("gradients-in-params", '["x"], cache["params"], {}', '["x"], cache["params"], cache["params"]').explain("""
    the gradients were written into params, the dict in the cache
    why: The parameters are lost: the cache is changed, and cannot be used again.
    ask: Is `grads` a new dict, or another name for one that exists already?""")
mistake("cache-used-up", _END, 'cache["up"] *= 0\n    ' + _END).explain("""
    an array of the cache was changed in place
    why: `*=` on an array of the cache writes into it. A second call with the same cache gives another result.
    ask: Which of your lines write into an array that the forward pass made?""")
add_batch_axes_mistakes(mistake, _END, "dout")
mistake("up-times-gate", 'cache["opened"]', 'cache["gate"]').explain("""
    the gradient of the linear branch was multiplied by the input of SiLU, not by its result
    why: hidden is silu(z) u, so its derivative with respect to u is silu(z).
    ask: What is the derivative of silu(z) u with respect to u?""")
