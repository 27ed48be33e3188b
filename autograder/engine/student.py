"""The submission as a check sees it: functions that take and return NumPy arrays, or raise a verdict.

    student.attention.attention(q, k, v, mask=mask)   ->   (out, weights)

Every failure of the student's process becomes one of the verdicts of `errors.py`. What it sends is data: it is never
executed, and every field is validated.
"""

import math
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from autograder import errors
from autograder.core.default_integer import default_as_int64
from autograder.core.files import read_plain_file
from autograder.core.text import clean
from autograder.core.wire_format import Handle
from autograder.course import CACHES, Curriculum, Function
from autograder.engine.comparison.compare import wrong_output_count
from autograder.engine.exception_hints import hint_for_exception
from autograder.engine.reference import FunctionsOfModule
from autograder.errors import CodeLine, Mismatch, NotStarted, Raised, StudentException, TimedOut, Verdict
from autograder.sandbox.call_timer import Deadline
from autograder.sandbox.limits import Limits
from autograder.sandbox.student_process import ResourceUsage, StudentProcess, WorkerTimedOut
from autograder.sandbox.workers import WorkerDied, Workers, WorkerUnavailable

MAX_LINES = 1 << 20  # Larger line numbers are invalid: a submitted file is smaller than this in bytes.
# An honest function in pure Python takes up to a hundred times the official CPU time (`training.train`).
OFFICIAL_FACTOR = 300.0
UNKNOWN_SECONDS = 10.0  # CPU time of a call where there is no official solution
# A function that has timed out so often, and has never answered, is not called again: that would only take time. Once
# is enough if a prerequisite is such a function.
MAX_TIMEOUTS = 3
LOOP_HELP = "look for an infinite loop, or a Python loop over elements that NumPy can handle all at once"
UNANSWERED = object()  # stands for the value of a call that returned none


@dataclass
class Call:
    """One call of a student's function, recorded for the report and the diagnosis."""

    function: Function
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    value: Any = UNANSWERED
    exception: StudentException | None = None
    line: int | None = None
    entries: dict[str, Any] = field(default_factory=dict)  # that a check fetched from the cache
    stages: dict[str, Any] = field(default_factory=dict)  # entries fetched to find the first wrong stage
    modified: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    about: str = ""  # what the message of its exception must contain


@dataclass(frozen=True)
class RecordedCheck:
    """One check: its calls with the student's answers, and whether it passed."""

    id: str
    passed: bool
    calls: tuple[Call, ...]
    seconds: float = 0.0  # in the student's process, so that the diagnosis can begin with fast checks


class Cache:
    """A cache that stayed in the student's process. `cache["weights"]` fetches one entry."""

    def __init__(self, student: "StudentCode", handle: Handle, call: Call) -> None:
        self._student, self.handle, self._call = student, handle, call

    def __getitem__(self, key: str) -> Any:
        if self._call.entries.get(key, UNANSWERED) is UNANSWERED:
            self._call.entries[key] = UNANSWERED
            self._call.entries[key] = self._student.fetch(self.handle, key, self._call.function)
        return self._call.entries[key]

    def peek(self, key: str) -> Any:
        """Return one entry without recording that a check used it."""
        entries = self._call.entries
        return entries[key] if key in entries else self._student.fetch(self.handle, key, self._call.function)


# Returns the CPU time that the official solution needs for the last of these calls (infinite if it is too long to
# wait for), or None if there is no solution.
OfficialSeconds = Callable[[list[Call]], float | None]


