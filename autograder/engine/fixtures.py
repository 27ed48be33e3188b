"""What a check may ask for: the student, PyTorch, inputs, and ways to compare the two. Part of the pytest plugin.

    student      the submission, in another process      student.softmax.softmax(x)
    reference    PyTorch, behind a memo                  reference.softmax.softmax(x)
    draw         seeded inputs of this check             draw.normal(2, 5)
    compare      compare a value                         compare(actual, expected)
    agree        call both and compare                   agree(x, axis=0)
    unmodified   call, and look at the inputs            unmodified(x)
    stages       call both, compare their caches         stages(x, params)
    backward     call both on their own caches, compare  backward(dout, x, params)
    refuses      call, and expect a ValueError           refuses(x, about="axis")

All of them live as long as the session and look at its desk, which the plugin lays anew for every check: pytest makes
and takes down a fixture of a check's own in 0.1 ms, and a class has a hundred checks for each of its students.
"""

from collections.abc import Callable
from typing import Any, cast

import pytest

from autograder.curriculum import Curriculum, Function
from autograder.engine.comparison import compare as comparing
from autograder.engine.first_wrong_stage import INPUTS, first_wrong_stage
from autograder.engine.inputs import Array, RandomInputs
from autograder.engine.reference import Reference
from autograder.engine.student import Cache, StudentCode
from autograder.errors import Mismatch, Raised

Agree = Callable[..., Any]
Compare = Callable[..., None]
Stages = Callable[..., None]
Unmodified = Callable[..., None]
Refuses = Callable[..., None]

WEIGHTS, STREAM = ("batch", "head", "query", "key"), ("batch", "position", "d_model")


class Desk:
    """What lies before the check that runs now.

    Attributes:
        function: the function that the check is about.
    """

    def __init__(self, reference: Reference, seed: int, curriculum: Curriculum) -> None:
        self._seated: StudentCode | None = None
        self.reference = reference
        self.draw = RandomInputs(seed, "")
        self.function: Function
        self._seed = seed
        self._curriculum = curriculum

    def seat(self, student: StudentCode | None) -> None:
        """Let the next student sit down; the one before goes."""
        if self._seated is not None:
            self._seated.close()
        self._seated = student

    @property
    def student(self) -> StudentCode:
        """Whoever sits there."""
        assert self._seated is not None
        return self._seated

    def interrupt(self) -> None:
        """End the call under way, from another thread."""
        student = self._seated
        if student is not None:
            student.interrupt()

    def lay(self, qualified: str, check: str) -> None:
        """Make ready for a check of the function `qualified`."""
        self.function = self._curriculum.functions[qualified]
        self.student.new_check(qualified)
        self.draw.restart(self._seed, f"{qualified}::{check}")

    def call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call the student's function that the check is about."""
        return self.student.call(self.function.qualified, args, kwargs)


DESK = pytest.StashKey[Desk]()


def lasting(item: pytest.Item) -> bool:
    """Whether everything that the check asks for lives as long as the session, so that it is asked for once."""
    info = getattr(item, "_fixtureinfo", None)
    return info is not None and all(found[-1].scope == "session" for found in info.name2fixturedefs.values())


def sees_answers(item: pytest.Item) -> bool:
    """Whether the check looks at what the function answers, and not only at its inputs or exceptions.

    A check whose mark says `alone=False` looks at answers that a function may give without computing anything: two
    functions that agree in nonsense, a gradient of 0.
    """
    mark = item.get_closest_marker("graded")
    if mark is not None and not mark.kwargs.get("alone", True):
        return False
    asked = set(getattr(item, "fixturenames", ()))
    return asked.isdisjoint(("unmodified", "refuses")) or not asked.isdisjoint(("agree", "compare"))


class _WhoeverSitsThere:
    """The student of the moment, with the face of `StudentCode`."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def __getattr__(self, name: str) -> Any:
        return getattr(self._desk.student, name)


def _desk_of(request: pytest.FixtureRequest) -> Desk:
    desk = request.config.stash.get(DESK, None)
    if desk is None:
        pytest.skip("graded checks need a submission: --submission DIR")
    return desk


@pytest.fixture(scope="session")
def student(request: pytest.FixtureRequest) -> StudentCode:
    """The submission under test, in its own process."""
    return cast("StudentCode", _WhoeverSitsThere(_desk_of(request)))


@pytest.fixture(scope="session")
def reference(request: pytest.FixtureRequest) -> Reference:
    """PyTorch's answers."""
    return _desk_of(request).reference


@pytest.fixture(scope="session")
def draw(request: pytest.FixtureRequest) -> RandomInputs:
    """This check's stream of inputs."""
    return _desk_of(request).draw


