"""Make the data set: every known mistake as a complete function, wrong answers of beginners, and right answers.

The bytes depend on nothing but the files of Headway and the minor version of Python, whose `ast.unparse` formats the
sources.
"""

import ast
import hashlib
import inspect
import json
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from autograder.benchmark.minimal_source import MinimalSource, minimal_source, without_experiments
from autograder.benchmark.records import Candidate, Cause, Implementation, Question
from autograder.curriculum import Curriculum, registry
from autograder.engine.diagnosis.mistake import Mistake, mistakes_of_function
from autograder.engine.diagnosis.variants import (
    function_docstring,
    imported_modules,
    solution_module,
    solution_source,
    source_with_mistakes,
)
from autograder.errors import UsageError

NAME = "Wrong transformers"
# Major: a field changes its meaning, or ids change. Minor: implementations or fields are added, removed or corrected.
VERSION = "1.0"
LICENCE = "MIT"
# In the data card, so that copies of the data set can be found in training data and removed.
CANARY = "wrong-transformers:canary:5b0e2f3c-7f0a-4d4e-9a55-1d2c8a6f0b77"
DEV_SHARE = 5  # one in so many functions is in the split dev
EDITED, BEGINNER = "edited", "beginner"  # the styles of wrong implementations


@dataclass(frozen=True)
class _Draft:
    """An implementation before it is reduced to what it uses."""

    function: str
    key: str  # what the id is made from
    module_source: str
    style: str
    causes: tuple[Cause, ...] = ()

    @property
    def correct(self) -> bool:
        """Whether it is right."""
        return self.style not in (EDITED, BEGINNER)


def find_submissions(folder: Path | None) -> Path:
    """Return the folder with hand-written answers, by default the clone's; raise UsageError if there is none."""
    if folder is None:
        folder = registry.solutions(registry.BUILT_IN).parent / "tests" / "submissions"
    if not (folder / "right").is_dir() or not (folder / "beginners").is_dir():
        problem = "the hand-written answers are in the repository of Headway, not in the installed package"
        raise UsageError(f"{problem}. Name their folder: --submissions CLONE/tests/submissions")
    return folder


def implementations(submissions: Path, names: Sequence[str] = ()) -> list[Implementation]:
    """Return the whole data set, or that of some functions, in the order of the course, without duplicates."""
    curriculum = registry.default()
    drafts: dict[str, list[_Draft]] = {name: [] for name in curriculum.functions if name in names or not names}
    sources = (_official, _right, _edited, _beginners)
    for draft in (draft for source in sources for draft in source(curriculum, submissions, drafts.keys())):
        drafts[draft.function].append(draft)
    return [item for name in drafts for item in _without_duplicates(curriculum, drafts[name])]


def lines(items: Sequence[Implementation]) -> bytes:
    """Return the content of the file."""
    return b"".join(msgspec.json.encode(item) + b"\n" for item in items)


def card(items: Sequence[Implementation], content: bytes) -> dict[str, Any]:
    """Return what the card beside the file says: version, licence, counts, and the official modules."""
    needed = sorted({module for item in items for module in item.requires})
    return {
        "name": NAME,
        "version": VERSION,
        "licence": LICENCE,
        "canary": CANARY,
        "sha256": hashlib.sha256(content).hexdigest(),
        "counts": {
            "implementations": len(items),
            "wrong": sum(not item.correct for item in items),
            "right": sum(item.correct for item in items),
            "functions": len({item.function for item in items}),
            "styles": dict(sorted(Counter(item.style for item in items).items())),
            "splits": dict(sorted(Counter(item.split for item in items).items())),
            "assignments": dict(Counter(item.assignment for item in items)),
        },
        "modules": {module: solution_source(module) for module in needed},
    }


def card_path(path: Path) -> Path:
    """Return the path of the card beside a data set."""
    return path.with_name(f"{path.stem}.card.json")


def card_text(record: dict[str, Any]) -> bytes:
    """Return the content of the card."""
    return (json.dumps(record, indent=1, ensure_ascii=False) + "\n").encode()


def questions(items: Sequence[Implementation], everything: Sequence[Implementation]) -> list[Question]:
    """Return what a runner may see of `items`; the candidates are the mistakes in the whole data set."""
    candidates: dict[str, dict[str, Candidate]] = {}
    for item in everything:
        for cause in item.causes:
            candidates.setdefault(item.function, {})[cause.id] = Candidate(cause.id, cause.title)
    listed = {name: [found[key] for key in sorted(found)] for name, found in candidates.items()}
    return [
        Question(
            item.id,
            item.function,
            item.signature,
            item.docstring,
            item.source,
            item.requires,
            item.dependencies,
            listed.get(item.function, []),
        )
        for item in items
    ]


def _official(curriculum: Curriculum, submissions: Path, names: Collection[str]) -> Iterator[_Draft]:
    for name in names:
        source = without_experiments(solution_source(curriculum.functions[name].module))
        yield _Draft(name, "right:official", source, "official")


def _right(curriculum: Curriculum, submissions: Path, names: Collection[str]) -> Iterator[_Draft]:
    for path, functions in _files(submissions / "right", "*/*.py", names):
        source, style = path.read_text("utf-8"), path.parent.name
        defined = _top_level_names(source)
        for name in functions:
            if name in defined:
                yield _Draft(f"{path.stem}.{name}", f"right:{style}", source, style)


