"""One pair, one head and one text after the other."""

import math

import numpy as np
from softmax import softmax_backward
from attention import attention


def _float(a):
    a = np.asarray(a)
    return a if a.dtype.kind == "f" else a.astype(float)


def rope(x, positions, base=10000.0, direction=1):
    x = _float(x)
    K = x.shape[-1]
    if K % 2 == 1:
        raise ValueError("an odd number of entries")
    out = np.empty(x.shape, x.dtype)
    for t, position in enumerate(positions):
        for i in range(K // 2):
            speed = 1 / float(base) ** (2 * i / K) if isinstance(base, (int, float)) else base[i]
            angle = direction * int(position) * speed
            c, s = math.cos(angle), math.sin(angle)
            a, b = x[..., t, i], x[..., t, i + K // 2]
            out[..., t, i] = c * a - s * b
            out[..., t, i + K // 2] = s * a + c * b
    return out


def rope_backward(dout, positions, base=10000.0):
    return rope(dout, positions, base, direction=-1)


def _gate(number):
    if number < 0:
        small = math.exp(number)
        return small / (1 + small)
    return 1 / (1 + math.exp(-number))


def silu(x):
    x = _float(x)
    out = np.empty_like(x)
    for place in np.ndindex(x.shape):
        out[place] = float(x[place]) * _gate(float(x[place]))
    return out


def silu_backward(dout, x):
    dx = np.empty_like(x)
    for place in np.ndindex(x.shape):
        number = float(x[place])
        gate = _gate(number)
        dx[place] = float(dout[place]) * gate * (1 + number * (1 - gate))
    return dx


def swiglu(x, params):
    g, u = x @ params["W_gate"], x @ params["W_up"]
    h = np.empty_like(g)
    for f in range(g.shape[-1]):
        h[..., f] = silu(g[..., f]) * u[..., f]
    return h @ params["W_down"], (x, params, g, u, h)


def swiglu_backward(dout, cache):
    x, params, g, u, h = cache
    dh = dout @ params["W_down"].T
    ds, du = dh * u, dh * silu(g)
    dg = silu_backward(ds, g)
    grads = {name: np.zeros_like(value) for name, value in params.items()}
    for place in np.ndindex(x.shape[:-1]):
        grads["W_down"] += np.outer(h[place], dout[place])
        grads["W_gate"] += np.outer(x[place], dg[place])
        grads["W_up"] += np.outer(x[place], du[place])
    return dg @ params["W_gate"].T + du @ params["W_up"].T, grads


def grouped_query_attention(x, params, n_heads, n_kv_heads, mask=None, positions=None, base=10000.0):
    T, D = x.shape[-2:]
    if D % n_heads or n_heads % n_kv_heads:
        raise ValueError("the heads do not fit")
    K, group = D // n_heads, n_heads // n_kv_heads
    if positions is None:
        positions = range(T)
    if mask is not None:
        mask = np.broadcast_to(mask, (*x.shape[:-2], n_heads, T, T))
    keys = [rope(x @ params["W_k"][:, g * K : (g + 1) * K], positions, base) for g in range(n_kv_heads)]
    values = [x @ params["W_v"][:, g * K : (g + 1) * K] for g in range(n_kv_heads)]
    out, heads = np.zeros_like(x), []
    for h in range(n_heads):
        q = rope(x @ params["W_q"][:, h * K : (h + 1) * K], positions, base)
        one_mask = None if mask is None else mask[..., h, :, :]
        result, weights = attention(q, keys[h // group], values[h // group], one_mask)
        out += result @ params["W_o"][h * K : (h + 1) * K]
        heads.append((q, result, weights))
    cache = {"weights": np.stack([weights for _, _, weights in heads], axis=-3)}
    cache.update(x=x, params=dict(params), heads=heads, keys=keys, values=values, rotation=(positions, base))
    return out, cache


def grouped_query_attention_backward(dout, cache):
    x, params, keys, values = cache["x"], cache["params"], cache["keys"], cache["values"]
    heads = cache["heads"]
    K, group = keys[0].shape[-1], len(heads) // len(keys)
    grads = {name: np.zeros_like(value) for name, value in params.items()}
    dx = np.zeros_like(x)

    def add(name, columns, dy):
        """The gradient of x @ params[name][:, columns]."""
        for place in np.ndindex(x.shape[:-2]):
            grads[name][:, columns] += x[place].T @ dy[place]
        return dy @ params[name][:, columns].T

    for h, (q, result, weights) in enumerate(heads):
        own = slice(h * K, (h + 1) * K)
        shared = slice(h // group * K, (h // group + 1) * K)
        k, v = keys[h // group], values[h // group]
        dresult = dout @ params["W_o"][own].T
        for place in np.ndindex(x.shape[:-2]):
            grads["W_o"][own] += result[place].T @ dout[place]
        dscores = softmax_backward(dresult @ v.swapaxes(-1, -2), weights) / math.sqrt(K)
        dx += add("W_q", own, rope_backward(dscores @ k, *cache["rotation"]))
        dx += add("W_k", shared, rope_backward(dscores.swapaxes(-1, -2) @ q, *cache["rotation"]))
        dx += add("W_v", shared, weights.swapaxes(-1, -2) @ dresult)
    return dx, grads
