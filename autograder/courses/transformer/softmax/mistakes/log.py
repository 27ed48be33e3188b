"""Mistakes in `softmax`: log_softmax."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

RESULT = "z - np.log(np.exp(z).sum(axis=axis, keepdims=True))"
SOFTMAX = "np.exp(z) / np.exp(z).sum(axis=axis, keepdims=True)"

mistake = MISTAKES.for_functions("softmax.log_softmax")
mistake("log-of-softmax", RESULT, f"np.log({SOFTMAX})", common=True).explain("""
    the logarithm was taken of a finished softmax
    why: A probability that is rounded to 0 has the logarithm -inf, even where -1000 is correct.
    ask: What is log(exp(a) / b), simplified on paper? Which function has disappeared?""")
mistake("maximum-not-added-back", "return z - np.log", "return as_float(x) - np.log").explain("""
    the maximum was subtracted inside the exponential only
    why: The logarithm of the sum is then too small by the maximum. The mistake stays hidden where the maximum is 0.
    ask: If m is subtracted from every score inside the exponentials, how does the logarithm of their sum change?""")
mistake("in-place", "z = z - z.max", "z -= z.max").explain("""
    the scores were changed in place
    why: `x -= …` writes into the caller's array, which may still be needed.
    ask: Which of your lines create a new array, and which write into the argument?""")
mistake("bits", "z - np.log(", "z - np.log2(").explain("""
    the logarithm has base 2
    why: The exponentials have base e, so only the natural logarithm is their inverse.
    ask: Which logarithm is the inverse of np.exp?""")
mistake(
    "log-inside-sum", "(np.exp(z).sum(axis=axis, keepdims=True))", "(np.exp(z)).sum(axis=axis, keepdims=True)"
).explain("""
    the logarithm was taken before the sum, not after it
    why: The logarithm then cancels each exponential, so that the sum is just the sum of the scores.
    ask: In the formula, is the logarithm to the left or to the right of the Σ?""")
mistake("plus", "return z - np.log", "return z + np.log").explain("""
    the logarithm of the sum was added, not subtracted
    why: log(a / b) is log a minus log b. Log-probabilities are never above 0.
    ask: What is the logarithm of a quotient?""")
mistake("softmax-instead", RESULT, SOFTMAX).explain("""
    the probabilities were returned, not their logarithms
    why: Every entry of the result must be 0 or negative.
    ask: According to the function's name, which operation comes last?""")
mistake("maximum-subtracted-twice", "z - np.log", "z - as_float(x).max(axis=axis, keepdims=True) - np.log").explain("""
    the largest score was subtracted twice
    why: Either the scores keep the maximum subtracted and the logarithm of the sum stays as it is, or the maximum is
         added back to that logarithm and subtracted from the original scores. This code mixes the two.
    ask: For the scores 5 and 5 the result should be -log 2. What does your formula give?""")
mistake("sign", RESULT, f"-({RESULT})").explain("""
    the sign is reversed: all entries are 0 or positive
    why: The logarithm of a probability is never positive. The minus sign of the loss comes later.
    ask: What is the logarithm of 1/2?""")
mistake("integers-truncated", RESULT, f"({RESULT}).astype(np.asarray(x).dtype)").explain("""
    for integer scores, the results were rounded to integers
    why: np.zeros_like(x) and np.empty_like(x) have the dtype of x. Integers should be computed in float64.
    ask: What is the dtype of your result when `x` holds integers? Which helper converts it?""")
mistake("mean-not-sum", "np.exp(z).sum(", "np.exp(z).mean(").explain("""
    the mean of the exponentials was taken, not their sum
    why: The probabilities of a row then sum to the number of classes.
    ask: The exponentials of your result should sum to 1. Do they?""")
