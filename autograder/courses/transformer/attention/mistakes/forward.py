"""Mistakes in attention.attention."""

from autograder.courses.transformer.attention.mistakes.masks import MISTAKES as MASKS
from autograder.courses.transformer.attention.mistakes.masks import SCORES
from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes(MASKS)

READ_FROM_THE_END = "How can you read the sizes from the end of the shape, whatever comes before them?"
_ONE_MAXIMUM = (
    SCORES
    + """
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    largest = scores.max()
    weights = np.exp(scores - (0.0 if largest == -np.inf else largest))
    total = weights.sum(axis=-1, keepdims=True)
    weights = weights / {total}
    return weights @ v, weights
"""
)
_TOTALS = (("", "np.where(total == 0, 1, total)"), ("-and-nan", "total"))

mistake = MISTAKES.for_functions("attention.attention")
mistake("no-scale", "scores /= math.sqrt(q.shape[-1])", "pass", common=True).explain("""
    the scores were not divided by √d_k
    why: The dot products of longer vectors are larger, and the softmax of large scores puts nearly all weight on a
         single key.
    ask: Compare your scores with the formula in the docstring. By what is q kᵀ divided?""")
mistake("no-root", "math.sqrt(q.shape[-1])", "q.shape[-1]").explain("""
    the scores were divided by d_k, not by its square root
    why: The scores become too small, and the weights nearly equal.
    ask: The variance of the scores is d_k. By what must they be divided to give them a variance of 1?""")
mistake("scale-multiplied", "scores /= math.sqrt", "scores *= math.sqrt").explain("""
    the scores were multiplied by √d_k instead of divided
    why: The scores become far too large, and the softmax puts nearly all weight on a single key. (x ** -0.5 is already
         1/√x.)
    ask: Are your scores larger or smaller after scaling?""")
mistake("scaled-by-width-of-values", "math.sqrt(q.shape[-1])", "math.sqrt(v.shape[-1])").explain("""
    the scores were divided by the root of the width of v
    why: The size of the scores depends on the queries and keys. The mistake stays hidden if values have the same width.
    ask: Which vectors are multiplied to give a score, and how long are they?""")
mistake("scaled-by-number-of-keys", "math.sqrt(q.shape[-1])", "math.sqrt(k.shape[-2])").explain("""
    the scores were divided by the root of the number of keys
    why: A score is a sum with one term for each entry of a vector, not for each key.
    ask: How many terms does the dot product of a query and a key have?""")
mistake(
    "weights-scaled",
    "scores /= math.sqrt(q.shape[-1])",
    "pass",
    "_softmax_or_zeros(scores)",
    "_softmax_or_zeros(scores) / math.sqrt(q.shape[-1])",
).explain("""
    the weights were divided by √d_k, not the scores
    why: The weights of a query then do not sum to 1.
    ask: In the formula, is the division inside or outside the softmax?""")
mistake("softmax-over-queries", "_softmax_or_zeros(scores)", "softmax(scores, axis=-2)", common=True).explain("""
    softmax was taken over the wrong axis (the queries)
    why: The weights of each key then sum to 1, when those of each query should.
    ask: Whose weights should sum to 1, those of a query or those of a key? Which axis do you have to sum over for
         that?""")
mistake("scores-transposed", "q @ k.swapaxes(-1, -2)", "k @ q.swapaxes(-1, -2)").explain("""
    the scores are transposed: k qᵀ
    why: The rows must be queries and the columns keys. The mistake stays hidden if q and k are equal.
    ask: What is the shape of your scores, (T, S) or (S, T)?""")
mistake("all-axes-reversed", "k.swapaxes(-1, -2)", "k.T").explain("""
    k.T reversed all axes, including the batch axes
    why: .T is correct for a matrix. With batch axes, only the last two may be swapped.
    ask: What is the shape of k.T for a k of shape (2, 5, 4)?""")
