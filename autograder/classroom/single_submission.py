"""Check one folder of untrusted code in the sandbox, read as strictly as the submissions of a class."""

import dataclasses
from pathlib import Path

from autograder.classroom.submissions import intake
from autograder.classroom.submissions.model import Attempt, SubmissionPart
from autograder.classroom.worker import scratch_folder
from autograder.core.text import clean
from autograder.engine import session
from autograder.errors import UsageError
from autograder.results import SubmissionResult
from autograder.sandbox import SandboxUnavailable, strongest_level


def check_in_sandbox(folder: Path, options: session.Options) -> SubmissionResult:
    """Check a copy of the modules and notebooks in `folder`; raise UsageError if this machine has no sandbox."""
    folder = folder.resolve()
    with scratch_folder() as scratch:
        try:
            sandbox = strongest_level(scratch)
        except SandboxUnavailable as error:
            problem = f"this machine has no sandbox for untrusted code ({error})"
            raise UsageError(f"{problem}. To see what is missing: headway doctor") from None
        copy = scratch / "submission"
        copy.mkdir()
        files = intake.read_files(Attempt((SubmissionPart(folder),)))
        results: list[SubmissionResult] = []

        def check(checks: session.CheckSession) -> None:
            notes = intake.copy_modules(files, copy, options.curriculum, checks.reader).notes
            result = checks.check(clean(folder.name), copy, options.functions)
            result.notes = notes
            results.append(result)

        session.run_in_session(dataclasses.replace(options, sandbox=sandbox), check)
        return results[0]
