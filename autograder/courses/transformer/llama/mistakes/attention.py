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

mistake = MISTAKES.for_functions("llama.grouped_query_attention")

# Which head uses which keys.
_LONGER = "np.repeat(shared, n_heads // shared.shape[-3], axis=-2)"
_MIXED = "np.repeat(shared.swapaxes(-2, -3), n_heads // shared.shape[-3], axis=-2)"
_TILE = "shared[..., np.arange(n_heads) % shared.shape[-3], :, :]"
for name, code, title in (
    ("tiled", _TILE, "the heads of the keys and values were repeated in turn: 0, 1, 0, 1 instead of 0, 0, 1, 1"),
    ("first-for-all", "shared[..., np.zeros(n_heads, int), :, :]", "all heads used the first head of keys and values"),
    ("last-for-all", "shared[..., np.full(n_heads, -1), :, :]", "all heads used the last head of keys and values"),
    (
        "averaged",
        "np.repeat(shared.mean(axis=-3, keepdims=True), n_heads, axis=-3)",
        "the heads of the keys and values were averaged",
    ),
    (
        "reversed",
        f"{_REPEAT}[..., ::-1, :, :]",
        "the heads of the keys and values were used in reverse order",
    ),
    (
        "positions-repeated",
        f"{_LONGER}.reshape(*shared.shape[:-3], n_heads, *shared.shape[-2:])",
        "the positions were repeated, not the heads",
    ),
    (
        "by-reshape",
        f"{_MIXED}.reshape(*shared.shape[:-3], n_heads, *shared.shape[-2:])",
        "after repeating, heads and positions were mixed by a reshape",
    ),
):
    mistake(name, _REPEAT, code, inside="_for_all_heads", common=name in ("tiled", "first-for-all")).explain(f"""
        {title}
        why: Head h of the queries uses head h // (H / G) of the keys and values: neighbouring heads share.
        ask: With H = 6 and G = 2, which keys does query head 1 use by the formula, and which in your code?""")
for letter, words in (("k", "keys"), ("v", "values")):
    old = f"_for_all_heads({letter}, n_heads)"
    tiled = _TILE.replace("shared", letter)
    mistake(f"{words}-tiled", old, tiled).explain(f"""
        the heads of the {words} were repeated in turn, 0, 1, 0, 1, and not 0, 0, 1, 1
        why: Head h of the queries uses head h // (H / G) of the keys and values: neighbouring heads share.
        ask: Do np.tile and np.repeat put the copies of head 0 next to each other?""")
    mistake(f"{words}-of-first-head", old, f"{letter}[..., np.zeros(n_heads, int), :, :]").explain(f"""
        all heads used the {words} of the first head
        why: Head h of the queries uses head h // (H / G) of the keys and values.
        ask: Which {words} does the last head use in your code?""")
mistake("not-repeated", "_for_all_heads(k, n_heads), _for_all_heads(v, n_heads)", "k, v").explain("""
    the heads of the keys and values were not repeated
    why: `attention` pairs each head of the queries with the head of the keys at the same place. G heads fit H heads
         only if G is H or 1.
    ask: What is the shape of your q, and what is that of your k?""")
mistake(
    "queries-averaged",
    _CALL,
    "attention(np.repeat(q.reshape(*q.shape[:-3], n_kv_heads, -1, *q.shape[-2:]).mean(axis=-3),"
    " n_heads // n_kv_heads, axis=-3), _for_all_heads(k, n_heads), _for_all_heads(v, n_heads), mask)",
).explain("""
    the queries of the heads that share keys were averaged
    why: Only keys and values are shared. Each head keeps its own queries.
    ask: How many different rows of weights does one position have?""")

