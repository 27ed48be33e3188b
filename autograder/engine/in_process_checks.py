"""Check functions in this very interpreter, again and again: for a browser, which has no processes and no threads."""

from collections.abc import Mapping
from pathlib import Path

from autograder.curriculum import Curriculum, registry
from autograder.engine.reference import Reference, shipped_answers
from autograder.engine.reference.memo import Memo
from autograder.engine.session import CheckSession, Options, run_in_session
from autograder.results import Status, SubmissionResult
from autograder.sandbox.in_process import InProcessWorkers


class InProcessChecker:
    """Checks functions of the modules in a folder, each time as the files are at that moment.

        checker = InProcessChecker()
        result = checker.check("my-gpt", folder, ("softmax.softmax",))

    The first check of an assignment also imports its checks and reads the shipped answers of its reference; later ones
    start a new pytest session and nothing else. Only the public inputs can be checked, because their answers ship with
    the course.

    The student's code runs in this interpreter, in which nothing protects anything from it (see
    `sandbox/in_process.py`). `check` returns when the code does: there is no deadline here, so the caller must be able
    to end the interpreter.
    """

    def __init__(self, curriculum: Curriculum | None = None) -> None:
        self._curriculum = curriculum or registry.default()
        package = self._curriculum.package
        self._reference = Reference(Memo(shipped_answers(package)), package=package)

    def check(
        self,
        name: str,
        folder: Path,
        functions: tuple[str, ...],
        known: Mapping[str, Status] | None = None,
        *,
        diagnose: bool = True,
    ) -> SubmissionResult:
        """Check some functions, given by their qualified names; the arguments are those of `CheckSession.check`."""
        found: list[SubmissionResult] = []

        def check(session: CheckSession) -> None:
            found.append(session.check(name, folder, functions, known, diagnose=diagnose))

        options = Options(functions, curriculum=self._curriculum, reference=self._reference, workers=InProcessWorkers)
        run_in_session(options, check)
        return found[0]
