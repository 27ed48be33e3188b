"""Mistakes in assignment 8: the transformer block."""

from dataclasses import replace

from autograder.courses.transformer.mistakes._blocks_backward import BACKWARD
from autograder.engine.diagnosis.mistake import Mistake

FORWARD = (
    Mistake(
        "blocks.block",
        "post-by-default",
        "the norm comes after each step by default, not before",
        "This is the block of 2017. GPT-2 and the default here have the norm before.",
        "Compare the signature with the one in the assignment.",
        edits=(('norm="pre", activation', 'norm="post", activation'),),
    ),
    Mistake(
        "blocks.block",
        "always-pre",
        'the norm argument is ignored: it is always "pre"',
        "With the default nothing shows.",
        'Which of your lines knows about "post"?',
        edits=(('if norm == "pre":', 'if norm in ("pre", "post"):'),),
    ),
    Mistake(
        "blocks.block",
        "always-post",
        'the norm argument is ignored: it is always "post"',
        "This is the block of 2017. GPT-2 and the default here have the norm before.",
        'Which of your lines knows about "pre"?',
        edits=(('if norm == "pre":', 'if norm == "both":'),),
    ),
    Mistake(
        "blocks.block",
        "pre-and-post-exchanged",
        '"pre" and "post" are exchanged',
        "Before and after: in which step does the norm stand in the residual stream itself?",
        "In which of the two forms can x run through the block without meeting a norm?",
        edits=(('if norm == "pre":', 'if norm == "post":'),),
    ),
    Mistake(
        "blocks.block",
        "activation-ignored",
        "the activation argument is not passed on",
        "With GELU, the default, nothing shows.",
        "Which of the functions that you call has to know the activation?",
        edits=(
            ("layernorm(ln2_in, **ln2), ffn_params, activation)", "layernorm(ln2_in, **ln2), ffn_params)"),
            ("ffn(after_attention, ffn_params, activation)", "ffn(after_attention, ffn_params)"),
        ),
        common=True,
    ),
    Mistake(
        "blocks.block",
        "mask-ignored",
        "the mask is not passed on to the attention",
        "Everybody sees everything, the future too.",
        "Which of the functions that you call has to know the mask?",
        edits=(
            ("**ln1), attn_params, n_heads, mask)", "**ln1), attn_params, n_heads)"),
            ("multihead_attention(x, attn_params, n_heads, mask)", "multihead_attention(x, attn_params, n_heads)"),
        ),
        common=True,
    ),
    Mistake(
        "blocks.block",
        "mask-inverted",
        "the mask is inverted: True was taken to forbid",
        "Here True means that the query may look at the key; in some libraries it means the opposite.",
        "What does True in the mask stand for, according to the docstring?",
        edits=(("    x = as_float(x)\n", "    x = as_float(x)\n    mask = None if mask is None else ~mask\n"),),
        common=True,
    ),
    Mistake(
        "blocks.block",
        "always-causal",
        "without a mask, a causal one is used",
        "The block does what it is told: None lets everybody see everything. The encoder needs that.",
        "Which of your lines makes a mask, and who asked for it?",
        edits=(
            (
                "    x = as_float(x)\n",
                """    x = as_float(x)
    order = as_float(range(x.shape[-2]))
    mask = order[:, None] >= order if mask is None else mask
""",
            ),
        ),
    ),
    Mistake(
        "blocks.block",
        "one-head",
        "n_heads is not passed on: there is one head",
        "The shapes are the same for any number of heads.",
        "What do you give to the attention as the number of heads?",
        edits=(
            ("**ln1), attn_params, n_heads", "**ln1), attn_params, 1"),
            ("multihead_attention(x, attn_params, n_heads", "multihead_attention(x, attn_params, 1"),
        ),
    ),
    Mistake(
        "blocks.block",
        "no-first-residual",
        "x is not added to the attention's output",
        "The stream must be able to run past each step; otherwise deep networks hardly learn.",
        "What is added to what after the attention?",
        edits=(("ln2_in = x + attn_out", "ln2_in = attn_out"), ("ln1_in = x + attn_out", "ln1_in = attn_out")),
        common=True,
    ),
    Mistake(
        "blocks.block",
        "no-second-residual",
        "the stream is not added to the feed-forward network's output",
        "The stream must be able to run past each step; otherwise deep networks hardly learn.",
        "What is added to what after the feed-forward network?",
        edits=(
            ("after_ffn = after_attention + ffn_out", "after_ffn = ffn_out"),
            ("ln2_in = after_attention + ffn_out", "ln2_in = ffn_out"),
        ),
        common=True,
    ),
    Mistake(
        "blocks.block",
        "second-residual-from-x",
        "x is added after the feed-forward network, instead of the stream after the attention",
        "What the attention found out is then lost to the stream.",
        "Which array is *the stream* by the time the feed-forward network is done?",
        edits=(
            ("after_ffn = after_attention + ffn_out", "after_ffn = x + ffn_out"),
            ("ln2_in = after_attention + ffn_out", "ln2_in = x + ffn_out"),
        ),
    ),
    Mistake(
        "blocks.block",
        "residual-from-normed",
        "the normalized x was added instead of x itself",
        "With the norm before the step, only the branch is normalized; the stream goes past it as it is.",
        "Did you write the normalized vector into the variable x?",
        edits=(("ln2_in = x + attn_out", "ln2_in = layernorm(x, **ln1) + attn_out"),),
    ),
    Mistake(
        "blocks.block",
        "both-residuals-from-normed",
        "the normalized stream was added in both steps instead of the stream itself",
        "With the norm before the step, only the branch is normalized; the stream goes past it as it is.",
        "Did you write the normalized vector into the variable of the stream?",
        edits=(
            ("ln2_in = x + attn_out", "ln2_in = layernorm(x, **ln1) + attn_out"),
            ("after_ffn = after_attention + ffn_out", "after_ffn = layernorm(ln2_in, **ln2) + ffn_out"),
        ),
    ),
    Mistake(
        "blocks.block",
        "first-norm-unused",
        "the attention reads the stream as it is, not normalized (ln1 is missing)",
        "The norm is perhaps computed, but its result is not what the attention gets.",
        "What is the first argument that you give to the attention?",
        edits=(
            ("multihead_attention(layernorm(ln1_in, **ln1), ", "multihead_attention(ln1_in, "),
            ("after_attention = layernorm(ln1_in, **ln1)", "after_attention = ln1_in"),
        ),
        common=True,
    ),
    Mistake(
        "blocks.block",
        "second-norm-unused",
        "the second norm, ln2, is missing",
        "The norm is perhaps computed, but its result is not used.",
        "Where in your code is the result of ln2 used?",
        edits=(
            ("ffn(layernorm(ln2_in, **ln2), ", "ffn(ln2_in, "),
            ("after_ffn = layernorm(ln2_in, **ln2)", "after_ffn = ln2_in"),
        ),
        common=True,
    ),
    Mistake(
        "blocks.block",
        "norms-exchanged",
        "ln1 and ln2 are exchanged",
        "With gamma 1 and beta 0 nothing shows.",
        "Which norm belongs to the attention?",
        edits=(("ln1, ln2 = subset", "ln2, ln1 = subset"),),
    ),
    Mistake(
        "blocks.block",
        "first-norm-twice",
        "ln1 was used for both norms",
        "Each has a gain and a bias of its own; at the start of training they are equal.",
        "Which parameters does the second norm have?",
        edits=(('ln1, ln2 = subset(params, "ln1."), subset(params, "ln2.")', 'ln1 = ln2 = subset(params, "ln1.")'),),
    ),
    Mistake(
        "blocks.block",
        "steps-in-parallel",
        "the feed-forward network reads x, not the stream after the attention",
        "Some models do this on purpose; here the two steps come one after the other.",
        "What does the feed-forward network work on, if not on what the attention brought?",
        edits=(
            ("ffn(layernorm(ln2_in, **ln2), ", "ffn(layernorm(x, **ln2), "),
            ("ffn(after_attention, ffn", "ffn(x, ffn"),
        ),
    ),
    Mistake(
        "blocks.block",
        "norm-before-sum",
        'with "post", the branch was normalized before it was added to the stream',
        "In this form the sum itself is normalized: the norm stands in the stream.",
        "Which comes first in ln1(x + attention(x)), the sum or the norm?",
        edits=(
            ("after_attention = layernorm(ln1_in, **ln1)", "after_attention = x + layernorm(attn_out, **ln1)"),
            ("after_ffn = layernorm(ln2_in, **ln2)", "after_ffn = after_attention + layernorm(ffn_out, **ln2)"),
        ),
    ),
    Mistake(
        "blocks.block",
        "residual-before-norm",
        'with "post", the second sum takes the stream from before the first norm',
        "After the first step the stream *is* the normalized sum.",
        "Which array does the feed-forward network read? The same one is added to its output.",
        edits=(("ln2_in = after_attention + ffn_out", "ln2_in = ln1_in + ffn_out"),),
    ),
    Mistake(
        "blocks.block",
        "final-norm-too",
        'with "pre", the output was normalized once more',
        "The last norm of a pre-norm model stands after all blocks, not in each of them.",
        "How many norms does a block have?",
        edits=(("after_ffn = after_attention + ffn_out", "after_ffn = layernorm(after_attention + ffn_out, **ln2)"),),
    ),
    Mistake(
        "blocks.block",
        "x-in-place",
        "x += … changes the caller's array",
        "The caller may still need x, and the backward pass certainly does.",
        "Which of your lines write into an array that you did not make?",
        edits=(
            ("after_attention = ln2_in = x + attn_out", "x += attn_out\n        after_attention = ln2_in = x"),
            ("ln1_in = x + attn_out", "x += attn_out\n        ln1_in = x"),
        ),
    ),
    Mistake(
        "blocks.block",
        "biases-required",
        "a block without biases is a KeyError",
        "The biases of the linear layers may be absent.",
        "Do you ask for a bias by its name, or do you hand on whatever is there?",
        edits=(
            (
                "    attn_params, ffn_params = ",
                '    params["attn.b_qkv"], params["ffn.b_1"]\n    attn_params, ffn_params = ',
            ),
        ),
    ),
)

