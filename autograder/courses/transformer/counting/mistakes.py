"""Mistakes in `counting`: counting pairs, drawing a token, writing a text."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_PAIRS = "np.add.at(counts, (ids[:-1], ids[1:]), 1.0)"
_FULL = "np.full((vocab_size, vocab_size), float(k))"
_ZEROS = "np.zeros((vocab_size, vocab_size))"
_UNIFORM = "counts[counts.sum(axis=1) == 0] = 1.0"
_RETURN = "return counts / counts.sum(axis=1, keepdims=True)"
_QUIET = 'with np.errstate(invalid="ignore", divide="ignore"):\n        '
_CHECK = "if ((ids < 0) | (ids >= vocab_size)).any():"

mistake = MISTAKES.for_functions("counting.bigram_counts")
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
mistake("k-only-where-counted", _FULL, _ZEROS, _UNIFORM, "counts[counts > 0] += k\n    " + _UNIFORM).explain("""
    k was added only to the counts of pairs that occur
    why: Every count grows by k, so that a pair that does not occur in this text is not impossible.
    ask: With k = 1, what is the count of a pair that never occurs?""")
mistake("rows-without-counts-nan", _UNIFORM, "pass", _RETURN, _QUIET + _RETURN, common=True).explain("""
    rows without counts were not handled: 0 / 0 is nan
    why: With k = 0, a token that is never followed by anything has only counts of 0. Its row should be uniform.
    ask: What is the sum of the row of a token that does not occur?""")
mistake(
    "rows-without-counts-0",
    _UNIFORM,
    "sums = counts.sum(axis=1, keepdims=True)",
    _RETURN,
    "return counts / np.where(sums == 0, 1.0, sums)",
).explain("""
    rows without counts stayed 0 everywhere
    why: With k = 0, a token that is never followed by anything has only counts of 0. Its row should be uniform: each
         row holds probabilities, which sum to 1.
    ask: What is the sum of the row of a token that does not occur?""")
mistake(
    "divided-by-occurrences",
    _UNIFORM,
    "sums = np.bincount(ids, minlength=vocab_size) + vocab_size * k\n"
    "    counts[sums == 0], sums[sums == 0] = 1.0, vocab_size",
    _RETURN,
    "return counts / sums[:, None]",
).explain("""
    the counts were divided by how often the token occurs, not by the number of pairs that begin with it
    why: The last token of the text begins no pair, so one row sums to less than 1.
    ask: In the text 0 1 0, how many pairs begin with 0, and how often does 0 occur?""")
mistake("two-apart", _PAIRS, "np.add.at(counts, (ids[:-2], ids[2:]), 1.0)").explain("""
    tokens that are two places apart were paired
    why: A text of N tokens has N − 1 pairs of neighbors: each token but the last, with the one after it.
    ask: Which is the first pair?""")
mistake("size-from-the-text", "counts = np.", "vocab_size = int(ids.max(initial=-1)) + 1\n    counts = np.").explain("""
    the size of the table was taken from the text, not from vocab_size
    why: A text need not contain every token of the vocabulary.
    ask: What is the shape of your table for the text 0 1 and a vocabulary of 27 tokens?""")
mistake("ids-not-checked", _CHECK, "if False:").explain("""
    ids outside the vocabulary were not rejected
    why: A negative index silently counts from the end, and an index that is too large raises an IndexError
         somewhere else.
    ask: What does your code do with the id −1, and what with the id V?""")
mistake("negative-k-accepted", "if k < 0:", "if False:").explain("""
    a negative k was accepted
    why: Counts below −k become negative, and so do the probabilities that are made from them.
    ask: What does your code do with k = −1?""")
mistake(
    "short-text-refused-1", "counts = np.", 'if len(ids) < 1:\n        raise ValueError("too short")\n    counts = np.'
).explain("""
    an empty text was rejected
    why: It is allowed: there are no pairs, so every count is k.
    ask: How many pairs does an empty text have, and what is then in the table of counts for k = 1?""")

_DART = "dart = rng.random()"
_BEYOND = "if dart >= ends[-1]:"
_LAST = "int(np.flatnonzero(probs)[-1])"
_COUNT = "int((ends <= dart).sum())"

mistake = MISTAKES.for_functions("counting.draw")
mistake("greedy", _COUNT, "int(np.argmax(probs))", _BEYOND, "if False:", common=True).explain("""
    the most likely token was taken instead of drawing one
    why: The text then runs into a short loop that repeats without end.
    ask: How often should a token of probability 0.3 be drawn?""")
mistake("uniform", _DART, "return int(rng.random() * len(probs))", common=True).explain("""
    every token was drawn with the same probability
    why: Likely tokens should be drawn more often. The probabilities were not used.
    ask: Where does your code use probs?""")
mistake("not-summed", _COUNT, "min(int((probs <= dart).sum()), len(probs) - 1)", common=True).explain("""
    the dart was compared with each probability, not with the cumulative sums
    why: A stretch begins where the one before it ends, so the ends are sums.
    ask: Where on the line does the stretch of token 1 end, for the probabilities 0.5, 0.25, 0.25?""")
mistake("not-larger", _COUNT, "int((ends < dart).sum())", common=True).explain("""
    a dart that lands exactly on an end was given to the token before it
    why: The cumulative sum has to be larger than the dart. A token of probability 0 could be drawn otherwise.
    ask: The probabilities are 0.5 and 0.5, and the dart is at 0.5. Which cumulative sum is larger than 0.5?""")
mistake("token-before", _COUNT, f"max({_COUNT} - 1, 0)", common=True).explain("""
    the token before the correct one was drawn
    why: The token id is the number of stretches that end at or before the dart, without subtracting 1.
    ask: The dart lands in the first stretch. How many stretches end before it, and which token is it?""")
mistake("token-after", _COUNT, f"min({_COUNT} + 1, len(probs) - 1)", common=True).explain("""
    the token after the correct one was drawn
    why: Token ids count from 0: the token id is the number of stretches that end at or before the dart.
    ask: The dart lands in the first stretch. Which token is it?""")
mistake("beyond-not-handled", _BEYOND, "if False:", common=True).explain("""
    a dart beyond the last end was not handled
    why: Rounding can make the last cumulative sum smaller than 1. The count of the ends is then V, and there is no
         token V.
    ask: What does your function return for a dart at 0.99999 if the last cumulative sum is 0.9999?""")
mistake("beyond-is-the-last", _LAST, "len(probs) - 1", common=True).explain("""
    beyond the last end, the last token of the vocabulary was taken
    why: Its probability may be 0, and an impossible token must never be drawn.
    ask: What should the function return for the probabilities 0.9999 and 0, if the dart is at 0.99999?""")
mistake("two-numbers", "rng.random()", "(rng.random(), rng.random())[1]").explain("""
    two random numbers were drawn for one token
    why: Each token uses one number.
    ask: How often does your code call rng for one token?""")
mistake("no-end-above-the-number", "int(np.flatnonzero(probs)[-1])", "0").explain("""
    if no cumulative sum is above the random number, token 0 was taken
    why: argmax of values that are all False is 0. Rounding can leave the last sum below 1, and below the number.
    ask: What does your code return if the random number is 0.9999 and the last cumulative sum 0.9998?""")

_ROW = "P[tokens[-1]]"
_NEXT = "draw(P[tokens[-1]], rng)"
_LOOP = "for _ in range(n_new):"
_TEXT = "return tokens"

mistake = MISTAKES.for_functions("counting.write_text")
mistake("row-of-the-first-token", _ROW, "P[start]", common=True).explain("""
    every token was drawn from the row of the first token
    why: Each token is drawn from the row of the one before it.
    ask: Which row does the third token come from?""")
mistake("greedy", _NEXT, "int(np.argmax(P[tokens[-1]]))", common=True).explain("""
    the most likely token was taken instead of drawing one
    why: The text then runs into a short loop that repeats without end.
    ask: How often should a token of probability 0.3 be drawn?""")
mistake("uniform", _NEXT, "draw(np.full(len(P), 1 / len(P)), rng)").explain("""
    every token was drawn with the same probability
    why: The row of the current token says how likely each next one is.
    ask: Where does your code use P?""")
mistake("columns", _ROW, "P[:, tokens[-1]]", common=True).explain("""
    a column of the table was used, not a row
    why: Row i holds the probabilities of the tokens that may come after token i.
    ask: In P[i, j], which of the two is the current token?""")
mistake("start-missing", _TEXT, "return tokens[1:]", common=True).explain("""
    the first token is missing from the result
    why: The result is the whole text: `start`, then the new tokens, n_new + 1 in all.
    ask: How many tokens does the result have for n_new = 0?""")
mistake("start-not-first", "tokens = [start]", "tokens = [0]").explain("""
    the text began with token 0, whatever `start` is
    why: The mistake stays hidden with start = 0.
    ask: Where does your code use the argument start?""")
mistake("one-too-few", _LOOP, "for _ in range(n_new - 1):", common=True).explain("""
    one token too few was drawn
    why: n_new is the number of new tokens; `start` is not one of them.
    ask: How many tokens does the result have for n_new = 3?""")
mistake("one-too-many", _LOOP, "for _ in range(n_new + 1):", common=True).explain("""
    one token too many was drawn
    why: n_new is the number of new tokens; with `start`, the result has n_new + 1.
    ask: How many tokens does the result have for n_new = 0?""")
mistake("one-dart", common=True).body("""
    u = rng.random()
    tokens = [start]
    for _ in range(n_new):
        tokens.append(min(int((np.cumsum(P[tokens[-1]]) <= u).sum()), len(P) - 1))
    return tokens
""").explain("""
    one random number was used for all tokens
    why: The same dart again and again soon makes the text repeat itself.
    ask: How often does your code call rng?""")
mistake("array-returned", _TEXT, "return np.array(tokens)").explain("""
    the text is an array, not a list
    why: The caller may append to a list, or save it as json. An array allows neither.
    ask: What is the type of your result?""")
