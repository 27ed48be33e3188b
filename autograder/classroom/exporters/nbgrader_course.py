"""Write grades into an nbgrader course: its gradebook, and the notebooks with reports that formgrader shows.

The course's folders, database and id are read from its settings, as nbgrader reads them: `nbgrader_config.py` of the
Jupyter folders and of the course. These files are the instructor's code and are run.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from autograder.classroom.exporters import nbgrader
from autograder.classroom.exporters.lms_plan import listed
from autograder.classroom.storage.gradebook import Gradebook
from autograder.classroom.submissions.folder_reader import read_plain_file
from autograder.core.archives import SkippedFile
from autograder.core.files import write_atomically
from autograder.errors import UsageError, missing_package
from autograder.notebooks import nbgrader_autograded
from autograder.parsing.read_ipynb import MAX_NOTEBOOK_BYTES
from autograder.sandbox.source_reader import SourceReader, source_reader

SETTINGS = "nbgrader_config.py"
# `nbgrader release_feedback` needs these to find the student and the attempt.
EXCHANGE_FILES = ("timestamp.txt", "submission_secret.txt")

# nbgrader's defaults, from `nbgrader/coursedir.py` of 0.9. They are copied because importing nbgrader takes seconds.
_DEFAULTS = {
    "course_id": "",
    "db_url": "",
    "directory_structure": "{nbgrader_step}/{student_id}/{assignment_id}",
    "source_directory": "source",
    "submitted_directory": "submitted",
    "autograded_directory": "autograded",
}


@dataclass(frozen=True)
class Course:
    """An nbgrader course."""

    root: Path
    database: str  # URL of its gradebook
    course_id: str
    settings: Mapping[str, str]  # of nbgrader's `CourseDirectory`, by name

    def notebook(self, step: str, assignment: str, student: str = ".") -> Path:
        """Return the path of a notebook in one of nbgrader's steps: source, submitted or autograded."""
        folder = self.settings["directory_structure"].format(
            nbgrader_step=self.settings[f"{step}_directory"], student_id=student, assignment_id=assignment
        )
        return self.root / folder / f"{assignment}.ipynb"


def find(folder: Path, database: str | None = None) -> Course:
    """Return the course in `folder`, with its own database or another one.

    Raises UsageError without a course, without valid settings, or without nbgrader.
    """
    if find_spec("nbgrader") is None:
        raise missing_package("an nbgrader course needs nbgrader", "notebooks")
    root = folder.resolve()
    section = _settings(root).CourseDirectory
    settings = {name: section.get(name, default) for name, default in _DEFAULTS.items()}
    where = f"{root / SETTINGS}: c.CourseDirectory"
    for name, value in settings.items():
        if not isinstance(value, str):
            raise UsageError(f"{where}.{name} is {value!r}. Set it to a string")
    url = settings["db_url"] or "sqlite:///gradebook.db"
    path = url.removeprefix("sqlite:///")
    if path not in (url, "", ":memory:"):  # relative to the course, where nbgrader's commands run
        url = f"sqlite:///{root / path}"
    course = Course(root, database or url, settings["course_id"].strip() or "default_course", settings)
    try:
        exists = course.notebook("source", "any").parent.parent.is_dir()
    except (KeyError, IndexError, ValueError):
        raise UsageError(f"{where}.directory_structure has an unknown field. Fix that setting") from None
    if not exists:
        raise UsageError(f"{folder} is not an nbgrader course. Make one: headway release {folder} --format nbgrader")
    return course


def _settings(root: Path) -> Any:
    from jupyter_core.paths import jupyter_config_path
    from traitlets.config.loader import Config, ConfigFileNotFound, PyFileConfigLoader

    config = Config()
    for place in [*reversed(jupyter_config_path()), str(root)]:
        try:
            config.merge(PyFileConfigLoader(SETTINGS, path=place).load_config())
        except ConfigFileNotFound:
            continue
        except Exception as error:  # the settings are a program, which can raise anything
            text = f"cannot be run ({type(error).__name__}: {error}). Fix it; nbgrader needs it, too"
            raise UsageError(f"{Path(place, SETTINGS)} {text}") from None
    return config


def write(book: Gradebook, course: Course) -> tuple[int, int, list[str]]:
    """Write a graded class into a course, but only submissions that were made there; the rest is left as it is.

    Returns the number of submissions written to the gradebook, that of notebooks with reports, and lines that name the
    students without one. Raises UsageError if the gradebook cannot be written, OSError if a notebook cannot.
    """
    names = [assignment["name"] for assignment in book.assignments]
    sources = {name: nbgrader_autograded.InstructorNotebook(course.notebook("source", name)) for name in names}

    def is_submitted(student: str, assignment: str) -> bool:  # for students unknown to nbgrader, every one counts
        submitted = {name for name in names if course.notebook("submitted", name, student).parent.is_dir()}
        return assignment in submitted or not submitted

    solutions = {name: list(dict.fromkeys(source.answers.values())) for name, source in sources.items()}
    submissions = nbgrader.write_gradebook(
        book, course.database, course_id=course.course_id, solutions=solutions, is_submitted=is_submitted
    )
    with source_reader() as reader:
        notebooks, without = _write_notebooks(book, course, sources, reader)
    notes = [f"no notebook with a report for {name}: {listed(students)}" for name, students in without.items()]
    return submissions, notebooks, notes


def _write_notebooks(
    book: Gradebook, course: Course, sources: Mapping[str, nbgrader_autograded.InstructorNotebook], reader: SourceReader
) -> tuple[int, dict[str, list[str]]]:
    """Write the notebooks; return their number, and the students who submitted none, by assignment."""
    count, without, ids = 0, dict[str, list[str]](), nbgrader.student_ids(book.students)
    for student, document in book.results():
        key = ids[student["submission"]]
        if document is None or Path(key).name != key or key == "..":
            continue
        for assignment in document["assignments"]:
            source = sources.get(assignment["name"])
            if source is None or not source.graded:
                continue
            submitted = course.notebook("submitted", assignment["name"], key)
            try:
                submitted = _renamed(submitted) or submitted
                content = read_plain_file(submitted, MAX_NOTEBOOK_BYTES, submitted.parents[2])
                reader.next_submission()
                text = nbgrader_autograded.graded_notebook(content, source, document, assignment, reader)
            except SkippedFile as skipped:
                reason = f"This was not graded: {skipped}."
                text = nbgrader_autograded.ungraded_notebook(reason, source, document, assignment)
            except OSError:
                if submitted.parent.is_dir():  # otherwise the work was not submitted through nbgrader
                    without.setdefault(assignment["name"], []).append(book.names[student["submission"]])
                continue
            target = course.notebook("autograded", assignment["name"], key)
            write_atomically(target, text.encode("utf-8", "replace"))
            for name in EXCHANGE_FILES:
                try:
                    exchange_file = read_plain_file(submitted.with_name(name), 1000, submitted.parents[2])
                except (SkippedFile, OSError):
                    continue
                write_atomically(target.with_name(name), exchange_file)
            count += 1
    return count, without


def _renamed(notebook: Path) -> Path | None:
    """Return the only notebook in the folder of one that is not there, which a student may have renamed."""
    found = [] if notebook.exists() else list(notebook.parent.glob("*.ipynb"))
    return found[0] if len(found) == 1 else None
