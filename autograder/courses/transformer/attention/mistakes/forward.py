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
    ask: If all entries of q and k are 1 and d_k is 64, how large are your scores, and how large should they be?""")
mistake("scaled-by-width-of-values", "math.sqrt(q.shape[-1])", "math.sqrt(v.shape[-1])").explain("""
    the scores were divided by the root of the width of v
    why: The size of the scores depends on the queries and keys. The mistake stays hidden if values have the same width.
    ask: Which vectors are multiplied to give a score, and how long are they?""")
mistake("softmax-over-queries", "_softmax_or_zeros(scores)", "softmax(scores, axis=-2)", common=True).explain("""
    softmax was taken over the wrong axis (the queries)
    why: The weights of each key then sum to 1, when those of each query should.
    ask: Whose weights should sum to 1, those of a query or those of a key? Which axis do you have to sum over for
         that?""")
mistake("keys-times-queries", "q @ k.swapaxes(-1, -2)", "k @ q.swapaxes(-1, -2)", common=True).explain("""
    the scores are k qᵀ, not q kᵀ: rows and columns are exchanged
    why: Each row then belongs to a key, not to a query. With as many queries as keys, no shape is wrong.
    ask: For 3 queries and 5 keys, what is the shape of your scores, and what should it be?""")
mistake("all-axes-reversed", "k.swapaxes(-1, -2)", "k.T").explain("""
    k.T reversed all axes, including the batch axes
    why: .T is correct for a matrix. With batch axes, only the last two may be swapped.
    ask: What is the shape of k.T for a k of shape (2, 5, 4)?""")
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
mistake("results-exchanged", "return weights @ v, weights", "return weights, weights @ v").explain("""
    weights and out were returned in the wrong order
    why: The caller uses the first result as the output.
    ask: Which of your two results has rows that sum to 1? The caller takes the second for the weights.""")
mistake("weights-not-returned", "return weights @ v, weights", "return weights @ v").explain("""
    only the output was returned, without the weights
    why: The backward pass and the plots of attention need the weights.
    ask: What happens in `out, weights = attention(q, k, v)` with what you return?""")
mistake("always-float64", "/= math.sqrt(q.shape[-1])", "= scores / np.sqrt(q.shape[-1])", common=True).explain("""
    the results are float64 even when the inputs are float32
    why: np.sqrt(d_k) is a float64 scalar, which takes part in type promotion like an array (the Python float that
         math.sqrt returns does not). np.zeros and np.array make float64 arrays, too, unless a dtype is given.
    ask: What is the dtype of np.sqrt(4)? And that of each of your intermediate results?""")
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
mistake(
    "small-number-in-sum-1e-8",
    "weights = softmax(scores)",
    "weights = np.exp(scores - scores.max(axis=-1, keepdims=True))\n"
    "    weights /= weights.sum(axis=-1, keepdims=True) + 1e-8",
    inside="_softmax_or_zeros",
).explain("""
    a small number was added to the sum of the exponentials
    why: It avoids 0/0 where a query sees nothing, but makes every weight a little too small: the rows do not sum to
         1.
    ask: In which rows is the sum 0? By what should the other rows be divided?""")
for ending, total in _TOTALS:
    largest = "largest = scores.max(axis=(-2, -1), keepdims=True)"
    body = _ONE_MAXIMUM.format(total=total).replace("largest = scores.max()", largest)
    body = body.replace("(0.0 if largest == -np.inf else largest)", "np.where(largest == -np.inf, 0.0, largest)")
    mistake(f"maximum-of-each-text{ending}").body(body).explain("""
        the largest score of all queries of a text was subtracted, not that of each query
        why: Where the scores of a row are far below that maximum, every exponential is rounded to 0; far above it,
             they overflow. The mistake stays hidden with moderate scores.
        ask: Which number should be subtracted from the scores of one query, so that the largest of them is 0?""")
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

mistake("scaled-by-number-of-queries", "math.sqrt(q.shape[-1])", "math.sqrt(q.shape[-2])").explain("""
    the scores were divided by the root of the number of queries
    why: A dot product of vectors of length d_k has the variance d_k, so √d_k brings the variance back to 1.
    ask: For q of shape (5, 16), did you divide by √5 or by √16? Which one belongs to a vector?""")

mistake("average-of-keys", "weights @ v, weights", "weights @ k, weights").explain("""
    the output is an average of the keys, not of the values
    why: What a position contributes is in its value. The mistake stays hidden only if both are equal.
    ask: Which array does the formula multiply by the weights?""")
