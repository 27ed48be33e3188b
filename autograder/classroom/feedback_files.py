"""Feedback for everybody: a page and a Markdown file per student, written one after the other."""

from collections.abc import Callable
from pathlib import Path

from autograder.classroom.gradebook import Gradebook, display_name
from autograder.core.files import write_atomically
from autograder.report.student_feedback import as_html, as_markdown


def write(book: Gradebook, folder: Path, seen: Callable[[], None] = lambda: None) -> int:
    """Write `<name>.html` and `<name>.md` into `folder` for everybody of whose work there is a result.

    Returns:
        How many students got feedback.
    """
    count, names = 0, book.file_names()
    for student, result in book.results():
        if result is not None:
            name = names[student["submission"]]
            told = {**student, "name": display_name(student), "weights": book.weights}
            write_atomically(folder / f"{name}.html", as_html(told, result).encode("utf-8", "replace"))
            write_atomically(folder / f"{name}.md", as_markdown(told, result).encode("utf-8", "replace"))
            count += 1
        seen()
    return count
