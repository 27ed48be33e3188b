"""Mistakes in `softmax`: cross-entropy."""

from itertools import product

from autograder.engine.diagnosis.mistake import Mistakes

MATRICES_ONLY = """
    the function works only for a matrix of scores, not for a batch of texts
    why: Scores of shape (B, T, V) have two axes of rows. np.arange(len(targets)) counts only the first.
    ask: How can you reshape scores of shape (B, T, V) to rows (N, V), and the targets with them?"""

MISTAKES = Mistakes()

BEFORE_LOGARITHM = "small number before the logarithm"
# Programs use different small numbers to avoid the logarithm of 0, and each gives a different loss.
IN_PLACE = "logits = as_float(logits)\n    logits -= logits.max(axis=-1, keepdims=True)\n    logp = log_softmax(logits)"
LIMITS = ("1e-5", "1e-6", "1e-7", "1e-8", "1e-9", "1e-10", "1e-12", "1e-15")

mistake = MISTAKES.for_functions("softmax.cross_entropy")
mistake("sum-not-mean", "-picked.mean()", "-picked.sum()", common=True).explain("""
    the losses of the rows were summed, not averaged
    why: The loss then grows with the size of the batch, and so do the gradients.
    ask: Should the loss of a batch of 100 rows be about a hundred times that of a batch of 1?""")
mistake("sign", "float(-", "float(", common=True).explain("""
    the minus sign is missing
    why: Log-probabilities are never positive, and a loss is never negative. Minimizing this one makes the model worse.
    ask: What is the sign of the logarithm of a probability? What should the sign of a loss be?""")
mistake("log-of-softmax", "log_softmax(logits)", "np.log(softmax(logits))", common=True).explain("""
    the logarithm was taken of a finished softmax
    why: Where the model is confidently wrong, the probability is rounded to 0 and the loss is infinite.
    ask: Which function have you written that computes log-probabilities without rounding them to 0 first?""")
mistake("softmax-twice", "log_softmax(logits)", "log_softmax(softmax(logits))", common=True).explain("""
    the softmax was taken twice
    why: Probabilities were used as scores. They differ by at most 1, so the loss can never get close to 0.
    ask: What does log_softmax expect, scores or probabilities? What do you pass to it?""")
mistake("no-softmax", "log_softmax(logits)", "np.asarray(logits)").explain("""
    the scores were used as if they were log-probabilities
    why: Without the softmax, the model could make the loss as small as it likes by adding 100 to every score.
    ask: What happens to your loss when the same number is added to all scores of a row? What should happen?""")
mistake("mean-over-classes", "-picked.mean()", "-picked.sum() / logp.size").explain("""
    the mean was taken over all classes, not only over the rows
    why: With one-hot targets, all entries of a row but one are 0, and .mean() counts them too: the loss is V times too
         small.
    ask: Over how many losses should the mean be taken: as many as there are rows, or as many as there are scores?""")
mistake("mean-over-first-axis", "-picked.mean()", "-picked.sum() / len(logp)").explain("""
    the sum was divided by the length of the first axis only
    why: The two are equal for a matrix. A batch of texts has one row for every position of every text.
    ask: How many targets are there in a batch of 2 texts with 3 positions each?""")
mistake("log-of-mean", "-picked.mean()", "-np.log(np.exp(picked).mean())").explain("""
    the logarithm was taken of the mean probability, not before the mean
    why: The two differ: here a single row that is very wrong hardly changes the loss.
    ask: In which order do the mean and the logarithm occur in the formula?""")
mistake("bits", "-picked.mean()", "-picked.mean() / np.log(2.0)").explain("""
    the logarithm has base 2
    why: The loss is then in bits instead of nats, and 1/log 2 ≈ 1.44 times too large.
    ask: Which logarithm is the inverse of np.exp?""")
mistake("predictions-not-targets", "np.asarray(targets)[..., None]", "logp.argmax(axis=-1)[..., None]").explain("""
    the most likely class was used, not the target
    why: The loss then measures how confident the model is, not whether it is correct.
    ask: Does your loss change when the targets change?""")
for small in LIMITS:
    mistake(
        f"log-of-softmax-plus-{small}",
        "log_softmax(logits)",
        f"np.log(softmax(logits) + {small})",
        group=BEFORE_LOGARITHM,
    ).explain("""
        a small number was added to the softmax before the logarithm
        why: The loss is never infinite, but where the model is confidently wrong it is far too small.
        ask: Which function have you written that computes log-probabilities without rounding them to 0 first?""")
mistake("no-logarithm", "log_softmax(logits)", "softmax(logits)", common=True).explain("""
    the logarithm was not taken
    why: The loss of a row is minus the logarithm of the target's probability. This loss is minus the probability
         itself.
    ask: What should the loss be when the target has probability 1, and what when its probability is nearly 0?""")
