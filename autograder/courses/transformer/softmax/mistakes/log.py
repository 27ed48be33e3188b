"""Mistakes in `softmax`: log_softmax."""

from autograder.courses.transformer.softmax.mistakes.loss import BEFORE_LOGARITHM, LIMITS
from autograder.engine.diagnosis.mistake import Mistakes

KEEPDIMS_FORGOTTEN = """
    keepdims=True is missing from the maximum and the sum
    why: The reduced axis is then gone, and broadcasting matches the maxima and sums with the wrong axis. Most shapes
         give an error, but a square matrix silently gives wrong results.
    ask: Print the shape of the scores and the shape of their maximum. How does broadcasting align the two?"""

MISTAKES = Mistakes()

_BEFORE_LOG = ("1e-5", "1e-6", "1e-7", "1e-8", "1e-10", "1e-12", "1e-15")

mistake = MISTAKES.for_functions("softmax.log_softmax")
mistake(
    "log-of-softmax",
    "return z - np.log(np.exp(z).sum(axis=axis, keepdims=True))",
    "return np.log(np.exp(z) / np.exp(z).sum(axis=axis, keepdims=True))",
    common=True,
).explain("""
    the logarithm was taken of a finished softmax
    why: A probability that is rounded to 0 has the logarithm -inf, even where -1000 is correct.
    ask: What is log(exp(a) / b), simplified on paper? Which function has disappeared?""")
mistake("maximum-not-added-back", "return z - np.log", "return as_float(x) - np.log").explain("""
    the maximum was subtracted inside the exponential only
    why: The logarithm of the sum is then too small by the maximum. The mistake stays hidden where the maximum is 0.
    ask: If m is subtracted from every score inside the exponentials, how does the logarithm of their sum change?""")
mistake(
    "logarithm-forgotten", "np.log(np.exp(z).sum(axis=axis, keepdims=True))", "np.exp(z).sum(axis=axis, keepdims=True)"
).explain("""
    the logarithm of the sum was not taken
    why: The sum itself was subtracted from the scores.
    ask: The exponentials of your result should sum to 1. Do they?""")
mistake("in-place", "z = z - z.max", "z -= z.max").explain("""
    the scores were changed in place
    why: `x -= …` writes into the caller's array, which may still be needed.
    ask: Which of your lines create a new array, and which write into the argument?""")
mistake("divided-by-logarithm", "return z - np.log", "return z / np.log").explain("""
    the scores were divided by the logarithm of the sum
    why: The logarithm of a quotient is a difference: log(a / b) = log a - log b.
    ask: What is log(exp(a) / b), simplified on paper?""")
mistake("bits", "z - np.log(", "z - np.log2(").explain("""
    the logarithm has base 2
    why: The exponentials have base e, so only the natural logarithm is their inverse.
    ask: Which logarithm is the inverse of np.exp?""")
mistake(
    "keepdims-forgotten",
    "z.max(axis=axis, keepdims=True)",
    "z.max(axis=axis)",
    ".sum(axis=axis, keepdims=True)",
    ".sum(axis=axis)",
    common=True,
).explain(KEEPDIMS_FORGOTTEN)
mistake("keepdims-forgotten-in-sum", ".sum(axis=axis, keepdims=True)", ".sum(axis=axis)").explain("""
    keepdims=True is missing from the sum
    why: The reduced axis is then gone, and broadcasting matches the sums with the wrong axis. Most shapes give an
         error, but a square matrix silently gives wrong results.
    ask: Print the shape of the exponentials and the shape of their sum. How does broadcasting align the two?""")
mistake(
    "log-inside-sum",
    "np.log(np.exp(z).sum(axis=axis, keepdims=True))",
    "np.log(np.exp(z)).sum(axis=axis, keepdims=True)",
).explain("""
    the logarithm was taken before the sum, not after it
    why: The logarithm then cancels each exponential, so that the sum is just the sum of the scores.
    ask: In the formula, is the logarithm to the left or to the right of the Σ?""")
mistake("plus", "return z - np.log", "return z + np.log").explain("""
    the logarithm of the sum was added, not subtracted
    why: log(a / b) is log a minus log b. Log-probabilities are never above 0.
    ask: What is the logarithm of a quotient?""")
mistake(
    "softmax-instead",
    "return z - np.log(np.exp(z).sum(axis=axis, keepdims=True))",
    "return np.exp(z) / np.exp(z).sum(axis=axis, keepdims=True)",
).explain("""
    the probabilities were returned, not their logarithms
    why: Every entry of the result must be 0 or negative.
    ask: According to the function's name, which operation comes last?""")
