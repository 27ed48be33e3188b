"""Tests of `blocks`."""

from autograder.benchmark.docstring_tests import plain
from autograder.benchmark.docstring_tests.plain import (
    all_close,
    close,
    draw,
    gradient_close,
    gradients_of_params,
    quotients,
    raises,
)


def test_block(m):
    params, x = plain.block_params(), draw(2, 3, 4)
    for norm in ("pre", "post"):
        for activation in ("gelu", "relu"):
            for mask in (None, plain.causal(3)):
                out, cache = m.block(x, params, 2, mask, norm, activation)
                close(out, plain.block(x, params, 2, mask, norm, activation))
                close(cache["after_ffn"], out)
                assert cache["weights"].shape == (2, 2, 3, 3)
    close(m.block(x, params, 2)[0], plain.block(x, params, 2))
    raises(ValueError, m.block, x, params, 2, norm="none")
    raises(ValueError, m.block, x, params, 2, activation="tanh")
    raises(ValueError, m.block, x, params, 2, dropout=1.0)


def test_block_backward(m):
    params, x, dout, mask = plain.block_params(), draw(2, 3, 4), draw(2, 3, 4, seed=1), plain.causal(3)
    for norm in ("pre", "post"):
        dx, grads = m.block_backward(dout, m.block(x, params, 2, mask, norm)[1])
        gradient_close(dx, quotients(lambda x, n=norm: (plain.block(x, params, 2, mask, n) * dout).sum(), x))
        loss = lambda p, n=norm: (plain.block(x, p, 2, mask, n) * dout).sum()
        all_close(grads, gradients_of_params(loss, params))
