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
    if "b_head" in config.bias:
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
mistake("embedding-mask-not-applied", 'dx = dropout_backward(dx, cache["embed_mask"])', "pass").body(PARTS).explain("""
    the gradient of the two tables did not go through the dropout after the embedding
    why: In training, values of the embedded text are dropped, and the others multiplied by 1 / (1 - p).
    ask: Which steps of the forward pass come between the tables and the first block?""")
mistake(
    "last-gamma-and-beta-exchanged",
    'grads["ln_f.gamma"], grads["ln_f.beta"] =',
    'grads["ln_f.beta"], grads["ln_f.gamma"] =',
    common=True,
).body(PARTS).explain("""
    the gradients of ln_f.gamma and ln_f.beta were swapped
    why: Both have the shape (D,), so there is no error.
    ask: In which order does layernorm_backward return its three results?""")
mistake(
    "blocks-named-in-forward-order",
    'prefixed(layer, f"blocks.{i}.")',
    'prefixed(layer, f"blocks.{config.n_layers - 1 - i}.")',
).body(PARTS).explain("""
    the gradients of the blocks have the names of the blocks in reverse order
    why: The backward pass begins with the last block, whose gradients belong to blocks.{L - 1}.
    ask: Which block does your backward pass visit first, and which name do its gradients get?""")
mistake(
    "tied-head-returned-too", 'grads["W_tok"] + dhead.T', 'grads["W_tok"] + dhead.T\n        grads["W_head"] = dhead'
).body(PARTS).explain("""
    with a tied head, grads has an entry W_head
    why: grads has the same keys as params, and a tied model has no parameter W_head.
    ask: Which names are in your grads and not in params?""")
mistake("positions-by-two-axes", "dx.reshape(-1, length, dx.shape[-1]).sum(axis=0)", "dx.sum(axis=0)").body(
    PARTS
).explain("""
the gradient of W_pos is right for a batch with one leading axis only
why: There may be no batch axis, or several: all axes but the last two are summed.
ask: Which shape and dtype does the gradient of W_pos have, and which axes are summed?""")
mistake("positions-averaged", "dx.shape[-1]).sum(axis=0)", "dx.shape[-1]).mean(axis=0)").body(PARTS).explain("""
    the gradient of W_pos is the mean over the texts of the batch, not their sum
    why: Each text used the row of its position, and the gradients of all uses add up. The loss is a mean already.
    ask: If two texts give the row of position 0 the gradients 1 and 3, what is the gradient of that row?""")
mistake(
    "tokens-float64",
    "embed_tokens_backward(dx, ids, config.vocab_size)",
    "embed_tokens_backward(dx.astype(np.float64), ids, config.vocab_size)",
).body(PARTS).explain("""
    the gradient of W_tok is always float64
    why: np.zeros and np.eye create float64 arrays unless a dtype is given.
    ask: What is the dtype of your gradient of W_tok when all parameters are float32?""")
mistake(
    "always-float64",
    "dlogits = cross_entropy_backward(logits, targets)",
    "dlogits = cross_entropy_backward(logits.astype(np.float64), targets)",
    common=True,
).body(PARTS).explain("""
    the gradients are float64 even when the parameters are float32
    why: A single float64 array makes everything that is computed with it float64.
    ask: What is the first array in your backward pass that is float64?""")
