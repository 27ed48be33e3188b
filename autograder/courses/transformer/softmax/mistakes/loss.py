"""Mistakes in `softmax`: cross-entropy."""

from autograder.engine.diagnosis.mistake import Mistakes

MATRICES_ONLY = """
    the function works only for a matrix of scores, not for a batch of texts
    why: Scores of shape (B, T, V) have two axes of rows. np.arange(len(targets)) counts only the first.
    ask: How can you reshape scores of shape (B, T, V) to rows (N, V), and the targets with them?"""

MISTAKES = Mistakes()

IN_PLACE = "logits = as_float(logits)\n    logits -= logits.max(axis=-1, keepdims=True)\n    logp = log_softmax(logits)"
_PICKED = "np.take_along_axis(logp, np.asarray(targets)[..., None], axis=-1)"

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
mistake("no-logarithm", "log_softmax(logits)", "softmax(logits)", common=True).explain("""
    the logarithm was not taken
    why: The loss of a row is minus the logarithm of the target's probability. This loss is minus the probability
         itself.
    ask: What should the loss be when the target has probability 1, and what when its probability is nearly 0?""")
mistake("not-averaged", "float(-picked.mean())", "-picked[..., 0]").explain("""
    the losses of all rows were returned, not their mean
    why: Training minimizes a single number.
    ask: How many numbers should the function return, and which operation reduces many numbers to one?""")
mistake("target-columns-of-all-rows", _PICKED, "logp[:, targets]").explain("""
    the columns of all targets were taken from every row
    why: `logp[:, targets]` means every row, and all these columns. Only the target of the same row should be used.
    ask: How many entries should be averaged for a batch of six rows? How many does your index select?""")
mistake("targets-as-rows", _PICKED, "logp[targets]").explain("""
    the targets were used as row indices, not as class indices
    why: `logp[targets]` selects whole rows. A target selects one class within its own row.
    ask: Which axis do the targets index? Which index does the other axis need?""")
mistake("matrices-only", _PICKED, "logp[np.arange(len(targets)), targets]").explain(MATRICES_ONLY)
mistake("targets-without-axis", "np.asarray(targets)[..., None]", "np.asarray(targets)").explain("""
    the targets have one axis fewer than the log-probabilities
    why: np.take_along_axis needs indices with as many axes as the array: (..., 1) for (..., V).
    ask: What is the shape of targets[..., None]?""")
mistake("perplexity", "float(-picked.mean())", "float(np.exp(-picked.mean()))").explain("""
    the perplexity was returned, the exponential of the loss
    why: The perplexity is the number of equally likely choices that would have the same loss. The function should
         return the loss itself.
    ask: Which step follows the mean in your code? Is it in the formula?""")
for which, index in (("first", 0), ("last", -1)):
    mistake(f"only-the-{which}-row", "-picked.mean()", f"-picked.reshape(-1)[{index}]").explain(f"""
        only the loss of the {which} row was returned
        why: The loss is the mean over all rows. The mistake stays hidden with a single row.
        ask: Does your loss change when the target of another row changes?""")
mistake("in-place", "logp = log_softmax(logits)", IN_PLACE).explain("""
    the scores were changed in place
    why: `logits -= …` writes into the caller's array, which may be needed for the gradient.
    ask: Which of your lines create a new array, and which write into the argument?""")

# Two mistakes in one number are not searched for: a single number proves too little. These are the likely ones.
for name, old, new, title in (
    ("sum-not-mean", "picked.mean()", "picked.sum()", "the losses of the rows were summed, not averaged"),
    ("no-logarithm", "log_softmax(logits)", "softmax(logits)", "the logarithm was not taken"),
):
    mistake(f"sign-and-{name}", "float(-", "float(", old, new).explain(f"""
        the minus sign is missing, and {title}
        why: Both change the loss, and the gradient does not fit it any more.
        ask: In the formula, what comes before the Σ, and what is summed?""")
