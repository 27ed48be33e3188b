"""A course from beginning to end with nbgrader's own commands, and the same submissions through `headway grade`."""

import re
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor

import nbformat
import pytest
from support.commands import run_program
from support.nbgrader_class import ASSIGNMENT, NOT_GRADED_BY_NBGRADER, environment, write_submissions
from support.reading import csv_rows, read_json
from support.run_notebooks import kernel_sockets

from autograder.course.stubs import bundled
from autograder.courses.transformer import TRANSFORMER
from autograder.notebooks import nbgrader_course

pytestmark = pytest.mark.notebook

# One process for all assignments, because most of the time of `nbgrader generate_assignment` is its start.
GENERATE = """
import sys
from traitlets.config import Config
from nbgrader.apps import NbGraderAPI
from nbgrader.apps.nbgraderapp import NbGrader
app = NbGrader(); app.load_config_file()
api = NbGraderAPI(config=app.config)
for name in sys.argv[1:]:
    done = api.generate_assignment(name)
    assert done["success"], (name, done)
"""
# An instructor's comment on a student's answer, as formgrader saves it.
COMMENT = f"""
import sys
from nbgrader.api import Gradebook
with Gradebook(sys.argv[1], course_id="headway") as book:
    comment = book.find_comment("softmax-solution", "{ASSIGNMENT}", "{ASSIGNMENT}", "wrong")
    comment.manual_comment = "Look at the temperature"
    book.db.commit()
"""
# Files of nbgrader's exchange beside a submission; `nbgrader release_feedback` looks for them beside the feedback.
EXCHANGE = {"timestamp.txt": "2026-10-01 09:30:00.000000 UTC", "submission_secret.txt": "9f86d081884c7d65"}
FULL = 28.75


class Course:
    """A released course with submissions, in which the slow commands run side by side.

    Attributes:
        autograding: what nbgrader's own grading comes to: score by student, and its log.
        grading: the class document of `headway grade`.
        validation: the output of `nbgrader validate` for the released notebook.
    """

    def __init__(self, folder, cache):
        self.folder = folder
        self._environment = environment(cache)
        self.headway("release", folder, "--format", "nbgrader", "--seed", "7", cwd=folder.parent)
        self.run("-c", GENERATE, *TRANSFORMER.modules)
        write_submissions(folder)
        shutil.copy(folder / "gradebook.db", folder.parent / "fresh.db")
        with ThreadPoolExecutor(2) as pool:
            self.autograding = pool.submit(self._autograde)
            self.grading = pool.submit(self._grade)
            self.validation = pool.submit(self._run_kernels, "validate", self.notebook("release"))

    def run(self, *command, cwd=None, code=0):
        """Run Python with these arguments in the course's folder; returns all output."""
        options = {"cwd": cwd or self.folder, "env": self._environment, "timeout": 1200}
        done = run_program(sys.executable, *command, code=code, **options)
        return done.stdout + done.stderr

    def headway(self, *arguments, **options):
        return self.run("-m", "autograder.cli", *arguments, **options)

    def nbgrader(self, *arguments, **options):
        return self.run("-m", "nbgrader", *arguments, **options)

    def _run_kernels(self, *arguments, **options):
        with kernel_sockets() as config:
            sockets = [f"--KernelManager.{name}={value}" for name, value in config.KernelManager.items()]
            return self.nbgrader(*arguments, *sockets, **options)

    def notebook(self, step, student=""):
        return self.folder / step / student / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"

    def exported_scores(self, folder):
        """Run `nbgrader export` in a course's folder; returns the score by student."""
        self.nbgrader("export", cwd=folder)
        rows = csv_rows(folder / "grades.csv")
        return {row["student_id"]: float(row["score"]) for row in rows if row["assignment"] == ASSIGNMENT}

    def _autograde(self):
        log = self._run_kernels("autograde", ASSIGNMENT, code=1)  # It cannot grade all of them.
        return self.exported_scores(self.folder), log

    def _grade(self):
        self.headway("grade", "submitted", "--out", "out", "--assignment", ASSIGNMENT, "--seed", "7")
        return read_json(self.folder / "out" / "class.json")


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    return Course(tmp_path_factory.mktemp("nbgrader") / "course", tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="module")
def by_nbgrader(course):
    return course.autograding.result()


@pytest.fixture(scope="module")
def by_headway(course):
    return {student["submission"]: student["earned"] for student in course.grading.result()["students"]}


def test_released_notebooks_hold_no_solution_or_hidden_test(course):
    for module in TRANSFORMER.modules:
        text = (course.folder / "release" / module / f"{module}.ipynb").read_text("utf-8")
        for marker in ("SOLUTION", "HIDDEN", "grade.seed"):
            assert marker not in text, module
        notebook = nbformat.reads(text, as_version=4)
        code = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code")
        solution = (bundled("solutions") / f"{module}.py").read_text("utf-8")
        stub = (bundled("assignments") / f"{module}.py").read_text("utf-8")
        lines = {line.strip() for line in code.splitlines()}
        given = {line.strip() for line in stub.splitlines()}
        for line in {line.strip() for line in solution.splitlines()} - given:
            assert len(line) < 8 or line.startswith("#") or line not in lines, (module, line)
        assert code.count("# YOUR CODE HERE") >= len(TRANSFORMER.modules[module].functions)
    files = {path.name for path in (course.folder / "release" / "attention").iterdir()}
    assert files == {"attention.ipynb", "softmax.py"}


