"""Check submissions. Pytest runs the checks, called from here."""

import hashlib
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.core import interpreter
from autograder.core.files import read_modules, report_read_error
from autograder.course import Curriculum, registry
from autograder.documents.results import Status, SubmissionResult
from autograder.engine.blocking import BlockedChecks
from autograder.engine.jobs import Job
from autograder.engine.jobs import Options as Options
from autograder.errors import HeadwayError, UsageError
from autograder.sandbox.limits import Limits
from autograder.sandbox.source_reader import SourceReader
from autograder.sandbox.student_process import ResourceUsage

if TYPE_CHECKING:
    import pytest

    from autograder.engine.job_runner import JobRunner

CONFIGURATION = Path(__file__).with_name("pytest.ini")

# Each of these plugins costs start-up time or time per check, and running the checks needs none of them. The reporter
# is off because the result document is reported instead; `python -m pytest -p autograder.engine.pytest_plugin` has it.
DISABLED_PLUGINS = """
cacheprovider capture debugging doctest faulthandler junitxml legacypath logging nose pastebin setuponly setupplan
stepwise terminal terminalprogress threadexception unittest unraisableexception warnings
"""


class InternalError(HeadwayError):
    """Headway itself failed; the command line exits with 3."""


def check(name: str, folder: Path, options: Options) -> SubmissionResult:
    """Check one submission. Functions that fail because of an unselected prerequisite are marked as blocked."""
    results: list[SubmissionResult] = []
    run_in_session(options, lambda session: results.append(session.check(name, folder, options.functions)))
    return results[0]


def run_in_session(options: Options, main: "Callable[[CheckSession], None]") -> None:
    """Call `main` with a session inside pytest's run loop; raise InternalError if pytest could not run the checks."""
    # Workers come first: their server loads NumPy while this process loads pytest.
    with options.workers(options.sandbox) as workers, closing(SourceReader(workers)) as reader:
        import pytest

        from autograder.engine import pytest_plugin
        from autograder.engine.job_runner import JobRunner

        runner = JobRunner(workers, options, lambda runner: main(CheckSession(runner, reader)))
        plugin = _SessionPlugin(runner)
        with _without_user_settings():
            code = pytest.main(_arguments(options.curriculum, options.functions), plugins=[pytest_plugin, plugin])
        if error := runner.usage_error or plugin.error:
            raise error
        if code not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
            raise InternalError(f"pytest could not run the checks (exit code {int(code)})")


class CheckSession:
    """Checks any number of submissions, each as its files are at that moment, without paying for the start again."""

    def __init__(self, runner: "JobRunner", reader: SourceReader) -> None:
        self._options, self._runner = runner.options, runner
        self.reader = reader  # of the next submission's source, until it has been checked
        self.cancel, self.clear_cancellation = runner.cancel, runner.clear_cancellation
        self.seconds_left = runner.seconds_left  # of the current call; for another thread

    def check(
        self,
        name: str,
        folder: Path,
        functions: tuple[str, ...] | None,
        known: Mapping[str, Status] | None = None,
        *,
        diagnose: bool = True,
        limits: Limits | None = None,
    ) -> SubmissionResult:
        """Check some functions of one submission, or the whole course; raise Cancelled after `cancel`.

        Functions whose status is `known` need not be checked again to decide what is blocked. `limits` replace those of
        the session for this submission.
        """
        started, grader_started = time.perf_counter(), interpreter.cpu_seconds()
        self._runner.limits = limits or self._options.limits
        selected = tuple(self._options.curriculum.functions) if functions is None else functions
        usage = ResourceUsage()
        found = self._runner.run(Job(folder, frozenset(selected), self._options.official, diagnose, usage))
        result = SubmissionResult(name, content_hash(folder), self._options.seed, found.checks, found.problems)
        result.official_prerequisites = self._options.official
        result.sandbox = self._runner.workers.layers
        result.packages = self._options.sandbox.packages
        blocked = BlockedChecks(folder, self._options, self._runner.run, self.reader, usage)
        blocked.mark(result, selected, known or {})
        spent = self.reader.next_submission()
        usage.seconds += spent.seconds
        usage.cpu_seconds += spent.cpu_seconds
        usage.grader_seconds = interpreter.cpu_seconds() - grader_started  # diagnosis included
        result.notes = list(dict.fromkeys([*found.notes, *blocked.notes]))
        result.used = {
            "seconds": round(usage.seconds, 3), "cpu_seconds": round(usage.cpu_seconds, 3),
            "asleep_seconds": round(usage.sleep.seconds, 3), "memory_bytes": usage.memory_bytes,
            "grader_seconds": round(usage.grader_seconds + usage.official_seconds, 3),
            "output_bytes": usage.printed, "answer_bytes": usage.received, "processes": usage.processes,
        }  # fmt: skip
        result.seconds = time.perf_counter() - started
        return result


