"""What a save can change: each function's fingerprint is made of everything that it can reach in the workspace.

Two versions of a function have the same fingerprint when their syntax trees, and those of all names of the workspace
that they use, directly or not, are the same: comments, blank lines and docstrings do not count, a helper, a constant or
another module that is imported does. Every statement of a module that gives a name to nothing counts for all of it.
"""

import ast
import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from autograder.curriculum import Curriculum, registry

MAX_BYTES = 1 << 20  # of a module; what is larger is no module that somebody wrote
LOOSE = ""  # the name under which statements stand that bind no name

Place = tuple[str, str]  # module and name
_Function = ast.FunctionDef | ast.AsyncFunctionDef


class Module:
    """One file: what each top-level name is bound to, and which names that uses. It is read when first asked about."""

    def __init__(self, name: str, content: bytes) -> None:
        self.content = content
        self._name = name

    @cached_property
    def _parts(self) -> "_Parts":
        return _take_apart(self._name, self.content)

    @property
    def error(self) -> SyntaxError | None:
        """Why Python cannot read the file, if it cannot."""
        return self._parts.error

    @property
    def texts(self) -> dict[str, str]:
        """Syntax trees as text, by name."""
        return self._parts.texts

    @property
    def uses(self) -> dict[str, set[Place]]:
        """Other places by the name that uses them; `(module, "*")` is all of another module."""
        return self._parts.uses

    @property
    def stubs(self) -> set[str]:
        """Functions that do nothing but raise NotImplementedError."""
        return self._parts.stubs


@dataclass
class _Parts:
    error: SyntaxError | None = None
    texts: dict[str, str] = field(default_factory=dict)
    uses: dict[str, set[Place]] = field(default_factory=dict)
    stubs: set[str] = field(default_factory=set)


def _take_apart(name: str, content: bytes) -> _Parts:
    parts = _Parts()
    try:
        for statement in ast.parse(content).body:
            for bound, text, uses in _bindings(name, statement):
                parts.texts[bound] = parts.texts.get(bound, "") + text
                parts.uses.setdefault(bound, set()).update(uses)
            if isinstance(statement, _Function) and is_stub(statement):
                parts.stubs.add(statement.name)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:  # recursion: a sum of thousands of terms
        return _Parts(error if isinstance(error, SyntaxError) else SyntaxError(str(error)))
    return parts


def body_of(function: _Function) -> list[ast.stmt]:
    """The statements of a function, without its docstring."""
    return function.body[1:] if ast.get_docstring(function, clean=False) is not None else function.body


def is_stub(function: _Function) -> bool:
    """Whether a function does nothing but raise NotImplementedError."""
    match body_of(function):
        case [ast.Raise(exc=ast.Name("NotImplementedError") | ast.Call(func=ast.Name("NotImplementedError")))]:
            return True
    return False


def _bindings(module: str, statement: ast.stmt) -> Iterator[tuple[str, str, set[Place]]]:
    if isinstance(statement, _Function):
        # Defaults and decorators are evaluated when the module is imported: what goes wrong there is everybody's.
        outside = [*statement.decorator_list, *statement.args.defaults, *filter(None, statement.args.kw_defaults)]
        inside = [statement.args, *body_of(statement)]
        yield statement.name, f"def {_text(*outside, *inside)}", _uses(module, *outside, *inside)
        evaluated = [node for node in outside if not isinstance(node, ast.Constant)]
        if evaluated:
            yield LOOSE, _text(*evaluated), _uses(module, *evaluated)
    elif isinstance(statement, ast.ClassDef):
        yield statement.name, _text(statement), _uses(module, statement)
    elif isinstance(statement, ast.ImportFrom) and not any(alias.name == "*" for alias in statement.names):
        for alias in statement.names:
            yield (
                alias.asname or alias.name,
                f"from {statement.module} {alias.name}",
                {(statement.module or "", alias.name)},
            )
    elif isinstance(statement, ast.Import):
        for alias in statement.names:
            yield (alias.asname or alias.name).partition(".")[0], f"import {alias.name}", {(alias.name, "*")}
    elif isinstance(statement, ast.Assign | ast.AnnAssign) and (names := _targets(statement)):
        for name in names:
            yield name, _text(statement), _uses(module, statement)
    elif not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)) and not _main(statement):
        yield LOOSE, _text(statement), _uses(module, statement)


