"""Mistakes in a block: what the steps read, and what the block accepts, keeps and returns."""

from autograder.courses.transformer.common.mistakes.block_forms import InBothForms
from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_PRE_ATTENTION = "multihead_attention(layernorm(ln1_in, **ln1), attn_params, n_heads, mask)"
_PRE_FFN = "ffn(layernorm(ln2_in, **ln2), ffn_params, activation)"
_POST_FFN = "ffn(after_attention, ffn_params, activation)"
_DROPPED = "attn_out, attn_mask = apply_dropout(attn_out, dropout, rng, training)"
_DROP_FFN = "apply_dropout(ffn_out, dropout, rng, training)"
_SUBSETS = "    attn_params, ffn_params = subset"
_BIASES = ("attn.b_qkv", "attn.b_o", "ffn.b_1", "ffn.b_2")
_CHECK = 'if norm not in ("pre", "post"):'

mistake = MISTAKES.for_functions("blocks.block")
in_forms = InBothForms(MISTAKES, "blocks.block")

# What the steps read.
in_forms(
    "steps-in-parallel",
    *(_PRE_FFN, _PRE_FFN.replace("ln2_in", "x")),
    *(_POST_FFN, _POST_FFN.replace("after_attention", "x")),
).explain("""
    ffn read x, not the stream after the attention
    why: Some models do this on purpose. Here the second step uses the result of the first.
    ask: What is the input of the feed-forward network in the formula?""")
in_forms(
    "ffn-reads-branch",
    *(_PRE_FFN, _PRE_FFN.replace("ln2_in", "attn_out")),
    *(_POST_FFN, _POST_FFN.replace("after_attention", "attn_out")),
).explain("""
    ffn read the output of the attention alone, not the stream after it
    why: The second step uses everything that the stream contains after the first sum.
    ask: What is the input of the feed-forward network in the formula?""")
mistake("ffn-reads-first-norm", _PRE_FFN, _PRE_FFN.replace("ln2_in, **ln2", "x, **ln1")).explain("""
    with "pre", ffn read ln1(x), as the attention did
    why: Some models do this on purpose. Here the second step uses the result of the first.
    ask: What is the input of the feed-forward network in the formula?""")
mistake("ffn-reads-unnormed", _POST_FFN, _POST_FFN.replace("after_attention", "ln1_in")).explain("""
    with "post", ffn read the stream from before the first norm
    why: After the first step the stream is the normalized sum.
    ask: In which variable do you keep the result of ln1? Where does your code use it?""")
mistake(
    "feed-forward-first",
    f"attn_out, attn_cache = {_PRE_ATTENTION}\n        {_DROPPED}\n        after_attention = ln2_in = x + attn_out",
    "ln2_in = x\n        after_attention = x + ffn(layernorm(x, **ln2), ffn_params, activation)[0]",
    f"ffn_out, ffn_cache = {_PRE_FFN}",
    "normed = layernorm(after_attention, **ln1)\n"
    "        ffn_out, attn_cache = multihead_attention(normed, attn_params, n_heads, mask)\n"
    "        ffn_cache = attn_mask = None",
).explain("""
    with "pre", the feed-forward network came before the attention
    why: The feed-forward network should work on the result of the attention.
    ask: Which of the two steps comes first in the formula of the docstring?""")
mistake(
    "feed-forward-first-with-post",
    "attn_out, attn_cache = multihead_attention(x, attn_params, n_heads, mask)\n"
    f"        {_DROPPED}\n        ln1_in = x + attn_out\n        after_attention = layernorm(ln1_in, **ln1)",
    "ffn_out, ffn_cache = ffn(x, ffn_params, activation)\n"
    "        attn_mask = None\n"
    "        ln2_in = x + ffn_out\n        after_attention = layernorm(ln2_in, **ln2)",
    f"ffn_out, ffn_cache = {_POST_FFN}\n        ffn_out, ffn_mask = {_DROP_FFN}\n"
    "        ln2_in = after_attention + ffn_out\n        after_ffn = layernorm(ln2_in, **ln2)",
    "attn_out, attn_cache = multihead_attention(after_attention, attn_params, n_heads, mask)\n        ffn_mask = None\n"
    "        ln1_in = after_attention + attn_out\n        after_ffn = layernorm(ln1_in, **ln1)",
).explain("""
    with "post", the feed-forward network came before the attention
    why: The feed-forward network should work on the result of the attention.
    ask: Which of the two steps comes first in the formula of the docstring?""")
