"""Rules for mistakes, promises, hints and the glossary."""

import tomllib
from collections import Counter
from collections.abc import Iterator

from autograder.authoring.problems import Problem, line_with, parse
from autograder.authoring.promises import InvalidPromises, promises_of_module
from autograder.course import Assignment, Curriculum, glossary, registry
from autograder.engine.diagnosis.mistake import BrokenMistake, mistakes_of_module
from autograder.errors import UsageError
from autograder.workspace import hints


def find_problems(assignment: Assignment, curriculum: Curriculum) -> Iterator[Problem]:
    """Yield the broken rules of an assignment's mistakes, promises, hints and terms."""
    yield from _mistake_problems(assignment, curriculum)
    yield from _text_problems(assignment, curriculum)
    path = registry.assignment_folder(assignment.module, curriculum.package) / "promises.toml"
    names = {function.qualified for function in assignment.functions}
    try:
        for name in promises_of_module(assignment.module, curriculum.package):
            if name not in names:
                text = f"{name} is not a function of the course. Correct the name of this table"
                yield Problem(path, line_with(path, f"[{name.partition('.')[2]}"), text)
    except InvalidPromises as error:
        yield Problem(path, 0, f"{error}. Write a table [FUNCTION] with descriptions = […], and [FUNCTION.promises]")


def _mistake_problems(assignment: Assignment, curriculum: Curriculum) -> Iterator[Problem]:
    folder = registry.assignment_folder(assignment.module, curriculum.package)
    path = folder / "mistakes.py"
    if not path.is_file():
        path = folder / "mistakes" / "__init__.py"
    if not path.is_file():
        return
    tree = parse(path)
    if isinstance(tree, Problem):
        yield tree
        return
    try:
        known = mistakes_of_module(assignment.module, curriculum.package)
    except BrokenMistake as error:
        name = error.mistake.partition("/")[2]
        yield Problem(path, line_with(path, f'"{name}"'), f"{error}. Correct this mistake")
        return
    except Exception as error:  # Importing a module can raise anything.
        text = f"this file cannot be imported ({type(error).__name__}: {error}). Correct it"
        yield Problem(path, 0, " ".join(text.split()))
        return
    names = {function.qualified for function in assignment.functions}
    counts = Counter(mistake.id for mistake in known)
    for mistake in known:
        line = line_with(path, f'"{mistake.name}"')
        if mistake.function not in names:
            text = f"{mistake.id}: {mistake.function} is not a function of {assignment.module}. Correct the name"
            yield Problem(path, line, text)
        elif counts.pop(mistake.id, 1) > 1:
            yield Problem(path, line, f"two mistakes are named {mistake.id}. Rename one of them")


def _text_problems(assignment: Assignment, curriculum: Curriculum) -> Iterator[Problem]:
    """Yield what is wrong with the hints and the terms of an assignment."""
    folder = registry.assignment_folder(assignment.module, curriculum.package)
    path = folder / "hints.toml"
    try:
        tables = tomllib.loads(path.read_text("utf-8")) if path.is_file() else {}
    except (OSError, ValueError) as error:
        yield Problem(path, 0, f"this is not valid TOML: {error}. Correct it")
        return
    names = {function.name for function in assignment.functions}
    for name, table in tables.items():
        line = line_with(path, f"[{name}")
        steps = table.get("steps") if isinstance(table, dict) else None
        if name not in names:
            text = f"{name} is not a function of {assignment.module}. Correct the name of this table"
            yield Problem(path, line, text)
        elif not isinstance(steps, list) or len(steps) != len(hints.KINDS) or not all(map(_is_text, steps)):
            kinds = "a question, the idea, the shape of the line"
            yield Problem(path, line, f"{name} needs exactly {len(hints.KINDS)} hints: steps = [{kinds}]")
    try:
        glossary.load_terms(assignment.module, curriculum.package)
    except UsageError as error:
        yield Problem(folder / "glossary.toml", 0, f"this is not a table of terms: {error.__cause__}. Correct it")


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())
