"""Find, extract and replace the functions in a source text."""

import ast
import re
from collections.abc import Sequence

from autograder.workspace.dependencies import ModuleSource


def functions_in(source: str | bytes) -> list[ast.FunctionDef]:
    """Return the top-level functions of a source; raise whatever `ast.parse` raises if Python cannot read it."""
    return [node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)]


def written_lines(source: bytes) -> int:
    """Return how many lines the top-level functions of a source have, without docstrings and empty lines."""
    lines, count = source.splitlines(), 0
    for node in functions_in(source):
        of_docstring = node.body[0].end_lineno if ast.get_docstring(node) is not None else None
        body = lines[of_docstring or node.lineno : node.end_lineno]
        count += 1 + sum(bool(line.strip()) for line in body)
    return count


def find_function(source: str | bytes, name: str) -> ast.FunctionDef | None:
    """Return the last top-level function of that name, if any; raises like `functions_in`."""
    return next((node for node in reversed(functions_in(source)) if node.name == name), None)


def line_range(node: ast.stmt) -> slice:
    """Return the lines of a statement, decorators included, as a 0-based slice."""
    start = min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", []))]) - 1
    return slice(start, node.end_lineno)


def function_text(source: str, name: str) -> str:
    """Return the source of one function; empty if there is none of that name."""
    node = find_function(source, name)
    return "" if node is None else "\n".join(source.split("\n")[line_range(node)])


def without_docstring(source: str, name: str) -> str:
    """Return the source without the docstring of one function."""
    node = find_function(source, name)
    if node is None or ast.get_docstring(node) is None:
        return source
    lines = source.split("\n")
    del lines[node.body[0].lineno - 1 : node.body[0].end_lineno]
    return "\n".join(lines)


def replace_function(source: str, name: str, new: str) -> str | None:
    """Return the source with a function replaced, or appended if it is missing; None if Python cannot read it.

    In a file of cells, an appended function gets a cell of its own: the last one may be a lesson.
    """
    try:
        node = find_function(source, name)
    except (SyntaxError, ValueError, RecursionError):
        return None
    if node is None:
        cell = "# %%\n" if re.search(r"(?m)^# %%", source) else ""
        return source.rstrip("\n") + f"\n\n\n{cell}{new}\n"
    lines = source.split("\n")
    lines[line_range(node)] = new.split("\n")
    return "\n".join(lines)


def private_helpers(source: str, functions: Sequence[str]) -> list[str]:
    """Return the private names (`_name`) that functions use, directly or indirectly, in the order of the file."""
    module = ModuleSource("m", source.encode()).parsed
    pending, helpers = list(functions), set()
    while pending:
        for _, used in module.uses.get(pending.pop(), ()):
            if used.startswith("_") and used in module.definitions and used not in helpers:
                helpers.add(used)
                pending.append(used)
    return [name for name in module.definitions if name in helpers]


def function_with_helpers(source: str, name: str) -> str:
    """Return the source of a function and of the private helpers and constants that it uses."""
    lines = source.split("\n")
    wanted = {*private_helpers(source, [name]), name}
    parts = []
    for node in ast.parse(source).body:
        match node:
            case ast.FunctionDef(name=bound) if bound in wanted:
                parts.append(lines[line_range(node)])
            case ast.Assign(targets=targets) if any(isinstance(t, ast.Name) and t.id in wanted for t in targets):
                parts.append(lines[node.lineno - 1 : node.end_lineno])
    return "\n\n\n".join(map("\n".join, parts))
