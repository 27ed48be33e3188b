"""Short: complex numbers turn the pairs, and each cache holds a function that goes back."""

import numpy as np
from attention import attention, attention_backward
from multihead import merge_heads, split_heads

_rows = lambda a: a.reshape(-1, a.shape[-1])
_grad = lambda a, b: _rows(a).T @ _rows(b)
_gate = lambda x: np.exp(-np.logaddexp(0, -x))


def rope(x, positions, base=10000.0, sign=1):
    x = np.asarray(x) if np.asarray(x).dtype.kind == "f" else np.asarray(x, float)
    a, b = np.split(x, 2, -1)  # an error if the length is odd
    speed = base if np.ndim(base) else base ** -(np.arange(0, x.shape[-1], 2) / x.shape[-1])
    turn = np.exp(1j * sign * np.outer(positions, speed))
    turned = (a + 1j * b) * turn
    return np.concatenate([turned.real, turned.imag], -1).astype(x.dtype)


rope_backward = lambda dout, positions, base=10000.0: rope(dout, positions, base, -1)


def silu(x):
    x = x if np.asarray(x).dtype.kind == "f" else np.asarray(x, float)
    return x * _gate(x)


silu_backward = lambda dout, x: dout * (_gate(x) + silu(x) * (1 - _gate(x)))


def swiglu(x, params):
    (g, u), W = (x @ params[name] for name in ("W_gate", "W_up")), params

    def backward(dout):
        dh = dout @ W["W_down"].T
        dg, du = silu_backward(dh * u, g), dh * silu(g)
        grads = {"W_gate": _grad(x, dg), "W_up": _grad(x, du), "W_down": _grad(silu(g) * u, dout)}
        return dg @ W["W_gate"].T + du @ W["W_up"].T, grads

    return (silu(g) * u) @ W["W_down"], backward


swiglu_backward = lambda dout, cache: cache(dout)


def grouped_query_attention(x, params, n_heads, n_kv_heads, mask=None, positions=None, base=10000.0):
    if n_heads % n_kv_heads:
        raise ValueError("H is no multiple of G")
    at = (np.arange(x.shape[-2]) if positions is None else positions, base)
    q, k, v = (split_heads(x @ params[n], h) for n, h in (("W_q", n_heads), ("W_k", n_kv_heads), ("W_v", n_kv_heads)))
    owner = np.arange(n_heads) // (n_heads // n_kv_heads)  # the head of keys of each head of queries
    q, k, v = rope(q, *at), rope(k, *at)[..., owner, :, :], v[..., owner, :, :]
    heads, weights = attention(q, k, v, mask)

    def backward(dout):
        dq, dk, dv = attention_backward(split_heads(dout @ params["W_o"].T, n_heads), q, k, v, weights)
        dk, dv = (np.stack([d[..., owner == g, :, :].sum(-3) for g in range(n_kv_heads)], -3) for d in (dk, dv))
        d = {"W_q": rope_backward(dq, *at), "W_k": rope_backward(dk, *at), "W_v": dv}
        d = {name: merge_heads(gradient) for name, gradient in d.items()}
        grads = {name: _grad(x, gradient) for name, gradient in d.items()} | {"W_o": _grad(merge_heads(heads), dout)}
        return sum(gradient @ params[name].T for name, gradient in d.items()), grads

    return merge_heads(heads) @ params["W_o"], {"weights": weights, "backward": backward}


grouped_query_attention_backward = lambda dout, cache: cache["backward"](dout)
