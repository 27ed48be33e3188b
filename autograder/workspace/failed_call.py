"""A failed call as a small program: the inputs of the check, the call, and what the check says."""

from collections.abc import Collection, Sequence
from operator import lt
from typing import Any

import numpy as np

from autograder.core.text import clean
from autograder.core.wire_format import Config, FunctionOf, GeneratorOf, Rng
from autograder.documents.results import CheckResult
from autograder.engine import session
from autograder.engine.diagnosis.variants import parameters_of
from autograder.engine.student import Cache, Call
from autograder.errors import UsageError
from autograder.workspace.files import DEBUG_MARK
from autograder.workspace.workspace import Workspace

_SHOW = """for value in result if isinstance(result, tuple) else (result,):
    print(type(value).__name__, getattr(value, "shape", ""), getattr(value, "dtype", ""))"""


def failed_check(workspace: Workspace, function: str) -> CheckResult:
    """Check a function on the public inputs, and return its first failed check with the calls."""
    course, sandbox = workspace.curriculum, workspace.sandbox
    options = session.Options((function,), curriculum=course, sandbox=sandbox, diagnose=False, keep_calls=True)
    return first_called(session.check("debug", workspace.module_folder, options).checks, function)


def first_called(checks: Sequence[CheckResult], function: str) -> CheckResult:
    """Return a function's first failed check with calls; raise UsageError if there is none."""
    failed = [check for check in checks if check.function == function and check.status != "passed"]
    if not failed:
        raise UsageError(f"{function} passes all its checks: there is no failed call. See what is next: headway list")
    called = next((check for check in failed if any(call.function.qualified == function for call in check.calls)), None)
    if called is None or called.status in ("not_started", "blocked"):
        raise UsageError(f"{function}: {failed[0].message}. To see more: headway check {function}")
    return called


def script(check: CheckResult, workspace: Workspace | None, package: str, defined: Collection[str] = ()) -> str:
    """Return the program, or raise UsageError; a notebook has the functions of the modules `defined` already."""
    writer = _ScriptWriter(check.calls, package, defined)
    call = next(call for call in reversed(check.calls) if call.function.qualified == check.function)
    writer.write_call("result", call)
    lines = [f"{DEBUG_MARK} {check.function}, for the check “{clean(check.title)}”. Change what you like.", ""]
    if workspace and workspace.module_folder != workspace.folder:  # where cells of a notebook count, they are in a copy
        lines += ["import sys", "", f"sys.path.insert(0, {str(workspace.module_folder)!r})", ""]
    imports = [f"import {module}" for module in sorted(writer.modules)]
    lines += ["import numpy as np", "", *imports, "", *writer.lines, "", _SHOW]
    if check.shapes is not None:
        lines.append(f"print('expected shape:', {tuple(check.shapes['expected'])})")
    lines += [*_worst_value(check, call), f"print({'The check says: ' + clean(check.message, 500)!r})", ""]
    return "\n".join(lines)


def _worst_value(check: CheckResult, call: Call) -> list[str]:
    """Return the line that prints the worst value; none if this call did not return it."""
    if check.worst is None:
        return []
    index = tuple(check.worst["index"])
    values = call.value if type(call.value) is tuple else (call.value,)
    for i, value in enumerate(values):
        fits = isinstance(value, np.ndarray) and index and value.ndim == len(index) and all(map(lt, index, value.shape))
        if fits and value[index] == check.worst["yours"]:
            place = f"result{f'[{i}]' if type(call.value) is tuple else ''}[{', '.join(map(str, index))}]"
            return [f"print({place!r}, 'is', {place}, 'expected:', {check.worst['expected']!r})"]
    return []


class _ScriptWriter:
    """Writes calls, and before each the calls that made the caches it needs."""

    def __init__(self, calls: Sequence[Call], package: str, defined: Collection[str]) -> None:
        self._calls, self._package, self._defined = calls, package, defined
        self._caches: dict[int, str] = {}  # the variable of a cache, by its number
        self.lines: list[str] = []
        self.modules: set[str] = set()

    def write_call(self, target: str, call: Call) -> None:
        """Write a variable for each argument, and the call."""
        names = [*parameters_of(call.function.qualified, self._package), *(f"arg_{i}" for i in range(len(call.args)))]
        positional = [self._variable(name, value) for name, value in zip(names, call.args, strict=False)]
        named = [f"{name}={self._variable(name, value)}" for name, value in call.kwargs.items()]
        name = self._qualified(call.function.module, call.function.name)
        self.lines.append(f"{target} = {name}({', '.join([*positional, *named])})")

    def _qualified(self, module: str, name: str) -> str:
        if module in self._defined:
            return name
        self.modules.add(module)
        return f"{module}.{name}"

    def _variable(self, name: str, value: Any) -> str:
        if isinstance(value, Cache):
            return self._cache(value)
        self.lines.append(f"{name} = {self._literal(value)}")
        return name

    def _cache(self, cache: Cache) -> str:
        number = cache.handle.number
        if number not in self._caches:
            made = next((c for c in self._calls if type(c.value) is tuple and any(v is cache for v in c.value)), None)
            if made is None:
                raise UsageError("this call needs a cache that no call of the check has returned. See: headway check")
            self._caches[number] = f"cache_{len(self._caches)}" if self._caches else "cache"
            self.write_call(f"*_, {self._caches[number]}", made)
        return self._caches[number]

    def _literal(self, value: Any) -> str:
        if isinstance(value, (np.ndarray, np.generic)):
            array = np.asarray(value)
            text = repr(array.tolist()).replace("inf", "np.inf").replace("nan", "np.nan")
            empty = f".reshape({array.shape})" if not array.size else ""
            return f"np.array({text}, np.{array.dtype.type.__name__}){empty}"
        if type(value) in (bool, int, str, bytes, type(None)):
            return repr(value)
        if type(value) is float:
            return repr(value) if np.isfinite(value) else f"float({str(value)!r})"
        if type(value) in (list, tuple):
            inner = "".join(f"{self._literal(item)}, " for item in value)
            return f"[{inner.removesuffix(', ')}]" if type(value) is list else f"({inner.strip()})"
        if type(value) is dict:
            return "{" + ", ".join(f"{self._literal(k)}: {self._literal(v)}" for k, v in value.items()) + "}"
        if isinstance(value, Rng):
            return f"np.random.default_rng({value.seed})"
        if isinstance(value, Config):
            fields = ", ".join(f"{name}={self._literal(item)}" for name, item in value.fields.items())
            return f"{self._qualified(value.module, value.name)}({fields})"
        if isinstance(value, (GeneratorOf, FunctionOf)):
            fields = ", ".join(self._literal(item) for item in vars(value).values())
            return f"{self._qualified('autograder.core.wire_format', type(value).__name__)}({fields}).start()"
        raise UsageError(f"an input of this call cannot be written as Python: {clean(type(value).__name__)}")
