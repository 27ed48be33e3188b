"""Mistakes in assignment 11: generation."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_CUT = "ranked[..., 1:][mass[..., :-1] >= top_p] = 0.0"
_SCALE = "        ranked /= ranked.sum(axis=-1, keepdims=True)\n"
_TOP_K = "    if top_k is not None:\n        ranked[..., top_k:] = 0.0\n" + _SCALE
_CONTEXT = "ids[..., -config.block_size :]"
_FULL = "if n_cached == 0 or n_cached == config.block_size:"
_OPTIONS = "_choose(logits[..., -1, :], rng, temperature, top_k, top_p)"

mistake = MISTAKES.for_functions("generation.next_token_probs")
mistake(
    "temperature-multiplied", "softmax(logits, temperature=temperature)", "softmax(logits * temperature)", common=True
).explain("""
    the scores were multiplied by the temperature
    why: A low temperature should make the probable more probable; here it makes everything alike.
    ask: Should the differences between scores grow or shrink when the temperature is 0.5?""")
mistake(
    "divided-by-0",
    "if temperature == 0:",
    "if False:",
    "softmax(logits, temperature=temperature)",
    "softmax(logits / temperature)",
    common=True,
).explain("""
    temperature 0 is a division by 0
    why: The result is nan. 0 stands for the limit: all the probability on the largest score.
    ask: What is a score divided by 0?""")
mistake(
    "ties-kept",
    "ranked[..., top_k:]",
    "ranked[ranked < ranked[..., min(top_k, ranked.shape[-1]) - 1, None]]",
    common=True,
).explain("""
    more than k tokens are kept where scores are equal
    why: “At least as large as the k-th score” keeps all of the equal ones; here exactly k are kept.
    ask: How many tokens do you keep if all scores are 0 and k is 2?""")
mistake(
    "last-of-equals",
    'np.argsort(-logits, axis=-1, kind="stable")',
    'np.argsort(logits, axis=-1, kind="stable")[..., ::-1]',
).explain("""
    of equal scores, those with the higher index come first
    why: A sort in ascending order, turned round, turns equal ones round as well.
    ask: Sort [0, 0, 0] your way: which index comes first?""")
mistake(
    "top-k-last-of-equals",
    "ranked[..., top_k:]",
    "cut = np.zeros(logits.shape, dtype=bool)\n"
    '        lowest = np.argsort(logits, axis=-1, kind="stable")[..., :-top_k]\n'
    "        np.put_along_axis(cut, lowest, True, axis=-1)\n"
    "        ranked[np.take_along_axis(cut, order, axis=-1)]",
).explain("""
    top-k takes the higher index first where scores are equal
    why: The last k of a sort in ascending order are the largest, but of equal ones the last.
    ask: Which two tokens do you keep if all scores are 0 and k is 2?""")
mistake("top-p-not-scaled", _SCALE + "    np.put_along_axis", "    np.put_along_axis", common=True).explain("""
    what top-p has kept was not scaled to sum 1
    why: Without the tail, the rest adds up to less than 1.
    ask: Add up the probabilities that you return.""")
mistake(
    "not-scaled",
    "ranked[..., top_k:] = 0.0\n" + _SCALE,
    "ranked[..., top_k:] = 0.0\n",
    _SCALE + "    np.put_along_axis",
    "    np.put_along_axis",
).explain("""
    what is kept was not scaled to sum 1
    why: Without the tokens that were cut off, the rest adds up to less than 1.
    ask: Add up the probabilities that you return.""")
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
    why: A score of 0 is not impossible: exp(0) is 1.
    ask: Which score gives the probability 0 in a softmax?""")
mistake("crossing-token-dropped", _CUT, "ranked[..., 1:][mass[..., 1:] > top_p] = 0.0", common=True).explain("""
    the token that crosses the line of top-p was dropped
    why: Without it the set does not have the mass that was asked for.
    ask: With 0.5, 0.3, 0.2 and top_p = 0.7: which tokens have at least 0.7 together?""")
mistake("nothing-left", _CUT, "ranked[mass > top_p] = 0.0").explain("""
    the token that crosses the line of top-p was dropped, even if it is the first
    why: If the most probable token alone has more than p, nothing is left, and 0/0 is nan.
    ask: With 0.9, 0.1 and top_p = 0.5: which tokens do you keep?""")
