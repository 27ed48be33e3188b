"""As few lines as possible."""

import math

import numpy as np

A, B = math.sqrt(2 / math.pi), 0.044715
relu = lambda x: (abs(x) + x) / 2
relu_backward = lambda dout, x: dout * (x > 0)
gelu = lambda x: x / 2 * (1 + np.tanh(A * x * (1 + B * x * x)))
linear = lambda x, W, b: x @ W if b is None else x @ W + b
dropout_backward = lambda dout, mask: mask * dout
_wide = lambda x: x if x.dtype.kind == "f" else x.astype(float)


def gelu_backward(dout, x):
    with np.errstate(over="ignore"):
        t, sech = np.tanh(A * (x + B * x * x * x)), 1 / np.cosh(A * (x + B * x * x * x))
    return dout * ((1 + t) / 2 + x / 2 * sech * sech * A * (1 + 3 * B * x * x))


def linear_backward(dout, x, W):
    flat = lambda a: a.reshape(-1, a.shape[-1])
    return dout @ W.T, flat(x).T @ flat(dout), flat(dout).sum(0)


def dropout(x, p, rng, training=True):
    if not 0 <= p < 1:
        raise ValueError("0 <= p < 1")
    keep = rng.random(x.shape) >= p if training and p else np.ones(x.shape)
    mask = np.where(keep, 1 / (1 - p * training), 0).astype(_wide(x).dtype)
    return x * mask, mask


def ffn(x, params, activation="gelu"):
    if activation not in ("relu", "gelu"):
        raise ValueError(activation)
    h = linear(x, params["W_1"], params.get("b_1"))
    return linear(globals()[activation](h), params["W_2"], params.get("b_2")), (x, h, params, activation)


def ffn_backward(dout, cache):
    x, h, p, name = cache
    dh, dW_2, db_2 = linear_backward(dout, globals()[name](h), p["W_2"])
    dx, dW_1, db_1 = linear_backward(globals()[name + "_backward"](dh, h), x, p["W_1"])
    return dx, {k: v for k, v in {"W_1": dW_1, "b_1": db_1, "W_2": dW_2, "b_2": db_2}.items() if k in p}
