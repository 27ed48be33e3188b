"""Mistakes in `softmax`: the backward passes."""

from autograder.courses.transformer.common.mistakes.difference_quotients import difference_quotient
from autograder.courses.transformer.softmax.mistakes.loss import IN_PLACE, MATRICES_ONLY
from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

mistake = MISTAKES.for_functions("softmax.softmax_backward")
mistake("no-sum", " - (dout * probs).sum(axis=axis, keepdims=True)", " + 0.0", common=True).explain("""
    the sum over the row is missing
    why: Raising one score lowers all other probabilities of the row. The sum accounts for that.
    ask: Which probabilities change when one score changes: only its own?""")
mistake("diagonal-only", "- (dout * probs).sum(axis=axis, keepdims=True)", "* (1.0 - probs)", common=True).explain("""
    only the diagonal of the Jacobian was used: probs * (1 - probs)
    why: That is the derivative of the sigmoid. In a softmax, every score also changes all other probabilities.
    ask: What is the derivative of one probability with respect to the score of another class? Is it 0?""")
mistake("sum-without-probs", "(dout * probs).sum", "dout.sum").explain("""
    the sum was taken over dout, not over dout times probs
    why: What is subtracted is an average of dout, weighted by the probabilities.
    ask: If all entries of dout are equal, the gradient must be 0, because the probabilities always sum to 1. Is
         yours?""")
mistake("mean-not-sum", "(dout * probs).sum", "(dout * probs).mean").explain("""
    the mean was taken instead of the sum
    why: The probabilities are already the weights of an average. Dividing by V as well makes it too small.
    ask: If all entries of dout are equal, the gradient must be 0, because the probabilities always sum to 1. Is
         yours?""")
mistake("last-axis-always", ".sum(axis=axis, keepdims=True)", ".sum(axis=-1, keepdims=True)", common=True).explain("""
    `axis` was ignored: the last axis was always used
    why: Along another axis, the sum includes entries that did not compete with each other.
    ask: Along which axis was the softmax taken in the forward pass?""")
mistake("sum-over-everything", ".sum(axis=axis, keepdims=True)", ".sum()").explain("""
    the sum was taken over the whole array, not over each row
    why: The rows are independent, so each has its own sum. The mistake stays hidden with a single row.
    ask: How many sums does a batch of four rows need? What does .sum() return without an axis?""")
mistake("keepdims-forgotten", ".sum(axis=axis, keepdims=True)", ".sum(axis=axis)").explain("""
    keepdims=True is missing from the sum
    why: The reduced axis is then gone, and broadcasting matches the sums with the wrong axis. Most shapes give an
         error, but a square matrix silently gives wrong results.
    ask: Print the shape of dout and the shape of the sum. How does broadcasting align the two?""")
mistake("no-factor", "dx *= probs", "pass", common=True).explain("""
    the factor probs outside the parentheses is missing
    why: A score whose probability is nearly 0 should have a gradient of nearly 0.
    ask: On paper, what are the parentheses multiplied by?""")
mistake("plus", "dx = dout - ", "dx = dout + ").explain("""
    the sum was added instead of subtracted
    why: The gradient along a row must sum to 0, because adding a number to all scores changes nothing.
    ask: Sum your gradient along the row. Is it 0?""")
mistake("in-place", "dx = dout - ", "dx = dout\n    dx -= ").explain("""
    dout was changed in place
    why: `dout -= …` writes into the caller's array, which may be needed for another gradient.
    ask: Which of your lines create a new array, and which write into an argument?""")
mistake("first-axis-always", "axis=axis", "axis=0").explain("""
    `axis` was ignored: the first axis was always used
    why: The sum includes entries that did not compete with each other.
    ask: Along which axis was the softmax taken in the forward pass?""")
mistake("second-axis-always", "axis=axis", "axis=1").explain("""
    `axis` was ignored: axis 1 was always used
    why: Axis 1 is the last axis of a matrix, but not of a batch of texts.
    ask: Along which axis was the softmax taken in the forward pass?""")
mistake("sum-not-times-probs", "dout - ", "dout * probs - ", "dx *= probs", "pass").explain("""
    only dout was multiplied by probs, not the sum
    why: probs * dout - sum is not the same as probs * (dout - sum).
    ask: Sum your gradient along the row. Is it 0, as it must be?""")
mistake("softmax-of-probs", "probs = as_float(probs)", "probs = softmax(probs, axis=axis)").explain("""
    the softmax was taken of the probabilities again
    why: `probs` is already the result of softmax.
    ask: What do the entries of `probs` add up to? What is softmax of the probabilities 1 and 0?""")
