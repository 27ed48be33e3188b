"""Compare the solutions' gradients with central differences, which need neither PyTorch nor a formula.

    dL/dx_i ≈ (L(x + h e_i) - L(x - h e_i)) / 2h,    L = Σ dout · f(x)

In float64 with h = 1e-5 the truncation error is about h² and the rounding error about 1e-16 / h: both near 1e-10.
"""

from pathlib import Path

import numpy as np
import pytest

from autograder.courses.transformer import TRANSFORMER
from autograder.engine.diagnosis.variants import solution_module

H, TOLERANCE = 1e-5, 2e-6


def numerical_gradient(loss, x):
    gradient = np.zeros_like(x)
    for index in np.ndindex(x.shape):
        original = x[index]
        x[index] = original + H
        above = loss()
        x[index] = original - H
        gradient[index] = (above - loss()) / (2 * H)
        x[index] = original
    return gradient


def assert_gradients(loss, inputs, gradients):
    for name, x in inputs.items():
        expected = numerical_gradient(loss, x)
        size = max(1.0, float(np.abs(expected).max()))
        assert np.abs(gradients[name] - expected).max() <= TOLERANCE * size, name


@pytest.fixture
def normal():
    return np.random.default_rng(5).normal


def attention_params(normal, d):
    shapes = {"W_qkv": (d, 3 * d), "b_qkv": (3 * d,), "W_o": (d, d), "b_o": (d,)}
    return {name: normal(size=shape) * 0.5 for name, shape in shapes.items()}


def ffn_params(normal, d, f):
    shapes = {"W_1": (d, f), "b_1": (f,), "W_2": (f, d), "b_2": (d,)}
    return {name: normal(size=shape) for name, shape in shapes.items()}


def block_params(normal, d, f):
    params = {f"attn.{name}": value for name, value in attention_params(normal, d).items()}
    params |= {f"ffn.{name}": value for name, value in ffn_params(normal, d, f).items()}
    return params | {f"ln{i}.{name}": normal(size=d) + 1 for i in (1, 2) for name in ("gamma", "beta")}


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_softmax_gradient(normal, axis):
    s, x, dout = solution_module("softmax"), normal(size=(2, 3, 4)), normal(size=(2, 3, 4))
    gradient = s.softmax_backward(dout, s.softmax(x, axis=axis), axis=axis)
    assert_gradients(lambda: (dout * s.softmax(x, axis=axis)).sum(), {"x": x}, {"x": gradient})


def test_cross_entropy_gradient(normal):
    s, logits, targets = solution_module("softmax"), normal(size=(2, 3, 5)), np.array([[0, 4, 2], [2, 2, 1]])
    gradient = s.cross_entropy_backward(logits, targets)
    assert_gradients(lambda: s.cross_entropy(logits, targets), {"x": logits}, {"x": gradient})


def test_matmul_gradient(normal):
    g, a, b, dout = (
        solution_module("gradients"),
        normal(size=(5, 1, 2, 3)),
        normal(size=(6, 3, 4)),
        normal(size=(5, 6, 2, 4)),
    )
    gradients = dict(zip("ab", g.matmul_backward(dout, a, b), strict=True))
    assert_gradients(lambda: (dout * (a @ b)).sum(), {"a": a, "b": b}, gradients)


def test_tape_gradient(normal):
    g, x, y = solution_module("gradients"), np.exp(normal(size=(3, 4))), normal(size=4)
    tape = [
        ("log", (0,)),
        ("mul", (2, 1)),
        ("tanh", (3,)),
        ("add", (4, 0)),
        ("exp", (1,)),
        ("mul", (5, 6)),
        ("sum", (7,)),
    ]
    gradients = dict(zip("xy", g.tape_gradients(tape, [x, y]), strict=True))
    assert_gradients(lambda: g.tape_values(tape, [x, y])[-1], {"x": x, "y": y}, gradients)


def test_embed_tokens_gradient(normal):
    e, ids, table = solution_module("embeddings"), np.array([[0, 2, 2], [4, 2, 1]]), normal(size=(5, 3))
    dout = normal(size=(2, 3, 3))
    gradient = e.embed_tokens_backward(dout, ids, 5)
    assert_gradients(lambda: (dout * e.embed_tokens(ids, table)).sum(), {"W": table}, {"W": gradient})


def test_attention_gradients(normal):
    a = solution_module("attention")
    q, k, v = normal(size=(2, 3, 4)), normal(size=(2, 5, 4)), normal(size=(2, 5, 6))
    mask, dout = np.tri(3, 5, 2, dtype=bool), normal(size=(2, 3, 6))
    mask[1] = False
    gradients = a.attention_backward(dout, q, k, v, a.attention(q, k, v, mask)[1])
    inputs = {"q": q, "k": k, "v": v}
    assert_gradients(
        lambda: (dout * a.attention(q, k, v, mask)[0]).sum(), inputs, dict(zip("qkv", gradients, strict=True))
    )


