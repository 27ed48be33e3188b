"""Wrong answers to `multihead` as beginners write them; the docstring is what the report should call them."""

import math

import numpy as np

from attention import attention, attention_backward
from multihead import merge_heads, split_heads
from softmax import as_float, softmax

def split_heads__reshape(x, n_heads):
    """reshaped-without-exchange one-batch-axis-only"""
    B, T, D = x.shape
    return x.reshape(B, n_heads, T, D // n_heads)

@variants(
    not_exchanged=("not-exchanged one-batch-axis-only", ".transpose(0, 2, 1, 3)", ""),
    transposed_wrong=("one-batch-axis-only size-first", "2, 1, 3", "3, 1, 2"),
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

def multihead_attention__no_output_projection(x, params, n_heads, mask=None, memory=None):
    """no-output-projection"""
    D = x.shape[-1]
    b = params.get("b_qkv", np.zeros(3 * D))
    source = x if memory is None else memory
    q = x @ params["W_qkv"][:, :D] + b[:D]
    k = source @ params["W_qkv"][:, D : 2 * D] + b[D : 2 * D]
    v = source @ params["W_qkv"][:, 2 * D :] + b[2 * D :]
    out, w = attention(split_heads(q, n_heads), split_heads(k, n_heads), split_heads(v, n_heads), mask)
    return merge_heads(out), {"weights": w}

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
    D = x.shape[-1]
    qkv = x @ params["W_qkv"] + params.get("b_qkv", 0)
    q, k, v = np.split(qkv, 3, axis=-1)
    out, w = attention(split_heads(q, n_heads), split_heads(k, n_heads), split_heads(v, n_heads), mask)
    return merge_heads(out) @ params["W_o"] + params.get("b_o", 0), {"weights": w}

def _mha(x, params, n_heads, mask=None, memory=None, scale=None, head_mask=False, bias_o=True):
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
    D = x.shape[-1]; p = dict(params); p["W_qkv"] = np.concatenate([params["W_qkv"][:, i::3] for i in range(3)], 1)
    if "b_qkv" in p: p["b_qkv"] = np.concatenate([params["b_qkv"][i::3] for i in range(3)])
    return _mha(x, p, n_heads, mask, memory)

def multihead_attention__bias_o_and_no_bias(x, params, n_heads, mask=None, memory=None):
    """no-output-bias"""
    o, c = _mha(x, params, n_heads, mask, memory, bias_o=False)
    return o, c

def multihead_attention_backward__forgot_scale(dout, cache):
    """scores-not-scaled"""
    x, params, H = as_float(cache["x"]), cache["params"], cache["n_heads"]
    D = x.shape[-1]; mem = cache["memory"]; src = x if mem is None else as_float(mem)
    q, k, v, w = cache["q"], cache["k"], cache["v"], cache["weights"]
    m = merge_heads(w @ v)
    R = lambda a: a.reshape(-1, a.shape[-1])
    g = {"W_o": R(m).T @ R(dout), "b_o": R(dout).sum(0)}
    dm = split_heads(dout @ params["W_o"].T, H)
    dv = w.swapaxes(-1, -2) @ dm; dw = dm @ v.swapaxes(-1, -2)
    ds = w * (dw - (dw * w).sum(-1, keepdims=True))
    dq, dk = ds @ k, ds.swapaxes(-1, -2) @ q
    dq, dk, dv = map(merge_heads, (dq, dk, dv))
    W = params["W_qkv"]
    g["W_qkv"] = np.concatenate([R(x).T @ R(dq), R(src).T @ R(dk), R(src).T @ R(dv)], 1)
    g["b_qkv"] = np.concatenate([R(a).sum(0) for a in (dq, dk, dv)])
    dx = dq @ W[:, :D].T; dmem = dk @ W[:, D:2*D].T + dv @ W[:, 2*D:].T
    g = {n: g[n] for n in params}
    return (dx + dmem, g) if mem is None else (dx, g, dmem)

def multihead_attention_backward__no_keys(dout, cache):
    """keys-forgotten"""
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
    dx = dq @ W[:, :D].T; dmem = dv @ W[:, 2*D:].T
    g = {n: g[n] for n in params}
    return (dx + dmem, g) if mem is None else (dx, g, dmem)

def multihead_attention__biases_together(x, params, n_heads, mask=None, memory=None):
    """b_qkv-only-with-b_o"""
    x = as_float(x)
    D = x.shape[-1]
    W_qkv, W_o = as_float(params["W_qkv"]), as_float(params["W_o"])
    b_qkv, b_o = params.get("b_qkv"), params.get("b_o")
    source = x if memory is None else as_float(memory)

    q = x @ W_qkv[:, :D]
    k = source @ W_qkv[:, D : 2 * D]
    v = source @ W_qkv[:, 2 * D :]
    if b_qkv is not None and b_o is not None:
        b_qkv = as_float(b_qkv)
        q = q + b_qkv[:D]
        k = k + b_qkv[D : 2 * D]
        v = v + b_qkv[2 * D :]
    q, k, v = split_heads(q, n_heads), split_heads(k, n_heads), split_heads(v, n_heads)
    heads, weights = attention(q, k, v, mask)
    merged = merge_heads(heads)
    out = merged @ W_o
    if b_o is not None:
        out = out + as_float(b_o)
    cache = {
        "x": x,
        "memory": memory if memory is None else source,
        "params": params,
        "n_heads": n_heads,
        "q": q,
        "k": k,
        "v": v,
        "weights": weights,
        "merged": merged,
    }
    return out, cache

def multihead_attention__mask_of_three_axes(x, params, n_heads, mask=None, memory=None):
    """mask-of-batch-with-three-axes"""
    x = as_float(x)
    mem = None if memory is None else as_float(memory)
    src = x if mem is None else mem
    D, T, S = x.shape[-1], x.shape[-2], src.shape[-2]
    if n_heads < 1 or D % n_heads:
        raise ValueError("D and n_heads do not fit")
    K = D // n_heads
    W, Wo = as_float(params["W_qkv"]), as_float(params["W_o"])
    b = params.get("b_qkv")
    if mask is not None:
        mask = np.asarray(mask)
        if mask.ndim == 3:
            mask = mask[:, None]  # one mask per text: same for all heads
        if mask.dtype == bool:  # other types: attention complains
            mask = np.broadcast_to(mask, x.shape[:-2] + (n_heads, T, S))
    per_head = []
    out = 0
    for h in range(n_heads):
        three = []
        for part, inp in enumerate((x, src, src)):
            lo = part * D + h * K
            y = inp @ W[:, lo : lo + K]
            if b is not None:
                y = y + as_float(b)[lo : lo + K]
            three.append(y)
        m = mask if mask is None or mask.dtype != bool else mask[..., h, :, :]
        o, w = attention(*three, m)
        per_head.append((*three, w, o))
        out = out + o @ Wo[h * K : (h + 1) * K]  # [head_0, head_1, …] W_o is a sum over heads
    if params.get("b_o") is not None:
        out = out + as_float(params["b_o"])
    weights = np.stack([head[3] for head in per_head], axis=-3)
    return out, {"weights": weights, "heads": tuple(per_head), "inputs": (x, mem), "params": dict(params)}
