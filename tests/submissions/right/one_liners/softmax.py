"""As short as it goes."""

import numpy as np


def _f(x):
    return np.asarray(x) + np.zeros((), np.float32 if np.asarray(x).dtype == np.float32 else np.float64)


def _positive(t):
    if t > 0: return t
    raise ValueError(t)


def log_softmax(x, axis=-1):
    return _f(x) - np.logaddexp.reduce(_f(x), axis=axis, keepdims=True)


def softmax(x, axis=-1, temperature=1.0):
    return np.exp(log_softmax(_f(x) * type(_f(x).flat[0])(1 / _positive(temperature)), axis))


def cross_entropy(logits, targets):
    return -float(np.mean(log_softmax(logits).reshape(-1, np.shape(logits)[-1])[range(np.size(targets)), np.ravel(targets)]))


def softmax_backward(dout, probs, axis=-1):
    return probs * (dout - np.sum(dout * probs, axis, keepdims=True))


def cross_entropy_backward(logits, targets):
    return (softmax(logits) - (np.arange(np.shape(logits)[-1]) == np.asarray(targets)[..., None])).astype(_f(logits).dtype) / _f(logits).dtype.type(np.size(targets))
