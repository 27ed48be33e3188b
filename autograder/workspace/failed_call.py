"""A failed call as a small program: the inputs of the check, the call, and what the check says."""

from collections.abc import Sequence
from operator import lt
from typing import Any

import numpy as np

from autograder.core.text import clean
from autograder.core.wire_format import Config, FunctionOf, GeneratorOf, Rng
from autograder.documents.results import CheckResult
from autograder.engine import session
from autograder.engine.diagnosis.variants import parameter_names
from autograder.engine.student import Cache, Call
from autograder.errors import UsageError
from autograder.workspace.files import DEBUG_MARK
from autograder.workspace.workspace import Workspace

_SHOW = """
for value in result if isinstance(result, tuple) else (result,):
    print(type(value).__name__, getattr(value, "shape", ""), getattr(value, "dtype", ""))
"""


def failed_check(workspace: Workspace, function: str) -> CheckResult:
    """Check a function on the public inputs, and return its first failed check with the calls.

    Raises UsageError if there is none, or if it failed before the function was called.
    """
    options = session.Options((function,), curriculum=workspace.curriculum, diagnose=False, keep_calls=True)
    checks = session.check("debug", workspace.module_folder, options).checks
    failed = [check for check in checks if check.function == function and check.status != "passed"]
    if not failed:
        raise UsageError(f"{function} passes all its checks: there is no failed call. See what is next: headway list")
    called = next((check for check in failed if any(call.function.qualified == function for call in check.calls)), None)
    if called is None or called.status in ("not_started", "blocked"):
        raise UsageError(f"{function}: {failed[0].message}. To see more: headway check {function}")
    return called


def script(workspace: Workspace, check: CheckResult) -> str:
    """Return the program. Raises UsageError if an input cannot be written down as Python."""
    writer = _ScriptWriter(check.calls, workspace.curriculum.package)
    call = next(call for call in reversed(check.calls) if call.function.qualified == check.function)
    writer.write_call("result", call)
    lines = [f"{DEBUG_MARK} {check.function}, for the check “{clean(check.title)}”. Change what you like.", ""]
    if workspace.module_folder != workspace.folder:  # where the cells of a notebook count, they are in a copy
        lines += ["import sys", "", f"sys.path.insert(0, {str(workspace.module_folder)!r})", ""]
    lines += ["import numpy as np", "", *(f"import {module}" for module in sorted(writer.modules)), ""]
    lines += [*writer.lines, _SHOW.rstrip()]
    if check.shapes is not None:
        lines.append(f"print('expected shape:', {tuple(check.shapes['expected'])})")
    if place := _place_of_worst(check, call):
        assert check.worst is not None
        lines.append(f"print({place!r}, 'is', {place}, 'expected:', {check.worst['expected']!r})")
    return "\n".join([*lines, f"print({'The check says: ' + clean(check.message, 500)!r})", ""])


def _place_of_worst(check: CheckResult, call: Call) -> str:
    """Return the worst value as an expression; empty if this call did not return it."""
    if check.worst is None:
        return ""
    index = tuple(check.worst["index"])
    values = call.value if type(call.value) is tuple else (call.value,)
    for i, value in enumerate(values):
        fits = isinstance(value, np.ndarray) and index and value.ndim == len(index) and all(map(lt, index, value.shape))
        if fits and value[index] == check.worst["yours"]:
            return f"result{f'[{i}]' if type(call.value) is tuple else ''}[{', '.join(map(str, index))}]"
    return ""


class _ScriptWriter:
    """Writes calls, and before each the calls that made the caches it needs."""

    def __init__(self, calls: Sequence[Call], package: str) -> None:
        self._calls, self._package = calls, package
        self._caches: dict[int, str] = {}  # the variable of a cache, by its number
        self.lines: list[str] = []
        self.modules: set[str] = set()

    def write_call(self, target: str, call: Call) -> None:
        """Write a variable for each argument, and the call."""
        known = parameter_names(call.function.qualified, self._package)
        names = [*known, *(f"argument_{i}" for i in range(len(known), len(call.args)))]
        positional = [self._variable(name, value) for name, value in zip(names, call.args, strict=False)]
        named = [f"{name}={self._variable(name, value)}" for name, value in call.kwargs.items()]
        self.modules.add(call.function.module)
        self.lines.append(f"{target} = {call.function.qualified}({', '.join([*positional, *named])})")

    def _variable(self, name: str, value: Any) -> str:
        if isinstance(value, Cache):
            return self._cache(value)
        self.lines.append(f"{name} = {self._literal(value)}")
        return name

    def _cache(self, cache: Cache) -> str:
        number = cache.handle.number
        if number not in self._caches:
            returned = ((call, call.value) for call in self._calls if type(call.value) is tuple)
            made = next((call for call, values in returned if any(value is cache for value in values)), None)
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
            self.modules.add(value.module)
            fields = ", ".join(f"{name}={self._literal(item)}" for name, item in value.fields.items())
            return f"{value.module}.{value.name}({fields})"
        if isinstance(value, (GeneratorOf, FunctionOf)):
            self.modules.add("autograder.core.wire_format")
            fields = ", ".join(self._literal(item) for item in vars(value).values())
            return f"autograder.core.wire_format.{type(value).__name__}({fields}).start()"
        raise UsageError(f"an input of this call cannot be written as Python: {clean(type(value).__name__)}")
