"""Load official solutions, and variants of them with known mistakes, inside the grader.

Only code of Headway and of the course runs here, never a student's. Imports of other assignments are resolved to the
official solutions, without touching `sys.path` or `sys.modules`.
"""

import ast
import builtins
import inspect
import types
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from autograder.core.wire_format import Config
from autograder.curriculum import registry
from autograder.curriculum.registry import BUILT_IN
from autograder.engine.diagnosis.mistake import CONSTANT, BrokenMistake, Mistake


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
def module_with_mistakes(*mistakes: Mistake, package: str = BUILT_IN, of_module: str = "") -> types.ModuleType:
    """Return a solution with mistakes, of this assignment or in what it imports; raise BrokenMistake if one is unfit.

    Args:
        mistakes: the mistakes to make.
        package: the course.
        of_module: the assignment whose solution is returned; by default that of the first mistake.
    """
    # Only the changed functions are compiled: hundreds of candidates are tried on one wrong answer.
    texts: dict[str, list[str]] = {}
    try:
        changed = _changed(mistakes, package)
    except BrokenMistake:  # The first may have removed what the second changes, but not the other way round.
        changed = _changed(mistakes[::-1], package)
    for (module, _), code in changed.items():
        texts.setdefault(module, []).append(code.decorators + code.text)
    return _execute(of_module or mistakes[0].module, package, texts)


class FamilyModule:
    """A solution with a mistake that has a free constant, in it or in what it imports, compiled once."""

    def __init__(self, family: Mistake, package: str = BUILT_IN, of_module: str = "") -> None:
        """Compile the family; raise BrokenMistake if it does not fit the solution."""
        (code,) = _changed((family,), package, typical=False).values()
        text = code.decorators + code.text
        loaded: dict[str, types.ModuleType] = {}
        assert family.constant is not None
        constants = {CONSTANT: family.constant}
        self._module = _execute(of_module or family.module, package, {family.module: [text]}, constants, loaded)
        self._names = vars(loaded[family.module])
        self._code = _compile_text(text, family.module) if CONSTANT in code.signature else None

    def with_constant(self, value: float) -> types.ModuleType:
        """Return the module, which is always the same one, with this constant."""
        self._names[CONSTANT] = value
        if self._code is not None:  # The default of a parameter is set by the definition.
            exec(self._code, self._names)
        return self._module


def source_with_mistakes(*mistakes: Mistake, package: str = BUILT_IN) -> str:
    """Return the source of the solution with mistakes of one assignment; raise BrokenMistake if they do not fit."""
    lines = solution_source(mistakes[0].module, package).splitlines(keepends=True)
    for code in sorted(_changed(mistakes, package).values(), key=lambda code: code.start, reverse=True):
        lines[code.start : code.end] = [code.text]
    return "".join(lines)


def function_text(function: str, package: str = BUILT_IN) -> str:
    """Return the code of a function of a solution, given by its qualified name, without its docstring; "" if none."""
    module, _, name = function.partition(".")
    code = _functions(module, package).get(name)
    return code.text if code is not None else ""


def function_docstring(function: str, package: str = BUILT_IN) -> str:
    """Return the docstring of a function of a solution, given by its qualified name."""
    module, _, name = function.partition(".")
    return inspect.getdoc(getattr(solution_module(module, package), name)) or ""


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


def _changed(
    mistakes: tuple[Mistake, ...], package: str, *, typical: bool = True
) -> dict[tuple[str, str], _FunctionCode]:
    """Return the functions in which the mistakes are made, changed, by module and name.

    Families have their typical constant, or stay open.
    """
    changed: dict[tuple[str, str], _FunctionCode] = {}
    for position, mistake in enumerate(mistakes):
        if typical and mistake.constant is not None:
            mistake = mistake.with_constant(mistake.constant)
        functions = _functions(mistake.module, package)
        name = mistake.inside or mistake.function.partition(".")[2]
        if name not in functions:
            raise BrokenMistake(f"{mistake.id}: the solution has no function {name}")
        key = (mistake.module, name)
        changed[key] = _apply(changed.get(key, functions[name]), mistake, name, after_others=position > 0)
    return changed


