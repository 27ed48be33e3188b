"""Mistakes in `bigram`: generating text."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_ROW = "softmax(W[ids[-1]])"
_TOKEN = "draw(softmax(W[ids[-1]]), rng)"
_LOOP = "for _ in range(n_new):"
_RETURN = "return np.array(ids, dtype=np.int64)"
_START = "if not 0 <= start < len(W):"
_LENGTH = "if n_new < 0:"

mistake = MISTAKES.for_functions("bigram.generate_bigram")
mistake("greedy", _TOKEN, "int(W[ids[-1]].argmax())", common=True).explain("""
    the most likely token was taken instead of drawing one
    why: The text then runs into a short loop that repeats without end.
    ask: How often should a token of probability 0.3 be drawn?""")
mistake("row-of-the-first-token", _ROW, "softmax(W[ids[0]])", common=True).explain("""
    every token was drawn from the row of the first token
    why: Each token is drawn from the row of the one before it.
    ask: Which row does the third token come from?""")
mistake("columns", _ROW, "softmax(W[:, ids[-1]])", common=True).explain("""
    a column of the table was used, not a row
    why: Row i holds the scores of the tokens that may come after token i. Column i holds those of token i after others.
    ask: In W[i, j], which of the two is the current token?""")
mistake("softmax-of-columns", _ROW, "softmax(W, axis=0)[ids[-1]]").explain("""
    the softmax was taken along the columns of the table (axis 0), not along its rows
    why: The tokens that may come after token i compete with each other: their scores are row i. The rows of your table
         do not sum to 1.
    ask: What do the probabilities from which you draw sum to?""")
mistake("no-softmax", _ROW, "W[ids[-1]]").explain("""
    the scores were used as if they were probabilities
    why: Scores may be negative, and they do not sum to 1.
    ask: Which function turns scores into probabilities?""")
mistake("start-missing", _RETURN, "return np.array(ids[1:], dtype=np.int64)", common=True).explain("""
    the first token is missing from the result
    why: The result is the whole text: `start`, then the new tokens, n_new + 1 in all.
    ask: How many tokens does the result have for n_new = 0?""")
mistake("start-not-first", "ids = [start]", "ids = [0]").explain("""
    the text began with token 0, whatever `start` is
    why: The mistake stays hidden with start = 0.
    ask: Where does your code use the argument start?""")
mistake("one-too-few", _LOOP, "for _ in range(n_new - 1):", common=True).explain("""
    one token too few was generated
    why: n_new is the number of new tokens; `start` is not one of them.
    ask: How many tokens does the result have for n_new = 3?""")
mistake("one-too-many", _LOOP, "for _ in range(n_new + 1):").explain("""
    one token too many was generated
    why: n_new is the number of new tokens; with `start`, the result has n_new + 1.
    ask: How many tokens does the result have for n_new = 0?""")
mistake("stops-at-0", "    return np", "        if ids[-1] == 0:\n            break\n    return np").explain("""
    the text ended when token 0 was drawn
    why: Exactly n_new tokens should be generated. Where a name ends, the next one begins.
    ask: Which of your lines can end the loop early?""")
mistake("uniform", _TOKEN, "draw(np.full(len(W), 1 / len(W)), rng)").explain("""
    every token was drawn with the same probability
    why: The scores of the current token say how likely each next one is.
    ask: Where does your code use W?""")
mistake(
    "one-dart",
    _LOOP,
    "u = rng.random()\n    for _ in range(n_new):",
    _TOKEN,
    "min(int((np.cumsum(softmax(W[ids[-1]])) <= u).sum()), len(W) - 1)",
    common=True,
).explain("""
    one random number was used for all tokens
    why: The same dart again and again soon makes the text repeat itself.
    ask: How often does your code call rng?""")
mistake("two-numbers", _TOKEN, f"({_TOKEN}, {_TOKEN})[1]").explain("""
    two random numbers were drawn for each token
    why: Each new token uses one number, in order.
    ask: How often does your code call rng for 3 new tokens?""")
for name, condition, what in (
    ("large-start-not-checked", "if start < 0:", "a `start` that is too large did not raise ValueError"),
    ("negative-start-accepted", "if start >= len(W):", "a negative `start` was accepted: it counted from the end"),
):
    mistake(name, _START, condition).explain(f"""
        {what}
        why: A start that is too large fails later, inside NumPy. A negative one does not fail: it counts from the end.
        ask: What does your code do with start = −1, and what with start = V?""")
mistake("negative-n-accepted", _LENGTH, "if False:").explain("""
    a negative n_new was accepted
    why: range() of a negative number is empty, and the wrong call looks like a text that ended at once.
    ask: What does your code return for n_new = −1?""")
