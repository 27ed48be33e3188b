"""Wrong answers to `llama_layers` as beginners write them; the docstring is what the report should call them."""

import math

import numpy as np
from attention import attention, attention_backward
from ffn import linear_backward
from llama_layers import rope, rope_backward, silu, silu_backward
from multihead import merge_heads, split_heads
from softmax import as_float

def _even(x):
    if x.shape[-1] % 2:
        raise ValueError("odd")
    return as_float(x), x.shape[-1]

def _rotate_half(x):
    half = x.shape[-1] // 2
    return np.concatenate([-x[..., half:], x[..., :half]], axis=-1)

def _table(positions, K, base, dtype):
    inv_freq = 1.0 / (base ** (np.arange(0, K, 2) / K))
    freqs = np.outer(positions, inv_freq)
    emb = np.concatenate([freqs, freqs], axis=-1)
    return np.cos(emb).astype(dtype), np.sin(emb).astype(dtype)

@variants(
    odd_accepted=("effect-error-not-raised angles-as-a-base", 'if x.shape[-1] % 2:\n        raise ValueError("odd")\n    ', ""),
    half_without_minus=("minus-missing angles-as-a-base", "_rotate_half(x)", "np.roll(x, x.shape[-1] // 2, axis=-1)"),
    half_with_minus_below=("reversed angles-as-a-base", "+ _rotate_half(x)", "- _rotate_half(x)"),
    float64_and_arange=("positions-ignored angles-as-a-base", "_table(positions,", "_table(np.arange(x.shape[-2]),"),
    constant_base=("base-ignored", "base, x.dtype", "10000, x.dtype"),
)
def rope__right(x, positions, base=10000.0):
    """base"""
    x = as_float(x)
    if x.shape[-1] % 2:
        raise ValueError("odd")
    cos, sin = _table(positions, x.shape[-1], base, x.dtype)
    return x * cos + _rotate_half(x) * sin

def rope__interleaved(x, positions, base=10000.0):
    """interleaved angles-as-a-base"""
    x, K = _even(x)
    angles = np.outer(positions, base ** (-np.arange(0, K, 2) / K))
    cos, sin = np.cos(angles).astype(x.dtype), np.sin(angles).astype(x.dtype)
    out = np.empty_like(x)
    out[..., ::2] = x[..., ::2] * cos - x[..., 1::2] * sin
    out[..., 1::2] = x[..., ::2] * sin + x[..., 1::2] * cos
    return out

def rope__table_of_interleaved(x, positions, base=10000.0):
    """angles-of-interleaved angles-as-a-base"""
    x, K = _even(x)
    angles = np.repeat(np.outer(positions, base ** (-np.arange(0, K, 2) / K)), 2, axis=-1)
    return x * np.cos(angles).astype(x.dtype) + _rotate_half(x) * np.sin(angles).astype(x.dtype)

