"""Checks of `gpt`: the GPT."""

import itertools
from typing import Any

import numpy as np
import pytest

from autograder.core.wire_format import Config, Rng
from autograder.courses.transformer.checks._shapes import gpt_shapes
from autograder.engine.comparison.compare import TOLERANCES, describe_type, require_python, shape_text
from autograder.engine.fixtures import Agree, Refuses, Stages, Unmodified
from autograder.engine.inputs import Array, RandomInputs
from autograder.engine.student import StudentCode
from autograder.errors import Mismatch

graded = pytest.mark.graded
FLOAT32 = np.float32
FLOAT32_LOSS = TOLERANCES[np.dtype(FLOAT32)]


def _config(**fields: Any) -> Config:
    """Return a small configuration with axes of different sizes. Students may change the defaults of these fields."""
    sizes = {"vocab_size": 11, "block_size": 7, "n_layers": 2, "n_heads": 2, "d_model": 6, "d_ff": 9}
    return Config("gpt", "GPTConfig", {**sizes, "activation": "gelu", "tied": True, "bias": True, **fields})


def _tiny(**fields: Any) -> Config:
    """Return a configuration with one block and four features."""
    return _config(**{"vocab_size": 5, "block_size": 4, "n_layers": 1, "d_model": 4, "d_ff": 3, **fields})


def _params(draw: RandomInputs, config: Config, dtype: Any = np.float64) -> dict[str, Array]:
    """Return random parameters, none of them near its usual initial value."""
    params = {name: draw.normal(*shape, scale=0.5, dtype=dtype) for name, shape in gpt_shapes(config).items()}
    for name in params:
        if name.endswith("gamma"):
            params[name] += FLOAT32(1.5)
    return params


def _ids(draw: RandomInputs, config: Config, *shape: int) -> Array:
    return draw.integers(*shape, high=config.vocab_size)


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
            raise Mismatch(f"params[{name!r}] has shape {shape_text(value.shape)}, expected {shape_text(shape)}")
        if value.dtype != np.float32:
            raise Mismatch(f"params[{name!r}] has dtype {value.dtype}, expected float32")
    return params


def _is_matrix(name: str) -> bool:
    return name.rpartition(".")[2].startswith("W_")


@graded("gpt.init_gpt")
def test_names_and_shapes(student: StudentCode, draw: RandomInputs) -> None:
    """Names, shapes and float32, a tied head"""
    _initial(student, _config(), draw.rng())
    _initial(student, _config(n_layers=1, n_heads=1, d_model=4, d_ff=16), draw.rng())


@graded("gpt.init_gpt")
def test_options_of_the_start(student: StudentCode, draw: RandomInputs) -> None:
    """An untied head; no biases"""
    _initial(student, _config(tied=False), draw.rng())
    _initial(student, _config(bias=False), draw.rng())
    _initial(student, _config(tied=False, bias=False, n_layers=3), draw.rng())


@graded("gpt.init_gpt", points=0.25)
def test_attention_bias_of_the_start(student: StudentCode, draw: RandomInputs) -> None:
    """Attention without biases, with both, with the second only"""
    for attention_bias in (False, True, "output"):
        _initial(student, _config(bias=attention_bias is False, attention_bias=attention_bias), draw.rng())


@graded("gpt.init_gpt", points=0.25)
def test_ffn_bias_of_the_start(student: StudentCode, draw: RandomInputs) -> None:
    """A feed-forward network without biases, with biases"""
    for ffn_bias in (False, True):
        _initial(student, _config(bias=not ffn_bias, ffn_bias=ffn_bias), draw.rng())


@graded("gpt.init_gpt", points=0.25)
def test_head_bias_of_the_start(student: StudentCode, draw: RandomInputs) -> None:
    """A separate head with a bias, which is 0"""
    params = _initial(student, _config(tied=False, head_bias=True), draw.rng())
    if params["b_head"].any():
        raise Mismatch("params['b_head'] must be 0 everywhere")