@pytest.mark.parametrize("cross", [False, True])
def test_multihead_gradients(normal, cross):
    m, params, x = solution_module("multihead"), attention_params(normal, 4), normal(size=(2, 3, 4))
    memory, dout = normal(size=(2, 5, 4)) if cross else None, normal(size=(2, 3, 4))
    dx, grads, *dmemory = m.multihead_attention_backward(dout, m.multihead_attention(x, params, 2, memory=memory)[1])
    inputs = {**params, "x": x} | ({"memory": memory} if cross else {})
    gradients = {**grads, "x": dx} | ({"memory": dmemory[0]} if cross else {})
    assert_gradients(lambda: (dout * m.multihead_attention(x, params, 2, memory=memory)[0]).sum(), inputs, gradients)


@pytest.mark.parametrize("eps", [1e-5, 0.5])
def test_norm_gradients(normal, eps):
    n, x, gamma, beta = solution_module("layernorm"), normal(size=(2, 3, 5)), normal(size=5), normal(size=5)
    dout = normal(size=x.shape)
    dx, dgamma, dbeta = n.layernorm_backward(dout, x, gamma, eps)
    inputs, gradients = {"x": x, "gamma": gamma, "beta": beta}, {"x": dx, "gamma": dgamma, "beta": dbeta}
    assert_gradients(lambda: (dout * n.layernorm(x, gamma, beta, eps)).sum(), inputs, gradients)
    dx, dgamma = n.rmsnorm_backward(dout, x, gamma, eps)
    assert_gradients(lambda: (dout * n.rmsnorm(x, gamma, eps)).sum(), {"x": x, "g": gamma}, {"x": dx, "g": dgamma})


def test_activation_and_linear_gradients(normal):
    f, x, dout = solution_module("ffn"), normal(size=(2, 3, 4)), normal(size=(2, 3, 4))
    assert_gradients(lambda: (dout * f.gelu(x)).sum(), {"x": x}, {"x": f.gelu_backward(dout, x)})
    assert_gradients(lambda: (dout * f.relu(x)).sum(), {"x": x}, {"x": f.relu_backward(dout, x)})
    W, b, dout = normal(size=(4, 5)), normal(size=5), normal(size=(2, 3, 5))
    gradients = dict(zip("xWb", f.linear_backward(dout, x, W), strict=True))
    assert_gradients(lambda: (dout * f.linear(x, W, b)).sum(), {"x": x, "W": W, "b": b}, gradients)


@pytest.mark.parametrize("activation", ["gelu", "relu"])
def test_ffn_gradients(normal, activation):
    f, params, x, dout = (
        solution_module("ffn"),
        ffn_params(normal, 3, 5),
        normal(size=(2, 4, 3)),
        normal(size=(2, 4, 3)),
    )
    dx, grads = f.ffn_backward(dout, f.ffn(x, params, activation)[1])
    loss = lambda: (dout * f.ffn(x, params, activation)[0]).sum()  # noqa: E731
    assert_gradients(loss, {**params, "x": x}, {**grads, "x": dx})


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_block_gradients(normal, norm):
    b, params, x, dout = (
        solution_module("blocks"),
        block_params(normal, 4, 5),
        normal(size=(2, 3, 4)),
        normal(size=(2, 3, 4)),
    )
    mask = np.tri(3, dtype=bool)
    dx, grads = b.block_backward(dout, b.block(x, params, 2, mask, norm=norm)[1])
    assert_gradients(
        lambda: (dout * b.block(x, params, 2, mask, norm=norm)[0]).sum(), {**params, "x": x}, {**grads, "x": dx}
    )


@pytest.mark.parametrize(("tied", "activation"), [(True, "gelu"), (False, "relu")])
def test_gpt_gradients(normal, tied, activation):
    g = solution_module("gpt")
    config = g.GPTConfig(5, 4, n_layers=2, n_heads=2, d_model=4, d_ff=6, tied=tied, activation=activation)
    params = {name: normal(size=p.shape) * 0.5 for name, p in g.init_gpt(config, np.random.default_rng(0)).items()}
    ids, targets = np.array([[0, 2, 2], [4, 1, 3]]), np.array([[2, 2, 0], [1, 3, 3]])
    _, grads = g.gpt_loss(ids, targets, params, config)
    assert_gradients(lambda: g.gpt_loss(ids, targets, params, config)[0], params, grads)


def test_transformer_gradients(normal):
    t = solution_module("encoder_decoder")
    config = t.TransformerConfig(5, 6, n_layers=1, n_heads=2, d_model=4, d_ff=5)
    params = {
        name: normal(size=p.shape) * 0.5 for name, p in t.init_transformer(config, np.random.default_rng(0)).items()
    }
    source, target = np.array([[0, 2, 4], [3, 1, 0]]), np.array([[5, 1], [2, 2]])
    keep, dout = np.array([[True, True, False], [True, True, True]]), normal(size=(2, 2, 6))
    log_probs, cache = t.transformer(source, target, params, config, keep)
    assert log_probs.shape == dout.shape
    loss = lambda: (dout * t.transformer(source, target, params, config, keep)[0]).sum()  # noqa: E731
    assert_gradients(loss, params, t.transformer_backward(dout, cache))


