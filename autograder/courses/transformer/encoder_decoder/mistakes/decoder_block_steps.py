"""Mistakes in the steps of a decoder block, its cache and its results."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

mistake = MISTAKES.for_functions("encoder_decoder.decoder_block")

# What holds for each of the three steps.
_STEPS = (
    ("first", "the self attention", "x", "sum1 = x + attn_out", "attn_out", "after_attention"),
    (
        "second",
        "the source attention",
        "the stream",
        "sum2 = after_attention + source_out",
        "source_out",
        "after_source_attention",
    ),
    ("third", "ffn", "the stream", "sum3 = after_source_attention + ffn_out", "ffn_out", "after_ffn"),
)
_STREAMS = {1: "x", 2: "after_attention", 3: "after_source_attention"}
for number, (step, name, stream, total, branch, after) in enumerate(_STEPS, 1):
    norm = f"layernorm(sum{number}, **ln{number})"
    branch_norm = f"layernorm({_STREAMS[number]}, **ln{number}) if pre"
    place = "last" if number == 3 else step
    mistake(f"no-{step}-residual", total, f"sum{number} = {branch}", common=number == 2).explain(f"""
        {stream} was not added to the output of {name}
        why: Each step adds its output to the residual stream. Without that, the previous content of the stream is lost.
        ask: Each of the three steps adds to the stream. Do yours?""")
    mistake(f"{place}-norm-missing", norm, f"sum{number}", branch_norm, f"{_STREAMS[number]} if pre").explain(f"""
        there is no norm in the {place} step
        why: Each of the three steps has a norm: after the sum with post-norm, on the branch with pre-norm.
        ask: How many norms are there in params, and how many does your code use?""")
    mistake(
        f"{step}-output-normed",
        norm,
        f"({total.partition(' = ')[2].partition(' + ')[0]} + layernorm({branch}, **ln{number}))",
    ).explain(f"""
        the output of {name} was normalized before it was added to the stream
        why: The sum is normalized, not one of its terms.
        ask: What is the argument of ln{number} in the formula?""")
    mistake(f"cached-unnormed-{after}", f'"{after}": {after}', f'"{after}": sum{number}').explain(f"""
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
        ("gamma-and-beta-exchanged", f"{beta}, {gamma}", "got gamma and beta swapped"),
        ("no-gamma-and-beta", f"{gamma} ** 0, {beta} * 0", "did not use gamma and beta"),
        ("no-gamma", f"{gamma} ** 0, {beta}", "did not use gamma"),
        ("no-beta", f"{gamma}, {beta} * 0", "did not use beta"),
    ):
        changed = [t for old in (norm, branch_norm) for t in (old, old.replace(f"**ln{number}", arguments))]
        start = "Which" if "other" in ending else "What do gamma and beta do in a layer norm, and which"
        mistake(f"ln{number}-{ending}", *changed).explain(f"""
            ln{number} {title}
            why: Each norm has its own gain and bias, all of them with the shape (D,), so there is no error.
            ask: {start} of the entries of params does each norm of your code use?""")