def test_both_give_twelve_submissions_the_same_scores(by_nbgrader, by_headway):
    graded, log = by_nbgrader
    full = {"right", "warning", "copied", "deleted", "stripped", "garbled", "display", "one_cell"}
    assert {name for name, score in by_headway.items() if score == FULL} - set(NOT_GRADED_BY_NBGRADER) == full
    assert by_headway["stub"] == 0 and by_headway["wrong"] == FULL - 2
    assert 0 < by_headway["loop"] < FULL and 0 < by_headway["syntax"] < FULL
    both = by_headway.keys() - set(NOT_GRADED_BY_NBGRADER)
    assert len(both) == 12
    assert {name: graded[name] for name in both} == {name: by_headway[name] for name in both}, log


def test_headway_grades_or_explains_what_nbgrader_cannot_grade(course, by_nbgrader, by_headway):
    _, log = by_nbgrader
    for name in NOT_GRADED_BY_NBGRADER:
        assert not course.notebook("autograded", name).exists(), log
    assert by_headway["dies"] == FULL, "only the functions of the notebook are run"
    assert by_headway["unreadable"] == 0
    students = course.grading.result()["students"]
    (student,) = (student for student in students if student["submission"] == "unreadable")
    assert student["status"] == "unreadable" and "not valid JSON" in student["reason"]


def test_warning_costs_no_points_in_nbgrader(course, by_nbgrader):
    def streams(student, wanted):
        cells = nbformat.read(course.notebook("autograded", student), as_version=4).cells
        found = [cell for cell in cells if cell.cell_type == "code" and wanted(cell)]
        assert found
        return [output.get("name") for cell in found for output in cell.outputs if output.output_type == "stream"]

    assert "stderr" in streams("display", lambda cell: cell.source == "np.log(-1.0)"), "the warning is a real one"
    assert streams("warning", lambda cell: cell.metadata.get("nbgrader", {}).get("grade")) == []
    assert by_nbgrader[0]["warning"] == FULL


def test_validate_counts_the_cells_that_fail(course):
    functions = TRANSFORMER.modules[ASSIGNMENT].functions
    assert f"VALIDATION FAILED ON {len(functions)} CELL(S)" in course.validation.result()


def test_nbgrader_feedback_shows_the_report(course, by_nbgrader):
    course.nbgrader("generate_feedback", ASSIGNMENT, "--student=[ws][ry]*")  # only wrong and syntax
    wrong = feedback(course.folder, "wrong")
    assert "multiplied by the temperature" in wrong
    assert "expected 0." not in re.sub(r"<[^>]*>", "", wrong), "feedback must not reveal expected values"
    assert "is not valid Python" in re.sub(r"<[^>]*>", "", feedback(course.folder, "syntax"))


def feedback(folder, student):
    return (folder / "feedback" / student / ASSIGNMENT / f"{ASSIGNMENT}.html").read_text("utf-8")


def test_exported_grades_reach_gradebook_and_feedback(course, by_headway, tmp_path):
    other = tmp_path / "course"
    for name in ("source", "release", "submitted"):
        shutil.copytree(course.folder / name, other / name)
    shutil.copy(course.folder / "nbgrader_config.py", other)
    for name, text in EXCHANGE.items():
        (other / "submitted" / "right" / ASSIGNMENT / name).write_text(text)
    shutil.copy(course.folder.parent / "fresh.db", other / "gradebook.db")
    output = course.headway("export", "nbgrader", "out", "--course", other)
    assert f"{len(by_headway)} submissions" in output and f"{len(by_headway)} notebooks" in output
    assert course.exported_scores(other) == by_headway
    autograded = nbformat.read(other / course.notebook("autograded", "right").relative_to(course.folder), as_version=4)
    assert sum('grade("softmax.softmax"' in cell.source for cell in autograded.cells) == 1
    course.run("-c", COMMENT, f"sqlite:///{other / 'gradebook.db'}")
    shutil.copy(course.folder / nbgrader_course.MANIFEST, other)  # has the seed
    again = ("--out", "out", "--assignment", ASSIGNMENT, "--nbgrader", other)
    output = course.headway("grade", "submitted", *again)
    assert f"{len(by_headway)} already graded, 0 to grade" in output and f"{len(by_headway)} submissions" in output
    course.nbgrader("generate_feedback", ASSIGNMENT, cwd=other)
    for student in by_headway:
        assert f"{by_headway[student]:g}" in feedback(other, student)
    wrong = feedback(other, "wrong")
    assert "multiplied by the temperature" in wrong and "Look at the temperature" in wrong
    assert "it is not a notebook" in feedback(other, "unreadable")
    for name, text in EXCHANGE.items():
        assert (other / "feedback" / "right" / ASSIGNMENT / name).read_text() == text
