"""Run official solutions, and wrong variants of them, inside the grader.

Only code of the kit and of the course runs here. A module's imports of other assignments are resolved to the official
solutions, without touching `sys.path` or `sys.modules`.
"""

import ast
import builtins
import inspect
import types
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from autograder.curriculum import registry
from autograder.curriculum.registry import BUILT_IN
from autograder.engine.diagnosis.mistake import BrokenMistake, Mistake


@cache
def source_of(module: str, package: str = BUILT_IN) -> str:
    """Text of the official solution of an assignment."""
    return (registry.solutions(package) / f"{module}.py").read_text("utf-8")


@cache
def solution(module: str, package: str = BUILT_IN) -> types.ModuleType:
    """The official solution as a module of its own."""
    return _execute(module, package)


@cache
def parameters(function: str, package: str = BUILT_IN) -> tuple[str, ...]:
    """Names of the parameters of a function of the contract, in their order."""
    module, _, name = function.partition(".")
    return tuple(inspect.signature(getattr(solution(module, package), name)).parameters)


@cache
def variant(*mistakes: Mistake, package: str = BUILT_IN) -> types.ModuleType:
    """The module with these mistakes in it (all of one module); everything it imports is the official solution.

    Raises:
        BrokenMistake: if a change does not fit the solution.
    """
    module = mistakes[0].function.partition(".")[0]
    # Only the changed functions are compiled: hundreds of candidates are tried on one wrong answer.
    return _execute(module, package, [found.decorators + found.text for found in _changed(mistakes, package).values()])


def wrong_source(*mistakes: Mistake, package: str = BUILT_IN) -> str:
    """Text of the solution with these mistakes made in it.

    Raises:
        BrokenMistake: if a change does not fit the solution, or does not fit together with another one.
    """
    module = mistakes[0].function.partition(".")[0]
    lines = source_of(module, package).splitlines(keepends=True)
    for found in sorted(_changed(mistakes, package).values(), key=lambda found: found.start, reverse=True):
        lines[found.start : found.end] = [found.text]
    return "".join(lines)


@dataclass(frozen=True)
class _Function:
    """A function of a solution without its docstring: changes are made in code, not in prose.

    Attributes:
        start: the line of its `def`, counted from 0.
        end: the line after its last one.
    """

    start: int
    end: int
    decorators: str
    signature: str
    body: str

    @property
    def text(self) -> str:
        """The code."""
        return self.signature + self.body


@cache
def _functions(module: str, package: str) -> dict[str, _Function]:
    source = source_of(module, package)
    lines = source.splitlines(keepends=True)
    return {node.name: _code_of(node, lines) for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)}


def _code_of(node: ast.FunctionDef, lines: list[str]) -> _Function:
    start, end = node.lineno - 1, node.end_lineno or 0
    first = node.body[1 if ast.get_docstring(node) is not None else 0]
    code = (node.body[0].end_lineno or 0) if first is not node.body[0] else first.lineno - 1
    decorators = "".join(lines[min([start, *(one.lineno - 1 for one in node.decorator_list)]) : start])
    signature = "".join(lines[start : node.body[0].lineno - 1])
    return _Function(start, end, decorators, signature, "".join(lines[code:end]))


def _changed(mistakes: tuple[Mistake, ...], package: str) -> dict[str, _Function]:
    """The functions that are not as in the solution."""
    functions = _functions(mistakes[0].function.partition(".")[0], package)
    changed: dict[str, _Function] = {}
    for position, mistake in enumerate(mistakes):
        name = mistake.inside or mistake.function.partition(".")[2]
        if name not in functions:
            raise BrokenMistake(f"{mistake.id}: the solution has no function {name}")
        changed[name] = _apply(changed.get(name, functions[name]), mistake, name, after_others=position > 0)
    return changed


def _apply(found: _Function, mistake: Mistake, name: str, *, after_others: bool) -> _Function:
    signature, body = found.signature, mistake.body.strip("\n") + "\n" if mistake.body else found.body
    edits = mistake.edits
    if after_others:  # what an earlier mistake has removed cannot be got wrong any more; something must be left
        edits = tuple(edit for edit in edits if edit[0] in signature + body) or edits
    for old, new in edits:
        count = signature.count(old) + body.count(old)
        if count != 1:
            raise BrokenMistake(f"{mistake.id}: {old!r} occurs {count} times in the solution of {name}")
        signature, body = signature.replace(old, new), body.replace(old, new)
    return replace(found, signature=signature, body=body)


@cache
def _compiled(name: str, package: str) -> types.CodeType:
    return compile(source_of(name, package), f"<{name}>", "exec")


def _execute(name: str, package: str, changed: Iterable[str] = ()) -> types.ModuleType:
    def import_(name: str, *details: Any) -> Any:
        return solution(name, package) if name in official else builtins.__import__(name, *details)

    official = _official(package)
    module = types.ModuleType(name)
    module.__dict__["__builtins__"] = {**vars(builtins), "__import__": import_}
    exec(_compiled(name, package), module.__dict__)
    for text in changed:
        exec(compile(text, f"<{name}>", "exec"), module.__dict__)
    return module


@cache
def _official(package: str) -> frozenset[str]:
    return frozenset(path.stem for path in registry.solutions(package).glob("*.py"))
