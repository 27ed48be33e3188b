"""Mistakes in the dropout of a block, forward and backward."""

from autograder.courses.transformer.common.mistakes.block_forms import InBothForms
from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_DROP = {what: f"apply_dropout({what}_out, dropout, rng, training)" for what in ("attn", "ffn")}
_TRAINING = "    training = rng is not None\n"

mistake = MISTAKES.for_functions("blocks.block")

# Where values are dropped. Both forms have the same line, so each is found by the line before it.
_PRE_READS = {
    "attn": "multihead_attention(layernorm(ln1_in, **ln1), attn_params, n_heads, mask)",
    "ffn": "ffn(layernorm(ln2_in, **ln2), ffn_params, activation)",
}
_POST_READS = {
    "attn": "multihead_attention(x, attn_params, n_heads, mask)",
    "ffn": "ffn(after_attention, ffn_params, activation)",
}


def _lines(form: str, step: str) -> str:
    """Return the line that computes the output of a step, and the line that drops values of it."""
    reads = (_PRE_READS if form == "pre" else _POST_READS)[step]
    return f"{reads}\n        {step}_out, {step}_mask = {_DROP[step]}"


def _dropped(form: str, step: str, new: str) -> tuple[str, str]:
    """Return the edit that replaces the call of dropout after a step; `new` may name the step STEP."""
    lines = _lines(form, step)
    return lines, lines.replace(_DROP[step], new.replace("STEP", step))


in_forms = InBothForms(MISTAKES, "blocks.block")
for steps, which in ((("attn", "ffn"), "the two steps"), (("attn",), "the attention"), (("ffn",), "ffn")):
    ending = "" if len(steps) == 2 else f"-{steps[0]}"
    edits = [
        text for form in ("pre", "post") for step in steps for text in _dropped(form, step, "STEP_out, STEP_out**0")
    ]
    in_forms(f"no-dropout{ending}", *edits, common=True).explain(f"""
        nothing was dropped from the output of {which}
        why: In training, the output of both steps goes through dropout.
        ask: What happens to the output of each of the two steps between the step and the sum?""")
_KEPT = "apply_dropout(STEP_out, 1 - dropout if training and dropout else 0, rng, training)"
edits = [text for form in ("pre", "post") for step in ("attn", "ffn") for text in _dropped(form, step, _KEPT)]
in_forms("kept-with-probability-p", *edits).explain("""
    in the output of the two steps, values were kept with probability p, not dropped
    why: Here, as in PyTorch, p is the probability of dropping a value.
    ask: What happens to the output of each of the two steps between the step and the sum?""")
edits = []
for form, total in (("pre", "after_attention = ln2_in = "), ("post", "ln1_in = ")):
    read, dropped = _dropped(form, "attn", "STEP_out, STEP_out**0")
    new = f"{total}apply_dropout(x + attn_out, dropout, rng, training)[0]"
    edits += [f"{read}\n        {total}x + attn_out", f"{dropped}\n        {new}"]
in_forms("sum-dropped-attn", *edits).explain("""
    the sum after the attention went through dropout, not the output of the attention
    why: The stream keeps its values. Only what a step adds to it is dropped.
    ask: Which values are lost for all later blocks if your dropout drops them?""")
mistake(
    "masks-drawn-in-other-order",
    _TRAINING,
    f"{_TRAINING}    ffn_first = apply_dropout(x, dropout, rng, training)[1]\n",
    *_dropped("pre", "ffn", "ffn_out * ffn_first, ffn_first"),
    *_dropped("post", "ffn", "ffn_out * ffn_first, ffn_first"),
).explain("""
    the mask of ffn was drawn from rng before that of the attention
    why: The order of the draws is fixed, so that the same seed drops the same values.
    ask: For which of the two outputs do you call dropout first?""")
for name, new, title, why in (
    (
        "own-generator",
        "    import numpy as np\n\n    training = rng is not None\n    rng = np.random.default_rng(0)\n",
        "the masks were not drawn from the generator that was passed in",
        "A generator of your own drops the same values in every step.",
    ),
    (
        "always-training",
        "    training = True\n",
        "values were dropped without rng, too",
        "Without rng, nothing is dropped: after training, the output must not depend on chance.",
    ),
    (
        "never-training",
        "    training = False\n",
        "nothing was ever dropped: dropout was called with training=False",
        "In training, rng is given, and the outputs of both steps go through dropout.",
    ),
    (
        "wrong-p-accepted",
        f"    dropout = min(max(dropout, 0.0), 0.9)\n{_TRAINING}",
        "a dropout outside [0, 1) was accepted",
        "With p = 1 the kept values would be divided by 0, and no other p outside [0, 1) is a probability.",
    ),
):
    mistake(name, _TRAINING, new).explain(f"""
        {title}
        why: {why}
        ask: Which x, p, rng and training does each of your calls of `ffn.dropout` get, with rng and without?""")

# The backward pass.
in_forms = InBothForms(MISTAKES, "blocks.block_backward")
_PRE_MASKED = {
    "attn": 'dropout_backward(dstream, cache["attn_mask"])',
    "ffn": 'dropout_backward(dout, cache["ffn_mask"])',
}
_POST_MASKED = {step: f'dropout_backward(dsum, cache["{step}_mask"])' for step in ("attn", "ffn")}
for steps, which in ((("attn", "ffn"), "each step"), (("attn",), "the attention"), (("ffn",), "ffn")):
    ending = "" if len(steps) == 2 else f"-{steps[0]}"
    edits = []
    for masked in (_PRE_MASKED, _POST_MASKED):
        for step in steps:
            edits += [masked[step], masked[step].removeprefix("dropout_backward(").partition(",")[0]]
    in_forms(f"mask-not-applied{ending}", *edits, common=True).explain(f"""
        the gradient of the output of {which} did not go through dropout_backward
        why: A dropped value had no influence on the output, and a kept one was multiplied by 1 / (1 - p).
        ask: Which mask belongs to this step, and where does it come into the backward pass?""")
_FFN_DROPPED = {d: f'dstream = dropout_backward({d}, cache["ffn_mask"]) + dbranch' for d in ("dout", "dsum")}
in_forms(
    "mask-on-stream-ffn",
    *("dstream = dout + dbranch", _FFN_DROPPED["dout"]),
    *("dstream = dsum + dbranch", _FFN_DROPPED["dsum"]),
).explain("""
    the mask of ffn was applied to the gradient of the stream, too
    why: Only the output of ffn went through dropout. What goes past it on the stream was not dropped.
    ask: After dropout_backward, do you still have the gradient of the sum as it was before?""")
