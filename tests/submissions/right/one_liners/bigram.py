"""As short as it goes."""

from functools import reduce

import numpy as np
from softmax import cross_entropy, cross_entropy_backward, softmax


def _valid(ids, V, k):
    if k >= 0 and all(0 <= i < V for i in ids): return np.asarray(ids, int)
    raise ValueError((V, k))


def generate_bigram(W, start, n_new, rng):
    return np.array(reduce(lambda text, _: [*text, rng.choice(len(W), p=softmax(W[text[-1]]))], range(n_new), _valid([start], len(W), n_new)), np.int64)


def bigram_loss(ids, targets, W):
    return cross_entropy(W[ids], targets), np.einsum("nv,nw->vw", np.eye(len(W), dtype=W.dtype)[ids].reshape(-1, len(W)), cross_entropy_backward(W[ids], targets).reshape(-1, len(W)))


def sgd_step(W, dW, lr):
    return W + dW * -lr


def train_bigram(ids, vocab_size, steps, lr, batch_size, rng):
    runs = [(np.zeros((vocab_size,) * 2), None)]
    for p in (rng.integers(len(ids) - 1, size=batch_size) for _ in range(steps)): runs.append((sgd_step(runs[-1][0], (pair := bigram_loss(ids[p], ids[p + 1], runs[-1][0]))[1], lr), pair[0]))
    return runs[-1][0], [loss for _, loss in runs[1:]]
