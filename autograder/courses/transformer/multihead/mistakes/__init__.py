"""Mistakes in `multihead`: multi-head attention."""

from autograder.courses.transformer.multihead.mistakes.backward import MISTAKES as BACKWARD
from autograder.courses.transformer.multihead.mistakes.forward import MISTAKES as FORWARD
from autograder.courses.transformer.multihead.mistakes.gradients import MISTAKES as GRADIENTS
from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes(FORWARD, BACKWARD, GRADIENTS)

_MERGED = "x.swapaxes(-2, -3).reshape(*batch, length, n_heads * head_size)"

mistake = MISTAKES.for_functions("multihead.split_heads")
mistake(
    "reshaped-without-exchange",
    "x.reshape(*batch, length, n_heads, d_model // n_heads).swapaxes(-2, -3)",
    "x.reshape(*batch, n_heads, length, d_model // n_heads)",
    common=True,
).explain("""
    x was reshaped straight to (…, H, T, K), without swapping axes
    why: The shape is right, but the entries are in the wrong places: each head gets pieces of several positions.
    ask: reshape keeps the order of the entries in memory. Where do the entries of position 0 end up?""")
mistake("not-exchanged", ".swapaxes(-2, -3)", "", common=True).explain("""
    the head axis was not moved in front of the positions: (…, T, H, K)
    why: Attention works on the last two axes. Here it would compare the heads of one position, not the positions.
    ask: In which order does the docstring list the axes of the result?""")
mistake(
    "interleaved",
    "x.reshape(*batch, length, n_heads, d_model // n_heads).swapaxes(-2, -3)",
    "np.moveaxis(x.reshape(*batch, length, d_model // n_heads, n_heads), -1, -3)",
).explain("""
    each head got every H-th column, not K neighbouring columns
    why: Head h owns the columns from h K up to (h + 1) K.
    ask: Which columns belong to head 0 by the formula, and which does your result have there?""")
mistake(
    "number-and-size-exchanged", "n_heads, d_model // n_heads)", "d_model // n_heads, n_heads)", common=True
).explain("""
    the number of heads and the size of a head were swapped
    why: n_heads is the number of heads; each head has D / n_heads columns.
    ask: With D = 12 and 3 heads, how long should the last axis of the result be?""")
mistake("head-transposed", ".swapaxes(-2, -3)", ".swapaxes(-2, -3).swapaxes(-1, -2)").explain("""
    the last two axes of the result are swapped: (…, H, K, T)
    why: Swapping these two axes belongs to q kᵀ, which `attention` computes itself.
    ask: In which order does the docstring list the axes of the result?""")
mistake("heads-first", ".swapaxes(-2, -3)", ".transpose(-2, *range(x.ndim - 1), -1)").explain("""
    the head axis was moved to the very front, before the batch axes
    why: The batch axes stay in front. Without a batch axis the mistake stays hidden.
    ask: Counted from the end, which axis should hold the heads?""")
mistake("one-batch-axis-only", "*batch, length, d_model = x.", "B, length, d_model = x.", "(*batch,", "(B,").explain("""
    the code works with exactly one batch axis: B, T, D = x.shape
    why: A single text has no batch axis, and there may be more than one.
    ask: How can you read off the last two sizes, whatever comes before them?""")
mistake("size-first", ".swapaxes(-2, -3)", ".swapaxes(-2, -3).swapaxes(-1, -3)").explain("""
    the columns of a head were moved to the front, not the heads: (…, K, T, H)
    why: If there are as many heads as columns per head, the shape is right and the values are wrong.
    ask: In which order does the docstring list the axes of the result?""")

_UNEQUAL = 'raise ValueError(f"a width of {d_model} cannot be divided into {n_heads} heads of the same size")'
mistake("remainder-dropped", _UNEQUAL, "x = x[..., : d_model // n_heads * n_heads]").explain("""
    a width that is not a multiple of the number of heads was accepted, and the last columns dropped
    why: The docstring promises a ValueError. Entries that no head gets are lost.
    ask: With 7 columns and 2 heads, what becomes of the last column?""")
mistake(
    "remainder-padded",
    _UNEQUAL,
    """
        x = np.concatenate([x, np.zeros((*x.shape[:-1], -d_model % n_heads))], axis=-1)
        d_model = x.shape[-1]
""",
).explain("""
    a width that is not a multiple of the number of heads was accepted, and filled up with zeros
    why: The docstring promises a ValueError.
    ask: With 7 columns and 2 heads, what does your function do?""")
