"""Mistakes in `generation`: the probabilities of the next token."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_CUT = "ranked[..., 1:][mass[..., :-1] >= top_p] = 0.0"
_SCALE = "        ranked /= ranked.sum(axis=-1, keepdims=True)\n"
_RANKED = "    ranked = np.take_along_axis(probs, order, axis=-1)"

mistake = MISTAKES.for_functions("generation.next_token_probs")
mistake("temperature-multiplied", "logits, temperature=temperature", "logits * temperature", common=True).explain("""
    the scores were multiplied by the temperature
    why: A low temperature should make the most probable token even more probable. Here it does the opposite.
    ask: Should the differences between scores grow or shrink when the temperature is 0.5?""")
mistake(
    "divided-by-0", "temperature == 0", "False", "logits, temperature=temperature", "logits / temperature", common=True
).explain("""
    temperature 0 led to a division by 0
    why: The result is nan. Temperature 0 stands for the limit: all of the probability goes to the largest score.
    ask: What is a score divided by 0?""")
mistake(
    "ties-kept", "[..., top_k:]", "[ranked < ranked[..., min(top_k, ranked.shape[-1]) - 1, None]]", common=True
).explain("""
    top-k kept more than k tokens where scores are equal
    why: The condition "at least as large as the k-th score" keeps all of the equal scores. Exactly k should be kept.
    ask: How many tokens do you keep if all scores are 0 and k is 2?""")
mistake("top-p-not-scaled", _SCALE + "    np.put_along_axis", "    np.put_along_axis", common=True).explain("""
    the tokens kept by top-p were not rescaled to sum 1
    why: Without the tail, the remaining probabilities add up to less than 1.
    ask: What is the sum of the probabilities that you return?""")
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
    "temperature-last",
    "mass = np.cumsum(ranked,",
    "plain = np.take_along_axis(softmax(logits), order, axis=-1) * (ranked > 0)\n"
    "        mass = np.cumsum(plain / plain.sum(axis=-1, keepdims=True),",
).explain("""
    top-p used the probabilities without temperature
    why: With a high temperature, more tokens are needed to reach p. The temperature comes first.
    ask: Which probabilities should top_p apply to: those with or without temperature?""")
mistake("temperature-ignored", "softmax(logits, temperature=temperature)", "softmax(logits)").explain("""
    temperatures above 0 were ignored
    why: Every temperature above 0 then gives the same probabilities.
    ask: Where does your code use the temperature, apart from the case 0?""")
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
    ("partition", "np.argpartition(logits, -top_k, axis=-1)", "ValueError"),
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
mistake("top-k-of-the-batch", "ranked[..., top_k:]", "ranked[ranked < np.sort(ranked.ravel())[-top_k:][0]]").explain("""
    top-k took the k largest of all rows together
    why: Each row is a text of its own, and keeps its own k tokens.
    ask: How many tokens does each row keep with top_k=2?""")
mistake("top-p-one-more", _CUT, "ranked[..., 2:][mass[..., :-2] >= top_p] = 0.0").explain("""
    top-p kept one token more than the one that crosses the threshold
    why: The smallest set whose probabilities add up to at least p ends with the token that crosses it.
    ask: With 0.5, 0.3, 0.2 and top_p = 0.4, how many tokens do you keep?""")
mistake("temperature-0-as-1", "if temperature", "temperature = temperature or 1.0\n    if temperature").explain("""
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
