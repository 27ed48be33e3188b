"""A block is a chain of two objects: a step wraps a part, and knows where its norm stands."""

import numpy as np
from ffn import ffn, ffn_backward
from layernorm import layernorm, layernorm_backward
from multihead import multihead_attention, multihead_attention_backward


class Norm:
    def __init__(self, params, prefix):
        self.prefix, self.gamma, self.beta = prefix, params[prefix + ".gamma"], params[prefix + ".beta"]

    def forward(self, x):
        self.x = x
        return layernorm(x, self.gamma, self.beta)

    def backward(self, dout, grads):
        dx, grads[self.prefix + ".gamma"], grads[self.prefix + ".beta"] = layernorm_backward(dout, self.x, self.gamma)
        return dx


class Attention:
    def __init__(self, params, n_heads, mask):
        self.options = {k[5:]: v for k, v in params.items() if k.startswith("attn.")}, n_heads, mask

    def forward(self, x):
        out, self.cache = multihead_attention(x, *self.options)
        return out

    def backward(self, dout, grads):
        dx, mine = multihead_attention_backward(dout, self.cache)
        grads.update(("attn." + name, value) for name, value in mine.items())
        return dx


class FeedForward:
    def __init__(self, params, activation):
        self.options = {k[4:]: v for k, v in params.items() if k.startswith("ffn.")}, activation

    def forward(self, x):
        out, self.cache = ffn(x, *self.options)
        return out

    def backward(self, dout, grads):
        dx, mine = ffn_backward(dout, self.cache)
        grads.update(("ffn." + name, value) for name, value in mine.items())
        return dx


class PreNorm:
    def __init__(self, norm, part):
        self.norm, self.part = norm, part

    def forward(self, x):
        return x + self.part.forward(self.norm.forward(x))

    def backward(self, dout, grads):
        return dout + self.norm.backward(self.part.backward(dout, grads), grads)


class PostNorm(PreNorm):
    def forward(self, x):
        return self.norm.forward(x + self.part.forward(x))

    def backward(self, dout, grads):
        dout = self.norm.backward(dout, grads)
        return dout + self.part.backward(dout, grads)


def block(x, params, n_heads, mask=None, norm="pre", activation="gelu"):
    try:
        step = {"pre": PreNorm, "post": PostNorm}[norm]
    except KeyError:
        raise ValueError(f"unknown norm {norm!r}") from None
    attention = Attention(params, n_heads, mask)
    steps = [step(Norm(params, "ln1"), attention), step(Norm(params, "ln2"), FeedForward(params, activation))]
    stream = [np.asarray(x) if np.asarray(x).dtype.kind == "f" else np.asarray(x) * 1.0]
    for one in steps:
        stream.append(one.forward(stream[-1]))
    cache = {"steps": steps, "weights": attention.cache["weights"]}
    cache["after_attention"], cache["after_ffn"] = stream[1:]
    return stream[-1], cache


def block_backward(dout, cache):
    grads = {}
    for one in cache["steps"][::-1]:
        dout = one.backward(dout, grads)
    return dout, grads
