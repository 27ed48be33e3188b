"""Mistakes in the gradient of attention with shared keys and values."""

from autograder.courses.transformer.common.mistakes.batch_axes import add_batch_axes_mistakes
from autograder.courses.transformer.common.mistakes.weight_gradients import (
    add_dictionary_mistakes,
    add_gradient_mistakes,
)
from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_SUMMED = "dk, dv = _over_groups(dk, n_kv_heads), _over_groups(dv, n_kv_heads)"
_ROTATED = "dq, dk = rope_backward(dq, *rotation), rope_backward(dk, *rotation)"
_ATTENTION = 'dq, dk, dv = attention_backward(split_heads(dmerged, n_heads), q, k, v, cache["weights"])'
_GROUPS = "dheads.reshape(*batch, n_kv_heads, n_heads // n_kv_heads, length, size).sum(axis=-3)"
_END = "return dx_q + dx_k + dx_v, grads"

mistake = MISTAKES.for_functions("llama.grouped_query_attention_backward")

# The gradients of the shared heads.
for name, code, title in (
    (
        "first-of-group",
        _GROUPS.replace(".sum(axis=-3)", "[..., 0, :, :]"),
        "only the gradient of the first head of each group was used",
    ),
    (
        "last-of-group",
        _GROUPS.replace(".sum(axis=-3)", "[..., -1, :, :]"),
        "only the gradient of the last head of each group was used",
    ),
    ("averaged", _GROUPS.replace(".sum(", ".mean("), "the gradients of the heads of a group were averaged, not added"),
    (
        "tiled",
        "dheads.reshape(*batch, n_heads // n_kv_heads, n_kv_heads, length, size).sum(axis=-4)",
        "heads 0, G, 2G, … were added, not the neighbouring ones",
    ),
    (
        "all-heads-added",
        "np.repeat(dheads.sum(axis=-3, keepdims=True), n_kv_heads, axis=-3)",
        "the gradients of all heads were added, not those of each group",
    ),
    ("groups-reversed", _GROUPS + "[..., ::-1, :, :]", "the groups are in reverse order"),
    ("first-heads", "dheads[..., :n_kv_heads, :, :]", "the gradients of the first G heads were used"),
):
    mistake(f"shared-{name}", _GROUPS, code, inside="_over_groups", common=name in ("averaged", "tiled")).explain(f"""
        {title}
        why: H / G neighbouring heads used the same keys and values. What is repeated in the forward pass is summed in
             the backward pass.
        ask: Which heads of the queries used head 0 of the keys, and how do their gradients get to it?""")
for letter, words in (("k", "keys"), ("v", "values")):
    old = f"_over_groups(d{letter}, n_kv_heads)"
    for name, new, title in (
        (
            "first-of-group",
            f"d{letter}[..., :: n_heads // n_kv_heads, :, :]",
            "the gradient of the {} came from the first head of each group only",
        ),
        (
            "averaged",
            f"_over_groups(d{letter}, n_kv_heads) * (n_kv_heads / n_heads)",
            "the gradients of the {} were averaged over a group, not added",
        ),
        (
            "tiled",
            f"d{letter}.reshape(*d{letter}.shape[:-3], -1, n_kv_heads, *d{letter}.shape[-2:]).sum(axis=-4)",
            "for the gradient of the {}, heads 0, G, 2G, … were added",
        ),
    ):
        mistake(f"{words}-{name}", old, new).explain(f"""
            {title.format(words)}
            why: H / G neighbouring heads used the same {words}. What is repeated in the forward pass is summed in the
                 backward pass.
            ask: Which heads of the queries used head 0 of the {words}?""")
mistake("not-summed", _SUMMED, "pass").explain("""
    the gradients of the shared keys and values were not added
    why: There are H gradients and G heads of keys: the shapes do not fit W_k and W_v. What is repeated in the forward
         pass is summed in the backward pass.
    ask: What is the shape of dk after attention_backward, and what is the shape of k before it was repeated?""")

