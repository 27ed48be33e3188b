"""More mistakes in multihead.multihead_attention: its branches, its biases, its mask and its cache."""

from autograder.courses.transformer.common.mistakes.batch_axes import add_batch_axes_mistakes
from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_PARAMETERS = 'W_qkv, b_qkv = params["W_qkv"], params.get("b_qkv")\n'
_ATTENTION = "    heads, weights = attention(q, k, v, mask)"
_CALL = "attention(q, k, v, mask)"
_OUT = "out = _project(merged, W_o, b_o)"
_SELF = "heads[..., i * n_heads : (i + 1) * n_heads, :, :] for i in range(3)"
# Where a mistake is made: the end of its name, the start of its title, and the condition.
SCOPES = (
    ("", "", "True"),
    ("-in-self-attention", "in self attention ", "memory is None"),
    ("-in-cross-attention", "in cross attention ", "memory is not None"),
)

mistake = MISTAKES.for_functions("multihead.multihead_attention")
for letters, indices, words in (
    ("kqv", (1, 0, 2), "the first third of W_qkv was used for the keys, the second for the queries"),
    ("qvk", (0, 2, 1), "the second third of W_qkv was used for the values, the last for the keys"),
    ("vkq", (2, 1, 0), "the first third of W_qkv was used for the values, the last for the queries"),
    ("kvq", (2, 0, 1), "the thirds of W_qkv were used in the order k, v, q"),
    ("vqk", (1, 2, 0), "the thirds of W_qkv were used in the order v, q, k"),
):
    for ending, start, condition in SCOPES[: 2 if letters == "qvk" else 3]:
        mistake(
            f"order-{letters}{ending}",
            _PARAMETERS,
            f"""{_PARAMETERS}
    if {condition}:
        W_qkv = np.concatenate([np.split(W_qkv, 3, axis=1)[i] for i in {indices}], axis=1)
        b_qkv = None if b_qkv is None else np.concatenate([np.split(b_qkv, 3)[i] for i in {indices}])
""",
            common=letters == "kqv" and not ending,
        ).explain(f"""
            {start}{words}
            why: The name gives the order: q, k, v.
            ask: Which columns of W_qkv make the queries by the formula, and which the keys?""")
    mistake(
        f"bias-order-{letters}",
        _PARAMETERS,
        f"{_PARAMETERS}    if b_qkv is not None:\n"
        f"        b_qkv = np.concatenate([np.split(b_qkv, 3)[i] for i in {indices}])\n",
        group="order of the bias",
    ).explain("""
        the thirds of b_qkv were not used in the order q, k, v
        why: The bias is cut like the matrix: the first D entries belong to the queries, the next D to the keys.
        ask: Which part of b_qkv belongs to the first D columns of W_qkv?""")

for name, part, words in (
    ("queries", "0:1", "the part of b_qkv for the queries was"),
    ("values", "2:3", "the part of b_qkv for the values was"),
    ("queries-and-values", "0:3", "b_qkv was"),
):
    for ending, start, condition in SCOPES:
        if name + ending in ("queries-and-values", "values-in-cross-attention"):
            continue  # Others give the same answers; a bias of the keys changes no weight.
        mistake(
            f"no-bias-of-{name}{ending}",
            _PARAMETERS,
            f"""{_PARAMETERS}
    if b_qkv is not None and {condition}:
        b_qkv = b_qkv.reshape(3, -1).copy()
        b_qkv[{part}] = 0
        b_qkv = b_qkv.reshape(-1)
""",
        ).explain(f"""
            {start}{words} not added
            why: As long as the bias is 0, the mistake stays hidden.
            ask: Which line adds each part of b_qkv, in self attention and in cross attention?""")
for ending, start, condition in SCOPES[1:]:
    mistake(f"no-output-bias{ending}", _OUT, f"out = _project(merged, W_o, None if {condition} else b_o)").explain(f"""
        {start}b_o was not added
        why: As long as the bias is 0, the mistake stays hidden.
        ask: Which line adds b_o, in self attention and in cross attention?""")
