"""nbgrader's own gradebook, through its Python API, so that its formgrader and its exporters show these grades.

Sources: "Gradebook" in nbgrader's API documentation (nbgrader.readthedocs.io/en/stable/api/gradebook.html), "Using an
external gradebook database" for PostgreSQL URLs (…/user_guide/faq.html and `c.CourseDirectory.db_url`), and its own
autograder, `nbgrader/preprocessors/saveautogrades.py` of 0.9, for what a graded cell looks like.

An assignment becomes an nbgrader assignment with one notebook of the same name; a function becomes a graded code cell.
Bonus functions have no points of their own there: what they earn is `extra_credit`. A score that a person gave
(`manual_score`) stays, and is marked as needing another look, as nbgrader's autograder does it. Formgrader lists an
assignment only where the course folder has `source/<assignment>/`, and a student's work only where it has
`autograded/<student>/<assignment>/`.
"""

import datetime
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import distribution
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any

from autograder.classroom.gradebook import display_name
from autograder.core.text import clean
from autograder.documents import Document
from autograder.errors import UsageError, missing_package

STUDENTS_PER_COMMIT = 50


Score = tuple[float, float | None]  # points, and extra credit where there can be some
CellsOf = Callable[[str, Document], dict[str, tuple[float, float]]]


def one_cell(assignment: str, function: Document) -> dict[str, tuple[float, float]]:
    """The cells of a function, by grade id, with points earned and possible: one cell with the function's name."""
    return {function["name"]: (function["points"]["earned"], function["points"]["possible"])}


def write_gradebook(
    class_document: Document,
    results: Iterable[tuple[Document, Document | None]],
    database_url: str,
    *,
    course_id: str = "default_course",
    cells_of: CellsOf = one_cell,
    solutions: Mapping[str, Sequence[str]] | None = None,
    handed_in: Callable[[str, str], bool] = lambda student, assignment: True,
) -> int:
    """Write a class into an nbgrader gradebook; what is there already is brought up to date.

    Args:
        class_document: a `headway.class/2` document.
        results: each of its students with the result document or None, as `course.gradebook.Gradebook.results()`.
        database_url: as nbgrader's `c.CourseDirectory.db_url`: `sqlite:////absolute/path/gradebook.db` or
            `postgresql://user@host/name`.
        course_id: as nbgrader's `c.CourseDirectory.course_id`.
        cells_of: the graded cells of a function, from the assignment's name and the function's entry in a result.
        solutions: ids of the cells that students write, by assignment: formgrader has a comment for each.
        handed_in: whether a student, by nbgrader's id, handed in an assignment. What was not is not written.

    Returns:
        How many submissions (a student's work on one assignment) were written.

    Raises:
        UsageError: if nbgrader is not installed, or the database cannot be used.
    """
    try:
        from nbgrader.api import Gradebook
        from sqlalchemy.exc import SQLAlchemyError
    except ImportError:
        raise missing_package("an nbgrader gradebook needs nbgrader", "notebooks") from None
    try:
        with _alembic_on_the_path(), Gradebook(_with_driver(database_url), course_id=course_id) as book:
            writer = _Writer(book, class_document, cells_of, solutions or {}, handed_in)
            return writer.write(results)
    except ModuleNotFoundError as error:
        raise UsageError(f"this database needs the driver {error.name}: pip install {_driver(error.name)}") from None
    except (SQLAlchemyError, ValueError) as error:
        first = str(getattr(error, "orig", None) or error).strip().splitlines()[0]
        raise UsageError(
            f"nbgrader's gradebook cannot be written ({first}). "
            "Name the database as in nbgrader_config.py: --database sqlite:////path/gradebook.db"
        ) from None


@contextmanager
def _alembic_on_the_path() -> Iterator[None]:
    """nbgrader runs the script `alembic` for a new database; it is there also where no environment is activated."""
    scripts = [file for file in distribution("alembic").files or [] if file.stem == "alembic" and "bin" in str(file)]
    before = os.environ.get("PATH", "")
    folders = [str(Path(str(file.locate())).resolve().parent) for file in scripts]
    os.environ["PATH"] = os.pathsep.join([*folders, str(Path(sys.executable).parent), before])
    try:
        yield
    finally:
        os.environ["PATH"] = before


def _with_driver(url: str) -> str:
    """The URL, with the PostgreSQL driver that is installed: SQLAlchemy 2.1 looks for another one than 2.0."""
    kind, separator, rest = url.partition("://")
    if kind in ("postgres", "postgresql"):
        driver = "psycopg" if find_spec("psycopg") or not find_spec("psycopg2") else "psycopg2"
        return f"postgresql+{driver}{separator}{rest}"
    return url


