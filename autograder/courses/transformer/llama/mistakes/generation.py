"""Mistakes in generating text with a Llama and a key/value cache."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_STEP = "_next_logits"
_POSITIONS = "positions = np.arange(start, end)"
_MASK = "mask = causal_mask(ids.shape[-1], end)"
_KEYS = "keys[..., start:end, :] = rope(k, positions, config.rope_base)"
_VALUES = "values[..., start:end, :] = split_heads("
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
    "query-position-restarts",
    _ATTENTION,
    _ATTENTION.replace("positions", "np.arange(end - start)"),
    inside=_STEP,
).explain("""
    the query of each new token was rotated as if it stood at position 0, its key was not
    why: Query and key of a token belong to the same position.
    ask: Which positions do you pass to rope for the queries, and which for the keys?""")
mistake("key-position-restarts", _KEYS, _KEYS.replace("positions", "np.arange(end - start)"), inside=_STEP).explain("""
    the key of each new token was rotated as if it stood at position 0, its query was not
    why: Query and key of a token belong to the same position.
    ask: Which positions do you pass to rope for the queries, and which for the keys?""")
for name, positions, what in (
    ("one-too-high", "np.arange(start, end) + (start > 0)", "late"),
    ("one-too-low", "np.arange(start, end) - (start > 0)", "early"),
):
    mistake(f"position-{name}", _POSITIONS, f"positions = {positions}", inside=_STEP).explain(f"""
        each new token was rotated one position too {what}
        why: The position of a new token is the number of tokens before it: those in the cache.
        ask: Which position has the first new token after a prompt of three?""")
mistake(
    "position-always-last",
    _POSITIONS,
    "positions = np.arange(end) if start == 0 else np.array([config.block_size - 1])",
    inside=_STEP,
).explain("""
    every new token was rotated as if it stood at the last position of the window
    why: The position of a new token is the number of tokens before it: those in the cache.
    ask: Which position has the first new token after a prompt of three?""")
mistake("no-rotation", _POSITIONS, "positions = np.zeros(end - start, dtype=int)", inside=_STEP).explain("""
    no position was used: all tokens were rotated by the same angle
    why: Only differences of positions change the scores. Without them, the order of the tokens is lost.
    ask: Which positions do you pass to rope?""")
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
mistake("keys-not-rotated", _KEYS, "keys[..., start:end, :] = k", inside=_STEP).explain("""
    the keys were not rotated
    why: A score depends on the difference of two positions only if both sides are rotated.
    ask: What does grouped_query_attention do with the keys before it compares them?""")
mistake("queries-not-rotated", _ATTENTION, "attention(q, k, v, mask)", inside=_STEP).explain("""
    the queries were not rotated
    why: A score depends on the difference of two positions only if both sides are rotated.
    ask: What does grouped_query_attention do with the queries before it compares them?""")
mistake(
    "values-rotated",
    "        k, v = (_for_all_heads",
    "        values[..., start:end, :] = rope(values[..., start:end, :], positions, config.rope_base)\n"
    "        k, v = (_for_all_heads",
    inside=_STEP,
).explain("""
    the values were rotated, too
    why: Only scores depend on positions. The values are averaged as they are.
    ask: Which of q, k and v does grouped_query_attention rotate?""")
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
mistake("mask-from-the-first-key", _MASK, "mask = np.tri(ids.shape[-1], end, dtype=bool)", inside=_STEP).explain("""
    the mask treated the new token as position 0: it attended to the first key only
    why: The queries belong to the last keys, so the triangle must be shifted by the length of the cache.
    ask: What is your mask for one query and six keys?""")
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
mistake(
    "keys-and-values-exchanged", "for stored in (keys, values))", "for stored in (values, keys))", inside=_STEP
).explain("""
    keys and values were swapped
    why: The query is compared with the keys, and the result is an average of the values.
    ask: In which order does attention take its arguments?""")
for stored in ("keys", "values"):
    mistake(
        f"old-{stored}-lost",
        "        k, v = (_for_all_heads",
        f"        {stored}[..., :start, :] = 0.0\n        k, v = (_for_all_heads",
        inside=_STEP,
    ).explain(f"""
        the old {stored} were replaced by zeros
        why: The cache must keep the {stored} of all positions until the window moves.
        ask: What is in your cache of {stored} after the second new token?""")
mistake(
    "same-cache",
    "    for _ in range(n_new):",
    "    caches = [(layer, *caches[0][1:]) for layer, _, _ in caches]\n    for _ in range(n_new):",
).explain("""
    all blocks shared one cache
    why: Every block needs its own keys and values. Here, each block overwrites those of the block before.
    ask: How many pairs of keys and values does a model with four blocks need?""")
mistake("same-block-parameters", 'f"blocks.{i}."', '"blocks.0."').explain("""
    every block was computed with the parameters of the first
    why: Each block has its own: `blocks.0.…`, `blocks.1.…`, and so on.
    ask: Which key of params does the second block read?""")

# The other steps of the model.
_NORM1, _NORM2 = (
    'normed = rmsnorm(x, layer["norm1.gamma"], config.norm_eps)',
    'normed = rmsnorm(x, layer["norm2.gamma"], config.norm_eps)',
)
_LAST = 'last = rmsnorm(x[..., -1, :], params["norm_f.gamma"], config.norm_eps)'
mistake("first-norm-unused", _NORM1, "normed = x", inside=_STEP).explain("""
    queries, keys and values were computed from x, not from the normalized x
    why: The steps are those of llama_block.
    ask: What does the attention read in llama_block?""")
mistake("second-norm-unused", _NORM2, "normed = x", inside=_STEP).explain("""
    the feed-forward network got the stream, not the normalized stream
    why: The steps are those of llama_block.
    ask: What does swiglu read in llama_block?""")
mistake("norm1-twice", _NORM2, _NORM2.replace("norm2", "norm1"), inside=_STEP).explain("""
    norm1.gamma was used in both norms
    why: Both have the shape (D,), and in an untrained model all of them are 1.
    ask: Which entry of the parameters does each of your two norms read?""")
mistake("no-last-norm", _LAST, "last = x[..., -1, :]", inside=_STEP).explain("""
    the last norm is missing
    why: The steps are those of llama. The head reads normalized vectors.
    ask: What does llama do between the last block and the head?""")
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
mistake("no-first-residual", "x = x + linear(merge_heads", "x = linear(merge_heads", inside=_STEP).explain("""
    x was not added to the output of the attention
    why: The steps are those of llama_block.
    ask: What do you add to the output of the attention?""")
mistake("no-second-residual", "x = x + swiglu(", "x = swiglu(", inside=_STEP).explain("""
    the stream was not added to the output of the feed-forward network
    why: The steps are those of llama_block.
    ask: What do you add to the output of swiglu?""")
mistake("first-position", "x[..., -1, :]", "x[..., 0, :]", inside=_STEP, common=True).explain("""
    the scores of the first position of the prompt were used
    why: They predict the token after the first one. The scores at the last position predict the new token.
    ask: Which position predicts the token after the prompt?""")
mistake("always-tied", "_head(params, config)", 'params["W_tok"].T', inside=_STEP).explain("""
    the token table was the head, although the head is not tied
    why: The configuration says whether the model has a head of its own.
    ask: What does your code do with config.tied?""")
mistake("tied-ignored", "_head(params, config)", 'params["W_head"]', inside=_STEP).explain("""
    with a tied head, W_head was used
    why: A tied model has no W_head: the head is the transposed token table.
    ask: What does your code do with config.tied?""")

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
    "window-never-moves",
    "    caches, n_cached = [], 0\n",
    "    caches, n_cached = [], 0\n    limit = config.block_size\n",
    "config.n_kv_heads, config.block_size,",
    "config.n_kv_heads, max(config.block_size, ids.shape[-1]) + n_new,",
    _FULL,
    "if n_cached == 0:",
    _FILL,
    "context = ids[..., -limit:]",
).explain("""
    the window never moved: a new token attended to more than block_size keys
    why: Rotations have no last position, so nothing fails. But the model was trained on block_size tokens.
    ask: How many keys does a query attend to after block_size + 5 tokens?""")
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
mistake(
    "window-restarts-from-one-token",
    _FILL,
    "context = ids[..., -config.block_size :] if n_cached == 0 else ids[..., -1:]\n            n_cached = 0",
).explain("""
    when the window was full, the cache was emptied, and only the last token was put into it
    why: The context is always the last block_size tokens. When the window moves, all of them must be computed again.
    ask: How many tokens can the model read right after the window has moved?""")
mistake("prompt-length-not-counted", "n_cached += context.shape[-1]", "n_cached += 1").explain("""
    the cache counted the prompt as one token
    why: The next key then overwrites one of the prompt, and its position is too low.
    ask: How many keys are in the cache after a prompt of three tokens?""")
mistake(
    "stops-at-block-size",
    "for _ in range(n_new):",
    "for _ in range(min(n_new, max(config.block_size - ids.shape[-1], 0))):",
).explain("""
    generation stopped when the text was as long as block_size
    why: The text may be longer. Only the context, the part that the model reads, is cropped.
    ask: What is the shape of your result if T + n_new is larger than block_size?""")

# The tokens.
mistake("always-greedy", _CHOICE, "sample(next_token_probs(logits, 0), rng)").explain("""
    the most probable token was always taken
    why: Every generator then gives the same text.
    ask: Where are temperature, top_k and top_p used?""")
mistake("options-ignored", _CHOICE, "sample(next_token_probs(logits), rng)").explain("""
    temperature, top_k and top_p had no effect
    why: The mistake stays hidden with the defaults.
    ask: Which of the functions that you call needs these options?""")
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
mistake("k-and-p-exchanged", _CHOICE, "sample(next_token_probs(logits, temperature, top_p, top_k), rng)").explain("""
    top_k and top_p were swapped
    why: Both may be None, so the mistake stays hidden with the defaults.
    ask: In which order does next_token_probs take its arguments?""")
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
    "dtype-of-the-prompt",
    "    ids = np.array(ids, dtype=np.int64)",
    "    given = np.asarray(ids)\n    ids = np.array(ids, dtype=np.int64)",
    "    return ids",
    "    return ids.astype(given.dtype)",
).explain("""
    the result has the dtype of the prompt
    why: Token ids are int64.
    ask: Which dtype does the docstring give for the result?""")
mistake(
    "first-axis-as-batch", "(*ids.shape[:-1], config.n_kv_heads,", "(*ids.shape[:1], config.n_kv_heads,"
).explain("""
    the cache was made for one leading axis only
    why: The prompts may have any number of leading axes, or none.
    ask: Which shape do the keys have for a prompt of shape (T,), and for one of shape (2, 3, T)?""")
mistake(
    "prompt-in-place",
    "    return ids",
    "    prompts[..., 0] = ids[..., -1]\n    return ids",
    "    ids = np.array(ids, dtype=np.int64)",
    "    prompts = ids\n    ids = np.array(ids, dtype=np.int64)",
).explain("""
    the prompt was changed
    why: The caller may still need it.
    ask: Which of your lines write into an array that you did not create?""")
mistake("none-new-refused", "if n_new < 0:", "if n_new < 1:").explain("""
    n_new = 0 was refused
    why: Then the result is the prompt.
    ask: Which values of n_new does the docstring allow?""")
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
mistake("empty-prompt-without-new-accepted", "if ids.shape[-1] < 1:", "if ids.shape[-1] < 1 and n_new > 0:").explain("""
    a prompt without tokens was accepted if no new token was asked for
    why: The docstring names a ValueError for every prompt without tokens.
    ask: Where in your code is the length of the prompt checked?""")
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
