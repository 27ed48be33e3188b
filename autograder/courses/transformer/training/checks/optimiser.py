"""Checks of AdamW, clipping and the learning rate."""

from typing import Any

import numpy as np
import pytest

from autograder.engine.comparison.compare import TOLERANCES, require_python
from autograder.engine.fixtures import Agree, Compare, Refuses, Unmodified
from autograder.engine.inputs import Array, RandomInputs
from autograder.engine.reference import Reference
from autograder.engine.student import StudentCode

graded = pytest.mark.graded
FLOAT32 = np.float32
FLOAT32_TOLERANCE = TOLERANCES[np.dtype(FLOAT32)]
SHAPES: dict[str, tuple[int, ...]] = {"W_tok": (5, 3), "blocks.0.attn.W_o": (2, 3, 4), "ln_f.gamma": (3,)}


def _arrays(draw: RandomInputs, scale: float = 1.0, dtype: Any = np.float64) -> dict[str, Array]:
    """Return arrays with different numbers of axes."""
    return {name: draw.normal(*shape, scale=scale, dtype=dtype) for name, shape in SHAPES.items()}


def _state(draw: RandomInputs, step: int, dtype: Any = np.float64) -> dict[str, Any]:
    """Return a state from the middle of a run; the average squares are not negative."""
    squares = {name: draw.uniform(*shape, high=0.5, dtype=dtype) for name, shape in SHAPES.items()}
    return {"step": step, "m": _arrays(draw, 0.5, dtype), "v": squares}


@graded("training.adamw_step")
def test_first_step(agree: Agree, draw: RandomInputs) -> None:
    """The first step, from an empty state"""
    agree(_arrays(draw), _arrays(draw), {}, 0.125)
    agree(_arrays(draw), _arrays(draw, 2.0**-20), {}, lr=0.5, weight_decay=0.0)


@graded("training.adamw_step", points=2)
def test_steps(student: StudentCode, reference: Reference, compare: Compare, draw: RandomInputs) -> None:
    """Four steps, each from the previous state"""
    params, state = _arrays(draw), dict[str, Any]()
    expected_params, expected_state = params, state
    for lr in (0.125, 0.25, 0.0625, 0.125):
        grads = _arrays(draw)
        expected = reference.training.adamw_step(expected_params, grads, expected_state, lr)
        value = student.training.adamw_step(params, grads, state, lr)
        compare(value, expected)
        (params, state), (expected_params, expected_state) = value, expected


@graded("training.adamw_step")
def test_later_step(agree: Agree, draw: RandomInputs) -> None:
    """A step in the middle of a run"""
    agree(_arrays(draw), _arrays(draw), _state(draw, 6), 0.125)
    agree(_arrays(draw), _arrays(draw, 2.0**-10), _state(draw, 1000), 0.125)


@graded("training.adamw_step")
def test_betas(agree: Agree, draw: RandomInputs) -> None:
    """Other betas"""
    agree(_arrays(draw), _arrays(draw), {}, 0.25, (0.5, 0.75))
    agree(_arrays(draw), _arrays(draw), _state(draw, 3), lr=0.25, betas=(0.75, 0.96875))
    agree(_arrays(draw), _arrays(draw), _state(draw, 3), lr=0.25, betas=(0.0, 0.5))


@graded("training.adamw_step")
def test_large_eps(agree: Agree, draw: RandomInputs) -> None:
    """A large eps, outside the root"""
    agree(_arrays(draw), _arrays(draw), {}, 0.25, eps=0.25)
    agree(_arrays(draw), _arrays(draw), _state(draw, 3), 0.25, (0.5, 0.75), 0.125)


@graded("training.adamw_step")
def test_weight_decay(agree: Agree, draw: RandomInputs) -> None:
    """A large weight decay, and none; gradients of 0"""
    agree(_arrays(draw), _arrays(draw), _state(draw, 3), 0.25, weight_decay=0.5)
    agree(_arrays(draw), _arrays(draw), _state(draw, 3), 0.25, (0.9, 0.999), 1e-8, 0.0)
    zeros = {name: np.zeros(shape) for name, shape in SHAPES.items()}
    agree(_arrays(draw), zeros, {}, 0.25, weight_decay=0.25)


@graded("training.adamw_step")
def test_adamw_float32(agree: Agree, draw: RandomInputs) -> None:
    """float32 stays float32"""
    agree(_arrays(draw, dtype=FLOAT32), _arrays(draw, dtype=FLOAT32), {}, 0.125)
    agree(_arrays(draw, dtype=FLOAT32), _arrays(draw, dtype=FLOAT32), _state(draw, 3, FLOAT32), 0.125)


