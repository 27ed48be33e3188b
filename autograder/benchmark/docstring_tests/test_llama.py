"""Tests of `llama`."""

import numpy as np

from autograder.benchmark.docstring_tests import plain
from autograder.benchmark.docstring_tests.plain import (
    all_close,
    causal,
    close,
    disturbed,
    draw,
    gradient_close,
    gradients_of_params,
    heads,
    official,
    part,
    quotients,
    raises,
    rng,
)
from autograder.benchmark.docstring_tests.test_generation import OPTIONS, _probs, _sampled


def _rope(x, positions, base=10000.0):
    half = x.shape[-1] // 2
    angles = np.asarray(positions)[:, None] * base ** (-np.arange(half) / half)
    first, second = x[..., :half], x[..., half:]
    cos, sin = np.cos(angles), np.sin(angles)
    return np.concatenate([first * cos - second * sin, first * sin + second * cos], axis=-1)


def _attention(x, p, n, groups, mask=None, at=None, base=10000.0):
    at = np.arange(x.shape[-2]) if at is None else at
    q, k = _rope(heads(x @ p["W_q"], n), at, base), _rope(heads(x @ p["W_k"], groups), at, base)
    k, v = (np.repeat(value, n // groups, axis=-3) for value in (k, heads(x @ p["W_v"], groups)))
    return plain.merged(plain.attention(q, k, v, mask)[0]) @ p["W_o"]


def _block(x, p, config, mask=None):
    normed = plain.rmsnorm(x, p["norm1.gamma"], config.norm_eps)
    x = x + _attention(normed, part(p, "attn."), config.n_heads, config.n_kv_heads, mask, base=config.rope_base)
    return x + plain.swiglu(plain.rmsnorm(x, p["norm2.gamma"], config.norm_eps), part(p, "ffn."))


def _llama(ids, p, config):
    x = p["W_tok"][ids]
    for i in range(config.n_layers):
        x = _block(x, part(p, f"blocks.{i}."), config, causal(x.shape[-2]))
    x = plain.rmsnorm(x, p["norm_f.gamma"], config.norm_eps)
    return x @ (p["W_tok"].T if config.tied else p["W_head"])


def _model(**settings):
    module = official("llama")
    sizes = {"vocab_size": 7, "block_size": 5, "n_layers": 2, "n_heads": 4, "n_kv_heads": 2, "d_model": 8, "d_ff": 6}
    config = module.LlamaConfig(**{**sizes, "init_std": 0.5, **settings})
    return disturbed(module.init_llama(config, rng())), config


def test_rope(m):
    for shape in ((3, 4), (2, 3, 4), (2, 2, 3, 8)):
        close(m.rope(draw(*shape), np.arange(3)), _rope(draw(*shape), np.arange(3)))
    close(m.rope(draw(3, 4), np.array([5, 0, 2]), 100.0), _rope(draw(3, 4), np.array([5, 0, 2]), 100.0))
    raises(ValueError, m.rope, draw(3, 5), np.arange(3))


def test_rope_backward(m):
    x, dout, positions = draw(2, 3, 4), draw(2, 3, 4, seed=1), np.array([5, 0, 2])
    for base in (10000.0, 100.0):
        expected = quotients(lambda x, b=base: (_rope(x, positions, b) * dout).sum(), x)
        gradient_close(m.rope_backward(dout, positions, base), expected)


def test_silu(m):
    close(m.silu(draw(2, 3, 4)), plain.silu(draw(2, 3, 4)))
    close(m.silu(np.array([-1000.0, 0.0, 1000.0])), [0.0, 0.0, 1000.0])


def test_silu_backward(m):
    x, dout = 2 * draw(3, 4), draw(3, 4, seed=1)
    gradient_close(m.silu_backward(dout, x), quotients(lambda x: (plain.silu(x) * dout).sum(), x))


FFN = {"W_gate": (4, 6), "W_up": (4, 6), "W_down": (6, 4)}


def test_swiglu(m):
    params = plain.params_like(FFN)
    for shape in ((4,), (3, 4), (2, 3, 4)):
        close(m.swiglu(draw(*shape), params)[0], plain.swiglu(draw(*shape), params))


def test_swiglu_backward(m):
    params, x, dout = plain.params_like(FFN), draw(2, 3, 4), draw(2, 3, 4, seed=1)
    dx, grads = m.swiglu_backward(dout, m.swiglu(x, params)[1])
    gradient_close(dx, quotients(lambda x: (plain.swiglu(x, params) * dout).sum(), x))
    all_close(grads, gradients_of_params(lambda p: (plain.swiglu(x, p) * dout).sum(), params))


ATTENTION = {"W_q": (8, 8), "W_k": (8, 4), "W_v": (8, 4), "W_o": (8, 8)}


def test_grouped_query_attention(m):
    params, x = plain.params_like(ATTENTION), draw(2, 3, 8)
    for mask in (None, causal(3)):
        out, cache = m.grouped_query_attention(x, params, 4, 2, mask)
        close(out, _attention(x, params, 4, 2, mask))
        assert cache["weights"].shape == (2, 4, 3, 3)
    positions = np.array([4, 1, 7])
    out, _ = m.grouped_query_attention(x, params, 4, 2, None, positions, 100.0)
    close(out, _attention(x, params, 4, 2, None, positions, 100.0))
    raises(ValueError, m.grouped_query_attention, x, params, 3, 1)
    raises(ValueError, m.grouped_query_attention, x, params, 4, 3)


def test_grouped_query_attention_backward(m):
    params, x, dout = plain.params_like(ATTENTION), draw(2, 3, 8), draw(2, 3, 8, seed=1)
    cache = m.grouped_query_attention(x, params, 4, 2, causal(3))[1]
    dx, grads = m.grouped_query_attention_backward(dout, cache)
    gradient_close(dx, quotients(lambda x: (_attention(x, params, 4, 2, causal(3)) * dout).sum(), x))
    loss = lambda p: (_attention(x, p, 4, 2, causal(3)) * dout).sum()
    all_close(grads, gradients_of_params(loss, params))


def test_llama_block(m):
    params, config = _model(norm_eps=1e-3, rope_base=100.0)
    params, x = part(params, "blocks.0."), draw(2, 3, 8)
    for mask in (None, causal(3)):
        out, cache = m.llama_block(x, params, config, mask)
        close(out, _block(x, params, config, mask))
        close(cache["after_ffn"], out)


def test_llama_block_backward(m):
    params, config = _model()
    params, x, dout = part(params, "blocks.0."), draw(2, 3, 8), draw(2, 3, 8, seed=1)
    dx, grads = m.llama_block_backward(dout, m.llama_block(x, params, config, causal(3))[1])
    gradient_close(dx, quotients(lambda x: (_block(x, params, config, causal(3)) * dout).sum(), x))
    all_close(grads, gradients_of_params(lambda p: (_block(x, p, config, causal(3)) * dout).sum(), params))


def test_llama(m):
    for settings in ({}, {"tied": True}, {"tied": False}):
        params, config = _model(**settings)
        ids = rng().integers(7, size=(2, 5))
        close(m.llama(ids, params, config)[0], _llama(ids, params, config))
        close(m.llama(ids[0, :3], params, config)[0], _llama(ids[0, :3], params, config))
    raises(ValueError, m.llama, np.zeros((1, 6), dtype=int), params, config)
    raises(ValueError, m.llama, np.array([[7]]), params, config)


def test_llama_backward(m):
    for settings in ({"n_layers": 1, "tied": True}, {"n_layers": 1, "tied": False}):
        params, config = _model(**settings)
        ids, dout = rng().integers(7, size=(2, 3)), draw(2, 3, 7)
        grads = m.llama_backward(dout, m.llama(ids, params, config)[1])
        loss = lambda p, c=config, i=ids, d=dout: (_llama(i, p, c) * d).sum()
        all_close(grads, gradients_of_params(loss, params))


HF = {
    "model_type": "llama",
    "vocab_size": 50,
    "max_position_embeddings": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "hidden_size": 16,
    "intermediate_size": 24,
}


def test_llama_config(m):
    config = m.llama_config(HF)
    assert (config.vocab_size, config.block_size, config.n_layers, config.n_heads) == (50, 16, 2, 4)
    assert (config.n_kv_heads, config.d_model, config.d_ff, config.tied) == (4, 16, 24, False)
    assert (config.rope_base, config.norm_eps) == (10000.0, 1e-6)
    more = {"num_key_value_heads": 2, "rms_norm_eps": 1e-5, "tie_word_embeddings": True, "rope_theta": 500000.0}
    config = m.llama_config({**HF, **more})
    assert (config.n_kv_heads, config.norm_eps, config.tied, config.rope_base) == (2, 1e-5, True, 500000.0)
    raises(ValueError, m.llama_config, {name: value for name, value in HF.items() if name != "hidden_size"})
    for key, value in (
        ("model_type", "gpt2"),
        ("hidden_act", "gelu"),
        ("attention_bias", True),
        ("mlp_bias", True),
        ("head_dim", 8),
        ("rope_scaling", {"rope_type": "linear", "factor": 2.0}),
    ):
        raises(ValueError, m.llama_config, {**HF, key: value})


LAYER = {
    "input_layernorm": ("norm1.gamma", (8,)),
    "self_attn.q_proj": ("attn.W_q", (8, 8)),
    "self_attn.k_proj": ("attn.W_k", (4, 8)),
    "self_attn.v_proj": ("attn.W_v", (4, 8)),
    "self_attn.o_proj": ("attn.W_o", (8, 8)),
    "post_attention_layernorm": ("norm2.gamma", (8,)),
    "mlp.gate_proj": ("ffn.W_gate", (6, 8)),
    "mlp.up_proj": ("ffn.W_up", (6, 8)),
    "mlp.down_proj": ("ffn.W_down", (8, 6)),
}


def test_llama_params(m):
    for prefix in ("", "model."):
        tensors = {f"{prefix}embed_tokens.weight": draw(7, 8), f"{prefix}norm.weight": draw(8, seed=1)}
        params = {"W_tok": draw(7, 8), "norm_f.gamma": draw(8, seed=1)}
        for i in range(2):
            for j, (key, (name, shape)) in enumerate(LAYER.items()):
                value = draw(*shape, seed=10 * i + j)
                tensors[f"{prefix}layers.{i}.{key}.weight"] = value
                params[f"blocks.{i}.{name}"] = value.T
        for head in ({}, {"lm_head.weight": draw(7, 8, seed=77)}):
            found = m.llama_params({**tensors, **head, f"{prefix}layers.0.self_attn.rotary_emb.inv_freq": draw(2)})
            expected = params | ({"W_head": head["lm_head.weight"].T} if head else {})
            assert set(found) == set(expected)
            for name, value in expected.items():
                close(found[name], value)
    bits = np.array([0x3F80, 0xC000] * 4, dtype=np.uint16)
    close(m.llama_params({**tensors, "model.norm.weight": bits})["norm_f.gamma"], [1.0, -2.0] * 4)
    raises(ValueError, m.llama_params, {**tensors, "something.else": bits})
    raises(ValueError, m.llama_params, {k: v for k, v in tensors.items() if "layers.1.mlp.up_proj" not in k})


def test_generate_llama(m):
    params, config = _model()
    for start in (rng().integers(7, size=(2, 3)), rng().integers(7, size=(2, 8))):
        for options in OPTIONS[:4]:
            ids, generator = start, rng(1)
            for _ in range(5):
                logits = _llama(ids[:, -config.block_size :], params, config)[:, -1]
                probs = np.array([_probs(row, **options) for row in logits])
                ids = np.concatenate([ids, _sampled(probs, generator)[:, None]], axis=1)
            assert np.array_equal(m.generate_llama(start, params, config, 5, rng(1), **options), ids)
    raises(ValueError, m.generate_llama, start, params, config, -1, rng())
    raises(ValueError, m.generate_llama, start[:, :0], params, config, 1, rng())
