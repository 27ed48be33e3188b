"""A norm is an object that remembers what went in; the functions of the contract are its thin face."""

from dataclasses import dataclass, field

import numpy as np


@dataclass
class Norm:
    gamma: np.ndarray
    eps: float
    centre: bool
    scaled: np.ndarray = field(init=False)
    scale: np.ndarray = field(init=False)

    def forward(self, x):
        x = np.array(x, dtype=x.dtype if np.issubdtype(x.dtype, np.floating) else float)  # a copy of our own
        if self.centre:
            x -= np.mean(x, axis=-1, keepdims=True)
        self.scale = np.reciprocal(np.sqrt(np.mean(np.square(x), axis=-1, keepdims=True) + self.eps))
        x *= self.scale
        self.scaled = x
        return self.gamma * x

    def backward(self, dout):
        dgamma = np.add.reduce((dout * self.scaled).reshape(-1, dout.shape[-1]), axis=0)
        g = dout * self.gamma
        projected = g - self.scaled * np.mean(g * self.scaled, axis=-1, keepdims=True)
        if self.centre:
            projected = projected - np.mean(g, axis=-1, keepdims=True)
        return projected * self.scale, dgamma


def layernorm(x, gamma, beta, eps=1e-5):
    return Norm(gamma, eps, centre=True).forward(np.asarray(x)) + beta


def layernorm_backward(dout, x, gamma, eps=1e-5):
    norm = Norm(gamma, eps, centre=True)
    norm.forward(np.asarray(x))
    dx, dgamma = norm.backward(dout)
    return dx, dgamma, np.add.reduce(dout.reshape(-1, dout.shape[-1]), axis=0)


def rmsnorm(x, gamma, eps=1e-5):
    return Norm(gamma, eps, centre=False).forward(np.asarray(x))


def rmsnorm_backward(dout, x, gamma, eps=1e-5):
    norm = Norm(gamma, eps, centre=False)
    norm.forward(np.asarray(x))
    return norm.backward(dout)
