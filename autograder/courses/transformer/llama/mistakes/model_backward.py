"""Mistakes in the gradients of a Llama."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_HEAD = 'dfinal, dhead, _ = linear_backward(dlogits, cache["final_norm"], _head(params, config))'
_NORM = 'rmsnorm_backward(dfinal, cache["last"], params["norm_f.gamma"], config.norm_eps)'
_LOOP = "for i in reversed(range(config.n_layers)):"
_BLOCK = 'dx, dblock = llama_block_backward(dx, cache["block_caches"][i])'
_NAMES = 'grads |= prefixed(dblock, f"blocks.{i}.")'
_TABLE = "embed_tokens_backward(dx, ids, config.vocab_size)"
_TIED = 'grads["W_tok"] = grads["W_tok"] + dhead.T'
_RETURN = "return {name: grads[name] for name in params}"

mistake = MISTAKES.for_functions("llama.llama_backward")

# The head and the table.
mistake("tied-head-only", _TIED, 'grads["W_tok"] = dhead.T', common=True).explain("""
    with a tied head, the gradient of W_tok contains only the part from the head
    why: The table was used twice. The later assignment overwrote the part from the embedding.
    ask: How often is the token table used in the forward pass?""")
mistake("tied-table-only", _TIED, "pass", common=True).explain("""
    with a tied head, the gradient of W_tok left out the part from the head
    why: The table was used twice: as the table at the beginning and as the head at the end.
    ask: How often is the token table used in the forward pass?""")
mistake("tied-averaged", _TIED, 'grads["W_tok"] = (grads["W_tok"] + dhead.T) / 2').explain("""
    with a tied head, the two parts of the gradient of W_tok were averaged, not added
    why: A value that is used twice gets the sum of two gradients.
    ask: By how much does the loss change if both uses of the table change?""")
mistake("tied-reshaped", _TIED, 'grads["W_tok"] = grads["W_tok"] + dhead.reshape(grads["W_tok"].shape)').explain("""
    with a tied head, the part from the head was reshaped, not transposed
    why: reshape keeps the order of the entries. Column v of the head is row v of the table.
    ask: What is the difference between W.T and W.reshape(V, D)?""")
mistake("tied-with-extra", _RETURN, "return {name: grads[name] for name in params} | {'W_head': dhead}").explain("""
    with a tied head, there was a gradient for W_head
    why: A tied model has no W_head. The keys of grads are those of params.
    ask: Which keys do params have if the head is tied?""")
mistake(
    "tokens-once",
    f'grads["W_tok"] = {_TABLE}',
    'grads["W_tok"] = np.zeros((config.vocab_size, config.d_model), dtype=dx.dtype)\n    grads["W_tok"][ids] += dx',
    common=True,
).explain("""
    where a token occurs several times, only one of its gradients was counted
    why: `grads[ids] += dx` writes each row only once, even if ids lists it several times.
    ask: What is the gradient of the row of a token that occurs at three positions?""")
mistake("scaled-table", _TABLE, _TABLE + " * config.d_model**0.5").explain("""
    the gradient of W_tok was multiplied by √D
    why: In the first transformer the token vectors were multiplied by √D. Here they are not.
    ask: What does your forward pass multiply the token vectors by?""")
mistake("head-of-the-stream", _HEAD, _HEAD.replace('cache["final_norm"]', 'cache["last"]'), common=True).explain("""
    the gradient of the head was computed from the stream before the last norm
    why: The head read the normalized vectors.
    ask: Which array did you multiply by the head in the forward pass?""")
mistake("table-of-the-last-dx", _TABLE, "embed_tokens_backward(dfinal, ids, config.vocab_size)").explain("""
    the gradient of the table was computed from the gradient of the final vectors
    why: The gradient that belongs to the embedding has passed back through the norm and all blocks.
    ask: Which variable holds the gradient below the first block?""")

# The last norm.
mistake("last-norm-skipped", f"dx, dgamma = {_NORM}", f"dx, dgamma = dfinal, {_NORM}[1]", common=True).explain("""
    the gradient did not go through the last norm
    why: The gamma gets its gradient, but the gradient of the stream must also go through the norm.
    ask: What do you do with the first of the two gradients that rmsnorm_backward returns?""")
mistake("last-eps-ignored", _NORM, _NORM.replace(", config.norm_eps", "")).explain("""
    the backward pass of the last norm did not use the eps of the configuration
    why: It was 1e-5 then, the default of rmsnorm_backward.
    ask: Which arguments does rmsnorm_backward take?""")
mistake("last-norm-output", _NORM, _NORM.replace('cache["last"]', 'cache["final_norm"]'), common=True).explain("""
    the last norm got its output in the backward pass, not its input
    why: The gradient of a norm depends on the mean square of its input.
    ask: What is the input of the last norm? Did you keep it in the cache?""")
mistake(
    "last-gamma-unused", _NORM, _NORM.replace('"]', '"] ** 0').replace('cache["last"] ** 0', 'cache["last"]')
).explain("""
    the gamma of the last norm was not used in the backward pass
    why: In an untrained model it is 1, and the mistake stays hidden.
    ask: Which arguments does rmsnorm_backward take?""")

# The blocks.
mistake("blocks-forward", _LOOP, "for i in range(config.n_layers):", common=True).explain("""
    the backward pass began with the first block
    why: The gradient arrives at the last block first.
    ask: In which order does your loop run through the blocks?""")
mistake("first-cache-everywhere", _BLOCK, _BLOCK.replace("[i]", "[0]")).explain("""
    every block got the cache of the first block
    why: Each block has its own inputs, and needs its own cache.
    ask: Which cache does your loop pass to the second block?""")
mistake("last-cache-everywhere", _BLOCK, _BLOCK.replace("[i]", "[-1]")).explain("""
    every block got the cache of the last block
    why: Each block has its own inputs, and needs its own cache.
    ask: Which cache does your loop pass to the first block?""")
mistake("blocks-not-chained", _BLOCK, _BLOCK.replace("dx, dblock", "_, dblock")).explain("""
    every block got the gradient that belongs to the last block
    why: What llama_block_backward returns as dx is the upstream gradient of the block below.
    ask: What do you do with the dx of a block?""")
mistake("names-reversed", _NAMES, 'grads |= prefixed(dblock, f"blocks.{config.n_layers - 1 - i}.")').explain("""
    the gradients of the blocks have the names of the blocks in reverse order
    why: The loop runs backwards, but the number of a block stays the same.
    ask: Which prefix do the gradients of the last block get?""")
mistake(
    "last-block-left-out",
    _LOOP,
    "for i in reversed(range(config.n_layers - 1)):",
    _RETURN,
    "return {name: grads.get(name, np.zeros_like(value)) for name, value in params.items()}",
).explain("""
    the gradient did not go through the last block
    why: All blocks were used in the forward pass.
    ask: Which values does i take in your loop, for a model of three blocks?""")
mistake(
    "dx-doubled", _BLOCK, "below, dblock = llama_block_backward(dx, cache['block_caches'][i])\n        dx = dx + below"
).explain("""
    the gradient of the stream was added again after each block
    why: llama_block_backward already adds the gradient that goes past the steps along the stream.
    ask: If both steps of a block return 0, what does llama_block_backward return as dx?""")

# The dictionary.
mistake(
    "no-block-prefixes", _RETURN, 'return {name.removeprefix("blocks."): grads[name] for name in params}'
).explain("""
    the names of the gradients of the blocks do not begin with `blocks.`
    why: The keys of grads are those of params.
    ask: Which prefix do you pass to prefixed?""")
mistake("norm-missing", _RETURN, 'return {name: grads[name] for name in params if name != "norm_f.gamma"}').explain("""
    the gradient of norm_f.gamma is missing
    why: It is a parameter as well, and training changes it.
    ask: What is the second value that rmsnorm_backward returns?""")
mistake("table-missing", _RETURN, 'return {name: grads[name] for name in params if name != "W_tok"}').explain("""
    the gradient of W_tok is missing
    why: The token vectors are learned.
    ask: What do you do with the gradient below the first block?""")
mistake(
    "averaged-over-positions",
    _RETURN,
    "return {name: grads[name] / (dlogits.size / dlogits.shape[-1]) for name in params}",
).explain("""
    the gradients were averaged over the positions
    why: They are sums over all positions. The mean belongs to the loss, and dlogits already includes it.
    ask: Which part of your code divides by a number of positions?""")
mistake("averaged-over-batch", _RETURN, "return {name: grads[name] / len(dlogits) for name in params}").explain("""
    the gradients were averaged over the first axis
    why: They are sums over all positions. The mean belongs to the loss, and dlogits already includes it.
    ask: Which part of your code divides by a number of texts?""")
mistake("always-float64", _RETURN, "return {name: grads[name].astype(np.float64) for name in params}").explain("""
    the gradients were converted to float64
    why: Gradients have the dtype of the parameters: float32 should stay float32.
    ask: What is the dtype of your gradients if all parameters are float32?""")
mistake(
    "cache-used-up",
    "    ids, params, config = cache",
    '    if cache.setdefault("calls", 0):\n        raise KeyError("block_caches")\n    cache["calls"] += 1\n'
    "    ids, params, config = cache",
).explain("""
    an entry was removed from the cache, so a second call fails
    why: The cache may be used again, with the same result.
    ask: Which of your lines change the cache? What does .pop do?""")
mistake(
    "summed-over-calls",
    _RETURN,
    'kept = cache.setdefault("kept", {})\n'
    "    for name in params:\n"
    "        kept[name] = kept.get(name, 0.0) + grads[name]\n"
    "    return dict(kept)",
).explain("""
    the gradients were added up from call to call
    why: The cache may be used again, with the same result.
    ask: Which of your lines change the cache?""")
