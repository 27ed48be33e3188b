"""Call PyTorch functions with NumPy arrays: convert arguments to float64 tensors, and results to NumPy arrays."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np
import torch

# The computations are tiny: a second thread would make them slower.
torch.set_num_threads(1)

Tensor = torch.Tensor


def in_torch(function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a function on tensors so that it takes and returns NumPy arrays.

    Floating-point arrays become float64 tensors, integer arrays int64, booleans bool, also inside tuples, lists and
    dictionaries. Other values are passed on unchanged. The computation is always in float64. Floating-point results are
    float32 if all floating-point arrays in the arguments are float32 and there is at least one, else float64: the dtype
    rule of the course.
    """

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        dtype = _result_dtype((args, kwargs))
        return _to_numpy(function(*_to_tensor(args), **_to_tensor(kwargs)), dtype)

    return call


def as_float(x: Tensor) -> Tensor:
    """Return `x` in float64, whatever its dtype."""
    return x.double()


def leaf(x: Tensor) -> Tensor:
    """Return a float64 copy of `x` that requires a gradient."""
    return x.detach().double().clone().requires_grad_(True)


def _arrays(value: Any) -> list[np.ndarray]:
    if isinstance(value, np.ndarray):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (tuple, list)):
        return [array for item in value for array in _arrays(item)]
    return []


def _result_dtype(arguments: Any) -> np.dtype[Any]:
    floats = {array.dtype for array in _arrays(arguments) if array.dtype.kind == "f"}
    return np.dtype(np.float32) if floats == {np.dtype(np.float32)} else np.dtype(np.float64)


def _to_tensor(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        kind = {"f": np.float64, "i": np.int64, "u": np.int64, "b": np.bool_}[value.dtype.kind]
        return torch.from_numpy(np.array(value, dtype=kind, order="C"))
    if isinstance(value, dict):
        return {key: _to_tensor(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return type(value)(_to_tensor(item) for item in value)
    return value


def _to_numpy(value: Any, dtype: np.dtype[Any]) -> Any:
    if isinstance(value, Tensor):
        array = value.detach().numpy()
        return array.astype(dtype) if array.dtype.kind == "f" else array
    if isinstance(value, dict):
        return {key: _to_numpy(item, dtype) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return type(value)(_to_numpy(item, dtype) for item in value)
    return value
