"""Mistakes in the two stacks of blocks."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_CAUSAL = "causal_mask(np.shape(target)[-1])"
_LOG_SOFTMAX = 'log_softmax(linear(x, params["W_head"], params.get("b_head")))'
_WHICH_BLOCKS = 'encoder_block(x, subset(params, f"encoder.{i}."), config.n_heads, mask, config.norm)'

_STACKS = {
    "encode": ("source", "encoder", "W_source", "return x, cache"),
    "decode": ("target", "decoder", "W_target", "return log_probs, cache"),
}
_POSITIONS = "sinusoidal_positions(np.shape(IDS)[-1], config.d_model).astype(TABLE.dtype)"
_SCALE = "scale=math.sqrt(config.d_model)"
_EMBED = f"embed(IDS, TABLE, {_POSITIONS}, {_SCALE})"
_OTHER_EMBEDDINGS = (
    (
        *("no-positions", _POSITIONS, _POSITIONS + " * 0", "the positions were not added"),
        "Attention itself does not depend on the order of the keys. The position vectors provide the order.",
    ),
    (
        *("positions-from-one", "[-1], config.d_model)", "[-1] + 1, config.d_model)[1:]"),
        "the positions were counted from 1",
        "The first token has position 0, where all sines are 0 and all cosines 1.",
    ),
    (
        *("positions-of-batch", "np.shape(IDS)[-1]", "np.shape(IDS)[0]"),
        "the first axis of the ids was taken for the positions",
        "The first axis is the batch; the tokens are along the last axis.",
    ),
)

_ZEROS = {
    "encode": "mask = padding_mask(np.asarray(source) != 0) if mask is None else mask",
    "decode": "mask = mask & padding_mask(np.asarray(target) != 0) if target_mask is None else mask",
}

for function, (ids, stack, table, result) in _STACKS.items():
    mistake = MISTAKES.for_functions(f"encoder_decoder.{function}")
    right = f'_embed({ids}, params["{table}"], config.d_model)'
    embedding = _EMBED.replace("IDS", ids).replace("TABLE", f'params["{table}"]')
    for name, factor, title in (
        ("not-scaled", "1.0", "not multiplied by √D"),
        ("divided", "1 / math.sqrt(config.d_model)", "divided by √D, not multiplied"),
    ):
        scaled = embedding.replace(_SCALE, f"scale={factor}")
        mistake(name, right, scaled, common=name == "not-scaled").explain(f"""
            the token vectors were {title}
            why: Their entries are about 1/√D in size. Times √D, they are about as large as those of the position
                 vectors.
            ask: How large are the entries of the token table compared with a sine?""")
    for name, old, new, title, why in _OTHER_EMBEDDINGS:
        changed = _EMBED.replace(old, new)
        changed = changed.replace("IDS", ids).replace("TABLE", f'params["{table}"]')
        mistake(name, right, changed, common=name == "no-positions").explain(f"""
            {title}
            why: {why}
            ask: What is added to row t of the token vectors, and which dtype does it have?""")
    mistake(
        "smallest-id-unchecked",
        right,
        right.replace(f"({ids},", f'(np.where(np.asarray({ids}) < 0, {ids} + len(params["{table}"]), {ids}),'),
    ).explain("""
        a negative id was not rejected
        why: In NumPy, a negative index counts from the end: -1 silently reads the vector of the last token.
        ask: What is table[-1]? What should happen to a negative id?""")

    mistake("zeros-are-padding", f"    x = _embed({ids}", f"    {_ZEROS[function]}\n    x = _embed({ids}").explain(f"""
        without a mask, id 0 was taken for padding
        why: {ids}_mask=None means that all tokens are real. In another vocabulary, id 0 is a token like any other.
        ask: Which of your lines compares ids with a number?""")

    # The loop over the blocks.
    loop = "for i in range(config.n_layers):"
    mistake("blocks-reversed", loop, "for i in reversed(range(config.n_layers)):").explain("""
        the blocks were applied from the last to the first
        why: All n_layers blocks are applied, the first one first.
        ask: Which numbers does your loop variable run through, and in which order?""")
    last_norm = f'x = layernorm(x, **subset(params, "{stack}.ln_f."))'
    for name, edits, text in (
        (
            "norm-not-passed-on",
            (
                "config.norm)" if function == "encode" else "source_mask, config.norm",
                "'post')" if function == "encode" else "source_mask",
            ),
            "the blocks had the post-norm form",
        ),
        ("last-norm-missing", (last_norm, "pass"), "there was no layer norm after the last block"),
    ):
        mistake(name, *edits).explain(f"""
            with pre-norm, {text}
            why: Pre-norm blocks never normalize the stream itself. Each stack ends with a norm of its own.
            ask: With norm="pre", which form do your blocks have, and which line reads {stack}.ln_f.gamma?""")
    normed = "layernorm(VALUE, np.ones(x.shape[-1], x.dtype), np.zeros(x.shape[-1], x.dtype))"
    in_the_end = ("return x, cache", f"return {normed.replace('VALUE', 'x')}, cache")
    if function == "decode":
        in_the_end = ("linear(x,", f"linear({normed.replace('VALUE', 'x')},")
    mistake("final-norm", *in_the_end).explain(f"""
        the {"memory" if function == "encode" else "stream"} was normalized once more at the end
        why: Every post-norm block already ends with a norm. The extra one belongs to pre-norm models such as GPT-2.
        ask: How many norms are there in params, and how many does your code use?""")

    # The cache and the results.
    stages = ["weights", "after_attention", "after_ffn"]
    stages += ["source_weights", "after_source_attention"] if function == "decode" else []
    for entry in (f"{ids}_embedded", *(f"{stack}.0.{stage}" for stage in stages)):
        mistake(f"cache-without-{entry}", result, f'cache.pop("{entry}", None)\n    {result}').explain(f"""
            the cache has no entry {entry}
            why: Plots and later functions use it. The blocks are counted from 0.
            ask: Which of your variables should cache["{entry}"] hold?""")
    mistake("two-axes-only", f"    x = _embed({ids}", f"    _, _ = np.shape({ids})\n    x = _embed({ids}").explain(f"""
        the function works only for {ids} tokens with two axes
        why: The ids may have any number of leading axes, or none.
        ask: Which of your lines needs to know how many axes the ids have?""")

mistake = MISTAKES.for_functions("encoder_decoder.encode", "encoder_decoder.decode")
mistake("first-block-always", 'coder.{i}."', 'coder.0."', common=True).explain("""
    every block used the parameters of the first one
    why: Each block has its own parameters.
    ask: Does the loop variable appear in the names of the parameters that you pass on?""")

mistake = MISTAKES.for_functions("encoder_decoder.encode")
mistake("decoder-blocks", _WHICH_BLOCKS, _WHICH_BLOCKS.replace("encoder.{i}", "decoder.{i}")).explain("""
    the encoder used the parameters of the decoder's blocks
    why: Both stacks have parameters named attn, ffn, ln1 and ln2, so there is no error.
    ask: Which prefix do the names of the encoder's parameters have?""")

