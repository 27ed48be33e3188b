"""Collect what a browser needs to check submissions: Pyodide, an archive of Headway with what it imports, the answers.

The core files of Pyodide on the CDN are those of the npm package `pyodide`; the digests of the wheels are those that
`pyodide-lock.json` in that package states. A page uses nothing whose digest differs.

The Python modules are found by reading imports, from `ENTRY_MODULES` on: those of Headway anywhere in a file, those of
other packages only at the top of a module, because what they import later is not on the path of a check. The same
sources give the same bytes.
"""

import ast
import gzip
import hashlib
import importlib.util
import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

from _pytest.config import default_plugins

import autograder
from autograder.core.archives import tar_of
from autograder.core.files import report_read_error
from autograder.course import Curriculum, registry
from autograder.course.stubs import bundled
from autograder.engine import session
from autograder.engine.reference.memo import INDEX, shipped_file
from autograder.errors import UsageError
from autograder.workspace.files import stub_text

VERSION, PYTHON = "0.28.3", "3.13"
CORE_URL = f"https://cdn.jsdelivr.net/npm/pyodide@{VERSION}/"
WHEELS_URL = f"https://cdn.jsdelivr.net/pyodide/v{VERSION}/full/"
FOLDER = "pyodide"  # of the site, beside its pages, with the files of `headway site --pyodide DIR`
_WHEEL_TAGS = "cp313-cp313-pyodide_2025_0_wasm32.whl"
ENTRY_MODULES, TRAINING_MODULE = ("autograder.web.browser.page", "pytest"), "autograder.web.browser.training"
# What a browser cannot use, such as PyTorch and what makes a sandbox, and the standard library, which Pyodide has.
_OF_OTHERS = "torch tokenizers msgspec platformdirs pyseccomp numpy regex rich click pygments"
LEFT_OUT = sys.stdlib_module_names.union(_OF_OTHERS.split())
# What pytest imports of Pygments for the colors of a terminal, which a browser does not have: these names are None.
_PYGMENTS = {"__init__": "highlight", "formatters/terminal": "TerminalFormatter", "lexer": "Lexer"}
_PYGMENTS |= {"lexers/diff": "DiffLexer", "lexers/python": "PythonLexer"}
# A tar.gz, but some servers would declare a file of that name as compressed content, and the browser would unpack it.
ARCHIVE, PYODIDE_JSON, MEMO_FOLDER = "headway.bin", "pyodide.json", "memo"
TRAINING_ARCHIVE = "training.bin"  # of the same kind: what only the page that trains needs, and a wheel for it
_PACKAGE = Path(autograder.__file__).parent

# Name, size and SHA-256 of each file.
CORE = (
    ("pyodide.mjs", 16_347, "635a6da3218fe4e5668da595acfe8b5ce77453d597d602f19a423dd250653441"),
    ("pyodide.asm.js", 1_073_033, "b22e5831eade9ff10e6fe2c811c68688cd91f10154377b4f80debcf5bafa1e56"),
    ("pyodide.asm.wasm", 8_645_967, "5effb6a1a6cc4a1a85bec4622701aa797c031e1de923cbbaf2ad47abdc4ab325"),
    ("python_stdlib.zip", 2_416_866, "71fee17f88a6260ec8c9c7c063533ee59c021fdc88a1ce76247378d3c4a35f4c"),
)
# The lock file does not state the sizes of wheels: these are about right, and only the progress on the page uses them.
WHEELS = (
    (f"numpy-2.2.5-{_WHEEL_TAGS}", 3_640_000, "3db3c4f3e0448f4d62a85c262692f1260ccd8a91335442bd2442f21ffeddb558"),
    (f"msgspec-0.19.0-{_WHEEL_TAGS}", 220_000, "8043835e1103346e0fb0baec0f05846830ccd59242c5ef7224b0d383674a4edb"),
    (f"regex-2024.11.6-{_WHEEL_TAGS}", 210_000, "7404d1b5686a79d52bbd556e5337bb81e3582ee94e4b3e3581dd5d7ff11a7348"),
)


