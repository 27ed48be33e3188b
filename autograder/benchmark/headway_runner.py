"""The runner that grades with Headway: every check of the function, in the sandbox, on top of official prerequisites.

An implementation is called wrong if a check does not pass, and the named mistake is the first that a check reports.
Questions may come from others: their sources are only ever read and run in the sandbox.
"""

import argparse
import shutil
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from autograder.benchmark.answer_lines import read_questions, write_answer
from autograder.benchmark.records import Answer, Question
from autograder.core import gc_tuning
from autograder.curriculum import Curriculum, registry
from autograder.engine.session import CheckSession, Options, run_in_session
from autograder.errors import HeadwayError
from autograder.results import SubmissionResult
from autograder.sandbox import NO_SANDBOX, SandboxPolicy, SandboxUnavailable, strongest_level


def main() -> None:
    """Answer every question on standard input."""
    parser = argparse.ArgumentParser(description="Answer questions of the benchmark by grading with Headway.")
    parser.add_argument("--unsafe", action="store_true", help="run the sources without a sandbox")
    arguments = parser.parse_args()
    gc_tuning.raise_gc_threshold()
    with tempfile.TemporaryDirectory(prefix="headway-") as folder:
        scratch = Path(folder).resolve()
        options = Options(official=True, sandbox=NO_SANDBOX if arguments.unsafe else _sandbox(scratch))
        try:
            run_in_session(options, lambda session: _answer_all(session, scratch, options.curriculum))
        except HeadwayError as error:
            sys.exit(str(error))


def _sandbox(scratch: Path) -> SandboxPolicy:
    try:
        return strongest_level(scratch)
    except SandboxUnavailable as error:
        advice = f"Only for a data set that you made yourself: {sys.executable} -m {__spec__.name} --unsafe"
        sys.exit(f"this machine has no sandbox for untrusted code ({error}). {advice}")


def _answer_all(session: CheckSession, scratch: Path, curriculum: Curriculum) -> None:
    for question in read_questions():
        if question.function not in curriculum.functions:
            write_answer(Answer(question.id, error="this version of Headway has no such function"))
            continue
        folder = Path(tempfile.mkdtemp(dir=scratch))
        write_submission(folder, question, curriculum)
        write_answer(answer_of(question, session.check(question.id, folder, (question.function,))))
        shutil.rmtree(folder, ignore_errors=True)


def write_submission(folder: Path, question: Question, curriculum: Curriculum) -> None:
    """Write the module of a question: its own definitions replace official ones, which it may not have."""
    module = question.function.partition(".")[0]
    shutil.copyfile(registry.solution_path(module, curriculum.package), folder / f"_official_{module}.py")
    source = f"from _official_{module} import *\n\n{question.source}"
    (folder / f"{module}.py").write_text(source, "utf-8", "surrogatepass")


def answer_of(question: Question, result: SubmissionResult) -> Answer:
    """Return the answer that follows from the results of the checks."""
    if result.internal_errors:
        return Answer(question.id, error=f"internal error: {result.internal_errors[0]}")
    failed = [check for check in result.checks if check.function == question.function and check.status != "passed"]
    named = (name for check in failed if check.mistake for name in _single_names(check.mistake["id"]))
    candidates = {candidate.id for candidate in question.candidates}
    return Answer(question.id, bool(failed), next((name for name in named if name in candidates), None))


def _single_names(mistakes: str) -> Iterable[str]:
    """Return the ids in a diagnosis, which joins several by | or +."""
    return mistakes.replace("|", "+").split("+")


if __name__ == "__main__":
    main()
