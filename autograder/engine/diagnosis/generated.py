"""Mistakes that need no table, because the solution shows them: wrong arguments, defaults and orders of parameters."""

import ast
import inspect
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache, partial
from itertools import permutations
from types import FunctionType
from typing import TypeGuard

from autograder.engine.diagnosis.mistake import CONSTANT, Mistake, mistakes_of_function
from autograder.engine.diagnosis.variants import function_text, solution_module

MAX_OPTIONAL = 4  # The orders of more optional parameters are too many.


@cache
def argument_mistakes(function: str, package: str) -> tuple[Mistake, ...]:
    """Return mistakes in the signature of a function, and in the arguments that it passes on."""
    found = [*_wrong_orders(function, package), *_wrong_defaults(function, package)]
    for helper in ("", *called_helpers(function, package)):
        found += _lost_arguments(function, helper, package)
    unique: dict[object, Mistake] = {}
    for mistake in found:
        unique.setdefault((mistake.edits, mistake.inside), replace(mistake, generated=True))
    return tuple(unique.values())


@cache
def mistakes_of_called_functions(function: str, package: str) -> tuple[Mistake, ...]:
    """Return the known mistakes of functions that a function's solution calls: its author may have rewritten them."""
    direct = _called_functions(function, package)
    seen = dict.fromkeys(direct)
    for called in direct:
        seen |= dict.fromkeys(_called_functions(called, package))
    known = (mistake for called in seen if called != function for mistake in mistakes_of_function(called, package))
    return tuple(mistake for mistake in known if not mistake.quotient)


@cache
def tree_of_function(function: str, package: str) -> tuple[str, ast.FunctionDef]:
    """Return the code of a function of a solution without its docstring, and its tree: an empty function if none."""
    return tree_of(function_text(function, package))


def tree_of(text: str) -> tuple[str, ast.FunctionDef]:
    """Return the code of a function, and its tree: an empty function if there is no code."""
    (node,) = ast.parse(text or "def missing(): pass").body
    assert isinstance(node, ast.FunctionDef)
    return text, node


@cache
def called_helpers(function: str, package: str) -> tuple[str, ...]:
    """Return the private helpers of the same module that a function's solution calls, directly or through others."""
    module = function.partition(".")[0]
    found: dict[str, None] = {}
    todo = [function.partition(".")[2]]
    while todo:
        _, node = tree_of_function(f"{module}.{todo.pop()}", package)
        names = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
        new = [name for name in sorted(names) if name.startswith("_") and name not in found]
        new = [name for name in new if function_text(f"{module}.{name}", package)]
        found |= dict.fromkeys(new)
        todo += new
    return tuple(found)


