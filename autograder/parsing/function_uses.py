"""Find out which functions of a module use which others."""

import ast
from collections.abc import Sequence

from .cell_statements import PARSER_ERRORS


def used_functions(content: bytes, names: Sequence[str]) -> dict[str, list[str]]:
    """Return which of the named functions call which others, directly or through helpers; {} if unreadable.

    The others are defined in the module or imported into it by their name.
    """
    try:
        tree = ast.parse(content)
        uses = {
            node.name: {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
            for node in tree.body
            if isinstance(node, (ast.FunctionDef, ast.ClassDef))
        }
        imports = [alias for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names]
    except PARSER_ERRORS:
        return {}
    imported = set(names) if any(alias.name == "*" for alias in imports) else {alias.name for alias in imports}
    known = set(names) & (imported | uses.keys())
    return {name: sorted(_reachable(name, uses) & known - {name}) for name in names if name in uses}


def _reachable(start: str, uses: dict[str, set[str]]) -> set[str]:
    reached: set[str] = set()
    pending = [start]
    while pending:
        if (name := pending.pop()) not in reached:
            reached.add(name)
            pending.extend(uses.get(name, ()))
    return reached
