"""Checks of `last_logits`."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest

from autograder.core.wire_format import Config
from autograder.courses.transformer.common.checks.shapes import gpt_shapes
from autograder.engine.fixtures import Agree, Compare, Refuses, Unmodified
from autograder.engine.inputs import Array, RandomInputs
from autograder.engine.reference import Reference
from autograder.engine.student import Cache, StudentCode

graded = pytest.mark.graded
FLOAT32 = np.float32


def _config(**fields: Any) -> Config:
    """Return a small configuration. Every field is set: students may change the defaults."""
    sizes = {"vocab_size": 11, "block_size": 9, "n_layers": 2, "n_heads": 2, "d_model": 6, "d_ff": 7}
    return Config("gpt", "GPTConfig", {**sizes, "activation": "gelu", "tied": True, "bias": True, **fields})


def _params(draw: RandomInputs, config: Config, dtype: Any = np.float64) -> dict[str, Array]:
    """Return random parameters, none of them near its usual initial value."""
    params = {name: draw.normal(*shape, scale=0.75, dtype=dtype) for name, shape in gpt_shapes(config).items()}
    for name in params:
        if name.endswith("gamma"):
            params[name] += FLOAT32(1.5)
    return params


def _ids(draw: RandomInputs, config: Config, *shape: int) -> Array:
    return draw.integers(*shape, high=config.vocab_size)


class Steps:
    """Calls `last_logits` several times in sequence, and compares the scores of each call with PyTorch's."""

    def __init__(self, student: StudentCode, reference: Reference, compare: Compare) -> None:
        self._student, self._reference, self._compare = student, reference, compare

    def __call__(self, ids: Array, params: dict[str, Array], config: Config, lengths: Iterable[int]) -> Cache:
        """Split the ids into calls of these lengths; return the last cache."""
        start = 0
        caches: list[Cache] = []
        for length in lengths:
            end = start + length
            answer = self._student.gpt2.last_logits(ids[..., start:end], params, config, *caches)
            expected, _ = self._reference.gpt2.last_logits(ids[..., :end], params, config)
            self._compare(answer, (expected, {}))
            start, caches = end, [answer[1]]
        return caches[0]


@pytest.fixture(scope="session")
def in_steps(student: StudentCode, reference: Reference, compare: Compare) -> Steps:
    """Return a function that calls `last_logits` in steps."""
    return Steps(student, reference, compare)


@graded("gpt2.last_logits", points=2)
def test_first_call(agree: Agree, draw: RandomInputs) -> None:
    """A text of three tokens, without a cache, for one block and for two"""
    for config in (_config(n_layers=1), _config()):
        agree(_ids(draw, config, 2, 3), _params(draw, config), config)


@graded("gpt2.last_logits", points=3)
def test_one_by_one(in_steps: Steps, draw: RandomInputs) -> None:
    """A prompt of three tokens, then one token at a time"""
    config = _config()
    in_steps(_ids(draw, config, 2, 6), _params(draw, config), config, (3, 1, 1, 1))


@graded("gpt2.last_logits", points=2)
def test_several_new(in_steps: Steps, draw: RandomInputs) -> None:
    """Several new tokens at once, after others"""
    config = _config()
    in_steps(_ids(draw, config, 2, 8), _params(draw, config), config, (1, 3, 2, 2))


@graded("gpt2.last_logits")
def test_whole_block(in_steps: Steps, draw: RandomInputs) -> None:
    """As many tokens as there are positions: in one call, in two, and one by one"""
    config = _config(block_size=4)
    params = _params(draw, config)
    for lengths in ((4,), (3, 1), (1, 1, 1, 1)):
        in_steps(_ids(draw, config, 3, 4), params, config, lengths)


@graded("gpt2.last_logits")
def test_shapes(in_steps: Steps, draw: RandomInputs) -> None:
    """A single token, a single text, no batch axis, two of them; other integer types"""
    config = _config()
    params = _params(draw, config)
    in_steps(_ids(draw, config, 3, 2), params, config, (1, 1))
    for shape in ((1, 4), (4,), (2, 3, 4)):
        in_steps(_ids(draw, config, *shape), params, config, (2, 1, 1))
    in_steps(_ids(draw, config, 2, 3).astype(np.uint8), params, config, (2, 1))


@graded("gpt2.last_logits")
def test_sizes(in_steps: Steps, draw: RandomInputs) -> None:
    """Three blocks and three heads; one head; ReLU"""
    for fields in ({"n_layers": 3, "n_heads": 3}, {"n_heads": 1, "d_ff": 4}, {"activation": "relu"}):
        config = _config(**fields)
        in_steps(_ids(draw, config, 2, 5), _params(draw, config), config, (3, 1, 1))


