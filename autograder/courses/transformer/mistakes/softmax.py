"""Mistakes in assignment 2: softmax and cross-entropy."""

from autograder.courses.transformer.mistakes._softmax_loss import BEFORE_LOGARITHM, LIMIT, LIMITS
from autograder.courses.transformer.mistakes._softmax_loss import MISTAKES as LOSS
from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes(LOSS)

_IN_SUM = ("1e-4", "1e-5", "1e-6", "1e-7")
_ADDED = ("1e-6", "1e-7", "1e-8", "1e-9", "1e-10")
_BEFORE_LOG = ("1e-5", "1e-6", "1e-7", "1e-8", "1e-10", "1e-12", "1e-15")
_NOTHING_TO_PROTECT = (
    "It protects from nothing, because the largest exponential is 1 once the maximum is subtracted, and it changes "
    "every answer a little."
)
_ON_PAPER = "What does log(exp(a) / b) become on paper? Then there is nothing left that could be 0."
_WRONG_SHIFT = "With moderate scores nothing shows. exp overflows as soon as a score is 710 above what was subtracted."

mistake = MISTAKES.for_functions("softmax.softmax")
mistake("no-maximum", "(z - z.max(axis=axis, keepdims=True))", "(z + 0.0)", common=True).explain("""
    the largest score was not subtracted first
    why: exp(1000) is infinite, and infinity divided by infinity is nan. With small scores nothing shows.
    ask: What is the largest number that np.exp can take? Which number may be subtracted from a whole row for free?""")
mistake(
    "last-axis-always", "z.max(axis=axis", "z.max(axis=-1", "z.sum(axis=axis", "z.sum(axis=-1", common=True
).explain("""
    the axis argument is ignored: it is always the last axis
    why: Along another axis the numbers no longer add up to 1.
    ask: Which of your operations know about `axis`? All of those that look along the row have to.""")
mistake("temperature-multiplied", "/ float(temperature)", "* float(temperature)", common=True).explain("""
    the scores were multiplied by the temperature instead of divided
    why: A low temperature must sharpen the choice; here it flattens it.
    ask: What should happen to the differences between scores when the temperature is 0.1?""")
mistake("temperature-ignored", " / float(temperature)", "", common=True).explain("""
    the temperature is not used
    why: With temperature 1 nothing shows.
    ask: Try softmax([1, 2, 3], temperature=0.1) by hand: which entry should be nearly 1?""")
mistake(
    "temperature-on-probabilities",
    " / float(temperature)",
    "",
    "z /= z.sum(axis=axis, keepdims=True)",
    "z /= z.sum(axis=axis, keepdims=True) * float(temperature)",
).explain("""
    the probabilities were divided by the temperature, not the scores
    why: They no longer add up to 1, and the choice is neither sharper nor flatter than before.
    ask: Temperature changes how far apart the scores are. At which point of your function are there still scores?""")
mistake("not-normalised", "z /= z.sum(axis=axis, keepdims=True)", "pass").explain("""
    the exponentials were not divided by their sum
    why: They are positive and in the right order, but they do not add up to 1.
    ask: What has to be true of the sum of a row of probabilities?""")
mistake(
    "small-number-in-sum", "z.sum(axis=axis, keepdims=True)", "(z.sum(axis=axis, keepdims=True) + 1e-8)"
).explain("""
    a small number was added to the sum
    why: It protects from nothing, because the largest exponential is 1, and it makes every probability a bit too small.
    ask: After the maximum is subtracted, how small can the sum of a row become?""")
mistake(
    "in-place",
    "z = (z - z.max(axis=axis, keepdims=True)) / float(temperature)",
    "z -= z.max(axis=axis, keepdims=True)\n    z /= float(temperature)",
).explain("""
    the scores were changed in place
    why: `x -= …` and `out=x` write into the array of the caller, who still needs the scores.
    ask: Which of your lines make a new array, and which write into the one that was handed to you?""")