mistake(
    "more-heads-than-columns-accepted",
    "if n_heads < 1 or d_model % n_heads != 0:",
    "if n_heads <= d_model and d_model % n_heads != 0:",
    "d_model // n_heads)",
    "d_model // n_heads)[..., : d_model // n_heads]",
    "x.reshape(",
    "x[..., : d_model // n_heads * n_heads].reshape(",
).explain("""
    more heads than columns were accepted
    why: The docstring promises a ValueError. Heads of 0 columns compute nothing.
    ask: With 6 columns and 12 heads, what does your function return?""")
mistake(
    "asserted",
    'raise ValueError(f"a width of {d_model} cannot be divided into {n_heads} heads of the same size")',
    "raise AssertionError",
).explain("""
    an AssertionError was raised, not a ValueError
    why: The docstring names the error, so that callers can catch it. `python -O` skips assertions.
    ask: Which exception does `assert` raise, and which does the docstring promise?""")
for name, code, words in (
    ("heads-reversed", ".swapaxes(-2, -3)[..., ::-1, :, :]", "the heads are in reverse order"),
    ("counted-from-the-front", ".swapaxes(1, 2)", "axes 1 and 2 were swapped, counted from the front"),
    ("float64", ".swapaxes(-2, -3).astype(np.float64)", "the result is always float64"),
):
    ask = "What is the result for one text of two positions and four columns, with two heads?"
    if name == "float64":
        ask = "What is the dtype of your result when x is float32?"
    mistake(name, ".swapaxes(-2, -3)", code).explain(f"""
        {words}
        why: The result has the shape (..., H, T, K), the dtype of x, and the first K columns in head 0.
        ask: {ask}""")
mistake(
    "positions-with-heads",
    "x.reshape(*batch, length, n_heads, d_model // n_heads).swapaxes(-2, -3)",
    "x.swapaxes(-1, -2).reshape(*batch, n_heads, d_model // n_heads, length).swapaxes(-1, -2)[..., ::-1]",
).explain("""
    the columns of each head are in reverse order
    why: Column i of head h is column h K + i of x.
    ask: Which column of x is column 0 of head 0?""")
mistake(
    "exactly-no-batch-axis",
    "    *batch, length, d_model = x.shape\n",
    "    length, d_model = x.shape\n    batch = ()\n",
).explain("""
    the code works only without batch axes: T, D = x.shape
    why: There may be any number of batch axes in front.
    ask: How can you read off the last two sizes, whatever comes before them?""")

mistake = MISTAKES.for_functions("multihead.merge_heads")
mistake("reshaped-without-exchange", ".swapaxes(-2, -3)", "", common=True).explain("""
    x was reshaped straight to (…, T, D), without swapping axes
    why: The shape is right, but the entries are in the wrong places: each position gets pieces of several positions.
    ask: reshape keeps the order of the entries in memory. Which entries are next to each other before your reshape?""")
mistake("interleaved", "x.swapaxes(-2, -3)", "np.moveaxis(x, -3, -1)").explain("""
    the columns of the heads alternate instead of standing side by side
    why: All columns of head 0 come first, then all columns of head 1, and so on.
    ask: Which columns of the result come from head 0 by the formula, and which in your result?""")
mistake("wrong-axes", ".swapaxes(-2, -3)", ".swapaxes(-1, -2)").explain("""
    positions and columns were swapped, not heads and positions
    why: The entries of one position are then spread over several positions.
    ask: Which two axes must be next to each other, and in which order, before they can be joined?""")
mistake("counted-from-the-front", ".swapaxes(-2, -3)", ".swapaxes(1, 2)").explain("""
    axes 1 and 2 were swapped, counted from the front
    why: These are the heads and the positions only if there is exactly one batch axis.
    ask: Counted from the end, which axes are the heads and the positions?""")
mistake(
    "counted-from-the-front-and-joined", _MERGED, "x.swapaxes(1, 2).reshape(*x.swapaxes(1, 2).shape[:-2], -1)"
).explain("""
    axes 1 and 2 were swapped, counted from the front
    why: These are the heads and the positions only if there is exactly one batch axis.
    ask: Counted from the end, which axes are the heads and the positions?""")
mistake("one-batch-axis-only", "*batch, n_heads, length,", "B, n_heads, length,", "(*batch,", "(B,").explain("""
    the code works with exactly one batch axis: B, H, T, K = x.shape
    why: A single text has no batch axis, and there may be more than one.
    ask: How can you read off the last three sizes, whatever comes before them?""")
