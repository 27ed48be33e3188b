"""Mistakes in `gpt`: how the gradients of a GPT are put together from the parts."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

# The function as the lesson builds it.
PARTS = """
    logits, cache = gpt(ids, params, config, rng)
    loss = cross_entropy(logits, targets)
    dlogits = cross_entropy_backward(logits, targets)
    rows = dlogits.reshape(-1, dlogits.shape[-1])
    final = cache["final_norm"]
    dhead = final.reshape(-1, final.shape[-1]).T @ rows
    dfinal = dx = dlogits @ _head(params, config).T
    grads = {}
    if config.head_bias:
        grads["b_head"] = np.sum(rows, axis=0)
    if config.norm == "pre":
        before = cache[f"blocks.{config.n_layers - 1}.after_ffn"]
        dx, grads["ln_f.gamma"], grads["ln_f.beta"] = layernorm_backward(dfinal, before, params["ln_f.gamma"])
    for i in reversed(range(config.n_layers)):
        dx, layer = block_backward(dx, cache["block_caches"][i])
        grads |= prefixed(layer, f"blocks.{i}.")
    dx = dropout_backward(dx, cache["embed_mask"])
    length = dx.shape[-2]
    grads["W_tok"] = embed_tokens_backward(dx, ids, config.vocab_size)
    if config.tied:
        grads["W_tok"] = grads["W_tok"] + dhead.T
    else:
        grads["W_head"] = dhead
    if config.positions == "learned":
        grads["W_pos"] = np.zeros_like(params["W_pos"])
        grads["W_pos"][:length] = dx.reshape(-1, length, dx.shape[-1]).sum(axis=0)
    return loss, grads
