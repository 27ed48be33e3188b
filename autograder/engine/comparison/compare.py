"""The one comparer: is what the student's function returned what PyTorch returns, and if not, where and by how much?

The order is fixed, from the coarsest mistake to the finest: type, shape, dtype, non-finite values, values. The first
difference is the one that is reported; a shape is never broadcast, a dtype never converted.
"""

import math
import reprlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from autograder.core.wire_format import Handle, Opaque
from autograder.curriculum import CACHE, Function, Output
from autograder.engine.comparison import error_map, relations
from autograder.errors import Mismatch

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class Tolerance:
    """Allowed difference: `relative * |expected| + floor * max(1, largest |expected|)`.

    The floor keeps entries that are 0 by cancellation from being judged by a relative error.
    """

    relative: float
    floor: float

    def allowed(self, expected: Array) -> Array:
        """The allowed absolute difference of each entry, same shape as `expected`."""
        size = np.where(np.isfinite(expected), np.abs(expected), 0.0)  # an infinity has to be there exactly
        return np.asarray(self.relative * size + self.floor * max(1.0, float(size.max(initial=0.0))))


_NO_RETURN = "a function without a return statement returns None; print shows a value and gives nothing back"

# float64: a right answer computed in another order differs by about 1e-15 per operation and stays below 1e-12; the
# subtlest wrong one we know (tanh for erf in GELU, eps outside the root) differs by 1e-4 to 1e-7. 1e-9 lies between.
# float32 carries 7 digits; a softmax over a few dozen entries or a product of a few dozen terms keeps 5 of them.
# float16 carries 3.
TOLERANCES = {
    np.dtype(np.float64): Tolerance(relative=1e-9, floor=1e-12),
    np.dtype(np.float32): Tolerance(relative=2e-5, floor=2e-6),
    np.dtype(np.float16): Tolerance(relative=2e-3, floor=1e-3),
}


def compare(actual: Any, expected: Any, function: Function, *, tolerance: Tolerance | None = None) -> None:
    """Compare everything a function returned with what was expected.

    Args:
        actual: the student's value; a tuple for several outputs. Handles (caches) are not compared.
        expected: the reference's value of the same form.
        function: names the outputs and their axes.
        tolerance: instead of the default for the expected dtype.

    Raises:
        Mismatch: at the first difference.
    """
    outputs = function.outputs
    if not isinstance(expected, tuple):
        _compare_one(actual, expected, outputs[0], function, tolerance)
        return
    outputs = outputs[: len(expected)]
    if not isinstance(actual, tuple) or len(actual) != len(expected):
        raise wrong_output_count(outputs, function, actual)
    for output, mine, theirs in zip(outputs, actual, expected, strict=True):
        if output.name != CACHE:
            _compare_one(mine, theirs, output, function, tolerance)


def wrong_output_count(outputs: Sequence[Output], function: Function, actual: Any) -> Mismatch:
    """What is wrong with a value that is not a tuple of as many as there are outputs."""
    names = ", ".join(output.name for output in outputs)
    if isinstance(actual, tuple):
        return Mismatch(f"{function.name} must return {len(outputs)} values ({names}), not {len(actual)}")
    text = f"{function.name} must return a tuple ({names}), not {describe_type(actual)}"
    return Mismatch(text, help=_NO_RETURN if actual is None else f"with commas between the values: return {names}")


def compare_value(
    actual: Any,
    expected: Any,
    name: str,
    axes: Sequence[str],
    function: Function,
    *,
    tolerance: Tolerance | None = None,
) -> None:
    """Compare a single named value, such as a cache entry."""
    _compare_one(actual, expected, Output(name, tuple(axes)), function, tolerance)


