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
mistake("no-norms", _NORM1, "normed = x", _NORM2, "normed = after_attention").explain("""
    neither of the two norms was applied
    why: Without norms the values grow from block to block.
    ask: Where does your code use the results of the two norms?""")
for name, gammas, what in (
    ("norm1-twice", ("norm1", "norm1"), "norm1.gamma was used in both norms"),
    ("norm2-twice", ("norm2", "norm2"), "norm2.gamma was used in both norms"),
    ("gammas-exchanged", ("norm2", "norm1"), "the gammas of the two norms were swapped"),
):
    mistake(
        name, _GAMMAS, f'gamma1, gamma2, eps = *(params[f"{{n}}.gamma"] for n in {gammas!r}), config.norm_eps'
    ).explain(f"""
        {what}
        why: Both have the shape (D,), and in an untrained model all of them are 1.
        ask: Which entry of params does each of your two norms read?""")
for norm, which in ((_NORM1, "first"), (_NORM2, "second")):
    mistake(
        f"{which}-gamma-unused", norm, norm.replace("gamma1", "gamma1**0").replace("gamma2", "gamma2**0")
    ).explain(f"""
        the gamma of the {which} norm had no effect
        why: In an untrained model all gammas are 1, and the mistake stays hidden.
        ask: Where does your {which} norm multiply by gamma?""")
mistake("eps-ignored", _GAMMAS, _GAMMAS.replace("config.norm_eps", "1e-5"), common=True).explain("""
    the eps of the configuration was not used: it was 1e-5
    why: 1e-5 is the default of rmsnorm. Some models have 1e-6.
    ask: Which arguments do you pass to rmsnorm?""")
mistake("eps-fixed", _GAMMAS, _GAMMAS.replace("config.norm_eps", "CONSTANT"), constant=1e-6).explain("""
    the eps of the configuration was not used: it was {constant}
    why: Different models have different ones.
    ask: Which arguments do you pass to rmsnorm?""")
for norm, gamma, which in ((_NORM1, "gamma1", "first"), (_NORM2, "gamma2", "second")):
    mistake(f"eps-ignored-{which}", norm, norm.replace(f"{gamma}, eps", gamma)).explain(f"""
        the {which} norm did not use the eps of the configuration
        why: It was 1e-5 then, the default of rmsnorm.
        ask: Which arguments do you pass to each of your two norms?""")
mistake(
    "layer-norms",
    _NORM1,
    "normed = rmsnorm(x - x.mean(axis=-1, keepdims=True), gamma1, eps)",
    _NORM2,
    "normed = rmsnorm(after_attention - after_attention.mean(axis=-1, keepdims=True), gamma2, eps)",
).explain("""
    the norms subtracted the mean: they were layer norms, without beta
    why: The RMS norm only divides, by the root of the mean square.
    ask: Which norm does Llama have, and which did you call?""")
mistake("final-norm-too", _SUM2, "after_ffn = rmsnorm(after_attention + ffn_out, gamma2, eps)").explain("""
    the output was normalized once more
    why: The last norm of the model comes after all blocks, not in each of them.
    ask: How many norms does a block have?""")

# The sums.
mistake("no-first-residual", _SUM1, "after_attention = attn_out", common=True).explain(f"""
    x was not added to the output of the attention
    why: {_RESIDUAL}
    ask: What do you add to the output of the attention?""")
mistake("no-second-residual", _SUM2, "after_ffn = ffn_out", common=True).explain(f"""
    the stream was not added to the output of the feed-forward network
    why: {_RESIDUAL}
    ask: What do you add to the output of swiglu?""")
mistake("no-residuals", _SUM1, "after_attention = attn_out", _SUM2, "after_ffn = ffn_out").explain(f"""
    both steps replaced the stream: there were no residual connections
    why: {_RESIDUAL}
    ask: What do you add to the output of each step?""")
mistake("second-residual-from-x", _SUM2, "after_ffn = x + ffn_out").explain("""
    the second sum added x, not the stream after the attention
    why: The output of the attention is then lost from the stream.
    ask: Which array is the residual stream after the first step?""")
mistake("residual-from-normed", _SUM1, "after_attention = normed + attn_out").explain("""
    after the attention the normalized x was added instead of x
    why: Only the branch is normalized; x itself stays on the stream.
    ask: Did you store the normalized vectors in the variable x?""")
mistake("second-residual-from-normed", _SUM2, "after_ffn = normed + ffn_out").explain("""
    after the feed-forward network the normalized stream was added instead of the stream
    why: Only the branch is normalized; the stream itself is not.
    ask: Did you store the normalized vectors in the variable of the stream?""")
mistake(
    "both-residuals-from-normed", _SUM1, "after_attention = normed + attn_out", _SUM2, "after_ffn = normed + ffn_out"
).explain("""
    in both sums the normalized stream was added instead of the stream
    why: Only the branch is normalized; the stream itself is not.
    ask: Did you store the normalized vectors in the variable of the stream?""")
