"""Mistakes in the gradient of attention with shared keys and values."""

from autograder.courses.transformer.common.mistakes.batch_axes import add_batch_axes_mistakes
from autograder.courses.transformer.common.mistakes.weight_gradients import (
    add_gradient_mistakes,
    add_key_mistake,
)
from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_SUMMED = "dk, dv = _over_groups(dk, n_kv_heads), _over_groups(dv, n_kv_heads)"
_ROTATED = "dq, dk = rope_backward(dq, *rotation), rope_backward(dk, *rotation)"
_ATTENTION = 'dq, dk, dv = attention_backward(split_heads(dmerged, n_heads), q, k, v, cache["weights"])'
_GROUPS = "dheads.reshape(*batch, n_kv_heads, n_heads // n_kv_heads, length, size).sum(axis=-3)"
_END = "return dx_q + dx_k + dx_v, grads"

mistake = MISTAKES.for_functions("llama_layers.grouped_query_attention_backward")

# The gradients of the shared heads.
for name, code, title in (
    (
        "first-of-group",
        _GROUPS.replace(".sum(axis=-3)", "[..., 0, :, :]"),
        "only the gradient of the first head of each group was used",
    ),
    ("averaged", _GROUPS.replace(".sum(", ".mean("), "the gradients of the heads of a group were averaged, not added"),
    (
        "tiled",
        "dheads.reshape(*batch, n_heads // n_kv_heads, n_kv_heads, length, size).sum(axis=-4)",
        "heads 0, G, 2G, … were added, not the neighboring ones",
    ),
):
    mistake(f"shared-{name}", _GROUPS, code, inside="_over_groups", common=name in ("averaged", "tiled")).explain(f"""
        {title}
        why: H / G neighboring heads used the same keys and values. What is repeated in the forward pass is summed in
             the backward pass.
        ask: Which heads of the queries used head 0 of the keys, and how do their gradients get to it?""")
mistake("not-summed", _SUMMED, "pass").explain("""
    the gradients of the shared keys and values were not added
    why: There are H gradients and G heads of keys: the shapes do not fit W_k and W_v. What is repeated in the forward
         pass is summed in the backward pass.
    ask: What is the shape of dk after attention_backward, and what is the shape of k before it was repeated?""")

# The rotation.
for name, new, title in (
    ("rotation-forgotten", "pass", "the gradients of queries and keys were not turned back"),
    (
        "rotated-forward",
        "dq, dk = rope(dq, *rotation), rope(dk, *rotation)",
        "the gradients were turned forward, as in the forward pass, not back",
    ),
    (
        "values-rotated",
        f"{_ROTATED}\n    dv = rope_backward(dv, *rotation)",
        "the gradient of the values was turned, too",
    ),
    (
        "positions-ignored",
        "dq, dk = (rope_backward(g, np.arange(x.shape[-2]), cache['base']) for g in (dq, dk))",
        "the gradients were turned by 0, 1, 2, …, not by the positions of the forward pass",
    ),
):
    common = name in ("rotation-forgotten", "rotated-forward", "values-rotated")
    mistake(name, _ROTATED, new, common=common).explain(f"""
        {title}
        why: Queries and keys were rotated in each head, so their gradients go back through rope_backward, with the same
             positions and base, once. The values were not rotated.
        ask: Which steps lie between x W_q and the scores, and which of them does your backward pass take back?""")
mistake("unrotated-keys-in-cache", _ATTENTION, "k = rope_backward(k, *rotation)\n    " + _ATTENTION).explain("""
    attention_backward got the keys from before the rotation
    why: The scores were computed with the rotated keys, so they are the factors in the gradient.
    ask: Which k is in your cache: the one before or the one after rope?""")

# Through attention.
mistake("output-for-upstream", "split_heads(dmerged, n_heads)", 'split_heads(cache["merged"], n_heads)').explain("""
    attention_backward got the output of the heads, not its gradient
    why: A backward pass passes gradients on. These gradients do not depend on dout.
    ask: What is the first argument of attention_backward?""")

# The results.
mistake("dx-queries-only", _END, _END.replace("dx_q + dx_k + dx_v", "dx_q"), common=True).explain("""
    dx has only the gradient that came through the queries
    why: x was used three times, for q, k and v, and the three gradients are added.
    ask: How often was x used in the forward pass?""")
mistake("dx-float64", _END, "return (dx_q + dx_k + dx_v).astype(np.float64), grads").explain("""
    dx is float64 even when the inputs are float32
    why: np.zeros gives float64 unless a dtype is given.
    ask: What is the dtype of the array in which you collect dx?""")
for parameter, gradient in (("W_k", "dk"), ("W_v", "dv")):
    add_gradient_mistakes(mistake, _END, parameter, f"x.swapaxes(-1, -2) @ merge_heads({gradient})")
add_key_mistake(mistake, _END)
mistake("cache-used-up", _END, f'cache["q"] *= 0\n    {_END}').explain("""
    an array of the cache was changed in place
    why: `*=` on an array of the cache writes into it. A second call with the same cache gives another result.
    ask: Which of your lines write into an array that the forward pass made?""")
add_batch_axes_mistakes(mistake, _END, "dout")
