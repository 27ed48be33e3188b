"""A distribution object behind the functions; the loss gradient by way of the softmax gradient."""

import numpy as np


class Categorical:
    """Scores along one axis, and what follows from them."""

    def __init__(self, scores, axis=-1):
        scores = np.asarray(scores)
        self.dtype = scores.dtype if scores.dtype.kind == "f" else np.dtype(float)
        self.axis = axis
        self.scores = scores.astype(np.float64)

    @property
    def log_probs(self):
        top = np.max(self.scores, axis=self.axis, keepdims=True)
        shifted = np.subtract(self.scores, top)
        return shifted - np.log(np.sum(np.exp(shifted), axis=self.axis, keepdims=True))

    @property
    def probs(self):
        return np.exp(self.log_probs)

    def loss(self, targets):
        picked = np.take_along_axis(self.log_probs, np.expand_dims(np.asarray(targets), -1), -1)
        return -np.mean(picked)


def softmax(x, axis=-1, temperature=1.0):
    if not temperature > 0:
        raise ValueError(f"temperature = {temperature} is not positive")
    family = Categorical(x, axis)
    family.scores = family.scores / temperature
    return family.probs.astype(family.dtype)


def log_softmax(x, axis=-1):
    family = Categorical(x, axis)
    return family.log_probs.astype(family.dtype)


def cross_entropy(logits, targets):
    return float(Categorical(logits).loss(targets))


def softmax_backward(dout, probs, axis=-1):
    weighted = np.multiply(dout, probs)
    return weighted - probs * np.sum(weighted, axis=axis, keepdims=True, dtype=weighted.dtype)


def cross_entropy_backward(logits, targets):
    family = Categorical(logits)
    one_hot = np.zeros(family.scores.shape)
    np.put_along_axis(one_hot, np.expand_dims(np.asarray(targets), -1), 1.0, -1)
    n_rows = np.prod(family.scores.shape[:-1])
    return ((family.probs - one_hot) / n_rows).astype(family.dtype)