mistake("steps-in-parallel", _NORM2, "normed = rmsnorm(x, gamma2, eps)").explain("""
    the feed-forward network read x, not the stream after the attention
    why: Both steps then run side by side, as in some other models. In Llama the second one sees what the first added.
    ask: What is the input of your second norm?""")
mistake("x-added-twice", _SUM2, "after_ffn = x + after_attention + ffn_out").explain("""
    x was added again at the end, although the stream contains it
    why: After the attention the stream is x plus the output of the attention.
    ask: If both steps return 0, how often is x in your output?""")
mistake("x-in-place", _SUM1, "x += attn_out\n    after_attention = x").explain("""
    x += … changed the caller's array
    why: The caller may still need x, and the backward pass certainly does.
    ask: Which of your lines write into an array that you did not create?""")
mistake("stream-in-place", _SUM2, "after_attention += ffn_out\n    after_ffn = after_attention").explain("""
    the stream was changed in place: cache["after_attention"] holds a later value
    why: `a += …` writes into the array that the cache holds. The backward pass needs it as it was.
    ask: After `b = a`, what does `a += 1` do to b?""")

# The steps.
mistake("mask-ignored", _OPTIONS, "*heads, base=config.rope_base", common=True).explain("""
    the mask was not used in the attention
    why: Every position then attends to all others, including later ones.
    ask: Which of the functions that you call has a parameter `mask`?""")
mistake("mask-inverted", _OPTIONS, "*heads, None if mask is None else ~mask, base=config.rope_base").explain("""
    the mask was inverted before it was passed to the attention
    why: Here True means that the query may attend to the key. In some libraries it means the opposite.
    ask: What does True in the mask mean, according to the docstring?""")
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
    ask: Does the docstring ask the block to make a mask of its own?""")
mistake("base-ignored", _OPTIONS, "*heads, mask", common=True).explain("""
    the base of the configuration was not used: it was 10,000
    why: 10,000 is the default of grouped_query_attention. Newer models have larger ones, such as 500,000.
    ask: Which fields of the configuration does the attention need?""")
mistake("base-fixed", _OPTIONS, "*heads, mask, base=CONSTANT", constant=500_000.0).explain("""
    the base of the configuration was not used: it was {constant}
    why: Different models have different ones.
    ask: Which fields of the configuration does the attention need?""")
mistake("no-rotation", _OPTIONS, "*heads, mask, np.zeros(x.shape[-2], dtype=int)").explain("""
    all positions were rotated by the same angle
    why: Only differences of positions change the scores. Without them, the order of the tokens is lost.
    ask: Which positions does your attention use?""")
mistake("positions-reversed", _OPTIONS, "*heads, mask, np.arange(x.shape[-2])[::-1], config.rope_base").explain("""
    the positions were counted from the end
    why: The angle between two tokens then has the wrong sign.
    ask: Which position has the first token?""")
mistake("few-heads", "heads = config.n_heads, config.n_kv_heads", "heads = (config.n_kv_heads,) * 2").explain("""
    the queries had as few heads as the keys and values
    why: There are H heads of queries, and G of keys and values.
    ask: Which two numbers of heads do you pass to the attention?""")
mistake(
    "heads-exchanged", "heads = config.n_heads, config.n_kv_heads", "heads = config.n_kv_heads, config.n_heads"
).explain("""
    the two numbers of heads were swapped
    why: H heads of queries share G heads of keys and values, so H is the larger one.
    ask: In which order does grouped_query_attention take the numbers?""")
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
for stage, value, what in (
    ("after_attention", "attn_out", "the output of the attention, without the stream"),
    ("after_ffn", "ffn_out", "the output of the feed-forward network, without the stream"),
):
    mistake(f"cached-{stage}-alone", _RETURN, f'cache["{stage}"] = {value}\n    {_RETURN}').explain(f"""
        cache["{stage}"] holds {what}
        why: It should be the residual stream after the step, with everything that was added so far.
        ask: Which of your variables is the stream at this point?""")
mistake("weights-averaged", _RETURN, f'cache["weights"] = cache["weights"].mean(axis=-3)\n    {_RETURN}').explain("""
    the weights in the cache were averaged over the heads
    why: Each head has weights of its own: (..., H, T, T).
    ask: Which axes does cache["weights"] have?""")
for stage in ("weights", "after_attention", "after_ffn"):
    mistake(f"cache-without-{stage}", _RETURN, f'del cache["{stage}"]\n    {_RETURN}').explain(f"""
        the cache has no entry {stage}
        why: Plots and the report look for the stages of the model under the names in the docstring.
        ask: Which three names does the docstring list for the cache?""")
mistake("always-float64", _RETURN, 'after_ffn = after_ffn.astype("float64")\n    return after_ffn, cache |').explain("""
    the result was converted to float64
    why: float32 should stay float32: it needs half the memory and time.
    ask: What is the dtype of your result if x and all parameters are float32?""")
mistake("three-axes-only", "    gamma1, gamma2", "    batch, length, width = x.shape\n    gamma1, gamma2").explain("""
    x must have three axes
    why: Any number of leading axes is allowed, also none.
    ask: Which of your lines assume that x is (B, T, D)?""")
