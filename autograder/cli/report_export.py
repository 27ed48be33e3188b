"""The commands `headway report` and `headway export`."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from autograder.cli import options
from autograder.cli.nbgrader import open_course, show_unexported_changes, without_password, write_course
from autograder.core.text import counted
from autograder.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from autograder.classroom.exporters.gradescope import Visibility
    from autograder.classroom.gradebook import Gradebook
    from autograder.report.class_records import StudentRecord

# Format: name of its file or folder in OUT/exports, and what to do with it.
FORMATS = {
    "csv": ("grades.csv", "open it in a spreadsheet"),
    "canvas": ("canvas.csv", "in Canvas, open Grades and choose Import"),
    "moodle": ("moodle.csv", "in Moodle, open the assignment, then Submissions, then Upload grading worksheet"),
    "gradescope": ("gradescope", "give Gradescope each file as the results.json of that submission"),
    "gradescope-autograder": ("gradescope-autograder.zip", "in Gradescope, upload it under Configure Autograder"),
    "nbgrader": ("gradebook.db", "in nbgrader_config.py, set c.CourseDirectory.db_url to this database"),
    "junit": ("junit.xml", "in Jenkins, add the step Publish JUnit test result report"),
}


@click.command(context_settings=options.WITH_DEFAULTS)
@click.argument("out", metavar="OUT", type=options.PATH)
@click.option("--html", "page", type=options.PATH, help="File for the page (default: OUT/report.html).")
@click.option(
    "--feedback",
    is_flag=False,
    flag_value="",
    metavar="[DIR]",
    help="Also write a page and a Markdown file for every student (default: to OUT/feedback).",
)
@click.option(
    "--similar",
    type=options.PATH,
    metavar="SUBMISSIONS",
    help="Also list pairs of similar submissions in this folder, for a person to look at.",
)
@click.option("--layout", default="auto", help="Layout of SUBMISSIONS, as for headway grade.")
@options.no_color
def report(out: Path, page: Path | None, feedback: str | None, similar: Path | None, layout: str) -> None:
    """Summarize a graded class: scores, common mistakes, who needs help.

    OUT is the folder that "headway grade" wrote. Shows a summary in the terminal and writes a page that needs no
    network.
    """
    from rich.text import Text

    from autograder.classroom import class_statistics, feedback_files, gradebook, similarity
    from autograder.core.files import write_atomically
    from autograder.report import class_summary
    from autograder.report.class_records import SimilarityResult
    from autograder.report.html import template_environment
    from autograder.report.html.class_page import render_class

    template_environment()  # reports a missing package before thousands of documents are read
    console = options.make_console()
    book = gradebook.read(out)
    with options.spinner(console, "Reading the results …"):
        records = class_statistics.collect(book)
    class_summary.render(records, console)
    similarity_result = SimilarityResult()
    if similar is not None:
        with options.spinner(console, "Comparing the submissions …"):
            similarity_result = similarity.find_similar(similar, layout=layout)
        class_summary.render_similarity(similarity_result, console)
    target = page or out / "report.html"
    folder = None if feedback is None else Path(feedback) if feedback else out / "feedback"
    try:
        if folder is not None:
            with options.spinner(console, "Writing feedback …"):
                count, spent = feedback_files.write(book, folder)
            console.print(Text(f"Feedback for {counted(count, 'student')}: {folder}", "dim"))
            if spent.name:
                console.print(Text(f"Writing it took {spent}.", "dim"))
        content = render_class(records, _feedback_link(book, folder, target), similarity_result)
        write_atomically(target, content.encode("utf-8", "replace"))
    except OSError as error:
        where = error.filename or target
        option = "--feedback=DIR" if folder is not None and Path(where).is_relative_to(folder) else "--html FILE"
        raise UsageError(f"cannot write {where} ({error.strerror}). Choose another place: {option}") from None
    console.print(Text(f"Page: {target}", "dim"))


def _feedback_link(book: "Gradebook", folder: Path | None, page: Path) -> "Callable[[StudentRecord], str | None]":
    """Return a function that gives the URL of a student's feedback relative to `page`, or None."""
    import os
    from urllib.parse import quote

    names = book.file_names()

    def link(student: "StudentRecord") -> str | None:
        name = names.get(student.submission)
        if folder is None or name is None or not student.has_result or student.status == "failed":
            return None
        return quote(os.path.relpath(folder / f"{name}.html", page.parent).replace(os.sep, "/"))

    return link


