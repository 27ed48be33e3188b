"""As few lines as possible, out of the parts that the assignments before have made."""

from types import SimpleNamespace

import numpy as np
from blocks import block, block_backward
from embeddings import embed_tokens, embed_tokens_backward, sinusoidal_positions
from ffn import ffn, ffn_backward
from layernorm import layernorm, layernorm_backward
from multihead import multihead_attention, multihead_attention_backward
from softmax import log_softmax


def TransformerConfig(
    vocab_source, vocab_target, n_layers=2, n_heads=4, d_model=64, d_ff=None, bias=True, norm="post", head_bias=False
):
    return SimpleNamespace(**{**locals(), "d_ff": d_ff or 4 * d_model})


def init_transformer(c, rng):
    D, F, ends = c.d_model, c.d_ff, ("gamma", "beta")
    attn = lambda n: {f"{n}.W_qkv": (D, 3 * D), f"{n}.b_qkv": (3 * D,), f"{n}.W_o": (D, D), f"{n}.b_o": (D,)}
    rest = lambda norms: {f"ln{i + 1}.{end}": (D,) for i in range(norms) for end in ends} | {
        "ffn.W_1": (D, F), "ffn.b_1": (F,), "ffn.W_2": (F, D), "ffn.b_2": (D,)
    }
    layers = {"encoder": attn("attn") | rest(2), "decoder": attn("attn") | attn("source_attn") | rest(3)}
    shapes = {"W_source": (c.vocab_source, D), "W_target": (c.vocab_target, D), "W_head": (D, c.vocab_target)}
    shapes |= {f"{stack}.{i}.{n}": s for stack in layers for i in range(c.n_layers) for n, s in layers[stack].items()}
    shapes |= {f"{stack}.ln_f.{end}": (D,) for stack in layers for end in ends if c.norm == "pre"}
    kept = {n: s for n, s in shapes.items() if c.bias or ".b_" not in n}
    kept |= {"b_head": (c.vocab_target,)} if c.head_bias else {}
    std = lambda n, s: (D if n in ("W_source", "W_target") else s[0]) ** -0.5 * (len(s) > 1)
    return {n: rng.normal(1.0 * n.endswith("gamma"), std(n, s), s).astype(np.float32) for n, s in kept.items()}


def _at(p, prefix):
    return {k[len(prefix) :]: v for k, v in p.items() if k.startswith(prefix)}


def _to(p, prefix):
    return {prefix + k: v for k, v in p.items()}


def _wide(keep):
    return None if keep is None else np.asarray(keep)[..., None, None, :]


_ENCODER = ["weights", "after_attention", "after_ffn"]
_DECODER = [*_ENCODER, "source_weights", "after_source_attention"]


def encoder_block(x, params, n_heads, mask=None, norm="post"):
    return block(x, params, n_heads, norm=norm, mask=mask, activation="relu")


def decoder_block(x, memory, params, n_heads, target_mask=None, source_mask=None, norm="post"):
    if norm not in {"pre", "post"}:
        raise ValueError(norm)

    def ln(i, x, form):
        return layernorm(x, params[f"ln{i}.gamma"], params[f"ln{i}.beta"]) if norm == form else x

    x = x if x.dtype.kind == "f" else x.astype(float)
    out1, c1 = multihead_attention(ln(1, x, "pre"), _at(params, "attn."), n_heads, mask=target_mask)
    a = ln(1, x + out1, "post")
    out2, c2 = multihead_attention(ln(2, a, "pre"), _at(params, "source_attn."), n_heads, mask=source_mask, memory=memory)
    b = ln(2, a + out2, "post")
    out3, c3 = ffn(ln(3, b, "pre"), _at(params, "ffn."), "relu")
    y = ln(3, b + out3, "post")
    cache = dict(zip(_DECODER, (c1["weights"], a, y, c2["weights"], b), strict=True))
    totals = (x, a, b) if norm == "pre" else (x + out1, a + out2, b + out3)
    return y, cache | {"p": params, "norm": norm, "totals": totals, "c": (c1, c2, c3)}


def _decoder_block_backward(d, cache):
    grads, (c1, c2, c3) = {}, cache["c"]

    def ln(i, d, form):
        if cache["norm"] != form:
            return d
        d, grads[f"ln{i}.gamma"], grads[f"ln{i}.beta"] = layernorm_backward(
            d, cache["totals"][i - 1], cache["p"][f"ln{i}.gamma"]
        )
        return d

    d = ln(3, d, "post")
    more, g3 = ffn_backward(d, c3)
    d = ln(2, d + ln(3, more, "pre"), "post")
    more, g2, dmemory = multihead_attention_backward(d, c2)
    d = ln(1, d + ln(2, more, "pre"), "post")
    more, g1 = multihead_attention_backward(d, c1)
    return d + ln(1, more, "pre"), dmemory, grads | _to(g1, "attn.") | _to(g2, "source_attn.") | _to(g3, "ffn.")


