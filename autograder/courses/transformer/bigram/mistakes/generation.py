"""Mistakes in `bigram`: generating text."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_ROW = "softmax(W[ids[-1]])"
_ENDS = "ends = np.cumsum(softmax(W[ids[-1]]))"
_DRAW = "rng.random()"
_TOKEN = "int((ends <= rng.random() * ends[-1]).sum())"
_LOOP = "for _ in range(n_new):"
_RETURN = "return np.array(ids, dtype=np.int64)"
_START = "if not 0 <= start < len(W):"
_LENGTH = "if n_new < 0:"

mistake = MISTAKES.for_functions("bigram.generate_bigram")
mistake("greedy", _TOKEN, "int(ends.size and softmax(W[ids[-1]]).argmax())", common=True).explain("""
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
mistake("softmax-over-columns", _ROW, "softmax(W, axis=0)[ids[-1]]").explain("""
    the softmax was taken over the columns of the table, not over the row
    why: The tokens that may come next compete with each other, and they are in one row.
    ask: Which entries of your probabilities sum to 1?""")
mistake("no-softmax", _ROW, "W[ids[-1]]").explain("""
    the scores were used as if they were probabilities
    why: Scores may be negative, and they do not sum to 1.
    ask: Which function turns scores into probabilities?""")
mistake("softmax-twice", _ROW, "softmax(softmax(W[ids[-1]]))").explain("""
    the softmax was taken twice
    why: The probabilities are then nearly equal, because they differ by less than 1.
    ask: How often is softmax called between W and the dart?""")
mistake("logarithm-first", _ROW, "softmax(np.log(np.abs(W[ids[-1]])))").explain("""
    the logarithm of the scores was taken
    why: W holds scores already. The logarithm is needed only to turn probabilities into scores, before the call.
    ask: What does W hold: probabilities or scores?""")
mistake("exponential-overflows", _ROW, "np.exp(W[ids[-1]])").explain("""
    the largest score was not subtracted before the exponential
    why: exp(1000) overflows to infinity. Your softmax takes care of it.
    ask: Which function have you written that turns scores into probabilities safely?""")
for name, code, what in (
    ("doubled", "2 * W[ids[-1]]", "were multiplied by 2"),
    ("halved", "W[ids[-1]] / 2", "were divided by 2"),
    ("negated", "-W[ids[-1]]", "have the wrong sign"),
):
    mistake(f"scores-{name}", _ROW, f"softmax({code})").explain(f"""
        the scores {what} before the softmax
        why: The text follows other probabilities than those of the table.
        ask: What does the formula apply softmax to?""")
mistake("positions-as-rows", _ROW, "softmax(W[(len(ids) - 1) % len(W)])").explain("""
    the row was chosen by the position in the text, not by the current token
    why: Row i belongs to token i, wherever in the text it stands.
    ask: Which row does your code use after token 3?""")
mistake("second-last-token", _ROW, "softmax(W[ids[-2] if len(ids) > 1 else ids[-1]])").explain("""
    the row of the token before the current one was used
    why: The next token is drawn from the row of the last token of the text so far.
    ask: Which row does the third token come from?""")
mistake("row-after-next", _ROW, "softmax(W[(ids[-1] + 1) % len(W)])").explain("""
    the row after that of the current token was used
    why: Tokens are counted from 0, and row i belongs to token i.
    ask: Which row belongs to token 0?""")
mistake("all-alike", _TOKEN, "int(rng.integers(ends.size))").explain("""
    all tokens were equally likely: the scores were ignored
    why: The table says which tokens are likely after the current one.
    ask: How often should a token of probability 0.9 be drawn?""")
mistake("start-missing", _RETURN, "return np.array(ids[1:], dtype=np.int64)", common=True).explain("""
    the first token is missing from the result
    why: The result is the whole text: `start`, then the new tokens, n_new + 1 in all.
    ask: How many tokens does the result have for n_new = 0?""")
mistake("start-not-first", "ids = [start]", "ids = [0]").explain("""
    the text began with token 0, whatever `start` is
    why: The mistake stays hidden with start = 0.
    ask: Where does your code use the argument start?""")
mistake("start-drawn", "ids = [start]", "ids = [int(rng.integers(len(W)))]").explain("""
    the first token was drawn at random
    why: The caller says which token the text begins with.
    ask: Where does your code use the argument start?""")
mistake("one-too-few", _LOOP, "for _ in range(n_new - 1):", common=True).explain("""
    one token too few was generated
    why: n_new is the number of new tokens; `start` is not one of them.
    ask: How many tokens does the result have for n_new = 3?""")
