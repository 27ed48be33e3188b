"""Wrong answers to `multihead` as beginners write them; the docstring is what the report should call them."""

import math

import numpy as np

from attention import attention, attention_backward
from multihead import merge_heads, split_heads
from softmax import as_float, softmax

@variants(
    not_exchanged=("not-exchanged one-batch-axis-only", ".transpose(0, 2, 1, 3)", ""),
    transposed_wrong=("one-batch-axis-only size-first", "2, 1, 3", "3, 1, 2"),
    reshape=(
        "reshaped-without-exchange one-batch-axis-only",
        "B, T, n_heads, D // n_heads).transpose(0, 2, 1, 3)", "B, n_heads, T, D // n_heads)",
    ),
)
def split_heads__three_axes(x, n_heads):
    """one-batch-axis-only"""
    B, T, D = x.shape
    return x.reshape(B, T, n_heads, D // n_heads).transpose(0, 2, 1, 3)

def split_heads__list(x, n_heads):
    """-"""
    return np.split(x, n_heads, axis=-1)

@variants(
    four_axes=("one-batch-axis-only", ".reshape", ".transpose(0, 2, 1, 3).reshape"),
    sum=("heads-added", "B, H, T, K = x.shape\n    return x.reshape(B, T, H * K", "return x.sum(-3"),
    mean=("heads-averaged", "B, H, T, K = x.shape\n    return x.reshape(B, T, H * K", "return x.mean(-3"),
    not_joined=("not-joined", "B, H, T, K = x.shape\n    return x.reshape(B, T, H * K", "return x.swapaxes(-2, -3"),
)
def merge_heads__reshape(x):
    """reshaped-without-exchange one-batch-axis-only"""
    B, H, T, K = x.shape
    return x.reshape(B, T, H * K)

def multihead_attention__three_axes(x, params, n_heads, mask=None, memory=None):
    """exactly-one-batch-axis memory-ignored input-bias-required"""
    B, T, D = x.shape
    qkv = x @ params["W_qkv"] + params["b_qkv"]
    q, k, v = qkv[..., :D], qkv[..., D : 2 * D], qkv[..., 2 * D :]
    out, w = attention(split_heads(q, n_heads), split_heads(k, n_heads), split_heads(v, n_heads), mask)
    return merge_heads(out) @ params["W_o"] + params["b_o"], {"weights": w}

@variants(
    no_output_projection=(
        "no-output-projection", ' @ params["W_o"] + params["b_o"]', "",
        'params["b_qkv"]', 'params.get("b_qkv", np.zeros(3 * D))',
    ),
)
def multihead_attention__biases_required(x, params, n_heads, mask=None, memory=None):
    """input-bias-required"""
    D = x.shape[-1]
    b = params["b_qkv"]
    source = x if memory is None else memory
    q = x @ params["W_qkv"][:, :D] + b[:D]
    k = source @ params["W_qkv"][:, D : 2 * D] + b[D : 2 * D]
    v = source @ params["W_qkv"][:, 2 * D :] + b[2 * D :]
    out, w = attention(split_heads(q, n_heads), split_heads(k, n_heads), split_heads(v, n_heads), mask)
    return merge_heads(out) @ params["W_o"] + params["b_o"], {"weights": w}

def multihead_attention__memory_ignored(x, params, n_heads, mask=None, memory=None):
    """memory-ignored"""
    qkv = x @ params["W_qkv"] + params.get("b_qkv", 0)
    q, k, v = np.split(qkv, 3, axis=-1)
    out, w = attention(split_heads(q, n_heads), split_heads(k, n_heads), split_heads(v, n_heads), mask)
    return merge_heads(out) @ params["W_o"] + params.get("b_o", 0), {"weights": w}

def _mha(x, params, n_heads, mask=None, memory=None, head_mask=False, bias_o=True):
    x = as_float(x); D = x.shape[-1]
    src = x if memory is None else as_float(memory)
    W, b = params["W_qkv"], params.get("b_qkv", np.zeros(3 * D, x.dtype))
    q = x @ W[:, :D] + b[:D]; k = src @ W[:, D:2*D] + b[D:2*D]; v = src @ W[:, 2*D:] + b[2*D:]
    q, k, v = (split_heads(a, n_heads) for a in (q, k, v))
    if head_mask and mask is not None: mask = mask[:, None]
    o, w = attention(q, k, v, mask)
    m = merge_heads(o)
    out = m @ params["W_o"]
    if bias_o: out = out + params.get("b_o", 0)
    return out, {"weights": w, "m": m, "x": x, "memory": memory, "params": params, "n_heads": n_heads, "q": q, "k": k, "v": v}

def split_heads__hsplit(x, n_heads):
    """heads-first"""
    return np.stack(np.split(x, n_heads, axis=-1))

def split_heads__size_as_n(x, n_heads):
    """number-and-size-exchanged"""
    *b, T, D = x.shape
    return x.reshape(*b, T, D // n_heads, n_heads).swapaxes(-2, -3)

def merge_heads__concatenate_axis(x):
    """along-the-positions"""
    return np.concatenate([x[..., h, :, :] for h in range(x.shape[-3])], axis=-2)

@variants(
    bias_o_and_no_bias=("no-output-bias", "head_mask=True", "bias_o=False"),
    mask_of_three_axes=("mask-of-batch-with-three-axes", "head_mask=True", "head_mask=np.ndim(mask) == 3"),
)
def multihead_attention__head_axis_added(x, params, n_heads, mask=None, memory=None):
    """head-axis-added-to-mask"""
    return _mha(x, params, n_heads, mask, memory, head_mask=True)

def multihead_attention__dk_total(x, params, n_heads, mask=None, memory=None):
    """scaled-by-whole-width effect-error-not-raised"""
    D = x.shape[-1]; x = as_float(x)
    src = x if memory is None else as_float(memory)
    W, b = params["W_qkv"], params.get("b_qkv", np.zeros(3 * D, x.dtype))
    q = x @ W[:, :D] + b[:D]; k = src @ W[:, D:2*D] + b[D:2*D]; v = src @ W[:, 2*D:] + b[2*D:]
    q, k, v = (split_heads(a, n_heads) for a in (q, k, v))
    s = q @ k.swapaxes(-1, -2) / math.sqrt(D)
    if mask is not None: s = np.where(mask, s, -np.inf)
    mx = s.max(-1, keepdims=True); mx[mx == -np.inf] = 0
    e = np.exp(s - mx); t = e.sum(-1, keepdims=True); t[t == 0] = 1
    w = e / t
    return merge_heads(w @ v) @ params["W_o"] + params.get("b_o", 0), {"weights": w}

def multihead_attention__weights_mean(x, params, n_heads, mask=None, memory=None):
    """weights-averaged"""
    o, c = _mha(x, params, n_heads, mask, memory); c["weights"] = c["weights"].mean(1); return o, c

def multihead_attention__interleaved_qkv(x, params, n_heads, mask=None, memory=None):
    """columns-in-turn"""
    p = dict(params); p["W_qkv"] = np.concatenate([params["W_qkv"][:, i::3] for i in range(3)], 1)
    if "b_qkv" in p: p["b_qkv"] = np.concatenate([params["b_qkv"][i::3] for i in range(3)])
    return _mha(x, p, n_heads, mask, memory)

@variants(
    forgot_scale=(
        "scores-not-scaled",
        "    W = params", "    dq, dk = dq * q.shape[-1] ** 0.5, dk * q.shape[-1] ** 0.5\n    W = params",
    ),
    no_keys=("keys-forgotten", "dk @ W[:, D:2*D].T + dv", "dv"),
)
def multihead_attention_backward__right(dout, cache):
    """base"""
    x, params, H = as_float(cache["x"]), cache["params"], cache["n_heads"]
    D = x.shape[-1]; mem = cache["memory"]; src = x if mem is None else as_float(mem)
    q, k, v, w = cache["q"], cache["k"], cache["v"], cache["weights"]
    m = merge_heads(w @ v)
    R = lambda a: a.reshape(-1, a.shape[-1])
    g = {"W_o": R(m).T @ R(dout), "b_o": R(dout).sum(0)}
    dm = split_heads(dout @ params["W_o"].T, H)
    dq, dk, dv = map(merge_heads, attention_backward(dm, q, k, v, w))
    W = params["W_qkv"]
    g["W_qkv"] = np.concatenate([R(x).T @ R(dq), R(src).T @ R(dk), R(src).T @ R(dv)], 1)
    g["b_qkv"] = np.concatenate([R(a).sum(0) for a in (dq, dk, dv)])
    dx = dq @ W[:, :D].T; dmem = dk @ W[:, D:2*D].T + dv @ W[:, 2*D:].T
    g = {n: g[n] for n in params}
    return (dx + dmem, g) if mem is None else (dx, g, dmem)

def multihead_attention__biases_together(x, params, n_heads, mask=None, memory=None):
    """b_qkv-only-with-b_o"""
    if "b_o" not in params: params = {n: p for n, p in params.items() if n != "b_qkv"}
    return _mha(x, params, n_heads, mask, memory)
