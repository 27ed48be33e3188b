"""Write grades into an nbgrader course, for the commands `grade` and `export`."""

from typing import TYPE_CHECKING

from autograder.cli import options
from autograder.core.files import report_write_error
from autograder.core.text import counted

if TYPE_CHECKING:
    from autograder.classroom.exporters.nbgrader_course import Course
    from autograder.classroom.storage.gradebook import Gradebook


def without_password(database: str) -> str:
    """Return the URL of a database without user and password, to show it."""
    return database.partition("@")[2] or database


def write_course(book: "Gradebook", course: "Course") -> None:
    """Write a graded class into an nbgrader course, and show what was written."""
    from autograder.classroom.exporters import nbgrader_course

    with (
        report_write_error(course.root, "Check its permissions"),
        options.make_console().status("Writing the gradebook …"),
    ):
        submissions, notebooks, notes = nbgrader_course.write(book, course)
    where = without_password(course.database).removeprefix("sqlite:///")
    options.show(
        f"Wrote {counted(submissions, 'submission')} to {where} and {counted(notebooks, 'notebook')} with reports"
    )
    for note in notes:
        options.show(note)
    show_excuses(book)
    options.show("Next: nbgrader generate_feedback ASSIGNMENT, or nbgrader's formgrader", "dim")


def show_excuses(book: "Gradebook") -> None:
    """Name the excused students: nbgrader's gradebook has no excuses, so their scores count there."""
    from autograder.classroom.exporters.lms_plan import listed
    from autograder.classroom.storage.gradebook import display_name

    students = [one for one in book.students if any(grade["excused"] for grade in one["assignments"].values())]
    if names := listed([display_name(student) for student in students]):
        options.show(f"nbgrader has no excuses, so the scores of excused work count there: {names}")
