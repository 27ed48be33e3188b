"""Find, extract and replace the functions in a source text."""

import ast
import re
from collections.abc import Iterator

from autograder.course.model import reachable
from autograder.workspace.dependencies import ModuleSource


def functions_in(source: str | bytes) -> dict[str, ast.FunctionDef] | None:
    """Return the top-level functions of a source, the last one of each name; None if Python cannot read it."""
    try:
        return {node.name: node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)}
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def find_function(source: str | bytes, name: str) -> ast.FunctionDef | None:
    """Return the function of that name; None if there is none, or Python cannot read the source."""
    return (functions_in(source) or {}).get(name)


def written_lines(source: bytes) -> int:
    """Return how many lines its top-level functions have, without docstrings and empty lines; 0 if unreadable."""
    lines, count = source.splitlines(), 0
    for node in (functions_in(source) or {}).values():
        of_docstring = node.body[0].end_lineno if ast.get_docstring(node) is not None else None
        body = lines[of_docstring or node.lineno : node.end_lineno]
        count += 1 + sum(bool(line.strip()) for line in body)
    return count


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
    if (functions := functions_in(source)) is None:
        return None
    if name not in functions:
        cell = "# %%\n" if re.search(r"(?m)^# %%", source) else ""
        return source.rstrip("\n") + f"\n\n\n{cell}{new}\n"
    lines = source.split("\n")
    lines[line_range(functions[name])] = new.split("\n")
    return "\n".join(lines)


def named_statements(source: str) -> Iterator[tuple[str, slice]]:
    """Yield the name that each top-level statement binds, "" if it has none, and its lines; without docstrings."""
    for node in ast.parse(source).body:
        match node:
            case ast.Expr():
                continue
            case ast.Assign(targets=[ast.Name(name), *_]) | ast.AnnAssign(target=ast.Name(name)):
                yield name, line_range(node)
            case _:
                yield getattr(node, "name", ""), line_range(node)


def function_with_helpers(source: str, name: str) -> str:
    """Return the source of a function and of the private helpers and constants (`_name`) that it uses."""
    module = ModuleSource("m", source.encode()).parsed

    def helpers(user: str) -> set[str]:
        names = {used for _, used in module.uses.get(user, ()) if used.startswith("_")}
        return names & module.definitions.keys()

    wanted, lines = reachable([name], helpers), source.split("\n")
    return "\n\n\n".join("\n".join(lines[where]) for bound, where in named_statements(source) if bound in wanted)
