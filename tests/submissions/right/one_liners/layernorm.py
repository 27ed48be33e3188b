"""As few lines as possible, with NumPy's own mean, var and average."""

import numpy as np

K = {"axis": -1, "keepdims": True}


def layernorm(x, gamma, beta, eps=1e-5):
    return gamma * (x - np.mean(x, **K)) / np.sqrt(np.var(x, **K) + eps) + beta


def layernorm_backward(dout, x, gamma, eps=1e-5):
    s = np.sqrt(np.var(x, **K) + eps)
    h, g, n, rows = (x - np.mean(x, **K)) / s, dout * gamma, np.shape(x)[-1], tuple(range(np.ndim(x) - 1))
    return (n * g - g.sum(**K) - h * (g * h).sum(**K)) / (n * s), (dout * h).sum(rows), dout.sum(rows)


def rmsnorm(x, gamma, eps=1e-5):
    return x * gamma / np.sqrt(np.mean((1.0 * x) ** 2, **K) + eps)


def rmsnorm_backward(dout, x, gamma, eps=1e-5):
    r, g = np.mean(x * x, **K) + eps, dout * gamma
    dgamma = (dout * x / r**0.5).sum(tuple(range(x.ndim - 1)))
    return (g - x * np.average(g * x, **K) / r) / r**0.5, dgamma
