"""One query and one key after another."""

import math

import numpy as np


class Blocks:
    def __init__(self, k, v, size):
        self.k, self.v, self.size = k, v, size

    def __iter__(self):
        k_room, v_room = self.k[..., : self.size, :].copy(), self.v[..., : self.size, :].copy()
        for first in range(0, self.k.shape[-2], self.size):
            n = min(self.size, self.k.shape[-2] - first)
            k_room[..., :n, :] = self.k[..., first : first + n, :]
            v_room[..., :n, :] = self.v[..., first : first + n, :]
            yield k_room[..., :n, :], v_room[..., :n, :]


def online_softmax_step(maximum, total, weighted, scores, v):
    queries, width = scores.shape[:-1], v.shape[-1]
    maximum = np.broadcast_to(maximum, queries).astype(scores.dtype)
    total = np.broadcast_to(total, queries).astype(scores.dtype)
    weighted = np.broadcast_to(weighted, (*queries, width)).astype(scores.dtype)
    for query in np.ndindex(queries):
        for key in range(scores.shape[-1]):
            score = scores[(*query, key)]
            if score == -np.inf:
                continue
            if score > maximum[query]:
                smaller = np.exp(maximum[query] - score)
                total[query] *= smaller
                weighted[query] *= smaller
                maximum[query] = score
            weight = np.exp(score - maximum[query])
            total[query] += weight
            weighted[query] += weight * v[(*query[:-1], key)]
    return maximum, total, weighted


def blocked_attention(q, blocks, start=None):
    state, position = (-np.inf, 0.0, 0.0), 0
    iterator = iter(blocks)
    while start is None or position < start + q.shape[-2]:
        pair = next(iterator, None)
        if pair is None:
            break
        k, v = pair
        scores = np.einsum("...tk,...sk->...ts", q, k) / math.sqrt(q.shape[-1])
        for t in range(q.shape[-2]):
            for s in range(k.shape[-2]):
                if start is not None and position + s > start + t:
                    scores[..., t, s] = -np.inf
        state = online_softmax_step(*state, scores, v)
        position += k.shape[-2]
    return state[2] / state[1][..., np.newaxis]


def quantize(W):
    W8, scales = np.zeros(W.shape, np.int8), np.ones(W.shape[1], W.dtype)
    for j in range(W.shape[1]):
        largest = max(abs(W[:, j]))
        if largest > 0:
            scales[j] = largest / 127
        for i in range(W.shape[0]):
            W8[i, j] = round(float(W[i, j] / scales[j]))
    return W8, scales


def int8_linear(x, W8, scales):
    y = np.empty((*x.shape[:-1], W8.shape[1]), x.dtype)
    for j in range(W8.shape[1]):
        y[..., j] = scales[j] * (x * W8[:, j].astype(x.dtype)).sum(axis=-1)
    return y


def accept_draft(tokens, draft_probs, target_probs, rng):
    n, kept = len(tokens), []
    if len(target_probs) != n + 1:
        raise ValueError(f"{n + 1} rows are needed")
    for i in range(n):
        q, p = draft_probs[i][tokens[i]], target_probs[i][tokens[i]]
        if rng.random() < min(1.0, p / q):
            kept.append(tokens[i])
            continue
        row = [max(0.0, target_probs[i][j] - draft_probs[i][j]) for j in range(len(target_probs[i]))]
        break
    else:
        row = target_probs[n]
    dart, end, token = rng.random() * sum(row), 0.0, 0
    for token, p in enumerate(row):
        end += p
        if end > dart:
            break
    return np.array([*kept, token], dtype=np.int64)
