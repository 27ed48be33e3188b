"""Mistakes in `generation`: drawing a token."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_COUNT = "(cumulative <= u * total).sum(axis=-1, dtype=np.int64)"
_DRAW = "rng.random(cumulative.shape[:-1])[..., None]"
_CHECK = "if not (total > 0).all():"
_BAD = "    if not (np.sum(probs, axis=-1) > 0).all():\n        raise ValueError\n"

mistake = MISTAKES.for_functions("generation.sample")
mistake("greedy").body("""
    if not (np.sum(probs, axis=-1) > 0).all():
        raise ValueError("a row of probabilities adds up to 0 or is nan")
    return np.asarray(np.argmax(probs, axis=-1))
""").explain("""
    the most probable token was taken instead of drawing one
    why: Greedy decoding is temperature 0. sample should draw.
    ask: How often should a token of probability 0.3 be drawn?""")
mistake("one-dart", "rng.random(cumulative.shape[:-1])[..., None]", "rng.random()", common=True).explain("""
    one random number was used for all rows
    why: The draws of all texts in a batch then depend on each other.
    ask: How many random numbers does a batch of 500 texts need?""")
mistake("line-too-long", "u * total", "u", common=True).explain("""
    the dart was thrown at a line of length 1, whatever the probabilities add up to
    why: If they add up to less than 1, the dart may land beyond the last token, and the result is an id that does not
         exist.
    ask: What does your code return if the probabilities add up to 0.999 and u is 0.9995?""")
mistake(
    "line-too-long-then-first",
    "return (cumulative <= u * total).sum(axis=-1, dtype=np.int64)",
    "return np.asarray((cumulative > u).argmax(axis=-1)).astype(np.int64)",
).explain("""
    the dart was thrown at a line of length 1, and beyond the last token it hit the first
    why: argmax of a row without True is 0. If the probabilities add up to less than 1, token 0 gets the rest.
    ask: For the probabilities 0.1 and 0.4, where does the line end, and where can your dart land?""")
mistake(
    "one-too-few",
    "return (cumulative <= u * total).sum(axis=-1, dtype=np.int64)",
    "return np.maximum((cumulative <= u * total).sum(axis=-1, dtype=np.int64) - 1, 0)",
).explain("""
    the token before the correct one was returned
    why: The token id is the number of stretches that end at or before the dart, without subtracting 1.
    ask: The dart lands in the first stretch. How many stretches end before it, and which token is it?""")
mistake("columns-added", "cumsum(probs, axis=-1", "cumsum(probs, axis=0", "not (total > 0).all()", "False").explain("""
    the cumulative sum was taken over the batch, not over the tokens
    why: Each row has its own cumulative sum.
    ask: Along which axis do the probabilities add up to 1?""")
mistake(
    "all-alike",
    "return (cumulative <= u * total).sum(axis=-1, dtype=np.int64)",
    "return (u[..., 0] * cumulative.shape[-1]).astype(np.int64)",
).explain("""
    every token was equally likely: the probabilities were ignored
    why: This is what an infinite temperature would do.
    ask: How often should a token of probability 0.9 be drawn?""")
mistake("border-to-the-first", _COUNT, _COUNT.replace("<=", "<")).explain("""
    a dart on the border of two stretches hit the one before it
    why: A dart at 0 would then hit the first token even if its probability is 0. np.searchsorted needs side="right".
    ask: With the probabilities 0, 0.5, 0.5: which token does your code return for u = 0?""")
mistake("not-cumulative", _COUNT, "(np.asarray(probs) > u * total).argmax(axis=-1)").explain("""
    the dart was compared with the probabilities, not with their cumulative sums
    why: A token is hit if the dart lands in its stretch, which begins where the one before it ends.
    ask: Where does the stretch of the third token begin and end?""")
mistake("dart-from-the-other-end", _DRAW, "1.0 - " + _DRAW, group="the other end").explain("""
    the dart was measured from the other end of the line
    why: The draw is fixed, so that a generator in the same state gives the same tokens in every implementation.
    ask: Which token does u = 0.001 hit in your code?""")
mistake("number-per-token", _DRAW, "rng.random(cumulative.shape)[..., :1]").explain("""
    a random number was drawn for every token, not for every row
    why: One number decides a row. The others change the state of rng, and with it all later draws.
    ask: What is the shape of the numbers that you draw, and how many rows are there?""")
mistake("one-dart-per-text", _DRAW, "rng.random(cumulative.shape[:1] + (1,) * (cumulative.ndim - 1))").explain("""
    one random number was used for all rows with the same first index
    why: Every row needs a number of its own, with any number of leading axes.
    ask: How many random numbers does a batch of shape (2, 3, V) need?""")
mistake("rows-in-another-order", _DRAW, "rng.random(cumulative.shape[-2::-1]).T[..., None]").explain("""
    the random numbers were assigned to the rows in another order
    why: `rng.random(shape)` with the leading axes as shape gives the rows their numbers in order.
    ask: Which row gets the second number?""")
mistake(
    "certain-rows-skipped",
    _DRAW,
    "np.zeros_like(total)\n    open_rows = np.asarray(probs).max(axis=-1) < total[..., 0]\n"
    "    u[open_rows, 0] = rng.random(np.count_nonzero(open_rows))",
).explain("""
    no random number was drawn for rows with a single possible token
    why: Each row uses one number, so that the draws of a row do not depend on the others.
    ask: How many numbers does your code draw for two rows, one of which is certain?""")
mistake("drawn-twice", _DRAW, "(rng.random(cumulative.shape[:-1]), " + _DRAW + ")[1]").explain("""
    a first set of random numbers was drawn and not used
    why: `rng.random(shape)` should be called once: a call too many changes all later draws.
    ask: How often does your code call rng?""")
mistake("drawn-by-choice").body(
    _BAD + "    rows = np.reshape(np.asarray(probs, np.float64), (-1, np.shape(probs)[-1]))\n"
    "    tokens = [rng.choice(len(row), p=row) for row in rows]\n"
    "    return np.array(tokens, dtype=np.int64).reshape(np.shape(probs)[:-1])\n"
).explain("""
    the token was drawn with rng.choice
    why: It raises ValueError if a row does not add up to 1.
    ask: What does rng.choice(2, p=[0.3, 0.3]) do? Which of the two tokens does the dart u = 0.6 hit?""")
for name, condition, text, more in (
    (
        "nan-accepted",
        "if (total <= 0).any():",
        "a row with nan was accepted",
        " A comparison with nan is always False, so `total <= 0` misses it.",
    ),
    ("zeros-accepted", "if np.isnan(total).any():", "a row of zeros was accepted", ""),
    (
        "one-bad-row-accepted",
        "if not (total > 0).any():",
        "a bad row was accepted because another row was good",
        " Every row must be checked.",
    ),
):
    mistake(name, _CHECK, condition).explain(f"""
        {text}
        why: No token can be drawn from such a row.{more}
        ask: Which of your conditions is true for [0, 0], and which for [0.5, nan]?""")
mistake("columns-added-rows-checked", ", axis=-1", ", axis=0", "total > 0", "np.sum(probs, axis=-1) > 0").explain("""
    the cumulative sum was taken over the batch, not over the tokens
    why: Each row has its own cumulative sum.
    ask: Along which axis do the probabilities add up to 1?""")
