"""Mistakes in the backward pass of assignment 5."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

mistake = MISTAKES.for_functions("multihead.multihead_attention_backward")
mistake(
    "bias-not-summed", "np.ones(len(rows), dtype=rows.dtype) @ rows", "dout", common=True, inside="_project_backward"
).explain("""
    the gradients of the biases were not added up over the positions
    why: They have the shape of dout, not that of the bias. Broadcasting lets them be subtracted all the same, and the
         bias becomes a matrix.
    ask: What is the shape of b_o, and what is that of its gradient?""")
mistake(
    "bias-summed-over-batch",
    "np.ones(len(rows), dtype=rows.dtype) @ rows",
    "dout.sum(axis=0)",
    inside="_project_backward",
).explain("""
    the gradients of the biases were added up over the first axis only
    why: The same bias served every position of every text: all axes but the last have to go.
    ask: What is the shape of b_o, and what is that of its gradient?""")
mistake(
    "bias-averaged", "np.ones(len(rows), dtype=rows.dtype) @ rows", "rows.mean(axis=0)", inside="_project_backward"
).explain("""
    the gradients of the biases were averaged over the positions, not added up
    why: If the loss is a mean, that is in dout already.
    ask: The same bias served N positions. If it grows a little, at how many places does the loss notice?""")
mistake("weights-averaged", ".T @ rows", ".T @ rows / len(rows)", inside="_project_backward").explain("""
    the gradients of the weights were divided by the number of positions
    why: If the loss is a mean, that is in dout already.
    ask: Is there a 1/N in dW = xᵀ dy?""")
mistake(
    "weights-per-text", "x.reshape(-1, x.shape[-1]).T @ rows", "x.swapaxes(-1, -2) @ dout", inside="_project_backward"
).explain("""
    the gradients of the weights were not added up over the texts
    why: All texts used the same weights, so there is one gradient, not one for each text.
    ask: What is the shape of W_o, and what is that of its gradient?""")
mistake(
    "weights-transposed",
    "x.reshape(-1, x.shape[-1]).T @ rows",
    "rows.T @ x.reshape(-1, x.shape[-1])",
    inside="_project_backward",
).explain("""
    the gradients of the weights are transposed
    why: A gradient always has the shape of the thing it belongs to. For the square W_o the shape does not tell.
    ask: dW = xᵀ dy: which of the two is transposed, and which one stands first?""")
mistake("output-weights-not-transposed", '"], as_float(params["W_o"]))', '"], as_float(params["W_o"]).T)').explain("""
    W_o was not transposed on the way back
    why: The way back through y = x W is dx = dy Wᵀ. W_o is square, so that nothing complains.
    ask: What is the derivative of y = x W with respect to x?""")
mistake(
    "output-projection-skipped",
    'split_heads(dmerged, cache["n_heads"])',
    'split_heads(dout, cache["n_heads"])',
    common=True,
).explain("""
    the way back does not go through W_o
    why: The gradient of the output was taken for that of the heads.
    ask: Which was the last step of the forward pass?""")
mistake("output-weights-from-input", '_project_backward(dout, cache["merged"]', "_project_backward(dout, x").explain("""
    the gradient of W_o was computed with x, not with the merged heads
    why: In dW = xᵀ dy, x is what came into that layer. Into the last layer came what the heads had found.
    ask: What was multiplied by W_o in the forward pass?""")
mistake("split-by-reshape", 'split_heads(dmerged, cache["n_heads"])', 'dmerged.reshape(cache["q"].shape)').explain("""
    dout was cut into heads by reshape alone, without exchanging axes
    why: The shape is right and the numbers are in the wrong places.
    ask: Moving heads only moves numbers. Which function moves them back, to where attention had them?""")
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
    dq, dk and dv were put together by reshape alone, without exchanging axes
    why: The shape is right and the numbers are in the wrong places.
    ask: Moving heads only moves numbers. Which function moves them back, to where they were before attention?""")
mistake(
    "queries-only",
    'grads["b_qkv"] = _project_backward(dqkv, x, W_qkv)',
    'grads["b_qkv"] = _project_backward(dqkv, x, W_qkv)\n        dx = merge_heads(dq) @ W_qkv[:, :d_model].T',
    common=True,
).explain("""
    dx has only the part that came through the queries
    why: x went out along three ways, and what comes back along the three is added.
    ask: In the forward pass, how often was x used?""")
mistake(
    "values-forgotten",
    'grads["b_qkv"] = _project_backward(dqkv, x, W_qkv)',
    'grads["b_qkv"] = _project_backward(dqkv, x, W_qkv)\n'
    "        dx = _side_by_side(dq, dk) @ W_qkv[:, : 2 * d_model].T",
).explain("""
    dx lacks the part that came through the values
    why: x went out along three ways, and what comes back along the three is added.
    ask: In the forward pass, how often was x used?""")
mistake(
    "keys-forgotten",
    'grads["b_qkv"] = _project_backward(dqkv, x, W_qkv)',
    'grads["b_qkv"] = _project_backward(dqkv, x, W_qkv)\n        dx = _side_by_side(dq, 0 * dk, dv) @ W_qkv.T',
    "db_kv = _project_backward(dkv, memory, W_qkv[:, d_model:])",
    "db_kv = _project_backward(dkv, memory, W_qkv[:, d_model:])\n"
    "        dmemory = merge_heads(dv) @ W_qkv[:, 2 * d_model :].T",
).explain("""
    dx, or dmemory, lacks the part that came through the keys
    why: Keys and values are both made of the source, and what comes back through the two is added.
    ask: In the forward pass, for which two things was the source used?""")
