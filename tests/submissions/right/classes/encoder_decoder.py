"""A model of objects. Greedy decoding keeps keys and values: every step computes one position."""

from dataclasses import dataclass

import numpy as np
from attention import attention, attention_backward, causal_mask
from embeddings import embed_tokens, embed_tokens_backward, sinusoidal_positions
from ffn import linear, linear_backward, relu, relu_backward
from layernorm import layernorm, layernorm_backward
from multihead import merge_heads, split_heads
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


class Module:
    """Knows its parameters, and collects their gradients."""

    def __init__(self, params, prefix):
        self.params, self.prefix, self.grads = params, prefix, {}

    def get(self, name):
        return self.params.get(self.prefix + name)

    def give(self, grads, **values):
        grads.update((self.prefix + name, d) for name, d in values.items() if self.prefix + name in self.params)


class Attention(Module):
    def __init__(self, params, prefix, n_heads):
        super().__init__(params, prefix)
        self.n_heads = n_heads

    def project(self, x, *which):
        """Heads of queries (0), keys (1) or values (2)."""
        W, b, d = self.get("W_qkv"), self.get("b_qkv"), x.shape[-1]
        columns = [slice(i * d, (i + 1) * d) for i in which]
        return [split_heads(linear(x, W[:, c], None if b is None else b[c]), self.n_heads) for c in columns]

    def mix(self, q, k, v, mask):
        heads, self.weights = attention(q, k, v, mask)
        self.merged = merge_heads(heads)
        return linear(self.merged, self.get("W_o"), self.get("b_o"))

    def forward(self, x, memory, mask):
        self.x, self.memory = x, memory
        self.qkv = [*self.project(x, 0), *self.project(memory, 1, 2)]
        return self.mix(*self.qkv, mask)

    def backward(self, dout, grads):
        dmerged, dW_o, db_o = linear_backward(dout, self.merged, self.get("W_o"))
        inner = attention_backward(split_heads(dmerged, self.n_heads), *self.qkv, self.weights)
        Ws = np.split(self.get("W_qkv"), 3, axis=1)
        back = [
            linear_backward(merge_heads(d), of, W)
            for d, of, W in zip(inner, (self.x, self.memory, self.memory), Ws, strict=True)
        ]
        dW_qkv, db_qkv = (np.concatenate([b[i] for b in back], axis=-1) for i in (1, 2))
        self.give(grads, W_o=dW_o, b_o=db_o, W_qkv=dW_qkv, b_qkv=db_qkv)
        return back[0][0], back[1][0] + back[2][0]


class FeedForward(Module):
    def forward(self, x):
        self.x, self.hidden = x, linear(x, self.get("W_1"), self.get("b_1"))
        self.active = relu(self.hidden)
        return linear(self.active, self.get("W_2"), self.get("b_2"))

    def backward(self, dout, grads):
        dactive, dW_2, db_2 = linear_backward(dout, self.active, self.get("W_2"))
        dx, dW_1, db_1 = linear_backward(relu_backward(dactive, self.hidden), self.x, self.get("W_1"))
        self.give(grads, W_1=dW_1, b_1=db_1, W_2=dW_2, b_2=db_2)
        return dx


class Norm(Module):
    def forward(self, x):
        self.x = x
        return layernorm(x, self.get("gamma"), self.get("beta"))

    def backward(self, dout, grads):
        dx, dgamma, dbeta = layernorm_backward(dout, self.x, self.get("gamma"))
        self.give(grads, gamma=dgamma, beta=dbeta)
        return dx


class EncoderLayer:
    def __init__(self, params, prefix, n_heads):
        self.attn = Attention(params, prefix + "attn.", n_heads)
        self.ffn = FeedForward(params, prefix + "ffn.")
        self.ln1, self.ln2 = (Norm(params, f"{prefix}ln{i}.") for i in (1, 2))

    def forward(self, x, mask):
        a = self.ln1.forward(x + self.attn.forward(x, x, mask))
        y = self.ln2.forward(a + self.ffn.forward(a))
        self.stages = {"weights": self.attn.weights, "after_attention": a, "after_ffn": y}
        return y

    def backward(self, d, grads):
        d = self.ln2.backward(d, grads)
        d = self.ln1.backward(d + self.ffn.backward(d, grads), grads)
        return d + sum(self.attn.backward(d, grads))


class DecoderLayer(EncoderLayer):
    def __init__(self, params, prefix, n_heads):
        super().__init__(params, prefix, n_heads)
        self.source_attn = Attention(params, prefix + "source_attn.", n_heads)
        self.ln3 = Norm(params, prefix + "ln3.")

    def forward(self, x, memory, mask, source_mask):
        a = self.ln1.forward(x + self.attn.forward(x, x, mask))
        b = self.ln2.forward(a + self.source_attn.forward(a, memory, source_mask))
        y = self.ln3.forward(b + self.ffn.forward(b))
        self.stages = {"weights": self.attn.weights, "source_weights": self.source_attn.weights}
        self.stages |= {"after_attention": a, "after_source_attention": b, "after_ffn": y}
        return y

    def backward(self, d, grads):
        d = self.ln3.backward(d, grads)
        d = self.ln2.backward(d + self.ffn.backward(d, grads), grads)
        da, dmemory = self.source_attn.backward(d, grads)
        d = self.ln1.backward(d + da, grads)
        return d + sum(self.attn.backward(d, grads)), dmemory

    def begin(self, memory, source_mask):
        self.kept, self.source_mask = None, source_mask
        self.source_kv = self.source_attn.project(memory, 1, 2)

    def step(self, x):
        """One position further; x is (..., 1, D)."""
        q, k, v = self.attn.project(x, 0, 1, 2)
        if self.kept is not None:
            k, v = (np.concatenate(pair, axis=-2) for pair in zip(self.kept, (k, v), strict=True))
        self.kept = k, v
        a = self.ln1.forward(x + self.attn.mix(q, k, v, None))
        b = self.source_attn.mix(*self.source_attn.project(a, 0), *self.source_kv, self.source_mask)
        b = self.ln2.forward(a + b)
        return self.ln3.forward(b + self.ffn.forward(b))


