"""One text after another: nothing here knows of a batch. Gradients are summed over the texts."""

from dataclasses import dataclass

import numpy as np
from attention import causal_mask
from blocks import block, block_backward
from embeddings import sinusoidal_positions
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
    bias: object = True
    init_std: float = 0.02
    norm: str = "pre"
    positions: str = "learned"
    dropout: float = 0.0

    def __post_init__(self):
        if self.d_ff is None:
            object.__setattr__(self, "d_ff", 4 * self.d_model)
        if isinstance(self.bias, bool):
            object.__setattr__(self, "bias", "b_qkv b_o b_1 b_2" * self.bias)


def init_gpt(config, rng):
    params = {}
    d, f = config.d_model, config.d_ff

    def weight(name, rows, columns, std=config.init_std):
        matrix = np.empty((rows, columns), dtype=np.float32)
        for row in range(rows):
            matrix[row] = rng.normal(0, std, columns)
        params[name] = matrix

    def bias(name, size):
        if name.rpartition(".")[2] in config.bias:
            params[name] = np.zeros(size, dtype=np.float32)

    def norm(name):
        params[name + ".gamma"] = np.ones(d, dtype=np.float32)
        params[name + ".beta"] = np.zeros(d, dtype=np.float32)

    weight("W_tok", config.vocab_size, d)
    if config.positions == "learned":
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
    if config.norm == "pre":
        norm("ln_f")
    if not config.tied:
        weight("W_head", d, config.vocab_size)
    bias("b_head", config.vocab_size)
    return params


def count_parameters(params):
    count = 0
    for name in params:
        size = 1
        for n in params[name].shape:
            size *= n
        count += size
    return count


class _Drawn:
    """The part of one text of what a generator has drawn for all of them."""

    def __init__(self, values):
        self.values, self.used = values, 0

    def random(self, shape=()):
        start, self.used = self.used, self.used + int(np.prod(shape))
        return self.values[start : self.used].reshape(shape)


def _drawn_for_each(shape, config, rng):
    count = int(np.prod(shape[:-1]))
    if rng is None or config.dropout == 0:
        return [None] * count
    draws = [rng.random((*shape, config.d_model)) for _ in range(2 * config.n_layers + 1)]
    return [_Drawn(np.concatenate([draw.reshape(count, -1)[text] for draw in draws])) for text in range(count)]


def _one_text(ids, params, config, rng):
    if len(ids) > config.block_size:
        raise ValueError("the text is longer than the block size")
    table = params.get("W_pos")
    if table is None:
        table = sinusoidal_positions(len(ids), config.d_model).astype(params["W_tok"].dtype)
    rows = []
    for position, token in enumerate(ids):
        if not 0 <= token < config.vocab_size:
            raise ValueError(f"there is no token {token}")
        rows.append(params["W_tok"][token] + table[position])
    x = np.stack(rows)
    mask = np.ones_like(x)
    if rng is not None:
        mask[rng.random(x.shape) < config.dropout] = 0
        mask /= 1 - config.dropout
    x = x * mask
    cache = {"embedded": x, "private": [], "mask": mask}
    for i in range(config.n_layers):
        start = f"blocks.{i}."
        mine = {}
        for name in params:
            if name.startswith(start):
                mine[name[len(start) :]] = params[name]
        x, inner = block(
            x, mine, config.n_heads, causal_mask(len(ids)), config.norm, config.activation, config.dropout, rng
        )
        cache["private"].append(inner)
        cache[start + "weights"] = inner["weights"]
        cache[start + "after_attention"] = inner["after_attention"]
        cache[start + "after_ffn"] = inner["after_ffn"]
    cache["final_norm"] = x
    if config.norm == "pre":
        cache["final_norm"] = layernorm(x, params["ln_f.gamma"], params["ln_f.beta"])
    if config.tied:
        logits = np.stack([params["W_tok"] @ vector for vector in cache["final_norm"]])
    else:
        logits = np.stack([vector @ params["W_head"] for vector in cache["final_norm"]])
    for row in logits:
        if "b_head" in config.bias:
            row += params["b_head"]
    return logits, cache


def gpt(ids, params, config, rng=None):
    ids = np.asarray(ids)
    texts = ids.reshape(-1, ids.shape[-1])
    drawn = _drawn_for_each(ids.shape, config, rng)
    results = [_one_text(text, params, config, part) for text, part in zip(texts, drawn)]
    cache = {}
    for name, value in results[0][1].items():
        if name != "private":
            cache[name] = np.stack([part[name] for _, part in results]).reshape(*ids.shape[:-1], *value.shape)
    return np.stack([logits for logits, _ in results]).reshape(*ids.shape, -1), cache


def gpt_loss(ids, targets, params, config, rng=None):
    ids = np.asarray(ids)
    texts, goals = ids.reshape(-1, ids.shape[-1]), np.asarray(targets).reshape(-1, ids.shape[-1])
    grads = {name: np.zeros_like(value) for name, value in params.items()}
    total = 0.0
    for text, goal, drawn in zip(texts, goals, _drawn_for_each(ids.shape, config, rng)):
        logits, cache = _one_text(text, params, config, drawn)
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
            if "b_head" in config.bias:
                grads["b_head"] += dlogits[t]
            if config.tied:
                grads["W_tok"] += dlogits[t][:, None] * cache["final_norm"][t][None, :]
                dfinal[t] = dlogits[t] @ params["W_tok"]
            else:
                grads["W_head"] += cache["final_norm"][t][:, None] * dlogits[t][None, :]
                dfinal[t] = params["W_head"] @ dlogits[t]
        dx = dfinal
        if config.norm == "pre":
            before = cache[f"blocks.{config.n_layers - 1}.after_ffn"]
            dx, dgamma, dbeta = layernorm_backward(dfinal, before, params["ln_f.gamma"])
            grads["ln_f.gamma"] += dgamma
            grads["ln_f.beta"] += dbeta
        for i in range(config.n_layers - 1, -1, -1):
            dx, inner = block_backward(dx, cache["private"][i])
            for name, value in inner.items():
                grads[f"blocks.{i}.{name}"] += value
        dx = dx * cache["mask"]
        for t, token in enumerate(text):
            grads["W_tok"][token] += dx[t]
            if config.positions == "learned":
                grads["W_pos"][t] += dx[t]
    return total / ids.size, grads