def _main(statement: ast.stmt) -> bool:
    """Whether it is for `python softmax.py` alone, like the lessons' experiments: importing the module skips it."""
    return (
        isinstance(statement, ast.If)
        and ast.unparse(statement.test) == "__name__ == '__main__'"
        and not statement.orelse
    )


def _targets(statement: ast.Assign | ast.AnnAssign) -> list[str]:
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    names = [target.id for target in targets if isinstance(target, ast.Name)]
    return names if len(names) == len(targets) else []


def _text(*nodes: ast.AST) -> str:
    return "\n".join(map(ast.dump, nodes))


def _uses(module: str, *nodes: ast.AST) -> set[Place]:
    found: set[Place] = set()
    for node in nodes:
        for part in ast.walk(node):
            if isinstance(part, ast.Name):
                found.add((module, part.id))
            elif isinstance(part, ast.Import):
                found.update((alias.name, "*") for alias in part.names)
            elif isinstance(part, ast.ImportFrom):
                found.update((part.module or "", alias.name) for alias in part.names)
    return found


@dataclass(frozen=True)
class Snapshot:
    """The modules of a workspace at one moment."""

    modules: Mapping[str, Module]
    curriculum: Curriculum = field(default_factory=registry.default)

    @cached_property
    def prints(self) -> "_Prints":
        """The fingerprint of every function of the curriculum, by its qualified name; made when it is asked for."""
        return _Prints(self)

    def is_stub(self, function: str) -> bool:
        """Whether a function of the curriculum is a stub still, or is not there at all."""
        module, _, name = function.partition(".")
        found = self.modules.get(module)
        return found is None or (found.error is None and (name in found.stubs or name not in found.texts))

    def own_changes(self, before: "Snapshot") -> tuple[str, ...]:
        """Functions that were themselves changed since: those of modules whose text that counts is another."""
        changed = self.changes(before)
        files = {name for name in {*self.modules, *before.modules} if self._content(name) != before._content(name)}
        mine = tuple(name for name in changed if name.partition(".")[0] in files)
        return mine or changed  # a change in a helper file that belongs to no assignment: whoever uses it

    def changes(self, before: "Snapshot") -> tuple[str, ...]:
        """Functions whose fingerprint is another than before, in course order."""
        return tuple(name for name in self.curriculum.functions if before.prints[name] != self.prints[name])

    def _content(self, name: str) -> bytes | None:
        module = self.modules.get(name)
        return module.content if module else None

    def fingerprint(self, module: str, name: str) -> str:
        """A digest of everything that a function can reach in the workspace."""
        state = hashlib.sha256()
        for place, text in sorted(self._reach((module, name)).items()):
            state.update(f"{place}\0{len(text)}\0{text}".encode("utf-8", "surrogatepass"))
        return state.hexdigest()[:16]

    def _reach(self, start: Place) -> dict[Place, str]:
        """Every place that can be reached from one, with what is there."""
        reached: dict[Place, str] = {}
        waiting = [start]
        while waiting:
            place = waiting.pop()
            if place in reached or (module := self.modules.get(place[0])) is None:
                continue
            name = place[1]
            if module.error is not None:
                reached[place] = module.content.decode("utf-8", "replace")
            elif name == "*":
                reached[place] = ""
                waiting += [(place[0], other) for other in module.texts]
            elif name in module.texts:
                reached[place] = module.texts[name]
                waiting += module.uses[name]
                waiting.append((place[0], LOOSE))
        return reached


class _Prints(Mapping[str, str]):
    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._made: dict[str, str] = {}

    def __getitem__(self, name: str) -> str:
        if name not in self._made:
            function = self._snapshot.curriculum.functions[name]
            self._made[name] = self._snapshot.fingerprint(function.module, function.name)
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._snapshot.curriculum.functions)

    def __len__(self) -> int:
        return len(self._snapshot.curriculum.functions)


def take(folder: Path, curriculum: Curriculum, before: Snapshot | None = None) -> Snapshot:
    """The workspace as it is now; modules whose bytes are those of `before` are not read again.

    A file that vanishes while it is read, is no plain file or is too large counts as not there.
    """
    modules: dict[str, Module] = {}
    try:
        paths = sorted(folder.glob("*.py"))
    except OSError:
        paths = []
    for path in paths:
        try:
            if not path.is_file() or path.stat().st_size > MAX_BYTES:
                continue
            content = path.read_bytes()
        except OSError:
            continue
        old = before.modules.get(path.stem) if before else None
        modules[path.stem] = old if old and old.content == content else Module(path.stem, content)
    return Snapshot(modules, curriculum)
