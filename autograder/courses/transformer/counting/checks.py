"""Checks of `counting`: counting pairs, drawing a token, writing a text."""

from typing import Any

import numpy as np
import pytest

from autograder.core.wire_format import Rng
from autograder.courses.transformer.generation.checks._texts import hit_tokens, require_frequencies
from autograder.engine.comparison.compare import describe_type, require_python
from autograder.engine.fixtures import Agree, Refuses, Unmodified
from autograder.engine.inputs import Array, RandomInputs
from autograder.engine.student import StudentCode
from autograder.errors import Mismatch

graded = pytest.mark.graded
FLOAT32 = np.float32
LATE_DART = Rng(4207)  # Its first number is above 0.9999.


@graded("counting.bigram_counts", points=2)
def test_counts(agree: Agree, draw: RandomInputs) -> None:
    """A random text, with the default k"""
    agree(draw.integers(40, high=5), 5)
    agree(draw.integers(12, high=3), 7)  # Tokens 3 to 6 do not occur.


@graded("counting.bigram_counts")
def test_counts_repeated(agree: Agree, draw: RandomInputs) -> None:
    """Pairs that occur many times"""
    agree(np.array([0, 1] * 9 + [2], np.int64), 3)
    agree(np.full(6, 2, np.int64), 4)
    agree(np.tile(draw.integers(4, high=5), 9), 5)


@graded("counting.bigram_counts")
def test_counts_k(agree: Agree, draw: RandomInputs) -> None:
    """Other numbers k added to every count"""
    ids = draw.integers(30, high=6)
    agree(ids, 6, k=0.25)
    agree(ids, 6, 3)
    agree(ids, 8, k=100.0)


@graded("counting.bigram_counts")
def test_counts_without_smoothing(agree: Agree, draw: RandomInputs) -> None:
    """With k = 0, pairs that never occur get 0, rows without counts are uniform"""
    agree(np.array([0, 1, 1, 0, 1], np.int64), 2, k=0)
    ids = draw.integers(15, high=4)
    agree(np.append(ids, 4), 6, k=0.0)  # Token 4 occurs only at the end, token 5 never.


@graded("counting.bigram_counts", points=0.25)
def test_counts_short(agree: Agree, draw: RandomInputs) -> None:
    """A text without pairs, and one with a single pair"""
    agree(draw.integers(2, high=20), 20, k=0.25)
    agree(np.array([1], np.int64), 3)
    agree(np.array([], dtype=np.int64), 4, k=0)
    agree(np.array([2, 0], np.int64), 3, k=0.5)


@graded("counting.bigram_counts", points=0.25)
def test_counts_dtypes(agree: Agree, draw: RandomInputs) -> None:
    """The result is float64 for every integer type; 400 equal pairs are counted in uint8 ids, too"""
    agree(draw.integers(20, high=5).astype(np.int32), 5)
    agree(np.append(np.full(401, 19), [3, 19]).astype(np.uint8), 20)


@graded("counting.bigram_counts")
def test_counts_inputs_kept(unmodified: Unmodified, draw: RandomInputs) -> None:
    """The text is not changed"""
    unmodified(draw.integers(10, high=4), 4)


@graded("counting.bigram_counts", points=0.25)
def test_counts_too_large(refuses: Refuses) -> None:
    """The documented error: an id that is too large, also at the end of the text"""
    for ids in ([5, 5], [5], [3, 0, 1], [0, 3, 1], [0, 1, 3]):
        refuses(np.array(ids, np.int64), 3)


@graded("counting.bigram_counts", points=0.25)
def test_counts_negative(refuses: Refuses) -> None:
    """The documented error: a negative id, which does not count from the end"""
    refuses(np.array([0, -1, 1], np.int64), 3)
    refuses(np.array([0, 1, -1], np.int64), 3)


@graded("counting.bigram_counts", points=0.25)
def test_counts_negative_k(refuses: Refuses, draw: RandomInputs) -> None:
    """The documented error: a negative k"""
    refuses(draw.integers(40, high=3), 3, k=-0.5)


def _probabilities(draw: RandomInputs, *shape: int) -> Array:
    """Return random probabilities; each row of the last axis sums to 1."""
    numbers = draw.uniform(*shape, low=0.125)
    return np.asarray(numbers / numbers.sum(axis=-1, keepdims=True))


def _dart(rng: Rng) -> float:
    return float(np.random.default_rng(rng.seed).random())


def _require_token(student: StudentCode, probs: Array, rng: Rng, expected: int) -> Any:
    """Return the token that `draw` returned. Raise Mismatch unless it is the expected one."""
    token = student.counting.draw(probs, rng)
    if not isinstance(token, (int, np.integer)) or isinstance(token, bool):
        raise Mismatch(f"draw must return an integer, not {describe_type(token)}")
    if token != expected:
        ends = ", ".join(f"{end:.4g}" for end in np.cumsum(probs))
        raise Mismatch(
            f"the random number was {_dart(rng):.6g}, the cumulative sums are {ends}: "
            f"expected token {expected}, got {int(token)}"
        )
    return token


# The most probable token satisfies this check, too.
@graded("counting.draw", alone=False)
def test_draw_certain(student: StudentCode, draw: RandomInputs) -> None:
    """Only one token is possible"""
    for token in range(4):
        _require_token(student, np.eye(4)[token], draw.rng(), token)


@graded("counting.draw", points=2)
def test_draw_hits(student: StudentCode, draw: RandomInputs) -> None:
    """The token whose stretch of the line a random number hits"""
    for size in (2, 3, 5, 9) * 4:
        probs, rng = _probabilities(draw, size), draw.rng()
        _require_token(student, probs, rng, int(hit_tokens(probs, np.asarray(_dart(rng)))))


