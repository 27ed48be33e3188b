"""Mistakes in `softmax`: softmax, and what can go wrong in log_softmax in the same way."""

from autograder.courses.transformer.softmax.mistakes.backward import MISTAKES as BACKWARD
from autograder.courses.transformer.softmax.mistakes.log import MISTAKES as LOG
from autograder.courses.transformer.softmax.mistakes.log import RESULT, SOFTMAX
from autograder.courses.transformer.softmax.mistakes.loss import MISTAKES as LOSS
from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes(LOSS, BACKWARD, LOG)

_BOTH = ("softmax.softmax", "softmax.log_softmax")

mistake = MISTAKES.for_functions(*_BOTH)
mistake("no-maximum", "z - z.max(axis=axis, keepdims=True)", "z + 0.0", common=True).explain("""
    the largest score was not subtracted first
    why: exp(1000) overflows to infinity, and the result becomes nan or infinite. The mistake stays hidden with small
         scores.
    ask: How large can a score be before np.exp overflows? Which number can you subtract from a whole row without
         changing the result?""")
mistake(
    "last-axis-always", "z.max(axis=axis", "z.max(axis=-1", ".sum(axis=axis", ".sum(axis=-1", common=True
).explain("""
    `axis` was ignored: the last axis was always used
    why: Along any other axis, the probabilities do not sum to 1.
    ask: Which of your operations need the `axis` argument?""")
mistake("always-float64", "z = as_float(x)", "z = np.asarray(x, dtype=np.float64)").explain("""
    the result is float64 even when the scores are float32
    why: float32 should stay float32. A float64 array or a NumPy number such as np.float64(2.0) makes the result
         float64, a Python number does not.
    ask: What is the dtype of your result when `x` is float32? Which line causes it?""")
mistake(
    "integers-in-float32", "z = as_float(x)", "z = np.asarray(x) if np.asarray(x).dtype.kind == 'f' else np.float32(x)"
).explain("""
    integers were computed in float32, not in float64
    why: float32 keeps only about seven digits. The course computes integers in float64.
    ask: What is the dtype of your result when `x` holds integers? Which helper converts it?""")
for axis_name, axis in (("last", "-1"), ("first", "0"), ("second", "1")):
    for part, step in (("maximum", "z.max("), ("sum", ".sum(")):
        mistake(f"{axis_name}-axis-in-{part}", f"{step}axis=axis", f"{step}axis={axis}").explain(f"""
            `axis` was ignored in the {part}: axis {axis} was always used there
            why: The maximum and the sum have to be taken along the same axis, the one that the caller asks for.
            ask: Which of your operations need the `axis` argument? Which of them have it?""")
mistake("sum-over-everything", ".sum(axis=axis, keepdims=True)", ".sum()", common=True).explain("""
    the sum was taken over the whole array, not over each row
    why: The probabilities of all rows together then sum to 1, when those of each row should. The mistake stays hidden
         with a single row.
    ask: How many sums does a batch of four rows need? What does .sum() return without an axis?""")
mistake(
    "first-axis-always", "z.max(axis=axis", "z.max(axis=0", ".sum(axis=axis", ".sum(axis=0", common=True
).explain("""
    `axis` was ignored: the first axis was always used
    why: The entries of a column then compete with each other, instead of those of a row.
    ask: Sum the probabilities along each axis in turn. Along which axis is the sum 1, and along which should it be
         1?""")
mistake("keepdims-forgotten-in-maximum", "z.max(axis=axis, keepdims=True)", "z.max(axis=axis)").explain("""
    keepdims=True is missing from the maximum
    why: The reduced axis is then gone, and broadcasting matches the maxima with the wrong axis. Most shapes give an
         error, but a square matrix silently gives wrong results.
    ask: Print the shape of the scores and the shape of their maximum. How does broadcasting align the two?""")
mistake("whole-array", "z.max(axis=axis, keepdims=True)", "z.max()", "(axis=axis, keepdims=True)", "()").explain("""
    the maximum and the sum were taken over the whole array, not over each row
    why: The probabilities of all rows together then sum to 1, when those of each row should. The mistake stays hidden
         with a single row.
    ask: How many sums does a batch of four rows need? What do .max() and .sum() return without an axis?""")
mistake("maximum-of-everything", "z.max(axis=axis, keepdims=True)", "z.max()").explain("""
    the largest score of the whole array was subtracted, not that of each row
    why: In a row far below the largest score every exponential is rounded to 0, and the result becomes nan or infinite.
    ask: What has to be subtracted so that the largest exponent of every row is 0? What does .max() return without
         an axis?""")