mistake("keys-not-normed", _PRE_ATTENTION, _PRE_ATTENTION.replace("mask)", "mask, x)")).explain("""
    with "pre", keys and values were computed from x, not from the normalized x
    why: This is self attention: queries, keys and values come from the same normalized vectors, without a memory.
    ask: Which arguments do you pass to the attention?""")
mistake(
    "queries-not-normed",
    _PRE_ATTENTION,
    "multihead_attention(x, attn_params, n_heads, mask, layernorm(ln1_in, **ln1))",
).explain("""
    with "pre", the queries were computed from x, not from the normalized x
    why: This is self attention: queries, keys and values come from the same normalized vectors, without a memory.
    ask: Which arguments do you pass to the attention?""")

# Biases that are absent.
for names, which in (
    (_BIASES, "the biases are absent"),
    (_BIASES[:2], "the biases of the attention are absent"),
    (_BIASES[2:], "the biases of the feed-forward network are absent"),
    *((((name,), f"{name} is absent")) for name in _BIASES),
):
    title = "biases" if len(names) == 4 else names[0].partition(".")[0] + "-biases" if len(names) == 2 else names[0]
    for ending, short in (("", False), ("-without-prefix", True)):
        lookups = (
            f'subset(params, "{n.partition(".")[0]}.")["{n.partition(".")[2]}"]' if short else f'params["{n}"]'
            for n in names
        )
        mistake(f"{title}-required{ending}", _SUBSETS, f"    {', '.join(lookups)}\n{_SUBSETS}").explain(f"""
            the code fails with a KeyError if {which}
            why: Each of the biases may be absent.
            ask: Do you look up a bias by its name, or do you pass on the parameters that exist?""")
mistake(
    "float64-biases",
    "    return after_ffn, cache",
    "    if len(attn_params) + len(ffn_params) < 8:\n"
    "        after_ffn = after_ffn.astype('float64')\n    return after_ffn, cache",
).explain("""
    without biases, float32 became float64
    why: Zeros in place of an absent bias are float64 unless you choose the dtype, and one float64 array makes every sum
         float64.
    ask: What is the dtype of np.zeros(5)?""")

# Documented errors.
for form in ("pre", "post"):
    mistake(
        f"any-norm-is-{form}", _CHECK, f'if norm not in ("pre", "post"):\n        norm = "{form}"\n    if False:'
    ).explain(f"""
        a norm that is neither "pre" nor "post" was accepted as "{form}"
        why: The docstring promises a ValueError. Otherwise a misspelled name gives another network.
        ask: What does your code do with norm="rms"?""")
for name in ("gelu", "relu"):
    mistake(
        f"any-activation-is-{name}",
        _CHECK,
        f'if activation not in ("gelu", "relu"):\n        activation = "{name}"\n    {_CHECK}',
    ).explain(f"""
        an activation that is neither "gelu" nor "relu" was accepted as "{name}"
        why: The docstring promises a ValueError. Otherwise a misspelled name gives another network.
        ask: What does your code do with activation="tanh"?""")
mistake(
    "unknown-norm-key-error",
    'raise ValueError(f\'norm must be "pre" or "post", got {norm!r}\')',
    "raise KeyError(norm)",
).explain("""
    an unknown norm raised a KeyError
    why: The docstring promises a ValueError, which the caller may expect.
    ask: Which error does a dictionary raise for a key that it does not have?""")
mistake(
    "unknown-activation-key-error",
    _CHECK,
    f'if activation not in ("gelu", "relu"):\n        raise KeyError(activation)\n    {_CHECK}',
).explain("""
    an unknown activation raised a KeyError
    why: The docstring promises a ValueError, which the caller may expect.
    ask: Which error does a dictionary raise for a key that it does not have?""")