def _compare_one(actual: Any, expected: Any, output: Output, function: Function, tolerance: Tolerance | None) -> None:
    if isinstance(expected, dict):
        _compare_dict(actual, expected, output, function, tolerance)
    elif isinstance(expected, (list, str)) or expected is None:
        if type(actual) is not type(expected) or not _same_plain(actual, expected):
            raise _other_value(output, _short(actual), _short(expected), help=_reordered(actual, expected))
    elif isinstance(expected, (np.ndarray, np.generic)):
        _compare_arrays(actual, np.asarray(expected), output, function, tolerance)
    else:
        _compare_number(actual, expected, output, function, tolerance)


def _same_plain(actual: Any, expected: Any) -> bool:
    """Whether lists, texts and numbers are the same; an array among them is not a number."""
    if isinstance(expected, (list, tuple)):
        return (
            type(actual) is type(expected) and len(actual) == len(expected) and all(map(_same_plain, actual, expected))
        )
    return not isinstance(actual, np.ndarray) and bool(actual == expected)


def _reordered(actual: Any, expected: Any) -> str | None:
    """Whether a list or a text has the right elements in another order."""
    if not isinstance(expected, (list, str)) or type(actual) is not type(expected) or len(actual) != len(expected):
        return None
    if any(type(item) not in (str, int) for item in actual):
        return None
    what = "characters" if isinstance(expected, str) else "elements"
    return f"these are the right {what} in another order" if Counter(actual) == Counter(expected) else None


def _other_value(output: Output, actual: str, expected: str, *, help: str | None = None) -> Mismatch:
    secret = f", expected {expected}"
    text = f"{output.name} is {actual}{secret}"
    return Mismatch(text, secret=(secret, ", which is not what was expected"), help=help)


def _compare_dict(
    actual: Any, expected: dict[Any, Any], output: Output, function: Function, tolerance: Tolerance | None
) -> None:
    if not isinstance(actual, dict):
        help = _NO_RETURN if actual is None else None
        raise Mismatch(f"{output.name} must be a dict, not {describe_type(actual)}", help=help)
    missing = [key for key in expected if key not in actual]
    surplus = [key for key in actual if key not in expected]
    if missing or surplus:
        lists = (("lacks", missing), ("has also", surplus))
        parts = [f"{what} {', '.join(map(_short, keys[:6]))}" for what, keys in lists if keys]
        text = f" {' and '.join(parts)}; its keys must be {_short(list(expected))}"
        # Of arrays the keys are names from the contract, of anything else they are values.
        named = all(isinstance(value, (np.ndarray, dict)) for value in expected.values())
        raise Mismatch(output.name + text, secret=None if named else (text, " has other keys than were expected"))
    first: Mismatch | None = None
    wrong, right = [], []
    for key, value in expected.items():
        try:
            _compare_one(actual[key], value, Output(f"{output.name}[{key!r}]"), function, tolerance)
            right.append(str(key))
        except Mismatch as mismatch:
            first = first or mismatch
            wrong.append(str(key))
    if first is not None:
        if len(expected) > 1:
            entries = f"these entries are wrong: {', '.join(wrong)}"
            entries += f"; these are right: {', '.join(right)}" if right else ""
            first.help = f"{entries}. {first.help}" if first.help else entries
        raise first


def _compare_number(
    actual: Any, expected: float | int | bool, output: Output, function: Function, tolerance: Tolerance | None
) -> None:
    if isinstance(actual, np.ndarray) and actual.ndim == 0:
        actual = actual[()]
    if isinstance(actual, np.ndarray):
        raise Mismatch(f"{output.name} must be one number, not an array of shape {shape_text(actual.shape)}")
    if isinstance(expected, (bool, int)):
        kinds: tuple[type, ...] = (bool, np.bool_) if isinstance(expected, bool) else (int, np.integer)
        if not isinstance(actual, kinds):
            raise Mismatch(f"{output.name} must be {type(expected).__name__}, not {describe_type(actual)}")
        if actual != expected:
            raise _other_value(output, str(actual), str(expected))
        return
    if isinstance(actual, bool) or not isinstance(actual, (int, float, np.integer, np.floating)):
        help = _NO_RETURN if actual is None else None
        raise Mismatch(f"{output.name} must be a float, not {describe_type(actual)}", help=help)
    try:
        number = np.float64(actual)
    except OverflowError:  # an int of hundreds of digits
        number = np.float64(np.inf)
    _compare_arrays(number, np.asarray(expected), output, function, tolerance)


