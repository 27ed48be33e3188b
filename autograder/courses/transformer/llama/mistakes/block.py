"""Mistakes in the forward pass of a Llama block."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_GAMMAS = 'gamma1, gamma2, eps = params["norm1.gamma"], params["norm2.gamma"], config.norm_eps'
_NORM1, _NORM2 = "normed = rmsnorm(x, gamma1, eps)", "normed = rmsnorm(after_attention, gamma2, eps)"
_SUM1, _SUM2 = "after_attention = x + attn_out", "after_ffn = after_attention + ffn_out"
_ATTENTION_PARAMS, _FFN_PARAMS = 'subset(params, "attn.")', 'subset(params, "ffn.")'
_OPTIONS = "*heads, mask, base=config.rope_base"
_RETURN = "return after_ffn, cache |"
_RESIDUAL = "Each step only adds to the stream. Without the sums, deep networks hardly train."

mistake = MISTAKES.for_functions("llama.llama_block")

# The norms.
mistake(
    "post-norm",
    *(_NORM1, "normed = x", _SUM1, "after_attention = rmsnorm(x + attn_out, gamma1, eps)"),
    *(_NORM2, "normed = after_attention", _SUM2, "after_ffn = rmsnorm(after_attention + ffn_out, gamma2, eps)"),
    common=True,
).explain("""
    the norms came after the sums, not before the steps
    why: Llama is pre-norm: only what a step reads is normalized, never the stream itself.
    ask: In your block, can x reach the output without going through a norm?""")
mistake("first-norm-unused", _NORM1, "normed = x", common=True).explain("""
    the attention got x, not the normalized x
    why: The norm may have been computed, but its result was not used.
    ask: Where does your code use the result of the first norm?""")
mistake("second-norm-unused", _NORM2, "normed = after_attention", common=True).explain("""
    the feed-forward network got the stream, not the normalized stream
    why: The norm may have been computed, but its result was not used.
    ask: Where does your code use the result of the second norm?""")
_TWICE = 'gamma1, gamma2, eps = *(params[f"{n}.gamma"] for n in ("norm1", "norm1")), config.norm_eps'
mistake("norm1-twice", _GAMMAS, _TWICE).explain("""
    norm1.gamma was used in both norms
    why: Both have the shape (D,), and in an untrained model all of them are 1.
    ask: Which entry of params does each of your two norms read?""")
mistake("eps-ignored", _GAMMAS, _GAMMAS.replace("config.norm_eps", "1e-5"), common=True).explain("""
    the eps of the configuration was not used: it was 1e-5
    why: 1e-5 is the default of rmsnorm. Some models have 1e-6.
    ask: Which arguments do you pass to rmsnorm?""")
mistake("eps-fixed", _GAMMAS, _GAMMAS.replace("config.norm_eps", "CONSTANT"), constant=1e-6).explain("""
    the eps of the configuration was not used: it was {constant}
    why: Different models have different ones.
    ask: Which arguments do you pass to rmsnorm?""")

# The sums.
mistake("no-first-residual", _SUM1, "after_attention = attn_out", common=True).explain(f"""
    x was not added to the output of the attention
    why: {_RESIDUAL}
    ask: What do you add to the output of the attention?""")
mistake("no-second-residual", _SUM2, "after_ffn = ffn_out", common=True).explain(f"""
    the stream was not added to the output of the feed-forward network
    why: {_RESIDUAL}
    ask: What do you add to the output of swiglu?""")
mistake("second-residual-from-x", _SUM2, "after_ffn = x + ffn_out").explain("""
    the second sum added x, not the stream after the attention
    why: The output of the attention is then lost from the stream.
    ask: Which array is the residual stream after the first step?""")
mistake(
    "both-residuals-from-normed", _SUM1, "after_attention = normed + attn_out", _SUM2, "after_ffn = normed + ffn_out"
).explain("""
    in both sums the normalized stream was added instead of the stream
    why: Only the branch is normalized; the stream itself is not.
    ask: Did you store the normalized vectors in the variable of the stream?""")

# The steps.
mistake("mask-ignored", _OPTIONS, "*heads, base=config.rope_base", common=True).explain("""
    the mask was not used in the attention
    why: Every position then attends to all others, including later ones.
    ask: Which of the functions that you call has a parameter `mask`?""")
mistake(
    "mask-transposed", _OPTIONS, "*heads, None if mask is None else mask.swapaxes(-1, -2), base=config.rope_base"
).explain("""
    the mask was transposed before it was passed to the attention
    why: Its rows are queries and its columns keys.
    ask: Which of the last two axes of the mask belongs to the queries?""")
mistake(
    "always-causal",
    _OPTIONS,
    "*heads, np.tri(x.shape[-2], dtype=bool) if mask is None else mask, base=config.rope_base",
).explain("""
    without a mask, a causal mask was used
    why: mask=None means that every query may attend to every key.
    ask: Of four tokens without a mask, how many should the first attend to, and to how many does it in your code?""")
mistake("base-ignored", _OPTIONS, "*heads, mask", common=True).explain("""
    the base of the configuration was not used: it was 10,000
    why: 10,000 is the default of grouped_query_attention. Newer models have larger ones, such as 500,000.
    ask: Which fields of the configuration does the attention need?""")
mistake("positions-reversed", _OPTIONS, "*heads, mask, np.arange(x.shape[-2])[::-1], config.rope_base").explain("""
    the positions were counted from the end
    why: The angle between two tokens then has the wrong sign.
    ask: Which position has the first token?""")
for first, second, params, what in (
    ("W_k", "W_v", _ATTENTION_PARAMS, "the matrices of keys and values"),
    ("W_gate", "W_up", _FFN_PARAMS, "W_gate and W_up"),
):
    swapped = f'{{"{first}": "{second}", "{second}": "{first}"}}'
    mistake(
        f"{first}-and-{second}-exchanged",
        params,
        f"{{{swapped}.get(name, name): value for name, value in {params}.items()}}",
    ).explain(f"""
        {what} were swapped
        why: They have the same shape, so there is no error message.
        ask: Under which name do you pass on each of the parameters?""")

# The cache and the result.
for stage in ("weights", "after_attention", "after_ffn"):
    mistake(f"cache-without-{stage}", _RETURN, f'del cache["{stage}"]\n    {_RETURN}').explain(f"""
        the cache has no entry {stage}
        why: llama copies it into its own cache, as blocks.0.{stage} for the first block, where plots look for it.
        ask: What does llama find when it reads block_cache["{stage}"] after your block?""")
mistake("three-axes-only", "    gamma1, gamma2", "    batch, length, width = x.shape\n    gamma1, gamma2").explain("""
    x must have three axes
    why: Any number of leading axes is allowed, including none.
    ask: Which of your lines assume that x is (B, T, D)?""")
