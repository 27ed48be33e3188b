"""Find out which functions of a module use which others."""

import ast
from collections.abc import Sequence

from .cell_statements import PARSER_ERRORS


def used_functions(content: bytes, names: Sequence[str]) -> dict[str, list[str]]:
    """Return which of the named functions call which others, directly or through helpers; {} if unreadable."""
    try:
        uses = {
            node.name: {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
            for node in ast.parse(content).body
            if isinstance(node, (ast.FunctionDef, ast.ClassDef))
        }
    except PARSER_ERRORS:
        return {}
    return {name: sorted(_reachable(name, uses).intersection(names) - {name}) for name in names if name in uses}


def _reachable(start: str, uses: dict[str, set[str]]) -> set[str]:
    reached: set[str] = set()
    pending = [start]
    while pending:
        if (name := pending.pop()) not in reached:
            reached.add(name)
            pending.extend(uses.get(name, ()))
    return reached
