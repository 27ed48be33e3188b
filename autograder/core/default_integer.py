"""NumPy's default integer: int64 almost everywhere, and int32 on 32-bit platforms such as Pyodide's.

The course promises int64. Where the default is int32, student code that chooses no integer type returns int32: it is
compared as what the same code returns elsewhere. (Code that chooses int32 passes there, too, and fails elsewhere.)
"""

from typing import Any

import numpy as np

DEFAULT_INTEGER = np.dtype(np.int_)


def default_as_int64(value: Any, arguments: Any = ()) -> Any:
    """Return what a function returned with int64 in place of the default integer, also inside containers.

    If one of the arguments has that type, the function may have kept it, and the value is returned as it is.
    """
    if np.dtype(np.int64) == DEFAULT_INTEGER or _has_default_integer(arguments):
        return value
    return _as_int64(value)


def _as_int64(value: Any) -> Any:
    if type(value) in (tuple, list):
        return type(value)(map(_as_int64, value))
    if type(value) is dict:
        return {key: _as_int64(item) for key, item in value.items()}
    return value.astype(np.int64) if _is_default_integer(value) else value


def _has_default_integer(value: Any) -> bool:
    if isinstance(value, dict):
        value = list(value.values())
    return any(map(_has_default_integer, value)) if isinstance(value, (tuple, list)) else _is_default_integer(value)


def _is_default_integer(value: Any) -> bool:
    return isinstance(value, (np.ndarray, np.generic)) and value.dtype == DEFAULT_INTEGER
