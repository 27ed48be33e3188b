"""Rewrites of expressions that beginners make by mistake: `rewrites.txt` lists and describes them."""

import ast
import re
from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import cache
from pathlib import Path

METHODS = frozenset(
    ["all", "any", "argmax", "argmin", "argsort", "clip", "max", "mean", "min", "sum", "std", "var"]
)  # that are methods, too
_WILDCARDS = frozenset("ABCDFMN")
_KINDS: dict[str, Callable[[ast.expr], bool]] = {
    "M": lambda node: not re.search(r"swapaxes|\.T$", ast.unparse(node)),
    "N": lambda node: not isinstance(node, ast.Constant),
}
Bound = dict[str, ast.expr]


def rewritten(node: ast.expr, titled: Callable[[str, Bound], str]) -> Iterator[tuple[str, str]]:
    """Yield the code that may take the place of an expression, with its title; `titled` fills the latter in."""
    for pattern, new, title in _rules():
        bound: Bound = {"O": node}
        if type(pattern) is type(node) and _matches(pattern, node, bound):
            text = filled(new, bound)
            if text != ast.unparse(node):
                yield f"({text})", titled(title, bound)


def filled(node: ast.expr, bound: Bound) -> str:
    """Return the code of an expression in which other expressions take the place of names."""
    return ast.unparse(_Filled(bound).visit(deepcopy(node)))


@cache
def _rules() -> list[tuple[ast.expr, ast.expr, str]]:
    text = Path(__file__).with_suffix(".txt").read_text("utf-8")
    lines = (line.partition(" : ") for line in text.splitlines() if not line.startswith("#"))
    pairs = ((*change.split(" → "), title) for change, _, title in lines)
    return [(ast.parse(old, mode="eval").body, ast.parse(new, mode="eval").body, title) for old, new, title in pairs]


def _matches(pattern: object, node: object, bound: Bound) -> bool:
    if isinstance(pattern, ast.Name) and pattern.id in _WILDCARDS and isinstance(node, ast.expr):
        if isinstance(node, (ast.Slice, ast.Tuple, ast.Starred)) or not _KINDS.get(pattern.id, bool)(node):
            return False
        return ast.dump(bound.setdefault(pattern.id, node)) == ast.dump(node)
    if isinstance(pattern, list) and isinstance(node, list):
        return len(pattern) == len(node) and all(_matches(a, b, bound) for a, b in zip(pattern, node, strict=True))
    if not isinstance(pattern, ast.AST) or type(pattern) is not type(node):
        return bool(pattern == node)
    if isinstance(pattern, ast.Call) and isinstance(node, ast.Call):
        node = _as_function(node)
        if pattern.args and isinstance(last := pattern.args[-1], ast.Constant) and last.value is ...:
            bound["..."] = ast.Call(node.func, node.args[len(pattern.args) - 1 :], node.keywords)
            node = ast.Call(node.func, [*node.args[: len(pattern.args) - 1], last], [])
    fields = (field for field in pattern._fields if field not in ("ctx", "kind"))
    return all(_matches(getattr(pattern, field), getattr(node, field), bound) for field in fields)


def _as_function(call: ast.Call) -> ast.Call:
    """Return the call of a method, such as x.sum(0), as one of the function of NumPy."""
    method = call.func
    if isinstance(method, ast.Attribute) and method.attr in METHODS and ast.unparse(method.value) != "np":
        name = ast.Attribute(ast.Name("np", ast.Load()), method.attr, ast.Load())
        return ast.Call(name, [method.value, *call.args], call.keywords)
    return call


class _Filled(ast.NodeTransformer):
    """Puts what was found in the place of the wildcards."""

    def __init__(self, bound: Bound) -> None:
        self._bound = bound

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._bound.get(node.id, node)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        rest = self._bound.get("...")
        self.generic_visit(node)
        if (
            isinstance(rest, ast.Call)
            and node.args
            and isinstance(last := node.args[-1], ast.Constant)
            and last.value is ...
        ):
            return ast.Call(node.func, [*node.args[:-1], *rest.args], [*rest.keywords, *node.keywords])
        return node
