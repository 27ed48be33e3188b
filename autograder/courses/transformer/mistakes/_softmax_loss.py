"""Mistakes in assignment 2: cross-entropy and the backward passes."""

from autograder.courses.transformer.mistakes._difference_quotients import difference_quotient
from autograder.engine.diagnosis.mistake import Mistakes

MATRICES_ONLY = """
    the function works only for a matrix of scores, not for a batch of texts
    why: Scores of shape (B, T, V) have two axes of rows. np.arange(len(targets)) counts only the first.
    ask: How can you reshape scores of shape (B, T, V) to rows (N, V), and the targets with them?"""

MISTAKES = Mistakes()

BEFORE_LOGARITHM = "small number before the logarithm"
# Programs use different small numbers to avoid the logarithm of 0, and each gives a different loss.
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

mistake = MISTAKES.for_functions("softmax.softmax_backward")
mistake("no-sum", " - np.expand_dims(np.vecdot(dout, probs, axis=axis), axis)", " + 0.0", common=True).explain("""
    the sum over the row is missing
    why: Raising one score lowers all other probabilities of the row. The sum accounts for that.
    ask: Which probabilities change when one score changes: only its own?""")
mistake(
    "diagonal-only",
    "dx = dout - np.expand_dims(np.vecdot(dout, probs, axis=axis), axis)",
    "dx = dout * (1.0 - probs)",
    common=True,
).explain("""
    only the diagonal of the Jacobian was used: probs * (1 - probs)
    why: That is the derivative of the sigmoid. In a softmax, every score also changes all other probabilities.
    ask: What is the derivative of one probability with respect to the score of another class? Is it 0?""")
mistake("sum-without-probs", "np.vecdot(dout, probs, axis=axis)", "dout.sum(axis=axis)").explain("""
    the sum was taken over dout, not over dout times probs
    why: What is subtracted is an average of dout, weighted by the probabilities.
    ask: If all entries of dout are equal, the gradient must be 0, because the probabilities always sum to 1. Is
         yours?""")
mistake("mean-not-sum", "np.vecdot(dout, probs, axis=axis)", "(dout * probs).mean(axis=axis)").explain("""
    the mean was taken instead of the sum
    why: The probabilities are already the weights of an average. Dividing by V as well makes it too small.
    ask: If all entries of dout are equal, the gradient must be 0, because the probabilities always sum to 1. Is
         yours?""")
mistake(
    "last-axis-always",
    "np.expand_dims(np.vecdot(dout, probs, axis=axis), axis)",
    "np.vecdot(dout, probs)[..., None]",
    common=True,
).explain("""
    `axis` was ignored: the last axis was always used
    why: Along another axis, the sum includes entries that did not compete with each other.
    ask: Along which axis was the softmax taken in the forward pass?""")
mistake("sum-over-everything", "expand_dims(np.vecdot(dout, probs, axis=axis), axis)", "sum(dout * probs)").explain("""
    the sum was taken over the whole array, not over each row
    why: The rows are independent, so each has its own sum. The mistake stays hidden with a single row.
    ask: How many sums does a batch of four rows need? What does .sum() return without an axis?""")
mistake(
    "keepdims-forgotten", "np.expand_dims(np.vecdot(dout, probs, axis=axis), axis)", "(dout * probs).sum(axis=axis)"
).explain("""
    keepdims=True is missing from the sum
    why: The reduced axis is then gone, and broadcasting matches the sums with the wrong axis. Most shapes give an
         error, but a square matrix silently gives wrong results.
    ask: Print the shape of dout and the shape of the sum. How does broadcasting align the two?""")
mistake("no-factor", "dx *= probs", "pass", common=True).explain("""
    the factor probs outside the parentheses is missing
    why: A score whose probability is nearly 0 should have a gradient of nearly 0.
    ask: In the formula, what are the parentheses multiplied by?""")
mistake("plus", "dx = dout - ", "dx = dout + ").explain("""
    the sum was added instead of subtracted
    why: The gradient along a row must sum to 0, because adding a number to all scores changes nothing.
    ask: Sum your gradient along the row. Is it 0?""")
