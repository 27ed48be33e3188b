"""Checks of assignment 10: training."""

from typing import Any

import numpy as np
import pytest

from autograder.compare import TOLERANCES, Tolerance, compare_value, describe_type
from autograder.curriculum import TRANSFORMER
from autograder.draw import Array, Draw
from autograder.errors import Mismatch
from autograder.fixtures import Agree, Compare, Unmodified
from autograder.frames import Config
from autograder.proxies import Student
from autograder.reference import Reference

graded = pytest.mark.graded
FLOAT32 = np.float32
FLOAT32_NUMBERS = TOLERANCES[np.dtype(FLOAT32)]
TRAIN = TRANSFORMER.functions["training.train"]
SHAPES: dict[str, tuple[int, ...]] = {"table": (5, 3), "heads": (2, 3, 4), "gamma": (3,)}

# A right loop in float64 agrees with PyTorch to 1e-15 after 100 steps of lr 1e-3; of the wrong loops we know, the
# subtlest (a decay after the step, an eps of 1e-7) depart by 2e-7 within 20. The losses are below 4, and the floor is
# scaled by the largest: a loss may differ by 1e-8.
LONG = Tolerance(relative=0.0, floor=2.5e-9)
SHORT = Tolerance(relative=0.0, floor=1e-9)
# The steps in between multiply the roundings of the parameters.
STATE = Tolerance(relative=1e-7, floor=1e-9)
# The bias of the keys has no effect and its gradient is 0, up to rounding. AdamW divides it by the root of its own
# square plus eps: with the usual 1e-8, rounding grows to something. With this eps, or without biases, it does not.
LARGE_EPS = 2.0**-10
# In float32 such roundings do show, and the steps multiply them: 3 of them leave 4 digits, with a large eps.
DRIFT = Tolerance(relative=1e-4, floor=1e-4)


def _arrays(draw: Draw, scale: float = 1.0, dtype: Any = np.float64) -> dict[str, Array]:
    """Some arrays with different numbers of axes."""
    return {name: draw.normal(*shape, scale=scale, dtype=dtype) for name, shape in SHAPES.items()}


def _state(draw: Draw, step: int, dtype: Any = np.float64) -> dict[str, Any]:
    """A state in the middle of a run: the average squares are not negative."""
    squares = {name: draw.uniform(*shape, high=0.5, dtype=dtype) for name, shape in SHAPES.items()}
    return {"step": step, "m": _arrays(draw, 0.5, dtype), "v": squares}


def _config(**fields: Any) -> Config:
    """One small block; all fields are given, defaults are the student's side's."""
    sizes = {"vocab_size": 7, "block_size": 5, "n_layers": 1, "n_heads": 2, "d_model": 4, "d_ff": 6}
    return Config("gpt", "GPTConfig", {**sizes, "activation": "gelu", "tied": True, "bias": True, **fields})


def _params(draw: Draw, config: Config, dtype: Any = np.float64, scale: float = 0.5) -> dict[str, Array]:
    """Random parameters of a GPT."""
    d, f, vocabulary = config.d_model, config.d_ff, config.vocab_size
    shapes: dict[str, tuple[int, ...]] = {"W_tok": (vocabulary, d), "W_pos": (config.block_size, d)}
    for i in range(config.n_layers):
        layer = {"ln1.gamma": (d,), "ln1.beta": (d,), "attn.W_qkv": (d, 3 * d), "attn.b_qkv": (3 * d,)}
        layer |= {"attn.W_o": (d, d), "attn.b_o": (d,), "ln2.gamma": (d,), "ln2.beta": (d,)}
        layer |= {"ffn.W_1": (d, f), "ffn.b_1": (f,), "ffn.W_2": (f, d), "ffn.b_2": (d,)}
        shapes |= {f"blocks.{i}.{name}": shape for name, shape in layer.items() if config.bias or ".b_" not in name}
    shapes |= {"ln_f.gamma": (d,), "ln_f.beta": (d,)}
    if not config.tied:
        shapes["W_head"] = (d, vocabulary)
    params = {name: draw.normal(*shape, scale=scale, dtype=dtype) for name, shape in shapes.items()}
    for name in params:
        if name.endswith("gamma"):
            params[name] += FLOAT32(1.0)
    return params


