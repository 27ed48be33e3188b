"""Extract modules from a notebook: the functions of each assignment, found by name, with the code that they need.

From the top-level statements of the cells, a module takes the functions, the classes, and whatever the assignment's
functions read: imports, constants, tables. Everything else (prints, plots, experiments, calls of `check`) is left out,
so that it takes no time and cannot fail. Cell metadata is ignored.

If a name is defined several times (copied cells), the definitions keep their order, so that the last one counts, as in
the notebook. A stub counts only if nothing else defines the name, and an assignment (`block = block(x)`, by mistake)
only if no function does. A cell that is not Python, or that raises an exception, affects only the names it should have
defined: using one of them raises an error that names the cell and the cause.

Each extracted statement follows a comment that names its cell, from which `find_cell_line` finds the way back.
"""

import ast
import re
import textwrap
from bisect import bisect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from .cell_statements import Cell, Statement, read_statements

FunctionNames = Mapping[str, Sequence[str]]  # the functions of each module of the course, in course order

HEADER = "from __future__ import annotations  # names in annotations need not exist"
# Defines placeholders for the names that a failed cell did not define.
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
PREAMBLE = f"{HEADER}\n{_FAILED}"  # the beginning of every extracted module
_CELL_COMMENT = re.compile(r"# (.{1,40}), line (\d{1,7})")
# A statement as `_guarded` writes it, and a function that stands for a cell that is not valid Python.
_GUARDED_TEXT = re.compile(
    r"try:\n(    .*)\nexcept \(Exception, SystemExit\) as _error:\n    _cell_failed\([^\n]*\)", re.DOTALL
)
_FAILED_CELL = re.compile(r"def \w+\(\*args, \*\*kwargs\): raise CellError\((?:'|\")([^\n]*)(?:'|\")\)")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def extract_modules(
    cells: Iterable[Cell],
    course: FunctionNames,
    name: str = "",
    *,
    as_run: bool = False,
    max_statements: int | None = None,
) -> dict[str, str]:
    """Return the source text of each module that a notebook defines functions of.

    Args:
        name: the notebook's file name, if it has one. If it names a module, other modules are extracted only if the
            notebook defines more than half of them, because helpers are often copied from earlier assignments.
        as_run: whether the cells are those that were run, in that order. Then the last definition counts, even a stub,
            unless its cell is not Python.
        max_statements: limit for untrusted notebooks; with more, Unreadable is raised.
    """
    statements = list(read_statements(cells, max_statements))
    words = "_" + re.sub(r"[^a-z0-9]+", "_", name.lower().removesuffix(".ipynb")) + "_"
    named = [module for module in course if f"_{module}_" in words]
    # The functions of each module, with the numbers of the statements that define them.
    definitions: dict[str, set[tuple[int, str]]] = {module: set() for module in course}
    for i, function, module in _definitions(statements, course, named):
        definitions[module].add((i, function))
    functions = {module: {function for _, function in defined} for module, defined in definitions.items()}
    defines_named = any(functions[module] for module in named)
    chosen = [
        module
        for module, found in functions.items()
        if found and (not defines_named or module in named or len(found) * 2 > len(course[module]))
    ]
    module_of = {function: module for module in chosen for function in functions[module]}
    return {module: _module_text(module, definitions[module], module_of, statements, as_run) for module in chosen}


def find_cell_line(text: str, line: int) -> tuple[str, int] | None:
    """Return the cell of a line of an extracted module, and the line in that cell; None if no cell holds it."""
    comments = _cell_comments(text)
    before = bisect(comments, line - 1, key=lambda comment: comment[0])
    if not before:
        return None
    number, cell, first = comments[before - 1]
    return cell, first + line - number - 1


def cell_parts(text: str) -> list[tuple[str, int, str]]:
    """Return the student's lines of an extracted module: the cell, the first line in it, and the text.

    What the extraction has added is left out.
    """
    lines, comments = text.split("\n"), _cell_comments(text)
    parts: list[tuple[str, int, str]] = []
    for i, (number, cell, first) in enumerate(comments):
        end = comments[i + 1][0] - 1 if i + 1 < len(comments) else len(lines)
        part = "\n".join(lines[number:end]).rstrip("\n")
        if guarded := _GUARDED_TEXT.fullmatch(part):
            part, first = textwrap.dedent(guarded[1]), first + 1
        elif failed := _FAILED_CELL.fullmatch(part):
            part = f"# {failed[1]}"
        if parts and parts[-1] == (cell, first, part):  # a cell that is not Python has one stub for each function
            continue
        parts.append((cell, first, part))
    return parts


