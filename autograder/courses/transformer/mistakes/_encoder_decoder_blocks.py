"""Mistakes in one block of the encoder or the decoder."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_CAUSAL_LINES = """    causal = causal_mask(LENGTH)
    mask = causal if mask is None else mask & causal
"""
_SELF = 'multihead_attention(x, subset(params, "attn."), n_heads, target_mask)'

mistake = MISTAKES.for_functions("encoder_decoder.encoder_block", "encoder_decoder.decoder_block")
mistake("gelu", 'activation="relu"', 'activation="gelu"', common=True).explain("""
    the activation is GELU instead of ReLU
    why: The 2017 transformer uses ReLU. GELU is the default of the functions from earlier assignments.
    ask: Which activation do you get if you do not choose one?""")

mistake = MISTAKES.for_functions("encoder_decoder.encoder_block")
mistake("norm-before", 'norm="post"', 'norm="pre"', common=True).explain("""
    the norms come before the steps, not after them
    why: The 2017 transformer normalizes after each addition (post-norm). Pre-norm came later.
    ask: Which form does block use if you do not choose one?""")
mistake("mask-ignored", "n_heads, mask, norm", "n_heads, None, norm", common=True).explain("""
    the mask was not passed on
    why: The tokens of short texts then attend to padding.
    ask: Which of the arguments does your code use?""")
mistake(
    "mask-inverted", "n_heads, mask, norm", "n_heads, None if mask is None else ~mask, norm", common=True
).explain("""
    the mask was inverted: True was taken for padding
    why: Here, True means that the query may attend to the key. In some libraries it means the opposite.
    ask: What does True in the mask mean, according to the docstring?""")
mistake(
    "causal", "    return block(", _CAUSAL_LINES.replace("LENGTH", "np.shape(x)[-2]") + "    return block("
).explain("""
    a causal mask was used in the encoder
    why: The whole source is known from the start, so every position may attend to later ones. Only the decoder is
         causal.
    ask: Which masks does the docstring mention, and which ones does your code use?""")
mistake("one-head", "n_heads, mask, norm", "1, mask, norm").explain("""
    n_heads was not passed on: attention uses one head
    why: The shapes are the same for any number of heads, so there is no error.
    ask: Which number of heads does your code pass on?""")

mistake("head-size", "n_heads, mask, norm", "x.shape[-1] // n_heads, mask, norm").explain("""
    n_heads was not passed on: attention got the size of a head in its place
    why: The shapes are the same for any number of heads, so there is no error.
    ask: Which number of heads does your code pass on?""")
mistake(
    "causal-by-default",
    "    return block(",
    "    mask = causal_mask(np.shape(x)[-2]) if mask is None else mask\n    return block(",
).explain("""
    without a mask, a causal mask was used
    why: mask=None means that every query attends to every key. The whole source is known from the start.
    ask: Which of your lines creates a mask?""")
mistake(
    "mask-transposed", "n_heads, mask, norm", "n_heads, None if mask is None else mask.swapaxes(-1, -2), norm"
).explain("""
    the mask was transposed
    why: Its rows are queries and its columns keys.
    ask: Which of the last two axes of the mask belongs to the queries?""")
_ENCODER_BLOCK = """
    ln1, ln2 = subset(params, "ln1."), subset(params, "ln2.")
    attn_out, attn_cache = multihead_attention(x, subset(params, "attn."), n_heads, mask)
    ln1_in = x + attn_out
    after_attention = layernorm(ln1_in, **ln1)
    ffn_out, _ = ffn(after_attention, subset(params, "ffn."), "relu")
    ln2_in = after_attention + ffn_out
    after_ffn = layernorm(ln2_in, **ln2)
    cache = {"weights": attn_cache["weights"], "after_attention": after_attention, "after_ffn": after_ffn}
    return after_ffn, cache
