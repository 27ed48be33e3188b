"""The rules that every course must keep; `headway verify` reports each one that is broken.

They do not restrict what a course teaches, how long it takes, or how its texts look.
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from autograder.authoring import check_rules, lesson_rules, table_rules
from autograder.authoring.problems import Problem, line_with, problem_with_name
from autograder.course import Assignment, Curriculum, Function, registry


def find_problems(curriculum: Curriculum) -> list[Problem]:
    """Return the broken rules of a course; without any, its solutions, stubs and mistakes can be run.

    Assignments that are reused from the built-in course are not examined again.
    """
    if problems := list(_course_problems(curriculum)):
        return problems  # Further problems would only follow from these.
    curriculum = registry.with_reused(curriculum)
    own = [a for a in curriculum.assignments if registry.home(a.module, curriculum.package) == curriculum.package]
    for assignment in own:
        problems += lesson_rules.find_problems(assignment, curriculum)
        problems += check_rules.find_problems(assignment, curriculum)
        problems += table_rules.find_problems(assignment, curriculum)
    return problems


def _course_problems(curriculum: Curriculum) -> Iterator[Problem]:
    """Yield the broken rules of a course's declaration: names, numbers, and the files that must exist."""
    path = registry.folder(curriculum.package) / "__init__.py"
    if not curriculum.assignments:
        yield Problem(path, 0, "the course has no assignments. Add one: headway new-assignment NAME")
    modules = Counter(assignment.module for assignment in curriculum.assignments)
    before: list[str] = []  # functions of earlier assignments, and earlier ones of the same
    for assignment in curriculum.assignments:
        yield from _assignment_problems(assignment, curriculum, modules, path)
        declaration = registry.assignment_folder(assignment.module, curriculum.package) / "__init__.py"
        yield from _declaration_problems(assignment, declaration)
        for function in assignment.functions:
            yield from _function_problems(function, curriculum, before, declaration)
            before.append(function.qualified)


def _assignment_problems(
    assignment: Assignment, curriculum: Curriculum, modules: Counter[str], path: Path
) -> Iterator[Problem]:
    """Yield what is wrong with the name of an assignment, and which of its files are missing."""
    name, line = assignment.module, line_with(path, f'"{assignment.module}"')
    if text := problem_with_name(name):
        yield Problem(path, line, text)
    if modules[name] > 1:
        yield Problem(path, line, f"two assignments are named {name!r}. Rename one of them")
    if not registry.solution_path(name, curriculum.package).is_file():
        yield Problem(path, line, f"solutions/{name}.py is missing. Write it, or remove the assignment {name}")
    elif not registry.check_files(name, curriculum.package):
        yield Problem(path, line, f"{name}/checks.py is missing. Write it, or remove the assignment {name}")


def _declaration_problems(assignment: Assignment, path: Path) -> Iterator[Problem]:
    name = assignment.module
    if not assignment.title.strip():
        yield Problem(path, 0, f"the assignment {name} has no title. Give it one")
    if not assignment.functions:
        yield Problem(path, 0, f"the assignment {name} has no functions. Add a function(…)")
    counts = Counter(function.name for function in assignment.functions)
    for function in (function for function, count in counts.items() if count > 1):
        text = f"{name} lists the function {function} twice. Remove one of them"
        yield Problem(path, line_with(path, f'"{function}"'), text)


def _function_problems(function: Function, curriculum: Curriculum, before: list[str], path: Path) -> Iterator[Problem]:
    name, line = function.qualified, line_with(path, f'"{function.name}"')
    if not function.name.isidentifier() or function.name.startswith("_"):
        text = f"students cannot write a function named {function.name!r}"
        yield Problem(path, line, f"{text}: a leading underscore marks helpers of the solution. Rename it")
    if not function.outputs:
        yield Problem(path, line, f'{name} has no outputs. Name what it returns: "output axis axis"')
    if function.difficulty not in range(4):
        yield Problem(path, line, f"the difficulty of {name} is {function.difficulty}. Use 1, 2 or 3, or leave it out")
    if function.minutes < 0:
        yield Problem(path, line, f"the minutes of {name} are negative. Use 0 or leave them out if you do not know")
    known = registry.with_reused(curriculum).all_functions
    for need in function.needs:
        if need not in known:
            text = f"{name} needs {need!r}, which is not in the course. Correct the name, or add its assignment"
            yield Problem(path, line_with(path, need) or line, text)
        elif need in curriculum.functions and need not in before:
            text = f"{name} needs {need}, which comes later. Change the order, or remove it from needs"
            yield Problem(path, line_with(path, need) or line, text)
