"""One sentence at a time; the gradients of the sentences are added up."""

import numpy as np
from ffn import dropout as zero_some
from ffn import ffn, ffn_backward
from layernorm import layernorm, layernorm_backward
from multihead import multihead_attention, multihead_attention_backward


def _part(params, name):
    part = {}
    for key in params:
        if key.split(".")[0] == name:
            part[key.split(".", 1)[1]] = params[key]
    return part


def _one(x, params, n_heads, mask, norm, activation, keep1, keep2):
    ln1, ln2 = _part(params, "ln1"), _part(params, "ln2")
    attn, mlp = _part(params, "attn"), _part(params, "ffn")
    y = layernorm(x, ln1["gamma"], ln1["beta"]) if norm == "pre" else x
    a, c_attn = multihead_attention(y, attn, n_heads, mask)
    s1 = x + a * keep1
    mid = s1 if norm == "pre" else layernorm(s1, ln1["gamma"], ln1["beta"])
    z = layernorm(mid, ln2["gamma"], ln2["beta"]) if norm == "pre" else mid
    f, c_ffn = ffn(z, mlp, activation)
    s2 = mid + f * keep2
    out = s2 if norm == "pre" else layernorm(s2, ln2["gamma"], ln2["beta"])
    return out, mid, c_attn, c_ffn, (x, mid) if norm == "pre" else (s1, s2), keep1, keep2


def block(x, params, n_heads, mask=None, norm="pre", activation="gelu", dropout=0.0, rng=None):
    if norm != "pre" and norm != "post":
        raise ValueError("norm")
    if activation != "gelu" and activation != "relu":
        raise ValueError("activation")
    x = np.asarray(x)
    if x.dtype != np.float32:
        x = x.astype(np.float64)
    batch, (length, width) = x.shape[:-2], x.shape[-2:]
    sentences = x.reshape(-1, length, width)
    masks = [None] * len(sentences)
    if mask is not None:
        masks = np.broadcast_to(mask, (*batch, n_heads, length, length)).reshape(-1, n_heads, length, length)
    keep1 = zero_some(x, dropout, rng, training=rng is not None)[1].reshape(sentences.shape)
    keep2 = zero_some(x, dropout, rng, training=rng is not None)[1].reshape(sentences.shape)
    runs = [_one(s, params, n_heads, m, norm, activation, *k) for s, m, *k in zip(sentences, masks, keep1, keep2)]
    out = np.stack([run[0] for run in runs]).reshape(x.shape)
    cache = {
        "weights": np.stack([run[2]["weights"] for run in runs]).reshape(*batch, n_heads, length, length),
        "after_attention": np.stack([run[1] for run in runs]).reshape(x.shape),
        "after_ffn": out,
        "runs": runs,
        "norm": norm,
        "params": params,
    }
    return out, cache


def _one_backward(d, run, norm, gamma1, gamma2):
    _, _, c_attn, c_ffn, (in1, in2), keep1, keep2 = run
    g = {}
    if norm == "pre":
        db, mlp = ffn_backward(d * keep2, c_ffn)
        db, g["ln2.gamma"], g["ln2.beta"] = layernorm_backward(db, in2, gamma2)
        d = d + db
        db, attn = multihead_attention_backward(d * keep1, c_attn)[:2]
        db, g["ln1.gamma"], g["ln1.beta"] = layernorm_backward(db, in1, gamma1)
    else:
        d, g["ln2.gamma"], g["ln2.beta"] = layernorm_backward(d, in2, gamma2)
        db, mlp = ffn_backward(d * keep2, c_ffn)
        d, g["ln1.gamma"], g["ln1.beta"] = layernorm_backward(d + db, in1, gamma1)
        db, attn = multihead_attention_backward(d * keep1, c_attn)[:2]
    for prefix, part in (("attn.", attn), ("ffn.", mlp)):
        for name in part:
            g[prefix + name] = part[name]
    return d + db, g


def block_backward(dout, cache):
    params = cache["params"]
    total = {name: np.zeros_like(params[name]) for name in params}
    dx = []
    for d, run in zip(dout.reshape(-1, *dout.shape[-2:]), cache["runs"]):
        one, grads = _one_backward(d, run, cache["norm"], params["ln1.gamma"], params["ln2.gamma"])
        dx.append(one)
        for name in total:
            total[name] = total[name] + grads[name]
    return np.stack(dx).reshape(dout.shape), total
