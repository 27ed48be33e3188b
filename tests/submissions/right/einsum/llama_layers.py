"""Rotations as matrices; groups of heads as an axis of their own, so that no key or value is ever repeated."""

import numpy as np
from softmax import softmax_backward
from attention import attention


def _float(a):
    a = np.asarray(a)
    return a if a.dtype in (np.float32, np.float64) else a.astype(np.float64)


def _rotations(positions, K, base, dtype):
    """One matrix of 2 x 2 for each position and pair: (T, K/2, 2, 2)."""
    if K % 2:
        raise ValueError("pairs need an even number of entries")
    speeds = np.exp(-np.log(float(base)) * np.arange(0, K, 2) / K)
    angles = np.multiply.outer(np.asarray(positions, dtype=float), speeds)
    cos, sin = np.cos(angles), np.sin(angles)
    return np.stack([np.stack([cos, -sin], -1), np.stack([sin, cos], -1)], -2).astype(dtype)


def rope(x, positions, base=10000.0):
    x = _float(x)
    R = _rotations(positions, x.shape[-1], base, x.dtype)
    pairs = x.reshape(*x.shape[:-1], 2, x.shape[-1] // 2)
    return np.einsum("tiab,...tbi->...tai", R, pairs).reshape(x.shape)


def rope_backward(dout, positions, base=10000.0):
    R = _rotations(positions, dout.shape[-1], base, dout.dtype)
    pairs = dout.reshape(*dout.shape[:-1], 2, dout.shape[-1] // 2)
    return np.einsum("tiab,...tai->...tbi", R, pairs).reshape(dout.shape)


def _sigmoid(x):
    return 0.5 * (1 + np.tanh(0.5 * x))


def silu(x):
    x = _float(x)
    return x * _sigmoid(x)


def silu_backward(dout, x):
    s = _sigmoid(x)
    return dout * s * (1 + x - x * s)


def swiglu(x, params):
    g = np.einsum("...d,df->...f", x, params["W_gate"])
    u = np.einsum("...d,df->...f", x, params["W_up"])
    out = np.einsum("...f,...f,fd->...d", silu(g), u, params["W_down"])
    return out, dict(x=x, g=g, u=u, params=dict(params))


def _rows(a):
    return a.reshape(-1, a.shape[-1])


def swiglu_backward(dout, cache):
    x, g, u, params = (cache[name] for name in ("x", "g", "u", "params"))
    dh = np.einsum("...d,fd->...f", dout, params["W_down"])
    dg, du = silu_backward(dh * u, g), dh * silu(g)
    dx = np.einsum("...f,df->...d", dg, params["W_gate"]) + np.einsum("...f,df->...d", du, params["W_up"])
    grads = {
        "W_gate": np.einsum("nd,nf->df", _rows(x), _rows(dg)),
        "W_up": np.einsum("nd,nf->df", _rows(x), _rows(du)),
        "W_down": np.einsum("nf,nf,nd->fd", _rows(silu(g)), _rows(u), _rows(dout)),
    }
    return dx, grads


def grouped_query_attention(x, params, n_heads, n_kv_heads, mask=None, positions=None, base=10000.0):
    T, D = x.shape[-2:]
    G, R = n_kv_heads, n_heads // n_kv_heads
    if D % n_heads or G * R != n_heads:
        raise ValueError("the numbers of heads do not divide each other")
    K = D // n_heads
    positions = np.arange(T) if positions is None else positions
    W = {"W_q": params["W_q"].reshape(D, G, R, K), "W_o": params["W_o"].reshape(G, R, K, D)}
    W |= {name: params[name].reshape(D, G, K) for name in ("W_k", "W_v")}
    q = rope(np.einsum("...td,dgrk->...grtk", x, W["W_q"]), positions, base)
    k = rope(np.einsum("...td,dgk->...gtk", x, W["W_k"]), positions, base)
    v = np.einsum("...td,dgk->...gtk", x, W["W_v"])
    if mask is not None:
        mask = np.broadcast_to(mask, (*x.shape[:-2], n_heads, T, T)).reshape(*q.shape[:-1], T)
    heads, weights = attention(q, k[..., None, :, :], v[..., None, :, :], mask)  # broadcasts over the group
    out = np.einsum("...grtk,grkd->...td", heads, W["W_o"])
    cache = dict(x=x, params=params, W=W, q=q, k=k, v=v, heads=heads, w=weights, rotation=(positions, base))
    return out, cache | {"weights": weights.reshape(*x.shape[:-2], n_heads, T, T)}


def grouped_query_attention_backward(dout, cache):
    x, W, q, k, v, w = (cache[name] for name in ("x", "W", "q", "k", "v", "w"))
    dheads = np.einsum("...td,grkd->...grtk", dout, W["W_o"])
    dv = np.einsum("...grts,...grtk->...gsk", w, dheads)
    dscores = softmax_backward(np.einsum("...grtk,...gsk->...grts", dheads, v), w)
    dscores = (dscores * q.shape[-1] ** -0.5).astype(x.dtype)
    dq = rope_backward(np.einsum("...grts,...gsk->...grtk", dscores, k), *cache["rotation"])
    dk = rope_backward(np.einsum("...grts,...grtk->...gsk", dscores, q), *cache["rotation"])
    dx = np.einsum("...grtk,dgrk->...td", dq, W["W_q"]) + np.einsum("...gtk,dgk->...td", dk, W["W_k"])
    dx += np.einsum("...gtk,dgk->...td", dv, W["W_v"])
    xb = x.reshape(-1, *x.shape[-2:])
    flat = lambda a, n: a.reshape(-1, *a.shape[-n:])
    grads = {
        "W_q": np.einsum("btd,bgrtk->dgrk", xb, flat(dq, 4)),
        "W_k": np.einsum("btd,bgtk->dgk", xb, flat(dk, 3)),
        "W_v": np.einsum("btd,bgtk->dgk", xb, flat(dv, 3)),
        "W_o": np.einsum("bgrtk,btd->grkd", flat(cache["heads"], 4), flat(dout, 2)),
    }
    return dx, {name: grads[name].reshape(value.shape) for name, value in cache["params"].items()}
