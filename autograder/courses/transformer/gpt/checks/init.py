"""Checks of the initial parameters of a GPT."""

import itertools

import numpy as np
import pytest

from autograder.core.wire_format import Config, Rng
from autograder.courses.transformer.common.checks.shapes import gpt_shapes
from autograder.courses.transformer.gpt.checks._models import small_config
from autograder.engine.comparison.compare import describe_type
from autograder.engine.inputs import Array, RandomInputs
from autograder.engine.student import StudentCode
from autograder.errors import Mismatch

graded = pytest.mark.graded
FLOAT32 = np.float32


def _initial(student: StudentCode, config: Config, rng: Rng) -> dict[str, Array]:
    """Return the result of `init_gpt`. Raise Mismatch if a name, shape or dtype is wrong."""
    params, shapes = student.gpt.init_gpt(config, rng), gpt_shapes(config)
    if not isinstance(params, dict):
        raise Mismatch(f"init_gpt must return a dict, not {describe_type(params)}")
    missing, extra = [name for name in shapes if name not in params], [name for name in params if name not in shapes]
    if missing or extra:
        lists = (("is missing", missing), ("has the extra", extra))
        raise Mismatch("params " + " and ".join(f"{what} {', '.join(map(repr, n[:6]))}" for what, n in lists if n))
    for name, shape in shapes.items():
        value = params[name]
        if not isinstance(value, np.ndarray):
            raise Mismatch(f"params[{name!r}] must be a NumPy array, not {describe_type(value)}")
        if value.shape != shape:
            raise Mismatch(f"params[{name!r}] has shape {value.shape}, expected {shape}")
        if value.dtype != np.float32:
            raise Mismatch(f"params[{name!r}] has dtype {value.dtype}, expected float32")
    return params


def _is_matrix(name: str) -> bool:
    return name.rpartition(".")[2].startswith("W_")


@graded("gpt.init_gpt")
def test_names_and_shapes(student: StudentCode, draw: RandomInputs) -> None:
    """Names, shapes and float32, a tied head"""
    _initial(student, small_config(), draw.rng())
    _initial(student, small_config(n_layers=1, n_heads=1, d_model=4, d_ff=16), draw.rng())


@graded("gpt.init_gpt")
def test_options_of_the_start(student: StudentCode, draw: RandomInputs) -> None:
    """An untied head; no biases"""
    _initial(student, small_config(tied=False), draw.rng())
    _initial(student, small_config(bias=False), draw.rng())
    _initial(student, small_config(tied=False, bias=False, n_layers=3), draw.rng())


@graded("gpt.init_gpt", points=0.5)
def test_some_biases_of_the_start(student: StudentCode, draw: RandomInputs) -> None:
    """Biases in the feed-forward network only, in attention only, after the heads only"""
    for bias in ("b_1 b_2", "b_qkv b_o", "b_o"):
        _initial(student, small_config(bias=bias), draw.rng())


@graded("gpt.init_gpt", points=0.25)
def test_head_bias_of_the_start(student: StudentCode, draw: RandomInputs) -> None:
    """A separate head with a bias, which is 0"""
    params = _initial(student, small_config(tied=False, bias="b_o b_head"), draw.rng())
    if params["b_head"].any():
        raise Mismatch("params['b_head'] must be 0 everywhere")


@graded("gpt.init_gpt", points=0.25)
def test_tied_head_bias_of_the_start(student: StudentCode, draw: RandomInputs) -> None:
    """A tied head with a bias"""
    _initial(student, small_config(tied=True, bias="b_head"), draw.rng())


@graded("gpt.init_gpt", points=0.5)
def test_form_of_the_start(student: StudentCode, draw: RandomInputs) -> None:
    """No last norm with post-norm, no W_pos with sinusoidal positions"""
    _initial(student, small_config(norm="post"), draw.rng())
    _initial(student, small_config(positions="sinusoidal"), draw.rng())
    _initial(student, small_config(norm="pre", positions="learned"), draw.rng())


@graded("gpt.init_gpt")
def test_sizes_of_the_start(student: StudentCode, draw: RandomInputs) -> None:
    """Matrices with mean 0 and standard deviation init_std, smaller for W_o and W_2"""
    for n_layers, init_std in ((3, 0.02), (1, 0.02), (2, 0.08)):
        sizes = {"vocab_size": 40, "block_size": 30, "n_layers": n_layers, "d_model": 32, "d_ff": 48}
        config = small_config(**sizes, tied=False, init_std=init_std)
        for name, value in _initial(student, config, draw.rng()).items():
            if not _is_matrix(name):
                continue
            residual = name.endswith(("attn.W_o", "ffn.W_2"))
            expected = init_std / (2 * n_layers) ** 0.5 if residual else init_std
            # The standard deviation of 960 values or more has a relative error of 0.023. The tolerance is six of those.
            std, mean = float(value.std(dtype=float)), float(value.mean(dtype=float))
            if not abs(std - expected) <= 0.15 * expected:
                raise Mismatch(f"params[{name!r}] has standard deviation {std:.4f}, expected about {expected:.4f}")
            if not abs(mean) <= 7 * expected / value.size**0.5:
                raise Mismatch(f"params[{name!r}] has mean {mean:.4f}, expected about 0")
            # Of 960 normal values, one is more than 2.2 standard deviations away from 0; uniform ones stay within 1.74.
            if not float(np.abs(value).max()) >= 2.2 * expected:
                raise Mismatch(f"params[{name!r}] is not normally distributed: no entry is far from the mean")


@graded("gpt.init_gpt")
def test_ones_and_zeros(student: StudentCode, draw: RandomInputs) -> None:
    """Every gamma is 1, every beta and every bias 0"""
    for name, value in _initial(student, small_config(tied=False), draw.rng()).items():
        expected = 1.0 if name.endswith("gamma") else 0.0
        if not _is_matrix(name) and not (value == expected).all():
            raise Mismatch(f"params[{name!r}] must be {expected:g} everywhere")


@graded("gpt.init_gpt")
def test_random_start(student: StudentCode, draw: RandomInputs) -> None:
    """All randomness comes from the generator; no two matrices are equal"""
    config, rng = small_config(tied=False), draw.rng()
    first, again, other = (_initial(student, config, generator) for generator in (rng, rng, draw.rng()))
    matrices = {name: value for name, value in first.items() if _is_matrix(name)}
    for name, value in matrices.items():
        if not np.array_equal(value, again[name]):
            raise Mismatch(f"params[{name!r}]: a generator in the same state must give the same parameters")
        if np.array_equal(value, other[name]):
            raise Mismatch(f"params[{name!r}] does not depend on the generator that is passed in")
    for (name, value), (twin, numbers) in itertools.combinations(matrices.items(), 2):
        a = value.ravel()[:3].astype(float)
        for b in (numbers.ravel()[:3].astype(float), numbers.T.ravel()[:3].astype(float)):
            if np.allclose(a * b[0], b * a[0], rtol=1e-5, atol=0):  # the same draws, perhaps scaled
                raise Mismatch(f"params[{name!r}] and params[{twin!r}] were made from the same random values")