for name, other, edits in (
    ("b_qkv", "b_o", ('params.get("b_qkv")', 'params.get("b_qkv") if "b_o" in params else None')),
    ("b_o", "b_qkv", ('params.get("b_o")', 'params.get("b_o") if "b_qkv" in params else None')),
):
    mistake(f"{name}-only-with-{other}", *edits).explain(f"""
        {name} was added only if there is {other}, too
        why: Each bias may be absent, independently of the other.
        ask: Which keys does your `if` look for, and which keys does the line below it use?""")
    mistake(f"{name}-tested-as-a-value", *edits[:1], f'params["{name}"] if params.get("{name}") else None').explain(f"""
        the code tested whether {name} is true, not whether it exists
        why: NumPy cannot say whether an array of several numbers is true.
        ask: What is the difference between `if params.get("{name}")` and `if "{name}" in params`?""")
    mistake(
        f"{name}-set-in-params",
        *edits[:1],
        f'params.setdefault("{name}", 0 * params["W_o"][0])'
        if name == "b_o"
        else f'params.setdefault("{name}", 0 * params["W_qkv"][0])',
    ).explain(
        """
        a bias of zeros was put into params
        why: That changes the caller's dict, and the model gets a parameter that it did not have.
        ask: What does params.setdefault do if the key is absent?"""
    )
for name, code, words in (
    ("twice", "_project(merged, W_o, b_o) + (0 if b_o is None else b_o)", "b_o was added twice"),
    ("per-head", "_project(merged, W_o, None if b_o is None else n_heads * b_o)", "b_o was added once for each head"),
    (
        "before-matrix",
        "_project(merged if b_o is None else merged + b_o, W_o, None)",
        "b_o was added before the product with W_o",
    ),
    (
        "for-b-o",
        "_project(merged, W_o, None if b_o is None else b_qkv[:d_model] if b_qkv is not None else b_o)",
        "the first part of b_qkv was added in place of b_o",
    ),
):
    mistake(f"output-bias-{name}", _OUT, f"out = {code}").explain(f"""
        {words}
        why: The formula is out = [head_0, head_1, …] W_o + b_o.
        ask: Where in your code is b_o added, and how often does that line run?""")

for name, code, words in (
    (
        "keys-from-x",
        "split_heads(_project(x, W_qkv, b_qkv), 3 * n_heads)[..., n_heads : 2 * n_heads, :, :], v",
        "the keys were made from x",
    ),
    (
        "values-from-x",
        "k, split_heads(_project(x, W_qkv, b_qkv), 3 * n_heads)[..., 2 * n_heads :, :, :]",
        "the values were made from x",
    ),
):
    mistake(name, _ATTENTION, f"    if memory is not None:\n        k, v = {code}\n{_ATTENTION}").explain(f"""
        in cross attention {words}, not from the memory
        why: Keys and values come from the same array, the memory.
        ask: Which array does each of q, k and v come from in your code?""")
mistake("memory-and-x", "_project(memory, W", "_project(np.concatenate([memory, x], axis=-2), W").explain("""
    in cross attention x was attended to as well as the memory
    why: The keys and values come from the memory only.
    ask: How many keys does a query have, if the memory has S positions?""")

for letter, words in (("q", "the queries were"), ("k", "the keys were"), ("v", "the values were")):
    reshaped = f"merge_heads({letter}).reshape({letter}.shape)"
    mistake(f"{letter}-split-by-reshape", _ATTENTION, f"    {letter} = {reshaped}\n{_ATTENTION}").explain(f"""
        {words} split into heads by reshape alone, without swapping axes
        why: The shape is right, but the entries are in the wrong places: each head gets pieces of several positions.
        ask: You have written split_heads. Does your line do the same?""")