# The rotation.
for name, edits, title in (
    ("values-rotated", (_V, f"v = rope({_V[4:]}, positions, base)"), "the values were rotated, too"),
    (
        "queries-not-rotated",
        (_Q, _Q.replace("rope(", "(").replace(", positions, base", "")),
        "the queries were not rotated",
    ),
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
    ("input-rotated", (_POSITIONS, f"{_POSITIONS}\n    x = rope(x, positions, base)"), "x itself was rotated, too"),
    (
        "keys-rotated-back",
        (_K, _K.replace("positions, base", "-np.asarray(positions), base")),
        "the keys were rotated the other way",
    ),
    (
        "queries-rotated-back",
        (_Q, _Q.replace("positions, base", "-np.asarray(positions), base"), _K, _K),
        "the queries were rotated the other way",
    ),
    (
        "both-rotated-back",
        (
            _Q,
            _Q.replace("positions, base", "-np.asarray(positions), base"),
            _K,
            _K.replace("positions, base", "-np.asarray(positions), base"),
        ),
        "queries and keys were both rotated the other way",
    ),
    (
        "queries-rotated-twice",
        (_Q, _Q.replace("q = rope", "q = rope(rope") + ", positions, base)"),
        "the queries were rotated twice",
    ),
    (
        "keys-rotated-twice",
        (_K, _K.replace("k = rope", "k = rope(rope") + ", positions, base)"),
        "the keys were rotated twice",
    ),
    (
        "outputs-rotated",
        ("merged = merge_heads(heads)", "merged = merge_heads(rope(heads, positions, base))"),
        "the outputs of the heads were rotated",
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
        "positions-only-for-queries",
        (_K, _K.replace("positions,", "np.arange(x.shape[-2]),")),
        "the positions were used for the queries only",
    ),
    (
        "positions-only-for-keys",
        (_Q, _Q.replace("positions,", "np.arange(x.shape[-2]),")),
        "the positions were used for the keys only",
    ),
    (
        "queries-one-later",
        (_Q, _Q.replace("positions,", "np.asarray(positions) + 1,")),
        "the queries were rotated by positions that are one too large",
    ),
    (
        "keys-one-later",
        (_K, _K.replace("positions,", "np.asarray(positions) + 1,")),
        "the keys were rotated by positions that are one too large",
    ),
    (
        "all-at-position-zero",
        (_POSITIONS, "positions = np.zeros(x.shape[-2]) if positions is None else positions"),
        "without the argument positions, all positions were 0",
    ),
    (
        "positions-reversed",
        (_POSITIONS, "positions = np.arange(x.shape[-2])[::-1] if positions is None else positions"),
        "without the argument positions, they were counted from the end",
    ),
    (
        "positions-of-batch",
        (_POSITIONS, "positions = np.arange(len(x)) if positions is None else positions"),
        "the positions were counted along the first axis",
    ),
    (
        "positions-tested-as-a-value",
        (_POSITIONS, "positions = positions if positions else np.arange(x.shape[-2])"),
        "the positions were tested with `if positions`, not with `is None`",
    ),
):
    mistake(name, *edits, common=name == "positions-ignored").explain(f"""
        {title}
        why: Row t of x is at positions[t], for queries and keys alike; None means 0 to T - 1.
        ask: Which positions does your code pass to rope for the queries, and which for the keys?""")
for name, edits, title in (
    ("base-ignored", (_Q, _Q.replace(", base", ""), _K, _K.replace(", base", "")), "the argument base was not used"),
    ("base-only-for-queries", (_K, _K.replace(", base", "")), "the base was used for the queries only"),
    ("base-only-for-keys", (_Q, _Q.replace(", base", "")), "the base was used for the keys only"),
):
    mistake(name, *edits).explain(f"""
        {title}
        why: Models differ in their base: Llama 2 has 10,000, Llama 3 has 500,000.
        ask: Which arguments does each of your calls of rope have?""")

# Scale, mask, softmax.
for name, factor, title in (
    ("width", "n_heads**-0.5", "the scores were divided by √D, not by √K, the size of a head"),
    ("nothing", "q.shape[-1] ** 0.5", "the scores were not divided by √K"),
    ("twice", "q.shape[-1] ** -0.5", "the scores were divided by √K twice"),
    ("shared-width", "n_kv_heads**-0.5", "the scores were divided by √(G K), not by √K"),
    (
        "group-size",
        "(n_heads // n_kv_heads) ** -0.5",
        "the scores were divided by the root of the number of heads in a group, too",
    ),
):
    mistake(f"scaled-by-{name}", _CALL, _CALL.replace("(q,", f"(q * {factor},", 1), common=name == "width").explain(f"""
        {title}
        why: A score is a product of two vectors with K entries, K = D / H.
        ask: How long are the vectors that are multiplied within one head? Which line divides by the root of that?""")