mistake("one-too-many", _LOOP, "for _ in range(n_new + 1):").explain("""
    one token too many was generated
    why: n_new is the number of new tokens; with `start`, the result has n_new + 1.
    ask: How many tokens does the result have for n_new = 0?""")
for token, where in ((0, "token 0 was drawn"), (None, "the first token came again")):
    stop = "start" if token is None else str(token)
    mistake(
        f"stops-at-{stop}", "    return np", f"        if ids[-1] == {stop}:\n            break\n    return np"
    ).explain(f"""
        the text ended when {where}
        why: Exactly n_new tokens should be generated. Where a name ends, the next one begins.
        ask: Which of your lines can end the loop early?""")
mistake("written-backwards", _RETURN, "return np.array(ids[::-1], dtype=np.int64)").explain("""
    the text is in the reverse order
    why: The result begins with `start`, and each token follows the one it was drawn after.
    ask: Where do you put a new token: in front of the others, or behind them?""")
mistake("dart-from-the-other-end", _DRAW, "(1.0 - rng.random())", group="the other end").explain("""
    the dart was measured from the other end of the line
    why: The draw is fixed, so that a generator in the same state gives the same text in every implementation.
    ask: Which token does u = 0.001 hit in your code?""")
mistake(
    "from-the-last-token",
    _ROW,
    "softmax(W[ids[-1]])[::-1]",
    _TOKEN,
    "len(W) - 1 - " + _TOKEN,
    group="the other end",
).explain("""
    the stretches were laid out from the last token to the first
    why: The draw is fixed, so that a generator in the same state gives the same text in every implementation.
    ask: Which token does u = 0.001 hit in your code?""")
mistake("most-likely-first").body("""
    if not 0 <= start < len(W) or n_new < 0:
        raise ValueError("start or n_new")
    ids = [start]
    for _ in range(n_new):
        p = softmax(W[ids[-1]])
        order = np.argsort(-p)
        ends = np.cumsum(p[order])
        ids.append(int(order[(ends <= rng.random() * ends[-1]).sum()]))
    return np.array(ids, dtype=np.int64)
""").explain("""
    the stretches were laid out from the most likely token to the least likely
    why: The draw is fixed, so that a generator in the same state gives the same text in every implementation.
    ask: In which order do the tokens lie on your line?""")
mistake("not-cumulative", _TOKEN, "int((softmax(W[ids[-1]]) > rng.random()).argmax())").explain("""
    the dart was compared with the probabilities, not with their cumulative sums
    why: A token is hit if the dart lands in its stretch, which begins where the one before it ends.
    ask: Where does the stretch of the third token begin and end?""")
mistake("token-before", _TOKEN, f"max({_TOKEN} - 1, 0)").explain("""
    the token before the correct one was drawn
    why: The token id is the number of stretches that end at or before the dart, without subtracting 1.
    ask: The dart lands in the first stretch. How many stretches end before it, and which token is it?""")
mistake("token-after", _TOKEN, f"min({_TOKEN} + 1, len(W) - 1)").explain("""
    the token after the correct one was drawn
    why: Token ids count from 0: the token id is the number of stretches that end at or before the dart.
    ask: The dart lands in the first stretch. Which token is it?""")
mistake(
    "one-dart", _LOOP, "u = rng.random()\n    for _ in range(n_new):", "<= rng.random() *", "<= u *", common=True
).explain("""
    one random number was used for all tokens
    why: The same dart again and again soon makes the text repeat itself.
    ask: How often does your code call rng?""")
mistake("one-number-unused", _LOOP, "rng.random()\n    for _ in range(n_new):").explain("""
    a first random number was drawn and not used
    why: Each new token uses one number, in order. A call too many changes the whole text.
    ask: How often does your code call rng for 3 new tokens?""")
mistake("two-numbers", _DRAW, "(rng.random(), rng.random())[1]").explain("""
    two random numbers were drawn for each token
    why: Each new token uses one number, in order.
    ask: How often does your code call rng for 3 new tokens?""")
mistake("number-per-score", _DRAW, "rng.random(len(W))[0]").explain("""
    a random number was drawn for every score of the row, not for every token
    why: One number decides which token comes next. The others change all later draws.
    ask: How many numbers does your code draw for one new token?""")
mistake(
    "numbers-in-reverse",
    _LOOP,
    "numbers = rng.random(n_new)[::-1]\n    for u in numbers:",
    "<= rng.random() *",
    "<= u *",
).explain("""
    the random numbers were used in the reverse order
    why: `list.pop()` takes the last one first. The first new token uses the first number.
    ask: Which number does your first new token use?""")
