"""Checks of dropout and its gradient."""

import math
from typing import Any

import numpy as np
import pytest

from autograder.engine.fixtures import Agree, Compare, Refuses, Unmodified
from autograder.engine.inputs import Array, RandomInputs
from autograder.engine.student import StudentCode
from autograder.errors import Mismatch

graded = pytest.mark.graded
FLOAT32 = np.float32


def _mask_of(value: Any, x: Array, p: float, compare: Compare) -> Array:
    """Return the mask that `dropout` returned, after checking that it is one and that the output is `x` times it."""
    mask = value[1] if isinstance(value, tuple) and len(value) == 2 else None
    kept = mask != 0 if isinstance(mask, np.ndarray) and mask.shape == x.shape else np.ones(x.shape, bool)
    dtype = x.dtype if x.dtype.kind == "f" else np.float64
    scaled = np.where(kept, 1 / (1 - p), 0.0).astype(dtype)
    compare(value, (x * scaled, scaled))
    return scaled


def _spread(share: float, count: int) -> float:
    """Return six standard deviations of a relative frequency: correct code exceeds them once in 500 million runs."""
    return 6 * math.sqrt(share * (1 - share) / count)


@graded("ffn.dropout")
def test_dropout_scale(student: StudentCode, compare: Compare, draw: RandomInputs) -> None:
    """Dropped values are 0, kept ones divided by 1 - p"""
    masks = []
    for shape, p in (((4, 5, 6), 0.2), ((40,), 0.75)):
        x = draw.normal(*shape)
        masks.append(_mask_of(student.ffn.dropout(x, p, draw.rng()), x, p, compare))
    # Correct code drops all or none of the 160 values once in 10³⁵ runs.
    if all(mask.all() for mask in masks) or not any(mask.any() for mask in masks):
        raise Mismatch(f"dropout dropped {'no' if masks[0].all() else 'every'} value, with p=0.2 and with p=0.75")


@graded("ffn.dropout")
def test_dropout_share(student: StudentCode, compare: Compare, draw: RandomInputs) -> None:
    """A share p of all values is dropped"""
    x = draw.uniform(16, 16, 16, low=1.0, high=2.0)
    for p in (0.1, 0.75):
        mask = _mask_of(student.ffn.dropout(x, p, draw.rng()), x, p, compare)
        dropped = 1 - np.count_nonzero(mask) / mask.size
        if abs(dropped - p) > _spread(p, mask.size):
            raise Mismatch(f"dropout with p={p} dropped {dropped:.3f} of {mask.size} values")


@graded("ffn.dropout")
def test_dropout_every_value(student: StudentCode, compare: Compare, draw: RandomInputs) -> None:
    """Every value is dropped independently, along every axis"""
    x, p = draw.normal(6, 8, 10, 12), 0.5
    kept = _mask_of(student.ffn.dropout(x, p, draw.rng()), x, p, compare) != 0
    for axis in range(kept.ndim):
        # Independent neighbors agree half of the time.
        agreeing = ~np.diff(kept, axis=axis)
        if abs(agreeing.mean() - 0.5) > _spread(0.5, agreeing.size):
            raise Mismatch(
                f"along axis {axis}, {agreeing.mean():.0%} of neighboring values are dropped or kept together, "
                "expected about 50%",
                help="draw one random number for each value of x, not one for a whole row",
            )
    # About 32 ± 4 of 64 values are dropped; independent draws give the same count 14 times once in 10¹³ runs.
    x = draw.normal(4, 16)
    masks = [_mask_of(student.ffn.dropout(x, p, draw.rng()), x, p, compare) for _ in range(14)]
    if len({np.count_nonzero(mask) for mask in masks}) == 1:
        raise Mismatch(
            f"14 times exactly {np.count_nonzero(masks[0] == 0)} of 64 values were dropped",
            help="drop each value with probability p, independently of the others",
        )


@graded("ffn.dropout")
def test_dropout_rng(student: StudentCode, compare: Compare, draw: RandomInputs) -> None:
    """The random numbers come from rng"""
    x, p, seeds = draw.normal(8, 16), 0.5, (draw.rng(), draw.rng())
    masks = [_mask_of(student.ffn.dropout(x, p, rng), x, p, compare) for rng in (seeds[0], seeds[0], seeds[1])]
    if (masks[0] != masks[1]).any():
        raise Mismatch("the same seed gave two different masks", help="draw from rng, not from np.random")
    if (masks[0] == masks[2]).all():
        raise Mismatch("two different seeds gave the same mask", help="draw from rng, do not make a new generator")