mistake("exactly-p-not-enough", _CUT, _CUT.replace(">=", ">")).explain("""
    top-p keeps one token more where the sum is exactly p
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
    top-p counts the probabilities that top-k has left before they are scaled to sum 1
    why: They add up to less, so that it takes more tokens to reach p.
    ask: What do the probabilities add up to when top-p looks at them?""")
mistake(
    "top-p-first",
    _TOP_K,
    "",
    "    np.put_along_axis(probs, order",
    _TOP_K + "    np.put_along_axis(probs, order",
    group="top-p on the unscaled rest",
).explain("""
    top-p comes before top-k
    why: The order matters: top-p should look at what top-k has left, scaled to sum 1.
    ask: Which probabilities does top-p add up: those of all tokens, or those of the k that were kept?""")
mistake(
    "temperature-last",
    "mass = np.cumsum(ranked,",
    "plain = np.take_along_axis(softmax(logits), order, axis=-1) * (ranked > 0)\n"
    "        mass = np.cumsum(plain / plain.sum(axis=-1, keepdims=True),",
).explain("""
    top-p looked at the probabilities without temperature
    why: A high temperature needs more tokens to reach p. It comes first.
    ask: To which probabilities does top_p apply: with or without temperature?""")
mistake("left-sorted", "np.put_along_axis(probs, order, ranked, axis=-1)", "probs = ranked").explain("""
    the probabilities stand in sorted order, not in that of the tokens
    why: The first number then belongs to the most probable token, whichever that is.
    ask: Which token does the first number of your result belong to?""")
mistake("temperature-ignored", "softmax(logits, temperature=temperature)", "softmax(logits)").explain("""
    the temperature is not used
    why: Above 0, every temperature gives the same probabilities.
    ask: Where in your code is the temperature, but for the case 0?""")
mistake("temperature-plus-small", "if temperature == 0", "if False", "=temperature", "=temperature + 1e-8").explain("""
    1e-8 was added to the temperature
    why: It hides the division by 0 and changes all the other answers a little. Temperature 0 is a case of its own.
    ask: What should temperature 0 give, and which line of yours makes sure of that?""")
mistake(
    "temperature-kept-above-small",
    "if temperature == 0:",
    "if False:",
    "softmax(logits, temperature=temperature)",
    "softmax(logits, temperature=max(temperature, 1e-8))",
    group="equal scores share",
).explain("""
    temperature 0 was replaced by a tiny temperature
    why: Where two scores are equal, or nearly, both keep a share: that is not greedy.
    ask: What should temperature 0 give for the scores 3, 3, 0?""")
mistake(
    "equals-share",
    "np.put_along_axis(probs, logits.argmax(axis=-1, keepdims=True), 1.0, axis=-1)",
    "probs[logits == logits.max(axis=-1, keepdims=True)] = 1.0\n        probs /= probs.sum(axis=-1, keepdims=True)",
    group="equal scores share",
).explain("""
    with temperature 0, equal scores share the probability
    why: All of it goes to one token: of equal ones, that with the lowest index.
    ask: What does argmax return if the largest number stands there twice?""")
mistake("top-k-ignored", "if top_k is not None:", "if False:").explain("""
    top_k is not used
    why: Every token may be drawn, however unlikely.
    ask: With top_k=1, how many of your probabilities are not 0?""")
mistake("top-p-ignored", "if top_p is not None and top_p < 1:", "if False:").explain("""
    top_p is not used
    why: Every token may be drawn, however unlikely.
    ask: With a tiny top_p, how many of your probabilities should not be 0?""")
mistake("least-probable-kept", "ranked[..., top_k:] =", "ranked[..., : max(ranked.shape[-1] - top_k, 0)] =").explain("""
    top-k keeps the least probable tokens, not the most probable
    why: A sort in ascending order has the smallest numbers in front.
    ask: With top_k=1 and the scores 1, 5, 2: which token is kept?""")
