"""Mistakes in the forward pass of a block."""

from autograder.courses.transformer.common.mistakes.block_forms import InBothForms
from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_PRE_ATTENTION = "multihead_attention(layernorm(ln1_in, **ln1), attn_params, n_heads, mask)"
_POST_ATTENTION = "multihead_attention(x, attn_params, n_heads, mask)"
_PRE_FFN = "ffn(layernorm(ln2_in, **ln2), ffn_params, activation)"
_POST_FFN = "ffn(after_attention, ffn_params, activation)"
_PRE_SUMS = ("ln2_in = x + attn_out", "after_ffn = after_attention + ffn_out")
_POST_SUMS = ("ln1_in = x + attn_out", "ln2_in = after_attention + ffn_out")
_POST_NORMS = ("after_attention = layernorm(ln1_in, **ln1)", "after_ffn = layernorm(ln2_in, **ln2)")
_NORM_PARAMS = 'ln1, ln2 = subset(params, "ln1."), subset(params, "ln2.")'
_CHECK = "    if norm not in"
_ATTENTION_BIASES, _FFN_BIASES = ("attn.b_qkv", "attn.b_o"), ("ffn.b_1", "ffn.b_2")
_BIASES = (*_ATTENTION_BIASES, *_FFN_BIASES)
_INVERTED = "None if mask is None else ~mask)"

mistake = MISTAKES.for_functions("blocks.block")
in_forms = InBothForms(MISTAKES, "blocks.block")

# Which form, which arguments.
mistake("post-by-default", 'norm="pre", activation', 'norm="post", activation').explain("""
    the default is norm="post", not norm="pre"
    why: The first transformer is post-norm. GPT-2 and the default here are pre-norm.
    ask: Which defaults does the signature in the assignment have, and which does yours have?""")
mistake("relu-by-default", 'activation="gelu"', 'activation="relu"').explain("""
    the default is activation="relu", not activation="gelu"
    why: The first transformer has ReLU. GPT-2 and the default here have GELU.
    ask: Which defaults does the signature in the assignment have, and which does yours have?""")
mistake("always-pre", 'if norm == "pre":', 'if norm in ("pre", "post"):').explain("""
    the norm argument was ignored: the form was always "pre"
    why: With the default the mistake stays hidden.
    ask: Which of your lines handles "post"?""")
mistake("always-post", 'if norm == "pre":', 'if norm == "both":').explain("""
    the norm argument was ignored: the form was always "post"
    why: The first transformer is post-norm. GPT-2 and the default here are pre-norm.
    ask: Which of your lines handles "pre"?""")
mistake("pre-and-post-exchanged", 'if norm == "pre":', 'if norm == "post":').explain("""
    "pre" and "post" were swapped
    why: With "pre" the norm is on the branch, before each step; with "post" it is on the stream, after each sum.
    ask: In which of the two forms can x pass through the block without going through a norm?""")
in_forms(
    "activation-ignored",
    _PRE_FFN,
    _PRE_FFN.replace(", activation", ""),
    _POST_FFN,
    _POST_FFN.replace(", activation", ""),
    common=True,
).explain("""
    the activation argument was ignored: GELU was always used
    why: With GELU, the default, the mistake stays hidden.
    ask: Which of the functions that you call has a parameter `activation`?""")
in_forms(
    "always-relu",
    _PRE_FFN,
    _PRE_FFN.replace("activation", '"relu"'),
    _POST_FFN,
    _POST_FFN.replace("activation", '"relu"'),
).explain("""
    the activation argument was ignored: ReLU was always used
    why: GELU is the default here, as in GPT-2.
    ask: Which activation does your code pass to ffn?""")
in_forms(
    "mask-ignored",
    _PRE_ATTENTION,
    _PRE_ATTENTION.replace(", mask", ""),
    _POST_ATTENTION,
    _POST_ATTENTION.replace(", mask", ""),
    common=True,
).explain("""
    the mask was not used in the attention
    why: Every position then attends to all others, including later ones.
    ask: Which of the functions that you call has a parameter `mask`?""")
