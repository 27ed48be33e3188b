"""One pair of texts at a time; the gradients of the pairs are added up."""

import math
from dataclasses import dataclass

import numpy as np
from embeddings import embed_tokens, embed_tokens_backward, sinusoidal_positions
from ffn import ffn, ffn_backward
from layernorm import layernorm, layernorm_backward
from multihead import multihead_attention, multihead_attention_backward
from softmax import log_softmax


@dataclass(frozen=True)
class TransformerConfig:
    vocab_source: int
    vocab_target: int
    n_layers: int = 2
    n_heads: int = 4
    d_model: int = 64
    d_ff: int | None = None
    bias: bool = True
    norm: str = "post"
    head_bias: bool = False

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
    if config.norm == "pre":
        for stack in ("encoder", "decoder"):
            params[f"{stack}.ln_f.gamma"], params[f"{stack}.ln_f.beta"] = np.ones(d, np.float32), np.zeros(d, np.float32)
    params["W_head"] = normal(d, config.vocab_target, d**-0.5)
    if config.head_bias:
        params["b_head"] = np.zeros(config.vocab_target, np.float32)
    return {name: value for name, value in params.items() if config.bias or ".b_" not in name}


def _below(params, prefix):
    found = {}
    for name in params:
        if name.startswith(prefix):
            found[name[len(prefix) :]] = params[name]
    return found


def _float(x):
    x = np.asarray(x)
    return x if x.dtype in (np.float32, np.float64) else x.astype(np.float64)


def _step(x, params, part, number, norm, compute):
    """A step of a block: `compute` returns values and a cache; what the way back needs comes with the result."""
    gamma, beta = params[f"ln{number}.gamma"], params[f"ln{number}.beta"]
    out, cache = compute(layernorm(x, gamma, beta) if norm == "pre" else x, _below(params, part + "."))
    total = x + out
    if norm == "pre":
        return total, (part, number, x, gamma, cache, norm)
    return layernorm(total, gamma, beta), (part, number, total, gamma, cache, norm)


def _attention_step(x, params, part, number, norm, n_heads, mask, memory=None):
    attend = lambda inputs, own: multihead_attention(inputs, own, n_heads, mask, memory)
    out, step = _step(x, params, part, number, norm, attend)
    return out, step[4]["weights"], step


def _ffn_step(x, params, number, norm):
    return _step(x, params, "ffn", number, norm, lambda inputs, own: ffn(inputs, own, "relu"))


def _step_backward(dout, step, grads):
    part, number, normed, gamma, cache, norm = step
    dtotal, dmemory = dout, []
    if norm == "post":
        dtotal, grads[f"ln{number}.gamma"], grads[f"ln{number}.beta"] = layernorm_backward(dout, normed, gamma)
    if part == "ffn":
        dx, mine = ffn_backward(dtotal, cache)
    else:
        dx, mine, *dmemory = multihead_attention_backward(dtotal, cache)
    for name in mine:
        grads[f"{part}.{name}"] = mine[name]
    if norm == "pre":
        dx, grads[f"ln{number}.gamma"], grads[f"ln{number}.beta"] = layernorm_backward(dx, normed, gamma)
    return dtotal + dx, dmemory


def _layers_backward(dx, layers, stack, grads):
    """Back through all layers of a stack; also what each added to the gradient of the memory."""
    dmemory = []
    for i in range(len(layers) - 1, -1, -1):
        mine = {}
        for step in layers[i][::-1]:
            dx, more = _step_backward(dx, step, mine)
            dmemory += more
        for name in mine:
            grads[f"{stack}.{i}.{name}"] = mine[name]
    return dx, dmemory


def _known(norm):
    if norm != "pre" and norm != "post":
        raise ValueError("no such norm")
    return norm


def _encoder_one(x, params, n_heads, mask, norm):
    a, weights, step1 = _attention_step(x, params, "attn", 1, _known(norm), n_heads, mask)
    y, step2 = _ffn_step(a, params, 2, norm)
    return y, {"weights": weights, "after_attention": a, "after_ffn": y, "steps": [step1, step2]}


