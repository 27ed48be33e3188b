"""Mistakes in `bigram`: counting pairs."""

from autograder.courses.transformer.bigram.mistakes.generation import MISTAKES as GENERATION
from autograder.courses.transformer.bigram.mistakes.loss import MISTAKES as LOSS
from autograder.courses.transformer.bigram.mistakes.step import MISTAKES as STEP
from autograder.courses.transformer.bigram.mistakes.training import MISTAKES as TRAINING
from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes(GENERATION, LOSS, STEP, TRAINING)

_PAIRS = "np.add.at(counts, (ids[:-1], ids[1:]), 1.0)"
_FULL = "np.full((vocab_size, vocab_size), float(k))"
_ZEROS = "np.zeros((vocab_size, vocab_size))"
_UNIFORM = "counts[counts.sum(axis=1) == 0] = 1.0"
_RETURN = "return counts / counts.sum(axis=1, keepdims=True)"
_QUIET = 'with np.errstate(invalid="ignore", divide="ignore"):\n        '
_CHECK = "if ((ids < 0) | (ids >= vocab_size)).any():"

mistake = MISTAKES.for_functions("bigram.bigram_counts")
mistake("counted-once", _PAIRS, "counts[ids[:-1], ids[1:]] += 1.0", common=True).explain("""
    a pair that occurs several times was counted once
    why: `counts[rows, columns] += 1` adds 1 to each entry at most once, and a set of pairs forgets how often each
         occurs. The mistake stays hidden if no pair is repeated.
    ask: What does your code count in the text 0 1 0 1 0 1?""")
mistake("rows-are-the-next-tokens", _PAIRS, "np.add.at(counts, (ids[1:], ids[:-1]), 1.0)", common=True).explain("""
    the rows were counted for the next token, not for the current one
    why: Row i then says what came before token i, and the text would be written backwards.
    ask: In the text 0 1 1, which row and which column does the first pair belong to?""")
mistake("transposed", _RETURN, "return (counts / counts.sum(axis=1, keepdims=True)).T.copy()").explain("""
    the table was transposed
    why: Row i should hold the probabilities of the tokens after i, and sum to 1. Here the columns do.
    ask: Along which axis of your table do the probabilities sum to 1?""")
mistake(
    "columns-sum-to-1", _RETURN, _QUIET + "return counts / counts.sum(axis=0, keepdims=True)", common=True
).explain("""
    the counts were divided by the sums of the columns, not of the rows
    why: That says how likely token i was before j. What comes after i is a row.
    ask: What is the sum of the first row of your table?""")
mistake("keepdims-forgotten", _RETURN, "return counts / counts.sum(axis=1)", common=True).explain("""
    keepdims=True is missing from the sum
    why: The sums then have shape (V,), and broadcasting divides each column by the sum of a row.
    ask: Print the shapes of the counts and of their sums. How does broadcasting align the two?""")
mistake("divided-by-everything", _RETURN, "return counts / counts.sum()", common=True).explain("""
    the counts were divided by the sum of the whole table, not by that of each row
    why: That is how likely a pair is, not how likely a token is after another one.
    ask: What is the sum of the first row of your table?""")
mistake("not-normalised", _RETURN, "return counts").explain("""
    the counts were returned, not divided by the sums of the rows
    why: Probabilities sum to 1 in each row.
    ask: What is the sum of the first row of your table?""")
for name, form, what in (
    ("largest", "counts.max(axis=1, keepdims=True)", "the largest count of the row"),
    ("mean", "counts.mean(axis=1, keepdims=True)", "the mean of the row"),
    ("number-of-pairs", "max(len(ids) - 1, 1)", "the number of pairs in the text"),
    ("number-of-tokens", "max(len(ids), 1)", "the number of tokens in the text"),
    ("norm", "np.sqrt((counts * counts).sum(axis=1, keepdims=True))", "the root of the sum of their squares"),
):
    mistake(f"divided-by-{name}", _RETURN, f"return counts / {form}").explain(f"""
        the counts were divided by {what}, not by the sum of the row
        why: Probabilities sum to 1 in each row only if the row is divided by its own sum.
        ask: What is the sum of the first row of your table?""")
mistake(
    "divided-by-all-occurrences",
    _RETURN,
    "n = np.bincount(ids, minlength=vocab_size) + k * vocab_size\n"
    "    n = np.where(n == 0, vocab_size, n)[:, None]\n"
    "    return counts / n",
).explain("""
    the rows were divided by how often their token occurs, including the end of the text
    why: The last token of the text is followed by nothing, so it is not part of a pair. Only its row is wrong.
    ask: What is the sum of the row of the last token?""")
