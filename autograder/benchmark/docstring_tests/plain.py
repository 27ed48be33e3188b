"""What the tests share: comparisons, difference quotients, and plain forward passes to compare with."""

import importlib
import math

import numpy as np

EPS = 1e-5  # of difference quotients
GRADIENT_TOLERANCE = {"rtol": 1e-4, "atol": 1e-6}  # difference quotients have fewer correct digits


def rng(seed=0):
    """Return a generator with a fixed seed."""
    return np.random.default_rng(seed)


def draw(*shape, seed=0):
    """Return normal numbers."""
    return rng(seed).normal(size=shape)


def close(actual, expected):
    """Assert that two arrays have the same shape and nearly the same values."""
    assert np.shape(actual) == np.shape(expected)
    assert np.allclose(actual, expected)


def gradient_close(actual, expected):
    """Assert the same of a gradient and difference quotients."""
    assert np.shape(actual) == np.shape(expected)
    assert np.allclose(actual, expected, **GRADIENT_TOLERANCE)


def raises(error, function, *args, **kwargs):
    """Assert that a call raises an error of this type."""
    try:
        function(*args, **kwargs)
    except error:
        return
    raise AssertionError(f"{error.__name__} was not raised")


def quotients(function, x):
    """Return the gradient of a function that returns a number, by central differences."""
    gradient = np.zeros(x.shape)
    for index in np.ndindex(*x.shape):
        up, down = x.copy(), x.copy()
        up[index] += EPS
        down[index] -= EPS
        gradient[index] = (function(up) - function(down)) / (2 * EPS)
    return gradient


def gradients_of_params(loss, params):
    """Return the gradient of a loss with respect to every parameter, by central differences."""
    return {name: quotients(lambda x, name=name: loss({**params, name: x}), value) for name, value in params.items()}


def all_close(actual, expected):
    """Assert that two dictionaries have the same keys and nearly the same gradients."""
    assert set(actual) == set(expected)
    for name in expected:
        gradient_close(actual[name], expected[name])


def official(module):
    """Return an official module, for the given classes and functions that make parameters."""
    return importlib.import_module(module)


def softmax(x):
    """Return the softmax along the last axis."""
    powers = np.exp(x - x.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def attention(q, k, v, mask=None):
    """Return attention and its weights."""
    scores = q @ np.swapaxes(k, -1, -2) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores)
    return weights @ v, weights


def heads(x, count):
    """Split the last axis into heads."""
    return np.swapaxes(x.reshape(*x.shape[:-1], count, -1), -2, -3)


def merged(x):
    """Join the heads."""
    x = np.swapaxes(x, -2, -3)
    return x.reshape(*x.shape[:-2], -1)


def multihead(x, p, count, mask=None, memory=None):
    """Return multi-head attention; biases may be absent."""
    width = x.shape[-1]
    source = x if memory is None else memory
    weight, bias = p["W_qkv"], p.get("b_qkv", np.zeros(3 * width))
    q = x @ weight[:, :width] + bias[:width]
    k = source @ weight[:, width : 2 * width] + bias[width : 2 * width]
    v = source @ weight[:, 2 * width :] + bias[2 * width :]
    out, _ = attention(heads(q, count), heads(k, count), heads(v, count), mask)
    return merged(out) @ p["W_o"] + p.get("b_o", 0.0)


def layernorm(x, gamma, beta, eps=1e-5):
    """Return the layer norm."""
    return gamma * (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + eps) + beta


def rmsnorm(x, gamma, eps=1e-5):
    """Return the RMS norm."""
    return gamma * x / np.sqrt((x**2).mean(-1, keepdims=True) + eps)


def gelu(x):
    """Return the tanh form of GELU."""
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def relu(x):
    """Return ReLU."""
    return np.maximum(x, 0)


def silu(x):
    """Return SiLU."""
    return x / (1 + np.exp(-x))