def _batches(draw: Draw, config: Config, count: int, size: int) -> list[tuple[Array, Array]]:
    """Batches of a text that goes round in circles, with some noise: there is something to be learned."""
    batches = []
    for _ in range(count):
        starts, noise = draw.integers(size, 1, high=config.vocab_size), draw.booleans(size, config.block_size + 1)
        text = (starts + np.arange(config.block_size + 1) + noise) % config.vocab_size
        batches.append((text[:, :-1].copy(), text[:, 1:].copy()))
    return batches


def _losses(actual: Any, expected: Any, tolerance: Tolerance) -> None:
    """Compare the losses of every step. `compare` takes lists for things that are equal or not."""
    if not isinstance(actual, list):
        raise Mismatch(f"losses must be a list of floats, not {describe_type(actual)}")
    if not all(isinstance(loss, (float, np.floating)) for loss in actual):
        wrong = next(loss for loss in actual if not isinstance(loss, (float, np.floating)))
        raise Mismatch(f"losses must be a list of floats; one of them is {describe_type(wrong)}")
    if len(actual) != len(expected):
        raise Mismatch(f"losses has {len(actual)} entries, expected {len(expected)}")
    mine, theirs = np.array(actual, dtype=np.float64), np.array(expected, dtype=np.float64)
    compare_value(mine, theirs, "losses", ("step",), TRAIN, tolerance=tolerance)


def _trained(value: Any) -> tuple[Any, Any, Any]:
    """What `train` returned."""
    if not isinstance(value, tuple) or len(value) != 3:
        raise Mismatch(f"train must return a tuple (params, state, losses), not {describe_type(value)}")
    return value


def _state_and_params(compare: Compare, actual: Any, expected: Any, tolerance: Tolerance) -> None:
    """Compare what `train` returned, but for the losses."""
    compare(tuple(actual[:2]), tuple(expected[:2]), tolerance=tolerance)


@graded("training.adamw_step")
def test_first_step(agree: Agree, draw: Draw) -> None:
    """The first step, from an empty state"""
    agree(_arrays(draw), _arrays(draw), {}, 0.125)
    agree(_arrays(draw), _arrays(draw, 2.0**-20), {}, lr=0.5, weight_decay=0.0)


@graded("training.adamw_step", points=2)
def test_steps(student: Student, reference: Reference, compare: Compare, draw: Draw) -> None:
    """Four steps, each from the state of the one before"""
    params, state = _arrays(draw), dict[str, Any]()
    expected_params, expected_state = params, state
    for lr in (0.125, 0.25, 0.0625, 0.125):
        grads = _arrays(draw)
        expected = reference.training.adamw_step(expected_params, grads, expected_state, lr)
        value = student.training.adamw_step(params, grads, state, lr)
        compare(value, expected)
        (params, state), (expected_params, expected_state) = value, expected


@graded("training.adamw_step")
def test_later_step(agree: Agree, draw: Draw) -> None:
    """A step in the middle of a run"""
    agree(_arrays(draw), _arrays(draw), _state(draw, 6), 0.125)
    agree(_arrays(draw), _arrays(draw, 2.0**-10), _state(draw, 1000), 0.125)


@graded("training.adamw_step")
def test_betas(agree: Agree, draw: Draw) -> None:
    """Other betas"""
    agree(_arrays(draw), _arrays(draw), {}, 0.25, (0.5, 0.75))
    agree(_arrays(draw), _arrays(draw), _state(draw, 3), lr=0.25, betas=(0.75, 0.96875))
    agree(_arrays(draw), _arrays(draw), _state(draw, 3), lr=0.25, betas=(0.0, 0.5))


@graded("training.adamw_step")
def test_large_eps(agree: Agree, draw: Draw) -> None:
    """A large eps, outside the root"""
    agree(_arrays(draw), _arrays(draw), {}, 0.25, eps=0.25)
    agree(_arrays(draw), _arrays(draw), _state(draw, 3), 0.25, (0.5, 0.75), 0.125)


