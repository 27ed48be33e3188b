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
mistake("gradient-transposed", _RETURN, "return loss, dW.T.copy()").explain("""
    dW was transposed
    why: dW[i, j] is the gradient with respect to W[i, j].
    ask: Which entry of dW belongs to the score of token 1 after token 0?""")
for name, back in (("columns", ""), ("columns-throughout", ".T.copy()")):
    mistake(name, _LOOK_UP, "logits = W.T[ids]", _RETURN, f"return loss, dW{back}").explain("""
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
for name, change, what in (
    ("not-divided", "* np.size(ids)", "not divided by the number of pairs"),
    ("divided-twice", "/ np.size(ids)", "divided by the number of pairs twice"),
    ("divided-by-v-too", "/ len(W)", "divided by V as well"),
    ("doubled", "* 2", "multiplied by 2"),
    ("halved", "/ 2", "divided by 2"),
    ("divided-by-first-axis", "* np.size(ids) / len(ids)", "divided by the length of the first axis only"),
    ("divided-by-v", "* np.size(ids) / len(W)", "divided by V, not by the number of pairs"),
    ("divided-by-entries", "/ len(W) ** 2", "divided by the number of entries of W as well"),
):
    mistake(f"gradient-{name}", _GRADIENT, f"{_GRADIENT} {change}", common=name == "not-divided").explain(f"""
        the gradient was {what}
        why: The loss is a mean over N pairs, so each pair contributes 1/N of its own gradient.
        ask: For one pair and equal scores of 4 tokens, what are the entries of dW?""")
mistake("gradient-sign", _GRADIENT, _GRADIENT.replace("= ", "= -"), common=True).explain("""
    the gradient has the wrong sign
    why: It is the prediction minus the truth. A step against the wrong sign makes the loss rise.
    ask: Should raising the score of the target raise or lower the loss?""")
mistake("sum-not-mean", _LOSS, _LOSS + " * np.size(ids)", common=True).explain("""
    the losses of the pairs were summed, not averaged
    why: The loss then grows with the size of the batch.
    ask: How does your loss change if every pair is listed twice?""")
mistake(
    "sum-not-mean-throughout",
    _LOSS,
    _LOSS + " * np.size(ids)",
    _GRADIENT,
    _GRADIENT + " * np.size(ids)",
).explain("""
    the losses of the pairs were summed, not averaged, and the gradient fits the sum
    why: Both then grow with the size of the batch, and a larger batch needs a smaller learning rate.
    ask: How does your loss change if every pair is listed twice?""")
for name, change, what in (
    ("sign", "-cross_entropy(logits, targets)", "the minus sign of the loss is missing"),
    ("bits", "cross_entropy(logits, targets) / float(np.log(2.0))", "the logarithm has base 2"),
    (
        "perplexity",
        "float(np.exp(cross_entropy(logits, targets)))",
        "the perplexity was returned, the exponential of the loss",
    ),
    ("divided-by-v", "cross_entropy(logits, targets) / len(W)", "the loss was divided by V as well"),
    (
        "first-axis",
        "cross_entropy(logits, targets) * np.size(ids) / len(ids)",
        "the loss was divided by the length of the first axis only",
    ),
    ("doubled", "2 * cross_entropy(logits, targets)", "the loss was multiplied by 2"),
    ("probability", "float(np.exp(-cross_entropy(logits, targets)))", "a probability was returned as the loss"),
    (
        "error-rate",
        "float((logits.argmax(axis=-1) != targets).mean())",
        "the share of wrong predictions was returned as the loss",
    ),
    (
        "squared-error",
        f"float((({_SOFTMAX} - {_ONE_HOT}) ** 2).sum(axis=-1).mean())",
        "the squared error of the probabilities was returned as the loss",
    ),
):
    mistake(f"loss-{name}", _LOSS, f"loss = {change}").explain(f"""
        {what}
        why: The loss is the mean cross-entropy over all pairs, in nats.
        ask: Which loss should a table of zeros have for 27 tokens?""")
for name, change in (("numpy", "np.float64"), ("array", "np.asarray")):
    mistake(f"loss-as-{name}", _RETURN, f"return {change}(loss), dW", group="not a Python float").explain("""
        the loss is a NumPy number or array, not a Python float
        why: It is printed and saved differently, and arithmetic with it gives NumPy numbers again.
        ask: What is the type of your loss? Which function turns it into a Python number?""")
mistake("softmax-twice", _LOOK_UP, "logits = softmax(W[ids])", common=True).explain("""
    probabilities were used as scores: the softmax was taken twice
    why: Probabilities differ by at most 1, so the loss can never get close to 0.
    ask: What does cross_entropy expect: scores or probabilities?""")
mistake("softmax-twice-in-the-loss", _LOSS, "loss = cross_entropy(softmax(logits), targets)").explain("""
    the softmax was taken twice in the loss
    why: Probabilities differ by at most 1, so the loss can never get close to 0. The gradient does not fit the loss.
    ask: What does cross_entropy expect: scores or probabilities?""")
mistake("no-softmax-in-the-gradient", _GRADIENT, f"dlogits = (logits - {_ONE_HOT}) / np.size(ids)").explain("""
    the scores were used as probabilities in the gradient
    why: The gradient is probabilities minus the one-hot row, and W holds scores.
    ask: What is the sum of each row of your dW, and what should it be?""")
mistake(
    "softmax-over-the-batch", _GRADIENT, f"dlogits = (softmax(logits, axis=0) - {_ONE_HOT}) / np.size(ids)"
).explain("""
    the softmax in the gradient was taken over the first axis, not over the tokens
    why: The V scores of a row compete with each other.
    ask: Which entries of your probabilities sum to 1?""")
mistake(
    "softmax-over-the-table",
    _LOOK_UP,
    "table = np.exp(W - W.max())\n    logits = np.log(table / table.sum())[ids]",
    _LOSS,
    "loss = float(-np.take_along_axis(logits, np.asarray(targets)[..., None], axis=-1).mean())",
    _GRADIENT,
    f"dlogits = (np.exp(logits) - {_ONE_HOT}) / np.size(ids)",
).explain("""
    the softmax was taken over the whole table, not over each row
    why: That is the probability of a pair. The model predicts the next token, given the current one.
    ask: Which entries of your probabilities sum to 1?""")
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
    "all-rows-predicted",
    _ADD,
    f"{_ADD}\n    missing = np.setdiff1d(np.arange(len(W)), ids)\n    dW[missing] = softmax(W)[missing] / np.size(ids)",
).explain("""
    rows of tokens that do not occur have a gradient
    why: Their scores were not looked up, so they have no influence on the loss: their gradient is 0.
    ask: By how much does the loss change if you change a row that is not looked up?""")
mistake(
    "last-axis-position-only",
    _ADD,
    "np.add.at(dW, ids if np.ndim(ids) < 2 else ids[..., -1], dlogits if np.ndim(ids) < 2 else dlogits[..., -1, :])",
).explain("""
    only the last position of each text is in dW
    why: Every pair of the batch contributes to the gradient.
    ask: How many pairs do ids of shape (2, 3) hold?""")
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
mistake("always-float64", _ZEROS, "dW = np.zeros(W.shape)").explain("""
    dW is float64 even when W is float32
    why: np.zeros makes float64 by default. The gradient should have the dtype of W.
    ask: What is the dtype of your dW when W is float32?""")
mistake("always-float32", _ZEROS, "dW = np.zeros(W.shape, np.float32)").explain("""
    dW is float32 even when W is float64
    why: float32 keeps only about seven digits.
    ask: What is the dtype of your dW when W is float64?""")
mistake("gradient-in-the-table", _ZEROS, "dW = W").explain("""
    the gradient was added to W itself
    why: `dW = W` makes no copy: both names stand for the same array. The gradient starts from zeros.
    ask: Which array does your code add the gradient to?""")
mistake("starts-from-a-copy", _ZEROS, "dW = W.copy()").explain("""
    the gradient was added to a copy of W, not to zeros
    why: Rows that were not looked up have the gradient 0.
    ask: What is in dW before the first gradient is added?""")
mistake("step-taken", _RETURN, "W -= dW\n    return loss, dW").explain("""
    W was changed in place
    why: The function computes loss and gradient. The step is made by `sgd_step`, which returns a new array.
    ask: Which of your lines write into an argument?""")
mistake("results-exchanged", _RETURN, "return dW, loss").explain("""
    the results were returned in the wrong order
    why: The loss comes first, then the gradient.
    ask: What does the docstring return first?""")
mistake("gradient-only", _RETURN, "return dW").explain("""
    only the gradient was returned
    why: The function returns two things, (loss, dW).
    ask: How many values does the docstring return?""")
mistake("loss-only", _RETURN, "return loss").explain("""
    only the loss was returned
    why: The function returns two things, (loss, dW).
    ask: How many values does the docstring return?""")
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
mistake(
    "number-in-the-logarithm",
    _LOSS,
    "p = np.take_along_axis(softmax(logits), np.asarray(targets)[..., None], axis=-1)\n"
    "    loss = float(-np.log(p + CONSTANT).mean())",
    constant=1e-9,
).explain("""
    {constant} was added to the probability before the logarithm
    why: The loss is then too small where the model is confidently wrong.
    ask: Which function have you written that computes the loss of scores?""")
mistake("target-0", _GRADIENT, f"dlogits = {_SOFTMAX} * (1 - {_ONE_HOT}) / np.size(ids)").explain("""
    the entry of the target in the gradient is 0 instead of its probability minus 1
    why: The score of the target matters most: raising it lowers the loss.
    ask: What is p − 1 for the target in your code?""")
mistake("target-only", _GRADIENT, f"dlogits = ({_SOFTMAX} - 1) * {_ONE_HOT} / np.size(ids)").explain("""
    in the gradient, only the entries of the targets are there
    why: Raising the score of any other token lowers the probability of the target.
    ask: What is the sum of each row of your dW, and what should it be?""")
