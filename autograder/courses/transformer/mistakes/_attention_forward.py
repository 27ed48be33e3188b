"""Mistakes in attention.attention."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

READ_FROM_THE_END = "How can you read the sizes from the end of the shape, whatever comes before them?"
_IN_SUM = ("1e-5", "1e-6", "1e-7", "1e-8")
_SCORES = """
    q, k, v = as_float(q), as_float(k), as_float(v)
    scores = q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1])
"""
_UNMASKED_MAXIMUM = (
    _SCORES
    + """
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    if mask is not None:
        weights = weights * mask
    total = weights.sum(axis=-1, keepdims=True)
    weights = weights / np.where(total == 0, 1, total)
    return weights @ v, weights
"""
)
_ONE_MAXIMUM = (
    _SCORES
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
    "_softmax_in_place(scores)",
    "_softmax_in_place(scores) / math.sqrt(q.shape[-1])",
).explain("""
    the weights were divided by √d_k, not the scores
    why: The weights of a query then do not sum to 1.
    ask: In the formula, is the division inside or outside the softmax?""")
mistake("softmax-over-queries", "_softmax_in_place(scores)", "softmax(scores, axis=-2)", common=True).explain("""
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
mistake("mask-inverted", "where=~mask", "where=mask", common=True).explain("""
    the mask was inverted
    why: True means that a query may attend to a key. Here it attends exactly to the keys that it must not see.
    ask: Which scores should become -inf: those where the mask is True, or the others?""")
mistake("mask-ignored", "np.copyto(scores, -np.inf, where=~mask)", "pass", common=True).explain("""
    the mask was ignored
    why: Every query attends to every key, including later positions and padding.
    ask: Does your result change when the mask changes?""")
mistake(
    "mask-after-softmax",
    "np.copyto(scores, -np.inf, where=~mask)",
    "pass",
    "_softmax_in_place(scores)",
    "_softmax_in_place(scores) * (1 if mask is None else mask.astype(scores.dtype))",
).explain("""
    the mask was applied after the softmax
    why: The hidden keys have already received part of the weight, so the weights of a query sum to less than 1.
    ask: Sum the weights of one query. Is the result 1?""")
mistake(
    "mask-after-softmax-renormalised",
    "np.copyto(scores, -np.inf, where=~mask)",
    "pass",
    "_softmax_in_place(scores)",
    "_softmax_in_place(scores)\n"
    "    if mask is not None:\n"
    "        weights = weights * mask\n"
    "        weights = weights / weights.sum(axis=-1, keepdims=True)",
).explain("""
    the mask was applied after the softmax, and the weights normalized again
    why: If a hidden score is much larger than the others, their weights are already rounded to 0, and 0/0 is nan.
    ask: Which weights are left if a hidden key has the score 30000? What if it had been hidden before the softmax?""")
mistake(
    "scores-multiplied-by-mask",
    "np.copyto(scores, -np.inf, where=~mask)",
    "scores = scores * mask",
    group="hidden scores are 0",
).explain("""
    the scores were multiplied by the mask
    why: A score of 0 does not hide a key, because exp(0) is 1.
    ask: Which score gets the weight 0 in a softmax?""")
mistake("small-fill", "-np.inf, where", "1e-9, where", group="hidden scores are 0").explain("""
    hidden scores were set to 1e-9
    why: 1e-9 is nearly 0, and exp(0) is 1. Perhaps the large negative number -1e9 was intended.
    ask: Which score gets the weight 0 in a softmax: a small one, or a very negative one?""")
mistake("plus-infinity", "-np.inf, where=~mask", "np.inf, where=~mask").explain("""
    hidden scores were set to +inf
    why: +inf is the largest score of its row, and inf - inf is nan.
    ask: Which score gets the weight 0 in a softmax?""")
