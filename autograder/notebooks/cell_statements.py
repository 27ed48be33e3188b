"""The statements of a notebook's code cells, and which global names each of them makes and uses."""

import ast
import re
import symtable
import textwrap
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

# Cell magics that time, record or copy Python: what follows them is code like any other.
_PYTHON_MAGICS = ("time", "timeit", "capture", "prun", "python", "python3", "py", "writefile", "file", "debug")
_ASSIGNED_MAGIC = re.compile(r"^(\s*[A-Za-z_][\w, ]*=\s*)[!%].*$")
_MAGIC = re.compile(r"^(\s*)(?:[%!?].*|[\w.]+\?{1,2}\s*)$")
_MADE = re.compile(r"^(?:async[ \t]+)?(?:def|class)[ \t]+([A-Za-z_]\w*)", re.MULTILINE)
# What the parser raises for text that is no Python, or that is nested too deeply to be looked at.
UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError)


@dataclass(frozen=True)
class Cell:
    """A code cell: what it is called in reports, and its text."""

    name: str
    source: str


@dataclass(frozen=True)
class Statement:
    """One statement at the top of a cell.

    Attributes:
        line: its first line in the cell, counted from 1; decorators are part of it.
        text: its lines as they are in the cell.
        makes: global names that it binds or changes.
        uses: global names that it reads, now or when its functions are called.
    """

    cell: str
    line: int
    node: ast.stmt
    text: str
    makes: frozenset[str]
    uses: frozenset[str]


@dataclass(frozen=True)
class BrokenCell:
    """A cell that is no Python: nothing in it can run.

    Attributes:
        line: where the parser gave up.
        makes: names of the functions and classes that the cell was meant to define.
    """

    cell: str
    line: int
    message: str
    makes: frozenset[str]


def read_statements(cells: Iterable[Cell]) -> Iterator[Statement | BrokenCell]:
    """The statements of all cells in order; magics are left out, and a cell that is no Python is told as such."""
    for cell in cells:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of the compiler, about the student's code
                found = list(_statements(cell))
        except UNREADABLE as error:
            line = error.lineno or 1 if isinstance(error, SyntaxError) else 1
            message = error.msg if isinstance(error, SyntaxError) else "the code cannot be read"
            yield BrokenCell(cell.name, line, message, frozenset(_MADE.findall(textwrap.dedent(cell.source))))
        else:
            yield from found


def _statements(cell: Cell) -> Iterator[Statement]:
    source, tree = _parse(cell.source)
    lines = source.split("\n")
    for node in tree.body:
        decorators = [d.lineno for d in getattr(node, "decorator_list", [])]
        first, last = min([node.lineno, *decorators]), node.end_lineno or node.lineno
        text = "\n".join(lines[first - 1 : last])
        # Another statement may stand on the same line.
        makes, uses = _names(node, ast.unparse(node) if ";" in text else text)
        yield Statement(cell.name, first, node, text, makes, uses)


def _parse(source: str) -> tuple[str, ast.Module]:
    """The cell as Python: as it is, or without its magics where they are what keeps it from being Python."""
    source = source.replace("\r\n", "\n").replace("\r", "\n")
    first = source.lstrip().partition("\n")[0]
    if first.startswith("%%"):
        if first[2:].split(" ")[0] not in _PYTHON_MAGICS:
            return "", ast.Module([], [])
        source = source.replace(first, "", 1)
    try:
        return source, _compiled(source)
    except UNREADABLE:
        source = textwrap.dedent("\n".join(_without_magic(line) for line in source.split("\n")))
        return source, _compiled(source)


def _compiled(source: str) -> ast.Module:
    tree = ast.parse(source)
    compile(source, "cell", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)  # finds what the parser alone lets pass
    return tree


def _without_magic(line: str) -> str:
    assigned = _ASSIGNED_MAGIC.match(line)
    if assigned:
        return f"{assigned[1]}None"
    magic = _MAGIC.match(line)
    return f"{magic[1]}pass" if magic else line


def _names(node: ast.stmt, text: str) -> tuple[frozenset[str], frozenset[str]]:
    """Global names that a statement makes and uses; names that are local to its functions are neither."""
    try:
        top = symtable.symtable(text, "cell", "exec")
    except SyntaxError:  # `await` outside a function: an expression to look at
        return frozenset(), frozenset()
    makes, uses = set(), set()
    for symbol in top.get_symbols():
        if symbol.is_assigned() or symbol.is_imported() or symbol.is_namespace():
            makes.add(symbol.get_name())
        if symbol.is_referenced():
            uses.add(symbol.get_name())
    waiting = top.get_children()
    while waiting:
        table = waiting.pop()
        waiting.extend(table.get_children())
        uses.update(symbol.get_name() for symbol in table.get_symbols() if symbol.is_global())
    makes.update(_changed(node))
    return frozenset(makes), frozenset(uses)


def _changed(node: ast.stmt) -> Iterator[str]:
    """Names whose entries or attributes a statement sets: `TABLE["a"] = 1`."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AugAssign) else []
    for target in targets:
        while isinstance(target, (ast.Subscript, ast.Attribute)):
            target = target.value
        if isinstance(target, ast.Name):
            yield target.id


def imported_roots(text: str) -> set[str]:
    """The first names of all modules that a text imports anywhere; none if it is no Python."""
    try:
        tree = ast.parse(text)
    except UNREADABLE:
        return set()
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and not node.level:
            names.add((node.module or "").partition(".")[0])
        elif isinstance(node, ast.Import):
            names.update(alias.name.partition(".")[0] for alias in node.names)
    return names
