"""Mistakes in `gpt2`: the blocks and the head of `last_logits`."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_LAST = "last = x[..., -1, :]"
_NORMED = "normed = layernorm(x, **ln1) if pre else x"
_HEAD = 'params["W_tok"].T if config.tied else params["W_head"]'
_FINAL = '    if pre:\n        last = layernorm(last, **subset(params, "ln_f."))\n'
_RETURN = "return logits,"
_SPLIT = "for part in np.split(qkv, 3, axis=-1))"

mistake = MISTAKES.for_functions("gpt2.last_logits")
mistake("all-positions", _LAST, "last = x").explain("""
    the scores of all positions were returned
    why: Only those of the last position predict the next token. The others cost as much as the last one each.
    ask: Which shape do your scores have, and which one does the docstring give?""")
for name, code, what in (
    ("first-position", "x[..., 0, :]", "the first position"),
    ("second-last-position", "x[..., -2 if x.shape[-2] > 1 else -1, :]", "the position before the last"),
    ("mean-of-positions", "x.mean(axis=-2)", "the mean of all new positions"),
    ("sum-of-positions", "x.sum(axis=-2)", "the sum of all new positions"),
):
    mistake(name, _LAST, f"last = {code}").explain(f"""
        the scores are those of {what}
        why: The next token is predicted at the last position.
        ask: Which position predicts the token after the last one?""")
mistake("position-axis-kept", _LAST, "last = x[..., -1:, :]").explain("""
    the scores have an axis of length 1 for the last position
    why: x[..., -1:, :] keeps the axis, and x[..., -1, :] does not.
    ask: Which shape do your scores have, and which one does the docstring give?""")
mistake("final-norm-missing", _FINAL, "").explain("""
    the last layer norm is missing
    why: Pre-norm blocks never normalize the residual stream itself. The head needs a norm before it.
    ask: What comes between the last block and the head in gpt?""")
mistake("final-norm-of-a-block", '"ln_f."', '"blocks.0.ln1."').explain("""
    the last layer norm has the parameters of a block
    why: It has its own, ln_f.gamma and ln_f.beta.
    ask: Which parameters does your last layer norm get?""")
mistake(
    "final-norm-after-post-norm",
    '    if pre:\n        last = layernorm(last, **subset(params, "ln_f."))',
    "    last = layernorm(last, **(subset(params, 'ln_f.') or ln2))",
).explain("""
    a layer norm came after the last post-norm block
    why: Each post-norm block ends with one. Only a pre-norm model has a layer norm after the last block.
    ask: Which entries of params begin with "ln_f." if norm is "post"?""")
mistake(
    "final-norm-required",
    '    if pre:\n        last = layernorm(last, **subset(params, "ln_f."))',
    "    last = layernorm(last, params['ln_f.gamma'], params['ln_f.beta'])",
).explain("""
    the last layer norm was computed for post-norm models, too
    why: They have none: each post-norm block ends with a norm.
    ask: Which entries of params begin with "ln_f." if norm is "post"?""")
mistake(
    "always-pre-norm",
    'config.norm == "pre"',
    "True",
    _FINAL,
    "    if 'ln_f.gamma' in params:\n        last = layernorm(last, **subset(params, 'ln_f.'))\n",
).explain("""
    the blocks were always pre-norm
    why: With norm "post", each norm comes after the addition.
    ask: Where does your code use config.norm?""")
mistake("always-tied", _HEAD, 'params["W_tok"].T').explain("""
    the token table was always used as the head
    why: Without config.tied, the head is W_head.
    ask: Where does your code use config.tied?""")
mistake("never-tied", _HEAD, 'params["W_head"]').explain("""
    W_head was used for a tied model, which has none
    why: With config.tied, the head is the transposed token table.
    ask: Which names does init_gpt return for a tied model?""")
mistake("head-transposed", _HEAD, 'params["W_tok"].T if config.tied else params["W_head"].T').explain("""
    W_head was transposed
    why: W_head is (D, V) already. Only the token table, (V, D), has to be transposed.
    ask: Which shape does init_gpt give for W_head?""")
mistake("head-bias-ignored", 'params.get("b_head")', "None").explain("""
    b_head was not added to the scores
    why: With config.head_bias, the head has a bias.
    ask: Which parameters does the head have?""")
mistake("head-bias-required", 'params.get("b_head")', 'params["b_head"]').explain("""
    a model without b_head raised KeyError
    why: GPT-2's head has no bias: only with config.head_bias there is one.
    ask: What does params["b_head"] do if there is none?""")
for name, code, what in (
    ("probabilities", "exp / exp.sum(axis=-1, keepdims=True)", "probabilities were returned, not scores"),
    (
        "log-probabilities",
        "shifted - np.log(exp.sum(axis=-1, keepdims=True))",
        "log-probabilities were returned, not scores",
    ),
    ("greatest-token", "logits.argmax(axis=-1)", "the id of the most likely token was returned, not the scores"),
    ("scores-shifted", "shifted", "the largest score was subtracted from all"),
):
    mistake(
        name,
        _RETURN,
        "shifted = logits - logits.max(axis=-1, keepdims=True)\n    exp = np.exp(shifted)\n"
        f"    logits = {code}\n    return logits,",
    ).explain(f"""
        {what}
        why: The scores go into next_token_probs, which begins with them.
        ask: What does the docstring say about the first value?""")
for name, order in (
    ("queries-and-keys", "(1, 0, 2)"),
    ("keys-and-values", "(0, 2, 1)"),
    ("queries-and-values", "(2, 1, 0)"),
):
    first, second = name.split("-and-")
    mistake(f"{name}-exchanged", _SPLIT, f"for part in [np.split(qkv, 3, axis=-1)[j] for j in {order}])").explain(f"""
        {first} and {second} were swapped
        why: The columns of W_qkv are those of the queries, then of the keys, then of the values.
        ask: Which third of x W_qkv are the {second}?""")
mistake(
    "qkv-split-by-heads",
    _SPLIT,
    "for part in np.split(qkv.reshape(*qkv.shape[:-1], config.n_heads, 3, -1).swapaxes(-2, -3)"
    ".reshape(qkv.shape), 3, axis=-1))",
).explain("""
    the columns of W_qkv were taken as q, k and v of head 0, then those of head 1
    why: All columns of the queries come first, then those of the keys, then those of the values.
    ask: Which columns of x W_qkv are the queries of head 1?""")
mistake(
    "one-head",
    "(split_heads(part, config.n_heads)",
    "(split_heads(part, 1)",
    "cache = _empty_cache(ids.shape[:-1], params, config)",
    "from dataclasses import replace\n\n"
    "        cache = _empty_cache(ids.shape[:-1], params, replace(config, n_heads=1))",
).explain("""
    attention has one head, whatever n_heads is
    why: Each head computes its own weights from its own features.
    ask: Where does your code use config.n_heads?""")
mistake("same-block-parameters", 'f"blocks.{i}."', '"blocks.0."').explain("""
    every block was computed with the parameters of the first
    why: Each block has its own: `blocks.0.…`, `blocks.1.…`, and so on.
    ask: Which key of params does the second block read?""")
mistake(
    "blocks-in-reverse", "for i in range(config.n_layers):", "for i in reversed(range(config.n_layers)):"
).explain("""
    the blocks were computed in reverse order
    why: Block 0 reads the embeddings.
    ask: Which block reads the embeddings in your code?""")
mistake("last-block-missing", "for i in range(config.n_layers):", "for i in range(config.n_layers - 1):").explain("""
    the last block is missing
    why: All n_layers blocks come before the head.
    ask: How many blocks does your loop compute?""")
mistake(
    "norms-exchanged", 'subset(layer, "ln1."), subset(layer, "ln2.")', 'subset(layer, "ln2."), subset(layer, "ln1.")'
).explain("""
    the two norms of a block were swapped
    why: ln1 belongs to attention, and ln2 to the feed-forward network.
    ask: Which norm comes before attention?""")
mistake("first-norm-missing", _NORMED, "normed = x").explain("""
    attention read the residual stream without a norm
    why: In pre-norm blocks, ln1 comes before attention.
    ask: What do you pass to the first linear layer?""")
mistake("second-norm-missing", "normed = layernorm(x, **ln2) if pre else x", "normed = x").explain("""
    the feed-forward network read the residual stream without a norm
    why: In pre-norm blocks, ln2 comes before the feed-forward network.
    ask: What do you pass to ffn?""")
mistake("first-residual-missing", "x = x + linear(merge_heads(heads)", "x = linear(merge_heads(heads)").explain("""
    the output of attention replaced the residual stream
    why: It is added to it.
    ask: What is x after the first step of block?""")
mistake("second-residual-missing", "x = x + ffn(", "x = ffn(").explain("""
    the output of the feed-forward network replaced the residual stream
    why: It is added to it.
    ask: What is x after the second step of block?""")
mistake(
    "output-matrix-missing",
    'linear(merge_heads(heads), layer["attn.W_o"], layer.get("attn.b_o"))',
    "merge_heads(heads)",
).explain("""
    the heads were not multiplied by W_o
    why: W_o mixes the results of the heads before they are added to the residual stream.
    ask: Where does your code use attn.W_o?""")
mistake("heads-joined-wrongly", "merge_heads(heads)", "heads.reshape(x.shape)").explain("""
    the heads were joined by reshape alone, without moving the axes back
    why: The axes are (H, T, K). Before they are joined, the heads must come after the positions.
    ask: Which shape does heads have before you join it?""")
for name, key in (("b_qkv", "attn.b_qkv"), ("b_o", "attn.b_o")):
    mistake(f"{name}-ignored", f'layer.get("{key}")', "None").explain(f"""
        {name} was not added
        why: The linear layers of attention have biases, unless the configuration says otherwise.
        ask: Which parameters of attention does your code read?""")
    mistake(f"{name}-required", f'layer.get("{key}")', f'layer["{key}"]').explain(f"""
        a model without {name} raised KeyError
        why: attention_bias may be False, or "output", which keeps b_o only.
        ask: What does your code do if there is no {key}?""")
mistake("always-gelu", "config.activation)", '"gelu")').explain("""
    the activation was always GELU
    why: config.activation may be "relu".
    ask: Where does your code use config.activation?""")
mistake("sinusoidal-not-handled", 'if config.positions == "learned":', "if True:").explain("""
    W_pos was used for a model without learned positions, which has none
    why: With positions "sinusoidal", the sines and cosines take its place.
    ask: Where does your code use config.positions?""")
mistake("sinusoidal-in-float64", '.astype(params["W_tok"].dtype)', ".astype(np.float64)").explain("""
    the sines and cosines stayed float64, so that float32 parameters give float64 scores
    why: sinusoidal_positions returns float64. Convert it to the dtype of the parameters.
    ask: What is the dtype of sinusoidal_positions(end, D)?""")
mistake(
    "scaled-tokens",
    'embed(ids, params["W_tok"], positions[start:])',
    'embed(ids, params["W_tok"], positions[start:], scale=config.d_model ** 0.5)',
).explain("""
    the token vectors were multiplied by √D
    why: That is done in the 2017 transformer. GPT-2's token vectors are used as they are.
    ask: Which scale do you pass to embed?""")
mistake("dropout-scale", "    pre = config", "    x = x * (1 - config.dropout)\n    pre = config").explain("""
    the vectors were scaled by 1 − dropout
    why: The dropout of ffn scales in training, so that nothing has to be done when the model is run.
    ask: Where does your code use config.dropout?""")
mistake("softmax-without-scale", "attention(q, keys", "attention(q * q.shape[-1] ** 0.5, keys").explain("""
    the scores of attention were not divided by √K
    why: attention divides by it already; here, it was undone.
    ask: What do you pass to attention as q?""")