for order, title in (
    ("ln1, ln3, ln2", "ln2 and ln3 were swapped"),
    ("ln2, ln1, ln3", "ln1 and ln2 were swapped"),
    ("ln3, ln2, ln1", "ln1 and ln3 were swapped"),
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
        ask: Which of the three steps does each norm belong to?""")

# What the steps read and add.
_FFN_IN = "ffn_in = layernorm(after_source_attention, **ln3) if pre else after_source_attention"
for name, old, new, title, why in (
    (
        "queries-from-unnormed",
        "if pre else after_attention\n",
        "if pre else sum1\n",
        "the queries of the second attention came from the stream before ln1",
        "After the first step the stream is the normalized sum.",
    ),
    (
        "queries-from-branch",
        "        source_in, subset",
        "        attn_out, subset",
        "the queries of the second attention came from the branch of the first, not the stream",
        "The second step reads the stream.",
    ),
    (
        "ffn-skips-source",
        _FFN_IN,
        _FFN_IN.replace("after_source_attention", "after_attention"),
        "ffn read the stream from before the source attention",
        "It then uses nothing from the source.",
    ),
    (
        "ffn-reads-branch",
        "ffn(ffn_in,",
        "ffn(source_out,",
        "ffn read the output of the source attention, without the stream",
        "The third step reads the stream.",
    ),
    (
        "ffn-reads-unnormed",
        "if pre else after_source_attention\n",
        "if pre else sum2\n",
        "ffn read the stream from before ln2",
        "After the second step the stream is the normalized sum.",
    ),
    (
        "ffn-reads-x",
        _FFN_IN,
        _FFN_IN.replace("after_source_attention", "x"),
        "ffn read x, not the stream",
        "The third step uses the results of the first two.",
    ),
    (
        "third-residual-from-x",
        "sum3 = after_source_attention",
        "sum3 = x",
        "x was added after the third step, instead of the stream after the second",
        "The results of the first two steps are then missing from the stream.",
    ),
    (
        "second-residual-unnormed",
        "sum2 = after_attention",
        "sum2 = sum1",
        "after the second step, the stream from before ln1 was added",
        "After the first step the stream is the normalized sum.",
    ),
    (
        "third-residual-unnormed",
        "sum3 = after_source_attention",
        "sum3 = sum2",
        "after the third step, the stream from before ln2 was added",
        "After the second step the stream is the normalized sum.",
    ),
    (
        "shared-source-attention",
        'subset(params, "attn.")',
        'subset(params, "source_attn.")',
        "both attentions used the parameters of the source attention",
        "The two attentions have different tasks, and separate matrices.",
    ),
    (
        "self-attention-to-memory",
        '"attn."), n_heads, target_mask',
        '"attn."), n_heads, None, memory',
        "the first attention attended to the memory, not to the target itself",
        "The decoder then does not use what it has written.",
    ),
    (
        "memory-in-stream",
        "sum2 = after_attention + source_out",
        "sum2 = after_attention + source_out + memory",
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
    *('(attn_in, subset(params, "attn.")', '(attn_in, subset(params, "source_attn.")'),
    *('source_in, subset(params, "source_attn.")', 'source_in, subset(params, "attn.")'),
).explain("""
    the parameters of the two attentions were swapped
    why: They have the same shapes, so there is no error.
    ask: Which prefix do the parameters of the second attention have?""")
mistake(
    "no-residuals",
    *(text for _, _, _, total, branch, _ in _STEPS for text in (total, f"{total[:4]} = {branch}")),
).explain("""
    all three steps replaced the stream: there were no residual connections
    why: Each step adds its output to the residual stream. Without that, the previous content of the stream is lost.
    ask: Each of the three steps adds to the stream. Do yours?""")
mistake(
    "no-norms",
    *(t for n in _STREAMS for t in (f"layernorm(sum{n}, **ln{n})", f"sum{n}")),
    *(t for n, x in _STREAMS.items() for t in (f"layernorm({x}, **ln{n}) if pre", f"{x} if pre")),
).explain("""
    none of the three norms was applied
    why: Each of the three steps has a norm: after the sum with post-norm, on the branch with pre-norm.
    ask: How many norms are there in params, and how many does your code use?""")
for ending, new, title in (
    ("", "after_attention", "the source attention was left out"),
    (
        "-but-norm",
        "after_attention if pre else layernorm(after_attention, **ln2)",
        "the result of the source attention was not used",
    ),
):
    mistake(
        f"no-source-attention{ending}",
        "after_source_attention = sum2 if pre else layernorm(sum2, **ln2)",
        f"after_source_attention = {new}",
    ).explain(f"""
        {title}
        why: The decoder then gets no information about the source.
        ask: Where does your code use the memory?""")
for name, old, new, title in (
    ("x", "sum1 = x + attn_out", "x += attn_out\n    sum1 = x", "x += … changed the caller's array"),
    (
        *("stream", "sum2 = after_attention + source_out"),
        "after_attention += source_out\n    sum2 = after_attention",
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
    cache["weights"] and cache["source_weights"] were swapped
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