def browser_files(curriculum: Curriculum, pyodide: Mapping[str, bytes] | None = None) -> dict[str, bytes]:
    """Return the files for a browser by their paths below `assets/`.

    They are the archives, the shipped answers of each assignment, and `pyodide.json`, which says where everything is
    and what its digest is. `pyodide` are the files of Pyodide and NumPy that are then used in place of the public CDN.
    """
    answers = registry.folder(curriculum.package)
    memos = {name: f"{MEMO_FOLDER}/{name}.memo" for name in curriculum.modules if shipped_file(answers, name).is_file()}
    unpacked = headway_files(curriculum)
    files = {ARCHIVE: _packed(unpacked), TRAINING_ARCHIVE: _packed(_training_files(unpacked))}
    files |= {name: shipped_file(answers, module).read_bytes() for module, name in memos.items()}
    index = {
        "pyodide": VERSION,
        "python": PYTHON,
        "downloads": [
            *(from_files(pyodide) if pyodide else from_cdn()),
            _local_record(ARCHIVE, files[ARCHIVE]),
            _local_record(TRAINING_ARCHIVE, files[TRAINING_ARCHIVE]) | {"training": True},
        ],
        "answers": {module: _local_record(name, files[name]) for module, name in memos.items()},
        "needs": {module: answers_for(module, curriculum) for module in curriculum.modules},
    }
    return files | {PYODIDE_JSON: (json.dumps(index, indent=1) + "\n").encode()}


def from_cdn() -> list[dict[str, Any]]:
    """Return the files of Pyodide on the public CDN: their names and addresses, and what they must be."""
    files = [(CORE_URL, *file) for file in CORE] + [(WHEELS_URL, *file) for file in WHEELS]
    return [{**_kind(name), "url": base + name, "sha256": digest, "bytes": size} for base, name, size, digest in files]


def from_files(files: Mapping[str, bytes]) -> list[dict[str, Any]]:
    """Return the same of a folder that the user gave, with the files' own digests and addresses below `assets/`."""
    return [{**_kind(name), **_local_record(f"../{FOLDER}/{name}", content)} for name, content in files.items()]


def folder_files(folder: Path) -> dict[str, bytes]:
    """Return the content of the files that the site needs from a folder with Pyodide.

    Raises UsageError if one is missing, or is of another version. Only `regex` may be missing, which one assignment
    needs.
    """
    names = [name for name, _, _ in (*CORE, *WHEELS)]
    missing = [name for name in names if not (folder / name).is_file() and not name.startswith("regex-")]
    if missing:
        advice = f"Take the core files from npm's pyodide@{VERSION} and the wheels from {WHEELS_URL}"
        raise UsageError(f"{folder} has no {missing[0]}. {advice}")
    with report_read_error(folder):
        files = {name: (folder / name).read_bytes() for name in names if (folder / name).is_file()}
    if not re.search(rb'"' + re.escape(VERSION.encode()) + rb'"', files["pyodide.mjs"]):
        raise UsageError(f"{folder} has another version of Pyodide than {VERSION}. Take npm's pyodide@{VERSION}")
    return files


def _kind(name: str) -> dict[str, Any]:
    return {"name": name, "wheel": name.endswith(".whl"), "training": name.startswith("msgspec-")}


