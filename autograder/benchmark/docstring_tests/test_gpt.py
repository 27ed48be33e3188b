"""Tests of `gpt`."""

import numpy as np

from autograder.benchmark.docstring_tests import plain
from autograder.benchmark.docstring_tests.plain import all_close, close, gradients_of_params, official, raises, rng

SETTINGS = (
    {},
    {"tied": False},
    {"norm": "post", "positions": "sinusoidal"},
    {"bias": False},
)


def test_init_gpt(m):
    config = official("gpt").GPTConfig(vocab_size=50, block_size=20, n_layers=2, n_heads=2, d_model=32, tied=False)
    params = m.init_gpt(config, rng())
    shapes = {"W_tok": (50, 32), "W_pos": (20, 32), "W_head": (32, 50), "ln_f.gamma": (32,), "ln_f.beta": (32,)}
    inner = {"ln1.gamma": (32,), "ln1.beta": (32,), "attn.W_qkv": (32, 96), "attn.b_qkv": (96,), "attn.W_o": (32, 32)}
    inner |= {"attn.b_o": (32,), "ln2.gamma": (32,), "ln2.beta": (32,), "ffn.W_1": (32, 128), "ffn.b_1": (128,)}
    inner |= {"ffn.W_2": (128, 32), "ffn.b_2": (32,)}
    shapes |= {f"blocks.{i}.{name}": shape for i in range(2) for name, shape in inner.items()}
    assert {name: value.shape for name, value in params.items()} == shapes
    for name, value in params.items():
        assert value.dtype == np.float32
        if name.endswith("gamma"):
            assert np.allclose(value, 1)
        elif value.ndim == 1:
            assert np.allclose(value, 0)
        else:
            std = 0.01 if name.endswith(("W_o", "W_2")) else 0.02
            assert abs(value.std() / std - 1) < 0.1
    assert "W_head" not in m.init_gpt(official("gpt").GPTConfig(vocab_size=5, block_size=4), rng())


def test_count_parameters(m):
    assert m.count_parameters({"W": np.zeros((3, 4)), "b": np.zeros(4)}) == 16


def test_gpt(m):
    for settings in SETTINGS:
        params, config = plain.model(**settings)
        ids = rng().integers(7, size=(2, 5))
        logits, cache = m.gpt(ids, params, config)
        close(logits, plain.gpt(ids, params, config))
        assert cache["blocks.1.weights"].shape == (2, 2, 5, 5)
        close(m.gpt(ids[:, :3], params, config)[0], plain.gpt(ids[:, :3], params, config))
    raises(ValueError, m.gpt, np.zeros((1, 6), dtype=int), params, config)
    raises(ValueError, m.gpt, np.array([[7]]), params, config)


def test_gpt_loss(m):
    for settings in ({}, {"tied": False, "n_layers": 1}):
        params, config = plain.model(**settings)
        ids, targets = rng().integers(7, size=(2, 4)), rng(1).integers(7, size=(2, 4))

        def loss(p, ids=ids, targets=targets, config=config):
            return plain.cross_entropy(plain.gpt(ids, p, config), targets)

        value, grads = m.gpt_loss(ids, targets, params, config)
        close(value, loss(params))
        all_close(grads, gradients_of_params(loss, params))
