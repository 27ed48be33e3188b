"""Mistakes in assignment 4: attention itself; its masks and its backward pass are in modules of their own."""

from autograder.courses.transformer.mistakes._attention_axes import AXES
from autograder.courses.transformer.mistakes._attention_backward import BACKWARD
from autograder.courses.transformer.mistakes._attention_masks import MASKS
from autograder.courses.transformer.mistakes._attention_numbers import NUMBERS
from autograder.courses.transformer.mistakes._quotients import quotient
from autograder.engine.diagnosis.mistake import Mistake

FORWARD = (
    # --- attention
    Mistake(
        "attention.attention",
        "no-scale",
        "the scores were not divided by √d_k",
        "Products of longer vectors are larger, and the softmax of large scores looks at a single key.",
        "Compare your scores with the formula in the docstring. What stands below q kᵀ?",
        edits=(("scores /= math.sqrt(q.shape[-1])", "pass"),),
        common=True,
    ),
    Mistake(
        "attention.attention",
        "no-root",
        "the scores were divided by d_k, not by its square root",
        "The scores become too small, and the weights too even.",
        "The variance of the scores is d_k. By what must they be divided for a variance of 1?",
        edits=(("math.sqrt(q.shape[-1])", "q.shape[-1]"),),
    ),
    Mistake(
        "attention.attention",
        "scale-multiplied",
        "the scores were multiplied by √d_k instead of divided",
        "x ** -0.5 is already 1/√x. Multiplied by √d_k, the softmax looks at a single key.",
        "Are your scores larger or smaller after scaling?",
        edits=(("scores /= math.sqrt", "scores *= math.sqrt"),),
    ),
    Mistake(
        "attention.attention",
        "scaled-by-width-of-values",
        "the scores were divided by the root of the width of v",
        "Queries and keys decide how large the scores are. As long as values have the same width, nothing shows.",
        "Which vectors are multiplied to give a score, and how long are they?",
        edits=(("math.sqrt(q.shape[-1])", "math.sqrt(v.shape[-1])"),),
    ),
    Mistake(
        "attention.attention",
        "scaled-by-number-of-keys",
        "the scores were divided by the root of the number of keys",
        "The sum of a score has one term for each number in a vector, not for each key.",
        "Over what does the sum in a product of a query and a key run?",
        edits=(("math.sqrt(q.shape[-1])", "math.sqrt(k.shape[-2])"),),
    ),
    Mistake(
        "attention.attention",
        "weights-scaled",
        "the weights were divided by √d_k, not the scores",
        "The weights of a query then do not add up to 1.",
        "Is the division inside the softmax or outside?",
        edits=(
            ("scores /= math.sqrt(q.shape[-1])", "pass"),
            ("_softmax_in_place(scores)", "_softmax_in_place(scores) / math.sqrt(q.shape[-1])"),
        ),
    ),
    Mistake(
        "attention.attention",
        "softmax-over-queries",
        "the softmax ran over the queries, not over the keys",
        "The weights of each key add up to 1, when those of each query should.",
        "Who shares out its attention: a query among keys, or a key among queries? Which axis is that?",
        edits=(("_softmax_in_place(scores)", "softmax(scores, axis=-2)"),),
        common=True,
    ),
    Mistake(
        "attention.attention",
        "scores-transposed",
        "the scores are transposed: k qᵀ",
        "Rows must be queries and columns keys. When q and k are the same, nothing shows.",
        "What is the shape of your scores, (T, S) or (S, T)?",
        edits=(("q @ k.swapaxes(-1, -2)", "k @ q.swapaxes(-1, -2)"),),
    ),
    Mistake(
        "attention.attention",
        "all-axes-reversed",
        "k.T reverses all axes, the batch axes too",
        "For a matrix .T is right; with batch axes, only the last two may be exchanged.",
        "What is the shape of k.T for a k of shape (2, 5, 4)?",
        edits=(("k.swapaxes(-1, -2)", "k.T"),),
    ),
    Mistake(
        "attention.attention",
        "three-axes-only",
        "it works with exactly one batch axis: k.transpose(0, 2, 1)",
        "Later on there will be heads as well, and a single text has no batch axis at all.",
        "How can the last two axes be exchanged, whatever stands before them?",
        edits=(("k.swapaxes(-1, -2)", "k.transpose(0, 2, 1)"),),
    ),
    Mistake(
        "attention.attention",
        "four-axes-only",
        "it works with exactly two batch axes: k.transpose(0, 1, 3, 2)",
        "A single text, and a batch without heads, have fewer axes.",
        "How can the last two axes be exchanged, whatever stands before them?",
        edits=(("k.swapaxes(-1, -2)", "k.transpose(0, 1, 3, 2)"),),
    ),
    Mistake(
        "attention.attention",
        "mask-inverted",
        "the mask was used the wrong way round",
        "True means that a query may look. Here it looks exactly where it may not.",
        "Which scores should become -inf: those where the mask is True, or the others?",
        edits=(("where=~mask", "where=mask"),),
        common=True,
    ),
    Mistake(
        "attention.attention",
        "mask-ignored",
        "the mask is not used",
        "Every query sees every key, the future and the padding too.",
        "Does your result change when the mask changes?",
        edits=(("np.copyto(scores, -np.inf, where=~mask)", "pass"),),
        common=True,
    ),
    Mistake(
        "attention.attention",
        "mask-after-softmax",
        "the mask was applied after the softmax",
        "The hidden keys have taken their share already, and the weights of a query add up to less than 1.",
        "Add up the weights of one query. Is it 1?",
        edits=(
            ("np.copyto(scores, -np.inf, where=~mask)", "pass"),
            (
                "_softmax_in_place(scores)",
                "_softmax_in_place(scores) * (1 if mask is None else mask.astype(scores.dtype))",
            ),
        ),
    ),
    Mistake(
        "attention.attention",
        "mask-after-softmax-renormalised",
        "the mask was applied after the softmax, and the weights divided by their sum again",
        "That is right only as long as something is left: where a hidden score is much larger, all others are 0 "
        "already, "
        "and 0/0 is nan.",
        "What is left of the weights if a hidden key has the score 30000? What if it had been hidden before?",
        edits=(
            ("np.copyto(scores, -np.inf, where=~mask)", "pass"),
            (
                "_softmax_in_place(scores)",
                (
                    "_softmax_in_place(scores)\n"
                    "    if mask is not None:\n"
                    "        weights = weights * mask\n"
                    "        weights = weights / weights.sum(axis=-1, keepdims=True)"
                ),
            ),
        ),
    ),
    Mistake(
        "attention.attention",
        "scores-multiplied-by-mask",
        "the scores were multiplied by the mask",
        "A score of 0 is not hidden: exp(0) is 1.",
        "Which score gives the weight 0 in a softmax?",
        edits=(("np.copyto(scores, -np.inf, where=~mask)", "scores = scores * mask"),),
        group="hidden scores are 0",
    ),
    Mistake(
        "attention.attention",
        "small-fill",
        "hidden scores were set to 1e-9",
        "1e-9 is nearly 0, and exp(0) is 1. What was meant is the large negative number -1e9.",
        "Which score gives the weight 0 in a softmax: a small one, or a very negative one?",
        edits=(("-np.inf, where", "1e-9, where"),),
        group="hidden scores are 0",
    ),
    Mistake(
        "attention.attention",
        "plus-infinity",
        "hidden scores were set to +inf",
        "inf - inf is nan. What was meant is -inf.",
        "Which score gives the weight 0 in a softmax?",
        edits=(("-np.inf, where=~mask", "np.inf, where=~mask"),),
    ),
    Mistake(
        "attention.attention",
        "fill-not-negative-enough",
        "hidden scores were set to -10000",
        "Other scores may be still more negative, and then the hidden key gets all the weight.",
        "Which number is below every score that can occur?",
        edits=(
            ("-np.inf, where=~mask", "-1e4, where=~mask & mask.any(axis=-1, keepdims=True)"),
            (
                "_softmax_in_place(scores)",
                (
                    "_softmax_in_place(scores)\n"
                    "    if mask is not None:\n"
                    "        weights = weights * mask.any(axis=-1, keepdims=True)"
                ),
            ),
        ),
    ),
    Mistake(
        "attention.attention",
        "large-negative-number",
        "hidden scores were set to -1e9, so that a query that sees nothing looks at everything",
        "Where all scores are the same, the softmax is even. The output must be 0 there, and the weights too.",
        "What is the softmax of a row in which all scores are -1e9?",
        edits=(("-np.inf, where", "-1e9, where"),),
        common=True,
    ),
    Mistake(
        "attention.attention",
        "large-negative-number-added",
        "-1e9 was added to the hidden scores, so that a query that sees nothing looks at everything",
        "The differences between the hidden scores survive. Where there is nothing else, they decide the weights.",
        "What is the softmax of a row in which -1e9 was added to every score?",
        edits=(("np.copyto(scores, -np.inf, where=~mask)", "scores = scores + (1 - mask) * -1e9"),),
    ),
    Mistake(
        "attention.attention",
        "nan-where-nothing-is-seen",
        "a query that sees nothing gets nan",
        "-inf - (-inf) is nan. The output must be 0 there, and the weights too.",
        "What is the largest score of a row in which all are -inf? What happens when it is subtracted?",
        edits=(("_softmax_in_place(scores)", "softmax(scores)"),),
        common=True,
    ),
    Mistake(
        "attention.attention",
        "zero-scores-hidden",
        "scores of exactly 0 were taken for hidden ones",
        "scores * mask is 0 where the mask is False, but a score may be 0 by itself.",
        "How could a query and a key that may be looked at have the score 0?",
        edits=(
            (
                "np.copyto(scores, -np.inf, where=~mask)",
                "scores = scores * mask\n        scores[scores == 0] = -np.inf",
            ),
        ),
    ),
    Mistake(
        "attention.attention",
        "no-maximum",
        "the largest score was not subtracted in the softmax",
        "exp of a score above 709 is infinite, and infinity divided by infinity is nan.",
        "You have written a softmax that survives large scores. Why not use it?",
        edits=(
            (
                "weights = _softmax_in_place(scores)",
                (
                    "weights = np.exp(scores)\n"
                    "    total = weights.sum(axis=-1, keepdims=True)\n"
                    "    weights = weights / np.where(total == 0, 1, total)"
                ),
            ),
        ),
    ),
    Mistake(
        "attention.attention",
        "no-maximum-and-nan",
        "the largest score was not subtracted in the softmax, and a query that sees nothing gets nan",
        "exp of a score above 709 is infinite; and where all scores are -inf, the sum is 0, and 0/0 is nan.",
        "You have written a softmax that survives large scores. What is left to do for a row in which all are -inf?",
        edits=(
            (
                "weights = _softmax_in_place(scores)",
                "weights = np.exp(scores)\n    weights = weights / weights.sum(axis=-1, keepdims=True)",
            ),
        ),
    ),
    Mistake(
        "attention.attention",
        "causal-by-default",
        "without a mask, the causal one was used",
        "mask=None means that everybody may look at everything: in cross attention there is no future.",
        "What should attention do when there is no mask?",
        edits=(
            (
                "if mask is not None:",
                "if mask is None:\n        mask = np.tri(*scores.shape[-2:], dtype=bool)\n    if mask is not None:",
            ),
        ),
        group="causal by default",
    ),
    Mistake(
        "attention.attention",
        "mask-required",
        "it does not work without a mask",
        "mask=None means that everybody may look at everything.",
        "What is ~None?",
        edits=(("if mask is not None:", "if ~mask is not None:"),),
    ),
    Mistake(
        "attention.attention",
        "results-exchanged",
        "weights and out were returned in the wrong order",
        "The caller takes the first for the output.",
        "In which order does the docstring list the two results?",
        edits=(("return weights @ v, weights", "return weights, weights @ v"),),
    ),
    Mistake(
        "attention.attention",
        "weights-not-returned",
        "only the output was returned, without the weights",
        "The backward pass and the pictures of attention need the weights.",
        "How many results does the docstring list?",
        edits=(("return weights @ v, weights", "return weights @ v"),),
    ),
    Mistake(
        "attention.attention",
        "float64-from-root",
        "np.sqrt(d_k) is a float64 scalar and turned float32 into float64",
        "A NumPy float64 scalar takes part in the type rules like an array; a Python float, as from math.sqrt, "
        "does not.",
        "What is the dtype of np.sqrt(4)? And of float(np.sqrt(4))?",
        edits=(("scores /= math.sqrt(q.shape[-1])", "scores = scores / np.sqrt(q.shape[-1])"),),
    ),
    Mistake(
        "attention.attention",
        "queries-in-place",
        "the queries were scaled in place",
        "`q /= …` writes into the array of the caller, who still needs it for the backward pass.",
        "Which of your lines make a new array, and which write into one that was handed to you?",
        edits=(
            ("scores /= math.sqrt(q.shape[-1])", "pass"),
            ("scores = q @", "q /= math.sqrt(q.shape[-1])\n    scores = q @"),
        ),
    ),
    Mistake(
        "attention.attention",
        "causal-by-default-for-the-last-queries",
        "without a mask, the causal one was used",
        "mask=None means that everybody may look at everything: in cross attention there is no future.",
        "What should attention do when there is no mask?",
        edits=(
            (
                "    if mask is not None:",
                (
                    "    if mask is None:\n"
                    "        mask = np.tri(q.shape[-2], k.shape[-2], k=k.shape[-2] - q.shape[-2], dtype=bool)\n"
                    "    if mask is not None:"
                ),
            ),
        ),
        group="causal by default",
    ),
)

QUOTIENTS = (
    quotient(
        "attention.attention_backward",
        "    q, k, v = (as_float(x).copy() for x in (q, k, v))",
        "float((attention(q, k, v, weights > 0)[0] * dout).sum())",
        "tuple(map(quotients, (q, k, v)))",
    ),
)

MISTAKES = MASKS + FORWARD + BACKWARD + AXES + NUMBERS + QUOTIENTS
