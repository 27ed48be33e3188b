"""Short: the state is one more key, whose score is the maximum so far."""

import numpy as np
from generation import sample


class Blocks:
    def __init__(self, k, v, size): self.parts = [(k[..., i : i + size, :], v[..., i : i + size, :]) for i in range(0, k.shape[-2], size)]
    def __iter__(self):
        rooms = [part.copy() for part in self.parts[0]]
        for parts in self.parts:
            for room, part in zip(rooms, parts): room[..., : part.shape[-2], :] = part
            yield tuple(room[..., : part.shape[-2], :] for room, part in zip(rooms, parts))


def online_softmax_step(maximum, total, weighted, scores, v):
    top = np.maximum(maximum, scores.max(-1))
    old, new = (np.exp(z - np.maximum(top, np.finfo(scores.dtype).min)[..., None]) for z in (np.broadcast_to(maximum, top.shape).astype(top.dtype)[..., None], scores))
    return top, total * old[..., 0] + new.sum(-1), weighted * old + np.einsum("...ts,...sv->...tv", new, v)


def blocked_attention(q, blocks, start=None):
    state, n, end = (-np.inf, 0.0, 0.0), 0, np.inf if start is None else start + q.shape[-2]
    for k, v in blocks:
        s = (q * q.shape[-1] ** -0.5) @ np.swapaxes(k, -1, -2)
        seen = True if start is None else np.tri(*s.shape[-2:], start - n, dtype=bool)
        state, n = online_softmax_step(*state, np.where(seen, s, -np.inf), v), n + k.shape[-2]
        if n >= end: break
    return state[2] / state[1][..., None]


def quantize(W):
    scales = np.where(W.any(0), abs(W).max(0), W.dtype.type(127)) / 127
    return (W / scales).round().astype(np.int8), scales


int8_linear = lambda x, W8, scales: np.einsum("...i,ij,j->...j", x, W8, scales).astype(x.dtype)


def accept_draft(tokens, draft_probs, target_probs, rng):
    if len(tokens) != len(target_probs) - 1: raise ValueError("rows")
    n = next((i for i, (t, q, p) in enumerate(zip(tokens, draft_probs, target_probs)) if rng.random() >= p[t] / q[t]), len(tokens))
    rest = target_probs[n] if n == len(tokens) else (target_probs[n] - draft_probs[n]).clip(0)
    return np.array([*tokens[:n], sample(rest, rng)], np.int64)