mistake("always-float64", "z = as_float(x)", "z = np.asarray(x, dtype=np.float64)").explain("""
    everything was converted to float64
    why: float32 should stay float32: half the memory, and twice the speed.
    ask: What is the dtype of your result when `x` is float32? Which line made it so?""")
mistake("largest-magnitude", "z.max(", "np.abs(z).max(").explain("""
    the largest absolute value was subtracted, not the largest score
    why: In a row of negative scores that makes every exponent smaller still: exp(-2000) is 0, and 0 / 0 is nan.
    ask: For the row -1000, -1001, which number makes the largest exponent 0?""")
mistake("sum-over-everything", "z.sum(axis=axis, keepdims=True)", "z.sum()", common=True).explain("""
    the sum went over the whole array, not over one row
    why: All rows together add up to 1, when each row should. With a single row nothing shows.
    ask: How many sums does a batch of four rows need? What does .sum() without an axis give?""")
mistake(
    "first-axis-always", "z.max(axis=axis", "z.max(axis=0", "z.sum(axis=axis", "z.sum(axis=0", common=True
).explain("""
    the axis argument is ignored: it is always the first axis
    why: The entries of a column compete with each other instead of those of a row.
    ask: Add up your result along each axis in turn. Along which one is it 1, and along which one should it be?""")
mistake(
    "keepdims-forgotten",
    "z.max(axis=axis, keepdims=True)",
    "z.max(axis=axis)",
    "z /= z.sum(axis=axis, keepdims=True)",
    "z = z / z.sum(axis=axis)",
    common=True,
).explain("""
    keepdims=True is missing from the maximum and the sum
    why: Without it the axis is gone, and NumPy matches the row maxima with the wrong axis: an error for most shapes,
         silently wrong numbers for a square matrix.
    ask: Print the shape of the scores and the shape of their maximum. How does broadcasting line the two up?""")
mistake(
    "keepdims-forgotten-in-sum", "z /= z.sum(axis=axis, keepdims=True)", "z = z / z.sum(axis=axis)", common=True
).explain("""
    keepdims=True is missing from the sum
    why: Without it the axis is gone, and NumPy divides along the wrong axis: an error for most shapes, silently wrong
         numbers for a square matrix.
    ask: Print the shape of the exponentials and the shape of their sum. How does broadcasting line the two up?""")
mistake("keepdims-forgotten-in-maximum", "z.max(axis=axis, keepdims=True)", "z.max(axis=axis)").explain("""
    keepdims=True is missing from the maximum
    why: Without it the axis is gone, and NumPy subtracts along the wrong axis: an error for most shapes, silently wrong
         numbers for a square matrix.
    ask: Print the shape of the scores and the shape of their maximum. How does broadcasting line the two up?""")
mistake("whole-array", "z.max(axis=axis, keepdims=True)", "z.max()", "(axis=axis, keepdims=True)", "()").explain("""
    the maximum and the sum went over the whole array, not over one row
    why: All rows together add up to 1, when each row should. With a single row nothing shows.
    ask: How many sums does a batch of four rows need? What do .max() and .sum() without an axis give?""")
mistake("maximum-of-everything", "z.max(axis=axis, keepdims=True)", "z.max()").explain("""
    the largest number of the whole array was subtracted, not the largest of each row
    why: A row that lies far below the largest number becomes 0 everywhere, and 0 / 0 is nan.
    ask: Which number makes the largest exponent of *every* row 0? What does .max() without an axis give?""")
mistake("second-axis-always", "z.max(axis=axis", "z.max(axis=1", "z.sum(axis=axis", "z.sum(axis=1").explain("""
    the axis argument is ignored: it is always axis 1
    why: For a matrix that is the last axis. A single row has no axis 1, and in a batch it is another one.
    ask: Which of your operations know about `axis`? All of those that look along the row have to.""")
mistake("matrices-only").body("""
    z = as_float(x)
    out = np.empty_like(z)
    for i in range(len(z)):
        row = np.exp((z[i] - z[i].max()) / float(temperature))
        out[i] = row / row.sum()
    return out
""").explain("""
    it works for the rows of a matrix only
    why: A loop over the first axis meets single numbers in a vector, and whole matrices in a batch.
    ask: What is x[0] if x has one axis, and what is it if x has three? Which operation needs no loop over rows?""")