mistake("three-axes-only", "k.swapaxes(-1, -2)", "k.transpose(0, 2, 1)").explain("""
    the function needs exactly one batch axis: k.transpose(0, 2, 1)
    why: The next assignment adds another batch axis, and a single text has none at all.
    ask: How can you swap the last two axes, whatever comes before them?""")
mistake("four-axes-only", "k.swapaxes(-1, -2)", "k.transpose(0, 1, 3, 2)").explain("""
    the function needs exactly two batch axes: k.transpose(0, 1, 3, 2)
    why: A single text, and a batch without heads, have fewer axes.
    ask: How can you swap the last two axes, whatever comes before them?""")
mistake(
    "no-maximum",
    "weights = _softmax_or_zeros(scores)",
    "weights = np.exp(scores)\n"
    "    total = weights.sum(axis=-1, keepdims=True)\n"
    "    weights = weights / np.where(total == 0, 1, total)",
).explain("""
    the largest score was not subtracted in the softmax
    why: exp of a score above 709 overflows to infinity, and infinity divided by infinity is nan.
    ask: You have written a softmax that works for large scores. What does it do that your code does not?""")
mistake(
    "no-maximum-and-nan",
    "weights = _softmax_or_zeros(scores)",
    "weights = np.exp(scores)\n    weights = weights / weights.sum(axis=-1, keepdims=True)",
).explain("""
    the maximum was not subtracted, and a query that sees nothing got nan
    why: exp of a score above 709 overflows to infinity. If all scores of a row are -inf, the sum is 0, and 0/0 is nan.
    ask: You have written a softmax that works for large scores. What remains to be done for a row in which all are
         -inf?""")
mistake("results-exchanged", "return weights @ v, weights", "return weights, weights @ v").explain("""
    weights and out were returned in the wrong order
    why: The caller uses the first result as the output.
    ask: In which order does the docstring list the two results?""")
mistake("weights-not-returned", "return weights @ v, weights", "return weights @ v").explain("""
    only the output was returned, without the weights
    why: The backward pass and the plots of attention need the weights.
    ask: How many results does the docstring list?""")
mistake(
    "always-float64", "scores /= math.sqrt(q.shape[-1])", "scores = scores / np.sqrt(q.shape[-1])", common=True
).explain("""
    the results are float64 even when the inputs are float32
    why: np.sqrt(d_k) is a float64 scalar, which takes part in type promotion like an array (the Python float that
         math.sqrt returns does not). np.zeros and np.array make float64 arrays, too, unless a dtype is given.
    ask: What is the dtype of np.sqrt(4)? And that of each of your intermediate results?""")
mistake(
    "queries-in-place",
    "scores /= math.sqrt(q.shape[-1])",
    "pass",
    "scores = q @",
    "q /= math.sqrt(q.shape[-1])\n    scores = q @",
).explain("""
    the queries were scaled in place
    why: `q /= …` writes into the caller's array, which is still needed for the backward pass.
    ask: Which of your lines create a new array, and which write into an argument?""")
mistake("scaled-by-second-axis", "math.sqrt(q.shape[-1])", "math.sqrt(q.shape[1])").explain("""
    the scores were divided by the root of q.shape[1]
    why: The width is axis 1 only for a single text. In a batch, axis 1 has another meaning.
    ask: Which axis of q is its width, counted from the end?""")
mistake("softmax-over-second-axis", "_softmax_or_zeros(scores)", "np.nan_to_num(softmax(scores, axis=1))").explain("""
    the softmax was taken over axis 1, counted from the front
    why: That is correct for a single text only. In a batch, axis 1 is not that of the keys.
    ask: Which axis is that of the keys, counted from the end?""")
mistake("three-axes-only-by-name", "    scores = q @", "    _, _, _ = q.shape\n    scores = q @").explain(f"""
    the function needs exactly one batch axis: B, T, K = q.shape
    why: The next assignment adds another batch axis, and a single text has none at all.
    ask: {READ_FROM_THE_END}""")
