"""As few lines as possible."""

from types import SimpleNamespace

import numpy as np
from attention import causal_mask
from blocks import block, block_backward
from embeddings import embed, embed_tokens_backward, sinusoidal_positions
from ffn import dropout
from layernorm import layernorm, layernorm_backward
from softmax import cross_entropy, cross_entropy_backward

count_parameters = lambda params: sum(p.size for p in params.values())
_part = lambda params, i: {k.split(".", 2)[2]: v for k, v in params.items() if k.startswith(f"blocks.{i}.")}
_head = lambda params: params.get("W_head", params["W_tok"].T)


def GPTConfig(vocab_size, block_size, n_layers=4, n_heads=4, d_model=64, d_ff=None, activation="gelu", tied=True, bias=True, init_std=0.02, norm="pre", positions="learned", dropout=0.0):
    return SimpleNamespace(**{**locals(), "bias": {True: "b_qkv b_o b_1 b_2", False: ""}.get(bias, bias), "d_ff": d_ff or 4 * d_model})


def init_gpt(c, rng):
    D, F = c.d_model, c.d_ff
    layer = {"ln1.gamma": (D,), "ln1.beta": (D,), "attn.W_qkv": (D, 3 * D), "attn.b_qkv": (3 * D,), "attn.W_o": (D, D)}
    layer |= {"attn.b_o": (D,), "ln2.gamma": (D,), "ln2.beta": (D,), "ffn.W_1": (D, F), "ffn.b_1": (F,)}
    layer |= {"ffn.W_2": (F, D), "ffn.b_2": (D,)}
    shapes = {"W_tok": (c.vocab_size, D)} | ({"W_pos": (c.block_size, D)} if c.positions == "learned" else {})
    shapes |= {f"blocks.{i}.{n}": s for i in range(c.n_layers) for n, s in layer.items() if ".b_" not in n or n.split(".")[1] in c.bias}
    shapes |= {"ln_f.gamma": (D,), "ln_f.beta": (D,)} if c.norm == "pre" else {}
    shapes |= ({} if c.tied else {"W_head": (D, c.vocab_size)}) | ({"b_head": (c.vocab_size,)} if "b_head" in c.bias else {})
    std = lambda n: c.init_std * (2 * c.n_layers) ** (-0.5 * n.endswith(("W_o", "W_2"))) * (len(shapes[n]) > 1)
    return {n: rng.normal(1.0 * n.endswith("gamma"), std(n), s).astype(np.float32) for n, s in shapes.items()}


def gpt(ids, params, c, rng=None):
    if np.shape(ids)[-1] > c.block_size:
        raise ValueError(np.shape(ids))
    sines = sinusoidal_positions(c.block_size, c.d_model).astype(params["W_tok"].dtype)
    x, mask = dropout(embed(ids, params["W_tok"], params.get("W_pos", sines)), c.dropout, rng, rng is not None)
    cache = {"embedded": x, "caches": [], "mask": mask}
    for i in range(c.n_layers):
        x, b = block(x, _part(params, i), c.n_heads, causal_mask(np.shape(ids)[-1]), c.norm, c.activation, c.dropout, rng)
        cache["caches"].append(b)
        cache |= {f"blocks.{i}.{s}": b[s] for s in ("weights", "after_attention", "after_ffn")}
    cache["final_norm"] = layernorm(x, params["ln_f.gamma"], params["ln_f.beta"]) if c.norm == "pre" else x
    return cache["final_norm"] @ _head(params) + params.get("b_head", 0), cache


def gpt_loss(ids, targets, params, c, rng=None):
    logits, cache = gpt(ids, params, c, rng)
    D, T = c.d_model, np.shape(ids)[-1]
    d = cross_entropy_backward(logits, targets)
    dW = cache["final_norm"].reshape(-1, D).T @ d.reshape(-1, c.vocab_size)
    x = cache[f"blocks.{c.n_layers - 1}.after_ffn"]
    dx, grads = d @ _head(params).T, {} if "W_head" not in params else {"W_head": dW}
    if c.norm == "pre":
        dx, grads["ln_f.gamma"], grads["ln_f.beta"] = layernorm_backward(dx, x, params["ln_f.gamma"])
    if "b_head" in c.bias:
        grads["b_head"] = d.reshape(-1, c.vocab_size).sum(0)
    for i, b in list(enumerate(cache["caches"]))[::-1]:
        dx, g = block_backward(dx, b)
        grads |= {f"blocks.{i}.{k}": v for k, v in g.items()}
    dx = dx * cache["mask"]
    grads["W_tok"] = embed_tokens_backward(dx, ids, c.vocab_size) + (0 if "W_head" in params else dW.T)
    if c.positions == "learned":
        grads["W_pos"] = np.pad(dx.reshape(-1, T, D).sum(0), ((0, c.block_size - T), (0, 0)))
    return cross_entropy(logits, targets), grads
