"""Mistakes in `encoder_decoder`: the whole model and decoding."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

mistake = MISTAKES.for_functions("encoder_decoder.transformer", "encoder_decoder.greedy_decode")
mistake(
    "encoder-without-source-mask", "(source, params, config, source_mask)", "(source, params, config)", common=True
).explain("""
    the source mask was not used in the encoder
    why: The real tokens of short texts then attend to padding.
    ask: Both stacks attend to the source. Which of them gets the mask in your code?""")

mistake = MISTAKES.for_functions("encoder_decoder.transformer")
mistake(
    "decoder-without-source-mask",
    "config, target_mask, source_mask)  # (B, T, Vt)",
    "config, target_mask)",
    common=True,
).explain("""
    the source mask was not used in the decoder
    why: The mask hides the padding from the encoder's other positions, but the memory still has rows for it.
    ask: Both stacks attend to the source. Which of them gets the mask in your code?""")
mistake(
    "target-mask-ignored", "config, target_mask, source_mask)  # (B, T, Vt)", "config, None, source_mask)", common=True
).explain("""
    the target mask was not used
    why: The tokens of short targets then attend to padding.
    ask: Which of the arguments does your code use?""")
mistake("masks-exchanged", ", target_mask, source_mask)  # (B, T, Vt)", ", source_mask, target_mask)").explain("""
    the two masks were swapped in the call of decode
    why: transformer takes the source mask first, decode the target mask.
    ask: In which order does decode take its masks?""")
mistake("texts-exchanged", "encode(source,", "encode(target,", "decode(target,", "decode(source,").explain("""
    source and target were swapped
    why: The encoder reads the source, the decoder continues the target.
    ask: Which of the two texts does your encoder get?""")
mistake("target-moved-again", "decode(target,", "decode(np.roll(target, 1, axis=-1),").explain("""
    the target was shifted to the right inside the function
    why: The caller has already put the start token in front.
    ask: What does the docstring say about the target that is passed in?""")

mistake(
    "source-mask-ignored",
    *("config, source_mask)  # (B, S, D)", "config)"),
    *("config, target_mask, source_mask)  # (B, T, Vt)", "config, target_mask)"),
).explain("""
    the source mask was not used in either stack
    why: The padding of short sources then counts like real tokens.
    ask: Both stacks attend to the source. Which of them gets the mask in your code?""")
mistake(
    "masks-ignored",
    *("config, source_mask)  # (B, S, D)", "config)"),
    *("config, target_mask, source_mask)  # (B, T, Vt)", "config)"),
).explain("""
    the two masks were not used
    why: Padding then counts like real tokens.
    ask: Which of the arguments does your code use?""")
mistake("encoder-with-target-mask", "config, source_mask)  # (B, S, D)", "config, target_mask)").explain("""
    the encoder got the target mask
    why: The encoder reads the source, and needs the mask of the source.
    ask: Which of the two masks belongs to the encoder?""")
mistake("last-target-dropped", "decode(target,", "decode(target[..., :-1],").explain("""
    the last target token was dropped inside the function
    why: The caller passes exactly the tokens that the decoder should read.
    ask: What does the docstring say about the target that is passed in?""")
mistake(
    "probabilities", "    return log_probs, ", "    log_probs = np.exp(log_probs)\n    return log_probs, "
).explain("""
    probabilities were returned instead of their logarithms
    why: The logarithm of a probability is negative or 0.
    ask: What does decode return?""")
for name, edits, missing in (
    ("memory", ('"memory": memory, ', '"own_memory": memory, '), "memory"),
    ("encoder", ("cache | decode_cache", "decode_cache"), "source_embedded"),
    ("decoder", ("cache | decode_cache", "cache"), "target_embedded"),
):
    mistake(f"cache-without-{name}", *edits).explain(f"""
        the cache has no entry {missing}
        why: It holds the named entries of both stacks, and the memory.
        ask: Which entries does the docstring list, and which of the two caches holds each?""")
mistake("cached-embedding-as-memory", '"memory": memory', '"memory": cache["source_embedded"]').explain("""
    cache["memory"] holds the embedded source
    why: The memory is what the encoder returns.
    ask: Which variable of your code is the memory?""")
mistake(
    "only-log-probs", "return log_probs, cache | decode_cache", "return log_probs\n    _ = cache | decode_cache"
).explain("""
    only log_probs was returned, without the cache
    why: The backward pass needs values that the forward pass has computed.
    ask: How many results does the docstring list?""")
mistake(
    "always-float64", "    return log_probs, ", '    log_probs = log_probs.astype("float64")\n    return log_probs, '
).explain("""
    everything was converted to float64
    why: The result has the dtype of the parameters: float32 stays float32.
    ask: What is the dtype of your result with float32 parameters?""")
mistake("two-axes-only", "    memory, cache = ", "    _, _ = source.shape\n    memory, cache = ").explain("""
    the function works only for ids with two axes
    why: The ids may have any number of leading axes, or none.
    ask: Which of your lines needs to know how many axes the ids have?""")
for name, mask, title, why in (
    ("inverted", "None if MASK is None else ~MASK", "was inverted", "Here, True means a real token."),
    (
        "from-zeros",
        "IDS != 0 if MASK is None else MASK",
        "was made from the ids: id 0 was taken for padding",
        "Without a mask, all tokens are real.",
    ),
):
    for text in ("source", "target"):
        new = mask.replace("MASK", f"{text}_mask").replace("IDS", text)
        mistake(
            f"{text}-mask-{name}", "    memory, cache = ", f"    {text}_mask = {new}\n    memory, cache = "
        ).explain(f"""
            the {text} mask {title}
            why: {why}
            ask: What does the docstring say about {text}_mask, and about None?""")
for text, size in (("source", "vocab_source"), ("target", "vocab_target")):
    for name, new in (("wrapped", f"{text} % config.{size}"), ("clipped", f"np.clip({text}, 0, config.{size} - 1)")):
        mistake(f"{text}-{name}", "    memory, cache = ", f"    {text} = {new}\n    memory, cache = ").explain(f"""
            {text} ids outside the vocabulary were {"replaced by their remainder" if name == "wrapped" else name}
            why: The docstring promises a ValueError.
            ask: What should happen to an id that no token has?""")

mistake = MISTAKES.for_functions("encoder_decoder.greedy_decode")
mistake("ends-ignored", "        best[ended] = end\n", "", " and not ended.all()", "").explain("""
    end tokens had no effect: the model chose every token until there were max_length of them
    why: A text that has ended should be filled with end tokens, and the loop should stop once every text has ended.
    ask: Which lines of your code look at the end token?""")
mistake("never-stops", " and not ended.all()", "", common=True).explain("""
    the loop always ran until max_length tokens were written
    why: It should stop as soon as every text has ended.
    ask: Which conditions does your loop check before each step?""")
mistake("stops-at-first-end", "ended.all()", "ended.any()", common=True).explain("""
    the loop stopped as soon as one text of the batch had ended
    why: The other texts are then cut off.
    ask: Should the loop stop when any text has ended, or when all have?""")
mistake(
    "not-filled", "        best[ended] = end\n", "", "ended = best == end", "ended |= best == end", common=True
).explain("""
    a text that had ended was continued
    why: After its end token, a text should get the end token at every step.
    ask: What does your code append to a text that ended two steps ago?""")
mistake("end-forgotten", "        best[ended] = end\n", "").explain("""
    only the last token decided whether a text had ended
    why: A text that ended is then continued, and counts as not ended again.
    ask: What does your code append to a text that ended two steps ago?""")
mistake("filled-with-zero", "best[ended] = end", "best[ended] = 0", "ended = best ==", "ended |= best ==").explain("""
    texts that had ended were filled with 0 instead of the end token
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
for name, number, words in (("one", 1, "one token"), ("two", 2, "two tokens"), ("three", 3, "three tokens")):
    mistake(f"{name}-too-many", "<= max_length", f"<= max_length + {number}").explain(f"""
        up to {words} too many could be written
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
    the source mask was not used in the decoder
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
for name, value in (("start", "start"), ("minus-one", "-1")):
    mistake(
        f"filled-with-{name}", "best[ended] = end", f"best[ended] = {value}", "ended = best ==", "ended |= best =="
    ).explain(f"""
        texts that had ended were filled with {"the start token" if name == "start" else value}
        why: A text that has ended gets the end token at every step.
        ask: Which token should ended texts be filled with, according to the docstring?""")
mistake("last-is-end", "best[ended] = end", "best[ended | (target.shape[-1] == max_length)] = end").explain("""
    the model chose at most max_length - 1 tokens: the last one was always the end token
    why: max_length is the number of tokens to write. A text that has not ended by then is cut off.
    ask: How many steps does your loop make if max_length is 1?""")
mistake(
    "last-is-end-and-never-stops",
    *("best[ended] = end", "best[ended | (target.shape[-1] == max_length)] = end", " and not ended.all()", ""),
).explain("""
    the result always had max_length tokens, and the last one was always the end token
    why: The loop should stop as soon as every text has ended, and the model chooses each token up to max_length.
    ask: How many tokens does your code return if every text ends at once? How many steps does your loop make?""")
mistake(
    "one-step-late",
    "    return target[..., 1:]",
    "    if target.shape[-1] <= max_length:\n"
    "        target = np.concatenate([target, np.full_like(target[..., :1], end)], axis=-1)\n"
    "    return target[..., 1:]",
).explain("""
    the loop stopped one step late: one end token too many
    why: It should stop as soon as every text has ended.
    ask: When does your loop check whether all texts have ended: before or after the next token is written?""")
mistake("stops-with-first-text", "ended.all()", "ended.flat[0]").explain("""
    the loop stopped when the first text of the batch had ended
    why: The other texts are then cut off, or the loop goes on for nothing.
    ask: Should the loop stop when one text has ended, or when all have?""")
for name, token in (("zero", "0"), ("end", "end")):
    mistake(f"start-is-{name}", "1), start, dtype", f"1), {token}, dtype").explain(f"""
        the target began with {"token 0" if name == "zero" else "the end token"} instead of the start token
        why: Each model has its own start token, which is passed in.
        ask: Which token is the first that your decoder reads?""")
mistake(
    "start-and-end-exchanged",
    "1), start, dtype",
    "1), end, dtype",
    "= end\n        target",
    "= start\n        target",
    "== end",
    "== start",
).explain("""
    the start token and the end token were swapped
    why: Every target begins with the start token, and ends with the end token.
    ask: Which of the two tokens does your loop wait for?""")
mistake(
    "source-mask-ignored",
    "(source, params, config, source_mask)",
    "(source, params, config)",
    ", source_mask=source_mask)",
    ")",
).explain("""
    the source mask was not used
    why: Padding then counts like real tokens.
    ask: Both stacks attend to the source. Which of them gets the mask in your code?""")
mistake("source-mask-for-target", "source_mask=source_mask)", "target_mask=source_mask)").explain("""
    the source mask was passed to the decoder as its target mask
    why: It has a place for each source token, and hides the padding of the source.
    ask: In which order does decode take its masks?""")
mistake("floats", "return target[..., 1:]", "return target[..., 1:].astype(float)").explain("""
    the tokens are float64
    why: np.zeros and np.ones make floats. The docstring asks for int64, as for all ids in this course.
    ask: Which dtype does the docstring name?""")
mistake("two-axes-only", "    memory, _ = ", "    _, _ = source.shape\n    memory, _ = ").explain("""
    the function works only for source tokens with two axes
    why: The ids may have any number of leading axes, or none.
    ask: Which of your lines needs to know how many axes the ids have?""")
for name, new in (
    ("wrapped", "source % config.vocab_source"),
    ("clipped", "np.clip(source, 0, config.vocab_source - 1)"),
):
    mistake(f"source-{name}", "    memory, _ = ", f"    source = {new}\n    memory, _ = ").explain(f"""
        source ids outside the vocabulary were {"replaced by their remainder" if name == "wrapped" else name}
        why: The docstring promises a ValueError.
        ask: What should happen to an id that no token has?""")
mistake("ends-at-any-repeat", "ended = best == end", "ended = (target == end).any(axis=-1, keepdims=True)").explain("""
    the start token counted as an end token after the first step
    why: Some models use one token for both. Only a token that was written can end a text.
    ask: In which tokens does your loop search for the end token?""")
mistake(
    "zeros-are-padding",
    "    memory, _ = ",
    "    source_mask = source != 0 if source_mask is None else source_mask\n    memory, _ = ",
).explain("""
    without a mask, id 0 was taken for padding
    why: source_mask=None means that all tokens are real. In another vocabulary, id 0 is a token like any other.
    ask: Which of your lines compares ids with a number?""")
mistake(
    "filled-with", "best[ended] = end", "best[ended] = CONSTANT", "ended = best ==", "ended |= best ==", constant=7
).explain("""
    texts that had ended were filled with {constant} instead of the end token
    why: A text that has ended gets the end token at every step.
    ask: Which token should ended texts be filled with, according to the docstring?""")