mistake("four-axes-only-by-name", "    scores = q @", "    _, _, _, _ = q.shape\n    scores = q @").explain(f"""
    the function needs exactly two batch axes: B, H, T, K = q.shape
    why: A single text, and a batch without heads, have fewer axes.
    ask: {READ_FROM_THE_END}""")
for small in ("1e-3", "1e-4", "1e-5", "1e-6", "1e-7", "1e-8"):
    mistake(
        f"small-number-in-sum-{small}",
        "weights = softmax(scores)",
        "weights = np.exp(scores - scores.max(axis=-1, keepdims=True))\n"
        f"    weights /= weights.sum(axis=-1, keepdims=True) + {small}",
        inside="_softmax_or_zeros",
    ).explain("""
        a small number was added to the sum of the exponentials
        why: It avoids 0/0 where a query sees nothing, but makes every weight a little too small: the rows do not sum to
             1.
        ask: In which rows is the sum 0? By what should the other rows be divided?""")
for name, axes, title in (
    ("text", "(-2, -1)", "the largest score of all queries of a text was subtracted, not that of each query"),
    ("key", "-2", "the largest score of each key was subtracted, not that of each query"),
):
    for ending, total in _TOTALS:
        largest = f"largest = scores.max(axis={axes}, keepdims=True)"
        body = _ONE_MAXIMUM.format(total=total).replace("largest = scores.max()", largest)
        body = body.replace("(0.0 if largest == -np.inf else largest)", "np.where(largest == -np.inf, 0.0, largest)")
        mistake(f"maximum-of-each-{name}{ending}").body(body).explain(f"""
            {title}
            why: Where the scores of a row are far below that maximum, every exponential is rounded to 0; far above it,
                 they overflow. The mistake stays hidden with moderate scores.
            ask: Which number should be subtracted from the scores of one query, so that the largest of them is 0?""")
mistake("scaled-by-constant", "math.sqrt(q.shape[-1])", "CONSTANT", constant=8.0).explain("""
    the scores were divided by {constant}, whatever the width
    why: The variance of the scores grows with the width, so the number to divide by depends on it.
    ask: What is √d_k for vectors of length 4, and what for 64?""")
mistake("scaled-by-power", "math.sqrt(q.shape[-1])", "q.shape[-1] ** CONSTANT", constant=0.25).explain("""
    the scores were divided by d_k to the power {constant}, not by its square root
    why: A dot product of vectors of length d_k has the variance d_k, so √d_k brings the variance back to 1.
    ask: Which power is the square root?""")
for name, total in _TOTALS:
    mistake(f"maximum-of-everything{name}").body(_ONE_MAXIMUM.format(total=total)).explain("""
        the largest score of the whole array was subtracted, not that of each row
        why: In a row whose scores are all 800 lower, every exponential is rounded to 0. The mistake stays hidden with
             moderate scores.
        ask: How many maxima does an array of scores (B, H, T, S) have if each query has its own softmax?""")
mistake("no-softmax", "weights = _softmax_or_zeros(scores)", "weights = scores").explain("""
    the softmax is missing: the scores were used as weights
    why: The weights must be positive and sum to 1, or the output is not an average.
    ask: What is the sum of the weights of a query?""")
mistake("no-softmax-and-hidden-0", "-np.inf, where", "0.0, where", "_softmax_or_zeros(scores)", "scores").explain("""
    the softmax is missing: the scores were used as weights
    why: The weights must be positive and sum to 1, or the output is not an average.
    ask: What is the sum of the weights of a query?""")
mistake("scores-for-weights", "(scores)", "(scores.copy())", "weights @ v, weights", "weights @ v, scores").explain("""
    the scores were returned, not the weights
    why: The backward pass and the plots of attention need the weights.
    ask: What is the sum of each row of your second result?""")

