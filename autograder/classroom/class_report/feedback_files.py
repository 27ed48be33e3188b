"""Write a feedback page and a Markdown file for every student."""

import time
from pathlib import Path

from autograder.classroom.storage.gradebook import Gradebook, display_name
from autograder.core.files import write_atomically
from autograder.report.class_records import WorkTime
from autograder.report.score_words import score_lines
from autograder.report.student_feedback import as_html, as_markdown


def write(book: Gradebook, folder: Path) -> tuple[int, WorkTime]:
    """Write `<name>.html` and `<name>.md` into `folder` for every student who has a result.

    Return their number and the time that was spent.
    """
    count, names, spent = 0, book.file_names(), WorkTime()
    started = time.thread_time()
    for student, result in book.results():
        if result is not None:
            name = names[student["submission"]]
            code, score = book.code_of(student), score_lines(student, book.document)
            shown = {**student, "name": display_name(student), "weights": book.weights}
            write_atomically(folder / f"{name}.html", as_html(shown, result, code, score).encode("utf-8", "replace"))
            write_atomically(folder / f"{name}.md", as_markdown(shown, result, code, score).encode("utf-8", "replace"))
            count += 1
            spent.add(display_name(student), time.thread_time() - started)
        started = time.thread_time()
    return count, spent
