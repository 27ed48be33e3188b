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
    ask: The target is start, c, b, a. Which token does your decoder read first?""")

mistake("last-target-dropped", "decode(target,", "decode(target[..., :-1],").explain("""
    the last target token was dropped inside the function
    why: The caller passes exactly the tokens that the decoder should read.
    ask: The target has 4 tokens. How many rows of log-probabilities do you return?""")
mistake("probabilities", "    return log_probs", "    log_probs = np.exp(log_probs)\n    return log_probs").explain("""
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
        ask: Where does your code have the value of {missing}: in a variable, or in the cache of encode or decode?""")
mistake("cached-embedding-as-memory", '"memory": memory', '"memory": cache["source_embedded"]').explain("""
    cache["memory"] holds the embedded source
    why: The memory is what the encoder returns.
    ask: Which variable of your code is the memory?""")
mistake("always-float64", "    return ", '    log_probs = log_probs.astype("float64")\n    return ').explain("""
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
            ask: How many tokens are real with the mask (True, True, False)? And of the ids 5, 0, 7, without one?""")
for text, size in (("source", "vocab_source"), ("target", "vocab_target")):
    clipped = f"    {text} = np.clip({text}, 0, config.{size} - 1)\n    memory, cache = "
    mistake(f"{text}-clipped", "    memory, cache = ", clipped).explain(f"""
        {text} ids outside the vocabulary were clipped
        why: An id that is too large comes from another tokenizer. The model would read another text, without an error.
        ask: What should happen to an id that no token has?""")

mistake = MISTAKES.for_functions("encoder_decoder.greedy_decode")
mistake("never-stops", " and not ended.all()", "", common=True).explain("""
    the loop always ran until max_length tokens were written
    why: It should stop as soon as every text has ended.
    ask: Which conditions does your loop check before each step?""")
mistake("stops-at-first-end", "ended.all()", "ended.any()", common=True).explain("""
    the loop stopped as soon as one text of the batch had ended
    why: The other texts are then cut off.
    ask: Should the loop stop when any text has ended, or when all have?""")
mistake("not-filled", "        best[ended] = end\n", "", "ended = best ==", "ended |= best ==", common=True).explain("""
    a text that had ended was continued
    why: After its end token, a text should get the end token at every step.
    ask: What does your code append to a text that ended two steps ago?""")
mistake("start-kept", "target[..., 1:]", "target", common=True).explain("""
    the start token was returned, too
    why: The result contains only the tokens that were written after it.
    ask: How many tokens does your code return if max_length is 1?""")
mistake("one-too-few", "<= max_length", "< max_length", common=True).explain("""
    one token too few was written: the start token was counted
    why: max_length is the number of tokens to write. The start token does not count.
    ask: How many tokens does your code return if max_length is 1?""")
mistake("first-position", "log_probs[..., -1:, :]", "log_probs[..., :1, :]").explain("""
    the next token was taken from the first position, not the last
    why: The last position predicts the token that follows the whole text.
    ask: Which position of log_probs depends on everything that is written so far?""")
mistake("last-of-ties", ".argmax(axis=-1)", ".argsort(axis=-1, kind='stable')[..., -1]").explain("""
    of equally probable tokens, the last was taken, not the first
    why: This happens if you sort the tokens and take the last.
    ask: Which of several equal values does np.argmax return?""")
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
    why: All ids of this course are int64. Code that gets two kinds of them has to convert one.
    ask: What is the dtype of np.argmax([1, 2]), and of np.full((2, 1), 3)? Which of your lines changes it?""")
mistake(
    "last-is-end-and-never-stops",
    *("best[ended] = end", "best[ended | (target.shape[-1] == max_length)] = end", " and not ended.all()", ""),
).explain("""
    the result always had max_length tokens, and the last one was always the end token
    why: The loop should stop as soon as every text has ended, and the model chooses each token up to max_length.
    ask: How many tokens does your code return if every text ends at once? How many steps does your loop make?""")
mistake("start-is-zero", "1), start, dtype", "1), 0, dtype").explain("""
    the target began with token 0 instead of the start token
    why: Each model has its own start token, which is passed in.
    ask: Which token is the first that your decoder reads?""")
mistake("two-axes-only", "    memory, _ = ", "    _, _ = source.shape\n    memory, _ = ").explain("""
    the function works only for source tokens with two axes
    why: The ids may have any number of leading axes, or none.
    ask: Which of your lines needs to know how many axes the ids have?""")
_CLIPPED = "    source = np.clip(source, 0, config.vocab_source - 1)\n    memory, _ = "
mistake("source-clipped", "    memory, _ = ", _CLIPPED).explain("""
    source ids outside the vocabulary were clipped
    why: An id that is too large comes from another tokenizer. The model would read another text, without an error.
    ask: What should happen to an id that no token has?""")
mistake(
    "zeros-are-padding", "memory, _", "source_mask = source != 0 if source_mask is None else source_mask\n    memory, _"
).explain("""
    without a mask, id 0 was taken for padding
    why: source_mask=None means that all tokens are real. In another vocabulary, id 0 is a token like any other.
    ask: Which of your lines compares ids with a number?""")
