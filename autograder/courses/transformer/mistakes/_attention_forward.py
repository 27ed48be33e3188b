"""Mistakes in attention.attention."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

HOW_MANY = "How can the sizes be read off from the end, whatever stands before them?"
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
    why: Products of longer vectors are larger, and the softmax of large scores looks at a single key.
    ask: Compare your scores with the formula in the docstring. What stands below q kᵀ?""")
mistake("no-root", "math.sqrt(q.shape[-1])", "q.shape[-1]").explain("""
    the scores were divided by d_k, not by its square root
    why: The scores become too small, and the weights too even.
    ask: The variance of the scores is d_k. By what must they be divided for a variance of 1?""")
mistake("scale-multiplied", "scores /= math.sqrt", "scores *= math.sqrt").explain("""
    the scores were multiplied by √d_k instead of divided
    why: x ** -0.5 is already 1/√x. Multiplied by √d_k, the softmax looks at a single key.
    ask: Are your scores larger or smaller after scaling?""")
mistake("scaled-by-width-of-values", "math.sqrt(q.shape[-1])", "math.sqrt(v.shape[-1])").explain("""
    the scores were divided by the root of the width of v
    why: Queries and keys decide how large the scores are. As long as values have the same width, nothing shows.
    ask: Which vectors are multiplied to give a score, and how long are they?""")
mistake("scaled-by-number-of-keys", "math.sqrt(q.shape[-1])", "math.sqrt(k.shape[-2])").explain("""
    the scores were divided by the root of the number of keys
    why: The sum of a score has one term for each number in a vector, not for each key.
    ask: Over what does the sum in a product of a query and a key run?""")
mistake(
    "weights-scaled",
    "scores /= math.sqrt(q.shape[-1])",
    "pass",
    "_softmax_in_place(scores)",
    "_softmax_in_place(scores) / math.sqrt(q.shape[-1])",
).explain("""
    the weights were divided by √d_k, not the scores
    why: The weights of a query then do not add up to 1.
    ask: Is the division inside the softmax or outside?""")
mistake("softmax-over-queries", "_softmax_in_place(scores)", "softmax(scores, axis=-2)", common=True).explain("""
    the softmax ran over the queries, not over the keys
    why: The weights of each key add up to 1, when those of each query should.
    ask: Who shares out its attention: a query among keys, or a key among queries? Which axis is that?""")
mistake("scores-transposed", "q @ k.swapaxes(-1, -2)", "k @ q.swapaxes(-1, -2)").explain("""
    the scores are transposed: k qᵀ
    why: Rows must be queries and columns keys. When q and k are the same, nothing shows.
    ask: What is the shape of your scores, (T, S) or (S, T)?""")
mistake("all-axes-reversed", "k.swapaxes(-1, -2)", "k.T").explain("""
    k.T reverses all axes, the batch axes too
    why: For a matrix .T is right; with batch axes, only the last two may be exchanged.
    ask: What is the shape of k.T for a k of shape (2, 5, 4)?""")
mistake("three-axes-only", "k.swapaxes(-1, -2)", "k.transpose(0, 2, 1)").explain("""
    it works with exactly one batch axis: k.transpose(0, 2, 1)
    why: Later on there will be heads as well, and a single text has no batch axis at all.
    ask: How can the last two axes be exchanged, whatever stands before them?""")
mistake("four-axes-only", "k.swapaxes(-1, -2)", "k.transpose(0, 1, 3, 2)").explain("""
    it works with exactly two batch axes: k.transpose(0, 1, 3, 2)
    why: A single text, and a batch without heads, have fewer axes.
    ask: How can the last two axes be exchanged, whatever stands before them?""")
mistake("mask-inverted", "where=~mask", "where=mask", common=True).explain("""
    the mask was used the wrong way round
    why: True means that a query may look. Here it looks exactly where it may not.
    ask: Which scores should become -inf: those where the mask is True, or the others?""")
mistake("mask-ignored", "np.copyto(scores, -np.inf, where=~mask)", "pass", common=True).explain("""
    the mask is not used
    why: Every query sees every key, the future and the padding too.
    ask: Does your result change when the mask changes?""")
