"""What the subcommands of `headway export` share: the graded class they read, and the file they write."""

import contextlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.cli import options
from autograder.core.text import counted
from autograder.errors import UsageError

if TYPE_CHECKING:
    from autograder.classroom.storage.gradebook import Gradebook
    from autograder.documents.reading import Document


@dataclass(frozen=True)
class ExportOutput:
    """The folder of a graded class, and where to write."""

    out: Path
    to: Path | None
    force: bool
    despite_open: bool = False  # write although questions are open

    def target(self, name: str, names: Iterable[str] = ()) -> Path:
        """Return the file to write; `names` where each assignment has a file of its own."""
        stem, _, suffix = name.partition(".")
        first = next(iter(names), "")
        return self.to or self.out / "exports" / (f"{stem}-{first}.{suffix}" if first else name)

    @contextlib.contextmanager
    def replacing(self, target: Path, files: list[Path] | None = None) -> Iterator[None]:
        """Write `target` in the block: replace only what an export wrote, and report what the system refuses."""
        from autograder.core.files import report_write_error
        from autograder.core.output_files import OutputRecord

        record, files = OutputRecord(self.out, is_own_folder=True), files or [target]
        record.require_replaceable(files, option="--to PATH", force=self.force)
        with report_write_error(target, "Choose another place: --to PATH"):
            yield
        if self.out.is_dir():
            record.add(files)

    def read(self, names: Iterable[str] = ()) -> "Gradebook":
        """Return the graded class, and name the students whose scores are not complete."""
        from autograder.classroom.storage import gradebook
        from autograder.report import open_questions

        book, names = gradebook.read(self.out), list(names)
        for line in _unmarked_questions(book, names):
            options.show(line)
        questions = open_questions.question_lines(
            {**student, "open": [one for one in student["open"] if _concerns(one, names)]}
            for student in gradebook.with_class(book.document)
        )
        for one in questions:
            options.show(f"{one.name}: {one.text}. {' or '.join(one.commands(str(self.out)))}")
        if questions and not self.despite_open:
            raise UsageError(
                f"{counted(len(questions), 'question')} about these grades {'is' if len(questions) == 1 else 'are'} "
                "open, so nothing was written. Decide with the commands above, or export anyway: --despite-open"
            )
        return book


def _concerns(question: "Document", names: list[str]) -> bool:
    """Return whether a question is about these grades as they are; a student's request can wait."""
    return question["kind"] != "request" and (not names or question["assignment"] in (*names, ""))


def report(count: int, what: str, where: Path | str, next_step: str) -> None:
    """Say what was written, and what to do with it."""
    options.show(f"Wrote {counted(count, what)} to {where}")
    options.show(f"Next: {next_step}", "dim")


def _unmarked_questions(book: "Gradebook", names: list[str]) -> Iterator[str]:
    """Name the questions that are not marked for some students; they count 0 until then."""
    from autograder.classroom.exporters.lms_plan import listed
    from autograder.report.score_words import unmarked_rubric_items

    students: dict[tuple[str, str], list[str]] = {}
    for student in book.students:
        for item in unmarked_rubric_items(student):
            if not names or item[0] in names:
                students.setdefault(item, []).append(book.names[student["submission"]])
    for (assignment, title), unmarked in students.items():
        question = f'{assignment}: "{title}" is not graded yet for {counted(len(unmarked), "student")} and counts 0'
        yield f"{question}: {listed(unmarked)}. See: headway comment --help"
