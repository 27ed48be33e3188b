"""One number, or one row, at a time. The slope of GELU comes from a step in the imaginary direction."""

import cmath
import math

import numpy as np


def _dtype(x):
    return x.dtype if x.dtype.kind == "f" else np.dtype(np.float64)


def _each(function, x, *more):
    x = np.asarray(x)
    out = np.empty(x.shape, _dtype(x))
    for index in np.ndindex(x.shape):
        out[index] = function(float(x[index]), *(float(a[index]) for a in more))
    return out


def _gelu(z):
    tanh = cmath.tanh if isinstance(z, complex) else math.tanh
    return 0.5 * z * (1 + tanh(math.sqrt(2 / math.pi) * (z + 0.044715 * z * z * z)))


def relu(x):
    return _each(lambda v: v if v > 0 else 0.0, x)


def relu_backward(dout, x):
    return _each(lambda d, v: d if v > 0 else 0.0, dout, np.asarray(x))


def gelu(x):
    return _each(_gelu, x)


def gelu_backward(dout, x):
    h = 1e-30
    return _each(lambda v, d: d * _gelu(complex(v, h)).imag / h, x, np.asarray(dout))


def _matrix(x):
    x = np.asarray(x)
    return x.reshape(-1, x.shape[-1]).astype(_dtype(x))


def linear(x, W, b):
    x = np.asarray(x)
    out = np.zeros((x.size // x.shape[-1], W.shape[1]), _dtype(x))
    for n, row in enumerate(_matrix(x)):
        for j in range(W.shape[1]):
            out[n, j] = sum(row[i] * W[i, j] for i in range(len(row)))
            if b is not None:
                out[n, j] += b[j]
    return out.reshape(x.shape[:-1] + (W.shape[1],))


def linear_backward(dout, x, W):
    x = np.asarray(x)
    dx, dW, db = [], np.zeros(W.shape, W.dtype), np.zeros(W.shape[1], W.dtype)
    for row, drow in zip(_matrix(x), _matrix(dout)):
        dx.append(W @ drow)
        dW += np.outer(row, drow)
        db += drow
    return np.stack(dx).reshape(x.shape), dW, db


def dropout(x, p, rng, training=True):
    if not (p >= 0 and p < 1):
        raise ValueError(p)
    x = np.asarray(x)
    mask = np.ones(x.shape, _dtype(x))
    if training and p:
        for index in np.ndindex(x.shape):
            mask[index] = (rng.random() >= p) / (1 - p)
    return mask * x, mask


def dropout_backward(dout, mask):
    return _each(lambda d, m: d * m, dout, mask)


def ffn(x, params, activation="gelu"):
    if activation == "gelu":
        act, slope = gelu, gelu_backward
    elif activation == "relu":
        act, slope = relu, relu_backward
    else:
        raise ValueError("activation is gelu or relu")
    x = np.asarray(x)
    rows, steps = [], []
    for row in _matrix(x):
        hidden = row @ params["W_1"]
        if params.get("b_1") is not None:
            hidden = hidden + params["b_1"]
        row_out = act(hidden) @ params["W_2"]
        if params.get("b_2") is not None:
            row_out = row_out + params["b_2"]
        rows.append(row_out)
        steps.append((row, hidden, act(hidden)))
    return np.stack(rows).reshape(x.shape), {"params": params, "slope": slope, "steps": steps}


def ffn_backward(dout, cache):
    params = cache["params"]
    grads = {name: np.zeros_like(value) for name, value in params.items()}
    dx = []
    for drow, (row, hidden, activated) in zip(_matrix(dout), cache["steps"]):
        dhidden = cache["slope"](params["W_2"] @ drow, hidden)
        local = {"W_2": np.outer(activated, drow), "b_2": drow, "W_1": np.outer(row, dhidden), "b_1": dhidden}
        for name in grads:
            grads[name] += local[name]
        dx.append(params["W_1"] @ dhidden)
    return np.stack(dx).reshape(dout.shape), grads
