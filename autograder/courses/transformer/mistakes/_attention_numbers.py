"""Mistakes in assignment 4 about softmax and masks put together: what is subtracted, added and divided, and when."""

from autograder.engine.diagnosis.mistake import Mistake

_IN_SUM = ("1e-5", "1e-6", "1e-7", "1e-8")
_DIAGONAL = (
    "np.triu(…, k=1) is the future without the present, k=0 the future and the present; what is not in it may be seen. "
    "And with fewer queries than keys the diagonal has to be moved."
)
_TWO_QUESTIONS = (
    "For one query and three keys: how many of them may it see? And for three queries, may the first see key 0?"
)

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

NUMBERS = (
    # --- causal_mask
    *(
        Mistake(
            "attention.causal_mask",
            f"{name}-from-the-first-keys",
            f"{title}, and the queries were taken for the first positions, not for the last",
            _DIAGONAL,
            _TWO_QUESTIONS,
            edits=(("np.tri(n_queries, n_keys, k=n_keys - n_queries, dtype=bool)", mask),),
        )
        for name, title, mask in (
            ("without-diagonal", "a query cannot see itself", "np.tri(n_queries, n_keys, k=-1, dtype=bool)"),
            ("upper-triangle", "the upper triangle was kept", "np.triu(np.ones((n_queries, n_keys), dtype=bool))"),
        )
    ),
    Mistake(
        "attention.causal_mask",
        "integers",
        "the mask holds 1 and 0, not True and False",
        "The pattern is right, but ~mask, mask indexing and `where=` need booleans: ~1 is -2.",
        "What does ~1 give, and what ~True?",
        edits=((", dtype=bool)", ", dtype=np.int64)"),),
    ),
    Mistake(
        "attention.causal_mask",
        "axes-for-batch-and-heads",
        "the mask has axes for the batch and the heads: (1, 1, T, S)",
        "The docstring asks for (T, S). Broadcasting adds the axes in front by itself, wherever they are needed.",
        "What does broadcasting do with (T, S) and (B, H, T, S)?",
        edits=(("dtype=bool)", "dtype=bool)[None, None]"),),
    ),
    # --- padding_mask
    Mistake(
        "attention.padding_mask",
        "additive",
        "the mask holds 0 and -inf, to be added to the scores",
        "That is another convention. Here a mask is boolean.",
        "What should the dtype of the mask be?",
        edits=(("np.asarray(keep, dtype=bool)", "np.where(keep, 0.0, -np.inf)"),),
    ),
    # --- attention
    *(
        Mistake(
            "attention.attention",
            f"small-number-in-sum-{small}",
            "a small number was added to the sum of the exponentials",
            "It hides 0/0 where a query sees nothing, but makes every weight a little too small: the rows no longer "
            "add up to 1.",
            "For which rows alone is the sum 0? What should the others be divided by?",
            edits=(("np.maximum(total, 1)[:, None]", f"(total + {small})[:, None]"),),
            inside="_softmax_in_place",
        )
        for small in _IN_SUM
    ),
    *(
        Mistake(
            "attention.attention",
            f"maximum-of-everything{name}",
            "the largest score of the whole array was subtracted, not the largest of each row",
            "With moderate scores nothing shows. In a row whose scores are all 800 lower, every exponential becomes 0.",
            "How many maxima does an array of scores (B, H, T, S) have, if each query has its own softmax?",
            body=_ONE_MAXIMUM.format(total=total),
        )
        for name, total in _TOTALS
    ),
    Mistake(
        "attention.attention",
        "maximum-before-mask",
        "the largest score was found before the mask was applied",
        "It may be that of a hidden key. If it is far above the others, their exponentials all become 0.",
        "Scores of 0 and 1000, and the second key is hidden: what is subtracted from the first?",
        body=_UNMASKED_MAXIMUM,
    ),
    *(
        Mistake(
            "attention.attention",
            f"zero-times-infinity{name}",
            "-inf was multiplied by 0: (1 - mask) * -inf is nan wherever the mask is True",
            "0 times infinity is no number, and adding it makes nan of every score that may be seen.",
            "What is 0 * -np.inf? Which function puts one value here and another one there, without arithmetic?",
            edits=(("np.copyto(scores, -np.inf, where=~mask)", "scores = scores + (1 - mask) * -np.inf"), *more),
        )
        for name, more in (("", ()), ("-and-nan", (("_softmax_in_place(scores)", "softmax(scores)"),)))
    ),
    Mistake(
        "attention.attention",
        "fill-not-negative-enough-added",
        "-10000 was added to the hidden scores",
        "A hidden score that is 10000 above the others gets all the weight; and a query that sees nothing looks at "
        "everything.",
        "Which number is below every score that can occur?",
        edits=(
            (
                "np.copyto(scores, -np.inf, where=~mask)",
                "scores = scores + np.where(mask, 0.0, -1e4).astype(scores.dtype)",
            ),
        ),
    ),
    Mistake(
        "attention.attention",
        "always-causal",
        "the causal mask was used whatever the mask says",
        "What may be seen is for the caller to say: an encoder and cross attention look at the future, too.",
        "Where in the formula of the docstring is a causal mask made?",
        edits=(
            (
                "    if mask is not None:",
                (
                    "    causal = np.tri(*scores.shape[-2:], dtype=bool)\n"
                    "    mask = causal if mask is None else causal & mask\n"
                    "    if mask is not None:"
                ),
            ),
        ),
    ),
    Mistake(
        "attention.attention",
        "no-softmax",
        "there is no softmax: the scores themselves are the weights",
        "Weights are to be positive and to add up to 1, or the output is no average.",
        "What do the weights of a query add up to?",
        edits=(("weights = _softmax_in_place(scores)", "weights = scores"),),
    ),
    Mistake(
        "attention.attention",
        "no-softmax-and-hidden-0",
        "there is no softmax: the scores themselves are the weights",
        "Weights are to be positive and to add up to 1, or the output is no average.",
        "What do the weights of a query add up to?",
        edits=(("-np.inf, where", "0.0, where"), ("weights = _softmax_in_place(scores)", "weights = scores")),
    ),
    Mistake(
        "attention.attention",
        "scores-for-weights",
        "the scores were returned, not the weights",
        "The backward pass and every picture of attention need what the softmax made of the scores.",
        "What do the rows of the second result add up to?",
        edits=(
            ("weights = _softmax_in_place(scores)", "weights = _softmax_in_place(scores.copy())"),
            ("return weights @ v, weights", "return weights @ v, scores"),
        ),
    ),
    # --- attention_backward
    Mistake(
        "attention.attention_backward",
        "only-dk-scaled",
        "dk was divided by √d_k, dq was not",
        "The scores were divided; their gradient is divided once, and then goes both ways.",
        "Which of the gradients pass the division on their way back?",
        edits=(
            ("    dscores /= math.sqrt(q.shape[-1])\n", ""),
            ("dscores.swapaxes(-1, -2) @ q", "dscores.swapaxes(-1, -2) @ q / math.sqrt(q.shape[-1])"),
        ),
    ),
    # --- causal_average_loop, causal_average_matmul
    *(
        Mistake(
            "attention.causal_average_loop",
            f"mean-over-{name}",
            f"the mean went over {title}",
            "Positions are to be averaged, and nothing else. The shape that is left is an error, or, where two sizes "
            "are equal, silently wrong numbers.",
            "The slice is (..., t + 1, D), and (..., D) should be left. Which axis has to go, counted from the end?",
            edits=((".mean(axis=-2)", mean),),
        )
        for name, title, mean in (
            ("the-features", "the numbers of each vector (axis=-1)", ".mean(axis=-1)"),
            ("the-features-kept", "the numbers of each vector (axis=-1)", ".mean(axis=-1, keepdims=True)"),
            ("the-texts", "the first axis (axis=0)", ".mean(axis=0)"),
        )
    ),
    Mistake(
        "attention.causal_average_loop",
        "mean-over-second-axis",
        "the mean went over axis 1, counted from the front",
        "That is right with exactly one batch axis. A single text has its features there, and a batch of batches its "
        "texts.",
        "The slice is (..., t + 1, D). Which axis holds the positions, counted from the end?",
        edits=((".mean(axis=-2)", ".mean(axis=1)"),),
    ),
    Mistake(
        "attention.causal_average_loop",
        "mean-with-the-mean-before",
        "each position was averaged with the average before it, half and half",
        "The average before stands for t vectors and the new one for one: they do not count the same.",
        "At position 2, which share of the result should the vector at position 0 have? Which one does it have?",
        body="""
    x = as_float(x)
    out = x.copy()
    for t in range(1, x.shape[-2]):
        out[..., t, :] = (out[..., t - 1, :] + x[..., t, :]) / 2
    return out
""",
    ),
    Mistake(
        "attention.causal_average_matmul",
        "weights-transposed",
        "the matrix of the weights was transposed",
        "Row t of the matrix says what goes into position t. Transposed, a position is made of itself and the future.",
        "Which entry of the matrix says how much of position 0 is in position 3: [0, 3] or [3, 0]?",
        edits=(("return weights @ x", "return weights.T @ x"),),
    ),
)
