"""Tests of `gpt2`."""

import numpy as np

from autograder.benchmark.docstring_tests import plain
from autograder.benchmark.docstring_tests.plain import close, draw, raises, rng

SIZES = {"model_type": "gpt2", "vocab_size": 50, "n_positions": 16, "n_layer": 2, "n_head": 2, "n_embd": 8}


def test_gpt2_config(m):
    config = m.gpt2_config(SIZES)
    assert (config.vocab_size, config.block_size, config.n_layers, config.n_heads) == (50, 16, 2, 2)
    assert (config.d_model, config.d_ff, config.activation, config.tied) == (8, 32, "gelu", True)
    other = {**SIZES, "n_inner": 20, "activation_function": "relu", "tie_word_embeddings": False}
    config = m.gpt2_config(other)
    assert (config.d_ff, config.activation, config.tied, config.dropout) == (20, "relu", False, 0.0)
    raises(ValueError, m.gpt2_config, {name: value for name, value in SIZES.items() if name != "n_head"})
    for key, value in (
        ("model_type", "llama"),
        ("activation_function", "gelu"),
        ("layer_norm_epsilon", 1e-6),
        ("scale_attn_weights", False),
        ("scale_attn_by_inverse_layer_idx", True),
        ("add_cross_attention", True),
    ):
        raises(ValueError, m.gpt2_config, {**SIZES, key: value})


NAMES = {
    "ln_1.weight": ("ln1.gamma", (4,)),
    "ln_1.bias": ("ln1.beta", (4,)),
    "attn.c_attn.weight": ("attn.W_qkv", (4, 12)),
    "attn.c_attn.bias": ("attn.b_qkv", (12,)),
    "attn.c_proj.weight": ("attn.W_o", (4, 4)),
    "attn.c_proj.bias": ("attn.b_o", (4,)),
    "ln_2.weight": ("ln2.gamma", (4,)),
    "ln_2.bias": ("ln2.beta", (4,)),
    "mlp.c_fc.weight": ("ffn.W_1", (4, 6)),
    "mlp.c_fc.bias": ("ffn.b_1", (6,)),
    "mlp.c_proj.weight": ("ffn.W_2", (6, 4)),
    "mlp.c_proj.bias": ("ffn.b_2", (4,)),
}


def _tensors(prefix=""):
    pairs = {"wte.weight": ("W_tok", (7, 4)), "wpe.weight": ("W_pos", (5, 4))}
    pairs |= {"ln_f.weight": ("ln_f.gamma", (4,)), "ln_f.bias": ("ln_f.beta", (4,))}
    pairs |= {f"h.{i}.{k}": (f"blocks.{i}.{name}", shape) for i in range(2) for k, (name, shape) in NAMES.items()}
    tensors, params = {}, {}
    for i, (key, (name, shape)) in enumerate(pairs.items()):
        tensors[prefix + key] = params[name] = draw(*shape, seed=i)
    return tensors, params


def _same(actual, expected):
    assert set(actual) == set(expected)
    for name in expected:
        close(actual[name], expected[name])


def test_gpt2_params(m):
    for prefix in ("", "transformer."):
        tensors, params = _tensors(prefix)
        _same(m.gpt2_params(tensors), params)
    _same(m.gpt2_params({**tensors, "transformer.h.0.attn.bias": np.ones((1, 1, 5, 5))}), params)
    _same(m.gpt2_params({**tensors, "lm_head.weight": params["W_tok"]}), params)
    head = draw(7, 4, seed=99)
    _same(m.gpt2_params({**tensors, "lm_head.weight": head}), params | {"W_head": head.T})
    raises(ValueError, m.gpt2_params, {**tensors, "something.else": head})
    raises(ValueError, m.gpt2_params, {k: v for k, v in tensors.items() if not k.endswith("wte.weight")})


def test_last_logits(m):
    for settings in ({}, {"tied": False, "bias": False}, {"norm": "post", "positions": "sinusoidal"}):
        params, config = plain.model(**settings)
        ids = rng().integers(7, size=(2, 5))
        logits, _ = m.last_logits(ids, params, config)
        close(logits, plain.gpt(ids, params, config)[:, -1])
        logits, cache = m.last_logits(ids[:, :2], params, config)
        close(logits, plain.gpt(ids[:, :2], params, config)[:, -1])
        for t in range(2, 5):
            logits, cache = m.last_logits(ids[:, t : t + 1], params, config, cache)
            close(logits, plain.gpt(ids[:, : t + 1], params, config)[:, -1])
        raises(ValueError, m.last_logits, ids[:, :1], params, config, cache)
    raises(ValueError, m.last_logits, ids[:, :0], params, config)
    raises(ValueError, m.last_logits, np.array([[7]]), params, config)