# Who writes two branches may well make a mistake in one of them only. In these the first edit is in that of "pre", the
# second in that of "post".
_IN_BOTH_FORMS = (
    "mask-ignored",
    "one-head",
    "no-first-residual",
    "no-second-residual",
    "second-residual-from-x",
    "first-norm-unused",
    "second-norm-unused",
    "steps-in-parallel",
)
_IN_ONE_FORM = tuple(
    replace(
        mistake,
        name=f"{mistake.name}-with-{form}",
        title=f'with "{form}", {mistake.title}',
        edits=(edit,),
        common=False,
    )
    for mistake in FORWARD
    if mistake.name in _IN_BOTH_FORMS
    for form, edit in zip(("pre", "post"), mistake.edits, strict=True)
)
_ORDER = (
    Mistake(
        "blocks.block",
        "feed-forward-first",
        'with "pre", the feed-forward network comes before the attention',
        "Each position thinks before it has looked around; the attention's output leaves the block unprocessed.",
        "Which of the two steps does the formula of the docstring begin with?",
        edits=(
            (
                (
                    "attn_out, attn_cache = multihead_attention(layernorm(ln1_in, **ln1), attn_params, n_heads, mask)\n"
                    "        after_attention = ln2_in = x + attn_out"
                ),
                "ln2_in = x\n        after_attention = x + ffn(layernorm(x, **ln2), ffn_params, activation)[0]",
            ),
            (
                "ffn_out, ffn_cache = ffn(layernorm(ln2_in, **ln2), ffn_params, activation)",
                (
                    "normed = layernorm(after_attention, **ln1)\n"
                    "        ffn_out, attn_cache = multihead_attention(normed, attn_params, n_heads, mask)\n"
                    "        ffn_cache = None"
                ),
            ),
        ),
    ),
    Mistake(
        "blocks.block",
        "x-added-twice",
        'with "pre", x was added again at the end, although the stream holds it already',
        "After the attention the stream is x and what the attention found. The second step adds to that, and to "
        "nothing else.",
        "How often is x itself in your output, if both steps give 0?",
        edits=(("after_ffn = after_attention + ffn_out", "after_ffn = x + after_attention + ffn_out"),),
    ),
    Mistake(
        "blocks.block",
        "keys-not-normed",
        'with "pre", only the queries were made of the normalized x, keys and values of x itself',
        "Attention is of the normalized stream with itself: one input, no memory.",
        "What is handed to the attention, and how often?",
        edits=(("**ln1), attn_params, n_heads, mask)", "**ln1), attn_params, n_heads, mask, x)"),),
    ),
    Mistake(
        "blocks.block",
        "only-out",
        "only the output was returned, without the cache",
        "The backward pass finds everything in the cache.",
        "How many things does the docstring list under Returns?",
        edits=(("return after_ffn, cache", "return after_ffn"),),
    ),
)

MISTAKES = FORWARD + _IN_ONE_FORM + _ORDER + BACKWARD