@graded("gpt.init_gpt", points=0.25)
def test_tied_head_bias_of_the_start(student: StudentCode, draw: RandomInputs) -> None:
    """A tied head with a bias"""
    _initial(student, _config(tied=True, head_bias=True), draw.rng())


@graded("gpt.init_gpt", points=0.5)
def test_form_of_the_start(student: StudentCode, draw: RandomInputs) -> None:
    """No last norm with post-norm, no W_pos with sinusoidal positions"""
    _initial(student, _config(norm="post"), draw.rng())
    _initial(student, _config(positions="sinusoidal"), draw.rng())
    _initial(student, _config(norm="pre", positions="learned"), draw.rng())


@graded("gpt.init_gpt")
def test_sizes_of_the_start(student: StudentCode, draw: RandomInputs) -> None:
    """Matrices with mean 0 and standard deviation init_std, smaller for W_o and W_2"""
    for n_layers, init_std in ((3, 0.02), (1, 0.02), (2, 0.08)):
        sizes = {"vocab_size": 40, "block_size": 30, "n_layers": n_layers, "d_model": 32, "d_ff": 48}
        config = _config(**sizes, tied=False, init_std=init_std)
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
    for name, value in _initial(student, _config(tied=False), draw.rng()).items():
        expected = 1.0 if name.endswith("gamma") else 0.0
        if not _is_matrix(name) and not (value == expected).all():
            raise Mismatch(f"params[{name!r}] must be {expected:g} everywhere")


@graded("gpt.init_gpt")
def test_random_start(student: StudentCode, draw: RandomInputs) -> None:
    """All randomness comes from the generator; no two matrices are equal"""
    config, rng = _config(tied=False), draw.rng()
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


@graded("gpt.gpt", points=2)
def test_tied(agree: Agree, draw: RandomInputs) -> None:
    """A tied head: the token table, transposed"""
    config = _config()
    agree(_ids(draw, config, 3, 7), _params(draw, config), config)


@graded("gpt.gpt")
def test_untied(agree: Agree, draw: RandomInputs) -> None:
    """A separate head"""
    config = _config(tied=False)
    agree(_ids(draw, config, 3, 7), _params(draw, config), config)


@graded("gpt.gpt", points=2)
def test_stages(stages: Stages, draw: RandomInputs) -> None:
    """The stages in the cache, from the embedding to the last norm"""
    config = _config(n_layers=3)
    ids, params = _ids(draw, config, 3, 5), _params(draw, config)
    stages(ids, params, config)


@graded("gpt.gpt")
def test_relu(agree: Agree, draw: RandomInputs) -> None:
    """ReLU"""
    config = _config(activation="relu")
    agree(_ids(draw, config, 3, 6), _params(draw, config), config)


@graded("gpt.gpt")
def test_without_biases(agree: Agree, draw: RandomInputs) -> None:
    """Without biases"""
    for tied in (True, False):
        config = _config(bias=False, tied=tied)
        agree(_ids(draw, config, 3, 6), _params(draw, config), config)


@graded("gpt.gpt")
def test_lengths(agree: Agree, draw: RandomInputs) -> None:
    """Texts shorter than the block size, a single token, a single text"""
    config = _config()
    params = _params(draw, config)
    for shape in ((3, 5), (1, 7), (3, 1), (1, 1)):
        agree(_ids(draw, config, *shape), params, config)


@graded("gpt.gpt")
def test_axes(agree: Agree, draw: RandomInputs) -> None:
    """No batch axis, and two"""
    config = _config(tied=False)
    params = _params(draw, config)
    agree(_ids(draw, config, 5), params, config)
    agree(_ids(draw, config, 2, 3, 5), params, config)


@graded("gpt.gpt")
def test_layers_and_heads(agree: Agree, draw: RandomInputs) -> None:
    """One block, eleven blocks; one head, three heads"""
    for fields in ({"n_layers": 1, "n_heads": 1}, {"n_heads": 3}, {"n_layers": 11, "d_model": 4}):
        config = _config(**fields)
        agree(_ids(draw, config, 2, 4), _params(draw, config), config)


