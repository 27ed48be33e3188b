"""Collect what a browser needs to check submissions: Headway and its pure dependencies, as one zip, and the answers.

The Python modules are found by reading imports, from `ENTRY_MODULES` on: those of Headway anywhere in a file, those of
other packages only at the top of a module, because what they import later is not on the path of a check. The same
sources give the same bytes.
"""

import ast
import hashlib
import importlib.util
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from _pytest.config import default_plugins

import autograder
from autograder.core.archives import zip_of
from autograder.course import Curriculum, registry
from autograder.engine import session
from autograder.engine.reference.memo import INDEX, shipped_file
from autograder.web.site import pyodide_release
from autograder.workspace.files import stub_text

ENTRY_MODULES = ("autograder.web.browser.page", "pytest")
# What a browser cannot use: PyTorch, and what reads stored documents, asks for the user's folders or makes a sandbox.
LEFT_OUT = ("torch", "tokenizers", "msgspec", "platformdirs", "pyseccomp", "numpy", "regex", "rich", "click")
HEADWAY_ZIP, PYODIDE_JSON, MEMO_FOLDER = "headway.zip", "pyodide.json", "memo"
_PACKAGE = Path(autograder.__file__).parent


def browser_files(curriculum: Curriculum, pyodide: Mapping[str, bytes] | None = None) -> dict[str, bytes]:
    """Return the files for a browser by their paths below `assets/`.

    They are the zip, the shipped answers of each assignment, and `pyodide.json`, which says where everything is and
    what its digest is. `pyodide` are the files of Pyodide and NumPy that are then used in place of the public CDN.
    """
    answers = registry.folder(curriculum.package)
    memos = {module: f"{MEMO_FOLDER}/{module}.memo" for module in curriculum.modules}
    memos = {module: name for module, name in memos.items() if shipped_file(answers, module).is_file()}
    files = {HEADWAY_ZIP: headway_zip(curriculum)}
    files |= {name: shipped_file(answers, module).read_bytes() for module, name in memos.items()}
    release = pyodide_release.from_files(pyodide) if pyodide else pyodide_release.from_cdn()
    index = {
        "pyodide": pyodide_release.VERSION,
        "python": pyodide_release.PYTHON,
        "downloads": [asdict(entry) for entry in release],
        "headway": _local_record(HEADWAY_ZIP, files[HEADWAY_ZIP]),
        "answers": {module: _local_record(name, files[name]) for module, name in memos.items()},
        "needs": {module: answers_for(module, curriculum) for module in curriculum.modules},
    }
    return files | {PYODIDE_JSON: (json.dumps(index, indent=1) + "\n").encode()}


def _local_record(path: str, content: bytes) -> dict[str, Any]:
    return {"url": path, "sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}


def answers_for(module: str, curriculum: Curriculum) -> list[str]:
    """Return the assignments whose answers are used when a function of `module` is checked, its prerequisites too."""
    functions = (function.qualified for function in curriculum.modules[module].functions)
    needed = {name.partition(".")[0] for function in functions for name in curriculum.all_prerequisites(function)}
    return [name for name in curriculum.modules if name in needed or name == module]


def headway_zip(curriculum: Curriculum) -> bytes:
    """Return the zip whose content goes into Pyodide's `site-packages`."""
    return zip_of(dict(sorted(zip_files(curriculum).items())))


def zip_files(curriculum: Curriculum) -> dict[str, bytes]:
    """Return the files of the zip by path."""
    package = registry.folder(curriculum.package)
    course = [*package.rglob("*.py"), *package.glob("*/hints.toml"), package / INDEX]
    # These are loaded by their paths, not imported.
    by_path = [*_PACKAGE.glob("sandbox/child/*.py"), *_PACKAGE.glob("parsing/*.py"), _PACKAGE / "engine/pytest.ini"]
    by_path.append(_PACKAGE / "engine/reference/torch_bridge.py")  # Its text is part of the digest of the references.
    # Pytest imports its plugins by name.
    plugins = [f"_pytest.{name}" for name in default_plugins if name not in session.DISABLED_PLUGINS.split()]
    course_modules = [_module_name(path) for path in course if path.suffix == ".py" and path.stem != "reference"]
    modules = imported_modules([*ENTRY_MODULES, *plugins, curriculum.package, *course_modules])
    files = {_path_in_zip(name, path): path.read_bytes() for name, path in modules.items()}
    for path in (*course, *by_path):
        files[path.relative_to(_PACKAGE.parent).as_posix()] = path.read_bytes()
    solutions = registry.solutions(curriculum.package)
    for module in curriculum.modules:
        files[f"autograder/_bundle/solutions/{module}.py"] = (solutions / f"{module}.py").read_bytes()
        files[f"autograder/_bundle/assignments/{module}.py"] = stub_text(module, curriculum).encode()
    return files


def _module_name(path: Path) -> str:
    parts = path.relative_to(_PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _path_in_zip(module: str, path: Path) -> str:
    folders = module.split(".")
    return "/".join([*folders, "__init__.py"] if path.name == "__init__.py" else [*folders[:-1], path.name])


def imported_modules(names: Iterable[str]) -> dict[str, Path]:
    """Return the sources of modules and of everything that they import, apart from the standard library."""
    found: dict[str, Path] = {}
    pending = list(names)
    while pending:
        name = pending.pop()
        top = name.partition(".")[0]
        if name in found or top in LEFT_OUT or top in sys.stdlib_module_names:
            continue
        path = _source(name)
        if path is None:  # A name that is imported from a module, not a module itself.
            continue
        found[name] = path
        pending += [name.rpartition(".")[0]] * ("." in name)
        pending += _imports(name, path)
    return dict(sorted(found.items()))


def _source(module: str) -> Path | None:
    folder = _package_root(module.partition(".")[0])
    if folder is None:
        return None
    path = folder.joinpath(*module.split("."))
    candidates = (path / "__init__.py", path.with_name(f"{path.name}.py"))
    return next((candidate for candidate in candidates if candidate.is_file()), None)


def _package_root(top: str) -> Path | None:
    spec = importlib.util.find_spec(top)
    if spec is None or spec.origin is None:
        return None
    return Path(spec.origin).parents[1 if spec.submodule_search_locations else 0]


def _imports(module: str, path: Path) -> Iterator[str]:
    """Yield what a module imports; what it imports later than at its own import, only if it is of the same package."""
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    tree = ast.parse(path.read_bytes())
    at_once = set(_run_at_import(tree.body))
    for node in ast.walk(tree):
        for name in _imported_names(node, package):
            if node in at_once or name.partition(".")[0] == module.partition(".")[0]:
                yield name


def _imported_names(node: ast.AST, package: str) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        parts = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
        base = ".".join([*parts, *([node.module] if node.module else [])])
        yield base
        yield from (f"{base}.{alias.name}" for alias in node.names)


def _run_at_import(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements that run when a module is imported, except those for type checkers."""
    for node in body:
        yield node
        if isinstance(node, ast.If):
            if "TYPE_CHECKING" not in ast.unparse(node.test):
                yield from _run_at_import(node.body)
            yield from _run_at_import(node.orelse)
        elif isinstance(node, ast.Try):
            yield from _run_at_import([*node.body, *node.orelse, *node.finalbody])
            yield from _run_at_import([statement for handler in node.handlers for statement in handler.body])
        elif isinstance(node, (ast.With, ast.ClassDef)):
            yield from _run_at_import(node.body)
