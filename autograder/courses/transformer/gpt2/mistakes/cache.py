"""Mistakes in `gpt2`: positions, the mask and the cache of `last_logits`."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_MASK = "mask = causal_mask(end - start, end)"
_POSITIONS = "positions[start:]"
_KEYS, _VALUES = "keys[i, ..., start:end, :] = k", "values[i, ..., start:end, :] = v"
_RETURN = 'return logits, {"length": end, "keys": keys, "values": values}'
_ATTENTION = "attention(q, keys[i, ..., :end, :], values[i, ..., :end, :], mask)"

mistake = MISTAKES.for_functions("gpt2.last_logits")
mistake("position-restarts", _POSITIONS, "positions", common=True).explain("""
    the new tokens were embedded as if they stood at position 0
    why: The tokens in the cache come before them.
    ask: Which row of W_pos belongs to the first new token after three others?""")
for name, start, title in (
    ("one-too-low", "max(start - 1, 0)", "after the first call, the new tokens were embedded one position too early"),
    (
        "one-too-high",
        "start + (0 < start < config.block_size - ids.shape[-1])",
        "after the first call, the new tokens were embedded one position too late",
    ),
    ("counts-calls-only", "min(start, 1)", "the cache was counted as one token"),
    ("from-the-end", "-ids.shape[-1]", "the new tokens were embedded at the last positions of the block"),
):
    mistake(f"position-{name}", _POSITIONS, f"positions[{start} :]").explain(f"""
        {title}
        why: The position of the first new token is the number of tokens in the cache.
        ask: Which row of W_pos belongs to the first new token after three others?""")
mistake("positions-left-out", _POSITIONS, "positions[start:] * (start == 0)").explain("""
    the new tokens got no position vector after the first call
    why: The model adds a position vector to every token.
    ask: What does embed add to the token vectors?""")
mistake(
    "same-position-for-all", _POSITIONS, "np.repeat(positions[start : start + 1], ids.shape[-1], axis=0)"
).explain("""
    all tokens of one call were embedded at the same position
    why: The first new token stands at position start, the next one at start + 1.
    ask: Which row of W_pos belongs to the second of two new tokens?""")
mistake("mask-missing", _MASK, "mask = None", common=True).explain("""
    there was no mask: the new tokens attended to later ones
    why: A single new token needs none, but a prompt has several, and so has a call with several new tokens.
    ask: Which tokens may the first token of the prompt attend to?""")
mistake(
    "mask-missing-after-the-first-call", _MASK, "mask = None if start else causal_mask(end - start, end)"
).explain("""
    several new tokens after others attended to each other without a mask
    why: The first of them must not attend to the second. With one new token at a time, the mistake does not show.
    ask: What is your mask for two new tokens after three others?""")
mistake(
    "mask-of-the-new-tokens-only",
    _MASK,
    "mask = np.zeros((end - start, end), dtype=bool)\n    mask[:, start:] = causal_mask(end - start)",
    group="old-keys-unused",
).explain("""
    the new tokens attended to each other, but not to the tokens in the cache
    why: The mask of the new tokens is causal, but all old keys are before them.
    ask: What is your mask for two new tokens after three others?""")
mistake("mask-from-the-first-key", _MASK, "mask = np.tri(end - start, end, dtype=bool)").explain("""
    the mask treated the new tokens as the first positions
    why: The queries belong to the last keys, so the triangle must be shifted by the length of the cache.
    ask: What is your mask for one query and six keys?""")
for shift, what in ((-1, "did not attend to themselves"), (1, "attended to the position after them, too")):
    mistake(
        f"mask-shifted-{'back' if shift < 0 else 'forward'}",
        _MASK,
        f"mask = np.tri(end - start, end, start + {shift}, dtype=bool)",
    ).explain(f"""
        the new tokens {what}
        why: A position attends to itself and to all positions before it, and to none after it.
        ask: Which entries of the first row of your mask are True?""")
mistake(
    "cache-not-extended", _RETURN, 'return logits, {"length": start or end, "keys": keys, "values": values}'
).explain("""
    after the first call, new tokens were not added to the cache
    why: The next call then overwrites their keys and values, and its positions are too low.
    ask: How many tokens are in your cache after a prompt of three and two more calls?""")
mistake(
    "cache-counts-one-token", _RETURN, 'return logits, {"length": start + 1, "keys": keys, "values": values}'
).explain("""
    every call was counted as one token
    why: The next key then overwrites one of the prompt, and its position is too low.
    ask: How many tokens are in your cache after a prompt of three?""")
mistake(
    "cache-counts-new-tokens-only", _RETURN, 'return logits, {"length": end - start, "keys": keys, "values": values}'
).explain("""
    the length of the cache was the number of tokens of the last call
    why: It is the number of all tokens so far.
    ask: How many tokens are in your cache after a prompt of three and one more token?""")
mistake(
    "cache-one-too-long",
    _RETURN,
    "keys[..., end : end + 1, :] = values[..., end : end + 1, :] = 0.0\n"
    '    return logits, {"length": min(end + 1, config.block_size), "keys": keys, "values": values}',
).explain("""
    the length of the cache is one more than the number of tokens
    why: The next tokens then stand one position too late, with an empty key before them.
    ask: How many tokens are in your cache after a prompt of three?""")
mistake("old-cache-returned", _RETURN, "return logits, cache", group="cache-lost").explain("""
    the cache was returned as it was passed in, without the new tokens
    why: The next call continues with the returned cache, which must contain all tokens so far.
    ask: Which line of your code changes the length of the cache?""")
mistake("cache-ignored", "if cache is None:", "if True:", group="cache-lost").explain("""
    the cache that was passed in was ignored
    why: The new tokens then stand alone, without the text before them.
    ask: Where does your code use the argument cache?""")
mistake("no-cache-returned", _RETURN, "return logits, None", group="cache-lost").explain("""
    None was returned in place of the cache
    why: The next call then starts a new text.
    ask: What does your function return for the next call?""")
mistake(
    "old-keys-unused", _ATTENTION, "attention(q, k, v, causal_mask(end - start))", common=True, group="old-keys-unused"
).explain("""
    the new tokens attended only to their own keys and values
    why: The keys and values in the cache come before the new ones.
    ask: How many keys should the query of the tenth token be compared with?""")
mistake(
    "cache-of-zeros",
    "cache = _empty_cache(ids.shape[:-1], params, config)",
    "cache = _empty_cache(ids.shape[:-1], params, config)\n"
    "        cache['length'] = 1 if ids.shape[-1] < config.block_size else 0\n"
    "        cache['keys'][..., :1, :] = cache['values'][..., :1, :] = 0.0",
    'embed(ids, params["W_tok"], positions[start:])',
    'embed(ids, params["W_tok"], positions[start - (start + ids.shape[-1] < config.block_size) :][: ids.shape[-1]])',
).explain("""
    the first call began with a key and a value of zeros
    why: Its score is 0, not minus infinity, so it gets a part of every softmax.
    ask: How many keys does the first token of the text attend to?""")
mistake(
    "same-cache-in-all-blocks",
    _KEYS,
    "keys[0, ..., start:end, :] = k",
    _VALUES,
    "values[0, ..., start:end, :] = v",
    _ATTENTION,
    "attention(q, keys[0, ..., :end, :], values[0, ..., :end, :], mask)",
).explain("""
    all blocks shared one cache
    why: Every block needs its own keys and values. Here, each block overwrites those of the block before.
    ask: How many pairs of keys and values does a model with four blocks need?""")
for what, edit in (("keys", _KEYS), ("values", _VALUES)):
    mistake(f"old-{what}-lost", edit, f"{what}[i, ..., :start, :] = 0.0\n        {edit}").explain(f"""
        the old {what} were replaced by zeros
        why: The cache must keep the {what} of all tokens so far.
        ask: What is in your cache of {what} after the second call?""")
    mistake(
        f"only-last-of-the-{what}-kept",
        edit,
        f"{edit}\n        {what}[i, ..., start : end - 1, :] = {what}[i, ..., end - 1 : end, :]",
    ).explain(f"""
        all tokens of one call have the {what} of the last one
        why: Each token has its own key and its own value.
        ask: What is in your cache of {what} after a prompt of three tokens?""")
mistake("keys-stored-as-values", _VALUES, "values[i, ..., start:end, :] = k").explain("""
    the keys were stored in place of the values
    why: The result of attention is an average of the values, not of the keys.
    ask: Which of q, k and v do you write into the two parts of the cache?""")
mistake("first-axis-as-batch", "_empty_cache(ids.shape[:-1],", "_empty_cache(ids.shape[:1],").explain("""
    the cache was made for one leading axis only
    why: The ids may have any number of leading axes, or none.
    ask: Which shape do the keys have for ids of shape (T,), and for ids of shape (2, 3, T)?""")
for dtype, what in (
    ("float64", "float32 parameters give float64 scores"),
    ("float32", "float64 parameters lose digits"),
):
    mistake(
        f"cache-in-{dtype}", 'dtype = params["W_tok"].dtype', f"dtype = np.{dtype}", inside="_empty_cache"
    ).explain(f"""
        the cache is always {dtype}, so that {what}
        why: The keys and values have the dtype of the parameters.
        ask: What is the dtype of your cache if the parameters are {"float32" if dtype == "float64" else "float64"}?""")
mistake("block-size-not-reachable", "if end > config.block_size:", "if end >= config.block_size:").explain("""
    the last position could not be used
    why: The block size is the number of tokens that the model can read, so exactly as many fit.
    ask: How many tokens fit if block_size is 4?""")
mistake(
    "new-tokens-cropped",
    "    if cache is None:",
    "    if cache is None:\n        ids = ids[..., -config.block_size :]\n    if cache is None:",
).explain("""
    a text that is too long was cropped
    why: The docstring promises a ValueError. Which part of the text to drop is for the caller to decide.
    ask: What does your code do with block_size + 1 tokens?""")
mistake(
    "full-cache-emptied",
    "    if cache is None:",
    '    if cache is not None and cache["length"] + ids.shape[-1] > config.block_size:\n        cache = None\n'
    "    if cache is None:",
).explain("""
    a cache without room for the new tokens was emptied
    why: The docstring promises a ValueError. Here, the text before is forgotten, and nothing says so.
    ask: What does your code do if the cache holds block_size tokens?""")
mistake(
    "full-cache-moved",
    "    end = start + ids.shape[-1]",
    "    start = max(min(start, config.block_size - ids.shape[-1]), 0)\n    end = start + ids.shape[-1]",
).explain("""
    in a cache without room, the new tokens overwrote the last ones
    why: The docstring promises a ValueError. Here, the text has a gap, and nothing says so.
    ask: What does your code do if the cache holds block_size tokens?""")
mistake("no-tokens-accepted", "if start == end:", "if False:").explain("""
    a call without new tokens did not raise ValueError
    why: There is no last position to compute scores at. An IndexError says less.
    ask: What does x[..., -1, :] do if T is 0?""")
mistake(
    "no-tokens-zeros",
    'raise ValueError("there must be at least one new token")',
    "return np.zeros((*ids.shape[:-1], config.vocab_size)), cache",
).explain("""
    a call without new tokens returned zeros
    why: The docstring promises a ValueError. Zeros would mean that all tokens are equally likely.
    ask: What does your code do if T is 0?""")
mistake("ids-clipped", "ids = np.asarray(ids)", "ids = np.clip(ids, 0, config.vocab_size - 1)").explain("""
    ids outside the vocabulary were moved to the nearest valid one
    why: The docstring promises a ValueError. An error in the data should not go unnoticed.
    ask: What does your code do with the id −1, and what with the id V?""")
mistake(
    "negative-ids-accepted",
    "embed(ids,",
    "embed(np.where(np.asarray(ids) < 0, config.vocab_size + np.asarray(ids), ids),",
).explain("""
    negative ids were accepted: they counted from the end
    why: The docstring promises a ValueError. W_tok[-1] is the vector of the last token.
    ask: What does your code do with the id −1?""")
mistake("large-ids-accepted", "embed(ids,", "embed(np.minimum(ids, config.vocab_size - 1),").explain("""
    ids that are too large did not raise ValueError
    why: The docstring promises a ValueError.
    ask: What does your code do with the id V?""")