mistake(
    "top-p-mixes-equals",
    "    if top_p is not None and top_p < 1:\n",
    "    if top_p is not None and top_p < 1:\n"
    "        np.put_along_axis(probs, order, ranked, axis=-1)\n"
    "        order = np.argsort(-probs, axis=-1)\n"
    "        ranked = np.take_along_axis(probs, order, axis=-1)\n",
).explain("""
    top-p does not take equal tokens in the order of their index: NumPy's usual sort mixes them
    why: From 17 numbers on, np.argsort may put equal ones in any order, unless it is asked for a stable sort.
    ask: What is kind="stable" good for in np.argsort?""")

mistake = MISTAKES.for_functions("generation.sample")
mistake("greedy").body("""
    if not (np.sum(probs, axis=-1) > 0).all():
        raise ValueError("a row of probabilities adds up to 0 or is nan")
    return np.asarray(np.argmax(probs, axis=-1))
""").explain("""
    the most probable token was taken, nothing was drawn
    why: Greedy decoding is temperature 0; sample draws.
    ask: How often should a token of probability 0.3 come?""")
mistake("one-dart", "rng.random(cumulative.shape[:-1])[..., None]", "rng.random()", common=True).explain("""
    one number was drawn for all rows
    why: All texts of a batch then draw alike.
    ask: How many random numbers does a batch of 500 texts need?""")
mistake("line-too-long", "u * total", "u", common=True).explain("""
    the dart is thrown at a line of length 1, whatever the probabilities add up to
    why: If they add up to less, it may hit nothing, and the token is one that does not exist.
    ask: What happens in your code if the probabilities add up to 0.999 and u is 0.9995?""")
mistake(
    "one-too-few",
    "return (cumulative <= u * total).sum(axis=-1, dtype=np.int64)",
    "return np.maximum((cumulative <= u * total).sum(axis=-1, dtype=np.int64) - 1, 0)",
).explain("""
    the token before the right one was taken
    why: The token is the number of stretches that end at or before the dart: no 1 has to be subtracted.
    ask: The dart lands in the first stretch. How many stretches end before it, and which token is it?""")
mistake("columns-added", "cumsum(probs, axis=-1", "cumsum(probs, axis=0", "not (total > 0).all()", "False").explain("""
    the probabilities were added up along the rows of the batch, not along the tokens
    why: The running sum belongs to one row of probabilities.
    ask: Along which axis do probabilities add up to 1?""")
mistake(
    "all-alike",
    "return (cumulative <= u * total).sum(axis=-1, dtype=np.int64)",
    "return (u[..., 0] * cumulative.shape[-1]).astype(np.int64)",
).explain("""
    every token is as likely as every other: the probabilities are not used
    why: That is a temperature without end.
    ask: How often should a token of probability 0.9 be drawn?""")

mistake = MISTAKES.for_functions("generation.generate")
mistake("not-cropped", _CONTEXT, "ids", common=True).explain("""
    the context is not cropped to block_size tokens
    why: There are no positions beyond block_size; longer texts are refused.
    ask: How many tokens do you hand to gpt when the text has become longer than block_size?""")
mistake("first-tokens", _CONTEXT, "ids[..., : config.block_size]", common=True).explain("""
    the context is the first block_size tokens, not the last
    why: The model then sees the same beginning for ever, and not what it has just written.
    ask: Which tokens tell most about the next one?""")
mistake("one-token-context", _CONTEXT, "ids[..., -1:]").explain("""
    the model only sees the last token
    why: Without a cache, everything the model should know about the text has to be handed to it.
    ask: How long is the text that you hand to gpt in the second round?""")
mistake("first-position", "logits[..., -1, :]", "logits[..., 0, :]", common=True).explain("""
    the scores of the first position were used
    why: They say what follows the first token. What follows the last one is said at the last position.
    ask: Which position has seen the whole text?""")
mistake("all-positions", "logits[..., -1, :]", "logits.reshape(*ids.shape[:-1], -1)", common=True).explain("""
    the token was chosen among the scores of all positions
    why: The index in a flattened (T, V) is no token: it may be far beyond the vocabulary.
    ask: What is the shape of the scores among which you choose?""")
mistake("prompt-lost", "    return ids", "    return ids[..., ids.shape[-1] - n_new :]").explain("""
    only the new tokens are returned
    why: The result is the whole text: the prompts and what follows.
    ask: What is the shape of the result, and what is that of yours?""")
