"""Mistakes in the steps of a decoder block, its cache and its results."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

mistake = MISTAKES.for_functions("encoder_decoder.decoder_block")

# What holds for each of the three steps.
_STEPS = (
    ("first", "the self attention", "x", "ln1_in = x + attn_out", "attn_out", "after_attention"),
    (
        "second",
        "the source attention",
        "the stream",
        "ln2_in = after_attention + source_out",
        "source_out",
        "after_source_attention",
    ),
    ("third", "ffn", "the stream", "ln3_in = after_source_attention + ffn_out", "ffn_out", "after_ffn"),
)
for number, (step, name, stream, total, branch, after) in enumerate(_STEPS, 1):
    norm = f"{after} = layernorm(ln{number}_in, **ln{number})"
    place = "last" if number == 3 else step
    mistake(f"no-{step}-residual", total, f"ln{number}_in = {branch}", common=number == 2).explain(f"""
        {stream} was not added to the output of {name}
        why: Each step adds its output to the residual stream. Without that, the previous content of the stream is lost.
        ask: Each of the three steps adds to the stream. Do yours?""")
    mistake(f"{place}-norm-missing", norm, f"{after} = ln{number}_in").explain(f"""
        there is no norm after the {place} step
        why: A post-norm block normalizes the stream after each of its three steps.
        ask: How many norms are there in params, and how many does your code use?""")
    mistake(
        f"{step}-output-normed",
        norm,
        f"{after} = {total.partition(' = ')[2].partition(' + ')[0]} + layernorm({branch}, **ln{number})",
    ).explain(f"""
        the output of {name} was normalized before it was added to the stream
        why: The sum is normalized, not one of its terms.
        ask: What is the argument of ln{number} in the formula?""")
    mistake(f"cached-unnormed-{after}", f'"{after}": {after}', f'"{after}": ln{number}_in').explain(f"""
        cache["{after}"] holds the sum from before its norm
        why: The entries are the stream after each of the three steps: a, b and y in the formulas.
        ask: Which variables of your code are a, b and y of the docstring?""")
    mistake(f"cached-{after}-alone", f'"{after}": {after}', f'"{after}": {branch}').explain(f"""
        cache["{after}"] holds the output of {name}, without the stream
        why: The entries are the stream after each of the three steps: a, b and y in the formulas.
        ask: Which variables of your code are a, b and y of the docstring?""")
    gamma, beta, others = f'ln{number}["gamma"]', f'ln{number}["beta"]', [o for o in (1, 2, 3) if o != number]
    for ending, arguments, title in (
        *((f"other-norm-{o}", f"**ln{o}", f"used the gamma and beta of ln{o}") for o in others),
        *((f"other-gamma-{o}", f'ln{o}["gamma"], {beta}', f"used the gamma of ln{o}") for o in others),
        *((f"other-beta-{o}", f'{gamma}, ln{o}["beta"]', f"used the beta of ln{o}") for o in others),
        ("gamma-and-beta-exchanged", f"{beta}, {gamma}", "got gamma and beta in the wrong order"),
        ("no-gamma-and-beta", f"{gamma} ** 0, {beta} * 0", "did not use gamma and beta"),
        ("no-gamma", f"{gamma} ** 0, {beta}", "did not use gamma"),
        ("no-beta", f"{gamma}, {beta} * 0", "did not use beta"),
    ):
        mistake(f"ln{number}-{ending}", norm, norm.replace(f"**ln{number}", arguments)).explain(f"""
            ln{number} {title}
            why: Each norm has its own gain and bias, all of them with the shape (D,), so there is no error.
            ask: Which of the norms in params does each step of your code use?""")
for order, title in (
    ("ln1, ln3, ln2", "ln2 and ln3 were exchanged"),
    ("ln2, ln1, ln3", "ln1 and ln2 were exchanged"),
    ("ln3, ln2, ln1", "ln1 and ln3 were exchanged"),
    ("ln1 = ln2, ln3", "ln1 was used for all three norms"),
):
    new = (
        f"{order} = subset"
        if "= ln2" not in order
        else "ln1 = subset(params, 'ln1.')\n    ln2 = ln3 = ln1\n    _ = subset"
    )
    mistake(
        "norms-exchanged" + order[2:].replace(", ln", "").replace(" = ln", "-"), "ln1, ln2, ln3 = subset", new
    ).explain(f"""
        {title}
        why: The mistake stays hidden as long as every gamma is 1 and every beta 0.
        ask: Which norm follows the source attention?""")

# What the steps read and add.
for name, old, new, title, why in (
    (
        "queries-from-unnormed",
        "        after_attention, subset",
        "        ln1_in, subset",
        "the queries of the second attention come from the stream before ln1",
        "After the first step the stream is the normalized sum.",
    ),
    (
        "queries-from-branch",
        "        after_attention, subset",
        "        attn_out, subset",
        "the queries of the second attention come from the branch of the first, not the stream",
        "The second step reads the stream.",
    ),
    (
        "ffn-skips-source",
        "ffn(after_source_attention,",
        "ffn(after_attention,",
        "ffn reads the stream from before the source attention",
        "It then uses nothing of the source.",
    ),
    (
        "ffn-reads-branch",
        "ffn(after_source_attention,",
        "ffn(source_out,",
        "ffn reads the output of the source attention, without the stream",
        "The third step reads the stream.",
    ),
    (
        "ffn-reads-unnormed",
        "ffn(after_source_attention,",
        "ffn(ln2_in,",
        "ffn reads the stream from before ln2",
        "After the second step the stream is the normalized sum.",
    ),
    (
        "ffn-reads-x",
        "ffn(after_source_attention,",
        "ffn(x,",
        "ffn reads x, not the stream",
        "The third step uses the results of the first two.",
    ),
    (
        "third-residual-from-x",
        "ln3_in = after_source_attention",
        "ln3_in = x",
        "x was added after the third step, instead of the stream after the second",
        "The results of the first two steps are then missing from the stream.",
    ),
    (
        "second-residual-unnormed",
        "ln2_in = after_attention",
        "ln2_in = ln1_in",
        "after the second step the stream from before ln1 was added",
        "After the first step the stream is the normalized sum.",
    ),
    (
        "third-residual-unnormed",
        "ln3_in = after_source_attention",
        "ln3_in = ln2_in",
        "after the third step the stream from before ln2 was added",
        "After the second step the stream is the normalized sum.",
    ),
    (
        "shared-source-attention",
        'subset(params, "attn.")',
        'subset(params, "source_attn.")',
        "both attentions use the parameters of the source attention",
        "The two attentions have different tasks, and separate matrices.",
    ),
    (
        "self-attention-to-memory",
        '"attn."), n_heads, target_mask',
        '"attn."), n_heads, None, memory',
        "the first attention attends to the memory, not to the target itself",
        "The decoder then does not use what it has written.",
    ),
    (
        "memory-in-stream",
        "ln2_in = after_attention + source_out",
        "ln2_in = after_attention + source_out + memory",
        "the memory was added to the stream",
        "The memory is only read, by the source attention.",
    ),
):
    mistake(name, old, new).explain(f"""
        {title}
        why: {why}
        ask: Compare your lines with the formulas of the docstring: what does each step read, and what is added?""")
mistake(
    "attentions-exchanged",
    *('(x, subset(params, "attn.")', '(x, subset(params, "source_attn.")'),
    *('after_attention, subset(params, "source_attn.")', 'after_attention, subset(params, "attn.")'),
).explain("""
    the parameters of the two attentions were exchanged
    why: They have the same shapes, so there is no error.
    ask: Which prefix do the parameters of the second attention have?""")
mistake(
    "no-residuals",
    *(text for _, _, _, total, branch, _ in _STEPS for text in (total, f"{total[:6]} = {branch}")),
).explain("""
    all three steps replace the stream: there are no residual connections
    why: Each step adds its output to the residual stream. Without that, the previous content of the stream is lost.
    ask: Each of the three steps adds to the stream. Do yours?""")
mistake(
    "no-norms",
    *(t for n, (*_, a) in enumerate(_STEPS, 1) for t in (f"{a} = layernorm(ln{n}_in, **ln{n})", f"{a} = ln{n}_in")),
).explain("""
    none of the three norms was applied
    why: A post-norm block normalizes the stream after each of its three steps.
    ask: How many norms are there in params, and how many does your code use?""")
for ending, new, title in (
    ("", "after_attention", "the source attention was left out"),
    ("-but-norm", "layernorm(after_attention, **ln2)", "the result of the source attention was not used"),
):
    mistake(
        f"no-source-attention{ending}",
        "after_source_attention = layernorm(ln2_in, **ln2)",
        f"after_source_attention = {new}",
    ).explain(f"""
        {title}
        why: The decoder then gets no information about the source.
        ask: Where does your code use the memory?""")
for name, old, new, title in (
    ("x", "ln1_in = x + attn_out", "x += attn_out\n    ln1_in = x", "x += … changed the caller's array"),
    (
        *("stream", "ln2_in = after_attention + source_out"),
        "after_attention += source_out\n    ln2_in = after_attention",
        'the stream was changed in place: cache["after_attention"] holds a later value',
    ),
):
    mistake(f"{name}-in-place", old, new).explain(f"""
        {title}
        why: `+=` writes into the array itself, which the caller or the backward pass still needs.
        ask: Which of your lines write into an array that has another use?""")

# Biases, the cache, results.
for names, title in (
    (("attn.b_qkv", "attn.b_o", "source_attn.b_qkv", "source_attn.b_o", "ffn.b_1", "ffn.b_2"), "the biases are absent"),
    (("attn.b_qkv", "attn.b_o"), "the biases of the self attention are absent"),
    (("source_attn.b_qkv", "source_attn.b_o"), "the biases of the source attention are absent"),
    (("ffn.b_1", "ffn.b_2"), "the biases of the feed-forward network are absent"),
):
    part = "" if len(names) > 2 else f"{names[0].partition('.')[0]}-"
    lookups = ", ".join(f'params["{name}"]' for name in names)
    mistake(f"{part}biases-required", "    ln1, ln2, ln3", f"    {lookups}\n    ln1, ln2, ln3").explain(f"""
        the code fails with a KeyError if {title}
        why: Each of the biases may be absent.
        ask: Do you look up a bias by its name, or do you pass on the parameters that exist?""")
for name in ("weights", "source_weights", "after_attention", "after_source_attention", "after_ffn"):
    mistake(
        f"cache-without-{name}", "return after_ffn, cache", f'del cache["{name}"]\n    return after_ffn, cache'
    ).explain(f"""
        the cache has no entry {name}
        why: Plots and later functions use it.
        ask: Which entries of the cache does the docstring name?""")
for name, old in (("weights", 'attn_cache["weights"]'), ("source_weights", 'source_cache["weights"]')):
    mistake(f"{name}-averaged", f'"{name}": {old}', f'"{name}": {old}.mean(axis=-3)').explain(f"""
        cache["{name}"] is the mean over the heads
        why: PyTorch's attention returns this mean. Here each head keeps its own weights.
        ask: Which axes does the docstring give for the weights?""")
mistake(
    "cached-weights-exchanged",
    *('"weights": attn_cache["weights"]', '"weights": source_cache["weights"]'),
    *('"source_weights": source_cache["weights"]', '"source_weights": attn_cache["weights"]'),
).explain("""
    cache["weights"] and cache["source_weights"] were exchanged
    why: "weights" are those of the self attention.
    ask: How many columns do the weights of each attention have?""")
mistake("three-axes-only", "    ln1, ln2, ln3", "    _, _, _ = x.shape\n    ln1, ln2, ln3").explain("""
    the function works only for x with three axes
    why: x is (..., T, D), with any number of axes before T.
    ask: Which of your lines needs to know how many axes x has?""")
mistake("always-float64", "    ln1, ln2, ln3", '    x = x.astype("float64")\n    ln1, ln2, ln3').explain("""
    everything was converted to float64
    why: float32 should stay float32.
    ask: What is the dtype of your result when `x` is float32? Which line causes it?""")
mistake("only-out", "return after_ffn, cache", "return after_ffn").explain("""
    only the output was returned, without the cache
    why: The backward pass needs values that the forward pass has computed.
    ask: How many results does the docstring list?""")
