"""Mistakes in the backward pass of assignment 5."""

from autograder.engine.diagnosis.mistake import Mistake

BACKWARD = (
    # --- the linear layers
    Mistake(
        "multihead.multihead_attention_backward",
        "bias-not-summed",
        "the gradients of the biases were not added up over the positions",
        "They have the shape of dout, not that of the bias. Broadcasting lets them be subtracted all the same, and the "
        "bias becomes a matrix.",
        "What is the shape of b_o, and what is that of its gradient?",
        edits=(("np.ones(len(rows), dtype=rows.dtype) @ rows", "dout"),),
        inside="_project_backward",
        common=True,
    ),
    Mistake(
        "multihead.multihead_attention_backward",
        "bias-summed-over-batch",
        "the gradients of the biases were added up over the first axis only",
        "The same bias served every position of every text: all axes but the last have to go.",
        "What is the shape of b_o, and what is that of its gradient?",
        edits=(("np.ones(len(rows), dtype=rows.dtype) @ rows", "dout.sum(axis=0)"),),
        inside="_project_backward",
    ),
    Mistake(
        "multihead.multihead_attention_backward",
        "bias-averaged",
        "the gradients of the biases were averaged over the positions, not added up",
        "If the loss is a mean, that is in dout already.",
        "The same bias served N positions. If it grows a little, at how many places does the loss notice?",
        edits=(("np.ones(len(rows), dtype=rows.dtype) @ rows", "rows.mean(axis=0)"),),
        inside="_project_backward",
    ),
    Mistake(
        "multihead.multihead_attention_backward",
        "weights-averaged",
        "the gradients of the weights were divided by the number of positions",
        "If the loss is a mean, that is in dout already.",
        "Is there a 1/N in dW = xᵀ dy?",
        edits=((".T @ rows", ".T @ rows / len(rows)"),),
        inside="_project_backward",
    ),
    Mistake(
        "multihead.multihead_attention_backward",
        "weights-per-text",
        "the gradients of the weights were not added up over the texts",
        "All texts used the same weights, so there is one gradient, not one for each text.",
        "What is the shape of W_o, and what is that of its gradient?",
        edits=(("x.reshape(-1, x.shape[-1]).T @ rows", "x.swapaxes(-1, -2) @ dout"),),
        inside="_project_backward",
    ),
    Mistake(
        "multihead.multihead_attention_backward",
        "weights-transposed",
        "the gradients of the weights are transposed",
        "A gradient always has the shape of the thing it belongs to. For the square W_o the shape does not tell.",
        "dW = xᵀ dy: which of the two is transposed, and which one stands first?",
        edits=(("x.reshape(-1, x.shape[-1]).T @ rows", "rows.T @ x.reshape(-1, x.shape[-1])"),),
        inside="_project_backward",
    ),
    Mistake(
        "multihead.multihead_attention_backward",
        "output-weights-not-transposed",
        "W_o was not transposed on the way back",
        "The way back through y = x W is dx = dy Wᵀ. W_o is square, so that nothing complains.",
        "What is the derivative of y = x W with respect to x?",
        edits=(
            ('dout, cache["merged"], as_float(params["W_o"]))', 'dout, cache["merged"], as_float(params["W_o"]).T)'),
        ),
    ),
    Mistake(
        "multihead.multihead_attention_backward",
        "output-projection-skipped",
        "the way back does not go through W_o",
        "The gradient of the output was taken for that of the heads.",
        "Which was the last step of the forward pass?",
        edits=(('split_heads(dmerged, cache["n_heads"])', 'split_heads(dout, cache["n_heads"])'),),
        common=True,
    ),
    Mistake(
        "multihead.multihead_attention_backward",
        "output-weights-from-input",
        "the gradient of W_o was computed with x, not with the merged heads",
        "In dW = xᵀ dy, x is what came into that layer. Into the last layer came what the heads had found.",
        "What was multiplied by W_o in the forward pass?",
        edits=(('_project_backward(dout, cache["merged"]', "_project_backward(dout, x"),),
    ),
    # --- heads
    Mistake(
        "multihead.multihead_attention_backward",
        "split-by-reshape",
        "dout was cut into heads by reshape alone, without exchanging axes",
        "The shape is right and the numbers are in the wrong places.",
        "Moving heads only moves numbers. Which function moves them back, to where attention had them?",
        edits=(('split_heads(dmerged, cache["n_heads"])', 'dmerged.reshape(cache["q"].shape)'),),
    ),
    Mistake(
        "multihead.multihead_attention_backward",
        "merged-by-reshape",
        "dq, dk and dv were put together by reshape alone, without exchanging axes",
        "The shape is right and the numbers are in the wrong places.",
        "Moving heads only moves numbers. Which function moves them back, to where they were before attention?",
        edits=(
            (
                'cache["v"], cache["weights"])',
                (
                    'cache["v"], cache["weights"])\n'
                    "    n_heads = cache['n_heads']\n"
                    "    dq, dk, dv = (\n"
                    "        split_heads(part.reshape(*part.shape[:-3], part.shape[-2], -1), n_heads)\n"
                    "        for part in (dq, dk, dv)\n"
                    "    )"
                ),
            ),
        ),
        common=True,
    ),
    # --- q, k and v
    Mistake(
        "multihead.multihead_attention_backward",
        "queries-only",
        "dx has only the part that came through the queries",
        "x went out along three ways, and what comes back along the three is added.",
        "In the forward pass, how often was x used?",
        edits=(
            (
                'grads["b_qkv"] = _project_backward(dqkv, x, W_qkv)',
                (
                    'grads["b_qkv"] = _project_backward(dqkv, x, W_qkv)\n'
                    "        dx = merge_heads(dq) @ W_qkv[:, :d_model].T"
                ),
            ),
        ),
        common=True,
    ),
    Mistake(
        "multihead.multihead_attention_backward",
        "values-forgotten",
        "dx lacks the part that came through the values",
        "x went out along three ways, and what comes back along the three is added.",
        "In the forward pass, how often was x used?",
        edits=(
            (
                'grads["b_qkv"] = _project_backward(dqkv, x, W_qkv)',
                (
                    'grads["b_qkv"] = _project_backward(dqkv, x, W_qkv)\n'
                    "        dx = _side_by_side(dq, dk) @ W_qkv[:, : 2 * d_model].T"
                ),
            ),
        ),
    ),
    Mistake(
        "multihead.multihead_attention_backward",
        "keys-forgotten",
        "dx, or dmemory, lacks the part that came through the keys",
        "Keys and values are both made of the source, and what comes back through the two is added.",
        "In the forward pass, for which two things was the source used?",
        edits=(
            (
                'grads["b_qkv"] = _project_backward(dqkv, x, W_qkv)',
                (
                    'grads["b_qkv"] = _project_backward(dqkv, x, W_qkv)\n'
                    "        dx = _side_by_side(dq, 0 * dk, dv) @ W_qkv.T"
                ),
            ),
            (
                "db_kv = _project_backward(dkv, memory, W_qkv[:, d_model:])",
                (
                    "db_kv = _project_backward(dkv, memory, W_qkv[:, d_model:])\n"
                    "        dmemory = merge_heads(dv) @ W_qkv[:, 2 * d_model :].T"
                ),
            ),
        ),
    ),
    Mistake(
        "multihead.multihead_attention_backward",
        "scores-not-scaled",
        "the gradient of the scores was not divided by √K",
        "The scores were divided on the way forward, so their gradient is, too. `attention_backward` does it.",
        "Which step of the forward pass makes the scores smaller? Where is it on your way back?",
        edits=(
            (
                "    if memory is None:\n        dqkv",
                (
                    '    root = cache["q"].shape[-1] ** 0.5\n'
                    "    dq, dk = dq * root, dk * root\n"
                    "    if memory is None:\n        dqkv"
                ),
            ),
        ),
    ),
    Mistake(
        "multihead.multihead_attention_backward",
        "averaged-over-three-ways",
        "what came back through q, k and v was averaged, not added",
        "x went out along three ways, and what comes back along the three is added.",
        "If y = a x + b x, what is the derivative of y with respect to x?",
        edits=(("return (dx, grads) if memory is None", "return (dx / 3, grads) if memory is None"),),
    ),
    Mistake(
        "multihead.multihead_attention_backward",
        "keys-first",
        "dq and dk were put side by side in the wrong order",
        "The order is that of the columns of W_qkv: q, k, v.",
        "Which columns of W_qkv make the queries?",
        edits=(("_side_by_side(dq, dk, dv)", "_side_by_side(dk, dq, dv)"),),
        common=True,
    ),
    Mistake(
        "multihead.multihead_attention_backward",
        "values-in-the-middle",
        "dk and dv were put side by side in the wrong order",
        "The order is that of the columns of W_qkv: q, k, v.",
        "Which columns of W_qkv make the keys?",
        edits=(("_side_by_side(dq, dk, dv)", "_side_by_side(dq, dv, dk)"),),
    ),
    Mistake(
        "multihead.multihead_attention_backward",
        "mask-forgotten",
        "the weights were computed once more, without the mask",
        "The weights in the cache know the mask. Without a mask nothing shows.",
        "Which weights did the forward pass use?",
        edits=(('cache["v"], cache["weights"])', 'cache["v"], attention(cache["q"], cache["k"], cache["v"])[1])'),),
    ),
    # --- the memory
    Mistake(
        "multihead.multihead_attention_backward",
        "memory-gradient-missing",
        "in cross attention only dx and grads were returned",
        "The memory was an input too, and the encoder behind it learns from its gradient.",
        "How many inputs did the forward pass have that depend on parameters?",
        edits=(("return (dx, grads) if memory is None else (dx, grads, dmemory)", "return dx, grads"),),
    ),
    Mistake(
        "multihead.multihead_attention_backward",
        "memory-gradient-always",
        "self attention returned a third value",
        "Without a memory there is no gradient for it: the result is the pair (dx, grads).",
        "How many results does the docstring list for self attention?",
        edits=(("return (dx, grads) if memory is None", "return (dx, grads, None) if memory is None"),),
    ),
    Mistake(
        "multihead.multihead_attention_backward",
        "memory-gradient-second",
        "in cross attention dmemory was returned before grads",
        "The third result is the one that only cross attention has.",
        "In which order does the docstring list the results?",
        edits=(("else (dx, grads, dmemory)", "else (dx, dmemory, grads)"),),
    ),
    Mistake(
        "multihead.multihead_attention_backward",
        "memory-keys-only",
        "dmemory has only the part that came through the keys",
        "The memory went out along two ways, and what comes back along the two is added.",
        "In the forward pass, what was made of the memory?",
        edits=(
            (
                "db_kv = _project_backward(dkv, memory, W_qkv[:, d_model:])",
                (
                    "db_kv = _project_backward(dkv, memory, W_qkv[:, d_model:])\n"
                    "        dmemory = merge_heads(dk) @ W_qkv[:, d_model : 2 * d_model].T"
                ),
            ),
        ),
    ),
    Mistake(
        "multihead.multihead_attention_backward",
        "memory-values-first",
        "in cross attention dk and dv were put side by side in the wrong order",
        "The order is that of the columns of W_qkv: q, k, v.",
        "Which columns of W_qkv make the keys?",
        edits=(("_side_by_side(dk, dv)", "_side_by_side(dv, dk)"),),
    ),
    # --- results
    Mistake(
        "multihead.multihead_attention_backward",
        "gradients-of-absent-biases",
        "there are gradients for biases that do not exist",
        "The optimiser goes through gradients and parameters together: the keys must be the same.",
        "Which keys has `params` when there are no biases?",
        edits=(("grads = {name: grads[name] for name in params}", "pass"),),
    ),
    Mistake(
        "multihead.multihead_attention_backward",
        "bias-gradients-missing",
        "the gradients of the biases are missing",
        "A bias without a gradient never learns.",
        "Which keys has `params`, and which ones has your dict?",
        edits=(("for name in params}", 'for name in params if name.startswith("W")}'),),
    ),
    Mistake(
        "multihead.multihead_attention_backward",
        "keys-with-d",
        "the gradients have keys like dW_o",
        "The keys are those of the parameters, so that the optimiser can go through both together.",
        "What does the docstring say about the keys?",
        edits=(("{name: grads[name]", '{f"d{name}": grads[name]'),),
    ),
    Mistake(
        "multihead.multihead_attention_backward",
        "results-exchanged",
        "grads and dx were returned in the wrong order",
        "The caller takes the first for the gradient of the input.",
        "In which order does the docstring list the results?",
        edits=(
            (
                "return (dx, grads) if memory is None else (dx, grads, dmemory)",
                "return (grads, dx) if memory is None else (grads, dx, dmemory)",
            ),
        ),
    ),
    # --- the cache
    Mistake(
        "multihead.multihead_attention_backward",
        "cache-used-up",
        "the cache was taken apart: it can be used only once",
        "`cache.pop` removes what it returns. A gradient may be asked for again.",
        "What is left in the cache after your function has run?",
        edits=(('cache["x"], cache["memory"]', 'cache.pop("x"), cache["memory"]'),),
    ),
    Mistake(
        "multihead.multihead_attention_backward",
        "one-cache-for-all",
        "all forward passes share one cache: the last one is remembered",
        "Every layer of a model calls the same function, and each must find its own values on the way back.",
        "After two forward passes, what does the cache of the first hold?",
        edits=(
            (
                'cache = {"x": x, "memory": memory,',
                'cache = multihead_attention.__dict__\n    cache |= {"x": x, "memory": memory,',
            ),
        ),
        inside="multihead_attention",
    ),
    Mistake(
        "multihead.multihead_attention_backward",
        "float64-sums",
        "float32 became float64 in the gradients of the biases",
        "np.ones and np.zeros make float64 unless they are told otherwise.",
        "Of what dtype are the gradients of the biases when everything else is float32?",
        edits=(("np.ones(len(rows), dtype=rows.dtype) @ rows", "np.ones(len(rows)) @ rows"),),
        inside="_project_backward",
    ),
)
