"""Mistakes in assignment 2: softmax and cross-entropy."""

from autograder.mistakes import Mistake

MISTAKES = (
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
)
