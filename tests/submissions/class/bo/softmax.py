"""Bo: right, but the loss is a sum."""

import numpy as np


def softmax(x, axis=-1, temperature=1.0):
    if not temperature > 0:
        raise ValueError(f"the temperature {temperature} is not positive")
    x = np.asarray(x) * 1.0
    e = np.exp((x - x.max(axis=axis, keepdims=True)) / temperature)
    return e / e.sum(axis=axis, keepdims=True)


def log_softmax(x, axis=-1):
    x = np.asarray(x) * 1.0
    x = x - x.max(axis=axis, keepdims=True)
    return x - np.log(np.exp(x).sum(axis=axis, keepdims=True))


def cross_entropy(logits, targets):
    logp = log_softmax(logits).reshape(-1, np.shape(logits)[-1])
    return -float(logp[np.arange(len(logp)), np.ravel(targets)].sum())


def softmax_backward(dout, probs, axis=-1):
    return probs * dout


def cross_entropy_backward(logits, targets):
    raise NotImplementedError("softmax.cross_entropy_backward")