def _edited(curriculum: Curriculum, submissions: Path, names: Collection[str]) -> Iterator[_Draft]:
    for name in names:
        for mistake in mistakes_of_function(name):
            source = without_experiments(source_with_mistakes(mistake))
            yield _Draft(name, f"mistake:{mistake.id}", source, EDITED, (_cause(mistake),))


def _beginners(curriculum: Curriculum, submissions: Path, names: Collection[str]) -> Iterator[_Draft]:
    """Yield functions `NAME__VARIANT`, whose docstrings list their mistakes, in a module of otherwise official ones."""
    for path, functions in _files(submissions / "beginners", "*.py", names):
        tree = ast.parse(path.read_text("utf-8"))
        others = [node for node in tree.body if not _is_answer(node) and not _imports(node, path.stem)]
        official = without_experiments(solution_source(path.stem))
        for node in tree.body:
            if isinstance(node, ast.FunctionDef) and _is_answer(node):
                name, _, variant = node.name.partition("__")
                if name in functions:
                    node.name, starts = name, (ast.get_docstring(node) or "").split()
                    source = f"{official}\n\n{ast.unparse(ast.Module([*others, node], []))}\n"
                    function = f"{path.stem}.{name}"
                    yield _Draft(function, f"{BEGINNER}:{variant}", source, BEGINNER, _causes(function, starts))


def _files(folder: Path, pattern: str, names: Collection[str]) -> Iterator[tuple[Path, list[str]]]:
    """Yield the files of hand-written answers, each with the functions of its assignment among `names`."""
    for path in sorted(folder.glob(pattern)):
        functions = [name.partition(".")[2] for name in names if name.startswith(f"{path.stem}.")]
        if functions:
            yield path, functions


def _is_answer(node: ast.stmt) -> bool:
    return isinstance(node, ast.FunctionDef) and "__" in node.name


def _imports(node: ast.stmt, module: str) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == module


def _causes(function: str, starts: Sequence[str]) -> tuple[Cause, ...]:
    """Return the mistakes with these names, or whose names begin with them if there is only one."""
    known = {mistake.name: mistake for mistake in mistakes_of_function(function)}
    found: dict[str, Mistake] = {}
    for start in starts:
        matching = [start] if start in known else [name for name in known if name.startswith(start)]
        if len(matching) == 1 or len({known[name].group or name for name in matching}) == 1:
            found |= {name: known[name] for name in matching}
    return tuple(map(_cause, found.values()))


def _cause(mistake: Mistake) -> Cause:
    if mistake.constant is not None:
        mistake = mistake.with_constant(mistake.constant)
    return Cause(mistake.id, mistake.title, f"{mistake.module}:{mistake.group}" if mistake.group else mistake.id)


def _without_duplicates(curriculum: Curriculum, drafts: Sequence[_Draft]) -> Iterator[Implementation]:
    """Yield the implementations of a function in the order of their ids; the same source counts once."""
    found: dict[str, tuple[_Draft, MinimalSource]] = {}
    for draft in drafts:
        source = minimal_source(draft.module_source, _roots(curriculum, draft))
        if source.text not in found:
            found[source.text] = (draft, source)
            continue
        first, _ = found[source.text]
        if first.correct != draft.correct:
            raise ValueError(f"{draft.function}: {first.key} and {draft.key} have the same source")
        causes = {cause.id: cause for cause in (*first.causes, *draft.causes)}
        found[source.text] = (replace(first, causes=tuple(causes.values())), source)
    items = [_implementation(draft, source) for draft, source in found.values()]
    yield from sorted(items, key=lambda item: item.id)


def _roots(curriculum: Curriculum, draft: _Draft) -> set[str]:
    """Return the functions of a module that belong together: a function, what it needs, and what makes its cache."""
    module, _, name = draft.function.partition(".")
    needs = (need.partition(".") for need in curriculum.functions[draft.function].needs)
    return {name, name.removesuffix("_backward"), *(need for other, _, need in needs if other == module)}


def _implementation(draft: _Draft, source: MinimalSource) -> Implementation:
    function = draft.function
    module, _, name = function.partition(".")
    official = {other for other, _ in source.imported if other in registry.default().modules}
    requires = official.union(*(imported_modules(other) for other in official))
    digest = hashlib.sha256(f"{function} {draft.key}".encode()).hexdigest()
    return Implementation(
        id=f"{function}:{digest[:12]}",
        function=function,
        assignment=module,
        split="dev" if _number(function) % DEV_SHARE == 0 else "test",
        signature=_signature(module, name),
        docstring=function_docstring(function),
        source=source.text,
        requires=[other for other in registry.default().modules if other in requires],
        dependencies={
            f"{other}.{imported}": _signature(other, imported)
            for other, imported in sorted(source.imported)
            if other in official and callable(getattr(solution_module(other), imported))
        },
        correct=draft.correct,
        causes=list(draft.causes),
        style=draft.style,
        licence=LICENCE,
    )


def _number(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")


@cache
def _signature(module: str, name: str) -> str:
    return f"{name}{inspect.signature(getattr(solution_module(module), name))}"


@cache
def _top_level_names(source: str) -> frozenset[str]:
    """Return the names of the functions that a module defines, also by assignments of lambdas."""
    names: set[str] = set()
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return frozenset(names)
