"""Fingerprint each function and everything it depends on, to find which functions a save may affect.

Two versions of a function have the same fingerprint if their syntax trees are equal, and so are those of every name in
the workspace that they use, directly or indirectly. Comments, blank lines and docstrings do not count; helpers,
constants and imported modules do. A top-level statement that binds no name counts for its whole module.
"""

import ast
import contextlib
import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from autograder.core.files import read_plain_file
from autograder.course import Curriculum, registry
from autograder.parsing.extract import is_literal, module_statements
from autograder.parsing.function_uses import Function, function_body, is_stub

MAX_BYTES = 1 << 20  # nobody writes a larger module by hand, so larger files are ignored
MAIN = "__name__ == '__main__'"  # begins the condition of an experiment
UNBOUND = ""  # stands for the top-level statements of a module that bind no name

QualifiedName = tuple[str, str]  # module and name


@dataclass
class ParsedModule:
    """The top-level definitions of a module."""

    error: SyntaxError | None = None  # keeps Python from reading the file
    definitions: dict[str, str] = field(default_factory=dict)  # the dumped syntax tree of each top-level name
    uses: dict[str, set[QualifiedName]] = field(default_factory=dict)  # (module, "*") stands for all of another module
    stubs: set[str] = field(default_factory=set)  # the functions that only raise NotImplementedError


@dataclass(eq=False)
class ModuleSource:
    """The source of one module, from its file or extracted from a notebook, parsed on first use."""

    name: str
    content: bytes

    @cached_property
    def parsed(self) -> ParsedModule:
        """The definitions of the module; none if Python cannot read it."""
        parsed = ParsedModule()
        try:
            for statement in module_statements(self.content):
                for bound, nodes in _definitions(statement):
                    parsed.definitions[bound] = parsed.definitions.get(bound, "") + "\n".join(map(ast.dump, nodes))
                    parsed.uses.setdefault(bound, set()).update(_names_used(self.name, nodes))
                if isinstance(statement, Function) and is_stub(statement):
                    parsed.stubs.add(statement.name)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:  # recursion: a sum of 1000s of terms
            return ParsedModule(error if isinstance(error, SyntaxError) else SyntaxError(str(error)))
        return parsed


def _definitions(statement: ast.stmt) -> Iterator[tuple[str, list[ast.AST]]]:
    """Yield each name that a top-level statement binds with what defines it; nothing if an import skips it."""
    match statement:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            # Defaults and decorators are evaluated on import, so an error in them affects the whole module.
            outside = [*statement.decorator_list, *statement.args.defaults, *filter(None, statement.args.kw_defaults)]
            yield statement.name, [*outside, statement.args, *function_body(statement)]
            if evaluated := [node for node in outside if not is_literal(node)]:
                yield UNBOUND, [*evaluated]
        case ast.ClassDef():
            yield statement.name, [statement]
        case ast.ImportFrom(module=source, names=aliases, level=level) if aliases[0].name != "*":
            for alias in aliases:
                yield alias.asname or alias.name, [ast.ImportFrom(source, [alias], level)]
        case ast.Import(names=aliases):
            for alias in aliases:
                yield (alias.asname or alias.name).partition(".")[0], [ast.Import([alias])]
        case ast.Assign() | ast.AnnAssign() if names := _assigned_names(statement):
            for name in names:
                yield name, [statement]
        case ast.Expr(value=ast.Constant()):
            return
        case ast.If(test=ast.BoolOp(op=ast.And(), values=[test, *_]) | test, orelse=[]) if ast.unparse(test) == MAIN:
            return
        case _:
            yield UNBOUND, [statement]


def _assigned_names(statement: ast.Assign | ast.AnnAssign) -> list[str]:
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    names = [target.id for target in targets if isinstance(target, ast.Name)]
    return names if len(names) == len(targets) else []