mistake("k-ignored", _FULL, _ZEROS, common=True).explain("""
    k was not added to the counts
    why: Pairs that do not occur in this text then have probability 0, and an infinite loss in another text.
    ask: What is the smallest probability in your table?""")
mistake("k-always-1", _FULL, "np.ones((vocab_size, vocab_size))").explain("""
    1 was always added to the counts, whatever k is
    why: The mistake stays hidden with the default, k=1.
    ask: Where does your code use the argument k?""")
mistake(
    "k-not-in-the-sum", _FULL, _ZEROS, _RETURN, _QUIET + "return (counts + k) / counts.sum(axis=1, keepdims=True)"
).explain("""
    k was added to the counts, but not to the sums of the rows
    why: The rows then sum to more than 1: the sum is taken over the counts with k added.
    ask: If each of V counts grows by k, by how much does their sum grow?""")
mistake(
    "k-once-in-the-sum",
    _FULL,
    _ZEROS,
    _RETURN,
    _QUIET + "return (counts + k) / (counts.sum(axis=1, keepdims=True) + k)",
    common=True,
).explain("""
    the sums of the rows grew by k, not by V times k
    why: k is added to each of the V counts of a row, so their sum grows by V k. Here the rows sum to more than 1.
    ask: If each of V counts grows by k, by how much does their sum grow?""")
mistake(
    "k-only-in-the-sum",
    _FULL,
    _ZEROS,
    _UNIFORM,
    "pass",
    _RETURN,
    _QUIET + "return counts / (counts.sum(axis=1, keepdims=True) + k * vocab_size)",
).explain("""
    k was added to the sums of the rows, but not to the counts
    why: The rows then sum to less than 1, and pairs that do not occur still have probability 0.
    ask: What is the smallest probability in your table?""")
mistake("k-only-where-0", _FULL, _ZEROS, _UNIFORM, "counts[counts == 0] = k or 0.0\n    " + _UNIFORM).explain("""
    k was added only to the counts that are 0
    why: Every count grows by k. Otherwise a pair that occurs k times is as likely as one that never occurs.
    ask: With k = 1, what is the count of a pair that occurs once, and of one that never occurs?""")
mistake("k-divided-by-v", _FULL, "np.full((vocab_size, vocab_size), k / vocab_size)").explain("""
    k / V was added to each count, not k
    why: The counts then add up to k more in each row, and not to V k more.
    ask: With k = 1, which count does a pair have that never occurs?""")
mistake("k-added-to-probabilities", _FULL, _ZEROS, _RETURN, _RETURN + " + k").explain("""
    k was added to the probabilities, not to the counts
    why: The rows then sum to more than 1.
    ask: What is the sum of the first row of your table?""")
mistake("k-truncated", "float(k)", "int(k)").explain("""
    k was rounded down to an integer
    why: An array of integers cannot hold a k of 0.25. The mistake stays hidden with k = 1.
    ask: What is the dtype of your array of counts?""")
mistake("k-squared", "float(k)", "float(k) ** 2").explain("""
    the counts grew by k², not by k
    why: The mistake stays hidden with k = 1.
    ask: With k = 3, which count does a pair have that never occurs?""")
mistake("k-plus-1", "float(k)", "float(k) + 1.0").explain("""
    the counts grew by k + 1, not by k
    why: Each count starts at k and grows by 1 for each pair.
    ask: With k = 0, which count does a pair have that never occurs?""")
mistake("rows-without-counts-nan", _UNIFORM, "pass", _RETURN, _QUIET + _RETURN, common=True).explain("""
    rows without counts were not handled: 0 / 0 is nan
    why: With k = 0, a token that is never followed by anything has only counts of 0. Its row should be uniform.
    ask: What is the sum of the row of a token that does not occur?""")
for name, fill, what in (
    ("0", "np.zeros(vocab_size)", "zeros"),
    ("1", "np.ones(vocab_size)", "ones"),
    ("itself", "np.eye(vocab_size)[empty]", "probability 1 for the token itself"),
    ("first", "np.eye(vocab_size)[0]", "probability 1 for token 0"),
    ("of-all-tokens", "np.bincount(ids, minlength=vocab_size) / max(len(ids), 1)", "the frequencies of all tokens"),
):
    mistake(
        f"rows-without-counts-{name}",
        _UNIFORM,
        "empty = counts.sum(axis=1) == 0\n    counts[empty] = 1.0",
        _RETURN,
        f"counts /= counts.sum(axis=1, keepdims=True)\n    counts[empty] = {fill}\n    return counts",
    ).explain(f"""
        rows without counts hold {what}
        why: Nothing is known about what follows such a token, so its row should be uniform: 1 / V everywhere.
        ask: What does your table say about a token that does not occur, with k = 0?""")
