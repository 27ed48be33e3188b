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
    the norm comes after each step by default, not before
    why: This is the block of 2017. GPT-2 and the default here have the norm before.
    ask: Compare the signature with the one in the assignment.""")
mistake("always-pre", 'if norm == "pre":', 'if norm in ("pre", "post"):').explain("""
    the norm argument is ignored: it is always "pre"
    why: With the default nothing shows.
    ask: Which of your lines knows about "post"?""")
mistake("always-post", 'if norm == "pre":', 'if norm == "both":').explain("""
    the norm argument is ignored: it is always "post"
    why: This is the block of 2017. GPT-2 and the default here have the norm before.
    ask: Which of your lines knows about "pre"?""")
mistake("pre-and-post-exchanged", 'if norm == "pre":', 'if norm == "post":').explain("""
    "pre" and "post" are exchanged
    why: Before and after: in which step does the norm stand in the residual stream itself?
    ask: In which of the two forms can x run through the block without meeting a norm?""")
mistake(
    "activation-ignored",
    "layernorm(ln2_in, **ln2), ffn_params, activation)",
    "layernorm(ln2_in, **ln2), ffn_params)",
    "ffn(after_attention, ffn_params, activation)",
    "ffn(after_attention, ffn_params)",
    common=True,
).explain("""
    the activation argument is not passed on
    why: With GELU, the default, nothing shows.
    ask: Which of the functions that you call has to know the activation?""")
mistake(
    "mask-ignored",
    "**ln1), attn_params, n_heads, mask)",
    "**ln1), attn_params, n_heads)",
    "multihead_attention(x, attn_params, n_heads, mask)",
    "multihead_attention(x, attn_params, n_heads)",
    common=True,
).explain("""
    the mask is not passed on to the attention
    why: Everybody sees everything, the future too.
    ask: Which of the functions that you call has to know the mask?""")
mistake(
    "mask-inverted",
    "    x = as_float(x)\n",
    "    x = as_float(x)\n    mask = None if mask is None else ~mask\n",
    common=True,
).explain("""
    the mask is inverted: True was taken to forbid
    why: Here True means that the query may look at the key; in some libraries it means the opposite.
    ask: What does True in the mask stand for, according to the docstring?""")
mistake(
    "always-causal",
    "    x = as_float(x)\n",
    """    x = as_float(x)
    order = as_float(range(x.shape[-2]))
    mask = order[:, None] >= order if mask is None else mask
