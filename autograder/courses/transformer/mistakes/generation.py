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
    with temperature 0, equal scores share the probability
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
    why: For 17 values or more, np.argsort may return equal values in any order, unless the sort is stable.
    ask: What does kind="stable" do in np.argsort?""")

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

mistake = MISTAKES.for_functions("generation.generate")
mistake("not-cropped", _CONTEXT, "ids", common=True).explain("""
    the context was not cropped to block_size tokens
    why: The model has only block_size positions, and gpt raises ValueError for longer texts.
    ask: How many tokens do you pass to gpt once the text is longer than block_size?""")
mistake("first-tokens", _CONTEXT, "ids[..., : config.block_size]", common=True).explain("""
    the context is the first block_size tokens, not the last
    why: The model then reads the same beginning every time, and not what it has just written.
    ask: Which tokens of the text help most to predict the next one?""")
mistake("one-token-context", _CONTEXT, "ids[..., -1:]").explain("""
    the model was given only the last token
    why: Without a cache, the model needs the whole context in every call.
    ask: How many tokens do you pass to gpt in the second iteration?""")
mistake("first-position", "logits[..., -1, :]", "logits[..., 0, :]", common=True).explain("""
    the scores of the first position were used
    why: They predict the token after the first one. The scores at the last position predict the new token.
    ask: Which position can attend to the whole text?""")
mistake("all-positions", "logits[..., -1, :]", "logits.reshape(*ids.shape[:-1], -1)", common=True).explain("""
    the token was chosen from the scores of all positions
    why: An index into the flattened (T, V) scores is not a token id: it can be larger than the vocabulary.
    ask: What is the shape of the scores from which you choose?""")
mistake("prompt-lost", "    return ids", "    return ids[..., ids.shape[-1] - n_new :]").explain("""
    only the new tokens were returned
    why: The result should be the whole text: each prompt and its continuation.
    ask: Which shape does the docstring give for the result, and what is the shape of yours?""")
mistake(
    "text-cropped",
    "    for _ in range(n_new):\n",
    "    for _ in range(n_new):\n        ids = " + _CONTEXT + "\n",
    "gpt(" + _CONTEXT,
    "gpt(ids",
).explain("""
    the text itself was cropped, not only the context
    why: The model reads the last block_size tokens, but the text keeps all of them.
    ask: To which array do you append the new token: to the cropped one or to the whole text?""")
mistake("one-too-few", "range(n_new)", "range(n_new - 1)").explain("""
    one new token too few was generated
    why: range(n_new) already has n_new values.
    ask: How many new tokens does your code return with n_new=1?""")
mistake("one-too-many", "range(n_new)", "range(n_new + 1)").explain("""
    one new token too many was generated
    why: range(n_new) already has n_new values.
    ask: How many new tokens does your code return with n_new=0?""")
mistake("window-one-short", _CONTEXT, "ids[..., -max(config.block_size - 1, 1) :]").explain("""
    the context was cropped to block_size - 1 tokens
    why: The model has a position for each of block_size tokens.
    ask: What is the longest text that gpt accepts?""")
mistake("options-ignored", _OPTIONS, "_choose(logits[..., -1, :], rng, 1.0, None, None)").explain("""
    temperature, top_k and top_p were not passed on
    why: The mistake stays hidden with the defaults.
    ask: Which of the functions that you call needs these options?""")
mistake("always-greedy", _OPTIONS, "_choose(logits[..., -1, :], rng, 0, None, None)").explain("""
    the most probable token was always taken
    why: Every generator then gives the same text.
    ask: Where is rng used?""")
mistake("written-in-front", "np.concatenate([ids, new], axis=-1)", "np.concatenate([new, ids], axis=-1)").explain("""
    the new tokens were put in front of the text
    why: The next token belongs after the last one.
    ask: In which order do you concatenate the text and the new token?""")

mistake = MISTAKES.for_functions("generation.generate_cached")
mistake(
    "position-restarts", 'params["W_pos"][start:]', 'params["W_pos"]', common=True, inside="_next_logits"
).explain("""
    every new token was embedded as if it stood at position 0
    why: The new token is passed in as a text of length 1, but its position is after all the tokens in the cache.
    ask: Which row of W_pos belongs to the new token?""")
mistake(
    "prompt-without-mask", "mask = causal_mask(ids.shape[-1], end)", "mask = None", common=True, inside="_next_logits"
).explain("""
    the positions of the prompt attend to later positions
    why: A single new token needs no mask, but a prompt is processed with several queries at once.
    ask: Which tokens may the first token of the prompt attend to?""")
mistake(
    "mask-from-the-first-key",
    "if ids.shape[-1] > 1:",
    "if True:",
    "causal_mask(ids.shape[-1], end)",
    "np.tri(ids.shape[-1], end, dtype=bool)",
    inside="_next_logits",
).explain("""
    the mask treats the new token as position 0: it attends to the first key only
    why: The queries belong to the last of the keys, so the triangle must be shifted by the length of the cache.
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
    the new token attends only to its own key and value
    why: The keys and values in the cache must be put before the new ones.
    ask: How many keys should the query of the tenth token be compared with?""")
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
    when the window moved, the oldest key was dropped and the others were reused
    why: With learned positions, every token in the window gets a new position, and all keys and values change.
    ask: Which row of W_pos was used for the second key, before and after the window moved?""")
mistake("same-cache", "for _ in", "cache = [(*entry[:2], *cache[0][2:]) for entry in cache]\n    for _ in").explain("""
    all blocks share one cache
    why: Every block needs its own keys and values. Here, each block overwrites those of the block before.
    ask: How many pairs of keys and values does a model with four blocks need?""")
