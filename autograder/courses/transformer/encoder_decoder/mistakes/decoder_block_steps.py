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
for number, (step, name, stream, total, branch, _) in enumerate(_STEPS, 1):
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

# What the steps read and add.
mistake("shared-source-attention", 'subset(params, "attn.")', 'subset(params, "source_attn.")').explain("""
    both attentions used the parameters of the source attention
    why: The two attentions have different tasks, and separate matrices.
    ask: How many matrices W_qkv does a decoder block have, and how many of them does your code use?""")

# Biases, the cache, results.
for names, title in (
    (("attn.b_qkv", "attn.b_o", "source_attn.b_qkv", "source_attn.b_o", "ffn.b_1", "ffn.b_2"), "the biases are absent"),
    (("ffn.b_1", "ffn.b_2"), "the biases of the feed-forward network are absent"),
):
    part = "" if len(names) > 2 else f"{names[0].partition('.')[0]}-"
    lookups = ", ".join(f'params["{name}"]' for name in names)
    mistake(f"{part}biases-required", "    ln1, ln2, ln3", f"    {lookups}\n    ln1, ln2, ln3").explain(f"""
        the code fails with a KeyError if {title}
        why: Each of the biases may be absent.
        ask: Do you look up a bias by its name, or do you pass on the parameters that exist?""")
for name in ("weights", "source_weights", "after_attention"):
    mistake(
        f"cache-without-{name}", "return after_ffn, cache", f'del cache["{name}"]\n    return after_ffn, cache'
    ).explain(f"""
        the cache has no entry {name}
        why: Plots and later functions use it.
        ask: What does decode find when it reads block_cache["{name}"] after your block?""")
mistake("three-axes-only", "    ln1, ln2, ln3", "    _, _, _ = x.shape\n    ln1, ln2, ln3").explain("""
    the function works only for x with three axes
    why: x is (..., T, D), with any number of axes before T.
    ask: Which of your lines needs to know how many axes x has?""")
