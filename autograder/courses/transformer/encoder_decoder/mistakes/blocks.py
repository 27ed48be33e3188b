"""Mistakes in one block of the encoder or the decoder."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_CAUSAL_LINES = """    causal = causal_mask(LENGTH)
    mask = causal if mask is None else mask & causal
"""
_SELF = 'multihead_attention(attn_in, subset(params, "attn."), n_heads, target_mask)'

mistake = MISTAKES.for_functions("encoder_decoder.encoder_block", "encoder_decoder.decoder_block")
mistake("gelu", 'activation="relu"', 'activation="gelu"', common=True).explain("""
    the activation was GELU instead of ReLU
    why: The 2017 transformer uses ReLU. GELU is the default of the functions from earlier assignments.
    ask: Which activation do you get if you do not choose one?""")

mistake = MISTAKES.for_functions("encoder_decoder.encoder_block")
mistake("norm-before", "norm=norm", 'norm="pre"', common=True).explain("""
    the norms came before the steps, not after them
    why: The 2017 transformer normalizes after each addition (post-norm). Pre-norm came later.
    ask: Which form does block use if you do not choose one?""")
mistake("norm-ignored", "norm=norm", 'norm="post"').explain("""
    the norm argument was ignored: the norms always came after the steps
    why: With norm="pre" they are on the branches, before each step.
    ask: Which of the arguments does your code pass on?""")
mistake("any-norm-is-pre", "norm=norm", 'norm=norm if norm in ("pre", "post") else "pre"').explain("""
    a norm that is neither "pre" nor "post" was accepted as "pre"
    why: A misspelled name would give another network, and nothing would say so.
    ask: What does your code do with norm="rms"?""")
mistake("mask-ignored", "n_heads, mask, norm", "n_heads, None, norm", common=True).explain("""
    the mask was not used
    why: The tokens of short texts then attend to padding.
    ask: Which of the arguments does your code use?""")
mistake("mask-inverted", "n_heads, mask,", "n_heads, None if mask is None else ~mask,", common=True).explain("""
    the mask was inverted: True was taken for padding
    why: Here, True means that the query may attend to the key. In some libraries it means the opposite.
    ask: If only the last token is padding, which tokens does your encoder attend to?""")
mistake(
    "causal", "    return block(", _CAUSAL_LINES.replace("LENGTH", "np.shape(x)[-2]") + "    return block("
).explain("""
    a causal mask was used in the encoder
    why: The whole source is known from the start, so every position may attend to later ones. Only the decoder is
         causal.
    ask: In "the bank of the river", which word shows what "bank" means? May "bank" attend to it in your code?""")
mistake("one-head", "n_heads, mask, norm", "1, mask, norm").explain("""
    attention used one head, not n_heads
    why: The shapes are the same for any number of heads, so there is no error.
    ask: Which number of heads does your code pass on?""")

_ENCODER_BLOCK = """
    ln1, ln2 = subset(params, "ln1."), subset(params, "ln2.")
    attn_out, attn_cache = multihead_attention(x, subset(params, "attn."), n_heads, mask)
    ln1_in = x + attn_out
    after_attention = layernorm(ln1_in, **ln1)
    ffn_out, _ = ffn(after_attention, subset(params, "ffn."), "relu")
    ln2_in = after_attention + ffn_out
    after_ffn = layernorm(ln2_in, **ln2)
    if norm != "post":
        return block(x, params, n_heads, mask, norm, "relu")
    cache = {"weights": attn_cache["weights"], "after_attention": after_attention, "after_ffn": after_ffn}
    return after_ffn, cache
