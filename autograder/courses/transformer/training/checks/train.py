"""Checks of the training loop."""

from typing import Any

import numpy as np
import pytest

from autograder.core.wire_format import GeneratorOf
from autograder.courses.transformer import TRANSFORMER
from autograder.courses.transformer.common.checks.losses import compare_losses
from autograder.courses.transformer.training.checks._runs import LARGE_EPS, draw_batches, draw_params, small_config
from autograder.engine.comparison.compare import Tolerance, describe_type, require_python
from autograder.engine.fixtures import Compare, Unmodified
from autograder.engine.inputs import RandomInputs
from autograder.engine.reference import Reference
from autograder.engine.student import StudentCode
from autograder.errors import Mismatch

graded = pytest.mark.graded
FLOAT32 = np.float32
TRAIN = TRANSFORMER.functions["training.train"]

# A correct loop in float64 agrees with PyTorch to about 1e-15 for 100 steps with lr 1e-3. The subtlest known mistakes
# (decay after the step, an eps of 1e-7) deviate by 2e-7 within 20 steps. The losses are below 4 and the floor is scaled
# by the largest, so a loss may differ by 1e-8.
LONG = Tolerance(relative=0.0, floor=2.5e-9)
SHORT = Tolerance(relative=0.0, floor=1e-9)
# Every step amplifies the rounding errors of the parameters.
STATE = Tolerance(relative=1e-7, floor=1e-9)
# In float32, rounding errors are larger: 3 steps with a large eps leave 4 correct digits.
DRIFT = Tolerance(relative=1e-4, floor=1e-4)


def _compare_losses(actual: Any, expected: Any, tolerance: Tolerance) -> None:
    compare_losses(actual, expected, tolerance, TRAIN)


def _check_result(value: Any) -> tuple[Any, Any, Any]:
    """Return the result of `train`. Raise Mismatch if it is not a tuple of three."""
    if not isinstance(value, tuple) or len(value) != 3:
        raise Mismatch(f"train must return a tuple (params, state, losses), not {describe_type(value)}")
    return value


def _compare_params_and_state(compare: Compare, actual: Any, expected: Any, tolerance: Tolerance) -> None:
    """Compare the parameters and the state that `train` returned."""
    compare(tuple(actual[:2]), tuple(expected[:2]), tolerance=tolerance)


@graded("training.train", points=3)
def test_hundred_steps(student: StudentCode, reference: Reference, draw: RandomInputs) -> None:
    """The loss of each of 100 steps"""
    config = small_config(vocab_size=27, block_size=8, n_layers=4, n_heads=4, d_model=16, d_ff=64)
    params, batches = draw_params(draw, config, scale=0.0625), draw_batches(draw, config, 100, 4)
    _, _, losses = _check_result(student.training.train(params, config, batches, 1e-3))
    _compare_losses(losses, reference.training.train_losses(params, config, batches, 1e-3), LONG)


@graded("training.train", points=2)
def test_twenty_steps(student: StudentCode, reference: Reference, draw: RandomInputs) -> None:
    """20 steps with a rate for each, weight decay and clipping"""
    config = small_config(vocab_size=9, n_layers=2, d_model=8, d_ff=12, tied=False)
    params, batches = draw_params(draw, config, scale=0.125), draw_batches(draw, config, 20, 3)
    rates = [(step % 5 + 1) / 1024 for step in range(20)]
    options = {"betas": (0.75, 0.96875), "weight_decay": 0.25, "max_norm": 0.5}
    _, _, losses = _check_result(student.training.train(params, config, batches, rates, **options))
    _compare_losses(losses, reference.training.train_losses(params, config, batches, rates, **options), SHORT)


@graded("training.train")
def test_what_is_left(student: StudentCode, reference: Reference, compare: Compare, draw: RandomInputs) -> None:
    """The parameters and the state after 12 steps"""
    config = small_config()
    params, batches = draw_params(draw, config), draw_batches(draw, config, 12, 3)
    value = _check_result(student.training.train(params, config, batches, 2.0**-8, eps=LARGE_EPS, max_norm=1.0))
    expected = reference.training.train(params, config, batches, 2.0**-8, eps=LARGE_EPS, max_norm=1.0)
    _compare_params_and_state(compare, value, expected, STATE)
    _compare_losses(value[2], expected[2], SHORT)


@graded("training.train", points=0.25)
def test_train_with_dropout(student: StudentCode, reference: Reference, draw: RandomInputs) -> None:
    """Dropout with rng: new masks in every step; without rng, nothing is dropped"""
    config = small_config(bias=False, dropout=0.25)
    params, batches = draw_params(draw, config), draw_batches(draw, config, 4, 3)
    for rng in (draw.rng(), None):
        _, _, losses = _check_result(student.training.train(params, config, batches, 2.0**-7, rng=rng))
        _compare_losses(losses, reference.training.train_losses(params, config, batches, 2.0**-7, rng=rng), SHORT)