in_forms(
    "mask-inverted",
    _PRE_ATTENTION,
    _PRE_ATTENTION.replace("mask)", _INVERTED),
    _POST_ATTENTION,
    _POST_ATTENTION.replace("mask)", _INVERTED),
    common=True,
).explain("""
    the mask was inverted before it was passed to the attention
    why: Here True means that the query may attend to the key. In some libraries it means the opposite.
    ask: What does True in the mask mean, according to the docstring?""")
in_forms(
    "mask-transposed",
    _PRE_ATTENTION,
    _PRE_ATTENTION.replace("mask)", "None if mask is None else mask.swapaxes(-1, -2))"),
    _POST_ATTENTION,
    _POST_ATTENTION.replace("mask)", "None if mask is None else mask.swapaxes(-1, -2))"),
).explain("""
    the mask was transposed before it was passed to the attention
    why: Its rows are queries and its columns keys, as multihead_attention expects them.
    ask: Which of the last two axes of the mask belongs to the queries?""")
mistake(
    "no-key-is-every-key",
    _CHECK,
    f"    if mask is not None:\n        mask = mask | ~mask.any(axis=-1, keepdims=True)\n{_CHECK}",
).explain("""
    a query that may attend to no key attended to all of them
    why: Its heads should give 0. If hidden scores are set to a large negative number, such a row has equal scores.
    ask: What are the weights of a row in which every score is -1e9?""")
for name, mask in (
    ("always-causal", "order[:, None] >= order if mask is None else mask"),
    ("causal-mask-too", "order[:, None] >= order if mask is None else mask & (order[:, None] >= order)"),
):
    mistake(
        name, _CHECK, f"    import numpy as np\n\n    order = np.arange(x.shape[-2])\n    mask = {mask}\n{_CHECK}"
    ).explain(f"""
        {"without a mask, a causal mask was used" if name == "always-causal" else "a causal mask was always used"}
        why: mask=None means that every position attends to every other one. The encoder needs that.
        ask: Does the docstring ask the block to make a mask of its own?""")
for name, number, passed in (
    ("one-head", "1", "the attention used one head, not n_heads"),
    (
        "head-size-for-heads",
        "x.shape[-1] // n_heads",
        "the attention got the size of a head, D / H, as the number of heads",
    ),
):
    in_forms(
        name,
        _PRE_ATTENTION,
        _PRE_ATTENTION.replace("n_heads", number),
        _POST_ATTENTION,
        _POST_ATTENTION.replace("n_heads", number),
    ).explain(f"""
        {passed}
        why: The shapes are the same for any number of heads.
        ask: Which number of heads do you pass to the attention?""")

# The sums.
in_forms(
    "no-first-residual",
    _PRE_SUMS[0],
    "ln2_in = attn_out",
    _POST_SUMS[0],
    "ln1_in = attn_out",
    common=True,
).explain("""
    x was not added to the output of the attention
    why: Each step only adds to the stream. Without the sums, deep networks hardly train.
    ask: What do you add to the output of the attention?""")
in_forms(
    "no-second-residual",
    _PRE_SUMS[1],
    "after_ffn = ffn_out",
    _POST_SUMS[1],
    "ln2_in = ffn_out",
    common=True,
).explain("""
    the stream was not added to the output of ffn
    why: Each step only adds to the stream. Without the sums, deep networks hardly train.
    ask: What do you add to the output of the feed-forward network?""")
in_forms(
    "second-residual-from-x",
    _PRE_SUMS[1],
    "after_ffn = x + ffn_out",
    _POST_SUMS[1],
    "ln2_in = x + ffn_out",
).explain("""
    the second sum added x, not the stream after the attention
    why: The output of the attention is then lost from the stream.
    ask: Which array is the residual stream after the first step?""")
in_forms(
    "second-residual-from-branch",
    _PRE_SUMS[1],
    "after_ffn = attn_out + ffn_out",
    _POST_SUMS[1],
    "ln2_in = attn_out + ffn_out",
).explain("""
    the second sum added the output of the attention, not the stream after it
    why: What the first sum added to that output is then lost from the stream.
    ask: Which array is the residual stream after the first step?""")
