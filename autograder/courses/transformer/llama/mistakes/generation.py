"""Mistakes in generating text with a Llama and a key/value cache."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_STEP = "_next_logits"
_POSITIONS = "positions = np.arange(start, end)"
_MASK = "mask = causal_mask(ids.shape[-1], end)"
_KEYS = "keys[..., start:end, :] = rope(k, positions, config.rope_base)"
_ALL_KEYS = "k, v = (_for_all_heads(stored[..., :end, :], config.n_heads) for stored in (keys, values))"
_ATTENTION = "attention(rope(q, positions, config.rope_base), k, v, mask)"
_FULL = "if n_cached == 0 or n_cached == config.block_size:"
_FILL = "context, n_cached = ids[..., -config.block_size :], 0"
_CHOICE = "sample(next_token_probs(logits, temperature, top_k, top_p), rng)"

mistake = MISTAKES.for_functions("llama.generate_llama")

# The positions.
mistake("position-restarts", _POSITIONS, "positions = np.arange(end - start)", inside=_STEP, common=True).explain("""
    every new token was rotated as if it stood at position 0
    why: The new token is passed in as a text of length 1, but its position is after all the tokens in the cache.
    ask: By which angle is the query of the new token rotated?""")
mistake(
    "keys-rotated-twice",
    _ALL_KEYS,
    f"{_ALL_KEYS}\n        k = rope(k, np.arange(end), config.rope_base)",
    inside=_STEP,
    common=True,
).explain("""
    the stored keys were rotated a second time
    why: They went into the cache after their rotation, by the angle of their own position. That is enough.
    ask: How often is the key of the first token rotated until the text is finished?""")
mistake(
    "base-ignored",
    *(_KEYS, _KEYS.replace(", config.rope_base", "")),
    *(_ATTENTION, _ATTENTION.replace(", config.rope_base", "")),
    inside=_STEP,
    common=True,
).explain("""
    the base of the configuration was not used: it was 10,000
    why: 10,000 is the default of rope. Newer models have larger ones, such as 500,000.
    ask: Which arguments do you pass to rope?""")

# The keys and values.
mistake("prompt-without-mask", _MASK, "mask = None", inside=_STEP, common=True).explain("""
    the positions of the prompt attended to later positions
    why: A single new token needs no mask, but a prompt is processed with several queries at once.
    ask: Which tokens may the first token of the prompt attend to?""")
mistake(
    "old-keys-unused",
    _ALL_KEYS,
    _ALL_KEYS.replace(":end", "start:end"),
    _MASK,
    "mask = causal_mask(ids.shape[-1])",
    inside=_STEP,
    common=True,
).explain("""
    the new token attended only to its own key and value
    why: The keys and values in the cache must be put before the new ones.
    ask: How many keys should the query of the tenth token be compared with?""")
mistake(
    "heads-in-turn",
    _ALL_KEYS,
    "k, v = (\n"
    "            np.concatenate([stored[..., :end, :]] * (config.n_heads // config.n_kv_heads), axis=-3)\n"
    "            for stored in (keys, values)\n"
    "        )",
    inside=_STEP,
    common=True,
).explain("""
    the heads of keys and values were repeated in turn: 0, 1, 0, 1
    why: Query head h uses head h // (H / G): 0, 0, 1, 1.
    ask: What is the difference between np.tile and np.repeat?""")

# The other steps of the model.
_NORM1, _NORM2 = (
    'normed = rmsnorm(x, layer["norm1.gamma"], config.norm_eps)',
    'normed = rmsnorm(x, layer["norm2.gamma"], config.norm_eps)',
)
_LAST = 'last = rmsnorm(x[..., -1, :], params["norm_f.gamma"], config.norm_eps)'
mistake(
    "eps-ignored",
    *(_NORM1, _NORM1.replace(", config.norm_eps", "")),
    *(_NORM2, _NORM2.replace(", config.norm_eps", "")),
    *(_LAST, _LAST.replace(", config.norm_eps", "")),
    inside=_STEP,
    common=True,
).explain("""
    the eps of the configuration was not used: it was 1e-5
    why: 1e-5 is the default of rmsnorm. Some models have 1e-6.
    ask: Which arguments do you pass to rmsnorm?""")
mistake("first-position", "x[..., -1, :]", "x[..., 0, :]", inside=_STEP, common=True).explain("""
    the scores of the first position of the prompt were used
    why: They predict the token after the first one. The scores at the last position predict the new token.
    ask: Which position predicts the token after the prompt?""")

# The window.
mistake("window-not-handled", _FULL, "if n_cached == 0:").explain("""
    a text longer than block_size was not handled
    why: The model reads block_size tokens. When the window moves, the cache must be filled again.
    ask: What does your code do when the cache holds block_size keys?""")
mistake(
    "old-keys-shifted",
    _FULL,
    "if n_cached == config.block_size:\n"
    "            for _, keys, values in caches:\n"
    "                keys[..., :-1, :] = rope(keys[..., 1:, :], np.full(n_cached - 1, -1), config.rope_base)\n"
    "                values[..., :-1, :] = values[..., 1:, :].copy()\n"
    "            n_cached -= 1\n"
    "        if n_cached == 0:",
).explain("""
    when the window moved, the oldest key was dropped and the others were reused
    why: From the second block on, the stored keys and values contain what was read from the dropped token.
    ask: Which tokens did the second position of the window read before the window moved?""")
mistake(
    "long-prompt-not-cropped",
    _FILL,
    "context = ids if n_cached == 0 else ids[..., -config.block_size :]\n            n_cached = 0",
).explain("""
    a prompt longer than block_size was not cropped
    why: The context is the last block_size tokens.
    ask: How many positions does your first forward pass compute for a prompt of block_size + 3 tokens?""")
mistake("first-tokens", _FILL, "context, n_cached = ids[..., : config.block_size], 0", common=True).explain("""
    the cache was filled from the first block_size tokens, not the last
    why: The model then reads the same beginning every time, and not what it has just written.
    ask: Which tokens of the text help most to predict the next one?""")

# The tokens.
mistake("temperature-only", _CHOICE, "sample(next_token_probs(logits, temperature), rng)").explain("""
    top_k and top_p had no effect
    why: The mistake stays hidden with the defaults.
    ask: Which of the functions that you call needs these options?""")
mistake("top_k-only", _CHOICE, "sample(next_token_probs(logits, top_k=top_k, top_p=top_p), rng)").explain("""
    temperature had no effect
    why: The mistake stays hidden with the default.
    ask: Which of the functions that you call needs this option?""")
mistake(
    "temperature-twice",
    _CHOICE,
    "sample(next_token_probs(logits / max(temperature, 1e-9), temperature, top_k, top_p), rng)",
).explain("""
    the scores were divided by the temperature twice
    why: next_token_probs does that already.
    ask: Which of your lines use the temperature?""")
mistake(
    "greedy-without-sample",
    f"new = {_CHOICE}",
    f"new = logits.argmax(axis=-1) if temperature == 0 else {_CHOICE}",
).explain("""
    with temperature 0, sample was not called
    why: The generator is then in another state than the docstring promises.
    ask: How often does the docstring say that sample is called?""")
mistake("drawn-twice", f"new = {_CHOICE}", f"{_CHOICE}\n        new = {_CHOICE}").explain("""
    sample was called twice for each new token
    why: Each call uses up random numbers, so the text is a different one.
    ask: How often does your loop call sample in one round?""")
for name, count in (("few", "n_new - 1"), ("many", "n_new + 1")):
    mistake(f"one-too-{name}", "range(n_new)", f"range({count})").explain(f"""
        one new token too {name} was generated
        why: range(n_new) already has n_new values.
        ask: How many new tokens does your code return with n_new=1?""")
mistake("prompt-lost", "    return ids", "    return ids[..., ids.shape[-1] - n_new :]").explain("""
    only the new tokens were returned
    why: The result should be the whole text: each prompt and its continuation.
    ask: Which shape does the docstring give for the result, and what is the shape of yours?""")
mistake(
    "first-axis-as-batch", "(*ids.shape[:-1], config.n_kv_heads,", "(*ids.shape[:1], config.n_kv_heads,"
).explain("""
    the cache was made for one leading axis only
    why: The prompts may have any number of leading axes, or none.
    ask: Which shape do the keys have for a prompt of shape (T,), and for one of shape (2, 3, T)?""")
mistake("negative-n-accepted", "if n_new < 0:", "if False:").explain("""
    a negative n_new was accepted
    why: The docstring names a ValueError for it.
    ask: What does range do with a negative number?""")
mistake(
    "empty-prompt-accepted",
    'raise ValueError("the prompt must have at least one token")',
    "ids = np.zeros((*ids.shape[:-1], 1), dtype=np.int64)",
).explain("""
    a prompt without tokens was replaced by the token 0
    why: Token 0 is a token like any other. The docstring names a ValueError for such a prompt.
    ask: What does your code do with a text of length 0?""")
mistake(
    "errors-of-probabilities-lost",
    f"new = {_CHOICE}",
    "temperature = 1.0 if temperature < 0 else temperature\n"
    "        top_k = None if top_k is not None and top_k < 1 else top_k\n"
    "        top_p = None if top_p is not None and not 0 < top_p <= 1 else top_p\n"
    f"        new = {_CHOICE}",
).explain("""
    wrong options were replaced by their defaults
    why: next_token_probs rejects them. Its ValueError should reach the caller.
    ask: What does your code do with temperature=-1 and with top_k=0?""")