@graded("gpt.gpt", points=0.5)
def test_post_norm(agree: Agree, draw: RandomInputs) -> None:
    """Post-norm: no norm after the last block"""
    config = _config(norm="post")
    agree(_ids(draw, config, 3, 6), _params(draw, config), config)


@graded("gpt.gpt", points=0.5)
def test_sinusoidal(agree: Agree, draw: RandomInputs) -> None:
    """Sinusoidal positions, in float64 and float32"""
    config = _config(positions="sinusoidal")
    for dtype in (np.float64, FLOAT32):
        agree(_ids(draw, config, 3, 5), _params(draw, config, dtype), config)


@graded("gpt.gpt", points=0.5)
def test_head_bias(agree: Agree, draw: RandomInputs) -> None:
    """A head with a bias; attention without biases"""
    for tied, attention_bias in ((False, False), (True, "output")):
        config = _config(tied=tied, head_bias=True, attention_bias=attention_bias)
        agree(_ids(draw, config, 3, 5), _params(draw, config), config)


@graded("gpt.gpt", points=0.5)
def test_dropout(agree: Agree, draw: RandomInputs) -> None:
    """Dropout with rng, after the embedding and in the blocks"""
    config = _config(dropout=0.25)
    agree(_ids(draw, config, 3, 6), _params(draw, config), config, draw.rng())


@graded("gpt.gpt", points=0.25)
def test_no_dropout(agree: Agree, draw: RandomInputs) -> None:
    """Without rng, nothing is dropped"""
    config = _config(dropout=0.25)
    agree(_ids(draw, config, 3, 6), _params(draw, config), config)


@graded("gpt.gpt", points=0.25)
def test_stages_of_options(stages: Stages, draw: RandomInputs) -> None:
    """The stages in the cache with dropout; with post-norm and sinusoidal positions"""
    for fields, rng in (({}, draw.rng()), ({"norm": "post", "positions": "sinusoidal"}, None)):
        config = _config(dropout=0.4, **fields)
        stages(_ids(draw, config, 2, 5), _params(draw, config), config, rng=rng)


@graded("gpt.gpt")
def test_float32(agree: Agree, draw: RandomInputs) -> None:
    """float32 parameters give float32 scores"""
    for tied in (True, False):
        config = _config(tied=tied)
        agree(_ids(draw, config, 2, 5), _params(draw, config, FLOAT32), config)


@graded("gpt.gpt")
def test_inputs_kept(unmodified: Unmodified, draw: RandomInputs) -> None:
    """The ids and the parameters are not changed"""
    for fields in ({"tied": True}, {"tied": False, "bias": False}):
        config = _config(**fields)
        unmodified(_ids(draw, config, 2, 5), _params(draw, config), config)


@graded("gpt.gpt", points=0.25)
def test_errors(refuses: Refuses, draw: RandomInputs) -> None:
    """The documented errors: more tokens than the block size, an id below 0, an id of V"""
    _refuse(refuses, draw)


def _refuse(refuses: Refuses, draw: RandomInputs, *, with_targets: bool = False) -> None:
    """Provoke each documented error of `gpt` or `gpt_loss`."""
    # With a block size of 1, the row of W_pos fits any number of tokens, and only an explicit check notices.
    short, config = _tiny(block_size=1), _tiny()
    too_long, negative, too_large = _ids(draw, short, 2, 2), _ids(draw, config, 2, 3), _ids(draw, config, 2, 3)
    negative[1, 2], too_large[0, 1] = -1, config.vocab_size
    for ids, settings in ((too_long, short), (negative, config), (too_large, config)):
        targets = (_ids(draw, settings, *ids.shape),) if with_targets else ()
        refuses(ids, *targets, _params(draw, settings), settings)
    # Sines and cosines exist for any number of positions: there, too, only an explicit check notices.
    endless = _tiny(positions="sinusoidal")
    targets = (_ids(draw, endless, 2, 5),) if with_targets else ()
    refuses(_ids(draw, endless, 2, 5), *targets, _params(draw, endless), endless)


