"""The statements of a notebook's code cells, with the global names that each of them binds and reads."""

import ast
import re
import symtable
import textwrap
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

# Cell magics that are followed by ordinary Python, which they time, record or copy.
_PYTHON_MAGICS = ("time", "timeit", "capture", "prun", "python", "python3", "py", "writefile", "file", "debug")
_ASSIGNED_MAGIC = re.compile(r"^(\s*[A-Za-z_][\w, ]*=\s*)[!%].*$")
_MAGIC = re.compile(r"^(\s*)(?:[%!?].*|[\w.]+\?{1,2}\s*)$")
_DEFINITION = re.compile(r"^(?:async[ \t]+)?(?:def|class)[ \t]+([A-Za-z_]\w*)", re.MULTILINE)
# Raised by the parser for text that is not Python or is nested too deeply.
PARSER_ERRORS = (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError)


@dataclass(frozen=True)
class Cell:
    """A code cell: its name in reports, and its text."""

    name: str
    source: str


@dataclass(frozen=True)
class Statement:
    """A statement at the top level of a cell.

    Attributes:
        line: its first line in the cell, counted from 1, decorators included.
        text: its lines, unchanged.
        binds: global names that it binds or changes.
        reads: global names that it reads, now or when its functions are called.
    """

    cell: str
    line: int
    node: ast.stmt
    text: str
    binds: frozenset[str]
    reads: frozenset[str]


@dataclass(frozen=True)
class BrokenCell:
    """A cell that is not valid Python, so that nothing in it can run.

    Attributes:
        line: the line at which the parser stopped.
        binds: names of the functions and classes that the cell seems to define.
    """

    cell: str
    line: int
    message: str
    binds: frozenset[str]


def read_statements(cells: Iterable[Cell]) -> Iterator[Statement | BrokenCell]:
    """Yield the statements of all cells in order, without magics; a cell that is not Python yields a BrokenCell."""
    for cell in cells:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the compiler warns about student code
                statements = list(_statements(cell))
        except PARSER_ERRORS as error:
            line = error.lineno or 1 if isinstance(error, SyntaxError) else 1
            message = error.msg if isinstance(error, SyntaxError) else "the code cannot be read"
            yield BrokenCell(cell.name, line, message, frozenset(_DEFINITION.findall(textwrap.dedent(cell.source))))
        else:
            yield from statements


def _statements(cell: Cell) -> Iterator[Statement]:
    source, tree = _parse(cell.source)
    lines = source.split("\n")
    for node in tree.body:
        decorators = [d.lineno for d in getattr(node, "decorator_list", [])]
        first, last = min([node.lineno, *decorators]), node.end_lineno or node.lineno
        text = "\n".join(lines[first - 1 : last])
        # With a semicolon, the text may hold other statements too.
        binds, reads = _names(node, ast.unparse(node) if ";" in text else text)
        yield Statement(cell.name, first, node, text, binds, reads)


def _parse(source: str) -> tuple[str, ast.Module]:
    """Return the cell as Python: unchanged if it parses, otherwise without its magics."""
    source = source.replace("\r\n", "\n").replace("\r", "\n")
    first = source.lstrip().partition("\n")[0]
    if first.startswith("%%"):
        if first[2:].split(" ")[0] not in _PYTHON_MAGICS:
            return "", ast.Module([], [])
        source = source.replace(first, "", 1)
    try:
        return source, _compiled(source)
    except PARSER_ERRORS:
        source = textwrap.dedent("\n".join(_without_magic(line) for line in source.split("\n")))
        return source, _compiled(source)


def _compiled(source: str) -> ast.Module:
    tree = ast.parse(source)
    compile(source, "cell", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)  # finds errors that the parser alone does not
    return tree


def _without_magic(line: str) -> str:
    assigned = _ASSIGNED_MAGIC.match(line)
    if assigned:
        return f"{assigned[1]}None"
    magic = _MAGIC.match(line)
    return f"{magic[1]}pass" if magic else line


def _names(node: ast.stmt, text: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the global names that a statement binds and reads, without the local names of its functions."""
    try:
        top = symtable.symtable(text, "cell", "exec")
    except SyntaxError:  # `await` outside a function: an expression that defines nothing
        return frozenset(), frozenset()
    binds, reads = set(), set()
    for symbol in top.get_symbols():
        if symbol.is_assigned() or symbol.is_imported() or symbol.is_namespace():
            binds.add(symbol.get_name())
        if symbol.is_referenced():
            reads.add(symbol.get_name())
    tables = top.get_children()
    while tables:
        table = tables.pop()
        tables.extend(table.get_children())
        reads.update(symbol.get_name() for symbol in table.get_symbols() if symbol.is_global())
    binds.update(_changed_names(node))
    return frozenset(binds), frozenset(reads)


def _changed_names(node: ast.stmt) -> Iterator[str]:
    """Yield the names whose items or attributes a statement sets: `TABLE["a"] = 1`."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AugAssign) else []
    for target in targets:
        while isinstance(target, (ast.Subscript, ast.Attribute)):
            target = target.value
        if isinstance(target, ast.Name):
            yield target.id


def imported_roots(text: str) -> set[str]:
    """Return the top-level names of all modules that a text imports; none if it is not Python."""
    try:
        tree = ast.parse(text)
    except PARSER_ERRORS:
        return set()
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and not node.level:
            names.add((node.module or "").partition(".")[0])
        elif isinstance(node, ast.Import):
            names.update(alias.name.partition(".")[0] for alias in node.names)
    return names
