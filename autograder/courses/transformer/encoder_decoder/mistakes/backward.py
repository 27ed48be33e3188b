"""Mistakes in the backward pass of the whole model."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_DSCORES = "dlog_probs - np.exp(log_probs) * dlog_probs.sum(axis=-1, keepdims=True)"

mistake = MISTAKES.for_functions("encoder_decoder.transformer_backward")


mistake("log-softmax-skipped", _DSCORES, "dlog_probs", common=True).explain("""
    the gradient did not pass through the log-softmax
    why: A larger score lowers all other log-probabilities of its row.
    ask: If all scores of a row increase by 1, the result does not change. What must a row of dscores add up to?""")
mistake("row-not-summed", _DSCORES, "dlog_probs - np.exp(log_probs) * dlog_probs").explain("""
    in the log-softmax, each probability was multiplied by its own upstream gradient, not by the sum of its row
    why: A score lowers all log-probabilities of its row, so it gets a part of the gradient of each.
    ask: If all scores of a row increase by 1, the result does not change. What must a row of dscores add up to?""")
mistake("memory-of-first-block-only", "+= dmemory_of_block", "= dmemory_of_block", common=True).explain("""
    the encoder got the memory's gradient from one decoder block only
    why: All blocks attend to the same memory, so their gradients add up.
    ask: Does your loop add the gradients of the memory, or overwrite them?""")
mistake("scale-missing", "scale = math.sqrt(config.d_model)", "scale = 1.0", common=True).explain("""
    the gradients of the two tables were not multiplied by √D
    why: The forward pass multiplies the token vectors by √D.
    ask: What happens between the table and the stream in the forward pass?""")
mistake("no-first-residual", "dsum + dbranch,", "dbranch,", common=True, inside="_decoder_block_backward").explain("""
    the residual gradient around the decoder's self attention is missing
    why: Where the forward pass adds, the gradient goes to both terms of the sum.
    ask: How many sums does a decoder block have? Each of them has two gradients.""")
mistake(
    "no-second-residual",
    "dsum + dbranch  # with respect to after_attention",
    "dbranch  # with respect to after_attention",
    common=True,
    inside="_decoder_block_backward",
).explain("""
    the residual gradient around the decoder's source attention is missing
    why: Where the forward pass adds, the gradient goes to both terms of the sum.
    ask: How many sums does a decoder block have? Each of them has two gradients.""")

# The head and the log-softmax.
mistake("divided-by-positions", _DSCORES, f"({_DSCORES}) / dlog_probs[..., 0].size").explain("""
    every gradient was divided by the number of target tokens
    why: dlog_probs is the gradient of the loss, and contains its sign and its mean already.
    ask: For dlog_probs twice as large, how much larger are the gradients? What else do you multiply by?""")


# The dictionary, and what a second call finds.
_RETURN = "{name: grads[name] for name in params}"
_NO_HEAD = '{name: grads[name] for name in params if name != "W_head"}'
mistake("no-gradient-of-W_head", _RETURN, _NO_HEAD).explain("""
    the gradient of W_head was not returned
    why: A parameter without a gradient is never trained.
    ask: Which keys does `params` have, and which keys does your dict have?""")
mistake(
    "summed-over-calls",
    f"return {_RETURN}",
    'kept = cache.setdefault("kept", {})\n    for name in params:\n'
    "        kept[name] = kept.get(name, 0) + grads[name]\n    return dict(kept)",
).explain("""
    the gradients of a second call were added to those of the first
    why: Each call returns the gradients for its own dlog_probs.
    ask: Where does your code keep the gradients after it has returned them?""")
mistake(
    "cache-used-up-list",
    "    grads = {}\n",
    '    if cache.setdefault("calls", 0):\n        [].pop()\n    cache["calls"] += 1\n    grads = {}\n',
).explain("""
    a list in the cache was emptied with .pop(), so a second call fails
    why: The cache may be used again, with the same result.
    ask: Which of your lines change the cache? Is there a loop that only reads the list?""")
