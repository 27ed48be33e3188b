"""An nbgrader course into which a command writes grades."""

import dataclasses
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autograder.cli.options import spinner
from autograder.core.text import clean, counted
from autograder.errors import UsageError, missing_package

if TYPE_CHECKING:
    from rich.console import Console

    from autograder.classroom.exporters.nbgrader_course import Course
    from autograder.classroom.gradebook import Gradebook

MAX_SHOWN = 8


def open_course(folder: Path, database: str | None = None, course_id: str | None = None) -> "Course":
    """The course in a folder; its settings say where the gradebook is, unless somebody has said it here."""
    try:
        from autograder.classroom.exporters import nbgrader_course
    except ImportError as error:
        raise missing_package(f"notebooks need {error.name}", "notebooks") from None
    course = nbgrader_course.find(folder)
    return dataclasses.replace(course, database=database or course.database, course_id=course_id or course.course_id)


def hidden_seed(course: "Course") -> int | None:
    """The seed with which nbgrader's own autograde draws inputs in a released course, so that both give the same."""
    from autograder.notebooks import release_manifest

    return release_manifest.seed_of(course.root)


def without_password(database: str) -> str:
    """The URL of a database as it may be shown."""
    return database.partition("@")[2] or database


def write_course(book: "Gradebook", course: "Course", console: "Console") -> None:
    """Write a graded class into it, and say what was written."""
    from rich.text import Text

    from autograder.classroom.exporters import nbgrader_course

    try:
        with spinner(console, "writing the gradebook …"):
            submissions, notebooks = nbgrader_course.write(book, course)
    except OSError as error:
        raise UsageError(
            f"cannot write {error.filename or course.root} ({error.strerror}). Look at its permissions"
        ) from None
    where = without_password(course.database).removeprefix("sqlite:///")
    console.print(
        Text(f"{counted(submissions, 'submission')} in {where}, {counted(notebooks, 'notebook')} with reports")
    )
    tell_what_stays_behind(book, console)
    console.print(Text("Next: nbgrader generate_feedback ASSIGNMENT, or nbgrader's formgrader", "dim"))


def tell_what_stays_behind(book: "Gradebook", console: "Console") -> None:
    """nbgrader's gradebook holds what the checks gave and what lateness costs; the rest is given in formgrader."""
    from rich.text import Text

    from autograder.classroom.gradebook import display_name

    ruled = [
        clean(display_name(student), 80)
        for student in book.students
        if any(_by_an_instructor(one) for one in student["assignments"].values())
    ]
    if ruled:
        shown = ", ".join(ruled[:MAX_SHOWN]) + (" …" if len(ruled) > MAX_SHOWN else "")
        what = "points on top, scores by hand and excuses of course.toml"
        console.print(Text(f"Not in it are {what} ({shown}): give them in formgrader"))


def _by_an_instructor(grade: dict[str, Any]) -> bool:
    left = grade["earned"] - grade["penalty"]
    return grade["by_hand"] or grade["excused"] or not math.isclose(grade["score"], left, abs_tol=1e-4)