@pytest.fixture(scope="session")
def compare(request: pytest.FixtureRequest) -> Compare:
    """`compare(actual, expected)`: raise a verdict unless they agree; names come from the function under test."""
    desk = _desk_of(request)

    def compare_with(actual: Any, expected: Any, **options: Any) -> None:
        comparing.compare(actual, expected, desk.function, **options)

    return compare_with


@pytest.fixture(scope="session")
def agree(request: pytest.FixtureRequest) -> Agree:
    """`agree(*args, **kwargs)`: call the function under test and PyTorch's, compare, return the student's value."""
    desk = _desk_of(request)

    def call_and_compare(*args: Any, tolerance: comparing.Tolerance | None = None, **kwargs: Any) -> Any:
        actual = desk.call(args, kwargs)
        expected = desk.reference.call(desk.function.module, desk.function.name, args, kwargs)
        try:
            comparing.compare(actual, expected, desk.function, tolerance=tolerance)
        except Mismatch as mismatch:
            mismatch.details["first_wrong_stage"] = first_wrong_stage(desk.student.calls[-1], expected)
            raise
        return actual

    return call_and_compare


@pytest.fixture(scope="session")
def stages(request: pytest.FixtureRequest) -> Stages:
    """`stages(*args, **kwargs)`: call the function under test and PyTorch's, and compare the caches' named entries.

    They are compared in the order of the computation: the first that is wrong is where it is.
    """
    desk = _desk_of(request)

    def call_and_compare(*args: Any, **kwargs: Any) -> None:
        function = desk.function
        *_, cache = desk.call(args, kwargs)
        *_, expected = desk.reference.call(function.module, function.name, args, kwargs)
        for name, value in expected.items():
            if name != INPUTS:
                axes = WEIGHTS if name.endswith("weights") else STREAM
                comparing.compare_value(cache[name], value, f'cache["{name}"]', axes, function)

    return call_and_compare


class Backward:
    """Calls a backward pass and PyTorch's, each on the cache of its own forward pass, and compares.

    The forward pass of `module.name_backward` is `module.name`; its arguments follow the upstream gradient.
    """

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def __call__(
        self,
        dout: Array,
        *args: Any,
        on: Cache | None = None,
        tolerance: comparing.Tolerance | None = None,
        **kwargs: Any,
    ) -> None:
        """Compare the gradients. `on` is the student's cache of this forward pass, if it was made before."""
        actual = self._desk.call((dout, self.cache(*args, **kwargs) if on is None else on), {})
        function, reference = self._desk.function, self._desk.reference
        _, cache = reference.call(function.module, self._forward, args, kwargs)
        expected = reference.call(function.module, function.name, (dout, cache), {})
        comparing.compare(actual, expected, function, tolerance=tolerance)

    def cache(self, *args: Any, **kwargs: Any) -> Cache:
        """The cache of the student's own forward pass, which stays in the student's process."""
        cache: Cache
        _, cache = self._desk.student.call(f"{self._desk.function.module}.{self._forward}", args, kwargs)
        return cache

    @property
    def _forward(self) -> str:
        return self._desk.function.name.removesuffix("_backward")


@pytest.fixture(scope="session")
def backward(request: pytest.FixtureRequest) -> Backward:
    """`backward(dout, *args, **kwargs)`: both backward passes, each on the cache of its own forward pass."""
    return Backward(_desk_of(request))


@pytest.fixture(scope="session")
def unmodified(request: pytest.FixtureRequest) -> Unmodified:
    """`unmodified(*args, **kwargs)`: call the function under test and see that its inputs are what they were."""
    desk = _desk_of(request)

    def call_and_look(*args: Any, **kwargs: Any) -> None:
        desk.call(args, kwargs)
        modified = desk.student.calls[-1].modified
        if modified:
            names = ", ".join(modified[:4])
            raise Mismatch(
                f"{desk.function.name} changed its input {names}",
                help=f"work on a copy: {names} -= … and out={names} write into the caller's array",
            )

    return call_and_look


@pytest.fixture(scope="session")
def refuses(request: pytest.FixtureRequest) -> Refuses:
    """`refuses(*args, about=…)`: the function must raise ValueError, with a text that mentions `about`."""
    desk = _desk_of(request)

    def call_and_expect(*args: Any, about: str = "", **kwargs: Any) -> None:
        name = desk.function.name
        try:
            desk.call(args, kwargs)
        except Raised as verdict:
            raised = verdict.exception
            if raised.type != "ValueError":
                text = f"{name} must raise ValueError here, not {raised.type}: {raised.message}".removesuffix(": ")
                raise Mismatch(text, help=verdict.help) from None
            if about not in raised.message:
                raise Mismatch(f"the ValueError of {name} does not mention {about!r}: {raised.message!r}") from None
            return
        raise Mismatch(f"{name} must raise ValueError here, but returned a value")

    return call_and_expect
