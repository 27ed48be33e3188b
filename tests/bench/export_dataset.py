"""Write right and wrong implementations of the functions of the course as a data set, one JSON object a line.

    python tests/bench/export_dataset.py OUT.jsonl [FUNCTION ...]

The first line describes the fields; each other line is an implementation. Wrong ones are every known mistake as an edit
of the solution, and the answers in tests/submissions/beginners. Right ones are the solution and the answers in
tests/submissions/right. All are parsed and written again without comments, docstrings and unused code, so that right
and wrong ones look alike. The bytes depend on nothing but these files and the minor version of Python, which formats
the sources. Code that imports other assignments needs the folder `solutions` on its path.
"""

import argparse
import ast
import hashlib
import inspect
import json
import sys
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from support import built_in
from support.beginners import answers, helpers
from support.paths import SUBMISSIONS

from autograder.course import registry
from autograder.engine.diagnosis.mistake import Mistake

FIELDS = {
    "id": "contains the name of the function, and nothing about the label; stays when the source changes",
    "function": "module.function",
    "signature": "name and parameters of the official function",
    "docstring": "the task: what the function must do",
    "source": "the function, the helpers that it uses and their imports: can be executed as a module",
    "requires": "official modules that must be importable to execute the source",
    "correct": "whether the implementation does what the docstring says",
    "causes": "what is wrong: id, title and family of each known mistake (no test tells those of one family apart); "
    "empty if correct, or if no known mistake describes it",
    "style": "edited (the solution with one mistake) or beginner (by hand) if wrong; official, or the folder in right",
}
EDITED, BEGINNER = "edited", "beginner"
BLOCKS = (ast.FunctionDef, ast.ClassDef)
IMPORTS = (ast.Import, ast.ImportFrom)


@dataclass
class Draft:
    """An implementation before it is reduced to what it uses."""

    function: str
    key: str  # what the id is made from
    module_source: str
    style: str
    causes: dict[str, Mistake] = field(default_factory=dict)

    @property
    def correct(self) -> bool:
        return self.style not in (EDITED, BEGINNER)


def entries(names: Collection[str]) -> Iterator[dict[str, object]]:
    """Yield the implementations of some functions, in the order of the course and then of the ids."""
    drafts: dict[str, list[Draft]] = {name: [] for name in registry.default().functions if name in names}
    for draft in (draft for source in (official, right, edited, beginners) for draft in source(drafts.keys())):
        drafts[draft.function].append(draft)
    for name in drafts:
        yield from sorted(without_duplicates(drafts[name]), key=lambda entry: entry["id"])


def official(names: Collection[str]) -> Iterator[Draft]:
    for name in names:
        yield Draft(name, "right:official", built_in.solution_source(name.partition(".")[0]), "official")


def right(names: Collection[str]) -> Iterator[Draft]:
    for path, functions in files_of("right/*/*.py", names):
        source, style = path.read_text("utf-8"), path.parent.name
        defined = {name for node in ast.parse(source).body for name in defined_names(node)}
        for name in functions & defined:
            yield Draft(f"{path.stem}.{name}", f"right:{style}", source, style)


def edited(names: Collection[str]) -> Iterator[Draft]:
    for name in names:
        for mistake in built_in.mistakes_of_function(name):
            source = built_in.source_with_mistakes(mistake)
            yield Draft(name, f"mistake:{mistake.id}", source, EDITED, {mistake.id: mistake})


def beginners(names: Collection[str]) -> Iterator[Draft]:
    """Yield the answers in a module of otherwise official functions."""
    for path, functions in files_of("beginners/*.py", names):
        module = path.stem
        for answer in answers(module):
            if answer.function in functions:
                source = f"{lesson(module)}\n\n{helpers(module)}\n\n{answer.code}\n"
                function = f"{module}.{answer.function}"
                causes = mistakes_named(function, answer.mistakes)
                yield Draft(function, f"{BEGINNER}:{answer.variant}", source, BEGINNER, causes)


def lesson(module: str) -> str:
    """Return a solution without the experiments at its end."""
    return built_in.solution_source(module).partition("\nif __name__ ==")[0]


def files_of(pattern: str, names: Collection[str]) -> Iterator[tuple[Path, set[str]]]:
    """Yield the files with answers by hand, each with the functions of its assignment among `names`."""
    for path in sorted(SUBMISSIONS.glob(pattern)):
        functions = {name.partition(".")[2] for name in names if name.startswith(f"{path.stem}.")}
        if functions:
            yield path, functions


def mistakes_named(function: str, starts: Sequence[str]) -> dict[str, Mistake]:
    """Return the mistakes with these names, or whose names begin with them if they are of one family."""
    known = {mistake.name: mistake for mistake in built_in.mistakes_of_function(function)}
    found: dict[str, Mistake] = {}
    for start in starts:
        matching = [start] if start in known else [name for name in known if name.startswith(start)]
        if len({known[name].group or name for name in matching}) == 1:
            found |= {known[name].id: known[name] for name in matching}
    return found


def without_duplicates(drafts: Sequence[Draft]) -> Iterator[dict[str, object]]:
    """Yield the entries of a function; the same source counts once, with the causes of all."""
    found: dict[str, tuple[Draft, set[str]]] = {}
    for draft in drafts:
        source, imported = minimal_source(draft.module_source, roots(draft.function))
        first, _ = found.setdefault(source, (draft, imported))
        if first.correct != draft.correct:
            raise ValueError(f"{draft.function}: {first.key} and {draft.key} have the same source")
        first.causes.update(draft.causes)
    return (entry(draft, source, imported) for source, (draft, imported) in found.items())