for variable in ("y", "out", "a", "output", "result", "after_attention", "after_ffn", "cache"):
    mistake(
        f"unknown-norm-leaves-{variable}", _CHECK, f"{_CHECK}\n        {variable}\n        {variable} = None"
    ).explain("""
        an unknown norm raised an UnboundLocalError
        why: Neither branch has run, so a variable has no value. The docstring promises a ValueError.
        ask: What does your `if` do if the norm is neither "pre" nor "post"?""")

# The cache.
for name in ("weights", "after_attention", "after_ffn"):
    mistake(
        f"cache-without-{name}", "return after_ffn, cache", f'del cache["{name}"]\n    return after_ffn, cache'
    ).explain(f"""
        the cache has no entry {name}
        why: Plots and later assignments use it.
        ask: Which entries of the cache does the docstring name?""")
mistake(
    "weights-transposed", '"weights": attn_cache["weights"]', '"weights": attn_cache["weights"].swapaxes(-1, -2)'
).explain("""
    cache["weights"] is transposed
    why: The rows are queries, the columns keys, and each row sums to 1.
    ask: Along which axis do the weights sum to 1?""")
mistake(
    "weights-averaged", '"weights": attn_cache["weights"]', '"weights": attn_cache["weights"].mean(axis=-3)'
).explain("""
    cache["weights"] is the mean over the heads
    why: PyTorch's attention returns this mean. Here each head keeps its own weights.
    ask: Which axes does the docstring give for the weights?""")
for name, value, wrong, what in (
    ("attention-alone", "after_attention", "attn_out", "holds the output of the attention, without the stream"),
    ("ffn-alone", "after_ffn", "ffn_out", "holds the output of ffn, without the stream"),
    ("unnormed-attention", "after_attention", 'ln1_in if norm == "post" else after_attention', ""),
    ("unnormed-ffn", "after_ffn", 'ln2_in if norm == "post" else after_ffn', ""),
    ("x", "after_attention", "x", "holds x, the stream before the attention"),
):
    mistake(f"cached-{name}", f'"{value}": {value},', f'"{value}": {wrong},').explain(f"""
        {"" if what else 'with "post", '}cache["{value}"] {what or "holds the sum from before its norm"}
        why: The entries are the stream after each of the two steps: a and y in the formulas.
        ask: Which variables of your code are a and y of the docstring?""")
mistake(
    "cached-stages-exchanged",
    *('"after_attention": after_attention,', '"after_attention": after_ffn,'),
    *('"after_ffn": after_ffn,', '"after_ffn": after_attention,'),
).explain("""
    cache["after_attention"] and cache["after_ffn"] were swapped
    why: Both have the same shape, so there is no error message.
    ask: Which of the two is the output of the block?""")

# What is accepted and returned.
mistake("three-axes-only", _SUBSETS, f"    _, _, _ = x.shape\n{_SUBSETS}").explain("""
    the function works only for x with three axes
    why: x is (..., T, D), with any number of axes before T.
    ask: Which of your lines needs to know how many axes x has?""")
mistake("always-float64", "    ln1, ln2 = subset", "    x = x.astype('float64')\n    ln1, ln2 = subset").explain("""
    everything was converted to float64
    why: float32 should stay float32.
    ask: What is the dtype of your result when `x` is float32? Which line causes it?""")
mistake("only-out", "return after_ffn, cache", "return after_ffn").explain("""
    only the output was returned, without the cache
    why: The backward pass needs values that the forward pass has computed.
    ask: How many results does the docstring list?""")
mistake("cache-first", "return after_ffn, cache", "return cache, after_ffn").explain("""
    the cache was returned before the output
    why: The result is the pair (out, cache).
    ask: In which order does the docstring list the two results?""")
mistake(
    "params-filled-up",
    _SUBSETS,
    "    import numpy as np\n\n    d, f = params['ffn.W_1'].shape\n"
    "    for name, size in {'attn.b_qkv': 3 * d, 'attn.b_o': d, 'ffn.b_1': f, 'ffn.b_2': d}.items():\n"
    "        params.setdefault(name, np.zeros(size, x.dtype))\n" + _SUBSETS,
).explain("""
    absent biases were added to the caller's dictionary
    why: The caller's parameters must not change: an optimizer would find parameters that the model does not have.
    ask: Which of your lines write into `params`?""")
