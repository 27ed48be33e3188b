"""Layers as objects with forward and backward; the functions of the contract make one, use it and keep it."""

import math

import numpy as np


def to_float(x):
    x = np.asarray(x)
    return x.astype(np.float64) if x.dtype.kind in "biu" else x


class ReLU:
    def forward(self, x):
        self.positive = x > 0
        return np.clip(x, 0, None)

    def backward(self, dout):
        dx = np.array(dout)
        dx[~self.positive] = 0
        return dx


class GELU:
    """x σ(2u), with a sigmoid that overflows on neither side."""

    a, b = 2 * math.sqrt(2 / math.pi), 0.044715

    def forward(self, x):
        self.x = x
        u = self.a * (x + self.b * x * x * x)
        small = np.exp(-np.abs(u))
        self.gate = np.where(u >= 0, 1 / (1 + small), small / (1 + small))
        return x * self.gate

    def backward(self, dout):
        slope = self.gate * (1 - self.gate) * self.a * (1 + 3 * self.b * self.x * self.x)
        return dout * (self.gate + self.x * slope)


class Linear:
    def __init__(self, W, b):
        self.W, self.b = W, b

    def forward(self, x):
        self.x = x
        y = np.tensordot(x, self.W, axes=1)
        return y if self.b is None else np.add(y, self.b)

    def backward(self, dout):
        axes = tuple(range(dout.ndim - 1))
        self.dW = np.tensordot(self.x, dout, axes=(axes, axes))
        self.db = dout.sum(axis=axes)
        return np.tensordot(dout, self.W, axes=(-1, 1))


class FeedForward:
    activations = {"gelu": GELU, "relu": ReLU}

    def __init__(self, params, activation):
        if activation not in self.activations:
            raise ValueError(f"activation {activation!r}: choose one of {sorted(self.activations)}")
        self.names = tuple(params)
        self.first = Linear(params["W_1"], params.get("b_1"))
        self.bend = self.activations[activation]()
        self.second = Linear(params["W_2"], params.get("b_2"))
        self.layers = [self.first, self.bend, self.second]

    def forward(self, x):
        for layer in self.layers:
            x = layer.forward(x)
        return x

    def backward(self, dout):
        for layer in reversed(self.layers):
            dout = layer.backward(dout)
        grads = {"W_1": self.first.dW, "b_1": self.first.db, "W_2": self.second.dW, "b_2": self.second.db}
        return dout, {name: grads[name] for name in self.names}


def relu(x):
    return ReLU().forward(to_float(x))


def relu_backward(dout, x):
    layer = ReLU()
    layer.forward(to_float(x))
    return layer.backward(dout)


def gelu(x):
    return GELU().forward(to_float(x))


def gelu_exact(x):
    x = to_float(x)
    phi = np.frompyfunc(lambda v: 0.5 * (1 + math.erf(v / math.sqrt(2))), 1, 1)(x)
    return x * np.asarray(phi, dtype=x.dtype)


def gelu_backward(dout, x):
    layer = GELU()
    layer.forward(to_float(x))
    return layer.backward(dout)


def linear(x, W, b):
    return Linear(W, b).forward(to_float(x))


def linear_backward(dout, x, W):
    layer = Linear(W, None)
    layer.forward(to_float(x))
    dx = layer.backward(dout)
    return dx, layer.dW, layer.db


def dropout(x, p, rng, training=True):
    if not 0.0 <= p < 1.0:
        raise ValueError(f"{p} is not in [0, 1)")
    x = to_float(x)
    keep = 1.0 - p if training else 1.0
    mask = rng.choice([0.0, 1.0 / keep], size=x.shape, p=[1.0 - keep, keep]).astype(x.dtype)
    return x * mask, mask


def dropout_backward(dout, mask):
    return np.multiply(dout, mask)


def ffn(x, params, activation="gelu"):
    network = FeedForward(params, activation)
    return network.forward(to_float(x)), {"network": network}


def ffn_backward(dout, cache):
    return cache["network"].backward(dout)