@graded("training.train", points=2)
def test_resumed(student: StudentCode, reference: Reference, compare: Compare, draw: RandomInputs) -> None:
    """Stopped after 5 of 9 steps and resumed: the same results"""
    config = small_config(bias=False)
    params, batches = draw_params(draw, config), draw_batches(draw, config, 9, 3)
    rates = np.array([2.0**-7] * 5 + [2.0**-6] * 4)
    expected = reference.training.train(params, config, batches, rates, weight_decay=0.125)
    options = {"weight_decay": 0.125}
    params, state, before = _check_result(student.training.train(params, config, batches[:5], rates[:5], {}, **options))
    value = _check_result(student.training.train(params, config, batches[5:], rates[5:], state=state, **options))
    _compare_losses(before, expected[2][:5], SHORT)
    _compare_losses(value[2], expected[2][5:], SHORT)
    _compare_params_and_state(compare, value, expected, STATE)


@graded("training.train")
def test_runs_out(student: StudentCode, reference: Reference, draw: RandomInputs) -> None:
    """Training ends with the batches or with the learning rates"""
    config = small_config(bias=False)
    params, batches = draw_params(draw, config), draw_batches(draw, config, 4, 2)
    for rates in ([2.0**-7] * 6, [2.0**-7, 2.0**-8]):
        _, _, losses = _check_result(student.training.train(params, config, batches, rates, None))
        _compare_losses(losses, reference.training.train_losses(params, config, batches, rates, None), SHORT)


@graded("training.train", points=0.25)
def test_generators(student: StudentCode, reference: Reference, draw: RandomInputs) -> None:
    """Batches and learning rates from generators, of which one may be endless"""
    config = small_config(bias=False)
    params, batches, rates = draw_params(draw, config), draw_batches(draw, config, 3, 2), [2.0**-7, 2.0**-6, 2.0**-8]
    expected = reference.training.train_losses(params, config, batches, rates, None)
    for many_batches, many_rates in (
        (GeneratorOf(batches), rates),
        (batches, GeneratorOf(rates)),
        (GeneratorOf(batches, endless=True), rates),
        (batches, GeneratorOf(rates, endless=True)),
    ):
        _, _, losses = _check_result(student.training.train(params, config, many_batches, many_rates, None))
        _compare_losses(losses, expected, SHORT)


@graded("training.train", points=0.25, alone=False)
def test_no_batch_to_train(student: StudentCode, reference: Reference, compare: Compare, draw: RandomInputs) -> None:
    """No batch: the parameters and the state are returned as they are"""
    config = small_config()
    params, batches = draw_params(draw, config), draw_batches(draw, config, 2, 2)
    _, state, _ = reference.training.train(params, config, batches, 0.0625, eps=LARGE_EPS)
    value = _check_result(student.training.train(params, config, [], 0.0625, state))
    _compare_params_and_state(compare, value, (params, state, []), STATE)
    _compare_losses(value[2], [], SHORT)


@graded("training.train", points=0.25)
def test_losses_type(student: StudentCode, reference: Reference, draw: RandomInputs) -> None:
    """The losses are Python floats"""
    config = small_config(bias=False)
    params, batches = draw_params(draw, config), draw_batches(draw, config, 2, 2)
    _, _, losses = _check_result(student.training.train(params, config, batches, 0.0625))
    _compare_losses(losses, reference.training.train_losses(params, config, batches, 0.0625), SHORT)
    for loss in losses:
        require_python(loss, float, "each loss")


@graded("training.train", points=0.25)
def test_train_clipped_to_0(student: StudentCode, reference: Reference, compare: Compare, draw: RandomInputs) -> None:
    """max_norm=0: only the weight decay changes the parameters"""
    config = small_config()
    params, batches = draw_params(draw, config), draw_batches(draw, config, 2, 2)
    value = _check_result(student.training.train(params, config, batches, 0.0625, max_norm=0.0))
    expected = reference.training.train(params, config, batches, 0.0625, max_norm=0.0)
    _compare_params_and_state(compare, value, expected, STATE)


@graded("training.train")
def test_train_float32(student: StudentCode, reference: Reference, compare: Compare, draw: RandomInputs) -> None:
    """float32 stays float32"""
    config = small_config(bias=False)
    params, batches = draw_params(draw, config, FLOAT32), draw_batches(draw, config, 3, 3)
    value = _check_result(student.training.train(params, config, batches, 2.0**-7, eps=0.125, max_norm=0.5))
    expected = reference.training.train(params, config, batches, 2.0**-7, eps=0.125, max_norm=0.5)
    _compare_params_and_state(compare, value, expected, DRIFT)
    _compare_losses(value[2], expected[2], DRIFT)


@graded("training.train")
def test_train_inputs_kept(student: StudentCode, unmodified: Unmodified, draw: RandomInputs) -> None:
    """The parameters, the state and the batches are not changed"""
    config = small_config()
    params, batches = draw_params(draw, config), draw_batches(draw, config, 3, 2)
    unmodified(params, config, batches, 0.0625, max_norm=0.5)
    params, state, _ = _check_result(student.training.train(params, config, batches, 0.0625))
    unmodified(params, config, batches, 0.0625, state)
