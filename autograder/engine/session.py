"""Run the checks on submissions; what comes back is results. Pytest is the engine, driven here from inside."""

import hashlib
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.core.files import read_modules
from autograder.curriculum import Curriculum, registry
from autograder.engine.blocking import Blocking
from autograder.engine.prerequisites import OfficialPrerequisites
from autograder.engine.reference import Reference
from autograder.errors import HeadwayError, UsageError
from autograder.results import Status, SubmissionResult
from autograder.sandbox import NO_SANDBOX, Limits, SandboxPolicy, Workers

if TYPE_CHECKING:
    import pytest

    from autograder.engine.pytest_plugin import Job, Outcome, Run

CONFIGURATION = Path(__file__).with_name("pytest.ini")

# Of pytest's own plugins only what running tests needs: each of the others costs start-up time or time per check. The
# reporter is off because the result document is reported instead; `python -m pytest` with the plugin has it.
_OFF = [
    "cacheprovider",
    "capture",
    "doctest",
    "faulthandler",
    "junitxml",
    "legacypath",
    "logging",
    "nose",
    "pastebin",
    "setuponly",
    "setupplan",
    "stepwise",
    "threadexception",
    "unraisableexception",
    "warnings",
    "terminal",
    "terminalprogress",
    "debugging",
]


class InternalError(HeadwayError):
    """The kit itself failed; the command line exits with 3."""


@dataclass(frozen=True)
class Options:
    """How to check.

    Attributes:
        functions: qualified names; None for the whole curriculum.
        seed: 0 draws the public inputs.
        fork: see `Workers`.
        sandbox: what isolates student code, besides a process of its own.
        official: check each assignment on top of the official solutions of the earlier ones.
        diagnose: name the known mistakes behind failed checks.
        reference: instead of PyTorch behind the shipped memo and the user's cache.
    """

    functions: tuple[str, ...] | None = None
    seed: int = 0
    limits: Limits = field(default_factory=Limits)
    curriculum: Curriculum = field(default_factory=registry.default)
    fork: bool | None = None
    reference: Reference | None = None
    official: bool = False
    diagnose: bool = True
    sandbox: SandboxPolicy = NO_SANDBOX


def check(name: str, folder: Path, options: Options) -> SubmissionResult:
    """Check one submission. Functions that fail because of an unselected prerequisite are marked as blocked."""
    found: list[SubmissionResult] = []
    check_many([(name, folder)], options, found.append)
    return found[0]


def check_many(
    submissions: Iterable[tuple[str, Path]], options: Options, done: Callable[[SubmissionResult], None]
) -> None:
    """Check submissions one after another in one pytest session.

    Args:
        submissions: names and folders, read one at a time.
        done: called with each result as soon as it is there.

    Raises:
        InternalError: if pytest itself could not run the checks.
    """

    def one_after_another(judge: CheckSession) -> None:
        for name, folder in submissions:
            done(judge.check(name, folder, options.functions))

    run_in_session(options, one_after_another)


class CheckSession:
    """What a session gives to the one who holds it: called as often as wanted, each time on the files as they are.

    Everything that costs time once is warm: the server that forks student processes, pytest, the checks that were
    collected, the memo.
    """

    def __init__(self, options: Options, run: "Run", do: "Callable[[Job], Outcome]") -> None:
        self._options = options
        self._run = run
        self._asked = threading.Event()
        self._do = do
        run.cancelled = self._asked.is_set

    def clear_cancellation(self) -> None:
        """Forget that the job before was cancelled."""
        self._asked.clear()

    def cancel(self) -> None:
        """From another thread: make the job under way end with `Cancelled`, a loop in student code included."""
        self._asked.set()
        if self._run.desk is not None:
            self._run.desk.interrupt()

    def check(
        self,
        name: str,
        folder: Path,
        functions: tuple[str, ...] | None,
        known: Mapping[str, Status] | None = None,
        *,
        diagnose: bool = True,
    ) -> SubmissionResult:
        """Check some functions of one submission.

        Args:
            functions: qualified names; None for the whole curriculum.
            known: status of functions that need not be checked again to say what is blocked.
            diagnose: name the mistakes behind failed checks, if the options say so.
        """
        from autograder.engine.pytest_plugin import Job

        started = time.perf_counter()
        options = self._options
        every = tuple(options.curriculum.functions) if functions is None else functions
        with ExitStack() as stack:
            official = None
            if options.official:
                official = stack.enter_context(
                    closing(OfficialPrerequisites(options.curriculum, options.sandbox.submissions_root))
                )
            folder_for = official.folder_for if official else None
            outcome = self._do(Job(folder, frozenset(every), folder_for, diagnose))
            result = SubmissionResult(name, content_hash(folder), options.seed, outcome.results, outcome.problems)
            result.official_prerequisites = official is not None
            result.sandbox = options.sandbox.layers
            Blocking(folder, options.curriculum, options.sandbox.submissions_root, self._do).mark(
                result, every, known or {}
            )
        result.seconds = time.perf_counter() - started
        return result


