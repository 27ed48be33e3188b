"""Check the workspace and run experiments in this interpreter: a browser has no processes.

Student code shares the interpreter with the right answers: for learning on one's own, never for grades. A loop in it is
stopped here. A loop inside NumPy cannot be stopped, so the page replaces the whole worker if it gets no report for too
long: it gets one for every call of student code, and for every step of the search for a mistake. Nothing here can stop
an experiment that does not end: for these, the page has a deadline.
"""

import os
import runpy
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import IO, Any, cast

from autograder.course import Assignment, Curriculum, registry
from autograder.documents.results import Status, SubmissionResult
from autograder.engine import session
from autograder.engine.reference import Reference
from autograder.engine.reference.memo import Memo, shipped_file
from autograder.errors import UsageError
from autograder.sandbox.in_process import InProcess, InProcessWorkers
from autograder.sandbox.interpreter_state import InterpreterState
from autograder.sandbox.limits import Limits
from autograder.sandbox.policy import SandboxPolicy
from autograder.web.browser.call_watch import watch
from autograder.workspace.experiments import OUTPUT_BYTES, CappedOutput, ExperimentRun, explain_error

# The page's deadline is 10 s without progress. Here the clock alone limits a call: it has `CLOCK_FACTOR` times as long.
LIMITS = Limits(call_seconds=3.0, least_seconds=0.67, load_seconds=2.0, grader_seconds=6.0)
NOTIFY_SECONDS = 0.2
_UNLIMITED = 1 << 62  # The output of an experiment has room for everything: it keeps the beginning and the end.


class MissingAnswers(UsageError):
    """The answers of an assignment have not been downloaded yet; the page downloads them and asks again."""

    def __init__(self, module: str) -> None:
        super().__init__(f"the right answers of {module} have not been downloaded")
        self.module = module


class DownloadedAnswers(Memo):
    """The shipped answers, as far as they have been downloaded. There is no PyTorch that could compute others."""

    def get_or_compute(self, module: str, request: bytes, compute: Callable[[], Any]) -> Any:
        """Return the answer to a request; raise MissingAnswers if those of its assignment are missing."""
        if not shipped_file(self._course, module).is_file():
            raise MissingAnswers(module)
        return super().get_or_compute(module, request, compute)


class BrowserChecker:
    """Checks functions of the workspace in `folder`; `notify` is called while student code is called."""

    def __init__(self, folder: Path, curriculum: Curriculum, notify: Callable[[dict[str, Any]], None]) -> None:
        self._folder, self._curriculum, self._notify = folder, curriculum, notify
        answers = DownloadedAnswers(registry.folder(curriculum.package))
        self._reference = Reference(answers, package=curriculum.package)  # It keeps the answers that it has read.
        self._step, self._notified = "", 0.0

    def check(self, functions: tuple[str, ...], known: Mapping[str, Status], diagnose: bool) -> SubmissionResult:
        """Return the result of some functions; the known statuses of others decide what is blocked."""
        return self._check(self._folder, functions, known, diagnose=diagnose)

    def warm_up(self, assignment: Assignment) -> None:
        """Check the official solution of an assignment's first function."""
        self._check(registry.solutions(self._curriculum.package), (assignment.functions[0].qualified,), {})

    def _check(
        self, folder: Path, functions: tuple[str, ...], known: Mapping[str, Status], *, diagnose: bool = False
    ) -> SubmissionResult:
        options = session.Options(
            functions=functions,
            limits=LIMITS,
            curriculum=self._curriculum,
            workers=self.start_workers,
            reference=self._reference,
            keep_calls=True,
            on_search=lambda: self._report("search"),
        )
        results: list[SubmissionResult] = []
        session.run_in_session(
            options,
            lambda checks: results.append(checks.check(folder.name, folder, functions, known, diagnose=diagnose)),
        )
        return results[0]

    def start_workers(self, sandbox: SandboxPolicy) -> InProcessWorkers:
        """Return workers that tell the page about every call, and stop one that takes too long."""
        return InProcessWorkers(sandbox, partial(_WatchedProcess, lambda: self._report("call")))

    def _report(self, step: str) -> None:
        """Tell the page, now and then, that another call or another step of the search for a mistake begins."""
        now = time.monotonic()
        if step != self._step or now - self._notified > NOTIFY_SECONDS:
            self._step, self._notified = step, now
            self._notify({"event": "progress", "step": step})


class _WatchedProcess(InProcess):
    def __init__(
        self, on_call: Callable[[], None], folders: list[str], limits: dict[str, int], output: IO[bytes]
    ) -> None:
        super().__init__(folders, limits, output)
        self._on_call, self._folders = on_call, folders

    def receive(self, count: int, seconds_to_wait: Callable[[], float]) -> bytes:
        """Return the next `count` bytes of the answer; raise TimeoutError if student code was stopped."""
        self._on_call()
        with watch(self._folders, seconds_to_wait) as self._where:
            answer = super().receive(count, seconds_to_wait)
        if self._where:
            raise TimeoutError
        return answer

    def traceback(self) -> str:
        """Return where the call was stopped."""
        return "".join(self._where)


def run_experiment(folder: Path, curriculum: Curriculum, module: str, name: str) -> ExperimentRun:
    """Run the file of an assignment, as `python MODULE.py [NAME]` would in `folder`; "" is the main experiment."""
    output = CappedOutput(OUTPUT_BYTES)
    state = InterpreterState([str(folder)], cast("IO[bytes]", output), _UNLIMITED)
    arguments = [f"{module}.py", *([name] if name else [])]
    begin = time.monotonic()
    error = state.run(lambda: _run(arguments, folder, curriculum).encode("utf-8", "replace")).decode()
    seconds = time.monotonic() - begin
    state.end()
    if state.exit_code:
        error = f"The experiment ended with exit code {state.exit_code}."
    return ExperimentRun(output.text(), round(seconds, 2), error)


def _run(arguments: list[str], folder: Path, curriculum: Curriculum) -> str:
    """Run a program with this state of the interpreter; return why it ended early."""
    os.chdir(folder)
    sys.path.insert(0, str(folder))
    sys.argv = arguments
    try:
        runpy.run_path(arguments[0], run_name="__main__")
    except SystemExit as ending:
        if ending.code in (None, 0):
            return ""
        is_code = isinstance(ending.code, int)
        return f"The experiment ended with exit code {ending.code}." if is_code else str(ending.code)
    except FileNotFoundError as error:
        return _not_here(f"the file {error.filename}")
    except Exception as error:
        if isinstance(error, ModuleNotFoundError):
            package = (error.name or "").partition(".")[0]
            if package not in curriculum.modules:
                return _not_here("Headway's data sets" if package == "autograder" else f"the package {package}")
        return explain_error("".join(traceback.format_exception(error)), folder, curriculum)
    return ""


def _not_here(what: str) -> str:
    return f"This experiment needs {what}, which Python in the browser does not have. Run it in a terminal instead."
