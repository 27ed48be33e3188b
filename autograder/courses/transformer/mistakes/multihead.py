"""Mistakes in assignment 5: multi-head attention."""

from autograder.courses.transformer.mistakes._multihead_backward import MISTAKES as BACKWARD
from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes(BACKWARD)

_MERGED = "x.swapaxes(-2, -3).reshape(*batch, length, n_heads * head_size)"

mistake = MISTAKES.for_functions("multihead.split_heads")
mistake(
    "reshaped-without-exchange",
    "x.reshape(*batch, length, n_heads, d_model // n_heads).swapaxes(-2, -3)",
    "x.reshape(*batch, n_heads, length, d_model // n_heads)",
    common=True,
).explain("""
    the vectors were reshaped to (…, H, T, K) at once, without exchanging axes
    why: The shape is right and the numbers are in the wrong places: a head gets pieces of several positions.
    ask: Reshape keeps the order of the numbers in memory. Where do the numbers of position 0 end up?""")
mistake("not-exchanged", ".swapaxes(-2, -3)", "", common=True).explain("""
    the heads were not moved in front of the positions: (…, T, H, K)
    why: Attention looks along the last axis but one. There it would look from head to head, not from position to
         position.
    ask: In which order does the docstring list the axes of the result?""")
mistake(
    "interleaved",
    "x.reshape(*batch, length, n_heads, d_model // n_heads).swapaxes(-2, -3)",
    "np.moveaxis(x.reshape(*batch, length, d_model // n_heads, n_heads), -1, -3)",
).explain("""
    every H-th column went to a head, not neighbouring columns
    why: Head h owns the columns from h K to (h + 1) K.
    ask: Which columns belong to head 0 by the formula, and which in your result?""")
mistake(
    "number-and-size-exchanged", "n_heads, d_model // n_heads)", "d_model // n_heads, n_heads)", common=True
).explain("""
    the number of heads and their size were exchanged
    why: n_heads is how many there are; each has D / n_heads columns.
    ask: With D = 12 and 3 heads, how long is the last axis of the result?""")
mistake("head-transposed", ".swapaxes(-2, -3)", ".swapaxes(-2, -3).swapaxes(-1, -2)").explain("""
    the positions are the last axis: (…, H, K, T)
    why: Both exchanges were made, also the one that belongs to q kᵀ.
    ask: In which order does the docstring list the axes of the result?""")
mistake("heads-first", ".swapaxes(-2, -3)", ".transpose(-2, *range(x.ndim - 1), -1)").explain("""
    the heads were moved to the very front, before the batch
    why: Batch axes stay where they are. With no batch axis nothing shows.
    ask: Counted from the end, which axis should the heads become?""")
mistake("one-batch-axis-only", "*batch, length, d_model = x.", "B, length, d_model = x.", "(*batch,", "(B,").explain("""
    it works with exactly one batch axis: B, T, D = x.shape
    why: A single text has no batch axis, and there may be more than one.
    ask: How can the last two sizes be read off, whatever stands before them?""")
mistake("size-first", ".swapaxes(-2, -3)", ".swapaxes(-2, -3).swapaxes(-1, -3)").explain("""
    the columns of a head were moved in front of the positions, not the heads: (…, K, T, H)
    why: Where there are as many heads as columns in each, the shape is right and the numbers are not.
    ask: In which order does the docstring list the axes of the result?""")

mistake = MISTAKES.for_functions("multihead.merge_heads")
mistake("reshaped-without-exchange", ".swapaxes(-2, -3)", "", common=True).explain("""
    the heads were reshaped to (…, T, D) at once, without exchanging axes
    why: The shape is right and the numbers are in the wrong places: a position gets pieces of several positions.
    ask: Reshape keeps the order of the numbers in memory. Which numbers stand side by side there?""")
mistake("interleaved", "x.swapaxes(-2, -3)", "np.moveaxis(x, -3, -1)").explain("""
    the heads' columns alternate instead of standing side by side
    why: First all the columns of head 0, then those of head 1.
    ask: Which columns of the result come from head 0 by the formula, and which in your result?""")
