"""Mistakes in assignment 2: softmax and cross-entropy."""

from autograder.mistakes import Mistake
from autograder.mistakes._softmax_backward import BACKWARD

FORWARD = (
    # --- softmax
    Mistake(
        "softmax.softmax",
        "no-maximum",
        "the largest score was not subtracted first",
        "exp(1000) is infinite, and infinity divided by infinity is nan. With small scores nothing shows.",
        "What is the largest number that np.exp can take? Which number may be subtracted from a whole row for free?",
        edits=(("(z - z.max(axis=axis, keepdims=True))", "(z + 0.0)"),),
        common=True,
    ),
    Mistake(
        "softmax.softmax",
        "last-axis-always",
        "the axis argument is ignored: it is always the last axis",
        "Along another axis the numbers no longer add up to 1.",
        "Which of your operations know about `axis`? All of those that look along the row have to.",
        edits=(
            ("z.max(axis=axis", "z.max(axis=-1"),
            ("z.sum(axis=axis", "z.sum(axis=-1"),
        ),
        common=True,
    ),
    Mistake(
        "softmax.softmax",
        "temperature-multiplied",
        "the scores were multiplied by the temperature instead of divided",
        "A low temperature must sharpen the choice; here it flattens it.",
        "What should happen to the differences between scores when the temperature is 0.1?",
        edits=(("/ float(temperature)", "* float(temperature)"),),
        common=True,
    ),
    Mistake(
        "softmax.softmax",
        "temperature-ignored",
        "the temperature is not used",
        "With temperature 1 nothing shows.",
        "Try softmax([1, 2, 3], temperature=0.1) by hand: which entry should be nearly 1?",
        edits=((" / float(temperature)", ""),),
        common=True,
    ),
    Mistake(
        "softmax.softmax",
        "temperature-on-probabilities",
        "the probabilities were divided by the temperature, not the scores",
        "They no longer add up to 1, and the choice is neither sharper nor flatter than before.",
        "Temperature changes how far apart the scores are. At which point of your function are there still scores?",
        edits=(
            (" / float(temperature)", ""),
            ("z /= z.sum(axis=axis, keepdims=True)", "z /= z.sum(axis=axis, keepdims=True) * float(temperature)"),
        ),
    ),
    Mistake(
        "softmax.softmax",
        "sum-over-everything",
        "the sum went over the whole array, not over one row",
        "All rows together add up to 1, when each row should. With a single row nothing shows.",
        "How many sums does a batch of four rows need? What does .sum() without an axis give?",
        edits=(("z.sum(axis=axis, keepdims=True)", "z.sum()"),),
    ),
    Mistake(
        "softmax.softmax",
        "first-axis-always",
        "the axis argument is ignored: it is always the first axis",
        "The entries of a column compete with each other instead of those of a row.",
        "Add up your result along each axis in turn. Along which one is it 1, and along which one should it be?",
        edits=(
            ("z.max(axis=axis", "z.max(axis=0"),
            ("z.sum(axis=axis", "z.sum(axis=0"),
        ),
    ),
    Mistake(
        "softmax.softmax",
        "keepdims-forgotten",
        "keepdims=True is missing from the maximum and the sum",
        "Without it the axis is gone, and NumPy matches the row maxima with the wrong axis: an error for most shapes, "
        "silently wrong numbers for a square matrix.",
        "Print the shape of the scores and the shape of their maximum. How does broadcasting line the two up?",
        edits=(
            ("z.max(axis=axis, keepdims=True)", "z.max(axis=axis)"),
            ("z /= z.sum(axis=axis, keepdims=True)", "z = z / z.sum(axis=axis)"),
        ),
    ),
    Mistake(
        "softmax.softmax",
        "keepdims-forgotten-in-sum",
        "keepdims=True is missing from the sum",
        "Without it the axis is gone, and NumPy divides along the wrong axis: an error for most shapes, silently wrong "
        "numbers for a square matrix.",
        "Print the shape of the exponentials and the shape of their sum. How does broadcasting line the two up?",
        edits=(("z /= z.sum(axis=axis, keepdims=True)", "z = z / z.sum(axis=axis)"),),
    ),
    Mistake(
        "softmax.softmax",
        "not-normalised",
        "the exponentials were not divided by their sum",
        "They are positive and in the right order, but they do not add up to 1.",
        "What has to be true of the sum of a row of probabilities?",
        edits=(("z /= z.sum(axis=axis, keepdims=True)", "pass"),),
    ),
    Mistake(
        "softmax.softmax",
        "small-number-in-sum",
        "a small number was added to the sum",
        "It protects from nothing, because the largest exponential is 1, and it makes every probability a bit too "
        "small.",
        "After the maximum is subtracted, how small can the sum of a row become?",
        edits=(("z.sum(axis=axis, keepdims=True)", "(z.sum(axis=axis, keepdims=True) + 1e-8)"),),
    ),
    Mistake(
        "softmax.softmax",
        "in-place",
        "the scores were changed in place",
        "`x -= …` and `out=x` write into the array of the caller, who still needs the scores.",
        "Which of your lines make a new array, and which write into the one that was handed to you?",
        edits=(
            (
                "z = (z - z.max(axis=axis, keepdims=True)) / float(temperature)",
                "z -= z.max(axis=axis, keepdims=True)\n    z /= float(temperature)",
            ),
        ),
    ),
    Mistake(
        "softmax.softmax",
        "always-float64",
        "everything was converted to float64",
        "float32 should stay float32: half the memory, and twice the speed.",
        "What is the dtype of your result when `x` is float32? Which line made it so?",
        edits=(("z = as_float(x)", "z = np.asarray(x, dtype=np.float64)"),),
    ),
    # --- log_softmax
    Mistake(
        "softmax.log_softmax",
        "log-of-softmax",
        "the softmax was computed first, and then its logarithm taken",
        "A probability that is rounded to 0 has the logarithm -inf, where -1000 was right.",
        "What does log(exp(a) / b) become on paper? Which function has disappeared?",
        edits=(
            (
                "return z - np.log(np.exp(z).sum(axis=axis, keepdims=True))",
                "return np.log(np.exp(z) / np.exp(z).sum(axis=axis, keepdims=True))",
            ),
        ),
        common=True,
    ),
    Mistake(
        "softmax.log_softmax",
        "log-of-softmax-plus-small",
        "a small number was added to the softmax before the logarithm",
        "There is no -inf any more, but very small probabilities all get the same logarithm, and the others are a "
        "little off.",
        "What does log(exp(a) / b) become on paper? Then there is nothing left that could be 0.",
        edits=(
            (
                "return z - np.log(np.exp(z).sum(axis=axis, keepdims=True))",
                "return np.log(np.exp(z) / np.exp(z).sum(axis=axis, keepdims=True) + 1e-9)",
            ),
        ),
    ),
    Mistake(
        "softmax.log_softmax",
        "no-maximum",
        "the largest score was not subtracted first",
        "exp(1000) is infinite, and so is the logarithm of the sum. With small scores nothing shows.",
        "What is the largest number that np.exp can take? Which number may be subtracted from a whole row for free?",
        edits=(("z = z - z.max(axis=axis, keepdims=True)", "z = z + 0.0"),),
        common=True,
    ),
    Mistake(
        "softmax.log_softmax",
        "maximum-not-added-back",
        "the maximum was subtracted inside the exponential only",
        "The logarithm of the sum is then too small by the maximum. Where the maximum is 0, nothing shows.",
        "If every score inside the exponential is m smaller, what is the logarithm of their sum, compared with before?",
        edits=(("return z - np.log", "return as_float(x) - np.log"),),
    ),
    Mistake(
        "softmax.log_softmax",
        "last-axis-always",
        "the axis argument is ignored: it is always the last axis",
        "Along another axis the exponentials of the result no longer add up to 1.",
        "Which of your operations know about `axis`? All of those that look along the row have to.",
        edits=(
            ("z.max(axis=axis", "z.max(axis=-1"),
            (".sum(axis=axis", ".sum(axis=-1"),
        ),
        common=True,
    ),
    Mistake(
        "softmax.log_softmax",
        "logarithm-forgotten",
        "the logarithm of the sum was not taken",
        "The sum itself was subtracted from the scores.",
        "The exponentials of your result should add up to 1. Do they?",
        edits=(("np.log(np.exp(z).sum(axis=axis, keepdims=True))", "np.exp(z).sum(axis=axis, keepdims=True)"),),
    ),
    Mistake(
        "softmax.log_softmax",
        "in-place",
        "the scores were changed in place",
        "`x -= …` writes into the array of the caller, who still needs the scores.",
        "Which of your lines make a new array, and which write into the one that was handed to you?",
        edits=(("z = z - z.max", "z -= z.max"),),
    ),
    # --- cross_entropy
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
        edits=(("float(-picked.mean())", "float(picked.mean())"),),
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
)

MISTAKES = FORWARD + BACKWARD
