"""Give student code that runs in this interpreter a state of its own, which the rest of the program never sees.

A student process may change its modules, `sys.path`, its streams, NumPy's error handling or a function of NumPy. In a
process of its own, that ends with the process. Here, the state is swapped in for each request and out afterwards.
"""

import builtins
import contextlib
import contextvars
import errno
import functools
import importlib
import io
import json
import linecache
import math
import operator
import os
import random
import struct
import sys
import sysconfig
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from importlib.machinery import BuiltinImporter, FrozenImporter, PathFinder
from pathlib import Path
from types import ModuleType
from typing import IO, Any

import numpy as np

# What student code may import besides the standard library. It is imported now, because its folder is not on the path
# of student code; its own submodules are found through the package.
_PACKAGES = ("numpy", "numpy.fft", "numpy.linalg", "numpy.ma", "numpy.polynomial", "numpy.random", "regex")
_ROOTS = frozenset({*sys.stdlib_module_names, "__main__", "__mp_main__", "numpy", "regex", "cython_runtime"})
# Modules whose attributes belong to everybody: what student code replaces in them, only student code sees.
_WATCHED = (builtins, contextlib, functools, io, json, linecache, math, operator, os, os.path, random, struct, time,
            traceback, np, np.linalg, np.random, np.fft)  # fmt: skip
_ABSENT = object()
_RECURSION_LIMIT = 1000  # Python's own, in a new process


class ProcessExit(BaseException):
    """Student code called `os._exit`, which must not end this interpreter."""


