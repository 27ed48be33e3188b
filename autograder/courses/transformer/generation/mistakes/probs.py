"""Mistakes in `generation`: the probabilities of the next token."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_CUT = "ranked[..., 1:][mass[..., :-1] >= top_p] = 0.0"
_SCALE = "        ranked /= ranked.sum(axis=-1, keepdims=True)\n"
_RANKED = "    ranked = np.take_along_axis(probs, order, axis=-1)"
_GREEDY = "np.put_along_axis(probs, logits.argmax(axis=-1, keepdims=True), 1.0, axis=-1)"
_MASS = "mass = np.cumsum(ranked, axis=-1, dtype=np.float64)"
_TOP_K = "    if top_k is not None:\n        ranked[..., top_k:] = 0.0\n" + _SCALE

mistake = MISTAKES.for_functions("generation.next_token_probs")
mistake(
    "temperature-multiplied", "softmax(logits, temperature=temperature)", "softmax(logits * temperature)", common=True
).explain("""
    the scores were multiplied by the temperature
    why: A low temperature should make the most probable token even more probable. Here it does the opposite.
    ask: Should the differences between scores grow or shrink when the temperature is 0.5?""")
mistake(
    "divided-by-0",
    "if temperature == 0:",
    "if False:",
    "softmax(logits, temperature=temperature)",
    "softmax(logits / temperature)",
    common=True,
).explain("""
    temperature 0 led to a division by 0
    why: The result is nan. Temperature 0 stands for the limit: all of the probability goes to the largest score.
    ask: What is a score divided by 0?""")
mistake(
    "ties-kept",
    "ranked[..., top_k:]",
    "ranked[ranked < ranked[..., min(top_k, ranked.shape[-1]) - 1, None]]",
    common=True,
).explain("""
    top-k kept more than k tokens where scores are equal
    why: The condition "at least as large as the k-th score" keeps all of the equal scores. Exactly k should be kept.
    ask: How many tokens do you keep if all scores are 0 and k is 2?""")
mistake(
    "last-of-equals",
    'np.argsort(-logits, axis=-1, kind="stable")',
    'np.argsort(logits, axis=-1, kind="stable")[..., ::-1]',
).explain("""
    of equal scores, the one with the higher index was ranked first
    why: Reversing an ascending sort also reverses the order of equal scores.
    ask: Sort [0, 0, 0] with your method: which index comes first?""")
mistake(
    "top-k-last-of-equals",
    "ranked[..., top_k:]",
    "cut = np.zeros(logits.shape, dtype=bool)\n"
    '        lowest = np.argsort(logits, axis=-1, kind="stable")[..., :-top_k]\n'
    "        np.put_along_axis(cut, lowest, True, axis=-1)\n"
    "        ranked[np.take_along_axis(cut, order, axis=-1)]",
).explain("""
    of equal scores, top-k kept those with the higher index
    why: The last k entries of an ascending sort are the largest, but of equal ones they have the higher indices.
    ask: Which two tokens do you keep if all scores are 0 and k is 2?""")
mistake("top-p-not-scaled", _SCALE + "    np.put_along_axis", "    np.put_along_axis", common=True).explain("""
    the tokens kept by top-p were not rescaled to sum 1
    why: Without the tail, the remaining probabilities add up to less than 1.
    ask: What is the sum of the probabilities that you return?""")
mistake(
    "not-scaled",
    "ranked[..., top_k:] = 0.0\n" + _SCALE,
    "ranked[..., top_k:] = 0.0\n",
    _SCALE + "    np.put_along_axis",
    "    np.put_along_axis",
).explain("""
    the tokens kept by top-k or top-p were not rescaled to sum 1
    why: Without the tokens that were cut off, the remaining probabilities add up to less than 1.
    ask: What is the sum of the probabilities that you return?""")
mistake(
    "scores-of-0",
    "ranked[..., top_k:] = 0.0",
    "best = order[..., :top_k]\n"
    "        kept = np.zeros_like(logits)\n"
    "        np.put_along_axis(kept, best, np.take_along_axis(logits, best, axis=-1), axis=-1)\n"
    "        probs = softmax(kept / temperature)\n"
    '        order = np.argsort(-kept, axis=-1, kind="stable")\n'
    "        ranked = np.take_along_axis(probs, order, axis=-1)",
).explain("""
    the scores that top-k cuts off were set to 0
    why: A score of 0 does not exclude a token, because exp(0) is 1.
    ask: Which score gives the probability 0 in a softmax?""")
mistake("crossing-token-dropped", _CUT, "ranked[..., 1:][mass[..., 1:] > top_p] = 0.0", common=True).explain("""
    the token that crosses the threshold of top-p was dropped
    why: Without it, the probabilities of the kept tokens add up to less than p.
    ask: With 0.5, 0.3, 0.2 and top_p = 0.7: which tokens have a sum of at least 0.7?""")
mistake("nothing-left", _CUT, "ranked[mass > top_p] = 0.0").explain("""
    the token that crosses top-p was dropped even if it is the first
    why: If the most probable token alone has more than p, no token is left, and 0/0 is nan.
    ask: With 0.9, 0.1 and top_p = 0.5: which tokens do you keep?""")
mistake("exactly-p-not-enough", _CUT, _CUT.replace(">=", ">")).explain("""
    top-p kept one token too many where the sum is exactly p
    why: A set is large enough if its probabilities add up to at least p.
    ask: With four equal scores and top_p = 0.5, how many tokens do you keep?""")
mistake(
    "top-p-before-scaling",
    "ranked[..., top_k:] = 0.0\n" + _SCALE,
    "ranked[..., top_k:] = 0.0\n",
    "    np.put_along_axis(probs, order",
    _SCALE[4:] + "    np.put_along_axis(probs, order",
    group="top-p on the unscaled rest",
).explain("""
    top-p used the probabilities that top-k kept without rescaling them
    why: They add up to less than 1, so more tokens are needed to reach p.
    ask: What is the sum of the probabilities that top-p works on?""")
mistake(
    "top-p-first",
    _TOP_K,
    "",
    "    np.put_along_axis(probs, order",
    _TOP_K + "    np.put_along_axis(probs, order",
    group="top-p on the unscaled rest",
).explain("""
    top-p was applied before top-k
    why: The order matters: top-p should work on the tokens that top-k kept, rescaled to sum 1.
    ask: Which probabilities does your top-p add up: those of all tokens, or those of the k that were kept?""")
mistake(
    "temperature-last",
    "mass = np.cumsum(ranked,",
    "plain = np.take_along_axis(softmax(logits), order, axis=-1) * (ranked > 0)\n"
    "        mass = np.cumsum(plain / plain.sum(axis=-1, keepdims=True),",
).explain("""
    top-p used the probabilities without temperature
    why: With a high temperature, more tokens are needed to reach p. The temperature comes first.
    ask: Which probabilities should top_p apply to: those with or without temperature?""")
mistake("left-sorted", "np.put_along_axis(probs, order, ranked, axis=-1)", "probs = ranked").explain("""
    the probabilities were returned in sorted order, not in token order
    why: The first entry then belongs to the most probable token, whichever that is.
    ask: Which token does the first entry of your result belong to?""")
mistake("temperature-ignored", "softmax(logits, temperature=temperature)", "softmax(logits)").explain("""
    temperatures above 0 were ignored
    why: Every temperature above 0 then gives the same probabilities.
    ask: Where does your code use the temperature, apart from the case 0?""")
mistake("temperature-plus-small", "if temperature == 0", "if False", "=temperature", "=temperature + 1e-8").explain("""
    1e-8 was added to the temperature
    why: This hides the division by 0 and changes all other results a little. Temperature 0 needs a separate case.
    ask: What should temperature 0 give, and which of your lines ensures that?""")
mistake(
    "temperature-kept-above-small",
    "if temperature == 0:",
    "if False:",
    "softmax(logits, temperature=temperature)",
    "softmax(logits, temperature=max(temperature, 1e-8))",
    group="equal scores share",
).explain("""
    temperature 0 was replaced by a tiny temperature
    why: Where the largest scores are equal or nearly equal, each keeps a share of the probability: that is not greedy.
    ask: What should temperature 0 give for the scores 3, 3, 0?""")
mistake(
    "equals-share",
    "np.put_along_axis(probs, logits.argmax(axis=-1, keepdims=True), 1.0, axis=-1)",
    "probs[logits == logits.max(axis=-1, keepdims=True)] = 1.0\n        probs /= probs.sum(axis=-1, keepdims=True)",
    group="equal scores share",
).explain("""
    with temperature 0, equal scores shared the probability
    why: All of it should go to one token: of equal scores, the one with the lowest index.
    ask: What does argmax return if the largest value occurs twice?""")
mistake("top-k-ignored", "if top_k is not None:", "if False:").explain("""
    top_k was ignored
    why: Tokens that top-k should exclude can then be drawn.
    ask: With top_k=1, how many of your probabilities are not 0?""")
mistake("top-p-ignored", "if top_p is not None and top_p < 1:", "if False:").explain("""
    top_p was ignored
    why: Tokens that top-p should exclude can then be drawn.
    ask: With a tiny top_p, how many of your probabilities should not be 0?""")
mistake("least-probable-kept", "ranked[..., top_k:] =", "ranked[..., : max(ranked.shape[-1] - top_k, 0)] =").explain("""
    top-k kept the least probable tokens, not the most probable
    why: An ascending sort puts the smallest values first.
    ask: With top_k=1 and the scores 1, 5, 2: which token do you keep?""")
mistake(
    "top-p-mixes-equals",
    "    if top_p is not None and top_p < 1:\n",
    "    if top_p is not None and top_p < 1:\n"
    "        np.put_along_axis(probs, order, ranked, axis=-1)\n"
    "        order = np.argsort(-probs, axis=-1)\n"
    "        ranked = np.take_along_axis(probs, order, axis=-1)\n",
).explain("""
    top-p did not keep equally probable tokens in the order of their index
    why: Unless the sort is stable, np.argsort may put equal values in any order.
    ask: What does kind="stable" do in np.argsort?""")
mistake(
    "top-p-last-of-equals",
    "    if top_p is not None and top_p < 1:\n",
    "    if top_p is not None and top_p < 1:\n"
    "        np.put_along_axis(probs, order, ranked, axis=-1)\n"
    '        order = np.argsort(probs, axis=-1, kind="stable")[..., ::-1]\n'
    "        ranked = np.take_along_axis(probs, order, axis=-1)\n",
).explain("""
    of equal scores, top-p kept those with the higher index
    why: Reversing an ascending sort also reverses the order of equal scores. The lower index should come first.
    ask: Sort [0, 0, 0] with the method that your top-p uses: which index comes first?""")
for name, code, error in (
    ("ascending", "np.sort(logits, axis=-1)[..., -top_k]", "IndexError"),
    ("descending", "ranked[..., top_k - 1]", "IndexError"),
    ("row-ascending", "np.sort(logits.reshape(-1, logits.shape[-1])[0])[-top_k]", "IndexError"),
    ("row-descending", "ranked.reshape(-1, ranked.shape[-1])[0][top_k - 1]", "IndexError"),
    ("list", "sorted(logits.reshape(-1, logits.shape[-1])[0].tolist())[-top_k]", "IndexError"),
    ("partition", "np.argpartition(logits, -top_k, axis=-1)", "ValueError"),
    ("partition-descending", "np.argpartition(-logits, top_k - 1, axis=-1)", "ValueError"),
):
    mistake(
        f"large-k-fails-{name}",
        _RANKED,
        _RANKED + f"\n    if top_k is not None:\n        {code}",
        common=name in ("ascending", "descending", "partition"),
        group="a k larger than the vocabulary",
    ).explain(f"""
        a top_k larger than the vocabulary raised {error}
        why: With a top_k of V or more, all tokens are kept.
        ask: What does your code index or partition if k is larger than V?""")
mistake(
    "k-of-the-vocabulary-fails",
    _RANKED,
    _RANKED + "\n    if top_k is not None:\n        np.argpartition(-logits, top_k, axis=-1)",
).explain("""
    a top_k of V or more raised ValueError
    why: np.argpartition needs an index below V. With a top_k of V or more, all tokens are kept.
    ask: What is the largest second argument that np.argpartition takes for V scores?""")
mistake(
    "large-k-wraps-around",
    "ranked[..., top_k:]",
    "ranked[..., 1 if logits.shape[-1] - top_k == -1 else top_k :]",
).explain("""
    with a top_k of V + 1, only one token was kept
    why: An index of V - top_k is then -1, which Python takes as the last one.
    ask: Which score does your code compare with if top_k is V + 1?""")
mistake("top-k-not-scaled", "ranked[..., top_k:] = 0.0\n" + _SCALE, "ranked[..., top_k:] = 0.0\n").explain("""
    the tokens kept by top-k were not rescaled to sum 1
    why: Without the tokens that were cut off, the probabilities add up to less than 1, and top-p needs more of them.
    ask: With top_k=2 and no top_p, what is the sum of the probabilities that you return?""")
mistake(
    "order-instead-of-its-inverse",
    "np.put_along_axis(probs, order, ranked, axis=-1)",
    "probs = np.take_along_axis(ranked, order, axis=-1)",
).explain("""
    the sorted probabilities were put in the order of the sort again, instead of back in token order
    why: The inverse of a sort is np.put_along_axis with the same order, or an index with the argsort of the order.
    ask: With the scores 1, 3, 2: which token does each entry of your result belong to?""")
mistake("top-p-as-threshold-for-all", _CUT, "ranked[ranked < top_p] = 0.0").explain("""
    top-p kept only tokens whose own probability is at least p, so that none may be left
    why: p is a threshold for the sum of the probabilities, most probable first, not for each of them.
    ask: With five equal scores and top_p = 0.5, which tokens do you keep?""")
mistake("large-k-refused", "top_k < 1:", "not 1 <= top_k <= np.shape(logits)[-1]:").explain("""
    a top_k larger than the vocabulary was rejected
    why: With a top_k of V or more, all tokens are kept. That is not an error.
    ask: What does the docstring say about a top_k of V or more?""")
for change, kept in (("one-less", "max(top_k - 1, 1)"), ("one-more", "top_k + 1")):
    mistake(f"top-k-keeps-{change}", "ranked[..., top_k:]", f"ranked[..., {kept} :]").explain(f"""
        top-k kept one token {change.removeprefix("one-")} than k
        why: Indices count from 0: the k largest have the indices 0 to k - 1 in descending order.
        ask: With top_k=3, how many of your probabilities are not 0?""")
mistake("top-k-of-the-batch", "ranked[..., top_k:]", "ranked[ranked < np.sort(ranked.ravel())[-top_k:][0]]").explain("""
    top-k took the k largest of all rows together
    why: Each row is a text of its own, and keeps its own k tokens.
    ask: How many tokens does each row keep with top_k=2?""")
mistake(
    "order-of-the-first-row",
    'order = np.argsort(-logits, axis=-1, kind="stable")',
    'order = np.argsort(-logits, axis=-1, kind="stable")\n'
    "    order = np.broadcast_to(order.reshape(-1, order.shape[-1])[0], order.shape)",
).explain("""
    all rows were put in the order of the first row
    why: Each row has its own most probable tokens.
    ask: What is the shape of your order, and what is the shape of the scores?""")
mistake(
    "sum-of-the-batch",
    _SCALE + "    np.put_along_axis",
    "        ranked /= ranked.sum()\n    np.put_along_axis",
    "ranked[..., top_k:] = 0.0\n" + _SCALE,
    "ranked[..., top_k:] = 0.0\n        ranked /= ranked.sum()\n",
).explain("""
    the kept probabilities were divided by the sum over all rows
    why: Each row should sum to 1 by itself.
    ask: What is the shape of the sum by which you divide?""")
mistake(
    "rescaled-by-softmax",
    "ranked[..., top_k:] = 0.0\n" + _SCALE,
    "ranked[..., top_k:] = 0.0\n        ranked = softmax(np.where(ranked > 0, ranked, -np.inf))\n",
    _SCALE + "    np.put_along_axis",
    "        ranked = softmax(np.where(ranked > 0, ranked, -np.inf))\n    np.put_along_axis",
).explain("""
    the kept probabilities were put through softmax again
    why: Softmax of probabilities is much flatter. Divide them by their sum instead.
    ask: What is softmax([0.75, 0.25]), and what should it be?""")
mistake(
    "top-p-unsorted",
    _MASS,
    "ranked = np.take_along_axis(ranked, np.argsort(order, axis=-1), axis=-1)\n"
    "        order = np.broadcast_to(np.arange(order.shape[-1]), order.shape)\n        " + _MASS,
).explain("""
    top-p added up the probabilities in token order, without sorting
    why: The tokens with low ids are then kept, not the most probable ones.
    ask: Which token comes first in your cumulative sum?""")
mistake(
    "top-p-keeps-the-tail",
    _MASS,
    "ranked, order = ranked[..., ::-1].copy(), order[..., ::-1]\n        " + _MASS,
).explain("""
    top-p began with the least probable tokens
    why: An ascending sort puts the smallest probabilities first.
    ask: Which token comes first in your cumulative sum?""")
mistake("top-p-one-more", _CUT, "ranked[..., 2:][mass[..., :-2] >= top_p] = 0.0").explain("""
    top-p kept one token more than the one that crosses the threshold
    why: The smallest set whose probabilities add up to at least p ends with the token that crosses it.
    ask: With 0.5, 0.3, 0.2 and top_p = 0.4, how many tokens do you keep?""")
mistake("top-p-as-threshold", _CUT, "ranked[..., 1:][ranked[..., 1:] < top_p] = 0.0").explain("""
    top-p kept the tokens whose own probability is at least p
    why: p is a threshold for the sum of the probabilities, most probable first, not for each of them.
    ask: Which numbers do you compare with p?""")
mistake("top-p-at-least-two", _CUT, "ranked[..., 2:][mass[..., 1:-1] >= top_p] = 0.0").explain("""
    top-p always kept at least two tokens
    why: If the most probable token alone has p or more, it is the whole set.
    ask: With 0.9, 0.1 and top_p = 0.5: which tokens do you keep?""")
mistake(
    "top-p-before-temperature",
    "probs = softmax(logits, temperature=temperature)",
    "probs = softmax(logits, temperature=temperature)\n"
    "    if top_p is not None and top_p < 1:\n"
    "        plain = softmax(logits)\n"
    '        order = np.argsort(-logits, axis=-1, kind="stable")\n'
    "        before = np.cumsum(np.take_along_axis(plain, order, axis=-1), axis=-1)\n"
    "        cut = np.zeros(logits.shape, dtype=bool)\n"
    "        np.put_along_axis(cut, order[..., 1:], before[..., :-1] >= top_p, axis=-1)\n"
    "        probs[cut] = 0.0\n"
    "        probs /= probs.sum(axis=-1, keepdims=True)",
    "if top_p is not None and top_p < 1:\n        mass",
    "if False:\n        mass",
).explain("""
    top-p was applied before the temperature and before top-k
    why: First comes the temperature, then top-k, and then top-p on the tokens that are left.
    ask: Which probabilities does your top-p add up?""")
mistake("scores-set-to", constant=-10.0).body("""
    if not temperature >= 0:
        raise ValueError("temperature must not be negative")
    if top_k is not None and top_k < 1:
        raise ValueError("top_k must be at least 1")
    if top_p is not None and not 0 < top_p <= 1:
        raise ValueError("top_p must be in (0, 1]")
    logits = as_float(logits)
    if temperature == 0:
        top_k, top_p, temperature = 1, None, 1.0
    order = np.argsort(-logits, axis=-1, kind="stable")
    scores = np.take_along_axis(logits / temperature, order, axis=-1)
    if top_k is not None:
        scores[..., top_k:] = CONSTANT
    if top_p is not None and top_p < 1:
        mass = np.cumsum(softmax(scores), axis=-1)
        scores[..., 1:][mass[..., :-1] >= top_p] = CONSTANT
    probs = np.empty_like(logits)
    np.put_along_axis(probs, order, softmax(scores), axis=-1)
    return probs
