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
_RESULT = "return weights @ v, weights"
# What is done about queries that see nothing: edits of the solution. The first gives them the softmax of their scores.
_ROWS = (
    ("", ()),
    (
        "-rows-zeroed",
        (_SOFTMAX, f"{_SOFTMAX}\n    weights = weights * (True if mask is None else mask.any(-1)[..., None])"),
    ),
)
_SMALL = ("1e-5", "1e-6", "1e-7", "1e-8", "1e-9", "1e-10")

mistake = MISTAKES.for_functions("attention.attention")
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
    "_softmax_or_zeros(scores)",
    "_softmax_or_zeros(scores) * (1 if mask is None else mask.astype(scores.dtype))",
).explain("""
    the mask was applied after the softmax
    why: The hidden keys have already received part of the weight, so the weights of a query sum to less than 1.
    ask: Sum the weights of one query. Is the result 1?""")
mistake(
    "scores-multiplied-by-mask",
    "np.copyto(scores, -np.inf, where=~mask)",
    "scores = scores * mask",
    group="hidden scores are 0",
).explain("""
    the scores were multiplied by the mask
    why: A score of 0 does not hide a key, because exp(0) is 1.
    ask: Which score gets the weight 0 in a softmax?""")
mistake("plus-infinity", "-np.inf, where=~mask", "np.inf, where=~mask", group="nan and infinity").explain("""
    hidden scores were set to +inf
    why: +inf is the largest score of its row, and inf - inf is nan.
    ask: Which score gets the weight 0 in a softmax?""")
mistake("large-negative-number", "-np.inf, where", "-1e9, where", common=True).explain("""
    hidden scores were set to a large negative number, not to -inf
    why: A query that sees nothing then attends to all keys equally, because all of its scores are the same. Its weights
         and its output must be 0.
    ask: What is the softmax of a row in which all scores are -1e9?""")
