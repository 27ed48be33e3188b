"""Mistakes in the dropout of a block, forward and backward."""

from autograder.courses.transformer.common.mistakes.block_forms import InBothForms
from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_DROP = {what: f"apply_dropout({what}_out, dropout, rng, training)" for what in ("attn", "ffn")}
_STEPS = {"attn": "the attention", "ffn": "ffn"}
_PRE_LINES = {"attn": "after_attention = ln2_in = x + attn_out", "ffn": "after_ffn = after_attention + ffn_out"}
_POST_LINES = {"attn": "ln1_in = x + attn_out", "ffn": "ln2_in = after_attention + ffn_out"}
_TRAINING = "    training = rng is not None\n"
_SIGNATURE = "dropout=0.0, rng=None):"

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
    for name, new, title, why in (
        (
            "no-dropout",
            "STEP_out, STEP_out**0",
            f"nothing was dropped from the output of {which}",
            "In training, the output of both steps goes through dropout.",
        ),
        (
            "dropout-not-scaled",
            "[part * (1 - dropout * training) for part in apply_dropout(STEP_out, dropout, rng, training)]",
            f"the kept values of the output of {which} were not divided by 1 - p",
            "Then the output is smaller in training than afterwards. `ffn.dropout` divides.",
        ),
        (
            "kept-with-probability-p",
            "apply_dropout(STEP_out, 1 - dropout if training and dropout else 0, rng, training)",
            f"in the output of {which}, values were kept with probability p, not dropped",
            "Here, as in PyTorch, p is the probability of dropping a value.",
        ),
    ):
        edits = [text for form in ("pre", "post") for step in steps for text in _dropped(form, step, new)]
        in_forms(f"{name}{ending}", *edits, common=name == "no-dropout").explain(f"""
            {title}
            why: {why}
            ask: What happens to the output of each of the two steps between the step and the sum?""")
for steps, which in (
    (("attn", "ffn"), "each sum"),
    (("attn",), "the sum after the attention"),
    (("ffn",), "the sum after ffn"),
):
    edits = []
    for form, sums in (("pre", _PRE_LINES), ("post", _POST_LINES)):
        for step in steps:
            target = sums[step].rpartition(" = ")[0].rpartition(" = ")[2]
            total = sums[step].rpartition(" = ")[2]
            first = "after_attention = " if sums[step].startswith("after_attention =") else ""
            new = f"{first}{target} = apply_dropout({total}, dropout, rng, training)[0]"
            lines = f"{_lines(form, step)}\n        {sums[step]}"
            read = lines.split("\n")[0]
            edits += [lines, f"{read}\n        {step}_mask = {step}_out**0\n        {new}"]
    ending = "" if len(steps) == 2 else f"-{steps[0]}"
    branch = "the outputs of the steps" if len(steps) == 2 else f"the output of {_STEPS[steps[0]]}"
    in_forms(f"sum-dropped{ending}", *edits).explain(f"""
        {which} went through dropout, not {branch}
        why: The stream keeps its values. Only what a step adds to it is dropped.
        ask: Which values are lost for all later blocks if your dropout drops them?""")
in_forms(
    "same-mask-for-ffn",
    *_dropped("pre", "ffn", "ffn_out * attn_mask, attn_mask"),
    *_dropped("post", "ffn", "ffn_out * attn_mask, attn_mask"),
).explain("""
    the output of ffn got the mask of the attention's output
    why: Each output has its own draw from rng.
    ask: How often does your block draw from rng?""")
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
        "dropout-without-rng-refused",
        f'    if dropout > 0 and rng is None:\n        raise ValueError("rng is missing")\n{_TRAINING}',
        "dropout without rng raised an error",
        "Without rng, nothing is dropped: this is how a trained model is used.",
    ),
    (
        "wrong-p-accepted",
        f"    dropout = min(max(dropout, 0.0), 0.9)\n{_TRAINING}",
        "a dropout outside [0, 1) was accepted",
        "With p = 1 the kept values would be divided by 0, and no other p outside [0, 1) is a probability.",
    ),
    (
        "wrong-p-accepted-without-rng",
        f"    dropout = 0.0 if rng is None else dropout\n{_TRAINING}",
        "without rng, a dropout outside [0, 1) was accepted",
        "A wrong p is a wrong p without rng, too: the error should not wait until somebody trains the model.",
    ),
    (
        "input-dropped-too",
        f"{_TRAINING}    x = apply_dropout(x, dropout, rng, training)[0]\n",
        "the input x went through dropout, too",
        "The stream keeps its values. Only what a step adds to it is dropped.",
    ),
    (
        "dropout-float64",
        f"{_TRAINING}    if training and dropout:\n        x = x.astype('float64')\n",
        "with dropout, float32 became float64",
        "The mask has the dtype of the output that it is multiplied with.",
    ),
):
    mistake(name, _TRAINING, new).explain(f"""
        {title}
        why: {why}
        ask: Which x, p, rng and training does each of your calls of `ffn.dropout` get, with rng and without?""")
