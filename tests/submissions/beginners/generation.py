"""Beginners' wrong versions of `generation`; each docstring lists the mistakes that the report should name."""

import numpy as np
from softmax import as_float, softmax

_solution = next_token_probs

def _sort(p): return np.argsort(-p, axis=-1, kind="stable")

def _generate_variant(ids, params, config, n_new, rng, temperature=1.0, top_k=None, top_p=None, variant=""):
    ids = np.array(ids, np.int64) if variant == "any_n" else _check_prompt(ids, n_new)
    for _ in range(n_new - (variant == "one_less")):
        ctx = ids[..., -config.block_size:]
        if variant == "bs_minus": ctx = ids[..., -(config.block_size - 1):]
        l, _ = gpt(ctx, params, config)
        l = l[..., -1, :]
        p = next_token_probs(l, *( () if variant == "noopts" else (temperature, top_k, top_p)))
        if variant == "greedy": p = next_token_probs(l, 0)
        new = sample(p, rng)
        if variant == "prepend": ids = np.concatenate([new[..., None], ids], -1)
        else: ids = np.concatenate([ids, new[..., None]], -1)
    return ids

def next_token_probs__unstable(logits, temperature=1.0, top_k=None, top_p=None):
    """top-p-mixes-equals"""
    _solution(logits, temperature, top_k, top_p)
    logits = as_float(logits)
    if temperature == 0 or top_p is None or top_p >= 1 or top_k is not None: return _solution(logits, temperature, top_k, top_p)
    p = softmax(logits / temperature)
    o = np.argsort(-p, axis=-1)
    s = np.take_along_axis(p, o, -1); c = np.cumsum(s, -1)
    s = np.where(c - s >= top_p, 0, s); s /= s.sum(-1, keepdims=True)
    q = np.zeros_like(p); np.put_along_axis(q, o, s, -1)
    return q

def next_token_probs__threshold(logits, temperature=1.0, top_k=None, top_p=None):
    """ties-kept"""
    _solution(logits, temperature, top_k, top_p)
    logits = as_float(logits).copy()
    if temperature == 0: return _solution(logits, temperature, top_k, top_p)
    if top_k is not None and top_k < logits.shape[-1]:
        kth = np.sort(logits, -1)[..., -top_k, None]
        logits = np.where(logits < kth, -np.inf, logits)
    return _solution(logits, temperature, None, top_p)

@variants(topp_zero_cut=("nothing-left", "c - s >", "c >"))
def next_token_probs__topp_gt(logits, temperature=1.0, top_k=None, top_p=None):
    """exactly-p-not-enough"""
    _solution(logits, temperature, top_k, top_p)
    logits = as_float(logits)
    if temperature == 0 or top_p is None or top_p >= 1: return _solution(logits, temperature, top_k, top_p)
    p = _solution(logits, temperature, top_k, None)
    o = _sort(p); s = np.take_along_axis(p, o, -1); c = np.cumsum(s, -1)
    s = np.where(c - s > top_p, 0, s); s /= s.sum(-1, keepdims=True)
    q = np.zeros_like(p); np.put_along_axis(q, o, s, -1)
    return q

@variants(
    topk_ignored=("top-k-ignored", "max(temperature, 1e-8), top_k", "temperature, None"),
    topp_ignored=("top-p-ignored", "max(temperature, 1e-8), top_k, top_p", "temperature, top_k, None"),
    temp_ignored=("temperature-ignored", "max(temperature, 1e-8)", "1.0 if temperature else 0"),
)
def next_token_probs__temp_after_topk(logits, temperature=1.0, top_k=None, top_p=None):
    """equals-share temperature-kept-above-small"""
    _solution(logits, temperature, top_k, top_p)
    return _solution(logits, max(temperature, 1e-8), top_k, top_p)

def next_token_probs__topk_smallest(logits, temperature=1.0, top_k=None, top_p=None):
    """least-probable-kept"""
    _solution(logits, temperature, top_k, top_p)
    logits = as_float(logits)
    if top_k is not None and temperature and top_k < logits.shape[-1]:
        o = np.argsort(logits, -1, kind="stable")[..., top_k:]
        logits = logits.copy(); np.put_along_axis(logits, o, -np.inf, -1)
    return _solution(logits, temperature, None, top_p)

def sample__first(probs, rng):
    """columns-added"""
    if not np.all(np.sum(probs, -1) > 0): raise ValueError("nothing to draw")
    c = np.cumsum(probs, 0)
    u = rng.random(c.shape[:-1])[..., None] * c[..., -1:]
    return (c <= u).sum(-1)

