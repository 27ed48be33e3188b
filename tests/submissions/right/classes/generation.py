"""A sampler object with a chain of filters on the scores (-inf for what goes), and a decoder that owns the cache."""

import numpy as np
from ffn import ffn
from gpt import gpt
from layernorm import layernorm
from multihead import merge_heads, split_heads
from softmax import as_float, softmax


class Temperature:
    def __init__(self, value):
        if value < 0:
            raise ValueError("temperature < 0")
        self.value = value

    def __call__(self, scores):
        return scores / self.value


class TopK:
    def __init__(self, k):
        if k < 1:
            raise ValueError("top_k < 1")
        self.k = k

    def __call__(self, scores):
        rank = np.argsort(np.argsort(-scores, axis=-1, kind="stable"), axis=-1, kind="stable")
        return np.where(rank < self.k, scores, -np.inf).astype(scores.dtype)


class TopP:
    def __init__(self, p):
        if not 0 < p <= 1:
            raise ValueError("top_p outside of (0, 1]")
        self.p = p

    def __call__(self, scores):
        if self.p == 1:
            return scores
        order = np.argsort(-scores, axis=-1, kind="stable")
        probs = np.take_along_axis(softmax(scores.astype(np.float64)), order, axis=-1)
        before = np.concatenate([np.zeros_like(probs[..., :1]), np.cumsum(probs, axis=-1)[..., :-1]], axis=-1)
        scores = scores.copy()
        np.put_along_axis(
            scores, order, np.where(before < self.p, np.take_along_axis(scores, order, axis=-1), -np.inf), axis=-1
        )
        return scores


class Sampler:
    def __init__(self, temperature=1.0, top_k=None, top_p=None):
        self.filters = [Temperature(temperature)]
        if top_k is not None:
            self.filters.append(TopK(top_k))
        if top_p is not None:
            self.filters.append(TopP(top_p))
        if temperature == 0:
            self.filters = [TopK(1)]

    def probs(self, logits):
        scores = as_float(logits)
        for one in self.filters:
            scores = one(scores)
        return softmax(scores)

    def __call__(self, logits, rng):
        return sample(self.probs(logits), rng)


def next_token_probs(logits, temperature=1.0, top_k=None, top_p=None):
    return Sampler(temperature, top_k, top_p).probs(logits)


def sample(probs, rng):
    """Exponential clocks: the one that rings first has won; those of probability 0 never ring."""
    probs = np.asarray(probs, dtype=np.float64)
    if not (probs.sum(axis=-1) > 0).all():
        raise ValueError("not a distribution")
    with np.errstate(divide="ignore"):
        rings = rng.exponential(size=probs.shape) / probs
    return np.asarray(rings.argmin(axis=-1), dtype=np.int64)[()]


class Plain:
    def __init__(self, params, config):
        self.params, self.config = params, config

    def logits(self, ids):
        window = ids[..., -self.config.block_size :]
        return gpt(window, self.params, self.config)[0][..., -1, :]


class Layer:
    def __init__(self, params, i, config):
        self.p = {k.removeprefix(f"blocks.{i}."): v for k, v in params.items() if k.startswith(f"blocks.{i}.")}
        self.config, self.keys, self.values = config, None, None

    def forward(self, x):
        p, n, d = self.p, self.config.n_heads, self.config.d_model
        qkv = layernorm(x, p["ln1.gamma"], p["ln1.beta"]) @ p["attn.W_qkv"] + p.get("attn.b_qkv", 0)
        q, k, v = (split_heads(qkv[..., i * d : (i + 1) * d], n) for i in range(3))
        self.keys = k if self.keys is None else np.concatenate([self.keys, k], axis=-2)
        self.values = v if self.values is None else np.concatenate([self.values, v], axis=-2)
        scores = q @ self.keys.swapaxes(-1, -2) / (d // n) ** 0.5
        new, old = scores.shape[-2:]
        scores = np.where(np.arange(old) <= np.arange(old - new, old)[:, None], scores, -1e9)
        x = x + merge_heads(softmax(scores) @ self.values) @ p["attn.W_o"] + p.get("attn.b_o", 0)
        inner = {k[4:]: v for k, v in p.items() if k.startswith("ffn.")}
        return x + ffn(layernorm(x, p["ln2.gamma"], p["ln2.beta"]), inner, self.config.activation)[0]


class Cached(Plain):
    position = None

    def logits(self, ids):
        if self.position is None or self.position == self.config.block_size:
            self.layers = [Layer(self.params, i, self.config) for i in range(self.config.n_layers)]
            self.position, new = 0, ids[..., -self.config.block_size :]
        else:
            new = ids[..., -1:]
        end = self.position + new.shape[-1]
        x = self.params["W_tok"][new] + self.params["W_pos"][self.position : end]
        self.position = end
        for layer in self.layers:
            x = layer.forward(x)
        x = layernorm(x[..., -1, :], self.params["ln_f.gamma"], self.params["ln_f.beta"])
        return x @ (self.params["W_head"] if "W_head" in self.params else self.params["W_tok"].T)


def _write(model, sampler, ids, n_new, rng):
    ids = np.asarray(ids).astype(np.int64)
    if not ids.shape[-1] or n_new < 0:
        raise ValueError("no prompt, or a negative length")
    for _ in range(n_new):
        ids = np.append(ids, sampler(model.logits(ids), rng)[..., None], axis=-1)
    return ids


def generate(ids, params, config, n_new, rng, temperature=1.0, top_k=None, top_p=None):
    return _write(Plain(params, config), Sampler(temperature, top_k, top_p), ids, n_new, rng)


def generate_cached(ids, params, config, n_new, rng, temperature=1.0, top_k=None, top_p=None):
    return _write(Cached(params, config), Sampler(temperature, top_k, top_p), ids, n_new, rng)
