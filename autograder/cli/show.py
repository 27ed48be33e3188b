"""The command `headway show`."""

import shlex
from pathlib import Path

import click

from autograder.cli import options
from autograder.errors import UsageError


@click.command(context_settings=options.WITH_DEFAULTS)
@click.argument("out", metavar="OUT", type=options.PATH)
@click.argument("student")
@click.option("--assignment", "names", multiple=True, metavar="NAME", help="Show only this assignment. Repeatable.")
@click.option("--code", "whole_code", is_flag=True, help="Show all of the code, not only the lines that failed.")
@click.option("--html", "page", type=options.PATH, metavar="FILE", help="Also write a page that needs no network.")
@options.no_color
def show(out: Path, student: str, names: tuple[str, ...], whole_code: bool, page: Path | None) -> None:
    """Show one student: score, code, failed checks, comments.

    OUT is the folder that "headway grade" wrote. STUDENT is any name that the class has for the student: submission,
    name, id, login or address.
    """
    from rich.text import Text

    from autograder.classroom.class_report import student_pages
    from autograder.classroom.storage import gradebook
    from autograder.classroom.storage.student_lookup import find_student
    from autograder.core.files import report_write_error, write_atomically
    from autograder.core.output_files import require_no_work
    from autograder.report import student_results

    console = options.make_console()
    book = gradebook.read(out)
    known = [assignment["name"] for assignment in book.assignments]
    if unknown := [name for name in names if name not in known]:
        raise UsageError(f"the class was not graded for {unknown[0]!r}. Name one of these: {', '.join(known)}")
    shown = student_pages.results_of(book, find_student(book, student), names)
    student_results.render(shown, console, whole_code=whole_code)
    if page is not None:
        require_no_work(page, "--html FILE")
        with report_write_error(page, "Choose another place: --html FILE"):
            write_atomically(page, student_results.as_page(shown).encode("utf-8", "replace"))
        console.print(Text(f"Page: {page}", "dim"))
    folder, name = shlex.quote(str(out)), shlex.quote(shown.student["submission"])
    comment, feedback = f"headway comment {folder} {name} TEXT", f"headway report {folder} --feedback"
    console.print(Text(f"Next: {comment}\n      {feedback}", "dim"))