mistake(
    "mask-after-softmax",
    "np.copyto(scores, -np.inf, where=~mask)",
    "pass",
    "_softmax_in_place(scores)",
    "_softmax_in_place(scores) * (1 if mask is None else mask.astype(scores.dtype))",
).explain("""
    the mask was applied after the softmax
    why: The hidden keys have taken their share already, and the weights of a query add up to less than 1.
    ask: Add up the weights of one query. Is it 1?""")
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
    the mask was applied after the softmax, and the weights divided by their sum again
    why: That is right only as long as something is left: where a hidden score is much larger, all others are 0 already,
         and 0/0 is nan.
    ask: What is left of the weights if a hidden key has the score 30000? What if it had been hidden before?""")
mistake(
    "scores-multiplied-by-mask",
    "np.copyto(scores, -np.inf, where=~mask)",
    "scores = scores * mask",
    group="hidden scores are 0",
).explain("""
    the scores were multiplied by the mask
    why: A score of 0 is not hidden: exp(0) is 1.
    ask: Which score gives the weight 0 in a softmax?""")
mistake("small-fill", "-np.inf, where", "1e-9, where", group="hidden scores are 0").explain("""
    hidden scores were set to 1e-9
    why: 1e-9 is nearly 0, and exp(0) is 1. What was meant is the large negative number -1e9.
    ask: Which score gives the weight 0 in a softmax: a small one, or a very negative one?""")
mistake("plus-infinity", "-np.inf, where=~mask", "np.inf, where=~mask").explain("""
    hidden scores were set to +inf
    why: inf - inf is nan. What was meant is -inf.
    ask: Which score gives the weight 0 in a softmax?""")
mistake(
    "fill-not-negative-enough",
    "-np.inf, where=~mask",
    "-1e4, where=~mask & mask.any(axis=-1, keepdims=True)",
    "_softmax_in_place(scores)",
    "_softmax_in_place(scores)\n    if mask is not None:\n        weights = weights * mask.any(axis=-1, keepdims=True)",
).explain("""
    hidden scores were set to -10000
    why: Other scores may be still more negative, and then the hidden key gets all the weight.
    ask: Which number is below every score that can occur?""")
mistake("large-negative-number", "-np.inf, where", "-1e9, where", common=True).explain("""
    hidden scores were set to -1e9, so that a query that sees nothing looks at everything
    why: Where all scores are the same, the softmax is even. The output must be 0 there, and the weights too.
    ask: What is the softmax of a row in which all scores are -1e9?""")
mistake(
    "large-negative-number-added", "np.copyto(scores, -np.inf, where=~mask)", "scores = scores + (1 - mask) * -1e9"
).explain("""
    -1e9 was added to the hidden scores, so that a query that sees nothing looks at everything
    why: The differences between the hidden scores survive. Where there is nothing else, they decide the weights.
    ask: What is the softmax of a row in which -1e9 was added to every score?""")
mistake("nan-where-nothing-is-seen", "_softmax_in_place(scores)", "softmax(scores)", common=True).explain("""
    a query that sees nothing gets nan
    why: -inf - (-inf) is nan. The output must be 0 there, and the weights too.
    ask: What is the largest score of a row in which all are -inf? What happens when it is subtracted?""")
mistake(
    "zero-scores-hidden",
    "np.copyto(scores, -np.inf, where=~mask)",
    "scores = scores * mask\n        scores[scores == 0] = -np.inf",
).explain("""
    scores of exactly 0 were taken for hidden ones
    why: scores * mask is 0 where the mask is False, but a score may be 0 by itself.
    ask: How could a query and a key that may be looked at have the score 0?""")
mistake(
    "no-maximum",
    "weights = _softmax_in_place(scores)",
    "weights = np.exp(scores)\n"
    "    total = weights.sum(axis=-1, keepdims=True)\n"
    "    weights = weights / np.where(total == 0, 1, total)",
).explain("""
    the largest score was not subtracted in the softmax
    why: exp of a score above 709 is infinite, and infinity divided by infinity is nan.
    ask: You have written a softmax that survives large scores. Why not use it?""")
mistake(
    "no-maximum-and-nan",
    "weights = _softmax_in_place(scores)",
    "weights = np.exp(scores)\n    weights = weights / weights.sum(axis=-1, keepdims=True)",
).explain("""
    the largest score was not subtracted in the softmax, and a query that sees nothing gets nan
    why: exp of a score above 709 is infinite; and where all scores are -inf, the sum is 0, and 0/0 is nan.
    ask: You have written a softmax that survives large scores. What is left to do for a row in which all are -inf?""")
mistake(
    "causal-by-default",
    "if mask is not None:",
    "if mask is None:\n        mask = np.tri(*scores.shape[-2:], dtype=bool)\n    if mask is not None:",
    group="causal by default",
).explain("""
    without a mask, the causal one was used
    why: mask=None means that everybody may look at everything: in cross attention there is no future.
    ask: What should attention do when there is no mask?""")
mistake("mask-required", "if mask is not None:", "if ~mask is not None:").explain("""
    it does not work without a mask
    why: mask=None means that everybody may look at everything.
    ask: What is ~None?""")
mistake("results-exchanged", "return weights @ v, weights", "return weights, weights @ v").explain("""
    weights and out were returned in the wrong order
    why: The caller takes the first for the output.
    ask: In which order does the docstring list the two results?""")
mistake("weights-not-returned", "return weights @ v, weights", "return weights @ v").explain("""
    only the output was returned, without the weights
    why: The backward pass and the pictures of attention need the weights.
    ask: How many results does the docstring list?""")
mistake("float64-from-root", "scores /= math.sqrt(q.shape[-1])", "scores = scores / np.sqrt(q.shape[-1])").explain("""
    np.sqrt(d_k) is a float64 scalar and turned float32 into float64
    why: A NumPy float64 scalar takes part in the type rules like an array; a Python float, as from math.sqrt, does not.
    ask: What is the dtype of np.sqrt(4)? And of float(np.sqrt(4))?""")
mistake(
    "queries-in-place",
    "scores /= math.sqrt(q.shape[-1])",
    "pass",
    "scores = q @",
    "q /= math.sqrt(q.shape[-1])\n    scores = q @",
).explain("""
    the queries were scaled in place
    why: `q /= …` writes into the array of the caller, who still needs it for the backward pass.
    ask: Which of your lines make a new array, and which write into one that was handed to you?""")
mistake(
    "causal-by-default-for-the-last-queries",
    "    if mask is not None:",
    "    if mask is None:\n"
    "        mask = np.tri(q.shape[-2], k.shape[-2], k=k.shape[-2] - q.shape[-2], dtype=bool)\n"
    "    if mask is not None:",
    group="causal by default",
).explain("""
    without a mask, the causal one was used
    why: mask=None means that everybody may look at everything: in cross attention there is no future.
    ask: What should attention do when there is no mask?""")
mistake("scaled-by-second-axis", "math.sqrt(q.shape[-1])", "math.sqrt(q.shape[1])").explain("""
    the scores were divided by the root of the second axis of q, q.shape[1]
    why: Counted from the front, the width is axis 1 for a single text only. With a batch that axis is the text, and
         with heads it is their number.
    ask: Which axis of q is its width, counted from which end?""")
mistake("softmax-over-second-axis", "_softmax_in_place(scores)", "np.nan_to_num(softmax(scores, axis=1))").explain("""
    the softmax ran over axis 1, counted from the front
    why: That is right for a single text. With a batch axis 1 is the queries, and with heads it is the heads.
    ask: Along which axis do the keys stand, counted from which end?""")
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
        a mask that is smaller than the scores is an error: scores[~mask]
        why: An index of booleans must have the shape of the array. The mask only has to broadcast, so that one may
             serve all texts and heads.
        ask: Which NumPy functions take a condition and broadcast it against the scores?""")