mistake(
    "scores-not-scaled",
    "    if memory is None:\n        dqkv",
    '    root = cache["q"].shape[-1] ** 0.5\n    dq, dk = dq * root, dk * root\n    if memory is None:\n        dqkv',
).explain("""
    the gradient of the scores was not divided by √K
    why: The scores were divided on the way forward, so their gradient is, too. `attention_backward` does it.
    ask: Which step of the forward pass makes the scores smaller? Where is it on your way back?""")
mistake("averaged-over-three-ways", "(dx, grads) if memory is None", "(dx / 3, grads) if memory is None").explain("""
    what came back through q, k and v was averaged, not added
    why: x went out along three ways, and what comes back along the three is added.
    ask: If y = a x + b x, what is the derivative of y with respect to x?""")
mistake("keys-first", "_side_by_side(dq, dk, dv)", "_side_by_side(dk, dq, dv)", common=True).explain("""
    dq and dk were put side by side in the wrong order
    why: The order is that of the columns of W_qkv: q, k, v.
    ask: Which columns of W_qkv make the queries?""")
mistake("values-in-the-middle", "_side_by_side(dq, dk, dv)", "_side_by_side(dq, dv, dk)").explain("""
    dk and dv were put side by side in the wrong order
    why: The order is that of the columns of W_qkv: q, k, v.
    ask: Which columns of W_qkv make the keys?""")
mistake("mask-forgotten", '"v"], cache["weights"', '"v"], attention(cache["q"], cache["k"], cache["v"])[1').explain("""
    the weights were computed once more, without the mask
    why: The weights in the cache know the mask. Without a mask nothing shows.
    ask: Which weights did the forward pass use?""")
mistake("memory-gradient-missing", "(dx, grads) if memory is None else (dx, grads, dmemory)", "dx, grads").explain("""
    in cross attention only dx and grads were returned
    why: The memory was an input too, and the encoder behind it learns from its gradient.
    ask: How many inputs did the forward pass have that depend on parameters?""")
mistake("memory-gradient-always", "(dx, grads) if memory is None", "(dx, grads, None) if memory is None").explain("""
    self attention returned a third value
    why: Without a memory there is no gradient for it: the result is the pair (dx, grads).
    ask: How many results does the docstring list for self attention?""")
mistake("memory-gradient-second", "else (dx, grads, dmemory)", "else (dx, dmemory, grads)").explain("""
    in cross attention dmemory was returned before grads
    why: The third result is the one that only cross attention has.
    ask: In which order does the docstring list the results?""")
mistake(
    "memory-keys-only",
    "db_kv = _project_backward(dkv, memory, W_qkv[:, d_model:])",
    "db_kv = _project_backward(dkv, memory, W_qkv[:, d_model:])\n"
    "        dmemory = merge_heads(dk) @ W_qkv[:, d_model : 2 * d_model].T",
).explain("""
    dmemory has only the part that came through the keys
    why: The memory went out along two ways, and what comes back along the two is added.
    ask: In the forward pass, what was made of the memory?""")
mistake("memory-values-first", "_side_by_side(dk, dv)", "_side_by_side(dv, dk)").explain("""
    in cross attention dk and dv were put side by side in the wrong order
    why: The order is that of the columns of W_qkv: q, k, v.
    ask: Which columns of W_qkv make the keys?""")
mistake("gradients-of-absent-biases", "grads = {name: grads[name] for name in params}", "pass").explain("""
    there are gradients for biases that do not exist
    why: The optimiser goes through gradients and parameters together: the keys must be the same.
    ask: Which keys has `params` when there are no biases?""")
mistake("bias-gradients-missing", "for name in params}", 'for name in params if name.startswith("W")}').explain("""
    the gradients of the biases are missing
    why: A bias without a gradient never learns.
    ask: Which keys has `params`, and which ones has your dict?""")
mistake("keys-with-d", "{name: grads[name]", '{f"d{name}": grads[name]').explain("""
    the gradients have keys like dW_o
    why: The keys are those of the parameters, so that the optimiser can go through both together.
    ask: What does the docstring say about the keys?""")
mistake(
    "results-exchanged",
    "return (dx, grads) if memory is None else (dx, grads, dmemory)",
    "return (grads, dx) if memory is None else (grads, dx, dmemory)",
).explain("""
    grads and dx were returned in the wrong order
    why: The caller takes the first for the gradient of the input.
    ask: In which order does the docstring list the results?""")
mistake("cache-used-up", 'cache["x"], cache["memory"]', 'cache.pop("x"), cache["memory"]').explain("""
    the cache was taken apart: it can be used only once
    why: `cache.pop` removes what it returns. A gradient may be asked for again.
    ask: What is left in the cache after your function has run?""")
mistake(
    "one-cache-for-all",
    'cache = {"x": x, "memory": memory,',
    'cache = multihead_attention.__dict__\n    cache |= {"x": x, "memory": memory,',
    inside="multihead_attention",
).explain("""
    all forward passes share one cache: the last one is remembered
    why: Every layer of a model calls the same function, and each must find its own values on the way back.
    ask: After two forward passes, what does the cache of the first hold?""")
mistake("float64-sums", "ones(len(rows), dtype=rows.dtype)", "ones(len(rows))", inside="_project_backward").explain("""
    float32 became float64 in the gradients of the biases
    why: np.ones and np.zeros make float64 unless they are told otherwise.
    ask: Of what dtype are the gradients of the biases when everything else is float32?""")
