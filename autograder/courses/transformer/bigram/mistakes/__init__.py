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
mistake("k-ignored", _FULL, _ZEROS, common=True).explain("""
    k was not added to the counts
    why: Pairs that do not occur in this text then have probability 0, and an infinite loss in another text.
    ask: What is the smallest probability in your table?""")
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
mistake("k-only-where-0", _FULL, _ZEROS, _UNIFORM, "counts[counts == 0] = k or 0.0\n    " + _UNIFORM).explain("""
    k was added only to the counts that are 0
    why: Every count grows by k. Otherwise a pair that occurs k times is as likely as one that never occurs.
    ask: With k = 1, what is the count of a pair that occurs once, and of one that never occurs?""")
mistake("rows-without-counts-nan", _UNIFORM, "pass", _RETURN, _QUIET + _RETURN, common=True).explain("""
    rows without counts were not handled: 0 / 0 is nan
    why: With k = 0, a token that is never followed by anything has only counts of 0. Its row should be uniform.
    ask: What is the sum of the row of a token that does not occur?""")
mistake("two-apart", _PAIRS, "np.add.at(counts, (ids[:-2], ids[2:]), 1.0)").explain("""
    tokens that are two places apart were paired
    why: A text of N tokens has N − 1 pairs of neighbours: each token but the last, with the one after it.
    ask: Which is the first pair?""")
mistake(
    "size-from-the-text", "counts = np.full(", "vocab_size = int(ids.max(initial=-1)) + 1\n    counts = np.full("
).explain("""
    the size of the table was taken from the text, not from vocab_size
    why: A text need not contain every token of the vocabulary.
    ask: What is the shape of your table for the text 0 1 and a vocabulary of 27 tokens?""")
mistake("ids-not-checked", _CHECK, "if False:").explain("""
    ids outside the vocabulary were not rejected
    why: The docstring promises a ValueError. A negative index silently counts from the end, and an index that is
         too large raises an IndexError somewhere else.
    ask: What does your code do with the id −1, and what with the id V?""")
mistake("negative-k-accepted", "if k < 0:", "if False:").explain("""
    a negative k was accepted
    why: The docstring promises a ValueError. Probabilities must not be negative.
    ask: What does your code do with k = −1?""")
mistake(
    "short-text-refused-1",
    "counts = np.full(",
    'if len(ids) < 1:\n        raise ValueError("too short")\n    counts = np.full(',
).explain("""
    an empty text was rejected
    why: It is allowed: there are no pairs, so every count is k.
    ask: What does the docstring say about N?""")
