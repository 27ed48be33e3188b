"""Turn the outcome of one check into its result, which describes the inputs of the call in one line."""

import inspect
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from autograder.core.text import clean
from autograder.core.wire_format import FunctionOf, GeneratorOf, Rng
from autograder.course import Function
from autograder.documents.results import CheckResult
from autograder.engine.diagnosis.variants import parameters_of
from autograder.engine.fixtures import check_id, check_name, graded_mark, sees_answers
from autograder.engine.student import Cache, StudentCode
from autograder.errors import TOP_LEVEL, Blocked, CodeLine, NotStarted, Raised, Verdict

if TYPE_CHECKING:
    from autograder.documents.types import LocationRecord

MAX_NUMBERS = 12  # Larger arrays and lists are shown by their shape or length only.
MAX_ARRAYS = 4  # Longer lists of arrays are shown by their length only.
MAX_TEXT = 500


def build_check_result(
    item: pytest.Item, student: StudentCode, function: Function, error: BaseException | None, package: str
) -> CheckResult:
    """Return the result of a check of `function` that has just run; `error` is what it raised, None if it passed."""
    mark = graded_mark(item)
    assert mark is not None
    points = float(mark.kwargs.get("points", 1))
    result = CheckResult(
        id=check_id(item),
        function=function.qualified,
        title=_title(item),
        status="passed",
        possible=points,
        earned=0.0 if error else points,
        output=student.printed(),
        warnings=list(dict.fromkeys(text for call in student.calls for text in call.warnings)),
        sees_answers=sees_answers(item, passed=error is None),
        seconds=student.seconds,
    )
    if error is not None:
        last = next((call for call in reversed(student.calls) if call.function is function), None)
        if last is not None:
            result.inputs = describe_inputs(last.args, last.kwargs, tuple(parameters_of(function.qualified, package)))
            if last.line is not None:
                result.location = {"file": f"{function.module}.py", "line": last.line, "text": ""}
            elif last.exception and last.exception.trace:  # an exception was expected, but another one came
                _add_location(result, last.exception.trace, function)
        _add_error(result, _blamed_on_prerequisite(error, student, function), function)
    return result


def _blamed_on_prerequisite(error: BaseException, student: StudentCode, function: Function) -> BaseException:
    """Return `Blocked` if the check itself called an unwritten prerequisite, else the error."""
    if isinstance(error, NotStarted) and student.calls[-1].function is not function and not student.is_stub(function):
        return Blocked(function.name, student.calls[-1].function.qualified)
    return error


def _add_error(result: CheckResult, error: BaseException, function: Function) -> None:
    if isinstance(error, Verdict):
        result.status = error.status  # type: ignore[assignment]
        # Type names and dictionary keys in these texts come from the student's process.
        result.message, result.help = clean(error.message), clean(error.help) if error.help else None
        for detail, value in error.details.items():
            setattr(result, detail, value)
        if error.trace:
            _add_location(result, error.trace, function)
        if isinstance(error, Raised) and (file := error.exception.file_at_fault):
            result.file_at_fault = file
            result.inputs = None  # The input did not cause the error.
    elif isinstance(error, AssertionError):
        result.status, result.message = "failed", clean(str(error).partition("\n")[0] or "the check's assertion failed")
    else:
        text = f"{type(error).__name__}: {clean(error, 300)}"
        result.status, result.message = "error", f"internal error (please report it): {text}"


def _add_location(result: CheckResult, trace: Sequence[CodeLine], function: Function) -> None:
    """Add the line that raised the exception, and the one in the function under check that led to it."""
    result.location, result.called_from = _location(trace[-1]), None
    own = [line for line in trace if line.function == TOP_LEVEL]  # what an import runs
    own = own or [line for line in trace if (line.file, line.function) == (f"{function.module}.py", function.name)]
    # The line of a comprehension is in both, as Python before 3.12 calls a function of its own for it.
    if own and (own[-1].file, own[-1].line) != (trace[-1].file, trace[-1].line):
        result.called_from = _location(own[-1])


def _location(line: CodeLine) -> "LocationRecord":
    return {"file": line.file, "line": line.line, "text": line.text}


@lru_cache(1024)
def _title(item: pytest.Item) -> str:
    text = inspect.getdoc(item.obj) if isinstance(item, pytest.Function) else None
    title = (text or check_name(item).removeprefix("test_").replace("_", " ")).partition("\n")[0].rstrip(".")
    callspec = getattr(item, "callspec", None)
    return f"{title} [{callspec.id}]" if callspec is not None else title


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