for name, new, title, why in (
    ("mask-ignored", "None", "was not used", "The tokens of short texts then attend to padding."),
    (
        "mask-inverted",
        "padding_mask(~source_mask)",
        "was inverted: True was taken for padding",
        "Here, True means a real token.",
    ),
):
    mistake(
        name,
        "None if source_mask is None else padding_mask(source_mask)",
        f"None if source_mask is None else {new}",
        common=name == "mask-ignored",
    ).explain(f"""
        the source mask {title}
        why: {why}
        ask: Which axis of the mask belongs to the keys, and what does True in source_mask mean?""")


mistake = MISTAKES.for_functions("encoder_decoder.decode")
mistake("not-causal", _CAUSAL, "np.ones((np.shape(target)[-1],) * 2, dtype=bool)", common=True).explain("""
    there was no causal mask: every position attended to later positions
    why: In training, each position can then read the token that it should predict: the loss falls, but the model
         learns nothing useful.
    ask: May position 0 attend to position 1? Which of your lines prevents it?""")
mistake("padding-replaces-causal", "mask & padding_mask", "padding_mask", common=True).explain("""
    with a target mask, the causal mask was not used
    why: Both masks must allow a key: a position attends to real tokens that do not come after it.
    ask: How do you combine two masks so that both have to be True?""")