class InterpreterState:
    """What one student process may change in the interpreter; `run` calls a function with it."""

    def __init__(self, folders: list[str], output: IO[bytes], output_bytes: int) -> None:
        for name in _PACKAGES:
            with contextlib.suppress(ImportError):
                importlib.import_module(name)
        self.exit_code: int | None = None  # once student code has called `os._exit`
        self._modules: dict[str, ModuleType] = {}  # that student code has imported from its folder, or made
        self._patches: dict[tuple[int, str], Any] = {  # values in `_WATCHED` that student code sees, by index and name
            (_WATCHED.index(os), "_exit"): self._exit,
            (_WATCHED.index(os), "abort"): lambda: self._exit(-6),
            (_WATCHED.index(os), "fork"): _refuse_fork,
        }
        self._context = contextvars.Context()  # holds NumPy's error handling and print options
        self._recursion_limit = _RECURSION_LIMIT
        self._file = _OutputFile(output, output_bytes)
        self._stdout, self._stderr = (
            io.TextIOWrapper(io.BufferedWriter(self._file), encoding="utf-8", errors=errors, line_buffering=is_stderr)
            for errors, is_stderr in (("surrogateescape", False), ("backslashreplace", True))
        )
        standard = tuple({sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")})
        self._sys: dict[str, Any] = {
            "path": [entry for entry in sys.path if _is_standard(Path(entry), standard)],
            "meta_path": [BuiltinImporter, FrozenImporter, PathFinder],
            "path_hooks": list(sys.path_hooks),
            "argv": [""],
            "dont_write_bytecode": True,
            "stdin": io.TextIOWrapper(io.BytesIO()),
            **dict.fromkeys(("stdout", "__stdout__"), self._stdout),
            **dict.fromkeys(("stderr", "__stderr__"), self._stderr),
            **{name: getattr(sys, name) for name in ("excepthook", "displayhook", "breakpointhook")},
        }
        # The files may have changed since another process imported them.
        for folder in folders:
            sys.path_importer_cache.pop(folder, None)
        for file in [file for file in linecache.cache if os.path.dirname(file) in folders]:
            del linecache.cache[file]

    def run(self, function: Callable[[], bytes]) -> bytes:
        """Call a function that runs student code, and return its value; flush what was printed."""
        with _new_warning_filters(), self._swapped_sys(), self._swapped_modules(), self._deeper_recursion():
            with self._swapped_attributes():  # the innermost, because the others use what it brings back
                try:
                    value = self._context.run(function)
                except (Exception, ProcessExit):  # It has broken what the answer needs, such as a builtin function.
                    self.exit_code, value = self.exit_code or 1, b""
            for stream in (self._stdout, self._stderr):
                # The stream may be full, or closed by the student: the output is lost, but not the answer.
                with contextlib.suppress(OSError, ValueError):
                    stream.flush()
        return value

    def end(self) -> None:
        """Drop the modules, and discard what objects that survive may print later."""
        self._modules.clear()
        self._file.discard()

    def _exit(self, code: int = 0) -> None:
        self.exit_code = code
        raise ProcessExit

    @contextlib.contextmanager
    def _swapped_attributes(self) -> Iterator[None]:
        """Apply the student's patches to `_WATCHED`; afterwards, note what has changed, and undo it."""
        folder = os.getcwd()
        spaces = [vars(module) for module in _WATCHED]
        pairs = [(space, space.copy()) for space in spaces]
        for (index, name), value in self._patches.items():
            if value is _ABSENT:
                spaces[index].pop(name, None)
            else:
                spaces[index][name] = value
        try:
            yield
        finally:
            # Builtins may be broken: until they are back, only methods of dictionaries are used.
            changed = [space.copy() for space in spaces]
            for space, original in pairs:
                space.update(original)
            self._patches = {}
            for index, (space, original) in enumerate(pairs):
                for name in _changed_names(changed[index], original):
                    value = changed[index].get(name, _ABSENT)
                    if name not in original:
                        if isinstance(value, ModuleType):
                            continue  # The import of a submodule, which is everybody's.
                        del space[name]
                    self._patches[index, name] = value
            if os.getcwd() != folder:
                os.chdir(folder)

    @contextlib.contextmanager
    def _swapped_sys(self) -> Iterator[None]:
        ours = {name: getattr(sys, name) for name in self._sys}
        for name, value in self._sys.items():
            setattr(sys, name, value)
        try:
            yield
        finally:
            for name, value in ours.items():
                self._sys[name] = getattr(sys, name, value)
                setattr(sys, name, value)

    @contextlib.contextmanager
    def _swapped_modules(self) -> Iterator[None]:
        """Hide what a student process does not have, such as the grader and PyTorch; show the student's modules."""
        modules = sys.modules
        hidden = {name: modules.pop(name) for name in _hidden_names(len(modules), next(reversed(modules)))}
        shared = dict(modules)
        modules.update(self._modules)
        try:
            yield
        finally:
            names = [name for name in modules.keys() - shared.keys() if not _is_shared(name)]
            self._modules = {name: modules.pop(name) for name in names}
            modules.update(shared)
            modules.update(hidden)

    @contextlib.contextmanager
    def _deeper_recursion(self) -> Iterator[None]:
        """Let student code recurse as deeply as in a process of its own, below fewer frames than here."""
        limit, depth = sys.getrecursionlimit(), sum(1 for _ in traceback.walk_stack(sys._getframe()))
        sys.setrecursionlimit(self._recursion_limit + depth)
        try:
            yield
        finally:
            self._recursion_limit = max(_RECURSION_LIMIT // 10, sys.getrecursionlimit() - depth)
            sys.setrecursionlimit(limit)


class _OutputFile(io.RawIOBase):
    """Appends to the file of a student process, which may become only so large."""

    def __init__(self, file: IO[bytes], limit: int) -> None:
        self._file: IO[bytes] | None = file
        self._limit = limit

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        """Write what the limit leaves; raise OSError if that is nothing, as the system does for a process."""
        content = bytes(data)
        if self._file is None:
            return len(content)
        left = self._limit - self._file.seek(0, os.SEEK_END)
        if left <= 0:
            raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
        self._file.write(content[:left])
        self._file.flush()
        return min(left, len(content))

    def discard(self) -> None:
        self._file = None


@contextlib.contextmanager
def _new_warning_filters() -> Iterator[None]:
    """Show warnings as a new process does: not as errors, and not as the grader's own."""
    with warnings.catch_warnings():
        warnings.resetwarnings()
        for category in (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning):
            warnings.simplefilter("ignore", category)
        yield


def _refuse_fork() -> int:
    raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))


def _changed_names(space: dict[str, Any], original: dict[str, Any]) -> list[str]:
    with contextlib.suppress(Exception):  # A new value may be an array, whose comparison is no truth value.
        if space == original:
            return []
    return [name for name in {**original, **space} if space.get(name, _ABSENT) is not original.get(name, _ABSENT)]


def _is_shared(name: str) -> bool:
    """Return whether a module is the same for everybody: that of the standard library, or of NumPy and `regex`."""
    return name.partition(".")[0] in _ROOTS or name.startswith(("_cython", "_headway", "_sysconfigdata"))


@functools.lru_cache(maxsize=1)
def _hidden_names(count: int, last: str) -> tuple[str, ...]:
    """Return the modules to hide; `count` and `last` change whenever the grader has imported another module."""
    return tuple(name for name in sys.modules if not _is_shared(name))


def _is_standard(entry: Path, folders: tuple[str, ...]) -> bool:
    if entry.suffix == ".zip":
        return entry.name.startswith("python3")
    is_below = any(entry.is_relative_to(folder) for folder in folders)
    return is_below and not {"site-packages", "dist-packages"} & set(entry.parts)
