"""Checks of the rotation by position and its gradient."""

import numpy as np
import pytest

from autograder.engine.fixtures import Agree, Refuses, Unmodified
from autograder.engine.inputs import RandomInputs

graded = pytest.mark.graded
FLOAT32 = np.float32


@graded("llama_layers.rope")
def test_rope_one_pair(agree: Agree, draw: RandomInputs) -> None:
    """Vectors of two entries: one pair, turned by one radian from each position to the next"""
    agree(draw.normal(3, 2), np.arange(3, dtype=np.int64))


@graded("llama_layers.rope", points=2)
def test_rope_pairs(agree: Agree, draw: RandomInputs) -> None:
    """Several pairs, each with its own angle"""
    agree(draw.normal(5, 8), np.arange(5, dtype=np.int64))
    agree(draw.normal(4, 6), np.arange(4, dtype=np.int64))


@graded("llama_layers.rope")
def test_rope_batch(agree: Agree, draw: RandomInputs) -> None:
    """A batch of texts with heads, and other leading axes"""
    for shape in ((2, 3, 5, 8), (3, 4, 6), (2, 1, 3, 5, 4), (1, 1, 1, 2)):
        agree(draw.normal(*shape), np.arange(shape[-2], dtype=np.int64))


@graded("llama_layers.rope")
def test_rope_positions(agree: Agree, draw: RandomInputs) -> None:
    """Positions that do not start at 0, have gaps, repeat, or are not in order"""
    x = draw.normal(2, 4, 6)
    for positions in ([9, 10, 11, 12], [0, 3, 4, 20], [7, 0, 5, 5], [5, 5, 5, 5]):
        agree(x, np.array(positions, np.int64))


@graded("llama_layers.rope")
def test_rope_one_position(agree: Agree, draw: RandomInputs) -> None:
    """A single position, as when a text is continued token by token"""
    for position in (1, 6, 40):
        agree(draw.normal(2, 3, 1, 8), np.array([position], np.int64))


@graded("llama_layers.rope")
def test_rope_far(agree: Agree, draw: RandomInputs) -> None:
    """Positions far from the start: all digits of the angles count"""
    far = np.array([1000, 8191, 100_000], np.int64)
    agree(draw.normal(3, 8), far)
    agree(draw.normal(3, 64).astype(np.float32), far)  # Of 8 entries, most angles are exact in float32, too.


@graded("llama_layers.rope")
def test_rope_base(agree: Agree, draw: RandomInputs) -> None:
    """Other bases than 10,000"""
    x = draw.normal(2, 5, 8)
    agree(x, np.arange(5, dtype=np.int64), base=500_000.0)
    agree(x, np.arange(5, dtype=np.int64), 100.0)


@graded("llama_layers.rope", points=0.5)
def test_rope_angles(agree: Agree, draw: RandomInputs) -> None:
    """The angles per position themselves, in place of the base"""
    angles = tuple(np.abs(draw.normal(4)).tolist())
    agree(draw.normal(2, 5, 8), np.arange(5, dtype=np.int64), base=angles)
    agree(draw.normal(4, 8, dtype=FLOAT32), np.array([7, 0, 50, 3], np.int64), angles)
    agree(draw.normal(3, 6), np.arange(3, dtype=np.int64), np.array([1.0, 0.1, 0.004]))


@graded("llama_layers.rope")
def test_rope_dtypes(agree: Agree, draw: RandomInputs) -> None:
    """float32 stays float32, integers become float64"""
    agree(draw.normal(2, 5, 6, dtype=FLOAT32), np.arange(5, dtype=np.int64))
    agree(draw.integers(5, 6, low=-5, high=6), np.arange(5, dtype=np.int64))


@graded("llama_layers.rope")
def test_rope_inputs_kept(unmodified: Unmodified, draw: RandomInputs) -> None:
    """The vectors and the positions are not changed"""
    unmodified(draw.normal(2, 5, 6), np.arange(5, dtype=np.int64))


@graded("llama_layers.rope", points=0.25)
def test_rope_errors(refuses: Refuses, draw: RandomInputs) -> None:
    """The documented error: vectors of odd length cannot be cut into pairs"""
    refuses(draw.normal(4, 5), np.arange(4, dtype=np.int64))
    refuses(draw.normal(2, 3, 4, 1), np.arange(4, dtype=np.int64))


@graded("llama_layers.rope_backward", points=2)
def test_rope_gradient(agree: Agree, draw: RandomInputs) -> None:
    """Several pairs, a random upstream gradient"""
    agree(draw.normal(5, 8), np.arange(5, dtype=np.int64))
    agree(draw.normal(3, 2), np.arange(3, dtype=np.int64))


@graded("llama_layers.rope_backward")
def test_rope_gradient_batch(agree: Agree, draw: RandomInputs) -> None:
    """A batch of texts with heads, and other leading axes"""
    for shape in ((2, 3, 5, 8), (3, 4, 6), (1, 1, 1, 2)):
        agree(draw.normal(*shape), np.arange(shape[-2], dtype=np.int64))


@graded("llama_layers.rope_backward")
def test_rope_gradient_positions(agree: Agree, draw: RandomInputs) -> None:
    """Other positions, and another base"""
    dout = draw.normal(2, 4, 6)
    for positions in ([7, 0, 5, 5], [9, 10, 11, 12], [0, 3, 4, 20]):
        agree(dout, np.array(positions, np.int64))
    agree(dout, np.arange(4, dtype=np.int64), base=500_000.0)
    agree(dout, np.array([0, 2, 30, 8], np.int64), 100.0)


@graded("llama_layers.rope_backward")
def test_rope_gradient_float32(agree: Agree, draw: RandomInputs) -> None:
    """float32 stays float32"""
    agree(draw.normal(2, 5, 6, dtype=FLOAT32), np.arange(5, dtype=np.int64))


@graded("llama_layers.rope_backward")
def test_rope_gradient_inputs_kept(unmodified: Unmodified, draw: RandomInputs) -> None:
    """The upstream gradient and the positions are not changed"""
    unmodified(draw.normal(2, 5, 6), np.arange(5, dtype=np.int64))
