"""Everything in one place: attention, norms and the two layers of the network are written out again with einsum."""

import numpy as np
from ffn import gelu, gelu_backward, relu, relu_backward
from layernorm import layernorm, layernorm_backward

ACTIVATIONS = {"gelu": (gelu, gelu_backward), "relu": (relu, relu_backward)}


def _all(subscripts, *arrays):
    """An einsum over one axis n, in place of all leading ones: those of an ellipsis cannot be summed."""
    names = subscripts.partition("->")[0].split(",")
    flat = [a.reshape(-1, *a.shape[a.ndim - len(name) + 1 :]) for a, name in zip(arrays, names)]
    return np.einsum(subscripts, *flat)


def _attend(x, p, n_heads, mask):
    *batch, length, width = x.shape
    W = p["attn.W_qkv"].reshape(width, 3, n_heads, width // n_heads)
    qkv = np.einsum("...td,dchk->...chtk", x, W)
    if "attn.b_qkv" in p:
        qkv = qkv + p["attn.b_qkv"].reshape(3, n_heads, 1, -1)
    q, k, v = (qkv[..., i, :, :, :] for i in range(3))
    scores = np.einsum("...htk,...hsk->...hts", q, k) * (width // n_heads) ** -0.5
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    top = scores.max(-1, keepdims=True)
    e = np.exp(scores - np.where(np.isfinite(top), top, 0))
    total = e.sum(-1, keepdims=True)
    weights = e / np.where(total == 0, 1, total)
    heads = np.einsum("...hts,...hsk->...htk", weights, v)
    W_o = p["attn.W_o"].reshape(n_heads, width // n_heads, width)
    out = np.einsum("...htk,hkd->...td", heads, W_o)
    if "attn.b_o" in p:
        out = out + p["attn.b_o"]
    return out, (x, q, k, v, weights, heads, W, W_o)


def _attend_backward(dout, saved, p, grads):
    x, q, k, v, weights, heads, W, W_o = saved
    grads["attn.W_o"] = _all("nhtk,ntd->hkd", heads, dout).reshape(p["attn.W_o"].shape)
    if "attn.b_o" in p:
        grads["attn.b_o"] = _all("nd->d", dout)
    dheads = np.einsum("...td,hkd->...htk", dout, W_o)
    dv = np.einsum("...hts,...htk->...hsk", weights, dheads)
    dw = np.einsum("...htk,...hsk->...hts", dheads, v)
    ds = weights * (dw - np.einsum("...hts,...hts->...ht", dw, weights)[..., None]) * q.shape[-1] ** -0.5
    dq = np.einsum("...hts,...hsk->...htk", ds, k)
    dk = np.einsum("...hts,...htk->...hsk", ds, q)
    dqkv = np.stack([dq, dk, dv], axis=-4)
    grads["attn.W_qkv"] = _all("ntd,nchtk->dchk", x, dqkv).reshape(p["attn.W_qkv"].shape)
    if "attn.b_qkv" in p:
        grads["attn.b_qkv"] = _all("nchtk->chk", dqkv).ravel()
    return np.einsum("...chtk,dchk->...td", dqkv, W)


def _mlp(x, p, activation):
    hidden = np.einsum("...d,df->...f", x, p["ffn.W_1"]) + p.get("ffn.b_1", p["ffn.W_1"].dtype.type(0))
    active = ACTIVATIONS[activation][0](hidden)
    return np.einsum("...f,fd->...d", active, p["ffn.W_2"]) + p.get("ffn.b_2", p["ffn.W_2"].dtype.type(0)), (
        x,
        hidden,
        active,
        activation,
    )


def _mlp_backward(dout, saved, p, grads):
    x, hidden, active, activation = saved
    grads["ffn.W_2"] = _all("nf,nd->fd", active, dout)
    dhidden = ACTIVATIONS[activation][1](np.einsum("...d,fd->...f", dout, p["ffn.W_2"]), hidden)
    grads["ffn.W_1"] = _all("nd,nf->df", x, dhidden)
    for name, d in (("ffn.b_1", dhidden), ("ffn.b_2", dout)):
        if name in p:
            grads[name] = _all("ni->i", d)
    return np.einsum("...f,df->...d", dhidden, p["ffn.W_1"])


def _kept(shape, dtype, p, rng):
    """The factor of each value; drawn in the order of the calls."""
    if not 0 <= p < 1:
        raise ValueError(f"dropout {p}")
    if rng is None or p == 0:
        return dtype.type(1)
    return np.where(rng.random(shape) < p, 0, 1 / (1 - p)).astype(dtype)


def block(x, params, n_heads, mask=None, norm="pre", activation="gelu", dropout=0.0, rng=None):
    if norm not in {"pre", "post"} or activation not in ACTIVATIONS:
        raise ValueError(f"unknown norm {norm} or activation {activation}")
    x = x if np.asarray(x).dtype.kind == "f" else np.asarray(x, dtype=np.float64)
    p = params
    g1, b1, g2, b2 = p["ln1.gamma"], p["ln1.beta"], p["ln2.gamma"], p["ln2.beta"]
    kept = [_kept(x.shape, x.dtype, dropout, rng) for _ in range(2)]
    if norm == "pre":
        a, attn = _attend(layernorm(x, g1, b1), p, n_heads, mask)
        mid = x + a * kept[0]
        f, mlp = _mlp(layernorm(mid, g2, b2), p, activation)
        f = f * kept[1]
        out, norms = mid + f, (x, mid)
    else:
        a, attn = _attend(x, p, n_heads, mask)
        a = a * kept[0]
        mid = layernorm(x + a, g1, b1)
        f, mlp = _mlp(mid, p, activation)
        f = f * kept[1]
        out, norms = layernorm(mid + f, g2, b2), (x + a, mid + f)
    cache = dict(weights=attn[4], after_attention=mid, after_ffn=out, params=p)
    cache.update(norm=norm, attn=attn, mlp=mlp, norms=norms, kept=kept)
    return out, cache


def block_backward(dout, cache):
    p, grads = cache["params"], {}
    in1, in2 = cache["norms"]
    k1, k2 = cache["kept"]

    def ln_back(d, name, x):
        dx, grads[f"{name}.gamma"], grads[f"{name}.beta"] = layernorm_backward(d, x, p[f"{name}.gamma"])
        return dx

    if cache["norm"] == "pre":
        dmid = dout + ln_back(_mlp_backward(dout * k2, cache["mlp"], p, grads), "ln2", in2)
        return dmid + ln_back(_attend_backward(dmid * k1, cache["attn"], p, grads), "ln1", in1), grads
    d = ln_back(dout, "ln2", in2)
    d = ln_back(d + _mlp_backward(d * k2, cache["mlp"], p, grads), "ln1", in1)
    return d + _attend_backward(d * k1, cache["attn"], p, grads), grads