""").explain("""
    the scores of tokens that are cut off were set to {constant}
    why: These tokens then keep a probability above 0. Only a score of -inf excludes a token.
    ask: Which score gives the probability 0 in a softmax?""")
mistake(
    "greedy-last-of-equals",
    _GREEDY,
    "best = logits.shape[-1] - 1 - logits[..., ::-1].argmax(axis=-1, keepdims=True)\n"
    "        np.put_along_axis(probs, best, 1.0, axis=-1)",
).explain("""
    with temperature 0, the last of equal scores got the probability
    why: Of equal scores, the one with the lowest index counts.
    ask: What does argsort(...)[-1] return if the largest value occurs twice, and what does argmax return?""")
mistake("equals-1-each", _GREEDY, "probs[logits == logits.max(axis=-1, keepdims=True)] = 1.0").explain("""
    with temperature 0, each of several largest scores got the probability 1
    why: The sum of the row is then larger than 1. One token gets all of the probability: that with the lowest index.
    ask: What is the sum of your row for the scores 3, 3, 0?""")
mistake("greedy-of-the-batch", _GREEDY, "probs.flat[logits.argmax()] = 1.0").explain("""
    with temperature 0, only the largest score of all rows got a probability
    why: Each row has its own largest score: argmax needs an axis.
    ask: What does argmax return for a matrix if you do not pass an axis?""")
mistake(
    "greedy-token-returned", "        " + _GREEDY + "\n        return probs", "        return logits.argmax(axis=-1)"
).explain("""
    with temperature 0, the token was returned, not the probabilities
    why: The result has the same form for every temperature: (..., V), here with a single 1 in each row.
    ask: What is the shape of your result with temperature 0?""")
mistake(
    "temperature-0-as-1", "if temperature == 0:", "temperature = temperature or 1.0\n    if temperature == 0:"
).explain("""
    temperature 0 was treated like 1
    why: `if temperature` and `temperature or 1` treat 0 like None. 0 stands for greedy.
    ask: What is bool(0.0)?""")
mistake(
    "least-probable-kept-lower-index",
    "ranked[..., top_k:] = 0.0",
    'rising = np.argsort(logits, axis=-1, kind="stable")\n'
    "        kept = np.zeros_like(probs)\n"
    "        best = rising if top_k >= logits.shape[-1] else rising[..., :top_k]\n"
    "        np.put_along_axis(kept, best, np.take_along_axis(probs, best, axis=-1), axis=-1)\n"
    "        probs = kept / kept.sum(axis=-1, keepdims=True)\n"
    '        order = np.argsort(-probs, axis=-1, kind="stable")\n'
    "        ranked = np.take_along_axis(probs, order, axis=-1)",
).explain("""
    top-k kept the least probable tokens, not the most probable
    why: An ascending sort puts the smallest values first.
    ask: With top_k=1 and the scores 1, 5, 2: which token do you keep?""")
