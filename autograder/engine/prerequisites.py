"""Each assignment by itself: the student's module on top of the official solutions of the earlier assignments.

And each function by itself: the student's module with official functions in place of some of its own.
"""

import ast
import py_compile
import shutil
import sys
import tempfile
from collections.abc import Collection
from functools import cache
from pathlib import Path

from autograder.core.files import read_modules
from autograder.curriculum import Curriculum, registry

MAX_BYTES = 1 << 20  # of a module; what is larger is no module that somebody wrote


@cache
def _compiled(module: str, package: str) -> bytes:
    """Bytecode of an official solution: compiling it costs a student's process more than running most checks."""
    with tempfile.TemporaryDirectory(prefix="headway-") as folder:
        target = Path(folder) / "module.pyc"
        source = registry.solutions(package) / f"{module}.py"
        # Believed without a look at the source (PEP 552): the copy beside it is newer than any time in here.
        mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
        py_compile.compile(str(source), str(target), doraise=True, invalidation_mode=mode)
        return target.read_bytes()


class OfficialPrerequisites:
    """Puts folders together, one per submission and assignment, and removes them.

    A folder holds the official solutions of the earlier assignments, the student's own module, and the student's other
    files. Later assignments and their solutions are not in it.

    Args:
        within: where the folders are made, if student code can read only beneath it.
    """

    def __init__(self, curriculum: Curriculum, within: Path | None = None) -> None:
        self._curriculum = curriculum
        self._scratch = tempfile.TemporaryDirectory(prefix="headway-", dir=within)
        self._made: dict[tuple[Path, str], Path] = {}
        self._count = 0

    def folder_for(self, submission: Path, module: str) -> Path:
        """The folder in which `module` of the submission is checked."""
        key = (submission, module)
        if key not in self._made:
            target = Path(self._scratch.name) / str(self._count)
            target.mkdir()
            self._count += 1
            self._fill(target, submission, module)
            self._made[key] = target
        return self._made[key]

    def _fill(self, target: Path, submission: Path, module: str) -> None:
        number = self._curriculum.modules[module].number
        for file, content in read_modules(submission):
            name = file.removesuffix(".py")
            if name == module or name not in self._curriculum.modules:
                (target / file).write_bytes(content)
        for name, assignment in self._curriculum.modules.items():
            if assignment.number < number:
                official = registry.solutions(self._curriculum.package) / f"{name}.py"
                shutil.copyfile(official, target / official.name)
        needed = {
            need.partition(".")[0]
            for f in self._curriculum.modules[module].functions
            for need in self._curriculum.all_needs(f.qualified)
        }
        compiled = target / "__pycache__"
        compiled.mkdir()
        for name in needed - {module}:
            code = _compiled(name, self._curriculum.package)
            (compiled / f"{name}.{sys.implementation.cache_tag}.pyc").write_bytes(code)

    def close(self) -> None:
        """Remove everything."""
        self._scratch.cleanup()


def used_within(path: Path, names: Collection[str]) -> dict[str, set[str]]:
    """Which functions of a module use which others of it, directly or through helpers, by name.

    Args:
        path: the student's module; one that cannot be read says nothing.
        names: the functions that are meant.
    """
    try:
        if path.stat().st_size > MAX_BYTES:
            return {}
        tree = ast.parse(path.read_bytes())
        uses: dict[str, set[str]] = {}
        for node in tree.body:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                uses[node.name] = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    return {name: (_reach(name, uses) & set(names)) - {name} for name in names if name in uses}


def _reach(start: str, uses: dict[str, set[str]]) -> set[str]:
    reached: set[str] = set()
    waiting = [start]
    while waiting:
        name = waiting.pop()
        if name not in reached and name in uses:
            reached.add(name)
            waiting += uses[name]
    return reached


def with_stand_ins(target: Path, folder: Path, module: str, functions: Collection[str], package: str) -> None:
    """Fill a folder with a submission whose `module` has official functions in place of some of its own.

    The official module stands beside it under another name. So this is nothing for the grading of others' work.

    Args:
        target: an empty folder.
        folder: the submission.
        functions: names of the functions that are replaced.
    """
    for name, content in read_modules(folder):
        (target / name).write_bytes(content)
    official = f"_official_{module}"
    shutil.copyfile(registry.solutions(package) / f"{module}.py", target / f"{official}.py")
    with (target / f"{module}.py").open("ab") as file:
        file.write(f"\nfrom {official} import {', '.join(sorted(functions))}\n".encode())