for name, code, title in (
    ("ignored", "None", "the mask was not used"),
    ("inverted", "None if mask is None else ~mask", "the mask was inverted before it was passed to attention"),
    ("transposed", "None if mask is None else mask.swapaxes(-1, -2)", "the mask was transposed"),
    ("with-head-axis", "None if mask is None else mask[..., None, :, :]", "an extra axis was added to every mask"),
    (
        "of-first-text",
        "None if mask is None else mask.reshape(-1, *mask.shape[-2:])[0]",
        "the mask of the first text and head was used for all",
    ),
    (
        "of-first-head",
        "mask if mask is None or mask.ndim < 3 else mask[..., :1, :, :]",
        "the mask of the first head was used for all",
    ),
    (
        "causal-by-default",
        "np.tri(x.shape[-2], dtype=bool) if mask is None else mask",
        "a causal mask was applied although mask is None",
    ),
    (
        "always-causal",
        "np.tri(x.shape[-2], dtype=bool) & (True if mask is None else mask)",
        "a causal mask was always applied, whatever the mask",
    ),
    ("tested-as-a-value", "mask if mask else None", "the mask was tested with `if mask`, not with `mask is not None`"),
):
    mistake(f"mask-{name}", _CALL, _CALL.replace("mask)", f"{code})"), common=name == "ignored").explain(f"""
        {title}
        why: The mask says which queries may attend to which keys, and fits (..., H, T, T) as it is. None means that
             every query may attend to every key.
        ask: What does your code do with the mask before `attention` gets it, and what if it is None?""")

# Which matrix makes what, and the joining of the heads.
for name, edits, title in (
    (
        "keys-and-values-exchanged",
        (_K, _K.replace("W_k", "W_v"), _V, _V.replace("W_v", "W_k")),
        "W_k made the values, and W_v the keys",
    ),
    ("values-from-keys", (_V, _V.replace("W_v", "W_k")), "the values were made with W_k"),
    ("keys-from-values", (_K, _K.replace("W_k", "W_v")), "the keys were made with W_v"),
    ("values-are-keys", (_V, "v = k"), "the keys were used as values"),
    ("no-output-matrix", (_OUT, "out = merged * 1"), "the product with W_o is missing"),
    ("output-matrix-transposed", (_OUT, _OUT.replace('params["W_o"]', 'params["W_o"].T')), "W_o was transposed"),
    ("query-matrix-transposed", (_Q, _Q.replace('params["W_q"]', 'params["W_q"].T')), "W_q was transposed"),
    ("output-matrix-for-queries", (_Q, _Q.replace("W_q", "W_o")), "the queries were made with W_o"),
    ("query-matrix-for-output", (_OUT, _OUT.replace("W_o", "W_q")), "the heads were mixed with W_q, not with W_o"),
    ("residual-added", (_OUT, f"{_OUT} + x"), "x was added to the output"),
):
    mistake(name, *edits, common=name == "no-output-matrix").explain(f"""
        {title}
        why: W_q makes the queries, W_k the keys, W_v the values, each from x, and W_o mixes the joined heads.
        ask: Which line of your code uses each of the four matrices, and in which order are its axes?""")
for name, code, title in (
    ("merged-by-reshape", "heads.reshape(x.shape)", "the heads were merged by reshape alone, without swapping axes"),
    (
        "merged-interleaved",
        "np.moveaxis(heads, -3, -1).reshape(x.shape)",
        "the columns of the heads alternate instead of standing side by side",
    ),
    ("merged-backwards", "merge_heads(heads[..., ::-1, :, :])", "the heads were joined in reverse order"),
):
    mistake(name, "merge_heads(heads)", code).explain(f"""
        {title}
        why: All columns of head 0 come first, then all columns of head 1, and so on.
        ask: You have written merge_heads. Does your line do the same?""")
for letter, old, count in (("q", _Q, "n_heads"), ("k", _K, "n_kv_heads"), ("v", _V, "n_kv_heads")):
    words = {"q": "queries", "k": "keys", "v": "values"}[letter]
    inner = f'split_heads(linear(x, params["W_{letter}"], None), {count})'
    code = f"merge_heads({inner}).reshape({inner}.shape)"
    mistake(f"{words}-split-by-reshape", old, old.replace(inner, code)).explain(f"""
        the {words} were split into heads by reshape alone, without swapping axes
        why: The shape is right, but the entries are in the wrong places: each head gets pieces of several positions.
        ask: You have written split_heads. Does your line do the same?""")
    code = f'np.moveaxis(linear(x, params["W_{letter}"], None).reshape(*x.shape[:-1], -1, {count}), -1, -3)'
    mistake(f"{words}-interleaved", old, old.replace(inner, code)).explain(f"""
        the heads of the {words} alternate: each got every H-th column, not K neighbouring columns
        why: Head h owns the columns from h K up to (h + 1) K.
        ask: Which columns belong to head 0 by the formula, and which in your code?""")

