"""Mistakes in assignment 12: the whole model, decoding and the backward pass."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_DSCORES = "dlog_probs - np.exp(log_probs) * dlog_probs.sum(axis=-1, keepdims=True)"

mistake = MISTAKES.for_functions("encoder_decoder.transformer")
mistake(
    "decoder-without-source-mask",
    "config, target_mask, source_mask)  # (B, T, Vt)",
    "config, target_mask)",
    common=True,
).explain("""
    the source mask is not given to the decoder
    why: The encoder ignores the padding, but the decoder looks at what became of it.
    ask: Both halves look at the source. Which of them gets the mask?""")
mistake(
    "encoder-without-source-mask",
    "encode(source, params, config, source_mask)",
    "encode(source, params, config)",
    common=True,
).explain("""
    the source mask is not given to the encoder
    why: The real tokens look at the padding of short texts.
    ask: Both halves look at the source. Which of them gets the mask?""")
mistake(
    "target-mask-ignored", "config, target_mask, source_mask)  # (B, T, Vt)", "config, None, source_mask)", common=True
).explain("""
    the target mask is not passed on
    why: The padding of short targets is looked at like real tokens.
    ask: Which of the arguments does your code use?""")
mistake("masks-exchanged", ", target_mask, source_mask)  # (B, T, Vt)", ", source_mask, target_mask)").explain("""
    the decoder got the two masks in the wrong order
    why: transformer takes the source mask first, decode the target mask.
    ask: In which order does decode want its masks?""")
mistake("texts-exchanged", "encode(source,", "encode(target,", "decode(target,", "decode(source,").explain("""
    source and target are exchanged
    why: The encoder reads the source, the decoder continues the target.
    ask: Which of the two texts does the encoder get?""")
mistake("target-moved-again", "decode(target,", "decode(np.roll(target, 1, axis=-1),").explain("""
    the target was moved to the right inside
    why: The caller has already put the start token in front.
    ask: What does the docstring say about the target that comes in?""")

mistake = MISTAKES.for_functions("encoder_decoder.greedy_decode")
mistake("never-stops", " and not ended.all()", "", common=True).explain("""
    it always writes max_length tokens
    why: When every text has ended there is nothing left to do.
    ask: What does the loop ask before each step?""")
mistake("stops-at-first-end", "ended.all()", "ended.any()", common=True).explain("""
    it stops as soon as one text of the batch has ended
    why: The others are cut off in the middle.
    ask: Is it any or all?""")
mistake(
    "not-filled", "        best[ended] = end\n", "", "ended = best == end", "ended |= best == end", common=True
).explain("""
    a text that has ended goes on being written
    why: After its end token, a text gets the end token again and again.
    ask: What is appended to a text that ended two steps ago?""")
mistake("end-forgotten", "        best[ended] = end\n", "").explain("""
    whether a text has ended is judged by its last token only, and not remembered
    why: An ended text goes on, and may come back to life.
    ask: What is appended to a text that ended two steps ago?""")
mistake("filled-with-zero", "best[ended] = end", "best[ended] = 0", "ended = best ==", "ended |= best ==").explain("""
    ended texts were filled up with 0 instead of the end token
    why: 0 is a token like any other.
    ask: Which token does the docstring fill up with?""")
mistake("start-kept", "target[..., 1:]", "target", common=True).explain("""
    the start token is returned, too
    why: What was written begins after it.
    ask: How many tokens are returned if max_length is 1?""")
mistake("one-too-few", "<= max_length", "< max_length", common=True).explain("""
    one token too few: the start token was counted
    why: max_length is the number of tokens to write; the start token was there before.
    ask: How many tokens are returned if max_length is 1?""")
mistake("one-too-many", "<= max_length", "<= max_length + 1").explain("""
    one token too many is written
    why: max_length is the largest number of tokens to write, the end token included.
    ask: How many tokens are returned if max_length is 1?""")
mistake("first-position", "log_probs[..., -1:, :]", "log_probs[..., :1, :]").explain("""
    the next token was taken from the first position instead of the last
    why: What comes after the whole text stands at its last position.
    ask: Which position of log_probs has seen everything that is written so far?""")
mistake("least-probable", "argmax", "argmin").explain("""
    the least probable token was taken
    why: Log-probabilities are negative; the largest one is the one nearest to 0.
    ask: Which log-probability is larger, -0.1 or -5?""")
mistake("last-of-ties", ".argmax(axis=-1)", ".argsort(axis=-1, kind='stable')[..., -1]").explain("""
    of equally probable tokens the last was taken, not the first
    why: So it goes if all are sorted and the last one is picked.
    ask: Which one does np.argmax take?""")
mistake("last-token-only", "decode(target, memory", "decode(target[..., -1:], memory").explain("""
    only the last token was given to the decoder, not the text so far
    why: Without a cache of keys and values it knows nothing of what it wrote, and takes each token for the first.
    ask: What must the decoder see in the third step?""")
mistake("decoder-without-source-mask", ", source_mask=source_mask)", ")").explain("""
    the source mask is not given to the decoder
    why: The encoder ignores the padding, but the decoder looks at what became of it.
    ask: Both halves look at the source. Which of them gets the mask?""")
mistake("encoder-without-source-mask", "(source, params, config, source_mask)", "(source, params, config)").explain("""
    the source mask is not given to the encoder
    why: The real tokens look at the padding of short texts.
    ask: Both halves look at the source. Which of them gets the mask?""")
mistake("start-counts-as-end", "np.zeros(target.shape, dtype=bool)", "target == end").explain("""
    a start token that equals the end token ends the text at once
    why: Some models use one token for both. What ends a text is what was written.
    ask: Which tokens does your loop search for the end token?""")
mistake(
    "end-not-returned",
    "return target[..., 1:]",
    "only_ends = (target == end).all(axis=tuple(range(target.ndim - 1)))\n"
    "    only_ends[0] = True\n    return target[..., ~only_ends]",
).explain("""
    the end token of the longest text is not returned
    why: What was written is returned, and the end token was written, too.
    ask: How many tokens come out if the first one is the end token?""")
mistake("int32", "return target[..., 1:]", "return target[..., 1:].astype(np.int32)").explain("""
    the tokens are int32
    why: The docstring asks for int64, like all ids in this course.
    ask: Which dtype does the docstring name?""")

mistake = MISTAKES.for_functions("encoder_decoder.transformer_backward")
mistake("log-softmax-skipped", _DSCORES, "dlog_probs", common=True).explain("""
    the gradient does not go through the log-softmax
    why: A larger score lowers all other log-probabilities of its row.
    ask: If all scores of a row grow by 1, nothing changes. What must a row of dscores add up to?""")
mistake(
    "softmax-for-log-softmax",
    _DSCORES,
    "np.exp(log_probs) * (dlog_probs - (dlog_probs * np.exp(log_probs)).sum(axis=-1, keepdims=True))",
).explain("""
    the backward pass of softmax was used for the log-softmax
    why: The two functions differ, and so do their slopes.
    ask: Is what comes in the gradient of probabilities or of log-probabilities?""")
mistake("log-softmax-sign", "dlog_probs - np.exp", "dlog_probs + np.exp").explain("""
    the second term of the log-softmax has the wrong sign
    why: The sum of all exponentials is subtracted in the forward pass.
    ask: If all scores of a row grow by 1, nothing changes. What must a row of dscores add up to?""")
mistake(
    "memory-of-first-block-only", "dmemory += dmemory_of_block", "dmemory = dmemory_of_block", common=True
).explain("""
    the encoder gets the memory's gradient from one decoder block only
    why: All blocks looked at the same memory; what they send back adds up.
    ask: Do you add or overwrite?""")
mistake("memory-forgotten", "        dmemory += dmemory_of_block\n", "").explain("""
    nothing goes back into the encoder
    why: The memory's gradient is the only way by which the encoder learns anything at all.
    ask: What does the second attention's backward pass return besides the gradient of the queries?""")
