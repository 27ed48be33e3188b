"""Mistakes in assignment 2 about stability: small numbers, limits, what is subtracted before exp."""

from autograder.engine.diagnosis.mistake import Mistake

BEFORE_LOGARITHM = "small number before the logarithm"
_IN_SUM = ("1e-4", "1e-5", "1e-6", "1e-7")
_ADDED = ("1e-6", "1e-7", "1e-8", "1e-9", "1e-10")
_BEFORE_LOG = ("1e-5", "1e-6", "1e-7", "1e-8", "1e-10", "1e-12", "1e-15")
_LIMITS = ("1e-5", "1e-6", "1e-7", "1e-8", "1e-9", "1e-10", "1e-12", "1e-15")

_NOTHING_TO_PROTECT = (
    "It protects from nothing, because the largest exponential is 1 once the maximum is subtracted, and it changes "
    "every answer a little."
)
_LIMIT = (
    "There is no -inf any more, but all probabilities below the limit have the same logarithm: how wrong a confident "
    "answer is cannot be seen, and its gradient is lost."
)
_ON_PAPER = "What does log(exp(a) / b) become on paper? Then there is nothing left that could be 0."
_WRONG_SHIFT = "With moderate scores nothing shows. exp overflows as soon as a score is 710 above what was subtracted."

NUMBERS = (
    # --- softmax
    *(
        Mistake(
            "softmax.softmax",
            f"small-number-in-sum-{small}",
            "a small number was added to the sum",
            _NOTHING_TO_PROTECT,
            "After the maximum is subtracted, how small can the sum of a row become?",
            edits=(("z.sum(axis=axis, keepdims=True)", f"(z.sum(axis=axis, keepdims=True) + {small})"),),
        )
        for small in _IN_SUM
    ),
    *(
        Mistake(
            "softmax.softmax",
            f"small-number-added-{small}",
            "a small number was added to the probabilities",
            "A row then adds up to more than 1, and what is impossible becomes possible.",
            "What do the probabilities of a row add up to? What should -inf get?",
            edits=(("    return z\n", f"    return z + {small}\n"),),
        )
        for small in _ADDED
    ),
    Mistake(
        "softmax.softmax",
        "minimum-subtracted",
        "the smallest score was subtracted, not the largest",
        _WRONG_SHIFT,
        "Which number must become 0, so that no other is above it?",
        edits=(("z.max(axis=axis", "z.min(axis=axis"),),
    ),
    Mistake(
        "softmax.softmax",
        "mean-subtracted",
        "the mean of the scores was subtracted, not the largest",
        _WRONG_SHIFT,
        "Which number must become 0, so that no other is above it?",
        edits=(("z.max(axis=axis", "z.mean(axis=axis"),),
    ),
    Mistake(
        "softmax.softmax",
        "maximum-not-divided",
        "the scores were divided by the temperature, and the largest one that is subtracted was not",
        "With small scores, or with temperature 1, nothing shows. With scores of 1000 the exponentials overflow below "
        "temperature 1, and are all 0 above it.",
        "For the scores 1000 and 999 and temperature 0.5: what is handed to exp?",
        edits=(
            (
                "z = (z - z.max(axis=axis, keepdims=True)) / float(temperature)",
                "z = z / float(temperature) - z.max(axis=axis, keepdims=True)",
            ),
        ),
    ),
    # --- log_softmax
    *(
        Mistake(
            "softmax.log_softmax",
            f"log-of-softmax-plus-{small}",
            "a small number was added to the softmax before the logarithm",
            "There is no -inf any more, but very small probabilities all get the same logarithm, and the others are a "
            "little off.",
            _ON_PAPER,
            edits=(
                (
                    "return z - np.log(np.exp(z).sum(axis=axis, keepdims=True))",
                    f"return np.log(np.exp(z) / np.exp(z).sum(axis=axis, keepdims=True) + {small})",
                ),
            ),
            group=BEFORE_LOGARITHM,
        )
        for small in _BEFORE_LOG
    ),
    *(
        Mistake(
            "softmax.log_softmax",
            f"log-of-limited-softmax-{small}",
            "the softmax was kept above a small number before the logarithm",
            _LIMIT,
            _ON_PAPER,
            edits=(
                (
                    "return z - np.log(np.exp(z).sum(axis=axis, keepdims=True))",
                    f"return np.log(np.maximum(np.exp(z) / np.exp(z).sum(axis=axis, keepdims=True), {small}))",
                ),
            ),
            group=BEFORE_LOGARITHM,
        )
        for small in _LIMITS
    ),
    *(
        Mistake(
            "softmax.log_softmax",
            f"small-number-in-sum-{small}",
            "a small number was added to the sum",
            _NOTHING_TO_PROTECT,
            "After the maximum is subtracted, how small can the sum of a row become?",
            edits=(
                (
                    "np.log(np.exp(z).sum(axis=axis, keepdims=True))",
                    f"np.log(np.exp(z).sum(axis=axis, keepdims=True) + {small})",
                ),
            ),
        )
        for small in ("1e-9", "1e-8", *_IN_SUM)
    ),
    Mistake(
        "softmax.log_softmax",
        "maximum-subtracted-twice",
        "the largest score was subtracted twice",
        "The logarithm of the sum of what was already lowered by the maximum needs no correction; or the maximum is "
        "added to it once, and then the scores stay as they are.",
        "For the scores 5 and 5 the answer is -log 2. What does your formula give?",
        edits=(
            (
                "return z - np.log(",
                "return z - as_float(x).max(axis=axis, keepdims=True) - np.log(",
            ),
        ),
    ),
    # --- cross_entropy
    *(
        Mistake(
            "softmax.cross_entropy",
            f"log-of-limited-softmax-{small}",
            "the softmax was kept above a small number before the logarithm",
            _LIMIT,
            "You have written a function that gives log-probabilities without ever making a 0. Where could it be used?",
            edits=(("log_softmax(logits)", f"np.log(np.maximum(softmax(logits), {small}))"),),
            group=BEFORE_LOGARITHM,
        )
        for small in _LIMITS
    ),
    Mistake(
        "softmax.cross_entropy",
        "perplexity",
        "this is the perplexity, the exponential of the loss",
        "It says how many characters the model hesitates between; what is asked for is the loss itself.",
        "Which step comes after the mean in your code, and does the formula have it?",
        edits=(("float(-picked.mean())", "float(np.exp(-picked.mean()))"),),
    ),
)
