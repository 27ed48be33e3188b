"""What a course is made of: assignments, functions, and what each function returns and needs."""

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from autograder.errors import UsageError

CACHE = "cache"  # a returned value with this name stays in the student's process; only named entries are fetched


@dataclass(frozen=True)
class Output:
    """One returned value: its name, and the names of its last axes, outermost first."""

    name: str
    axes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Function:
    """One function of the contract.

    Attributes:
        module: the assignment's module name.
        name: the function's name in it.
        outputs: what it returns; more than one means a tuple.
        torch: the thing in PyTorch that it is compared with, as text for messages; empty where there is none.
        needs: functions of the contract (qualified) that it is meant to be built on.
        bonus: extra work that does not count towards the possible points of its assignment.
        minutes: how long it takes, lesson included, as its authors estimate it; 0 if nobody has.
        difficulty: 1 (straightforward), 2 (needs a thought) or 3 (needs paper); 0 if nobody has said.
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
        """`module.name`, as on the command line."""
        return f"{self.module}.{self.name}"

    @property
    def yardstick(self) -> str:
        """What it is compared with, in words."""
        return f"PyTorch's {self.torch}" if self.torch else "what it should be"


@dataclass(frozen=True)
class Assignment:
    """One module of a submission."""

    number: int
    module: str
    title: str
    functions: tuple[Function, ...]

    @property
    def minutes(self) -> int:
        """How long it takes, bonus functions apart."""
        return sum(function.minutes for function in self.functions if not function.bonus)


@dataclass(frozen=True)
class Curriculum:
    """A course: assignments in the order in which they build on each other.

    Attributes:
        name: what it is asked for by: `--curriculum NAME`.
        package: the importable package that holds its checks, references, mistakes, solutions and hints (see
            `courses.py`).
        title: the heading of a workspace.
    """

    assignments: tuple[Assignment, ...]
    name: str
    package: str
    title: str

    @cached_property
    def functions(self) -> dict[str, Function]:
        """Every function by its qualified name, in course order."""
        return {f.qualified: f for assignment in self.assignments for f in assignment.functions}

    @cached_property
    def modules(self) -> dict[str, Assignment]:
        """Every assignment by its module name, in course order."""
        return {assignment.module: assignment for assignment in self.assignments}

    def all_needs(self, qualified: str) -> tuple[str, ...]:
        """Every function that `qualified` is built on, directly or not, in course order."""
        found: set[str] = set()
        waiting = list(self.functions[qualified].needs)
        while waiting:
            name = waiting.pop()
            if name not in found:
                found.add(name)
                waiting.extend(self.functions[name].needs)
        return tuple(name for name in self.functions if name in found)

    def select(self, names: Iterable[str]) -> tuple[str, ...]:
        """Turn what a user typed into qualified function names in course order.

        Args:
            names: assignments ("softmax" or its number), or functions ("softmax.log_softmax"). None at all selects
                everything.

        Raises:
            UsageError: for an unknown name, with the nearest known one.
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
                f"{module} has no function {function!r}. {_nearest(name, choices)} Its functions: headway list {module}"
            )
        alone = [qualified for qualified, f in self.functions.items() if f.name == name]
        if alone:
            raise UsageError(f"there is no assignment {name!r}, but a function of that name. Try: {' or '.join(alone)}")
        choices = [*self.modules, *self.functions]
        raise UsageError(f"there is no assignment {name!r}. {_nearest(name, choices)} All of them: headway list")


def _nearest(name: str, choices: list[str]) -> str:
    close = difflib.get_close_matches(name.lower(), choices, n=1, cutoff=0.5)
    return f"Did you mean {close[0]!r}?" if close else "Nothing there has a similar name."
