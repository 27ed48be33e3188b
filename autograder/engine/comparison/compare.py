"""Compare what a student's function returned with what PyTorch returns, and report the first difference.

The order is fixed: type, shape, dtype, non-finite values, values. Shapes are never broadcast, dtypes never converted.
"""

import math
import re
import reprlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from autograder.core.text import listed
from autograder.core.wire_format import Config, Handle, Instance, Opaque
from autograder.course import CACHES, Function, Output
from autograder.engine.comparison import error_map, relations
from autograder.errors import Mismatch

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class Tolerance:
    """Allowed difference: `relative * |expected| + floor * max(1, largest |expected|)`.

    The floor keeps entries that are 0 by cancellation from being held to a relative error.
    """

    relative: float
    floor: float

    def allowed(self, expected: Array) -> Array:
        """Return the allowed absolute difference of each entry, same shape as `expected`."""
        size = np.asarray(np.abs(expected))
        largest = float(size.max(initial=0))
        if not math.isfinite(largest):
            size = np.where(np.isfinite(expected), size, 0.0)  # an infinity must match exactly
            largest = float(size.max(initial=0))
        return np.asarray(self.relative * size + self.floor * max(1.0, largest))


EXACT = Tolerance(relative=0.0, floor=0.0)  # for numbers that are copied, not computed

MOST_KEYS = 12  # that a list of wrong entries shows
_NO_RETURN = "is `return` missing? A function without it returns None; print shows a value but does not return it"

# float64: a correct answer computed in another order differs by about 1e-15 per operation and stays below 1e-12; the
# subtlest known mistakes (tanh for erf in GELU, eps outside the root) differ by 1e-4 to 1e-7. 1e-9 lies in between.
# float32 has 7 digits, of which a softmax over, or a product of, a few dozen entries keeps 5. float16 has 3.
TOLERANCES = {
    np.dtype(np.float64): Tolerance(relative=1e-9, floor=1e-12),
    np.dtype(np.float32): Tolerance(relative=2e-5, floor=2e-6),
    np.dtype(np.float16): Tolerance(relative=2e-3, floor=1e-3),
}


def compare(actual: Any, expected: Any, function: Function, *, tolerance: Tolerance | None = None) -> None:
    """Compare everything a function returned, but caches, with what was expected; raise Mismatch at a difference.

    `tolerance` replaces the default for the expected dtype.
    """
    comparison, outputs = _Comparison(function, tolerance), function.outputs
    if not isinstance(expected, tuple):
        try:
            comparison.compare(actual, expected, outputs[0])
        except Mismatch as mismatch:
            mismatch.help = _NO_RETURN if actual is None else mismatch.help
            raise
        return
    outputs = outputs[: len(expected)]
    if not isinstance(actual, tuple) or len(actual) != len(expected):
        raise wrong_output_count(outputs, function, actual)
    pairs = zip(actual, expected, outputs, strict=True)
    right, wrong, first = comparison.compare_each(
        (pair[-1].name, *pair) for pair in pairs if pair[-1].name not in CACHES
    )
    if first is not None:
        if len(wrong) + len(right) > 1:
            text = f"wrong results: {', '.join(wrong)}" + (f"; right: {', '.join(right)}" if right else "")
            first.help = _with_advice(text, first.help)
        raise first


def _with_advice(text: str, advice: str | None) -> str:
    """Return a text and advice, if there is any, as the next sentence; code at its beginning keeps its case."""
    return ". ".join(filter(None, [text, re.sub("^[a-z](?=[a-z]* )", lambda first: first[0].upper(), advice or "")]))


def wrong_output_count(outputs: Sequence[Output], function: Function, actual: Any) -> Mismatch:
    """Return the mismatch of a value that is not a tuple of as many values as there are outputs."""
    names = ", ".join(output.name for output in outputs)
    if isinstance(actual, tuple):
        return Mismatch(f"{function.name} must return {len(outputs)} values ({names}), not {len(actual)}")
    text = f"{function.name} must return a tuple ({names}), not {describe_type(actual)}"
    return Mismatch(text, help=_NO_RETURN if actual is None else f"separate the values by commas: return {names}")


def compare_value(
    actual: Any, expected: Any, name: str, axes: Sequence[str], function: Function, tolerance: Tolerance | None = None
) -> None:
    """Compare a single named value, such as a cache entry."""
    _Comparison(function, tolerance).compare(actual, expected, Output(name, tuple(axes)))