@click.command(context_settings=options.WITH_DEFAULTS)
@click.argument("out", metavar="OUT", type=options.PATH)
@click.option("--format", "kind", type=click.Choice(list(FORMATS)), required=True, help="Format to write.")
@click.option("--to", type=options.PATH, help="File or folder to write (default: in OUT/exports).")
@click.option(
    "--assignment", "names", multiple=True, metavar="NAME", help="moodle, gradescope-autograder: the assignment."
)
@click.option(
    "--id-column",
    type=click.Choice(["ID", "SIS User ID", "SIS Login ID"]),
    default="SIS User ID",
    help="canvas: column for the ids if the roster is not from Canvas.",
)
@click.option(
    "--visibility",
    type=click.Choice(["visible", "after_due_date", "after_published", "hidden"]),
    default="visible",
    help="gradescope: when students see the tests. Hidden checks stay hidden.",
)
@click.option(
    "--database", metavar="URL", help="nbgrader: database URL, sqlite:////path/gradebook.db or postgresql://…"
)
@click.option(
    "--course",
    type=options.PATH,
    help="nbgrader: folder of the course. Writes its gradebook and autograded/, which formgrader shows.",
)
@click.option("--course-id", metavar="ID", help="nbgrader: course_id (default: that of the course's settings).")
@click.option(
    "--seed",
    type=click.IntRange(0),
    default=0,
    help="gradescope-autograder: seed of the inputs; 0 for the public ones.",
)
@click.option(
    "--feedback",
    type=click.Choice(["summary", "none"]),
    default="summary",
    help="gradescope-autograder: how much results reveal.",
)
@click.option(
    "--unsafe-no-sandbox",
    "unsafe",
    is_flag=True,
    help="gradescope-autograder: grade without a sandbox if there is none.",
)
@options.no_color
def export(
    out: Path,
    kind: str,
    to: Path | None,
    names: tuple[str, ...],
    id_column: str,
    visibility: "Visibility",
    database: str | None,
    course: Path | None,
    course_id: str | None,
    seed: int,
    feedback: str,
    unsafe: bool,
) -> None:
    """Write a graded class in the format of another system.

    OUT is the folder that "headway grade" wrote; for gradescope-autograder it may be any folder.
    """
    from rich.text import Text

    from autograder.classroom import gradebook
    from autograder.classroom.exporters import canvas, gradescope, gradescope_zip, junit, moodle, nbgrader, table
    from autograder.core.files import report_write_error

    name, next_step = FORMATS[kind]
    if kind == "moodle" and names:
        name = f"moodle-{names[0]}.csv"  # each Moodle assignment has its own worksheet
    target = to or out / "exports" / name
    console = options.make_console()
    if kind == "nbgrader" and course is not None:
        write_course(gradebook.read(out), open_course(course, database, course_id), console)
        return
    with report_write_error(target, "Choose another place: --to PATH"):
        if kind == "gradescope-autograder":
            assignments = _assignments_of(out, names)
            settings = gradescope_zip.GradescopeSettings(assignments, seed, feedback, visibility, unsafe)
            count, what = gradescope_zip.write(target, settings), "file"
            graded = ", ".join(assignments) or "all assignments (for one: --assignment NAME)"
            console.print(Text(f"It grades {graded}."))
            if not seed:
                console.print(Text("It uses the public inputs, whose answers students also have. For others: --seed N"))
        else:
            book, what = gradebook.read(out), "student"
            match kind:
                case "csv":
                    count = table.write(book, target)
                case "canvas":
                    count = canvas.write(book, target, id_column=id_column)
                case "moodle":
                    count = moodle.write(book, target, assignment=_moodle_assignment(book, names))
                case "gradescope":
                    count, what = gradescope.write(book, target, visibility=visibility), "submission"
                case "junit":
                    count, what = junit.write(book, target), "suite"
                case _:
                    if database is None:
                        target.parent.mkdir(parents=True, exist_ok=True)
                    url, course_id = database or f"sqlite:///{target.resolve()}", course_id or "default_course"
                    count = nbgrader.write_gradebook(book.document, book.results(), url, course_id=course_id)
                    what = "submission"
    where = without_password(database) if database and kind == "nbgrader" else target
    console.print(Text(f"Wrote {counted(count, what)} to {where}"))
    if kind == "nbgrader":
        show_unexported_changes(book, console)
    console.print(Text(f"Next: {next_step}", "dim"))


def _assignments_of(out: Path, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the named assignments, or those of the graded class in `out`, or none, which means all."""
    from autograder.classroom import gradebook
    from autograder.courses.transformer import TRANSFORMER

    if names:
        TRANSFORMER.select(names)
    elif (out / "class.json").exists():
        names = tuple(assignment["name"] for assignment in gradebook.read(out).assignments)
    return names


def _moodle_assignment(book: "Gradebook", names: tuple[str, ...]) -> str | None:
    """Return the assignment to export, or None for the total."""
    known = [assignment["name"] for assignment in book.assignments]
    if len(names) > 1:
        raise UsageError("a Moodle assignment has one grade. Name one assignment (--assignment NAME), or none")
    if names and names[0] not in known:
        raise UsageError(f"the class was not graded for {names[0]!r}. Name one of these: {', '.join(known)}")
    return names[0] if names else None
