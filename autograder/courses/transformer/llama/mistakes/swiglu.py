"""Mistakes in the gated feed-forward network and in its gradients."""

from autograder.courses.transformer.common.mistakes.batch_axes import add_batch_axes_mistakes
from autograder.courses.transformer.common.mistakes.weight_gradients import (
    add_dictionary_mistakes,
    add_gradient_mistakes,
)
from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_GATE = 'gate = linear(x, params["W_gate"], None)'
_UP = 'up = linear(x, params["W_up"], None)'
_OPENED = "opened = silu(gate)"
_HIDDEN = "hidden = opened * up"
_OUT = 'out = linear(hidden, params["W_down"], None)'
_RETURN = 'return out, {"x": x,'

mistake = MISTAKES.for_functions("llama.swiglu")
for name, edits, title in (
    (
        "gate-and-up-exchanged",
        ("opened = silu(gate)", "opened = silu(up)", _HIDDEN, "hidden = opened * gate"),
        "SiLU was applied to x W_up, not to x W_gate",
    ),
    ("no-activation", (_OPENED, "opened = gate"), "SiLU is missing: the two products were multiplied as they are"),
    ("sigmoid", (_OPENED, "opened = _sigmoid(gate)"), "the sigmoid was applied to x W_gate, not SiLU"),
    ("gelu", (_OPENED, "opened = __import__('ffn').gelu(gate)"), "GELU was applied to x W_gate, not SiLU"),
    ("relu", (_OPENED, "opened = np.maximum(gate, 0)"), "ReLU was applied to x W_gate, not SiLU"),
    ("silu-of-both", (_HIDDEN, "hidden = opened * silu(up)"), "SiLU was applied to x W_up, too"),
    (
        "silu-of-product",
        (_HIDDEN, "hidden = silu(gate * up)"),
        "the two products were multiplied first, and SiLU came after",
    ),
    ("silu-twice", (_OPENED, "opened = silu(silu(gate))"), "SiLU was applied twice"),
    ("silu-of-hidden", (_HIDDEN, "hidden = silu(opened * up)"), "SiLU was applied again, to the hidden features"),
    ("silu-of-output", (_OUT, _OUT.replace("linear(", "silu(linear(") + ")"), "SiLU was applied to the output"),
    (
        "silu-of-input",
        (_GATE, _GATE.replace("(x,", "(silu(x),")),
        "SiLU was applied to x before the product with W_gate",
    ),
    ("no-gate", (_HIDDEN, "hidden = opened * 1"), "x W_up was not used: only silu(x W_gate) is left"),
    ("gate-alone", (_HIDDEN, "hidden = silu(up)"), "x W_gate was not used: only silu(x W_up) is left"),
    ("up-alone", (_HIDDEN, "hidden = up * 1"), "the gate was not used: only x W_up is left"),
    ("added", (_HIDDEN, "hidden = opened + up"), "the gate was added to x W_up, not multiplied by it"),
    ("gate-twice", (_UP, _UP.replace("W_up", "W_gate")), "W_gate was used in both places"),
    ("up-twice", (_GATE, _GATE.replace("W_gate", "W_up")), "W_up was used in both places"),
    (
        "softmax",
        (_OPENED, "opened = __import__('softmax').softmax(gate)"),
        "the softmax was applied to x W_gate, not SiLU",
    ),
    ("product-squared", (_HIDDEN, "hidden = opened * up * up"), "x W_up was multiplied twice"),
):
    mistake(name, *edits, common=name in ("gate-and-up-exchanged", "no-activation", "sigmoid")).explain(f"""
        {title}
        why: The formula is (silu(x W_gate) · (x W_up)) W_down: SiLU makes the gate, and the gate is multiplied by the
             other product, entry by entry.
        ask: For D = F = 1 and all weights 1, what should come out for x = 2, and what does your code return?""")
mistake("residual-added", _OUT, f"{_OUT} + x").explain("""
    x was added to the output
    why: That is the residual connection. It belongs to the block.
    ask: Does the formula in the docstring contain x outside the products?""")
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
for name in ("W_gate", "W_up"):
    old = {"W_gate": _GATE, "W_up": _UP}[name]
    square = f'params["{name}"].T if len({{*params["{name}"].shape}}) == 1 else params["{name}"]'
    mistake(f"{name}-transposed", old, old.replace(f'params["{name}"]', square)).explain(f"""
        {name} was transposed
        why: The weights are stored as (in, out). If D and F are equal, there is no error message.
        ask: What is the shape of {name}? Which of its axes is summed over?""")
