"""Every operation returns its value and a function that knows its way back; a layer chains these functions.

Masked scores get -1e9, and a query that may look at nothing is set to 0 afterwards.
"""

import math
from dataclasses import dataclass

import numpy as np
from embeddings import sinusoidal_positions


@dataclass(frozen=True)
class TransformerConfig:
    vocab_source: int
    vocab_target: int
    n_layers: int = 2
    n_heads: int = 4
    d_model: int = 64
    d_ff: int | None = None
    bias: bool = True

    def __post_init__(self):
        object.__setattr__(self, "d_ff", self.d_ff or 4 * self.d_model)


def init_transformer(config, rng):
    d, f, params = config.d_model, config.d_ff, {}

    def normal(n_in, n_out, std):
        return rng.normal(0.0, std, (n_in, n_out)).astype(np.float32)

    def layer(prefix, *attentions):
        for name in attentions:
            params[f"{prefix}{name}.W_qkv"] = normal(d, 3 * d, d**-0.5)
            params[f"{prefix}{name}.b_qkv"] = np.zeros(3 * d, np.float32)
            params[f"{prefix}{name}.W_o"] = normal(d, d, d**-0.5)
            params[f"{prefix}{name}.b_o"] = np.zeros(d, np.float32)
        params[f"{prefix}ffn.W_1"] = normal(d, f, d**-0.5)
        params[f"{prefix}ffn.b_1"] = np.zeros(f, np.float32)
        params[f"{prefix}ffn.W_2"] = normal(f, d, f**-0.5)
        params[f"{prefix}ffn.b_2"] = np.zeros(d, np.float32)
        for i in range(len(attentions) + 1):
            params[f"{prefix}ln{i + 1}.gamma"] = np.ones(d, np.float32)
            params[f"{prefix}ln{i + 1}.beta"] = np.zeros(d, np.float32)

    params["W_source"] = normal(config.vocab_source, d, d**-0.5)
    params["W_target"] = normal(config.vocab_target, d, d**-0.5)
    for i in range(config.n_layers):
        layer(f"encoder.{i}.", "attn")
    for i in range(config.n_layers):
        layer(f"decoder.{i}.", "attn", "source_attn")
    params["W_head"] = normal(d, config.vocab_target, d**-0.5)
    return {name: value for name, value in params.items() if config.bias or ".b_" not in name}


def _float(x):
    return np.asarray(x) if np.asarray(x).dtype.kind == "f" else np.asarray(x, dtype=float)


class _Grads(dict):
    def add(self, name, value):
        self[name] = self[name] + value if name in self else value


class _Scope:
    """Parameters below a prefix."""

    def __init__(self, params, prefix=""):
        self.params, self.prefix = params, prefix

    def __getitem__(self, name):
        return self.params[self.prefix + name]

    def __contains__(self, name):
        return self.prefix + name in self.params

    def below(self, name):
        return _Scope(self.params, f"{self.prefix}{name}.")


def _linear(x, p, W, b, columns=slice(None)):
    weight = p[W][:, columns]
    y = x @ weight
    if b in p:
        y = y + p[b][columns]

    def back(dy, grads):
        for name, d in ((W, np.tensordot(x, dy, [range(x.ndim - 1)] * 2)), (b, dy.sum(tuple(range(dy.ndim - 1))))):
            if name in p:
                whole = np.zeros(p[name].shape, d.dtype)
                whole[..., columns] = d
                grads.add(p.prefix + name, whole)
        return dy @ weight.T

    return y, back


def _norm(x, p, eps=1e-5):
    n = x.shape[-1]
    centred = x - x.sum(-1, keepdims=True) / n
    rstd = 1 / np.sqrt((centred**2).sum(-1, keepdims=True) / n + eps)
    normal = centred * rstd

    def back(dy, grads):
        grads.add(p.prefix + "gamma", (dy * normal).reshape(-1, n).sum(0))
        grads.add(p.prefix + "beta", dy.reshape(-1, n).sum(0))
        d = dy * p["gamma"]
        return rstd * (d - d.mean(-1, keepdims=True) - normal * (d * normal).mean(-1, keepdims=True))

    return normal * p["gamma"] + p["beta"], back


