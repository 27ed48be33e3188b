"""Inputs are the same everywhere and forever, and what their names say."""

import hashlib

import numpy as np

from autograder.engine.inputs import RandomInputs

FIRST = [-1.1929407119750977, -1.5682182312011719, -0.8411741256713867]
DIGEST = "efc2897fb1deaf4e"


def test_stream_never_changes():
    assert RandomInputs(0, "example").normal(3).tolist() == FIRST
    assert hashlib.sha256(RandomInputs(0, "example").normal(1000).tobytes()).hexdigest()[:16] == DIGEST


def test_stream_depends_on_seed_and_name():
    same = RandomInputs(0, "a").normal(5)
    assert np.array_equal(same, RandomInputs(0, "a").normal(5))
    assert not np.array_equal(same, RandomInputs(1, "a").normal(5))
    assert not np.array_equal(same, RandomInputs(0, "b").normal(5))


def test_streams_have_expected_distributions():
    draw = RandomInputs(0, "distributions")
    normal = draw.normal(20_000, scale=2.0)
    assert abs(normal.mean()) < 0.06
    assert abs(normal.std() - 2.0) < 0.04
    integers = draw.integers(6_000, low=-2, high=4)
    assert set(integers.tolist()) == {-2, -1, 0, 1, 2, 3}
    assert np.bincount(integers + 2).min() > 850
    uniform = draw.uniform(5_000, low=-1, high=3)
    assert uniform.min() >= -1 and uniform.max() < 3
    assert abs(uniform.mean() - 1) < 0.06
    assert abs(draw.booleans(5_000, true=0.3).mean() - 0.3) < 0.03


def test_normal_float32_rounds_float64():
    exact, rounded = RandomInputs(0, "x").normal(50), RandomInputs(0, "x").normal(50, dtype=np.float32)
    assert rounded.dtype == np.float32
    assert np.allclose(exact, rounded, rtol=1e-6)


def test_restart_repeats_stream():
    def draws(draw):
        found = [draw.normal(3, 4), draw.normal(300, 400), draw.integers(7, high=9), draw.booleans(3), draw.normal()]
        return [*(array.tolist() for array in found), draw.text(5, "abc"), draw.rng().seed]

    draw = RandomInputs(3, "a")
    first = draws(draw)
    draw.restart(3, "b")
    assert draws(draw) != first
    draw.restart(3, "a")
    draw.normal(3, 4)[:] = 0  # what a check does to its inputs is its own affair
    draw.restart(3, "a")
    assert draws(draw) == first == draws(RandomInputs(3, "a"))
    draw.restart(3, "a")
    other = RandomInputs(3, "a")
    other.normal(3, 4)
    draw.normal(3, 4)  # another question in the middle goes on from the same place
    assert draw.integers(2, high=1000).tolist() == other.integers(2, high=1000).tolist()
    draw.restart(3, "a")
    assert draws(draw) == first


def test_draws_that_depend_on_answers_do_not_change_those_of_the_next_student():
    def draws(inputs, *sizes):
        inputs.restart(5, "depends")
        return [inputs.normal(size).tolist() for size in sizes]

    alone, shared = draws(RandomInputs(0, "x"), 3, 9, 7), RandomInputs(0, "x")
    draws(shared, 3, 4, 7)  # another answer, so another request
    assert draws(shared, 3, 9, 7) == alone
