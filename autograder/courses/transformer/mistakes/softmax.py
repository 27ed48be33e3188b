"""Mistakes in assignment 2: softmax and cross-entropy."""

from autograder.courses.transformer.mistakes._quotients import quotient
from autograder.courses.transformer.mistakes._softmax_axes import AXES
from autograder.courses.transformer.mistakes._softmax_backward import BACKWARD
from autograder.courses.transformer.mistakes._softmax_loss import LOSS
from autograder.courses.transformer.mistakes._softmax_numbers import BEFORE_LOGARITHM, NUMBERS
from autograder.engine.diagnosis.mistake import Mistake

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
    Mistake(
        "softmax.softmax",
        "largest-magnitude",
        "the largest absolute value was subtracted, not the largest score",
        "In a row of negative scores that makes every exponent smaller still: exp(-2000) is 0, and 0 / 0 is nan.",
        "For the row -1000, -1001, which number makes the largest exponent 0?",
        edits=(("z.max(", "np.abs(z).max("),),
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
        group=BEFORE_LOGARITHM,
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
    Mistake(
        "softmax.log_softmax",
        "divided-by-logarithm",
        "the scores were divided by the logarithm of the sum",
        "The logarithm of a quotient is a difference: log(a / b) = log a - log b.",
        "What does log(exp(a) / b) become on paper?",
        edits=(("return z - np.log", "return z / np.log"),),
    ),
    Mistake(
        "softmax.log_softmax",
        "bits",
        "the logarithm has base 2",
        "The exponentials have base e, and only the natural logarithm undoes them.",
        "Which logarithm undoes np.exp?",
        edits=(("z - np.log(", "z - np.log2("),),
    ),
)

QUOTIENTS = (
    quotient(
        "softmax.softmax_backward",
        "    x = np.log(as_float(probs))",
        "float((softmax(x, axis=axis) * dout).sum())",
        "quotients(x)",
    ),
    quotient(
        "softmax.cross_entropy_backward",
        "    x = as_float(logits).copy()",
        "cross_entropy(x, targets)",
        "quotients(x)",
    ),
)

MISTAKES = FORWARD + AXES + LOSS + NUMBERS + BACKWARD + QUOTIENTS
