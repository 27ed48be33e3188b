"""Collect what a browser needs to check submissions: Pyodide, an archive of Headway with what it imports, the answers.

The core files of Pyodide on the CDN are those of the npm package `pyodide`; the digests of the wheels are those that
`pyodide-lock.json` in that package states. A page uses nothing whose digest differs.

The modules of Headway are found by reading imports, from `ENTRY` on. In the place of pytest, there is one module
with what checks use of it. The same sources give the same bytes.
"""

import ast
import gzip
import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import autograder
from autograder.core import small_pytest
from autograder.core.archives import tar_of
from autograder.core.files import report_read_error
from autograder.course import Curriculum, registry
from autograder.course.stubs import bundled
from autograder.engine.reference.memo import INDEX, shipped_file
from autograder.errors import UsageError
from autograder.workspace.files import stub_text

VERSION, PYTHON = "0.28.3", "3.13"
CORE_URL = f"https://cdn.jsdelivr.net/npm/pyodide@{VERSION}/"
WHEELS_URL = f"https://cdn.jsdelivr.net/pyodide/v{VERSION}/full/"
FOLDER = "pyodide"  # of the site, beside its pages, with the files of `headway site --pyodide DIR`
_WHEEL_TAGS = "cp313-cp313-pyodide_2025_0_wasm32.whl"
# A tar.gz, but some servers would declare a file of that name as compressed content, and the browser would unpack it.
ARCHIVE, PYODIDE_JSON, MEMO_FOLDER = "headway.bin", "pyodide.json", "memo"
TRAINING_ARCHIVE = "training.bin"  # of the same kind: what only the page that trains needs, and a wheel for it
_PACKAGE = Path(autograder.__file__).parent
ENTRY, TRAINING_ENTRY = _PACKAGE / "web/browser/page.py", _PACKAGE / "web/browser/training.py"

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
    code = _with_imports([ENTRY, *package.rglob("*.py")])
    # These are loaded by their paths, not imported.
    code |= {*_PACKAGE.glob("sandbox/child/*.py"), *_PACKAGE.glob("parsing/*.py")}
    texts = {*package.glob("*/hints.toml"), *package.glob("*/plain.txt"), *_PACKAGE.glob("engine/**/*.txt")}
    files = _by_path({*code, *texts, package / INDEX})
    files["pytest.py"] = Path(small_pytest.__file__).read_bytes()
    solutions = registry.solutions(curriculum.package)
    for module in curriculum.modules:
        files[f"autograder/_bundle/solutions/{module}.py"] = (solutions / f"{module}.py").read_bytes()
        files[f"autograder/_bundle/assignments/{module}.py"] = stub_text(module, curriculum).encode()
    return files


def _training_files(others: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return what the page that trains needs besides: the modules that are not among the others, and the names."""
    files = _by_path(_with_imports([TRAINING_ENTRY]))
    names = {"autograder/_bundle/data/names.txt": (bundled("data") / "names.txt").read_bytes()}
    return names | {path: content for path, content in files.items() if path not in others}


def _by_path(paths: Iterable[Path]) -> dict[str, bytes]:
    return {path.relative_to(_PACKAGE.parent).as_posix(): path.read_bytes() for path in paths}


def _packed(files: Mapping[str, bytes]) -> bytes:
    # A stub is next to its solution, whose text it repeats.
    order = sorted(sorted(files), key=lambda path: path.replace("_bundle/assignments", "_bundle/solutions"))
    return gzip.compress(tar_of({path: files[path] for path in order}, "w"), mtime=0)


def _with_imports(paths: Iterable[Path]) -> set[Path]:
    """Return files, and all of Headway that they import, at once or later."""
    found: set[Path] = set()
    pending = {*paths}
    while pending:
        found |= pending
        pending = {path for source in pending for path in _imported_files(source)} - found
    return found


def _imported_files(source: Path) -> Iterator[Path]:
    for node in ast.walk(ast.parse(source.read_bytes())):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            package = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
            for parts in ((package + alias.name).split(".") for alias in node.names):
                paths = [_PACKAGE.parent.joinpath(*parts[:count]) for count in range(1, 1 + len(parts))]
                files = (file for path in paths for file in (path / "__init__.py", path.with_suffix(".py")))
                yield from (file for file in files if parts[0] == _PACKAGE.name and file.is_file())
