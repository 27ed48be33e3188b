"""Mistakes in attention with rotated queries and keys and with shared keys and values."""

from autograder.courses.transformer.common.mistakes.batch_axes import add_batch_axes_mistakes
from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_Q = 'q = rope(split_heads(linear(x, params["W_q"], None), n_heads), positions, base)'
_K = 'k = rope(split_heads(linear(x, params["W_k"], None), n_kv_heads), positions, base)'
_V = 'v = split_heads(linear(x, params["W_v"], None), n_kv_heads)'
_CALL = "attention(q, _for_all_heads(k, n_heads), _for_all_heads(v, n_heads), mask)"
_POSITIONS = "positions = np.arange(x.shape[-2]) if positions is None else positions"
_OUT = 'out = linear(merged, params["W_o"], None)'
_REPEAT = "np.repeat(shared, n_heads // shared.shape[-3], axis=-3)"
_RETURN = "return out, cache |"
_CHECK = 'raise ValueError(f"{n_heads} heads of queries cannot share {n_kv_heads} heads of keys and values evenly")'

mistake = MISTAKES.for_functions("llama_layers.grouped_query_attention")

# Which head uses which keys.
_TILE = "shared[..., np.arange(n_heads) % shared.shape[-3], :, :]"
for name, code, title in (
    ("tiled", _TILE, "the heads of the keys and values were repeated in turn: 0, 1, 0, 1 instead of 0, 0, 1, 1"),
    ("first-for-all", "shared[..., np.zeros(n_heads, int), :, :]", "all heads used the first head of keys and values"),
):
    mistake(name, _REPEAT, code, inside="_for_all_heads", common=name in ("tiled", "first-for-all")).explain(f"""
        {title}
        why: Head h of the queries uses head h // (H / G) of the keys and values: neighboring heads share.
        ask: With H = 6 and G = 2, which keys does query head 1 use by the formula, and which in your code?""")
mistake("not-repeated", "_for_all_heads(k, n_heads), _for_all_heads(v, n_heads)", "k, v").explain("""
    the heads of the keys and values were not repeated
    why: `attention` pairs each head of the queries with the head of the keys at the same place. G heads fit H heads
         only if G is H or 1.
    ask: What is the shape of your q, and what is that of your k?""")

# The rotation.
for name, edits, title in (
    ("values-rotated", (_V, f"v = rope({_V[4:]}, positions, base)"), "the values were rotated, too"),
    ("keys-not-rotated", (_K, _K.replace("rope(", "(").replace(", positions, base", "")), "the keys were not rotated"),
    (
        "nothing-rotated",
        (
            _Q,
            _Q.replace("rope(", "(").replace(", positions, base", ""),
            _K,
            _K.replace("rope(", "(").replace(", positions, base", ""),
        ),
        "neither queries nor keys were rotated",
    ),
    (
        "rotated-before-splitting",
        (
            _Q,
            'q = split_heads(rope(linear(x, params["W_q"], None), positions, base), n_heads)',
            _K,
            'k = split_heads(rope(linear(x, params["W_k"], None), positions, base), n_kv_heads)',
        ),
        "queries and keys were rotated before they were cut into heads",
    ),
):
    mistake(name, *edits, common=name in ("values-rotated", "keys-not-rotated", "nothing-rotated")).explain(f"""
        {title}
        why: In each head, queries and keys are rotated by their positions, once, so that their product depends on the
             distance. What is averaged, the values, stays as it is.
        ask: Which of q, k and v do you pass to rope, at which point, and with which positions?""")
for name, edits, title in (
    ("positions-ignored", (_POSITIONS, "positions = np.arange(x.shape[-2])"), "the argument positions was not used"),
    (
        "all-at-position-zero",
        (_POSITIONS, "positions = np.zeros(x.shape[-2]) if positions is None else positions"),
        "without the argument positions, all positions were 0",
    ),
):
    mistake(name, *edits, common=name == "positions-ignored").explain(f"""
        {title}
        why: Row t of x is at positions[t], for queries and keys alike; None means 0 to T - 1.
        ask: Which positions does your code pass to rope for the queries, and which for the keys?""")