@graded("ffn.dropout", points=0.25)
def test_dropout_draw(student: StudentCode, compare: Compare, draw: RandomInputs) -> None:
    """A value is kept where `rng.random(x.shape)` is at least p"""
    for p, dtype in ((0.2, np.float64), (0.75, np.float64), (0.4, FLOAT32)):
        x, rng = draw.normal(3, 4, 5, dtype=dtype), draw.rng()
        mask = _mask_of(student.ffn.dropout(x, p, rng), x, p, compare)
        wrong = (mask != 0) != (np.random.default_rng(rng.seed).random(x.shape) >= p)
        if wrong.any():
            raise Mismatch(
                f"{np.count_nonzero(wrong)} of {wrong.size} values were dropped or kept against `rng.random(x.shape)`",
                help="call rng.random(x.shape) once, and compare the result with p",
            )


@graded("ffn.dropout", alone=False)
def test_dropout_off(student: StudentCode, compare: Compare, draw: RandomInputs) -> None:
    """Not training, or p = 0: the input is returned, and the mask is 1"""
    x = draw.normal(4, 5, 6)
    for p, training in ((0.5, False), (0.0, True), (0.0, False)):
        value = student.ffn.dropout(x, p, draw.rng(), training=training)
        compare(value, (x, np.ones(x.shape)))


@graded("ffn.dropout", points=0.25, alone=False)
def test_dropout_without_rng(student: StudentCode, compare: Compare, draw: RandomInputs) -> None:
    """Not training, or p = 0: nothing is drawn, so rng may be None"""
    x = draw.normal(4, 5)
    for p, training in ((0.5, False), (0.0, True)):
        compare(student.ffn.dropout(x, p, None, training=training), (x, np.ones(x.shape)))


@graded("ffn.dropout", alone=False)
def test_dropout_dtypes(student: StudentCode, compare: Compare, draw: RandomInputs) -> None:
    """float32 stays float32, integers become float64"""
    for x in (draw.normal(4, 5, dtype=FLOAT32), draw.integers(4, 5, low=-5, high=6)):
        _mask_of(student.ffn.dropout(x, 0.3, draw.rng()), x, 0.3, compare)
        _mask_of(student.ffn.dropout(x, 0.3, draw.rng(), training=False), x, 0.0, compare)


@graded("ffn.dropout")
def test_dropout_inputs_kept(unmodified: Unmodified, draw: RandomInputs) -> None:
    """The input is not changed"""
    unmodified(draw.normal(4, 5), 0.5, draw.rng())


@graded("ffn.dropout", points=0.25)
def test_dropout_errors(refuses: Refuses, draw: RandomInputs) -> None:
    """The documented error: p is not below 1"""
    for p in (1.5, 1.0):
        refuses(draw.normal(3, 4), p, draw.rng())
    refuses(draw.normal(3, 4), 1.0, draw.rng(), training=False)


@graded("ffn.dropout", points=0.25)
def test_dropout_negative(refuses: Refuses, draw: RandomInputs) -> None:
    """The documented error: p is negative"""
    refuses(draw.normal(3, 4), -0.5, draw.rng())
    refuses(draw.normal(3, 4), -0.5, draw.rng(), training=False)


@graded("ffn.dropout_backward")
def test_dropout_gradient(agree: Agree, draw: RandomInputs) -> None:
    """The same mask, which is already scaled"""
    agree(draw.normal(3, 5), draw.booleans(3, 5, true=0.75) * 1.25)
    agree(draw.normal(2, 3, 4), draw.booleans(2, 3, 4) * 2.0)
    agree(draw.normal(4), np.ones(4))


@graded("ffn.dropout_backward")
def test_dropout_gradient_float32(agree: Agree, draw: RandomInputs) -> None:
    """float32 stays float32"""
    agree(draw.normal(3, 5, dtype=FLOAT32), (draw.booleans(3, 5) * 2.0).astype(FLOAT32))


@graded("ffn.dropout_backward")
def test_dropout_gradient_inputs_kept(unmodified: Unmodified, draw: RandomInputs) -> None:
    """The inputs are not changed"""
    unmodified(draw.normal(3, 5), draw.booleans(3, 5) * 2.0)