@graded("gpt2.last_logits", points=0.5)
def test_heads(in_steps: Steps, draw: RandomInputs) -> None:
    """A separate head, also as wide as the vocabulary"""
    for vocab_size in (11, 6):
        config = _config(tied=False, vocab_size=vocab_size)
        in_steps(_ids(draw, config, 2, 4), _params(draw, config), config, (2, 1, 1))


@graded("gpt2.last_logits")
def test_float32(in_steps: Steps, draw: RandomInputs) -> None:
    """float32 stays float32"""
    config = _config()
    in_steps(_ids(draw, config, 2, 5), _params(draw, config, FLOAT32), config, (3, 1, 1))


@graded("gpt2.last_logits")
def test_two_texts(student: StudentCode, reference: Reference, compare: Compare, draw: RandomInputs) -> None:
    """Two texts in turns, each with its own cache, and then a new one"""
    config = _config()
    params = _params(draw, config)
    texts = [_ids(draw, config, 2, 5), _ids(draw, config, 1, 5)]
    caches: list[Any] = [None, None]
    for start, end in ((0, 2), (2, 3), (3, 5)):
        for i, ids in enumerate(texts):
            answer = student.gpt2.last_logits(ids[:, start:end], params, config, caches[i])
            compare(answer, (reference.gpt2.last_logits(ids[:, :end], params, config)[0], {}))
            caches[i] = answer[1]
    answer = student.gpt2.last_logits(texts[0], params, config, None)
    compare(answer, (reference.gpt2.last_logits(texts[0], params, config)[0], {}))


@graded("gpt2.last_logits")
def test_inputs_kept(student: StudentCode, unmodified: Unmodified, draw: RandomInputs) -> None:
    """The ids and the parameters are not changed, also with a cache"""
    config = _config()
    params, ids = _params(draw, config), _ids(draw, config, 2, 5)
    unmodified(ids, params, config)
    _, cache = student.gpt2.last_logits(ids, params, config)
    unmodified(_ids(draw, config, 2, 1), params, config, cache)


@graded("gpt2.last_logits", points=0.25)
def test_too_long(refuses: Refuses, draw: RandomInputs) -> None:
    """The documented error: more tokens than positions, in the first call"""
    config = _config(block_size=4)
    refuses(_ids(draw, config, 2, 5), _params(draw, config), config)


@graded("gpt2.last_logits", points=0.25)
def test_full_cache(in_steps: Steps, refuses: Refuses, draw: RandomInputs) -> None:
    """The documented error: the cache is full"""
    config = _config(block_size=4)
    params = _params(draw, config)
    cache = in_steps(_ids(draw, config, 2, 4), params, config, (3, 1))
    refuses(_ids(draw, config, 2, 1), params, config, cache)


@graded("gpt2.last_logits", points=0.25)
def test_too_many_new(in_steps: Steps, refuses: Refuses, draw: RandomInputs) -> None:
    """The documented error: the new tokens do not fit beside those in the cache"""
    config = _config(block_size=5)
    params = _params(draw, config)
    cache = in_steps(_ids(draw, config, 2, 3), params, config, (3,))
    refuses(_ids(draw, config, 2, 3), params, config, cache)


@graded("gpt2.last_logits", points=0.25)
def test_no_tokens(refuses: Refuses, draw: RandomInputs) -> None:
    """The documented error: no new token"""
    config = _config()
    refuses(np.zeros((2, 0), dtype=np.int64), _params(draw, config), config)


@graded("gpt2.last_logits", points=0.25)
def test_no_new_tokens(in_steps: Steps, refuses: Refuses, draw: RandomInputs) -> None:
    """The documented error: no new token after others"""
    config = _config()
    params = _params(draw, config)
    cache = in_steps(_ids(draw, config, 2, 3), params, config, (3,))
    refuses(np.zeros((2, 0), dtype=np.int64), params, config, cache)


@graded("gpt2.last_logits", points=0.25)
def test_bad_ids(refuses: Refuses, draw: RandomInputs) -> None:
    """The documented error: an id that is negative, or too large"""
    config = _config()
    params = _params(draw, config)
    for bad in (-1, 11):
        refuses(np.array([[3, bad, 2]], np.int64), params, config)
        refuses(np.array([[3, 2, bad]], np.int64), params, config)