mistake("three-axes-only-by-name", "    scores = q @", "    _, _, _ = q.shape\n    scores = q @").explain(f"""
    it works with exactly one batch axis: B, T, K = q.shape
    why: Later on there will be heads as well, and a single text has no batch axis at all.
    ask: {HOW_MANY}""")
mistake("four-axes-only-by-name", "    scores = q @", "    _, _, _, _ = q.shape\n    scores = q @").explain(f"""
    it works with exactly two batch axes: B, H, T, K = q.shape
    why: A single text, and a batch without heads, have fewer axes.
    ask: {HOW_MANY}""")
for small in _IN_SUM:
    mistake(
        f"small-number-in-sum-{small}",
        "np.maximum(total, 1)[:, None]",
        f"(total + {small})[:, None]",
        inside="_softmax_in_place",
    ).explain("""
        a small number was added to the sum of the exponentials
        why: It hides 0/0 where a query sees nothing, but makes every weight a little too small: the rows no longer add
             up to 1.
        ask: For which rows alone is the sum 0? What should the others be divided by?""")
for name, total in _TOTALS:
    mistake(f"maximum-of-everything{name}").body(_ONE_MAXIMUM.format(total=total)).explain("""
        the largest score of the whole array was subtracted, not the largest of each row
        why: With moderate scores nothing shows. In a row whose scores are all 800 lower, every exponential becomes 0.
        ask: How many maxima does an array of scores (B, H, T, S) have, if each query has its own softmax?""")
