"""Mistakes in `gpt2`: the blocks and the head of `last_logits`."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_LAST = "last = x[..., -1, :]"
_FINAL = '    if pre:\n        last = layernorm(last, **subset(params, "ln_f."))\n'
_RETURN = "return logits,"

mistake = MISTAKES.for_functions("gpt2.last_logits")
mistake("all-positions", _LAST, "last = x").explain("""
    the scores of all positions were returned
    why: Only those of the last position predict the next token. The others cost as much as the last one each.
    ask: Which shape do your scores have, and which one does the docstring give?""")
for name, code, what in (
    ("first-position", "x[..., 0, :]", "the first position"),
    ("mean-of-positions", "x.mean(axis=-2)", "the mean of all new positions"),
):
    mistake(name, _LAST, f"last = {code}").explain(f"""
        the scores are those of {what}
        why: The next token is predicted at the last position.
        ask: Which position predicts the token after the last one?""")
mistake("final-norm-missing", _FINAL, "").explain("""
    the last layer norm is missing
    why: Pre-norm blocks never normalize the residual stream itself. The head needs a norm before it.
    ask: What comes between the last block and the head in gpt?""")
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
mistake(
    "probabilities",
    _RETURN,
    "shifted = logits - logits.max(axis=-1, keepdims=True)\n    exp = np.exp(shifted)\n"
    "    logits = exp / exp.sum(axis=-1, keepdims=True)\n    return logits,",
).explain("""
    probabilities were returned, not scores
    why: The scores go into next_token_probs, which begins with them.
    ask: What does the docstring say about the first value?""")
mistake("same-block-parameters", 'f"blocks.{i}."', '"blocks.0."').explain("""
    every block was computed with the parameters of the first
    why: Each block has its own: `blocks.0.…`, `blocks.1.…`, and so on.
    ask: Which key of params does the second block read?""")
mistake("dropout-scale", "    pre = config", "    x = x * (1 - config.dropout)\n    pre = config").explain("""
    the vectors were scaled by 1 − dropout
    why: The dropout of ffn scales in training, so that nothing has to be done when the model is run.
    ask: Where does your code use config.dropout?""")
