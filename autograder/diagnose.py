"""Name the mistake: run known wrong implementations on the same inputs, find the one whose answers are the student's.

A mistake is named only if it gives the student's answer in every failing check of the function *and* in every passing
one; then it is not a guess. Where two give the same answers in all of them, both are named. Where none does, silence.
"""

import copy
import time
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from autograder.compare import TOLERANCES, Tolerance
from autograder.courses import BUILT_IN
from autograder.errors import StudentException
from autograder.frames import Config, Rng
from autograder.mistakes import Mistake, of_function
from autograder.mistakes.variants import BrokenMistake, solution, variant
from autograder.proxies import UNANSWERED, Cache, Call, Replay

MAX_PAIRS = 60
# Usually it is some milliseconds. But a check may hand on what the student's function returned, and be it ever so
# large: what runs here is the kit's own code, in the grader, where no limit of the sandbox ends it.
SECONDS = 20.0
# Two ways to make the same mistake may round differently in float32; the float64 checks tell mistakes apart.
SAME = {**TOLERANCES, np.dtype(np.float32): Tolerance(relative=1e-3, floor=1e-4)}


@dataclass(frozen=True)
class Diagnosis:
    """The mistakes whose answers are exactly the student's.

    Attributes:
        mistakes: usually one; several of one group, or made together (`together`), or not to be told apart.
        together: whether all of them were made at once.
    """

    mistakes: tuple[Mistake, ...]
    together: bool = False

    @property
    def id(self) -> str:
        """The mistakes' ids, joined by + if made together, by | if not to be told apart."""
        return ("+" if self.together else "|").join(mistake.id for mistake in self.mistakes)

    @property
    def title(self) -> str:
        """One sentence."""
        titles = list(dict.fromkeys(mistake.title for mistake in self.mistakes))
        return ", and ".join(titles) if self.together else ", or ".join(titles)

    def as_record(self) -> dict[str, Any]:
        """For the result document."""
        return {
            "id": self.id,
            "title": self.title,
            "explanation": " ".join(dict.fromkeys(mistake.explanation for mistake in self.mistakes)),
            "hint": " ".join(dict.fromkeys(mistake.hint for mistake in self.mistakes)),
        }


def diagnose(function: str, replays: Iterable[Replay], package: str = BUILT_IN) -> Diagnosis | None:
    """The mistake that explains all checks of a function, or None.

    Args:
        function: qualified name.
        replays: every check of the function that came to a call, passed or not.
        package: the course's.
    """
    ordered = sorted(replays, key=lambda replay: (replay.passed, replay.seconds))
    if not ordered or ordered[0].passed:
        return None
    if not all(replay.passed or _came_to(function, replay) for replay in ordered):
        return None  # what failed was the forward pass before it: that says nothing about this function
    deadline = time.monotonic() + SECONDS
    known = of_function(function, package)
    single = [(mistake,) for mistake in known]
    found = _explaining(function, single, ordered, deadline, package)
    if found:
        return Diagnosis(tuple(mistakes[0] for mistakes in found))
    common = [mistake for mistake in known if mistake.common]
    pairs = list(combinations(common, 2))[:MAX_PAIRS]
    found = _explaining(function, pairs, ordered, deadline, package)
    return Diagnosis(found[0], together=True) if found else None


def _came_to(function: str, replay: Replay) -> bool:
    return any(call.function.qualified == function for call in replay.calls)


def _explaining(
    function: str,
    candidates: Iterable[tuple[Mistake, ...]],
    replays: list[Replay],
    deadline: float,
    package: str,
) -> list[tuple[Mistake, ...]]:
    found = []
    for mistakes in candidates:
        if time.monotonic() > deadline:
            return []  # of several that give the same answers all have to be named
        if all(_gives_the_same(function, mistakes, replay, package) for replay in replays):
            found.append(mistakes)
    return found


def _gives_the_same(function: str, mistakes: tuple[Mistake, ...], replay: Replay, package: str) -> bool:
    module, _, _ = function.partition(".")
    try:
        wrong = variant(*mistakes, package=package)
    except BrokenMistake:
        return False  # two edits of the same line do not go together
    caches: dict[int, Any] = {}
    for call in replay.calls:
        space = wrong if call.function.module == module else solution(call.function.module, package)
        answer = _run(getattr(space, call.function.name), call, caches, package)
        if call.function.qualified == function and not _same_answer(call, answer, package):
            return False
        _remember(call.value, answer.value, caches)
    return True


