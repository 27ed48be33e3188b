"""Checks of `multihead`: multi-head attention."""

from typing import Any

import numpy as np
import pytest

from autograder.courses.transformer.common.checks.masks import random_mask
from autograder.engine.fixtures import Agree, Backward, Refuses, Stages, Unmodified
from autograder.engine.inputs import Array, RandomInputs
from autograder.engine.student import StudentCode

graded = pytest.mark.graded
FLOAT32 = np.float32


def _params(
    draw: RandomInputs, d_model: int, *, biases: tuple[str, ...] = ("b_qkv", "b_o"), dtype: Any = np.float64
) -> dict[str, Array]:
    """Return random parameters; the biases that are not named are absent."""
    shapes = {"W_qkv": (d_model, 3 * d_model), "b_qkv": (3 * d_model,), "W_o": (d_model, d_model), "b_o": (d_model,)}
    return {
        name: draw.normal(*shape, scale=0.5, dtype=dtype)
        for name, shape in shapes.items()
        if name.startswith("W") or name in biases
    }


@graded("multihead.split_heads")
def test_split_batch(agree: Agree, draw: RandomInputs) -> None:
    """A batch: each head gets neighboring columns"""
    agree(draw.normal(2, 5, 12), 3)


@graded("multihead.split_heads")
def test_split_axes(agree: Agree, draw: RandomInputs) -> None:
    """No batch axis, and two"""
    agree(draw.normal(4, 6), 2)
    agree(draw.normal(2, 3, 4, 10), 5)


@graded("multihead.split_heads")
def test_split_edges(agree: Agree, draw: RandomInputs) -> None:
    """One head, heads of one column, one position; float32"""
    agree(draw.normal(2, 3, 4), 1)
    agree(draw.normal(2, 3, 4), 4)
    agree(draw.normal(1, 1, 6, dtype=FLOAT32), 2)


@graded("multihead.split_heads", points=0.25)
def test_split_errors(refuses: Refuses, draw: RandomInputs) -> None:
    """The documented error: a width that is not a multiple of the number of heads"""
    refuses(draw.normal(3, 7), 2)
    refuses(draw.normal(4, 2, 6), n_heads=12)
    refuses(draw.normal(1, 4, 10), 4)  # 40 values fit into 4 heads, but not those of one position


@graded("multihead.merge_heads")
def test_merge_batch(agree: Agree, draw: RandomInputs) -> None:
    """A batch: the heads side by side"""
    agree(draw.normal(2, 3, 5, 4))


@graded("multihead.merge_heads")
def test_merge_axes(agree: Agree, draw: RandomInputs) -> None:
    """No batch axis, and two"""
    agree(draw.normal(2, 4, 3))
    agree(draw.normal(2, 3, 4, 5, 6))


@graded("multihead.merge_heads")
def test_merge_edges(agree: Agree, draw: RandomInputs) -> None:
    """One head, heads of one column, one position; float32"""
    agree(draw.normal(2, 1, 3, 4))
    agree(draw.normal(2, 4, 3, 1))
    agree(draw.normal(1, 3, 1, 2, dtype=FLOAT32))


@graded("multihead.multihead_attention", points=2)
def test_self(agree: Agree, draw: RandomInputs) -> None:
    """Self attention of a batch"""
    agree(draw.normal(4, 5, 6), _params(draw, 6), 2)


@graded("multihead.multihead_attention")
def test_weights(stages: Stages, draw: RandomInputs) -> None:
    """The cache entry "weights" holds the weights of each head"""
    x, memory, params = draw.normal(2, 5, 12), draw.normal(2, 7, 12), _params(draw, 12)
    stages(x, params, 3, None, None)
    stages(x, params, 3, random_mask(draw, 2, 1, 5, 5), None)
    stages(x, params, 3, None, memory)
    stages(x[0], params, 3, None, None)


@graded("multihead.multihead_attention")
def test_biases_absent(agree: Agree, draw: RandomInputs) -> None:
    """Without biases, or with only one of them"""
    x = draw.normal(2, 5, 6)
    for biases in [(), ("b_qkv",), ("b_o",)]:
        agree(x, _params(draw, 6, biases=biases), 3)


@graded("multihead.multihead_attention")
def test_axes(agree: Agree, draw: RandomInputs) -> None:
    """No batch axis, and two"""
    params = _params(draw, 6)
    agree(draw.normal(4, 6), params, 3)
    agree(draw.normal(2, 3, 4, 6), params, 2)


@graded("multihead.multihead_attention")
def test_head_counts(agree: Agree, draw: RandomInputs) -> None:
    """One head, heads of one column, a single position"""
    params = _params(draw, 4)
    agree(draw.normal(2, 3, 4), params, 1)
    agree(draw.normal(2, 3, 4), params, 4)
    agree(draw.normal(1, 1, 4), params, 2)


