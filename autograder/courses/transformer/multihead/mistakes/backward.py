"""Mistakes in the backward pass of `multihead`."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

mistake = MISTAKES.for_functions("multihead.multihead_attention_backward")
mistake("bias-not-summed", "rows.sum(axis=0)", "dout", common=True, inside="_project_backward").explain("""
    the gradients of the biases were not summed over the positions
    why: They have the shape of dout instead of the bias. Broadcasting still lets you subtract them, and the bias
         becomes a matrix.
    ask: What is the shape of b_o, and what is the shape of its gradient?""")
mistake("output-projection-skipped", '(dmerged, cache["n_heads"])', '(dout, cache["n_heads"])', common=True).explain("""
    the gradient did not go back through W_o
    why: dout is the gradient of the output; the heads need the gradient of what was multiplied by W_o.
    ask: What was the last step of the forward pass?""")
mistake(
    "merged-by-reshape",
    'cache["v"], cache["weights"])',
    'cache["v"], cache["weights"])\n'
    "    n_heads = cache['n_heads']\n"
    "    dq, dk, dv = (\n"
    "        split_heads(part.reshape(*part.shape[:-3], part.shape[-2], -1), n_heads)\n"
    "        for part in (dq, dk, dv)\n"
    "    )",
    common=True,
).explain("""
    dq, dk and dv were merged by reshape alone, without swapping axes
    why: The shape is right, but the entries are in the wrong places.
    ask: Which function merged the heads in the forward pass? Does your line move entries in the same way?""")
mistake(
    "queries-only",
    'grads["b_qkv"] = _project_backward(dqkv, x, W_qkv)',
    'grads["b_qkv"] = _project_backward(dqkv, x, W_qkv)\n        dx = merge_heads(dq) @ W_qkv[:, :d_model].T',
    common=True,
).explain("""
    dx has only the gradient that came through the queries
    why: x was used three times, for q, k and v, and the three gradients are added.
    ask: How often was x used in the forward pass?""")
mistake(
    "keys-forgotten",
    'grads["b_qkv"] = _project_backward(dqkv, x, W_qkv)',
    'grads["b_qkv"] = _project_backward(dqkv, x, W_qkv)\n        dx = _side_by_side(dq, 0 * dk, dv) @ W_qkv.T',
    "db_kv = _project_backward(dkv, memory, W_qkv[:, d_model:])",
    "db_kv = _project_backward(dkv, memory, W_qkv[:, d_model:])\n"
    "        dmemory = merge_heads(dv) @ W_qkv[:, 2 * d_model :].T",
).explain("""
    the gradient through the keys is missing from dx, or from dmemory
    why: Keys and values are both made from the source (x, or the memory), and their gradients are added.
    ask: Which two things were made from the source in the forward pass?""")
mistake(
    "scores-not-scaled",
    "    if memory is None:\n        dqkv",
    '    root = cache["q"].shape[-1] ** 0.5\n    dq, dk = dq * root, dk * root\n    if memory is None:\n        dqkv',
).explain("""
    the gradient of the scores was not divided by √K
    why: The forward pass divides the scores by √K, so the backward pass divides their gradient. `attention_backward`
         does this.
    ask: Which step of the forward pass scales the scores? Where is it in your backward pass?""")
mistake("keys-first", "_side_by_side(dq, dk, dv)", "_side_by_side(dk, dq, dv)", common=True).explain("""
    dq and dk were put side by side in the wrong order
    why: The order is that of the columns of W_qkv: q, k, v.
    ask: Which columns of W_qkv make the queries?""")
mistake("memory-gradient-always", "(dx, grads) if memory is None", "(dx, grads, None) if memory is None").explain("""
    in self attention a third value was returned
    why: Without a memory there is no gradient for it: the result is the pair (dx, grads).
    ask: What happens in `dx, grads = multihead_attention_backward(dout, cache)` with what you return?""")
mistake("memory-gradient-second", "else (dx, grads, dmemory)", "else (dx, dmemory, grads)").explain("""
    in cross attention dmemory was returned before grads
    why: The order is dx, grads, dmemory: the result that only cross attention has comes last.
    ask: What are the types of your second and your third result? The caller expects the dictionary second.""")
mistake(
    "memory-keys-only",
    "db_kv = _project_backward(dkv, memory, W_qkv[:, d_model:])",
    "db_kv = _project_backward(dkv, memory, W_qkv[:, d_model:])\n"
    "        dmemory = merge_heads(dk) @ W_qkv[:, d_model : 2 * d_model].T",
).explain("""
    dmemory has only the gradient that came through the keys
    why: The memory was used twice, for k and for v, and the two gradients are added.
    ask: What was made from the memory in the forward pass?""")
mistake("gradients-of-absent-biases", "grads = {name: grads[name] for name in params}", "pass").explain("""
    gradients were returned for biases that do not exist
    why: The optimizer goes through gradients and parameters together, so their keys must be the same.
    ask: Which keys does `params` have when there are no biases?""")
mistake("keys-with-d", "{name: grads[name]", '{f"d{name}": grads[name]').explain("""
    the gradients were returned under keys like dW_o
    why: Gradients have the same keys as the parameters, so that the optimizer can go through both together.
    ask: An optimizer reads grads["W_o"] for the parameter W_o. What does it find in your dictionary?""")
mistake(
    "results-exchanged",
    "return (dx, grads) if memory is None else (dx, grads, dmemory)",
    "return (grads, dx) if memory is None else (grads, dx, dmemory)",
).explain("""
    grads and dx were returned in the wrong order
    why: The caller uses the first result as the gradient of the input.
    ask: What is the type of your first result: an array of the shape of x, or a dictionary?""")
mistake("cache-used-up", 'cache["x"], cache["memory"]', 'cache.pop("x"), cache["memory"]').explain("""
    the cache was changed, so it can be used only once
    why: `cache.pop` removes the entry that it returns. The backward pass may be called again with the same cache.
    ask: What is left in the cache after your function has run?""")
mistake(
    "one-cache-for-all", "cache =", "cache = multihead_attention.__dict__\n    cache |=", inside="multihead_attention"
).explain("""
    all forward passes shared one cache, which holds only the last of them
    why: Every layer of a model calls the same function, and each needs its own values for the backward pass.
    ask: After two forward passes, what does the cache of the first one hold?""")
_LOST, _LAST = "- merge_heads(dv) @ W_qkv[:, 2 * d_model :].T", "    return (dx, grads) if"
mistake(
    "keys-only",
    _LAST,
    f"    if memory is None:\n        dx = dx {_LOST}\n    else:\n        dmemory = dmemory {_LOST}\n{_LAST}",
).explain("""
    the gradient that comes through the values is missing
    why: The values are computed from x, or from the memory, just as the keys are. The gradients of all paths are added.
    ask: How many arrays are computed from x in the forward pass, and how many terms has your dx?""")