@lru_cache(maxsize=16)  # Every check of a module asks, and the module may have 100,000 lines.
def _cell_comments(text: str) -> list[tuple[int, str, int]]:
    """Return the number of each line that names a cell, with the cell and the line in it that follows."""
    matches = ((number, _CELL_COMMENT.fullmatch(line)) for number, line in enumerate(text.split("\n"), 1))
    return [(number, match[1], int(match[2])) for number, match in matches if match]


def module_statements(content: bytes) -> list[ast.stmt]:
    """Return the statements of a module; of an extracted one as the notebook has them, without guards."""
    statements = ast.parse(content).body
    if content.startswith(HEADER.encode()):
        for i, node in enumerate(statements):
            match node:
                case ast.Try(body=[guarded], handlers=[ast.ExceptHandler(name="_error")]):
                    statements[i] = guarded
    return statements


def _definitions(
    statements: Sequence[Statement], course: FunctionNames, named: list[str]
) -> Iterator[tuple[int, str, str]]:
    """Yield (number of the statement, function, module) for each definition of a function of the course.

    `encode` and `decode` are functions of two modules. They go to the module in the notebook's file name, otherwise to
    the one whose other functions are closer.
    """
    modules: dict[str, list[str]] = {}
    for module, functions in course.items():
        for function in functions:
            modules.setdefault(function, []).append(module)
    definitions = [
        (i, name)
        for i, statement in enumerate(statements)
        if not statement.is_import
        for name in sorted(statement.binds & modules.keys())
    ]
    certain: dict[str, list[int]] = {}  # the numbers of the statements that can belong to no other module, ascending
    for i, name in definitions:
        if len(modules[name]) == 1:
            certain.setdefault(modules[name][0], []).append(i)
    for i, name in definitions:
        candidates = [module for module in modules[name] if module in named] or modules[name]
        near: list[tuple[int, bool, str]] = []
        for module in candidates if len(candidates) > 1 else ():
            after = bisect(others := certain.get(module, []), i)
            near += [(abs(i - j), j > i, module) for j in others[max(0, after - 1) : after + 1]]
        yield i, name, min(near)[-1] if near else candidates[0]


def _module_text(
    module: str, defined: set[tuple[int, str]], module_of: dict[str, str], statements: Sequence[Statement], as_run: bool
) -> str:
    """Return the text of one module, whose functions the statements numbered in `defined` define."""
    functions = {name for _, name in defined}
    best_rank = dict.fromkeys(functions, 0)
    for i, name in defined:
        best_rank[name] = max(best_rank[name], _rank(statements[i], as_run))
    elsewhere = {name for name in module_of if name not in functions}

    def is_candidate(i: int, statement: Statement) -> bool:
        if _is_needless_import(statement, module) or (statement.binds and statement.binds <= elsewhere):
            return False
        mine = [name for name in statement.binds & functions if (i, name) in defined]
        return not (statement.binds & functions) or _rank(statement, as_run) in map(best_rank.__getitem__, mine)

    candidates = {i: statement for i, statement in enumerate(statements) if is_candidate(i, statement)}
    binding: dict[str, list[int]] = {}  # the numbers of the statements that bind each name
    for i, statement in candidates.items():
        for name in statement.binds:
            binding.setdefault(name, []).append(i)
    needed, chosen = set(functions), set[int]()

    def choose(pending: list[int], may_be_needed: Callable[[Statement], bool]) -> None:
        """Choose statements, and all others that may be needed and bind a needed name.

        Each name and each statement is looked at once, so that the time grows with the length of the notebook only.
        """
        while pending:
            i = pending.pop()
            if i not in chosen:
                chosen.add(i)
                for name in candidates[i].reads - needed:
                    needed.add(name)
                    pending += [j for j in binding.get(name, ()) if may_be_needed(candidates[j])]

    mine = (i for name in functions for i in binding.get(name, ()))
    choose([*mine, *(i for i in candidates if _is_class_or_star_import(candidates[i]))], lambda statement: True)
    choose([i for i in candidates if _is_function(candidates[i])], _is_cheap)
    lines = PREAMBLE.split("\n")
    for name in sorted(needed & elsewhere):
        lines += _guarded(ast.parse(f"from {module_of[name]} import {name}").body[0], {name}, f"importing {name}")
    for i in sorted(chosen):
        lines += _statement_lines(candidates[i], needed)
    return "\n".join(lines) + "\n"