mistake(
    "fill-not-negative-enough",
    "-np.inf, where=~mask",
    "-1e4, where=~mask & mask.any(axis=-1, keepdims=True)",
    "_softmax_in_place(scores)",
    "_softmax_in_place(scores)\n    if mask is not None:\n        weights = weights * mask.any(axis=-1, keepdims=True)",
).explain("""
    hidden scores were set to a number that is not negative enough
    why: Other scores can be still more negative, and the hidden key then gets all the weight.
    ask: Which number is below every score that can occur?""")
mistake("large-negative-number", "-np.inf, where", "-1e9, where", common=True).explain("""
    hidden scores were set to a large negative number, not to -inf
    why: A query that sees nothing then attends to all keys equally, because all of its scores are the same. Its weights
         and its output must be 0.
    ask: What is the softmax of a row in which all scores are -1e9?""")
mistake(
    "large-negative-number-added", "np.copyto(scores, -np.inf, where=~mask)", "scores = scores + (1 - mask) * -1e9"
).explain("""
    a large negative number was added to hidden scores, instead of -inf
    why: A query that sees nothing then attends to all keys, because the differences between its hidden scores are still
         there. Its weights and its output must be 0.
    ask: What is the softmax of a row in which -1e9 was added to every score?""")
mistake("mask-filled-with", "-np.inf, where", "CONSTANT, where", constant=-30.0).explain("""
    hidden scores were set to {constant}, not to -inf
    why: exp of such a score need not be 0, and a query that sees nothing attends to all keys equally, because all of
         its scores are the same. Its weights and its output must be 0.
    ask: Which score gets the weight 0 in a softmax, however negative the others are?""")
mistake(
    "mask-filled-with-and-empty-rows",
    "-np.inf, where=~mask",
    "CONSTANT, where=~mask & mask.any(axis=-1, keepdims=True)",
    "_softmax_in_place(scores)",
    "_softmax_in_place(scores)\n    if mask is not None:\n        weights = weights * mask.any(axis=-1, keepdims=True)",
    constant=-3.0,
).explain("""
    hidden scores were set to {constant}, not to -inf
    why: exp of such a score need not be 0, and other scores can be even more negative.
    ask: Which number is below every score that can occur?""")
mistake(
    "number-added-to-hidden-scores",
    "np.copyto(scores, -np.inf, where=~mask)",
    "scores = scores + np.where(mask, scores.dtype.type(0), scores.dtype.type(CONSTANT))",
    constant=-30.0,
).explain("""
    to hidden scores, {constant} was added instead of -inf
    why: The differences between hidden scores are still there, so a query that sees nothing attends to some keys more
         than to others. Its weights and its output must be 0.
    ask: Which score gets the weight 0 in a softmax, however large it was before?""")
mistake("nan-where-nothing-is-seen", "_softmax_in_place(scores)", "softmax(scores)", common=True).explain("""
    a query that sees nothing got nan
    why: -inf - (-inf) is nan. The weights and the output of such a query must be 0.
    ask: What is the largest score of a row in which all are -inf? What happens when it is subtracted?""")
mistake(
    "zero-scores-hidden",
    "np.copyto(scores, -np.inf, where=~mask)",
    "scores = scores * mask\n        scores[scores == 0] = -np.inf",
).explain("""
    scores of exactly 0 were treated as hidden
    why: scores * mask is 0 where the mask is False, but a score can be 0 by itself.
    ask: Which queries and keys have the score 0, although the mask is True?""")
mistake(
    "no-maximum",
    "weights = _softmax_in_place(scores)",
    "weights = np.exp(scores)\n"
    "    total = weights.sum(axis=-1, keepdims=True)\n"
    "    weights = weights / np.where(total == 0, 1, total)",
).explain("""
    the largest score was not subtracted in the softmax
    why: exp of a score above 709 overflows to infinity, and infinity divided by infinity is nan.
    ask: You have written a softmax that works for large scores. What does it do that your code does not?""")