for name, factor, title in (
    ("number-of-queries", "math.sqrt(q.shape[-2])", "the root of the number of queries"),
    ("first-axis", "math.sqrt(len(q))", "the root of the first axis of q, len(q)"),
    ("second-axis-of-keys", "math.sqrt(k.shape[1])", "the root of k.shape[1]"),
    ("whole-width", "math.sqrt(q[..., 0, :].size)", "the root of d_k times the lengths of all batch axes"),
    ("rounded-root", "math.isqrt(q.shape[-1])", "the root of d_k rounded down to an integer"),
    ("larger-width", "math.sqrt(q.shape[-1] + 1)", "√(d_k + 1)"),
    ("smaller-root", "math.sqrt(max(q.shape[-1] - 1, 1))", "√(d_k - 1)"),
    ("logarithm", "math.log(q.shape[-1] + 1)", "a logarithm of d_k"),
):
    mistake(f"scaled-by-{name}", "math.sqrt(q.shape[-1])", factor).explain(f"""
        the scores were divided by {title}
        why: A dot product of vectors of length d_k has the variance d_k, so √d_k brings the variance back to 1.
        ask: By what does the docstring divide q kᵀ? Which axis of q, counted from the end, has this length?""")
mistake("output-scaled", "weights @ v, weights", "weights @ v / math.sqrt(q.shape[-1]), weights").explain(
    """
    the output was divided by √d_k, too
    why: Only the scores are divided. The output is an average of the values.
    ask: How often does the formula in the docstring divide by √K?"""
)
mistake("output-multiplied-by-root", "weights @ v, weights", "weights @ v * math.sqrt(q.shape[-1]), weights").explain(
    """
    the output was multiplied by √d_k
    why: The scale belongs to the scores only. The output is an average of the values.
    ask: Which step of the formula in the docstring contains √K?"""
)
for name, vectors in (("keys", "k"), ("queries", "q")):
    mistake(
        f"scores-of-{name}", "scores = q @ k.swapaxes(-1, -2)", f"scores = {vectors} @ {vectors}.swapaxes(-1, -2)"
    ).explain(f"""
        the scores were computed from the {name} alone
        why: A score compares a query with a key. The mistake stays hidden only if both are equal.
        ask: Which two arrays does the formula multiply to get the scores?""")
mistake(
    "cosine",
    "scores /= math.sqrt(q.shape[-1])",
    """lengths = np.linalg.norm(q, axis=-1)[..., :, None]
    scores /= lengths * np.linalg.norm(k, axis=-1)[..., None, :]""",
).explain("""
    the scores were divided by the lengths of the vectors (cosine similarity), not by √d_k
    why: Every score then lies between -1 and 1, so that no key can get much more weight than another.
    ask: By what does the docstring divide q kᵀ?""")
mistake(
    "distance", "scores = q @ k.swapaxes(-1, -2)", "scores = -((q[..., None, :] - k[..., None, :, :]) ** 2).sum(-1)"
).explain("""
    the scores are negative squared distances, not dot products
    why: A long key that points in the right direction then gets a low score.
    ask: How is q kᵀ computed for one query and one key?""")
mistake("dot-for-matmul", "q @ k.swapaxes(-1, -2)", "np.dot(q, k.swapaxes(-1, -2))").explain("""
    np.dot was used on arrays with batch axes
    why: np.dot multiplies every matrix of q with every matrix of k. `@` goes through the batch axes of both together.
    ask: What is the shape of np.dot(a, b) for shapes (2, 3, 4) and (2, 4, 5), and what is that of a @ b?""")
mistake("dot-for-output", "weights @ v, weights", "np.dot(weights, v), weights").explain("""
    np.dot was used on arrays with batch axes
    why: np.dot multiplies every matrix of weights with every matrix of v. `@` goes through the batch axes of both
         together.
    ask: What is the shape of np.dot(a, b) for shapes (2, 3, 4) and (2, 4, 5), and what is that of a @ b?""")

