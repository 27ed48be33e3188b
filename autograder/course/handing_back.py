"""Feedback for everybody: a page and a Markdown file per student, written one after the other."""

from collections.abc import Callable
from pathlib import Path

from autograder.course.gradebook import Document, Gradebook, shown_name
from autograder.files import write_atomically
from autograder.report.student import as_html, as_markdown


def name_of(student: Document) -> str | None:
    """The files' name without its ending, that of the result document; None for somebody who handed in nothing."""
    if student["file"]:
        return Path(student["file"]).stem
    return None


def write(book: Gradebook, folder: Path, seen: Callable[[], None] = lambda: None) -> int:
    """Write `<name>.html` and `<name>.md` into `folder` for everybody whose work was graded.

    Returns:
        How many students got feedback.
    """
    count = 0
    for student, result in book.results():
        name = name_of(student)
        if name is not None and result is not None:
            told = {**student, "name": shown_name(student), "weights": book.weights}
            write_atomically(folder / f"{name}.html", as_html(told, result).encode("utf-8", "replace"))
            write_atomically(folder / f"{name}.md", as_markdown(told, result).encode("utf-8", "replace"))
            count += 1
        seen()
    return count