"""
# The question of a mistake is the first one whose word is in the name.
_ENCODER_QUESTIONS = {
    "biases": "Do you look up a bias by its name, or do you pass on the parameters that exist?",
    "axes": "Which of your lines needs to know how many axes x has?",
    "float64": "What is the dtype of your result when `x` is float32?",
    "cached-unnormed": "With gamma 1 and beta 0, normalized rows have the mean 0. Which mean do these have?",
    "cache": "encode copies the weights and two stages from the cache of a block. Which does it find in yours?",
    "weights": "Each head has a map of its own. How many maps of a text are in your cache if there are two heads?",
    "only-out": "What is cache after `out, cache = encoder_block(…)` in your code, if x has the shape (2, S, D)?",
    "norms": "Which of the two steps does each norm belong to?",
    "twice": "Which of the two steps does each norm belong to?",
    "": "What does your code have in the places of a in ln2(a + ffn(a)), and of x in ln1(x + attention(x))?",
}
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
        "after ffn, the stream from before ln1 was added",
        _FORMULA,
    ),
    ("no-first-norm", "layernorm(ln1_in, **ln1)", "ln1_in", "the first norm, ln1, was not applied", _FORMULA),
    ("no-second-norm", "layernorm(ln2_in, **ln2)", "ln2_in", "the second norm, ln2, was not applied", _FORMULA),
    ("ffn-reads-x", "ffn(after_attention,", "ffn(x,", "ffn read x, not the stream after the attention", _FORMULA),
    (
        "norms-exchanged",
        "ln1, ln2 = subset",
        "ln2, ln1 = subset",
        "ln1 and ln2 were swapped",
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
    ask = next(question for word, question in _ENCODER_QUESTIONS.items() if word in name)
    mistake(name, old, new).body(_ENCODER_BLOCK).explain(f"""
        {title}
        why: {why}
        ask: {ask}""")

mistake = MISTAKES.for_functions("encoder_decoder.decoder_block")
mistake("no-memory", "n_heads, source_mask, memory", "n_heads, target_mask", common=True).explain("""
    the second attention attended to the target itself, not to the memory
    why: The decoder then gets no information about the source.
    ask: Where do the keys and values of the second attention come from?""")
mistake("shared-attention", '"source_attn."', '"attn."').explain("""
    both attentions used the parameters of the self attention
    why: The two attentions have different tasks, and separate matrices.
    ask: Which prefix do the parameters of the second attention have?""")
mistake(
    "always-causal", "ln1, ln2", "if target_mask is None:\n        target_mask = causal_mask(x.shape[-2])\n    ln1, ln2"
).explain("""
    without a target mask, a causal mask was used
    why: decoder_block uses its masks unchanged. The causal mask is created in decode.
    ask: With target_mask=None, how many of 3 keys should the first query see, and how many does it see?""")
mistake("norms-before", 'pre = norm == "pre"', "pre = True").explain("""
    the norms came before the steps, not after them
    why: That is pre-norm, the form of GPT-2. The 2017 transformer normalizes after each addition.
    ask: What is passed to ln1 in the formula: x, or a sum?""")
mistake("norm-ignored", 'pre = norm == "pre"', "pre = False").explain("""
    the norm argument was ignored: the norms always came after the steps
    why: With norm="pre" they are on the branches, before each step.
    ask: Which of your lines handles "pre"?""")
mistake("any-norm-is-pre", 'in ("pre", "post")', 'in ("pre", "post"):\n        norm = "pre"\n    if False').explain("""
    a norm that is neither "pre" nor "post" was accepted as "pre"
    why: A misspelled name would give another network, and nothing would say so.
    ask: What does your code do with norm="rms"?""")
mistake(
    "masks-exchanged", _SELF, _SELF.replace("target_mask", "source_mask"), "source_mask, memory", "target_mask, memory"
).explain("""
    the two masks were swapped
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
for chosen in (("target",), ("source",)):
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
    edits = []
    for name in chosen:
        edits += [_ATTENTIONS[name][0], _ATTENTIONS[name][0].replace("n_heads", "1")]
    mistake(f"one-head-{'-'.join(chosen)}", *edits).explain(f"""
        there was only one head, not n_heads, {where}
        why: The shapes are the same for any number of heads, so there is no error.
        ask: Which number of heads does your code pass on?""")
mistake(
    "source-causal-by-default",
    "    ln1, ln2, ln3",
    "    if source_mask is None:\n"
    "        source_mask = np.tri(x.shape[-2], memory.shape[-2], dtype=bool)\n    ln1, ln2, ln3",
).explain("""
    without a source mask, a causal mask was used in the second attention
    why: The whole source is known from the start, so every target position may attend to all of it.
    ask: Which of your lines creates a mask?""")