def keeps_all_edits(mistakes: tuple[Mistake, ...], package: str = BUILT_IN) -> bool:
    """Return whether no mistake removes code that a later one would edit, so that each is made completely."""
    functions: dict[tuple[str, str], str] = {}
    for mistake in mistakes:
        name = mistake.inside or mistake.function.partition(".")[2]
        key = (mistake.module, name)
        code = _functions(mistake.module, package)[name]
        text = functions.get(key, code.signature + code.body)
        if mistake.body or not all(old in text for old, _ in mistake.edits):
            return False
        for old, new in mistake.edits:
            text = text.replace(old, new)
        functions[key] = text
    return True


def _apply(function: _FunctionCode, mistake: Mistake, name: str, *, after_others: bool) -> _FunctionCode:
    signature, body = function.signature, mistake.body.strip("\n") + "\n" if mistake.body else function.body
    edits = mistake.edits
    if after_others:  # Code that an earlier mistake removed cannot be edited; at least one edit must still apply.
        edits = tuple(edit for edit in edits if edit[0] in signature + body) or edits
    for old, new in edits:
        count = signature.count(old) + body.count(old)
        if count != 1 and not (after_others and count > 1):  # Earlier mistakes may have repeated the text.
            raise BrokenMistake(f"{mistake.id}: {old!r} occurs {count} times in the solution of {name}")
        signature, body = signature.replace(old, new), body.replace(old, new)
    return replace(function, signature=signature, body=body)


@cache
def _compiled(name: str, package: str) -> types.CodeType:
    return compile(solution_source(name, package), f"<{name}>", "exec")


@cache
def _compile_text(text: str, name: str) -> types.CodeType:
    try:
        return compile(text, f"<{name}>", "exec")
    except SyntaxError as error:  # Two edits of one line may leave something that is not Python.
        raise BrokenMistake(f"a mistake in {name} is not valid Python: {error}") from None


def _execute(
    name: str,
    package: str,
    changed_functions: Mapping[str, Iterable[str]] = MappingProxyType({}),
    constants: Mapping[str, float] = MappingProxyType({}),
    loaded: dict[str, types.ModuleType] | None = None,
) -> types.ModuleType:
    """Execute a solution and what it imports, as far as it changes.

    Args:
        name: the assignment.
        package: the course.
        changed_functions: code that replaces functions, by assignment.
        constants: names that this code needs, with their values.
        loaded: receives the modules that the solution consists of.
    """
    loaded = {} if loaded is None else loaded

    def load(name: str) -> types.ModuleType:
        if name not in loaded:
            is_changed = changed_functions.keys() & {name, *imported_modules(name, package)}
            loaded[name] = execute(name) if is_changed else solution_module(name, package)
        return loaded[name]

    def import_(name: str, *details: Any) -> Any:
        return load(name) if name in solutions else builtins.__import__(name, *details)

    def execute(name: str) -> types.ModuleType:
        module = types.ModuleType(name)
        module.__dict__["__builtins__"] = {**vars(builtins), "__import__": import_}
        exec(_compiled(name, package), module.__dict__)
        if name in changed_functions:
            module.__dict__.update(constants)
        for text in changed_functions.get(name, ()):
            exec(_compile_text(text, name), module.__dict__)
        return module

    solutions = _solution_paths(package)
    loaded[name] = execute(name)
    return loaded[name]


@cache
def imported_modules(module: str, package: str = BUILT_IN) -> frozenset[str]:
    """Return the assignments that a solution imports, directly or through others."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(solution_source(module, package))):
        if isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    direct = frozenset(names & _solution_paths(package).keys() - {module})
    return direct.union(*(imported_modules(name, package) for name in direct))


@cache
def _solution_paths(package: str) -> dict[str, Path]:
    return {path.stem: path for path in registry.solutions(package).glob("*.py")}