in_forms(
    "no-residuals",
    *(_PRE_SUMS[0], "ln2_in = attn_out", _PRE_SUMS[1], "after_ffn = ffn_out"),
    *(_POST_SUMS[0], "ln1_in = attn_out", _POST_SUMS[1], "ln2_in = ffn_out"),
).explain("""
    both steps replaced the stream: there were no residual connections
    why: Each step only adds to the stream. Without the sums, deep networks hardly train.
    ask: What do you add to the output of each step?""")
mistake("x-added-twice", "after_ffn = after_attention +", "after_ffn = x + after_attention +").explain("""
    with "pre", x was added again at the end, although the stream contains it
    why: After the attention the stream is x plus the output of the attention. The second step is added to that, and to
         nothing else.
    ask: If both steps return 0, how often is x in your output?""")
in_forms(
    "x-in-place",
    "after_attention = ln2_in = x + attn_out",
    "x += attn_out\n        after_attention = ln2_in = x",
    _POST_SUMS[0],
    "x += attn_out\n        ln1_in = x",
).explain("""
    x += … changed the caller's array
    why: The caller may still need x, and the backward pass certainly does.
    ask: Which of your lines write into an array that you did not create?""")
in_forms(
    "stream-in-place",
    _PRE_SUMS[1],
    "after_attention += ffn_out\n        after_ffn = after_attention",
    _POST_SUMS[1],
    "after_attention += ffn_out\n        ln2_in = after_attention",
).explain("""
    the stream was changed in place: cache["after_attention"] holds a later value
    why: `a += …` writes into the array that the cache holds. The backward pass needs it as it was.
    ask: After `b = a`, what does `a += 1` do to b?""")

# The norms.
in_forms(
    "first-norm-unused",
    _PRE_ATTENTION,
    _PRE_ATTENTION.replace("layernorm(ln1_in, **ln1)", "ln1_in"),
    _POST_NORMS[0],
    "after_attention = ln1_in",
    common=True,
).explain("""
    the first norm, ln1, was not applied
    why: The norm may have been computed, but its result was not used.
    ask: Where does your code use the result of ln1?""")
in_forms(
    "second-norm-unused",
    _PRE_FFN,
    _PRE_FFN.replace("layernorm(ln2_in, **ln2)", "ln2_in"),
    _POST_NORMS[1],
    "after_ffn = ln2_in",
    common=True,
).explain("""
    the second norm, ln2, was not applied
    why: The norm may have been computed, but its result was not used.
    ask: Where does your code use the result of ln2?""")
in_forms(
    "no-norms",
    *("layernorm(ln1_in, **ln1), attn", "ln1_in, attn", "layernorm(ln2_in, **ln2), ffn", "ln2_in, ffn"),
    *(_POST_NORMS[0], "after_attention = ln1_in", _POST_NORMS[1], "after_ffn = ln2_in"),
).explain("""
    neither of the two norms was applied
    why: Without norms the values grow from block to block.
    ask: Where does your code use the results of ln1 and ln2?""")
