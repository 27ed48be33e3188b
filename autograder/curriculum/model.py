"""The model of a course: its assignments, their functions, and what each function returns and needs."""

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from autograder.errors import UsageError

CACHE = "cache"  # An output of this name stays in the student's process; only entries of it are fetched, by name.


@dataclass(frozen=True)
class Output:
    """One returned value.

    Attributes:
        name: as in the function's docstring.
        axes: the names of its last axes, outermost first.
    """

    name: str
    axes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Function:
    """One function that students write.

    Attributes:
        module: the name of its assignment's module.
        name: the function's name in the module.
        outputs: the values that it returns; several are returned as a tuple.
        torch: what it is compared with in PyTorch, as text for messages; empty if there is nothing.
        needs: functions, by qualified name, that it should be built on.
        bonus: whether it is extra work, which does not count towards the possible points of its assignment.
        minutes: the estimated time, with its part of the lesson; 0 if unknown.
        difficulty: 1 (straightforward), 2 (needs a thought) or 3 (needs paper); 0 if unknown.
    """

    module: str
    name: str
    outputs: tuple[Output, ...]
    torch: str
    needs: tuple[str, ...] = ()
    bonus: bool = False
    minutes: int = 0
    difficulty: int = 0

    @property
    def qualified(self) -> str:
        """Return `module.name`, as used on the command line."""
        return f"{self.module}.{self.name}"

    @property
    def reference_text(self) -> str:
        """Return what it is compared with, for messages."""
        return f"PyTorch's {self.torch}" if self.torch else "the expected value"


@dataclass(frozen=True)
class Assignment:
    """One module of a submission."""

    number: int
    module: str
    title: str
    functions: tuple[Function, ...]

    @property
    def minutes(self) -> int:
        """Return the estimated time without bonus functions, in minutes."""
        return sum(function.minutes for function in self.functions if not function.bonus)


@dataclass(frozen=True)
class Curriculum:
    """A course.

    Attributes:
        assignments: in the order in which they build on each other.
        name: the name of its entry point, given to `--curriculum NAME`.
        package: the importable package with its checks, references, mistakes, solutions and hints (see `registry.py`).
        title: the heading of a workspace.
    """

    assignments: tuple[Assignment, ...]
    name: str
    package: str
    title: str

    @cached_property
    def functions(self) -> dict[str, Function]:
        """Return every function by its qualified name, in course order."""
        return {f.qualified: f for assignment in self.assignments for f in assignment.functions}

    @cached_property
    def modules(self) -> dict[str, Assignment]:
        """Return every assignment by its module name, in course order."""
        return {assignment.module: assignment for assignment in self.assignments}

    def all_prerequisites(self, qualified: str) -> tuple[str, ...]:
        """Return every function that `qualified` is built on, directly or indirectly, in course order."""
        prerequisites: set[str] = set()
        pending = list(self.functions[qualified].needs)
        while pending:
            name = pending.pop()
            if name not in prerequisites:
                prerequisites.add(name)
                pending.extend(self.functions[name].needs)
        return tuple(name for name in self.functions if name in prerequisites)

    def select(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return the qualified names of the functions that a user asked for, in course order.

        Args:
            names: assignments ("softmax" or its number) or functions ("softmax.log_softmax"); none selects everything.

        Raises:
            UsageError: if a name is unknown; the message suggests the nearest known one.
        """
        wanted: set[str] = set()
        names = tuple(names)
        for name in names:
            wanted.update(self._expand(name.strip().removesuffix(".py")))
        return tuple(name for name in self.functions if name in wanted or not names)

    def _expand(self, name: str) -> list[str]:
        if name in self.functions:
            return [name]
        for assignment in self.assignments:
            if name in (assignment.module, str(assignment.number)):
                return [f.qualified for f in assignment.functions]
        module, dot, function = name.partition(".")
        if dot and module in self.modules:
            choices = [f.qualified for f in self.modules[module].functions]
            raise UsageError(
                f"{module} has no function {function!r}. {_nearest(name, choices)}"
                f"List its functions: headway list {module}"
            )
        same_name = [qualified for qualified, f in self.functions.items() if f.name == name]
        if same_name:
            raise UsageError(
                f"no such assignment: {name!r}, but there is a function of that name. Try: {' or '.join(same_name)}"
            )
        choices = [*self.modules, *self.functions]
        raise UsageError(f"no such assignment or function: {name!r}. {_nearest(name, choices)}List all: headway list")


def _nearest(name: str, choices: list[str]) -> str:
    close = difflib.get_close_matches(name.lower(), choices, n=1, cutoff=0.5)
    return f"Did you mean {close[0]!r}? " if close else ""
