"""Call the functions that compute what a plot shows, and check what they return before it is drawn.

How a call reaches the student's function is up to the caller: in a sandboxed process, in a notebook, in a browser.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from autograder.errors import Blocked, NotStarted, UsageError, Verdict

LARGEST = 1e100  # plots can scale values up to here, and their squares are finite
Array = npt.NDArray[np.float64]
Ids = npt.NDArray[np.int64]
Shape = tuple[int, ...]
Call = Callable[[str, tuple[Any, ...], dict[str, Any]], Any]  # qualified name, arguments, keyword arguments -> result


class FunctionNotWritten(UsageError):
    """A function that the plot needs is not written yet."""

    def __init__(self, function: str) -> None:
        self.function = function
        advice = f"Write it (headway check {function}), or draw with the official solution: --solution"
        super().__init__(f"the plot needs {function}, which is not written yet. {advice}")


class NotDrawable(UsageError):
    """A function that the plot needs failed, or returned something that cannot be drawn."""

    def __init__(self, function: str, problem: str) -> None:
        self.function, self.problem = function, problem
        super().__init__(f"{problem}. To see more: headway check {function}")


class FunctionCaller:
    """Calls functions of the course by name and checks what they return before it is drawn."""

    def __init__(self, call: Call) -> None:
        self._call = call

    def call(self, qualified: str, *args: Any, **kwargs: Any) -> Any:
        """Return what the function returns, unchecked."""
        try:
            return self._call(qualified, args, kwargs)
        except (NotStarted, Blocked) as verdict:
            raise FunctionNotWritten(verdict.needed if isinstance(verdict, Blocked) else qualified) from None
        except Verdict as verdict:
            raise NotDrawable(qualified, verdict.message) from None

    def array(self, qualified: str, shape: Shape, *args: Any, **kwargs: Any) -> Array:
        """Return the float64 array of this shape that the function returns."""
        return drawable(self.call(qualified, *args, **kwargs), shape, qualified)

    def values(self, qualified: str, count: int, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Return the tuple of `count` values that the function returns; pass the arrays in it to `drawable`."""
        value = self.call(qualified, *args, **kwargs)
        if not isinstance(value, tuple) or len(value) != count:
            raise NotDrawable(qualified, f"{qualified} does not return {count} values")
        return value


def drawable(value: Any, shape: Shape, qualified: str) -> Array:
    """Return `value`, a result of the function `qualified`, as a float64 array."""
    if isinstance(value, (bool, int, float, np.number)):
        value = np.asarray(value)
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "biuf":
        problem = f"{type(value).__name__}, expected a numeric array"
    elif value.shape != shape:
        problem = f"an array of shape {value.shape}, expected {shape}"
    elif not np.isfinite(value).all():
        problem = "infinite or nan values, which cannot be drawn"
    elif value.size and np.abs(value.astype(np.float64)).max() > LARGEST:
        problem = f"values beyond {LARGEST:g}, which cannot be drawn"
    else:
        return value.astype(np.float64)
    raise NotDrawable(qualified, f"{qualified} returned {problem}")


Picture = Callable[[FunctionCaller], str]  # a picture in a lesson, as SVG