def entry(draft: Draft, source: str, imported: set[str]) -> dict[str, object]:
    module, _, name = draft.function.partition(".")
    others = imported & registry.default().modules.keys()
    needed = imported.union(*(built_in.imported_modules(other) for other in others))
    digest = hashlib.sha256(f"{draft.function} {draft.key}".encode()).hexdigest()
    signature = f"{name}{inspect.signature(getattr(built_in.solution_module(module), name))}"
    docstring = built_in.function_docstring(draft.function)
    requires = [other for other in registry.default().modules if other in needed]
    causes = [cause(mistake) for mistake in draft.causes.values()]
    about = (f"{draft.function}:{digest[:12]}", draft.function, signature, docstring)
    values = (*about, source, requires, draft.correct, causes, draft.style)
    return dict(zip(FIELDS, values, strict=True))


def cause(mistake: Mistake) -> dict[str, str]:
    if mistake.constant is not None:
        mistake = mistake.with_constant(mistake.constant)
    family = f"{mistake.module}:{mistake.group}" if mistake.group else mistake.id
    return {"id": mistake.id, "title": mistake.title, "family": family}


def roots(function: str) -> set[str]:
    """Return the functions of a module that belong together: a function, what it needs, and what makes its cache."""
    module, _, name = function.partition(".")
    needs = (need.partition(".") for need in registry.default().functions[function].needs)
    return {name, name.removesuffix("_backward"), *(need for other, _, need in needs if other == module)}


def minimal_source(source: str, wanted: Collection[str]) -> tuple[str, set[str]]:
    """Return the statements of a module that define `wanted`, directly or through others, and the modules they import.

    Of several functions with the same name, the last is kept, and any other that is used before the next replaces it.
    """
    statements = [node for node in ast.parse(source).body if not isinstance(node, (ast.Expr, ast.If))]
    definitions: dict[str, list[int]] = {}
    for i, node in enumerate(statements):
        for name in defined_names(node):
            definitions.setdefault(name, []).append(i)
    needed: set[int] = set()
    names: set[str] = set()
    pending = [(name, len(statements)) for name in wanted]
    while pending:
        name, end = pending.pop()
        names.add(name)
        found = [i for i in definitions.get(name, ()) if i < end]
        if found and isinstance(statements[found[-1]], BLOCKS):
            found = found[-1:]
        for i in set(found) - needed:
            needed.add(i)
            # The body of a function runs after all definitions; another statement runs at once.
            end = len(statements) if isinstance(statements[i], BLOCKS) else i
            pending += [(used, end) for used in used_names(statements[i])]
    imports: set[str] = set()
    kept = [node for i in sorted(needed) if (node := reduce_statement(statements[i], names, imports)) is not None]
    return join(kept), {node.module or "" for node in kept if isinstance(node, ast.ImportFrom)}


def defined_names(node: ast.stmt) -> list[str]:
    if isinstance(node, BLOCKS):
        return [node.name]
    if isinstance(node, IMPORTS):
        return [imported_name(alias) for alias in node.names]
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", node)]
    return [part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)]


def used_names(node: ast.stmt) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def imported_name(alias: ast.alias) -> str:
    return (alias.asname or alias.name).partition(".")[0]


def reduce_statement(node: ast.stmt, wanted: Collection[str], imports: set[str]) -> ast.stmt | None:
    """Return a statement without docstrings; of an import only the wanted and new names, None if there are none."""
    if isinstance(node, IMPORTS):
        module = node.module if isinstance(node, ast.ImportFrom) else ""
        new = [alias for alias in node.names if imported_name(alias) in wanted]
        node.names = [alias for alias in new if f"{module} {ast.unparse(alias)}" not in imports]
        imports |= {f"{module} {ast.unparse(alias)}" for alias in new}
        return node if node.names else None
    for part in ast.walk(node):
        if isinstance(part, BLOCKS) and ast.get_docstring(part, clean=False) is not None:
            part.body = part.body[1:] or [ast.Pass()]
    return node


def join(nodes: Sequence[ast.stmt]) -> str:
    text = ""
    for i, node in enumerate(nodes):
        if i and (isinstance(node, BLOCKS) or isinstance(nodes[i - 1], BLOCKS)):
            text += "\n\n"
        text += ast.unparse(node) + "\n"
    return text


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("out", type=Path, metavar="OUT.jsonl")
    parser.add_argument("functions", nargs="*", metavar="FUNCTION", help="such as softmax.softmax; by default all")
    arguments = parser.parse_args()
    known = registry.default().functions
    unknown = [name for name in arguments.functions if name not in known]
    if unknown:
        sys.exit(f"no such function: {', '.join(unknown)}. Functions are named such as softmax.softmax")
    count = 0
    with arguments.out.open("w", encoding="utf-8") as file:
        for line in ({"fields": FIELDS}, *entries(arguments.functions or known)):
            print(json.dumps(line, ensure_ascii=False), file=file)
            count += 1
    print(f"wrote {arguments.out}: {count - 1:,} implementations")


if __name__ == "__main__":
    main()
