"""Load official solutions, and variants of them with known mistakes, inside the grader.

Only code of Headway and of the course runs here, never a student's. Imports of other assignments are resolved to the
official solutions, without touching `sys.path` or `sys.modules`.
"""

import ast
import builtins
import inspect
import types
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from autograder.core.wire_format import Config
from autograder.curriculum import registry
from autograder.curriculum.registry import BUILT_IN
from autograder.engine.diagnosis.mistake import BrokenMistake, Mistake


@cache
def solution_source(module: str, package: str = BUILT_IN) -> str:
    """Return the source of the official solution of an assignment; raise ValueError if the course has none."""
    # A name may come from a check's input: it is looked up, never joined to a path.
    path = _solution_paths(package).get(module)
    if path is None:
        raise ValueError(f"the course has no solution named {module!r}")
    return path.read_text("utf-8")


@cache
def solution_module(module: str, package: str = BUILT_IN) -> types.ModuleType:
    """Return the official solution of an assignment as a module."""
    return _execute(module, package)


def instance_of(config: Config, package: str = BUILT_IN) -> Any:
    """Return the instance that a `Config` stands for; raise ValueError unless it names a class of a solution."""
    kind = vars(solution_module(config.module, package)).get(config.name)
    if not isinstance(kind, type) or kind.__module__ != config.module:
        raise ValueError(f"the solution {config.module} has no class {config.name!r}")
    return kind(**config.fields)


@cache
def parameter_names(function: str, package: str = BUILT_IN) -> tuple[str, ...]:
    """Return the names of the parameters of an assigned function, in order."""
    module, _, name = function.partition(".")
    return tuple(inspect.signature(getattr(solution_module(module, package), name)).parameters)


@cache
def module_with_mistakes(*mistakes: Mistake, package: str = BUILT_IN) -> types.ModuleType:
    """Return the solution as a module with mistakes, all of one assignment; raise BrokenMistake if one does not fit."""
    module = mistakes[0].function.partition(".")[0]
    # Only the changed functions are compiled: hundreds of candidates are tried on one wrong answer.
    return _execute(module, package, [code.decorators + code.text for code in _changed(mistakes, package).values()])


def source_with_mistakes(*mistakes: Mistake, package: str = BUILT_IN) -> str:
    """Return the source of the solution with mistakes of one assignment; raise BrokenMistake if they do not fit."""
    module = mistakes[0].function.partition(".")[0]
    lines = solution_source(module, package).splitlines(keepends=True)
    for code in sorted(_changed(mistakes, package).values(), key=lambda code: code.start, reverse=True):
        lines[code.start : code.end] = [code.text]
    return "".join(lines)


@dataclass(frozen=True)
class _FunctionCode:
    """The code of a function of a solution, without its docstring: edits must not match prose."""

    start: int  # index of the line with `def`
    end: int  # index of the line after the last one
    decorators: str
    signature: str
    body: str

    @property
    def text(self) -> str:
        """Signature and body."""
        return self.signature + self.body


@cache
def _functions(module: str, package: str) -> dict[str, _FunctionCode]:
    source = solution_source(module, package)
    lines = source.splitlines(keepends=True)
    return {node.name: _code_of(node, lines) for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)}


def _code_of(node: ast.FunctionDef, lines: list[str]) -> _FunctionCode:
    start, end = node.lineno - 1, node.end_lineno or 0
    first = node.body[1 if ast.get_docstring(node) is not None else 0]
    code = (node.body[0].end_lineno or 0) if first is not node.body[0] else first.lineno - 1
    decorators = "".join(lines[min([start, *(decorator.lineno - 1 for decorator in node.decorator_list)]) : start])
    signature = "".join(lines[start : node.body[0].lineno - 1])
    return _FunctionCode(start, end, decorators, signature, "".join(lines[code:end]))


def _changed(mistakes: tuple[Mistake, ...], package: str) -> dict[str, _FunctionCode]:
    """Return the functions in which the mistakes are made, changed, by name."""
    functions = _functions(mistakes[0].function.partition(".")[0], package)
    changed: dict[str, _FunctionCode] = {}
    for position, mistake in enumerate(mistakes):
        name = mistake.inside or mistake.function.partition(".")[2]
        if name not in functions:
            raise BrokenMistake(f"{mistake.id}: the solution has no function {name}")
        changed[name] = _apply(changed.get(name, functions[name]), mistake, name, after_others=position > 0)
    return changed


def _apply(function: _FunctionCode, mistake: Mistake, name: str, *, after_others: bool) -> _FunctionCode:
    signature, body = function.signature, mistake.body.strip("\n") + "\n" if mistake.body else function.body
    edits = mistake.edits
    if after_others:  # Code that an earlier mistake removed cannot be edited; at least one edit must still apply.
        edits = tuple(edit for edit in edits if edit[0] in signature + body) or edits
    for old, new in edits:
        count = signature.count(old) + body.count(old)
        if count != 1:
            raise BrokenMistake(f"{mistake.id}: {old!r} occurs {count} times in the solution of {name}")
        signature, body = signature.replace(old, new), body.replace(old, new)
    return replace(function, signature=signature, body=body)


@cache
def _compiled(name: str, package: str) -> types.CodeType:
    return compile(solution_source(name, package), f"<{name}>", "exec")


def _execute(name: str, package: str, changed_functions: Iterable[str] = ()) -> types.ModuleType:
    def import_(name: str, *details: Any) -> Any:
        return solution_module(name, package) if name in solutions else builtins.__import__(name, *details)

    solutions = _solution_paths(package)
    module = types.ModuleType(name)
    module.__dict__["__builtins__"] = {**vars(builtins), "__import__": import_}
    exec(_compiled(name, package), module.__dict__)
    for text in changed_functions:
        exec(compile(text, f"<{name}>", "exec"), module.__dict__)
    return module


@cache
def _solution_paths(package: str) -> dict[str, Path]:
    return {path.stem: path for path in registry.solutions(package).glob("*.py")}
