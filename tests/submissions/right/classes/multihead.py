"""A layer object that keeps its own state; the cache holds the object, and the weights for whoever wants to look."""

import numpy as np
from attention import attention, attention_backward


def split_heads(x, n_heads):
    *batch, T, D = np.shape(x)
    return (
        np.reshape(x, (*batch, T, n_heads, D // n_heads)).swapaxes(-3, -2) if D % n_heads == 0 else _refuse(D, n_heads)
    )


def _refuse(width, n_heads):
    raise ValueError(f"{width} is not a multiple of {n_heads}")


def merge_heads(x):
    moved = np.moveaxis(x, -3, -2)
    return moved.reshape(moved.shape[:-2] + (-1,))


class Linear:
    """y = x W + b, for one or several inputs at different times."""

    def __init__(self, W, b):
        self.W, self.b = (W, b)
        self.dW, self.db = np.zeros_like(W), np.zeros(W.shape[1], W.dtype)

    def forward(self, x):
        self.x = x
        return x @ self.W if self.b is None else x @ self.W + self.b

    def backward(self, dy):
        axes = tuple(range(dy.ndim - 1))
        self.dW = np.tensordot(self.x, dy, axes=(axes, axes))
        self.db = dy.sum(axis=axes)
        return dy @ self.W.T


class MultiHeadAttention:
    def __init__(self, params, n_heads):
        floats = {
            name: np.asarray(p) if np.asarray(p).dtype.kind == "f" else np.asarray(p, float)
            for name, p in params.items()
        }
        self.names, self.n_heads = list(params), n_heads
        W = np.hsplit(floats["W_qkv"], 3)
        b = np.split(floats["b_qkv"], 3) if "b_qkv" in floats else [None] * 3
        self.to_q, self.to_k, self.to_v = (Linear(w, c) for w, c in zip(W, b))
        self.to_out = Linear(floats["W_o"], floats.get("b_o"))

    def forward(self, x, mask, memory):
        x, memory = (a if a is None or a.dtype.kind == "f" else a.astype(float) for a in (x, memory))
        self.cross = memory is not None
        source = memory if self.cross else x
        projected = self.to_q.forward(x), self.to_k.forward(source), self.to_v.forward(source)
        self.qkv = [split_heads(a, self.n_heads) for a in projected]
        heads, self.weights = attention(*self.qkv, mask=mask)
        return self.to_out.forward(merge_heads(heads))

    def backward(self, dout):
        dout = dout if dout.dtype.kind == "f" else dout.astype(float)
        dheads = split_heads(self.to_out.backward(dout), self.n_heads)
        dq, dk, dv = (merge_heads(g) for g in attention_backward(dheads, *self.qkv, self.weights))
        dx = self.to_q.backward(dq)
        dsource = self.to_k.backward(dk) + self.to_v.backward(dv)
        parts = (self.to_q, self.to_k, self.to_v)
        grads = {
            "W_qkv": np.hstack([part.dW for part in parts]),
            "b_qkv": np.hstack([part.db for part in parts]),
            "W_o": self.to_out.dW,
            "b_o": self.to_out.db,
        }
        grads = {name: grads[name] for name in self.names}
        return (dx, grads, dsource) if self.cross else (dx + dsource, grads)


class Cache(dict):
    """A dictionary with one more thing attached."""


def multihead_attention(x, params, n_heads, mask=None, memory=None):
    layer = MultiHeadAttention(params, n_heads)
    out = layer.forward(x, mask, memory)
    cache = Cache(weights=layer.weights)
    cache.layer = layer
    return out, cache


def multihead_attention_backward(dout, cache):
    return cache.layer.backward(dout)