def _driver(module: str | None) -> str:
    return {"psycopg2": "psycopg2-binary"}.get(module or "", module or "")


class _Writer:
    """Writes a batch of students at a time.

    The rows are nbgrader's own classes, made with the ids of what they belong to. `Gradebook.add_submission` and
    `find_grade` commit and query for every row: for 2,000 students and 63 functions that takes twenty minutes.
    """

    def __init__(
        self,
        book: Any,
        class_document: Document,
        cells_of: CellsOf,
        solutions: Mapping[str, Sequence[str]],
        handed_in: Callable[[str, str], bool],
    ) -> None:
        from nbgrader import api

        self._api = api
        self._book = book
        self._cells_of = cells_of
        self._solutions = solutions
        self._handed_in = handed_in
        self._names = [entry["name"] for entry in class_document["assignments"]]
        self._due = {entry["name"]: entry.get("due") for entry in class_document["assignments"]}
        self._worth = {entry["name"]: entry["possible"] for entry in class_document["assignments"]}
        self._notebooks: dict[str, Any] = {}
        self._cells: dict[tuple[str, str], str] = {}  # (assignment, name of the cell) -> its id

    def write(self, results: Iterable[tuple[Document, Document | None]]) -> int:
        written = 0
        unread: list[tuple[Document, Document | None]] = []
        for batch in _batches(results, STUDENTS_PER_COMMIT):
            unread += [(student, result) for student, result in batch if _unread(student, result)]
            written += self._batch([pair for pair in batch if not _unread(*pair)])
        for batch in _batches(unread, STUDENTS_PER_COMMIT):  # after the others, when every cell is known
            written += self._batch(batch)
        return written

    def _batch(self, batch: list[tuple[Document, Document | None]]) -> int:
        work = {id(student): dict(self._work(student, result)) for student, result in batch}
        with self._book.db.no_autoflush:
            self._students([student for student, _ in batch])
            there = self._submissions([student_id(student) for student, _ in batch])
            written = 0
            for student, _ in batch:
                for name, scores in work[id(student)].items():
                    self._grade(student, name, scores, there.get((student_id(student), name)))
                    written += 1
        self._book.db.commit()
        return written

    def _work(self, student: Document, result: Document | None) -> Iterator[tuple[str, dict[str, Score]]]:
        """By assignment: points and extra credit of every cell. Nothing for what was not handed in."""
        key = student_id(student)
        if result is None:
            for name in self._notebooks if student["status"] != "missing" else ():
                if self._handed_in(key, name):
                    yield name, {cell: (0.0, None) for assignment, cell in self._cells if assignment == name}
            return
        for assignment in result["assignments"]:
            name, scores = assignment["name"], dict[str, Score]()
            if name not in self._names or not self._handed_in(key, name):
                continue
            scale = self._scale(assignment)
            for function in assignment["functions"]:
                for cell, (earned, possible) in self._cells_of(name, function).items():
                    bonus, points = function["bonus"], round(earned * scale, 6)
                    self._make_cell(name, cell, 0.0 if bonus else round(possible * scale, 6))
                    scores[cell] = (0.0, points) if bonus else (points, None)
            if scores:
                yield name, scores

    def _scale(self, assignment: Document) -> float:
        """What a point of the checks is worth in the course: the policy may say that an assignment has 10 points."""
        checks: float = assignment["points"]["possible"]
        worth: float | None = self._worth.get(assignment["name"])
        return worth / checks if worth and checks else 1.0

    def _make_cell(self, assignment: str, cell: str, possible: float) -> None:
        if (assignment, cell) not in self._cells:
            self._make_notebook(assignment)
            made = self._book.update_or_create_grade_cell(
                cell, assignment, assignment, max_score=possible, cell_type="code"
            )
            self._cells[assignment, cell] = made.id

    def _make_notebook(self, name: str) -> None:
        if name not in self._notebooks:
            # Without a date the one stays that the instructor gave in nbgrader.
            given = {"duedate": _moment(self._due[name])} if self._due[name] else {}
            self._book.update_or_create_assignment(name, **given)
            self._notebooks[name] = self._book.update_or_create_notebook(name, name)
            for cell in self._solutions.get(name, ()):
                self._book.update_or_create_solution_cell(cell, name, name)

    def _students(self, students: list[Document]) -> None:
        Student = self._api.Student  # noqa: N806
        known = self._book.db.query(Student).filter(Student.id.in_([student_id(s) for s in students]))
        there = {student.id: student for student in known}
        for entry in students:
            key = student_id(entry)
            if key not in there:
                there[key] = Student(id=key)
                self._book.db.add(there[key])
            # What we do not know stays as the instructor has it: formgrader shows the id where there is no name.
            name, email = clean(display_name(entry), 120), clean(entry.get("email") or "", 120)
            if name not in (key, entry["submission"]) or " " in name:
                there[key].first_name, there[key].last_name = _first_and_last(name)
            if email:
                there[key].email = email

    def _submissions(self, ids: list[str]) -> dict[tuple[str, str], Any]:
        """What the gradebook holds of these students: (student, assignment) -> submission."""
        Submission, Assignment = self._api.SubmittedAssignment, self._api.Assignment  # noqa: N806
        found = (
            self._book.db.query(Submission.student_id, Assignment.name, Submission)
            .join(Assignment, Submission.assignment_id == Assignment.id)
            .filter(Submission.student_id.in_(ids), Assignment.name.in_(self._names))
        )
        return {(student, assignment): submission for student, assignment, submission in found}

    def _grade(self, student: Document, name: str, scores: dict[str, Score], submission: Any) -> None:
        api, db, notebook = self._api, self._book.db, self._notebooks[name]
        look = student["status"] != "graded"  # nothing of it could be read, or the kit itself failed
        grades: dict[str, Any] = {}
        if submission is None:
            submission = api.SubmittedAssignment(
                id=api.new_uuid(), assignment_id=notebook.assignment_id, student_id=student_id(student)
            )
            handed_in = api.SubmittedNotebook(id=api.new_uuid(), notebook_id=notebook.id, assignment_id=submission.id)
            graded_by_hand = {cell.id for cell in notebook.task_cells}
            grades = {key: api.Grade(cell_id=key, notebook_id=handed_in.id) for key in graded_by_hand}
            db.add_all([submission, handed_in, *grades.values()])
            commented = set()
        else:
            handed_in = next(one for one in submission.notebooks if one.notebook_id == notebook.id)
            grades = {grade.cell_id: grade for grade in handed_in.grades}
            commented = {comment.cell_id for comment in handed_in.comments}
        # A submission mirrors its notebook: a comment for every cell that may have one.
        for cell in [*notebook.solution_cells, *notebook.task_cells]:
            if cell.id not in commented:
                db.add(api.Comment(cell_id=cell.id, notebook_id=handed_in.id))
        if student.get("submitted_at"):
            submission.timestamp = _moment(student["submitted_at"])
        handed_in.late_submission_penalty = _penalty(student, name)
        for named, (points, extra) in scores.items():
            key = self._cells[name, named]
            if key not in grades:
                grades[key] = api.Grade(cell_id=key, notebook_id=handed_in.id)
                db.add(grades[key])
            grades[key].auto_score = points
            if extra is not None:
                grades[key].extra_credit = extra
            grades[key].needs_manual_grade = look or grades[key].manual_score is not None