mistake("target-scale-missing", '(dx * scale, cache["target"]', '(dx, cache["target"]').explain("""
    the gradient of W_target was not multiplied by √D
    why: The token vectors were, on the way forward.
    ask: What happened between the table and the stream?""")
mistake("scale-missing", "scale = math.sqrt(config.d_model)", "scale = 1.0", common=True).explain("""
    the gradients of the two tables were not multiplied by √D
    why: The token vectors were, on the way forward.
    ask: What happened between the table and the stream?""")
mistake(
    "no-first-residual",
    "return dsum + dbranch, dmemory",
    "return dbranch, dmemory",
    common=True,
    inside="_decoder_block_backward",
).explain("""
    in the decoder, the gradient does not go past the self attention
    why: Where the forward pass adds, the backward pass copies, and adds up where the copies meet.
    ask: How many sums does a decoder block have? Each has two gradients.""")
mistake(
    "no-second-residual",
    "dsum + dbranch  # with respect to after_attention",
    "dbranch  # with respect to after_attention",
    common=True,
    inside="_decoder_block_backward",
).explain("""
    in the decoder, the gradient does not go past the attention to the memory
    why: Where the forward pass adds, the backward pass copies, and adds up where the copies meet.
    ask: How many sums does a decoder block have? Each has two gradients.""")
mistake(
    "no-third-residual",
    "dsum + dbranch  # with respect to after_source_attention",
    "dbranch",
    inside="_decoder_block_backward",
).explain("""
    in the decoder, the gradient does not go past the feed-forward network
    why: Where the forward pass adds, the backward pass copies, and adds up where the copies meet.
    ask: How many sums does a decoder block have? Each has two gradients.""")
mistake(
    "attentions-exchanged",
    'prefixed(dattn, "attn.")',
    'prefixed(dsource, "attn.")',
    'prefixed(dsource, "source_attn.")',
    'prefixed(dattn, "source_attn.")',
    inside="_decoder_block_backward",
).explain("""
    the gradients of the decoder's two attentions are exchanged
    why: They have the same shapes, so nothing complains.
    ask: Under which names do you put the gradients of the attention to the memory?""")
mistake(
    "blocks-in-forward-order",
    "reversed(range(config.n_layers)):\n        dx, dmemory",
    "range(config.n_layers):\n        dx, dmemory",
).explain("""
    the decoder's blocks are gone through from the first to the last
    why: The way back begins with the last one. With a single block nothing shows.
    ask: Which block's output is nearest to the loss?""")