mistake("no-exponential", "(z - z.max(axis=axis, keepdims=True))", "(z + 0.0)", "np.exp(z, out=z)", "pass").explain("""
    the scores were divided by their sum, without the exponential
    why: Scores may be negative or add up to 0; probabilities may not.
    ask: What makes a positive number of any number, and a larger one of a larger one?""")
for small in _IN_SUM:
    mistake(
        f"small-number-in-sum-{small}",
        "z.sum(axis=axis, keepdims=True)",
        f"(z.sum(axis=axis, keepdims=True) + {small})",
    ).explain(f"""
        a small number was added to the sum
        why: {_NOTHING_TO_PROTECT}
        ask: After the maximum is subtracted, how small can the sum of a row become?""")
for small in _ADDED:
    mistake(f"small-number-added-{small}", "    return z\n", f"    return z + {small}\n").explain("""
        a small number was added to the probabilities
        why: A row then adds up to more than 1, and what is impossible becomes possible.
        ask: What do the probabilities of a row add up to? What should -inf get?""")
mistake("minimum-subtracted", "z.max(axis=axis", "z.min(axis=axis").explain(f"""
    the smallest score was subtracted, not the largest
    why: {_WRONG_SHIFT}
    ask: Which number must become 0, so that no other is above it?""")
mistake("mean-subtracted", "z.max(axis=axis", "z.mean(axis=axis").explain(f"""
    the mean of the scores was subtracted, not the largest
    why: {_WRONG_SHIFT}
    ask: Which number must become 0, so that no other is above it?""")
mistake(
    "maximum-not-divided",
    "z = (z - z.max(axis=axis, keepdims=True)) / float(temperature)",
    "z = z / float(temperature) - z.max(axis=axis, keepdims=True)",
).explain("""
    the scores were divided by the temperature, and the largest one that is subtracted was not
    why: With small scores, or with temperature 1, nothing shows. With scores of 1000 the exponentials overflow below
         temperature 1, and are all 0 above it.
    ask: For the scores 1000 and 999 and temperature 0.5: what is handed to exp?""")

mistake = MISTAKES.for_functions("softmax.log_softmax")
mistake(
    "log-of-softmax",
    "return z - np.log(np.exp(z).sum(axis=axis, keepdims=True))",
    "return np.log(np.exp(z) / np.exp(z).sum(axis=axis, keepdims=True))",
    common=True,
).explain("""
    the softmax was computed first, and then its logarithm taken
    why: A probability that is rounded to 0 has the logarithm -inf, where -1000 was right.
    ask: What does log(exp(a) / b) become on paper? Which function has disappeared?""")
mistake(
    "log-of-softmax-plus-small",
    "return z - np.log(np.exp(z).sum(axis=axis, keepdims=True))",
    "return np.log(np.exp(z) / np.exp(z).sum(axis=axis, keepdims=True) + 1e-9)",
    group=BEFORE_LOGARITHM,
).explain("""
    a small number was added to the softmax before the logarithm
    why: There is no -inf any more, but very small probabilities all get the same logarithm, and the others are a little
         off.
    ask: What does log(exp(a) / b) become on paper? Then there is nothing left that could be 0.""")
mistake("no-maximum", "z = z - z.max(axis=axis, keepdims=True)", "z = z + 0.0", common=True).explain("""
    the largest score was not subtracted first
    why: exp(1000) is infinite, and so is the logarithm of the sum. With small scores nothing shows.
    ask: What is the largest number that np.exp can take? Which number may be subtracted from a whole row for free?""")
mistake("maximum-not-added-back", "return z - np.log", "return as_float(x) - np.log").explain("""
    the maximum was subtracted inside the exponential only
    why: The logarithm of the sum is then too small by the maximum. Where the maximum is 0, nothing shows.
    ask: If every score inside the exponential is m smaller, what is the logarithm of their sum, compared with
         before?""")
