"""Ada: everything right, in her own way."""

import numpy as np


def floats(x):
    x = np.asarray(x)
    return x if np.issubdtype(x.dtype, np.floating) else x.astype(float)


def logsumexp(x, axis):
    top = np.max(x, axis, keepdims=True)
    return top + np.log(np.sum(np.exp(x - top), axis, keepdims=True))


def log_softmax(x, axis=-1):
    x = floats(x)
    return x - logsumexp(x, axis)


def softmax(x, axis=-1, temperature=1.0):
    if not temperature > 0:
        raise ValueError(f"the temperature {temperature} is not positive")
    return np.exp(log_softmax(floats(x) / temperature, axis))


def cross_entropy(logits, targets):
    logits = floats(logits)
    flat = logits.reshape(-1, logits.shape[-1])
    losses = [-log_softmax(row)[target] for row, target in zip(flat, np.ravel(targets))]
    return float(np.mean(losses))


def softmax_backward(dout, probs, axis=-1):
    dout, probs = np.moveaxis(floats(dout), axis, -1), np.moveaxis(floats(probs), axis, -1)
    eye = np.eye(probs.shape[-1], dtype=probs.dtype)
    jacobian = probs[..., :, None] * (eye - probs[..., None, :])
    return np.moveaxis(np.einsum("...ij,...i->...j", jacobian, dout), -1, axis)


def cross_entropy_backward(logits, targets):
    probs = softmax(logits)
    truth = np.eye(probs.shape[-1], dtype=probs.dtype)[np.asarray(targets)]
    return (probs - truth) / np.asarray(probs.size // probs.shape[-1], probs.dtype)