def _compare_arrays(
    actual: Any, expected: Array, output: Output, function: Function, tolerance: Tolerance | None
) -> None:
    if not isinstance(actual, (np.ndarray, np.generic)) and not (expected.ndim == 0 and isinstance(actual, float)):
        raise Mismatch(f"{output.name} must be a NumPy array, not {describe_type(actual)}", help=_type_help(actual))
    actual = np.asarray(actual)
    if actual.shape != expected.shape:
        raise Mismatch(
            f"{output.name} has shape {shape_text(actual.shape)}, expected {shape_text(expected.shape)}"
            + _axes_text(output.axes, expected.ndim),
            help=relations.describe(actual, expected, axis_names(output.axes, expected.ndim)),
            shapes={"yours": list(actual.shape), "expected": list(expected.shape)},
        )
    if actual.dtype != expected.dtype:
        raise Mismatch(
            f"{output.name} has dtype {actual.dtype}, expected {expected.dtype}", help=_dtype_help(actual, expected)
        )
    tolerance = tolerance or TOLERANCES.get(expected.dtype, TOLERANCES[np.dtype(np.float64)])
    if _obviously_close(actual, expected, tolerance):
        return
    _compare_finite(actual, expected, output)
    _compare_values(actual, expected, output, function, tolerance)


def _obviously_close(actual: Array, expected: Array, tolerance: Tolerance) -> bool:
    """Whether no difference exceeds what is allowed for the smallest numbers: most right answers end here, quickly."""
    if expected.dtype.kind != "f" or not expected.size:
        return False
    with np.errstate(invalid="ignore", over="ignore"):  # inf - inf; a nan is not below anything
        return bool(np.abs(actual - expected).max() <= tolerance.floor)


def _compare_finite(actual: Array, expected: Array, output: Output) -> None:
    if expected.dtype.kind != "f":
        return
    for name, test in (("nan", np.isnan), ("infinite", np.isinf)):
        wrong = test(actual) & ~test(expected)
        if wrong.any():
            index = _index(int(wrong.argmax()), expected.shape)
            raise Mismatch(
                f"{output.name} has {name} values where they should be finite",
                wrong={"count": int(wrong.sum()), "total": int(wrong.size)},
                worst=_worst(actual, expected, index, output, 0.0),
                error_map=error_map.draw(actual, expected, ~wrong, index, axis_names(output.axes, expected.ndim)),
            )


def _compare_values(actual: Array, expected: Array, output: Output, function: Function, tolerance: Tolerance) -> None:
    if expected.dtype.kind in "fc":
        allowed = tolerance.allowed(expected)
        with np.errstate(invalid="ignore", over="ignore"):  # inf - inf, where both are the same infinity
            difference = np.abs(actual - expected)
        same = (difference <= allowed) | (actual == expected) | (np.isnan(actual) & np.isnan(expected))
        excess = np.where(same, -1.0, np.nan_to_num(difference, nan=np.inf, posinf=np.inf) - allowed)
    else:
        same = actual == expected
        allowed = np.zeros(expected.shape)
        excess = np.where(same, -1.0, 1.0)
    if same.all():
        return
    index = _index(int(excess.argmax()), expected.shape)
    verb = "is not close to" if expected.dtype.kind in "fc" else "differs from"
    raise Mismatch(
        f"{output.name} {verb} {function.yardstick}",
        help=relations.describe(actual, expected, axis_names(output.axes, expected.ndim)),
        wrong={"count": int((~same).sum()), "total": int(same.size)},
        worst=_worst(actual, expected, index, output, float(allowed[index])),
        error_map=error_map.draw(actual, expected, same, index, axis_names(output.axes, expected.ndim)),
    )


