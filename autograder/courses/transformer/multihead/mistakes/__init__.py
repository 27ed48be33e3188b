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
    ask: For x of shape (2, 5, 12) and 3 heads, which shape do you return: (2, 5, 3, 4) or (2, 3, 5, 4)?""")
mistake(
    "interleaved",
    "x.reshape(*batch, length, n_heads, d_model // n_heads).swapaxes(-2, -3)",
    "np.moveaxis(x.reshape(*batch, length, d_model // n_heads, n_heads), -1, -3)",
).explain("""
    each head got every H-th column, not K neighboring columns
    why: Head h owns the columns from h K up to (h + 1) K.
    ask: Which columns belong to head 0 by the formula, and which does your result have there?""")
mistake("number-and-size-exchanged", "n_heads, d_model //", "d_model // n_heads,", common=True).explain("""
    the number of heads and the size of a head were swapped
    why: n_heads is the number of heads; each head has D / n_heads columns.
    ask: With D = 12 and 3 heads, how long should the last axis of the result be?""")
mistake("head-transposed", ".swapaxes(-2, -3)", ".swapaxes(-2, -3).swapaxes(-1, -2)").explain("""
    the last two axes of the result are swapped: (…, H, K, T)
    why: Swapping these two axes belongs to q kᵀ, which `attention` computes itself.
    ask: For 5 positions and heads of width 4, are the last two sizes of your result 5, 4 or 4, 5?""")
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
    ask: For x of shape (2, 5, 12) and 3 heads, is axis 1 of your result as long as the number of heads?""")

_UNEQUAL = 'raise ValueError(f"a width of {d_model} cannot be divided into {n_heads} heads of the same size")'
mistake("remainder-dropped", _UNEQUAL, "x = x[..., : d_model // n_heads * n_heads]").explain("""
    a width that is not a multiple of the number of heads was accepted, and the last columns dropped
    why: Entries that no head gets are lost, and nothing says so.
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
    why: Then the heads hold columns that x does not have, and merge_heads returns a wider array than x.
    ask: With 7 columns and 2 heads, what does your function do?""")

mistake = MISTAKES.for_functions("multihead.merge_heads")
mistake("reshaped-without-exchange", ".swapaxes(-2, -3)", "", common=True).explain("""
    x was reshaped straight to (…, T, D), without swapping axes
    why: The shape is right, but the entries are in the wrong places: each position gets pieces of several positions.
    ask: reshape keeps the order of the entries in memory. Which entries are next to each other before your reshape?""")
mistake("interleaved", "x.swapaxes(-2, -3)", "np.moveaxis(x, -3, -1)").explain("""
    the columns of the heads alternate instead of standing side by side
    why: All columns of head 0 come first, then all columns of head 1, and so on.
    ask: Which columns of the result come from head 0 by the formula, and which in your result?""")
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
    ask: For 3 heads of width 4, how long is the last axis of your result, and how long should it be?""")
mistake(
    "along-the-positions", _MERGED, "np.concatenate([x[..., h, :, :] for h in range(n_heads)], axis=-2)"
).explain("""
    the heads were joined along the positions, not side by side
    why: The result then has H times as many positions as the text.
    ask: Along which axis, counted from the end, should the heads be joined?""")

ask = "Which columns of the result come from head 0 by the formula, and which in your result?"
mistake("first-head-only", _MERGED, "x[..., 0, :, :]").explain(f"""
    only the first head was returned
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
mistake("input-bias-required", 'params.get("b_qkv")', 'params["b_qkv"]').explain("""
    the code fails if b_qkv is absent
    why: Each bias may be absent from the parameters.
    ask: What does params[...] do if the key is absent? What does params.get(...) do?""")
mistake("scaled-by-whole-width", "(q, k, v, mask)", "(q / n_heads**0.5, k, v, mask)", common=True).explain("""
    the scores were divided by √D, not by √K, the size of a head
    why: Each head multiplies vectors of K = D / H entries. With one head the mistake stays hidden.
    ask: How long are the vectors that are multiplied within one head?""")
mistake("mask-ignored", "attention(q, k, v, mask)", "attention(q, k, v)", common=True).explain("""
    the mask was not used
    why: Every position then attends to all others, including the future and the padding.
    ask: Does your result change when the mask changes?""")
mistake(
    "causal-by-default", "k, v, mask", "k, v, np.tri(q.shape[-2], k.shape[-2], dtype=bool) if mask is None else mask"
).explain("""
    without a mask, a causal mask was used
    why: mask=None means that every query may attend to every key. An encoder needs that.
    ask: What should happen when mask is None?""")
mistake("memory-ignored", "    d_model = x.shape[-1]", "    d_model, memory = x.shape[-1], None").explain("""
    the memory was not used
    why: The function then always computes self attention; the other text has no influence.
    ask: Does your result change when the memory changes?""")
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
mistake("input-added", "out = _project(merged, W_o, b_o)", "out = _project(merged, W_o, b_o) + x").explain("""
    the input x was added to the output
    why: That is the residual connection. It belongs to the block, `blocks`.
    ask: Does the formula have a + x after W_o?""")
mistake("cache-not-returned", "return out, cache", "return out").explain("""
    only the output was returned, without the cache
    why: The backward pass needs values that the forward pass has computed.
    ask: What happens in `out, cache = multihead_attention(...)` with what you return?""")
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