@graded("gpt.gpt_loss", points=2)
def test_loss_tied(agree: Agree, draw: RandomInputs) -> None:
    """A tied head: the gradient of the table has two parts"""
    config = _config()
    agree(_ids(draw, config, 3, 7), _ids(draw, config, 3, 7), _params(draw, config), config)


@graded("gpt.gpt_loss", points=2)
def test_loss_untied(agree: Agree, draw: RandomInputs) -> None:
    """A separate head: tokens that do not occur have gradient 0"""
    config = _config(tied=False)
    agree(draw.integers(3, 5, high=8), _ids(draw, config, 3, 5), _params(draw, config), config)


@graded("gpt.gpt_loss")
def test_loss_relu(agree: Agree, draw: RandomInputs) -> None:
    """ReLU"""
    config = _tiny(activation="relu", n_layers=2)
    agree(_ids(draw, config, 3, 4), _ids(draw, config, 3, 4), _params(draw, config), config)


@graded("gpt.gpt_loss")
def test_loss_without_biases(agree: Agree, draw: RandomInputs) -> None:
    """Without biases: no gradients for them"""
    for tied in (True, False):
        config = _tiny(bias=False, tied=tied)
        agree(_ids(draw, config, 3, 4), _ids(draw, config, 3, 4), _params(draw, config), config)


@graded("gpt.gpt_loss")
def test_loss_short(agree: Agree, draw: RandomInputs) -> None:
    """Short texts: unused positions have gradient 0"""
    config = _tiny()
    params = _params(draw, config)
    for shape in ((3, 2), (2, 1), (1, 3)):
        agree(_ids(draw, config, *shape), _ids(draw, config, *shape), params, config)


@graded("gpt.gpt_loss")
def test_loss_repeated(agree: Agree, draw: RandomInputs) -> None:
    """The same token at many positions: its gradients add up"""
    ids, targets = np.array([[1, 1, 3, 1], [3, 1, 1, 1]], np.int64), np.array([[2, 2, 2, 1], [1, 2, 2, 4]], np.int64)
    for tied in (True, False):
        config = _tiny(tied=tied)
        agree(ids, targets, _params(draw, config), config)


@graded("gpt.gpt_loss")
def test_loss_axes(agree: Agree, draw: RandomInputs) -> None:
    """No batch axis, and two"""
    config = _tiny()
    params = _params(draw, config)
    for shape in ((3,), (2, 3, 4)):
        agree(_ids(draw, config, *shape), _ids(draw, config, *shape), params, config)


@graded("gpt.gpt_loss")
def test_loss_layers_and_heads(agree: Agree, draw: RandomInputs) -> None:
    """One head, four heads; three different blocks"""
    for fields in ({"n_heads": 1}, {"n_heads": 4}, {"n_layers": 3}):
        config = _tiny(**fields)
        agree(_ids(draw, config, 2, 4), _ids(draw, config, 2, 4), _params(draw, config), config)


@graded("gpt.gpt_loss")
def test_loss_confidently_wrong(agree: Agree, draw: RandomInputs) -> None:
    """Scores in the hundreds: the loss is large, not infinite"""
    config = _tiny(tied=False)
    params = _params(draw, config)
    params["W_head"] *= 1024.0
    agree(_ids(draw, config, 2, 3), _ids(draw, config, 2, 3), params, config)


@graded("gpt.gpt_loss", points=0.5)
def test_loss_post_norm(agree: Agree, draw: RandomInputs) -> None:
    """Post-norm: no norm after the last block"""
    config = _tiny(norm="post", n_layers=2)
    agree(_ids(draw, config, 3, 4), _ids(draw, config, 3, 4), _params(draw, config), config)