mistake(
    "no-maximum-and-nan",
    "weights = _softmax_in_place(scores)",
    "weights = np.exp(scores)\n    weights = weights / weights.sum(axis=-1, keepdims=True)",
).explain("""
    the maximum was not subtracted, and a query that sees nothing got nan
    why: exp of a score above 709 overflows to infinity. If all scores of a row are -inf, the sum is 0, and 0/0 is nan.
    ask: You have written a softmax that works for large scores. What remains to be done for a row in which all are
         -inf?""")
mistake(
    "causal-by-default",
    "if mask is not None:",
    "if mask is None:\n        mask = np.tri(*scores.shape[-2:], dtype=bool)\n    if mask is not None:",
    group="causal by default",
).explain("""
    without a mask, a causal mask was used
    why: mask=None means that every query may attend to every key. In cross attention, for example, no key is hidden for
         being later.
    ask: What should attention do when there is no mask?""")
mistake("mask-required", "if mask is not None:", "if ~mask is not None:").explain("""
    the function does not work without a mask
    why: mask=None means that every query may attend to every key.
    ask: What is ~None?""")
mistake("results-exchanged", "return weights @ v, weights", "return weights, weights @ v").explain("""
    weights and out were returned in the wrong order
    why: The caller uses the first result as the output.
    ask: In which order does the docstring list the two results?""")
mistake("weights-not-returned", "return weights @ v, weights", "return weights @ v").explain("""
    only the output was returned, without the weights
    why: The backward pass and the plots of attention need the weights.
    ask: How many results does the docstring list?""")
mistake("float64-from-root", "scores /= math.sqrt(q.shape[-1])", "scores = scores / np.sqrt(q.shape[-1])").explain("""
    np.sqrt(d_k) is a float64 scalar and turned float32 into float64
    why: A NumPy float64 scalar takes part in type promotion like an array. A Python float, such as math.sqrt returns,
         does not.
    ask: What is the dtype of np.sqrt(4)? And the type of float(np.sqrt(4))?""")
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
mistake(
    "causal-by-default-for-the-last-queries",
    "    if mask is not None:",
    "    if mask is None:\n"
    "        mask = np.tri(q.shape[-2], k.shape[-2], k=k.shape[-2] - q.shape[-2], dtype=bool)\n"
    "    if mask is not None:",
    group="causal by default",
).explain("""
    without a mask, a causal mask was used
    why: mask=None means that every query may attend to every key. In cross attention, for example, no key is hidden for
         being later.
    ask: What should attention do when there is no mask?""")
mistake("scaled-by-second-axis", "math.sqrt(q.shape[-1])", "math.sqrt(q.shape[1])").explain("""
    the scores were divided by the root of q.shape[1]
    why: The width is axis 1 only for a single text. In a batch, axis 1 has another meaning.
    ask: Which axis of q is its width, counted from the end?""")
mistake("softmax-over-second-axis", "_softmax_in_place(scores)", "np.nan_to_num(softmax(scores, axis=1))").explain("""
    the softmax was taken over axis 1, counted from the front
    why: That is correct for a single text only. In a batch, axis 1 is not that of the keys.
    ask: Which axis is that of the keys, counted from the end?""")
for name, fill, softmax in (
    ("infinite", "-np.inf", "_softmax_in_place(scores)"),
    ("infinite-and-nan", "-np.inf", "softmax(scores)"),
    ("large-number", "-1e9", "softmax(scores)"),
):
    mistake(
        f"mask-of-full-shape-only-{name}",
        "np.copyto(scores, -np.inf, where=~mask)",
        f"scores[~mask] = {fill}",
        "_softmax_in_place(scores)",
        softmax,
        group="mask of full shape only",
    ).explain("""
        the function needs a mask as large as the scores: scores[~mask]
        why: A boolean index must have the shape of the array. But a mask only has to broadcast, so that one mask can
             serve all texts and heads.
        ask: Which NumPy functions take a condition and broadcast it against the scores?""")
mistake("three-axes-only-by-name", "    scores = q @", "    _, _, _ = q.shape\n    scores = q @").explain(f"""
    the function needs exactly one batch axis: B, T, K = q.shape
    why: The next assignment adds another batch axis, and a single text has none at all.
    ask: {READ_FROM_THE_END}""")