@dataclass(frozen=True)
class _Comparison:
    """Comparisons of what one function returned; each raises Mismatch at a difference."""

    function: Function
    tolerance: Tolerance | None

    def compare(self, actual: Any, expected: Any, output: Output) -> None:
        if isinstance(expected, Config):
            self._compare_instance(actual, expected, output)
        elif isinstance(expected, dict):
            self._compare_dict(actual, expected, output)
        elif isinstance(expected, list) and any(isinstance(item, np.ndarray) for item in expected):
            self._compare_list(actual, expected, output)
        elif isinstance(expected, tuple):  # a field of a configuration
            if not isinstance(actual, tuple) or not all(isinstance(number, (float, np.floating)) for number in actual):
                raise _wrong_type(output, "a tuple of floats", actual)
            self._compare_arrays(np.array(actual, np.float64), np.array(expected), output)
        elif isinstance(expected, (list, str)) or expected is None:
            if type(actual) is not type(expected) or not _plain_equal(actual, expected):
                help = _reordered(actual, expected)
                if isinstance(expected, list) and (start := _first_shown(actual, expected)):
                    output, actual, expected = Output(f"{output.name}[{start}:]"), actual[start:], expected[start:]
                raise _wrong_value(output, _short(actual), _short(expected), help=help)
        elif isinstance(expected, (np.ndarray, np.generic)):
            self._compare_arrays(actual, np.asarray(expected), output)
        else:
            self._compare_number(actual, expected, output)

    def compare_each(
        self, values: Iterable[tuple[Any, Any, Any, Output]]
    ) -> tuple[list[str], list[str], Mismatch | None]:
        """Return the names of right and of wrong values, and the first difference; each begins with its name."""
        right, wrong, first = list[str](), list[str](), None
        for name, actual, expected, output in values:
            try:
                self.compare(actual, expected, output)
                right.append(str(name))
            except Mismatch as mismatch:
                first = first or mismatch
                wrong.append(str(name))
        return right, wrong, first

    def _compare_dict(self, actual: Any, expected: dict[Any, Any], output: Output) -> None:
        if not isinstance(actual, dict):
            raise _wrong_type(output, "a dict", actual)
        missing = [key for key in expected if key not in actual]
        extra = [key for key in actual if key not in expected]
        if missing or extra:
            verbs = {"is missing": missing, "has an extra" if len(extra) == 1 else "has extra": extra}
            parts = " and ".join(_key_text(verb, keys) for verb, keys in verbs.items() if keys)
            text = f" {parts}; its keys must be {_short(list(expected))}"
            # The keys of arrays are names from the contract; the keys of anything else are answers.
            public = all(isinstance(value, (np.ndarray, dict)) for value in expected.values())
            raise Mismatch(output.name + text, secret=None if public else (text, " has other keys than expected"))
        self._compare_entries(actual, expected, output)

    def _compare_instance(self, actual: Any, expected: Config, output: Output) -> None:
        """Compare an instance of a dataclass by the fields that are expected; it may have others."""
        if not isinstance(actual, Instance) or actual.type_name != f"{expected.module}.{expected.name}":
            raise _wrong_type(output, f"a {expected.name} of {expected.module}.py", actual)
        for name, value in expected.fields.items():
            if name not in actual.fields:
                raise Mismatch(f"{output.name} has no field {name}")
            self.compare(actual.fields[name], value, Output(f"{output.name}.{name}"))

    def _compare_list(self, actual: Any, expected: list[Any], output: Output) -> None:
        if not isinstance(actual, list):
            raise _wrong_type(output, "a list", actual)
        if len(actual) != len(expected):
            raise Mismatch(f"{output.name} must be a list of {len(expected)} arrays, not of {len(actual)}")
        self._compare_entries(dict(enumerate(actual)), dict(enumerate(expected)), output)

    def _compare_entries(self, actual: dict[Any, Any], expected: dict[Any, Any], output: Output) -> None:
        """Compare entry by entry; the first difference is reported, with the keys of all entries that are wrong."""
        right, wrong, first = self.compare_each(
            (key, actual[key], value, Output(f"{output.name}[{key!r}]")) for key, value in expected.items()
        )
        if first is not None:
            if len(expected) > 1:
                entries = f"these entries are wrong: {listed(wrong, MOST_KEYS)}"
                entries += f"; these are right: {listed(right, MOST_KEYS)}" if right else ""
                first.help = _with_advice(entries, first.help)
            raise first

    def _compare_number(self, actual: Any, expected: float | int | bool, output: Output) -> None:
        if isinstance(actual, np.ndarray) and actual.ndim == 0:
            actual = actual[()]
        if isinstance(actual, np.ndarray):
            raise Mismatch(f"{output.name} must be one number, not an array of shape {actual.shape}")
        if isinstance(expected, (bool, int)):
            kinds: tuple[type, ...] = (bool, np.bool_) if isinstance(expected, bool) else (int, np.integer)
            if not isinstance(actual, kinds) or (isinstance(actual, bool) and not isinstance(expected, bool)):
                raise Mismatch(f"{output.name} must be {type(expected).__name__}, not {describe_type(actual)}")
            if actual != expected:
                raise _wrong_value(output, str(actual), str(expected))
            return
        if isinstance(actual, bool) or not isinstance(actual, (int, float, np.integer, np.floating)):
            raise _wrong_type(output, "a float", actual)
        try:
            number = np.float64(actual)
        except OverflowError:  # an int of hundreds of digits
            number = np.float64(np.inf)
        self._compare_arrays(number, np.asarray(expected), output)

    def _compare_arrays(self, actual: Any, expected: Array, output: Output) -> None:
        if not isinstance(actual, (np.ndarray, np.generic)) and not (expected.ndim == 0 and isinstance(actual, float)):
            helps: dict[type, str] = {list: "wrap it: np.array(...)", tuple: "return one value, not several"}
            raise _wrong_type(output, "a NumPy array of numbers", actual, help=helps.get(type(actual)))
        actual = np.asarray(actual)
        if actual.shape != expected.shape:
            names = axis_names(output.axes, expected.ndim)
            written = f" = ({', '.join(names)}{',' if len(names) == 1 else ''})" if output.axes and names else ""
            raise Mismatch(
                f"{output.name} has shape {actual.shape}, expected {expected.shape}{written}",
                help=relations.describe_relation(actual, expected, names),
                shapes={"yours": list(actual.shape), "expected": list(expected.shape)},
            )
        if actual.dtype != expected.dtype:
            text = f"{output.name} has dtype {actual.dtype}, expected {expected.dtype}"
            raise Mismatch(text, help=_dtype_help(actual, expected))
        tolerance = self.tolerance or TOLERANCES.get(expected.dtype, TOLERANCES[np.dtype(np.float64)])
        if _obviously_close(actual, expected, tolerance):
            return
        if expected.dtype.kind == "f":
            _compare_finite(actual, expected, output)
        self._compare_values(actual, expected, output, tolerance)

    def _compare_values(self, actual: Array, expected: Array, output: Output, tolerance: Tolerance) -> None:
        if expected.dtype.kind in "fc":
            allowed = tolerance.allowed(expected)
            with np.errstate(invalid="ignore", over="ignore"):  # inf - inf
                difference = np.abs(actual - expected)
            same = (difference <= allowed) | (actual == expected) | (np.isnan(actual) & np.isnan(expected))
            excess = np.where(same, -1.0, np.nan_to_num(difference, nan=np.inf, posinf=np.inf) - allowed)
        else:
            same, allowed = actual == expected, np.zeros(expected.shape)
            excess = np.where(same, -1.0, 1.0)
        if not same.all():
            raise Mismatch(
                f"{output.name} differs from {self.function.reference_text}",
                help=relations.describe_relation(actual, expected, axis_names(output.axes, expected.ndim)),
                **_details(actual, expected, same, excess, allowed, output),
            )


