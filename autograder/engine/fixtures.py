"""The mark and the fixtures of graded checks. Part of the pytest plugin.

The mark is `graded("module.function", points=1)`, with `alone=False` or `alone=True` where needed. A mark with several
functions stands for one check of each.

The fixtures are the student's code, PyTorch, inputs, and comparisons. All of them live as long as the session and use
its `CheckContext`, which is updated for every check.
"""

import inspect
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

import pytest

from autograder.course import Curriculum, Function
from autograder.engine.comparison import compare as comparing
from autograder.engine.comparison.compare import Tolerance
from autograder.engine.first_wrong_stage import INPUTS, first_wrong_gradient, first_wrong_stage
from autograder.engine.inputs import Array, RandomInputs
from autograder.engine.reference import Reference
from autograder.engine.student import Cache, StudentCode
from autograder.errors import Mismatch, Raised
from autograder.sandbox.student_process import StudentProcess

Agree = Callable[..., Any]
Compare = Callable[..., None]
Stages = Callable[..., None]
Unmodified = Callable[..., None]
Refuses = Callable[..., None]

WEIGHTS_AXES, STREAM_AXES = ("batch", "head", "query", "key"), ("batch", "position", "d_model")


@lru_cache(1024)  # Searching the marks takes longer than many a comparison.
def graded_mark(item: pytest.Item) -> pytest.Mark | None:
    """Return the mark of a graded check; None if the test is not one."""
    return item.get_closest_marker("graded")


def function_name(item: pytest.Item) -> str:
    """Return the qualified name of the function that a check grades; empty if the test is not a graded check."""
    mark = graded_mark(item)
    return str(mark.args[0]) if mark else ""


def check_name(item: pytest.Item) -> str:
    """Return the name of a check, which is unique among the checks of its function."""
    return item.name.removesuffix(f"[{function_name(item)}]")


@lru_cache(1024)
def check_id(item: pytest.Item) -> str:
    """Return the id of a graded check in result documents: `module.function::name`."""
    return f"{function_name(item)}::{check_name(item).removeprefix('test_')}"


def pytest_pycollect_makeitem(
    collector: "pytest.Module | pytest.Class", name: str, obj: object
) -> list[pytest.Item] | None:
    """Make one check for each function if a mark names several."""
    marks = {mark.name: mark for mark in getattr(obj, "pytestmark", ())} if inspect.isfunction(obj) else {}
    if "graded" not in marks or len(marks["graded"].args) < 2:
        return None
    if "parametrize" in marks:
        raise collector.CollectError(f"{name}: a check of several functions cannot be parametrized")
    checks: list[pytest.Item] = []
    for function in marks["graded"].args:
        check = pytest.Function.from_parent(collector, name=f"{name}[{function}]", callobj=obj, originalname=name)
        check.add_marker(pytest.mark.graded(function, **marks["graded"].kwargs), append=False)
        checks.append(check)
    return checks


class CheckContext:
    """What the fixtures of the current check use; most fixtures are a method or an attribute of it."""

    def __init__(self, reference: Reference, seed: int, curriculum: Curriculum) -> None:
        self._student: StudentCode | None = None
        self.looks_for_causes = True  # also find the first wrong stage, which takes a request for each stage
        self.function: Function  # under test
        self.reference = reference  # PyTorch, behind a memo: `reference.softmax.softmax(x)`
        self.draw = RandomInputs(seed, "")  # of the current check: `draw.normal(2, 5)`
        self.backward = Backward(self)
        self._seed, self._curriculum = seed, curriculum

    def set_student(self, student: StudentCode | None) -> None:
        """Make `student` the code under test, and close the one before."""
        if self._student is not None:
            self._student.close()
        self._student = student

    @property
    def student(self) -> StudentCode:
        """The code under test."""
        assert self._student is not None
        return self._student

    @property
    def process(self) -> StudentProcess | None:
        """The process of the code under test, for another thread; None if there is none."""
        return student.process if (student := self._student) else None  # The other thread may set it to None.

    def begin_check(self, qualified: str, check: str) -> None:
        """Prepare for a check of the function `qualified`."""
        self.function = self._curriculum.functions[qualified]
        self.student.new_check(qualified)
        self.draw.restart(self._seed, f"{qualified}::{check}")

    def call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call the student's version of the function under test."""
        return self.student.call(self.function.qualified, args, kwargs)

    def compare(self, actual: Any, expected: Any, **options: Any) -> None:
        """Raise a verdict, with the outputs' names, unless both agree."""
        comparing.compare(actual, expected, self.function, **options)

    def agree(self, *args: Any, tolerance: Tolerance | None = None, **kwargs: Any) -> Any:
        """Call both functions, compare, and return the student's value."""
        actual = self.call(args, kwargs)
        expected = self.reference.call(self.function.qualified, args, kwargs)
        try:
            comparing.compare(actual, expected, self.function, tolerance=tolerance)
        except Mismatch as mismatch:
            if self.looks_for_causes:
                calls = self.student.calls
                stage = first_wrong_stage(calls[-1], expected) or first_wrong_gradient(calls, expected)
                mismatch.details["first_wrong_stage"] = stage
            raise
        return actual

    def stages(self, *args: Any, **kwargs: Any) -> None:
        """Call both functions, and compare the named entries of their caches, in the order of the computation."""
        *_, cache = self.call(args, kwargs)
        *_, expected = self.reference.call(self.function.qualified, args, kwargs)
        for name, value in expected.items():
            if name != INPUTS:
                axes = WEIGHTS_AXES if name.endswith("weights") else STREAM_AXES
                comparing.compare_value(cache[name], value, f'cache["{name}"]', axes, self.function)

    def unmodified(self, *args: Any, **kwargs: Any) -> None:
        """Call the student's function, and check that its inputs are unchanged."""
        self.call(args, kwargs)
        if names := ", ".join(self.student.calls[-1].modified[:4]):
            first = self.student.calls[-1].modified[0]
            change = f"{first} = … and {first} -= …" if "[" in first else f"{first} -= … and out={first}"
            help = f"work on a copy: {change} change what the caller passed"
            raise Mismatch(f"{self.function.name} changed its input {names}", help=help)

    def refuses(self, *args: Any, about: str = "", error: str = "ValueError", **kwargs: Any) -> None:
        """Call the student's function, which must raise an exception of type `error` with `about` in its message."""
        name = self.function.name
        try:
            self.call(args, kwargs)
        except Raised as verdict:
            raised = verdict.exception
            if raised.file_at_fault:  # The function has not run.
                raise
            if raised.type != error:
                text = f"{name} must raise {error} here, not {raised.type}: {raised.message}".removesuffix(": ")
                raise Mismatch(text, help=verdict.help, failure="documented_error") from None
            self.student.calls[-1].about = about
            if about not in raised.message:
                text = f"the {error} of {name} does not mention {about!r}: {raised.message!r}"
                raise Mismatch(text, failure="documented_error") from None
            return
        raise Mismatch(f"{name} must raise {error} here, but returned a value", failure="documented_error")


