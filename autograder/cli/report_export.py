"""The command `headway report`."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from autograder.cli import options
from autograder.core.text import counted
from autograder.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from autograder.classroom.gradebook import Gradebook
    from autograder.report.class_records import StudentRecord


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
@options.force
@options.no_color
def report(out: Path, page: Path | None, feedback: str | None, similar: Path | None, layout: str, force: bool) -> None:
    """Summarize a graded class: scores, common mistakes, who needs help.

    OUT is the folder that "headway grade" wrote. Shows a summary in the terminal and writes a page that needs no
    network.
    """
    from rich.text import Text

    from autograder.classroom import class_statistics, feedback_files, gradebook, similarity
    from autograder.core.files import write_atomically
    from autograder.core.output_files import OutputRecord
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
    target, written = page or out / "report.html", OutputRecord(out, is_own_folder=True)
    folder = None if feedback is None else Path(feedback) if feedback else out / "feedback"
    names = book.file_names().values() if folder is not None else ()
    pages = [folder / f"{name}.{suffix}" for name in names for suffix in ("html", "md")] if folder is not None else []
    written.require_replaceable([target], option="--html FILE", force=force)
    written.require_replaceable(pages, option="--feedback=DIR", force=force)
    try:
        if folder is not None:
            with options.spinner(console, "Writing feedback …"):
                count, spent = feedback_files.write(book, folder)
            console.print(Text(f"Feedback for {counted(count, 'student')}: {folder}", "dim"))
            if spent.name:
                console.print(Text(f"Writing it took {spent}.", "dim"))
        content = render_class(records, _feedback_link(book, folder, target), similarity_result)
        write_atomically(target, content.encode("utf-8", "replace"))
        written.add([target, *pages])
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