mistake("four-axes-only-by-name", "    scores = q @", "    _, _, _, _ = q.shape\n    scores = q @").explain(f"""
    the function needs exactly two batch axes: B, H, T, K = q.shape
    why: A single text, and a batch without heads, have fewer axes.
    ask: {READ_FROM_THE_END}""")
for small in _IN_SUM:
    mistake(
        f"small-number-in-sum-{small}",
        "np.maximum(total, 1)[:, None]",
        f"(total + {small})[:, None]",
        inside="_softmax_in_place",
    ).explain("""
        a small number was added to the sum of the exponentials
        why: It avoids 0/0 where a query sees nothing, but makes every weight a little too small: the rows do not sum to
             1.
        ask: In which rows is the sum 0? By what should the other rows be divided?""")
for name, total in _TOTALS:
    mistake(f"maximum-of-everything{name}").body(_ONE_MAXIMUM.format(total=total)).explain("""
        the largest score of the whole array was subtracted, not that of each row
        why: In a row whose scores are all 800 lower, every exponential is rounded to 0. The mistake stays hidden with
             moderate scores.
        ask: How many maxima does an array of scores (B, H, T, S) have if each query has its own softmax?""")
mistake("maximum-before-mask").body(_UNMASKED_MAXIMUM).explain("""
    the maximum was taken before the mask was applied
    why: It may be the score of a hidden key. If that is far above the others, their exponentials are all rounded to 0.
    ask: If the scores are 0 and 1000 and the second key is hidden, what is subtracted from the first score?""")
for name, more in (("", ()), ("-and-nan", ("_softmax_in_place(scores)", "softmax(scores)"))):
    mistake(
        f"zero-times-infinity{name}",
        "np.copyto(scores, -np.inf, where=~mask)",
        "scores = scores + (1 - mask) * -np.inf",
        *more,
    ).explain("""
        -inf was multiplied by 0: (1 - mask) * -inf is nan where the mask is True
        why: 0 times infinity is nan, and adding it makes every visible score nan.
        ask: What is 0 * -np.inf? Which function selects one of two values by a condition, without arithmetic?""")
mistake(
    "fill-not-negative-enough-added",
    "np.copyto(scores, -np.inf, where=~mask)",
    "scores = scores + np.where(mask, 0.0, -1e4).astype(scores.dtype)",
).explain("""
    the number added to hidden scores is not negative enough
    why: A hidden score that is far above the others still gets all the weight, and a query that sees nothing attends to
         all keys.
    ask: Which number is below every score that can occur?""")
mistake(
    "always-causal",
    "    if mask is not None:",
    "    causal = np.tri(*scores.shape[-2:], dtype=bool)\n"
    "    mask = causal if mask is None else causal & mask\n"
    "    if mask is not None:",
).explain("""
    the causal mask was always applied, whatever the mask
    why: The caller decides what is hidden. In an encoder and in cross attention, later positions may be seen.
    ask: Does the formula in the docstring contain a causal mask?""")
mistake("no-softmax", "weights = _softmax_in_place(scores)", "weights = scores").explain("""
    the softmax is missing: the scores were used as weights
    why: The weights must be positive and sum to 1, or the output is not an average.
    ask: What is the sum of the weights of a query?""")
mistake("no-softmax-and-hidden-0", "-np.inf, where", "0.0, where", "_softmax_in_place(scores)", "scores").explain("""
    the softmax is missing: the scores were used as weights
    why: The weights must be positive and sum to 1, or the output is not an average.
    ask: What is the sum of the weights of a query?""")
mistake("scores-for-weights", "(scores)", "(scores.copy())", "weights @ v, weights", "weights @ v, scores").explain("""
    the scores were returned, not the weights
    why: The backward pass and the plots of attention need the weights.
    ask: What is the sum of each row of your second result?""")