"""

mistake = MISTAKES.for_functions("gpt.gpt_loss")
mistake(
    "last-norm-of-its-output", "layernorm_backward(dfinal, before,", "layernorm_backward(dfinal, final,", common=True
).body(PARTS).explain("""
    the backward pass of the last norm was given the output of the norm, not its input
    why: layernorm_backward computes the mean and the variance of its second argument again: that must be the x of the
         forward pass. "final_norm" is the result.
    ask: What is the second argument of layernorm_backward, and which entry of the cache holds it?""")
mistake(
    "last-norm-of-the-embedding", "layernorm_backward(dfinal, before,", 'layernorm_backward(dfinal, cache["embedded"],'
).body(PARTS).explain("""
    the backward pass of the last norm was given the embedding, not the output of the last block
    why: layernorm_backward needs the x of the forward pass: the stream after the last block.
    ask: Which value went into the last norm in the forward pass?""")
mistake("last-gamma-forgotten", 'before, params["ln_f.gamma"])', 'before, np.ones_like(params["ln_f.gamma"]))').body(
    PARTS
).explain("""
    ln_f.gamma was not used in the backward pass of the last norm
    why: gamma multiplies the normalized vector, so it multiplies the gradient, too.
    ask: Which three arguments does layernorm_backward need?""")
mistake(
    "last-gamma-and-beta-exchanged",
    'grads["ln_f.gamma"], grads["ln_f.beta"] =',
    'grads["ln_f.beta"], grads["ln_f.gamma"] =',
    common=True,
).body(PARTS).explain("""
    the gradients of ln_f.gamma and ln_f.beta were swapped
    why: Both have the shape (D,), so there is no error.
    ask: In which order does layernorm_backward return its three results?""")
mistake("last-norm-not-collected", 'dx, grads["ln_f.gamma"], grads["ln_f.beta"] =', "dx, _, _ =").body(
    PARTS
).explain("""
    the gradients of ln_f.gamma and ln_f.beta are missing
    why: Every parameter has a gradient, those of the last norm, too.
    ask: Which names are in params and not in your grads?""")
mistake(
    "blocks-named-in-forward-order",
    'prefixed(layer, f"blocks.{i}.")',
    'prefixed(layer, f"blocks.{config.n_layers - 1 - i}.")',
).body(PARTS).explain("""
    the gradients of the blocks have the names of the blocks in reverse order
    why: The backward pass begins with the last block, whose gradients belong to blocks.{L - 1}.
    ask: Which block does your backward pass visit first, and which name do its gradients get?""")
mistake("blocks-without-names", 'prefixed(layer, f"blocks.{i}.")', "layer").body(PARTS).explain("""
    the names of the blocks are missing: the blocks overwrote each other's gradients
    why: A dictionary has one value for each key. The gradients need the names of their parameters.
    ask: What is the full name of the first gamma of block 1?""")
mistake("all-blocks-named-0", 'prefixed(layer, f"blocks.{i}.")', 'prefixed(layer, "blocks.0.")').body(PARTS).explain("""
    the gradients of all blocks have the name of block 0
    why: A dictionary has one value for each key: the blocks overwrote each other's gradients.
    ask: Which part of the prefix should change from one iteration of your loop to the next?""")
for name, index, text in (
    ("in-reverse-order", "config.n_layers - 1 - i", "the caches of the blocks were used in reverse order"),
    ("of-last-block", "-1", "every block used the cache of the last block"),
    ("of-first-block", "0", "every block used the cache of the first block"),
):
    mistake(f"caches-{name}", '["block_caches"][i]', f'["block_caches"][{index}]').body(PARTS).explain(f"""
    {text}
    why: The backward pass of a block needs the cache of the same block.
    ask: Which cache does your code pass to the first call of block_backward?""")
mistake("stream-not-passed-on", "dx, layer = block_backward", "_, layer = block_backward").body(PARTS).explain("""
    every block was given the gradient of the last norm: the gradient did not pass through the blocks
    why: block_backward returns the gradient with respect to the block's input, which the block before it needs.
    ask: What do you do with the first result of block_backward?""")
mistake(
    "stream-gradients-added",
    "dx, layer = block_backward(dx,",
    "before_block = dx\n        dx, layer = block_backward(dx,",
    'grads |= prefixed(layer, f"blocks.{i}.")',
    'grads |= prefixed(layer, f"blocks.{i}.")\n        dx = dx + before_block',
).body(PARTS).explain("""
    the gradient of each block's output was added to that of its input
    why: block_backward already contains both residual connections.
    ask: Where in the backward pass do the residual connections occur?""")
mistake("last-block-skipped", "reversed(range(config.n_layers))", "reversed(range(config.n_layers - 1))").body(
    PARTS
).explain("""
    the backward pass left out the last block
    why: range(n) already ends at n - 1.
    ask: Which blocks does your loop visit if there are two?""")
mistake("first-block-skipped", "reversed(range(config.n_layers))", "range(config.n_layers - 1, 0, -1)").body(
    PARTS
).explain(
    """
    the backward pass left out block 0
    why: range(n - 1, 0, -1) ends before it reaches 0.
    ask: What is the last value of i in your loop?"""
)
mistake(
    "head-of-input",
    "dhead = final.reshape(-1, final.shape[-1])",
    'dhead = cache[f"blocks.{config.n_layers - 1}.after_ffn"].reshape(-1, final.shape[-1])',
).body(PARTS).explain("""
    the gradient of the head was computed from the stream before the last norm
    why: The head multiplies the output of the last norm, so that is the factor in its gradient.
    ask: Which vectors does the forward pass multiply by the head?""")
mistake("head-transposed", 'grads["W_head"] = dhead', 'grads["W_head"] = dhead.T').body(PARTS).explain("""
    the gradient of W_head is transposed
    why: A gradient has the shape of its parameter: W_head is (D, V).
    ask: Which shape does your gradient of W_head have?""")
mistake("head-missing", 'grads["W_head"] = dhead', "pass").body(PARTS).explain("""
    the gradient of W_head is missing
    why: A separate head is a parameter like all others.
    ask: Which names are in params and not in your grads?""")
mistake(
    "separate-head-in-table",
    'grads["W_head"] = dhead',
    'grads["W_head"] = dhead\n        grads["W_tok"] = grads["W_tok"] + dhead.T',
).body(PARTS).explain("""
    the part from the head was added to the gradient of W_tok although the head is a separate matrix
    why: With tied=False, W_tok is used once, at the beginning.
    ask: With a separate head, where does the forward pass use W_tok?""")
mistake("tied-head-returned", 'grads["W_tok"] = grads["W_tok"] + dhead.T', 'grads["W_head"] = dhead').body(
    PARTS
).explain("""
    with a tied head, grads had an entry W_head, and the gradient of W_tok left out that part
    why: There is no parameter W_head then. The part from the head belongs to the gradient of W_tok.
    ask: Which parameter is the head when config.tied is True?""")
mistake(
    "tied-head-returned-too", 'grads["W_tok"] + dhead.T', 'grads["W_tok"] + dhead.T\n        grads["W_head"] = dhead'
).body(PARTS).explain("""
    with a tied head, grads has an entry W_head
    why: grads has the same keys as params, and a tied model has no parameter W_head.
    ask: Which names are in your grads and not in params?""")
mistake("tied-not-transposed", "+ dhead.T", "+ dhead").body(PARTS).explain("""
    with a tied head, the head's part of the gradient of W_tok was not transposed
    why: The head is the transposed table, so its gradient (D, V) has to be transposed to fit W_tok (V, D).
    ask: Which shapes do the two parts of the gradient of W_tok have?""")
mistake("tied-reshaped", "+ dhead.T", '+ dhead.reshape(params["W_tok"].shape)').body(PARTS).explain("""
    with a tied head, the head's part of the gradient of W_tok was reshaped, not transposed
    why: A reshape keeps the order of the entries and puts them in the wrong rows.
    ask: Which row of the gradient of W_tok does column 0 of the head's gradient belong to?""")
