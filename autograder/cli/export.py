"""The command `headway export`, with a subcommand for each format."""

import contextlib
import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from autograder.cli import options
from autograder.cli.nbgrader import show_excuses, without_password, write_course
from autograder.core.text import counted
from autograder.errors import UsageError

if TYPE_CHECKING:
    from autograder.classroom.exporters.gradescope import Visibility
    from autograder.classroom.exporters.lms_plan import LmsPlan
    from autograder.classroom.storage.gradebook import Gradebook
    from autograder.documents.reading import Document

Names = tuple[str, ...]

ONE_ASSIGNMENT = "Only this assignment (default: the total)."
_worksheet = click.option(
    "--worksheet",
    type=options.PATH,
    metavar="FILE",
    help="The assignment's grading worksheet (default: the roster, if it is one).",
)
_keep_existing = click.option("--keep-existing", is_flag=True, help="Keep every grade that is already there.")
_partial = click.option("--partial", is_flag=True, help="FILE has only a part of the class, such as one section.")
_dry_run = click.option("--dry-run", is_flag=True, help="Only report what would change.")
_visibility = click.option(
    "--visibility",
    type=click.Choice(["visible", "after_due_date", "after_published", "hidden"]),
    default="visible",
    help="When students see the tests. Hidden checks stay hidden.",
)