for name, verb, code in (
    ("heads-added", "added up", "x.sum(axis=-3)"),
    ("heads-averaged", "averaged", "x.mean(axis=-3)"),
):
    mistake(name, _MERGED, code).explain(f"""
        the heads were {verb}, not put side by side
        why: W_o can then no longer treat the heads differently.
        ask: How many entries does a position have in all its heads together, and how many in your result?""")
mistake("not-joined", _MERGED, "x.swapaxes(-2, -3)").explain("""
    heads and positions were swapped, but not joined: (…, T, H, K)
    why: The last two axes have to become one.
    ask: How many axes does the result have according to the docstring?""")
mistake(
    "along-the-positions", _MERGED, "np.concatenate([x[..., h, :, :] for h in range(n_heads)], axis=-2)"
).explain("""
    the heads were joined along the positions, not side by side
    why: The result then has H times as many positions as the text.
    ask: Along which axis, counted from the end, should the heads be joined?""")

for name, size, words in (
    ("heads", "x.shape[1]", "the number of heads was read from axis 1, counted from the front"),
    ("heads-and-positions", "x.shape[1]", "the sizes were read from axes 1 and 2, counted from the front"),
):
    more = "" if name == "heads" else "    length = x.shape[2]\n"
    line = "    *batch, n_heads, length, head_size = x.shape\n"
    mistake(f"{name}-counted-from-the-front", line, f"{line}    n_heads = {size}\n{more}").explain(f"""
        {words}
        why: That is right for exactly one batch axis.
        ask: Counted from the end, which axis holds the heads?""")
mistake(
    "heads-in-a-loop-from-the-front",
    _MERGED,
    "np.concatenate([x[..., h, :, :] for h in range(x.shape[1])], axis=-1)",
    group="axis 1",
).explain("""
    the loop over the heads has as many steps as axis 1, counted from the front
    why: That is the number of heads for exactly one batch axis only.
    ask: Counted from the end, which axis holds the heads?""")
for name, code, words in (
    (
        "heads-reversed",
        "x[..., ::-1, :, :].swapaxes(-2, -3).reshape(*batch, length, n_heads * head_size)",
        "the heads are in reverse order",
    ),
    ("float64", f"{_MERGED}.astype(np.float64)", "the result is always float64"),
    ("first-head-only", "x[..., 0, :, :]", "only the first head was returned"),
    ("last-head-only", "x[..., -1, :, :]", "only the last head was returned"),
):
    ask = "Which columns of the result come from head 0 by the formula, and which in your result?"
    if name == "float64":
        ask = "What is the dtype of your result when x is float32?"
    mistake(name, _MERGED, code).explain(f"""
        {words}
        why: The result has the shape (..., T, H K) and the dtype of x; the columns of head 0 come first.
        ask: {ask}""")
mistake(
    "exactly-no-batch-axis",
    "    *batch, n_heads, length, head_size = x.shape\n",
    "    n_heads, length, head_size = x.shape\n    batch = ()\n",
).explain("""
    the code works only without batch axes: H, T, K = x.shape
    why: There may be any number of batch axes in front.
    ask: How can you read off the last three sizes, whatever comes before them?""")

mistake = MISTAKES.for_functions("multihead.multihead_attention")
mistake(
    "split-by-reshape",
    "heads, weights = attention(q, k, v, mask)",
    "q, k, v = (merge_heads(part) for part in (q, k, v))\n"
    "    q, k, v = (p.reshape(*p.shape[:-2], n_heads, p.shape[-2], -1) for p in (q, k, v))\n"
    "    heads, weights = attention(q, k, v, mask)",
).explain("""
    q, k and v were split into heads by reshape alone, without swapping axes
    why: The shape is right, but the entries are in the wrong places: each head gets pieces of several positions.
    ask: You have written split_heads. Does your line do the same?""")
mistake("merged-by-reshape", "merge_heads(heads)", "heads.reshape(x.shape)", common=True).explain("""
    the heads were merged by reshape alone, without swapping axes
    why: The shape is right, but positions are mixed. In a causal model, some positions can then read later ones, and
         the loss falls far too low.
    ask: You have written merge_heads. Does your line do the same?""")
mistake("no-output-projection", "out = _project(merged, W_o, b_o)", "out = merged", common=True).explain("""
    the output was not multiplied by W_o
    why: W_o mixes the results of the heads. Without it each head fills its own columns of the output.
    ask: Which of the four parameters does your code not use?""")