mistake(
    "last-axis-always", "z.max(axis=axis", "z.max(axis=-1", ".sum(axis=axis", ".sum(axis=-1", common=True
).explain("""
    the axis argument is ignored: it is always the last axis
    why: Along another axis the exponentials of the result no longer add up to 1.
    ask: Which of your operations know about `axis`? All of those that look along the row have to.""")
mistake(
    "logarithm-forgotten", "np.log(np.exp(z).sum(axis=axis, keepdims=True))", "np.exp(z).sum(axis=axis, keepdims=True)"
).explain("""
    the logarithm of the sum was not taken
    why: The sum itself was subtracted from the scores.
    ask: The exponentials of your result should add up to 1. Do they?""")
mistake("in-place", "z = z - z.max", "z -= z.max").explain("""
    the scores were changed in place
    why: `x -= …` writes into the array of the caller, who still needs the scores.
    ask: Which of your lines make a new array, and which write into the one that was handed to you?""")
mistake("divided-by-logarithm", "return z - np.log", "return z / np.log").explain("""
    the scores were divided by the logarithm of the sum
    why: The logarithm of a quotient is a difference: log(a / b) = log a - log b.
    ask: What does log(exp(a) / b) become on paper?""")
mistake("bits", "z - np.log(", "z - np.log2(").explain("""
    the logarithm has base 2
    why: The exponentials have base e, and only the natural logarithm undoes them.
    ask: Which logarithm undoes np.exp?""")
mistake("sum-over-everything", ".sum(axis=axis, keepdims=True)", ".sum()", common=True).explain("""
    the sum went over the whole array, not over one row
    why: The exponentials of all rows together add up to 1, when those of each row should. With a single row nothing
         shows.
    ask: How many sums does a batch of four rows need? What does .sum() without an axis give?""")
mistake("whole-array", "z.max(axis=axis, keepdims=True)", "z.max()", "(axis=axis, keepdims=True)", "()").explain("""
    the maximum and the sum went over the whole array, not over one row
    why: The exponentials of all rows together add up to 1, when those of each row should. With a single row nothing
         shows.
    ask: How many sums does a batch of four rows need? What do .max() and .sum() without an axis give?""")
mistake("maximum-of-everything", "z.max(axis=axis, keepdims=True)", "z.max()").explain("""
    the largest number of the whole array was subtracted, not the largest of each row
    why: A row that lies far below the largest number becomes 0 everywhere, and the logarithm of 0 is -inf.
    ask: Which number makes the largest exponent of *every* row 0? What does .max() without an axis give?""")
mistake(
    "first-axis-always", "z.max(axis=axis", "z.max(axis=0", ".sum(axis=axis", ".sum(axis=0", common=True
).explain("""
    the axis argument is ignored: it is always the first axis
    why: The entries of a column compete with each other instead of those of a row.
    ask: Add up the exponentials of your result along each axis in turn. Along which one is it 1?""")
mistake("second-axis-always", "z.max(axis=axis", "z.max(axis=1", ".sum(axis=axis", ".sum(axis=1").explain("""
    the axis argument is ignored: it is always axis 1
    why: For a matrix that is the last axis; in a batch it is another one.
    ask: Which of your operations know about `axis`? All of those that look along the row have to.""")
mistake(
    "keepdims-forgotten",
    "z.max(axis=axis, keepdims=True)",
    "z.max(axis=axis)",
    ".sum(axis=axis, keepdims=True)",
    ".sum(axis=axis)",
    common=True,
).explain("""
    keepdims=True is missing from the maximum and the sum
    why: Without it the axis is gone, and NumPy matches the row maxima with the wrong axis: an error for most shapes,
         silently wrong numbers for a square matrix.
    ask: Print the shape of the scores and the shape of their maximum. How does broadcasting line the two up?""")