@dataclass(frozen=True)
class ExportOutput:
    """The folder of a graded class, and where to write."""

    out: Path
    to: Path | None
    force: bool
    despite_open: bool  # write although questions are open
    names: Names = ()  # of the assignments to export; empty for all, or for the total

    def target(self, name: str, *, by_assignment: bool = False) -> Path:
        """Return the file to write; `by_assignment` if each assignment has a file of its own."""
        if by_assignment and self.names:
            stem, _, suffix = name.partition(".")
            name = f"{stem}-{self.names[0]}.{suffix}"
        return self.to or self.out / "exports" / name

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

    def read(self) -> "Gradebook":
        """Return the graded class, and name the students whose scores are not complete."""
        from autograder.classroom.storage import gradebook
        from autograder.report import open_questions

        book = gradebook.read(self.out)
        for line in _unmarked_questions(book, self.names):
            options.show(line)
        questions = open_questions.question_lines(
            {**student, "open": [one for one in student["open"] if _concerns(one, self.names)]}
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

    def assignment(self, book: "Gradebook") -> str | None:
        """Return the assignment to export, or None for the total."""
        if len(self.names) > 1:
            raise UsageError("this format has one assignment per file. Name one (--assignment NAME), or none")
        book.require_graded(self.names)
        return self.names[0] if self.names else None


def _concerns(question: "Document", names: Names) -> bool:
    """Return whether a question is about these grades as they are; a student's request can wait."""
    return question["kind"] != "request" and (not names or question["assignment"] in (*names, ""))


def _unmarked_questions(book: "Gradebook", names: Names) -> Iterator[str]:
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


def _columns(help_text: str) -> Callable[[Any], Any]:
    return click.option("--column", "columns", multiple=True, metavar="NAME=TITLE", help=help_text)


@click.group(short_help="Write a graded class in the format of another system.")
def export() -> None:
    """Write a graded class in the format of another system.

    OUT is the folder that "headway grade" wrote; for gradescope-autograder it may be any folder. Grades for Canvas and
    Moodle are filled into the platform's own file; the command first reports what will change there.
    """


def _format(function: Callable[..., None]) -> click.Command:
    """Make a function of an output and its own options a subcommand of its name, with OUT, --to and --force."""

    @export.command(context_settings=options.WITH_DEFAULTS)
    @click.argument("out", metavar="OUT", type=options.PATH)
    @click.option("--to", type=options.PATH, help="File or folder to write (default: in OUT/exports).")
    @click.option("--despite-open", is_flag=True, help="Write although some questions are open.")
    @options.force
    @functools.wraps(function)
    def run(out: Path, to: Path | None, force: bool, despite_open: bool, names: Names = (), **values: Any) -> None:
        function(ExportOutput(out, to, force, despite_open, names), **values)

    run.params.sort(key=lambda option: option.name in ("to", "despite_open", "force"))  # its own come first
    return run


@_format
def csv(output: ExportOutput) -> None:
    """Write a CSV table for a spreadsheet."""
    from autograder.classroom.exporters import table

    def write(book: "Gradebook", path: Path) -> int:
        if not any(student["id"] or student["email"] for student in book.students):
            options.show("No student has an id or an email. To have them: headway grade DIR --roster FILE")
        return table.write(book.document, path)

    _write(output, "grades.csv", write, "open it in a spreadsheet")


@_format
def junit(output: ExportOutput) -> None:
    """Write JUnit's XML, which Jenkins shows."""
    from autograder.classroom.exporters import junit

    _write(output, "junit.xml", junit.write, "in Jenkins, add the step Publish JUnit test result report")


@_format
@options.assignment_option("Only this assignment.")
@click.option(
    "--gradebook",
    type=options.PATH,
    metavar="FILE",
    help="Canvas's current gradebook, exported as CSV (default: the roster, if it is one).",
)
@_columns("Column of an assignment.")
@_keep_existing
@_partial
@_dry_run
def canvas(output: ExportOutput, gradebook: Path | None, columns: Names, dry_run: bool, **choices: bool) -> None:
    """Fill the grades into Canvas's gradebook."""
    from autograder.classroom.exporters import canvas

    def plan(book: "Gradebook") -> "LmsPlan":
        canvas_file = canvas.read_gradebook(gradebook) if gradebook else None
        return canvas.plan(book, canvas_file, assignments=output.names, columns=_titles(columns), **choices)

    next_step = "in Canvas, open Grades and choose Import"
    _fill_in(output, output.target("canvas.csv"), plan, next_step, dry_run=dry_run)


@_format
@options.assignment_option(ONE_ASSIGNMENT)
@_worksheet
@_columns("Column of the grade (grade=TITLE) or of comments (comments=TITLE).")
@_keep_existing
@click.option("--replace-comments", is_flag=True, help="Also replace comments that Headway did not write.")
@_partial
@_dry_run
def moodle(output: ExportOutput, worksheet: Path | None, columns: Names, dry_run: bool, **choices: bool) -> None:
    """Fill the grades into Moodle's grading worksheet."""
    from autograder.classroom.exporters import moodle

    def plan(book: "Gradebook") -> "LmsPlan":
        titles = _titles(columns)
        sheet = moodle.read_worksheet(worksheet, titles) if worksheet else None
        return moodle.plan(book, sheet, assignment=output.assignment(book), columns=titles, **choices)

    menu = "in Moodle, open the assignment, then Submissions, then Upload grading worksheet"
    # PHP's strtotime, with which Moodle reads the times of its grades, knows only English.
    box = "Allow updating records … (German: Aktualisierung von Datensätzen … zulassen)"
    next_step = f"{menu} (UTF-8, separator comma). Tick “{box}”, or Moodle may skip rows whose dates it cannot read"
    target = output.target("moodle.csv", by_assignment=True)
    _fill_in(output, target, plan, next_step, dry_run=dry_run)


@_format
@options.assignment_option("The assignment; needed where there are several.")
def canvas_feedback(output: ExportOutput) -> None:
    """Write feedback files for Canvas's bulk upload."""
    from autograder.classroom.exporters import feedback_zip

    next_step = "in Canvas, open the assignment and choose Upload Submissions"
    _write_feedback(output, "canvas-feedback.zip", feedback_zip.write_canvas, next_step)


@_format
@options.assignment_option("The assignment; needed where there are several.")
@_worksheet
def moodle_feedback(output: ExportOutput, worksheet: Path | None) -> None:
    """Write feedback files for Moodle's bulk upload."""
    from autograder.classroom.exporters import feedback_zip
    from autograder.classroom.exporters.moodle import read_worksheet

    def write(book: "Gradebook", target: Path, assignment: str) -> tuple[int, list[str]]:
        sheet = read_worksheet(worksheet, {}) if worksheet else None
        return feedback_zip.write_moodle(book, target, assignment, sheet)

    menu = "in Moodle, open the assignment, then Submissions, then Upload multiple feedback files in a zip"
    _write_feedback(output, "moodle-feedback.zip", write, menu)


@_format
@options.assignment_option(ONE_ASSIGNMENT)
@_visibility
def gradescope(output: ExportOutput, visibility: "Visibility") -> None:
    """Write a results.json for each submission."""
    from autograder.classroom.exporters import gradescope

    target, book = output.target("gradescope"), output.read()
    with output.replacing(target, [target / f"{stem}.json" for stem in book.file_names().values()]):
        count = gradescope.write(book, target, visibility=visibility, assignment=output.assignment(book))
    _report(count, "submission", target, "give Gradescope each file as the results.json of that submission")


@_format
@options.assignment_option("Only this assignment (default: those of the graded class, or all).")
@_visibility
@click.option("--seed", type=click.IntRange(0), default=0, help="Seed of the inputs; 0 for those that students have.")
@click.option("--feedback", type=click.Choice(["summary", "none"]), default="summary", help="How much results reveal.")
@click.option("--unsafe-no-sandbox", "unsafe", is_flag=True, help="Grade without a sandbox if there is none.")
def gradescope_autograder(
    output: ExportOutput, visibility: "Visibility", seed: int, feedback: str, unsafe: bool
) -> None:
    """Write an autograder that Gradescope runs."""
    from autograder.classroom.exporters import gradescope
    from autograder.classroom.storage import gradebook
    from autograder.course import registry

    target, names = output.target("gradescope-autograder.zip"), output.names
    book = gradebook.read(output.out) if (output.out / "class.json").exists() else None
    if names:
        registry.default().select(names)
    elif book:
        names = tuple(assignment["name"] for assignment in book.assignments)
    policy = gradescope.policy_text(book.policy) if book else ""
    with output.replacing(target):
        settings = gradescope.GradescopeSettings(names, seed, feedback, visibility, unsafe, policy)
        count = gradescope.write_autograder(target, settings)
    options.show(f"It grades {', '.join(names) or 'all assignments (for one: --assignment NAME)'}.")
    if policy:
        options.show(f"It has the points, the bonus rule and the hidden checks of {output.out}.")
    if not seed:
        options.show("It uses the inputs whose answers students have. For other inputs: --seed N")
    _report(count, "file", target, "in Gradescope, upload it under Configure Autograder")


@_format
@click.option("--database", metavar="URL", help="Database URL, sqlite:////path/gradebook.db or postgresql://…")
@click.option(
    "--course",
    type=options.PATH,
    help="Folder of the course. Writes its gradebook and autograded/, which formgrader shows.",
)
def nbgrader(output: ExportOutput, database: str | None, course: Path | None) -> None:
    """Bring nbgrader's gradebook up to date."""
    from autograder.classroom.exporters import nbgrader, nbgrader_course
    from autograder.classroom.storage import gradebook
    from autograder.core.files import report_write_error

    if course is not None:
        write_course(gradebook.read(output.out), nbgrader_course.find(course, database))
        return
    target = output.target("gradebook.db")
    with report_write_error(target, "Choose another place: --to PATH"):
        book = output.read()
        if database is None:
            target.parent.mkdir(parents=True, exist_ok=True)
        url = database or f"sqlite:///{target.resolve()}"
        count = nbgrader.write_gradebook(book, url)
    where = without_password(database) if database else target
    _report(count, "submission", where, "in nbgrader_config.py, set c.CourseDirectory.db_url to this database")
    show_excuses(book)


def _write(
    output: ExportOutput,
    name: str,
    write: "Callable[[Gradebook, Path], int]",
    next_step: str,
    *,
    by_assignment: bool = False,
) -> None:
    """Write the students into one file; `write` returns their number."""
    target = output.target(name, by_assignment=by_assignment)
    with output.replacing(target):
        count = write(output.read(), target)
    _report(count, "student", target, next_step)


def _write_feedback(
    output: ExportOutput,
    name: str,
    write: "Callable[[Gradebook, Path, str], tuple[int, list[str]]]",
    next_step: str,
) -> None:
    """Write the feedback on one assignment; `write` returns the number of students, and what to show."""

    def write_one(book: "Gradebook", target: Path) -> int:
        known = [entry["name"] for entry in book.assignments]
        assignment = output.assignment(book) or (known[0] if len(known) == 1 else None)
        if assignment is None:
            raise UsageError(f"each assignment has its own feedback. Name one: --assignment {' or '.join(known)}")
        count, lines = write(book, target, assignment)
        for line in lines:
            options.show(line)
        return count

    _write(output, name, write_one, next_step, by_assignment=True)


def _fill_in(
    output: ExportOutput, target: Path, make_plan: "Callable[[Gradebook], LmsPlan]", next_step: str, *, dry_run: bool
) -> None:
    """Report what will change in a platform's file, and write it."""
    with contextlib.nullcontext() if dry_run else output.replacing(target):
        plan = make_plan(output.read())
        for line in plan.lines:
            options.show(line)
        if dry_run:
            options.show("Nothing was written (--dry-run)")
            return
        count = plan.write(target)
    _report(count, "student", target, next_step)


def _report(count: int, what: str, where: Path | str, next_step: str) -> None:
    """Say what was written, and what to do with it."""
    options.show(f"Wrote {counted(count, what)} to {where}")
    options.show(f"Next: {next_step}", "dim")


def _titles(columns: Names) -> dict[str, str]:
    titles = {}
    for column in columns:
        name, equals, title = column.partition("=")
        if not (name and equals and title):
            example = 'for example --column softmax="Homework 1 (4711)"'
            raise UsageError(f"--column {column}: write it as NAME=TITLE, {example}")
        titles[name.strip()] = title.strip()
    return titles
