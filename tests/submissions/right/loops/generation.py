"""Row by row with Python's own lists and sorting; the cache holds plain lists of keys and values."""

import math

import numpy as np
from embeddings import sinusoidal_positions
from ffn import ffn
from gpt import gpt
from layernorm import layernorm


def _row(logits, temperature, top_k, top_p):
    ranked = sorted(range(len(logits)), key=lambda i: -logits[i])  # Python's sort is stable
    if temperature == 0:
        ranked = ranked[:1]
        return {ranked[0]: 1.0}
    if top_k is not None:
        ranked = ranked[:top_k]
    weights = [math.exp((logits[i] - logits[ranked[0]]) / temperature) for i in ranked]
    total = sum(weights)
    weights = [w / total for w in weights]
    if top_p is not None and top_p != 1:
        mass, count = 0.0, 0
        while count < len(weights) and mass < top_p:
            mass += weights[count]
            count += 1
        weights, ranked = weights[:count], ranked[:count]
    total = sum(weights)
    return {i: w / total for i, w in zip(ranked, weights)}


def next_token_probs(logits, temperature=1.0, top_k=None, top_p=None):
    if temperature < 0 or (top_k is not None and top_k < 1) or (top_p is not None and not 0 < top_p <= 1):
        raise ValueError("impossible")
    logits = np.asarray(logits)
    probs = np.zeros(logits.shape, dtype=logits.dtype if logits.dtype.kind == "f" else float)
    for where in np.ndindex(logits.shape[:-1]):
        for token, p in _row([float(score) for score in logits[where]], temperature, top_k, top_p).items():
            probs[(*where, token)] = p
    return probs


def sample(probs, rng):
    probs = np.asarray(probs, dtype=float)
    tokens = np.empty(probs.shape[:-1], dtype=np.int64)
    for where in np.ndindex(tokens.shape):
        row = probs[where]
        if not row.sum() > 0:
            raise ValueError("nothing to draw")
        tokens[where] = rng.choice(len(row), p=row / row.sum())
    return tokens


def _generate(ids, config, n_new, scores, rng, options):
    ids = np.asarray(ids)
    if ids.shape[-1] == 0 or n_new < 0:
        raise ValueError("an empty prompt, or a negative number of tokens")
    flat = ids.reshape(-1, ids.shape[-1])
    texts = [[int(i) for i in row] for row in flat]
    memories = [{} for _ in texts]
    for _ in range(n_new):
        logits = np.stack([scores(text[-config.block_size :], len(text), memory) for text, memory in zip(texts, memories)])
        for text, token in zip(texts, sample(next_token_probs(logits, *options), rng)):
            text.append(int(token))
    return np.array(texts, dtype=np.int64).reshape(*ids.shape[:-1], -1)


def generate(ids, params, config, n_new, rng, temperature=1.0, top_k=None, top_p=None):
    def scores(context, length, memory):
        return gpt(np.array([context]), params, config)[0][0, -1]

    return _generate(ids, config, n_new, scores, rng, (temperature, top_k, top_p))


def _position(position, params, config):
    if config.positions == "learned":
        return params["W_pos"][position]
    return sinusoidal_positions(position + 1, config.d_model)[position].astype(params["W_tok"].dtype)


def _advance(token, position, params, config, keys, values):
    """One token at one position, of one text: the prompt is read token by token too."""
    size = config.d_model // config.n_heads
    x = params["W_tok"][token] + _position(position, params, config)

    def norm(x, p, name, form):
        return layernorm(x, p[name + ".gamma"], p[name + ".beta"]) if config.norm == form else x

    for i in range(config.n_layers):
        p = {k[len(f"blocks.{i}.") :]: v for k, v in params.items() if k.startswith(f"blocks.{i}.")}
        a = norm(x, p, "ln1", "pre")
        qkv = a @ p["attn.W_qkv"]
        if "attn.b_qkv" in p:
            qkv = qkv + p["attn.b_qkv"]
        q, k, v = qkv[: config.d_model], qkv[config.d_model : 2 * config.d_model], qkv[2 * config.d_model :]
        keys.setdefault(i, []).append(k)
        values.setdefault(i, []).append(v)
        heads = []
        for h in range(config.n_heads):
            part = slice(h * size, (h + 1) * size)
            scores = np.array([q[part] @ old[part] for old in keys[i]]) / math.sqrt(size)
            weights = np.exp(scores - scores.max())
            weights /= weights.sum()
            heads.append(sum(w * old[part] for w, old in zip(weights, values[i])))
        x = norm(x + np.concatenate(heads) @ p["attn.W_o"] + p.get("attn.b_o", 0), p, "ln1", "post")
        inner = {k[4:]: v for k, v in p.items() if k.startswith("ffn.")}
        x = norm(x + ffn(norm(x, p, "ln2", "pre")[None], inner, config.activation)[0][0], p, "ln2", "post")
    x = norm(x, params, "ln_f", "pre")
    return (params["W_tok"] @ x if config.tied else x @ params["W_head"]) + params.get("b_head", 0)


def generate_cached(ids, params, config, n_new, rng, temperature=1.0, top_k=None, top_p=None):
    def scores(context, length, memory):
        if length > config.block_size or "keys" not in memory:
            memory.update(keys={}, values={}, done=0)
        for position in range(memory["done"], len(context)):
            logits = _advance(context[position], position, params, config, memory["keys"], memory["values"])
        memory["done"] = len(context)
        return logits

    return _generate(ids, config, n_new, scores, rng, (temperature, top_k, top_p))
