"""Mistakes in assignment 12: the whole model, decoding and the backward pass."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_DSCORES = "dlog_probs - np.exp(log_probs) * dlog_probs.sum(axis=-1, keepdims=True)"

mistake = MISTAKES.for_functions("encoder_decoder.transformer", "encoder_decoder.greedy_decode")
mistake(
    "encoder-without-source-mask", "(source, params, config, source_mask)", "(source, params, config)", common=True
).explain("""
    the source mask was not passed to the encoder
    why: The real tokens of short texts then attend to padding.
    ask: Both stacks attend to the source. Which of them gets the mask in your code?""")

mistake = MISTAKES.for_functions("encoder_decoder.transformer")
mistake(
    "decoder-without-source-mask",
    "config, target_mask, source_mask)  # (B, T, Vt)",
    "config, target_mask)",
    common=True,
).explain("""
    the source mask was not passed to the decoder
    why: The mask hides the padding from the encoder's other positions, but the memory still has rows for it.
    ask: Both stacks attend to the source. Which of them gets the mask in your code?""")
mistake(
    "target-mask-ignored", "config, target_mask, source_mask)  # (B, T, Vt)", "config, None, source_mask)", common=True
).explain("""
    the target mask was not passed on
    why: The tokens of short targets then attend to padding.
    ask: Which of the arguments does your code use?""")
mistake("masks-exchanged", ", target_mask, source_mask)  # (B, T, Vt)", ", source_mask, target_mask)").explain("""
    the two masks were passed to the decoder in the wrong order
    why: transformer takes the source mask first, decode the target mask.
    ask: In which order does decode take its masks?""")
mistake("texts-exchanged", "encode(source,", "encode(target,", "decode(target,", "decode(source,").explain("""
    source and target were exchanged
    why: The encoder reads the source, the decoder continues the target.
    ask: Which of the two texts does your encoder get?""")
mistake("target-moved-again", "decode(target,", "decode(np.roll(target, 1, axis=-1),").explain("""
    the target was shifted to the right inside the function
    why: The caller has already put the start token in front.
    ask: What does the docstring say about the target that is passed in?""")

mistake = MISTAKES.for_functions("encoder_decoder.greedy_decode")
mistake("never-stops", " and not ended.all()", "", common=True).explain("""
    the loop always runs until max_length tokens are written
    why: It should stop as soon as every text has ended.
    ask: Which conditions does your loop check before each step?""")
mistake("stops-at-first-end", "ended.all()", "ended.any()", common=True).explain("""
    the loop stops as soon as one text of the batch has ended
    why: The other texts are then cut off.
    ask: Should the loop stop when any text has ended, or when all have?""")
mistake(
    "not-filled", "        best[ended] = end\n", "", "ended = best == end", "ended |= best == end", common=True
).explain("""
    a text that has ended is continued
    why: After its end token, a text should get the end token at every step.
    ask: What does your code append to a text that ended two steps ago?""")
mistake("end-forgotten", "        best[ended] = end\n", "").explain("""
    only the last token decides whether a text has ended
    why: A text that ended is then continued, and counts as not ended again.
    ask: What does your code append to a text that ended two steps ago?""")
mistake("filled-with-zero", "best[ended] = end", "best[ended] = 0", "ended = best ==", "ended |= best ==").explain("""
    texts that have ended were filled with 0 instead of the end token
    why: 0 is a token like any other.
    ask: Which token should ended texts be filled with, according to the docstring?""")
mistake("start-kept", "target[..., 1:]", "target", common=True).explain("""
    the start token was returned, too
    why: The result contains only the tokens that were written after it.
    ask: How many tokens does your code return if max_length is 1?""")
mistake("one-too-few", "<= max_length", "< max_length", common=True).explain("""
    one token too few was written: the start token was counted
    why: max_length is the number of tokens to write. The start token does not count.
    ask: How many tokens does your code return if max_length is 1?""")
mistake("one-too-many", "<= max_length", "<= max_length + 1").explain("""
    one token too many was written
    why: max_length is the largest number of tokens to write, including the end token.
    ask: How many tokens does your code return if max_length is 1?""")
mistake("first-position", "log_probs[..., -1:, :]", "log_probs[..., :1, :]").explain("""
    the next token was taken from the first position, not the last
    why: The last position predicts the token that follows the whole text.
    ask: Which position of log_probs depends on everything that is written so far?""")
mistake("least-probable", "argmax", "argmin").explain("""
    the least probable token was taken
    why: Log-probabilities are negative. The largest one is the one closest to 0.
    ask: Which log-probability is larger, -0.1 or -5?""")
mistake("last-of-ties", ".argmax(axis=-1)", ".argsort(axis=-1, kind='stable')[..., -1]").explain("""
    of equally probable tokens, the last was taken, not the first
    why: This happens if you sort the tokens and take the last.
    ask: Which of several equal values does np.argmax return?""")
mistake("last-token-only", "decode(target, memory", "decode(target[..., -1:], memory").explain("""
    only the last token was passed to the decoder, not the text so far
    why: Without a key/value cache, the decoder needs the whole text: a single token gets position 0 and no context.
    ask: Which tokens must the decoder get in the third step?""")
mistake("decoder-without-source-mask", ", source_mask=source_mask)", ")").explain("""
    the source mask was not passed to the decoder
    why: The mask hides the padding from the encoder's other positions, but the memory still has rows for it.
    ask: Both stacks attend to the source. Which of them gets the mask in your code?""")
mistake("start-counts-as-end", "np.zeros(target.shape, dtype=bool)", "target == end").explain("""
    a start token that equals the end token ended the text at once
    why: Some models use one token for both. Only a token that was written can end a text.
    ask: In which tokens does your loop search for the end token?""")
mistake(
    "end-not-returned",
    "return target[..., 1:]",
    "only_ends = (target == end).all(axis=tuple(range(target.ndim - 1)))\n"
    "    only_ends[0] = True\n    return target[..., ~only_ends]",
).explain("""
    the end token of the longest text was not returned
    why: The result contains all tokens that were written, including the end token.
    ask: How many tokens does your code return if the first one is the end token?""")
mistake("int32", "return target[..., 1:]", "return target[..., 1:].astype(np.int32)").explain("""
    the tokens are int32
    why: The docstring asks for int64, as for all ids in this course.
    ask: Which dtype does the docstring name?""")

mistake = MISTAKES.for_functions("encoder_decoder.transformer_backward")
mistake("log-softmax-skipped", _DSCORES, "dlog_probs", common=True).explain("""
    the gradient did not pass through the log-softmax
    why: A larger score lowers all other log-probabilities of its row.
    ask: If all scores of a row increase by 1, the result does not change. What must a row of dscores add up to?""")
mistake(
    "softmax-for-log-softmax",
    _DSCORES,
    "np.exp(log_probs) * (dlog_probs - (dlog_probs * np.exp(log_probs)).sum(axis=-1, keepdims=True))",
).explain("""
    the backward pass of softmax was used for the log-softmax
    why: The two functions have different derivatives.
    ask: Is the upstream gradient that of probabilities or of log-probabilities?""")
mistake("log-softmax-sign", "dlog_probs - np.exp", "dlog_probs + np.exp").explain("""
    the second term of the log-softmax gradient has the wrong sign
    why: The forward pass subtracts the logarithm of the sum of exponentials.
    ask: If all scores of a row increase by 1, the result does not change. What must a row of dscores add up to?""")
mistake(
    "memory-of-first-block-only", "dmemory += dmemory_of_block", "dmemory = dmemory_of_block", common=True
).explain("""
    the encoder gets the memory's gradient from one decoder block only
    why: All blocks attend to the same memory, so their gradients add up.
    ask: Does your loop add the gradients of the memory, or overwrite them?""")
mistake("memory-forgotten", "        dmemory += dmemory_of_block\n", "").explain("""
    the encoder gets no gradient from the decoder
    why: The gradient of the memory is the only one that reaches the encoder. Without it, the encoder is not trained.
    ask: What does the backward pass of the source attention return besides the gradient of the queries?""")
mistake("target-scale-missing", '(dx * scale, cache["target"]', '(dx, cache["target"]').explain("""
    the gradient of W_target was not multiplied by √D
    why: The forward pass multiplies the token vectors by √D.
    ask: What happens between the table and the stream in the forward pass?""")
mistake("scale-missing", "scale = math.sqrt(config.d_model)", "scale = 1.0", common=True).explain("""
    the gradients of the two tables were not multiplied by √D
    why: The forward pass multiplies the token vectors by √D.
    ask: What happens between the table and the stream in the forward pass?""")
mistake(
    "no-first-residual",
    "return dsum + dbranch, dmemory",
    "return dbranch, dmemory",
    common=True,
    inside="_decoder_block_backward",
).explain("""
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
mistake(
    "no-third-residual",
    "dsum + dbranch  # with respect to after_source_attention",
    "dbranch",
    inside="_decoder_block_backward",
).explain("""
    the residual gradient around the decoder's feed-forward network is missing
    why: Where the forward pass adds, the gradient goes to both terms of the sum.
    ask: How many sums does a decoder block have? Each of them has two gradients.""")
mistake(
    "attentions-exchanged",
    'prefixed(dattn, "attn.")',
    'prefixed(dsource, "attn.")',
    'prefixed(dsource, "source_attn.")',
    'prefixed(dattn, "source_attn.")',
    inside="_decoder_block_backward",
).explain("""
    the gradients of the decoder's two attentions were exchanged
    why: They have the same shapes, so there is no error.
    ask: Under which prefix do you store the gradients of the source attention?""")
mistake(
    "blocks-in-forward-order",
    "reversed(range(config.n_layers)):\n        dx, dmemory",
    "range(config.n_layers):\n        dx, dmemory",
).explain("""
    the backward pass goes through the decoder's blocks from the first to the last
    why: The backward pass starts with the last block. With a single block, the mistake stays hidden.
    ask: Which block's output is closest to the loss?""")