mistake("factor", _OUT, f"{_OUT} * CONSTANT", constant=0.5).explain("""
    the output is {constant} times what it should be
    why: The formula has no other factors.
    ask: Which numbers does your code multiply by that are not in the formula?""")
mistake("cache-not-returned", _RETURN, f"return out\n    {_RETURN}").explain("""
    only the output was returned, without the cache
    why: The backward pass needs what the forward pass computed.
    ask: How many results does the docstring list?""")
mistake("cache-first", _RETURN, 'return {}, out\n    return out, {"x": x,').explain("""
    cache and out were returned in the wrong order
    why: The caller uses the first result as the output.
    ask: In which order does the docstring list the results?""")
mistake("float64", _RETURN, 'return out.astype(np.float64), {"x": x,').explain("""
    the output is float64 for every input
    why: np.zeros and np.empty give float64 unless a dtype is given. float32 should stay float32.
    ask: What is the dtype of each intermediate result if the inputs are float32?""")
mistake("writes-into-x", _GATE, f"{_GATE}\n    x *= 1.5").explain("""
    x was changed in place
    why: In a block, x is also the residual stream, and goes on beside the network.
    ask: Which of your lines write into an array that you did not create?""")
mistake("writes-into-params", _GATE, f'{_GATE}\n    params["gate"] = gate').explain("""
    an entry was added to params
    why: That changes the caller's dict, and the model gets a parameter that it did not have.
    ask: Which dictionary is for what the backward pass needs?""")
add_batch_axes_mistakes(mistake, _GATE)

mistake = MISTAKES.for_functions("llama.swiglu_backward")
_DGATE = 'dgate = silu_backward(dhidden * cache["up"], cache["gate"])'
_DUP = 'dup = dhidden * cache["opened"]'
_END = "return dx_gate + dx_up, grads"
for name, edits, title in (
    ("silu-skipped", (_DGATE, 'dgate = dhidden * cache["up"]'), "the slope of SiLU is missing on the way to W_gate"),
    (
        "slope-at-output",
        ('cache["gate"])', 'cache["opened"])'),
        "the slope of SiLU was taken at its output silu(x W_gate), not at x W_gate",
    ),
    ("slope-at-up", ('cache["gate"])', 'cache["up"])'), "the slope of SiLU was taken at x W_up, not at x W_gate"),
    ("gate-without-up", ('dhidden * cache["up"]', "dhidden"), "on the way to W_gate, the factor x W_up is missing"),
    (
        "gate-with-opened",
        ('dhidden * cache["up"]', 'dhidden * cache["opened"]'),
        "on the way to W_gate, dout was multiplied by the gate itself, not by x W_up",
    ),
    ("up-without-gate", (_DUP, "dup = dhidden"), "on the way to W_up, the factor silu(x W_gate) is missing"),
    ("up-with-up", (_DUP, 'dup = dhidden * cache["up"]'), "on the way to W_up, dout was multiplied by x W_up itself"),
    (
        "up-with-product",
        (_DUP, 'dup = dhidden * cache["gate"]'),
        "on the way to W_up, dout was multiplied by x W_gate, without SiLU",
    ),
    (
        "up-with-sigmoid",
        (_DUP, 'dup = dhidden * _sigmoid(cache["gate"])'),
        "on the way to W_up, dout was multiplied by the sigmoid of x W_gate, not by SiLU",
    ),
    (
        "silu-on-both",
        (_DUP, 'dup = silu_backward(dhidden * cache["opened"], cache["up"])'),
        "the slope of SiLU was used on the way to W_up, too",
    ),
    (
        "ways-exchanged",
        (
            _DGATE,
            'dgate = dhidden * cache["opened"]',
            _DUP,
            'dup = silu_backward(dhidden * cache["up"], cache["gate"])',
        ),
        "the gradients of x W_gate and x W_up were swapped",
    ),
    (
        "arguments-of-silu-backward",
        (_DGATE, 'dgate = silu_backward(cache["gate"], dhidden * cache["up"])'),
        "the arguments of silu_backward were swapped",
    ),
    (
        "sigmoid-slope",
        (_DGATE, 'dgate = dhidden * cache["up"] * _sigmoid(cache["gate"])'),
        "the slope of SiLU was taken to be the sigmoid alone",
    ),
    (
        "dout-missing-for-gate",
        ('dhidden * cache["up"]', 'cache["up"]'),
        "on the way to W_gate, the upstream gradient is missing",
    ),
    ("dout-missing-for-up", (_DUP, 'dup = cache["opened"]'), "on the way to W_up, the upstream gradient is missing"),
):
    mistake(name, *edits, common=name in ("silu-skipped", "gate-without-up", "up-without-gate")).explain(f"""
        {title}
        why: For h = silu(g) · u, the product rule gives du = dh silu(g) and d silu(g) = dh u; then comes the slope of
             SiLU at g.
        ask: Which factor does each of silu(g) and u have in h? Where does dh enter your two lines?""")