def _rank(statement: Statement, as_run: bool) -> int:
    """Return a rank: of several definitions of a function, those with the highest rank count (see above)."""
    if statement.error:
        return 1
    if not isinstance(statement.node, _FUNCTIONS):
        return 3 if as_run else 2
    return 0 if is_stub(statement.node) and not as_run else 3


def is_stub(function: ast.stmt) -> bool:
    """Return whether a statement is a function that does nothing or only raises NotImplementedError."""
    if not isinstance(function, _FUNCTIONS):
        return False
    body = [n for n in function.body if not (isinstance(n, ast.Expr) and isinstance(n.value, ast.Constant))]
    match body[:1]:
        case [ast.Raise(exc=ast.expr() as error)]:
            return any(isinstance(part, ast.Name) and part.id == "NotImplementedError" for part in ast.walk(error))
    return all(isinstance(n, ast.Pass) for n in body[:1])


def _is_needless_import(statement: Statement, module: str) -> bool:
    """Return whether a statement imports Headway, the module itself or what the preamble imports."""
    match statement.node:
        case ast.ImportFrom(module=source):
            return (source or "").partition(".")[0] in ("autograder", "__future__", module)
        case ast.Import(names=names):
            return all(alias.name.partition(".")[0] in ("autograder", module) for alias in names)
    return False


def _is_class_or_star_import(statement: Statement) -> bool:
    """Return whether a statement is kept even if no name in it is read.

    Checks create classes such as `GPTConfig` by name, and the names of `import *` are unknown.
    """
    node = statement.node
    return isinstance(node, ast.ClassDef) or (isinstance(node, ast.ImportFrom) and node.names[0].name == "*")


def _is_function(statement: Statement) -> bool:
    """Return whether a statement is a helper function, which a later assignment may import."""
    return isinstance(statement.node, _FUNCTIONS) and _cannot_fail(statement.node)


def _is_cheap(statement: Statement) -> bool:
    """Return whether a statement is cheap enough to be kept for a helper: not an hour of training that it plots."""
    return statement.is_import or _cannot_fail(statement.node)


def _statement_lines(statement: Statement, needed: set[str]) -> list[str]:
    where = f"{statement.cell}, line {statement.line}"
    message = f"{where} is not valid Python: {statement.error}"
    if not statement.error:
        if _cannot_fail(statement.node):
            return [f"# {where}", *statement.text.split("\n"), ""]
        try:
            guarded = _guarded(statement.node, statement.binds, where)
        except RecursionError:
            message = f"{where} cannot be read: it is nested too deeply"
        else:
            # One line less, because `try:` comes first.
            return [f"# {statement.cell}, line {statement.line - 1}", *guarded]
    stubs = [f"def {name}(*args, **kwargs): raise CellError({message!r})" for name in statement.binds & needed]
    return [line for stub in sorted(stubs) for line in (f"# {where}", stub, "")]


def _cannot_fail(node: ast.stmt) -> bool:
    """Return whether running a statement cannot raise, so that it is kept unchanged, with its comments."""
    if isinstance(node, _FUNCTIONS):
        defaults = [*node.args.defaults, *filter(None, node.args.kw_defaults)]
        return not node.decorator_list and all(map(is_literal, defaults))
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names] == ["numpy"]
    return isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and is_literal(node.value)


def is_literal(node: ast.expr) -> bool:
    """Return whether an expression is made of constants, such as `-1` or `(0, None)`, so that it cannot fail."""
    plain = (ast.Constant, ast.UnaryOp, ast.USub, ast.Tuple, ast.List, ast.Dict, ast.Load)
    return all(isinstance(part, plain) for part in ast.walk(node))


def _guarded(node: ast.stmt, names: Iterable[str], where: str) -> list[str]:
    """Return the lines of a statement that defines placeholders for `names` if it raises."""
    call = f"_cell_failed({where!r}, {sorted(names)!r}, _error)"
    (guard,) = ast.parse(f"try:\n    pass\nexcept (Exception, SystemExit) as _error:\n    {call}").body
    assert isinstance(guard, ast.Try)
    guard.body = [node]
    # Before a decorator, `unparse` adds an empty line, by which the lines would no longer be those of the cell.
    return [*ast.unparse(guard).replace("try:\n\n", "try:\n", 1).split("\n"), ""]
