"""Mistakes in the gradients of a Llama."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_HEAD = 'dfinal, dhead, _ = linear_backward(dlogits, cache["final_norm"], _head(params, config))'
_NORM = 'rmsnorm_backward(dfinal, cache["last"], params["norm_f.gamma"], config.norm_eps)'
_LOOP = "for i in reversed(range(config.n_layers)):"
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
mistake(
    "tokens-once",
    f'grads["W_tok"] = {_TABLE}',
    'grads["W_tok"] = np.zeros((config.vocab_size, config.d_model), dtype=dx.dtype)\n    grads["W_tok"][ids] += dx',
    common=True,
).explain("""
    where a token occurs several times, only one of its gradients was counted
    why: `grads[ids] += dx` writes each row only once, even if ids lists it several times.
    ask: What is the gradient of the row of a token that occurs at three positions?""")
mistake("head-of-the-stream", _HEAD, _HEAD.replace('cache["final_norm"]', 'cache["last"]'), common=True).explain("""
    the gradient of the head was computed from the stream before the last norm
    why: The head read the normalized vectors.
    ask: Which array did you multiply by the head in the forward pass?""")

# The last norm.
mistake("last-norm-skipped", f"dx, dgamma = {_NORM}", f"dx, dgamma = dfinal, {_NORM}[1]", common=True).explain("""
    the gradient did not go through the last norm
    why: The gamma gets its gradient, but the gradient of the stream must also go through the norm.
    ask: What do you do with the first of the two gradients that rmsnorm_backward returns?""")
mistake("last-norm-output", _NORM, _NORM.replace('cache["last"]', 'cache["final_norm"]'), common=True).explain("""
    the last norm got its output in the backward pass, not its input
    why: The gradient of a norm depends on the mean square of its input.
    ask: What is the input of the last norm? Did you keep it in the cache?""")

# The blocks.
mistake("blocks-forward", _LOOP, "for i in range(config.n_layers):", common=True).explain("""
    the backward pass began with the first block
    why: The gradient arrives at the last block first.
    ask: In which order does your loop run through the blocks?""")

# The dictionary.
mistake(
    "no-block-prefixes", _RETURN, 'return {name.removeprefix("blocks."): grads[name] for name in params}'
).explain("""
    the names of the gradients of the blocks do not begin with `blocks.`
    why: The keys of grads are those of params.
    ask: Which prefix do you pass to prefixed?""")
mistake("table-missing", _RETURN, 'return {name: grads[name] for name in params if name != "W_tok"}').explain("""
    the gradient of W_tok is missing
    why: The token vectors are learned.
    ask: What do you do with the gradient below the first block?""")
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