mistake("maximum-before-mask").body(_UNMASKED_MAXIMUM).explain("""
    the largest score was found before the mask was applied
    why: It may be that of a hidden key. If it is far above the others, their exponentials all become 0.
    ask: Scores of 0 and 1000, and the second key is hidden: what is subtracted from the first?""")
for name, more in (("", ()), ("-and-nan", ("_softmax_in_place(scores)", "softmax(scores)"))):
    mistake(
        f"zero-times-infinity{name}",
        "np.copyto(scores, -np.inf, where=~mask)",
        "scores = scores + (1 - mask) * -np.inf",
        *more,
    ).explain("""
        -inf was multiplied by 0: (1 - mask) * -inf is nan wherever the mask is True
        why: 0 times infinity is no number, and adding it makes nan of every score that may be seen.
        ask: What is 0 * -np.inf? Which function puts one value here and another one there, without arithmetic?""")
mistake(
    "fill-not-negative-enough-added",
    "np.copyto(scores, -np.inf, where=~mask)",
    "scores = scores + np.where(mask, 0.0, -1e4).astype(scores.dtype)",
).explain("""
    -10000 was added to the hidden scores
    why: A hidden score that is 10000 above the others gets all the weight; and a query that sees nothing looks at
         everything.
    ask: Which number is below every score that can occur?""")
mistake(
    "always-causal",
    "    if mask is not None:",
    "    causal = np.tri(*scores.shape[-2:], dtype=bool)\n"
    "    mask = causal if mask is None else causal & mask\n"
    "    if mask is not None:",
).explain("""
    the causal mask was used whatever the mask says
    why: What may be seen is for the caller to say: an encoder and cross attention look at the future, too.
    ask: Where in the formula of the docstring is a causal mask made?""")
mistake("no-softmax", "weights = _softmax_in_place(scores)", "weights = scores").explain("""
    there is no softmax: the scores themselves are the weights
    why: Weights are to be positive and to add up to 1, or the output is no average.
    ask: What do the weights of a query add up to?""")
mistake("no-softmax-and-hidden-0", "-np.inf, where", "0.0, where", "_softmax_in_place(scores)", "scores").explain("""
    there is no softmax: the scores themselves are the weights
    why: Weights are to be positive and to add up to 1, or the output is no average.
    ask: What do the weights of a query add up to?""")
mistake("scores-for-weights", "(scores)", "(scores.copy())", "weights @ v, weights", "weights @ v, scores").explain("""
    the scores were returned, not the weights
    why: The backward pass and every picture of attention need what the softmax made of the scores.
    ask: What do the rows of the second result add up to?""")
