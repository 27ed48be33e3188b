"""Mistakes in assignment 8: the transformer block."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_GRADIENTS = '{name: grads[name] for name in cache["names"]}'

# Code with two branches often has a mistake in only one of them. In these mistakes the first edit is in the branch of
# "pre", the second in that of "post".
_IN_BOTH_FORMS = (
    "mask-ignored",
    "one-head",
    "no-first-residual",
    "no-second-residual",
    "second-residual-from-x",
    "first-norm-unused",
    "second-norm-unused",
    "steps-in-parallel",
)

mistake = MISTAKES.for_functions("blocks.block")
mistake("post-by-default", 'norm="pre", activation', 'norm="post", activation').explain("""
    the default is norm="post", not norm="pre"
    why: The first transformer is post-norm. GPT-2 and the default here are pre-norm.
    ask: Compare the signature with the one in the assignment.""")
mistake("always-pre", 'if norm == "pre":', 'if norm in ("pre", "post"):').explain("""
    the norm argument was ignored: the form is always "pre"
    why: With the default nothing shows.
    ask: Which of your lines handles "post"?""")
mistake("always-post", 'if norm == "pre":', 'if norm == "both":').explain("""
    the norm argument was ignored: the form is always "post"
    why: The first transformer is post-norm. GPT-2 and the default here are pre-norm.
    ask: Which of your lines handles "pre"?""")
mistake("pre-and-post-exchanged", 'if norm == "pre":', 'if norm == "post":').explain("""
    "pre" and "post" were swapped
    why: With "pre" the norm is on the branch, before each step; with "post" it is on the stream, after each sum.
    ask: In which of the two forms can x pass through the block without going through a norm?""")
mistake(
    "activation-ignored",
    "layernorm(ln2_in, **ln2), ffn_params, activation)",
    "layernorm(ln2_in, **ln2), ffn_params)",
    "ffn(after_attention, ffn_params, activation)",
    "ffn(after_attention, ffn_params)",
    common=True,
).explain("""
    the activation argument was not passed to ffn
    why: With GELU, the default, nothing shows.
    ask: Which of the functions that you call has a parameter `activation`?""")
mistake(
    "mask-ignored",
    "**ln1), attn_params, n_heads, mask)",
    "**ln1), attn_params, n_heads)",
    "multihead_attention(x, attn_params, n_heads, mask)",
    "multihead_attention(x, attn_params, n_heads)",
    common=True,
).explain("""
    the mask was not passed to the attention
    why: Every position then attends to all others, including later ones.
    ask: Which of the functions that you call has a parameter `mask`?""")
mistake(
    "mask-inverted",
    "    x = as_float(x)\n",
    "    x = as_float(x)\n    mask = None if mask is None else ~mask\n",
    common=True,
).explain("""
    the mask was inverted before it was passed to the attention
    why: Here True means that the query may attend to the key. In some libraries it means the opposite.
    ask: What does True in the mask mean, according to the docstring?""")
mistake(
    "always-causal",
    "    x = as_float(x)\n",
    """    x = as_float(x)
    order = as_float(range(x.shape[-2]))
    mask = order[:, None] >= order if mask is None else mask