def run_in_session(options: Options, body: Callable[[CheckSession], None]) -> None:
    """Open one pytest session, and let `body` have submissions judged in it as long as it likes.

    Raises:
        InternalError: if pytest itself could not run the checks.
    """
    # The worker server first of all: its NumPy loads while this process loads pytest.
    with Workers(options.fork, options.sandbox) as workers:
        import pytest

        from autograder.engine import pytest_plugin

        run = pytest_plugin.Run(
            workers=workers,
            reference=options.reference or Reference.of_course(options.curriculum.package),
            drive=lambda do: body(CheckSession(options, run, do)),
            checks_of=partial(registry.check_modules, package=options.curriculum.package),
            seed=options.seed,
            curriculum=options.curriculum,
            limits=options.limits,
            diagnose=options.diagnose,
        )
        hand_over = _HandOver(run)
        with _only_our_settings():
            code = pytest.main(_arguments(options.curriculum, options.functions), plugins=[pytest_plugin, hand_over])
        if run.refused is not None:
            raise run.refused
        if hand_over.error is not None:
            raise hand_over.error
        if code not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
            raise InternalError(f"pytest could not run the checks (exit code {int(code)})")


def _arguments(curriculum: Curriculum, functions: tuple[str, ...] | None) -> list[str]:
    names = curriculum.functions if functions is None else functions
    modules = dict.fromkeys(curriculum.functions[name].module for name in names)
    checks = [name for module in modules for name in registry.check_modules(module, curriculum.package)]
    # -c: no configuration file is looked for, above all none in a submission; --noconftest: none is loaded.
    settings = ["-c", str(CONFIGURATION), "--rootdir", str(registry.checks(curriculum.package)), "--noconftest"]
    switches = ["--import-mode=importlib", "--assert=plain", *(f"-pno:{name}" for name in _OFF)]
    return [*settings, *switches, "--pyargs", *checks]


class _HandOver:
    """A plugin that gives the run to the session, and keeps an exception that is not pytest's business."""

    def __init__(self, run: object) -> None:
        self._run = run
        self.error: BaseException | None = None
        self.broken = ""  # why a file of checks could not be read

    def pytest_configure(self, config: object) -> None:
        from autograder.engine.pytest_plugin import RUN

        config.stash[RUN] = self._run  # type: ignore[attr-defined]
        # Nobody reads pytest's tracebacks here; its long style parses the source of every frame, 50 ms a check.
        config.option.tbstyle = "native"  # type: ignore[attr-defined]

    def pytest_collectreport(self, report: "pytest.CollectReport") -> None:
        if report.failed:
            self.broken = f"{report.nodeid}: {str(report.longrepr).strip().splitlines()[-1]}"

    def pytest_keyboard_interrupt(self, excinfo: object) -> None:
        unreadable = InternalError(f"checks cannot be read: {self.broken}") if self.broken else None
        self.error = unreadable or KeyboardInterrupt()  # pytest stops for either in the same way

    def pytest_internalerror(self, excrepr: object, excinfo: object) -> bool:
        error = excinfo.value  # type: ignore[attr-defined]
        ours = isinstance(error, (HeadwayError, OSError))  # a disk that is full is told as what it is
        self.error = error if ours else InternalError(f"{type(error).__name__}: {error}")
        return True


@contextmanager
def _only_our_settings() -> Iterator[None]:
    """Without the user's own pytest settings: they are for the user's own tests."""
    names = ("PYTEST_ADDOPTS", "PYTEST_PLUGINS", "PYTEST_DISABLE_PLUGIN_AUTOLOAD")
    before = {name: os.environ.pop(name, None) for name in names}
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


def content_hash(folder: Path) -> str:
    """SHA-256 of the submission's Python files: names and contents, in the order of the names."""
    state = hashlib.sha256()
    for name, content in read_modules(folder):
        state.update(f"{name}\0{len(content)}\0".encode("utf-8", "surrogateescape") + content)
    return state.hexdigest()


def require_folder(folder: Path, curriculum: Curriculum) -> Path:
    """The folder, if it looks like a submission.

    Raises:
        UsageError: if it is missing, not a folder, unreadable, or holds none of the assignments.
    """
    if not folder.exists():
        raise UsageError(f"there is no folder {folder}. Make a workspace first: headway init {folder}")
    if not folder.is_dir():
        raise UsageError(f"{folder} is not a folder. Name the folder that holds your modules: --dir FOLDER")
    try:
        names = {path.stem for path in folder.glob("*.py")}
        next(folder.iterdir(), None)
    except OSError as error:
        raise UsageError(
            f"{folder} cannot be read ({error.strerror}). Look at its permissions: ls -ld {folder}"
        ) from None
    if not names & set(curriculum.modules):
        which = "this folder" if folder == Path() else folder
        raise UsageError(
            f"{which} holds none of the assignments ({', '.join(list(curriculum.modules)[:3])}, …). "
            f"Go to your workspace, or name it: --dir FOLDER. A new one: headway init my-gpt"
        )
    return folder
