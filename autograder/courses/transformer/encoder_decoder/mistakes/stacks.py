"""Mistakes in the two stacks of blocks."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_CAUSAL_LINES = """    causal = causal_mask(LENGTH)
    mask = causal if mask is None else mask & causal
"""
_CAUSAL = "causal_mask(np.shape(target)[-1])"
_LOG_SOFTMAX = 'log_softmax(linear(x, params["W_head"], params.get("b_head")))'
_WHICH_BLOCKS = 'encoder_block(x, subset(params, f"encoder.{i}."), config.n_heads, mask, config.norm)'

_STACKS = {
    "encode": ("source", "encoder", "W_source", "return x, cache", "memory"),
    "decode": ("target", "decoder", "W_target", "return log_probs, cache", "log_probs"),
}
_POSITIONS = "sinusoidal_positions(np.shape(IDS)[-1], config.d_model).astype(TABLE.dtype)"
_SCALE = "scale=math.sqrt(config.d_model)"
_EMBED = f"embed(IDS, TABLE, {_POSITIONS}, {_SCALE})"
_SCALES = (
    ("not-scaled", "1.0", "not multiplied by √D"),
    ("scaled-by-d", "config.d_model", "multiplied by D, without the root"),
    ("divided", "1 / math.sqrt(config.d_model)", "divided by √D, not multiplied"),
    ("divided-by-d", "1 / config.d_model", "divided by D, not multiplied by √D"),
    (
        "scaled-by-vocabulary",
        "math.sqrt(len(TABLE))",
        "multiplied by the root of the size of the vocabulary, not by √D",
    ),
    ("scaled-by-head", "math.sqrt(config.d_model // config.n_heads)", "multiplied by the root of D / H, not by √D"),
    ("scaled-by-length", "math.sqrt(np.shape(IDS)[-1])", "multiplied by the root of the number of tokens, not by √D"),
    ("scaled-by-d-ff", "math.sqrt(config.d_ff)", "multiplied by √F, not by √D"),
)
_OTHER_EMBEDDINGS = (
    (
        *("no-positions", _POSITIONS, _POSITIONS + " * 0", "the positions were not added"),
        "Attention itself does not depend on the order of the keys. The position vectors provide the order.",
    ),
    (
        *("positions-scaled-too", _EMBED, f"embed(IDS, TABLE, {_POSITIONS}) * math.sqrt(config.d_model)"),
        "the positions were multiplied by √D, too",
        "Only the token vectors are small. The sines and cosines already have the right size.",
    ),
    (
        *("positions-from-one", "[-1], config.d_model)", "[-1] + 1, config.d_model)[1:]"),
        "the positions were counted from 1",
        "The first token has position 0, where all sines are 0 and all cosines 1.",
    ),
    (
        *("positions-reversed", "config.d_model).astype", "config.d_model)[::-1].astype"),
        *("the positions were counted from the end", "The first token has position 0."),
    ),
    (
        *("positions-of-batch", "np.shape(IDS)[-1]", "np.shape(IDS)[0]"),
        "the first axis of the ids was taken for the positions",
        "The first axis is the batch; the tokens are along the last axis.",
    ),
    (
        *("float64-positions", ".astype(TABLE.dtype)", ""),
        "the sines and cosines stayed float64",
        "The sum with float32 token vectors is then float64, and so is everything after it.",
    ),
)

_ZEROS = {
    "encode": "mask = padding_mask(np.asarray(source) != 0) if mask is None else mask",
    "decode": "mask = mask & padding_mask(np.asarray(target) != 0) if target_mask is None else mask",
}

for function, (ids, stack, table, result, output) in _STACKS.items():
    mistake = MISTAKES.for_functions(f"encoder_decoder.{function}")
    right = f'_embed({ids}, params["{table}"], config.d_model)'
    embedding = _EMBED.replace("IDS", ids).replace("TABLE", f'params["{table}"]')
    for name, factor, title in _SCALES:
        scale = factor.replace("IDS", ids).replace("TABLE", f'params["{table}"]')
        mistake(name, right, embedding.replace(_SCALE, f"scale={scale}"), common=name == "not-scaled").explain(f"""
            the token vectors were {title}
            why: Their entries are about 1/√D in size. Times √D, they are about as large as those of the position
                 vectors.
            ask: How large are the entries of the token table compared with a sine?""")
    mistake("scaled", right, embedding.replace(_SCALE, "scale=CONSTANT"), constant=7.0).explain("""
        the token vectors were multiplied by {constant}, not by √D
        why: The factor depends on the width of the model.
        ask: Which factor does the formula have, and which one does your code use?""")
    for name, old, new, title, why in _OTHER_EMBEDDINGS:
        changed = _EMBED.replace(old, new)
        changed = changed.replace("IDS", ids).replace("TABLE", f'params["{table}"]')
        mistake(name, right, changed, common=name == "no-positions").explain(f"""
            {title}
            why: {why}
            ask: What is added to row t of the token vectors, and which dtype does it have?""")
    clipped = f'params["{table}"].take({ids}, axis=0, mode="clip") * math.sqrt(config.d_model) + '
    clipped = embedding.replace(f'embed({ids}, params["{table}"], ', clipped).replace(f", {_SCALE})", "")
    mistake("ids-clipped", right, clipped).explain("""
        ids outside the table were replaced by the first or the last id
        why: The docstring promises a ValueError.
        ask: What should happen to an id that no token has?""")
    mistake("largest-id-unchecked", right, f'params["{table}"][np.max({ids})] * 0 + {right}').explain("""
        an id that is too large raised an IndexError
        why: The docstring promises a ValueError.
        ask: Which error does an array raise for an index that it does not have?""")
    mistake(
        "smallest-id-unchecked",
        right,
        right.replace(f"({ids},", f'(np.where(np.asarray({ids}) < 0, {ids} + len(params["{table}"]), {ids}),'),
    ).explain("""
        a negative id was not rejected
        why: The docstring promises a ValueError. In NumPy, a negative index counts from the end.
        ask: What is table[-1]? What should happen to a negative id?""")

    mistake("zeros-are-padding", f"    x = _embed({ids}", f"    {_ZEROS[function]}\n    x = _embed({ids}").explain(f"""
        without a mask, id 0 was taken for padding
        why: {ids}_mask=None means that all tokens are real. In another vocabulary, id 0 is a token like any other.
        ask: Which of your lines compares ids with a number?""")

    # The loop over the blocks.
    loop = "for i in range(config.n_layers):"
    for name, order, title in (
        ("blocks-reversed", "reversed(range(config.n_layers))", "the blocks were applied from the last to the first"),
        ("first-block-skipped", "range(1, config.n_layers)", "the first block was not applied"),
        ("last-block-skipped", "range(config.n_layers - 1)", "the last block was not applied"),
        ("one-block-too-many", "range(config.n_layers + 1)", "the loop made one step too many"),
        ("only-one-block", "range(1)", "only one block was applied"),
    ):
        mistake(name, loop, f"for i in {order}:").explain(f"""
            {title}
            why: All n_layers blocks are applied, the first one first.
            ask: Which numbers does your loop variable run through, and in which order?""")
    mistake("one-block", f"{stack}_block(x, ", f'{stack}_block(cache["{ids}_embedded"], ').explain("""
        every block read the embedding, so only the last one had an effect
        why: Each block should read the output of the block before it.
        ask: What is the input of your second block?""")
    for name, number in (("one-head", "1"), ("head-size", "config.d_model // config.n_heads")):
        mistake(name, "config.n_heads", number).explain(f"""
            the blocks {"have only one head" if number == "1" else "got the size of a head for the number of heads"}
            why: The shapes are the same for any number of heads, so there is no error.
            ask: Which number of heads do you pass to the blocks?""")
    ending = "" if function == "encode" else f"-of-{stack}"
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
        (
            "last-norm-in-the-loop",
            (
                '    if config.norm == "pre":',
                '        if config.norm == "pre":',
                f"        {last_norm}",
                f"            {last_norm}",
            ),
            "the last layer norm was applied after every block",
        ),
        (
            "last-norm-of-other-stack",
            (f'"{stack}.ln_f."', f'"{"decoder" if stack == "encoder" else "encoder"}.ln_f."'),
            "the last layer norm got the parameters of the other stack",
        ),
    ):
        mistake(name, *edits).explain(f"""
            with pre-norm, {text}
            why: Pre-norm blocks never normalize the stream itself. Each stack ends with a norm of its own.
            ask: What does the docstring say about config.norm?""")
    mistake("last-norm-with-post", 'if config.norm == "pre":', "if True:").explain("""
        with post-norm, the code looked for the parameters of a last layer norm, which do not exist
        why: A post-norm block already ends with a norm.
        ask: Which names does init_transformer list, and when?""")
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
            ask: Which entries of the cache does the docstring name?""")
    mistake("cached-embedding-later", result, f'cache["{ids}_embedded"] = x\n    {result}').explain(f"""
        cache["{ids}_embedded"] holds the stream after the last block
        why: It is the stream before the first block.
        ask: At which line does the entry get its value?""")
    mistake("two-axes-only", f"    x = _embed({ids}", f"    _, _ = np.shape({ids})\n    x = _embed({ids}").explain(f"""
        the function works only for {ids} tokens with two axes
        why: The ids may have any number of leading axes, or none.
        ask: Which of your lines needs to know how many axes the ids have?""")
    mistake("only-out", result, result.replace(", cache", "")).explain(f"""
        only {output} was returned, without the cache
        why: The backward pass needs values that the forward pass has computed.
        ask: How many results does the docstring list?""")

