"""Tests of `multihead`."""

import numpy as np

from autograder.benchmark.docstring_tests import plain
from autograder.benchmark.docstring_tests.plain import (
    all_close,
    close,
    draw,
    gradient_close,
    gradients_of_params,
    part,
    quotients,
    raises,
)


def test_split_heads(m):
    x = draw(2, 3, 8)
    for count in (1, 2, 4):
        close(m.split_heads(x, count), plain.heads(x, count))
    close(m.split_heads(x[0], 2), plain.heads(x[0], 2))
    raises(ValueError, m.split_heads, x, 3)


def test_merge_heads(m):
    x = draw(2, 4, 3, 5)
    close(m.merge_heads(x), plain.merged(x))
    close(m.merge_heads(x[0]), plain.merged(x[0]))


def test_multihead_attention(m):
    params, x, memory = part(plain.block_params(), "attn."), draw(2, 3, 4), draw(2, 5, 4, seed=1)
    for count in (1, 2, 4):
        out, cache = m.multihead_attention(x, params, count)
        close(out, plain.multihead(x, params, count))
        assert cache["weights"].shape == (2, count, 3, 3)
    close(m.multihead_attention(x, params, 2, plain.causal(3))[0], plain.multihead(x, params, 2, plain.causal(3)))
    close(m.multihead_attention(x, params, 2, memory=memory)[0], plain.multihead(x, params, 2, memory=memory))
    without = {name: params[name] for name in ("W_qkv", "W_o")}
    close(m.multihead_attention(x, without, 2)[0], plain.multihead(x, without, 2))
    raises(ValueError, m.multihead_attention, x, params, 3)
    raises(TypeError, m.multihead_attention, x, params, 2, np.ones((3, 3)))


def test_multihead_attention_backward(m):
    params, x, memory = part(plain.block_params(), "attn."), draw(2, 3, 4), draw(2, 5, 4, seed=1)
    dout = draw(2, 3, 4, seed=2)
    dx, grads = m.multihead_attention_backward(dout, m.multihead_attention(x, params, 2, plain.causal(3))[1])
    gradient_close(dx, quotients(lambda x: (plain.multihead(x, params, 2, plain.causal(3)) * dout).sum(), x))
    loss = lambda p: (plain.multihead(x, p, 2, plain.causal(3)) * dout).sum()
    all_close(grads, gradients_of_params(loss, params))
    dx, grads, dmemory = m.multihead_attention_backward(dout, m.multihead_attention(x, params, 2, memory=memory)[1])
    gradient_close(dx, quotients(lambda x: (plain.multihead(x, params, 2, memory=memory) * dout).sum(), x))
    gradient_close(dmemory, quotients(lambda y: (plain.multihead(x, params, 2, memory=y) * dout).sum(), memory))
    loss = lambda p: (plain.multihead(x, p, 2, memory=memory) * dout).sum()
    all_close(grads, gradients_of_params(loss, params))
