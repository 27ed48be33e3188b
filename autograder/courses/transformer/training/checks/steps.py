"""Checks of single training steps, and of the mean loss."""

from typing import Any

import numpy as np
import pytest

from autograder.core.wire_format import GeneratorOf
from autograder.courses.transformer.training.checks._runs import LARGE_EPS, draw_batches, draw_params, small_config
from autograder.engine.comparison.compare import TOLERANCES, require_python
from autograder.engine.fixtures import Agree, Compare, Refuses, Unmodified
from autograder.engine.inputs import RandomInputs
from autograder.engine.reference import Reference
from autograder.engine.student import StudentCode

graded = pytest.mark.graded
FLOAT32 = np.float32
FLOAT32_TOLERANCE = TOLERANCES[np.dtype(FLOAT32)]


@graded("training.train_step")
def test_one_step(agree: Agree, draw: RandomInputs) -> None:
    """The first step; the loss is the one before the step"""
    config = small_config(bias=False)
    ((x, y),) = draw_batches(draw, config, 1, 3)
    agree(draw_params(draw, config), {}, x, y, config, 0.125)


@graded("training.train_step")
def test_next_steps(student: StudentCode, reference: Reference, compare: Compare, draw: RandomInputs) -> None:
    """Three steps, each from the previous state"""
    config = small_config(tied=False, activation="relu")
    params, state = draw_params(draw, config), dict[str, Any]()
    expected_params, expected_state = params, state
    for x, y in draw_batches(draw, config, 3, 2):
        expected = reference.training.train_step(expected_params, expected_state, x, y, config, 2.0**-10, eps=LARGE_EPS)
        value = student.training.train_step(params, state, x, y, config, 2.0**-10, eps=LARGE_EPS)
        compare(value, expected)
        (_, params, state), (_, expected_params, expected_state) = value, expected


@graded("training.train_step", points=0.25)
def test_step_with_dropout(agree: Agree, draw: RandomInputs) -> None:
    """Dropout with rng; without rng, nothing is dropped"""
    config = small_config(bias=False, dropout=0.25)
    ((x, y),) = draw_batches(draw, config, 1, 3)
    for rng in (draw.rng(), None):
        agree(draw_params(draw, config), {}, x, y, config, 0.125, rng=rng)


@graded("training.train_step")
def test_step_options(agree: Agree, draw: RandomInputs) -> None:
    """Other betas, eps and weight decay"""
    config = small_config(bias=False)
    ((x, y),) = draw_batches(draw, config, 1, 3)
    params = draw_params(draw, config)
    agree(params, {}, x, y, config, 0.125, (0.5, 0.75), 0.125, 0.25)
    agree(params, {}, x, y, config, lr=0.125, weight_decay=0.0, eps=2.0**-6, betas=(0.75, 0.5))


@graded("training.train_step")
def test_step_clipped(agree: Agree, draw: RandomInputs) -> None:
    """With clipping: gradients above and below the limit"""
    # The gradient of the keys' bias is 0 but for rounding, which Adam's usual eps, used by mistake, would amplify.
    config = small_config(bias=False)
    ((x, y),) = draw_batches(draw, config, 1, 3)
    params = draw_params(draw, config)
    agree(params, {}, x, y, config, 0.125, eps=LARGE_EPS, max_norm=0.25)
    agree(params, {}, x, y, config, 0.125, eps=LARGE_EPS, max_norm=1000.0)


@graded("training.train_step", points=0.25)
def test_step_clipped_to_0(agree: Agree, draw: RandomInputs) -> None:
    """max_norm=0: only the weight decay changes the parameters"""
    config = small_config()
    ((x, y),) = draw_batches(draw, config, 1, 3)
    agree(draw_params(draw, config), {}, x, y, config, 0.125, max_norm=0.0)


@graded("training.train_step")
def test_step_float32(agree: Agree, draw: RandomInputs) -> None:
    """float32 stays float32"""
    config = small_config(bias=False)
    ((x, y),) = draw_batches(draw, config, 1, 3)
    agree(
        draw_params(draw, config, FLOAT32),
        {},
        x,
        y,
        config,
        0.0625,
        eps=0.125,
        max_norm=0.5,
        tolerance=FLOAT32_TOLERANCE,
    )


@graded("training.train_step")
def test_step_inputs_kept(student: StudentCode, unmodified: Unmodified, draw: RandomInputs) -> None:
    """The parameters, the state and the batch are not changed"""
    config = small_config()
    (first, (x, y)) = draw_batches(draw, config, 2, 3)
    params = draw_params(draw, config)
    unmodified(params, {}, x, y, config, 0.125, max_norm=0.5)
    value = student.training.train_step(params, {}, *first, config, 0.125)
    if isinstance(value, tuple) and len(value) == 3:
        unmodified(value[1], value[2], x, y, config, 0.125)


@graded("training.train_step", points=0.25)
def test_step_loss_type(agree: Agree, draw: RandomInputs) -> None:
    """The loss is a Python float"""
    config = small_config(bias=False)
    ((x, y),) = draw_batches(draw, config, 1, 2)
    require_python(agree(draw_params(draw, config), {}, x, y, config, 0.125)[0], float, "the loss")


@graded("training.estimate_loss")
def test_mean_loss(agree: Agree, draw: RandomInputs) -> None:
    """The mean over batches"""
    config = small_config()
    params = draw_params(draw, config)
    agree(params, config, draw_batches(draw, config, 4, 3))
    agree(params, config, draw_batches(draw, config, 1, 2))


@graded("training.estimate_loss")
def test_unequal_batches(agree: Agree, draw: RandomInputs) -> None:
    """Batches of different sizes: every token counts equally"""
    config = small_config(tied=False)
    batches = [
        (x[:, :n], y[:, :n]) for n, size in ((5, 3), (2, 1), (3, 4)) for x, y in draw_batches(draw, config, 1, size)
    ]
    agree(draw_params(draw, config), config, batches)


@graded("training.estimate_loss")
def test_mean_loss_float32(agree: Agree, draw: RandomInputs) -> None:
    """float32 parameters"""
    config = small_config()
    agree(draw_params(draw, config, FLOAT32), config, draw_batches(draw, config, 3, 2), tolerance=FLOAT32_TOLERANCE)


@graded("training.estimate_loss")
def test_mean_loss_inputs_kept(unmodified: Unmodified, draw: RandomInputs) -> None:
    """The parameters and the batches are not changed"""
    config = small_config()
    unmodified(draw_params(draw, config), config, draw_batches(draw, config, 2, 2))


@graded("training.estimate_loss", points=0.25)
def test_mean_loss_of_generator(
    student: StudentCode, reference: Reference, compare: Compare, draw: RandomInputs
) -> None:
    """Batches from a generator, which can be read only once"""
    config = small_config()
    params, batches = draw_params(draw, config), draw_batches(draw, config, 3, 2)
    value = student.training.estimate_loss(params, config, GeneratorOf(batches))
    compare(value, reference.training.estimate_loss(params, config, batches))


@graded("training.estimate_loss", points=0.25)
def test_mean_loss_type(agree: Agree, draw: RandomInputs) -> None:
    """The mean is a Python float"""
    config = small_config()
    require_python(agree(draw_params(draw, config), config, draw_batches(draw, config, 2, 2)), float, "the mean loss")


@graded("training.estimate_loss", points=0.25)
def test_no_batch(refuses: Refuses, draw: RandomInputs) -> None:
    """The documented error: no batch"""
    config = small_config()
    refuses(draw_params(draw, config), config, [])
