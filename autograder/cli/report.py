"""The command `headway report`."""

import os
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import click

from autograder.cli import options
from autograder.core.text import counted
from autograder.errors import UsageError

if TYPE_CHECKING:
    from autograder.classroom.storage.gradebook import Gradebook
    from autograder.report.class_records import ClassRecords, StudentRecord


@click.command(context_settings=options.WITH_DEFAULTS)
@click.argument("out", metavar="OUT", type=options.PATH)
@click.option("--html", "page", type=options.PATH, help="File for the page (default: OUT/report.html).")
@click.option("--no-student-pages", "no_pages", is_flag=True, help="Do not write a page for each student.")
@click.option(
    "--feedback",
    is_flag=False,
    flag_value="",
    metavar="[DIR]",
    help="Also write a page and a Markdown file for every student (default: to OUT/feedback).",
)
@click.option(
    "--similar",
    is_flag=False,
    flag_value="",
    metavar="[SUBMISSIONS]",
    help="Also list pairs of similar submissions (default: of the stored code), for a person to look at.",
)
@click.option("--layout", default="auto", help="Layout of SUBMISSIONS, as for headway grade.")
@click.option(
    "--compare",
    "earlier",
    type=options.PATH,
    metavar="OUT2",
    help="Show what differs from OUT2, another folder of results.",
)
@click.option("--since", metavar="DATE", help="Show what has changed since this day, such as 2026-03-05.")
@options.force
def report(
    out: Path,
    page: Path | None,
    no_pages: bool,
    feedback: str | None,
    similar: str | None,
    layout: str,
    earlier: Path | None,
    since: str | None,
    force: bool,
) -> None:
    """Summarize a graded class: scores, common mistakes, who needs help.

    OUT is the folder that "headway grade" wrote. Shows a summary in the terminal and writes a page that needs no
    network, and next to it a page with the code of each student.
    """
    from autograder.classroom.class_report import class_statistics, student_pages
    from autograder.classroom.class_report.similarity import write_pair_pages
    from autograder.classroom.storage import gradebook
    from autograder.core.files import report_write_error, write_atomically
    from autograder.core.output_files import OutputRecord
    from autograder.report import class_summary, open_questions
    from autograder.report.class_records import SimilarityResult
    from autograder.report.html import template_environment
    from autograder.report.html.class_page import render_class

    template_environment()  # reports a missing package before thousands of documents are read
    if earlier is not None and since is not None:
        raise UsageError("--compare and --since both name an earlier state. Give one of them")
    console = options.make_console()
    book = gradebook.read(out)
    before = gradebook.read(earlier) if earlier is not None else None
    with console.status("Reading the results …"):
        records = class_statistics.collect(book)
        comparison = None
        if before is not None:
            comparison = class_statistics.compare(records, class_statistics.collect(before), str(earlier))
        elif since is not None:
            comparison = class_statistics.since(records, book, since)
    open_questions.render(gradebook.with_class(book.document), str(out), console)
    class_summary.render(records, console, comparison)
    similarity = SimilarityResult()
    if similar is not None:
        from autograder.classroom.class_report.similarity import find_similar, find_similar_code, with_names

        with console.status("Comparing the submissions …"):
            found = find_similar(Path(similar), layout=layout) if similar else find_similar_code(book)
            similarity = with_names(found, book)
        class_summary.render_similarity(similarity, console)
    target = page or out / "report.html"
    pages = target.parent / target.stem if target.suffix else target.with_name(f"{target.name}-pages")
    folder = None if feedback is None else Path(feedback) if feedback else out / "feedback"
    written = OutputRecord(out, is_own_folder=True)
    names = book.file_names().values()
    feedback_pages = [folder / f"{name}.{kind}" for name in names for kind in ("html", "md")] if folder else []
    class_pages = [target, *([] if no_pages else [pages / f"{name}.html" for name in names])]
    written.require_replaceable(class_pages, option="--html FILE", force=force)
    written.require_replaceable(feedback_pages, option="--feedback=DIR", force=force)
    if folder is not None:
        with (
            report_write_error(folder, "Choose another place: --feedback=DIR"),
            console.status("Writing feedback …"),
        ):
            count = student_pages.write_feedback(book, folder)
        options.show(f"Feedback for {counted(count, 'student')}: {folder}", "dim")
    with report_write_error(target, "Choose another place: --html FILE"):
        if not no_pages:
            with console.status("Writing a page for each student …"):
                similarity = write_pair_pages(similarity, book, pages, target) if similarity.pairs else similarity
                student_pages.write(book, pages, target, similarity)
        _add_links(records, book, target, None if no_pages else pages, folder)
        questions = open_questions.question_lines(gradebook.with_class(book.document))
        content = render_class(records, similarity, comparison, questions, str(out))
        write_atomically(target, content.encode("utf-8", "replace"))
        written.add([*class_pages, *feedback_pages])
    if not no_pages:
        options.show(f"A page for each student: {pages}{os.sep}", "dim")
    options.show(f"Page: {target}", "dim")


def _add_links(
    records: "ClassRecords", book: "Gradebook", target: Path, pages: Path | None, feedback: Path | None
) -> None:
    """Give the students the addresses of their pages, relative to the class page."""
    names = book.file_names()

    def address(folder: Path | None, student: "StudentRecord") -> str | None:
        name = names.get(student.submission)
        if folder is None or name is None or not student.has_result or student.status == "failed":
            return None
        return quote(os.path.relpath(folder / f"{name}.html", target.parent).replace(os.sep, "/"))

    for student in records.students:
        student.page, student.feedback = address(pages, student), address(feedback, student)