# The rotation.
for name, new, title in (
    ("rotation-forgotten", "pass", "the gradients of queries and keys were not turned back"),
    (
        "rotation-of-queries-forgotten",
        "dk = rope_backward(dk, *rotation)",
        "the gradient of the queries was not turned back",
    ),
    ("rotation-of-keys-forgotten", "dq = rope_backward(dq, *rotation)", "the gradient of the keys was not turned back"),
    (
        "rotated-forward",
        "dq, dk = rope(dq, *rotation), rope(dk, *rotation)",
        "the gradients were turned forward, as in the forward pass, not back",
    ),
    (
        "queries-rotated-forward",
        "dq, dk = rope(dq, *rotation), rope_backward(dk, *rotation)",
        "the gradient of the queries was turned forward, not back",
    ),
    (
        "keys-rotated-forward",
        "dq, dk = rope_backward(dq, *rotation), rope(dk, *rotation)",
        "the gradient of the keys was turned forward, not back",
    ),
    (
        "values-rotated",
        f"{_ROTATED}\n    dv = rope_backward(dv, *rotation)",
        "the gradient of the values was turned, too",
    ),
    ("rotated-twice", f"{_ROTATED}\n    {_ROTATED}", "the gradients were turned back twice"),
    (
        "positions-ignored",
        "dq, dk = (rope_backward(g, np.arange(x.shape[-2]), cache['base']) for g in (dq, dk))",
        "the gradients were turned by 0, 1, 2, …, not by the positions of the forward pass",
    ),
    (
        "base-ignored",
        "dq, dk = rope_backward(dq, rotation[0]), rope_backward(dk, rotation[0])",
        "the gradients were turned with the base 10,000, not with that of the forward pass",
    ),
    (
        "rotated-merged",
        "dq, dk = (split_heads(rope_backward(merge_heads(g), *rotation), g.shape[-3]) for g in (dq, dk))",
        "the gradients were turned back after the heads had been joined",
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
mistake("unrotated-queries-in-cache", _ATTENTION, "q = rope_backward(q, *rotation)\n    " + _ATTENTION).explain("""
    attention_backward got the queries from before the rotation
    why: The scores were computed with the rotated queries, so they are the factors in the gradient.
    ask: Which q is in your cache: the one before or the one after rope?""")

# Through attention.
for name, edits, title, why, ask in (
    (
        "order-kqv",
        ("dq, dk, dv = att", "dk, dq, dv = att"),
        "the results of attention_backward were taken in the order dk, dq, dv",
        "Its order is dq, dk, dv.",
        "In which order does attention_backward return the three gradients?",
    ),
    (
        "order-qvk",
        ("dq, dk, dv = att", "dq, dv, dk = att"),
        "the results of attention_backward were taken in the order dq, dv, dk",
        "Its order is dq, dk, dv.",
        "In which order does attention_backward return the three gradients?",
    ),
    (
        "queries-and-keys-exchanged",
        ("q, k, v, cache", "k, q, v, cache"),
        "q and k were swapped in the call of attention_backward",
        "Its arguments are dout, q, k, v and weights.",
        "In which order does attention_backward take its arguments?",
    ),
    (
        "keys-and-values-exchanged",
        ("q, k, v, cache", "q, v, k, cache"),
        "k and v were swapped in the call of attention_backward",
        "Its arguments are dout, q, k, v and weights.",
        "In which order does attention_backward take its arguments?",
    ),
    (
        "output-for-upstream",
        ("split_heads(dmerged, n_heads)", 'split_heads(cache["merged"], n_heads)'),
        "attention_backward got the output of the heads, not its gradient",
        "A backward pass passes gradients on. These gradients do not depend on dout.",
        "What is the first argument of attention_backward?",
    ),
    (
        "upstream-not-through-W_o",
        ("split_heads(dmerged, n_heads)", "split_heads(dout, n_heads)"),
        "the gradient did not go through W_o",
        "The heads were multiplied by W_o, so their gradient is dout times W_o transposed.",
        "Which step of the forward pass came last?",
    ),
    (
        "W_o-not-transposed",
        ("split_heads(dmerged, n_heads)", 'split_heads(dout @ params["W_o"], n_heads)'),
        "W_o was not transposed on the way back",
        "The gradient of y = x W is dx = dy Wᵀ. W_o is a square matrix, so there is no error message.",
        "What is the derivative of y = x W with respect to x?",
    ),
    (
        "tiled-copies",
        (
            '_for_all_heads(cache["k"], n_heads), _for_all_heads(cache["v"], n_heads)',
            "(g[..., np.arange(n_heads) % n_kv_heads, :, :] for g in (cache['k'], cache['v']))",
        ),
        "keys and values were repeated in another order than in the forward pass: 0, 1, 0, 1",
        "Each head's gradient needs the keys and values that the head used.",
        "Which keys does query head 1 get in your backward pass?",
    ),
    (
        "not-scaled",
        (_ATTENTION, f"{_ATTENTION}\n    dq, dk = dq * q.shape[-1] ** 0.5, dk * q.shape[-1] ** 0.5"),
        "the gradient of the scores was not divided by √K",
        "The forward pass divides the scores by √K, so their gradient must be divided, too.",
        "Which step of the forward pass has no counterpart in your backward pass?",
    ),
    (
        "scaled-by-width",
        (_ATTENTION, f"{_ATTENTION}\n    dq, dk = dq * n_heads**-0.5, dk * n_heads**-0.5"),
        "the gradient of the scores was divided by √D, not by √K",
        "The factor must be that of the forward pass.",
        "How long are the vectors that are multiplied within one head?",
    ),
):
    mistake(name, *edits).explain(f"""
        {title}
        why: {why}
        ask: {ask}""")

# The results.
for name, code, words in (
    ("queries-only", "dx_q", "only the gradient that came through the queries"),
    ("keys-only", "dx_k", "only the gradient that came through the keys"),
    ("values-only", "dx_v", "only the gradient that came through the values"),
    ("without-queries", "dx_k + dx_v", "no gradient through the queries"),
    ("without-keys", "dx_q + dx_v", "no gradient through the keys"),
    ("without-values", "dx_q + dx_k", "no gradient through the values"),
    ("averaged", "(dx_q + dx_k + dx_v) / 3", "the average of the three gradients, not their sum"),
    ("upstream-added", "dx_q + dx_k + dx_v + dout", "dout in it, as if there were a residual connection"),
):
    mistake(f"dx-{name}", _END, _END.replace("dx_q + dx_k + dx_v", code), common=name == "queries-only").explain(f"""
        dx has {words}
        why: x was used three times, for q, k and v, and the three gradients are added.
        ask: How often was x used in the forward pass?""")
mistake("dx-sign", _END, "return -(dx_q + dx_k + dx_v), grads").explain("""
    dx has the wrong sign
    why: With this gradient, every training step goes in the wrong direction.
    ask: Where does the minus sign in your dx come from?""")
mistake("dx-float64", _END, "return (dx_q + dx_k + dx_v).astype(np.float64), grads").explain("""
    dx is float64 even when the inputs are float32
    why: np.zeros gives float64 unless a dtype is given.
    ask: What is the dtype of the array in which you collect dx?""")
for parameter in ("W_q", "W_k", "W_v", "W_o"):
    left = 'cache["merged"]' if parameter == "W_o" else "x"
    right = {"W_q": "merge_heads(dq)", "W_k": "merge_heads(dk)", "W_v": "merge_heads(dv)", "W_o": "dout"}[parameter]
    product = f"({left}.swapaxes(-1, -2) @ {right})"
    add_gradient_mistakes(
        mistake,
        _END,
        parameter,
        of_first_text=f"{product}[0] if x.ndim > 2 else {product}",
        not_summed=product,
    )
for name, first, second, words in (
    ("W_k-W_v-exchanged", "W_k", "W_v", "W_k and W_v"),
    ("W_q-W_o-exchanged", "W_q", "W_o", "W_q and W_o"),
):
    swap = f'grads["{first}"], grads["{second}"] = grads["{second}"], grads["{first}"]'
    mistake(name, _END, f"{swap}\n    {_END}").explain(f"""
        the gradients of {words} were swapped
        why: Both have the same shape, so there is no error message.
        ask: Which of your lines computes each of the two gradients?""")
for parameter in ("W_q", "W_o"):
    mistake(f"{parameter}-transposed", _END, f'grads["{parameter}"] = grads["{parameter}"].T\n    {_END}').explain(f"""
        the gradient of {parameter} was transposed
        why: A gradient has the shape of its parameter, and an entry for each of its entries.
        ask: dW = xᵀ dy: which of the two is transposed, and which comes first?""")
add_dictionary_mistakes(mistake, _END)
mistake("grads-first", _END, "return grads, dx_q + dx_k + dx_v").explain("""
    dx and grads were returned in the wrong order
    why: The caller unpacks them by position.
    ask: In which order does the docstring list the results?""")
mistake("cache-used-up", _END, f'cache["q"] *= 0\n    {_END}').explain("""
    an array of the cache was changed in place
    why: `*=` on an array of the cache writes into it. A second call with the same cache gives another result.
    ask: Which of your lines write into an array that the forward pass made?""")
mistake("dout-in-place", _END, f"dout += 1e-12 * dout\n    {_END}").explain("""
    dout was changed in place
    why: `dout += …` writes into the caller's array, which goes on along the residual stream.
    ask: Which of your lines create a new array, and which write into an argument?""")
add_batch_axes_mistakes(mistake, _END, "dout")