mistake("dropout-by-default", _SIGNATURE, "dropout=0.1, rng=None):").explain("""
    the default is dropout=0.1, not dropout=0.0
    why: A block without the argument drops nothing.
    ask: Which defaults does the signature in the assignment have, and which does yours have?""")

# The backward pass.
in_forms = InBothForms(MISTAKES, "blocks.block_backward")
_PRE_MASKED = {
    "attn": 'dropout_backward(dstream, cache["attn_mask"])',
    "ffn": 'dropout_backward(dout, cache["ffn_mask"])',
}
_POST_MASKED = {step: f'dropout_backward(dsum, cache["{step}_mask"])' for step in ("attn", "ffn")}
for steps, which in ((("attn", "ffn"), "each step"), (("attn",), "the attention"), (("ffn",), "ffn")):
    ending = "" if len(steps) == 2 else f"-{steps[0]}"
    for name, new, title, why in (
        (
            "mask-not-applied",
            "GRADIENT",
            f"the gradient of the output of {which} did not go through dropout_backward",
            "A dropped value had no influence on the output, and a kept one was multiplied by 1 / (1 - p).",
        ),
        (
            "mask-applied-twice",
            "dropout_backward(MASKED, MASK)",
            f"the gradient of the output of {which} was multiplied by the mask twice",
            "Each value was multiplied by the mask once.",
        ),
        (
            "mask-not-scaled",
            "GRADIENT * (MASK > 0)",
            f"the gradient of the output of {which} was set to 0 where values were dropped, but not divided by 1 - p",
            "A kept value was divided by 1 - p, so its gradient is, too.",
        ),
        (
            "mask-of-other-step",
            "MASKED",
            f"the gradient of the output of {which} got the mask of the other step",
            "Each of the two outputs has its own mask.",
        ),
    ):
        edits = []
        for masked in (_PRE_MASKED, _POST_MASKED):
            for step in steps:
                old = masked[step]
                gradient = old.removeprefix("dropout_backward(").partition(",")[0]
                mask = f'cache["{step}_mask"]'
                changed = new.replace("MASKED", old).replace("MASK", mask).replace("GRADIENT", gradient)
                if name == "mask-of-other-step":
                    old = f'{old}, cache["{step}"]'
                    changed = old.replace(f"{step}_mask", "ffn_mask" if step == "attn" else "attn_mask")
                edits += [old, changed]
        in_forms(f"{name}{ending}", *edits, common=name == "mask-not-applied").explain(f"""
            {title}
            why: {why}
            ask: Which mask belongs to this step, and where does it come into the backward pass?""")
_WHOLE = {
    "pre": {
        "attn": ("dx = dstream + dbranch", 'dx = dropout_backward(dstream, cache["attn_mask"]) + dbranch'),
        "ffn": ("dstream = dout + dbranch", 'dstream = dropout_backward(dout, cache["ffn_mask"]) + dbranch'),
    },
    "post": {
        "attn": ("dx = dsum + dbranch", 'dx = dropout_backward(dsum, cache["attn_mask"]) + dbranch'),
        "ffn": ("dstream = dsum + dbranch", 'dstream = dropout_backward(dsum, cache["ffn_mask"]) + dbranch'),
    },
}
for steps, which in ((("attn", "ffn"), "each step"), (("attn",), "the attention"), (("ffn",), "ffn")):
    ending = "" if len(steps) == 2 else f"-{steps[0]}"
    edits = [text for form in ("pre", "post") for step in steps for text in _WHOLE[form][step]]
    in_forms(f"stream-masked{ending}", *edits).explain(f"""
        the mask of {which} was applied to the gradient of the stream, too
        why: Only the branch went through dropout. What went past it on the stream was not dropped.
        ask: Which of the two terms of the sum went through dropout?""")
