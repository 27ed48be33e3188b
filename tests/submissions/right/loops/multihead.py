"""One head after the other, each with its own slices of the matrices."""

import numpy as np
from attention import attention, attention_backward


def _float(a):
    a = np.asarray(a)
    return a if a.dtype.kind == "f" else a.astype(float)


def split_heads(x, n_heads):
    x = np.asarray(x)
    D = x.shape[-1]
    if n_heads <= 0 or D % n_heads:
        raise ValueError("heads of different sizes")
    K = D // n_heads
    out = np.empty(x.shape[:-2] + (n_heads, x.shape[-2], K), x.dtype)
    for h in range(n_heads):
        out[..., h, :, :] = x[..., h * K : (h + 1) * K]
    return out


def merge_heads(x):
    x = np.asarray(x)
    H, T, K = x.shape[-3:]
    out = np.empty(x.shape[:-3] + (T, H * K), x.dtype)
    for h in range(H):
        out[..., h * K : (h + 1) * K] = x[..., h, :, :]
    return out


def _slices(D, n_heads, h):
    K = D // n_heads
    return [slice(part * D + h * K, part * D + (h + 1) * K) for part in range(3)]


def multihead_attention(x, params, n_heads, mask=None, memory=None):
    x = _float(x)
    source = x if memory is None else _float(memory)
    W, b, D = _float(params["W_qkv"]), params.get("b_qkv"), x.shape[-1]
    if D % n_heads:
        raise ValueError("heads of different sizes")
    W_o = _float(params["W_o"])
    if mask is not None:
        mask = np.broadcast_to(mask, (*x.shape[:-2], n_heads, x.shape[-2], source.shape[-2]))
    out, heads = 0, []
    for h in range(n_heads):
        qkv = []
        for vectors, columns in zip((x, source, source), _slices(D, n_heads, h)):
            qkv.append(vectors @ W[:, columns] + (0 if b is None else b[columns]))
        result, weights = attention(*qkv, mask=None if mask is None else mask[..., h, :, :])
        heads.append((qkv, result, weights))
        out = out + result @ W_o[_slices(D, n_heads, h)[0]]
    if params.get("b_o") is not None:
        out = out + params["b_o"]
    cache = {"weights": np.stack([w for _, _, w in heads], axis=-3), "heads": heads}
    return out, {**cache, "x": x, "memory": memory, "params": params}


def multihead_attention_backward(dout, cache):
    dout, x, params, heads = _float(dout), cache["x"], cache["params"], cache["heads"]
    cross = cache["memory"] is not None
    source = _float(cache["memory"]) if cross else x
    D = x.shape[-1]
    grads = {name: np.zeros_like(_float(value)) for name, value in params.items()}
    dx, dsource = np.zeros_like(x), np.zeros_like(source)
    if "b_o" in grads:
        for place in np.ndindex(dout.shape[:-1]):
            grads["b_o"] += dout[place]
    for h, (qkv, result, weights) in enumerate(heads):
        columns = _slices(D, len(heads), h)
        rows = columns[0]
        for place in np.ndindex(dout.shape[:-2]):
            grads["W_o"][rows] += result[place].T @ dout[place]
        dqkv = attention_backward(dout @ _float(params["W_o"])[rows].T, *qkv, weights)
        for part, (vectors, gradient) in enumerate(zip((x, source, source), dqkv)):
            back = gradient @ _float(params["W_qkv"])[:, columns[part]].T
            if part == 0:
                dx += back
            else:
                dsource += back
            for place in np.ndindex(dout.shape[:-2]):
                grads["W_qkv"][:, columns[part]] += vectors[place].T @ gradient[place]
                if "b_qkv" in grads:
                    grads["b_qkv"][columns[part]] += gradient[place].sum(axis=0)
    return (dx, grads, dsource) if cross else (dx + dsource, grads)
