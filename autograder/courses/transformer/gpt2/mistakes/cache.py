"""Mistakes in `gpt2`: positions, the mask and the cache of `last_logits`."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_MASK = "mask = causal_mask(end - start, end)"
_POSITIONS = 'params["W_pos"][start:]'
_RETURN = 'return logits, {"length": end, "keys": keys, "values": values}'
_ATTENTION = "attention(q, keys[i, ..., :end, :], values[i, ..., :end, :], mask)"

mistake = MISTAKES.for_functions("gpt2.last_logits")
mistake("position-restarts", _POSITIONS, 'params["W_pos"]', common=True).explain("""
    the new tokens were embedded as if they stood at position 0
    why: The tokens in the cache come before them.
    ask: Which row of W_pos belongs to the first new token after three others?""")
mistake("position-one-too-low", _POSITIONS, 'params["W_pos"][max(start - 1, 0) :]').explain("""
    after the first call, the new tokens were embedded one position too early
    why: The position of the first new token is the number of tokens in the cache.
    ask: Which row of W_pos belongs to the first new token after three others?""")
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
mistake("mask-from-the-first-key", _MASK, "mask = np.tri(end - start, end, dtype=bool)").explain("""
    the mask treated the new tokens as the first positions
    why: The queries belong to the last keys, so the triangle must be shifted by the length of the cache.
    ask: What is your mask for one query and six keys?""")
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
    "cache-counts-last-call", _RETURN, 'return logits, {"length": end - start, "keys": keys, "values": values}'
).explain("""
    only the tokens of the last call were counted in the cache
    why: The third call then overwrites keys of the first two, and its positions are too low.
    ask: How many tokens does your cache count after a prompt of three and a call with one more?""")
mistake("old-cache-returned", _RETURN, "return logits, kv", group="cache-lost").explain("""
    the cache was returned as it was passed in, without the new tokens
    why: The next call continues with the returned cache, which must contain all tokens so far.
    ask: Which line of your code changes the length of the cache?""")
mistake("cache-ignored", "if kv is None:", "if True:", group="cache-lost").explain("""
    the cache that was passed in was ignored
    why: The new tokens then stand alone, without the text before them.
    ask: Where does your code use the argument kv?""")
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
    "kv = _empty_kv(ids.shape[:-1], params, config)",
    "kv = _empty_kv(ids.shape[:-1], params, config)\n"
    "        kv['length'] = 1 if ids.shape[-1] < config.block_size else 0\n"
    "        kv['keys'][..., :1, :] = kv['values'][..., :1, :] = 0.0",
    _POSITIONS,
    'params["W_pos"][start - (start + ids.shape[-1] < config.block_size) :][: ids.shape[-1]]',
).explain("""
    the first call began with a key and a value of zeros
    why: Its score is 0, not minus infinity, so it gets a part of every softmax.
    ask: How many keys does the first token of the text attend to?""")
mistake("first-axis-as-batch", "_empty_kv(ids.shape[:-1],", "_empty_kv(ids.shape[:1],").explain("""
    the cache was made for one leading axis only
    why: The ids may have any number of leading axes, or none.
    ask: Which shape do the keys have for ids of shape (T,), and for ids of shape (2, 3, T)?""")
mistake(
    "full-cache-emptied",
    "    if kv is None:",
    '    if kv is not None and kv["length"] + ids.shape[-1] > config.block_size:\n        kv = None\n'
    "    if kv is None:",
).explain("""
    a cache without room for the new tokens was emptied
    why: The model then continues as if the text before had never been there, and nothing says so.
    ask: What does your code do if the cache holds block_size tokens?""")
mistake("no-tokens-accepted", "if start == end:", "if False:").explain("""
    a call without new tokens did not raise ValueError
    why: There is no last position to compute scores at. An IndexError says less.
    ask: What does x[..., -1, :] do if T is 0?""")
mistake("ids-clipped", "ids = np.asarray(ids)", "ids = np.clip(ids, 0, config.vocab_size - 1)").explain("""
    ids outside the vocabulary were moved to the nearest valid one
    why: Such ids may come from another model's tokenizer. Clipped, they give the scores for a text that nobody wrote.
    ask: What does your code do with the id −1, and what with the id V?""")