_PLACES = {
    "ln1": ("(layernorm(ln1_in, **ln1), attn", _POST_NORMS[0]),
    "ln2": ("(layernorm(ln2_in, **ln2), ffn", _POST_NORMS[1]),
}
_HIDDEN = "With gamma 1 and beta 0 the mistake stays hidden."
_GAMMA_AND_BETA = (
    ("other-norm", "**OTHER", "used the gamma and beta of OTHER", _HIDDEN),
    ("other-gamma", 'OTHER["gamma"], NORM["beta"]', "used the gamma of OTHER", _HIDDEN),
    ("other-beta", 'NORM["gamma"], OTHER["beta"]', "used the beta of OTHER", _HIDDEN),
    (
        *("gamma-and-beta-exchanged", 'NORM["beta"], NORM["gamma"]', "got gamma and beta swapped"),
        "Both have the shape (D,), so there is no error.",
    ),
    ("no-gamma-and-beta", 'NORM["gamma"] ** 0, NORM["beta"] * 0', "did not use gamma and beta", _HIDDEN),
    ("no-gamma", 'NORM["gamma"] ** 0, NORM["beta"]', "did not use gamma", _HIDDEN),
    ("no-beta", 'NORM["gamma"], NORM["beta"] * 0', "did not use beta", _HIDDEN),
)
for chosen in (("ln1",), ("ln2",), ("ln1", "ln2")):
    for name, arguments, what, why in _GAMMA_AND_BETA:
        changes = []
        for column in (0, 1):
            for norm in chosen:
                other = "ln2" if norm == "ln1" else "ln1"
                changed = arguments.replace("NORM", norm).replace("OTHER", other)
                changes += [_PLACES[norm][column], _PLACES[norm][column].replace(f"**{norm}", changed)]
        of_other = "the other norm" if len(chosen) == 2 else "ln2" if chosen == ("ln1",) else "ln1"
        which = "each of the two norms" if len(chosen) == 2 else chosen[0]
        title = f"{which} {what.replace('OTHER', of_other)}"
        title = title.replace("each of the two norms did not use", "neither of the two norms used")
        in_forms(f"{name}-{'-'.join(chosen)}", *changes).explain(f"""
            {title}
            why: {why}
            ask: Which entries of `params` does each of your two norms read, and in which order does it get them?""")
mistake("residual-from-normed", _PRE_SUMS[0], "ln2_in = layernorm(x, **ln1) + attn_out").explain("""
    after the attention the normalized x was added instead of x
    why: In the pre-norm form only the branch is normalized; x itself stays on the stream.
    ask: Did you store the normalized vectors in the variable x?""")
mistake("second-residual-from-normed", _PRE_SUMS[1], "after_ffn = layernorm(ln2_in, **ln2) + ffn_out").explain("""
    with "pre", after ffn the normalized stream was added instead of the stream
    why: In the pre-norm form only the branch is normalized; the stream itself is not.
    ask: Did you store the normalized vectors in the variable of the stream?""")
mistake(
    "both-residuals-from-normed",
    _PRE_SUMS[0],
    "ln2_in = layernorm(x, **ln1) + attn_out",
    _PRE_SUMS[1],
    "after_ffn = layernorm(ln2_in, **ln2) + ffn_out",
).explain("""
    in both sums the normalized stream was added instead of the stream
    why: In the pre-norm form only the branch is normalized; the stream itself is not.
    ask: Did you store the normalized vectors in the variable of the stream?""")
mistake("residual-before-norm", _POST_SUMS[1], "ln2_in = ln1_in + ffn_out").explain("""
    with "post", the second sum used the stream from before the first norm
    why: After the first step the stream is the normalized sum.
    ask: Which array does the feed-forward network read? The same array is added to its output.""")
mistake("final-norm-too", _PRE_SUMS[1], "after_ffn = layernorm(after_attention + ffn_out, **ln2)").explain("""
    with "pre", the output was normalized once more
    why: The last norm of a pre-norm model comes after all blocks, not in each of them.
    ask: How many norms does a block have?""")

_OTHER_FORM = {
    ("pre", "first"): (
        *("layernorm(ln1_in, **ln1), attn", "ln1_in, attn"),
        *(_PRE_SUMS[0], "ln2_in = layernorm(x + attn_out, **ln1)"),
    ),
    ("pre", "second"): (
        *("layernorm(ln2_in, **ln2), ffn", "ln2_in, ffn"),
        *(_PRE_SUMS[1], "after_ffn = layernorm(after_attention + ffn_out, **ln2)"),
    ),
    ("post", "first"): (
        *("attention(x, attn", "attention(layernorm(x, **ln1), attn"),
        *(_POST_NORMS[0], "after_attention = ln1_in"),
    ),
    ("post", "second"): (
        *("ffn(after_attention,", "ffn(layernorm(after_attention, **ln2),"),
        *(_POST_NORMS[1], "after_ffn = ln2_in"),
    ),
}
for (form, step), edits in _OTHER_FORM.items():
    mistake(f"{step}-step-of-{form}-in-other-form", *edits).explain(f"""
        with "{form}", the {step} step has the "{"post" if form == "pre" else "pre"}" form
        why: In a block both steps have the same form.
        ask: In the formula for "{form}", is it the sum or the input of the {step} step that goes through the norm?""")