def _names_used(module: str, nodes: list[ast.AST]) -> set[QualifiedName]:
    found: set[QualifiedName] = set()
    for part in (part for node in nodes for part in ast.walk(node)):
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

    modules: Mapping[str, ModuleSource]
    curriculum: Curriculum = field(default_factory=registry.default)

    @cached_property
    def fingerprints(self) -> "_Fingerprints":
        """The fingerprint of every function of the course, by qualified name; each is computed on first use."""
        return _Fingerprints(self)

    def is_stub(self, function: str) -> bool:
        """Return whether a function of the course is still a stub, or missing."""
        module, _, name = function.partition(".")
        if module not in self.modules:
            return True
        parsed = self.modules[module].parsed
        return parsed.error is None and (name in parsed.stubs or name not in parsed.definitions)

    def is_readable(self, module: str) -> bool:
        """Return whether a module exists and Python can parse it."""
        return module in self.modules and self.modules[module].parsed.error is None

    def is_half_written(self, before: "Snapshot") -> bool:
        """Return whether a readable file has become empty, unreadable or missing, as it may in the middle of a save."""
        return any(
            old.parsed.definitions and (name not in self.modules or not self.modules[name].parsed.definitions)
            for name, old in before.modules.items()
        )

    def affected_functions(self, before: "Snapshot") -> tuple[str, ...]:
        """Return the functions whose fingerprint differs from that in `before`, in course order."""
        return tuple(name for name in self.curriculum.functions if before.fingerprints[name] != self.fingerprints[name])

    def edited_functions(self, before: "Snapshot") -> tuple[str, ...]:
        """Return the affected functions in the files that were edited; all of them if only other files were."""
        affected = self.affected_functions(before)
        now, then = self.contents, before.contents
        files = {name for name in {*now, *then} if now.get(name) != then.get(name)}
        edited = tuple(name for name in affected if name.partition(".")[0] in files)
        return edited or affected

    @property
    def contents(self) -> dict[str, bytes]:
        """The source of every module."""
        return {name: module.content for name, module in self.modules.items()}

    def dependencies(self, start: QualifiedName) -> dict[QualifiedName, str]:
        """Return every name that `start` uses, directly or indirectly, with its definition."""
        reached: dict[QualifiedName, str] = {}
        pending = [start]
        while pending:
            qualified = module, name = pending.pop()
            if qualified in reached or module not in self.modules:
                continue
            parsed = self.modules[module].parsed
            if parsed.error is not None:
                reached[qualified] = self.modules[module].content.decode("utf-8", "replace")
            elif name == "*":
                reached[qualified] = ""
                pending += [(module, other) for other in parsed.definitions]
            elif name in parsed.definitions:
                reached[qualified] = parsed.definitions[name]
                pending += [*parsed.uses[name], (module, UNBOUND)]
        return reached


class _Fingerprints(dict[str, str]):
    """Digests of everything that a function depends on in the workspace."""

    def __init__(self, snapshot: Snapshot) -> None:
        super().__init__()
        self._snapshot = snapshot

    def __missing__(self, qualified: str) -> str:
        module, _, name = qualified.partition(".")
        digest = hashlib.sha256()
        for dependency, text in sorted(self._snapshot.dependencies((module, name)).items()):
            digest.update(f"{dependency}\0{len(text)}\0{text}".encode("utf-8", "surrogatepass"))
        self[qualified] = digest.hexdigest()[:16]
        return self[qualified]


def take_snapshot(
    folder: Path, curriculum: Curriculum, before: Snapshot | None = None, *, follow_links: bool = True
) -> Snapshot:
    """Return a snapshot of the workspace; modules with the same bytes as in `before` are not parsed again.

    Files that vanish while they are read, are not regular files or are too large are left out; so are links, unless
    they are followed.
    """
    modules: dict[str, ModuleSource] = {}
    paths: list[Path] = []
    with contextlib.suppress(OSError):
        paths = sorted(folder.glob("*.py"))
    for path in paths:
        with contextlib.suppress(OSError):
            is_skipped = path.is_symlink() and not follow_links
            if not is_skipped and path.is_file() and path.stat().st_size <= MAX_BYTES:
                content = read_plain_file(path)
                old = before.modules.get(path.stem) if before else None
                modules[path.stem] = old if old and old.content == content else ModuleSource(path.stem, content)
    return Snapshot(modules, curriculum)