mistake("tied-averaged", 'grads["W_tok"] + dhead.T', '(grads["W_tok"] + dhead.T) / 2').body(PARTS).explain("""
    with a tied head, the two parts of the gradient of W_tok were averaged, not added
    why: The gradient of something that is used twice is the sum of the two gradients.
    ask: By how much does the loss change when both uses of an entry change?""")
mistake("targets-for-ids", "embed_tokens_backward(dx, ids,", "embed_tokens_backward(dx, targets,").body(
    PARTS
).explain("""
    the gradient of the embedding was added to the rows of the targets, not of the ids
    why: The rows that were looked up are those of the ids.
    ask: Which tokens does the forward pass look up in W_tok?""")
for table, old, new in (
    ("W_tok", "embed_tokens_backward(dx, ids,", "embed_tokens_backward(top, ids,"),
    ("W_pos", "dx.reshape(-1, length, dx.shape[-1])", "top.reshape(-1, length, dx.shape[-1])"),
):
    mistake(f"{table}-from-the-top", old, new, "    for i in reversed", "    top = dx\n    for i in reversed").body(
        PARTS
    ).explain(f"""
    the gradient of {table} was computed from the gradient of the stream after the last block
    why: The embedding is the start of the stream, so its gradient is what comes out of the backward pass of block 0.
    ask: Which gradient do you use for the tables: the one before or the one after the loop over the blocks?""")
mistake(
    "tables-from-the-top",
    "embed_tokens_backward(dx, ids,",
    "embed_tokens_backward(top, ids,",
    "dx.reshape(-1, length, dx.shape[-1])",
    "top.reshape(-1, length, dx.shape[-1])",
    "    for i in reversed",
    "    top = dx\n    for i in reversed",
).body(PARTS).explain("""
    the gradients of W_tok and W_pos were computed from the gradient of the stream after the last block
    why: The embedding is the start of the stream, so its gradient is what comes out of the backward pass of block 0.
    ask: Which gradient do you use for the tables: the one before or the one after the loop over the blocks?""")