mistake(
    "text-cropped",
    "    for _ in range(n_new):\n",
    "    for _ in range(n_new):\n        ids = " + _CONTEXT + "\n",
    "gpt(" + _CONTEXT,
    "gpt(ids",
).explain("""
    the text itself was cropped, not only the context
    why: The model looks at the last block_size tokens; the text keeps all of them.
    ask: What is the name of your cropped array, and to what is the new token appended?""")
mistake("one-too-few", "range(n_new)", "range(n_new - 1)").explain("""
    one new token too few is written
    why: range(n_new) has n_new values.
    ask: How many tokens come out with n_new=1?""")
mistake("one-too-many", "range(n_new)", "range(n_new + 1)").explain("""
    one new token too many is written
    why: range(n_new) has n_new values.
    ask: How many tokens come out with n_new=0?""")
mistake("window-one-short", _CONTEXT, "ids[..., -max(config.block_size - 1, 1) :]").explain("""
    the context is block_size - 1 tokens long, not block_size
    why: The model has a position for each of block_size tokens.
    ask: What is the longest text that gpt accepts?""")
mistake("options-ignored", _OPTIONS, "_choose(logits[..., -1, :], rng, 1.0, None, None)").explain("""
    temperature, top_k and top_p are not passed on
    why: With the defaults nothing shows.
    ask: Which of the functions that you call has to know the options?""")
mistake("always-greedy", _OPTIONS, "_choose(logits[..., -1, :], rng, 0, None, None)").explain("""
    the most probable token was always taken
    why: Then every generator writes the same text.
    ask: What is rng for?""")
mistake("written-in-front", "np.concatenate([ids, new], axis=-1)", "np.concatenate([new, ids], axis=-1)").explain("""
    the new tokens were put in front of the text
    why: The next token belongs behind the last one.
    ask: In which order do you join the text and the new token?""")

mistake = MISTAKES.for_functions("generation.generate_cached")
mistake(
    "position-restarts", 'params["W_pos"][start:]', 'params["W_pos"]', common=True, inside="_next_logits"
).explain("""
    every new token was embedded as if it stood at position 0
    why: It is a text of length 1, but its place is after all the tokens in the cache.
    ask: Which row of W_pos belongs to the new token?""")
mistake(
    "prompt-without-mask", "mask = causal_mask(ids.shape[-1], end)", "mask = None", common=True, inside="_next_logits"
).explain("""
    the positions of the prompt look ahead
    why: A single new token needs no mask, but a prompt goes through with several queries at once.
    ask: What may the first token of the prompt look at?""")
mistake(
    "mask-from-the-first-key",
    "if ids.shape[-1] > 1:",
    "if True:",
    "causal_mask(ids.shape[-1], end)",
    "np.tri(ids.shape[-1], end, dtype=bool)",
    inside="_next_logits",
).explain("""
    the new token may look at the first key only: the mask takes it for the first position
    why: The queries are the last ones of the keys; the triangle has to be shifted by the length of the cache.
    ask: What is your mask for one query and six keys?""")
mistake(
    "old-keys-unused",
    "attention(q, keys[..., :end, :], values[..., :end, :], mask)",
    "attention(q, k, v, mask)",
    "causal_mask(ids.shape[-1], end)",
    "causal_mask(ids.shape[-1], ids.shape[-1])",
    common=True,
    inside="_next_logits",
).explain("""
    the new token sees only its own key and value
    why: The keys and values in the cache have to be put in front of the new ones.
    ask: How many keys does the query of the tenth token meet?""")
mistake(
    "old-keys-shifted",
    _FULL,
    "if n_cached == config.block_size:\n"
    "            for _, _, keys, values in cache:\n"
    "                keys[..., :-1, :] = keys[..., 1:, :].copy()\n"
    "                values[..., :-1, :] = values[..., 1:, :].copy()\n"
    "            n_cached -= 1\n"
    "        if n_cached == 0:",
).explain("""
    when the window moved, the oldest key was dropped and the others were kept
    why: With learned positions every token has moved up by one place, and all keys and values have changed.
    ask: Which row of W_pos went into the second key, before and after the window moved?""")
mistake("same-cache", "for _ in", "cache = [(*entry[:2], *cache[0][2:]) for entry in cache]\n    for _ in").explain("""
    all blocks share one cache
    why: Every block has keys and values of its own; here each overwrites those of the block before.
    ask: How many pairs of keys and values does a model with four blocks need?""")