mistake("keepdims-forgotten-in-sum", ".sum(axis=axis, keepdims=True)", ".sum(axis=axis)").explain("""
    keepdims=True is missing from the sum
    why: Without it the axis is gone, and NumPy subtracts along the wrong axis: an error for most shapes, silently wrong
         numbers for a square matrix.
    ask: Print the shape of the scores and the shape of the logarithm of the sum. How does broadcasting line them
         up?""")
mistake("keepdims-forgotten-in-maximum", "z.max(axis=axis, keepdims=True)", "z.max(axis=axis)").explain("""
    keepdims=True is missing from the maximum
    why: Without it the axis is gone, and NumPy subtracts along the wrong axis: an error for most shapes, silently wrong
         numbers for a square matrix.
    ask: Print the shape of the scores and the shape of their maximum. How does broadcasting line the two up?""")
mistake(
    "log-inside-sum",
    "np.log(np.exp(z).sum(axis=axis, keepdims=True))",
    "np.log(np.exp(z)).sum(axis=axis, keepdims=True)",
).explain("""
    the logarithm was taken before the sum, not after it
    why: The logarithm undoes each exponential by itself, and what is added up are the scores.
    ask: In the formula, does the logarithm stand to the left or to the right of the Σ?""")
mistake("plus", "return z - np.log", "return z + np.log").explain("""
    the logarithm of the sum was added, not subtracted
    why: log(a / b) is log a minus log b. Log-probabilities are never above 0.
    ask: What is the logarithm of a quotient?""")
mistake(
    "softmax-instead",
    "return z - np.log(np.exp(z).sum(axis=axis, keepdims=True))",
    "return np.exp(z) / np.exp(z).sum(axis=axis, keepdims=True)",
).explain("""
    these are the probabilities themselves, not their logarithms
    why: Everything in the result must be 0 or negative.
    ask: What is the last operation in the name of the function?""")
mistake("always-float64", "z = as_float(x)", "z = np.asarray(x, dtype=np.float64)").explain("""
    everything was converted to float64
    why: float32 should stay float32: half the memory, and twice the speed.
    ask: What is the dtype of your result when `x` is float32? Which line made it so?""")
for small in _BEFORE_LOG:
    mistake(
        f"log-of-softmax-plus-{small}",
        "return z - np.log(np.exp(z).sum(axis=axis, keepdims=True))",
        f"return np.log(np.exp(z) / np.exp(z).sum(axis=axis, keepdims=True) + {small})",
        group=BEFORE_LOGARITHM,
    ).explain(f"""
        a small number was added to the softmax before the logarithm
        why: There is no -inf any more, but very small probabilities all get the same logarithm, and the others are a
             little off.
        ask: {_ON_PAPER}""")
for small in LIMITS:
    mistake(
        f"log-of-limited-softmax-{small}",
        "return z - np.log(np.exp(z).sum(axis=axis, keepdims=True))",
        f"return np.log(np.maximum(np.exp(z) / np.exp(z).sum(axis=axis, keepdims=True), {small}))",
        group=BEFORE_LOGARITHM,
    ).explain(f"""
        the softmax was kept above a small number before the logarithm
        why: {LIMIT}
        ask: {_ON_PAPER}""")
for small in ("1e-9", "1e-8", *_IN_SUM):
    mistake(
        f"small-number-in-sum-{small}",
        "np.log(np.exp(z).sum(axis=axis, keepdims=True))",
        f"np.log(np.exp(z).sum(axis=axis, keepdims=True) + {small})",
    ).explain(f"""
        a small number was added to the sum
        why: {_NOTHING_TO_PROTECT}
        ask: After the maximum is subtracted, how small can the sum of a row become?""")
mistake("maximum-subtracted-twice", "z - np.log", "z - as_float(x).max(axis=axis, keepdims=True) - np.log").explain("""
    the largest score was subtracted twice
    why: The logarithm of the sum of what was already lowered by the maximum needs no correction; or the maximum is
         added to it once, and then the scores stay as they are.
    ask: For the scores 5 and 5 the answer is -log 2. What does your formula give?""")
