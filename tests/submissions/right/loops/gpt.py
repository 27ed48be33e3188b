"""One text after another: nothing here knows of a batch. Gradients are summed over the texts."""

from dataclasses import dataclass

import numpy as np
from attention import causal_mask
from blocks import block, block_backward
from layernorm import layernorm, layernorm_backward


@dataclass(frozen=True)
class GPTConfig:
    vocab_size: int
    block_size: int
    n_layers: int = 4
    n_heads: int = 4
    d_model: int = 64
    d_ff: int | None = None
    activation: str = "gelu"
    tied: bool = True
    bias: bool = True
    init_std: float = 0.02

    def __post_init__(self):
        if self.d_ff is None:
            object.__setattr__(self, "d_ff", 4 * self.d_model)


def init_gpt(config, rng):
    params = {}
    d, f = config.d_model, config.d_ff

    def weight(name, rows, columns, std=config.init_std):
        matrix = np.empty((rows, columns), dtype=np.float32)
        for row in range(rows):
            matrix[row] = rng.normal(0, std, columns)
        params[name] = matrix

    def bias(name, size):
        if config.bias:
            params[name] = np.zeros(size, dtype=np.float32)

    def norm(name):
        params[name + ".gamma"] = np.ones(d, dtype=np.float32)
        params[name + ".beta"] = np.zeros(d, dtype=np.float32)

    weight("W_tok", config.vocab_size, d)
    weight("W_pos", config.block_size, d)
    for i in range(config.n_layers):
        small = config.init_std / np.sqrt(2 * config.n_layers)
        norm(f"blocks.{i}.ln1")
        weight(f"blocks.{i}.attn.W_qkv", d, 3 * d)
        bias(f"blocks.{i}.attn.b_qkv", 3 * d)
        weight(f"blocks.{i}.attn.W_o", d, d, small)
        bias(f"blocks.{i}.attn.b_o", d)
        norm(f"blocks.{i}.ln2")
        weight(f"blocks.{i}.ffn.W_1", d, f)
        bias(f"blocks.{i}.ffn.b_1", f)
        weight(f"blocks.{i}.ffn.W_2", f, d, small)
        bias(f"blocks.{i}.ffn.b_2", d)
    norm("ln_f")
    if not config.tied:
        weight("W_head", d, config.vocab_size)
    return params


def count_parameters(params):
    count = 0
    for name in params:
        size = 1
        for n in params[name].shape:
            size *= n
        count += size
    return count


def _one_text(ids, params, config):
    if len(ids) > config.block_size:
        raise ValueError("the text is longer than the block size")
    rows = []
    for position, token in enumerate(ids):
        if not 0 <= token < config.vocab_size:
            raise ValueError(f"there is no token {token}")
        rows.append(params["W_tok"][token] + params["W_pos"][position])
    x = np.stack(rows)
    cache = {"embedded": x, "private": []}
    for i in range(config.n_layers):
        start = f"blocks.{i}."
        mine = {}
        for name in params:
            if name.startswith(start):
                mine[name[len(start) :]] = params[name]
        x, inner = block(x, mine, config.n_heads, causal_mask(len(ids)), activation=config.activation)
        cache["private"].append(inner)
        cache[start + "weights"] = inner["weights"]
        cache[start + "after_attention"] = inner["after_attention"]
        cache[start + "after_ffn"] = inner["after_ffn"]
    cache["final_norm"] = layernorm(x, params["ln_f.gamma"], params["ln_f.beta"])
    if config.tied:
        logits = np.stack([params["W_tok"] @ vector for vector in cache["final_norm"]])
    else:
        logits = np.stack([vector @ params["W_head"] for vector in cache["final_norm"]])
    return logits, cache


def gpt(ids, params, config):
    ids = np.asarray(ids)
    if ids.ndim == 1:
        return _one_text(ids, params, config)
    results = [gpt(part, params, config) for part in ids]
    cache = {}
    for name in results[0][1]:
        if name != "private":
            cache[name] = np.stack([part[name] for _, part in results])
    return np.stack([logits for logits, _ in results]), cache


def gpt_loss(ids, targets, params, config):
    ids = np.asarray(ids)
    texts, goals = ids.reshape(-1, ids.shape[-1]), np.asarray(targets).reshape(-1, ids.shape[-1])
    grads = {name: np.zeros_like(value) for name, value in params.items()}
    total = 0.0
    for text, goal in zip(texts, goals):
        logits, cache = _one_text(text, params, config)
        dlogits = np.empty_like(logits)
        for t, right in enumerate(goal):
            row = logits[t] - logits[t].max()
            exp = np.exp(row)
            total += float(np.log(exp.sum()) - row[right])
            dlogits[t] = exp / exp.sum()
            dlogits[t, right] -= 1
        dlogits /= ids.size
        dfinal = np.empty_like(cache["final_norm"])
        for t in range(len(text)):
            if config.tied:
                grads["W_tok"] += dlogits[t][:, None] * cache["final_norm"][t][None, :]
                dfinal[t] = dlogits[t] @ params["W_tok"]
            else:
                grads["W_head"] += cache["final_norm"][t][:, None] * dlogits[t][None, :]
                dfinal[t] = params["W_head"] @ dlogits[t]
        before = cache[f"blocks.{config.n_layers - 1}.after_ffn"]
        dx, dgamma, dbeta = layernorm_backward(dfinal, before, params["ln_f.gamma"])
        grads["ln_f.gamma"] += dgamma
        grads["ln_f.beta"] += dbeta
        for i in range(config.n_layers - 1, -1, -1):
            dx, inner = block_backward(dx, cache["private"][i])
            for name, value in inner.items():
                grads[f"blocks.{i}.{name}"] += value
        for t, token in enumerate(text):
            grads["W_tok"][token] += dx[t]
            grads["W_pos"][t] += dx[t]
    return total / ids.size, grads