@graded("multihead.multihead_attention")
def test_causal(agree: Agree, draw: RandomInputs) -> None:
    """The causal mask, and another one of shape (T, S)"""
    x, params = draw.normal(2, 5, 6), _params(draw, 6)
    agree(x, params, 3, mask=np.tri(5, dtype=bool))
    agree(x, params, 3, random_mask(draw, 5, 5))


@graded("multihead.multihead_attention")
def test_masks(agree: Agree, draw: RandomInputs) -> None:
    """Padding, a mask for each text, a mask for each head"""
    x, params = draw.normal(2, 5, 6), _params(draw, 6)
    for shape in [(2, 1, 1, 5), (2, 1, 5, 5), (2, 3, 5, 5), (3, 5, 5)]:
        agree(x, params, 3, mask=random_mask(draw, *shape))


@graded("multihead.multihead_attention")
def test_sees_nothing(agree: Agree, draw: RandomInputs) -> None:
    """A query that may attend to no key; a text that is all padding"""
    x, params = draw.normal(2, 4, 6), _params(draw, 6)
    agree(x, params, 2, mask=np.tri(4, k=-1, dtype=bool))
    agree(x, params, 2, mask=np.array([[True, True, False, True], [False] * 4])[:, None, None])


@graded("multihead.multihead_attention", points=2)
def test_cross(agree: Agree, draw: RandomInputs) -> None:
    """Cross attention: longer and shorter memories, with and without biases"""
    x, params = draw.normal(2, 5, 6), _params(draw, 6)
    agree(x, params, 3, memory=draw.normal(2, 7, 6))
    agree(x, params, 2, memory=draw.normal(2, 1, 6))
    agree(x, params, 2, memory=draw.normal(2, 5, 6))
    agree(x, _params(draw, 6, biases=()), 3, memory=draw.normal(2, 4, 6))


@graded("multihead.multihead_attention")
def test_cross_masks(agree: Agree, draw: RandomInputs) -> None:
    """Cross attention with masks, and without a batch axis"""
    x, memory, params = draw.normal(2, 5, 6), draw.normal(2, 4, 6), _params(draw, 6)
    agree(x, params, 3, mask=np.array([[True] * 4, [True, True, False, False]])[:, None, None], memory=memory)
    agree(x[0], params, 2, mask=random_mask(draw, 5, 4), memory=memory[0])


@graded("multihead.multihead_attention")
def test_large(agree: Agree, draw: RandomInputs) -> None:
    """Large inputs: no overflow"""
    agree(draw.normal(2, 5, 6, scale=64), _params(draw, 6), 3)


@graded("multihead.multihead_attention")
def test_float32(agree: Agree, draw: RandomInputs) -> None:
    """float32 stays float32, with a mask and a memory too"""
    x, memory, params = (
        draw.normal(2, 5, 6, dtype=FLOAT32),
        draw.normal(2, 4, 6, dtype=FLOAT32),
        _params(draw, 6, dtype=FLOAT32),
    )
    agree(x, params, 3)
    agree(x, params, 3, mask=np.tri(5, 4, dtype=bool), memory=memory)
    agree(x, _params(draw, 6, biases=(), dtype=FLOAT32), 3)


@graded("multihead.multihead_attention")
def test_inputs_kept(unmodified: Unmodified, draw: RandomInputs) -> None:
    """The inputs, parameters and masks are not changed"""
    x, params = draw.normal(2, 4, 6), _params(draw, 6)
    unmodified(x, params, 3)
    unmodified(x, params, 3, mask=np.tri(4, k=-1, dtype=bool))
    unmodified(x, params, 3, memory=draw.normal(2, 5, 6))


@graded("multihead.multihead_attention", points=0.25)
def test_params_kept(unmodified: Unmodified, draw: RandomInputs) -> None:
    """Absent biases are not put into params"""
    unmodified(draw.normal(2, 4, 6), _params(draw, 6, biases=()), 3)


@graded("multihead.multihead_attention", points=0.25)
def test_errors(refuses: Refuses, draw: RandomInputs) -> None:
    """The documented errors: heads of different sizes, and masks that do not fit or are not boolean"""
    x, params = draw.normal(2, 5, 6), _params(draw, 6)
    mask = random_mask(draw, 5, 5)
    refuses(x, params, 4)
    refuses(x, params, 3, mask=np.where(mask, 0.0, -np.inf), error="TypeError")
    refuses(x, params, 3, mask=mask.astype(np.int64), error="TypeError")
    refuses(x, params, 3, mask=random_mask(draw, 2, 5, 5))  # without an axis for the heads
    refuses(x, params, 3, mask=random_mask(draw, 5, 4))
    refuses(x, params, 3, mask=random_mask(draw, 5, 5), memory=draw.normal(2, 4, 6))


@graded("multihead.multihead_attention_backward", points=2)
def test_gradient_self(backward: Backward, draw: RandomInputs) -> None:
    """Self attention of a batch"""
    backward(draw.normal(4, 5, 6), draw.normal(4, 5, 6), _params(draw, 6), 2)