@graded("training.adamw_step")
def test_weight_decay(agree: Agree, draw: Draw) -> None:
    """A large weight decay, and none; gradients of 0"""
    agree(_arrays(draw), _arrays(draw), _state(draw, 3), 0.25, weight_decay=0.5)
    agree(_arrays(draw), _arrays(draw), _state(draw, 3), 0.25, (0.9, 0.999), 1e-8, 0.0)
    zeros = {name: np.zeros(shape) for name, shape in SHAPES.items()}
    agree(_arrays(draw), zeros, {}, 0.25, weight_decay=0.25)


@graded("training.adamw_step")
def test_adamw_float32(agree: Agree, draw: Draw) -> None:
    """float32 stays float32"""
    agree(_arrays(draw, dtype=FLOAT32), _arrays(draw, dtype=FLOAT32), {}, 0.125)
    agree(_arrays(draw, dtype=FLOAT32), _arrays(draw, dtype=FLOAT32), _state(draw, 3, FLOAT32), 0.125)


@graded("training.adamw_step")
def test_adamw_inputs_kept(unmodified: Unmodified, draw: Draw) -> None:
    """The parameters, the gradients and the state are left as they were"""
    unmodified(_arrays(draw), _arrays(draw), {}, 0.125)
    unmodified(_arrays(draw), _arrays(draw), _state(draw, 3), 0.125, weight_decay=0.25)


@graded("training.clip_grad_norm")
def test_clipped(agree: Agree, draw: Draw) -> None:
    """A gradient that is too long: one factor for all arrays"""
    grads = {"large": draw.normal(5, 3, scale=4.0), "small": draw.normal(4, scale=0.125), "deep": draw.normal(2, 3, 4)}
    agree(grads, 1.0)
    agree(grads, max_norm=4.0)


@graded("training.clip_grad_norm")
def test_short_enough(agree: Agree, draw: Draw) -> None:
    """A gradient that is short enough is left alone"""
    agree(_arrays(draw, 0.125), 5.0)
    agree({"W": np.array([[0.5, 0.0], [0.0, -0.25]])}, 1)


@graded("training.clip_grad_norm")
def test_zero_gradient(agree: Agree) -> None:
    """A gradient of 0"""
    agree({"W": np.zeros((2, 3)), "b": np.zeros(3)}, 1.0)


@graded("training.clip_grad_norm")
def test_tiny_gradient(agree: Agree, draw: Draw) -> None:
    """A tiny max_norm: PyTorch's 1e-6 shows"""
    agree(_arrays(draw, 2.0**-12), 2.0**-13)


@graded("training.clip_grad_norm")
def test_clip_float32(agree: Agree, draw: Draw) -> None:
    """float32 stays float32"""
    agree(_arrays(draw, dtype=FLOAT32), 0.5, tolerance=FLOAT32_NUMBERS)
    agree(_arrays(draw, dtype=FLOAT32), 100.0, tolerance=FLOAT32_NUMBERS)


@graded("training.clip_grad_norm")
def test_clip_inputs_kept(unmodified: Unmodified, draw: Draw) -> None:
    """The gradients are left as they were"""
    unmodified(_arrays(draw), 0.5)


@graded("training.learning_rate")
def test_every_step(agree: Agree) -> None:
    """Every step: warm-up, cosine, and beyond the end"""
    for step in range(17):
        agree(step, 0.25, 0.015625, 4, 14)


@graded("training.learning_rate")
def test_no_warm_up(agree: Agree) -> None:
    """No warm-up: the first step has the full rate"""
    for step in (0, 1, 3, 6, 7, 100):
        agree(step, max_lr=0.75, min_lr=0.0, warmup_steps=0, total_steps=7)


@graded("training.learning_rate")
def test_only_warm_up(agree: Agree) -> None:
    """A warm-up to the very end, and of a single step"""
    for step in (0, 1, 2, 3, 4):
        agree(step, max_lr=0.5, min_lr=0.125, warmup_steps=3, total_steps=3)
        agree(step, max_lr=0.5, min_lr=0.125, warmup_steps=1, total_steps=4)


@graded("training.train_step")
def test_one_step(agree: Agree, draw: Draw) -> None:
    """The first step; the loss is the one before it"""
    config = _config(bias=False)
    ((x, y),) = _batches(draw, config, 1, 3)
    agree(_params(draw, config), {}, x, y, config, 0.125)