mistake(
    "number-in-sum", ".sum(axis=axis, keepdims=True)", ".sum(axis=axis, keepdims=True) + CONSTANT", constant=1e-3
).explain("""
    {constant} was added to the sum
    why: It is not needed, because the largest exponential is 1 once the maximum is subtracted, and it changes every
         result a little.
    ask: After the maximum is subtracted, how small can the sum of a row be?""")
mistake("second-axis-always", "z.max(axis=axis", "z.max(axis=1", ".sum(axis=axis", ".sum(axis=1").explain("""
    `axis` was ignored: axis 1 was always used
    why: Axis 1 is the last axis of a matrix, but not of a batch of texts, and a single row has no axis 1.
    ask: Which of your operations need the `axis` argument?""")

for function, *sums in (
    ("softmax.softmax", "z /= z.sum(axis=axis, keepdims=True)", "z = z / z.sum(axis=axis)"),
    ("softmax.log_softmax", ".sum(axis=axis, keepdims=True)", ".sum(axis=axis)"),
):
    mistake = MISTAKES.for_functions(function)
    mistake("keepdims-forgotten", "z.max(axis=axis, keepdims=True)", "z.max(axis=axis)", *sums, common=True).explain("""
        keepdims=True is missing from the maximum and the sum
        why: The reduced axis is then gone, and broadcasting matches the maxima and sums with the wrong axis. Most
             shapes give an error, but a square matrix silently gives wrong results.
        ask: Print the shape of the scores and the shape of their maximum. How does broadcasting align the two?""")
    mistake("keepdims-forgotten-in-sum", *sums, common=True).explain("""
        keepdims=True is missing from the sum
        why: The reduced axis is then gone, and broadcasting matches the sums with the wrong axis. Most shapes give an
             error, but a square matrix silently gives wrong results.
        ask: Print the shape of the exponentials and the shape of their sum. How does broadcasting align the two?""")

# Where no probability is smaller than the constant, both ways to avoid the logarithm of 0 give the same numbers.
for function, result, softmax, ask in (
    (
        "softmax.cross_entropy", "log_softmax(logits)", "softmax(logits)",
        "Which function have you written that computes log-probabilities without rounding them to 0 first?",
    ),
    (
        "softmax.log_softmax", RESULT, SOFTMAX,
        "What is log(exp(a) / b), simplified on paper? Is there still a logarithm whose argument could be 0?",
    ),
):  # fmt: skip
    for name, code in (("plus", f"{softmax} + CONSTANT"), ("limited-to", f"np.maximum({softmax}, CONSTANT)")):
        mistake = MISTAKES.for_functions(function)
        mistake(f"log-of-softmax-{name}-number", result, f"np.log({code})", constant=1e-3).explain(f"""
            {{constant}} was added to the softmax before the logarithm, or was its lower limit
            why: The result is never infinite, but small probabilities all get nearly the same logarithm.
            ask: {ask}""")

mistake = MISTAKES.for_functions("softmax.softmax")
mistake("temperature-multiplied", "/ float(temperature)", "* float(temperature)", common=True).explain("""
    the scores were multiplied by the temperature instead of divided
    why: A low temperature should sharpen the distribution, but here it flattens it.
    ask: What should happen to the differences between scores when the temperature is 0.1?""")
mistake("temperature-ignored", " / float(temperature)", "", common=True).explain("""
    the temperature was ignored
    why: The mistake stays hidden with temperature 1.
    ask: Compute softmax([1, 2, 3], temperature=0.1) by hand: which entry should be nearly 1?""")
mistake(
    "temperature-on-probabilities",
    " / float(temperature)",
    "",
    "z /= z.sum(axis=axis, keepdims=True)",
    "z /= z.sum(axis=axis, keepdims=True) * float(temperature)",
).explain("""
    the probabilities were divided by the temperature, not the scores
    why: They no longer sum to 1, and the distribution is neither sharper nor flatter than before.
    ask: The temperature changes the differences between scores. At which point of your function do you still have
         scores?""")
mistake("not-normalised", "z /= z.sum(axis=axis, keepdims=True)", "pass").explain("""
    the exponentials were not divided by their sum
    why: They are positive and in the right order, but they do not sum to 1.
    ask: What is the sum of a row of probabilities?""")
mistake(
    "in-place", "= (z - z.max(axis=axis, keepdims=True)) / float", "-= z.max(axis=axis, keepdims=True)\n    z /= float"
).explain("""
    the scores were changed in place
    why: `x -= …` and `out=x` write into the caller's array, which may still be needed.
    ask: Which of your lines create a new array, and which write into the argument?""")
