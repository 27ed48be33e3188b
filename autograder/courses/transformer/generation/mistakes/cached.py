"""Mistakes in `generation`: generating text with a key/value cache."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_STEP = "_next_logits(context, n_cached, kv, params, config)"
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
    "            for _, _, keys, values in kv:\n"
    "                keys[..., :-1, :] = keys[..., 1:, :].copy()\n"
    "                values[..., :-1, :] = values[..., 1:, :].copy()\n"
    "            n_cached -= 1\n"
    "        if n_cached == 0:",
).explain("""
    when the window moved, the oldest key was dropped and the others were reused
    why: With learned positions, every token in the window gets a new position, and all keys and values change.
    ask: Which row of W_pos was used for the second key, before and after the window moved?""")
mistake(
    "position-counts-from-the-first-new-token",
    _LOOP,
    "    for step in range(n_new):\n",
    _STEP,
    _STEP.replace(
        "params,", "{**params, 'W_pos': np.concatenate([params['W_pos'][:n_cached], params['W_pos'][position:]])},"
    ),
    "        logits =",
    "        position = max(step - 1, 0) if n_cached else 0\n        logits =",
).explain("""
    the positions of the new tokens were counted from 0 again after the prompt
    why: The position of a new token is the number of tokens before it in the window: those in the cache.
    ask: Which row of W_pos belongs to the first new token after a prompt of three?""")
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
mistake("first-tokens", "= ids[..., -config.block_size :]", "= ids[..., : config.block_size]", common=True).explain("""
    the cache was filled from the first block_size tokens, not the last
    why: The model then reads the same beginning every time, and not what it has just written.
    ask: Which tokens of the text help most to predict the next one?""")
mistake("prompt-lost", "    return ids", "    return ids[..., ids.shape[-1] - n_new :]").explain("""
    only the new tokens were returned
    why: The result should be the whole text: each prompt and its continuation.
    ask: How many tokens should the caller get for a prompt of three and n_new=2, and how many does yours return?""")
mistake("one-too-many", "range(n_new)", "range(n_new + 1)").explain("""
    one new token too many was generated
    why: range(n_new) already has n_new values.
    ask: How many new tokens does your code return with n_new=1?""")
mistake("first-axis-as-batch", "_empty_kv(ids.shape[:-1],", "_empty_kv(ids.shape[:1],").explain("""
    the cache was made for one leading axis only
    why: The prompts may have any number of leading axes, or none.
    ask: Which shape do the keys have for a prompt of shape (T,), and for one of shape (2, 3, T)?""")
mistake("post-norm", 'pre = config.norm == "pre"', "pre = False", inside="_next_logits").explain("""
    the blocks were computed as post-norm, whatever config.norm says: the norms came after the additions
    why: In a pre-norm model, each step reads layernorm(x), and its result is added to x itself.
    ask: What does gpt pass to block as the norm?""")
mistake("head-bias-missing", 'params.get("b_head"))', "None)", inside="_next_logits").explain("""
    the bias of the head, b_head, was not added to the scores
    why: It starts at 0, so the mistake shows only after training.
    ask: Which names in params does no line of your code read?""")
_SINES = "sinusoidal_positions(end, config.d_model)"
mistake("sines-from-0", _SINES, f"np.roll({_SINES}, start, axis=0)", inside="_next_logits").explain("""
    with sinusoidal positions, new tokens always got the rows from position 0 on
    why: A new token comes after those in the cache, and its position counts on from them.
    ask: Which row of the table does the second token get in your code, if it is read by itself?""")
