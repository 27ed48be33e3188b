"""The statements of a notebook's code cells, with the global names that each of them binds and reads."""

import ast
import re
import symtable
import textwrap
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from . import Unreadable

# Cell magics that are followed by ordinary Python, which they time, record or copy.
_PYTHON_MAGICS = ("time", "timeit", "capture", "prun", "python", "python3", "py", "writefile", "file", "debug")
_ASSIGNED_MAGIC = re.compile(r"^(\s*[A-Za-z_][\w, ]*=\s*)[!%].*$")
_MAGIC = re.compile(r"^(\s*)(?:[%!?].*|[\w.]+\?{1,2}\s*)$")
_DEFINITION = re.compile(r"^(?:async[ \t]+)?(?:def|class)[ \t]+([A-Za-z_]\w*)", re.MULTILINE)
MAX_FUNCTIONS = 1000  # in one cell
_SCOPES = (
    ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda,
    ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp,
)  # fmt: skip
# Raised by the parser for text that is not Python or is nested too deeply.
PARSER_ERRORS = (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError)


@dataclass(frozen=True)
class Cell:
    """A code cell: its name in reports, and its text."""

    name: str
    source: str


@dataclass(frozen=True)
class Statement:
    """A statement at the top level of a cell; with an error, a whole cell that is not valid Python, so cannot run.

    A cell with an error has no text and no real node; it binds the functions and classes that it seems to define.
    """

    cell: str
    line: int  # the first line in the cell, counted from 1, decorators included; of an error, where the parser stopped
    node: ast.stmt
    text: str  # its lines, unchanged
    binds: frozenset[str]  # global names that it binds or changes
    reads: frozenset[str]  # global names that it reads, now or when its functions are called
    error: str = ""

    @property
    def is_import(self) -> bool:
        """Whether it is an import."""
        return isinstance(self.node, (ast.Import, ast.ImportFrom))


def read_statements(cells: Iterable[Cell], max_statements: int | None = None) -> Iterator[Statement]:
    """Yield the statements of all cells in order, without magics; a cell that is not Python as one with an error.

    Raises Unreadable when there are more than `max_statements`, if that is not None.
    """
    count = 0
    for cell in cells:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the compiler warns about student code
                source, tree = _parse(cell.source)
                count += len(tree.body)
                if max_statements is not None and count > max_statements:
                    raise Unreadable(f"it has more than {max_statements} statements")
                statements = list(_statements(cell.name, source, tree))
        except PARSER_ERRORS as error:
            line, message = 1, "the code cannot be read"
            if isinstance(error, SyntaxError):
                line, message = error.lineno or 1, error.msg or message
            binds = frozenset(_DEFINITION.findall(textwrap.dedent(cell.source)))
            statements = [Statement(cell.name, line, ast.Pass(), "", binds, frozenset(), message)]
        yield from statements


def _statements(cell: str, source: str, tree: ast.Module) -> Iterator[Statement]:
    lines = source.split("\n")
    for node in tree.body:
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
        text = "\n".join(lines[first - 1 : node.end_lineno])
        # With a semicolon, the text may hold other statements too.
        binds, reads = _names(node, ast.unparse(node) if ";" in text else text)
        yield Statement(cell, first, node, text, binds, reads)


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
        lines = [_MAGIC.sub(r"\1pass", _ASSIGNED_MAGIC.sub(r"\1None", line)) for line in source.split("\n")]
        source = textwrap.dedent("\n".join(lines))
        return source, _compiled(source)


def _compiled(source: str) -> ast.Module:
    tree = ast.parse(source)
    # The compiler's time grows with the square of the number of functions.
    if sum(isinstance(node, _SCOPES) for node in ast.walk(tree)) > MAX_FUNCTIONS:
        raise SyntaxError(f"a cell defines more than {MAX_FUNCTIONS} functions")
    compile(source, "cell", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)  # finds errors that the parser alone does not
    return tree


def _names(node: ast.stmt, text: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the global names that a statement binds and reads, without the local names of its functions."""
    try:
        top = symtable.symtable(text, "cell", "exec")
    except SyntaxError:  # `await` outside a function: an expression that defines nothing
        return frozenset(), frozenset()
    symbols, tables = top.get_symbols(), top.get_children()
    binds = {s.get_name() for s in symbols if s.is_assigned() or s.is_imported() or s.is_namespace()}
    reads = {symbol.get_name() for symbol in symbols if symbol.is_referenced()}
    while tables:
        table = tables.pop()
        tables.extend(table.get_children())
        reads.update(symbol.get_name() for symbol in table.get_symbols() if symbol.is_global())
    return frozenset(binds.union(_changed_names(node))), frozenset(reads)


def _changed_names(node: ast.stmt) -> Iterator[str]:
    """Yield the names whose items or attributes a statement sets: `TABLE["a"] = 1`."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AugAssign) else []
    for target in targets:
        while isinstance(target, (ast.Subscript, ast.Attribute)):
            target = target.value
        if isinstance(target, ast.Name):
            yield target.id


def imported_roots(text: str | bytes) -> set[str]:
    """Return the top-level names of all modules that a text imports; none if it is not Python."""
    try:
        nodes = list(ast.walk(ast.parse(text)))
    except PARSER_ERRORS:
        return set()
    names = [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom) and not node.level]
    names += [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    return {name.partition(".")[0] for name in names}
