"""Mistakes in assignment 2: the cross-entropy."""

from autograder.courses.transformer.mistakes._softmax_numbers import BEFORE_LOGARITHM
from autograder.engine.diagnosis.mistake import Mistake

# The small number that keeps the logarithm from 0 differs from program to program; each gives other losses.
_SMALL = ("1e-5", "1e-6", "1e-7", "1e-8", "1e-9", "1e-10", "1e-12", "1e-15")

LOSS = (
    Mistake(
        "softmax.cross_entropy",
        "sum-not-mean",
        "the losses of the rows were added up, not averaged",
        "The loss then grows with the size of the batch, and so do the gradients.",
        "Should the loss of a batch of 100 be a hundred times that of a batch of 1?",
        edits=(("-picked.mean()", "-picked.sum()"),),
        common=True,
    ),
    Mistake(
        "softmax.cross_entropy",
        "sign",
        "the minus sign is missing",
        "Log-probabilities are negative, a loss is positive. Making this one small makes the model worse.",
        "What is the sign of the logarithm of a probability? What should the sign of a loss be?",
        edits=(("float(-", "float("),),
        common=True,
    ),
    Mistake(
        "softmax.cross_entropy",
        "log-of-softmax",
        "the logarithm was taken of a finished softmax",
        "Where the model is confidently wrong, the probability is rounded to 0 and the loss is infinite.",
        "You have written a function that gives log-probabilities without ever making a 0. Where could it be used?",
        edits=(("log_softmax(logits)", "np.log(softmax(logits))"),),
        common=True,
    ),
    Mistake(
        "softmax.cross_entropy",
        "softmax-twice",
        "the softmax was taken twice",
        "The scores became probabilities, and these were treated as scores once more: all classes look nearly the "
        "same.",
        "What does log_softmax expect, scores or probabilities? What do you give it?",
        edits=(("log_softmax(logits)", "log_softmax(softmax(logits))"),),
        common=True,
    ),
    Mistake(
        "softmax.cross_entropy",
        "no-softmax",
        "the scores were used as if they were log-probabilities",
        "Without the softmax the model could make the loss as small as it likes by adding 100 to every score.",
        "What happens to your loss when the same number is added to all scores of a row? What should happen?",
        edits=(("log_softmax(logits)", "np.asarray(logits)"),),
    ),
    Mistake(
        "softmax.cross_entropy",
        "mean-over-classes",
        "the mean was taken over all classes, not only over the rows",
        "With one-hot targets all but one entry of a row are 0, and .mean() counts them: the loss is V times too "
        "small.",
        "How many losses are there to average: as many as there are rows, or as many as there are scores?",
        edits=(("-picked.mean()", "-picked.sum() / logp.size"),),
    ),
    Mistake(
        "softmax.cross_entropy",
        "mean-over-first-axis",
        "the sum was divided by the length of the first axis, not by the number of rows",
        "For a matrix the two are the same; for texts in a batch there is one row for every position of every text.",
        "How many targets are there in a batch of 2 texts with 3 positions each?",
        edits=(("-picked.mean()", "-picked.sum() / len(logp)"),),
    ),
    Mistake(
        "softmax.cross_entropy",
        "log-of-mean",
        "the probabilities were averaged first, and then the logarithm was taken",
        "The logarithm of a mean is not the mean of the logarithms: one row that is quite wrong hardly counts.",
        "In which order do the mean and the logarithm stand in the formula?",
        edits=(("-picked.mean()", "-np.log(np.exp(picked).mean())"),),
    ),
    Mistake(
        "softmax.cross_entropy",
        "bits",
        "the logarithm has base 2",
        "The loss is in bits, where nats were asked for: it is 1/log 2 = 1.44 times too large.",
        "Which logarithm undoes np.exp?",
        edits=(("-picked.mean()", "-picked.mean() / np.log(2.0)"),),
    ),
    Mistake(
        "softmax.cross_entropy",
        "predictions-not-targets",
        "the log-probability of the likeliest class was taken, not that of the target",
        "The loss then says how sure the model is, not whether it is right.",
        "Does your loss change when the targets change?",
        edits=(("np.asarray(targets)[..., None]", "logp.argmax(axis=-1)[..., None]"),),
    ),
    *(
        Mistake(
            "softmax.cross_entropy",
            f"log-of-softmax-plus-{small}",
            "a small number was added to the softmax before the logarithm",
            "The loss is not infinite any more, but where the model is confidently wrong it is far too small.",
            "You have written a function that gives log-probabilities without ever making a 0. Where could it be used?",
            edits=(("log_softmax(logits)", f"np.log(softmax(logits) + {small})"),),
            group=BEFORE_LOGARITHM,
        )
        for small in _SMALL
    ),
    Mistake(
        "softmax.cross_entropy",
        "no-logarithm",
        "the logarithm is missing: minus the mean probability of the targets",
        "The loss of a row is the logarithm of the target's probability, with a minus sign.",
        "What is the loss when the target has probability 1, and what is it when the probability is nearly 0?",
        edits=(("log_softmax(logits)", "softmax(logits)"),),
        common=True,
    ),
    Mistake(
        "softmax.cross_entropy",
        "not-averaged",
        "the losses of all rows were returned, not their mean",
        "A loss is one number: what training makes smaller.",
        "How many numbers should come out, and which operation makes one of many?",
        edits=(("float(-picked.mean())", "-picked[..., 0]"),),
    ),
    Mistake(
        "softmax.cross_entropy",
        "target-columns-of-all-rows",
        "the columns of all targets were taken from every row, not one entry of each row",
        "`logp[:, targets]` means every row, all these columns. Each row has one target of its own.",
        "How many numbers should be averaged for a batch of six rows? How many does your index pick?",
        edits=(("np.take_along_axis(logp, np.asarray(targets)[..., None], axis=-1)", "logp[:, targets]"),),
    ),
    Mistake(
        "softmax.cross_entropy",
        "targets-as-rows",
        "the targets were used as numbers of rows, not of classes",
        "`logp[targets]` picks whole rows. The target says which class of its own row counts.",
        "Which axis do the targets belong to? Which index does the other axis need?",
        edits=(("np.take_along_axis(logp, np.asarray(targets)[..., None], axis=-1)", "logp[targets]"),),
    ),
    Mistake(
        "softmax.cross_entropy",
        "matrices-only",
        "it works for a matrix of scores only, not for a batch of texts",
        "With scores (B, T, V) there are two axes of rows. np.arange(len(targets)) counts only the first of them.",
        "How could (B, T, V) be made into rows (N, V), and the targets with them?",
        edits=(
            (
                "np.take_along_axis(logp, np.asarray(targets)[..., None], axis=-1)",
                "logp[np.arange(len(targets)), targets]",
            ),
        ),
        group="matrices only",
    ),
    Mistake(
        "softmax.cross_entropy",
        "matrices-only-by-loop",
        "it works for a matrix of scores only, not for a batch of texts",
        "With scores (B, T, V) there are two axes of rows; the loop counts only the first of them.",
        "How could (B, T, V) be made into rows (N, V), and the targets with them?",
        body="""
    logp = log_softmax(logits)
    loss = 0.0
    for i in range(len(targets)):
        loss -= logp[i, targets[i]]
    return float(loss / len(targets))
""",
        group="matrices only",
    ),
    *(
        Mistake(
            "softmax.cross_entropy",
            name,
            "it works for a matrix of scores only, not for a batch of texts",
            "With scores (B, T, V) there are two axes of rows; the loop counts only the first of them.",
            "How could (B, T, V) be made into rows (N, V), and the targets with them?",
            body=f"""
    logp = log_softmax(logits)
    return {loss}
""",
            group="matrices only",
        )
        for name, loss in (
            ("matrices-only-by-rows", "float(-np.mean([logp[i][targets[i]] for i in range(len(targets))]))"),
            ("matrices-only-by-sum", "sum(-logp[i][targets[i]] for i in range(len(targets))) / len(targets)"),
        )
    ),
    Mistake(
        "softmax.cross_entropy",
        "targets-without-axis",
        "the targets have one axis fewer than the log-probabilities",
        "np.take_along_axis wants as many axes in the indices as in the array: (..., V) and (..., 1).",
        "What does targets[..., None] do to the shape of the targets?",
        edits=(("np.asarray(targets)[..., None]", "np.asarray(targets)"),),
    ),
)