mistake("in-place", "dx = dout - ", "dx = dout\n    dx -= ").explain("""
    dout was changed in place
    why: `dout -= …` writes into the caller's array, which may be needed for another gradient.
    ask: Which of your lines create a new array, and which write into an argument?""")
mistake("first-axis-always", "axis=axis), axis)", "axis=0), 0)").explain("""
    `axis` was ignored: the first axis was always used
    why: The sum includes entries that did not compete with each other.
    ask: Along which axis was the softmax taken in the forward pass?""")
mistake("second-axis-always", "axis=axis), axis)", "axis=1), 1)").explain("""
    `axis` was ignored: axis 1 was always used
    why: Axis 1 is the last axis of a matrix, but not of a batch of texts.
    ask: Along which axis was the softmax taken in the forward pass?""")
mistake("sum-not-times-probs", "- np.expand_dims", "* probs - np.expand_dims", "dx *= probs", "pass").explain("""
    only dout was multiplied by probs, not the sum
    why: probs * dout - sum is not the same as probs * (dout - sum).
    ask: Sum your gradient along the row. Is it 0, as it must be?""")
mistake("softmax-of-probs", "probs = as_float(probs)", "probs = softmax(probs, axis=axis)").explain("""
    the softmax was taken of the probabilities again
    why: `probs` is already the result of softmax.
    ask: According to the docstring, are the `probs` scores or probabilities?""")
mistake("one-row-only").body("""
    probs = as_float(probs)
    return (np.diag(probs) - np.outer(probs, probs)) @ as_float(dout)
""").explain("""
    the Jacobian was computed for a single row only
    why: np.diag and np.outer build one matrix from one vector. Many rows would need a matrix each.
    ask: In the formula, which number is the same for all entries of a row? Do you need a matrix to compute it?""")
mistake("dout-forgotten", "dout - np.expand_dims(np.vecdot(dout, probs, axis=axis), axis)", "1.0 - probs").explain("""
    dout was not used: probs * (1 - probs)
    why: That is the derivative of each probability with respect to its own score. The upstream gradient and the effect
         on the other probabilities are missing.
    ask: Does your gradient change when dout is doubled?""")
mistake("dout-and-probs-exchanged", "dx = dout - np", "dx = probs - np", "dx *= probs", "dx *= dout").explain("""
    dout and probs were swapped outside the sum
    why: Inside the sum their order does not matter. Outside it, probs is the factor before the parentheses.
    ask: In the formula, from which of the two is the sum subtracted, and which one multiplies the difference?""")
difference_quotient(
    mistake, "    x = np.log(as_float(probs))", "float((softmax(x, axis=axis) * dout).sum())", "quotients(x)"
)

mistake = MISTAKES.for_functions("softmax.cross_entropy_backward")
mistake("not-divided", "dlogits /= targets.size", "pass", common=True).explain("""
    the gradient was not divided by the number of rows
    why: The loss is a mean over N rows, so each row contributes 1/N of its own gradient.
    ask: If the loss of one row grows by 1, by how much does the mean grow?""")
mistake(
    "only-targets-divided", "-= 1.0", "-= 1.0 / targets.size", "    dlogits /= targets.size\n", "", common=True
).explain("""
    only the one-hot row was divided by N: parentheses are missing
    why: Division comes before subtraction: p - onehot / N means p - (onehot / N).
    ask: Each row of the gradient must sum to 0. Does yours?""")
mistake("divided-by-first-axis", "targets.size", "len(targets)").explain("""
    the gradient was divided by the length of the first axis only
    why: The two are equal for a matrix. A batch of texts has one row for every position of every text.
    ask: How many targets are there in a batch of 2 texts with 3 positions each?""")
mistake("divided-by-all-entries", "targets.size", "dlogits.size").explain("""
    the gradient was divided by the number of scores, not of rows
    why: The loss is a mean over rows. The number of classes does not matter.
    ask: What does the N in the formula count?""")
mistake("no-target", "rows[np.arange(len(rows)), targets.reshape(-1)] -= 1.0", "pass").explain("""
    the one-hot targets were not subtracted
    why: A training step then lowers every score, including that of the correct class.
    ask: Does your gradient change when the targets change?""")
