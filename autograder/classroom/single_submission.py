"""Check one folder instead of a class: run untrusted code in the sandbox; write reports in the formats of a class."""

import dataclasses
from pathlib import Path

from autograder.classroom.exporters import junit
from autograder.classroom.grading.worker import scratch_folder
from autograder.classroom.submissions import intake
from autograder.classroom.submissions.account import account_for
from autograder.classroom.submissions.model import Attempt, SubmissionPart
from autograder.core.files import write_atomically
from autograder.core.text import clean_name
from autograder.documents.reading import Document
from autograder.documents.results import SubmissionResult
from autograder.engine import session
from autograder.report.student_feedback import as_markdown
from autograder.sandbox.probe import require_level


def check_in_sandbox(folder: Path, options: session.Options) -> SubmissionResult:
    """Check a copy of the modules and notebooks in `folder`; raise UsageError if this machine has no sandbox."""
    folder = folder.resolve()
    with scratch_folder() as scratch:
        sandbox = require_level(scratch)
        copy = scratch / "submission"
        copy.mkdir()
        files = intake.read_files(Attempt((SubmissionPart(folder),)))
        results: list[SubmissionResult] = []

        def check(checks: session.CheckSession) -> None:
            account = account_for(files, options.curriculum, checks.reader)
            account.write(copy, options.curriculum)
            result = checks.check(clean_name(folder.name), copy, options.functions)
            result.notes, result.files = [*account.notes, *result.notes], account.files
            results.append(result)

        session.run_in_session(dataclasses.replace(options, sandbox=sandbox), check)
        return results[0]


def write_reports(title: str, result: Document, markdown: Path | None, junit_xml: Path | None) -> None:
    """Write a result document as Markdown and as JUnit XML, to the files that are given."""
    earned, possible = result["points"]["earned"], result["points"]["possible"]
    student: Document = {
        "name": title, "id": "", "submission": title, "status": "graded", "reason": "", "limit_note": "",
        "score": earned, "out_of": possible, "percent": 100 * earned / possible if possible else None,
        "late_days": 0, "penalty": 0.0, "assignments": {}, "dropped": [], "comments": [],
    }  # fmt: skip
    if markdown:
        write_atomically(markdown, as_markdown(student, result).encode("utf-8", "replace"))
    if junit_xml:
        junit.write_suites([(student, result)], junit_xml)
