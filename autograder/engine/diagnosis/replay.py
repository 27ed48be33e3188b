"""Repeat the recorded calls of a check with the official solution, or with a variant of it."""

import copy
import re
import types
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, is_dataclass
from typing import Any

import numpy as np

from autograder.core.default_integer import default_as_int64
from autograder.core.wire_format import Config, FunctionOf, GeneratorOf, Instance, Rng
from autograder.engine.diagnosis.explanation import is_same_error
from autograder.engine.diagnosis.variants import instance_of, parameters_of, solution_module
from autograder.engine.student import Cache, Call, RecordedCheck
from autograder.errors import StudentException

_WORD = re.compile(r"\w+")


@dataclass
class Answer:
    """What a candidate returned or raised."""

    value: Any = None
    exception: StudentException | None = None
    modified: frozenset[str] = frozenset()  # parameters whose arrays were changed


class _InputChanged(Exception):
    """A candidate wrote into an array that it was given, although this was read-only."""


def replay(check: RecordedCheck, module: types.ModuleType | None, package: str) -> Iterator[tuple[Call, Answer]]:
    """Make the calls of a check again, and yield each with its answer.

    Functions of the assignment of `module` are taken from it, all others are official; all are if it is None.
    """
    caches: dict[int, Any] = {}
    read_only = True
    for number, call in enumerate(check.calls):
        try:
            answer = _run(call, module, caches, package, read_only)
        except _InputChanged:  # Repeat everything with copies; caches hold arrays that are read-only, too.
            read_only, caches = False, {}
            for earlier in check.calls[:number]:
                remember_cache(earlier.value, _run(earlier, module, caches, package).value, caches)
            answer = _run(call, module, caches, package)
        yield call, answer
        remember_cache(call.value, answer.value, caches)


def correct_answer(check: RecordedCheck, package: str) -> Answer:
    """Return what the official solution returns in the last call of a check."""
    answers = [answer for _, answer in replay(check, None, package)]
    return answers[-1] if answers else Answer()


def _run(
    call: Call, module: types.ModuleType | None, caches: dict[int, Any], package: str, read_only: bool = False
) -> Answer:
    """Make a recorded call as `replay` does; `caches` are those of its answers, by the number of the student's.

    Arrays are copied, because a wrong function may write into its inputs. Few do: if `read_only`, they are not copied,
    which is several times as fast, and _InputChanged is raised where one is written to.
    """
    if module is None or call.function.module != module.__name__:
        module = solution_module(call.function.module, package)
    function = getattr(module, call.function.name)
    args = [_prepare_argument(value, caches, package, read_only) for value in call.args]
    kwargs = {name: _prepare_argument(value, caches, package, read_only) for name, value in call.kwargs.items()}
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            value = default_as_int64(function(*args, **kwargs), (call.args, call.kwargs))
    except Exception as error:
        if read_only and isinstance(error, ValueError) and "read-only" in str(error):
            raise _InputChanged from None
        return Answer(exception=StudentException(type(error).__name__, str(error)))
    before = {**dict(zip(parameters_of(call.function.qualified, package), call.args, strict=False)), **call.kwargs}
    after = {**dict(zip(before, args, strict=False)), **kwargs}
    value = Instance.of(value) if is_dataclass(value) and not isinstance(value, type) else value
    return Answer(value, modified=frozenset(name for name, old in before.items() if not _untouched(after[name], old)))


def remember_cache(student: Any, candidate: Any, caches: dict[int, Any]) -> None:
    """Remember the candidate's cache where the student's value is a cache."""
    if isinstance(student, Cache):
        caches[student.handle.number] = candidate
    elif type(student) is tuple and isinstance(candidate, tuple):
        for student_part, candidate_part in zip(student, candidate, strict=False):
            remember_cache(student_part, candidate_part, caches)


def same_modified(call: Call, answer: Answer, package: str) -> bool:
    """Return whether the same arguments were changed; by name, if the student's parameters have their names."""
    modified = {name.partition("[")[0] for name in call.modified}
    if not modified <= set(parameters_of(call.function.qualified, package)):
        return bool(modified) == bool(answer.modified)
    return modified == answer.modified


def same_exception(
    call: Call, exception: StudentException | None, package: str, official: Answer | None = None
) -> bool:
    """Return whether the student's call and a candidate raised the same exception.

    `official` is the official solution's answer to the call, if it is known; a call with a cache cannot be repeated
    without the calls before it.
    """
    if call.exception is None or exception is None or call.exception.type != exception.type:
        return False
    if (call.about in call.exception.message) != (call.about in exception.message):
        return False  # Only one of the two messages passes the check.
    if is_same_error(call.exception.message, exception.message):
        return True
    if official is None:
        if any(isinstance(value, Cache) for value in (*call.args, *call.kwargs.values())):
            return False
        official = _run(call, None, {}, package)
    # Where the contract requires an exception, its text is free.
    if official.exception is None or official.exception.type != call.exception.type:
        return False
    if call.about in call.exception.message:
        return True
    # Both messages are wrong. Words that only the candidate's has, such as a position, must be in the student's.
    wrong_words = set(_WORD.findall(exception.message)) - set(_WORD.findall(official.exception.message))
    return wrong_words <= set(_WORD.findall(call.exception.message))


def _untouched(after: Any, before: Any) -> bool:
    """Return whether arrays and numbers, alone or in dicts and lists, are unchanged; other values cannot change."""
    if isinstance(before, (np.ndarray, dict, list, int, float)) and type(after) is not type(before):
        return False
    if isinstance(before, np.ndarray):
        if (after.dtype, after.shape) != (before.dtype, before.shape):
            return False
        is_same = not after.flags.writeable and np.may_share_memory(after, before)
        return is_same or bool(after.tobytes() == before.tobytes())
    if isinstance(before, dict):
        return after.keys() == before.keys() and all(_untouched(after[key], old) for key, old in before.items())
    if isinstance(before, list):
        return len(after) == len(before) and all(map(_untouched, after, before))
    return not isinstance(before, (int, float)) or after is before or bool(after == before)


def _prepare_argument(value: Any, caches: dict[int, Any], package: str, read_only: bool) -> Any:
    if read_only and type(value) is np.ndarray:
        view = value.view()
        view.flags.writeable = False
        return view
    if read_only and type(value) is dict:
        return {key: _prepare_argument(entry, caches, package, read_only) for key, entry in value.items()}
    if isinstance(value, Cache):
        return caches.get(value.handle.number)
    if isinstance(value, Rng):
        return np.random.default_rng(value.seed)
    if isinstance(value, (GeneratorOf, FunctionOf)):
        return copy.deepcopy(value).start()
    return instance_of(value, package) if isinstance(value, Config) else copy.deepcopy(value)