mistake(
    "certain-token-without-number",
    "<= rng.random() *",
    "<= (rng.random() if np.isfinite(W[ids[-1]]).sum() > 1 else 0) *",
).explain("""
    no random number was drawn where only one token is possible
    why: Each new token uses one number, so that the draws do not depend on the table.
    ask: How many numbers does your code draw for a row with a single finite score?""")
for seed in (0, 1, 42, 1234):
    mistake(
        f"own-generator-{seed}", "ids = [start]", f"rng = np.random.default_rng({seed})\n    ids = [start]"
    ).explain(f"""
        a new generator with the seed {seed} was made, instead of using rng
        why: Every call then gives the same text, whatever generator is passed in.
        ask: Where does your code use the argument rng?""")
mistake("global-generator", _DRAW, "np.random.RandomState(0).random()").explain("""
    each token was drawn with a new generator with the same seed, instead of rng
    why: The same dart again and again soon makes the text repeat itself.
    ask: Where does your code use the argument rng?""")
mistake("normal-numbers", _DRAW, "(abs(rng.normal()) % 1.0)").explain("""
    the random number was not uniform
    why: A normal number is near 0 more often, so the first tokens would be drawn too often.
    ask: How likely should it be that the dart lands in the first half of the line?""")
for call, code in (
    ("multinomial", "int(rng.multinomial(1, p).argmax())"),
    ("gumbel", "int((np.log(p) + rng.gumbel(size=len(p))).argmax())"),
    ("exponential", "int((rng.exponential(size=len(p)) / p).argmin())"),
):
    mistake(
        f"drawn-by-{call}",
        _ENDS,
        "p = softmax(W[ids[-1]]).astype(np.float64)",
        _TOKEN,
        code,
    ).explain(f"""
        the token was drawn with rng.{call}, not with rng.random
        why: The docstring fixes the draw, so that a generator in the same state gives the same text in every
             implementation.
        ask: Which call of rng does the docstring give?""")
for name, code, what in (
    ("int32", "np.array(ids, dtype=np.int32)", "int32, not int64"),
    ("floats", "np.array(ids, dtype=np.float64)", "float64, not int64"),
    ("list", "[int(i) for i in ids]", "a list, not an array"),
    ("row", "np.array([ids], dtype=np.int64)", "an array of shape (1, n_new + 1), not (n_new + 1,)"),
):
    mistake(f"result-as-{name}", _RETURN, f"return {code}").explain(f"""
        the result is {what}
        why: The text should have the form that `decode` and the other functions expect: token ids, (n_new + 1,), int64.
        ask: What are the type, the shape and the dtype of your result?""")
mistake(
    "no-repetition", "ends = np.cumsum(", "row = np.arange(len(W)) == ids[-1]\n        ends = np.cumsum(~row * "
).explain("""
    the current token was never drawn again
    why: A token may come after itself, such as the second n in "anna".
    ask: How likely is it in your code that token i comes after token i?""")
mistake("token-0-never", "ends = np.cumsum(", "ends = np.cumsum((np.arange(len(W)) > 0) * ").explain("""
    token 0 was never drawn
    why: Token 0 is a token like the others. In the lesson it is the newline that ends a name.
    ask: How likely is it in your code that token 0 comes next?""")
for name, condition, what in (
    ("start-not-checked", "if False:", "a `start` outside the vocabulary was not rejected"),
    ("large-start-not-checked", "if start < 0:", "a `start` that is too large did not raise ValueError"),
    ("negative-start-accepted", "if start >= len(W):", "a negative `start` was accepted: it counted from the end"),
    ("start-v-not-checked", "if not 0 <= start <= len(W):", "the first token V did not raise ValueError"),
    (
        "start-checked-late",
        "if n_new > 0 and not 0 <= start < len(W):",
        "`start` was not checked if there was no new token to draw",
    ),
):
    mistake(name, _START, condition).explain(f"""
        {what}
        why: The docstring promises a ValueError. A negative index silently counts from the end.
        ask: What does your code do with start = −1, and what with start = V?""")
mistake("negative-n-accepted", _LENGTH, "if False:").explain("""
    a negative n_new was accepted
    why: The docstring promises a ValueError. range() of a negative number is just empty.
    ask: What does your code return for n_new = −1?""")
mistake("nothing-new-refused", _LENGTH, "if n_new <= 0:").explain("""
    n_new = 0 was rejected
    why: It is allowed: the result is `start` alone.
    ask: What does the docstring say about n_new?""")
mistake("nothing-checked", _START, "if False:", _LENGTH, "if False:").explain("""
    neither `start` nor n_new was checked
    why: The docstring promises a ValueError for both.
    ask: What does your code do with start = −1, and with n_new = −1?""")
