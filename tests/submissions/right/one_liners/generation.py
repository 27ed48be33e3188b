"""As few lines as possible; the cache grows by concatenation, and the mask is made of -1e9."""

import numpy as np
from blocks import block
from embeddings import sinusoidal_positions
from ffn import ffn
from gpt import gpt
from layernorm import layernorm
from softmax import softmax

_sub = lambda params, start: {k[len(start) :]: v for k, v in params.items() if k.startswith(start)}
_split = lambda x, H: np.moveaxis(x.reshape(*x.shape[:-1], H, -1), -2, -3)


def next_token_probs(logits, temperature=1.0, top_k=None, top_p=None):
    if temperature < 0 or (top_k or 1) < 1 or top_k == 0 or not 0 < (1 if top_p is None else top_p) <= 1:
        raise ValueError
    x = np.asarray(logits)
    x = x if x.dtype.kind == "f" else x.astype(float)
    rank = ((x[..., None, :] > x[..., :, None]).sum(-1)) + (np.tril(x[..., None, :] == x[..., :, None], -1)).sum(-1)
    p = softmax(x, temperature=temperature) * (rank < (top_k or x.shape[-1])) if temperature else (rank == 0).astype(x.dtype)
    p = p / p.sum(-1, keepdims=True)
    before = ((rank[..., None, :] < rank[..., :, None]) * p[..., None, :].astype(float)).sum(-1)
    p = p * (before < (2 if top_p in (None, 1) else top_p))
    return p / p.sum(-1, keepdims=True)


def sample(probs, rng):
    c = np.cumsum(probs, axis=-1, dtype=float)
    if not (c[..., -1] > 0).all():
        raise ValueError
    return np.asarray((c > rng.random((*c.shape[:-1], 1)) * c[..., -1:]).argmax(-1), np.int64)


def generate(ids, params, config, n_new, rng, temperature=1.0, top_k=None, top_p=None, step=None):
    ids = np.asarray(ids, dtype=np.int64).copy()
    if n_new < 0 or ids.shape[-1] < 1:
        raise ValueError
    step = step or (lambda ids: gpt(ids[..., -config.block_size :], params, config)[0][..., -1, :])
    for _ in range(n_new):
        ids = np.concatenate([ids, sample(next_token_probs(step(ids), temperature, top_k, top_p), rng)[..., None]], -1)
    return ids


def generate_cached(ids, params, config, n_new, rng, temperature=1.0, top_k=None, top_p=None):
    kept, H = {}, config.n_heads
    sines = sinusoidal_positions(config.block_size, config.d_model).astype(params["W_tok"].dtype)
    ln = lambda x, p, n, form: layernorm(x, p[n + ".gamma"], p[n + ".beta"]) if config.norm == form else x

    def step(ids):
        if not kept or kept["end"] >= config.block_size:
            kept.clear()
        a = kept.get("end", 0)
        new = ids[..., -1:] if a else ids[..., -config.block_size :]
        b = kept["end"] = a + new.shape[-1]
        x = params["W_tok"][new] + params.get("W_pos", sines)[a:b]
        for i in range(config.n_layers):
            p = _sub(params, f"blocks.{i}.")
            qkv = ln(x, p, "ln1", "pre") @ p["attn.W_qkv"] + p.get("attn.b_qkv", 0)
            q, k, v = (_split(part, H) for part in np.split(qkv, 3, -1))
            k, v = kept[i] = [np.concatenate([o, n], -2) for o, n in zip(kept.get(i, [k[..., :0, :]] * 2), [k, v])]
            s = q @ np.moveaxis(k, -1, -2) * q.shape[-1] ** -0.5 - 1e9 * (1 - np.tri(b - a, b, a))
            heads = np.moveaxis(softmax(s) @ v, -3, -2)
            x = ln(x + heads.reshape(x.shape) @ p["attn.W_o"] + p.get("attn.b_o", 0), p, "ln1", "post")
            x = ln(x + ffn(ln(x, p, "ln2", "pre"), _sub(p, "ffn."), config.activation)[0], p, "ln2", "post")
        return ln(x, params, "ln_f", "pre")[..., -1, :] @ params.get("W_head", params["W_tok"].T) + params.get("b_head", 0)

    return generate(ids, params, config, n_new, rng, temperature, top_k, top_p, step)