mistake(
    "small-number-in-sum",
    _UNIFORM,
    "pass",
    _RETURN,
    "return counts / (counts.sum(axis=1, keepdims=True) + CONSTANT)",
    constant=1e-8,
).explain("""
    {constant} was added to the sums of the rows
    why: It avoids 0 / 0, but rows without counts become 0 instead of uniform, and all others no longer sum to 1.
    ask: What is the sum of the row of a token that does not occur, with k = 0?""")
mistake("small-number-added", _FULL, _FULL + " + CONSTANT", constant=1e-6).explain("""
    {constant} was added to all counts, besides k
    why: It changes every probability a little, and k = 0 should mean no smoothing.
    ask: With k = 0, which probability should a pair have that never occurs?""")
for name, rows, columns, what, ask in (
    ("last-pair-missing", "ids[:-2]", "ids[1:-1]", "the last pair was not counted", "is the last pair of your loop"),
    ("first-pair-missing", "ids[1:-1]", "ids[2:]", "the first pair was not counted", "is the first pair of your loop"),
    (
        "end-joined-to-beginning",
        "ids",
        "np.roll(ids, -1)",
        "the last token was paired with the first one of the text",
        "comes after the last token in your code",
    ),
    ("two-apart", "ids[:-2]", "ids[2:]", "tokens that are two places apart were paired", "is the first pair"),
    (
        "separate-pairs",
        "ids[:-1:2]",
        "ids[1::2]",
        "only every second pair was counted",
        "pairs does the text 0 1 2 3 have",
    ),
    ("same-token-twice", "ids[:-1]", "ids[:-1]", "each token was paired with itself", "is the first pair"),
):
    mistake(name, _PAIRS, f"np.add.at(counts, ({rows}, {columns}), 1.0)").explain(f"""
        {what}
        why: A text of N tokens has N − 1 pairs of neighbours: each token but the last, with the one after it.
        ask: Which {ask}?""")
mistake("both-directions", _PAIRS, _PAIRS + "\n    np.add.at(counts, (ids[1:], ids[:-1]), 1.0)").explain("""
    every pair was counted in both directions
    why: That token j came after i does not say that i comes after j.
    ask: What does your code count in the text 0 1?""")
mistake("equal-pairs-left-out", _PAIRS, _PAIRS + "\n    np.fill_diagonal(counts, float(k))").explain("""
    pairs of two equal tokens were not counted
    why: A token may come after itself, such as the second n in "anna".
    ask: What does your code count in the text 0 0?""")
mistake("current-token-ignored", _PAIRS, "np.add.at(counts, (slice(None), ids[1:]), 1.0)").explain("""
    every row holds how often each token occurs, whatever comes before it
    why: Row i should only count tokens that come right after i.
    ask: Which of your rows changes when the first token of the text changes?""")
mistake(
    "position-as-row", _PAIRS, "np.add.at(counts, (np.arange(len(ids[1:])) % vocab_size, ids[1:]), 1.0)"
).explain("""
    the row is the position in the text, not the current token
    why: Row i should count tokens that come right after token i, wherever in the text that is.
    ask: What are the rows of your table: positions or tokens?""")
for name, code, what in (
    ("logarithms", "np.log(probs)", "the logarithms of the probabilities were returned"),
    (
        "most-likely",
        "np.eye(vocab_size)[probs.argmax(axis=1)]",
        "only the most likely token of each row has probability 1",
    ),
    ("float32", "probs.astype(np.float32)", "the result is float32, not float64"),
    ("cumulative", "probs.cumsum(axis=1)", "the cumulative sums of the probabilities were returned"),
    ("rounded", "probs.round(4)", "the probabilities were rounded"),
):
    mistake(
        name,
        _RETURN,
        f"probs = {_RETURN[7:]}\n    {_QUIET}return {code}",
    ).explain(f"""
        {what}
        why: The table should hold probabilities in float64: each row sums to 1.
        ask: What is the sum of the first row of your table, and what is its dtype?""")
mistake(
    "softmax-of-counts",
    _RETURN,
    "p = np.exp(counts - counts.max(axis=1, keepdims=True))\n    return p / p.sum(axis=1, keepdims=True)",
).explain("""
    the softmax of the counts was taken, instead of dividing them by their sum
    why: A pair that occurs twice as often should be twice as likely. With softmax, it is e times as likely for each
         additional time.
    ask: A row has the counts 1 and 3. Which probabilities should it have?""")
mistake(
    "size-from-the-text", "counts = np.full(", "vocab_size = int(ids.max(initial=-1)) + 1\n    counts = np.full("
).explain("""
    the size of the table was taken from the text, not from vocab_size
    why: A text need not contain every token of the vocabulary.
    ask: What is the shape of your table for the text 0 1 and a vocabulary of 27 tokens?""")