def _local_record(path: str, content: bytes) -> dict[str, Any]:
    return {"url": path, "sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}


def answers_for(module: str, curriculum: Curriculum) -> list[str]:
    """Return the assignments whose answers are used when a function of `module` is checked, its prerequisites too."""
    functions = (function.qualified for function in curriculum.modules[module].functions)
    needed = {name.partition(".")[0] for function in functions for name in curriculum.all_prerequisites(function)}
    return [name for name in curriculum.modules if name in needed or name == module]


def headway_files(curriculum: Curriculum) -> dict[str, bytes]:
    """Return what goes into Pyodide's `site-packages` on every page that runs Python, by path."""
    package = registry.folder(curriculum.package)
    course = [*package.rglob("*.py"), *package.glob("*/hints.toml"), package / INDEX]
    # These are loaded by their paths, not imported.
    by_path = [*_PACKAGE.glob("sandbox/child/*.py"), *_PACKAGE.glob("parsing/*.py"), _PACKAGE / "engine/pytest.ini"]
    by_path.append(_PACKAGE / "engine/reference/torch_bridge.py")  # Its text is part of the digest of the references.
    # Pytest imports its plugins by name.
    plugins = [f"_pytest.{name}" for name in default_plugins if name not in session.DISABLED_PLUGINS.split()]
    course_modules = [_module_name(path) for path in course if path.suffix == ".py" and path.stem != "reference"]
    modules = imported_modules([*ENTRY_MODULES, *plugins, curriculum.package, *course_modules])
    files = {_path_in_archive(name, path): path.read_bytes() for name, path in modules.items()}
    files |= {f"pygments/{path}.py": f"{name} = None\n".encode() for path, name in _PYGMENTS.items()}
    files |= {path.relative_to(_PACKAGE.parent).as_posix(): path.read_bytes() for path in (*course, *by_path)}
    others, owners = modules.keys() - {_PACKAGE.name}, metadata.packages_distributions()
    notices = (file for name in others & owners.keys() for file in metadata.files(owners[name][0]) or ())
    files |= {str(file): file.read_binary() for file in notices if "LICENSE" in file.name}
    solutions = registry.solutions(curriculum.package)
    for module in curriculum.modules:
        files[f"autograder/_bundle/solutions/{module}.py"] = (solutions / f"{module}.py").read_bytes()
        files[f"autograder/_bundle/assignments/{module}.py"] = stub_text(module, curriculum).encode()
    return files


def _training_files(others: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return what the page that trains needs besides: the modules that are not among the others, and the names."""
    modules = imported_modules([TRAINING_MODULE])
    files = {_path_in_archive(name, path): path.read_bytes() for name, path in modules.items()}
    names = {"autograder/_bundle/data/names.txt": (bundled("data") / "names.txt").read_bytes()}
    return names | {path: content for path, content in files.items() if path not in others}


def _packed(files: Mapping[str, bytes]) -> bytes:
    # A stub is next to its solution, whose text it repeats.
    order = sorted(sorted(files), key=lambda path: path.replace("_bundle/assignments", "_bundle/solutions"))
    return gzip.compress(tar_of({path: files[path] for path in order}, "w"), mtime=0)


def _module_name(path: Path) -> str:
    parts = path.relative_to(_PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _path_in_archive(module: str, path: Path) -> str:
    folders = module.split(".")
    return "/".join([*folders, "__init__.py"] if path.name == "__init__.py" else [*folders[:-1], path.name])


def imported_modules(names: Iterable[str]) -> dict[str, Path]:
    """Return the sources of modules and of everything that they import, apart from the standard library."""
    found: dict[str, Path] = {}
    pending = list(names)
    while pending:
        name = pending.pop()
        top = name.partition(".")[0]
        if name in found or top in LEFT_OUT or not (path := _source(name)):
            continue  # The last is a name that is imported from a module, not a module itself.
        found[name] = path
        pending += [name.rpartition(".")[0]] * ("." in name)
        pending += _imports(name, path)
    return dict(sorted(found.items()))


def _source(module: str) -> Path | None:
    try:
        spec = importlib.util.find_spec(module)
    except ModuleNotFoundError:  # What it is in is no package.
        return None
    return Path(spec.origin) if spec and spec.origin and spec.origin.endswith(".py") else None


def _imports(module: str, path: Path) -> Iterator[str]:
    """Yield what a module imports; what it imports later than at its own import, only if it is of the same package."""
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    tree = ast.parse(path.read_bytes())
    at_once = set(_run_at_import(tree))
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


def _run_at_import(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what runs when a module is imported: nothing in functions, and nothing that is for type checkers."""
    children = ast.iter_child_nodes(node)
    if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
        children = iter(node.orelse)
    for child in children:
        if not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield child
            yield from _run_at_import(child)