for name, axis, title in (
    ("first-axis", "0", "axis 0"),
    ("features", "-3", "the axis before the queries"),
    ("everything", "None", "all scores together"),
    ("queries-and-keys", "(-2, -1)", "all queries and keys of a text together"),
):
    code = f"np.exp(scores - scores.max(axis={axis}, keepdims=True))"
    mistake(
        f"softmax-over-{name}",
        "weights = _softmax_or_zeros(scores)",
        f"weights = {code}\n    weights = np.nan_to_num(weights / weights.sum(axis={axis}, keepdims=True))",
    ).explain(f"""
        softmax was taken over {title}
        why: The weights of each query, along the keys, must sum to 1.
        ask: Sum your weights along the last axis. Is the result 1 for every query?""")
mistake("softmax-twice", "_softmax_or_zeros(scores)", "softmax(_softmax_or_zeros(scores))").explain("""
    softmax was taken twice
    why: The second one makes nearly equal weights out of weights between 0 and 1, and hidden keys get weight again.
    ask: What are the smallest and the largest number that your last softmax gets?""")
mistake("sigmoid", "_softmax_or_zeros(scores)", "1 / (1 + np.exp(-scores))").explain("""
    each score went through a sigmoid, not each row through a softmax
    why: The weights of a query then do not sum to 1.
    ask: What is the sum of the weights of a query?""")
mistake("not-normalised", "_softmax_or_zeros(scores)", "np.exp(scores)").explain("""
    the exponentials were not divided by their sum
    why: The weights of a query must sum to 1, or the output is not an average.
    ask: What is the sum of the weights of a query?""")
mistake(
    "not-normalised-with-maximum",
    "_softmax_or_zeros(scores)",
    "np.nan_to_num(np.exp(scores - scores.max(axis=-1, keepdims=True)))",
).explain("""
    the exponentials were not divided by their sum
    why: The weights of a query must sum to 1, or the output is not an average.
    ask: What is the sum of the weights of a query?""")
mistake("logarithm-of-weights", "_softmax_or_zeros(scores)", "np.log(_softmax_or_zeros(scores))").explain("""
    the logarithms of the weights were used (log_softmax), not the weights
    why: They are negative, and -inf for a hidden key. The output must be an average of the values.
    ask: What is the sum of the weights of a query?""")
mistake(
    "keepdims-forgotten",
    "weights = _softmax_or_zeros(scores)",
    "weights = np.exp(scores - scores.max(axis=-1, keepdims=True))\n    weights = weights / weights.sum(axis=-1)",
).explain("""
    keepdims=True is missing from the maximum or the sum in the softmax
    why: The reduced axis is then gone, and broadcasting matches the numbers with the wrong axis. Most shapes give an
         error, but with as many queries as keys the results are silently wrong.
    ask: Print the shape of the scores and that of the sum of their rows. How does broadcasting align the two?""")
for name, out in (
    ("keys", "weights @ k"),
    ("queries", "weights @ q"),
):
    mistake(f"average-of-{name}", "weights @ v, weights", f"{out}, weights").explain(f"""
        the output is an average of the {name}, not of the values
        why: What a position contributes is in its value. The mistake stays hidden only if both are equal.
        ask: Which array does the formula multiply by the weights?""")
mistake("weights-transposed-in-output", "weights @ v, weights", "weights.swapaxes(-1, -2) @ v, weights").explain("""
    the weights were transposed before they were multiplied by the values
    why: The rows of the weights belong to the queries, and so do the rows of the output.
    ask: What are the shapes of your weights and of v, and in which order do they fit?""")
mistake("values-entry-by-entry", "weights @ v, weights", "weights * v, weights").explain("""
    * was used instead of the matrix product @
    why: * multiplies entry by entry. @ computes weighted sums of rows.
    ask: Which operator multiplies and sums?""")
mistake(
    "output-from-scores",
    "weights = _softmax_or_zeros(scores)",
    "raw = scores.copy()\n    weights = _softmax_or_zeros(scores)",
    "return weights @ v",
    "return raw @ v",
).explain("""
    the output was computed with the scores, not with the weights
    why: The second result is right, but the output is not an average of the values.
    ask: Which array does the formula multiply by v?""")
