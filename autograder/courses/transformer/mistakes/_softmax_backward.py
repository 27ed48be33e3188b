"""Mistakes in the backward passes of assignment 2."""

from autograder.engine.diagnosis.mistake import Mistake

BACKWARD = (
    # --- softmax_backward
    Mistake(
        "softmax.softmax_backward",
        "no-sum",
        "the sum over the row is missing",
        "Raising one score lowers all other probabilities of the row; that is what the sum stands for.",
        "Which probabilities change when one score changes: only its own?",
        edits=((" - np.expand_dims(np.vecdot(dout, probs, axis=axis), axis)", " + 0.0"),),
        common=True,
    ),
    Mistake(
        "softmax.softmax_backward",
        "diagonal-only",
        "only the diagonal of the Jacobian was used: probs * (1 - probs)",
        "That is the derivative of the sigmoid. In a softmax every score also changes all other probabilities.",
        "What is the derivative of probability 1 with respect to score 2? It is not 0.",
        edits=(
            (
                "dx = dout - np.expand_dims(np.vecdot(dout, probs, axis=axis), axis)",
                "dx = dout * (1.0 - probs)",
            ),
        ),
        common=True,
    ),
    Mistake(
        "softmax.softmax_backward",
        "sum-without-probs",
        "the sum went over dout alone, not over dout times probs",
        "The average that is subtracted has to be weighted by the probabilities.",
        "Try a dout that is the same everywhere: the gradient must be 0, because the probabilities always add up to 1.",
        edits=(("np.vecdot(dout, probs, axis=axis)", "dout.sum(axis=axis)"),),
    ),
    Mistake(
        "softmax.softmax_backward",
        "mean-not-sum",
        "the mean was taken where the sum belongs",
        "The probabilities are the weights of the average already; dividing by V once more makes it too small.",
        "Try a dout that is the same everywhere: the gradient must be 0, because the probabilities always add up to 1.",
        edits=(("np.vecdot(dout, probs, axis=axis)", "(dout * probs).mean(axis=axis)"),),
    ),
    Mistake(
        "softmax.softmax_backward",
        "last-axis-always",
        "the axis argument is ignored: it is always the last axis",
        "Along another axis the sum goes over entries that did not compete with each other.",
        "Along which axis did the softmax run that you are going back through?",
        edits=(("np.expand_dims(np.vecdot(dout, probs, axis=axis), axis)", "np.vecdot(dout, probs)[..., None]"),),
        common=True,
    ),
    Mistake(
        "softmax.softmax_backward",
        "sum-over-everything",
        "the sum went over the whole array, not over one row",
        "The rows have nothing to do with each other: each has a sum of its own. With a single row nothing shows.",
        "How many sums does a batch of four rows need? What does .sum() without an axis give?",
        edits=(("np.expand_dims(np.vecdot(dout, probs, axis=axis), axis)", "np.sum(dout * probs)"),),
    ),
    Mistake(
        "softmax.softmax_backward",
        "keepdims-forgotten",
        "keepdims=True is missing from the sum",
        "Without it the axis is gone, and NumPy subtracts along the wrong axis: an error for most shapes, silently "
        "wrong "
        "numbers for a square matrix.",
        "Print the shape of dout and the shape of the sum. How does broadcasting line the two up?",
        edits=(("np.expand_dims(np.vecdot(dout, probs, axis=axis), axis)", "(dout * probs).sum(axis=axis)"),),
    ),
    Mistake(
        "softmax.softmax_backward",
        "no-factor",
        "the last factor, probs, is missing",
        "A score whose probability is nearly 0 should have nearly no gradient.",
        "Which symbol stands in front of the brackets in the formula?",
        edits=(("dx *= probs", "pass"),),
        common=True,
    ),
    Mistake(
        "softmax.softmax_backward",
        "plus",
        "the sum was added instead of subtracted",
        "The gradient along a row must add up to 0, because adding a number to all scores changes nothing.",
        "Add up your gradient along the row. Is it 0?",
        edits=(("dx = dout - ", "dx = dout + "),),
    ),
    Mistake(
        "softmax.softmax_backward",
        "in-place",
        "dout was changed in place",
        "`dout -= …` writes into the array of the caller, who may need it for another gradient.",
        "Which of your lines make a new array, and which write into one that was handed to you?",
        edits=(("dx = dout - ", "dx = dout\n    dx -= "),),
    ),
    Mistake(
        "softmax.softmax_backward",
        "first-axis-always",
        "the axis argument is ignored: it is always the first axis",
        "The sum goes over entries that did not compete with each other.",
        "Along which axis did the softmax run that you are going back through?",
        edits=(("axis=axis), axis)", "axis=0), 0)"),),
    ),
    Mistake(
        "softmax.softmax_backward",
        "second-axis-always",
        "the axis argument is ignored: it is always axis 1",
        "For a matrix that is the last axis; in a batch it is another one.",
        "Along which axis did the softmax run that you are going back through?",
        edits=(("axis=axis), axis)", "axis=1), 1)"),),
    ),
    Mistake(
        "softmax.softmax_backward",
        "sum-not-times-probs",
        "the sum was not multiplied by probs: the factor stands before the brackets",
        "dx = probs * dout - sum is another formula than probs * (dout - sum).",
        "Add up your gradient along the row. Is it 0, as it must be?",
        edits=(
            ("dx = dout - np.expand_dims", "dx = dout * probs - np.expand_dims"),
            ("dx *= probs", "pass"),
        ),
    ),
    Mistake(
        "softmax.softmax_backward",
        "softmax-of-probs",
        "the softmax was taken of the probabilities once more",
        "`probs` is what softmax returned already.",
        "What does the docstring say about `probs`: are they scores or probabilities?",
        edits=(("probs = as_float(probs)", "probs = softmax(probs, axis=axis)"),),
    ),
    Mistake(
        "softmax.softmax_backward",
        "one-row-only",
        "the Jacobian was written out for one row only",
        "np.diag and np.outer make a matrix of one vector. For many rows they would have to make many.",
        "Which number do all entries of a row have in common in the formula? Then no matrix is needed.",
        body="""
    probs = as_float(probs)
    return (np.diag(probs) - np.outer(probs, probs)) @ as_float(dout)
""",
    ),
    Mistake(
        "softmax.softmax_backward",
        "dout-forgotten",
        "dout is not used: probs * (1 - probs)",
        "That is the derivative of one probability with respect to its own score. What arrives from further down is "
        "missing, and so are all other scores.",
        "Does your gradient change when dout is doubled?",
        edits=(("dx = dout - np.expand_dims(np.vecdot(dout, probs, axis=axis), axis)", "dx = 1.0 - probs"),),
    ),
    # --- cross_entropy_backward
    Mistake(
        "softmax.softmax_backward",
        "dout-and-probs-exchanged",
        "dout and probs are exchanged outside the sum",
        "Inside the sum their order does not matter; outside it is probs that stands before the brackets.",
        "Which of the two is multiplied with everything at the end, and which one is the sum subtracted from?",
        edits=(("dx = dout - np", "dx = probs - np"), ("dx *= probs", "dx *= dout")),
    ),
    Mistake(
        "softmax.cross_entropy_backward",
        "not-divided",
        "the gradient was not divided by the number of rows",
        "The loss is a mean over N rows, so each row counts for 1/N.",
        "If one row's loss grows by 1, by how much does the mean grow?",
        edits=(("dlogits /= targets.size", "pass"),),
        common=True,
    ),
    Mistake(
        "softmax.cross_entropy_backward",
        "only-targets-divided",
        "only the one-hot row was divided by the number of rows: brackets are missing",
        "Python divides before it subtracts: p - onehot / N is p - (onehot / N).",
        "Each row of the gradient must add up to 0. Does yours?",
        edits=(("-= 1.0", "-= 1.0 / targets.size"), ("    dlogits /= targets.size\n", "")),
        common=True,
    ),
    Mistake(
        "softmax.cross_entropy_backward",
        "divided-by-first-axis",
        "the gradient was divided by the length of the first axis, not by the number of rows",
        "For a matrix the two are the same; for texts in a batch there is one row for every position of every text.",
        "How many targets are there in a batch of 2 texts with 3 positions each?",
        edits=(("targets.size", "len(targets)"),),
    ),
    Mistake(
        "softmax.cross_entropy_backward",
        "divided-by-all-entries",
        "the gradient was divided by the number of scores, not by the number of rows",
        "The loss is a mean over rows; how many classes there are to choose from plays no part.",
        "What does the N in the formula count?",
        edits=(("targets.size", "dlogits.size"),),
    ),
    Mistake(
        "softmax.cross_entropy_backward",
        "no-target",
        "the one-hot targets were not subtracted",
        "The gradient then pushes down every score, that of the right class too.",
        "Does your gradient change when the targets change?",
        edits=(("rows[np.arange(len(rows)), targets.reshape(-1)] -= 1.0", "pass"),),
    ),
    Mistake(
        "softmax.cross_entropy_backward",
        "sign",
        "the sign is reversed: targets minus probabilities",
        "A step against this gradient makes the loss larger.",
        "When the score of the right class grows, the loss falls. Which sign has the gradient there?",
        edits=(("dlogits /= targets.size", "dlogits /= -targets.size"),),
        common=True,
    ),
    Mistake(
        "softmax.cross_entropy_backward",
        "target-column-in-all-rows",
        "1 was subtracted in the target columns of all rows, not in one place of each row",
        "`dlogits[:, targets]` means every row, all these columns. Each row has one target of its own.",
        "How many entries should change in a batch of six rows? Which index pairs every row with its own column?",
        edits=(("rows[np.arange(len(rows)), targets.reshape(-1)]", "rows[:, targets.reshape(-1)]"),),
    ),
    Mistake(
        "softmax.cross_entropy_backward",
        "log-probabilities",
        "log_softmax was used where softmax belongs",
        "The derivative of the logarithm of the sum is the softmax itself, not its logarithm.",
        "Each row of the gradient must add up to 0. Which quantity, minus a one-hot row, does that?",
        edits=(("softmax(logits)", "log_softmax(logits)"),),
    ),
    Mistake(
        "softmax.cross_entropy_backward",
        "with-respect-to-probabilities",
        "the gradient stops at the probabilities: -1/p at the target",
        "That is the derivative of -log p. From there it still has to go back through the softmax, to the scores.",
        "With respect to what is the gradient asked for? Which step lies between that and the probabilities?",
        edits=(
            (
                "rows[np.arange(len(rows)), targets.reshape(-1)] -= 1.0",
                (
                    "places = np.arange(len(rows)), targets.reshape(-1)\n"
                    "    slopes = -1.0 / rows[places]\n"
                    "    rows[...] = 0.0\n"
                    "    rows[places] = slopes"
                ),
            ),
        ),
    ),
    Mistake(
        "softmax.cross_entropy_backward",
        "softmax-backward-again",
        "the result was sent through softmax_backward once more",
        "probabilities minus targets is the gradient with respect to the scores already: the softmax is included.",
        "With respect to what is softmax - onehot the gradient? Is there a layer left to go through?",
        edits=(("dlogits /= targets.size", "dlogits = softmax_backward(dlogits, softmax(logits)) / targets.size"),),
    ),
    Mistake(
        "softmax.cross_entropy_backward",
        "divided-by-classes",
        "the gradient was divided by the number of classes, not by the number of rows",
        "The loss is a mean over rows; how many classes there are to choose from plays no part.",
        "What does the N in the formula count?",
        edits=(("targets.size", "dlogits.shape[-1]"),),
    ),
    Mistake(
        "softmax.cross_entropy_backward",
        "always-float64",
        "float32 became float64",
        "np.eye and np.zeros make float64 unless they are told otherwise, and float64 spreads.",
        "What is the dtype of your one-hot rows, and of their difference from the softmax?",
        edits=(("dlogits = softmax(logits)", "dlogits = softmax(logits).astype(np.float64)"),),
        common=True,
    ),
    Mistake(
        "softmax.cross_entropy_backward",
        "matrices-only",
        "it works for a matrix of scores only, not for a batch of texts",
        "With scores (B, T, V) there are two axes of rows. np.arange(len(targets)) counts only the first of them.",
        "How could (B, T, V) be made into rows (N, V), and the targets with them?",
        edits=(
            ("rows[np.arange(len(rows)), targets.reshape(-1)]", "dlogits[np.arange(len(targets)), targets]"),
            ("targets.size", "len(targets)"),
        ),
        group="matrices only",
    ),
    Mistake(
        "softmax.cross_entropy_backward",
        "matrices-only-by-loop",
        "it works for a matrix of scores only, not for a batch of texts",
        "With scores (B, T, V) there are two axes of rows; the loop counts only the first of them.",
        "How could (B, T, V) be made into rows (N, V), and the targets with them?",
        body="""
    dlogits = softmax(logits)
    for i in range(len(targets)):
        dlogits[i, targets[i]] -= 1.0
    return dlogits / len(targets)
""",
        group="matrices only",
    ),
    Mistake(
        "softmax.cross_entropy_backward",
        "through-the-probabilities",
        "the way back went through 1/p, and a p that was rounded to 0 makes nan of it",
        "On paper the p of the softmax cancels the 1/p of the logarithm. The formula that is left never divides by p.",
        "Write -1/p and softmax_backward one below the other: what cancels?",
        body="""
    probs = softmax(logits)
    targets = np.asarray(targets)
    onehot = np.eye(probs.shape[-1], dtype=probs.dtype)[targets]
    return softmax_backward(-onehot / probs / targets.size, probs)
""",
    ),
)
