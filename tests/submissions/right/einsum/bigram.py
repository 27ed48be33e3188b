"""Darts by searchsorted, batches by the tokenizer's get_batch, gradients by einsum."""

import numpy as np
from softmax import cross_entropy, log_softmax
from tokenizer import get_batch


def generate_bigram(W, start, n_new, rng):
    if start not in range(len(W)) or n_new < 0:
        raise ValueError("start is not in the vocabulary, or n_new is negative")
    ends = np.cumsum(np.exp(log_softmax(W)), axis=1)
    text = np.full(n_new + 1, start, dtype=np.int64)
    for i, u in enumerate(rng.random(n_new)):
        row = ends[text[i]]
        text[i + 1] = np.searchsorted(row, u * row[-1], side="right")
    return text


def bigram_loss(ids, targets, W):
    eye = np.eye(len(W), dtype=W.dtype)
    current, following = eye[ids].reshape(-1, len(W)), eye[targets].reshape(-1, len(W))
    pairs = np.einsum("ni,nj->ij", current, following)
    dW = np.einsum("i,ij->ij", pairs.sum(axis=1), np.exp(log_softmax(W))) - pairs
    return cross_entropy(W[ids], targets), dW / W.dtype.type(np.size(ids))


def sgd_step(W, dW, lr):
    new = np.array(W)
    new -= np.einsum(",...->...", W.dtype.type(lr), dW)
    return new


def train_bigram(ids, vocab_size, steps, lr, batch_size, rng):
    W, losses = np.zeros((vocab_size, vocab_size)), []
    for _ in range(steps):
        x, y = get_batch(ids, batch_size, 1, rng)
        loss, dW = bigram_loss(x, y, W)
        W = sgd_step(W, dW, lr)
        losses += [loss]
    return W, losses
