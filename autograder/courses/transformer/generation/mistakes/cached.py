"""Mistakes in `generation`: generating text with a key/value cache."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_STEP = "_next_logits(context, n_cached, cache, params, config)"
_LOOP = "    for _ in range(n_new):\n"
_FULL = "if n_cached == 0 or n_cached == config.block_size:"

mistake = MISTAKES.for_functions("generation.generate_cached")
mistake("position-restarts", "positions[start:]", "positions", common=True, inside="_next_logits").explain("""
    every new token was embedded as if it stood at position 0
    why: The new token is passed in as a text of length 1, but its position is after all the tokens in the cache.
    ask: Which row of W_pos belongs to the new token?""")
mistake(
    "prompt-without-mask", "mask = causal_mask(ids.shape[-1], end)", "mask = None", common=True, inside="_next_logits"
).explain("""
    the positions of the prompt attended to later positions
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
    the mask treated the new token as position 0: it attended to the first key only
    why: The queries belong to the last keys, so the triangle must be shifted by the length of the cache.
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
    the new token attended only to its own key and value
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
    all blocks shared one cache
    why: Every block needs its own keys and values. Here, each block overwrites those of the block before.
    ask: How many pairs of keys and values does a model with four blocks need?""")
for name, position, title in (
    (
        "counts-from-the-first-new-token",
        "max(step - 1, 0)",
        "the positions of the new tokens were counted from 0 again after the prompt",
    ),
    ("counts-the-new-tokens", "step", "the position of a new token was the number of new tokens, itself included"),
    ("one-too-low", "n_cached - 1", "each new token was embedded one position too early"),
    ("one-too-high", "min(n_cached + 1, config.block_size - 1)", "each new token was embedded one position too late"),
    ("always-last", "config.block_size - 1", "every new token was embedded at the last position of the window"),
):
    mistake(
        f"position-{name}",
        _LOOP,
        "    for step in range(n_new):\n",
        _STEP,
        _STEP.replace(
            "params,",
            "{**params, 'W_pos': np.concatenate([params['W_pos'][:n_cached], params['W_pos'][position:]])},",
        ),
        "        logits =",
        f"        position = {position} if n_cached else 0\n        logits =",
    ).explain(f"""
        {title}
        why: The position of a new token is the number of tokens before it in the window: those in the cache.
        ask: Which row of W_pos belongs to the first new token after a prompt of three?""")
mistake(
    "positions-left-out", "positions[start:]", "positions[start:] * (start == 0)", inside="_next_logits"
).explain("""
    the new tokens got no position vector
    why: The model adds a position vector to every token, not only to those of the prompt.
    ask: What does embed add to the token vectors?""")
mistake("prompt-length-not-counted", "n_cached += context.shape[-1]", "n_cached += 1").explain("""
    the cache counted the prompt as one token
    why: The next key then overwrites one of the prompt, and its position is too low.
    ask: How many keys are in the cache after a prompt of three tokens?""")
for shift, what in ((-1, "to themselves"), (1, "to the position after them, too")):
    mistake(
        f"mask-shifted-{'back' if shift < 0 else 'forward'}",
        "mask = causal_mask(ids.shape[-1], end)",
        f"mask = np.tri(ids.shape[-1], end, end - ids.shape[-1] + {shift}, dtype=bool)",
        inside="_next_logits",
    ).explain(f"""
        the positions of the prompt {"did not attend" if shift < 0 else "attended"} {what}
        why: A position attends to itself and to all positions before it, and to none after it.
        ask: Which entries of the first row of your mask are True?""")
for stored, what in (("k", "keys"), ("v", "values")):
    mistake(
        f"old-{what}-lost",
        f"{what}[..., start:end, :] = {stored}",
        f"{what}[..., :start, :] = 0.0\n        {what}[..., start:end, :] = {stored}",
        inside="_next_logits",
    ).explain(f"""
        the old {what} were replaced by zeros
        why: The cache must keep the {what} of all positions until the window moves.
        ask: What is in your cache of {what} after the second new token?""")
mistake(
    "keys-and-values-exchanged",
    "keys[..., :end, :], values[..., :end, :]",
    "values[..., :end, :], keys[..., :end, :]",
    inside="_next_logits",
).explain("""
    keys and values were swapped
    why: The query is compared with the keys, and the result is an average of the values.
    ask: In which order does attention take its arguments?""")
mistake("same-block-parameters", 'f"blocks.{i}."', '"blocks.0."', inside="_empty_cache").explain("""
    every block was computed with the parameters of the first
    why: Each block has its own: `blocks.0.…`, `blocks.1.…`, and so on.
    ask: Which key of params does the second block read?""")
mistake("window-not-handled", _FULL, "if n_cached == 0:").explain("""
    a text longer than block_size was not handled
    why: Beyond block_size tokens, there is no position left. The cache must be filled again from the cropped text.
    ask: What does your code do when the cache holds block_size keys?""")
mistake(
    "long-prompt-not-cropped",
    "context, n_cached = ids[..., -config.block_size :], 0",
    "context = ids if n_cached == 0 else ids[..., -config.block_size :]\n            n_cached = 0",
).explain("""
    a prompt longer than block_size was not cropped
    why: The model has only block_size positions. The context is the last block_size tokens.
    ask: How many positions does your first forward pass compute for a prompt of block_size + 3 tokens?""")
mistake(
    "first-tokens",
    "context, n_cached = ids[..., -config.block_size :], 0",
    "context, n_cached = ids[..., : config.block_size], 0",
    common=True,
).explain("""
    the cache was filled from the first block_size tokens, not the last
    why: The model then reads the same beginning every time, and not what it has just written.
    ask: Which tokens of the text help most to predict the next one?""")
mistake(
    "window-restarts-from-one-token",
    "context, n_cached = ids[..., -config.block_size :], 0",
    "context = ids[..., -config.block_size :] if n_cached == 0 else ids[..., -1:]\n            n_cached = 0",
).explain("""
    when the window was full, the cache was emptied, and only the last token was put into it
    why: The context is always the last block_size tokens. When the window moves, all of them must be computed again.
    ask: How many tokens can the model read right after the window has moved?""")
mistake(
    "window-halved",
    "context, n_cached = ids[..., -config.block_size :], 0",
    "context = ids[..., -config.block_size :] if n_cached == 0 else ids[..., -max(config.block_size // 2, 1) :]\n"
    "            n_cached = 0",
).explain("""
    when the window was full, the cache was filled with half a window
    why: That is fast, but the context is then shorter than in generate, and the text is a different one.
    ask: How many tokens does generate read for the same new token?""")
mistake(
    "cache-never-emptied",
    "    cache, n_cached =",
    "    n_positions = ids.shape[-1] + n_new\n"
    "    n_more = max(n_positions - config.block_size, 0)\n"
    '    params = {**params, "W_pos": np.pad(params["W_pos"], ((0, n_more), (0, 0)), mode="edge")}\n'
    "    first = ids[..., -config.block_size :]\n"
    "    config = replace(config, block_size=config.block_size + n_more)\n"
    "    cache, n_cached =",
    "ids = _check_prompt",
    "from dataclasses import replace\n\n    ids = _check_prompt",
    _FULL,
    "if n_cached == 0:",
    "context, n_cached = ids[..., -config.block_size :], 0",
    "context = first",
).explain("""
    the window never moved: all old keys were kept, and new tokens stayed at the last position
    why: The model reads block_size tokens. When the window moves, all positions change, and the cache is filled again.
    ask: How many keys does a query attend to after block_size + 5 tokens?""")
mistake(
    "stops-at-block-size", "range(n_new)", "range(min(n_new, max(config.block_size - ids.shape[-1], 0)))"
).explain("""
    generation stopped when the text was as long as block_size
    why: The text may be longer. Only the context, the part that the model reads, is cropped.
    ask: What is the shape of your result if T + n_new is larger than block_size?""")
mistake("prompt-lost", "    return ids", "    return ids[..., ids.shape[-1] - n_new :]").explain("""
    only the new tokens were returned
    why: The result should be the whole text: each prompt and its continuation.
    ask: Which shape does the docstring give for the result, and what is the shape of yours?""")
for name, count in (("few", "n_new - 1"), ("many", "n_new + 1")):
    mistake(f"one-too-{name}", "range(n_new)", f"range({count})").explain(f"""
        one new token too {name} was generated
        why: range(n_new) already has n_new values.
        ask: How many new tokens does your code return with n_new=1?""")
mistake(
    "first-axis-as-batch",
    "_empty_cache(ids.shape[:-1],",
    "_empty_cache(ids.shape[:1],",
).explain("""
    the cache was made for one leading axis only
    why: The prompts may have any number of leading axes, or none.
    ask: Which shape do the keys have for a prompt of shape (T,), and for one of shape (2, 3, T)?""")
mistake(
    "always-greedy", "_choose(logits, rng, temperature, top_k, top_p)", "_choose(logits, rng, 0, None, None)"
).explain("""
    the most probable token was always taken
    why: Every generator then gives the same text.
    ask: Where is rng used?""")
mistake(
    "options-ignored", "_choose(logits, rng, temperature, top_k, top_p)", "_choose(logits, rng, 1.0, None, None)"
).explain("""
    temperature, top_k and top_p had no effect
    why: The mistake stays hidden with the defaults.
    ask: Which of the functions that you call needs these options?""")
mistake("softmax-twice", "_choose(logits,", "_choose(softmax(logits),").explain("""
    probabilities were passed to next_token_probs, which expects scores
    why: Softmax of probabilities is much flatter: improbable tokens are then drawn far too often.
    ask: What does next_token_probs compute first?""")