@graded("multihead.multihead_attention_backward", points=2)
def test_gradient_cross(backward: Backward, draw: RandomInputs) -> None:
    """Cross attention: the memory has its own gradient"""
    x, params = draw.normal(2, 5, 6), _params(draw, 6)
    backward(draw.normal(2, 5, 6), x, params, 3, memory=draw.normal(2, 7, 6))
    backward(draw.normal(2, 5, 6), x, params, 2, memory=draw.normal(2, 5, 6))


@graded("multihead.multihead_attention_backward")
def test_gradient_biases_absent(backward: Backward, draw: RandomInputs) -> None:
    """Without biases, or with only one: gradients with the same keys"""
    x = draw.normal(2, 4, 6)
    for biases in [(), ("b_qkv",), ("b_o",)]:
        backward(draw.normal(2, 4, 6), x, _params(draw, 6, biases=biases), 3)
    backward(draw.normal(2, 4, 6), x, _params(draw, 6, biases=()), 3, memory=draw.normal(2, 5, 6))


@graded("multihead.multihead_attention_backward")
def test_gradient_masked(backward: Backward, draw: RandomInputs) -> None:
    """The causal mask, a mask for each text, padding in the memory"""
    x, params = draw.normal(2, 5, 6), _params(draw, 6)
    backward(draw.normal(2, 5, 6), x, params, 3, mask=np.tri(5, dtype=bool))
    backward(draw.normal(2, 5, 6), x, params, 3, mask=random_mask(draw, 2, 1, 5, 5))
    padding = np.array([[True] * 4, [True, True, False, False]])[:, None, None]
    backward(draw.normal(2, 5, 6), x, params, 3, mask=padding, memory=draw.normal(2, 4, 6))


@graded("multihead.multihead_attention_backward")
def test_gradient_sees_nothing(backward: Backward, draw: RandomInputs) -> None:
    """A query that attended to no key; a text that is all padding"""
    x, params = draw.normal(2, 4, 6), _params(draw, 6)
    backward(draw.normal(2, 4, 6), x, params, 2, mask=np.tri(4, k=-1, dtype=bool))
    padding = np.array([[True, True, False, True], [False] * 4])[:, None, None]
    backward(draw.normal(2, 4, 6), x, params, 2, mask=padding)


@graded("multihead.multihead_attention_backward")
def test_gradient_axes(backward: Backward, draw: RandomInputs) -> None:
    """No batch axis, and two"""
    params = _params(draw, 6)
    backward(draw.normal(4, 6), draw.normal(4, 6), params, 3)
    backward(draw.normal(2, 3, 4, 6), draw.normal(2, 3, 4, 6), params, 2)
    backward(draw.normal(4, 6), draw.normal(4, 6), params, 2, memory=draw.normal(5, 6))


@graded("multihead.multihead_attention_backward")
def test_gradient_head_counts(backward: Backward, draw: RandomInputs) -> None:
    """One head, heads of one column, a single position"""
    params = _params(draw, 4)
    backward(draw.normal(2, 3, 4), draw.normal(2, 3, 4), params, 1)
    backward(draw.normal(2, 3, 4), draw.normal(2, 3, 4), params, 4)
    backward(draw.normal(1, 1, 4), draw.normal(1, 1, 4), params, 2)


@graded("multihead.multihead_attention_backward")
def test_gradient_float32(backward: Backward, draw: RandomInputs) -> None:
    """float32 stays float32"""
    x, params = draw.normal(2, 4, 6, dtype=FLOAT32), _params(draw, 6, dtype=FLOAT32)
    backward(draw.normal(2, 4, 6, dtype=FLOAT32), x, params, 3, mask=np.tri(4, dtype=bool))
    backward(draw.normal(2, 4, 6, dtype=FLOAT32), x, params, 3, memory=draw.normal(2, 5, 6, dtype=FLOAT32))


@graded("multihead.multihead_attention_backward")
def test_gradient_twice(backward: Backward, student: StudentCode, draw: RandomInputs) -> None:
    """Each cache belongs to its own forward pass and can be used twice"""
    x, other, params = draw.normal(2, 4, 6), draw.normal(2, 4, 6), _params(draw, 6)
    first = backward.cache(x, params, 3)
    second = backward.cache(other, _params(draw, 6), 2)
    dout = draw.normal(2, 4, 6)
    backward(dout, x, params, 3, on=first)
    student.multihead.multihead_attention_backward(dout, second)
    backward(dout, x, params, 3, on=first)


@graded("multihead.multihead_attention_backward")
def test_gradient_inputs_kept(backward: Backward, unmodified: Unmodified, draw: RandomInputs) -> None:
    """The upstream gradient and the cache are not changed"""
    x, params = draw.normal(2, 4, 6), _params(draw, 6)
    unmodified(draw.normal(2, 4, 6), backward.cache(x, params, 3))
    unmodified(draw.normal(2, 4, 6), backward.cache(x, params, 3, memory=draw.normal(2, 5, 6)))
