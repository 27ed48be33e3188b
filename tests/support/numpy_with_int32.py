"""Make NumPy's default integers int32, as they are on 32-bit platforms such as Pyodide's.

There, integers made without a dtype are int32: `np.array([1, 2])`, `np.arange(5)`, `np.argmax(x)`,
`np.sum` of booleans, `dtype=int`. Only functions of NumPy can be replaced, not the methods of arrays.
"""

import functools

import numpy as np

MODULES = (np, np.linalg)


def install():
    """Replace the functions of NumPy in this interpreter, before Headway is imported."""
    for module in MODULES:
        for name, function in list(vars(module).items()):
            is_function = callable(function) and not isinstance(function, (type, np.ufunc))
            if is_function and not name.startswith("_") and name not in ("dtype", "frombuffer", "errstate"):
                setattr(module, name, narrowed(function))


def narrowed(function):
    @functools.wraps(function, updated=())
    def call(*args, **kwargs):
        result = function(*args, **kwargs)
        if any(is_integer_dtype(value) for value in (*args, kwargs.get("dtype"))):
            return result
        return result if has_int64((args, kwargs)) else narrow(result)

    return call


def is_integer_dtype(value):
    """Return whether an argument is a dtype other than the default integer."""
    return value is not int and isinstance(value, (type, np.dtype, str))


def has_int64(value):
    if isinstance(value, dict):
        value = tuple(value.values())
    if isinstance(value, (tuple, list)):
        return any(map(has_int64, value))
    return isinstance(value, (np.ndarray, np.generic)) and value.dtype == np.int64


def narrow(value):
    if isinstance(value, (tuple, list)) and type(value) in (tuple, list):
        return type(value)(map(narrow, value))
    if isinstance(value, (np.ndarray, np.generic)) and value.dtype == np.int64:
        return value.astype(np.int32)
    return value