def _decoder_one(x, memory, params, n_heads, target_mask, source_mask, norm):
    a, weights, step1 = _attention_step(x, params, "attn", 1, _known(norm), n_heads, target_mask)
    b, source_weights, step2 = _attention_step(a, params, "source_attn", 2, norm, n_heads, source_mask, memory)
    y, step3 = _ffn_step(b, params, 3, norm)
    cache = {"weights": weights, "source_weights": source_weights, "after_attention": a}
    cache.update({"after_source_attention": b, "after_ffn": y, "steps": [step1, step2, step3]})
    return y, cache


def _each(mask, batch, shape):
    """The mask of every text of the batch."""
    if mask is None:
        return [None] * math.prod(batch)
    return list(np.broadcast_to(mask, (*batch, *shape)).reshape(-1, *shape))


def _together(caches, batch):
    """Caches of single texts, stacked."""
    found = {"texts": caches}
    for name in caches[0]:
        if isinstance(caches[0][name], np.ndarray):
            stacked = np.stack([cache[name] for cache in caches])
            found[name] = stacked.reshape(*batch, *stacked.shape[1:])
    return found


def encoder_block(x, params, n_heads, mask=None, norm="post"):
    x = _float(x)
    batch, length = x.shape[:-2], x.shape[-2]
    caches = []
    for one, m in zip(x.reshape(-1, *x.shape[-2:]), _each(mask, batch, (n_heads, length, length)), strict=True):
        caches.append(_encoder_one(one, params, n_heads, m, norm)[1])
    cache = _together(caches, batch)
    return cache["after_ffn"], cache


def decoder_block(x, memory, params, n_heads, target_mask=None, source_mask=None, norm="post"):
    x, memory = _float(x), _float(memory)
    batch, length, n_keys = x.shape[:-2], x.shape[-2], memory.shape[-2]
    caches = []
    for one, its_memory, m, s in zip(
        x.reshape(-1, *x.shape[-2:]), memory.reshape(-1, *memory.shape[-2:]),
        _each(target_mask, batch, (n_heads, length, length)), _each(source_mask, batch, (n_heads, length, n_keys)),
        strict=True,
    ):
        caches.append(_decoder_one(one, its_memory, params, n_heads, m, s, norm)[1])
    cache = _together(caches, batch)
    return cache["after_ffn"], cache


def _embedded(ids, table):
    table = _float(table)
    x = embed_tokens(ids, table) * math.sqrt(table.shape[1])
    positions = sinusoidal_positions(len(ids), table.shape[1])
    for t in range(len(ids)):
        x[t] = x[t] + positions[t]
    return x


def _encode_one(source, params, config, keep):
    x = _embedded(source, params["W_source"])
    cache = {"ids": source, "source_embedded": x, "layers": []}
    mask = None if keep is None else np.array([keep] * len(source))
    for i in range(config.n_layers):
        x, layer = _encoder_one(x, _below(params, f"encoder.{i}."), config.n_heads, mask, config.norm)
        cache["layers"].append(layer["steps"])
        for name in ("weights", "after_attention", "after_ffn"):
            cache[f"encoder.{i}.{name}"] = layer[name]
    cache["memory"] = x
    if config.norm == "pre":
        cache["before"] = x
        cache["memory"] = layernorm(x, params["encoder.ln_f.gamma"], params["encoder.ln_f.beta"])
    return cache


def _decode_one(target, memory, params, config, keep, source_keep):
    x = _embedded(target, params["W_target"])
    length = len(target)
    mask = np.zeros((length, length), dtype=bool)
    for query in range(length):
        for key in range(query + 1):
            mask[query, key] = keep is None or keep[key]
    source_mask = None if source_keep is None else np.array([source_keep] * length)
    cache = {"ids": target, "target_embedded": x, "layers": []}
    for i in range(config.n_layers):
        x, layer = _decoder_one(x, memory, _below(params, f"decoder.{i}."), config.n_heads, mask, source_mask, config.norm)
        cache["layers"].append(layer["steps"])
        for name in layer:
            if name != "steps":
                cache[f"decoder.{i}.{name}"] = layer[name]
    cache["unnormed"] = x
    if config.norm == "pre":
        x = layernorm(x, params["decoder.ln_f.gamma"], params["decoder.ln_f.beta"])
    cache["decoded"] = x
    scores = x @ _float(params["W_head"])
    if config.head_bias:
        scores = scores + params["b_head"]
    cache["log_probs"] = log_softmax(scores)
    return cache