for name, code, words in (
    (
        "heads-interleaved",
        "q, k, v = (np.moveaxis(p.reshape(*p.shape[:-1], -1, n_heads), -1, -3) for p in map(merge_heads, (q, k, v)))",
        "each head got every H-th column, not K neighbouring columns",
    ),
    (
        "number-and-size-exchanged",
        "q, k, v = (split_heads(merge_heads(p), d_model // n_heads) for p in (q, k, v))",
        "the number of heads and the size of a head were swapped",
    ),
    (
        "heads-of-positions",
        "q, k, v = (p.swapaxes(-2, -3) for p in (q, k, v))",
        "the head axis was not moved in front of the positions",
    ),
):
    mistake(name, _ATTENTION, f"    {code}\n{_ATTENTION}").explain(f"""
        {words}
        why: Head h owns the columns from h K up to (h + 1) K, and attention works on the last two axes.
        ask: What is the shape of your q, and which entries of x W_qkv are in its first head?""")
for name, code, words in (
    (
        "merged-interleaved",
        "np.moveaxis(heads, -3, -1).reshape(x.shape)",
        "the columns of the heads alternate instead of standing side by side",
    ),
    ("merged-backwards", "merge_heads(heads[..., ::-1, :, :])", "the heads were joined in reverse order"),
    (
        "merged-along-the-columns",
        "heads.swapaxes(-1, -2).reshape(x.shape)",
        "columns and positions were swapped before the heads were joined",
    ),
    (
        "last-head-only",
        "merge_heads(np.repeat(heads[..., -1:, :, :], n_heads, axis=-3))",
        "the last head's result was used for all heads",
    ),
    (
        "first-head-only",
        "merge_heads(np.repeat(heads[..., :1, :, :], n_heads, axis=-3))",
        "the first head's result was used for all heads",
    ),
    (
        "heads-averaged",
        "merge_heads(np.repeat(heads.mean(axis=-3, keepdims=True), n_heads, axis=-3))",
        "the heads were averaged",
    ),
):
    mistake(name, "merge_heads(heads)", code).explain(f"""
        {words}
        why: All columns of head 0 come first, then all columns of head 1, and so on.
        ask: Which columns of the merged array come from head 0?""")

for name, factor, words in (
    ("no-scale", "d_model**0.5 / n_heads**0.5", "the scores were not divided by √K"),
    ("divided-by-both", "d_model**-0.5", "the scores were divided by √K and by √D"),
    (
        "divided-by-heads",
        "(d_model / n_heads) ** 0.5 / n_heads**0.5",
        "the scores were divided by the root of the number of heads",
    ),
    (
        "divided-by-length",
        "(d_model / n_heads) ** 0.5 / x.shape[-2] ** 0.5",
        "the scores were divided by the root of the number of queries",
    ),
):
    mistake(f"scale-{name}", _CALL, f"attention(({factor}) * q, k, v, mask)").explain(f"""
        {words}
        why: Each head divides its scores by √K, where K is the length of its queries. `attention` does this.
        ask: How long are the vectors that are multiplied within one head? Which line divides by its root?""")

for ending, start, condition in SCOPES[1:]:
    mistake(
        f"mask-inverted{ending}", _CALL, f"attention(q, k, v, ~mask if mask is not None and {condition} else mask)"
    ).explain(f"""
        {start}the mask was inverted before it was passed to attention
        why: True means that the query may attend to the key, here and in `attention`.
        ask: What does True mean in your mask, and what does it mean in the mask of `attention`?""")
mistake("mask-ignored-without-memory", _CALL, "attention(q, k, v, None if memory is None else mask)").explain("""
    in self attention the mask was not used
    why: Every position then attends to all others, including the future and the padding.
    ask: Without a memory, does your result change when the mask changes?""")
