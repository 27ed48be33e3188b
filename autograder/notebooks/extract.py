"""The modules in a notebook: each function of the contract, found by its name, with what it needs.

Of the statements at the top of the cells a module gets the functions, the classes, and whatever the contract's
functions read: imports, constants, tables. All else is there to be looked at (prints, plots, trials, calls of `check`)
and is left out, so that it costs no time and cannot fail.

Cell metadata is not looked at. Where a name is defined several times (copied cells), the definitions stay in their
order, so that the last one wins as it does in the notebook; a stub counts only where nothing else has the name, and an
assignment (`block = block(x)`, by mistake) only where no function has it. A cell that is no Python, or that raises an
exception, costs what it was meant to define: using that tells which cell failed, and why.

What goes into a module stands under a comment that names its cell, from which `find_cell_line` finds the way back.
"""

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from autograder.curriculum import Curriculum
from autograder.notebooks.cell_statements import BrokenCell, Cell, Statement, read_statements

HEADER = "from __future__ import annotations  # so that what an annotation names need not exist"
# Stands for what a failed cell did not define.
_FAILED = """
class CellError(Exception):
    pass


class _CellFailed:
    def __init__(self, error):
        self.__dict__["error"] = error

    def __getattr__(self, name):
        raise AttributeError(name) if name.startswith("__") else self.error

    def __call__(self, *args, **kwargs):
        raise self.error

    __getitem__ = __iter__ = __len__ = __bool__ = __float__ = __array__ = __lt__ = __le__ = __gt__ = __ge__ = __call__
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __neg__ = __call__
    __matmul__ = __rmatmul__ = __pow__ = __rpow__ = __call__


def _cell_failed(place, names, error):
    for name in names:
        globals().setdefault(name, _CellFailed(CellError(f"{place} failed: {type(error).__name__}: {error}")))
"""
PREAMBLE = f"{HEADER}\n{_FAILED}"  # what every module from a notebook begins with
_PLACE = re.compile(r"# (.{1,40}), line (\d{1,7})")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_Found = Statement | BrokenCell


@dataclass(frozen=True)
class CellLine:
    """A line of a cell."""

    cell: str
    line: int


class TooManyStatements(ValueError):
    """The notebook has more statements than are looked at."""


def extract_modules(
    cells: Iterable[Cell],
    curriculum: Curriculum,
    name: str = "",
    *,
    as_run: bool = False,
    max_statements: int | None = None,
) -> dict[str, str]:
    """The modules in a notebook.

    Args:
        cells: the code cells in order.
        curriculum: says which functions belong to which module.
        name: the notebook's file name, if there is one. A module it names is taken; another one only if the notebook
            defines more than half of it, because helpers copied from earlier assignments make no assignment.
        as_run: the cells are those that were run, in the order in which they were run: the last definition counts,
            whatever it is, unless its cell is no Python.
        max_statements: statements that a stranger's notebook may have.

    Returns:
        Source text by module name; empty if none of the contract's functions is there.

    Raises:
        TooManyStatements: if it has more statements.
    """
    statements = list(read_statements(cells))
    if max_statements is not None and len(statements) > max_statements:
        raise TooManyStatements
    named = _named(name, curriculum)
    owned: dict[str, dict[int, set[str]]] = {module: {} for module in curriculum.modules}
    for i, function, module in _owners(statements, curriculum, named):
        owned[module].setdefault(i, set()).add(function)
    counts = {module: len(set().union(*owned[module].values())) for module in owned}
    about = [module for module in named if counts[module]]
    for module in owned if about else ():
        if module not in about and counts[module] * 2 <= len(curriculum.modules[module].functions):
            owned[module].clear()
    whose = {f: module for module in owned for functions in owned[module].values() for f in functions}
    return {module: _text(module, owned[module], whose, statements, as_run) for module in owned if owned[module]}


def find_cell_line(text: str, line: int) -> CellLine | None:
    """Where a line of a module's text was in the notebook; None for what the notebook does not hold."""
    for back, candidate in enumerate(reversed(text.split("\n")[: line - 1])):
        match = _PLACE.fullmatch(candidate)
        if match:
            return CellLine(match[1], int(match[2]) + back)
    return None


def _named(name: str, curriculum: Curriculum) -> list[str]:
    words = "_" + re.sub(r"[^a-z0-9]+", "_", name.lower().removesuffix(".ipynb")) + "_"
    return [module for module in curriculum.modules if f"_{module}_" in words]


def _owners(statements: Sequence[_Found], curriculum: Curriculum, named: list[str]) -> Iterator[tuple[int, str, str]]:
    """Which statement defines which function of which module.

    `encode` and `decode` belong to two modules: to the one that the file name tells, else to the one whose other
    functions stand nearer.
    """
    modules: dict[str, list[str]] = {}
    for function in curriculum.functions.values():
        modules.setdefault(function.name, []).append(function.module)
    definitions = [
        (i, name)
        for i, statement in enumerate(statements)
        if not _imports(statement)
        for name in sorted(statement.makes & modules.keys())
    ]
    certain = [(i, modules[name][0]) for i, name in definitions if len(modules[name]) == 1]
    for i, name in definitions:
        candidates = [module for module in modules[name] if module in named] or modules[name]
        near = [(abs(i - j), j > i, module) for j, module in certain if module in candidates]
        yield i, name, candidates[0] if len(candidates) == 1 or not near else min(near)[-1]


def _imports(statement: _Found) -> bool:
    return isinstance(statement, Statement) and isinstance(statement.node, (ast.Import, ast.ImportFrom))