_OUTPUT_NORMED = {
    ("pre", "first"): (
        *("layernorm(ln1_in, **ln1), attn", "ln1_in, attn"),
        *(_PRE_SUMS[0], "ln2_in = x + layernorm(attn_out, **ln1)"),
    ),
    ("pre", "second"): (
        *("layernorm(ln2_in, **ln2), ffn", "ln2_in, ffn"),
        *(_PRE_SUMS[1], "after_ffn = after_attention + layernorm(ffn_out, **ln2)"),
    ),
    ("post", "first"): (_POST_NORMS[0], "after_attention = x + layernorm(attn_out, **ln1)"),
    ("post", "second"): (_POST_NORMS[1], "after_ffn = after_attention + layernorm(ffn_out, **ln2)"),
}
for form, normed in (("pre", "the input of the step"), ("post", "the sum")):
    first, second = _OUTPUT_NORMED[form, "first"], _OUTPUT_NORMED[form, "second"]
    for ending, renormed, step in (
        ("", (*first, *second), "each step"),
        ("-first-step", first, "the attention"),
        ("-second-step", second, "ffn"),
    ):
        mistake(f"output-normed-with-{form}{ending}", *renormed).explain(f"""
            with "{form}", the output of {step} was normalized before it was added to the stream
            why: In this form {normed} is normalized.
            ask: In the formula for "{form}", what is the argument of each norm?""")
for ending, norms in (("both", (0, 1)), ("first", (0,)), ("second", (1,))):
    inputs = (
        ("attention(x, attn", "attention(layernorm(x, **ln1), attn"),
        ("ffn(after_attention,", "ffn(layernorm(after_attention, **ln2),"),
    )
    steps = {"both": "both steps", "first": "the attention", "second": "ffn"}[ending]
    mistake(f"input-normed-too-{ending}", *(text for norm in norms for text in inputs[norm])).explain(f"""
        with "post", the input of {steps} was normalized, too
        why: In this form the steps read the stream itself, and only the sums are normalized.
        ask: In the formula for "post", how often does each norm occur?""")
_TIMES = {
    "first": (_PRE_SUMS[0], "ln2_in = (x + attn_out) * FACTOR"),
    "second": (_PRE_SUMS[1], "after_ffn = (after_attention + ffn_out) * FACTOR"),
}
for factor, text in (("0.5", "1/2"), ("0.5 ** 0.5", "1/√2")):
    for sums, which in ((("first",), "the first sum"), (("second",), "the second sum"), (tuple(_TIMES), "each sum")):
        scaled = [code.replace("FACTOR", factor) for name in sums for code in _TIMES[name]]
        mistake(f"{'-'.join(sums)}-sum-times-{text}", *scaled).explain(f"""
            with "pre", {which} was multiplied by {text}
            why: The output of a step is added to the stream, and nothing else happens to the sum.
            ask: What is added in the formula, and is it multiplied by anything?""")
for branch, at, what in (
    ("attn_out", (_PRE_SUMS[0], _POST_SUMS[0]), "attention"),
    ("ffn_out", (_PRE_SUMS[1], _POST_SUMS[1]), "ffn"),
):
    scaled = [code for old in at for code in (old, old.replace(branch, f"CONSTANT * {branch}"))]
    mistake(f"{what}-scaled", *scaled, constant=0.5).explain(f"""
        the output of {"the attention" if what == "attention" else what} was multiplied by {{constant}}
        why: It is added to the stream as it is.
        ask: What happens between the step and the sum?""")