mistake("wrong-axes", ".swapaxes(-2, -3)", ".swapaxes(-1, -2)").explain("""
    positions and columns were exchanged, not heads and positions
    why: The numbers land in places that belong to other positions.
    ask: Which two axes must stand next to each other, in which order, before they can become one?""")
mistake("counted-from-the-front", ".swapaxes(-2, -3)", ".swapaxes(1, 2)").explain("""
    axes 1 and 2 were exchanged, counted from the front
    why: These are heads and positions with exactly one batch axis only.
    ask: Counted from the end, which axes are heads and positions, whatever stands before them?""")
mistake("one-batch-axis-only", "*batch, n_heads, length,", "B, n_heads, length,", "(*batch,", "(B,").explain("""
    it works with exactly one batch axis: B, H, T, K = x.shape
    why: A single text has no batch axis, and there may be more than one.
    ask: How can the last three sizes be read off, whatever stands before them?""")
mistake("heads-added", _MERGED, "x.sum(axis=-3)").explain("""
    the heads were added up, not put side by side
    why: W_o can then no longer tell them apart.
    ask: How many numbers does a position have before the merge, in all its heads, and how many after it?""")
mistake("heads-averaged", _MERGED, "x.mean(axis=-3)").explain("""
    the heads were averaged, not put side by side
    why: W_o can then no longer tell them apart.
    ask: How many numbers does a position have before the merge, in all its heads, and how many after it?""")
mistake("not-joined", _MERGED, "x.swapaxes(-2, -3)").explain("""
    heads and positions were exchanged, and the heads were not joined: (…, T, H, K)
    why: The two last axes have to become one.
    ask: How many axes does the docstring's result have?""")
mistake(
    "along-the-positions", _MERGED, "np.concatenate([x[..., h, :, :] for h in range(n_heads)], axis=-2)"
).explain("""
    the heads were put one after the other along the positions, not side by side
    why: The text is then H times as long as it was.
    ask: Along which axis are they to be joined, counted from the end?""")

mistake = MISTAKES.for_functions("multihead.multihead_attention")
mistake(
    "split-by-reshape",
    "heads, weights = attention(q, k, v, mask)",
    "q, k, v = (merge_heads(part) for part in (q, k, v))\n"
    "    q, k, v = (p.reshape(*p.shape[:-2], n_heads, p.shape[-2], -1) for p in (q, k, v))\n"
    "    heads, weights = attention(q, k, v, mask)",
).explain("""
    the heads were cut off by reshape alone, without exchanging axes
    why: The shape is right and the numbers are in the wrong places: a head gets pieces of several positions.
    ask: You have written split_heads. Does your line do the same?""")
mistake("merged-by-reshape", "merge_heads(heads)", "heads.reshape(x.shape)", common=True).explain("""
    the heads were put together by reshape alone, without exchanging axes
    why: The shape is right and the numbers are in the wrong places. It even learns, only worse.
    ask: You have written merge_heads. Does your line do the same?""")
mistake("no-output-projection", "out = _project(merged, W_o, b_o)", "out = merged", common=True).explain("""
    the output was not multiplied by W_o
    why: W_o mixes what the heads have found. Without it they stay side by side.
    ask: Which of the four parameters does your code not use?""")
mistake("output-projection-transposed", "_project(merged, W_o, b_o)", "_project(merged, W_o.T, b_o)").explain("""
    W_o was transposed
    why: Weights are (in, out) here, as in x W. PyTorch's own layers keep them as (out, in).
    ask: How is W_o written in the formula: with or without a ᵀ?""")
mistake("no-output-bias", "_project(merged, W_o, b_o)", "_project(merged, W_o, None)", common=True).explain("""
    b_o was not added
    why: As long as biases are 0, nothing shows.
    ask: Which of the four parameters does your code not use?""")
mistake("no-input-bias", 'params.get("b_qkv")', "None").explain("""
    b_qkv was not added
    why: As long as biases are 0, nothing shows.
    ask: Which of the four parameters does your code not use?""")
