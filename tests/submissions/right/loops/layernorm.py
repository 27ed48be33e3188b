"""One row at a time; the moments by Welford's algorithm, the gradients by the whole Jacobian of a row."""

import math

import numpy as np


def _rows(x):
    x = np.asarray(x)
    dtype = x.dtype if x.dtype in (np.float32, np.float64) else np.float64
    return x.astype(np.float64).reshape(-1, x.shape[-1]), x.shape, dtype


def _moments(row):
    mean = m2 = 0.0
    for n, value in enumerate(row, start=1):
        delta = value - mean
        mean += delta / n
        m2 += delta * (value - mean)
    return mean, m2 / len(row)


def layernorm(x, gamma, beta, eps=1e-5):
    rows, shape, dtype = _rows(x)
    out = np.zeros(rows.shape)
    for r, row in enumerate(rows):
        mean, var = _moments(row)
        for i, value in enumerate(row):
            out[r, i] = gamma[i] * (value - mean) / math.sqrt(var + eps) + beta[i]
    return out.reshape(shape).astype(dtype)


def layernorm_backward(dout, x, gamma, eps=1e-5):
    rows, shape, dtype = _rows(x)
    douts = _rows(dout)[0]
    d = shape[-1]
    dx, dgamma, dbeta = np.zeros(rows.shape), np.zeros(d), np.zeros(d)
    for r, row in enumerate(rows):
        mean, var = _moments(row)
        std = math.sqrt(var + eps)
        hat = [(value - mean) / std for value in row]
        for i in range(d):
            dgamma[i] += douts[r, i] * hat[i]
            dbeta[i] += douts[r, i]
            for j in range(d):
                jacobian = ((i == j) - 1 / d - hat[i] * hat[j] / d) / std  # of output i by input j
                dx[r, j] += douts[r, i] * gamma[i] * jacobian
    return dx.reshape(shape).astype(dtype), dgamma.astype(dtype), dbeta.astype(dtype)


def rmsnorm(x, gamma, eps=1e-5):
    rows, shape, dtype = _rows(x)
    out = [[g * v / math.sqrt(sum(w * w for w in row) / len(row) + eps) for g, v in zip(gamma, row)] for row in rows]
    return np.array(out).reshape(shape).astype(dtype)


def rmsnorm_backward(dout, x, gamma, eps=1e-5):
    rows, shape, dtype = _rows(x)
    douts = _rows(dout)[0]
    d = shape[-1]
    dx, dgamma = np.zeros(rows.shape), np.zeros(d)
    for r, row in enumerate(rows):
        rms = math.sqrt(sum(v * v for v in row) / d + eps)
        for i in range(d):
            dgamma[i] += douts[r, i] * row[i] / rms
            for j in range(d):
                dx[r, j] += douts[r, i] * gamma[i] * ((i == j) / rms - row[i] * row[j] / (d * rms**3))
    return dx.reshape(shape).astype(dtype), dgamma.astype(dtype)