class Embedding(Module):
    def __init__(self, params, prefix):
        super().__init__(params, prefix)
        self.vocab, self.width = self.get("").shape

    def forward(self, ids, first=0):
        self.ids = np.asarray(ids)
        x = embed_tokens(ids, self.get("")) * self.width**0.5
        positions = sinusoidal_positions(first + self.ids.shape[-1], self.width)[first:]
        return x + positions.astype(x.dtype)

    def backward(self, d, grads):
        grads[self.prefix] = embed_tokens_backward(d * self.width**0.5, self.ids, self.vocab)


class Encoder:
    def __init__(self, params, config):
        self.embedding = Embedding(params, "W_source")
        self.layers = [EncoderLayer(params, f"encoder.{i}.", config.n_heads) for i in range(config.n_layers)]

    def forward(self, source, keep):
        x = self.embedding.forward(source)
        self.cache = {"source_embedded": x, "encoder": self}
        for i, layer in enumerate(self.layers):
            x = layer.forward(x, keep)
            self.cache |= {f"encoder.{i}.{name}": stage for name, stage in layer.stages.items()}
        return x

    def backward(self, d, grads):
        for layer in reversed(self.layers):
            d = layer.backward(d, grads)
        self.embedding.backward(d, grads)


class Decoder:
    def __init__(self, params, config):
        self.embedding, self.W_head = Embedding(params, "W_target"), params["W_head"]
        self.layers = [DecoderLayer(params, f"decoder.{i}.", config.n_heads) for i in range(config.n_layers)]

    def head(self, x):
        self.x, self.log_probs = x, log_softmax(x @ self.W_head)
        return self.log_probs

    def forward(self, target, memory, keep, source_keep):
        x = self.embedding.forward(target)
        self.cache = {"target_embedded": x, "decoder": self}
        mask = causal_mask(x.shape[-2])
        mask = mask if keep is None else mask * keep
        for i, layer in enumerate(self.layers):
            x = layer.forward(x, memory, mask, source_keep)
            self.cache |= {f"decoder.{i}.{name}": stage for name, stage in layer.stages.items()}
        return self.head(x)

    def backward(self, d, grads):
        d = d - np.exp(self.log_probs) * d.sum(-1)[..., None]
        d, grads["W_head"], _ = linear_backward(d, self.x, self.W_head)
        of_memory = []
        for layer in reversed(self.layers):
            d, dmemory = layer.backward(d, grads)
            of_memory.append(dmemory)
        self.embedding.backward(d, grads)
        return np.sum(of_memory, axis=0)

    def write(self, memory, source_keep, start, max_length):
        """Yields token after token, (..., 1)."""
        for layer in self.layers:
            layer.begin(memory, source_keep)
        token = np.full((*memory.shape[:-2], 1), start)
        for t in range(max_length):
            x = self.embedding.forward(token, first=t)
            for layer in self.layers:
                x = layer.step(x)
            token = self.head(x).argmax(-1)
            yield token


def _keep(mask):
    return None if mask is None else np.expand_dims(mask, (-2, -3))


def _float(x):
    return x if x.dtype == np.float32 else np.asarray(x, dtype=np.float64)


def encoder_block(x, params, n_heads, mask=None):
    layer = EncoderLayer(params, "", n_heads)
    return layer.forward(_float(x), mask), layer.stages


def decoder_block(x, memory, params, n_heads, target_mask=None, source_mask=None):
    layer = DecoderLayer(params, "", n_heads)
    return layer.forward(_float(x), _float(memory), target_mask, source_mask), layer.stages


def encode(source, params, config, source_mask=None):
    encoder = Encoder(params, config)
    return encoder.forward(source, _keep(source_mask)), encoder.cache


def decode(target, memory, params, config, target_mask=None, source_mask=None):
    decoder = Decoder(params, config)
    return decoder.forward(target, memory, _keep(target_mask), _keep(source_mask)), decoder.cache


def transformer(source, target, params, config, source_mask=None, target_mask=None):
    memory, cache = encode(source, params, config, source_mask)
    log_probs, decoder_cache = decode(target, memory, params, config, target_mask, source_mask)
    return log_probs, cache | decoder_cache | {"memory": memory}


def transformer_backward(dlog_probs, cache):
    grads = {}
    cache["encoder"].backward(cache["decoder"].backward(dlog_probs, grads), grads)
    return grads


def greedy_decode(source, params, config, start, end, max_length, source_mask=None):
    memory, _ = encode(source, params, config, source_mask)
    written, ended = [], np.zeros((*memory.shape[:-2], 1), dtype=bool)
    for token in Decoder(params, config).write(memory, _keep(source_mask), start, max_length):
        written.append(np.where(ended, end, token))
        ended |= token == end
        if ended.all():
            break
    return np.concatenate(written, axis=-1).astype(np.int64)
