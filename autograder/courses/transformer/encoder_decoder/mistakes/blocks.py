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
    "cache": "encode copies the weights and two stages from the cache of a block. Which does it find in yours?",
    "weights": "Each head has a map of its own. How many maps of a text are in your cache if there are two heads?",
    "norms": "Which of the two steps does each norm belong to?",
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
        "norms-exchanged",
        "ln1, ln2 = subset",
        "ln2, ln1 = subset",
        "ln1 and ln2 were swapped",
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

for name, old, where, why in (
    (
        "target",
        '"attn."), n_heads, target_mask',
        "in the self attention",
        "Positions can then attend to tokens that the mask excludes: padding, and tokens they should predict.",
    ),
    (
        "source",
        "n_heads, source_mask, memory",
        "in the second attention",
        "The decoder then attends to the padding of short sources.",
    ),
):
    mask = f"{name}_mask"
    mistake(f"{name}-mask-ignored", old, old.replace(mask, "None"), common=True).explain(f"""
        the {name} mask was not used {where}
        why: {why}
        ask: Which of the two attentions gets which mask?""")
    inverted = old.replace(mask, f"None if {mask} is None else ~{mask}")
    mistake(f"{name}-mask-inverted", old, inverted).explain(f"""
        the {name} mask was inverted {where}
        why: Here True means that the query may attend to the key.
        ask: Which of the two attentions gets which mask?""")
    mistake(f"one-head-{name}", old, old.replace("n_heads", "1")).explain(f"""
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
