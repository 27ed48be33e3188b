"""Mistakes in `gpt`: the options of a GPT beyond those of GPT-2 (norm, positions, biases, dropout)."""

from autograder.courses.transformer.gpt.mistakes.gradients import PARTS
from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_ATTENTION, _OUTPUT = "config.attention_bias is True", '"attn.b_o": config.attention_bias'
_FFN = '"ffn.b_1": config.ffn_bias, "ffn.b_2": config.ffn_bias'
_W_POS, _LN_F = 'if config.positions == "learned":', 'if config.norm == "pre":'
_EMBED_DROPOUT = "x, embed_mask = dropout(x, config.dropout, rng, training=rng is not None)"
_OPTIONS = "config.norm, config.activation, config.dropout, rng)"

# The untrained parameters.
mistake = MISTAKES.for_functions("gpt.init_gpt")
for name, edits, text in (
    (
        "only-bias-used",
        (_ATTENTION, "config.bias", _OUTPUT, '"attn.b_o": config.bias', _FFN, _FFN.replace("ffn_bias", "bias")),
        "attention_bias and ffn_bias were ignored: config.bias decided about all biases",
    ),
    (
        "attention-bias-ignored",
        (_ATTENTION, "config.bias", _OUTPUT, '"attn.b_o": config.bias'),
        "attention_bias was ignored: config.bias decided about the biases of attention",
    ),
    ("ffn-bias-ignored", (_FFN, _FFN.replace("ffn_bias", "bias")), "ffn_bias was ignored: config.bias decided"),
    (
        "biases-of-parts-exchanged",
        (
            _ATTENTION,
            "config.ffn_bias",
            _OUTPUT,
            '"attn.b_o": config.ffn_bias',
            _FFN,
            _FFN.replace("ffn_", "attention_"),
        ),
        "attention_bias and ffn_bias were swapped",
    ),
    (
        "output-bias-is-true",
        (_ATTENTION, "config.attention_bias"),
        'attention_bias="output" was taken for True: b_qkv exists',
    ),
    (
        "output-bias-is-false",
        (_OUTPUT, '"attn.b_o": config.attention_bias is True'),
        'attention_bias="output" was taken for False: b_o is missing',
    ),
    ("head-bias-always", ("if config.head_bias:", "if True:"), "b_head was created without config.head_bias"),
    ("head-bias-never", ("if config.head_bias:", "if False:"), "b_head is missing with config.head_bias"),
    (
        "head-bias-untied-only",
        ("if config.head_bias:", "if config.head_bias and not config.tied:"),
        "with a tied head, b_head is missing",
    ),
    (
        "head-bias-random",
        ('params["b_head"] = zeros(config.vocab_size)', 'params["b_head"] = normal(config.vocab_size)'),
        "b_head was drawn at random, and did not start at 0",
    ),
    (
        "head-bias-of-width-d",
        ('params["b_head"] = zeros(config.vocab_size)', 'params["b_head"] = zeros(d)'),
        "b_head has D entries, not one for each token",
    ),
    ("W_pos-always", (_W_POS, "if True:"), "W_pos was created for sinusoidal positions, too"),
    ("W_pos-never", (_W_POS, "if False:"), "W_pos is missing for learned positions"),
    (
        "W_pos-sinusoidal",
        (_W_POS, 'params["W_pos"] = sinusoidal_positions(config.block_size, d).astype(np.float32)\n    ' + _W_POS),
        "the sines and cosines were stored as a parameter, W_pos",
    ),
    ("last-norm-always", (_LN_F, "if True:"), "ln_f.gamma and ln_f.beta were created with post-norm, too"),
    (
        "last-norm-with-post-only",
        (_LN_F, 'if config.norm == "post":'),
        "ln_f.gamma and ln_f.beta were created with post-norm, and left out with pre-norm",
    ),
):
    mistake(name, *edits).explain(f"""
        {text}
        why: Each option of the configuration decides which parameters exist.
        ask: Which names does the docstring leave out, and for which option?""")