@graded("training.adamw_step")
def test_adamw_inputs_kept(unmodified: Unmodified, draw: RandomInputs) -> None:
    """The parameters, the gradients and the state are not changed"""
    unmodified(_arrays(draw), _arrays(draw), {}, 0.125)
    unmodified(_arrays(draw), _arrays(draw), _state(draw, 3), 0.125, weight_decay=0.25)


@graded("training.adamw_step", points=0.25)
def test_step_type(agree: Agree, draw: RandomInputs) -> None:
    """`step` in the new state is a Python int"""
    for state in ({}, _state(draw, 3)):
        _, new_state = agree(_arrays(draw), _arrays(draw), state, 0.125)
        require_python(new_state["step"], int, 'state["step"]')


@graded("training.clip_grad_norm")
def test_clipped(agree: Agree, draw: RandomInputs) -> None:
    """A gradient that is too large: one factor for all arrays"""
    grads = {"large": draw.normal(5, 3, scale=4.0), "small": draw.normal(4, scale=0.125), "deep": draw.normal(2, 3, 4)}
    agree(grads, 1.0)
    agree(grads, max_norm=4.0)


@graded("training.clip_grad_norm")
def test_short_enough(agree: Agree, draw: RandomInputs) -> None:
    """A gradient below the limit is unchanged"""
    agree(_arrays(draw, 0.125), 5.0)
    agree({"W": np.array([[0.5, 0.0], [0.0, -0.25]])}, 1)


@graded("training.clip_grad_norm", alone=False)
def test_zero_gradient(agree: Agree) -> None:
    """A gradient of 0"""
    agree({"W": np.zeros((2, 3)), "b": np.zeros(3)}, 1.0)


@graded("training.clip_grad_norm")
def test_tiny_gradient(agree: Agree, draw: RandomInputs) -> None:
    """A tiny max_norm, where PyTorch's 1e-6 matters"""
    agree(_arrays(draw, 2.0**-12), 2.0**-13)


@graded("training.clip_grad_norm", points=0.25)
def test_limit_of_0(agree: Agree, draw: RandomInputs) -> None:
    """max_norm=0: every gradient becomes 0"""
    agree(_arrays(draw), 0.0)


@graded("training.clip_grad_norm")
def test_clip_float32(agree: Agree, draw: RandomInputs) -> None:
    """float32 stays float32"""
    agree(_arrays(draw, dtype=FLOAT32), 0.5, tolerance=FLOAT32_TOLERANCE)
    agree(_arrays(draw, dtype=FLOAT32), 100.0, tolerance=FLOAT32_TOLERANCE)


@graded("training.clip_grad_norm")
def test_clip_inputs_kept(unmodified: Unmodified, draw: RandomInputs) -> None:
    """The gradients are not changed"""
    unmodified(_arrays(draw), 0.5)


@graded("training.clip_grad_norm", points=0.25)
def test_norm_type(agree: Agree, draw: RandomInputs) -> None:
    """The norm is a Python float, not an array or a NumPy scalar"""
    for max_norm in (0.5, 100.0):
        require_python(agree(_arrays(draw), max_norm)[1], float, "the norm")


@graded("training.learning_rate")
def test_every_step(agree: Agree, draw: RandomInputs) -> None:
    """Every step: warm-up, cosine, and after the end"""
    rates = float(draw.uniform(low=0.25, high=0.5)), float(draw.uniform(low=0.0, high=0.125))
    for step in (2, 5, 9, 30):
        agree(step, *rates, 4, 19)
    for step in range(17):
        agree(step, 0.25, 0.015625, 4, 14)


@graded("training.learning_rate")
def test_no_warm_up(agree: Agree) -> None:
    """No warm-up: the first step has the full rate"""
    for step in (0, 1, 3, 6, 7, 100):
        agree(step, max_lr=0.75, min_lr=0.0, warmup_steps=0, total_steps=7)


@graded("training.learning_rate")
def test_only_warm_up(agree: Agree) -> None:
    """A warm-up until the end; a warm-up of one step"""
    for step in (0, 1, 2, 3, 4):
        agree(step, max_lr=0.5, min_lr=0.125, warmup_steps=3, total_steps=3)
        agree(step, max_lr=0.5, min_lr=0.125, warmup_steps=1, total_steps=4)


@graded("training.learning_rate", points=0.25)
def test_rate_type(agree: Agree) -> None:
    """The rate is a Python float after the end, in the cosine and in the warm-up"""
    for step in (9, 7, 1):
        require_python(agree(step, 0.25, 0.0625, 3, 8), float, "the learning rate")


@graded("training.learning_rate", points=0.25)
def test_rate_errors(refuses: Refuses) -> None:
    """The documented errors: a negative step, a negative warm-up, a warm-up longer than the whole"""
    refuses(-1, 0.25, 0.015625, 3, 8)
    refuses(2, 0.25, 0.015625, -1, 8)
    for step in (0, 8, 9):
        refuses(step, 0.25, 0.015625, 9, 8)