mistake("base-ignored", _Q, _Q.replace(", base", ""), _K, _K.replace(", base", "")).explain("""
    the argument base was not used
    why: Models differ in their base: Llama 2 has 10,000, Llama 3 has 500,000.
    ask: Which arguments does each of your calls of rope have?""")

# Scale, mask, softmax.
mistake("scaled-by-width", _CALL, _CALL.replace("(q,", "(q * n_heads**-0.5,", 1), common=True).explain("""
    the scores were divided by √D, not by √K, the size of a head
    why: A score is a product of two vectors with K entries, K = D / H.
    ask: How long are the vectors that are multiplied within one head? Which line divides by the root of that?""")
for name, code, title in (
    ("ignored", "None", "the mask was not used"),
    ("with-head-axis", "None if mask is None else mask[..., None, :, :]", "an extra axis was added to every mask"),
    (
        "causal-by-default",
        "np.tri(x.shape[-2], dtype=bool) if mask is None else mask",
        "a causal mask was applied although mask is None",
    ),
):
    mistake(f"mask-{name}", _CALL, _CALL.replace("mask)", f"{code})"), common=name == "ignored").explain(f"""
        {title}
        why: The mask says which queries may attend to which keys, and fits (..., H, T, T) as it is. None means that
             every query may attend to every key.
        ask: What does your code do with the mask before `attention` gets it, and what if it is None?""")

# Which matrix makes what, and the joining of the heads.
for name, edits, title in (
    ("no-output-matrix", (_OUT, "out = merged * 1"), "the product with W_o is missing"),
    ("query-matrix-transposed", (_Q, _Q.replace('params["W_q"]', 'params["W_q"].T')), "W_q was transposed"),
):
    mistake(name, *edits, common=name == "no-output-matrix").explain(f"""
        {title}
        why: W_q makes the queries, W_k the keys, W_v the values, each from x, and W_o mixes the joined heads.
        ask: Which line of your code uses each of the four matrices, and in which order are its axes?""")

# The results.
mistake("weights-missing", '"weights": weights, ', "").explain("""
    the cache has no entry "weights"
    why: A block copies it into its own cache, from which the attention maps are drawn.
    ask: Under which name are the attention weights in your cache?""")
mistake("cache-not-returned", _RETURN, "return out\n    return out, cache |").explain("""
    only the output was returned, without the cache
    why: The backward pass needs what the forward pass computed.
    ask: What is cache after `out, cache = grouped_query_attention(…)` in your code, if x has the shape (2, T, D)?""")
mistake("always-float64", _RETURN, "return out.astype(np.float64), cache |").explain("""
    the output is always float64
    why: np.zeros and np.sqrt give float64 unless a dtype is given. float32 should stay float32.
    ask: What is the dtype of each intermediate result if the inputs are float32?""")
mistake(
    "groups-not-checked",
    _CHECK,
    "while n_heads % n_kv_heads:\n            n_kv_heads -= 1\n"
    '        params = params | {n: params[n][:, : x.shape[-1] // n_heads * n_kv_heads] for n in ("W_k", "W_v")}',
).explain("""
    a number of query heads that is not a multiple of the number of key heads was accepted
    why: The heads of queries cannot be divided evenly. Such a model does not exist: the numbers were misread.
    ask: With 6 heads of queries and 4 of keys, how many heads share one head of keys in your code?""")
add_batch_axes_mistakes(mistake, _POSITIONS)
mistake(
    "keys-from-position-0", "n_kv_heads), positions, base)", "n_kv_heads), np.arange(x.shape[-2]), base)"
).explain("""
    the keys were always rotated by the positions from 0 on; only the queries used the argument positions
    why: The score depends on the difference of two positions, so both must be counted from the same start.
    ask: Which positions do your keys get if `positions` begins at 5?""")