def _index(flat: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(int(i) for i in np.unravel_index(flat, shape)) if shape else ()


def _worst(actual: Array, expected: Array, index: tuple[int, ...], output: Output, allowed: float) -> dict[str, Any]:
    return {
        "index": list(index),
        "axes": list(axis_names(output.axes, len(index))),
        "yours": _plain(actual[index]),
        "expected": _plain(expected[index]),
        "tolerance": allowed,
    }


def _plain(value: Any) -> Any:
    """A JSON value: numbers that JSON does not know are text."""
    value = value.item()
    if isinstance(value, complex) or (isinstance(value, float) and not math.isfinite(value)):
        return str(value)
    return value


def axis_names(axes: Sequence[str], ndim: int) -> tuple[str, ...]:
    """Names for `ndim` axes: the given ones from the right, numbered ones before them."""
    known = tuple(axes)[-ndim:] if ndim else ()
    return tuple(f"axis {i}" for i in range(ndim - len(known))) + known


def shape_text(shape: Sequence[int]) -> str:
    """`(2, 4, 5)`, as NumPy prints it."""
    return str(tuple(shape))


def describe_type(value: Any) -> str:
    """What the student returned, in words."""
    if isinstance(value, Opaque):
        return value.type_name
    if isinstance(value, Handle):
        return "a cache"
    if value is None:
        return "None"
    if isinstance(value, np.ndarray):
        return f"an array of shape {shape_text(value.shape)}"
    return type(value).__name__


def _type_help(actual: Any) -> str | None:
    if actual is None:
        return _NO_RETURN
    if isinstance(actual, (list, tuple)):
        return "wrap it: np.array(...)" if isinstance(actual, list) else "it returns several values instead of one"
    return None


def _dtype_help(actual: Array, expected: Array) -> str | None:
    if expected.dtype == np.float32 and actual.dtype == np.float64:
        return "float32 in gives float32 out: a float64 array or np.float64 scalar took part in the computation"
    if expected.dtype == np.float64 and actual.dtype == np.float32:
        return "float64 in gives float64 out: something was converted to float32"
    if expected.dtype == np.bool_:
        return "use a comparison, np.tril(..., dtype=bool) or .astype(bool)"
    if expected.dtype.kind == "f" and actual.dtype.kind in "iub":
        return (
            f"these are no floats; .astype(np.{expected.dtype}), or dtype=np.{expected.dtype} where it is made, helps"
        )
    if expected.dtype.kind in "iu" and actual.dtype.kind == "f":
        if not actual.size:
            return (
                f"an array of nothing is float64 unless it is told otherwise: np.array([], dtype=np.{expected.dtype})"
            )
        return f"np.zeros, np.empty and / make floats: give dtype=np.{expected.dtype} where the array is made"
    if expected.dtype.kind in "iu" and actual.dtype.kind in "iu":
        return f"say which integers: dtype=np.{expected.dtype}, or .astype(np.{expected.dtype})"
    return None


def _axes_text(axes: Sequence[str], ndim: int) -> str:
    """What the numbers of a shape stand for, written as a shape: `(2, 5) = (batch, position)`."""
    if not axes or not ndim:
        return ""
    names = axis_names(axes, ndim)
    return f" = ({', '.join(names)}{',' if ndim == 1 else ''})"


# The text of a list of a million arrays takes seconds to write; of no list more than this much is shown.
_SHORT = reprlib.Repr()
_SHORT.maxlist = _SHORT.maxtuple = _SHORT.maxdict = 60
_SHORT.maxstring = _SHORT.maxlong = _SHORT.maxother = 300


def _short(value: Any) -> str:
    text = describe_type(value) if isinstance(value, (Opaque, np.ndarray)) else _SHORT.repr(value)
    return text if len(text) <= 120 else text[:117] + "..."