for name, code, title in (
    ("gate-only", "return dx_gate, grads", "dx has only the gradient that came through W_gate"),
    ("up-only", "return dx_up, grads", "dx has only the gradient that came through W_up"),
    ("ways-multiplied", "return dx_gate * dx_up, grads", "the two gradients of x were multiplied, not added"),
    ("ways-averaged", "return (dx_gate + dx_up) / 2, grads", "the two gradients of x were averaged, not added"),
    ("ways-subtracted", "return dx_gate - dx_up, grads", "the two gradients of x were subtracted"),
    ("upstream-added", "return dx_gate + dx_up + dout, grads", "dout was added to dx"),
    ("sign", "return -dx_gate - dx_up, grads", "dx has the wrong sign"),
):
    mistake(f"dx-{name}", _END, code, common=name in ("gate-only", "up-only")).explain(f"""
        {title}
        why: x was used twice, for the gate and for the other product, and the two gradients are added.
        ask: How often was x used in the forward pass?""")
mistake(
    "W_down-from-opened", 'linear_backward(dout, cache["hidden"]', 'linear_backward(dout, cache["opened"]'
).explain("""
    the gradient of W_down was computed from the gate, not from the hidden features
    why: W_down is multiplied by the product of gate and x W_up.
    ask: What was the input of the last linear layer?""")
mistake("W_down-from-up", 'linear_backward(dout, cache["hidden"]', 'linear_backward(dout, cache["up"]').explain("""
    the gradient of W_down was computed from x W_up, without the gate
    why: W_down is multiplied by the product of gate and x W_up.
    ask: What was the input of the last linear layer?""")
mistake(
    "gradients-exchanged", _END, 'grads["W_gate"], grads["W_up"] = grads["W_up"], grads["W_gate"]\n    ' + _END
).explain("""
    the gradients of W_gate and W_up were swapped
    why: Both have the shape (D, F), so there is no error message.
    ask: Which of your lines computes the gradient of W_gate?""")
for parameter in ("W_gate", "W_up", "W_down"):
    left = {"W_gate": "x", "W_up": "x", "W_down": 'cache["hidden"]'}[parameter]
    right = {"W_gate": "dgate", "W_up": "dup", "W_down": "dout"}[parameter]
    per_text = f"({left}[..., None] * {right}[..., None, :])"
    add_gradient_mistakes(
        mistake,
        _END,
        parameter,
        of_first_text=f"{per_text}[0].sum(axis=tuple(range(x.ndim - 2)))",
        not_summed=f"{per_text}.sum(axis=-3) if x.ndim > 1 else {per_text}",
    )
add_dictionary_mistakes(mistake, _END)
mistake("grads-first", _END, "return grads, dx_gate + dx_up").explain("""
    dx and grads were returned in the wrong order
    why: The caller unpacks them by position.
    ask: In which order does the docstring list the results?""")
mistake("dx-float64", _END, "return (dx_gate + dx_up).astype(np.float64), grads").explain("""
    dx is float64 even when the inputs are float32
    why: np.zeros gives float64 unless a dtype is given.
    ask: What is the dtype of the array in which you collect dx?""")
mistake(
    "gradients-in-params",
    'grads = cache["x"], cache["params"], {}',
    'grads = cache["x"], cache["params"], cache["params"]',
).explain("""
    the gradients were written into params, the dict in the cache
    why: The parameters are lost: the cache is changed, and cannot be used again.
    ask: Is `grads` a new dict, or another name for one that exists already?""")
mistake("cache-used-up", _END, 'cache["up"] *= 0\n    ' + _END).explain("""
    an array of the cache was changed in place
    why: `*=` on an array of the cache writes into it. A second call with the same cache gives another result.
    ask: Which of your lines write into an array that the forward pass made?""")
mistake("dout-in-place", _END, f"dout += 1e-12 * dout\n    {_END}").explain("""
    dout was changed in place
    why: `dout += …` writes into the caller's array, which goes on along the residual stream.
    ask: Which of your lines create a new array, and which write into an argument?""")
add_batch_axes_mistakes(mistake, _END, "dout")
