"""Checks of `blocks`: the transformer block."""

from typing import Any

import numpy as np
import pytest

from autograder.courses.transformer.common.checks.shapes import block_shapes
from autograder.engine.fixtures import Agree, Backward, Refuses, Stages, Unmodified
from autograder.engine.inputs import Array, RandomInputs

graded = pytest.mark.graded
FLOAT32 = np.float32
BIASES = ("attn.b_qkv", "attn.b_o", "ffn.b_1", "ffn.b_2")

# Each query attends to itself and to earlier positions.
CAUSAL = np.tri(5, dtype=bool)
# (2, 1, 1, 5), as `padding_mask` returns it: the last tokens of both texts are padding.
PADDING = np.array([[True, True, True, False, False], [True, True, True, True, False]])[:, None, None, :]


def _params(
    draw: RandomInputs, d: int, f: int, *, without: tuple[str, ...] = (), dtype: Any = np.float64
) -> dict[str, Array]:
    """Return random parameters, none near its usual initial value."""
    params = {name: draw.normal(*shape, scale=0.5, dtype=dtype) for name, shape in block_shapes(d, f).items()}
    for gain in ("ln1.gamma", "ln2.gamma"):
        params[gain] += FLOAT32(1.5)
    return {name: value for name, value in params.items() if name not in without}


@graded("blocks.block", points=2)
def test_pre_norm(agree: Agree, draw: RandomInputs) -> None:
    """The norm before each step"""
    x, params = draw.normal(2, 5, 6), _params(draw, 6, 7)
    agree(x, params, 2)
    agree(x, params, 3, norm="pre", activation="gelu")


@graded("blocks.block", points=2)
def test_post_norm(agree: Agree, draw: RandomInputs) -> None:
    """The norm after each step"""
    agree(draw.normal(2, 5, 6), _params(draw, 6, 7), 2, norm="post", activation="gelu")


@graded("blocks.block")
def test_relu(agree: Agree, draw: RandomInputs) -> None:
    """ReLU, with the norm before each step"""
    agree(draw.normal(2, 5, 6), _params(draw, 6, 7), 2, activation="relu")


@graded("blocks.block", points=0.25)
def test_relu_post_norm(agree: Agree, draw: RandomInputs) -> None:
    """ReLU, with the norm after each step"""
    agree(draw.normal(2, 5, 6), _params(draw, 6, 7), 2, norm="post", activation="relu")


@graded("blocks.block")
def test_masks(agree: Agree, draw: RandomInputs) -> None:
    """A causal mask, a padding mask, a mask for each head"""
    x, params = draw.normal(2, 5, 6), _params(draw, 6, 7)
    agree(x, params, 2, CAUSAL)
    agree(x, params, 2, mask=PADDING, norm="post")
    agree(x, params, 2, mask=draw.booleans(2, 2, 5, 5) | np.eye(5, dtype=bool))


@graded("blocks.block")
def test_sees_nothing(agree: Agree, draw: RandomInputs) -> None:
    """Queries that may attend to no key"""
    x, params, mask = draw.normal(2, 5, 6), _params(draw, 6, 7), CAUSAL.copy()
    mask[[0, 3]] = False
    agree(x, params, 2, mask=mask)
    agree(x, params, 2, mask=mask, norm="post")


@graded("blocks.block")
def test_axes(agree: Agree, draw: RandomInputs) -> None:
    """2-D and 4-D x, a single token, a single head"""
    params = _params(draw, 4, 6)
    agree(draw.normal(5, 4), params, 2, mask=CAUSAL)
    agree(draw.normal(2, 3, 5, 4), params, 2, mask=CAUSAL)
    agree(draw.normal(1, 1, 4), params, 1)


@graded("blocks.block")
def test_without_biases(agree: Agree, draw: RandomInputs) -> None:
    """Without biases"""
    x = draw.normal(2, 5, 4)
    agree(x, _params(draw, 4, 6, without=BIASES), 2)
    agree(x, _params(draw, 4, 6, without=BIASES), 2, norm="post")


@graded("blocks.block", points=0.25)
def test_without_last_biases(agree: Agree, draw: RandomInputs) -> None:
    """Without the second bias of each step"""
    agree(draw.normal(2, 5, 4), _params(draw, 4, 6, without=("attn.b_o", "ffn.b_2")), 2)


@graded("blocks.block", points=0.25)
def test_without_ffn_biases(agree: Agree, draw: RandomInputs) -> None:
    """Without the biases of the feed-forward network"""
    agree(draw.normal(2, 5, 4), _params(draw, 4, 6, without=("ffn.b_1", "ffn.b_2")), 2, norm="post")