# The forward pass.
mistake = MISTAKES.for_functions("gpt.gpt")
for name, edits, text, why in (
    (
        "norm-not-passed-on",
        (_OPTIONS, _OPTIONS.replace("config.norm", '"pre"')),
        "with post-norm, the blocks had the pre-norm form",
        "The blocks get config.norm. The mistake stays hidden with pre-norm, the default.",
    ),
    (
        "last-norm-with-post",
        ('if config.norm == "pre":', "if True:"),
        "with post-norm, the code looked for the parameters of a last layer norm, which do not exist",
        "A post-norm block ends with a norm. Only a pre-norm model needs another one.",
    ),
    (
        "last-norm-without-parameters-with-post",
        ("final = x  # (B, T, D)", "d = config.d_model\n    final = layernorm(x, x[0, 0] ** 0, x[0, 0] * 0)"),
        "with post-norm, the output of the last block was normalized once more",
        "A post-norm block ends with a norm. Only a pre-norm model needs another one.",
    ),
    (
        "table-for-sinusoids",
        ("positions = _positions(params, config)", 'positions = params["W_pos"]'),
        "with sinusoidal positions, the code looked for W_pos, which does not exist",
        "Sines and cosines take the place of the table.",
    ),
    (
        "no-sinusoids",
        ("positions = _positions(params, config)", 'positions = params.get("W_pos", _positions(params, config) * 0)'),
        "with sinusoidal positions, no positions were added",
        "Without them, the model has only the causal mask to tell positions apart.",
    ),
    (
        "sinusoids-scaled",
        (
            '["W_tok"], positions)',
            '["W_tok"], positions, 1.0 if config.positions == "learned" else math.sqrt(config.d_model))',
        ),
        "with sinusoidal positions, the token vectors were multiplied by √D",
        "The 2017 transformer does that. This GPT adds tokens and positions as they are.",
    ),
    (
        "sinusoids-float64",
        (
            "positions = _positions(params, config)",
            (
                "positions = _positions(params, config)\n"
                '    if config.positions != "learned":\n        positions = positions.astype(np.float64)'
            ),
        ),
        "with sinusoidal positions, float32 became float64",
        "Sines and cosines are computed in float64. Convert them to the dtype of the parameters.",
    ),
    (
        "sinusoids-halves",
        (
            "positions = _positions(params, config)",
            (
                "positions = _positions(params, config)\n    if config.positions != 'learned':\n"
                "        positions = np.concatenate([positions[:, ::2], positions[:, 1::2]], axis=1)"
            ),
        ),
        "all sines came first and then all cosines",
        "sinusoidal_positions alternates: a sine, its cosine, the next sine.",
    ),
    (
        "head-bias-ignored",
        ("if config.head_bias:", "if False:"),
        "b_head was not added to the scores",
        "With config.head_bias, the head is a linear layer with a bias.",
    ),
    (
        "head-bias-untied-only",
        ("if config.head_bias:", "if config.head_bias and not config.tied:"),
        "with a tied head, b_head was not added to the scores",
        "The tied head shares its matrix with the table. Its bias is its own.",
    ),
    (
        "head-bias-expected",
        ("if config.head_bias:", "if True:"),
        "the code looked for b_head without config.head_bias",
        "Most models have no b_head.",
    ),
    (
        "no-dropout",
        (_EMBED_DROPOUT, "embed_mask = None", _OPTIONS, _OPTIONS.replace("config.dropout, rng", "0.0, None")),
        "nothing was dropped in training",
        "With rng, values are dropped after the embedding and in every block.",
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
        "same-draws-in-every-block",
        (
            _EMBED_DROPOUT,
            f"import copy\n\n    {_EMBED_DROPOUT}\n    rng_after_embedding = rng",
            _OPTIONS,
            _OPTIONS.replace("rng)", "copy.deepcopy(rng_after_embedding))"),
        ),
        "every block got a copy of the generator in the same state",
        "All dropout draws from one generator, one after the other, so every block gets masks of its own.",
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
    (
        "final-dropout-too",
        ("rows = final", "final = dropout(final, config.dropout, rng, training=rng is not None)[0]\n    rows = final"),
        "values were dropped before the head, too",
        "Dropout comes after the embedding and inside the blocks, nowhere else.",
    ),
    (
        "blocks-dropped-twice",
        (
            "        block_caches.append(block_cache)\n",
            (
                "        block_caches.append(block_cache)\n"
                "        x = dropout(x, config.dropout, rng, training=rng is not None)[0]\n"
            ),
        ),
        "the stream went through dropout after every block",
        "A block already drops values of its two branches. The stream keeps its values.",
    ),
    (
        "embedded-before-dropout",
        (
            _EMBED_DROPOUT,
            f"before_dropout = x\n    {_EMBED_DROPOUT}",
            '{"embedded": x}',
            '{"embedded": before_dropout}',
        ),
        "the entry embedded of the cache holds the embedding before dropout",
        "The entry is the residual stream before the first block, which is after dropout.",
    ),
):
    mistake(name, *edits).explain(f"""
        {text}
        why: {why}
        ask: What does the docstring say about this option of the configuration?""")
mistake(
    "final-norm-missing-with-post",
    '"final_norm": final, ',
    '**({"final_norm": final} if config.norm == "pre" else {}), ',
).explain("""
    with post-norm, the cache has no entry final_norm
    why: With post-norm, the last layer norm is that of the last block, and the entry is its output.
    ask: What is the last norm of a post-norm model?""")

# The gradients.
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
    (
        "embedding-mask-missing",
        ('dx = dropout_backward(dx, cache["embed_mask"])', "pass"),
        "the gradient of the embedding did not go through dropout_backward",
        "A dropped value of the embedding had no influence on the loss.",
    ),
    (
        "embedding-mask-for-tokens-only",
        (
            'dx = dropout_backward(dx, cache["embed_mask"])',
            'dtokens = dropout_backward(dx, cache["embed_mask"])',
            "embed_tokens_backward(dx, ids,",
            "embed_tokens_backward(dtokens, ids,",
        ),
        "only the gradient of W_tok went through the dropout of the embedding, not that of W_pos",
        "The sum of both vectors went through dropout.",
    ),
    (
        "embedding-mask-at-the-top",
        (
            'dx = dropout_backward(dx, cache["embed_mask"])',
            "pass",
            "    for i in reversed",
            '    dx = dropout_backward(dx, cache["embed_mask"])\n    for i in reversed',
        ),
        "the mask of the embedding was applied before the backward pass of the blocks",
        "The embedding is the start of the forward pass, so its dropout is the last step back.",
    ),
    (
        "head-bias-missing",
        ("if config.head_bias:", "if False:"),
        "the gradient of b_head is missing",
        "Every parameter has a gradient.",
    ),
    (
        "head-bias-averaged",
        ("np.sum(rows, axis=0)", "np.mean(rows, axis=0)"),
        "the gradient of b_head was averaged over the positions, not summed",
        "The loss is already a mean, so its gradient already contains the division.",
    ),
    (
        "head-bias-not-summed",
        ("np.sum(rows, axis=0)", "dlogits"),
        "the gradient of b_head was not summed over the positions",
        "A gradient has the shape of its parameter, (V,).",
    ),
    (
        "head-bias-one-axis",
        ("np.sum(rows, axis=0)", "dlogits.sum(axis=0)"),
        "the gradient of b_head was summed over the first axis only",
        "A gradient has the shape of its parameter, (V,).",
    ),
    (
        "W_pos-with-sinusoids",
        (
            'if config.positions == "learned":',
            'params = {"W_pos": np.zeros((config.block_size, config.d_model), dx.dtype)} | params\n    if True:',
        ),
        "with sinusoidal positions, grads has an entry W_pos",
        "Sines and cosines are not trained: there is no parameter W_pos, so there is no gradient for it.",
    ),
    (
        "W_pos-expected",
        ('if config.positions == "learned":', "if True:"),
        "with sinusoidal positions, the code looked for W_pos, which does not exist",
        "Sines and cosines are not trained.",
    ),
    (
        "last-norm-with-post",
        ('if config.norm == "pre":', "if True:"),
        "with post-norm, the code looked for the parameters of a last layer norm, which do not exist",
        "A post-norm model has no norm after the last block.",
    ),
):
    mistake(name, *edits).body(PARTS).explain(f"""
        {text}
        why: {why}
        ask: Which steps does the forward pass have with this option, and which names does `params` have?""")