def encode(source, params, config, source_mask=None):
    source = np.asarray(source)
    batch, length = source.shape[:-1], source.shape[-1]
    caches = []
    for ids, keep in zip(source.reshape(-1, length), _each(source_mask, batch, (length,)), strict=True):
        caches.append(_encode_one(ids, params, config, keep))
    cache = _together(caches, batch)
    return cache["memory"], cache


def decode(target, memory, params, config, target_mask=None, source_mask=None):
    target, memory = np.asarray(target), _float(memory)
    batch, length = target.shape[:-1], target.shape[-1]
    caches = []
    for ids, its_memory, keep, source_keep in zip(
        target.reshape(-1, length), memory.reshape(-1, *memory.shape[-2:]), _each(target_mask, batch, (length,)),
        _each(source_mask, batch, (memory.shape[-2],)), strict=True,
    ):
        caches.append(_decode_one(ids, its_memory, params, config, keep, source_keep))
    cache = _together(caches, batch)
    return cache["log_probs"], cache


def transformer(source, target, params, config, source_mask=None, target_mask=None):
    memory, encoded = encode(source, params, config, source_mask)
    log_probs, decoded = decode(target, memory, params, config, target_mask, source_mask)
    cache = {**encoded, **decoded, "memory": memory, "params": params, "config": config}
    cache["pairs"] = list(zip(encoded["texts"], decoded["texts"], strict=True))
    return log_probs, cache


def greedy_decode(source, params, config, start, end, max_length, source_mask=None):
    source = np.asarray(source)
    batch, length = source.shape[:-1], source.shape[-1]
    texts = []
    for ids, keep in zip(source.reshape(-1, length), _each(source_mask, batch, (length,)), strict=True):
        memory = _encode_one(ids, params, config, keep)["memory"]
        text = [start]
        while len(text) <= max_length:
            scores = _decode_one(np.array(text), memory, params, config, None, keep)["log_probs"][-1]
            best = 0
            for token in range(1, len(scores)):
                if scores[token] > scores[best]:
                    best = token
            text.append(best)
            if best == end:
                break
        texts.append(text[1:])
    longest = max(len(text) for text in texts)
    filled = [text + [end] * (longest - len(text)) for text in texts]
    return np.array(filled, dtype=np.int64).reshape(*batch, longest)


def _pair_backward(dlog_probs, encoded, decoded, params, config):
    grads = {}
    log_probs = decoded["log_probs"]
    dscores = np.zeros_like(log_probs)
    for t in range(len(log_probs)):
        dscores[t] = dlog_probs[t] - np.exp(log_probs[t]) * dlog_probs[t].sum()
    W_head = _float(params["W_head"])
    grads["W_head"] = decoded["decoded"].T @ dscores
    if config.head_bias:
        grads["b_head"] = dscores.sum(axis=0)
    dx = dscores @ W_head.T
    if config.norm == "pre":
        gamma = params["decoder.ln_f.gamma"]
        dx, grads["decoder.ln_f.gamma"], grads["decoder.ln_f.beta"] = layernorm_backward(dx, decoded["unnormed"], gamma)
    scale = math.sqrt(W_head.shape[0])

    dx, dmemory = _layers_backward(dx, decoded["layers"], "decoder", grads)
    grads["W_target"] = embed_tokens_backward(dx * scale, decoded["ids"], len(params["W_target"]))

    dx = sum(dmemory, np.zeros_like(encoded["memory"]))
    if config.norm == "pre":
        gamma = params["encoder.ln_f.gamma"]
        dx, grads["encoder.ln_f.gamma"], grads["encoder.ln_f.beta"] = layernorm_backward(dx, encoded["before"], gamma)
    dx, _ = _layers_backward(dx, encoded["layers"], "encoder", grads)
    grads["W_source"] = embed_tokens_backward(dx * scale, encoded["ids"], len(params["W_source"]))
    return grads


def transformer_backward(dlog_probs, cache):
    dlog_probs = _float(dlog_probs)
    total = {}
    for d, (encoded, decoded) in zip(dlog_probs.reshape(-1, *dlog_probs.shape[-2:]), cache["pairs"], strict=True):
        grads = _pair_backward(d, encoded, decoded, cache["params"], cache["config"])
        for name in grads:
            total[name] = total[name] + grads[name] if name in total else grads[name]
    return total