mistake("input-bias-required", 'params.get("b_qkv")', 'params["b_qkv"]').explain("""
    it does not work without b_qkv
    why: Each bias may be absent from the parameters.
    ask: What does params[...] do for a key that is not there? What does params.get(...) do?""")
mistake("output-bias-required", 'params.get("b_o")', 'params["b_o"]').explain("""
    it does not work without b_o
    why: Each bias may be absent from the parameters.
    ask: What does params[...] do for a key that is not there? What does params.get(...) do?""")
mistake("keys-first", "q, k, v = (heads[", "k, q, v = (heads[", common=True).explain("""
    queries and keys were exchanged: the first third of W_qkv was taken for the keys
    why: The name gives the order: q, k, v.
    ask: Which columns of W_qkv make the queries by the formula?""")
mistake("values-in-the-middle", "q, k, v = (heads[", "q, v, k = (heads[").explain("""
    keys and values were exchanged: the second third of W_qkv was taken for the values
    why: The name gives the order: q, k, v.
    ask: Which columns of W_qkv make the keys by the formula?""")
mistake(
    "thirds-within-heads",
    "split_heads(_project(x, W_qkv, b_qkv), 3 * n_heads)",
    "split_heads(_project(x, W_qkv, b_qkv), n_heads)",
    "(heads[..., i * n_heads : (i + 1) * n_heads, :, :] for i in range(3))",
    "np.split(heads, 3, axis=-1)",
).explain("""
    the columns were cut into heads first, and each head into q, k and v
    why: Some models keep their weights so. Here all queries come first, then all keys, then all values.
    ask: To what does the second quarter of the columns belong, if there are two heads?""")
mistake(
    "scaled-by-whole-width", "attention(q, k, v, mask)", "attention(q / n_heads**0.5, k, v, mask)", common=True
).explain("""
    the scores were divided by √D, not by the root of a head's width
    why: Each head multiplies vectors of K = D / H numbers. With one head nothing shows.
    ask: How long are the vectors that are multiplied in one head?""")
mistake("scaled-twice", "attention(q, k, v, mask)", "attention(q / q.shape[-1] ** 0.5, k, v, mask)").explain("""
    the scores were divided by √K twice
    why: `attention` divides already.
    ask: Who divides the scores: your function, the one that it calls, or both?""")
mistake(
    "one-head",
    "heads, weights = attention(q, k, v, mask)",
    "q, k, v = (merge_heads(part)[..., None, :, :] for part in (q, k, v))\n"
    "    heads, weights = attention(q, k, v, mask)",
).explain("""
    the vectors were not cut into heads
    why: A single head of full width looks at one thing at a time; that there are several is the point.
    ask: Does your result change when n_heads changes?""")
mistake("mask-ignored", "attention(q, k, v, mask)", "attention(q, k, v)", common=True).explain("""
    the mask was not handed on to attention
    why: Every position then sees every other one, the future and the padding too.
    ask: Does your result change when the mask changes?""")
mistake("mask-ignored-with-memory", "(q, k, v, mask)", "(q, k, v, mask if memory is None else None)").explain("""
    in cross attention the mask was not handed on
    why: The padding of the other text is looked at.
    ask: Does your result change with the mask when there is a memory?""")
mistake("mask-inverted", "attention(q, k, v, mask)", "attention(q, k, v, None if mask is None else ~mask)").explain("""
    the mask was turned round before it was handed on
    why: True means that a position may be looked at, here and in `attention`.
    ask: What does True mean in your mask, and what in that of `attention`?""")
mistake(
    "causal-by-default",
    "attention(q, k, v, mask)",
    "attention(q, k, v, np.tri(q.shape[-2], k.shape[-2], dtype=bool) if mask is None else mask)",
).explain("""
    without a mask, the causal one was used
    why: mask=None means that everybody may look at everything: an encoder has no future.
    ask: What should happen when there is no mask?""")
mistake("memory-ignored", "x = as_float(x)", "x, memory = as_float(x), None").explain("""
    the memory is not used
    why: It is self attention then, whatever the other text says.
    ask: Does your result change when the memory changes?""")
