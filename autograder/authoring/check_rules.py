"""Rules for graded checks and references."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from autograder.authoring.problems import Problem, parse
from autograder.course import Assignment, Curriculum, registry

# The fixtures that call the reference's version of the function under test.
REFERENCED = {"agree", "stages", "backward"}


@dataclass(frozen=True)
class Check:
    """A graded check as its source says; functions and points that are not literals are left out."""

    name: str
    path: Path
    line: int
    functions: tuple[str, ...]
    is_complete: bool  # whether all its functions are literals
    arguments: frozenset[str]
    points: object


def find_problems(assignment: Assignment, curriculum: Curriculum) -> Iterator[Problem]:
    """Yield the broken rules of an assignment's checks, and of its references."""
    module, package = assignment.module, curriculum.package
    checks: list[Check] = []
    for path in registry.check_files(module, package):
        tree = parse(path)
        if isinstance(tree, Problem):
            yield tree
            return
        checks += _read(tree, path)
    names = {function.qualified for function in assignment.functions}
    for check in checks:
        for function in check.functions:
            if function not in names:
                text = f"{check.name} checks {function!r}, which is not a function of {module}. Correct the name"
                yield Problem(check.path, check.line, text)
        if isinstance(check.points, (int, float)) and check.points <= 0:
            text = f"{check.name} gives {check.points:g} points. Use a positive number; for extra work: bonus=True"
            yield Problem(check.path, check.line, text)
    first = registry.check_files(module, package)[0]
    checked = {function for check in checks for function in check.functions}
    if all(check.is_complete for check in checks):
        for function in sorted(names - checked):
            yield Problem(first, 0, f'no check grades {function}. Add one: @graded("{function}")')
    yield from _reference_problems(assignment, curriculum, checks)


def _reference_problems(assignment: Assignment, curriculum: Curriculum, checks: list[Check]) -> Iterator[Problem]:
    needed = {
        function.partition(".")[2]: check
        for check in checks
        if check.arguments & REFERENCED
        for function in check.functions
        if function.partition(".")[0] == assignment.module
    }
    path = registry.assignment_folder(assignment.module, curriculum.package) / "reference.py"
    if needed and not path.is_file():
        check = next(iter(needed.values()))
        text = f"{check.name} compares with {assignment.module}/{path.name}, which is missing. Write it"
        yield Problem(check.path, check.line, text)
    elif needed:
        tree = parse(path)
        if isinstance(tree, Problem):
            yield tree
            return
        defined = _defined(tree)
        for name, check in needed.items():
            if name not in defined and "*" not in defined:
                yield Problem(path, 0, f"{name} is not defined here, and {check.name} compares with it. Define it")


def _defined(tree: ast.Module) -> set[str]:
    """Return the names that a module may bind at its top level, `if` and `try` included; "*" for a star import."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names |= {alias.asname or alias.name for alias in node.names}
    return names


def _read(tree: ast.Module, path: Path) -> Iterator[Check]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef) or not node.name.startswith("test"):
            continue
        for mark in node.decorator_list:
            if not isinstance(mark, ast.Call) or ast.unparse(mark.func).rpartition(".")[2] != "graded":
                continue
            literals = [a.value for a in mark.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
            points = next((k.value for k in mark.keywords if k.arg == "points"), None)
            is_complete = len(literals) == len(mark.args) and bool(literals)
            arguments = frozenset(argument.arg for argument in node.args.args)
            given = points.value if isinstance(points, ast.Constant) else None
            yield Check(node.name, path, mark.lineno, tuple(literals), is_complete, arguments, given)
