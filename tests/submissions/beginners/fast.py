"""Wrong answers to `fast` as beginners write them; the docstring is what the report should call them."""

import math

import numpy as np
from fast import online_softmax_step
from generation import sample


@variants(
    values_only=("old-values-kept", "total + new.sum", "total * old + new.sum"),
    block_only=("maximum-of-block", "np.maximum(maximum, np.max(scores, axis=-1))", "np.max(scores, axis=-1)",
                "total + new.sum", "total * old + new.sum", "weighted + new @ v", "weighted * old[..., None] + new @ v"),
    nan=("nan-without-keys", "safe = np.where(np.isinf(top), 0.0, top)", "safe = top",
         "total + new.sum", "total * old + new.sum", "weighted + new @ v", "weighted * old[..., None] + new @ v"),
    upside_down=("factor-inverted", "maximum - safe", "safe - maximum",
                 "total + new.sum", "total * old + new.sum", "weighted + new @ v", "weighted * old[..., None] + new @ v"),
)  # fmt: skip
def online_softmax_step__uncorrected(maximum, total, weighted, scores, v):
    """old-sums-kept"""
    top = np.maximum(maximum, np.max(scores, axis=-1))
    safe = np.where(np.isinf(top), 0.0, top)
    old = np.exp(maximum - safe)
    new = np.exp(scores - safe[..., None])
    return top, total + new.sum(axis=-1), weighted + new @ v


@variants(
    zero=("start-0-as-none", "if start is not None:", "if start:", "s + np.arange", "n + np.arange"),
    from_the_start=("start-ignored", "t = start + np", "t = np", "s + np.arange", "n + np.arange"),
    no_sum=("not-divided", "o / l[..., None]", "o", "s + np.arange", "n + np.arange"),
    listed=("all-blocks-first", "in blocks", "in [*blocks]", "s + np.arange", "n + np.arange"),
)
def blocked_attention__numbered_anew(q, blocks, start=None):
    """mask-restarts"""
    m, l, o, n, s = -np.inf, 0.0, 0.0, 0, 0
    for k, v in blocks:
        z = q @ np.swapaxes(k, -1, -2) / math.sqrt(q.shape[-1])
        if start is not None:
            t = start + np.arange(q.shape[-2])
            z = np.where(s + np.arange(k.shape[-2]) <= t[:, None], z, -np.inf)
        m, l, o = online_softmax_step(m, l, o, z, v)
        n = n + k.shape[-2]
        if start is not None and n >= start + q.shape[-2]:
            break
    return o / l[..., None]


@variants(
    cut=("truncated", "W.max", "abs(W).max", "np.round(W / s)", "(W / s)"),
    too_far=("up-to-128", "W.max", "abs(W).max", "/ 127", "/ 128"),
    zeros=("divided-by-0", "W.max", "abs(W).max", "np.where(s == 0, 1, s)", "s"),
    floats=("kept-as-floats", "W.max", "abs(W).max", ".astype(np.int8)", ""),
)
def quantize__signed(W):
    """no-absolute-value"""
    s = W.max(axis=0) / 127
    s = np.where(s == 0, 1, s).astype(W.dtype)
    return np.round(W / s).astype(np.int8), s


@variants(divided=("divided-by-scales", "np.dot(x, W8)", "np.dot(x, W8) / scales"))
def int8_linear__unscaled(x, W8, scales):
    """not-scaled"""
    return np.dot(x, W8).astype(x.dtype)


@variants(
    other_side=("wrong-difference", "sample(p, rng)", "sample(np.clip(q - p, 0, None), rng)"),
    inverted=("ratio-inverted", "p[x] / q[x]", "q[x] / p[x]", "sample(p, rng)", "sample(np.clip(p - q, 0, None), rng)"),
    late=("rows-shifted", "draft_probs[i], target_probs[i]", "draft_probs[i], target_probs[i + 1]", "sample(p, rng)", "sample(np.clip(p - q, 0, None), rng)"),
    both=("rejected-token-kept", "[*kept, sample(p, rng)]", "[*kept, x, sample(np.clip(p - q, 0, None), rng)]"),
    nothing_more=("no-token-added", "[*kept, sample(target_probs[-1], rng)]", "kept", "sample(p, rng)", "sample(np.clip(p - q, 0, None), rng)"),
)
def accept_draft__drawn_again(tokens, draft_probs, target_probs, rng):
    """replaced-from-p"""
    if len(target_probs) != len(tokens) + 1:
        raise ValueError("one row more than tokens")
    kept = []
    for i, x in enumerate(tokens):
        q, p = draft_probs[i], target_probs[i]
        if rng.random() >= min(1, p[x] / q[x]):
            return np.array([*kept, sample(p, rng)], dtype=np.int64)
        kept.append(x)
    return np.array([*kept, sample(target_probs[-1], rng)], dtype=np.int64)
