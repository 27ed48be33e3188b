"""Every sum is an einsum; means are sums divided by the width."""

import numpy as np


def _floats(*arrays):
    return [np.asarray(a) if np.asarray(a).dtype.kind == "f" else np.asarray(a, np.float64) for a in arrays]


def _mean(a, b=None):
    total = np.einsum("...i->...", a) if b is None else np.einsum("...i,...i->...", a, b)
    return np.expand_dims(total, -1) / a.shape[-1]


def _over_rows(a, b=None):
    """Sum over everything but the features. An einsum cannot drop the axes of an ellipsis: make them one axis."""
    a = a.reshape(-1, a.shape[-1])
    return np.einsum("ni->i", a) if b is None else np.einsum("ni,ni->i", a, b.reshape(a.shape))


def layernorm(x, gamma, beta, eps=1e-5):
    (x,) = _floats(x)
    delta = x - _mean(x)
    rstd = (_mean(delta, delta) + eps) ** -0.5
    return np.einsum("...i,...o,i->...i", delta, rstd, gamma) + beta


def layernorm_backward(dout, x, gamma, eps=1e-5):
    dout, x = _floats(dout, x)
    delta = x - _mean(x)
    rstd = (_mean(delta, delta) + eps) ** -0.5
    dgamma = _over_rows(dout, delta * rstd)
    dbeta = _over_rows(dout)
    # step by step: through the gain, the division, the variance, the mean
    dnormalized = np.einsum("...i,i->...i", dout, gamma)
    drstd = np.einsum("...i,...i->...", dnormalized, delta)[..., None]
    dvar = -0.5 * drstd * rstd**3
    ddelta = dnormalized * rstd + dvar * (2.0 / x.shape[-1]) * delta
    return ddelta - _mean(ddelta), dgamma, dbeta


def rmsnorm(x, gamma, eps=1e-5):
    (x,) = _floats(x)
    return np.einsum("...i,...o,i->...i", x, (_mean(x, x) + eps) ** -0.5, gamma)


def rmsnorm_backward(dout, x, gamma, eps=1e-5):
    dout, x = _floats(dout, x)
    r = (_mean(x, x) + eps) ** -0.5
    g = dout * gamma
    dx = r * g - x * r**3 * _mean(g, x)
    return dx, _over_rows(dout, x * r)