""",
).explain("""
    without a mask, a causal one is used
    why: The block does what it is told: None lets everybody see everything. The encoder needs that.
    ask: Which of your lines makes a mask, and who asked for it?""")
mistake(
    "one-head",
    "**ln1), attn_params, n_heads",
    "**ln1), attn_params, 1",
    "multihead_attention(x, attn_params, n_heads",
    "multihead_attention(x, attn_params, 1",
).explain("""
    n_heads is not passed on: there is one head
    why: The shapes are the same for any number of heads.
    ask: What do you give to the attention as the number of heads?""")
mistake(
    "no-first-residual",
    "ln2_in = x + attn_out",
    "ln2_in = attn_out",
    "ln1_in = x + attn_out",
    "ln1_in = attn_out",
    common=True,
).explain("""
    x is not added to the attention's output
    why: The stream must be able to run past each step; otherwise deep networks hardly learn.
    ask: What is added to what after the attention?""")
mistake(
    "no-second-residual",
    "after_ffn = after_attention + ffn_out",
    "after_ffn = ffn_out",
    "ln2_in = after_attention + ffn_out",
    "ln2_in = ffn_out",
    common=True,
).explain("""
    the stream is not added to the feed-forward network's output
    why: The stream must be able to run past each step; otherwise deep networks hardly learn.
    ask: What is added to what after the feed-forward network?""")
mistake(
    "second-residual-from-x",
    "after_ffn = after_attention + ffn_out",
    "after_ffn = x + ffn_out",
    "ln2_in = after_attention + ffn_out",
    "ln2_in = x + ffn_out",
).explain("""
    x is added after the feed-forward network, instead of the stream after the attention
    why: What the attention found out is then lost to the stream.
    ask: Which array is *the stream* by the time the feed-forward network is done?""")
mistake("residual-from-normed", "ln2_in = x + attn_out", "ln2_in = layernorm(x, **ln1) + attn_out").explain("""
    the normalized x was added instead of x itself
    why: With the norm before the step, only the branch is normalized; the stream goes past it as it is.
    ask: Did you write the normalized vector into the variable x?""")
mistake(
    "both-residuals-from-normed",
    "ln2_in = x + attn_out",
    "ln2_in = layernorm(x, **ln1) + attn_out",
    "after_ffn = after_attention + ffn_out",
    "after_ffn = layernorm(ln2_in, **ln2) + ffn_out",
).explain("""
    the normalized stream was added in both steps instead of the stream itself
    why: With the norm before the step, only the branch is normalized; the stream goes past it as it is.
    ask: Did you write the normalized vector into the variable of the stream?""")
mistake(
    "first-norm-unused",
    "multihead_attention(layernorm(ln1_in, **ln1), ",
    "multihead_attention(ln1_in, ",
    "after_attention = layernorm(ln1_in, **ln1)",
    "after_attention = ln1_in",
    common=True,
).explain("""
    the attention reads the stream as it is, not normalized (ln1 is missing)
    why: The norm is perhaps computed, but its result is not what the attention gets.
    ask: What is the first argument that you give to the attention?""")
mistake(
    "second-norm-unused",
    "ffn(layernorm(ln2_in, **ln2), ",
    "ffn(ln2_in, ",
    "after_ffn = layernorm(ln2_in, **ln2)",
    "after_ffn = ln2_in",
    common=True,
).explain("""
    the second norm, ln2, is missing
    why: The norm is perhaps computed, but its result is not used.
    ask: Where in your code is the result of ln2 used?""")
mistake("norms-exchanged", "ln1, ln2 = subset", "ln2, ln1 = subset").explain("""
    ln1 and ln2 are exchanged
    why: With gamma 1 and beta 0 nothing shows.
    ask: Which norm belongs to the attention?""")
mistake(
    "first-norm-twice",
    'ln1, ln2 = subset(params, "ln1."), subset(params, "ln2.")',
    'ln1 = ln2 = subset(params, "ln1.")',
).explain("""
    ln1 was used for both norms
    why: Each has a gain and a bias of its own; at the start of training they are equal.
    ask: Which parameters does the second norm have?""")
mistake("steps-in-parallel", "(layernorm(ln2_in, **ln2)", "(layernorm(x, **ln2)", "(after_attention", "(x").explain("""
    the feed-forward network reads x, not the stream after the attention
    why: Some models do this on purpose; here the two steps come one after the other.
    ask: What does the feed-forward network work on, if not on what the attention brought?""")
mistake(
    "norm-before-sum",
    "after_attention = layernorm(ln1_in, **ln1)",
    "after_attention = x + layernorm(attn_out, **ln1)",
    "after_ffn = layernorm(ln2_in, **ln2)",
    "after_ffn = after_attention + layernorm(ffn_out, **ln2)",
).explain("""
    with "post", the branch was normalized before it was added to the stream
    why: In this form the sum itself is normalized: the norm stands in the stream.
    ask: Which comes first in ln1(x + attention(x)), the sum or the norm?""")
mistake("residual-before-norm", "ln2_in = after_attention + ffn_out", "ln2_in = ln1_in + ffn_out").explain("""
    with "post", the second sum takes the stream from before the first norm
    why: After the first step the stream *is* the normalized sum.
    ask: Which array does the feed-forward network read? The same one is added to its output.""")
mistake(
    "final-norm-too", "after_ffn = after_attention + ffn_out", "after_ffn = layernorm(after_attention + ffn_out, **ln2)"
).explain("""
    with "pre", the output was normalized once more
    why: The last norm of a pre-norm model stands after all blocks, not in each of them.
    ask: How many norms does a block have?""")
mistake(
    "x-in-place",
    "after_attention = ln2_in = x + attn_out",
    "x += attn_out\n        after_attention = ln2_in = x",
    "ln1_in = x + attn_out",
    "x += attn_out\n        ln1_in = x",
).explain("""
    x += … changes the caller's array
    why: The caller may still need x, and the backward pass certainly does.
    ask: Which of your lines write into an array that you did not make?""")
mistake(
    "biases-required",
    "    attn_params, ffn_params = ",
    '    params["attn.b_qkv"], params["ffn.b_1"]\n    attn_params, ffn_params = ',
).explain("""
    a block without biases is a KeyError
    why: The biases of the linear layers may be absent.
    ask: Do you ask for a bias by its name, or do you hand on whatever is there?""")
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
    why: Each position thinks before it has looked around; the attention's output leaves the block unprocessed.
    ask: Which of the two steps does the formula of the docstring begin with?""")
mistake("x-added-twice", "after_ffn = after_attention +", "after_ffn = x + after_attention +").explain("""
    with "pre", x was added again at the end, although the stream holds it already
    why: After the attention the stream is x and what the attention found. The second step adds to that, and to nothing
         else.
    ask: How often is x itself in your output, if both steps give 0?""")
mistake("keys-not-normed", "**ln1), attn_params, n_heads, mask)", "**ln1), attn_params, n_heads, mask, x)").explain("""
    with "pre", only the queries were made of the normalized x, keys and values of x itself
    why: Attention is of the normalized stream with itself: one input, no memory.
    ask: What is handed to the attention, and how often?""")
mistake("only-out", "return after_ffn, cache", "return after_ffn").explain("""
    only the output was returned, without the cache
    why: The backward pass finds everything in the cache.
    ask: How many things does the docstring list under Returns?""")

