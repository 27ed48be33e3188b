"""Mistakes in `generation`: the forms of a GPT that generate_cached has to follow (norm, positions, biases)."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_PRE, _LAST = 'pre = config.norm == "pre"', 'if config.norm == "pre":'
_IF_LEARNED = 'if config.positions == "learned":'
_TYPE = '.astype(params["W_tok"].dtype)'

mistake = MISTAKES.for_functions("generation.generate_cached")
for name, edits, text, why in (
    (
        "always-pre-norm",
        (_PRE, "pre = True", _LAST, "if True:"),
        "with post-norm, the code looked for the parameters of a last layer norm, which do not exist",
        "A post-norm model has other steps: each norm comes after a sum.",
    ),
    (
        "blocks-always-pre-norm",
        (_PRE, "pre = True"),
        "with post-norm, the blocks had the pre-norm form",
        "With post-norm, each norm comes after a sum.",
    ),
    (
        "post-norm-without-norms",
        ("x = x if pre else layernorm(x, **ln1)", "pass", "x = x if pre else layernorm(x, **ln2)", "pass"),
        "with post-norm, no norm was applied",
        "With post-norm, each norm comes after a sum.",
    ),
    (
        "table-for-sinusoids",
        (_IF_LEARNED, "if True:"),
        "with sinusoidal positions, the code looked for W_pos, which does not exist",
        "Sines and cosines take the place of the table.",
    ),
    (
        "no-sinusoids",
        (_TYPE, f"{_TYPE} * 0"),
        "with sinusoidal positions, no positions were added",
        "Sines and cosines take the place of the table.",
    ),
    (
        "head-bias-ignored",
        (', params.get("b_head")', ", None"),
        "b_head was not added to the scores",
        "With config.head_bias, the head is a linear layer with a bias.",
    ),
    (
        "head-bias-expected",
        ('params.get("b_head")', 'params["b_head"]'),
        "the code looked for b_head without config.head_bias",
        "Most models have no b_head.",
    ),
):
    mistake(name, *edits, inside="_next_logits").explain(f"""
        {text}
        why: {why} The tokens must be those of `generate`, which calls `gpt`.
        ask: Which options of the configuration does `gpt` use?""")
