"""Load official solutions, and variants of them with known mistakes, inside the grader.

Only code of Headway and of the course runs here, never a student's. Imports of other assignments are resolved to the
official solutions, without touching `sys.path` or `sys.modules`.
"""

import ast
import builtins
import inspect
import types
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

from autograder.core.wire_format import Config
from autograder.course import registry
from autograder.course.model import reachable
from autograder.engine.diagnosis.mistake import CONSTANT, BrokenMistake, Mistake


@cache
def solution_source(module: str, package: str) -> str:
    """Return the source of the official solution of an assignment; raise ValueError if the course has none."""
    # A name may come from a check's input: it is looked up, never joined to a path.
    path = _solution_paths(package).get(module)
    if path is None:
        raise ValueError(f"the course has no solution named {module!r}")
    return path.read_text("utf-8")


@cache
def solution_module(module: str, package: str) -> types.ModuleType:
    """Return the official solution of an assignment as a module."""
    solution = types.ModuleType(module)
    solution.__dict__["__builtins__"] = _builtins(partial(solution_module, package=package), package)
    exec(compile(solution_source(module, package), f"<{module}>", "exec"), solution.__dict__)
    return solution


def instance_of(config: Config, package: str) -> Any:
    """Return the instance that a `Config` stands for; raise ValueError unless it names a class of a solution."""
    kind = vars(solution_module(config.module, package)).get(config.name)
    if not isinstance(kind, type) or kind.__module__ != config.module:
        raise ValueError(f"the solution {config.module} has no class {config.name!r}")
    return kind(**config.fields)


@cache
def parameters_of(function: str, package: str) -> dict[str, Any]:
    """Return the parameters of an assigned function, in order, with their defaults: None for those that have none."""
    module, _, name = function.partition(".")
    parameters = inspect.signature(getattr(solution_module(module, package), name)).parameters
    return {
        name: None if each.default is inspect.Parameter.empty else each.default for name, each in parameters.items()
    }


@cache
def module_with_mistakes(*mistakes: Mistake, package: str, of_module: str) -> types.ModuleType:
    """Return a solution with mistakes in it or in what it imports; raise BrokenMistake if one does not fit."""
    # Only the changed functions are compiled: hundreds of candidates are tried on one wrong answer.
    texts: dict[str, list[str]] = {}
    try:
        changed = _changed(mistakes, package)
    except BrokenMistake:  # The first may have removed what the second changes, but not the other way round.
        changed = _changed(mistakes[::-1], package)
    for (module, _), code in changed.items():
        texts.setdefault(module, []).append(code.decorators + code.text)
    return _copy_solution(of_module, package, texts)[of_module]


class FamilyModule:
    """A solution with a mistake that has a free constant, in it or in what it imports, compiled once."""

    def __init__(self, family: Mistake, package: str, of_module: str) -> None:
        """Compile the family; raise BrokenMistake if it does not fit the solution."""
        (code,) = _changed((family,), package, typical=False).values()
        text = code.decorators + code.text
        modules = _copy_solution(of_module, package, {family.module: [f"{CONSTANT} = {family.constant!r}", text]})
        self._module, self._names = modules[of_module], vars(modules[family.module])
        self._code = _compile_text(text, family.module) if CONSTANT in code.signature else None

    def with_constant(self, value: float) -> types.ModuleType:
        """Return the module, which is always the same one, with this constant."""
        self._names[CONSTANT] = value
        if self._code is not None:  # The default of a parameter is set by the definition.
            exec(self._code, self._names)
        return self._module


def source_with_mistakes(*mistakes: Mistake, package: str) -> str:
    """Return the source of the solution with mistakes of one assignment; raise BrokenMistake if they do not fit."""
    lines = solution_source(mistakes[0].module, package).splitlines(keepends=True)
    for code in sorted(_changed(mistakes, package).values(), key=lambda code: code.start, reverse=True):
        lines[code.start : code.end] = [code.text]
    return "".join(lines)


def function_text(function: str, package: str) -> str:
    """Return the code of a function of a solution, given by its qualified name, without its docstring; "" if none."""
    module, _, name = function.partition(".")
    code = _functions(module, package).get(name)
    return code.text if code is not None else ""


def plain_version(function: str, package: str) -> tuple[str, str]:
    """Return the signature and the body of a function in `plain.txt` in its assignment's folder; two "" if none.

    A solution may be written for speed: a student's code is nearer to the formula.
    """
    module, _, name = function.partition(".")
    path = registry.folder(registry.home(module, package)) / module / "plain.txt"
    code = _functions_in(path.read_text("utf-8")).get(name) if path.is_file() else None
    return (_functions(module, package)[name].signature, code.body.strip("\n") + "\n") if code is not None else ("", "")


def function_docstring(function: str, package: str) -> str:
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
        return self.signature + self.body


def _functions(module: str, package: str) -> dict[str, _FunctionCode]:
    return _functions_in(solution_source(module, package))


