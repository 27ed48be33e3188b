"""Run the checks on submissions; what comes back is results. Pytest is the engine, driven here from inside."""

import hashlib
import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autograder import courses
from autograder.curriculum import TRANSFORMER, Curriculum
from autograder.errors import HeadwayError, UsageError
from autograder.prerequisites import OfficialPrerequisites, used_within, with_stand_ins
from autograder.reference import Reference
from autograder.results import CheckResult, Status, SubmissionResult, mark_blocked, wait_for_an_answer
from autograder.worker import OPEN, Limits, Wall, Workers

if TYPE_CHECKING:
    import pytest

    from autograder.plugin import Job, Outcome, Run

CHECKS = Path(__file__).with_name("checks")

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


class KitError(HeadwayError):
    """The kit itself failed; the command line exits with 3."""


@dataclass(frozen=True)
class Options:
    """How to check.

    Attributes:
        functions: qualified names; None for the whole curriculum.
        seed: 0 draws the public inputs.
        fork: see `Workers`.
        wall: what stands around student code besides a process of its own.
        official: check each assignment on top of the official solutions of the earlier ones.
        diagnose: name the known mistakes behind failed checks.
        reference: instead of PyTorch behind the shipped memo and the user's cache.
    """

    functions: tuple[str, ...] | None = None
    seed: int = 0
    limits: Limits = field(default_factory=Limits)
    curriculum: Curriculum = TRANSFORMER
    fork: bool | None = None
    reference: Reference | None = None
    official: bool = False
    diagnose: bool = True
    wall: Wall = OPEN


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
        KitError: if pytest itself could not run the checks.
    """

    def one_after_another(judge: Judge) -> None:
        for name, folder in submissions:
            done(judge(name, folder, options.functions))

    hold_session(options, one_after_another)


class Judge:
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

    def start_over(self) -> None:
        """Forget that the job before was cancelled."""
        self._asked.clear()

    def cancel(self) -> None:
        """From another thread: make the job under way end with `Cancelled`, a loop in student code included."""
        self._asked.set()
        if self._run.desk is not None:
            self._run.desk.interrupt()

    def __call__(
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
        from autograder.plugin import Job

        started = time.perf_counter()
        options = self._options
        every = tuple(options.curriculum.functions) if functions is None else functions
        with ExitStack() as stack:
            official = None
            if options.official:
                official = self._official(stack)
            folder_for = official.folder_for if official else None
            outcome = self._do(Job(folder, frozenset(every), folder_for, diagnose))
            result = SubmissionResult(name, content_hash(folder), options.seed, outcome.results, outcome.problems)
            result.official_prerequisites = official is not None
            result.sandbox = options.wall.names
            wrong = {
                *(check.function for check in self._prerequisites(folder, result, every, known or {})),
                *(function for function, status in (known or {}).items() if status != "passed"),
            }
            mark_blocked(result, wrong - set(every), options.curriculum)
            if official is None:
                self._block_by_what_they_use(folder, result, wrong)
            wait_for_an_answer(result.checks)
            if official is None:
                self._say_what_is_right_by_itself(folder, result)
        result.seconds = time.perf_counter() - started
        return result

    def _official(self, stack: ExitStack) -> OfficialPrerequisites:
        official = OfficialPrerequisites(self._options.curriculum, self._options.wall.spool)
        stack.callback(official.close)
        return official

    def _prerequisites(
        self, folder: Path, result: SubmissionResult, selected: tuple[str, ...], known: Mapping[str, Status]
    ) -> list[CheckResult]:
        """Checks that do not pass of what failed functions are built on, where it was not selected."""
        if self._options.official:
            return []
        from autograder.plugin import Job

        failed = {check.function for check in result.checks if check.status in ("failed", "error", "timeout")}
        needed = {need for function in failed for need in self._options.curriculum.all_needs(function)}
        needed |= {used for function in failed for used in self._used(folder, function)}
        needed -= {*selected, *known}
        if not needed:
            return []
        return [check for check in self._do(Job(folder, frozenset(needed))).results if check.status != "passed"]

    def _used(self, folder: Path, function: str) -> list[str]:
        """Other functions of the same assignment that the student's function uses, although it need not."""
        curriculum = self._options.curriculum
        module, _, name = function.partition(".")
        names = [one.name for one in curriculum.modules[module].functions]
        used = used_within(folder / f"{module}.py", names).get(name, set())
        return [qualified for one in names if one in used and (qualified := f"{module}.{one}") in curriculum.functions]

    def _block_by_what_they_use(self, folder: Path, result: SubmissionResult, others: Iterable[str]) -> None:
        """Block failed checks that pass with official functions in place of wrong ones that they use without need.

        A `log_softmax` that calls `softmax` is right where it is right given a right softmax; that is tried out.
        """
        from autograder.plugin import Job

        wrong = {*others, *(check.function for check in result.checks if check.status != "passed")}
        failed = [check for check in result.checks if check.status in ("failed", "error")]
        for function in dict.fromkeys(check.function for check in failed):
            used = [name for name in self._used(folder, function) if name in wrong]
            if not used:
                continue
            module = function.partition(".")[0]
            with tempfile.TemporaryDirectory(prefix="headway-", dir=self._options.wall.spool) as scratch:
                names = [name.partition(".")[2] for name in used]
                with_stand_ins(Path(scratch), folder, module, names, self._options.curriculum.package)
                again = {check.id: check for check in self._do(Job(Path(scratch), frozenset([function]))).results}
            for check in failed:
                if check.id in again and again[check.id].status == "passed":
                    check.status, check.earned, check.blocked_by, check.mistake = "blocked", 0.0, used, None
                    check.message, check.help = _right_by_itself(used), None
                elif check.id in again:
                    check.mistake = _given(used, again[check.id].mistake)

    def _say_what_is_right_by_itself(self, folder: Path, result: SubmissionResult) -> None:
        """Check again what is blocked by wrong work in another assignment, with official solutions in its place."""
        blocked = [c for c in result.checks if c.status == "blocked" and c.function not in c.blocked_by]
        checks = {check.id: check for check in blocked if check.was_wrong or not check.sees_answers}
        if not checks:
            return
        from autograder.plugin import Job

        with ExitStack() as stack:
            functions = frozenset(check.function for check in checks.values())
            again = self._do(Job(folder, functions, self._official(stack).folder_for, diagnose=False))
        wait_for_an_answer(again.results)
        for check in again.results:
            if check.id in checks and check.status == "passed":
                waiting = checks[check.id]
                waiting.message, waiting.help = _right_by_itself(waiting.blocked_by), None