class Backward:
    """Calls a backward pass and PyTorch's, each on the cache of its own forward pass, and compares.

    The forward pass of `module.name_backward` is `module.name`; its arguments follow the upstream gradient.
    """

    def __init__(self, context: CheckContext) -> None:
        self._context = context

    def __call__(
        self, dout: Array, *args: Any, on: Cache | None = None, tolerance: Tolerance | None = None, **kwargs: Any
    ) -> None:
        """Compare the gradients. `on` is the student's cache of this forward pass, if a check already has it."""
        actual = self._context.call((dout, self.cache(*args, **kwargs) if on is None else on), {})
        function, reference = self._context.function, self._context.reference
        _, cache = reference.call(function.qualified.removesuffix("_backward"), args, kwargs)
        expected = reference.call(function.qualified, (dout, cache), {})
        try:
            comparing.compare(actual, expected, function, tolerance=tolerance)
        except Mismatch as mismatch:
            mismatch.details["first_wrong_stage"] = first_wrong_gradient(self._context.student.calls, expected)
            raise

    def cache(self, *args: Any, **kwargs: Any) -> Cache:
        """Return the cache of the student's own forward pass, which stays in the student's process."""
        cache: Cache
        forward = self._context.function.qualified.removesuffix("_backward")
        _, cache = self._context.student.call(forward, args, kwargs)
        return cache


CONTEXT = pytest.StashKey[CheckContext]()


class _StudentProxy:
    """Forwards every attribute to the current `StudentCode`."""

    def __init__(self, context: CheckContext) -> None:
        self._context = context

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context.student, name)


def session_fixture(name: str) -> Any:
    """Return the fixture of that name."""

    @pytest.fixture(scope="session", name=name)
    def provide(request: "pytest.FixtureRequest") -> Any:
        context = request.config.stash.get(CONTEXT, None)
        if context is None:
            pytest.skip("graded checks need a submission: --submission DIR")
        return _value(name, context)

    return provide


def _value(fixture: str, context: CheckContext) -> Any:
    return _StudentProxy(context) if fixture == "student" else getattr(context, fixture)


@lru_cache(1024)
def direct_call(item: pytest.Item) -> Callable[[], None] | None:
    """Return a call that spares pytest's slow hooks; None if the check needs them (another fixture, a reporter)."""
    if not isinstance(item, pytest.Function) or item.cls or {mark.name for mark in item.iter_markers()} != {"graded"}:
        return None
    needed, config = item._fixtureinfo, item.config
    own = all(found[-1].func.__module__ == __name__ for found in needed.name2fixturedefs.values())
    if not own or config.pluginmanager.has_plugin("terminalreporter"):
        return None
    return partial(item.obj, **{name: _value(name, config.stash[CONTEXT]) for name in needed.argnames})


def sees_answers(item: pytest.Item, *, passed: bool) -> bool:
    """Return whether the check, which has just run, compares answers that must have been computed.

    A check that looks only at inputs or exceptions does not count, nor one that passed without drawing its inputs:
    they are the same for every seed, and so are their answers, which code can look up. The mark decides if it has
    `alone`: False where answers can be right without any computation, such as two functions that agree on nonsense, or
    a gradient of 0; True where a table of the answers is a right implementation.
    """
    mark = graded_mark(item)
    if mark is not None and "alone" in mark.kwargs:
        return bool(mark.kwargs["alone"])
    names = set(getattr(item, "fixturenames", ()))
    # A check that failed may have ended before it drew anything.
    drawn = item.config.stash[CONTEXT].draw.is_used if passed else "draw" in names
    return drawn and (names.isdisjoint(("unmodified", "refuses")) or not names.isdisjoint(("agree", "compare")))