for name, small in (("small", "1e-9"), *zip(_BEFORE_LOG, _BEFORE_LOG, strict=True)):
    mistake(
        f"log-of-softmax-plus-{name}",
        "return z - np.log(np.exp(z).sum(axis=axis, keepdims=True))",
        f"return np.log(np.exp(z) / np.exp(z).sum(axis=axis, keepdims=True) + {small})",
        group=BEFORE_LOGARITHM,
    ).explain("""
        a small number was added to the softmax before the logarithm
        why: The result is never -inf, but all very small probabilities get the same logarithm, and the others are
             slightly wrong.
        ask: What is log(exp(a) / b), simplified on paper? Is there still a logarithm whose argument could be 0?""")
for small in LIMITS:
    mistake(
        f"log-of-limited-softmax-{small}",
        "return z - np.log(np.exp(z).sum(axis=axis, keepdims=True))",
        f"return np.log(np.maximum(np.exp(z) / np.exp(z).sum(axis=axis, keepdims=True), {small}))",
        group=BEFORE_LOGARITHM,
    ).explain("""
        the softmax was clipped from below before the logarithm
        why: The result is never -inf, but all probabilities below the limit get the same logarithm, and their gradient
             is lost.
        ask: What is log(exp(a) / b), simplified on paper? Is there still a logarithm whose argument could be 0?""")
mistake("maximum-subtracted-twice", "z - np.log", "z - as_float(x).max(axis=axis, keepdims=True) - np.log").explain("""
    the largest score was subtracted twice
    why: Either the scores keep the maximum subtracted and the logarithm of the sum stays as it is, or the maximum is
         added back to that logarithm and subtracted from the original scores. This code mixes the two.
    ask: For the scores 5 and 5 the result should be -log 2. What does your formula give?""")
_RESULT = "z - np.log(np.exp(z).sum(axis=axis, keepdims=True))"
mistake("sign", f"return {_RESULT}", "return np.log(np.exp(z).sum(axis=axis, keepdims=True)) - z").explain("""
    the sign is reversed: all entries are 0 or positive
    why: The logarithm of a probability is never positive. The minus sign of the loss comes later.
    ask: What is the logarithm of 1/2?""")
mistake("integers-truncated", f"return {_RESULT}", f"return ({_RESULT}).astype(np.asarray(x).dtype)").explain("""
    for integer scores, the results were rounded to integers
    why: np.zeros_like(x) and np.empty_like(x) have the dtype of x. Integers should be computed in float64.
    ask: What is the dtype of your result when `x` holds integers? Which helper converts it?""")
mistake("base-10", "z - np.log(", "z - np.log10(").explain("""
    the logarithm has base 10
    why: The exponentials have base e, so only the natural logarithm is their inverse.
    ask: Which logarithm is the inverse of np.exp?""")
mistake("logarithm-of-one-plus", "z - np.log(", "z - np.log1p(").explain("""
    1 was added to the sum before the logarithm
    why: np.log1p(x) is log(1 + x).
    ask: The exponentials of your result should sum to 1. Do they?""")
mistake("mean-not-sum", "np.exp(z).sum(", "np.exp(z).mean(").explain("""
    the mean of the exponentials was taken, not their sum
    why: The probabilities of a row then sum to the number of classes.
    ask: The exponentials of your result should sum to 1. Do they?""")
mistake("exponential-forgotten", "np.exp(z).sum(", "z.sum(").explain("""
    the logarithm was taken of the sum of the scores, without the exponential
    why: The sum of the scores can be negative, and the logarithm is then nan.
    ask: In the formula, what is to the right of the Σ?""")
mistake("base-2", "np.exp(z)", "np.exp2(z)").explain("""
    powers of 2 were summed, not of e
    why: The natural logarithm is the inverse of np.exp only.
    ask: Which function of NumPy computes e to the power of x?""")
mistake(
    "number-in-sum", ".sum(axis=axis, keepdims=True))", ".sum(axis=axis, keepdims=True) + CONSTANT)", constant=1e-3
).explain("""
    {constant} was added to the sum
    why: It is not needed, because the largest exponential is 1 once the maximum is subtracted, and it changes every
         result a little.
    ask: After the maximum is subtracted, how small can the sum of a row be?""")
_SOFTMAX = "np.exp(z) / np.exp(z).sum(axis=axis, keepdims=True)"
mistake(
    "log-of-softmax-plus-number", f"return {_RESULT}", f"return np.log({_SOFTMAX} + CONSTANT)", constant=1e-3
).explain("""
    {constant} was added to the softmax before the logarithm
    why: The result is never -inf, but all very small probabilities get the same logarithm, and the others are slightly
         wrong.
    ask: What is log(exp(a) / b), simplified on paper? Is there still a logarithm whose argument could be 0?""")
mistake(
    "log-of-softmax-limited-to-number",
    f"return {_RESULT}",
    f"return np.log(np.maximum({_SOFTMAX}, CONSTANT))",
    constant=1e-3,
).explain("""
    the softmax was clipped to at least {constant} before the logarithm
    why: The result is never -inf, but all probabilities below the limit get the same logarithm, and their gradient is
         lost.
    ask: What is log(exp(a) / b), simplified on paper? Is there still a logarithm whose argument could be 0?""")