for name, code, words in (
    ("transposed", "mask.swapaxes(-1, -2)", "the mask was transposed"),
    ("of-the-first-text", "mask.reshape(-1, *mask.shape[-2:])[0]", "the mask of the first text was used for all"),
    (
        "of-the-first-head",
        "mask[..., :1, :, :] if mask.ndim > 2 else mask",
        "the mask of the first head was used for all",
    ),
    ("with-two-new-axes", "mask[:, None, None]", "two extra axes were added to every mask"),
    ("with-axis-before-queries", "mask[..., None, :, :]", "an extra axis was added to every mask, before the queries"),
    ("of-the-first-query", "mask[..., :1, :]", "the first query's row of the mask was used for all queries"),
    ("causal", "mask & np.tri(q.shape[-2], k.shape[-2], dtype=bool)", "every mask was combined with a causal mask"),
):
    mistake(f"mask-{name}", _CALL, f"attention(q, k, v, None if mask is None else {code})").explain(f"""
        {words}
        why: Masks already fit (..., H, T, S), and are passed to attention as they are.
        ask: Print the shape of your mask next to (..., H, T, S). Which axes line up, counted from the end?""")
mistake(
    "always-causal",
    _CALL,
    "attention(q, k, v, np.tri(q.shape[-2], k.shape[-2], dtype=bool) & (True if mask is None else mask))",
).explain("""
    a causal mask was always applied, whatever the mask
    why: The caller decides what is hidden. In an encoder and in cross attention, later positions may be seen.
    ask: Does the formula in the docstring contain a causal mask?""")
mistake(
    "mask-of-batch-with-three-axes",
    _CALL,
    "attention(q, k, v, mask[:, None] if mask is not None and mask.ndim == 3 else mask)",
).explain("""
    a mask of three axes was taken for one per text, and got an axis for the heads
    why: Masks broadcast to (..., H, T, S), so the three axes are (H, T, S). One that does not fit is an error.
    ask: With which axis of (B, H, T, S) does the first of three axes line up?""")
mistake("mask-tested-as-a-value", _CALL, "attention(q, k, v, mask if mask else None)").explain("""
    the mask was tested with `if mask`, not with `mask is not None`
    why: NumPy cannot say whether an array of several booleans is true.
    ask: Which two cases should your `if` distinguish?""")
for name, code in (("", "mask.astype(bool)"), ("-added", "mask == 0 if mask.dtype.kind == 'f' else mask.astype(bool)")):
    mistake(
        f"numbers-in-mask-accepted{name}", _CALL, f"attention(q, k, v, None if mask is None else {code})"
    ).explain("""
        a mask of numbers was accepted
        why: The docstring promises a TypeError. In a mask of 0 and -inf, 0 means "may attend", but as a boolean it is
             False.
        ask: What does your code do with the mask before `attention` sees it?""")
mistake(
    "unsuitable-mask-ignored",
    _ATTENTION,
    """    if mask is not None and np.asarray(mask).dtype == bool:
        try:
            np.broadcast_to(mask, (*q.shape[:-1], k.shape[-2]))
        except ValueError:
            mask = None
"""
    + _ATTENTION,
).explain("""
    a mask that does not fit was ignored
    why: The docstring promises a ValueError: a mask that is silently ignored hides nothing.
    ask: What does your code do with a mask of a wrong shape?""")
mistake(
    "sizes-not-checked",
    "    d_model = x.shape[-1]\n",
    "    d_model = x.shape[-1]\n    while d_model % n_heads:\n        n_heads -= 1\n",
).explain("""
    a width that is not a multiple of the number of heads was accepted
    why: The docstring promises a ValueError.
    ask: With 6 columns and 4 heads, how many columns does each head have in your code?""")

