"""Declare a course: the course names its assignments in their order, and each is declared in a folder of its own.

    COURSE = course(__name__, *built_in_assignments("softmax"), "averages", name="statistics", title="My course")

The package `averages` beside it has

    ASSIGNMENT = assignment("Mean and variance", function("mean_of", "mean row", minutes=5, difficulty=1))
"""

import importlib
from dataclasses import replace

from autograder.course.model import FIGURES, Assignment, Curriculum, Function, Output, Plot


def function(
    name: str,
    returns: str,
    torch: str = "",
    *,
    needs: str = "",
    bonus: bool = False,
    minutes: int = 0,
    difficulty: int = 0,
) -> Function:
    """Return a function that students write; `Function` explains the arguments.

    `returns` lists the outputs, each with its axes, separated by semicolons: "out batch position d_model; cache".
    `needs` lists qualified names, separated by spaces.
    """
    outputs = (text.split() for text in returns.split(";"))
    returned = tuple(Output(output[0], tuple(output[1:])) for output in outputs if output)
    return Function("", name, returned, torch, tuple(needs.split()), bonus, minutes, difficulty)


def plot(
    name: str,
    entry_point: str,
    *,
    title: str,
    caption: str,
    needs: str = "",
    trained: bool = False,
    suffixes: tuple[str, ...] = FIGURES,
) -> Plot:
    """Return a plot; `Plot` explains the arguments. `needs` lists qualified names, separated by spaces."""
    return Plot(name, entry_point, tuple(needs.split()), title, caption, trained, suffixes)


def assignment(
    title: str, *functions: Function, plots: tuple[Plot, ...] = (), outcome: str = "", command: str = ""
) -> Assignment:
    """Return an assignment of these functions; `course` gives it its number and the name of its folder."""
    return Assignment(0, "", title, functions, outcome, command, plots)


def course(package: str, *assignments: str | Assignment, name: str, title: str) -> Curriculum:
    """Return a course: assignments by the names of their folders in the package, or assignments of another course."""
    found = (_named(package, entry) if isinstance(entry, str) else entry for entry in assignments)
    numbered = tuple(replace(assignment, number=number) for number, assignment in enumerate(found, 1))
    return Curriculum(numbered, name, package, title)


def _named(package: str, module: str) -> Assignment:
    declared: Assignment = importlib.import_module(f"{package}.{module}").ASSIGNMENT
    functions = tuple(replace(function, module=module) for function in declared.functions)
    return replace(declared, module=module, functions=functions)