mistake(
    "memory-replaced", 'cache["decoder_caches"]', 'memory, source_mask = x, None\n        cache["decoder_caches"]'
).explain("""
    from the second block on, the memory was replaced by the previous block's output
    why: All blocks attend to the same memory: the one that encode returned.
    ask: Which variable does your loop overwrite?""")
mistake("wrong-table", '_embed(target, params["W_target"]', '_embed(target, params["W_source"]').explain("""
    the target tokens were looked up in the table of the source
    why: Each vocabulary has its own table, and its own size.
    ask: Which of the two tables belongs to the decoder?""")
mistake("head-bias-ignored", ', params.get("b_head")', ", None").explain("""
    b_head was not added to the scores
    why: With config.head_bias, the head is a linear layer with a bias.
    ask: If W_head is 0 and b_head is not, are all log-probabilities of a row equal in your result?""")
mistake("scores", _LOG_SOFTMAX, 'linear(x, params["W_head"], params.get("b_head"))', common=True).explain("""
    the scores were returned, without log-softmax
    why: The loss picks out the log-probability of the correct token, so the result must be log-probabilities.
    ask: What is np.exp(log_probs).sum(axis=-1) for your result?""")
mistake("probabilities", _LOG_SOFTMAX, f"np.exp({_LOG_SOFTMAX})", common=True).explain("""
    probabilities were returned instead of their logarithms
    why: The logarithm of a probability is negative or 0.
    ask: What is np.exp(log_probs).sum(axis=-1) for your result?""")
mistake("tied-head", 'params["W_head"]', 'params["W_target"].T').explain("""
    the head used the token table instead of W_head
    why: Some models share the two. Here, the head has its own matrix.
    ask: Which entry of params does your code not use?""")
mistake("upper-triangle", "causal_mask(np.shape(target)[-1])", "causal_mask(np.shape(target)[-1]).T").explain("""
    the mask kept the upper triangle: every position attended to itself and later ones
    why: A model that sees the next token does not need to learn to predict it.
    ask: Rows are queries, columns are keys. Which keys may the first query attend to?""")
for name, new, title, why in (
    ("target-mask-ignored", "mask & True", "was not used", "The tokens of short targets then attend to padding."),
    ("target-mask-inverted", "mask & padding_mask(~target_mask)", "was inverted", "Here, True means a real token."),
    (
        "target-mask-on-queries",
        "mask & padding_mask(target_mask).swapaxes(-1, -2)",
        "hid the rows of padding, not its columns",
        "The columns are the keys: no position may attend to padding.",
    ),
):
    mistake(name, "mask & padding_mask(target_mask)", new, common=name == "target-mask-ignored").explain(f"""
        the target mask {title}
        why: {why}
        ask: Which axis of the mask belongs to the keys, and what does True in target_mask mean?""")
mistake("source-mask-ignored", "source_mask = padding_mask(source_mask)", "source_mask = None", common=True).explain("""
    the source mask was not used
    why: The decoder then attends to the padding of short sources.
    ask: Which axes of (B, H, T, S) should the axes of source_mask match, and what does True in it mean?""")
mistake("target-shifted", "_embed(target, ", "_embed(np.roll(target, 1, axis=-1), ").explain("""
    the target was shifted to the right inside the function
    why: The caller has already put the start token in front.
    ask: The target is start, c, b, a. Which token does your decoder read first?""")
mistake("source-mask-required", "if source_mask is not None:", "if True:").explain("""
    the code failed if there was no source mask
    why: source_mask=None means that every source token is real.
    ask: What does padding_mask return for None?""")