mistake = MISTAKES.for_functions("blocks.block_backward")
mistake(
    "no-second-residual",
    "dstream = dout + dbranch",
    "dstream = dbranch",
    "dstream = dsum + dbranch",
    "dstream = dbranch",
    common=True,
).explain("""
    the gradient does not go past the feed-forward network
    why: The stream was copied: one copy went through the step, the other one past it. Their gradients add up.
    ask: By how many paths does after_attention reach the output?""")
mistake(
    "no-first-residual", "dx = dstream + dbranch", "dx = dbranch", "dx = dsum + dbranch", "dx = dbranch", common=True
).explain("""
    the gradient does not go past the attention
    why: x was copied: one copy went through the attention, the other one past it. Their gradients add up.
    ask: By how many paths does x reach the stream after the attention?""")
mistake("no-residuals", "dout + ", "", "dstream = dsum +", "dstream =", "dstream + ", "", "dsum + ", "").explain("""
    the gradient goes past neither of the two steps
    why: Where the forward pass adds, the backward pass copies, and adds up where the copies meet.
    ask: How many sums are there in the forward pass? Each has two gradients.""")
mistake(
    "second-branch-lost",
    "dstream = dout + dbranch",
    "dstream = dout * 1.0",
    "dstream = dsum + dbranch",
    "dstream = dsum * 1.0",
).explain("""
    the gradient goes past the feed-forward network only, not through it
    why: The network gets its own gradients, but what it did also depends on the stream that it read.
    ask: What do you do with the gradient that ffn_backward returns for its input?""")
mistake("first-branch-lost", "dstream + dbranch", "dstream * 1.0", "dx = dsum + dbranch", "dx = dsum * 1.0").explain("""
    the gradient goes past the attention only, not through it
    why: The attention gets its own gradients, but what it did also depends on the x that it read.
    ask: What do you do with the gradient that multihead_attention_backward returns for x?""")
mistake(
    "dout-to-both-steps",
    'multihead_attention_backward(dstream, cache["attn"])',
    'multihead_attention_backward(dout, cache["attn"])',
    common=True,
).explain("""
    with "pre", the attention gets dout instead of the gradient of the stream
    why: What the attention added to the stream also went through the feed-forward network.
    ask: Which gradients meet at after_attention?""")
mistake("last-residual-from-dout", "dx = dstream + dbranch", "dx = dout + dbranch", common=True).explain("""
    with "pre", dout is added at the end instead of the gradient of the stream
    why: x reaches the output past both steps, but also past the attention and through the feed-forward network.
    ask: Which gradient arrives at the first sum, the one after the attention?""")
mistake("residuals-past-norms", "dstream = dsum + dbranch", "dstream = dout + dbranch", "dsum ", "dstream ").explain("""
    with "post", the gradients that go past the steps also go past the norms
    why: In this form the norm stands after the sum: both copies have gone through it.
    ask: What comes first on the way back through ln1(x + attention(x)), the norm or the sum?""")
mistake("second-norm-skipped", 'dbranch, dln2["gamma"]', '_, dln2["gamma"]').explain("""
    with "pre", the gradient does not go through ln2
    why: The gain and bias get their gradients, but what goes on to the stream must also have passed the norm.
    ask: What do you do with the first of the three gradients of the norm?""")
mistake("first-norm-skipped", 'dbranch, dln1["gamma"]', '_, dln1["gamma"]').explain("""
    with "pre", the gradient does not go through ln1
    why: The gain and bias get their gradients, but what goes on to x must also have passed the norm.
    ask: What do you do with the first of the three gradients of the norm?""")
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
    the two norms got each other's input
    why: The gradient of a norm depends on what went into it.
    ask: Which array did ln2 read on the way forward?""")
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
    the gradients of gamma and beta are exchanged
    why: Both have the shape (D,), so nothing complains.
    ask: In which order does layernorm_backward return them?""")
mistake("norm-gradients-exchanged", '(dln1, "ln1.")', '(dln2, "ln1.")', '(dln2, "ln2.")', '(dln1, "ln2.")').explain("""
    the gradients of ln1 and ln2 are exchanged
    why: They have the same shapes, so nothing complains.
    ask: Under which names do you put the gradients of the norm that belongs to the attention?""")
mistake("always-pre", 'if cache["norm"] == "pre":', "if True:").explain("""
    the backward pass is always that of "pre"
    why: With the default nothing shows.
    ask: How does the backward pass know which form it was?""")
mistake("dout-in-place", "dstream = dout + dbranch", "dout += dbranch\n        dstream = dout").explain("""
    dout += … changes the caller's array
    why: The caller may still need dout.
    ask: Which of your lines write into an array that you did not make?""")
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
    the gradients lack the prefixes of their names
    why: The gradient of attn.W_o is found under that name; W_1 alone says nothing in a network of many blocks.
    ask: Compare the keys of your gradients with those of params.""")
mistake(
    "no-bias-gradients", _GRADIENTS, '{name: grads[name] for name in cache["names"] if ".b_" not in name}'
).explain("""
    the gradients of the biases b_... are not returned
    why: These biases would never learn anything.
    ask: Compare the keys of your gradients with those of params.""")