def _embed(ids, W):
    return embed_tokens(ids, W) * W.shape[1] ** 0.5 + sinusoidal_positions(np.shape(ids)[-1], W.shape[1]).astype(
        W.dtype
    )


def _last(x, p, stack):
    return layernorm(x, p[f"{stack}.ln_f.gamma"], p[f"{stack}.ln_f.beta"]) if f"{stack}.ln_f.gamma" in p else x


def encode(source, params, config, source_mask=None):
    stream = [(_embed(source, params["W_source"]), None)]
    for i in range(config.n_layers):
        stream += [encoder_block(stream[-1][0], _at(params, f"encoder.{i}."), config.n_heads, _wide(source_mask), config.norm)]
    named = {f"encoder.{i}.{n}": c[n] for i, (_, c) in enumerate(stream[1:]) for n in _ENCODER}
    return _last(stream[-1][0], params, "encoder"), named | {"source": source, "source_embedded": stream[0][0], "up": stream}


def decode(target, memory, params, config, target_mask=None, source_mask=None):
    mask, stream = np.tri(np.shape(target)[-1], dtype=bool), [(_embed(target, params["W_target"]), None)]
    mask = mask if target_mask is None else mask & _wide(target_mask)
    for i in range(config.n_layers):
        p = _at(params, f"decoder.{i}.")
        stream += [decoder_block(stream[-1][0], memory, p, config.n_heads, mask, _wide(source_mask), config.norm)]
    named = {f"decoder.{i}.{n}": c[n] for i, (_, c) in enumerate(stream[1:]) for n in _DECODER}
    log_probs = log_softmax(_last(stream[-1][0], params, "decoder") @ params["W_head"] + params.get("b_head", 0))
    return log_probs, named | {"target": target, "target_embedded": stream[0][0], "down": stream, "y": log_probs}


def transformer(source, target, params, config, source_mask=None, target_mask=None):
    memory, up = encode(source, params, config, source_mask)
    log_probs, down = decode(target, memory, params, config, target_mask=target_mask, source_mask=source_mask)
    return log_probs, up | down | {"memory": memory, "params": params}


def greedy_decode(source, params, config, start, end, max_length, source_mask=None):
    text = np.full((*np.shape(source)[:-1], 1), start)
    while text.shape[-1] <= max_length and not (text[..., 1:] == end).any(-1).all():
        best = np.argmax(transformer(source, text, params, config, source_mask)[0][..., -1, :], -1)
        text = np.insert(text, text.shape[-1], np.where((text[..., 1:] == end).any(-1), end, best), axis=-1)
    return text[..., 1:]


def transformer_backward(dlog_probs, cache):
    p, d, grads, dmemory = cache["params"], dlog_probs, {}, 0
    d, x, scale = d - np.exp(cache["y"]) * d.sum(-1, keepdims=True), cache["down"][-1][0], p["W_head"].shape[0] ** 0.5
    if "b_head" in p:
        grads["b_head"] = d.reshape(-1, d.shape[-1]).sum(0)
    h = _last(x, p, "decoder")
    grads["W_head"], d = h.reshape(-1, x.shape[-1]).T @ d.reshape(-1, d.shape[-1]), d @ p["W_head"].T

    def ln_f(d, x, stack):
        if f"{stack}.ln_f.gamma" not in p:
            return d
        d, grads[f"{stack}.ln_f.gamma"], grads[f"{stack}.ln_f.beta"] = layernorm_backward(d, x, p[f"{stack}.ln_f.gamma"])
        return d

    d = ln_f(d, x, "decoder")
    for i, (_, c) in [*enumerate(cache["down"][1:])][::-1]:
        d, more, g = _decoder_block_backward(d, c)
        dmemory = dmemory + more
        grads |= _to(g, f"decoder.{i}.")
    grads["W_target"] = embed_tokens_backward(d * scale, cache["target"], len(p["W_target"]))
    dmemory = ln_f(dmemory, cache["up"][-1][0], "encoder")
    for i, (_, c) in [*enumerate(cache["up"][1:])][::-1]:
        dmemory, g = block_backward(dmemory, c)
        grads |= _to(g, f"encoder.{i}.")
    return grads | {"W_source": embed_tokens_backward(dmemory * scale, cache["source"], len(p["W_source"]))}