@dataclass
class _Answer:
    value: Any = None
    exception: StudentException | None = None
    modified: bool = False


def _run(function: Callable[..., Any], call: Call, caches: dict[int, Any], package: str) -> _Answer:
    # Caches are handed on as they are; everything else is a copy, because a wrong function may write into its inputs.
    args = [_make(value, caches, package) for value in call.args]
    kwargs = {name: _make(value, caches, package) for name, value in call.kwargs.items()}
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            value = function(*args, **kwargs)
    except Exception as error:
        return _Answer(exception=StudentException(type(error).__name__, str(error)))
    changed = any(
        isinstance(old, (np.ndarray, dict, list)) and not _close(new, old)
        for old, new in zip((*call.args, *call.kwargs.values()), (*args, *kwargs.values()), strict=True)
    )
    return _Answer(value, modified=changed)


def _make(value: Any, caches: dict[int, Any], package: str) -> Any:
    if isinstance(value, Cache):
        return caches.get(value.handle.number)
    if isinstance(value, Rng):
        return np.random.default_rng(value.seed)
    if isinstance(value, Config):
        return getattr(solution(value.module, package), value.name)(**value.fields)
    return copy.deepcopy(value)


def _remember(student: Any, ours: Any, caches: dict[int, Any]) -> None:
    """Where the student's value is a cache, ours is the one to hand on."""
    if isinstance(student, Cache):
        caches[student.handle.number] = ours
    elif type(student) is tuple and isinstance(ours, tuple):
        for mine, theirs in zip(student, ours, strict=False):
            _remember(mine, theirs, caches)


def _same_answer(call: Call, answer: _Answer, package: str) -> bool:
    if call.exception is not None or answer.exception is not None:
        return _same_exception(call, answer.exception, package)
    return bool(call.modified) == answer.modified and _close(call.value, answer.value) and _same_entries(call, answer)


def _same_exception(call: Call, ours: StudentException | None, package: str) -> bool:
    if call.exception is None or ours is None or call.exception.type != ours.type:
        return False
    if call.exception.message == ours.message:
        return True
    if any(isinstance(value, Cache) for value in (*call.args, *call.kwargs.values())):
        return False  # no contract demands one of a backward pass
    # Where the contract demands an exception, its text is free.
    right = _run(getattr(solution(call.function.module, package), call.function.name), call, {}, package).exception
    return right is not None and right.type == call.exception.type


def _same_entries(call: Call, answer: _Answer) -> bool:
    """Whether the entries of the cache that a check looked at are the same."""
    if not call.entries:
        return True
    cache = answer.value[-1] if isinstance(answer.value, tuple) else answer.value
    return isinstance(cache, dict) and all(
        _close(value, cache[name]) if name in cache else value is UNANSWERED for name, value in call.entries.items()
    )


def _close(student: Any, ours: Any) -> bool:
    """Whether two values are the same up to rounding: type, shape, dtype, and nan where the other has nan."""
    if isinstance(student, Cache):
        return True
    if isinstance(student, dict) and isinstance(ours, dict):
        return student.keys() == ours.keys() and all(_close(student[key], ours[key]) for key in student)
    if isinstance(student, (tuple, list)) and isinstance(ours, (tuple, list)):
        return len(student) == len(ours) and all(_close(a, b) for a, b in zip(student, ours, strict=True))
    if isinstance(student, (np.ndarray, np.generic, float)) and isinstance(ours, (np.ndarray, np.generic, float)):
        return _close_arrays(np.asarray(student), np.asarray(ours))
    return bool(type(student) is type(ours) and student == ours)


def _close_arrays(student: np.ndarray[Any, Any], ours: np.ndarray[Any, Any]) -> bool:
    if student.shape != ours.shape or student.dtype != ours.dtype:
        return False
    if student.dtype.kind not in "fc":
        return bool(np.array_equal(student, ours))
    tolerance = SAME.get(ours.dtype, TOLERANCES[np.dtype(np.float64)])
    with np.errstate(all="ignore"):
        near = np.abs(student - ours) <= tolerance.allowed(ours)
    return bool((near | (student == ours) | (np.isnan(student) & np.isnan(ours))).all())