@graded("gpt.gpt_loss", points=0.5)
def test_loss_sinusoidal(agree: Agree, draw: RandomInputs) -> None:
    """Sinusoidal positions: no gradient for them"""
    for tied in (False, True):
        config = _tiny(positions="sinusoidal", tied=tied)
        agree(_ids(draw, config, 3, 4), _ids(draw, config, 3, 4), _params(draw, config), config)


@graded("gpt.gpt_loss", points=0.5)
def test_loss_head_bias(agree: Agree, draw: RandomInputs) -> None:
    """A head with a bias; attention without biases"""
    for tied, attention_bias in ((False, False), (True, "output")):
        config = _tiny(tied=tied, head_bias=True, attention_bias=attention_bias)
        agree(_ids(draw, config, 3, 4), _ids(draw, config, 3, 4), _params(draw, config), config)


@graded("gpt.gpt_loss", points=0.5)
def test_loss_dropout(agree: Agree, draw: RandomInputs) -> None:
    """Dropout with rng: the gradients go through the same masks"""
    config = _tiny(dropout=0.25, n_layers=2)
    agree(_ids(draw, config, 3, 4), _ids(draw, config, 3, 4), _params(draw, config), config, draw.rng())


@graded("gpt.gpt_loss", points=0.25)
def test_loss_all_options(agree: Agree, draw: RandomInputs) -> None:
    """All options at once; without rng, nothing is dropped"""
    fields = {"norm": "post", "positions": "sinusoidal", "dropout": 0.4, "attention_bias": False, "head_bias": True}
    config = _tiny(**fields)
    for rng in (draw.rng(), None):
        agree(_ids(draw, config, 2, 3), _ids(draw, config, 2, 3), _params(draw, config), config, rng)


@graded("gpt.gpt_loss")
def test_loss_float32(agree: Agree, draw: RandomInputs) -> None:
    """float32 parameters have float32 gradients"""
    for tied in (True, False):
        config = _tiny(tied=tied, n_layers=2)
        ids, targets, params = _ids(draw, config, 2, 3), _ids(draw, config, 2, 3), _params(draw, config, FLOAT32)
        agree(ids, targets, params, config, tolerance=FLOAT32_LOSS)


@graded("gpt.gpt_loss")
def test_loss_inputs_kept(unmodified: Unmodified, draw: RandomInputs) -> None:
    """The ids, the targets and the parameters are not changed"""
    for fields in ({"tied": True}, {"tied": False, "bias": False}):
        config = _tiny(**fields)
        unmodified(_ids(draw, config, 2, 3), _ids(draw, config, 2, 3), _params(draw, config), config)


@graded("gpt.gpt_loss", points=0.25)
def test_loss_type(agree: Agree, draw: RandomInputs) -> None:
    """The loss is a Python float, not an array or a NumPy scalar"""
    config = _tiny()
    loss, _ = agree(_ids(draw, config, 2, 3), _ids(draw, config, 2, 3), _params(draw, config), config)
    require_python(loss, float, "the loss")


@graded("gpt.gpt_loss", points=0.25)
def test_loss_errors(refuses: Refuses, draw: RandomInputs) -> None:
    """The documented errors: more tokens than the block size, an id below 0, an id of V"""
    _refuse(refuses, draw, with_targets=True)


@graded("gpt.count_parameters")
def test_count(agree: Agree, draw: RandomInputs) -> None:
    """All entries of all arrays; a tied head is counted once"""
    for fields in ({}, {"tied": False}, {"bias": False}):
        agree(_params(draw, _config(**fields)))


@graded("gpt.count_parameters")
def test_count_anything(agree: Agree, draw: RandomInputs) -> None:
    """Arrays of any shape; entries of 0"""
    agree({"a": draw.normal(2, 3, 4), "b": draw.normal(5), "c": draw.normal(1, 1, dtype=FLOAT32)})
    agree({"a": np.zeros((3, 2)), "b": np.array([0.0, 1.0])})


@graded("gpt.count_parameters", points=0.25)
def test_count_type(agree: Agree, draw: RandomInputs) -> None:
    """The number is a Python int"""
    require_python(agree(_params(draw, _tiny())), int, "the number")
