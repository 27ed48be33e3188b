"""Run official solutions, and wrong variants of them, inside the grader.

Only code of the kit and of the course runs here. A module's imports of other assignments are resolved to the official
solutions, without touching `sys.path` or `sys.modules`.
"""

import ast
import builtins
import types
from functools import cache
from typing import Any

from autograder import courses
from autograder.courses import BUILT_IN
from autograder.errors import HeadwayError
from autograder.mistakes import Mistake


class BrokenMistake(HeadwayError):
    """A mistake does not fit the solution that it is a change of."""


@cache
def source_of(module: str, package: str = BUILT_IN) -> str:
    """Text of the official solution of an assignment."""
    return (courses.solutions(package) / f"{module}.py").read_text("utf-8")


@cache
def solution(module: str, package: str = BUILT_IN) -> types.ModuleType:
    """The official solution as a module of its own."""
    return _execute(module, source_of(module, package), package)


@cache
def variant(*mistakes: Mistake, package: str = BUILT_IN) -> types.ModuleType:
    """The module with these mistakes in it (all of one module); everything it imports is the official solution.

    Raises:
        BrokenMistake: if a change does not fit the solution.
    """
    module = mistakes[0].function.partition(".")[0]
    return _execute(module, wrong_source(*mistakes, package=package), package)


def wrong_source(*mistakes: Mistake, package: str = BUILT_IN) -> str:
    """Text of the solution with these mistakes made in it.

    Raises:
        BrokenMistake: if a change does not fit the solution, or does not fit together with another one.
    """
    module = mistakes[0].function.partition(".")[0]
    source = source_of(module, package)
    for position, mistake in enumerate(mistakes):
        source = _apply(source, mistake, after_others=position > 0)
    return source


def _apply(source: str, mistake: Mistake, *, after_others: bool) -> str:
    name = mistake.inside or mistake.function.partition(".")[2]
    nodes = [node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef) and node.name == name]
    if not nodes:
        raise BrokenMistake(f"{mistake.id}: the solution has no function {name}")
    lines = source.splitlines(keepends=True)
    signature, body = _code_of(nodes[0], lines)
    text = signature + (mistake.body.strip("\n") + "\n" if mistake.body else body)
    edits = mistake.edits
    if after_others:  # what an earlier mistake has removed cannot be got wrong any more; something must be left
        edits = tuple(edit for edit in edits if edit[0] in text) or edits
    for old, new in edits:
        if text.count(old) != 1:
            raise BrokenMistake(f"{mistake.id}: {old!r} occurs {text.count(old)} times in the solution of {name}")
        text = text.replace(old, new)
    return "".join(lines[: nodes[0].lineno - 1]) + text + "".join(lines[nodes[0].end_lineno :])


def _code_of(node: ast.FunctionDef, lines: list[str]) -> tuple[str, str]:
    """Signature and body of a function, without its docstring: changes are made in code, not in prose."""
    first = node.body[1 if ast.get_docstring(node) is not None else 0]
    start = (node.body[0].end_lineno or 0) if first is not node.body[0] else first.lineno - 1
    before = node.body[0].lineno - 1
    return "".join(lines[node.lineno - 1 : before]), "".join(lines[start : node.end_lineno])


def _execute(name: str, source: str, package: str) -> types.ModuleType:
    def import_(name: str, *details: Any) -> Any:
        return solution(name, package) if name in official else builtins.__import__(name, *details)

    official = {path.stem for path in courses.solutions(package).glob("*.py")}
    module = types.ModuleType(name)
    module.__dict__["__builtins__"] = {**vars(builtins), "__import__": import_}
    exec(compile(source, f"<{name}>", "exec"), module.__dict__)
    return module