def _plain_equal(actual: Any, expected: Any) -> bool:
    """Return whether lists, texts and numbers are equal; an array among them is not a number."""
    if isinstance(expected, (list, tuple)):
        are_alike = type(actual) is type(expected) and len(actual) == len(expected)
        return are_alike and all(map(_plain_equal, actual, expected))
    return not isinstance(actual, np.ndarray) and bool(actual == expected)


def _first_shown(actual: Any, expected: list[Any]) -> int:
    """Return where two lists differ first, because a message shows only the beginning; 0 if that is early anyway."""
    if not isinstance(actual, list):
        return 0
    pairs = enumerate(zip(actual, expected, strict=False))
    first = next((i for i, pair in pairs if not _plain_equal(*pair)), min(len(actual), len(expected)))
    return first if first >= 4 else 0


def _reordered(actual: Any, expected: Any) -> str | None:
    """Return a help text if a list or a text has the right elements in another order."""
    if not isinstance(expected, (list, str)) or type(actual) is not type(expected) or len(actual) != len(expected):
        return None
    if any(type(item) not in (str, int) for item in actual):
        return None
    noun = "characters" if isinstance(expected, str) else "elements"
    return f"these are the right {noun} in another order" if Counter(actual) == Counter(expected) else None


def _wrong_value(output: Output, actual: str, expected: str, *, help: str | None = None) -> Mismatch:
    secret = f", expected {expected}"
    return Mismatch(
        f"{output.name} is {actual}{secret}", secret=(secret, ", which is not the expected value"), help=help
    )


def _key_text(verb: str, keys: list[Any]) -> str:
    return f"{verb} key{'s' if len(keys) > 1 else ''} {', '.join(map(_short, keys[:6]))}"


