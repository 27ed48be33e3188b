"""Checks of the number of parameters of a GPT."""

import numpy as np
import pytest

from autograder.courses.transformer.gpt.checks._models import draw_gpt, small_config
from autograder.engine.comparison.compare import require_python
from autograder.engine.fixtures import Agree
from autograder.engine.inputs import RandomInputs

graded = pytest.mark.graded
FLOAT32 = np.float32


@graded("gpt.count_parameters")
def test_count(agree: Agree, draw: RandomInputs) -> None:
    """All entries of all arrays; a tied head is counted once"""
    for fields in ({}, {"tied": False}, {"bias": False}):
        agree(draw_gpt(draw, small_config(vocab_size=int(draw.integers(low=9, high=40)), **fields)))


@graded("gpt.count_parameters")
def test_count_anything(agree: Agree, draw: RandomInputs) -> None:
    """Arrays of any shape; entries of 0"""
    agree({"a": draw.normal(2, 3, 4), "b": draw.normal(5), "c": draw.normal(1, 1, dtype=FLOAT32)})
    agree({"a": np.zeros((3, int(draw.integers(low=1, high=60)))), "b": np.array([0.0, 1.0])})


@graded("gpt.count_parameters", points=0.25)
def test_count_type(agree: Agree, draw: RandomInputs) -> None:
    """The number is a Python int"""
    require_python(agree({"W_tok": draw.normal(int(draw.integers(low=2, high=60)), 3)}), int, "the number")