for name, code, words in (
    ("transposed", "weights.swapaxes(-1, -2)", "the weights transposed, (…, H, S, T)"),
    ("heads-after-queries", "weights.swapaxes(-2, -3)", "the weights with the heads after the queries, (…, T, H, S)"),
    ("of-the-first-head", "weights[..., 0, :, :]", "the weights of the first head only"),
    ("of-the-last-head", "weights[..., -1, :, :]", "the weights of the last head only"),
    ("summed", "weights.sum(axis=-3)", "the sum of the heads' weights"),
    ("averaged-over-texts", "weights.mean(axis=0)", "the average over the first axis"),
    ("averaged-over-queries", "weights.mean(axis=-2)", "the average over the queries"),
    ("unmasked", "attention(q, k, v)[1]", "the weights without the mask"),
    ("scores", "q @ k.swapaxes(-1, -2) / q.shape[-1] ** 0.5", "the scores, not the weights"),
):
    mistake(f"weights-{name}", '"weights": weights', f'"weights": {code}').explain(f"""
        cache["weights"] holds {words}
        why: The docstring promises the attention weights of every head, (..., H, T, S).
        ask: What is the shape of your entry, and along which axis does it sum to 1?""")

for name, code, words in (
    ("twice", "_project(_project(merged, W_o, None), W_o, b_o)", "W_o was used twice"),
    ("per-head-order", "_project(merged, W_o[::-1], b_o)", "the rows of W_o were used in reverse order"),
):
    mistake(f"output-matrix-{name}", _OUT, f"out = {code}").explain(f"""
        {words}
        why: The formula is out = [head_0, head_1, …] W_o + b_o.
        ask: Which line of your code uses W_o?""")
for name, code, words in (
    (
        "cut-by-reshape",
        "np.concatenate(list(W_qkv.reshape(3, d_model, d_model)), axis=1)",
        "W_qkv was cut into three matrices by reshape",
    ),
    (
        "transposed-thirds",
        "np.concatenate([part.T for part in np.split(W_qkv, 3, axis=1)], axis=1)",
        "each third of W_qkv was transposed",
    ),
):
    mistake(name, _PARAMETERS, f"{_PARAMETERS}    W_qkv = {code}\n").explain(f"""
        {words}
        why: The first D columns make the queries, the next D the keys, the last D the values.
        ask: Which entries of W_qkv does the first of your three matrices hold?""")
mistake("cache-first", "return out, cache", "return cache, out").explain("""
    cache and out were returned in the wrong order
    why: The caller uses the first result as the output.
    ask: In which order does the docstring list the results?""")
add_batch_axes_mistakes(mistake, "d_model = x.shape[-1]\n")
mistake(
    "absent-biases-of-float64-zeros",
    "return out, cache",
    "return out.astype(x.dtype if len(params) == 4 else np.float64), cache",
).explain("""
    without a bias, the results are float64 even when the inputs are float32
    why: np.zeros makes float64 arrays unless a dtype is given.
    ask: What is the dtype of the zeros that stand for an absent bias?""")
mistake("always-float64", "return out, cache", "return out.astype(np.float64), cache").explain("""
    the output is always float64
    why: np.zeros and np.sqrt give float64 unless a dtype is given. float32 should stay float32.
    ask: What is the dtype of each intermediate result if the inputs are float32?""")

# One third of the parameters is used twice, and another one not at all.
_PARTS = ("queries", "keys", "values")
for wrong, right in ((0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)):
    for ending, start, condition in SCOPES:
        for name in ("", "-but-not-bias"):
            thirds = tuple(wrong if i == right else i for i in range(3))
            pick = f"np.concatenate([np.split(W_qkv, 3, axis=1)[i] for i in {thirds}], axis=1)"
            bias = f"np.concatenate([np.split(b_qkv, 3)[i] for i in {thirds}])"
            code = f"{_PARAMETERS}    if {condition}:\n        W_qkv = {pick}\n"
            code += "" if name else f"        b_qkv = None if b_qkv is None else {bias}\n"
            same = f"{_PARTS[wrong]} for {_PARTS[right]} {ending}"
            mistake(f"{_PARTS[right]}-like-{_PARTS[wrong]}{name}{ending}", _PARAMETERS, code, group=same).explain(f"""
                {start}the {_PARTS[right]} were made with the columns of W_qkv that belong to the {_PARTS[wrong]}
                why: Queries, keys and values each have their own D columns.
                ask: Which columns of W_qkv does your code use for the {_PARTS[right]}?""")