def require_python(value: Any, kind: type, name: str) -> None:
    """Raise Mismatch unless the type of a value, which was compared already, is exactly `kind`: float, int or list."""
    if type(value) is not kind:
        text = f"{name} must be a Python {kind.__name__}, not {describe_type(value)}"
        raise Mismatch(text, help=f"convert it before you return it: {kind.__name__}(…)")


def _obviously_close(actual: Array, expected: Array, tolerance: Tolerance) -> bool:
    """Return whether all differences are below the floor of the tolerance: a fast path for correct answers."""
    if expected.dtype.kind != "f" or not expected.size:
        return False
    with np.errstate(invalid="ignore", over="ignore"):  # inf - inf is nan, and no nan is below the floor.
        return bool(np.abs(actual - expected).max() <= tolerance.floor)


def _compare_finite(actual: Array, expected: Array, output: Output) -> None:
    for name, test in (("nan", np.isnan), ("infinite", np.isinf)):
        wrong = test(actual) & ~test(expected)
        if wrong.any():
            text = f"{output.name} has {name} values where finite values are expected"
            raise Mismatch(text, **_details(actual, expected, ~wrong, wrong, np.zeros(wrong.shape), output))


def _details(
    actual: Array, expected: Array, same: Array, excess: Array, allowed: Array, output: Output
) -> dict[str, Any]:
    """Return the details of a mismatch, whose largest error is where `excess` is largest."""
    index = tuple(map(int, np.unravel_index(excess.argmax(), expected.shape)))
    axes = axis_names(output.axes, expected.ndim)
    worst = {"index": list(index), "axes": list(axes), "tolerance": float(allowed[index])}
    worst |= {"yours": error_map.to_json(actual[index]), "expected": error_map.to_json(expected[index])}
    return {
        "wrong": {"count": int((~same).sum()), "total": int(same.size)},
        "worst": worst,
        "error_map": error_map.map_errors(actual, expected, same, index, axes),
    }


def axis_names(axes: Sequence[str], ndim: int) -> tuple[str, ...]:
    """Return names for `ndim` axes: the given ones on the right, empty ones on the left."""
    known = tuple(axes)[-ndim:] if ndim else ()
    return ("",) * (ndim - len(known)) + known


def describe_type(value: Any) -> str:
    """Return the type of a student's value, in words."""
    if isinstance(value, (Instance, Opaque)):
        return value.type_name
    if isinstance(value, Handle):
        return "a cache"
    if value is None:
        return "None"
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape}"
    return type(value).__name__


def _wrong_type(output: Output, expected: str, actual: Any, *, help: str | None = None) -> Mismatch:
    text = f"{output.name} must be {expected}, not {describe_type(actual)}"
    return Mismatch(text, help=_NO_RETURN if actual is None else help)


def _dtype_help(actual: Array, expected: Array) -> str | None:
    if expected.dtype == np.float32 and actual.dtype == np.float64:
        return "float32 in gives float32 out: a float64 array or np.float64 scalar took part in the computation"
    if expected.dtype == np.float64 and actual.dtype == np.float32:
        return "float64 in gives float64 out: something was converted to float32"
    if expected.dtype == np.bool_:
        if np.isin(actual, (0, 1)).all():
            return "use a comparison, np.tril(..., dtype=bool) or .astype(bool)"
        return "True and False are needed, not numbers: use a comparison, or np.tril(..., dtype=bool)"
    if expected.dtype.kind == "f" and actual.dtype.kind in "iub":
        return f"the result is {actual.dtype}; convert the inputs first: .astype(np.{expected.dtype})"
    if expected.dtype.kind in "iu" and actual.dtype.kind == "f":
        if not actual.size:
            return f"an empty array is float64 by default: np.array([], dtype=np.{expected.dtype})"
        return f"np.zeros, np.empty and / give floats: pass dtype=np.{expected.dtype} where the array is created"
    if expected.dtype.kind in "iu" and actual.dtype.kind in "iu":
        return f"choose the integer type: dtype=np.{expected.dtype}, or .astype(np.{expected.dtype})"
    return None


class _ShortRepr(reprlib.Repr):
    def repr_bytes(self, value: bytes, level: int) -> str:
        return "bytes"  # There may be megabytes.


# Formatting a list of a million arrays takes seconds.
_SHORT = _ShortRepr()
_SHORT.maxlist = _SHORT.maxtuple = _SHORT.maxdict = 60
_SHORT.maxstring = _SHORT.maxlong = _SHORT.maxother = 300


def _short(value: Any) -> str:
    text = describe_type(value) if isinstance(value, (Instance, Opaque, np.ndarray)) else _SHORT.repr(value)
    return text if len(text) <= 120 else text[:117] + "..."
