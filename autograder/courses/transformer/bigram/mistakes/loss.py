"""Mistakes in `bigram`: the loss and its gradient."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_LOOK_UP = "logits = W[ids]"
_LOSS = "loss = cross_entropy(logits, targets)"
_GRADIENT = "dlogits = cross_entropy_backward(logits, targets)"
_ZEROS = "dW = np.zeros_like(W)"
_ADD = "np.add.at(dW, ids, dlogits)"
_RETURN = "return loss, dW"
_ONE_HOT = "np.eye(len(W), dtype=W.dtype)[targets]"
_SOFTMAX = "softmax(logits)"

mistake = MISTAKES.for_functions("bigram.bigram_loss")
for name, form in (("assigned", "dW[ids] = dlogits"), ("plus-equals", "dW[ids] += dlogits")):
    mistake(f"last-pair-only-{name}", _ADD, form, common=name == "plus-equals", group="last pair").explain("""
        of several pairs with the same token, only the last one is in dW
        why: `dW[ids] += …` writes each row once, even if it is listed several times. All pairs of a token add to its
             row.
        ask: What is in row 0 of your dW if ids is [0, 0, 0]?""")
mistake("rows-of-the-targets", _ADD, "np.add.at(dW, targets, dlogits)", common=True).explain("""
    the gradients were added to the rows of the targets, not of the current tokens
    why: A row of W was looked up for the current token, so its gradient belongs there.
    ask: Which rows of W does the loss depend on?""")
mistake("columns-throughout", _LOOK_UP, "logits = W.T[ids]", _RETURN, "return loss, dW.T.copy()").explain("""
    columns of the table were used as scores, not rows
    why: Row i holds the scores of the tokens that may come after token i.
    ask: In W[i, j], which of the two is the current token?""")
mistake("exchanged", _LOOK_UP, "ids, targets = targets, ids\n    logits = W[ids]", common=True).explain("""
    the current and the next tokens were swapped
    why: The model would then predict what came before.
    ask: Which of the two arguments says which row to look up?""")
mistake("targets-looked-up", _LOOK_UP, "logits = W[targets]").explain("""
    the rows of the targets were looked up
    why: The model sees the current token, and must not see the next one.
    ask: Which of the two arguments says which row to look up?""")
mistake("predicts-itself", _LOSS, "targets = ids\n    " + _LOSS).explain("""
    the current tokens were used as targets
    why: The loss measures how likely the tokens are that come next.
    ask: Where does your code use the argument targets?""")
mistake("target-not-subtracted", _GRADIENT, f"dlogits = {_SOFTMAX} / np.size(ids)", common=True).explain("""
    the one-hot row of the target was not subtracted in the gradient
    why: The gradient is the prediction minus the truth, and here the truth is missing.
    ask: What is the sum of each row of your dW, and what should it be?""")
mistake("gradient-not-divided", _GRADIENT, f"{_GRADIENT} * np.size(ids)", common=True).explain("""
    the gradient was not divided by the number of pairs
    why: The loss is a mean over all pairs, so each contributes its own gradient divided by their number.
    ask: For one pair and equal scores of 4 tokens, what are the entries of dW?""")
mistake("gradient-sign", _GRADIENT, _GRADIENT.replace("= ", "= -"), common=True).explain("""
    the gradient has the wrong sign
    why: It is the prediction minus the truth. A step against the wrong sign makes the loss rise.
    ask: Should raising the score of the target raise or lower the loss?""")
mistake("sum-not-mean", _LOSS, _LOSS + " * np.size(ids)", common=True).explain("""
    the losses of the pairs were summed, not averaged
    why: The loss then grows with the size of the batch.
    ask: How does your loss change if every pair is listed twice?""")
mistake("loss-first-axis", _LOSS, "loss = cross_entropy(logits, targets) * np.size(ids) / len(ids)").explain("""
    the loss was divided by the length of the first axis only
    why: The loss is the mean cross-entropy over all pairs, in nats.
    ask: Which loss should a table of zeros have for 27 tokens?""")
mistake("softmax-twice", _LOOK_UP, "logits = softmax(W[ids])", common=True).explain("""
    probabilities were used as scores: the softmax was taken twice
    why: Probabilities differ by at most 1, so the loss can never get close to 0.
    ask: What does cross_entropy expect: scores or probabilities?""")
mistake("not-scattered", _RETURN, "return loss, dlogits").explain("""
    the gradient of the looked-up rows was returned, not that of the table
    why: dW has the shape of W. Each row of dlogits has to be added to the row that was looked up.
    ask: What is the shape of your dW, and what is that of W?""")
mistake(
    "mean-of-a-token",
    _ADD,
    _ADD + "\n    dW /= np.maximum(np.bincount(np.ravel(ids), minlength=len(W)), 1)[:, None].astype(W.dtype)",
).explain("""
    the gradients of a token's pairs were averaged, not summed
    why: A row that was looked up five times influences the loss in five places, so five gradients add up.
    ask: What is in row 0 of your dW if ids is [0, 0], compared with [0]?""")
mistake("every-row-alike", _ADD, "dW += dlogits.reshape(-1, len(W)).sum(axis=0)").explain("""
    the sum of all gradients was added to every row
    why: A pair looked up one row only, that of its current token. Rows that were not looked up have the gradient 0.
    ask: Which rows of W does the loss of one pair depend on?""")
mistake(
    "first-axis-only",
    _ADD,
    "np.add.at(dW, ids if np.ndim(ids) < 2 else ids[:1], dlogits if np.ndim(ids) < 2 else dlogits[:1])",
).explain("""
    only the first text of the batch is in dW
    why: Every pair of the batch contributes to the gradient.
    ask: How many pairs do ids of shape (2, 3) hold?""")
mistake(
    "vectors-only", _ADD, "for i, row in zip(ids, dlogits, strict=True):\n        dW[i] += row.reshape(dW[i].shape)"
).explain("""
    ids with more than one axis were not handled
    why: A loop over a batch of texts gets whole texts, not single tokens.
    ask: What is ids[0] if ids has shape (2, 3)?""")
mistake("starts-from-a-copy", _ZEROS, "dW = W.copy()").explain("""
    the gradient was added to a copy of W, not to zeros
    why: Rows that were not looked up have the gradient 0.
    ask: What is in dW before the first gradient is added?""")
mistake("results-exchanged", _RETURN, "return dW, loss").explain("""
    the results were returned in the wrong order
    why: The loss comes first, then the gradient.
    ask: What does `loss, dW = bigram_loss(...)` put into `loss`: a single number or a table?""")
mistake(
    "overflow",
    _LOSS,
    "with np.errstate(all='ignore'):\n        p = np.exp(logits) / np.exp(logits).sum(axis=-1, keepdims=True)\n"
    "        loss = float(-np.log(np.take_along_axis(p, np.asarray(targets)[..., None], axis=-1)).mean())",
    _GRADIENT,
    f"dlogits = (p - {_ONE_HOT}) / np.size(ids)",
).explain("""
    the largest score was not subtracted before the exponential
    why: exp(1000) overflows to infinity. Your functions in `softmax` take care of it.
    ask: Which functions have you written that compute the loss and its gradient safely?""")
mistake(
    "logarithm-of-a-probability",
    _LOSS,
    "p = np.take_along_axis(softmax(logits), np.asarray(targets)[..., None], axis=-1)\n"
    "    with np.errstate(all='ignore'):\n        loss = float(-np.log(p).mean())",
).explain("""
    the loss is the logarithm of a finished softmax
    why: A probability that is rounded to 0 has the logarithm −∞. `cross_entropy` avoids that.
    ask: Which function have you written that computes the loss of scores?""")