@cache
def _called_functions(function: str, package: str) -> tuple[str, ...]:
    """Return the assigned functions that a function's solution calls, directly or through private helpers."""
    module = function.partition(".")[0]
    names: set[str] = set()
    for name in (function, *(f"{module}.{helper}" for helper in called_helpers(function, package))):
        _, node = tree_of_function(name, package)
        names |= {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    values = vars(solution_module(module, package))
    called = [f"{value.__module__}.{name}" for name in sorted(names) if is_public(value := values.get(name))]
    return tuple(name for name in called if name != function)


def is_public(value: object) -> TypeGuard[FunctionType]:
    """Return whether a value is a function that students write or are given."""
    return isinstance(value, FunctionType) and not value.__name__.startswith("_")


def _wrong_orders(function: str, package: str) -> Iterator[Mistake]:
    """Yield the other orders of the optional parameters, for calls without names."""
    text, _ = tree_of_function(function, package)
    optional = _optional_parameters(function, package)
    if not 2 <= len(optional) <= MAX_OPTIONAL:
        return
    old = text[optional[0][2] : optional[-1][3]]
    parts = [text[start:end] for _, _, start, end in optional]
    names = [name for name, *_ in optional]
    for order in permutations(range(len(parts))):
        if list(order) != sorted(order):
            yield Mistake(
                function,
                f"parameters-in-order-{'-'.join(names[i] for i in order)}",
                f"the optional parameters are not in the order {', '.join(names)}",
                "A call without names assigns its arguments by position, so that they reach the wrong parameters.",
                "Which parameter does the last argument of a call without names reach in your code?",
                ((old, ", ".join(parts[i] for i in order)),),
            )


def _wrong_defaults(function: str, package: str) -> Iterator[Mistake]:
    """Yield other defaults: any number, the other truth value, the other texts that the function knows."""
    text, _ = tree_of_function(function, package)
    called = (function, *_called_functions(function, package))
    known_texts = sorted({text for name in called for text in _compared(name, package)})
    for name, default, start, end in _optional_parameters(function, package):
        wrong_default = partial(_wrong_default, function, name, text[start:end], ast.unparse(default))
        number = _number(default)
        if isinstance(default, ast.Constant) and isinstance(default.value, bool):
            yield wrong_default(repr(not default.value))
        elif isinstance(default, ast.Constant) and isinstance(default.value, str):
            yield from (wrong_default(repr(other)) for other in known_texts if other != default.value)
        elif number is not None:
            yield wrong_default(CONSTANT, type(number)(2 * number + 3))
        elif isinstance(default, ast.Tuple):
            for i, element in enumerate(default.elts):
                if (number := _number(element)) is not None:
                    others = [CONSTANT if j == i else ast.unparse(other) for j, other in enumerate(default.elts)]
                    yield wrong_default(f"({', '.join(others)})", type(number)(number / 2), f"-{i}")


def _optional_parameters(function: str, package: str) -> list[tuple[str, ast.expr, int, int]]:
    """Return each parameter that has a default: its name, the default, and where both begin and end in the code."""
    text, node = tree_of_function(function, package)
    args, defaults = node.args.args, node.args.defaults
    pairs = zip(args[len(args) - len(defaults) :], defaults, strict=True)
    return [(arg.arg, value, _offset(text, arg.lineno, arg.col_offset), _end(text, value)) for arg, value in pairs]


@cache
def _compared(function: str, package: str) -> frozenset[str]:
    """Return the texts with which a function compares something: the values of its options."""
    _, node = tree_of_function(function, package)
    compared = [part for part in ast.walk(node) if isinstance(part, ast.Compare)]
    constants = [value for compare in compared for value in ast.walk(compare) if isinstance(value, ast.Constant)]
    return frozenset(value.value for value in constants if isinstance(value.value, str))


def _wrong_default(
    function: str, name: str, old: str, right: str, value: str, constant: float | None = None, suffix: str = ""
) -> Mistake:
    shown = value.replace(CONSTANT, "{constant}")
    return Mistake(
        function,
        f"default-of-{name}{suffix}" + ("" if constant is not None else f"-{value.strip(chr(39)).lower()}"),
        f"the default of {name} is {shown}, not {right}",
        f"A call that does not pass {name} gets the default.",
        f"What does a call without {name} return in your code, and what does one with {name}={right}?",
        ((old, f"{name}={value}"),),
        constant=constant,
    )


def _number(node: ast.expr) -> int | float | None:
    try:
        value = ast.literal_eval(node)
    except ValueError:
        return None
    return value if type(value) in (int, float) else None


def _lost_arguments(function: str, helper: str, package: str) -> Iterator[Mistake]:
    """Yield the function without one of the optional arguments of a function of the course that it calls."""
    module = function.partition(".")[0]
    inside = f"{module}.{helper}" if helper else function
    text, node = tree_of_function(inside, package)
    values = vars(solution_module(module, package))
    for call in (call for call in ast.walk(node) if isinstance(call, ast.Call)):
        name = ast.unparse(call.func)
        if not is_public(called := values.get(name)) or re.search(r"[(,] ?\*", ast.unparse(call)):
            continue
        parameters = inspect.signature(called).parameters
        given = inspect.signature(called).bind(*call.args, **{str(word.arg): word.value for word in call.keywords})
        for argument in given.arguments:
            if parameters[argument].default is inspect.Parameter.empty:
                continue
            rest = [f"{other}={ast.unparse(value)}" for other, value in given.arguments.items() if other != argument]
            if (edit := replace_node(text, call, f"{name}({', '.join(rest)})")) is None:
                continue
            yield Mistake(
                function,
                f"{argument}-not-passed-to-{name}-in-line-{call.lineno}",
                f"{argument} is not passed on in a call of {name}",
                f"{name} then uses its default instead.",
                f"Which of the arguments of {name} must have another value than the default?",
                (edit,),
                inside=helper,
            )


def replace_node(text: str, part: ast.expr | ast.stmt, new: str) -> tuple[str, str] | None:
    """Return the edit that replaces a part of a function, with as much around it as makes it unique."""
    start, end = _offset(text, part.lineno, part.col_offset), _end(text, part)
    head, tail = start, end
    while text.count(text[head:tail]) != 1:
        if head == 0:
            return None
        head = text.rfind("\n", 0, head - 1) + 1
        line_end = text.find("\n", tail)
        tail = line_end if line_end >= 0 else len(text)
    return text[head:tail], text[head:start] + new + text[end:tail]


def _offset(text: str, line: int, column: int) -> int:
    """Return the index of a position that `ast` gives in bytes."""
    lines = text.splitlines(keepends=True)
    return sum(map(len, lines[: line - 1])) + len(lines[line - 1].encode()[:column].decode())


def _end(text: str, node: ast.expr | ast.stmt) -> int:
    assert node.end_lineno is not None and node.end_col_offset is not None
    return _offset(text, node.end_lineno, node.end_col_offset)
