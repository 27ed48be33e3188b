"""Reduce a module to one function and what it uses: source without comments, docstrings, lessons and experiments.

Right and wrong implementations must not differ in anything but their code. So both are parsed and written again.
"""

import ast
from collections.abc import Collection, Iterable
from dataclasses import dataclass

_BLOCKS = (ast.FunctionDef, ast.ClassDef)


@dataclass(frozen=True)
class MinimalSource:
    """The source of a function and of what it uses."""

    text: str
    imported: tuple[tuple[str, str], ...]  # (module, name) of every `from module import name`


def without_experiments(source: str) -> str:
    """Return a solution without the experiments at its end, whose parsing would take half of the time."""
    return source.partition("\nif __name__ ==")[0] + "\n"


def minimal_source(source: str, roots: Collection[str]) -> MinimalSource:
    """Return the statements of a module that define `roots`, directly or through others, in their order.

    Of several functions with the same name, the last is kept, and any other that is used before the next replaces it.
    """
    statements = [node for node in ast.parse(source).body if not isinstance(node, (ast.Expr, ast.If))]
    definitions: dict[str, list[int]] = {}
    for i, node in enumerate(statements):
        for name in _defined_names(node):
            definitions.setdefault(name, []).append(i)
    needed: set[int] = set()
    names: set[str] = set()
    pending = [(name, len(statements)) for name in roots]
    while pending:
        name, end = pending.pop()
        names.add(name)
        found = [i for i in definitions.get(name, ()) if i < end]
        if found and isinstance(statements[found[-1]], _BLOCKS):
            found = found[-1:]
        for i in set(found) - needed:
            needed.add(i)
            # The body of a function runs after all definitions; another statement runs at once.
            end = len(statements) if isinstance(statements[i], _BLOCKS) else i
            pending += [(used, end) for used in _used_names(statements[i])]
    imports: set[str] = set()
    reduced = [_reduce(node, names, imports) for i, node in enumerate(statements) if i in needed]
    kept = [node for node in reduced if node is not None]
    imported = tuple(
        (node.module or "", alias.name) for node in kept if isinstance(node, ast.ImportFrom) for alias in node.names
    )
    return MinimalSource(_join([_without_docstrings(node) for node in kept]), imported)


def _without_docstrings(node: ast.stmt) -> ast.stmt:
    for part in ast.walk(node):
        if isinstance(part, _BLOCKS) and ast.get_docstring(part, clean=False) is not None:
            part.body = part.body[1:] or [ast.Pass()]
    return node


def _defined_names(node: ast.stmt) -> Iterable[str]:
    if isinstance(node, _BLOCKS):
        return [node.name]
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return [(alias.asname or alias.name).partition(".")[0] for alias in node.names]
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", node)]
    return [part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)]


def _used_names(node: ast.stmt) -> set[str]:
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return set()
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def _reduce(node: ast.stmt, wanted: Collection[str], imports: set[str]) -> ast.stmt | None:
    """Return a statement; of an import only the wanted and new names, None if there are none."""
    if not isinstance(node, (ast.Import, ast.ImportFrom)):
        return node
    new = [alias for alias in node.names if (alias.asname or alias.name).partition(".")[0] in wanted]
    module = node.module if isinstance(node, ast.ImportFrom) else ""
    node.names = [alias for alias in new if f"{module} {ast.unparse(alias)}" not in imports]
    imports |= {f"{module} {ast.unparse(alias)}" for alias in new}
    return node if node.names else None


def _join(nodes: list[ast.stmt]) -> str:
    lines: list[str] = []
    for i, node in enumerate(nodes):
        is_block = isinstance(node, _BLOCKS)
        if lines and (is_block or isinstance(nodes[i - 1], _BLOCKS)):
            lines += ["", ""]
        lines.append(ast.unparse(node))
    return "\n".join(lines) + "\n"
