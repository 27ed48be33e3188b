"""Matrix products as einsum; GELU written with tanh, as in the paper."""

import math

import numpy as np

C = math.sqrt(2.0 / math.pi)


def _float(x):
    x = np.asarray(x)
    return x if np.issubdtype(x.dtype, np.floating) else x.astype(float)


def relu(x):
    x = _float(x)
    return np.where(x > 0, x, np.zeros_like(x))


def relu_backward(dout, x):
    return np.where(np.asarray(x) > 0, dout, np.zeros_like(dout))


def gelu(x):
    x = _float(x)
    return 0.5 * x * (1.0 + np.tanh(C * (x + 0.044715 * x**3)))


def gelu_backward(dout, x):
    x = _float(x)
    t = np.tanh(C * (x + 0.044715 * x**3))
    return dout * (0.5 * (1.0 + t) + 0.5 * x * (1.0 - t**2) * C * (1.0 + 3 * 0.044715 * x**2))


def linear(x, W, b):
    y = np.einsum("...i,ij->...j", _float(x), W)
    return y if b is None else y + b


def linear_backward(dout, x, W):
    dx = np.einsum("...j,ij->...i", dout, W)
    rows, drows = _float(x).reshape(-1, W.shape[0]), dout.reshape(-1, W.shape[1])
    return dx, np.einsum("ni,nj->ij", rows, drows), np.einsum("nj->j", drows)


def dropout(x, p, rng, training=True):
    if p < 0 or p >= 1:
        raise ValueError("the dropout probability has to be at least 0 and less than 1")
    x = _float(x)
    if not training or p == 0:
        return x.copy(), np.ones_like(x)
    mask = np.greater_equal(rng.random(x.shape), p).astype(x.dtype) / x.dtype.type(1 - p)
    return np.einsum("...,...->...", x, mask), mask


def dropout_backward(dout, mask):
    return np.einsum("...,...->...", dout, mask)


def ffn(x, params, activation="gelu"):
    act = {"gelu": gelu, "relu": relu}.get(activation)
    if act is None:
        raise ValueError(f"no such activation: {activation}")
    x = _float(x)
    hidden = linear(x, params["W_1"], params.get("b_1"))
    out = linear(act(hidden), params["W_2"], params.get("b_2"))
    return out, {"x": x, "hidden": hidden, "params": params, "activation": activation}


def ffn_backward(dout, cache):
    hidden, params = cache["hidden"], cache["params"]
    if cache["activation"] == "gelu":
        activated, back = gelu(hidden), gelu_backward
    else:
        activated, back = relu(hidden), relu_backward
    dact, dW_2, db_2 = linear_backward(dout, activated, params["W_2"])
    dx, dW_1, db_1 = linear_backward(back(dact, hidden), cache["x"], params["W_1"])
    grads = {"W_1": dW_1, "W_2": dW_2}
    if "b_1" in params:
        grads["b_1"] = db_1
    if "b_2" in params:
        grads["b_2"] = db_2
    return dx, grads