@graded("training.train_step")
def test_next_steps(student: Student, reference: Reference, compare: Compare, draw: Draw) -> None:
    """Three steps, each from the state of the one before"""
    config = _config(tied=False, activation="relu")
    params, state = _params(draw, config), dict[str, Any]()
    expected_params, expected_state = params, state
    for x, y in _batches(draw, config, 3, 2):
        expected = reference.training.train_step(expected_params, expected_state, x, y, config, 2.0**-6, eps=LARGE_EPS)
        value = student.training.train_step(params, state, x, y, config, 2.0**-6, eps=LARGE_EPS)
        compare(value, expected)
        (_, params, state), (_, expected_params, expected_state) = value, expected


@graded("training.train_step")
def test_step_options(agree: Agree, draw: Draw) -> None:
    """Other betas, eps and weight decay"""
    config = _config(bias=False)
    ((x, y),) = _batches(draw, config, 1, 3)
    params = _params(draw, config)
    agree(params, {}, x, y, config, 0.125, (0.5, 0.75), 0.125, 0.25)
    agree(params, {}, x, y, config, lr=0.125, weight_decay=0.0, eps=2.0**-6, betas=(0.75, 0.5))


@graded("training.train_step")
def test_step_clipped(agree: Agree, draw: Draw) -> None:
    """With clipping: gradients that are too long, and short enough"""
    config = _config()
    ((x, y),) = _batches(draw, config, 1, 3)
    params = _params(draw, config)
    agree(params, {}, x, y, config, 0.125, eps=LARGE_EPS, max_norm=0.25)
    agree(params, {}, x, y, config, 0.125, eps=LARGE_EPS, max_norm=1000.0)


@graded("training.train_step")
def test_step_float32(agree: Agree, draw: Draw) -> None:
    """float32 stays float32"""
    config = _config(bias=False)
    ((x, y),) = _batches(draw, config, 1, 3)
    agree(_params(draw, config, FLOAT32), {}, x, y, config, 0.0625, eps=0.125, max_norm=0.5, tolerance=FLOAT32_NUMBERS)


@graded("training.train_step")
def test_step_inputs_kept(student: Student, unmodified: Unmodified, draw: Draw) -> None:
    """The parameters, the state and the batch are left as they were"""
    config = _config()
    (first, (x, y)) = _batches(draw, config, 2, 3)
    params = _params(draw, config)
    unmodified(params, {}, x, y, config, 0.125, max_norm=0.5)
    value = student.training.train_step(params, {}, *first, config, 0.125)
    if isinstance(value, tuple) and len(value) == 3:
        unmodified(value[1], value[2], x, y, config, 0.125)


@graded("training.estimate_loss")
def test_mean_loss(agree: Agree, draw: Draw) -> None:
    """The mean over batches"""
    config = _config()
    params = _params(draw, config)
    agree(params, config, _batches(draw, config, 4, 3))
    agree(params, config, _batches(draw, config, 1, 2))


@graded("training.estimate_loss")
def test_unequal_batches(agree: Agree, draw: Draw) -> None:
    """Batches of different sizes: every token counts the same"""
    config = _config(tied=False)
    batches = [(x[:, :n], y[:, :n]) for n, size in ((5, 3), (2, 1), (3, 4)) for x, y in _batches(draw, config, 1, size)]
    agree(_params(draw, config), config, batches)


@graded("training.estimate_loss")
def test_mean_loss_float32(agree: Agree, draw: Draw) -> None:
    """float32 parameters"""
    config = _config()
    agree(_params(draw, config, FLOAT32), config, _batches(draw, config, 3, 2), tolerance=FLOAT32_NUMBERS)


@graded("training.estimate_loss")
def test_mean_loss_inputs_kept(unmodified: Unmodified, draw: Draw) -> None:
    """The parameters and the batches are left as they were"""
    config = _config()
    unmodified(_params(draw, config), config, _batches(draw, config, 2, 2))