@graded("blocks.block")
def test_dtypes(agree: Agree, draw: RandomInputs) -> None:
    """float32 stays float32"""
    params = _params(draw, 4, 6, dtype=FLOAT32)
    for norm in ("pre", "post"):
        agree(draw.normal(2, 5, 4, dtype=FLOAT32), params, 2, mask=CAUSAL, norm=norm)


@graded("blocks.block", points=0.25)
def test_dtypes_without_biases(agree: Agree, draw: RandomInputs) -> None:
    """float32 stays float32 without biases, too"""
    agree(draw.normal(2, 5, 4, dtype=FLOAT32), _params(draw, 4, 6, without=BIASES, dtype=FLOAT32), 2)


@graded("blocks.block")
def test_stages(stages: Stages, draw: RandomInputs) -> None:
    """The cache holds the weights and the residual stream after each step: the norm before each step"""
    stages(draw.normal(2, 5, 6), _params(draw, 6, 7), 2, mask=CAUSAL)


@graded("blocks.block", points=0.25)
def test_stages_post_norm(stages: Stages, draw: RandomInputs) -> None:
    """The cache holds the weights and the residual stream after each step: the norm after each step"""
    stages(draw.normal(2, 5, 6), _params(draw, 6, 7), 3, mask=PADDING, norm="post")


@graded("blocks.block")
def test_inputs_kept(unmodified: Unmodified, draw: RandomInputs) -> None:
    """The input, the parameters and the mask are not changed: the norm before each step"""
    unmodified(draw.normal(2, 5, 4), _params(draw, 4, 6), 2, mask=CAUSAL)


@graded("blocks.block", points=0.25)
def test_inputs_kept_post_norm(unmodified: Unmodified, draw: RandomInputs) -> None:
    """The input, the parameters and the mask are not changed: the norm after each step"""
    unmodified(draw.normal(2, 5, 4), _params(draw, 4, 6, without=BIASES), 2, mask=CAUSAL, norm="post")


@graded("blocks.block")
def test_dropout(agree: Agree, draw: RandomInputs) -> None:
    """Dropout of what each step returns, with rng: the norm before each step"""
    agree(draw.normal(2, 5, 6), _params(draw, 6, 7), 2, mask=CAUSAL, dropout=0.25, rng=draw.rng())


@graded("blocks.block", points=0.25)
def test_dropout_post_norm(agree: Agree, draw: RandomInputs) -> None:
    """Dropout of what each step returns, with rng: the norm after each step"""
    agree(draw.normal(2, 5, 6), _params(draw, 6, 7), 2, norm="post", activation="relu", dropout=0.4, rng=draw.rng())


@graded("blocks.block", points=0.25)
def test_no_dropout(agree: Agree, draw: RandomInputs) -> None:
    """Without rng, and with dropout 0, nothing is dropped"""
    x, params = draw.normal(2, 5, 4), _params(draw, 4, 6)
    agree(x, params, 2, dropout=0.4)
    agree(x, params, 2, norm="post", dropout=0.4)
    agree(x, params, 2, rng=draw.rng())


@graded("blocks.block", points=0.25)
def test_dropout_float32(agree: Agree, draw: RandomInputs) -> None:
    """float32 stays float32 with dropout, too"""
    x, params = draw.normal(2, 5, 4, dtype=FLOAT32), _params(draw, 4, 6, dtype=FLOAT32)
    agree(x, params, 2, dropout=0.4, rng=draw.rng())


@graded("blocks.block", points=0.25)
def test_dropout_errors(refuses: Refuses, draw: RandomInputs) -> None:
    """The documented errors: a dropout of 1, or below 0, with and without rng"""
    x, params = draw.normal(3, 4), _params(draw, 4, 6)
    refuses(x, params, 2, dropout=1.0, rng=draw.rng())
    refuses(x, params, 2, dropout=-0.25, rng=draw.rng())
    refuses(x, params, 2, dropout=1.0)


@graded("blocks.block", points=0.25)
def test_errors(refuses: Refuses, draw: RandomInputs) -> None:
    """The documented errors: an unknown norm, an unknown activation"""
    x, params = draw.normal(3, 4), _params(draw, 4, 6)
    refuses(x, params, 2, norm="both")
    refuses(x, params, 2, activation="tanh")
    refuses(x, params, 2, norm="post", activation="swish")


@graded("blocks.block_backward", points=2)
def test_pre_norm_gradient(backward: Backward, draw: RandomInputs) -> None:
    """The norm before each step"""
    backward(draw.normal(2, 5, 6), draw.normal(2, 5, 6), _params(draw, 6, 7), 2)