mistake("one-row-only").body("""
    probs = as_float(probs)
    return (np.diag(probs) - np.outer(probs, probs)) @ as_float(dout)
""").explain("""
    the Jacobian was computed for a single row only
    why: np.diag and np.outer build one matrix from one vector. Many rows would need a matrix each.
    ask: On paper, which number is the same for all entries of a row? Do you need a matrix to compute it?""")
mistake("dout-forgotten", "dout - (dout * probs).sum(axis=axis, keepdims=True)", "1.0 - probs").explain("""
    dout was not used: probs * (1 - probs)
    why: That is the derivative of each probability with respect to its own score. The upstream gradient and the effect
         on the other probabilities are missing.
    ask: Does your gradient change when dout is doubled?""")
difference_quotient(
    mistake, "    x = np.log(as_float(probs))", "float((softmax(x, axis=axis) * dout).sum())", "quotients(x)"
)
mistake("sign", "dx *= probs", "dx *= -probs").explain("""
    the sign is reversed
    why: A step against this gradient increases the loss.
    ask: On paper, which of the two in the parentheses is subtracted?""")
mistake("always-float64", "= as_float(probs)", "= np.asarray(probs, dtype=np.float64)", common=True).explain("""
    the result is float64 even when the inputs are float32
    why: np.eye and np.zeros create float64 arrays unless a dtype is given, and arithmetic with them makes every result
         float64.
    ask: Which of your lines creates an array, and with which dtype?""")
mistake("factor-of-the-sigmoid", "dx *= probs", "dx *= probs * (1 - probs)").explain("""
    the factor outside the parentheses is probs * (1 - probs), not probs
    why: That is the derivative of the sigmoid. The sum in the parentheses already accounts for the other classes.
    ask: On paper, what are the parentheses multiplied by?""")


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
    "rows[...] = -np.eye(rows.shape[-1])[targets.reshape(-1)] / rows",
).explain("""
    the gradient stopped at the probabilities: -1/p at the target
    why: That is the derivative of -log p with respect to p. It still has to be passed back through the softmax, to the
         scores.
    ask: With respect to what should the gradient be? Which step of the forward pass lies between that and the
         probabilities?""")
mistake("softmax-backward-again", "dlogits /=", "dlogits = softmax_backward(dlogits, softmax(logits)) /").explain("""
    the result was passed through softmax_backward again
    why: Probabilities minus targets is already the gradient with respect to the scores, with the softmax included.
    ask: With respect to what is softmax - onehot the gradient? Is any step of the forward pass left?""")
for name, divisor, what in (("all-entries", "dlogits.size", "scores"), ("classes", "dlogits.shape[-1]", "classes")):
    mistake(f"divided-by-{name}", "targets.size", divisor).explain(f"""
        the gradient was divided by the number of {what}, not of rows
        why: The loss is a mean over rows. The number of classes does not matter.
        ask: What does the N in the formula count?""")
mistake("always-float64", "= softmax(logits)", "= softmax(logits).astype(np.float64)", common=True).explain("""
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
).explain(MATRICES_ONLY)
mistake("through-the-probabilities").body("""
    probs = softmax(logits)
    targets = np.asarray(targets)
    onehot = np.eye(probs.shape[-1], dtype=probs.dtype)[targets]
    return softmax_backward(-onehot / probs / targets.size, probs)
""").explain("""
    the gradient was computed by dividing by probabilities that can be 0
    why: On paper, the p of the softmax cancels the 1/p of the logarithm. The formula that remains never divides by p.
    ask: Write -1/p into the formula of softmax_backward: what cancels?""")
mistake("integers-truncated", "    return dlogits", "    return dlogits.astype(np.asarray(logits).dtype)").explain("""
    for integer scores, the gradient was rounded to integers
    why: np.zeros_like(logits) has the dtype of the scores. The gradient of integers is float64.
    ask: What is the dtype of your result when the scores are integers?""")
mistake("only-probabilities-divided", "-= 1.0", "-= float(targets.size)").explain("""
    only the probabilities were divided by N: parentheses are missing
    why: The whole difference is divided: (p - onehot) / N.
    ask: Each row of the gradient must sum to 0. Does yours?""")
mistake(
    "in-place", "dlogits = softmax(logits)", f"{IN_PLACE.replace('logp = log_softmax', 'dlogits = softmax')}"
).explain("""
    the scores were changed in place
    why: `logits -= …` writes into the caller's array.
    ask: Which of your lines create a new array, and which write into the argument?""")
difference_quotient(mistake, "    x = as_float(logits).copy()", "cross_entropy(x, targets)", "quotients(x)")
