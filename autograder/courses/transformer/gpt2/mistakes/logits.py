"""Mistakes in `gpt2`: the blocks and the head of `last_logits`."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_LAST, _FINAL = "x[..., -1, :]", 'last = layernorm(x[..., -1, :], **subset(params, "ln_f."))'
_RETURN = "return logits,"

mistake = MISTAKES.for_functions("gpt2.last_logits")
mistake("all-positions", _LAST, "x").explain("""
    the scores of all positions were returned
    why: Only those of the last position predict the next token. The others cost as much as the last one each.
    ask: After a prompt of 1000 tokens, how many rows of V scores do you compute, and how many does the caller use?""")
for name, code, what in (
    ("first-position", "x[..., 0, :]", "the first position"),
    ("mean-of-positions", "x.mean(axis=-2)", "the mean of all new positions"),
):
    mistake(name, _LAST, code).explain(f"""
        the scores are those of {what}
        why: The next token is predicted at the last position.
        ask: Which position predicts the token after the last one?""")
mistake("final-norm-missing", _FINAL, "last = x[..., -1, :]").explain("""
    the last layer norm is missing
    why: Pre-norm blocks never normalize the residual stream itself. The head needs a norm before it.
    ask: What comes between the last block and the head in gpt?""")
mistake("always-tied", 'params["W_tok"].T if config.tied else params["W_head"]', 'params["W_tok"].T').explain("""
    the token table was the head, although config.tied is False
    why: A head that is not tied has a matrix of its own, W_head.
    ask: Where does your code use config.tied?""")
mistake(
    "probabilities",
    _RETURN,
    "shifted = logits - logits.max(axis=-1, keepdims=True)\n    exp = np.exp(shifted)\n"
    "    logits = exp / exp.sum(axis=-1, keepdims=True)\n    return logits,",
).explain("""
    probabilities were returned, not scores
    why: The scores go into next_token_probs, which begins with them.
    ask: next_token_probs computes softmax of what you return. What is softmax of the probabilities 1 and 0?""")
mistake("same-block-parameters", 'f"blocks.{i}."', '"blocks.0."').explain("""
    every block was computed with the parameters of the first
    why: Each block has its own: `blocks.0.…`, `blocks.1.…`, and so on.
    ask: Which key of params does the second block read?""")
mistake("second-residual-from-norm", "x = x + ffn(normed,", "x = normed + ffn(normed,").explain("""
    the output of ffn was added to the normalized vectors, not to the residual stream
    why: ffn reads layernorm(x), but its output is added to x itself.
    ask: Under which name is the stream kept while ffn reads its norm?""")
