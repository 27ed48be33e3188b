"""Write nbgrader's gradebook through its Python API, so that its formgrader and exporters show these grades.

Sources: "Gradebook" in nbgrader's API documentation (nbgrader.readthedocs.io/en/stable/api/gradebook.html) and, for the
form of a graded cell, its autograder, `nbgrader/preprocessors/saveautogrades.py` of 0.9.

An assignment becomes an nbgrader assignment with one notebook of the same name, and a function a graded code cell with
the points of the policy; so does a question of the rubric. The points of bonus functions become `extra_credit`, as far
as the policy counts them, and the late penalty `late_submission_penalty`. What a person changed in Headway (a comment,
an exception) is added to the penalty, or is the extra credit of a cell of its own, so that nbgrader's score is
Headway's. A score given by hand in nbgrader (`manual_score`) is kept and marked for another look, as nbgrader's
autograder does. An assignment that was not submitted gets no row: formgrader cannot show one without a notebook. Where
Headway has no result, a row stays as it is.
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

from autograder.classroom.policy.model import AssignmentPolicy
from autograder.classroom.storage.gradebook import Gradebook, display_name
from autograder.core.text import clean, clean_name
from autograder.documents.reading import Document
from autograder.errors import UsageError, missing_package

STUDENTS_PER_COMMIT = 50
CHANGES_CELL = "changes-in-headway"
ROUNDING = 1e-4  # points; documents and cells have more decimals

Results = Iterable[tuple[Document, Document | None]]
Score = tuple[float, float | None]  # points, and extra credit (None for a cell that has none)


def write_gradebook(
    book: Gradebook,
    database_url: str,
    *,
    course_id: str = "default_course",
    solutions: Mapping[str, Sequence[str]] | None = None,
    is_submitted: Callable[[str, str], bool] = lambda student, assignment: True,
) -> int:
    """Write a class into an nbgrader gradebook, or update it; return the number of submissions written.

    The URL is nbgrader's `c.CourseDirectory.db_url`. `solutions` holds, by assignment, the ids of the cells that
    students write; formgrader has a comment for each. Only what `is_submitted` by a student (nbgrader's id) for an
    assignment is written. Raises UsageError if nbgrader is not installed, or the database cannot be written.
    """
    try:
        from nbgrader import api
        from sqlalchemy.exc import SQLAlchemyError
    except ImportError:
        raise missing_package("an nbgrader gradebook needs nbgrader", "notebooks") from None
    try:
        with _alembic_on_path(), api.Gradebook(_with_driver(database_url), course_id=course_id) as database:
            return _Writer(api, database, book, solutions or {}, is_submitted).write(book.results())
    except ModuleNotFoundError as error:
        package = "psycopg2-binary" if error.name == "psycopg2" else error.name
        raise UsageError(f"this database needs the driver {error.name}. Install it: pip install {package}") from None
    except (SQLAlchemyError, ValueError) as error:
        first = str(getattr(error, "orig", None) or error).strip().splitlines()[0]
        hint = "Give the URL as in nbgrader_config.py: --database sqlite:////path/gradebook.db"
        raise UsageError(f"cannot write nbgrader's gradebook ({first}). {hint}") from None


@contextmanager
def _alembic_on_path() -> Iterator[None]:
    """Put the script `alembic`, which nbgrader runs for a new database, on PATH even without an active environment."""
    scripts = [file for file in distribution("alembic").files or [] if file.stem == "alembic" and "bin" in str(file)]
    before = os.environ.get("PATH", "")
    folders = [str(Path(str(file.locate())).resolve().parent) for file in scripts]
    os.environ["PATH"] = os.pathsep.join([*folders, str(Path(sys.executable).parent), before])
    # Otherwise alembic would run the migrations that a pyproject.toml in the current folder names.
    os.environ["ALEMBIC_CONFIG"] = os.path.join(os.devnull, "pyproject.toml")
    try:
        yield
    finally:
        os.environ["PATH"] = before


def _with_driver(url: str) -> str:
    """Return the URL with the installed PostgreSQL driver, because SQLAlchemy's default differs between 2.0 and 2.1."""
    kind, separator, rest = url.partition("://")
    if kind in ("postgres", "postgresql"):
        driver = "psycopg" if find_spec("psycopg") or not find_spec("psycopg2") else "psycopg2"
        return f"postgresql+{driver}{separator}{rest}"
    return url


class _Writer:
    """Writes a class into an open gradebook, a batch of students at a time.

    The rows are made directly from nbgrader's classes. Its `Gradebook.add_submission` and `find_grade` commit and query
    for every row, which takes twenty minutes for 2,000 students and 63 functions.
    """

    def __init__(
        self,
        api: Any,
        database: Any,
        book: Gradebook,
        solutions: Mapping[str, Sequence[str]],
        is_submitted: Callable[[str, str], bool],
    ) -> None:
        self._api, self._book, self._solutions, self._is_submitted = api, database, solutions, is_submitted
        self._assignments = {assignment["name"]: assignment for assignment in book.assignments}
        self._policy, self._ids = book.policy, student_ids(book.students)
        graded = (item for student in book.students for item in student["assignments"].items())
        self._changed = {name for name, grade in graded if _is_changed(grade)}
        self._notebooks: dict[str, Any] = {}
        self._cells: dict[tuple[str, str], str] = {}  # (assignment, cell's name) -> cell's id

    def write(self, results: Results) -> int:
        written, without_result = 0, []
        for batch in _batches(results):
            without_result += [(student, self._names_without_result(student, result)) for student, result in batch]
            written += self._batch([(student, dict(self._work(student, result))) for student, result in batch])
        # Last, when all cells are known.
        zeros = ((student, dict(self._zeros(names))) for student, names in without_result if names)
        return written + sum(map(self._batch, _batches(zeros)))

    def _batch(self, batch: list[tuple[Document, dict[str, dict[str, Score]]]]) -> int:
        with self._book.db.no_autoflush:
            self._students([student for student, _ in batch])
            existing = self._submissions([self._id(student) for student, _ in batch])
            for student, work in batch:
                for name, scores in work.items():
                    self._grade(student, name, scores, existing.get((self._id(student), name)))
        self._book.db.commit()
        return sum(len(work) for _, work in batch)

    def _id(self, student: Document) -> str:
        return self._ids[student["submission"]]

    def _has_row(self, student: Document, name: str) -> bool:
        grade = student["assignments"].get(name)
        is_graded = grade is not None and grade["status"] in ("graded", "unreadable")
        return is_graded and name in self._assignments and self._is_submitted(self._id(student), name)

    def _work(self, student: Document, result: Document | None) -> Iterator[tuple[str, dict[str, Score]]]:
        """Yield the scores of all cells, by assignment; assignments without a submission are left out."""
        for assignment in result["assignments"] if result else ():
            name, scores = assignment["name"], dict[str, Score]()
            if not self._has_row(student, name):
                continue
            points = {function["name"]: function["points"] for function in assignment["functions"]}
            bonus = {function["name"] for function in assignment["functions"] if function["bonus"]}
            rules = self._policy.assignments.get(name, AssignmentPolicy())
            worth = rules.worth({cell: one["possible"] for cell, one in points.items()}, bonus)
            earned = {cell: one["earned"] * worth[cell] / (one["possible"] or 1.0) for cell, one in points.items()}
            raw = sum(earned[cell] for cell in bonus)
            counted = self._counted_bonus(student["assignments"][name]) / raw if raw else 0.0  # of each bonus point
            for cell in points:
                self._make_cell(name, cell, 0.0 if cell in bonus else round(worth[cell], 6))
                scores[cell] = (
                    (0.0, round(earned[cell] * counted, 6)) if cell in bonus else (round(earned[cell], 6), None)
                )
            for item in student["assignments"][name]["rubric"]:
                cell = f"rubric-{item['id']}"
                self._make_cell(name, cell, item["points"])
                scores[cell] = (item["earned"] or 0.0, None)
            if name in self._changed or CHANGES_CELL in {cell.name for cell in self._notebooks[name].grade_cells}:
                self._make_cell(name, CHANGES_CELL, 0.0)
                scores[CHANGES_CELL] = (0.0, round(max(0.0, _change(student["assignments"][name], scores)), 6))
            if scores:
                yield name, scores

    def _counted_bonus(self, grade: Document) -> float:
        """Return the bonus points that count: under "cap", they only make up for points that were lost."""
        is_capped = self._policy.bonus == "cap"
        excess = grade["earned"] - grade["penalty"] - grade["possible"] if is_capped else 0.0
        return float(max(0.0, grade["bonus"] - max(0.0, excess)))

    def _names_without_result(self, student: Document, result: Document | None) -> list[str]:
        """Return the assignments that were submitted and have no checks, because they could not be read."""
        found = {assignment["name"] for assignment in result["assignments"]} if result else set()
        return [name for name in student["assignments"] if name not in found and self._has_row(student, name)]

    def _zeros(self, names: Iterable[str]) -> Iterator[tuple[str, dict[str, Score]]]:
        for name in names:
            if name in self._notebooks:
                yield name, {cell: (0.0, None) for assignment, cell in self._cells if assignment == name}

    def _make_cell(self, assignment: str, cell: str, possible: float) -> None:
        if (assignment, cell) not in self._cells:
            self._make_notebook(assignment)
            names, settings = (cell, assignment, assignment), {"max_score": possible, "cell_type": "code"}
            self._cells[assignment, cell] = self._book.update_or_create_grade_cell(*names, **settings).id

    def _make_notebook(self, name: str) -> None:
        if name not in self._notebooks:
            # Without a due date, the one set in nbgrader is kept.
            due = self._assignments[name]["due"]
            self._book.update_or_create_assignment(name, **({"duedate": _utc(due)} if due else {}))
            self._notebooks[name] = self._book.update_or_create_notebook(name, name)
            for cell in self._solutions.get(name, ()):
                self._book.update_or_create_solution_cell(cell, name, name)

    def _students(self, students: list[Document]) -> None:
        Student = self._api.Student  # noqa: N806
        rows = self._book.db.query(Student).filter(Student.id.in_([self._id(s) for s in students]))
        students_by_id = {student.id: student for student in rows}
        for entry in students:
            key = self._id(entry)
            if key not in students_by_id:
                students_by_id[key] = Student(id=key)
                self._book.db.add(students_by_id[key])
            # An unknown name or address leaves the instructor's; formgrader shows the id if there is no name.
            name, email = _as_text(display_name(entry), 120), _as_text(entry["email"], 120)
            if name not in (key, entry["submission"]) or " " in name:
                students_by_id[key].first_name, students_by_id[key].last_name = _first_and_last(name)
            if email:
                students_by_id[key].email = email

    def _submissions(self, ids: list[str]) -> dict[tuple[str, str], Any]:
        """Return the gradebook's submissions of these students: (student, assignment) -> submission."""
        Submission, Assignment = self._api.SubmittedAssignment, self._api.Assignment  # noqa: N806
        rows = (
            self._book.db.query(Submission.student_id, Assignment.name, Submission)
            .join(Assignment, Submission.assignment_id == Assignment.id)
            .filter(Submission.student_id.in_(ids), Assignment.name.in_(self._assignments))
        )
        return {(student, assignment): submission for student, assignment, submission in rows}

    def _grade(self, student: Document, name: str, scores: dict[str, Score], submission: Any) -> None:
        api, db, notebook = self._api, self._book.db, self._notebooks[name]
        grade = student["assignments"][name]
        needs_look = grade["status"] != "graded"  # unreadable, or an internal error
        commented, grades = set(), dict[str, Any]()
        if submission is None:
            ids = {"id": api.new_uuid(), "assignment_id": notebook.assignment_id, "student_id": self._id(student)}
            submission = api.SubmittedAssignment(**ids)
            ids = {"id": api.new_uuid(), "notebook_id": notebook.id, "assignment_id": submission.id}
            submitted_notebook = api.SubmittedNotebook(**ids)
            for cell in notebook.task_cells:
                grades[cell.id] = api.Grade(cell_id=cell.id, notebook_id=submitted_notebook.id)
            db.add_all([submission, submitted_notebook, *grades.values()])
        else:
            submitted_notebook = next(entry for entry in submission.notebooks if entry.notebook_id == notebook.id)
            grades = {grade.cell_id: grade for grade in submitted_notebook.grades}
            commented = {comment.cell_id for comment in submitted_notebook.comments}
        # nbgrader expects a comment for every cell that may have one.
        for cell in [*notebook.solution_cells, *notebook.task_cells]:
            if cell.id not in commented:
                db.add(api.Comment(cell_id=cell.id, notebook_id=submitted_notebook.id))
        if grade["submitted_at"]:
            submission.timestamp = _utc(grade["submitted_at"])
        taken_off = grade["penalty"] + max(0.0, -_change(grade, scores))  # Points that were given are in a cell.
        submitted_notebook.late_submission_penalty = taken_off if taken_off >= ROUNDING else None
        for cell_name, (points, extra) in scores.items():
            key = self._cells[name, cell_name]
            if key not in grades:
                grades[key] = api.Grade(cell_id=key, notebook_id=submitted_notebook.id)
                db.add(grades[key])
            grades[key].auto_score = points
            if extra is not None:
                grades[key].extra_credit = extra
            grades[key].needs_manual_grade = needs_look or grades[key].manual_score is not None


def _batches(results: Results) -> Iterator[list[Any]]:
    iterator = iter(results)
    while batch := list(islice(iterator, STUDENTS_PER_COMMIT)):
        yield batch


def student_ids(students: Sequence[Document]) -> dict[str, str]:
    """Return the id under which nbgrader knows each student, by the name of the submission.

    It is nbgrader's own; or what the roster has in the column with the ids of all whom nbgrader named; or the id,
    unless it is the number of another platform, which may be another student's in nbgrader; or the submission's name.
    """
    named = [student for student in students if student["roster"] and student["ids"].get("nbgrader")]
    titles = named[0]["roster"] if named else ()
    in_roster = (title for title in titles if all(s["roster"].get(title) == s["ids"]["nbgrader"] for s in named))
    column = next(in_roster, "")

    def id_of(student: Document) -> str:
        ids, own = student["ids"], student["id"]
        foreign = {number for platform, number in ids.items() if platform.partition(":")[0] in ("canvas", "moodle")}
        known = clean(ids.get("nbgrader") or student["roster"].get(column, ""), 128)
        return known or _as_text((own not in foreign and own) or student["submission"], 128)

    return {student["submission"]: id_of(student) for student in students}


def _is_changed(grade: Document) -> bool:
    return bool(grade["by_hand"] or grade["adjustments"])


def _change(grade: Document, scores: Mapping[str, Score]) -> float:
    """Return the points that a person gave, or took off, in Headway: beyond the scores of the cells and the penalty."""
    if not _is_changed(grade):
        return 0.0
    change = grade["score"] - (sum(points + (extra or 0.0) for points, extra in scores.values()) - grade["penalty"])
    return float(change) if abs(change) >= ROUNDING else 0.0


def _as_text(text: str, limit: int) -> str:
    """Return a text, which a student may have chosen, as formgrader can show it: its page takes it for HTML."""
    return clean_name(text, limit).translate(str.maketrans('<>"', "‹›”"))


def _first_and_last(name: str) -> tuple[str, str]:
    """Split "Ada Lovelace" or "Lovelace, Ada"; a single word is a last name, which formgrader shows first."""
    if "," in name:
        last, _, first = name.partition(",")
        return first.strip(), last.strip()
    first, _, last = name.rpartition(" ")
    return first, last


def _utc(text: str) -> datetime.datetime:
    """Return a time in UTC without a zone, as nbgrader stores it."""
    moment = datetime.datetime.fromisoformat(text)
    return moment.astimezone(datetime.UTC).replace(tzinfo=None) if moment.tzinfo else moment
