"""Tests of `encoder_decoder`."""

import math

import numpy as np

from autograder.benchmark.docstring_tests import plain
from autograder.benchmark.docstring_tests.plain import (
    all_close,
    causal,
    close,
    disturbed,
    draw,
    gradients_of_params,
    layernorm,
    multihead,
    official,
    part,
    raises,
    rng,
)


def _model(**settings):
    module = official("encoder_decoder")
    sizes = {"vocab_source": 6, "vocab_target": 7, "n_layers": 2, "n_heads": 2, "d_model": 4, "d_ff": 6}
    config = module.TransformerConfig(**{**sizes, **settings})
    return disturbed(module.init_transformer(config, rng())), config


def _decoder_block(x, memory, p, count, target, source, norm):
    def ln(number, value):
        return layernorm(value, p[f"ln{number}.gamma"], p[f"ln{number}.beta"])

    own, other, feed = part(p, "attn."), part(p, "source_attn."), part(p, "ffn.")
    if norm == "pre":
        x = x + multihead(ln(1, x), own, count, target)
        x = x + multihead(ln(2, x), other, count, source, memory)
        return x + plain.ffn(ln(3, x), feed, "relu")
    x = ln(1, x + multihead(x, own, count, target))
    x = ln(2, x + multihead(x, other, count, source, memory))
    return ln(3, x + plain.ffn(x, feed, "relu"))


def _encode(source, p, config, keep=None):
    mask = None if keep is None else keep[:, None, None, :]
    x = math.sqrt(config.d_model) * p["W_source"][source] + plain.sinusoidal(source.shape[-1], config.d_model)
    for i in range(config.n_layers):
        x = plain.block(x, part(p, f"encoder.{i}."), config.n_heads, mask, config.norm, "relu")
    return layernorm(x, p["encoder.ln_f.gamma"], p["encoder.ln_f.beta"]) if config.norm == "pre" else x


def _decode(target, memory, p, config, own=None, other=None):
    length = target.shape[-1]
    target_mask = causal(length) if own is None else causal(length) & own[:, None, None, :]
    source_mask = None if other is None else other[:, None, None, :]
    x = math.sqrt(config.d_model) * p["W_target"][target] + plain.sinusoidal(length, config.d_model)
    for i in range(config.n_layers):
        params = part(p, f"decoder.{i}.")
        x = _decoder_block(x, memory, params, config.n_heads, target_mask, source_mask, config.norm)
    if config.norm == "pre":
        x = layernorm(x, p["decoder.ln_f.gamma"], p["decoder.ln_f.beta"])
    return np.log(plain.softmax(x @ p["W_head"] + p.get("b_head", 0.0)))


SETTINGS = ({}, {"norm": "pre", "head_bias": True}, {"bias": False})
KEEP_SOURCE = np.array([[True, True, True, True], [True, True, False, False]])
KEEP_TARGET = np.array([[True, True, True], [True, True, False]])


def _tokens():
    return rng().integers(6, size=(2, 4)), rng(1).integers(7, size=(2, 3))


def test_encoder_block(m):
    params, x = plain.block_params(), draw(2, 3, 4)
    for norm in ("post", "pre"):
        for mask in (None, np.array([[True, True, False]] * 2)[:, None, None, :]):
            out, cache = m.encoder_block(x, params, 2, mask, norm)
            close(out, plain.block(x, params, 2, mask, norm, "relu"))
            assert cache["weights"].shape == (2, 2, 3, 3)
    close(m.encoder_block(x, params, 2)[0], plain.block(x, params, 2, None, "post", "relu"))
    raises(ValueError, m.encoder_block, x, params, 2, norm="none")


def test_decoder_block(m):
    params, _ = _model()
    params, x, memory = part(params, "decoder.0."), draw(2, 3, 4), draw(2, 5, 4, seed=1)
    for norm in ("post", "pre"):
        for target, source in ((None, None), (causal(3), np.array([[True] * 4 + [False]] * 2)[:, None, None, :])):
            out, cache = m.decoder_block(x, memory, params, 2, target, source, norm)
            close(out, _decoder_block(x, memory, params, 2, target, source, norm))
            assert cache["source_weights"].shape == (2, 2, 3, 5)
    close(m.decoder_block(x, memory, params, 2)[0], _decoder_block(x, memory, params, 2, None, None, "post"))
    raises(ValueError, m.decoder_block, x, memory, params, 2, norm="none")


def test_encode(m):
    for settings in SETTINGS:
        params, config = _model(**settings)
        source, _ = _tokens()
        close(m.encode(source, params, config)[0], _encode(source, params, config))
        close(m.encode(source, params, config, KEEP_SOURCE)[0], _encode(source, params, config, KEEP_SOURCE))
    raises(ValueError, m.encode, np.array([[6]]), params, config)


def test_decode(m):
    for settings in SETTINGS:
        params, config = _model(**settings)
        _, target = _tokens()
        memory = draw(2, 4, 4)
        close(m.decode(target, memory, params, config)[0], _decode(target, memory, params, config))
        expected = _decode(target, memory, params, config, KEEP_TARGET, KEEP_SOURCE)
        close(m.decode(target, memory, params, config, KEEP_TARGET, KEEP_SOURCE)[0], expected)
    raises(ValueError, m.decode, np.array([[7]] * 2), memory, params, config)


def test_transformer(m):
    for settings in SETTINGS:
        params, config = _model(**settings)
        source, target = _tokens()
        expected = _decode(target, _encode(source, params, config), params, config)
        close(m.transformer(source, target, params, config)[0], expected)
        memory = _encode(source, params, config, KEEP_SOURCE)
        expected = _decode(target, memory, params, config, KEEP_TARGET, KEEP_SOURCE)
        out, cache = m.transformer(source, target, params, config, KEEP_SOURCE, KEEP_TARGET)
        close(out, expected)
        close(cache["memory"], memory)


def test_greedy_decode(m):
    params, config = _model()
    source, _ = _tokens()
    memory = _encode(source, params, config)
    texts, length = np.full((2, 1), 1), 5
    for _ in range(length):
        tokens = _decode(texts, memory, params, config)[:, -1].argmax(-1)
        texts = np.concatenate([texts, tokens[:, None]], axis=1)
    unused = next(token for token in range(7) if token not in texts[:, 1:])
    assert np.array_equal(m.greedy_decode(source, params, config, 1, unused, length), texts[:, 1:])
    end = int(texts[0, 2])
    rows = []
    for row in texts[:, 1:].tolist():
        rows.append(row[: row.index(end) + 1] if end in row else row)
    longest = max(map(len, rows))
    expected = [row + [end] * (longest - len(row)) for row in rows]
    assert np.array_equal(m.greedy_decode(source, params, config, 1, end, length), expected)


def test_transformer_backward(m):
    for settings in ({"n_layers": 1}, {"n_layers": 1, "norm": "pre", "head_bias": True}):
        params, config = _model(**settings)
        source, target = _tokens()
        dout = draw(2, 3, 7)

        def loss(p, config=config):
            memory = _encode(source, p, config, KEEP_SOURCE)
            return (_decode(target, memory, p, config, KEEP_TARGET, KEEP_SOURCE) * dout).sum()

        cache = m.transformer(source, target, params, config, KEEP_SOURCE, KEEP_TARGET)[1]
        all_close(m.transformer_backward(dout, cache), gradients_of_params(loss, params))
