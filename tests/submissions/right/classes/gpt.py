"""A model is a list of layers; each keeps what its backward needs, and writes its gradients into one dictionary."""

import math

import numpy as np
from attention import causal_mask
from blocks import block, block_backward
from embeddings import embed, embed_tokens_backward
from ffn import linear, linear_backward
from layernorm import layernorm, layernorm_backward
from softmax import cross_entropy, cross_entropy_backward


class GPTConfig:
    def __init__(
        self, vocab_size, block_size, n_layers=4, n_heads=4, d_model=64, d_ff=None, activation="gelu", tied=True, bias=True
    ):
        self.__dict__.update(locals())
        self.d_ff = d_ff or 4 * d_model


class Initializer:
    def __init__(self, config, rng):
        self.config, self.rng, self.params = config, rng, {}

    def weight(self, name, *shape, scale=1.0):
        self.params[name] = self.rng.standard_normal(shape, dtype=np.float32) * np.float32(0.02 * scale)

    def bias(self, name, size):
        if self.config.bias:
            self.params[name] = np.zeros(size, dtype="f4")

    def norm(self, name):
        self.params.update({name + ".gamma": np.ones(self.config.d_model, "f4")})
        self.params.update({name + ".beta": np.zeros(self.config.d_model, "f4")})

    def run(self):
        c = self.config
        # Another order of the draws than that of the names: which numbers are drawn first is nobody's business.
        if not c.tied:
            self.weight("W_head", c.d_model, c.vocab_size)
        self.norm("ln_f")
        for i in range(c.n_layers):
            self.norm(f"blocks.{i}.ln1")
            self.norm(f"blocks.{i}.ln2")
            for name, n_in, n_out, scale in (
                ("attn.%s_qkv", c.d_model, 3 * c.d_model, 1.0),
                ("attn.%s_o", c.d_model, c.d_model, 1 / math.sqrt(2 * c.n_layers)),
                ("ffn.%s_1", c.d_model, c.d_ff, 1.0),
                ("ffn.%s_2", c.d_ff, c.d_model, 1 / math.sqrt(2 * c.n_layers)),
            ):
                self.weight(f"blocks.{i}." + name % "W", n_in, n_out, scale=scale)
                self.bias(f"blocks.{i}." + name % "b", n_out)
        self.weight("W_pos", c.block_size, c.d_model)
        self.weight("W_tok", c.vocab_size, c.d_model)
        return self.params


def init_gpt(config, rng):
    return Initializer(config, rng).run()


def count_parameters(params):
    return int(np.concatenate([np.ravel(value) for value in params.values()]).size)


class Embedding:
    stages = ("embedded",)

    def __init__(self, params):
        self.W_tok, self.W_pos = params["W_tok"], params["W_pos"]

    def forward(self, ids):
        self.ids = ids
        self.out = embed(ids, self.W_tok, self.W_pos)
        return self.out, {"embedded": self.out}

    def backward(self, dout, add):
        add("W_tok", embed_tokens_backward(dout, self.ids, len(self.W_tok)))
        dpos = np.zeros_like(self.W_pos)
        for text in dout.reshape(-1, *dout.shape[-2:]):
            dpos[: len(text)] += text
        add("W_pos", dpos)


class Block:
    def __init__(self, params, i, config):
        self.prefix, self.config = f"blocks.{i}.", config
        self.params = {k.removeprefix(self.prefix): v for k, v in params.items() if k.startswith(self.prefix)}

    def forward(self, x):
        mask = causal_mask(x.shape[-2])
        out, self.cache = block(x, self.params, self.config.n_heads, mask, activation=self.config.activation)
        return out, {self.prefix + s: self.cache[s] for s in ("weights", "after_attention", "after_ffn")}

    def backward(self, dout, add):
        dx, grads = block_backward(dout, self.cache)
        for name, value in grads.items():
            add(self.prefix + name, value)
        return dx


class FinalNorm:
    def __init__(self, params):
        self.gamma, self.beta = params["ln_f.gamma"], params["ln_f.beta"]

    def forward(self, x):
        self.x = x
        out = layernorm(x, self.gamma, self.beta)
        return out, {"final_norm": out}

    def backward(self, dout, add):
        dx, dgamma, dbeta = layernorm_backward(dout, self.x, self.gamma)
        add("ln_f.gamma", dgamma)
        add("ln_f.beta", dbeta)
        return dx


class Head:
    def __init__(self, params, config):
        self.tied = config.tied
        self.W = params["W_tok"].T if self.tied else params["W_head"]

    def forward(self, x):
        self.x = x
        return linear(x, self.W, None), {}

    def backward(self, dout, add):
        dx, dW, _ = linear_backward(dout, self.x, self.W)
        add(*(("W_tok", dW.T) if self.tied else ("W_head", dW)))
        return dx


class Model:
    def __init__(self, params, config):
        blocks = [Block(params, i, config) for i in range(config.n_layers)]
        self.layers = [Embedding(params), *blocks, FinalNorm(params), Head(params, config)]
        self.limit = config.block_size

    def forward(self, ids):
        if np.shape(ids)[-1] > self.limit:
            raise ValueError("does not fit")
        x, cache = np.asarray(ids), {}
        for layer in self.layers:
            x, stages = layer.forward(x)
            cache.update(stages)
        return x, cache

    def backward(self, dout):
        grads = {}

        def add(name, value):
            grads[name] = grads[name] + value if name in grads else value

        for layer in reversed(self.layers):
            dout = layer.backward(dout, add)
        return grads


def gpt(ids, params, config):
    return Model(params, config).forward(ids)


def gpt_loss(ids, targets, params, config):
    model = Model(params, config)
    logits, _ = model.forward(ids)
    return cross_entropy(logits, targets), model.backward(cross_entropy_backward(logits, targets))