"""
_FORMULA = "Each step adds its output to the residual stream, and the sum is normalized."
for name, old, new, title, why in (
    (
        "no-first-residual",
        "ln1_in = x + attn_out",
        "ln1_in = attn_out",
        "x was not added to the output of the attention",
        _FORMULA,
    ),
    (
        "no-second-residual",
        "ln2_in = after_attention + ffn_out",
        "ln2_in = ffn_out",
        "the stream was not added to the output of ffn",
        _FORMULA,
    ),
    (
        "second-residual-from-x",
        "ln2_in = after_attention",
        "ln2_in = x",
        "x was added to the output of ffn, not the stream after the attention",
        _FORMULA,
    ),
    (
        "second-residual-unnormed",
        "ln2_in = after_attention",
        "ln2_in = ln1_in",
        "after ffn the stream from before ln1 was added",
        _FORMULA,
    ),
    ("no-first-norm", "layernorm(ln1_in, **ln1)", "ln1_in", "the first norm, ln1, was not applied", _FORMULA),
    ("no-second-norm", "layernorm(ln2_in, **ln2)", "ln2_in", "the second norm, ln2, was not applied", _FORMULA),
    ("ffn-reads-x", "ffn(after_attention,", "ffn(x,", "ffn reads x, not the stream after the attention", _FORMULA),
    (
        "norms-exchanged",
        "ln1, ln2 = subset",
        "ln2, ln1 = subset",
        "ln1 and ln2 were exchanged",
        "With gamma 1 and beta 0 the mistake stays hidden.",
    ),
    (
        "first-norm-twice",
        "layernorm(ln2_in, **ln2)",
        "layernorm(ln2_in, **ln1)",
        "ln1 was used for both norms",
        "With gamma 1 and beta 0 the mistake stays hidden.",
    ),
    (
        "attention-biases-required",
        "    ln1, ln2",
        '    params["attn.b_qkv"], params["attn.b_o"]\n    ln1, ln2',
        "the code fails with a KeyError if the biases of the attention are absent",
        "Each of the biases may be absent.",
    ),
    (
        "ffn-biases-required",
        "    ln1, ln2",
        '    params["ffn.b_1"], params["ffn.b_2"]\n    ln1, ln2',
        "the code fails with a KeyError if the biases of the feed-forward network are absent",
        "Each of the biases may be absent.",
    ),
    (
        "three-axes-only",
        "    ln1, ln2",
        "    _, _, _ = x.shape\n    ln1, ln2",
        "the function works only for x with three axes",
        "x may have any number of axes before S.",
    ),
    (
        "always-float64",
        "    ln1, ln2",
        '    x = x.astype("float64")\n    ln1, ln2',
        "everything was converted to float64",
        "float32 should stay float32.",
    ),
    (
        "weights-averaged",
        'attn_cache["weights"]',
        'attn_cache["weights"].mean(axis=-3)',
        'cache["weights"] is the mean over the heads',
        "Each head keeps its own weights.",
    ),
    (
        "cached-unnormed-after_attention",
        '"after_attention": after_attention',
        '"after_attention": ln1_in',
        'cache["after_attention"] holds the sum from before its norm',
        "The entries are a and y of the formulas.",
    ),
    (
        "cached-unnormed-after_ffn",
        '"after_ffn": after_ffn',
        '"after_ffn": ln2_in',
        'cache["after_ffn"] holds the sum from before its norm',
        "The entries are a and y of the formulas.",
    ),
    (
        "only-out",
        "return after_ffn, cache",
        "return after_ffn",
        "only the output was returned, without the cache",
        "The backward pass needs the cache.",
    ),
    *(
        (
            f"cache-without-{name}",
            "return after_ffn, cache",
            f'del cache["{name}"]\n    return after_ffn, cache',
            f"the cache has no entry {name}",
            "Plots and later functions use it.",
        )
        for name in ("weights", "after_attention", "after_ffn")
    ),
):
    mistake(name, old, new).body(_ENCODER_BLOCK).explain(f"""
        {title}
        why: {why}
        ask: Compare your lines with the docstring: what does each step read, and what is added and normalized?""")

mistake = MISTAKES.for_functions("encoder_decoder.decoder_block")
mistake("no-memory", "n_heads, source_mask, memory", "n_heads, target_mask", common=True).explain("""
    the second attention attends to the target itself, not to the memory
    why: The decoder then gets no information about the source.
    ask: Where do the keys and values of the second attention come from?""")
mistake(
    "queries-from-memory",
    "        after_attention, subset",
    "        memory, subset",
    "n_heads, source_mask, memory",
    "n_heads, source_mask, after_attention",
).explain("""
    the stream and the memory were exchanged in the second attention
    why: The queries come from the decoder's stream. The result must have as many positions as the target.
    ask: Which of the two sequences should the queries come from, and which one the keys and values?""")
mistake("queries-from-x", "        after_attention, subset", "        x, subset").explain("""
    the queries of the second attention come from x, not from the stream
    why: The stream after the first step contains the result of the self attention, which the queries should use.
    ask: Which array is the stream when the second step begins?""")
mistake("shared-attention", '"source_attn."', '"attn."').explain("""
    both attentions use the parameters of the self attention
    why: The two attentions have different tasks, and separate matrices.
    ask: Which prefix do the parameters of the second attention have?""")
mistake(
    "source-first",
    '(x, subset(params, "attn."), n_heads, target_mask)',
    '(x, subset(params, "source_attn."), n_heads, source_mask, memory)',
    'after_attention, subset(params, "source_attn."), n_heads, source_mask, memory',
    'after_attention, subset(params, "attn."), n_heads, target_mask',
).explain("""
    the source attention comes before the self attention
    why: The order is: self attention, source attention, feed-forward network.
    ask: Which attention comes first in the formulas of the docstring?""")
mistake(
    "always-causal",
    "    ln1, ln2, ln3",
    "    if target_mask is None:\n        target_mask = causal_mask(x.shape[-2])\n    ln1, ln2, ln3",
).explain("""
    without a target mask, a causal mask was used
    why: decoder_block uses its masks unchanged. The causal mask is created in decode.
    ask: Which of your lines creates a mask? What does the docstring say about target_mask=None?""")
mistake("second-residual-from-x", "ln2_in = after_attention + source_out", "ln2_in = x + source_out").explain("""
    x was added after the second step, instead of the stream after the first
    why: The result of the first step is then missing from the stream.
    ask: Which array is the stream when the second step begins?""")
mistake("third-residual-too-early", "= after_source_attention + ffn_out", "= after_attention + ffn_out").explain("""
    the stream before the second step was added after the third
    why: The result of the source attention is then missing from the stream.
    ask: Which array does the feed-forward network read? The same one should be added to its output.""")
mistake(
    "norms-before",
    _SELF,
    _SELF.replace("(x,", "(layernorm(x, **ln1),"),
    "after_attention = layernorm(ln1_in, **ln1)",
    "after_attention = ln1_in",
    "        after_attention, subset(params",
    "        layernorm(ln1_in, **ln2), subset(params",
    "after_source_attention = layernorm(ln2_in, **ln2)",
    "after_source_attention = ln2_in",
    "ffn(after_source_attention,",
    "ffn(layernorm(ln2_in, **ln3),",
    "after_ffn = layernorm(ln3_in, **ln3)",
    "after_ffn = ln3_in",
).explain("""
    the norms come before the steps, not after them
    why: That is pre-norm, the form of GPT-2. The 2017 transformer normalizes after each addition.
    ask: What is passed to ln1 in the formula: x, or a sum?""")
mistake(
    "masks-exchanged",
    _SELF,
    _SELF.replace("target_mask", "source_mask"),
    "n_heads, source_mask, memory",
    "n_heads, target_mask, memory",
).explain("""
    the two masks were exchanged
    why: The target mask belongs to the self attention, the source mask to the source attention.
    ask: Which sequence do the keys of each attention come from, and which mask has as many columns?""")

# What holds for each of the two attentions, or both.
_ATTENTIONS = {
    "target": ('"attn."), n_heads, target_mask', "target_mask", "in the self attention"),
    "source": ("n_heads, source_mask, memory", "source_mask", "in the second attention"),
}
_WITHOUT_MASK = {
    "target": "Positions can then attend to tokens that the mask excludes: padding, and tokens they should predict.",
    "source": "The decoder then attends to the padding of short sources.",
}
for chosen in (("target",), ("source",), ("target", "source")):
    both = len(chosen) == 2
    where = "in both attentions" if both else _ATTENTIONS[chosen[0]][2]
    masks, mask_name = ("the two masks were", "masks") if both else (f"the {chosen[0]} mask was", f"{chosen[0]}-mask")
    why = " ".join(_WITHOUT_MASK[name] for name in chosen)
    for ending, new, reason in (
        ("ignored", "None", why),
        ("inverted", "None if MASK is None else ~MASK", "Here True means that the query may attend to the key."),
    ):
        edits = []
        for name in chosen:
            old, mask, _ = _ATTENTIONS[name]
            edits += [old, old.replace(mask, new.replace("MASK", mask))]
        what = "not used" if ending == "ignored" else ending
        mistake(f"{mask_name}-{ending}", *edits, common=ending == "ignored" and not both).explain(f"""
            {masks} {what}{"" if both else f" {where}"}
            why: {reason}
            ask: Which of the two attentions gets which mask?""")
    for ending, number, title in (
        ("one-head", "1", "only one head"),
        ("head-size", "x.shape[-1] // n_heads", "D / H heads"),
    ):
        edits = []
        for name in chosen:
            old = _ATTENTIONS[name][0]
            edits += [old, old.replace("n_heads", number)]
        mistake(f"{ending}-{'-'.join(chosen)}", *edits).explain(f"""
            n_heads was not passed on: there {"is" if number == "1" else "are"} {title} {where}
            why: The shapes are the same for any number of heads, so there is no error.
            ask: Which number of heads does your code pass on?""")
mistake(
    "target-mask-transposed",
    '"attn."), n_heads, target_mask',
    '"attn."), n_heads, None if target_mask is None else target_mask.swapaxes(-1, -2)',
).explain("""
    the target mask was transposed
    why: Its rows are queries and its columns keys.
    ask: Which of the last two axes of the mask belongs to the queries?""")
mistake(
    "causal-too",
    "    ln1, ln2, ln3",
    "    causal = causal_mask(x.shape[-2])\n"
    "    target_mask = causal if target_mask is None else target_mask & causal\n    ln1, ln2, ln3",
).explain("""
    a causal mask was always used, in addition to the target mask
    why: decoder_block uses its masks unchanged. The causal mask is created in decode.
    ask: Which of your lines creates a mask?""")
mistake(
    "source-causal-by-default",
    "    ln1, ln2, ln3",
    "    if source_mask is None:\n"
    "        source_mask = np.tri(x.shape[-2], memory.shape[-2], dtype=bool)\n    ln1, ln2, ln3",
).explain("""
    without a source mask, a causal mask was used in the second attention
    why: The whole source is known from the start, so every target position may attend to all of it.
    ask: Which of your lines creates a mask?""")
