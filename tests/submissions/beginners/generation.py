"""Beginners' wrong versions of assignment 11; each docstring lists the mistakes that the report should name."""

import numpy as np
from softmax import as_float, softmax

_solution = next_token_probs


def _sort(p): return np.argsort(-p, axis=-1, kind="stable")


def _generate_variant(ids, params, config, n_new, rng, temperature=1.0, top_k=None, top_p=None, variant=""):
    ids = np.array(ids, np.int64)
    for _ in range(n_new - (variant == "one_less") + (variant == "one_more")):
        ctx = ids[..., -config.block_size:]
        if variant == "bs_minus": ctx = ids[..., -(config.block_size - 1):]
        l, _ = gpt(ctx, params, config)
        l = l[..., -1, :]
        if variant == "pos_T": l = gpt(ctx, params, config)[0][..., 0, :]
        p = next_token_probs(l, *( () if variant == "noopts" else (temperature, top_k, top_p)))
        if variant == "swap": p = next_token_probs(l, temperature, None, top_p)
        if variant == "greedy": p = next_token_probs(l, 0)
        new = sample(p, rng)
        if variant == "same": new = np.broadcast_to(new.ravel()[0], new.shape)
        if variant == "prepend": ids = np.concatenate([new[..., None], ids], -1)
        else: ids = np.concatenate([ids, new[..., None]], -1)
    return ids


def next_token_probs__unstable(logits, temperature=1.0, top_k=None, top_p=None):
    """top-p-mixes-equals"""
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
    logits = as_float(logits).copy()
    if temperature == 0: return _solution(logits, temperature, top_k, top_p)
    if top_k is not None and top_k < logits.shape[-1]:
        kth = np.sort(logits, -1)[..., -top_k, None]
        logits = np.where(logits < kth, -np.inf, logits)
    return _solution(logits, temperature, None, top_p)


def next_token_probs__top_k_too_large(logits, temperature=1.0, top_k=None, top_p=None):
    """ties-kept"""
    logits = as_float(logits).copy()
    if temperature == 0: return _solution(logits, temperature, top_k, top_p)
    if top_k is not None:
        kth = np.sort(logits, -1)[..., -top_k, None]
        logits = np.where(logits < kth, -np.inf, logits)
    return _solution(logits, temperature, None, top_p)


def next_token_probs__topp_gt(logits, temperature=1.0, top_k=None, top_p=None):
    """exactly-p-not-enough"""
    logits = as_float(logits)
    if temperature == 0 or top_p is None or top_p >= 1: return _solution(logits, temperature, top_k, top_p)
    p = _solution(logits, temperature, top_k, None)
    o = _sort(p); s = np.take_along_axis(p, o, -1); c = np.cumsum(s, -1)
    s = np.where(c - s > top_p, 0, s); s /= s.sum(-1, keepdims=True)
    q = np.zeros_like(p); np.put_along_axis(q, o, s, -1)
    return q


def next_token_probs__topp_zero_cut(logits, temperature=1.0, top_k=None, top_p=None):
    """nothing-left"""
    logits = as_float(logits)
    if temperature == 0 or top_p is None or top_p >= 1: return _solution(logits, temperature, top_k, top_p)
    p = _solution(logits, temperature, top_k, None)
    o = _sort(p); s = np.take_along_axis(p, o, -1); c = np.cumsum(s, -1)
    s = np.where(c > top_p, 0, s); s /= s.sum(-1, keepdims=True)
    q = np.zeros_like(p); np.put_along_axis(q, o, s, -1)
    return q


def next_token_probs__temp_after_topk(logits, temperature=1.0, top_k=None, top_p=None):
    """equals-share temperature-kept-above-small"""
    return _solution(logits, max(temperature, 1e-8), top_k, top_p)


def next_token_probs__topk_ignored(logits, temperature=1.0, top_k=None, top_p=None):
    """top-k-ignored"""
    return _solution(logits, temperature, None, top_p)


def next_token_probs__topp_ignored(logits, temperature=1.0, top_k=None, top_p=None):
    """top-p-ignored"""
    return _solution(logits, temperature, top_k, None)


def next_token_probs__temp_ignored(logits, temperature=1.0, top_k=None, top_p=None):
    """temperature-ignored"""
    return _solution(logits, 1.0 if temperature else 0, top_k, top_p)


def next_token_probs__greedy_ties(logits, temperature=1.0, top_k=None, top_p=None):
    """equals-share temperature-kept-above-small"""
    logits = as_float(logits)
    if temperature == 0:
        m = (logits == logits.max(-1, keepdims=True)).astype(logits.dtype)
        return m / m.sum(-1, keepdims=True)
    return _solution(logits, temperature, top_k, top_p)


def next_token_probs__topk_smallest(logits, temperature=1.0, top_k=None, top_p=None):
    """least-probable-kept"""
    logits = as_float(logits)
    if top_k is not None and temperature and top_k < logits.shape[-1]:
        o = np.argsort(logits, -1, kind="stable")[..., top_k:]
        logits = logits.copy(); np.put_along_axis(logits, o, -np.inf, -1)
    return _solution(logits, temperature, None, top_p)


def sample__first(probs, rng):
    """columns-added"""
    c = np.cumsum(probs, 0)
    u = rng.random(c.shape[:-1])[..., None] * c[..., -1:]
    return (c <= u).sum(-1)


def generate__one_less(ids, params, config, n_new, rng, temperature=1.0, top_k=None, top_p=None):
    """one-too-few"""
    return _generate_variant(ids, params, config, n_new, rng, temperature, top_k, top_p, "one_less")


def generate__bs_minus(ids, params, config, n_new, rng, temperature=1.0, top_k=None, top_p=None):
    """window-one-short"""
    return _generate_variant(ids, params, config, n_new, rng, temperature, top_k, top_p, "bs_minus")


def generate__noopts(ids, params, config, n_new, rng, temperature=1.0, top_k=None, top_p=None):
    """options-ignored"""
    return _generate_variant(ids, params, config, n_new, rng, temperature, top_k, top_p, "noopts")


def generate__greedy(ids, params, config, n_new, rng, temperature=1.0, top_k=None, top_p=None):
    """always-greedy"""
    return _generate_variant(ids, params, config, n_new, rng, temperature, top_k, top_p, "greedy")


def generate__prepend(ids, params, config, n_new, rng, temperature=1.0, top_k=None, top_p=None):
    """written-in-front"""
    return _generate_variant(ids, params, config, n_new, rng, temperature, top_k, top_p, "prepend")