mistake("not-averaged", "float(-picked.mean())", "-picked[..., 0]").explain("""
    the losses of all rows were returned, not their mean
    why: Training minimizes a single number.
    ask: How many numbers should the function return, and which operation reduces many numbers to one?""")
mistake(
    "target-columns-of-all-rows",
    "np.take_along_axis(logp, np.asarray(targets)[..., None], axis=-1)",
    "logp[:, targets]",
).explain("""
    the columns of all targets were taken from every row
    why: `logp[:, targets]` means every row, and all these columns. Only the target of the same row should be used.
    ask: How many entries should be averaged for a batch of six rows? How many does your index select?""")
mistake(
    "targets-as-rows", "np.take_along_axis(logp, np.asarray(targets)[..., None], axis=-1)", "logp[targets]"
).explain("""
    the targets were used as row indices, not as class indices
    why: `logp[targets]` selects whole rows. A target selects one class within its own row.
    ask: Which axis do the targets index? Which index does the other axis need?""")
mistake(
    "matrices-only",
    "np.take_along_axis(logp, np.asarray(targets)[..., None], axis=-1)",
    "logp[np.arange(len(targets)), targets]",
    group="matrices only",
).explain(MATRICES_ONLY)
mistake("matrices-only-by-loop", group="matrices only").body("""
    logp = log_softmax(logits)
    loss = 0.0
    for i in range(len(targets)):
        loss -= logp[i, targets[i]]
    return float(loss / len(targets))
""").explain("""
    the function works only for a matrix of scores, not for a batch of texts
    why: Scores of shape (B, T, V) have two axes of rows. The loop runs over only the first.
    ask: How can you reshape scores of shape (B, T, V) to rows (N, V), and the targets with them?""")
for name, loss in (
    ("matrices-only-by-rows", "float(-np.mean([logp[i][targets[i]] for i in range(len(targets))]))"),
    ("matrices-only-by-sum", "sum(-logp[i][targets[i]] for i in range(len(targets))) / len(targets)"),
):
    mistake(name, group="matrices only").body(f"""
    logp = log_softmax(logits)
    return {loss}
""").explain("""
        the function works only for a matrix of scores, not for a batch of texts
        why: Scores of shape (B, T, V) have two axes of rows. The loop runs over only the first.
        ask: How can you reshape scores of shape (B, T, V) to rows (N, V), and the targets with them?""")
mistake("targets-without-axis", "np.asarray(targets)[..., None]", "np.asarray(targets)").explain("""
    the targets have one axis fewer than the log-probabilities
    why: np.take_along_axis needs indices with as many axes as the array: (..., 1) for (..., V).
    ask: What is the shape of targets[..., None]?""")
for small in LIMITS:
    mistake(
        f"log-of-limited-softmax-{small}",
        "log_softmax(logits)",
        f"np.log(np.maximum(softmax(logits), {small}))",
        group=BEFORE_LOGARITHM,
    ).explain("""
        the softmax was clipped from below before the logarithm
        why: The loss is never infinite, but all probabilities below the limit have the same loss, and their gradient is
             lost.
        ask: Which function have you written that computes log-probabilities without rounding them to 0 first?""")
mistake("perplexity", "float(-picked.mean())", "float(np.exp(-picked.mean()))").explain("""
    the perplexity was returned, the exponential of the loss
    why: The perplexity is the number of equally likely choices that would have the same loss. The function should
         return the loss itself.
    ask: Which step follows the mean in your code? Is it in the formula?""")
for name, result in (("numpy", "-picked.mean()"), ("float64", "np.float64(-picked.mean())")):
    mistake(f"not-a-python-float-{name}", "float(-picked.mean())", result, group="not a Python float").explain("""
        the loss is a NumPy number or array, not a Python float
        why: It is printed and saved differently, and arithmetic with it gives NumPy numbers again.
        ask: What is the type of your result? Which function turns it into a Python number?""")
for which, index in (("first", 0), ("last", -1)):
    mistake(f"only-the-{which}-row", "-picked.mean()", f"-picked.reshape(-1)[{index}]").explain(f"""
        only the loss of the {which} row was returned
        why: The loss is the mean over all rows. The mistake stays hidden with a single row.
        ask: Does your loss change when the target of another row changes?""")
for name, divisor, what in (
    ("tokens", "logp.shape[-2]", "the number of positions of a text"),
    ("classes", "logp.shape[-1]", "the number of classes"),
    ("targets-minus-one", "max(picked.size - 1, 1)", "N - 1"),
):
    mistake(f"divided-by-{name}", "-picked.mean()", f"-picked.sum() / {divisor}").explain(f"""
        the sum was divided by {what}, not by the number of rows
        why: The loss is a mean over all N rows.
        ask: How many targets are there in a batch of 2 texts with 3 positions each?""")
