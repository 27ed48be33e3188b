"""Find out which functions of a module are written, and which of them use which others."""

import ast
import hashlib
from collections.abc import Sequence

from .cell_statements import PARSER_ERRORS
from .extract import module_statements

Function = ast.FunctionDef | ast.AsyncFunctionDef


def function_body(function: Function | ast.ClassDef) -> list[ast.stmt]:
    """Return the statements of a function or class without its docstring."""
    return function.body[1:] if ast.get_docstring(function, clean=False) is not None else function.body


def is_stub(function: Function) -> bool:
    """Return whether a function only raises NotImplementedError."""
    match function_body(function):
        case [ast.Raise(exc=ast.Name("NotImplementedError") | ast.Call(func=ast.Name("NotImplementedError")))]:
            return True
    return False


def written_functions(content: bytes, names: Sequence[str]) -> dict[str, str]:
    """Return a digest of each of the named functions that is more than a stub; of all, if Python cannot read the file.

    What a function uses of its module is part of its digest; comments, blank lines and docstrings are not.
    """
    texts: dict[str, str] = {}
    uses: dict[str, set[str]] = {}
    stubs: set[str] = set()
    try:
        for node in module_statements(content):
            for part in ast.walk(node):
                if isinstance(part, (Function, ast.ClassDef)):
                    part.body = function_body(part)
            parts: list[ast.AST] = [node]
            if isinstance(node, ast.ClassDef):
                bound = {node.name}
            elif isinstance(node, Function):
                bound = {node.name}
                (stubs.add if is_stub(node) else stubs.discard)(node.name)
                parts = [*node.decorator_list, node.args, *node.body]
            else:
                inner = list(ast.walk(node))
                bound = {part.id for part in inner if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}
            text = "".join(map(ast.dump, parts))
            names_read = [name for part in parts for name in ast.walk(part) if isinstance(name, ast.Name)]
            read = {name.id for name in names_read}
            if isinstance(node, (Function, ast.ClassDef)):  # An experiment's variable may have a parameter's name.
                read -= {name.id for name in names_read if isinstance(name.ctx, ast.Store)}
                read -= {part.arg for part in ast.walk(node) if isinstance(part, ast.arg)}
            for name in bound:
                before = "" if isinstance(node, Function) else texts.get(name, "").removesuffix(text)
                texts[name] = before + text  # The same import twice is one.
                uses.setdefault(name, set()).update(read)
        written = [name for name in names if name in texts and name not in stubs]
        digests = {name: "".join(texts.get(used, "") for used in sorted(_reachable(name, uses))) for name in written}
    except PARSER_ERRORS:
        digests = dict.fromkeys(names, repr(content))
    return {name: hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16] for name, text in digests.items()}


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