@cache
def _functions_in(source: str) -> dict[str, _FunctionCode]:
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
    mistakes: tuple[Mistake, ...], package: str, *, typical: bool = True, complete: bool = False
) -> dict[tuple[str, str], _FunctionCode]:
    """Return the functions in which the mistakes are made, changed, by module and name; raise BrokenMistake if unfit.

    Families have their typical constant, or stay open. After others, a mistake may be made in part: code that an
    earlier one has removed cannot be edited. If `complete`, every edit must be made.
    """
    changed: dict[tuple[str, str], _FunctionCode] = {}
    for position, mistake in enumerate(mistakes):
        if typical and mistake.constant is not None:
            mistake = mistake.with_constant(mistake.constant)
        functions = _functions(mistake.module, package)
        name = mistake.inside or mistake.function.partition(".")[2]
        if name not in functions:
            raise BrokenMistake(mistake.id, f"the solution has no function {name}")
        key = (mistake.module, name)
        changed[key] = _apply(changed.get(key, functions[name]), mistake, name, position > 0, complete)
    return changed


def keeps_all_edits(mistakes: tuple[Mistake, ...], package: str) -> bool:
    """Return whether no mistake removes code that a later one would edit, so that each is made completely."""
    try:
        _changed(mistakes, package, complete=True)
    except BrokenMistake:
        return False
    return not any(mistake.body and not mistake.generated for mistake in mistakes)


def _apply(function: _FunctionCode, mistake: Mistake, name: str, after_others: bool, complete: bool) -> _FunctionCode:
    signature, body = function.signature, function.body
    if mistake.body and not (after_others and mistake.generated):  # Both are changes of the plain version.
        body = mistake.body.strip("\n") + "\n"
    edits = mistake.edits
    if after_others and not complete:  # At least one edit must still apply.
        edits = tuple(edit for edit in edits if edit[0] in signature + body) or edits
    for old, new in edits:
        count = signature.count(old) + body.count(old)
        if count != 1 and not (after_others and count > 1):  # Earlier mistakes may have repeated the text.
            raise BrokenMistake(mistake.id, f"{old!r} occurs {count} times in the solution of {name}")
        signature, body = signature.replace(old, new), body.replace(old, new)
    return replace(function, signature=signature, body=body)


@cache
def _compile_text(text: str, name: str) -> types.CodeType:
    try:
        with warnings.catch_warnings(action="ignore"):
            return compile(text, f"<{name}>", "exec")
    except SyntaxError as error:  # Two edits of one line may leave something that is not Python.
        raise BrokenMistake(f"a mistake in {name}", f"not valid Python: {error}") from None


def _copy_solution(of_module: str, package: str, changes: Mapping[str, Iterable[str]]) -> dict[str, types.ModuleType]:
    """Copy an official solution and what it imports, as far as it changes; methods of classes stay as they are.

    `changes` is code that is added to the assignments. Returns all modules that the solution consists of, by name.
    """
    loaded: dict[str, types.ModuleType] = {}

    def load(name: str) -> types.ModuleType:
        if name not in loaded:
            is_changed = changes.keys() & {name, *imported_modules(name, package)}
            loaded[name] = copy(name) if is_changed else solution_module(name, package)
        return loaded[name]

    def copy(name: str) -> types.ModuleType:
        official = vars(solution_module(name, package))
        module = types.ModuleType(name)
        for key, value in official.items():
            module.__dict__[key] = copied(value, official, module.__dict__)
        module.__dict__["__builtins__"] = _builtins(load, package)
        # A decorator may have remembered answers of other functions.
        decorated = (code.decorators + code.text for code in _functions(name, package).values() if code.decorators)
        for text in (*decorated, *changes.get(name, ())):
            exec(_compile_text(text, name), module.__dict__)
        return module

    def copied(value: Any, official: dict[str, Any], names: dict[str, Any]) -> Any:
        if isinstance(value, types.ModuleType):
            return load(value.__name__) if value.__name__ in solutions else value
        if not isinstance(value, types.FunctionType):
            return value
        if value.__globals__ is official:
            function = types.FunctionType(value.__code__, names, value.__name__, value.__defaults__, value.__closure__)
            function.__kwdefaults__ = value.__kwdefaults__
            return function
        return getattr(load(value.__module__), value.__name__) if value.__module__ in solutions else value

    solutions = _solution_paths(package)
    loaded[of_module] = copy(of_module)
    return loaded


def _builtins(load: Callable[[str], types.ModuleType], package: str) -> dict[str, Any]:
    """Return the built-in names for a solution, whose imports of other assignments are resolved by `load`."""
    solutions = _solution_paths(package)

    def import_(name: str, *details: Any) -> Any:
        return load(name) if name in solutions else builtins.__import__(name, *details)

    return {**vars(builtins), "__import__": import_}


@cache
def imported_modules(module: str, package: str) -> frozenset[str]:
    """Return the assignments that a solution imports, directly or through others."""
    known = _solution_paths(package).keys()
    return frozenset(reachable([module], lambda name: registry.imported_names(name, package) & known) - {module})


@cache
def _solution_paths(package: str) -> dict[str, Path]:
    own = {path.stem: path for path in registry.solutions(package).glob("*.py")}
    reusable = {} if registry.is_built_in(package) else _solution_paths(registry.default().package)
    return {**reusable, **own}