""",
).explain("""
    without a mask, a causal mask was used
    why: mask=None means that every position attends to every other one. The encoder needs that.
    ask: Does the docstring ask the block to make a mask of its own?""")
mistake(
    "one-head",
    "**ln1), attn_params, n_heads",
    "**ln1), attn_params, 1",
    "multihead_attention(x, attn_params, n_heads",
    "multihead_attention(x, attn_params, 1",
).explain("""
    n_heads was not passed on: there is only one head
    why: The shapes are the same for any number of heads.
    ask: Which number of heads do you pass to the attention?""")
mistake(
    "no-first-residual",
    "ln2_in = x + attn_out",
    "ln2_in = attn_out",
    "ln1_in = x + attn_out",
    "ln1_in = attn_out",
    common=True,
).explain("""
    x was not added to the output of the attention
    why: Each step only adds to the stream. Without the sums, deep networks hardly train.
    ask: What do you add to the output of the attention?""")
mistake(
    "no-second-residual",
    "after_ffn = after_attention + ffn_out",
    "after_ffn = ffn_out",
    "ln2_in = after_attention + ffn_out",
    "ln2_in = ffn_out",
    common=True,
).explain("""
    the stream was not added to the output of ffn
    why: Each step only adds to the stream. Without the sums, deep networks hardly train.
    ask: What do you add to the output of the feed-forward network?""")
mistake(
    "second-residual-from-x",
    "after_ffn = after_attention + ffn_out",
    "after_ffn = x + ffn_out",
    "ln2_in = after_attention + ffn_out",
    "ln2_in = x + ffn_out",
).explain("""
    the second sum added x, not the stream after the attention
    why: The output of the attention is then lost from the stream.
    ask: Which array is the residual stream after the first step?""")
mistake("residual-from-normed", "ln2_in = x + attn_out", "ln2_in = layernorm(x, **ln1) + attn_out").explain("""
    after the attention the normalized x was added instead of x
    why: In the pre-norm form only the branch is normalized; x itself stays on the stream.
    ask: Did you store the normalized vectors in the variable x?""")
mistake(
    "both-residuals-from-normed",
    "ln2_in = x + attn_out",
    "ln2_in = layernorm(x, **ln1) + attn_out",
    "after_ffn = after_attention + ffn_out",
    "after_ffn = layernorm(ln2_in, **ln2) + ffn_out",
).explain("""
    in both sums the normalized stream was added instead of the stream
    why: In the pre-norm form only the branch is normalized; the stream itself is not.
    ask: Did you store the normalized vectors in the variable of the stream?""")
mistake(
    "first-norm-unused",
    "multihead_attention(layernorm(ln1_in, **ln1), ",
    "multihead_attention(ln1_in, ",
    "after_attention = layernorm(ln1_in, **ln1)",
    "after_attention = ln1_in",
    common=True,
).explain("""
    the first norm, ln1, was not applied
    why: The norm may have been computed, but its result was not used.
    ask: Where does your code use the result of ln1?""")
mistake(
    "second-norm-unused",
    "ffn(layernorm(ln2_in, **ln2), ",
    "ffn(ln2_in, ",
    "after_ffn = layernorm(ln2_in, **ln2)",
    "after_ffn = ln2_in",
    common=True,
).explain("""
    the second norm, ln2, was not applied
    why: The norm may have been computed, but its result was not used.
    ask: Where does your code use the result of ln2?""")
mistake("norms-exchanged", "ln1, ln2 = subset", "ln2, ln1 = subset").explain("""
    ln1 and ln2 were swapped
    why: With gamma 1 and beta 0 nothing shows.
    ask: Which norm belongs to the attention?""")
mistake(
    "first-norm-twice",
    'ln1, ln2 = subset(params, "ln1."), subset(params, "ln2.")',
    'ln1 = ln2 = subset(params, "ln1.")',
).explain("""
    ln1 was used for both norms
    why: Each norm has its own gain and bias; at the start of training they are equal.
    ask: Which parameters does the second norm use?""")
mistake("steps-in-parallel", "(layernorm(ln2_in, **ln2)", "(layernorm(x, **ln2)", "(after_attention", "(x").explain("""
    ffn reads x, not the stream after the attention
    why: Some models do this on purpose. Here the second step uses the result of the first.
    ask: What is the input of the feed-forward network in the formula?""")
mistake(
    "norm-before-sum",
    "after_attention = layernorm(ln1_in, **ln1)",
    "after_attention = x + layernorm(attn_out, **ln1)",
    "after_ffn = layernorm(ln2_in, **ln2)",
    "after_ffn = after_attention + layernorm(ffn_out, **ln2)",
).explain("""
    with "post", the branch was normalized before it was added to the stream
    why: In this form the sum itself is normalized.
    ask: In ln1(x + attention(x)), which comes first: the sum or the norm?""")
mistake("residual-before-norm", "ln2_in = after_attention + ffn_out", "ln2_in = ln1_in + ffn_out").explain("""
    with "post", the second sum uses the stream from before the first norm
    why: After the first step the stream is the normalized sum.
    ask: Which array does the feed-forward network read? The same array is added to its output.""")
mistake(
    "final-norm-too", "after_ffn = after_attention + ffn_out", "after_ffn = layernorm(after_attention + ffn_out, **ln2)"
).explain("""
    with "pre", the output was normalized once more
    why: The last norm of a pre-norm model comes after all blocks, not in each of them.
    ask: How many norms does a block have?""")
mistake(
    "x-in-place",
    "after_attention = ln2_in = x + attn_out",
    "x += attn_out\n        after_attention = ln2_in = x",
    "ln1_in = x + attn_out",
    "x += attn_out\n        ln1_in = x",
).explain("""
    x += … changed the caller's array
    why: The caller may still need x, and the backward pass certainly does.
    ask: Which of your lines write into an array that you did not create?""")
mistake(
    "biases-required",
    "    attn_params, ffn_params = ",
    '    params["attn.b_qkv"], params["ffn.b_1"]\n    attn_params, ffn_params = ',
).explain("""
    the code fails with a KeyError if the biases are absent
    why: The biases of the linear layers may be absent.
    ask: Do you look up a bias by its name, or do you pass on the parameters that exist?""")
for known in list(MISTAKES):
    if known.name in _IN_BOTH_FORMS:
        for form, (old, new) in zip(("pre", "post"), known.edits, strict=True):
            mistake(f"{known.name}-with-{form}", old, new).explain(f"""
                with "{form}", {known.title}
                why: {known.explanation}
                ask: {known.hint}""")
mistake(
    "feed-forward-first",
    "attn_out, attn_cache = multihead_attention(layernorm(ln1_in, **ln1), attn_params, n_heads, mask)\n"
    "        after_attention = ln2_in = x + attn_out",
    "ln2_in = x\n        after_attention = x + ffn(layernorm(x, **ln2), ffn_params, activation)[0]",
    "ffn_out, ffn_cache = ffn(layernorm(ln2_in, **ln2), ffn_params, activation)",
    "normed = layernorm(after_attention, **ln1)\n"
    "        ffn_out, attn_cache = multihead_attention(normed, attn_params, n_heads, mask)\n"
    "        ffn_cache = None",
).explain("""
    with "pre", the feed-forward network comes before the attention
    why: The feed-forward network should work on the result of the attention.
    ask: Which of the two steps comes first in the formula of the docstring?""")
mistake("x-added-twice", "after_ffn = after_attention +", "after_ffn = x + after_attention +").explain("""
    with "pre", x was added again at the end, although the stream contains it
    why: After the attention the stream is x plus the output of the attention. The second step is added to that, and to
         nothing else.
    ask: If both steps return 0, how often is x in your output?""")
mistake("keys-not-normed", "**ln1), attn_params, n_heads, mask)", "**ln1), attn_params, n_heads, mask, x)").explain("""
    with "pre", keys and values were computed from x, not from the normalized x
    why: This is self attention: queries, keys and values come from the same normalized vectors, without a memory.
    ask: Which arguments do you pass to the attention?""")
mistake("only-out", "return after_ffn, cache", "return after_ffn").explain("""
    only the output was returned, without the cache
    why: The backward pass needs values that the forward pass has computed.
    ask: How many results does the docstring list?""")

mistake = MISTAKES.for_functions("blocks.block_backward")
mistake(
    "no-second-residual",
    "dstream = dout + dbranch",
    "dstream = dbranch",
    "dstream = dsum + dbranch",
    "dstream = dbranch",
    common=True,
).explain("""
    the gradient did not go past the feed-forward network along the stream
    why: The stream was used twice: by the step, and in the sum. The two gradients are added.
    ask: By how many paths does after_attention reach the output?""")
mistake(
    "no-first-residual", "dx = dstream + dbranch", "dx = dbranch", "dx = dsum + dbranch", "dx = dbranch", common=True
).explain("""
    the gradient did not go past the attention along the stream
    why: x was used twice: by the attention, and in the sum. The two gradients are added.
    ask: By how many paths does x reach the stream after the attention?""")
mistake("no-residuals", "dout + ", "", "dstream = dsum +", "dstream =", "dstream + ", "", "dsum + ", "").explain("""
    the gradient did not go past either of the two steps along the stream
    why: Each sum of the forward pass passes its gradient to both of its terms.
    ask: How many sums are there in the forward pass? To what does each pass its gradient?""")
mistake(
    "second-branch-lost",
    "dstream = dout + dbranch",
    "dstream = dout * 1.0",
    "dstream = dsum + dbranch",
    "dstream = dsum * 1.0",
).explain("""
    the gradient through the feed-forward network was dropped
    why: The output of the network depends on the stream that it read, so its gradient is added to that of the stream.
    ask: What do you do with the gradient that ffn_backward returns for its input?""")
mistake("first-branch-lost", "dstream + dbranch", "dstream * 1.0", "dx = dsum + dbranch", "dx = dsum * 1.0").explain("""
    the gradient through the attention was dropped
    why: The output of the attention depends on x, so its gradient is added to that of the stream.
    ask: What do you do with the gradient that multihead_attention_backward returns for x?""")
mistake(
    "dout-to-both-steps",
    'multihead_attention_backward(dstream, cache["attn"])',
    'multihead_attention_backward(dout, cache["attn"])',
    common=True,
).explain("""
    with "pre", the attention gets dout instead of the gradient of the stream
    why: The output of the attention also went through the feed-forward network, so its gradient has two parts.
    ask: Which gradients are added at after_attention?""")
mistake("last-residual-from-dout", "dx = dstream + dbranch", "dx = dout + dbranch", common=True).explain("""
    with "pre", dout was added at the end instead of the gradient of the stream
    why: x also reaches the output past the attention and then through the feed-forward network.
    ask: Which gradient arrives at the first sum, the one after the attention?""")
mistake("residuals-past-norms", "dstream = dsum + dbranch", "dstream = dout + dbranch", "dsum ", "dstream ").explain("""
    with "post", the gradients along the stream bypass the norms
    why: In this form the norm comes after the sum, so both terms of the sum go through it.
    ask: In the backward pass of ln1(x + attention(x)), which comes first: the norm or the sum?""")
mistake("second-norm-skipped", 'dbranch, dln2["gamma"]', '_, dln2["gamma"]').explain("""
    with "pre", the gradient did not go through ln2
    why: The gain and the bias get their gradients, but the gradient of the stream must also go through the norm.
    ask: What do you do with the first of the three gradients that layernorm_backward returns?""")
mistake("first-norm-skipped", 'dbranch, dln1["gamma"]', '_, dln1["gamma"]').explain("""
    with "pre", the gradient did not go through ln1
    why: The gain and the bias get their gradients, but the gradient of x must also go through the norm.
    ask: What do you do with the first of the three gradients that layernorm_backward returns?""")
mistake(
    "norm-inputs-exchanged",
    'layernorm_backward(dbranch, *cache["ln2"])',
    'layernorm_backward(dbranch, cache["ln1"][0], cache["ln2"][1])',
    'layernorm_backward(dbranch, *cache["ln1"])',
    'layernorm_backward(dbranch, cache["ln2"][0], cache["ln1"][1])',
    'layernorm_backward(dout, *cache["ln2"])',
    'layernorm_backward(dout, cache["ln1"][0], cache["ln2"][1])',
    'layernorm_backward(dstream, *cache["ln1"])',
    'layernorm_backward(dstream, cache["ln2"][0], cache["ln1"][1])',
).explain("""
    each of the two norms got the input of the other
    why: The gradient of a norm depends on its input.
    ask: Which array was the input of ln2 in the forward pass?""")
mistake(
    "gamma-beta-exchanged",
    'dbranch, dln2["gamma"], dln2["beta"]',
    'dbranch, dln2["beta"], dln2["gamma"]',
    'dbranch, dln1["gamma"], dln1["beta"]',
    'dbranch, dln1["beta"], dln1["gamma"]',
    'dsum, dln2["gamma"], dln2["beta"]',
    'dsum, dln2["beta"], dln2["gamma"]',
    'dsum, dln1["gamma"], dln1["beta"]',
    'dsum, dln1["beta"], dln1["gamma"]',
).explain("""
    the gradients of gamma and beta were swapped
    why: Both have the shape (D,), so there is no error message.
    ask: In which order does layernorm_backward return them?""")
mistake("norm-gradients-exchanged", '(dln1, "ln1.")', '(dln2, "ln1.")', '(dln2, "ln2.")', '(dln1, "ln2.")').explain("""
    the gradients of ln1 and ln2 were swapped
    why: They have the same shapes, so there is no error message.
    ask: Under which names do you store the gradients of the norm that belongs to the attention?""")
mistake("always-pre", 'if cache["norm"] == "pre":', "if True:").explain("""
    the backward pass is always that of "pre"
    why: With the default nothing shows.
    ask: How does the backward pass find out which form was used?""")
mistake("dout-in-place", "dstream = dout + dbranch", "dout += dbranch\n        dstream = dout").explain("""
    dout += … changed the caller's array
    why: The caller may still need dout.
    ask: Which of your lines write into an array that you did not create?""")
mistake(
    "no-prefixes",
    'prefixed(dln1, "ln1.")',
    "dln1",
    'prefixed(dattn, "attn.")',
    "dattn",
    'prefixed(dln2, "ln2.")',
    "dln2",
    'prefixed(dffn, "ffn.")',
    "dffn",
    _GRADIENTS,
    "grads",
).explain("""
    the prefixes are missing from the keys of the gradients
    why: The gradient of attn.W_o is stored under that name. In a network of many blocks, W_o alone is ambiguous.
    ask: Which keys does `params` have, and which keys does your dict have?""")
mistake(
    "no-bias-gradients", _GRADIENTS, '{name: grads[name] for name in cache["names"] if ".b_" not in name}'
).explain("""
    the gradients of the biases b_... were not returned
    why: A bias without a gradient is never trained.
    ask: Which keys does `params` have, and which keys does your dict have?""")