mistake("matrices-only").body("""
    if not temperature > 0:
        raise ValueError("the temperature must be positive")
    z = as_float(x)
    out = np.empty_like(z)
    for i in range(len(z)):
        row = np.exp((z[i] - z[i].max()) / float(temperature))
        out[i] = row / row.sum()
    return out
""").explain("""
    the function works only for the rows of a matrix
    why: A loop over the first axis gets single scores from a vector, and whole matrices from a batch.
    ask: What is x[0] if x has one axis, and what is it if x has three? Which operations need no loop over rows?""")
mistake("no-exponential", "(z - z.max(axis=axis, keepdims=True))", "(z + 0.0)", "np.exp(z, out=z)", "pass").explain("""
    the scores were divided by their sum, without the exponential
    why: Scores can be negative and their sum can be 0. Probabilities must be positive.
    ask: Which function maps every number to a positive one and keeps their order?""")
for name, method, score in (("minimum", "min", "smallest score"), ("mean", "mean", "mean of the scores")):
    mistake(f"{name}-subtracted", "z.max(axis=axis", f"z.{method}(axis=axis").explain(f"""
        the {score} was subtracted, not the largest
        why: exp overflows if the largest score is more than 709 above the number subtracted. The mistake stays hidden
             with moderate scores.
        ask: What has to be subtracted so that no exponent is above 0?""")
mistake(
    "maximum-not-divided",
    "z = (z - z.max(axis=axis, keepdims=True)) / float(temperature)",
    "z = z / float(temperature) - z.max(axis=axis, keepdims=True)",
).explain("""
    the scores were divided by the temperature, but not the maximum
    why: With scores around 1000, the exponentials overflow if the temperature is below 1. In float64 all of them become
         0, and the sum with them, from a temperature of about 4. With temperature 1 or small scores, nothing shows.
    ask: For the scores 1000 and 999 and the temperature 0.5, which numbers does your code pass to exp?""")
mistake("any-temperature-accepted", "if not temperature > 0:", "if False:").explain("""
    a temperature that is not positive was accepted
    why: Scores cannot be divided by 0, and a negative temperature makes the least likely entry the most likely.
    ask: What does your code return for the scores 1 and 3 with the temperature 0, and what with -1?""")
mistake("zero-temperature-accepted", "if not temperature > 0:", "if temperature < 0:").explain("""
    the temperature 0 was accepted
    why: The largest score becomes 0 / 0, and with it the whole row nan.
    ask: Is 0 positive? What does your code compute with it?""")
mistake("negative-temperature-accepted", "if not temperature > 0:", "if temperature == 0:").explain("""
    a negative temperature was accepted
    why: It turns the order around: the least likely entry becomes the most likely.
    ask: Divide the scores 1 and 3 by the temperature -1. Which of them is now the larger one?""")
mistake("integers-truncated", "    return z\n", "    return z.astype(np.asarray(x).dtype)\n").explain("""
    for integer scores, the probabilities were rounded down to integers
    why: np.zeros_like(x) and np.empty_like(x) have the dtype of x. Integers should be computed in float64.
    ask: What is the dtype of your result when `x` holds integers? Which helper converts it?""")
mistake("temperature-plus-a-number", "float(temperature)", "(float(temperature) + CONSTANT)", constant=1e-6).explain("""
    {constant} was added to the temperature
    why: It is not needed, because the temperature must be positive, and it changes every result a little.
    ask: If a temperature of 0 raises ValueError, which division by 0 is left to prevent?""")
mistake("base-2", "np.exp(z, out=z)", "np.exp2(z, out=z)").explain("""
    powers of 2 were taken, not of e
    why: The distribution is then flatter, as with a higher temperature.
    ask: Which function of NumPy computes e to the power of x?""")
mistake(
    "scores-clipped", "(z - z.max(axis=axis, keepdims=True))", "np.clip(z, -CONSTANT, CONSTANT)", constant=500.0
).explain("""
    the scores were limited to ±{constant} instead of subtracting the largest
    why: Scores beyond the limit become equal, although their differences matter.
    ask: What should softmax([1000, 0]) and softmax([1000, 999]) be? What are they in your code?""")
mistake("sigmoid").body("""
    if not temperature > 0:
        raise ValueError("the temperature must be positive")
    return 1 / (1 + np.exp(-as_float(x) / float(temperature)))
""").explain("""
    the sigmoid of each score was returned, not the softmax of each row
    why: Each entry then depends on its own score only, and a row does not sum to 1.
    ask: What is the sum of a row of your result?""")
mistake("number-added", "    return z\n", "    return z + CONSTANT\n", constant=1e-3).explain("""
    {constant} was added to the probabilities
    why: A row then does not sum to 1, and impossible choices become possible.
    ask: What is the sum of a row of probabilities? Which probability should a score of -inf get?""")