for name, old, new, text, why in (
    (
        "positions-of-first-text",
        ".sum(axis=0)",
        "[0]",
        "only the first text contributed to the gradient of W_pos",
        "All texts use the same rows of W_pos, so their gradients add up.",
    ),
    (
        "positions-at-the-end",
        '["W_pos"][:length]',
        '["W_pos"][-length:]',
        "the gradient of W_pos is in its last T rows, not in its first",
        "A text of T tokens uses the positions 0 to T - 1. The mistake stays hidden with T = block_size.",
    ),
    (
        "positions-summed",
        ".sum(axis=0)",
        ".sum(axis=(0, 1))",
        "every position was given the sum over all positions",
        "The texts are summed, but every position has a gradient of its own.",
    ),
    (
        "positions-by-two-axes",
        "dx.reshape(-1, length, dx.shape[-1]).sum(axis=0)",
        "dx.sum(axis=0)",
        "the gradient of W_pos is right for a batch with one leading axis only",
        "There may be no batch axis, or several: all axes but the last two are summed.",
    ),
    (
        "positions-float64",
        'np.zeros_like(params["W_pos"])',
        'np.zeros(params["W_pos"].shape)',
        "the gradient of W_pos is always float64",
        "np.zeros creates a float64 array unless a dtype is given. np.zeros_like takes the dtype of its argument.",
    ),
):
    mistake(name, old, new).body(PARTS).explain(f"""
    {text}
    why: {why}
    ask: Which shape and dtype does the gradient of W_pos have, and which axes are summed?""")
mistake(
    "tokens-float64",
    "embed_tokens_backward(dx, ids, config.vocab_size)",
    "embed_tokens_backward(dx.astype(np.float64), ids, config.vocab_size)",
).body(PARTS).explain("""
    the gradient of W_tok is always float64
    why: np.zeros and np.eye create float64 arrays unless a dtype is given.
    ask: What is the dtype of your gradient of W_tok when all parameters are float32?""")
mistake(
    "tables-float64",
    "embed_tokens_backward(dx, ids, config.vocab_size)",
    "embed_tokens_backward(dx.astype(np.float64), ids, config.vocab_size)",
    'np.zeros_like(params["W_pos"])',
    'np.zeros(params["W_pos"].shape)',
).body(PARTS).explain("""
    the gradients of W_tok and W_pos are always float64
    why: np.zeros and np.eye create float64 arrays unless a dtype is given.
    ask: What is the dtype of your gradients when all parameters are float32?""")
mistake(
    "always-float64",
    "dlogits = cross_entropy_backward(logits, targets)",
    "dlogits = cross_entropy_backward(logits.astype(np.float64), targets)",
    common=True,
).body(PARTS).explain("""
    the gradients are float64 even when the parameters are float32
    why: A single float64 array makes everything that is computed with it float64.
    ask: What is the first array in your backward pass that is float64?""")
mistake(
    "positions-missing",
    'if config.positions == "learned":',
    "if False:",
).body(PARTS).explain("""
    the gradient of W_pos is missing
    why: The positions are trained, too: the gradient of the embedding goes to both tables.
    ask: Which names are in params and not in your grads?""")
mistake(
    "last-position-only",
    "    rows = dlogits",
    "    loss = cross_entropy(logits[..., -1, :], np.asarray(targets)[..., -1])\n    rows = dlogits",
).body(PARTS).explain("""
    the loss is that of the last position only; the gradients are those of all
    why: Every position makes a prediction, and the loss is the mean of all.
    ask: How many predictions does a text of four tokens make?""")
mistake("bits", "loss = cross_entropy(logits, targets)", "loss = cross_entropy(logits, targets) / math.log(2)").body(
    PARTS
).explain("""
    the loss is in bits: it was divided by log 2
    why: The cross-entropy of this course uses natural logarithms.
    ask: What is the loss of a model that gives every token the probability 1/V?""")
mistake(
    "loss-of-mean-scores",
    "loss = cross_entropy(logits, targets)",
    "loss = cross_entropy(softmax_of(logits), targets)",
    "    logits, cache = gpt(ids, params, config, rng)\n",
    """    logits, cache = gpt(ids, params, config, rng)
    def softmax_of(scores):
        powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
        return powers / powers.sum(axis=-1, keepdims=True)
""",
).body(PARTS).explain("""
    softmax was applied before cross_entropy, which applies it again
    why: cross_entropy takes scores.
    ask: What does cross_entropy expect: scores or probabilities?""")