mistake("output-projection-transposed", "_project(merged, W_o, b_o)", "_project(merged, W_o.T, b_o)").explain("""
    W_o was transposed
    why: Weights have the shape (in, out) here, as in x W. PyTorch's own layers store (out, in).
    ask: Is W_o transposed in the formula?""")
mistake("no-output-bias", "_project(merged, W_o, b_o)", "_project(merged, W_o, None)", common=True).explain("""
    b_o was not added
    why: As long as the bias is 0, the mistake stays hidden.
    ask: Which of the four parameters does your code not use?""")
mistake("no-input-bias", 'params.get("b_qkv")', "None").explain("""
    b_qkv was not added
    why: As long as the bias is 0, the mistake stays hidden.
    ask: Which of the four parameters does your code not use?""")
for name, bias in (("input-bias-required", "b_qkv"), ("output-bias-required", "b_o")):
    mistake(name, f'params.get("{bias}")', f'params["{bias}"]').explain(f"""
        the code fails if {bias} is absent
        why: Each bias may be absent from the parameters.
        ask: What does params[...] do if the key is absent? What does params.get(...) do?""")
mistake(
    "thirds-within-heads",
    "split_heads(_project(x, W_qkv, b_qkv), 3 * n_heads)",
    "split_heads(_project(x, W_qkv, b_qkv), n_heads)",
    "(heads[..., i * n_heads : (i + 1) * n_heads, :, :] for i in range(3))",
    "np.split(heads, 3, axis=-1)",
).explain("""
    the columns were cut into heads first, and each head into q, k and v
    why: Some models store their weights this way. Here all queries come first, then all keys, then all values.
    ask: With two heads, x W_qkv has six groups of K columns. What does the second group hold: queries, keys or
         values?""")
mistake(
    "scaled-by-whole-width", "attention(q, k, v, mask)", "attention(q / n_heads**0.5, k, v, mask)", common=True
).explain("""
    the scores were divided by √D, not by √K, the size of a head
    why: Each head multiplies vectors of K = D / H entries. With one head the mistake stays hidden.
    ask: How long are the vectors that are multiplied within one head?""")
mistake("scaled-twice", "attention(q, k, v, mask)", "attention(q / q.shape[-1] ** 0.5, k, v, mask)").explain("""
    the scores were divided by √K twice
    why: `attention` divides by √K already.
    ask: Which line divides the scores: one of yours, one in `attention`, or both?""")
mistake(
    "one-head",
    "heads, weights = attention(q, k, v, mask)",
    "q, k, v = (merge_heads(part)[..., None, :, :] for part in (q, k, v))\n"
    "    heads, weights = attention(q, k, v, mask)",
).explain("""
    q, k and v were not split into heads
    why: A single head of full width has one set of weights for each query; several heads have several.
    ask: Does your result change when n_heads changes?""")
mistake("mask-ignored", "attention(q, k, v, mask)", "attention(q, k, v)", common=True).explain("""
    the mask was not used
    why: Every position then attends to all others, including the future and the padding.
    ask: Does your result change when the mask changes?""")
mistake("mask-ignored-with-memory", "(q, k, v, mask)", "(q, k, v, mask if memory is None else None)").explain("""
    in cross attention the mask was not used
    why: The queries then also attend to the padding of the other text.
    ask: With a memory, does your result change when the mask changes?""")
mistake("mask-inverted", "attention(q, k, v, mask)", "attention(q, k, v, None if mask is None else ~mask)").explain("""
    the mask was inverted before it was passed to attention
    why: True means that the query may attend to the key, here and in `attention`.
    ask: What does True mean in your mask, and what does it mean in the mask of `attention`?""")
mistake(
    "causal-by-default",
    "attention(q, k, v, mask)",
    "attention(q, k, v, np.tri(q.shape[-2], k.shape[-2], dtype=bool) if mask is None else mask)",
).explain("""
    without a mask, a causal mask was used
    why: mask=None means that every query may attend to every key. An encoder needs that.
    ask: What should happen when mask is None?""")
mistake("memory-ignored", "    d_model = x.shape[-1]", "    d_model, memory = x.shape[-1], None").explain("""
    the memory was not used
    why: The function then always computes self attention; the other text has no influence.
    ask: Does your result change when the memory changes?""")
mistake("queries-from-memory", "split_heads(_project(x, W_qkv[:,", "split_heads(_project(memory, W_qkv[:,").explain("""
    in cross attention the queries were made from the memory
    why: The queries come from x, the keys and values from the memory.
    ask: How many rows does your result have: as many as x, or as many as the memory?""")