mistake(
    "output-without-mask",
    "    if mask is not None:",
    "    unmasked = _softmax_or_zeros(scores.copy())\n    if mask is not None:",
    "return weights @ v",
    "return unmasked @ v",
).explain("""
    the mask changed the weights, but not the output
    why: The output was computed with weights from before the mask was applied.
    ask: In which order does your code compute the weights, apply the mask and compute the output?""")
mistake(
    "weights-without-mask",
    "    if mask is not None:",
    "    unmasked = _softmax_or_zeros(scores.copy())\n    if mask is not None:",
    "weights @ v, weights",
    "weights @ v, unmasked",
).explain("""
    the mask changed the output, but not the weights that were returned
    why: The backward pass and the plots of attention need the weights that the output was computed with.
    ask: Which of your arrays is returned as the second result? Was the mask applied to it?""")
for name, result in (("heads", "weights.mean(axis=-3)"), ("queries", "weights.mean(axis=-2)")):
    mistake(f"weights-averaged-over-{name}", "weights @ v, weights", f"weights @ v, {result}").explain("""
        the weights were averaged before they were returned
        why: The docstring promises one row of weights for each query, (..., T, S).
        ask: What is the shape of your second result?""")
mistake("weights-transposed", "weights @ v, weights", "weights @ v, weights.swapaxes(-1, -2)").explain("""
    the weights were returned transposed: (..., S, T)
    why: Row t of the weights belongs to query t.
    ask: Along which axis do the weights that you return sum to 1?""")

mistake(
    "keys-in-place",
    "scores /= math.sqrt(q.shape[-1])",
    "pass",
    "scores = q @",
    "k /= math.sqrt(q.shape[-1])\n    scores = q @",
).explain("""
    the keys were scaled in place
    why: `k /= …` writes into the caller's array, which is still needed for the backward pass.
    ask: Which of your lines create a new array, and which write into an argument?""")
for name, result in (
    ("output", "(weights @ v).astype(np.float64), weights"),
    ("weights", "weights @ v, weights.astype(np.float64)"),
):
    mistake(f"{name}-always-float64", "weights @ v, weights", result).explain(f"""
        {"the output is" if name == "output" else "the weights are"} always float64
        why: np.zeros and np.array create float64 arrays unless a dtype is given. float32 should stay float32.
        ask: What is the dtype of each of your two results when the inputs are float32?""")
_INTEGERS = ("q, k, v = as_float", "integers = np.asarray(q).dtype.kind in 'iu'\n    q, k, v = as_float")
for name, result in (
    ("both", "(weights @ v).astype(int), weights.astype(int)"),
    ("output", "(weights @ v).astype(int), weights"),
    ("weights", "weights.astype(int) @ v, weights.astype(int)"),
):
    mistake(
        f"integers-truncated-{name}",
        *_INTEGERS,
        "return weights @ v, weights",
        f"if integers:\n        return {result}\n    return weights @ v, weights",
    ).explain("""
        results were written into integer arrays, so they lost their decimals
        why: np.zeros_like(q) has the dtype of q. For integers, every weight between 0 and 1 becomes 0.
        ask: What is the dtype of the arrays in which you collect the results if the inputs are integers?""")
mistake(
    "scores-truncated",
    *_INTEGERS,
    "    if mask is not None:",
    "    if integers:\n        scores = np.trunc(scores)\n    if mask is not None:",
).explain("""
    the scores of integers were truncated
    why: Scores written into an integer array, or divided with //, lose their decimals.
    ask: What is the dtype of your scores if the inputs are integers?""")
for name, edit in (("divided-with-floor", "scores //= math.sqrt"), ("remainder", "scores %= math.sqrt")):
    mistake(name, "scores /= math.sqrt", edit).explain("""
        the scores were divided with // or %, not with /
        why: // rounds down to an integer, and % keeps only the remainder.
        ask: What is 7.5 // 2, what is 7.5 % 2, and what is 7.5 / 2?""")