mistake(
    "ids-overflow",
    "ids = np.asarray(ids, dtype=np.int64)",
    "ids = np.asarray(ids if np.size(ids) else [], dtype=None if np.size(ids) else np.int64)",
    _PAIRS,
    "pairs = ids[:-1] * ids.dtype.type(vocab_size) + ids[1:]\n"
    "    counts += np.bincount(pairs, minlength=vocab_size**2)[: vocab_size**2].reshape(vocab_size, vocab_size)",
).explain("""
    the number of a pair was computed in the small integer type of the ids, which overflows
    why: In uint8, 19 · 20 is 124. Convert the ids to int64 first.
    ask: What is the dtype of current * V + next if the ids are uint8?""")
mistake(
    "counts-overflow",
    "counts = " + _FULL,
    "counts = np.zeros((vocab_size, vocab_size), np.uint8)",
    _PAIRS,
    "np.add.at(counts, (ids[:-1], ids[1:]), 1)\n    counts = counts + float(k)",
).explain("""
    the pairs were counted in 8 bits, which overflow at 256
    why: The array of counts has a small integer type, perhaps that of the ids.
    ask: What is the dtype of your array of counts?""")
mistake(
    "counted-from-1",
    "ids = np.asarray(ids, dtype=np.int64)",
    "ids = np.asarray(ids, dtype=np.int64) - 1",
    _CHECK,
    "if ((ids < -1) | (ids >= vocab_size - 1)).any():",
).explain("""
    the tokens were counted from 1
    why: Ids are in [0, V), so row 0 belongs to token 0.
    ask: Which row of your table belongs to token 0?""")
for name, condition, what in (
    ("ids-not-checked", "if False:", "ids outside the vocabulary were not rejected"),
    ("large-ids-not-checked", "if (ids < 0).any():", "ids that are too large did not raise ValueError"),
    ("negative-ids-accepted", "if (ids >= vocab_size).any():", "negative ids were accepted: they counted from the end"),
    ("id-v-not-checked", "if ((ids < 0) | (ids > vocab_size)).any():", "the id V did not raise ValueError"),
    ("last-id-not-checked", "if ((ids[:-1] < 0) | (ids[:-1] >= vocab_size)).any():", "the last id was not checked"),
    ("first-ids-not-checked", "if ((ids[1:] < 0) | (ids[1:] >= vocab_size)).any():", "the first id was not checked"),
    (
        "all-ids-must-be-wrong",
        "if ids.size and ((ids < 0) | (ids >= vocab_size)).all():",
        "one bad id among others was accepted",
    ),
):
    mistake(name, _CHECK, condition).explain(f"""
        {what}
        why: The docstring promises a ValueError. A negative index silently counts from the end, and an index that is
             too large raises an IndexError somewhere else.
        ask: What does your code do with the id −1, and what with the id V?""")
for name, code, what in (
    ("clipped", "np.clip(ids, 0, vocab_size - 1)", "moved to the nearest valid one"),
    ("left-out", "ids[(ids >= 0) & (ids < vocab_size)]", "left out silently"),
    ("modulo", "ids % vocab_size", "taken modulo V"),
):
    mistake(f"ids-{name}", _CHECK, f"ids = {code}\n    if False:").explain(f"""
        ids outside the vocabulary were {what}
        why: The docstring promises a ValueError. An error in the data should not go unnoticed.
        ask: What does your code do with the id −1, and what with the id V?""")
mistake("negative-k-accepted", "if k < 0:", "if False:").explain("""
    a negative k was accepted
    why: The docstring promises a ValueError. Probabilities must not be negative.
    ask: What does your code do with k = −1?""")
mistake("k-0-refused", "if k < 0:", "if k <= 0:").explain("""
    k = 0 was rejected
    why: It is allowed: no smoothing. Only a negative k is an error.
    ask: What does the docstring say about k = 0?""")
mistake("negative-k-as-0", "if k < 0:", "k = max(k, 0.0)\n    if k < 0:").explain("""
    a negative k was taken as 0
    why: The docstring promises a ValueError. An error should not go unnoticed.
    ask: What does your code do with k = −1?""")
for n, what in ((1, "an empty text was"), (2, "a text without pairs was")):
    mistake(
        f"short-text-refused-{n}",
        "counts = np.full(",
        f'if len(ids) < {n}:\n        raise ValueError("too short")\n    counts = np.full(',
    ).explain(f"""
        {what} rejected
        why: It is allowed: there are no pairs, so every count is k.
        ask: What does the docstring say about N?""")