@graded("counting.draw")
def test_draw_impossible(student: StudentCode, draw: RandomInputs) -> None:
    """Tokens of probability 0, at both ends and between the others"""
    for _ in range(8):
        probs, rng = np.zeros(9), draw.rng()
        probs[[1, 4, 7]] = _probabilities(draw, 3)
        _require_token(student, probs, rng, int(hit_tokens(probs, np.asarray(_dart(rng)))))


@graded("counting.draw", points=0.25)
def test_draw_on_an_end(student: StudentCode, draw: RandomInputs) -> None:
    """A random number exactly on the end of a stretch belongs to the next possible token"""
    for _ in range(2):
        rng = draw.rng()
        end = _dart(rng)
        _require_token(student, np.array([end, 1 - end]), rng, 1)
        _require_token(student, np.array([end / 2, end / 2, 0.0, 1 - end]), rng, 3)


@graded("counting.draw", points=0.25)
def test_draw_beyond(student: StudentCode) -> None:
    """Probabilities in float32, rounded to four digits, and a random number beyond their sum"""
    # NumPy's own `Generator.choice` accepts such a sum in float32, but not in float64.
    assert _dart(LATE_DART) > 0.9999
    _require_token(student, np.array([0.3333, 0.3333, 0.3332], FLOAT32), LATE_DART, 2)
    _require_token(student, np.array([0.3333, 0.3333, 0.3332, 0.0, 0.0], FLOAT32), LATE_DART, 2)


@graded("counting.draw", points=0.25)
def test_draw_type(student: StudentCode, draw: RandomInputs) -> None:
    """The token is a Python integer"""
    require_python(_require_token(student, np.array([0.0, 1.0]), draw.rng(), 1), int, "the token")
    require_python(_require_token(student, np.array([0.5, 0.4998], FLOAT32), LATE_DART, 1), int, "the token")


@graded("counting.draw")
def test_draw_inputs_kept(unmodified: Unmodified, draw: RandomInputs) -> None:
    """The probabilities are not changed"""
    unmodified(_probabilities(draw, 6), draw.rng())


def _text(student: StudentCode, P: Array, start: int, n_new: int, rng: Rng) -> Array:
    """Return the text as an array, checked to have the right form and to begin with `start`."""
    value = student.counting.write_text(P, start, n_new, rng)
    if not isinstance(value, list):
        helps = "collect the tokens in a list: tokens = [start], then append"
        raise Mismatch(f"write_text must return a list, not {describe_type(value)}", help=helps)
    for token in value:
        if not isinstance(token, (int, np.integer)) or isinstance(token, bool):
            raise Mismatch(f"the text must be a list of integers, but contains {describe_type(token)}")
        if not 0 <= token < len(P):
            raise Mismatch(f"the text contains {token}, which is not in 0 … {len(P) - 1}")
    if len(value) != n_new + 1:
        raise Mismatch(f"the text has {len(value)} tokens, expected {n_new + 1}: start and {n_new} new ones")
    if value[0] != start:
        raise Mismatch(f"the text begins with {value[0]}, expected the first token, {start}")
    return np.array(value, np.int64)


def _require_text(actual: Array, expected: list[int]) -> None:
    """Raise Mismatch at the first token that differs."""
    for position, (token, right) in enumerate(zip(actual.tolist(), expected, strict=True)):
        if token != right:
            raise Mismatch(
                f"token {position} of the text is {token}, expected {right}; the text is {actual.tolist()[:20]}, "
                f"expected {expected[:20]}"
            )


def _documented(P: Array, start: int, n_new: int, rng: Rng) -> list[int]:
    text = [start]
    for u in np.random.default_rng(rng.seed).random(n_new):
        text.append(int(hit_tokens(P[text[-1]], np.asarray(u))))
    return text


@graded("counting.write_text")
def test_certain_text(student: StudentCode, draw: RandomInputs) -> None:
    """Only one token is possible after each: a cycle through all tokens"""
    order = np.argsort(draw.uniform(7))
    P = np.zeros((7, 7))
    P[order, np.roll(order, -1)] = 1.0
    text = _text(student, P, int(order[2]), 15, draw.rng())
    _require_text(text, np.resize(np.roll(order, -2), 16).tolist())


@graded("counting.write_text", points=2)
def test_frequencies(student: StudentCode, draw: RandomInputs) -> None:
    """Every token in proportion to its probability after the one before"""
    P = _probabilities(draw, 4, 4)
    text = _text(student, P, 2, 6000, draw.rng())
    for token in range(4):
        require_frequencies(text[1:][text[:-1] == token], P[token], f", after token {token}")


@graded("counting.write_text", points=0.25)
def test_documented_text(student: StudentCode, draw: RandomInputs) -> None:
    """Each new token uses one number of `rng.random()`, in order, even if only one token is possible"""
    for size in (3, 8):
        P, rng = _probabilities(draw, size, size), draw.rng()
        P[1] = np.eye(size)[0]
        _require_text(_text(student, P, size - 1, 40, rng), _documented(P, size - 1, 40, rng))


# Random tokens satisfy this check, too.
@graded("counting.write_text", alone=False)
def test_nothing_new(student: StudentCode, draw: RandomInputs) -> None:
    """No new token: only the first one is returned; a single new token"""
    _text(student, _probabilities(draw, 5, 5), 4, 0, draw.rng())
    _text(student, _probabilities(draw, 5, 5), 0, 1, draw.rng())


@graded("counting.write_text")
def test_text_inputs_kept(unmodified: Unmodified, draw: RandomInputs) -> None:
    """The table is not changed"""
    unmodified(_probabilities(draw, 4, 4), 1, 5, draw.rng())