def test_rope_gradient(normal):
    m, positions, x, dout = (
        solution_module("llama"),
        np.array([0, 3, 7]),
        normal(size=(2, 3, 4)),
        normal(size=(2, 3, 4)),
    )
    gradient = m.rope_backward(dout, positions, 50.0)
    assert_gradients(lambda: (dout * m.rope(x, positions, 50.0)).sum(), {"x": x}, {"x": gradient})


def test_silu_gradient(normal):
    m, x, dout = solution_module("llama"), normal(size=(3, 4)) * 3, normal(size=(3, 4))
    assert_gradients(lambda: (dout * m.silu(x)).sum(), {"x": x}, {"x": m.silu_backward(dout, x)})


def llama_start(normal, **changes):
    m = solution_module("llama")
    config = m.LlamaConfig(5, 4, n_layers=2, n_heads=4, n_kv_heads=2, d_model=8, d_ff=3, norm_eps=0.1, **changes)
    initial = m.init_llama(config, np.random.default_rng(0))
    params = {name: normal(size=value.shape) * 0.5 + ("gamma" in name) for name, value in initial.items()}
    return m, config, params, solution_module("blocks").subset


def test_swiglu_gradients(normal):
    m, _, params, subset = llama_start(normal)
    params, x, dout = subset(params, "blocks.0.ffn."), normal(size=(2, 3, 8)), normal(size=(2, 3, 8))
    dx, grads = m.swiglu_backward(dout, m.swiglu(x, params)[1])
    assert_gradients(lambda: (dout * m.swiglu(x, params)[0]).sum(), {**params, "x": x}, {**grads, "x": dx})


def test_grouped_query_attention_gradients(normal):
    m, _, params, subset = llama_start(normal)
    params, x, dout = subset(params, "blocks.0.attn."), normal(size=(2, 3, 8)), normal(size=(2, 3, 8))
    options = (4, 2, np.tri(3, dtype=bool), np.array([1, 4, 5]), 50.0)
    dx, grads = m.grouped_query_attention_backward(dout, m.grouped_query_attention(x, params, *options)[1])
    loss = lambda: (dout * m.grouped_query_attention(x, params, *options)[0]).sum()  # noqa: E731
    assert_gradients(loss, {**params, "x": x}, {**grads, "x": dx})


def test_llama_block_gradients(normal):
    m, config, params, subset = llama_start(normal)
    params, x, dout = subset(params, "blocks.0."), normal(size=(2, 3, 8)), normal(size=(2, 3, 8))
    mask = np.tri(3, dtype=bool)
    dx, grads = m.llama_block_backward(dout, m.llama_block(x, params, config, mask)[1])
    loss = lambda: (dout * m.llama_block(x, params, config, mask)[0]).sum()  # noqa: E731
    assert_gradients(loss, {**params, "x": x}, {**grads, "x": dx})


@pytest.mark.parametrize("tied", [True, False])
def test_llama_gradients(normal, tied):
    m, config, params, _ = llama_start(normal, tied=tied)
    ids, dlogits = np.array([[0, 2, 2], [4, 1, 3]]), normal(size=(2, 3, 5))
    grads = m.llama_backward(dlogits, m.llama(ids, params, config)[1])
    assert_gradients(lambda: (dlogits * m.llama(ids, params, config)[0]).sum(), params, grads)


def test_every_backward_function_is_tested():
    source = Path(__file__).read_text("utf-8")
    for function in TRANSFORMER.functions.values():
        if function.name.endswith("_backward") and function.name != "dropout_backward":  # linear in dout: dout * mask
            assert f".{function.name}(" in source, function.qualified


def test_encoder_decoder_learns_to_reverse():
    t, training = solution_module("encoder_decoder"), solution_module("training")
    rng, start, end = np.random.default_rng(0), 1, 2
    config = t.TransformerConfig(13, 13, n_layers=1, n_heads=4, d_model=32)
    params, state = t.init_transformer(config, rng), {}

    def batch(size, length=5):
        words = rng.integers(3, 13, (size, length))
        edge = np.full((size, 1), start)
        return words, np.hstack([edge, words[:, ::-1]]), np.hstack([words[:, ::-1], np.full_like(edge, end)])

    losses = []
    for _ in range(250):
        source, given, wanted = batch(32)
        log_probs, cache = t.transformer(source, given, params, config)
        picked = np.take_along_axis(log_probs, wanted[..., None], -1)
        losses.append(-float(picked.mean()))
        dlog_probs = np.zeros_like(log_probs)
        np.put_along_axis(dlog_probs, wanted[..., None], -1.0 / wanted.size, -1)
        params, state = training.adamw_step(params, t.transformer_backward(dlog_probs, cache), state, 3e-3)
    assert losses[0] == pytest.approx(np.log(13), abs=1.0)
    source, _, wanted = batch(100)
    decoded = t.greedy_decode(source, params, config, start, end, 8)
    right = [row[: len(want)].tolist() == want.tolist() for row, want in zip(decoded, wanted, strict=True)]
    assert np.mean(right) >= 0.9, (np.mean(right), losses[-1])
