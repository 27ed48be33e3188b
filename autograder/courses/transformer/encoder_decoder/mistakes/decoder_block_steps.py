"""Mistakes in the steps of a decoder block, its cache and its results."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

mistake = MISTAKES.for_functions("encoder_decoder.decoder_block")

for number, step, stream, total, new, name in (
    (1, "first", "x", "sum1 = x + attn_out", "sum1 = attn_out", "the self attention"),
    (2, "second", "the stream", "sum2 = after_attention +", "sum2 =", "the source attention"),
):
    mistake(f"no-{step}-residual", total, new, common=number == 2).explain(f"""
        {stream} was not added to the output of {name}
        why: Each step adds its output to the residual stream. Without that, the previous content of the stream is lost.
        ask: Each of the three steps adds to the stream. Do yours?""")
for number, step, stream in (
    (1, "first", "x"),
    (2, "second", "after_attention"),
    (3, "last", "after_source_attention"),
):
    edits = (
        f"layernorm(sum{number}, **ln{number})",
        f"sum{number}",
        f"layernorm({stream}, **ln{number}) if pre",
        f"{stream} if pre",
    )
    mistake(f"{step}-norm-missing", *edits).explain(f"""
        there is no norm in the {step} step
        why: Each of the three steps has a norm: after the sum with post-norm, on the branch with pre-norm.
        ask: How many norms are there in params, and how many does your code use?""")
for name, sum_and_stream, norm, arguments, title in (
    (
        "ln1-no-gamma-and-beta",
        ("sum1", "x"),
        "ln1",
        'ln1["gamma"] ** 0, ln1["beta"] * 0',
        "ln1 did not use gamma and beta",
    ),
    ("ln3-other-norm-2", ("sum3", "after_source_attention"), "ln3", "**ln2", "ln3 used the gamma and beta of ln2"),
):
    changed = [text for x in sum_and_stream for text in (f"layernorm({x}, **{norm})", f"layernorm({x}, {arguments})")]
    mistake(name, *changed).explain(f"""
        {title}
        why: Each norm has its own gain and bias, all of them with the shape (D,), so there is no error.
        ask: Which of the entries of params does each norm of your code use?""")

# What the steps read and add.
mistake("shared-source-attention", 'subset(params, "attn.")', 'subset(params, "source_attn.")').explain("""
    both attentions used the parameters of the source attention
    why: The two attentions have different tasks, and separate matrices.
    ask: How many matrices W_qkv does a decoder block have, and how many of them does your code use?""")
mistake(
    "memory-normed", "source_mask, memory\n", "source_mask, layernorm(memory, **ln2) if pre else memory\n"
).explain("""
    with "pre", the memory went through ln2, too
    why: The memory is the finished output of the encoder, whose last norm it has passed. Only the stream is normalized.
    ask: To which of the two inputs of the source attention do you apply ln2?""")

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