def _unread(student: Document, result: Document | None) -> bool:
    return result is None and student["status"] != "missing"


def _batches(pairs: Iterable[Any], size: int) -> Iterator[list[Any]]:
    several = iter(pairs)
    while batch := list(islice(several, size)):
        yield batch


def student_id(student: Document) -> str:
    """The id under which nbgrader knows a student: the roster's, else what the submission is called."""
    return clean(student.get("id") or student["submission"], 128)


def _penalty(student: Document, assignment: str) -> float | None:
    """Points taken off an assignment for being late; nbgrader's exporter takes them off the score."""
    entry = student["assignments"].get(assignment)
    return float(entry["penalty"]) or None if entry else None


def _first_and_last(name: str) -> tuple[str, str]:
    """First and last name of "Ada Lovelace" or "Lovelace, Ada"; one word is a last name: formgrader has it first."""
    if "," in name:
        last, _, first = name.partition(",")
        return first.strip(), last.strip()
    first, _, last = name.rpartition(" ")
    return first, last


def _moment(text: str) -> datetime.datetime:
    """A point in time, without zone and in UTC, as nbgrader keeps it."""
    moment = datetime.datetime.fromisoformat(text)
    return moment.astimezone(datetime.UTC).replace(tzinfo=None) if moment.tzinfo else moment


def write(class_document: Document, results: Iterable[tuple[Document, Document | None]], path: Path) -> int:
    """Write an SQLite gradebook to `path`, as `write_gradebook`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return write_gradebook(class_document, results, f"sqlite:///{path.resolve()}")
