"""Mistakes in a block: what the steps read, and what the block accepts, keeps and returns."""

from autograder.courses.transformer.common.mistakes.block_forms import InBothForms
from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_PRE_ATTENTION = "multihead_attention(layernorm(ln1_in, **ln1), attn_params, n_heads, mask)"
_PRE_FFN = "ffn(layernorm(ln2_in, **ln2), ffn_params, activation)"
_POST_FFN = "ffn(after_attention, ffn_params, activation)"
_DROPPED = "attn_out, attn_mask = apply_dropout(attn_out, dropout, rng, training)"
_SUBSETS = "    attn_params, ffn_params = subset"
_ATTENTION_BIASES, _FFN_BIASES = 'params["attn.b_qkv"], params["attn.b_o"]', 'params["ffn.b_1"], params["ffn.b_2"]'
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
    ask: When your feed-forward network runs, has a position already received anything from the others?""")
mistake("keys-not-normed", _PRE_ATTENTION, _PRE_ATTENTION.replace("mask)", "mask, x)")).explain("""
    with "pre", keys and values were computed from x, not from the normalized x
    why: This is self attention: queries, keys and values come from the same normalized vectors, without a memory.
    ask: Which arguments do you pass to the attention?""")

# Biases that are absent.
for name, lookups, which in (
    ("biases", _ATTENTION_BIASES + ", " + _FFN_BIASES, "the biases"),
    ("attn-biases", _ATTENTION_BIASES, "the biases of the attention"),
    ("ffn-biases", _FFN_BIASES, "the biases of the feed-forward network"),
):
    mistake(f"{name}-required", _SUBSETS, f"    {lookups}\n{_SUBSETS}").explain(f"""
        the code fails with a KeyError if {which} are absent
        why: Each of the biases may be absent.
        ask: Do you look up a bias by its name, or do you pass on the parameters that exist?""")

# Documented errors.
mistake("any-norm-is-pre", _CHECK, 'if norm not in ("pre", "post"):\n        norm = "pre"\n    if False:').explain("""
    a norm that is neither "pre" nor "post" was accepted as "pre"
    why: A misspelled name would give another network, and nothing would say so.
    ask: What does your code do with norm="rms"?""")
mistake(
    "any-activation-is-gelu",
    _CHECK,
    f'if activation not in ("gelu", "relu"):\n        activation = "gelu"\n    {_CHECK}',
).explain("""
    an activation that is neither "gelu" nor "relu" was accepted as "gelu"
    why: A misspelled name would give another network, and nothing would say so.
    ask: What does your code do with activation="tanh"?""")


# The cache.
mistake("cache-without-after_attention", "return", 'del cache["after_attention"]\n    return').explain("""
    the cache has no entry after_attention
    why: Plots and later assignments use it.
    ask: What happens when a later assignment reads cache["after_attention"]?""")
mistake("weights-averaged", ': attn_cache["weights"]', ': attn_cache["weights"].mean(axis=-3)').explain("""
    cache["weights"] is the mean over the heads
    why: PyTorch's attention returns this mean. Here each head keeps its own weights.
    ask: Print the shape of cache["weights"] for two heads. Can you still tell which head looked where?""")
mistake("cached-ffn-alone", '"after_ffn": after_ffn,', '"after_ffn": ffn_out,').explain("""
    cache["after_ffn"] holds the output of ffn, without the stream
    why: The entries are the stream after each of the two steps: a and y in the formulas.
    ask: If ffn returned only zeros, what would the stream after it be, and what would your cache hold?""")

# What is accepted and returned.
mistake("three-axes-only", _SUBSETS, f"    _, _, _ = x.shape\n{_SUBSETS}").explain("""
    the function works only for x with three axes
    why: x is (..., T, D), with any number of axes before T.
    ask: Which of your lines needs to know how many axes x has?""")
mistake("only-out", "return after_ffn, cache", "return after_ffn").explain("""
    only the output was returned, without the cache
    why: The backward pass needs values that the forward pass has computed.
    ask: What happens in `out, cache = block(x, params, n_heads)` with what you return?""")