def rope__i_over_k(x, positions, base=10000.0):
    """half-the-exponent angles-as-a-base"""
    x, K = _even(x)
    angles = np.asarray(positions)[:, None] / base ** (np.arange(K // 2) / K)
    cos, sin = np.cos(angles).astype(x.dtype), np.sin(angles).astype(x.dtype)
    a, b = x[..., : K // 2], x[..., K // 2 :]
    return np.concatenate([a * cos - b * sin, a * sin + b * cos], axis=-1)

def rope__in_place(x, positions, base=10000.0):
    """rotated-with-new-first angles-as-a-base"""
    x, K = _even(x)
    out = x.copy()
    cos, sin = _table(positions, K, base, x.dtype)
    cos, sin = cos[:, : K // 2], sin[:, : K // 2]
    out[..., : K // 2] = out[..., : K // 2] * cos - out[..., K // 2 :] * sin
    out[..., K // 2 :] = out[..., : K // 2] * sin + out[..., K // 2 :] * cos
    return out

@variants(
    base_lost=("base-ignored", "(dout, positions, base)", "(dout, -np.asarray(positions))"),
    identity=("passed-through", "rope(dout, positions, base)", "dout.copy()"),
)
def rope_backward__forward(dout, positions, base=10000.0):
    """rotated-forward"""
    return rope(dout, positions, base)

@variants(
    overflow=("overflow", "x / (1 + np.exp(-1.702 * x))", "x * np.exp(x) / (1 + np.exp(x))"),
    sigmoid=("sigmoid-alone", "x / (1 + np.exp(-1.702 * x))", "1 / (1 + np.exp(-x))"),
)
def silu__quick_gelu(x):
    """sigmoid-form-of-gelu"""
    x = as_float(x)
    return x / (1 + np.exp(-1.702 * x))

@variants(
    product_rule_forgotten=("gate-constant", " * (1 - s)", ""),
)
def silu_backward__sigmoid(dout, x):
    """slope-of-sigmoid"""
    s = 1 / (1 + np.exp(-x))
    return dout * s * (1 - s)

def silu_backward__quotient_rule(dout, x):
    """overflow-of-both"""
    e = np.exp(-x)
    return dout * (1 / (1 + e) + x * e / (1 + e) ** 2)

@variants(
    sigmoid_gate=("sigmoid", "g * silu(u)", "u / (1 + np.exp(-g))"),
    product_first=("silu-of-product", "g * silu(u)", "silu(g * u)"),
)
def swiglu__exchanged(x, params):
    """gate-and-up-exchanged"""
    g, u = x @ params["W_gate"], x @ params["W_up"]
    return (g * silu(u)) @ params["W_down"], (x, params)

def _swiglu_backward(dout, cache, up=True, opened=True, slope=True, ways=2):
    x, params = cache["x"], cache["params"]
    g, u = x @ params["W_gate"], x @ params["W_up"]
    h = silu(g) * u
    dh, dW_down, _ = linear_backward(dout, h, params["W_down"])
    ds = dh * u if up else dh
    dg = silu_backward(ds, g) if slope else ds
    du = dh * silu(g) if opened else dh
    dx, dW_gate, _ = linear_backward(dg, x, params["W_gate"])
    other, dW_up, _ = linear_backward(du, x, params["W_up"])
    return dx + other if ways == 2 else other, {"W_gate": dW_gate, "W_up": dW_up, "W_down": dW_down}

@variants(
    no_up=("gate-without-up", "slope=", "up="), no_gate=("up-without-gate", "slope=", "opened="),
    one_way=("dx-up-only", "slope=False", "ways=1"),
)
def swiglu_backward__no_slope(dout, cache):
    """silu-skipped"""
    return _swiglu_backward(dout, cache, slope=False)

def _gqa(x, params, H, G, mask, positions, base, tile=False, rotate_v=False, whole=False, scale=None):
    if x.shape[-1] % H or H % G:
        raise ValueError("heads")
    if positions is None:
        positions = np.arange(x.shape[-2])
    q, k, v = x @ params["W_q"], x @ params["W_k"], x @ params["W_v"]
    if whole:
        q, k = rope(q, positions, base), rope(k, positions, base)
    q, k, v = split_heads(q, H), split_heads(k, G), split_heads(v, G)
    if not whole:
        q, k = rope(q, positions, base), rope(k, positions, base)
    if rotate_v:
        v = rope(v, positions, base)
    if tile:
        k, v = (np.concatenate([a] * (H // G), axis=-3) for a in (k, v))
    else:
        k, v = (np.repeat(a, H // G, axis=-3) for a in (k, v))
    if scale is not None:
        q = q * scale
    heads, weights = attention(q, k, v, mask)
    return merge_heads(heads) @ params["W_o"], {"weights": weights}

@variants(
    values_too=("values-rotated", ", tile=", ", rotate_v="),
    before_split=("rotated-before-splitting", ", tile=", ", whole="),
    width=("scaled-by-width", "tile=True", "scale=1 / math.sqrt(n_heads)"),
    no_positions=("positions-ignored", "positions, base, tile=True", "None, base"),
    no_base=("base-ignored", "base, tile=True", "10000.0"),
)
def grouped_query_attention__tiled(x, params, n_heads, n_kv_heads, mask=None, positions=None, base=10000.0):
    """tiled"""
    return _gqa(x, params, n_heads, n_kv_heads, mask, positions, base, tile=True)

def grouped_query_attention__not_shared(x, params, n_heads, n_kv_heads, mask=None, positions=None, base=10000.0):
    """not-repeated"""
    if positions is None:
        positions = np.arange(x.shape[-2])
    q = rope(split_heads(x @ params["W_q"], n_heads), positions, base)
    k = rope(split_heads(x @ params["W_k"], n_kv_heads), positions, base)
    v = split_heads(x @ params["W_v"], n_kv_heads)
    if n_heads % n_kv_heads:
        raise ValueError("heads")
    heads, weights = attention(q, k, v, mask)
    return merge_heads(heads) @ params["W_o"], {"weights": weights}

def _gqa_backward(dout, cache, share="sum", back=rope_backward, values=False):
    x, params, q, k, v = cache["x"], cache["params"], cache["q"], cache["k"], cache["v"]
    H, G = q.shape[-3], k.shape[-3]
    K, V = np.repeat(k, H // G, axis=-3), np.repeat(v, H // G, axis=-3)
    dmerged, dW_o, _ = linear_backward(dout, cache["merged"], params["W_o"])
    dq, dk, dv = attention_backward(split_heads(dmerged, H), q, K, V, cache["weights"])

    def shared(d):
        groups = d.reshape(*d.shape[:-3], G, H // G, *d.shape[-2:])
        if share == "tile":
            return d.reshape(*d.shape[:-3], H // G, G, *d.shape[-2:]).sum(-4)
        return {"sum": groups.sum(-3), "mean": groups.mean(-3), "first": groups[..., 0, :, :]}[share]

    dk, dv = shared(dk), shared(dv)
    if back:
        dq, dk = back(dq, cache["positions"], cache["base"]), back(dk, cache["positions"], cache["base"])
    if values:
        dv = rope_backward(dv, cache["positions"], cache["base"])
    dx, grads = 0, {"W_o": dW_o}
    for name, d in (("W_q", dq), ("W_k", dk), ("W_v", dv)):
        part, grads[name], _ = linear_backward(merge_heads(d), x, params[name])
        dx = dx + part
    return dx, grads

@variants(
    first=("shared-first-of-group", '"mean"', '"first"'), tile=("shared-tiled", '"mean"', '"tile"'),
    not_turned=("rotation-forgotten", 'share="mean"', "back=None"),
    forward=("rotated-forward", 'share="mean"', "back=rope"),
    values_turned=("values-rotated", 'share="mean"', "values=True"),
)
def grouped_query_attention_backward__mean(dout, cache):
    """shared-averaged"""
    return _gqa_backward(dout, cache, share="mean")