def _attend(x, memory, p, n_heads, mask):
    d = x.shape[-1]
    parts = [_linear(of, p, "W_qkv", "b_qkv", slice(i * d, i * d + d)) for i, of in enumerate((x, memory, memory))]

    def split(a):
        return np.moveaxis(a.reshape(*a.shape[:-1], n_heads, -1), -2, -3)

    def merge(a):
        return np.moveaxis(a, -3, -2).reshape(*a.shape[:-3], a.shape[-2], d)

    q, k, v = (split(value) for value, _ in parts)
    shrink = 1 / math.sqrt(d // n_heads)
    scores = q @ np.swapaxes(k, -1, -2) * shrink
    if mask is not None:
        scores = np.where(mask, scores, -1e9).astype(scores.dtype)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    if mask is not None:
        weights = weights * np.any(np.broadcast_to(mask, weights.shape), -1, keepdims=True)
    out, project_back = _linear(merge(weights @ v), p, "W_o", "b_o")

    def back(dout, grads):
        dheads = split(project_back(dout, grads))
        dweights = dheads @ np.swapaxes(v, -1, -2)
        dscores = weights * (dweights - (weights * dweights).sum(-1, keepdims=True)) * shrink
        inner = (dscores @ k, np.swapaxes(dscores, -1, -2) @ q, np.swapaxes(weights, -1, -2) @ dheads)
        dq, dk, dv = (part_back(merge(d), grads) for d, (_, part_back) in zip(inner, parts, strict=True))
        return dq, dk + dv

    return out, weights, back


def _mlp(x, p):
    hidden, first_back = _linear(x, p, "W_1", "b_1")
    out, second_back = _linear(np.maximum(hidden, 0), p, "W_2", "b_2")
    return out, lambda dout, grads: first_back(np.where(hidden > 0, second_back(dout, grads), 0), grads)


def _block(x, memory, p, n_heads, mask, source_mask):
    """Encoder and decoder in one: without a memory there is no second step."""
    stages, backs, number = {}, [], 0

    def close(x, out, branch_back, name):
        nonlocal number
        number += 1
        y, norm_back = _norm(x + out, p.below(f"ln{number}"))
        backs.append((norm_back, branch_back))
        stages[name] = y
        return y

    out, stages["weights"], self_back = _attend(x, x, p.below("attn"), n_heads, mask)
    x = close(x, out, lambda d, g: (sum(self_back(d, g)), 0), "after_attention")
    if memory is not None:
        out, stages["source_weights"], source_back = _attend(x, memory, p.below("source_attn"), n_heads, source_mask)
        x = close(x, out, source_back, "after_source_attention")
    out, mlp_back = _mlp(x, p.below("ffn"))
    x = close(x, out, lambda d, g: (mlp_back(d, g), 0), "after_ffn")

    def back(d, grads):
        dmemory = 0
        for norm_back, branch_back in backs[::-1]:
            d = norm_back(d, grads)
            dx, more = branch_back(d, grads)
            d, dmemory = d + dx, dmemory + more
        return d, dmemory

    return x, stages, back


def encoder_block(x, params, n_heads, mask=None):
    return _block(_float(x), None, _Scope(params), n_heads, mask, None)[:2]


def decoder_block(x, memory, params, n_heads, target_mask=None, source_mask=None):
    return _block(_float(x), _float(memory), _Scope(params), n_heads, target_mask, source_mask)[:2]


def _embed(ids, params, name):
    ids, table = np.asarray(ids), params[name]
    if ids.min(initial=0) < 0 or ids.max(initial=0) >= len(table):
        raise ValueError(f"an id is not below {len(table)}")
    scale = math.sqrt(table.shape[1])

    def back(dx, grads):
        d = np.zeros(table.shape, dx.dtype)
        np.add.at(d, ids, dx * scale)
        grads.add(name, d)

    return table[ids] * scale + sinusoidal_positions(ids.shape[-1], table.shape[1]).astype(table.dtype), back


def _stack(x, memory, params, config, side, mask, source_mask):
    backs, cache = [], {}
    for i in range(config.n_layers):
        x, stages, back = _block(x, memory, _Scope(params, f"{side}.{i}."), config.n_heads, mask, source_mask)
        backs.append(back)
        cache.update((f"{side}.{i}.{name}", stage) for name, stage in stages.items())
    return x, cache, backs


def _wide(keep):
    return None if keep is None else np.asarray(keep, dtype=bool)[..., np.newaxis, np.newaxis, :]


def encode(source, params, config, source_mask=None):
    x, embed_back = _embed(source, params, "W_source")
    memory, cache, backs = _stack(x, None, params, config, "encoder", _wide(source_mask), None)

    def back(d, grads):
        for one in backs[::-1]:
            d, _ = one(d, grads)
        embed_back(d, grads)

    return memory, {**cache, "source_embedded": x, "back": back}


def decode(target, memory, params, config, target_mask=None, source_mask=None):
    length = np.shape(target)[-1]
    mask = np.arange(length) <= np.arange(length)[:, None]
    if target_mask is not None:
        mask = np.logical_and(mask, _wide(target_mask))
    x, embed_back = _embed(target, params, "W_target")
    y, cache, backs = _stack(x, memory, params, config, "decoder", mask, _wide(source_mask))
    scores, head_back = _linear(y, _Scope(params), "W_head", "no bias")
    top = scores.max(-1, keepdims=True)
    log_probs = scores - top - np.log(np.exp(scores - top).sum(-1, keepdims=True))

    def back(d, grads):
        d, dmemory = head_back(d - np.exp(log_probs) * d.sum(-1, keepdims=True), grads), 0
        for one in backs[::-1]:
            d, more = one(d, grads)
            dmemory = dmemory + more
        embed_back(d, grads)
        return dmemory

    return log_probs, {**cache, "target_embedded": x, "back": back}


def transformer(source, target, params, config, source_mask=None, target_mask=None):
    memory, first = encode(source, params, config, source_mask)
    log_probs, second = decode(target, memory, params, config, target_mask, source_mask)
    backs = first.pop("back"), second.pop("back")
    return log_probs, {**first, **second, "memory": memory, "backs": backs}


def transformer_backward(dlog_probs, cache):
    grads, (encode_back, decode_back) = _Grads(), cache["backs"]
    encode_back(decode_back(dlog_probs, grads), grads)
    return dict(grads)


def greedy_decode(source, params, config, start, end, max_length, source_mask=None):
    batch = np.shape(source)[:-1]
    memory, _ = encode(source, params, config, source_mask)
    text = np.full((*batch, max_length + 1), start, dtype=np.int64)
    for t in range(max_length):  # everything is written to the end, and cut afterwards
        log_probs, _ = decode(text[..., : t + 1], memory, params, config, source_mask=source_mask)
        text[..., t + 1] = np.argmax(log_probs[..., t, :], axis=-1)
    text = text[..., 1:]
    ended = np.cumsum(text == end, axis=-1) - (text == end) > 0
    text[ended] = end
    return text[..., : int((~ended).sum(-1).max())]