def _text(
    module: str, owned: dict[int, set[str]], whose: dict[str, str], statements: Sequence[_Found], as_run: bool
) -> str:
    """The text of one module.

    Args:
        owned: its functions of the contract, by the number of the statement that defines them.
        whose: the module of every function of the contract in the notebook.
        statements: all of the notebook.
    """
    functions = set().union(*owned.values())
    best = {
        name: max(_rank(statements[i], as_run) for i, names in owned.items() if name in names) for name in functions
    }
    elsewhere = {name for name in whose if name not in functions}

    def may_be_part(i: int, statement: _Found) -> bool:
        if _is_the_kits(statement, module) or (statement.makes and statement.makes <= elsewhere):
            return False
        mine = statement.makes & functions
        return not mine or any(name in owned.get(i, ()) and _rank(statement, as_run) == best[name] for name in mine)

    candidates = {i: statement for i, statement in enumerate(statements) if may_be_part(i, statement)}
    needed, chosen = set(functions), set[int]()

    def take(roots: Callable[[_Found], bool], others: Callable[[_Found], bool]) -> None:
        size = -1
        while size != len(chosen):
            size = len(chosen)
            for i, statement in candidates.items():
                if i not in chosen and (roots(statement) or (needed & statement.makes and others(statement))):
                    chosen.add(i)
                    needed.update(statement.uses if isinstance(statement, Statement) else ())

    take(_is_for_all, lambda statement: True)
    take(_is_function, _is_cheap)
    lines = PREAMBLE.split("\n")
    for name in sorted(needed & elsewhere):
        lines += _guarded(ast.parse(f"from {whose[name]} import {name}").body[0], {name}, f"importing {name}")
    for i in sorted(chosen):
        statement = candidates[i]
        lines += _broken(statement, needed) if isinstance(statement, BrokenCell) else _whole(statement)
    return "\n".join(lines) + "\n"


def _rank(statement: _Found, as_run: bool) -> int:
    """Which of several definitions of a function counts: see the top of this file."""
    if isinstance(statement, BrokenCell):
        return 1
    if not isinstance(statement.node, _FUNCTIONS):
        return 3 if as_run else 2
    return 0 if is_stub(statement.node) and not as_run else 3


def is_stub(function: ast.stmt) -> bool:
    """Whether it is a function that does nothing, or nothing but raise NotImplementedError."""
    if not isinstance(function, _FUNCTIONS):
        return False
    body = [n for n in function.body if not (isinstance(n, ast.Expr) and isinstance(n.value, ast.Constant))]
    return all(
        isinstance(n, ast.Pass)
        or (isinstance(n, ast.Raise) and n.exc is not None and "NotImplementedError" in ast.unparse(n.exc))
        for n in body[:1]
    )


def _is_the_kits(statement: _Found, module: str) -> bool:
    """Imports that a module cannot or need not have: of the kit, of itself, of what its first line says."""
    if not isinstance(statement, Statement):
        return False
    if isinstance(statement.node, ast.ImportFrom):
        return (statement.node.module or "").partition(".")[0] in ("autograder", "__future__", module)
    if isinstance(statement.node, ast.Import):
        return all(alias.name.partition(".")[0] in ("autograder", module) for alias in statement.node.names)
    return False


def _is_for_all(statement: _Found) -> bool:
    """Classes are there to be called by name (`GPTConfig`); what `import *` brings nobody knows."""
    if isinstance(statement, BrokenCell):
        return False
    node = statement.node
    return isinstance(node, ast.ClassDef) or (isinstance(node, ast.ImportFrom) and node.names[0].name == "*")


def _is_function(statement: _Found) -> bool:
    """Helper functions that nothing here needs: a later assignment may import them."""
    return isinstance(statement, Statement) and isinstance(statement.node, _FUNCTIONS) and _cannot_fail(statement.node)


def _is_cheap(statement: _Found) -> bool:
    """What such helpers get of what they need; not the result of an hour's training that one of them plots."""
    return isinstance(statement, Statement) and (_imports(statement) or _cannot_fail(statement.node))


def _whole(statement: Statement) -> list[str]:
    node, where = statement.node, f"{statement.cell}, line {statement.line}"
    if _cannot_fail(node):
        return [f"# {where}", *statement.text.split("\n"), ""]
    # A line less: the first one in the module is `try:`.
    return [f"# {statement.cell}, line {statement.line - 1}", *_guarded(node, statement.makes, where)]


def _cannot_fail(node: ast.stmt) -> bool:
    """Whether running the statement itself cannot raise; then it stays as it is, comments and all."""
    if isinstance(node, _FUNCTIONS):
        defaults = [*node.args.defaults, *filter(None, node.args.kw_defaults)]
        return not node.decorator_list and all(map(_is_literal, defaults))
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names] == ["numpy"]
    return isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and _is_literal(node.value)


def _is_literal(node: ast.expr) -> bool:
    plain = (ast.Constant, ast.UnaryOp, ast.USub, ast.Tuple, ast.List, ast.Dict, ast.Load)
    return all(isinstance(part, plain) for part in ast.walk(node))


def _guarded(node: ast.stmt, makes: Iterable[str], where: str) -> list[str]:
    call = f"_cell_failed({where!r}, {sorted(makes)!r}, _error)"
    (guard,) = ast.parse(f"try:\n    pass\nexcept (Exception, SystemExit) as _error:\n    {call}").body
    assert isinstance(guard, ast.Try)
    guard.body = [node]
    return [*ast.unparse(guard).split("\n"), ""]


def _broken(cell: BrokenCell, needed: set[str]) -> list[str]:
    where = f"{cell.cell}, line {cell.line}"
    message = f"{where} is no Python: {cell.message}"
    return [
        line
        for name in sorted(cell.makes & needed)
        for line in (f"# {where}", f"def {name}(*args, **kwargs): raise CellError({message!r})", "")
    ]