@graded("training.train", points=3)
def test_hundred_steps(student: Student, reference: Reference, draw: Draw) -> None:
    """The loss of every step, for 100 steps"""
    config = _config(vocab_size=27, block_size=8, n_layers=4, n_heads=4, d_model=16, d_ff=64)
    params, batches = _params(draw, config, scale=0.0625), _batches(draw, config, 100, 4)
    _, _, losses = _trained(student.training.train(params, config, batches, 1e-3))
    _losses(losses, reference.training.train_losses(params, config, batches, 1e-3), LONG)


@graded("training.train", points=2)
def test_twenty_steps(student: Student, reference: Reference, draw: Draw) -> None:
    """20 steps with a rate for each, weight decay and clipping"""
    config = _config(vocab_size=9, n_layers=2, d_model=8, d_ff=12, tied=False)
    params, batches = _params(draw, config, scale=0.125), _batches(draw, config, 20, 3)
    rates = [(step % 5 + 1) / 1024 for step in range(20)]
    options = {"betas": (0.75, 0.96875), "weight_decay": 0.25, "max_norm": 0.5}
    _, _, losses = _trained(student.training.train(params, config, batches, rates, **options))
    _losses(losses, reference.training.train_losses(params, config, batches, rates, **options), SHORT)


@graded("training.train")
def test_what_is_left(student: Student, reference: Reference, compare: Compare, draw: Draw) -> None:
    """The parameters and the state after 12 steps"""
    config = _config()
    params, batches = _params(draw, config), _batches(draw, config, 12, 3)
    value = _trained(student.training.train(params, config, batches, 2.0**-8, eps=LARGE_EPS, max_norm=1.0))
    expected = reference.training.train(params, config, batches, 2.0**-8, eps=LARGE_EPS, max_norm=1.0)
    _state_and_params(compare, value, expected, STATE)
    _losses(value[2], expected[2], SHORT)


@graded("training.train", points=2)
def test_resumed(student: Student, reference: Reference, compare: Compare, draw: Draw) -> None:
    """Stopped after 5 of 9 steps and taken up again: the same numbers"""
    config = _config(bias=False)
    params, batches = _params(draw, config), _batches(draw, config, 9, 3)
    rates = np.array([2.0**-7] * 5 + [2.0**-6] * 4)
    expected = reference.training.train(params, config, batches, rates, weight_decay=0.125)
    options = {"weight_decay": 0.125}
    params, state, before = _trained(student.training.train(params, config, batches[:5], rates[:5], {}, **options))
    value = _trained(student.training.train(params, config, batches[5:], rates[5:], state=state, **options))
    _losses(before, expected[2][:5], SHORT)
    _losses(value[2], expected[2][5:], SHORT)
    _state_and_params(compare, value, expected, STATE)


@graded("training.train")
def test_runs_out(student: Student, reference: Reference, draw: Draw) -> None:
    """It ends with the batches, or with the learning rates"""
    config = _config()
    params, batches = _params(draw, config), _batches(draw, config, 4, 2)
    for rates in ([0.0625] * 6, [0.0625] * 2):
        _, _, losses = _trained(student.training.train(params, config, batches, rates, None))
        _losses(losses, reference.training.train_losses(params, config, batches, rates, None), SHORT)


@graded("training.train")
def test_train_float32(student: Student, reference: Reference, compare: Compare, draw: Draw) -> None:
    """float32 stays float32"""
    config = _config(bias=False)
    params, batches = _params(draw, config, FLOAT32), _batches(draw, config, 3, 3)
    value = _trained(student.training.train(params, config, batches, 2.0**-7, eps=0.125, max_norm=0.5))
    expected = reference.training.train(params, config, batches, 2.0**-7, eps=0.125, max_norm=0.5)
    _state_and_params(compare, value, expected, DRIFT)
    _losses(value[2], expected[2], DRIFT)


@graded("training.train")
def test_train_inputs_kept(student: Student, unmodified: Unmodified, draw: Draw) -> None:
    """The parameters, the state and the batches are left as they were"""
    config = _config()
    params, batches = _params(draw, config), _batches(draw, config, 3, 2)
    unmodified(params, config, batches, 0.0625, max_norm=0.5)
    params, state, _ = _trained(student.training.train(params, config, batches, 0.0625))
    unmodified(params, config, batches, 0.0625, state)