class StudentCode:
    """The submission in `folder`: its attributes are modules, whose attributes are functions.

    Modules in the folder `official` take the place of the student's.
    """

    def __init__(
        self,
        workers: Workers,
        folder: Path,
        curriculum: Curriculum,
        limits: Limits,
        usage: ResourceUsage | None = None,
        official_seconds: OfficialSeconds | None = None,
        official: Path | None = None,
    ) -> None:
        self.usage = usage or ResourceUsage()
        self._seconds_before = self.usage.seconds
        self._folder, self.process = folder, StudentProcess(workers, folder, limits, self.usage, official)
        self._curriculum, self._limits, self._official_seconds = curriculum, limits, official_seconds
        self._loaded_by: dict[str, int] = {}  # modules, and the number of the last process that has imported each
        self._measured: float | None = None  # what the official solution needed for the current call, if it was asked
        # Functions, and modules while they were imported: how often each timed out, and which have ever answered.
        self._timeouts: Counter[str] = Counter()
        self._answered: set[str] = set()
        self._stubs: dict[str, bool] = {}  # what is known of each function
        self.calls: list[Call] = []
        self._handle_numbers = count(1)
        self._assignment = self._printed_before = ""

    def __getattr__(self, module: str) -> FunctionsOfModule:
        return FunctionsOfModule(self.call, module)

    def new_check(self, function: str) -> None:
        """Forget the calls and caches of the previous check. Each assignment gets a process of its own."""
        assignment = function.partition(".")[0]
        if assignment != self._assignment:
            self.process.end()
        self._assignment, self.calls, self._printed_before = assignment, [], ""
        self._seconds_before = self.usage.seconds

    @property
    def seconds(self) -> float:
        """Time of this check in the student's process so far, without the start of the process."""
        return self.usage.seconds - self._seconds_before

    def printed(self) -> str:
        """Return what the student's code has printed in this check: first the last call, then what came before."""
        last, before, self._printed_before = self.process.read_output(), self._printed_before, ""
        return clean(f"{last}(before the last call:)\n{before}" if before else last)

    def close(self) -> None:
        """End the student's process."""
        self.process.close()

    def call(self, qualified: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call one function of the contract; raise a Verdict if no value came back."""
        function = self._curriculum.all_functions[qualified]
        call = Call(function, args, kwargs)
        if any(earlier.function is function for earlier in self.calls):
            self._printed_before += self.process.read_output()
        is_first = not self.calls
        self.calls.append(call)
        # A new handle's number for each cache among the outputs, by the output's index.
        caches = [index for index, output in enumerate(function.outputs) if output.name in CACHES]
        handles = {index: next(self._handle_numbers) for index in caches}
        sent = {"args": tuple(map(_unwrap, args)), "kwargs": {key: _unwrap(value) for key, value in kwargs.items()}}
        request = {"op": "call", **_names(function), **sent, "handles": handles, "fresh": is_first}
        try:
            reply = self._request(request, function)
        except Raised as verdict:
            call.exception = verdict.exception
            raise
        call.line = _line(reply.get("line")) or None
        call.modified = [clean(name, 80) for name in _texts(reply.get("modified"))]
        call.warnings = [clean(text, 300) for text in _texts(reply.get("warnings"))]
        call.value = self._wrap(default_as_int64(reply.get("value"), (args, kwargs)), call)
        if handles and len(function.outputs) > 1:
            # Checks unpack (out, cache), and read the cache, before they compare anything.
            if type(call.value) is not tuple or len(call.value) != len(function.outputs):
                raise wrong_output_count(function.outputs, function, call.value)
            if not all(isinstance(call.value[i], Cache) for i in handles):
                problem = "its process sent a value in place of the cache"
                raise errors.Died(f"while {function.name} was running, {problem}")
        return call.value

    def fetch(self, handle: Handle, key: str, function: Function) -> Any:
        """Return one entry of a cache of `function` that stayed in the student's process."""
        try:
            request = {"op": "entry", "handle": handle, "key": key}
            return default_as_int64(self._request(request, function).get("value"))
        except NotStarted as verdict:  # The function exists: the entry is missing.
            raise Mismatch(verdict.message) from None

    def is_stub(self, function: Function) -> bool:
        """Return whether the function is missing or does nothing but raise NotImplementedError."""
        if function.qualified not in self._stubs:
            request = {"op": "is_stub", **_names(function)}
            try:
                self._stubs[function.qualified] = self._request(request, function).get("value") is True
            except NotStarted:
                self._stubs[function.qualified] = True
            except Verdict:
                return False
        return self._stubs[function.qualified]

    def model_request(self, action: str, name: str, /, **request: Any) -> Any:
        """Send one request about a model (see `sandbox/child/training.py` and `pretrained.py`) and return the answer.

        An error is reported as one of the function `name`.
        """
        return self._request(request | {"op": "model", "action": action}, self._curriculum.functions[name]).get("value")

    def load(self, function: Function) -> None:
        """Import the module of a function into the current process; an error shows when the function is called."""
        if self.process.is_running and self._loaded_by.get(function.module) == self.process.processes_started:
            return
        modules = {name.partition(".")[0] for name in self._needs(function)}
        is_slow = not self.usage.slow.isdisjoint(modules)
        seconds = self._limits.later_seconds if is_slow else self._limits.load_seconds
        deadline = Deadline.fixed(min(seconds, self._limits.call_seconds))
        loaded = f"importing {function.module}.py"
        try:
            self._exchange({"op": "is_stub", **_names(function)}, function, deadline, loaded, function.module)
        except TimedOut as error:
            error.details.update(failure="slow_import", file_at_fault=f"{function.module}.py")
            raise
        self._loaded_by[function.module] = self.process.processes_started

    def _needs(self, function: Function) -> set[str]:
        return {function.qualified, *self._curriculum.all_prerequisites(function.qualified)}

    def _request(self, request: dict[str, Any], function: Function) -> dict[str, Any]:
        if request["op"] != "model":
            self.load(function)
        reply = self._exchange(request, function, self._deadline(function), function.name, function.qualified)
        status = _text(reply.get("status"))
        if status == "returned":
            return reply
        message = clean(_text(reply.get("message")), 1000)
        if status == "unsendable":
            raise Mismatch(f"{function.name} returned something that cannot be compared: {message}")
        if status == "missing":
            raise NotStarted(clean(message, 300), failure="missing")
        trace = tuple(_code_line(item) for item in _items(reply.get("trace")))
        raise self._verdict(StudentException(clean(_text(reply.get("type")), 100), message, trace), function)

    def _deadline(self, function: Function) -> Deadline:
        """Return the deadline of a call of `function`, which follows from what the official solution needs for it."""
        limits, is_slow = self._limits, bool(self.usage.slow and self.usage.slow & self._needs(function))
        official_seconds = self._official_seconds
        if official_seconds is None:
            return Deadline.fixed(min(limits.retry_seconds if is_slow else math.inf, limits.call_seconds))
        least = limits.later_seconds if self.usage.slow else limits.least_seconds
        least = min(limits.retry_seconds if is_slow else least, limits.call_seconds)

        def cpu_seconds() -> float:
            self._measured = official_seconds(self.calls)
            if self._measured is not None and math.isfinite(self._measured):
                self.usage.official_seconds += self._measured
            wanted = UNKNOWN_SECONDS if self._measured is None else OFFICIAL_FACTOR * self._measured
            return min(max(least, wanted), limits.call_seconds)

        return Deadline(cpu_seconds, least)

    def _exchange(
        self, request: dict[str, Any], function: Function, deadline: Deadline, action: str, asked: str
    ) -> dict[str, Any]:
        """Return the process's answer; record whether `asked`, a function or a module, gave one in time."""
        self._measured = None
        if self._never_answers(asked, 1):
            prerequisites = self._curriculum.all_prerequisites(function.qualified)
            most = 1 if any(self._never_answers(name, MAX_TIMEOUTS) for name in prerequisites) else MAX_TIMEOUTS
            if self._timeouts[asked] >= most:
                times = "the only time" if most == 1 else f"all {most} times"
                raise TimedOut(f"{action} was skipped: it was stopped {times} that it ran", help=LOOP_HELP)
        try:
            answer = self.process.request(request, deadline)
            self._answered.add(asked)
            return answer
        except WorkerTimedOut as error:
            if not error.of_call:
                raise TimedOut(f"{action} was stopped: {error}") from None
            self.usage.slow.add(asked)
            self._timeouts[asked] += 1
            official = ""
            if self._measured is not None and math.isfinite(self._measured):
                seconds = "less than 0.01" if self._measured < 0.01 else f"{self._measured:.1g}"
                official = f". The official solution needs {seconds} s for the same input"
            trace = tuple(self._stopped_line(place, function) for place in error.lines if _line(place.line))
            raise TimedOut(f"{action} was stopped: {error}{official}", help=LOOP_HELP, trace=trace) from None
        except WorkerUnavailable as error:
            text = f"cannot start a process for student code ({clean(error, 300)})"
            raise errors.UsageError(f"{text}. To see what is missing: headway doctor") from None
        except WorkerDied as error:
            raise errors.Died(f"while {function.name} was running, {clean(error, 300)}") from None

    def _stopped_line(self, place: CodeLine, function: Function) -> CodeLine:
        """Return a line in which a call was stopped; with its text if it is in the file of the function."""
        lines, path = [""], self._folder / place.file
        # The process may name any line of any file: no other file in the folder, and no link, is read for it.
        if place.file == f"{function.module}.py" and not path.is_symlink():
            with suppress(OSError):
                lines = read_plain_file(path).decode("utf-8", "replace").split("\n")
        text = lines[place.line - 1].strip() if 0 < place.line <= len(lines) else ""
        return CodeLine(clean(place.file, 80), _line(place.line), place.function, clean(text, 200))

    def _never_answers(self, name: str, times: int) -> bool:
        """Return whether a function or a module has timed out so often and has never answered."""
        return self._timeouts[name] >= times and name not in self._answered

    def _verdict(self, exception: StudentException, function: Function) -> Verdict:
        """Return the verdict on an exception that a call of `function` raised."""
        qualified = (f"{line.file.removesuffix('.py')}.{line.function}" for line in exception.trace[::-1])
        raised_in = next((name for name in qualified if name in self._curriculum.all_functions), function.qualified)
        last = exception.trace[-1] if exception.trace else None
        file = exception.file_at_fault
        at = f" in {'' if last.file == file else f'{last.file}, '}line {last.line}" if last else ""
        if exception.type == "NotImplementedError" and not file:
            if raised_in != function.qualified:
                return errors.Blocked(function.name, raised_in)
            if not last or self.is_stub(function):
                return NotStarted(f"{function.name} is not written yet")
            help = "delete the stub's last line once your own code is there"
            return Raised(f"{function.name} still raises NotImplementedError{at}", exception, help=help)
        text = f"{exception.type}{at}: {exception.message}" if exception.message else f"{exception.type}{at}"
        if exception.unreadable:
            help = "nothing in this file can be checked until this line, or the one above it, is fixed"
            help = hint_for_exception(exception) or help
            return Raised(f"Python cannot read {file}: {text}", exception, help=help, failure="unreadable_file")
        if file:
            help = _import_help(exception)
            return Raised(f"Python cannot import {file}: {text}", exception, help=help, failure="failed_import")
        return Raised(f"{function.name} raised {text}", exception, help=hint_for_exception(exception))

    def _wrap(self, value: Any, call: Call) -> Any:
        if isinstance(value, Handle):
            return Cache(self, value, call)
        return tuple(self._wrap(item, call) for item in value) if type(value) is tuple else value


def _import_help(exception: StudentException) -> str:
    """Return advice on an exception that a line outside of functions has raised."""
    line = next(line for line in exception.trace[::-1] if line.function == errors.TOP_LEVEL)
    about = f"line {line.line} of {line.file} is outside of functions, so it runs on every import"
    hint = hint_for_exception(exception)
    return f"{hint}; {about}" if hint else f'{about}; put experiments below if __name__ == "__main__":'


def _names(function: Function) -> dict[str, str]:
    return {"module": function.module, "function": function.name}


def _unwrap(value: Any) -> Any:
    return value.handle if isinstance(value, Cache) else value


def _items(value: Any) -> list[Any]:
    return list(value)[:20] if isinstance(value, (list, tuple)) else []


def _texts(value: Any) -> list[str]:
    return [item for item in _items(value) if isinstance(item, str)]


def _text(value: Any) -> str:
    """Return the value if it is text, else "": formatting what a hostile process may send takes seconds."""
    return value if isinstance(value, str) else ""


def _code_line(item: Any) -> CodeLine:
    parts = [*_items(item), "", 0, "", ""][:4]
    file, function, code = (_text(parts[i]) for i in (0, 2, 3))
    return CodeLine(clean(file, 80), _line(parts[1]), clean(function, 80), clean(code, 200))


def _line(value: Any) -> int:
    """Return the line number, 0 if it is invalid: a hostile process may send thousands of digits."""
    return value if type(value) is int and 0 < value < MAX_LINES else 0
