"""The weights as tensors (D, 3, H, K) and (H, K, D): heads are an index, and nothing is ever split or merged."""

import numpy as np
from attention import attention, attention_backward


def _float(a):
    a = np.asarray(a)
    return a if a.dtype in (np.float32, np.float64) else a.astype(np.float64)


def _flat(a, keep):
    """All batch axes as one: einsum sums over named indices only, never over those behind the dots."""
    return a.reshape(-1, *a.shape[-keep:])


def split_heads(x, n_heads):
    x = np.asarray(x)
    pieces = np.stack(np.split(x, n_heads, axis=-1))  # (H, ..., T, K)
    return np.moveaxis(pieces, 0, -3)


def merge_heads(x):
    x = np.asarray(x)
    return np.concatenate(list(np.moveaxis(x, -3, 0)), axis=-1)


def multihead_attention(x, params, n_heads, mask=None, memory=None):
    x = _float(x)
    source = x if memory is None else _float(memory)
    D = x.shape[-1]
    if D % n_heads:
        raise ValueError("the width is no multiple of the number of heads")
    W = _float(params["W_qkv"]).reshape(D, 3, n_heads, D // n_heads)
    q = np.einsum("...td,dhk->...htk", x, W[:, 0])
    k, v = np.einsum("...sd,dchk->c...hsk", source, W[:, 1:])
    if "b_qkv" in params:
        bq, bk, bv = params["b_qkv"].reshape(3, n_heads, 1, -1)
        q, k, v = q + bq, k + bk, v + bv
    heads, weights = attention(q, k, v, mask)
    W_o = _float(params["W_o"]).reshape(n_heads, -1, D)
    out = np.einsum("...htk,hkd->...td", heads, W_o)
    if "b_o" in params:
        out = out + params["b_o"]
    return out, dict(
        x=x,
        source=source,
        cross=memory is not None,
        W=W,
        W_o=W_o,
        q=q,
        k=k,
        v=v,
        heads=heads,
        weights=weights,
        keys=list(params),
    )


def multihead_attention_backward(dout, cache):
    dout, x, source = _float(dout), cache["x"], cache["source"]
    D = x.shape[-1]
    rows = dout.reshape(-1, D)
    grads = {}
    dheads = np.einsum("...td,hkd->...htk", dout, cache["W_o"])
    grads["W_o"] = np.einsum("bhtk,btd->hkd", _flat(cache["heads"], 3), _flat(dout, 2)).reshape(D, D)
    grads["b_o"] = np.einsum("nd->d", rows)
    dq, dk, dv = attention_backward(dheads, cache["q"], cache["k"], cache["v"], cache["weights"])
    three = [(x, dq), (source, dk), (source, dv)]
    dW = [np.einsum("btd,bhtk->dhk", _flat(a, 2), _flat(g, 3)).reshape(D, D) for a, g in three]
    db = [np.einsum("bhtk->hk", _flat(g, 3)).reshape(D) for _, g in three]
    grads["W_qkv"], grads["b_qkv"] = np.concatenate(dW, axis=1), np.concatenate(db)
    W = cache["W"]
    dx = np.einsum("...htk,dhk->...td", dq, W[:, 0])
    dsource = np.einsum("...hsk,dhk->...sd", dk, W[:, 1]) + np.einsum("...hsk,dhk->...sd", dv, W[:, 2])
    grads = {key: grads[key] for key in cache["keys"]}
    if cache["cross"]:
        return dx, grads, dsource
    return dx + dsource, grads
