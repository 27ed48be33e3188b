"""Write a feedback page and a Markdown file for every student."""

from pathlib import Path

from autograder.classroom.gradebook import Gradebook, display_name
from autograder.core.files import write_atomically
from autograder.report.student_feedback import as_html, as_markdown


def write(book: Gradebook, folder: Path) -> int:
    """Write `<name>.html` and `<name>.md` into `folder` for every student who has a result; return their number."""
    count, names = 0, book.file_names()
    for student, result in book.results():
        if result is not None:
            name = names[student["submission"]]
            shown = {**student, "name": display_name(student), "weights": book.weights}
            write_atomically(folder / f"{name}.html", as_html(shown, result).encode("utf-8", "replace"))
            write_atomically(folder / f"{name}.md", as_markdown(shown, result).encode("utf-8", "replace"))
            count += 1
    return count