mistake("queries-from-memory", "split_heads(_project(x, W_qkv[:,", "split_heads(_project(memory, W_qkv[:,").explain("""
    in cross attention the queries were made from the memory
    why: The text asks and the memory answers: queries come from x, keys and values from the memory.
    ask: How many rows has the result: as many as x or as many as the memory?""")
mistake(
    "roles-exchanged",
    "split_heads(_project(x, W_qkv[:, :d_model], b_q)",
    "split_heads(_project(memory, W_qkv[:, :d_model], b_q)",
    "_project(memory, W_qkv[:, d_model:], b_kv)",
    "_project(x, W_qkv[:, d_model:], b_kv)",
).explain("""
    in cross attention x and the memory were exchanged
    why: The text asks and the memory answers: queries come from x, keys and values from the memory.
    ask: How many rows has the result: as many as x or as many as the memory?""")
mistake("keys-and-values-exchanged-with-memory", "k, v = heads[", "v, k = heads[").explain("""
    in cross attention keys and values were exchanged
    why: The name of W_qkv gives the order.
    ask: Which columns of W_qkv make the keys by the formula?""")
mistake("no-input-bias-with-memory", "(b_qkv[:d_model], b_qkv[d_model:])", "(b_qkv[:d_model], None)").explain("""
    in cross attention b_qkv was not added to keys and values
    why: As long as biases are 0, nothing shows.
    ask: Which part of b_qkv belongs to the keys, and which to the values?""")
mistake("input-added", "out = _project(merged, W_o, b_o)", "out = _project(merged, W_o, b_o) + x").explain("""
    the input was added to the output
    why: That is the residual connection; it belongs to the block, which is the next assignment but one.
    ask: Is there an x after W_o in the formula?""")
mistake("cache-not-returned", "return out, cache", "return out").explain("""
    only the output was returned, without the cache
    why: The backward pass needs what the forward pass has computed.
    ask: How many results does the docstring list?""")
mistake("weights-missing", '"weights": weights', '"attention": weights').explain("""
    the cache has no entry "weights"
    why: Whoever wants to look at the attention of a model looks there.
    ask: Which entry of the cache does the docstring name?""")
mistake("weights-averaged", '"weights": weights', '"weights": weights.mean(axis=-3)').explain("""
    cache["weights"] holds the average over the heads, not the weights of every head
    why: PyTorch's own layer returns the average unless it is told otherwise. The heads look at different things.
    ask: How many sets of weights are there for one text?""")
mistake("head-axis-added-to-mask", "(q, k, v, mask)", "(q, k, v, mask if mask is None else mask[:, None])").explain("""
    an axis for the heads was added to every mask
    why: A mask for (..., H, T, S) comes ready to be broadcast: (T, S), (B, 1, T, S). With one axis more, its batch
         meets the scores' heads, or its queries do.
    ask: Which axis of the scores does the first axis of a mask (B, 1, 1, S) meet, once it is (B, 1, 1, 1, S)?""")
mistake(
    "columns-in-turn",
    'W_qkv, b_qkv = as_float(params["W_qkv"]), params.get("b_qkv")',
    """W_qkv, b_qkv = as_float(params["W_qkv"]), params.get("b_qkv")
    W_qkv = np.concatenate([W_qkv[:, i::3] for i in range(3)], axis=1)
    b_qkv = None if b_qkv is None else np.concatenate([b_qkv[i::3] for i in range(3)])""",
).explain("""
    the columns of W_qkv were handed out in turn: the first to q, the next to k, the next to v
    why: The first D columns make the queries, the next D the keys, the last D the values.
    ask: Which columns of W_qkv make the queries: 0, 1, 2 … or 0, 3, 6 …?""")
mistake("output-for-weights", '"weights": weights', '"weights": heads').explain("""
    cache["weights"] holds the output of attention, not its weights
    why: attention returns two things, (out, weights).
    ask: What is the shape of what you keep? The weights have one number for each query and each key.""")
mistake("three-results", "return out, cache", "return out, weights, cache").explain("""
    three values were returned: out, weights and cache
    why: The weights have a place in the cache.
    ask: How many results does the docstring list?""")