mistake("sign", "dlogits /= targets.size", "dlogits /= -targets.size", common=True).explain("""
    the sign is reversed: targets minus probabilities
    why: A step against this gradient increases the loss.
    ask: The loss falls when the score of the correct class rises. Which sign should its gradient have?""")
mistake("target-column-in-all-rows", "np.arange(len(rows)), targets.reshape(-1)", ":, targets.reshape(-1)").explain("""
    1 was subtracted in the columns of all targets, in every row
    why: `dlogits[:, targets]` means every row, and all these columns. Only the target of the same row should change.
    ask: How many entries should change in a batch of six rows? Which index pairs every row with its own column?""")
mistake("log-probabilities", "softmax(logits)", "log_softmax(logits)").explain("""
    log_softmax was used instead of softmax
    why: The derivative of the logarithm of the sum is the softmax itself, not its logarithm.
    ask: Each row of the gradient must sum to 0. Which quantity, minus a one-hot row, has that property?""")
mistake(
    "with-respect-to-probabilities",
    "rows[np.arange(len(rows)), targets.reshape(-1)] -= 1.0",
    "places = np.arange(len(rows)), targets.reshape(-1)\n"
    "    slopes = -1.0 / rows[places]\n"
    "    rows[...] = 0.0\n"
    "    rows[places] = slopes",
).explain("""
    the gradient stops at the probabilities: -1/p at the target
    why: That is the derivative of -log p with respect to p. It still has to be passed back through the softmax, to the
         scores.
    ask: With respect to what should the gradient be? Which step of the forward pass lies between that and the
         probabilities?""")
mistake("softmax-backward-again", "dlogits /=", "dlogits = softmax_backward(dlogits, softmax(logits)) /").explain("""
    the result was passed through softmax_backward again
    why: Probabilities minus targets is already the gradient with respect to the scores, with the softmax included.
    ask: With respect to what is softmax - onehot the gradient? Is any step of the forward pass left?""")
mistake("divided-by-classes", "targets.size", "dlogits.shape[-1]").explain("""
    the gradient was divided by the number of classes, not of rows
    why: The loss is a mean over rows. The number of classes does not matter.
    ask: What does the N in the formula count?""")
mistake(
    "always-float64", "dlogits = softmax(logits)", "dlogits = softmax(logits).astype(np.float64)", common=True
).explain("""
    the result is float64 even when the scores are float32
    why: np.eye and np.zeros create float64 arrays unless a dtype is given, and arithmetic with them makes every result
         float64.
    ask: What is the dtype of your one-hot rows, and of their difference from the softmax?""")
mistake(
    "matrices-only",
    "rows[np.arange(len(rows)), targets.reshape(-1)]",
    "dlogits[np.arange(len(targets)), targets]",
    "targets.size",
    "len(targets)",
    group="matrices only",
).explain(MATRICES_ONLY)
mistake("matrices-only-by-loop", group="matrices only").body("""
    dlogits = softmax(logits)
    for i in range(len(targets)):
        dlogits[i, targets[i]] -= 1.0
    return dlogits / len(targets)
""").explain("""
    the function works only for a matrix of scores, not for a batch of texts
    why: Scores of shape (B, T, V) have two axes of rows. The loop runs over only the first.
    ask: How can you reshape scores of shape (B, T, V) to rows (N, V), and the targets with them?""")
mistake("through-the-probabilities").body("""
    probs = softmax(logits)
    targets = np.asarray(targets)
    onehot = np.eye(probs.shape[-1], dtype=probs.dtype)[targets]
    return softmax_backward(-onehot / probs / targets.size, probs)
""").explain("""
    the gradient was computed by dividing by probabilities that can be 0
    why: On paper, the p of the softmax cancels the 1/p of the logarithm. The formula that remains never divides by p.
    ask: Write -1/p into the formula of softmax_backward: what cancels?""")
difference_quotient(mistake, "    x = as_float(logits).copy()", "cross_entropy(x, targets)", "quotients(x)")