mistake = MISTAKES.for_functions("encoder_decoder.encode", "encoder_decoder.decode")
mistake("first-block-always", 'coder.{i}."', 'coder.0."', common=True).explain("""
    every block used the parameters of the first one
    why: Each block has its own parameters.
    ask: Does the loop variable appear in the names of the parameters that you pass on?""")

mistake = MISTAKES.for_functions("encoder_decoder.encode")
mistake("mask-without-axes", "padding_mask(source_mask)", "np.asarray(source_mask)").explain("""
    the source mask has no axes for the heads and the queries
    why: (B, S) is broadcast against (B, H, S, S) from the right, so its first axis is matched with the queries, not
         with the batch.
    ask: Which axes of (B, H, S, S) should the axes B and S of the mask match?""")
mistake(
    "causal", "    x = _embed(", _CAUSAL_LINES.replace("LENGTH", "np.shape(source)[-1]") + "    x = _embed("
).explain("""
    a causal mask was used in the encoder
    why: The whole source is known from the start, so every position may attend to later ones. Only the decoder is
         causal.
    ask: Which masks does the docstring mention, and which ones does your code use?""")
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
    (
        "mask-on-queries",
        "padding_mask(source_mask).swapaxes(-1, -2)",
        "hid the rows of padding, not its columns",
        "The columns are the keys: no position may attend to padding.",
    ),
    (
        "mask-on-queries-too",
        "padding_mask(source_mask) & padding_mask(source_mask).swapaxes(-1, -2)",
        "hid the rows of padding, too",
        "Only keys are hidden. The padding positions themselves are computed like the others.",
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
mistake("mask-in-first-block-only", "config.n_heads, mask,", "config.n_heads, mask if i == 0 else None,").explain("""
    the mask was used in the first block only
    why: In every block, no position may attend to padding.
    ask: Does your loop change the mask?""")
mistake(
    "padding-zeroed",
    "    cache = {",
    "    if source_mask is not None:\n        x = x * np.asarray(source_mask)[..., None]\n    cache = {",
).explain("""
    the vectors of padding were set to 0
    why: The mask of the attention hides the padding. Its vectors are computed like the others.
    ask: What does the mask change, according to the docstring?""")

mistake("mask-required", "None if source_mask is None else ", "").explain("""
    the code failed if there was no source mask
    why: source_mask=None means that all tokens are real.
    ask: What does padding_mask return for None?""")

mistake = MISTAKES.for_functions("encoder_decoder.decode")
mistake("not-causal", _CAUSAL, "np.ones((np.shape(target)[-1],) * 2, dtype=bool)", common=True).explain("""
    there was no causal mask: every position attended to later positions
    why: In training, each position can then read the token that it should predict: the loss falls, but the model
         learns nothing useful.
    ask: May position 0 attend to position 1? Which of your lines prevents it?""")
mistake(
    "padding-replaces-causal", "mask & padding_mask(target_mask)", "padding_mask(target_mask)", common=True
).explain("""
    with a target mask, the causal mask was not used
    why: Both masks must allow a key: a position attends to real tokens that do not come after it.
    ask: How do you combine two masks so that both have to be True?""")
mistake("either-mask", "mask & padding_mask", "mask | padding_mask").explain("""
    the two masks were combined with "or" instead of "and"
    why: Both masks must allow a key: a position attends to real tokens that do not come after it.
    ask: How do you combine two masks so that both have to be True?""")
mistake("one-ahead", _CAUSAL, "np.tri(np.shape(target)[-1], k=1, dtype=bool)").explain("""
    every position attended to the next one, too
    why: The next token is the one that should be predicted.
    ask: How many tokens may position 0 attend to?""")
mistake("not-itself", _CAUSAL, "np.tri(np.shape(target)[-1], k=-1, dtype=bool)").explain("""
    no position attended to itself
    why: The token at a position is the last one that was written, and it is known.
    ask: How many tokens may position 0 attend to?""")
mistake(
    "memory-replaced",
    '        cache["decoder_caches"]',
    '        memory, source_mask = x, None\n        cache["decoder_caches"]',
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
    ask: What does the docstring say about b_head?""")
mistake("head-bias-expected", 'params.get("b_head")', 'params["b_head"]').explain("""
    the code looked for b_head without config.head_bias
    why: By default there is no b_head.
    ask: What does the docstring say about b_head?""")
mistake("scores", _LOG_SOFTMAX, 'linear(x, params["W_head"], params.get("b_head"))', common=True).explain("""
    the scores were returned, without log-softmax
    why: The loss picks out the log-probability of the correct token, so the result must be log-probabilities.
    ask: What is np.exp(log_probs).sum(axis=-1) for your result?""")
mistake("probabilities", _LOG_SOFTMAX, f"np.exp({_LOG_SOFTMAX})", common=True).explain("""
    probabilities were returned instead of their logarithms
    why: The logarithm of a probability is negative or 0.
    ask: What is np.exp(log_probs).sum(axis=-1) for your result?""")
mistake("log-of-softmax", _LOG_SOFTMAX, f"np.log(np.exp({_LOG_SOFTMAX}))").explain("""
    the logarithm of the softmax was taken: log of 0 for unlikely tokens
    why: exp(-800) is rounded to 0, and the logarithm of 0 is -inf.
    ask: Which function of `softmax` does both at once?""")
mistake("wrong-axis", _LOG_SOFTMAX, _LOG_SOFTMAX.replace('"b_head")))', '"b_head")), axis=-2)')).explain("""
    log-softmax was taken over the positions, not over the vocabulary
    why: The probabilities of all tokens at one position add up to 1, not those of one token at all positions.
    ask: Which axis of (B, T, Vt) should the probabilities add up to 1 along?""")
mistake("last-position-only", _LOG_SOFTMAX, f"{_LOG_SOFTMAX}[..., -1:, :]").explain("""
    only the log-probabilities of the last position were returned
    why: In training, every position makes a prediction. greedy_decode selects the last position itself.
    ask: What is the shape of the result, according to the docstring?""")
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
    (
        "target-mask-on-queries-too",
        "mask & padding_mask(target_mask) & padding_mask(target_mask).swapaxes(-1, -2)",
        "hid the rows of padding, too",
        "Only keys are hidden. The padding positions themselves are computed like the others.",
    ),
):
    mistake(name, "mask & padding_mask(target_mask)", new, common=name == "target-mask-ignored").explain(f"""
        the target mask {title}
        why: {why}
        ask: Which axis of the mask belongs to the keys, and what does True in target_mask mean?""")
for name, new, title, why in (
    ("source-mask-ignored", "None", "was not used", "The decoder then attends to the padding of short sources."),
    ("source-mask-inverted", "padding_mask(~source_mask)", "was inverted", "Here, True means a real token."),
    (
        "source-mask-without-axes",
        "np.asarray(source_mask)",
        "has no axes for the heads and the queries",
        "(B, S) is broadcast against (B, H, T, S) from the right, so its first axis is matched with the queries.",
    ),
):
    mistake(
        name, "source_mask = padding_mask(source_mask)", f"source_mask = {new}", common=name == "source-mask-ignored"
    ).explain(f"""
        the source mask {title}
        why: {why}
        ask: Which axes of (B, H, T, S) should the axes of source_mask match, and what does True in it mean?""")
mistake("target-mask-without-axes", "mask & padding_mask(target_mask)", "mask & np.asarray(target_mask)").explain("""
    the target mask has no axes for the heads and the queries
    why: (B, T) is broadcast against (B, H, T, T) from the right, so its first axis is matched with the queries.
    ask: Which axes of (B, H, T, T) should the axes B and T of the mask match?""")
for name, old, title in (
    ("target-mask", "config.n_heads, mask, ", "the causal mask was used"),
    ("source-mask", "mask, source_mask, ", "the source mask was used"),
):
    new = (
        old.replace("mask, ", "mask if i == 0 else None, ")
        if name == "target-mask"
        else "mask, source_mask if i == 0 else None, "
    )
    mistake(f"{name}-in-first-block-only", old, new).explain(f"""
        {title} in the first block only
        why: Each block needs both masks.
        ask: Does your loop change a mask?""")
mistake("target-shifted", "_embed(target, ", "_embed(np.roll(target, 1, axis=-1), ").explain("""
    the target was shifted to the right inside the function
    why: The caller has already put the start token in front.
    ask: What does the docstring say about the target that is passed in?""")
mistake(
    "scores-divided", _LOG_SOFTMAX, _LOG_SOFTMAX.replace("(x,", "(x / x.dtype.type(math.sqrt(config.d_model)),")
).explain("""
    the scores were divided by √D
    why: That belongs to attention, where it is √K. The scores of the vocabulary are not divided.
    ask: What does the formula do with x before the log-softmax?""")
mistake("bits", _LOG_SOFTMAX, f"{_LOG_SOFTMAX} / np.float32(math.log(2))").explain("""
    the logarithms have base 2
    why: log_softmax takes natural logarithms.
    ask: What is np.exp(log_probs).sum(axis=-1) for your result?""")
for small in ("1e-5", "1e-6", "1e-7", "1e-8", "1e-9", "1e-10", "1e-12", "1e-15"):
    mistake(
        f"log-of-softmax-plus-{small}", _LOG_SOFTMAX, f"np.log(np.exp({_LOG_SOFTMAX}) + np.float32({small}))"
    ).explain("""
        a small number was added to the probabilities before the logarithm
        why: The result is never -inf, but all very small probabilities get the same logarithm, and the others are
             slightly wrong.
        ask: Which function of `softmax` computes both at once, and needs no such number?""")
for name in ("target", "source"):
    mistake(f"{name}-mask-required", f"if {name}_mask is not None:", "if True:").explain(f"""
        the code failed if there was no {name} mask
        why: {name}_mask=None means that every {name} token is real.
        ask: What does padding_mask return for None?""")