# The results.
for name, code, words in (
    ("transposed", "weights.swapaxes(-1, -2)", "the weights transposed, with keys before queries"),
    ("averaged", "weights.mean(axis=-3)", "the average of the heads' weights"),
    ("of-groups", "weights[..., :: n_heads // n_kv_heads, :, :]", "only the weights of the first head of each group"),
    ("of-the-first-head", "weights[..., 0, :, :]", "the weights of the first head only"),
    (
        "unmasked",
        "attention(q, _for_all_heads(k, n_heads), _for_all_heads(v, n_heads))[1]",
        "the weights without the mask",
    ),
    ("scores", "q @ _for_all_heads(k, n_heads).swapaxes(-1, -2)", "the scores, not the weights"),
    ("outputs", "heads", "the outputs of the heads, not their weights"),
):
    mistake(f"weights-{name}", '"weights": weights', f'"weights": {code}').explain(f"""
        cache["weights"] holds {words}
        why: The docstring promises the attention weights of every query head, (..., H, T, T).
        ask: What is the shape of your entry, and along which axis does it sum to 1?""")
mistake("weights-missing", '"weights": weights, ', "").explain("""
    the cache has no entry "weights"
    why: The docstring promises it, for plots and for checks.
    ask: Under which name are the attention weights in your cache?""")
mistake("cache-first", _RETURN, 'return cache | {"weights": weights}, out\n    return out, cache |').explain("""
    cache and out were returned in the wrong order
    why: The caller uses the first result as the output.
    ask: In which order does the docstring list the results?""")
mistake("cache-not-returned", _RETURN, "return out\n    return out, cache |").explain("""
    only the output was returned, without the cache
    why: The backward pass needs what the forward pass computed.
    ask: How many results does the docstring list?""")
mistake("three-results", _RETURN, "return out, weights, cache\n    return out, cache |").explain("""
    three values were returned: out, weights and cache
    why: The weights go into the cache.
    ask: How many results does the docstring list?""")
mistake("always-float64", _RETURN, "return out.astype(np.float64), cache |").explain("""
    the output is always float64
    why: np.zeros and np.sqrt give float64 unless a dtype is given. float32 should stay float32.
    ask: What is the dtype of each intermediate result if the inputs are float32?""")
mistake("factor", _OUT, f"{_OUT} * CONSTANT", constant=0.5).explain("""
    the output is {constant} times what it should be
    why: The formula has no other factors.
    ask: Which numbers does your code multiply by that are not in the formula?""")
mistake(
    "groups-not-checked",
    _CHECK,
    "while n_heads % n_kv_heads:\n            n_kv_heads -= 1\n"
    '        params = params | {n: params[n][:, : x.shape[-1] // n_heads * n_kv_heads] for n in ("W_k", "W_v")}',
).explain("""
    a number of query heads that is not a multiple of the number of key heads was accepted
    why: The docstring promises a ValueError.
    ask: With 6 heads of queries and 4 of keys, how many heads share one head of keys in your code?""")
mistake(
    "width-not-checked",
    _POSITIONS,
    f"while x.shape[-1] % n_heads:\n        n_heads, n_kv_heads = n_heads - 1, 1\n    {_POSITIONS}\n"
    "    size = x.shape[-1] // n_heads // 2 * 2\n"
    '    if size * n_heads < x.shape[-1] or params["W_k"].shape[-1] != size * n_kv_heads:\n'
    "        return np.zeros_like(x), {}",
).explain("""
    a width that is not a multiple of the number of heads was accepted
    why: The docstring promises a ValueError.
    ask: With 10 columns and 4 heads, how many columns does each head have in your code?""")
mistake("x-in-place", _POSITIONS, f"{_POSITIONS}\n    x += 1e-12 * x").explain("""
    x was changed in place
    why: In a block, x is also the residual stream, and goes on beside the attention.
    ask: Which of your lines write into an array that you did not create?""")
mistake("params-in-place", _POSITIONS, f'{_POSITIONS}\n    params["n_heads"] = np.array(n_heads)').explain("""
    an entry was added to params
    why: That changes the caller's dict, and the model gets a parameter that it did not have.
    ask: Which dictionary is for what the backward pass needs?""")
add_batch_axes_mistakes(mistake, _POSITIONS)
