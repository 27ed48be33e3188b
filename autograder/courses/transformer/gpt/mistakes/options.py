"""Mistakes in `gpt`: the options of a GPT beyond those of GPT-2 (norm, positions, biases, dropout)."""

from autograder.courses.transformer.gpt.mistakes.gradients import PARTS
from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_HEAD_BIAS = 'if "b_head" in config.bias:'
_W_POS, _LN_F = 'if config.positions == "learned":', 'if config.norm == "pre":'
_EMBED_DROPOUT = "x, embed_mask = dropout(x, config.dropout, rng, training=rng is not None)"
_OPTIONS = "config.norm, config.activation, config.dropout, rng)"
_UNUSED = {  # questions about parameters that should not exist, or have another shape
    "some-biases-as-all": 'Which biases should each block have with bias="b_o", and which does yours have?',
    "head-bias-always": "Does gpt add b_head for bias=True? Would training ever change a b_head that is not added?",
    "head-bias-of-width-d": "b_head is added to scores of shape (B, T, V). Along which of these axes does it run?",
    "W_pos-always": "Where would gpt read W_pos if its positions are sines and cosines?",
    "last-norm-always": "What does gpt compute between the last block and the head with post-norm?",
}
_TRIED = {  # questions about the forward pass: small experiments
    "no-sinusoids": "In a model with one block, do the scores of the third token change if the first two are swapped?",
    "head-bias-ignored": "By how much should the score of token 1 grow if b_head[1] grows by 5?",
    "no-embedding-dropout": "With dropout 0.5 and rng, about how many entries of x should be 0 before the first block?",
    "no-dropout-in-blocks": "How often should a model with one block draw from rng: once, or three times?",
    "dropout-without-rng": "If you call gpt twice without rng, with dropout 0.5, should the scores be the same?",
    "own-generator": "If you call gpt twice with the same rng, are other values dropped the second time?",
    "dropout-drawn-in-reverse": "Which of the masks is needed first, and which one do you draw first?",
}

# The untrained parameters.
mistake = MISTAKES.for_functions("gpt.init_gpt")
for name, edit, text in (
    (
        "some-biases-as-all",
        ('name.split(".")[1] in config.bias', "bool(config.bias)"),
        "config.bias was taken for yes or no: with some names in it, all biases of the blocks were created",
    ),
    ("head-bias-always", (_HEAD_BIAS, "if True:"), "b_head was created, although it is not in config.bias"),
    (
        "head-bias-of-width-d",
        ('params["b_head"] = zeros(config.vocab_size)', 'params["b_head"] = zeros(d)'),
        "b_head has D entries, not one for each token",
    ),
    ("W_pos-always", (_W_POS, "if True:"), "W_pos was created for sinusoidal positions, too"),
    ("last-norm-always", (_LN_F, "if True:"), "ln_f.gamma and ln_f.beta were created with post-norm, too"),
):
    mistake(name, *edit).explain(f"""
        {text}
        why: Each option of the configuration decides which parameters exist.
        ask: {_UNUSED[name]}""")

# The forward pass.
mistake = MISTAKES.for_functions("gpt.gpt")
for name, edits, text, why in (
    (
        "no-sinusoids",
        ("positions = _positions(params, config)", 'positions = params.get("W_pos", _positions(params, config) * 0)'),
        "with sinusoidal positions, no positions were added",
        "Without them, the model has only the causal mask to tell positions apart.",
    ),
    (
        "head-bias-ignored",
        (_HEAD_BIAS, "if False:"),
        "b_head was not added to the scores",
        "If b_head is in config.bias, the head is a linear layer with a bias.",
    ),
    (
        "no-embedding-dropout",
        (_EMBED_DROPOUT, "embed_mask = None"),
        "nothing was dropped after the embedding",
        "With rng, the embedding goes through dropout before the first block.",
    ),
    (
        "no-dropout-in-blocks",
        (_OPTIONS, _OPTIONS.replace("config.dropout, rng", "0.0, None")),
        "nothing was dropped in the blocks",
        "A block drops values of its two branches only if it gets both.",
    ),
    (
        "dropout-without-rng",
        (_EMBED_DROPOUT, _EMBED_DROPOUT.replace("rng is not None", "True")),
        "values were dropped without rng, too",
        "Without rng, nothing is dropped: after training, the scores must not depend on chance.",
    ),
    (
        "own-generator",
        (_EMBED_DROPOUT, f"rng = None if rng is None else np.random.default_rng(0)\n    {_EMBED_DROPOUT}"),
        "the masks were not drawn from the generator that was passed in",
        "A generator of your own drops the same values in every step.",
    ),
    (
        "dropout-drawn-in-reverse",
        (
            _EMBED_DROPOUT,
            (
                "depth = 2 * config.n_layers + 1\n"
                "    masks = [dropout(x, config.dropout, rng, rng is not None)[1] for _ in range(depth)]\n"
                "    embed_mask = masks.pop()\n    x = x * embed_mask\n"
                "    given = type('Given', (), {'random': lambda self, shape: masks.pop() / masks_max})()\n"
                "    masks_max = 1 / (1 - config.dropout) + 1e-9"
            ),
            _OPTIONS,
            _OPTIONS.replace("rng)", "None if rng is None else given)"),
        ),
        "the masks were drawn before the computation, and used in reverse order",
        "The order of the draws is fixed, so that the same seed drops the same values.",
    ),
):
    mistake(name, *edits).explain(f"""
        {text}
        why: {why}
        ask: {_TRIED[name]}""")

# The gradients.
mistake(
    "no-bias-with-tied-head", 'if "b_head" in config.bias:', 'if "b_head" in config.bias and not config.tied:'
).explain("""
    b_head was added to a head of its own only, not to a tied one
    why: A tied head shares its matrix with the token table. It can have a bias all the same.
    ask: In which of your branches is b_head added, and when is this branch taken?""")

mistake = MISTAKES.for_functions("gpt.gpt_loss")
for name, edits, text, why in (
    (
        "rng-not-passed-on",
        ("gpt(ids, params, config, rng)", "gpt(ids, params, config)"),
        "nothing was dropped in training, although rng was given",
        "Only with rng does gpt drop values.",
    ),
    (
        "dropout-without-rng",
        ("gpt(ids, params, config, rng)", "gpt(ids, params, config, np.random.default_rng(0) if rng is None else rng)"),
        "values were dropped without rng, too",
        "Without rng, nothing is dropped.",
    ),
):
    mistake(name, *edits).body(PARTS).explain(f"""
        {text}
        why: {why}
        ask: Which steps does the forward pass have with this option, and which names does `params` have?""")
