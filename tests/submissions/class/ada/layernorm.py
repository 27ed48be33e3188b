"""Ada: layer normalisation, forward."""

import numpy as np


def layernorm(x, gamma, beta, eps=1e-5):
    x = np.asarray(x)
    if x.dtype.kind != "f":
        x = x.astype(float)
    centred = x - x.mean(-1, keepdims=True)
    return gamma * centred / np.sqrt(np.mean(centred * centred, -1, keepdims=True) + eps) + beta


def layernorm_backward(dout, x, gamma, eps=1e-5):
    raise NotImplementedError("layernorm.layernorm_backward")
