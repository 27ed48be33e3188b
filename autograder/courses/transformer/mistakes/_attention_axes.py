"""Mistakes in assignment 4 about axes: code that counts them from the front, or works for one number of them only."""

from autograder.engine.diagnosis.mistake import Mistake

_HOW_MANY = "How can the sizes be read off from the end, whatever stands before them?"

AXES = (
    # --- causal_average_loop
    Mistake(
        "attention.causal_average_loop",
        "one-batch-axis-only",
        "it works with exactly one batch axis: B, T, D = x.shape",
        "A single text has no batch axis, and there may be more than one.",
        _HOW_MANY,
        edits=(("    out = np.empty_like(x)", "    _, _, _ = x.shape\n    out = np.empty_like(x)"),),
        common=True,
    ),
    Mistake(
        "attention.causal_average_loop",
        "first-axis",
        "the loop and the mean ran over the first axis",
        "That is right for a single text. With a batch the first axis is the texts, and they get mixed.",
        "Which axis holds the positions, counted from which end?",
        body="""
    x = as_float(x)
    out = np.zeros_like(x)
    for t in range(len(x)):
        out[t] = x[: t + 1].mean(axis=0)
    return out
""",
    ),
    Mistake(
        "attention.causal_average_loop",
        "last-axis",
        "the loop ran over the last axis, the numbers of a vector",
        "Positions are to be averaged, and they are the last axis but one.",
        "Which axis of (B, T, D) holds the positions?",
        body="""
    x = as_float(x)
    out = np.zeros_like(x)
    for t in range(x.shape[-1]):
        out[..., t] = x[..., : t + 1].mean(axis=-1)
    return out
""",
    ),
    Mistake(
        "attention.causal_average_loop",
        "mean-of-everything",
        "the mean went over all numbers so far, not over the positions",
        "One number is left for all texts and all D entries of the vector.",
        "What shape should the mean of (..., t + 1, D) have? What does .mean() without an axis give?",
        edits=((".mean(axis=-2)", ".mean()"),),
    ),
    Mistake(
        "attention.causal_average_loop",
        "written-into-x",
        "the averages were written into x itself",
        "Later positions then average averages, and the caller's array is changed.",
        "When position 2 is averaged, what stands at positions 0 and 1 by then?",
        edits=(("out = np.empty_like(x)", "out = x"),),
    ),
    # --- causal_average_matmul
    Mistake(
        "attention.causal_average_matmul",
        "one-batch-axis-only",
        "it works with exactly one batch axis: B, T, D = x.shape",
        "A single text has no batch axis, and there may be more than one.",
        _HOW_MANY,
        edits=(("    weights = np.tri(", "    _, _, _ = x.shape\n    weights = np.tri("),),
        common=True,
    ),
    Mistake(
        "attention.causal_average_matmul",
        "first-axis",
        "the triangle has the size of the first axis",
        "That is right for a single text. With a batch the first axis is the texts.",
        _HOW_MANY,
        edits=(("x.shape[-2]", "x.shape[0]"),),
    ),
    Mistake(
        "attention.causal_average_matmul",
        "wrong-side",
        "the matrix stands on the wrong side: x @ weights",
        "A matrix on the left mixes the rows of x, which are the positions; on the right it mixes the columns.",
        "What are the shapes of the weights and of x, and in which order do they fit?",
        edits=(("weights @ x", "x @ weights"),),
    ),
    Mistake(
        "attention.causal_average_matmul",
        "entry-by-entry",
        "* was written, where the matrix product @ belongs",
        "* multiplies entry by entry. A weighted sum of rows is what @ computes.",
        "Which operator multiplies and adds up?",
        edits=(("weights @ x", "weights * x"),),
    ),
    # --- causal_mask
    Mistake(
        "attention.causal_mask",
        "keys-required",
        "it does not work without the number of keys",
        "n_keys is None when nobody gives it: then there are as many keys as queries.",
        "What is n_keys in causal_mask(4)? What does the docstring say about that?",
        edits=(
            ("    if n_keys is None:\n        n_keys = n_queries\n", ""),
            ("    if n_queries > n_keys:", "    if False:"),
            (
                "np.tri(n_queries, n_keys, k=n_keys - n_queries, dtype=bool)",
                "np.tril(np.ones((n_queries, n_keys), dtype=bool), k=n_keys - n_queries)",
            ),
        ),
        group="without the number of keys",
    ),
    Mistake(
        "attention.causal_mask",
        "keys-required-for-offset",
        "it does not work without the number of keys",
        "n_keys is None when nobody gives it: then there are as many keys as queries.",
        "What is n_keys in causal_mask(4)? What does the docstring say about that?",
        edits=(
            ("    if n_keys is None:\n        n_keys = n_queries\n", ""),
            ("    if n_queries > n_keys:", "    if False:"),
        ),
        group="without the number of keys",
    ),
    # --- padding_mask
    Mistake(
        "attention.padding_mask",
        "keys-not-last",
        "the new axes come last, after the keys",
        "The keys are the last axis of the scores, (B, H, T, S), and the mask has to line up with them.",
        "With which axis of (B, H, T, S) does the last axis of your mask line up?",
        edits=(("[..., None, None, :]", "[..., None, None]"),),
    ),
    # --- attention
    Mistake(
        "attention.attention",
        "scaled-by-second-axis",
        "the scores were divided by the root of the second axis of q, q.shape[1]",
        "Counted from the front, the width is axis 1 for a single text only. With a batch that axis is the text, and "
        "with heads it is their number.",
        "Which axis of q is its width, counted from which end?",
        edits=(("math.sqrt(q.shape[-1])", "math.sqrt(q.shape[1])"),),
    ),
    Mistake(
        "attention.attention",
        "softmax-over-second-axis",
        "the softmax ran over axis 1, counted from the front",
        "That is right for a single text. With a batch axis 1 is the queries, and with heads it is the heads.",
        "Along which axis do the keys stand, counted from which end?",
        edits=(("_softmax_in_place(scores)", "np.nan_to_num(softmax(scores, axis=1))"),),
    ),
    *(
        Mistake(
            "attention.attention",
            f"mask-of-full-shape-only-{name}",
            "a mask that is smaller than the scores is an error: scores[~mask]",
            "An index of booleans must have the shape of the array. The mask only has to broadcast, so that one may "
            "serve all texts and heads.",
            "Which NumPy functions take a condition and broadcast it against the scores?",
            edits=(
                ("np.copyto(scores, -np.inf, where=~mask)", f"scores[~mask] = {fill}"),
                ("_softmax_in_place(scores)", softmax),
            ),
            group="mask of full shape only",
        )
        for name, fill, softmax in (
            ("infinite", "-np.inf", "_softmax_in_place(scores)"),
            ("infinite-and-nan", "-np.inf", "softmax(scores)"),
            ("large-number", "-1e9", "softmax(scores)"),
        )
    ),
    Mistake(
        "attention.attention",
        "three-axes-only-by-name",
        "it works with exactly one batch axis: B, T, K = q.shape",
        "Later on there will be heads as well, and a single text has no batch axis at all.",
        _HOW_MANY,
        edits=(("    scores = q @", "    _, _, _ = q.shape\n    scores = q @"),),
    ),
    Mistake(
        "attention.attention",
        "four-axes-only-by-name",
        "it works with exactly two batch axes: B, H, T, K = q.shape",
        "A single text, and a batch without heads, have fewer axes.",
        _HOW_MANY,
        edits=(("    scores = q @", "    _, _, _, _ = q.shape\n    scores = q @"),),
    ),
    # --- attention_backward
    Mistake(
        "attention.attention_backward",
        "keepdims-forgotten",
        "keepdims=True is missing from the sum in the backward of the softmax",
        "Without it the axis is gone, and NumPy subtracts along the wrong axis: an error for most shapes, silently "
        "wrong numbers where there are as many queries as keys.",
        "Print the shape of dweights and the shape of the sum. How does broadcasting line the two up?",
        edits=(
            (
                "softmax_backward(dweights, weights)",
                "weights * (dweights - (dweights * weights).sum(axis=-1))",
            ),
        ),
    ),
)