mistake("divided-twice", "-picked.mean()", "-picked.mean() / picked.size").explain("""
    the loss was divided by the number of rows twice
    why: .mean() has divided already.
    ask: Should the loss of a batch of 100 rows be smaller than that of a batch of 1?""")
mistake("one-based-targets", "np.asarray(targets)[..., None]", "np.asarray(targets)[..., None] - 1").explain("""
    the classes were counted from 1
    why: Targets are in [0, V), so that class 0 is the first column. Index -1 is the last one.
    ask: Which column of the scores belongs to class 0?""")
for name, expression, what in (
    ("squared-error", "((np.exp(logp) - onehot) ** 2).sum(axis=-1)", "the squared error of the probabilities"),
    (
        "binary",
        "-(onehot * logp + (1 - onehot) * np.log1p(-np.exp(logp))).sum(axis=-1)",
        "a binary cross-entropy, with a term for every class,",
    ),
    ("entropy", "-(np.exp(logp) * logp).sum(axis=-1)", "the entropy of the predictions"),
):
    mistake(name).body(f"""
    logp = log_softmax(logits)
    onehot = np.eye(logp.shape[-1])[np.asarray(targets)]
    return float(({expression}).mean())
""").explain(f"""
        {what} was returned
        why: The cross-entropy of a row is minus the logarithm of the target's probability, and nothing else.
        ask: Which entries of log_softmax occur in the formula of the loss?""")
mistake("in-place", "logp = log_softmax(logits)", IN_PLACE).explain("""
    the scores were changed in place
    why: `logits -= …` writes into the caller's array, which may be needed for the gradient.
    ask: Which of your lines create a new array, and which write into the argument?""")
mistake(
    "log-of-softmax-plus-number", "log_softmax(logits)", "np.log(softmax(logits) + CONSTANT)", constant=1e-3
).explain("""
    {constant} was added to the softmax before the logarithm
    why: The loss is never infinite, but where the model is confidently wrong it is far too small.
    ask: Which function have you written that computes log-probabilities without rounding them to 0 first?""")
mistake(
    "log-of-softmax-limited-to-number",
    "log_softmax(logits)",
    "np.log(np.maximum(softmax(logits), CONSTANT))",
    constant=1e-3,
).explain("""
    the softmax was clipped to at least {constant} before the logarithm
    why: The loss is never infinite, but all probabilities below the limit have the same loss, and their gradient is
         lost.
    ask: Which function have you written that computes log-probabilities without rounding them to 0 first?""")

# Two mistakes in one number are not searched for: a single number proves too little. These are the likely ones.
_SIGN = ("sign", "float(-", "float(", "the minus sign is missing")
_MEANS = (
    ("sum-not-mean", "picked.mean()", "picked.sum()", "the losses of the rows were summed, not averaged"),
    (
        "mean-over-first-axis",
        "picked.mean()",
        "picked.sum() / len(logp)",
        "the sum was divided by the length of the first axis only",
    ),
    (
        "mean-over-classes",
        "picked.mean()",
        "picked.sum() / logp.size",
        "the mean was taken over all classes, not only over the rows",
    ),
    ("bits", "picked.mean()", "picked.mean() / np.log(2.0)", "the logarithm has base 2"),
)
_LOGITS = (
    ("softmax-twice", "log_softmax(logits)", "log_softmax(softmax(logits))", "the softmax was taken twice"),
    ("no-logarithm", "log_softmax(logits)", "softmax(logits)", "the logarithm was not taken"),
    (
        "no-softmax",
        "log_softmax(logits)",
        "np.asarray(logits)",
        "the scores were used as if they were log-probabilities",
    ),
)
for first, second in (*product((_SIGN,), (*_MEANS, *_LOGITS)), *product(_MEANS, _LOGITS)):
    mistake(f"{first[0]}-and-{second[0]}", *first[1:3], *second[1:3]).explain(f"""
        {first[3]}, and {second[3]}
        why: Both change the loss, and the gradient does not fit it any more.
        ask: In the formula, what comes before the Σ, and what is summed?""")
mistake = MISTAKES.for_functions("softmax.cross_entropy")
_KEPT = "np.asarray(targets)[..., None] != 0"
for name, loss, over in (
    ("left-out", f"-picked[{_KEPT}].sum() / max(1, ({_KEPT}).sum())", "from the mean"),
    ("counted-as-no-loss", f"-picked[{_KEPT}].sum() / picked.size", "from the sum, though they still count as rows"),
):
    mistake(f"padding-{name}", "-picked.mean()", loss).explain(f"""
        rows whose target is 0 were left out {over}, as if 0 were padding
        why: Some libraries have an option for that (`ignore_index`). Here 0 is a class like any other.
        ask: Suppose class 0 is the line break. Does your loss change if a model predicts line breaks badly?""")
