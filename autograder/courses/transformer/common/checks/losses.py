"""Comparison of the losses of a training run, for the checks of `bigram` and `training`."""

from typing import Any

import numpy as np

from autograder.course import Function
from autograder.engine.comparison.compare import Tolerance, compare_value, describe_type
from autograder.errors import Mismatch


def compare_losses(actual: Any, expected: Any, tolerance: Tolerance, function: Function) -> None:
    """Compare the losses of every step within a tolerance, which `compare` does not apply to lists."""
    if not isinstance(actual, list):
        raise Mismatch(f"losses must be a list of floats, not {describe_type(actual)}")
    if not all(isinstance(loss, (float, np.floating)) for loss in actual):
        wrong = next(loss for loss in actual if not isinstance(loss, (float, np.floating)))
        raise Mismatch(f"losses must be a list of floats; one of them is {describe_type(wrong)}")
    if len(actual) != len(expected):
        raise Mismatch(f"losses has {len(actual)} entries, expected {len(expected)}")
    actual, expected = np.array(actual, dtype=np.float64), np.array(expected, dtype=np.float64)
    compare_value(actual, expected, "losses", ("step",), function, tolerance=tolerance)
