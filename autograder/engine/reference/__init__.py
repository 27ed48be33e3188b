"""PyTorch's answers, behind a memo: `reference.softmax.softmax(x)` with NumPy in and out.

Only this package imports torch, and only when an answer is neither in the memo that ships with Headway nor in the
user's cache.
"""

import importlib
import importlib.util
import re
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

from autograder.core import wire_format
from autograder.core.versions import torch_version
from autograder.course import registry
from autograder.engine.reference.memo import INDEX, Memo, digest_of, user_cache
from autograder.errors import UsageError

_WITHOUT_REFERENCES = {"checks", "mistakes", "promises", "hints", "glossary"}


class Reference:
    """PyTorch's versions of a course's functions: attributes are modules, whose attributes are functions."""

    def __init__(self, memo: Memo, *, package: str) -> None:
        self._memo, self._package = memo, package
        self._versions: dict[str, str] = {}  # what the answers of an assignment depend on, besides the request

    @classmethod
    def of_course(cls, package: str) -> "Reference":
        """Return the reference that checks use: the answers that ship with the course, then the user's cache."""
        return cls(Memo(registry.folder(package), user_cache()), package=package)

    def __getattr__(self, module: str) -> "FunctionsOfModule":
        return FunctionsOfModule(self.call, module)

    def call(self, qualified: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return the answer of a function, given by its qualified name."""
        module, _, function = qualified.partition(".")
        if registry.home(module, self._package) != self._package:
            return self._reused.call(qualified, args, kwargs)
        request = wire_format.pack(("call", self._version(module), module, function, args, kwargs))
        return self._memo.get_or_compute(module, request, lambda: self._ask(module, function, args, kwargs))

    @cached_property
    def _reused(self) -> "Reference":
        """The answers for assignments that the course reuses."""
        return Reference.of_course(registry.default().package)

    def _version(self, module: str) -> str:
        if module not in self._versions:
            torch = torch_version() or self._memo.index.get("torch", "")
            self._versions[module] = f"{source_digest(self._package, module)} torch {torch}"
        return self._versions[module]

    def _ask(self, module: str, function: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if registry.is_built_in(self._package) and importlib.util.find_spec("torch") is None:
            raise _missing_answers("PyTorch")
        # Importing torch takes 1.5 s: only a process that needs it pays for it.
        try:
            functions = importlib.import_module(f"{self._package}.{module}.reference")
        except ModuleNotFoundError as error:
            if error.name in ("torch", "tokenizers"):  # The references of a third-party course may need neither.
                raise _missing_answers("PyTorch" if error.name == "torch" else error.name) from None
            raise
        return getattr(functions, function)(*args, **kwargs)


def _missing_answers(package: str) -> UsageError:
    from autograder.installation import install_step  # takes 20 ms

    problem = f"Headway has no stored answers for these inputs, and {package} is not installed"
    return UsageError(f"{problem}. Check without --seed, or {install_step('torch')}")


class FunctionsOfModule:
    """A module by name: `module.function(x)` calls `call("module.function", (x,), {})`."""

    def __init__(self, call: Callable[[str, tuple[Any, ...], dict[str, Any]], Any], module: str) -> None:
        if module.startswith("_"):
            raise AttributeError(module)
        self._call, self._module = call, module

    def __getattr__(self, function: str) -> Any:
        if function.startswith("_"):
            raise AttributeError(function)
        return lambda *args, **kwargs: self._call(f"{self._module}.{function}", args, kwargs)


def has_current_answers(package: str) -> bool | None:
    """Return whether the answers that ship with a course are those of its references; None if there are none."""
    folder = registry.folder(package)
    if not (folder / INDEX).is_file():
        return None
    return Memo(folder).index.get("sources") == source_digest(package)


def source_digest(package: str, module: str = "") -> str:
    """Return the digest of the sources on which the answers of an assignment depend, or those of the whole course.

    A changed reference makes every older answer of its assignment stale, and of those whose references import it.
    """
    folder = registry.folder(package)
    if not registry.is_built_in(package):  # The references may use anything of their package but these files.
        files = registry.source_files(package)
        sources = [path for path in files if not {path.stem, path.parent.name} & _WITHOUT_REFERENCES]
    elif module:
        sources = _imported_references(folder / module / "reference.py", package)
    else:
        sources = sorted(folder.glob("*/reference.py"))
    paths = [Path(__file__).with_name("torch_bridge.py"), *sources]
    return digest_of(package.encode(), *(path.read_bytes() for path in paths))


def _imported_references(path: Path, package: str) -> list[Path]:
    """Return the file of a reference and those of all references that it imports."""
    found, todo = {path}, [path]
    while todo:
        names = re.findall(rf"^from {re.escape(package)}\.(\w+)\.reference import", todo.pop().read_text("utf-8"), re.M)
        new = {path.parents[1] / name / "reference.py" for name in names} - found
        found |= new
        todo += new
    return sorted(found)