def ffn(x, p, activation="gelu"):
    """Return the feed-forward network; biases may be absent."""
    hidden = x @ p["W_1"] + p.get("b_1", 0.0)
    return (gelu if activation == "gelu" else relu)(hidden) @ p["W_2"] + p.get("b_2", 0.0)


def swiglu(x, p):
    """Return the gated feed-forward network."""
    return (silu(x @ p["W_gate"]) * (x @ p["W_up"])) @ p["W_down"]


def part(params, prefix):
    """Return the parameters whose names begin with a prefix, without it."""
    return {name.removeprefix(prefix): value for name, value in params.items() if name.startswith(prefix)}


def block(x, p, count, mask=None, norm="pre", activation="gelu"):
    """Return a transformer block."""

    def ln(number, value):
        return layernorm(value, p[f"ln{number}.gamma"], p[f"ln{number}.beta"])

    if norm == "pre":
        x = x + multihead(ln(1, x), part(p, "attn."), count, mask)
        return x + ffn(ln(2, x), part(p, "ffn."), activation)
    x = ln(1, x + multihead(x, part(p, "attn."), count, mask))
    return ln(2, x + ffn(x, part(p, "ffn."), activation))


def sinusoidal(length, width):
    """Return the table of sines and cosines."""
    table = np.zeros((length, width))
    for position in range(length):
        for column in range(width):
            angle = position / 10000 ** ((column - column % 2) / width)
            table[position, column] = math.cos(angle) if column % 2 else math.sin(angle)
    return table


def causal(length):
    """Return the causal mask."""
    return np.tril(np.ones((length, length), dtype=bool))


def gpt(ids, p, config):
    """Return the scores of a GPT without dropout."""
    length = np.shape(ids)[-1]
    table = p["W_pos"][:length] if config.positions == "learned" else sinusoidal(length, config.d_model)
    x = p["W_tok"][ids] + table
    for i in range(config.n_layers):
        params = part(p, f"blocks.{i}.")
        x = block(x, params, config.n_heads, causal(length), config.norm, config.activation)
    if config.norm == "pre":
        x = layernorm(x, p["ln_f.gamma"], p["ln_f.beta"])
    return x @ (p["W_tok"].T if config.tied else p["W_head"]) + p.get("b_head", 0.0)


def cross_entropy(logits, targets):
    """Return the mean cross-entropy."""
    rows = np.log(softmax(np.asarray(logits))).reshape(-1, np.shape(logits)[-1])
    return float(-rows[np.arange(len(rows)), np.ravel(targets)].mean())


def params_like(shapes, seed=0, scale=0.5):
    """Return random parameters of these shapes."""
    generator = rng(seed)
    return {name: scale * generator.normal(size=shape) for name, shape in shapes.items()}


def block_params(width=4, inner=6, seed=0):
    """Return random parameters of a block."""
    attn = {"W_qkv": (width, 3 * width), "b_qkv": (3 * width,), "W_o": (width, width), "b_o": (width,)}
    feed = {"W_1": (width, inner), "b_1": (inner,), "W_2": (inner, width), "b_2": (width,)}
    norms = {f"ln{i}.{name}": (width,) for i in (1, 2) for name in ("gamma", "beta")}
    named = {f"attn.{k}": v for k, v in attn.items()} | {f"ffn.{k}": v for k, v in feed.items()}
    return params_like(norms | named, seed)


def disturbed(params):
    """Return parameters in float64 that are not 0 or 1 anywhere."""
    generator = rng(9)
    return {name: value + 0.2 * generator.normal(size=value.shape) for name, value in params.items()}


def model(seed=0, **settings):
    """Return the parameters and the configuration of a small GPT."""
    module = official("gpt")
    sizes = {"vocab_size": 7, "block_size": 5, "n_layers": 2, "n_heads": 2, "d_model": 4, "d_ff": 6, "init_std": 0.5}
    config = module.GPTConfig(**{**sizes, **settings})
    return disturbed(module.init_gpt(config, rng(seed))), config
