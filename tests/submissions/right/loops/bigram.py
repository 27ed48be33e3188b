"""One pair at a time, with plain lists."""

import math

import numpy as np


def _probabilities(row):
    top = max(row)
    powers = [math.exp(score - top) for score in row]
    return [power / sum(powers) for power in powers]


def generate_bigram(W, start, n_new, rng):
    if start < 0 or start >= len(W) or n_new < 0:
        raise ValueError("start or n_new")
    table = [_probabilities(row) for row in W.tolist()]
    text = [int(start)]
    while len(text) <= n_new:
        p = table[text[-1]]
        dart, end = rng.random() * sum(p), 0.0
        for token, share in enumerate(p):
            end += share
            if dart < end:
                break
        text.append(token)
    return np.array(text, dtype=np.int64)


def bigram_loss(ids, targets, W):
    pairs = list(zip(np.ravel(ids).tolist(), np.ravel(targets).tolist()))
    loss, gradient = 0.0, [[0.0] * len(W) for _ in W]
    for current, following in pairs:
        row = W[current].tolist()
        top = max(row)
        log_total = top + math.log(sum(math.exp(score - top) for score in row))
        loss += log_total - row[following]
        for token, score in enumerate(row):
            gradient[current][token] += (math.exp(score - log_total) - (token == following)) / len(pairs)
    return loss / len(pairs), np.array(gradient, dtype=W.dtype)


def sgd_step(W, dW, lr):
    new = W.copy()
    for place in np.ndindex(W.shape):
        new[place] -= lr * float(dW[place])
    return new


def train_bigram(ids, vocab_size, steps, lr, batch_size, rng):
    W, losses = np.zeros((vocab_size, vocab_size)), []
    while len(losses) < steps:
        places = rng.integers(0, len(ids) - 1, batch_size)
        x = np.array([ids[place] for place in places])
        y = np.array([ids[place + 1] for place in places])
        loss, dW = bigram_loss(x, y, W)
        losses.append(loss)
        W = sgd_step(W, dW, lr)
    return W, losses