mistake("nan-where-nothing-is-seen", "_softmax_or_zeros(scores)", "softmax(scores)", common=True).explain("""
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
for name, fill, softmax in (
    ("infinite", "-np.inf", "_softmax_or_zeros(scores)"),
    ("infinite-and-nan", "-np.inf", "softmax(scores)"),
    ("large-number", "-1e9", "softmax(scores)"),
):
    mistake(
        f"mask-of-full-shape-only-{name}",
        "np.copyto(scores, -np.inf, where=~mask)",
        f"scores[~mask] = {fill}",
        "_softmax_or_zeros(scores)",
        softmax,
        group="mask of full shape only",
    ).explain("""
        the function needs a mask as large as the scores: scores[~mask]
        why: A boolean index must have the shape of the array. But a mask only has to broadcast, so that one mask can
             serve all texts and heads.
        ask: Which NumPy functions take a condition and broadcast it against the scores?""")
for name, more in (("", ()), ("-and-nan", ("_softmax_or_zeros(scores)", "softmax(scores)"))):
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
    "always-causal",
    "    if mask is not None:",
    "    causal = np.tri(*scores.shape[-2:], dtype=bool)\n"
    "    mask = causal if mask is None else causal & mask\n"
    "    if mask is not None:",
).explain("""
    the causal mask was always applied, whatever the mask
    why: The caller decides what is hidden. In an encoder and in cross attention, later positions may be seen.
    ask: Does the formula in the docstring contain a causal mask?""")

for rows, more in _ROWS:
    mistake(f"fill-near-0{rows}", "-np.inf, where", "0.0, where", *more, group=f"hidden scores are 0{rows}").explain("""
        hidden scores were set to 0, or to a number near 0
        why: exp(0) is 1, so the key is not hidden. (1e-9 is nearly 0; perhaps -1e9 was intended.)
        ask: Which score gets the weight 0 in a softmax: a small one, or a very negative one?""")
    mistake(f"large-positive-number{rows}", "-np.inf, where", "1e9, where", *more).explain("""
        hidden scores were set to a large positive number
        why: The hidden keys then get all the weight. The minus sign is missing.
        ask: Which score gets the weight 0 in a softmax?""")
mistake("mask-filled-with", "-np.inf, where", "CONSTANT, where", constant=-30.0).explain("""
    hidden scores were set to {constant}, not to -inf
    why: exp of such a score need not be 0, and other scores can be even more negative. A query that sees nothing
         attends to all keys equally, because all of its scores are the same.
    ask: Which number is below every score that can occur?""")
for fill in ("-1.0", "-2.0", "-3.0", "-5.0", "-10.0", "-20.0", "-1e4"):  # All below -30 give the same answers.
    mistake(f"mask-filled-with-{fill}-rows-zeroed", "-np.inf, where", f"{fill}, where", *_ROWS[1][1]).explain("""
        hidden scores were set to a number that is not negative enough
        why: Other scores can be still more negative, and the hidden key then gets all the weight.
        ask: Which number is below every score that can occur?""")
mistake("number-added", _HIDE, _ADD, constant=-30.0).explain("""
    {constant} was added to hidden scores, instead of -inf
    why: A hidden score that is far above the others still gets weight, and the differences between hidden scores are
         still there if a query sees nothing.
    ask: Which score gets the weight 0 in a softmax, however large it was before?""")
for added in ("-10.0", "-1e2", "-1e3", "-1e4"):
    mistake(
        f"number-added-{added}-rows-zeroed", _HIDE, _ADD.replace("CONSTANT", added), *_ROWS[1][1], group="small added"
    ).explain("""
        the number added to hidden scores is not negative enough
        why: A hidden score that is far above the others still gets weight.
        ask: How negative must a number be so that its sum with any score is below every other score?""")
mistake("large-negative-number-added", _HIDE, _ADD.replace("CONSTANT", "-1e9")).explain("""
    a large negative number was added to hidden scores, instead of -inf
    why: A query that sees nothing then attends to all keys, because the differences between its hidden scores are still
         there. Its weights and its output must be 0.
    ask: What is the softmax of a row in which -1e9 was added to every score?""")
mistake("fill-nan", "-np.inf, where", "np.nan, where", group="nan and infinity").explain("""
    hidden scores were set to nan
    why: A single nan makes the sum of the row nan, and with it all weights.
    ask: Which score gets the weight 0 in a softmax?""")
mistake("mask-added", _HIDE, "scores = scores + mask").explain("""
    hidden scores were only 1 lower than without a mask, as with scores + mask
    why: True counts as 1 and False as 0, so no key is hidden. Only masks of 0 and -inf, another convention, are added.
    ask: What is True + 1.0? Which scores should the mask change, and to what?""")
# The weights are changed after the softmax.
for name, total in (
    ("", "weights.sum(axis=-1, keepdims=True)"),
    ("-rows-zeroed", "np.maximum(weights.sum(axis=-1, keepdims=True), np.finfo(weights.dtype).tiny)"),
    *((f"-plus-{small}", f"(weights.sum(axis=-1, keepdims=True) + {small})") for small in _SMALL),
):
    mistake(
        f"mask-after-softmax-renormalised{name}",
        _HIDE,
        "pass",
        _SOFTMAX,
        f"{_SOFTMAX}\n    if mask is not None:\n        weights = weights * mask\n        weights = weights / {total}",
    ).explain("""
        the mask was applied after the softmax, and the weights normalized again
        why: If a hidden score is much larger than the others, their weights are already rounded to 0, and are lost.
        ask: Which weights are left if a hidden key has the score 30000? What if it had been hidden before the
             softmax?""")
for name, total in (
    ("", "np.where(total == 0, 1, total)"),
    ("-and-nan", "total"),
    *((f"-plus-{small}", f"(total + {small})") for small in _SMALL),
):
    mistake(f"maximum-before-mask{name}").body(_UNMASKED_MAXIMUM.format(total=total)).explain("""
        the maximum was taken before the mask was applied
        why: It may be the score of a hidden key. If that is far above the others, their exponentials are all rounded to
             0.
        ask: If the scores are 0 and 1000 and the second key is hidden, what is subtracted from the first score?""")
mistake(
    "values-hidden",
    _HIDE,
    "pass",
    _RESULT,
    "hidden = weights if mask is None else weights * mask\n    return hidden @ v, weights",
).explain("""
    hidden keys were left out of the output, but not of the weights
    why: The softmax gave them a part of the weight, which is then missing from the other keys of the row.
    ask: Sum the weights of one query over the keys that it may see. Is the result 1?""")

# Queries that see nothing.
for name, softmax, fill in (("nan", "softmax(scores)", "-np.inf"), ("mean", _SOFTMAX, "-1e9")):
    mistake(
        f"only-weights-zeroed-{name}",
        "-np.inf, where",
        f"{fill}, where",
        _SOFTMAX,
        softmax,
        _RESULT,
        "out = weights @ v\n"
        "    return out, weights if mask is None else np.where(mask, weights, 0).astype(weights.dtype)",
    ).explain("""
        a query that sees nothing got weights 0, but not the output 0
        why: The output was computed before the weights were corrected.
        ask: In which order does your code compute the output and set the weights to 0?""")
    mistake(
        f"only-output-zeroed-{name}",
        "-np.inf, where",
        f"{fill}, where",
        _SOFTMAX,
        softmax,
        _RESULT,
        "out = weights @ v\n"
        "    return out if mask is None else np.where(mask.any(-1)[..., None], out, 0).astype(out.dtype), weights",
    ).explain("""
        a query that sees nothing got the output 0, but not weights 0
        why: Both results are used: the backward pass starts from the weights.
        ask: Print the weights of a query that sees nothing. What should they be?""")
mistake(
    "sees-everything-if-nothing",
    _HIDE,
    "np.copyto(scores, -np.inf, where=~mask & mask.any(axis=-1, keepdims=True))",
).explain("""
    a query that sees nothing attends to all keys, as if there were no mask
    why: Its weights and its output must be 0.
    ask: What does your code do with a row of the mask that is all False?""")
mistake("all-false-mask-ignored", "if mask is not None:", "if mask is not None and np.any(mask):").explain("""
    a mask that is all False was ignored
    why: It hides every key. All weights and outputs must be 0.
    ask: What does `mask.any()` return if everything is hidden?""")

# The wrong mask.
mistake("mask-tested-as-a-value", "if mask is not None:", "if mask:").explain("""
    the mask was tested with `if mask:` (or `mask == None`), not with `mask is not None`
    why: NumPy cannot say whether an array of several booleans is true.
    ask: Which two cases should your `if` distinguish?""")
for name, expression, title in (
    ("transposed", "mask.swapaxes(-1, -2)", "the mask was transposed"),
    ("head-axis-added", "mask[:, None]", "an extra axis was added to the mask, after its first one"),
    ("of-the-first-text", "mask.reshape(-1, *mask.shape[-2:])[0]", "the mask of the first text was used for all"),
    ("of-the-first-query", "mask[..., :1, :]", "the first query's row of the mask was used for all queries"),
    ("of-the-last-query", "mask[..., -1:, :]", "the last query's row of the mask was used for all queries"),
    ("of-the-first-keys", "np.tri(*scores.shape[-2:], dtype=bool)", "a causal mask was used, whatever the mask"),
):
    mistake(f"mask-{name}", "where=~mask", f"where=~{expression}").explain(f"""
        {title}
        why: The mask has a row for each query and a column for each key, and broadcasts to (..., T, S) as it is.
        ask: Print the shape of your mask next to that of the scores. Which axes line up, counted from the end?""")
mistake(
    "mask-in-place", _HIDE, "np.logical_not(mask, out=mask)\n        np.copyto(scores, -np.inf, where=mask)"
).explain("""
    the mask was changed in place
    why: The caller's mask is still needed, for the next layer and the next batch.
    ask: Which of your lines create a new array, and which write into an argument?""")

# Masks that should be rejected.
_CHECK = "if mask.dtype != bool:"
for name, edits in (
    ("", (_CHECK, "if False:", "where=~mask", "where=mask == 0")),
    ("-minus-infinity-as-true", (_CHECK, "if mask.dtype.kind == 'i':", "where=~mask", "where=mask == 0")),
    (
        "-zeros-hide-nothing",
        (_CHECK, "if False:", "where=~mask", "where=mask == False if mask.dtype == bool else False"),
    ),
    ("-integers", (_CHECK, "if mask.dtype.kind == 'f':", "where=~mask", "where=mask == 0")),
    ("-integers-inverted", (_CHECK, "if mask.dtype.kind == 'f':", "where=~mask", "where=(~mask).astype(bool)")),
    (
        "-added",
        (
            _CHECK,
            "if False:",
            _HIDE,
            f"if mask.dtype == bool:\n            {_HIDE}\n        else:\n            scores += mask",
        ),
    ),
    (
        "-floats-added",
        (
            _CHECK,
            "if mask.dtype.kind == 'i':",
            _HIDE,
            f"if mask.dtype == bool:\n            {_HIDE}\n        else:\n            scores += mask",
        ),
    ),
):
    mistake(f"numbers-in-mask-accepted{name}", *edits, common=not name, group="numbers in the mask").explain("""
        a mask of numbers was accepted
        why: The docstring promises a TypeError. In a mask of 0 and -inf, 0 means "may attend", but as a boolean it is
             False: with the wrong convention everything still runs, and the results are wrong.
        ask: What is the dtype of a mask of 0 and -inf? Which line of your code would notice it?""")
for name, where in (
    ("", "True"),
    ("-of-one-text", "mask.ndim == scores.ndim"),
):
    mistake(
        f"mask-enlarges-scores{name}",
        _HIDE,
        f"if {where}:\n            scores = np.where(mask, scores, -np.inf).astype(scores.dtype)\n"
        f"        else:\n            {_HIDE}",
    ).explain("""
        a mask larger than the scores was accepted, and enlarged the results
        why: np.where and + broadcast both ways. The docstring promises a ValueError unless the mask broadcasts to
             (..., T, S).
        ask: What is the shape of np.where(mask, scores, -np.inf) if the mask has one axis more than the scores?""")
