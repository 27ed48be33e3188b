"""The model of a course: its assignments, their functions, and what each function returns and needs."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

from autograder.core.text import did_you_mean
from autograder.errors import UsageError

FIGURES = ("png", "svg", "pdf")
BUILT_IN = "autograder.courses.transformer"  # the package of the built-in course
DIFFICULTY = {1: "straightforward", 2: "needs some thought", 3: "needs pen and paper"}
CACHES = ("cache", "kv")  # Outputs of these names stay in the student's process; only entries are fetched, by name.


@dataclass(frozen=True)
class Output:
    """One returned value, with the names of its last axes, outermost first."""

    name: str
    axes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Function:
    """One function that students write."""

    module: str
    name: str
    outputs: tuple[Output, ...]  # Several are returned as a tuple.
    torch: str  # what it is compared with in PyTorch, as text for messages; empty if there is nothing
    needs: tuple[str, ...] = ()  # functions, by qualified name, that it should be built on
    bonus: bool = False  # extra work, which does not count towards the possible points of its assignment
    minutes: int = 0  # the estimated time to write it; 0 if unknown
    difficulty: int = 0  # a key of DIFFICULTY; 0 if unknown

    @property
    def qualified(self) -> str:
        """Return `module.name`, as used on the command line."""
        return f"{self.module}.{self.name}"

    @property
    def reference_text(self) -> str:
        """Return what it is compared with, for messages."""
        return f"PyTorch's {self.torch}" if self.torch else "the expected value"


@dataclass(frozen=True)
class Plot:
    """A plot of what functions of the course compute, drawn by `headway plot`."""

    name: str
    entry_point: str  # the function that draws it, `module:function`; `models.plots` has those of trained models
    needs: tuple[str, ...]  # the functions of the course that compute what it shows
    title: str
    caption: str  # what to look for, in one sentence
    trained: bool = False  # whether it shows a trained model, read from a checkpoint
    suffixes: tuple[str, ...] = FIGURES  # the file formats it can be written in; the first is the default


@dataclass(frozen=True)
class Assignment:
    """One module of a submission."""

    number: int
    module: str
    title: str
    functions: tuple[Function, ...]
    outcome: str = ""  # what the student's work can do when it passes, in a sentence
    command: str = ""  # a command that shows it
    plots: tuple[Plot, ...] = ()

    @property
    def minutes(self) -> int:
        """Return the estimated time without bonus functions, in minutes."""
        return sum(function.minutes for function in self.functions if not function.bonus)


@dataclass(frozen=True)
class Curriculum:
    """A course."""

    assignments: tuple[Assignment, ...]  # in the order in which they build on each other
    name: str  # of its entry point, given to `--curriculum NAME`
    package: str  # with its checks, references, mistakes, solutions and hints (see `registry.py`)
    title: str  # the heading of a workspace
    # Assignments that these ones import and that are not part of the course: students get the official solutions.
    given: tuple[Assignment, ...] = ()
    assignment_count: int = 0  # of the whole course, if these are only some of its assignments

    @property
    def is_built_in(self) -> bool:
        """Whether these are assignments of the built-in course."""
        return self.package == BUILT_IN

    @property
    def is_selection(self) -> bool:
        """Whether these are only some of the assignments of a course."""
        return self.assignment_count > len(self.assignments)

    @property
    def total(self) -> int:
        """The number of assignments of the whole course."""
        return self.assignment_count or len(self.assignments)

    @cached_property
    def functions(self) -> dict[str, Function]:
        """Return every function by its qualified name, in course order."""
        return {f.qualified: f for assignment in self.assignments for f in assignment.functions}

    @cached_property
    def modules(self) -> dict[str, Assignment]:
        """Return every assignment by its module name, in course order."""
        return {assignment.module: assignment for assignment in self.assignments}

    @cached_property
    def plots(self) -> dict[str, Plot]:
        """Return every plot by its name, in course order."""
        return {plot.name: plot for assignment in self.assignments for plot in assignment.plots}

    @cached_property
    def function_names(self) -> dict[str, tuple[str, ...]]:
        """Return the names of each module's functions, in course order."""
        return {assignment.module: tuple(f.name for f in assignment.functions) for assignment in self.assignments}

    @cached_property
    def all_functions(self) -> dict[str, Function]:
        """Return every function by its qualified name, with those of the given assignments first."""
        return {f.qualified: f for assignment in self.given for f in assignment.functions} | self.functions

    @cached_property
    def given_modules(self) -> tuple[str, ...]:
        """Return the modules of the given assignments."""
        return tuple(assignment.module for assignment in self.given)

    def all_prerequisites(self, qualified: str) -> tuple[str, ...]:
        """Return every function that `qualified` is built on, directly or indirectly, in course order.

        Functions of given assignments are not among them: they are official, so they are never at fault.
        """
        known = self.all_functions
        reached = reachable(known[qualified].needs, lambda name: known[name].needs if name in known else ())
        return tuple(name for name in self.functions if name in reached)

    def select(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return the qualified names of the functions that a user asked for, in course order.

        The names are assignments ("softmax" or its number) or functions ("softmax.log_softmax"); none selects
        everything. The UsageError about an unknown name suggests the nearest known one.
        """
        names = tuple(names)
        wanted = {function for name in names for function in self._expand(name.strip().removesuffix(".py"))}
        return tuple(name for name in self.functions if name in wanted or not names)

    def select_assignments(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return the modules of the assignments that a user named, in course order; raise UsageError for a function."""
        wanted = set()
        for name in (name.strip().removesuffix(".py") for name in names):
            module = self.functions[self._expand(name)[0]].module
            if name in self.functions and name not in self.modules:
                raise UsageError(f"{name} is a function. Name the whole assignment: {module}")
            wanted.add(module)
        return tuple(module for module in self.modules if module in wanted)

    def _expand(self, name: str) -> list[str]:
        if name in self.functions:
            return [name]
        for assignment in self.assignments:
            if name in (assignment.module, str(assignment.number)):
                return [f.qualified for f in assignment.functions]
        module, dot, function = name.partition(".")
        if dot and module in self.modules:
            nearest = did_you_mean(name.lower(), [f.qualified for f in self.modules[module].functions], 0.5)
            problem = f"{module} has no function {function!r}"
            raise UsageError(f"{problem}. {nearest}List its functions: headway list {module}")
        if same_name := " or ".join(qualified for qualified, f in self.functions.items() if f.name == name):
            raise UsageError(f"no such assignment: {name!r}, but there is a function of that name. Try: {same_name}")
        nearest = did_you_mean(name.lower(), [*self.modules, *self.functions], 0.5)
        raise UsageError(f"no such assignment or function: {name!r}. {nearest}List all: headway list --all")


def reachable(start: Iterable[str], neighbors: Callable[[str], Iterable[str]]) -> set[str]:
    """Return everything that can be reached from `start`, itself included."""
    reached: set[str] = set()
    pending = list(start)
    while pending:
        if (name := pending.pop()) not in reached:
            reached.add(name)
            pending.extend(neighbors(name))
    return reached


def duration(minutes: int) -> str:
    """Return minutes in words: "25 min", "1 h 50 min", "2 h"."""
    hours, rest = divmod(minutes, 60)
    parts = [f"{hours} h"] * bool(hours) + [f"{rest} min"] * bool(rest or not hours)
    return " ".join(parts)