mistake(
    "roles-exchanged",
    "split_heads(_project(x, W_qkv[:, :d_model], b_q)",
    "split_heads(_project(memory, W_qkv[:, :d_model], b_q)",
    "_project(memory, W_qkv[:, d_model:], b_kv)",
    "_project(x, W_qkv[:, d_model:], b_kv)",
).explain("""
    in cross attention x and the memory were swapped
    why: The queries come from x, the keys and values from the memory.
    ask: How many rows does your result have: as many as x, or as many as the memory?""")
mistake("keys-and-values-exchanged-with-memory", "k, v = heads[", "v, k = heads[").explain("""
    in cross attention keys and values were swapped
    why: The name of W_qkv gives the order: q, k, v.
    ask: Which columns of W_qkv make the keys by the formula?""")
mistake("no-input-bias-with-memory", "(b_qkv[:d_model], b_qkv[d_model:])", "(b_qkv[:d_model], None)").explain("""
    in cross attention b_qkv was not added to the values, or not to keys and values
    why: As long as the bias is 0, the mistake stays hidden.
    ask: Which part of b_qkv belongs to the keys, and which to the values?""")
for part, columns in (("queries", ":d_model"), ("keys", "d_model : 2 * d_model")):
    mistake(
        f"bias-of-{part}-on-values-with-memory",
        "(b_qkv[:d_model], b_qkv[d_model:])",
        f"(b_qkv[:d_model], np.tile(b_qkv[{columns}], 2))",
    ).explain(f"""
        in cross attention the part of b_qkv for the {part} was added to the values
        why: b_qkv has three parts of D numbers in the order q, k, v, as the columns of W_qkv.
        ask: Which part of b_qkv belongs to the keys, and which to the values?""")
mistake("input-added", "out = _project(merged, W_o, b_o)", "out = _project(merged, W_o, b_o) + x").explain("""
    the input x was added to the output
    why: That is the residual connection. It belongs to the block, `blocks`.
    ask: Does the formula have a + x after W_o?""")
mistake("cache-not-returned", "return out, cache", "return out").explain("""
    only the output was returned, without the cache
    why: The backward pass needs values that the forward pass has computed.
    ask: How many results does the docstring list?""")
mistake("weights-missing", '"weights": weights', '"attention": weights').explain("""
    the cache has no entry "weights"
    why: Plots and later assignments look for the attention weights under this name.
    ask: Which entry of the cache does the docstring name?""")
mistake("weights-averaged", '"weights": weights', '"weights": weights.mean(axis=-3)').explain("""
    cache["weights"] holds the average over the heads, not each head's weights
    why: PyTorch's own layer returns the average by default. Here each head keeps its own weights.
    ask: How many sets of weights are there for one text?""")
mistake("head-axis-added-to-mask", "(q, k, v, mask)", "(q, k, v, mask if mask is None else mask[:, None])").explain("""
    an extra axis was added to every mask
    why: Masks already fit (..., H, T, S): (T, S), (B, 1, T, S). With [:, None] a mask (T, S) becomes (T, 1, S), and its
         queries line up with the heads.
    ask: What shape does a mask (T, S) have after your line? With which axis of (..., H, T, S) does its first axis line
         up?""")
mistake(
    "columns-in-turn",
    'W_qkv, b_qkv = params["W_qkv"], params.get("b_qkv")',
    """W_qkv, b_qkv = params["W_qkv"], params.get("b_qkv")
    W_qkv = np.concatenate([W_qkv[:, i::3] for i in range(3)], axis=1)
    b_qkv = None if b_qkv is None else np.concatenate([b_qkv[i::3] for i in range(3)])""",
).explain("""
    q, k and v got the columns of W_qkv in turn: 0, 3, 6, … for q
    why: The first D columns make the queries, the next D the keys, the last D the values.
    ask: Which columns of W_qkv make the queries: 0, 1, 2, … or 0, 3, 6, …?""")
mistake("output-for-weights", '"weights": weights', '"weights": heads').explain("""
    cache["weights"] holds the output of attention, not its weights
    why: attention returns two results: out and weights.
    ask: What is the shape of your entry? The weights have one entry for each query and each key.""")
mistake("three-results", "return out, cache", "return out, weights, cache").explain("""
    three values were returned: out, weights and cache
    why: The weights go into the cache.
    ask: How many results does the docstring list?""")