@variants(
    bs_minus=("window-one-short", "one_less", "bs_minus"), noopts=("options-ignored", "one_less", "noopts"),
    greedy=("always-greedy", "one_less", "greedy"), prepend=("written-in-front", "one_less", "prepend"),
)
def generate__one_less(ids, params, config, n_new, rng, temperature=1.0, top_k=None, top_p=None):
    """one-too-few"""
    return _generate_variant(ids, params, config, n_new, rng, temperature, top_k, top_p, "one_less")

def next_token_probs__top_p_reversed(logits, temperature=1.0, top_k=None, top_p=None):
    """top-p-last-of-equals"""
    p = _solution(logits, temperature, top_k, None)
    _solution(logits, temperature, top_k, top_p)
    if temperature == 0 or top_p is None or top_p == 1: return p
    o = np.argsort(p, axis=-1, kind="stable")[..., ::-1]
    c = np.take_along_axis(p, o, -1).cumsum(-1)
    keep = np.arange(p.shape[-1]) < (c < top_p).sum(-1, keepdims=True) + 1
    p = p.copy(); p[np.logical_not(np.take_along_axis(keep, np.argsort(o, -1), -1))] = 0
    return p / p.sum(-1, keepdims=True)

def next_token_probs__kth_value(logits, temperature=1.0, top_k=None, top_p=None):
    """large-k-fails"""
    s = np.sort(np.asarray(logits), axis=-1)[..., ::-1]
    if top_k is not None and top_k >= 1: s[..., top_k - 1]
    return _solution(logits, temperature, top_k, top_p)

def next_token_probs__k_of_0(logits, temperature=1.0, top_k=None, top_p=None):
    """k-of-0-ignored"""
    return _solution(logits, temperature, top_k or None, top_p)

def sample__left(probs, rng):
    """border-to-the-first"""
    p = np.asarray(probs, np.float64); rows = p.reshape(-1, p.shape[-1])
    u = np.reshape(rng.random(p.shape[:-1]), -1)
    out = []
    for r, x in zip(rows, u):
        c = r.cumsum()
        if not c[-1] > 0: raise ValueError("nothing to draw")
        out.append(np.searchsorted(c, x * c[-1]))
    return np.array(out, dtype=np.int64).reshape(p.shape[:-1])

def sample__nan(probs, rng):
    """nan-accepted"""
    c = np.cumsum(np.asarray(probs, np.float64), -1)
    if np.any(c[..., -1] <= 0): raise ValueError("zeros")
    return np.asarray((c > (rng.random(c.shape[:-1]) * c[..., -1])[..., None]).argmax(-1))

def sample__number_for_each_token(probs, rng):
    """number-per-token"""
    c = np.cumsum(np.asarray(probs, np.float64), -1)
    if not np.all(c[..., -1] > 0): raise ValueError("nothing to draw")
    u = rng.random(c.shape)[..., :1]
    return (c <= u * c[..., -1:]).sum(-1)

def generate__argmax(ids, params, config, n_new, rng, temperature=1.0, top_k=None, top_p=None):
    """greedy-without-sample"""
    ids = _check_prompt(ids, n_new)
    for _ in range(n_new):
        l = gpt(ids[..., -config.block_size:], params, config)[0][..., -1, :]
        p = next_token_probs(l, temperature, top_k, top_p)
        new = p.argmax(-1) if temperature == 0 else sample(p, rng)
        ids = np.append(ids, new[..., None], -1)
    return ids

def generate__any_n(ids, params, config, n_new, rng, temperature=1.0, top_k=None, top_p=None):
    """negative-n-accepted"""
    if np.shape(ids)[-1] == 0: raise ValueError("empty")
    return _generate_variant(ids, params, config, n_new, rng, temperature, top_k, top_p, "any_n")

def generate_cached__new_position(ids, params, config, n_new, rng, temperature=1.0, top_k=None, top_p=None):
    """position-counts-from-the-first-new-token"""
    ids = _check_prompt(ids, n_new)
    store, n = _empty_kv(ids.shape[:-1], params, config), 0
    for i in range(n_new):
        if n in (0, config.block_size): new, n, at = ids[..., -config.block_size:], 0, 0
        else: new, at = ids[..., -1:], i - 1
        W = np.zeros_like(params["W_pos"]); m = min(new.shape[-1], len(W) - n)
        W[n:n + m] = params["W_pos"][at:at + m]
        l = _next_logits(new, n, store, {**params, "W_pos": W}, config)
        n += new.shape[-1]
        ids = np.append(ids, sample(next_token_probs(l, temperature, top_k, top_p), rng)[..., None], -1)
    return ids