def _right_by_itself(needs: Iterable[str]) -> str:
    return f"right by itself: with the official {', '.join(needs)} it passes, with yours it cannot yet"


def _given(official: Iterable[str], mistake: dict[str, Any] | None) -> dict[str, Any] | None:
    """What is wrong with a function itself: found out with official functions in place of those that it uses."""
    if mistake is None:
        return None
    return mistake | {"reason": f"found with the official {', '.join(official)} in place of yours: {mistake['reason']}"}


def hold_session(options: Options, body: Callable[[Judge], None]) -> None:
    """Open one pytest session, and let `body` have submissions judged in it as long as it likes.

    Raises:
        KitError: if pytest itself could not run the checks.
    """
    # The worker server first of all: its NumPy loads while this process loads pytest.
    with Workers(options.fork, options.wall) as workers:
        import pytest

        from autograder import plugin

        run = plugin.Run(
            workers=workers,
            reference=options.reference or Reference.of_course(options.curriculum.package),
            drive=lambda do: body(Judge(options, run, do)),
            files_of=partial(courses.check_files, package=options.curriculum.package),
            seed=options.seed,
            curriculum=options.curriculum,
            limits=options.limits,
            diagnose=options.diagnose,
        )
        hand_over = _HandOver(run)
        with _only_our_settings():
            code = pytest.main(_arguments(options.curriculum, options.functions), plugins=[plugin, hand_over])
        if run.refused is not None:
            raise run.refused
        if hand_over.error is not None:
            raise hand_over.error
        if code not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
            raise KitError(f"pytest could not run the checks (exit code {int(code)})")


def _arguments(curriculum: Curriculum, functions: tuple[str, ...] | None) -> list[str]:
    names = curriculum.functions if functions is None else functions
    modules = dict.fromkeys(curriculum.functions[name].module for name in names)
    files = [str(path) for module in modules for path in courses.check_files(module, curriculum.package)]
    # -c: no configuration file is looked for, above all none in a submission; --noconftest: none is loaded.
    settings = ["-c", str(CHECKS / "pytest.ini"), "--rootdir", str(courses.checks(curriculum.package)), "--noconftest"]
    return [*settings, "--import-mode=importlib", "--assert=plain", *(f"-pno:{name}" for name in _OFF), *files]


class _HandOver:
    """A plugin that gives the run to the session, and keeps an exception that is not pytest's business."""

    def __init__(self, run: object) -> None:
        self._run = run
        self.error: BaseException | None = None
        self.broken = ""  # why a file of checks could not be read

    def pytest_configure(self, config: object) -> None:
        from autograder.plugin import RUN

        config.stash[RUN] = self._run  # type: ignore[attr-defined]
        # Nobody reads pytest's tracebacks here; its long style parses the source of every frame, 50 ms a check.
        config.option.tbstyle = "native"  # type: ignore[attr-defined]

    def pytest_collectreport(self, report: "pytest.CollectReport") -> None:
        if report.failed:
            self.broken = f"{report.nodeid}: {str(report.longrepr).strip().splitlines()[-1]}"

    def pytest_keyboard_interrupt(self, excinfo: object) -> None:
        unreadable = KitError(f"checks cannot be read: {self.broken}") if self.broken else None
        self.error = unreadable or KeyboardInterrupt()  # pytest stops for either in the same way

    def pytest_internalerror(self, excrepr: object, excinfo: object) -> bool:
        error = excinfo.value  # type: ignore[attr-defined]
        self.error = error if isinstance(error, HeadwayError) else KitError(f"{type(error).__name__}: {error}")
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
    for path in sorted(folder.glob("*.py")):
        if path.is_file():
            content = path.read_bytes()
            state.update(f"{path.name}\0{len(content)}\0".encode("utf-8", "surrogateescape") + content)
    return state.hexdigest()


def require_folder(folder: Path, curriculum: Curriculum = TRANSFORMER) -> Path:
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
