"""Describe the inputs of a call in one line: shapes of arrays, and small values themselves."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from autograder.core.text import clean
from autograder.core.wire_format import FunctionOf, GeneratorOf, Rng
from autograder.engine.student import Cache

MAX_NUMBERS = 12  # Larger arrays and lists are shown by their shape or length only.
MAX_ARRAYS = 4  # Longer lists of arrays are shown by their length only.
MAX_TEXT = 500


def describe_inputs(args: tuple[Any, ...], kwargs: dict[str, Any], names: Sequence[str] = ()) -> str:
    """Return every argument with its name, given the names of the first parameters in order."""
    named = [f"{name} {_describe(value)}" for name, value in zip(names, args, strict=False)]
    parts = named + [_describe(value) for value in args[len(named) :]]
    parts += [f"{name} {_describe(value)}" for name, value in kwargs.items()]
    return clean(", ".join(parts), MAX_TEXT)


def _describe(value: Any) -> str:
    if isinstance(value, (np.ndarray, np.generic)):
        return _array(np.asarray(value))
    if isinstance(value, dict):
        shown = ", ".join(f"{key!r}: {_describe(item)}" for key, item in list(value.items())[:4])
        return "{" + shown + (", …}" if len(value) > 4 else "}")
    if isinstance(value, (list, tuple)):
        if 0 < len(value) <= MAX_ARRAYS and all(isinstance(item, np.ndarray) for item in value):
            return f"[{'; '.join(map(_array, value))}]"
        return repr(value) if _is_short(value) else f"a {type(value).__name__} of {len(value)}"
    if isinstance(value, Rng):
        return f"a generator with seed {value.seed}"
    if isinstance(value, GeneratorOf):
        return "an endless generator" if value.endless else f"a generator of {len(value.items)} items"
    if isinstance(value, FunctionOf):
        return f"the function {value.kind} with w {_describe(value.weights)}"
    if isinstance(value, Cache):
        return "the cache"
    return repr(value) if isinstance(value, (str, int, float, bool, type(None))) else type(value).__name__


def _is_short(value: Sequence[Any]) -> bool:
    """Return whether a list or tuple holds only a few numbers and texts, alone or in lists and tuples."""
    return len(value) <= MAX_NUMBERS and all(
        _is_short(item) if isinstance(item, (list, tuple)) else isinstance(item, (int, float, str)) for item in value
    )


def _array(array: np.ndarray[Any, Any]) -> str:
    shape = f"({', '.join(map(str, array.shape))}{',' if array.ndim == 1 else ''})" if array.ndim else "scalar"
    text = shape + ("" if array.dtype == np.float64 else f" {array.dtype}")
    if not 0 < array.size <= MAX_NUMBERS or array.dtype.kind not in "fiub":
        return text
    rounded = array.dtype.kind == "f" and any(float(f"{value:.4g}") != value for value in array.flat)
    return f"{text} {'≈' if rounded else '='} {_numbers(array.tolist())}"


def _numbers(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_numbers, value))}]"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
