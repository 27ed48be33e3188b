"""Short: cross attention is the only case, and self attention is a text with itself as its memory."""

import numpy as np
from attention import attention, attention_backward

_rows = lambda a: a.reshape(-1, a.shape[-1])

split_heads = lambda x, n_heads: np.stack(np.split(x, n_heads, -1), -3)
merge_heads = lambda x: np.concatenate([x[..., h, :, :] for h in range(x.shape[-3])], -1)


def multihead_attention(x, params, n_heads, mask=None, memory=None):
    sources = (x,) * 3 if memory is None else (x, memory, memory)
    W, b = np.split(params["W_qkv"], 3, 1), np.split(params.get("b_qkv", np.zeros(3 * x.shape[-1], np.float32)), 3)
    qkv = [split_heads(s @ w + c, n_heads) for s, w, c in zip(sources, W, b)]
    heads, weights = attention(*qkv, mask)
    out = merge_heads(heads) @ params["W_o"]
    out = out + params["b_o"] if "b_o" in params else out

    def backward(dout):
        dqkv = [merge_heads(g) for g in attention_backward(split_heads(dout @ params["W_o"].T, n_heads), *qkv, weights)]
        dx, *dsource = (g @ w.T for g, w in zip(dqkv, W))
        grads = {
            "W_qkv": np.hstack([_rows(s).T @ _rows(g) for s, g in zip(sources, dqkv)]),
            "b_qkv": np.hstack([_rows(g).sum(0) for g in dqkv]), "W_o": _rows(merge_heads(heads)).T @ _rows(dout),
            "b_o": _rows(dout).sum(0),
        }
        grads = {name: grads[name] for name in params}
        return (dx + sum(dsource), grads) if memory is None else (dx, grads, sum(dsource))

    return out, {"weights": weights, "backward": backward}


def multihead_attention_backward(dout, cache):
    return cache["backward"](dout)