def _arguments(curriculum: Curriculum, functions: tuple[str, ...] | None) -> list[str]:
    names = curriculum.functions if functions is None else functions
    modules = dict.fromkeys(curriculum.functions[name].module for name in names)
    checks = [name for module in modules for name in registry.check_modules(module, curriculum.package)]
    # -c keeps pytest from looking for a configuration file, and --noconftest from loading one, such as a submission's.
    settings = ["-c", str(CONFIGURATION), "--rootdir", str(registry.folder(curriculum.package)), "--noconftest"]
    switches = ["--import-mode=importlib", "--assert=plain", *(f"-pno:{name}" for name in DISABLED_PLUGINS.split())]
    return [*settings, *switches, "--pyargs", *checks]


class _SessionPlugin:
    """Passes the runner to the pytest plugin, and keeps the exception that ends the session."""

    def __init__(self, runner: "JobRunner") -> None:
        self._runner = runner
        self._collection_error = ""
        self.error: BaseException | None = None

    def pytest_configure(self, config: "pytest.Config") -> None:
        from autograder.engine.pytest_plugin import RUNNER

        config.stash[RUNNER] = self._runner
        # Nobody reads pytest's tracebacks here; its long style parses the source of every frame, 50 ms per check.
        config.option.tbstyle = "native"

    def pytest_collectreport(self, report: "pytest.CollectReport") -> None:
        if report.failed:
            self._collection_error = f"{report.nodeid}: {str(report.longrepr).strip().splitlines()[-1]}"

    def pytest_keyboard_interrupt(self) -> None:
        # Pytest reports a failed collection and Ctrl-C in the same way.
        text = self._collection_error
        self.error = InternalError(f"checks cannot be read: {text}") if text else KeyboardInterrupt()

    def pytest_internalerror(self, excinfo: "pytest.ExceptionInfo[BaseException]") -> bool:
        error = excinfo.value
        expected = isinstance(error, (HeadwayError, OSError))  # Such as a full disk.
        self.error = error if expected else InternalError(f"{type(error).__name__}: {error}")
        return True


@contextmanager
def _without_user_settings() -> Iterator[None]:
    """Hide the user's pytest settings, which are for the user's own tests."""
    names = ("PYTEST_ADDOPTS", "PYTEST_PLUGINS", "PYTEST_DISABLE_PLUGIN_AUTOLOAD")
    before = {name: os.environ.pop(name) for name in names if name in os.environ}
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    try:
        yield
    finally:
        del os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"]
        os.environ.update(before)


def content_hash(folder: Path) -> str:
    """Return the SHA-256 of the names and contents of the submission's Python files, in the order of the names."""
    state = hashlib.sha256()
    for name, content in read_modules(folder):
        state.update(f"{name}\0{len(content)}\0".encode("utf-8", "surrogateescape") + content)
    return state.hexdigest()


def require_folder(folder: Path, curriculum: Curriculum) -> None:
    """Raise UsageError unless `folder` is a readable folder with some of the assignments."""
    if not folder.exists():
        raise UsageError(f"no such folder: {folder}. Create a workspace first: headway init {folder}")
    if not folder.is_dir():
        raise UsageError(f"{folder} is not a folder. Name the folder that holds your modules: --dir FOLDER")
    with report_read_error(folder):
        names = {path.stem for path in folder.glob("*.py")}
        next(folder.iterdir(), None)
    if not names & set(curriculum.modules):
        text = f"{'this folder' if folder == Path() else folder} holds none of the assignments"
        advice = "Go to your workspace, or name it: --dir FOLDER. To create a new one: headway init my-gpt"
        raise UsageError(f"{text} ({', '.join(list(curriculum.modules)[:3])}, …). {advice}")
