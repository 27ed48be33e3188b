"""Mistakes with the mask in attention.attention."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

SCORES = """
    q, k, v = as_float(q), as_float(k), as_float(v)
    scores = q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1])
    if mask is not None:
        if np.asarray(mask).dtype != bool:
            raise TypeError
        mask = np.broadcast_to(mask, scores.shape)
"""
_UNMASKED_MAXIMUM = (
    SCORES
    + """
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    if mask is not None:
        weights = weights * mask
    total = weights.sum(axis=-1, keepdims=True)
    weights = weights / {total}
    return weights @ v, weights
"""
)
_HIDE = "np.copyto(scores, -np.inf, where=~mask)"
_ADD = "scores = scores + np.where(mask, 0.0, min(CONSTANT, 0.0)).astype(scores.dtype)"
_SOFTMAX = "_softmax_or_zeros(scores)"
_ZEROED = f"{_SOFTMAX}\n    weights = weights * (True if mask is None else mask.any(-1)[..., None])"

mistake = MISTAKES.for_functions("attention.attention")
mistake("mask-inverted", "where=~mask", "where=mask", common=True).explain("""
    the mask was inverted
    why: True means that a query may attend to a key. Here it attends exactly to the keys that it must not see.
    ask: Which scores should become -inf: those where the mask is True, or the others?""")
mistake("mask-ignored", _HIDE, "pass", common=True).explain("""
    the mask was ignored
    why: Every query attends to every key, including later positions and padding.
    ask: Does your result change when the mask changes?""")
mistake(
    "mask-after-softmax",
    *(_HIDE, "pass"),
    *(_SOFTMAX, f"{_SOFTMAX} * (1 if mask is None else mask.astype(scores.dtype))"),
).explain("""
    the mask was applied after the softmax
    why: The hidden keys have already received part of the weight, so the weights of a query sum to less than 1.
    ask: Sum the weights of one query. Is the result 1?""")
mistake("large-negative-number", "-np.inf, where", "-1e9, where", common=True).explain("""
    hidden scores were set to a large negative number, not to -inf
    why: A query that sees nothing then attends to all keys equally, because all of its scores are the same. Its weights
         and its output must be 0.
    ask: What is the softmax of a row in which all scores are -1e9?""")
mistake("nan-where-nothing-is-seen", _SOFTMAX, "softmax(scores)", common=True).explain("""
    a query that sees nothing got nan
    why: -inf - (-inf) is nan. The weights and the output of such a query must be 0.
    ask: What is the largest score of a row in which all are -inf? What happens when it is subtracted?""")
mistake("mask-filled-with", "-np.inf, where", "CONSTANT, where", constant=-30.0).explain("""
    hidden scores were set to {constant}, not to -inf
    why: exp of such a score need not be 0, and other scores can be even more negative. A query that sees nothing
         attends to all keys equally, because all of its scores are the same.
    ask: Which number is below every score that can occur?""")
mistake("mask-required", "if mask is not None:", "if ~mask is not None:").explain("""
    the function does not work without a mask
    why: mask=None means that every query may attend to every key.
    ask: What is ~None?""")
for name, fill, softmax in (("infinite", "-np.inf", _SOFTMAX), ("large-number", "-1e9", "softmax(scores)")):
    edits = (_HIDE, f"scores[~mask] = {fill}", _SOFTMAX, softmax)
    mistake(f"mask-of-full-shape-only-{name}", *edits, group="mask of full shape only").explain("""
        the function needs a mask as large as the scores: scores[~mask]
        why: A boolean index must have the shape of the array. But a mask only has to broadcast, so that one mask can
             serve all texts and heads.
        ask: Which NumPy functions take a condition and broadcast it against the scores?""")
mistake(
    "zero-times-infinity-and-nan",
    *(_HIDE, "scores = scores + (1 - mask) * -np.inf", _SOFTMAX, "softmax(scores)"),
).explain("""
    -inf was multiplied by 0: (1 - mask) * -inf is nan where the mask is True
    why: 0 times infinity is nan, and adding it makes every visible score nan.
    ask: What is 0 * -np.inf? Which function selects one of two values by a condition, without arithmetic?""")
mistake(
    "always-causal",
    "    if mask is not None:",
    "    causal = np.tri(*scores.shape[-2:], dtype=bool)\n"
    "    mask = causal if mask is None else causal & mask\n"
    "    if mask is not None:",
).explain("""
    the causal mask was always applied, whatever the mask
    why: The caller decides what is hidden. In an encoder and in cross attention, later positions may be seen.
    ask: With mask=None and 3 keys, how many keys should the first query see, and how many does it see?""")

mistake("mask-filled-with--1e4-rows-zeroed", "-np.inf, where", "-1e4, where", _SOFTMAX, _ZEROED).explain("""
    hidden scores were set to a number that is not negative enough
    why: Other scores can be still more negative, and the hidden key then gets all the weight.
    ask: Which number is below every score that can occur?""")
mistake("number-added", _HIDE, _ADD, constant=-30.0).explain("""
    {constant} was added to hidden scores, instead of -inf
    why: A hidden score that is far above the others still gets weight, and the differences between hidden scores are
         still there if a query sees nothing.
    ask: Which score gets the weight 0 in a softmax, however large it was before?""")
# The weights are changed after the softmax.
for name, more, constant in (("", "", None), ("-plus-number", " + CONSTANT", 1e-6)):
    total = f"(weights.sum(axis=-1, keepdims=True){more})"
    mistake(
        f"mask-after-softmax-renormalised{name}",
        _HIDE,
        "pass",
        _SOFTMAX,
        f"{_SOFTMAX}\n    if mask is not None:\n        weights = weights * mask\n        weights = weights / {total}",
        constant=constant,
    ).explain("""
        the mask was applied after the softmax, and the weights normalized again
        why: If a hidden score is much larger than the others, their weights are already rounded to 0, and are lost.
        ask: Which weights are left if a hidden key has the score 30000? What if it had been hidden before the
             softmax?""")
for name, total, constant in (
    ("", "np.where(total == 0, 1, total)", None),
    ("-and-nan", "total", None),
    ("-plus-number", "(total + CONSTANT)", 1e-6),
):
    mistake(f"maximum-before-mask{name}", constant=constant).body(_UNMASKED_MAXIMUM.format(total=total)).explain("""
        the maximum was taken before the mask was applied
        why: It may be the score of a hidden key. If that is far above the others, their exponentials are all rounded to
             0.
        ask: If the scores are 0 and 1000 and the second key is hidden, what is subtracted from the first score?""")


# Masks that should be rejected.
_CHECK = "if mask.dtype != bool:"
_ADDED = f"if mask.dtype == bool:\n            {_HIDE}\n        else:\n            scores += mask"
for name, *use in (("", "where=~mask", "where=mask == 0"), ("-added", _HIDE, _ADDED)):
    mistake(
        f"numbers-in-mask-accepted{name}", _CHECK, "if False:", *use, common=not name, group="numbers in the mask"
    ).explain("""
        a mask of numbers was accepted
        why: In a mask of 0 and -inf, 0 means "may attend", but as a boolean it is False: with the wrong convention
             everything still runs, and the results are wrong.
        ask: What is the dtype of a mask of 0 and -inf? Which line of your code would notice it?""")
mistake(
    "mask-enlarges-scores",
    _HIDE,
    "if True:\n            scores = np.where(mask, scores, -np.inf).astype(scores.dtype)\n"
    f"        else:\n            {_HIDE}",
).explain("""
    a mask larger than the scores was accepted, and enlarged the results
    why: np.where and + broadcast both ways: a mask with a wrong axis makes a batch of results out of one text.
    ask: What is the shape of np.where(mask, scores, -np.inf) if the mask has one axis more than the scores?""")