@graded("blocks.block_backward", points=2)
def test_post_norm_gradient(backward: Backward, draw: RandomInputs) -> None:
    """The norm after each step"""
    dout, x, params = draw.normal(2, 5, 6), draw.normal(2, 5, 6), _params(draw, 6, 7)
    backward(dout, x, params, 2, norm="post")


@graded("blocks.block_backward")
def test_relu_gradient(backward: Backward, draw: RandomInputs) -> None:
    """ReLU, in both forms"""
    dout, x, params = draw.normal(2, 5, 4), draw.normal(2, 5, 4), _params(draw, 4, 6)
    for norm in ("pre", "post"):
        backward(dout, x, params, 2, norm=norm, activation="relu")


@graded("blocks.block_backward")
def test_masks_gradient(backward: Backward, draw: RandomInputs) -> None:
    """A causal mask, a padding mask, queries that may attend to no key"""
    dout, x, params = draw.normal(2, 5, 4), draw.normal(2, 5, 4), _params(draw, 4, 6)
    nothing = CAUSAL.copy()
    nothing[[0, 3]] = False
    for mask in (CAUSAL, PADDING, nothing):
        backward(dout, x, params, 2, mask=mask)
    backward(dout, x, params, 2, mask=nothing, norm="post")


@graded("blocks.block_backward")
def test_axes_gradient(backward: Backward, draw: RandomInputs) -> None:
    """2-D and 4-D x, a single token, a single head"""
    params = _params(draw, 4, 6)
    for shape, n_heads in (((5, 4), 2), ((2, 3, 5, 4), 2), ((1, 1, 4), 1)):
        backward(draw.normal(*shape), draw.normal(*shape), params, n_heads)


@graded("blocks.block_backward")
def test_without_biases_gradient(backward: Backward, draw: RandomInputs) -> None:
    """No bias, no gradient for it"""
    dout, x = draw.normal(2, 5, 4), draw.normal(2, 5, 4)
    for without, norm in ((BIASES, "pre"), (BIASES, "post"), (("attn.b_o", "ffn.b_1"), "pre")):
        backward(dout, x, _params(draw, 4, 6, without=without), 2, norm=norm)


@graded("blocks.block_backward")
def test_caches(backward: Backward, draw: RandomInputs) -> None:
    """Two caches at once; the same cache used twice"""
    calls = [(draw.normal(3, 4), draw.normal(3, 4), _params(draw, 4, 6), norm) for norm in ("pre", "post")]
    caches = [backward.cache(x, params, 2, norm=norm) for _, x, params, norm in calls]
    for (dout, x, params, norm), cache in zip(calls * 2, caches * 2, strict=True):
        backward(dout, x, params, 2, norm=norm, on=cache)


@graded("blocks.block_backward")
def test_dropout_gradient(backward: Backward, draw: RandomInputs) -> None:
    """Dropout: the gradient of each step goes through its mask, the norm before each step"""
    dout, x, params = draw.normal(2, 5, 6), draw.normal(2, 5, 6), _params(draw, 6, 7)
    backward(dout, x, params, 2, mask=CAUSAL, dropout=0.25, rng=draw.rng())


@graded("blocks.block_backward", points=0.25)
def test_dropout_post_norm_gradient(backward: Backward, draw: RandomInputs) -> None:
    """Dropout: the gradient of each step goes through its mask, the norm after each step"""
    dout, x, params = draw.normal(2, 5, 6), draw.normal(2, 5, 6), _params(draw, 6, 7)
    backward(dout, x, params, 2, norm="post", activation="relu", dropout=0.4, rng=draw.rng())


@graded("blocks.block_backward")
def test_float32_gradient(backward: Backward, draw: RandomInputs) -> None:
    """float32 stays float32"""
    dout, x = draw.normal(2, 5, 4, dtype=FLOAT32), draw.normal(2, 5, 4, dtype=FLOAT32)
    params = _params(draw, 4, 6, dtype=FLOAT32)
    for norm in ("pre", "post"):
        backward(dout, x, params, 2, norm=norm)


@graded("blocks.block_backward")
def test_inputs_kept_gradient(backward: Backward, unmodified: Unmodified, draw: RandomInputs) -> None:
    """The upstream gradient is not changed"""
    for norm in ("pre", "post"):
        cache = backward.cache(draw.normal(2, 5, 4), _params(draw, 4, 6), 2, norm=norm)
        unmodified(draw.normal(2, 5, 4), cache)
