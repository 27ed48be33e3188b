"""A course from beginning to end with nbgrader's own commands, and the same submissions through `headway grade`."""

import csv
import json
import re
import shutil
import subprocess
import sys

import nbformat
import pytest
from support.nbgrader_class import ASSIGNMENT, BEYOND, environment, hand_in, hand_in_beyond

from autograder.courses.transformer import TRANSFORMER
from autograder.curriculum.stubs import bundled
from autograder.notebooks import release_manifest

pytestmark = pytest.mark.notebook

# One process for twelve assignments: `nbgrader generate_assignment` takes most of its time to start.
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
# What an instructor writes under a student's answer in formgrader.
COMMENT = f"""
import sys
from nbgrader.api import Gradebook
with Gradebook(sys.argv[1], course_id="headway") as book:
    comment = book.find_comment("softmax-solution", "{ASSIGNMENT}", "{ASSIGNMENT}", "wrong")
    comment.manual_comment = "Look at the temperature"
    book.db.commit()
"""
# What nbgrader's exchange puts beside a submission, and `nbgrader release_feedback` looks for beside the feedback.
EXCHANGE = {"timestamp.txt": "2026-10-01 09:30:00.000000 UTC", "submission_secret.txt": "9f86d081884c7d65"}
FULL = 28.0


@pytest.fixture(scope="module")
def kit(tmp_path_factory):
    """Run commands in the course's folder."""
    folder = tmp_path_factory.mktemp("nbgrader") / "course"
    variables = environment(tmp_path_factory.mktemp("cache"))

    def run(*command, cwd=folder, okay=(0,)):
        done = subprocess.run(
            [sys.executable, *map(str, command)],
            capture_output=True, text=True, cwd=cwd, env=variables, check=False, timeout=1200,
        )  # fmt: skip
        assert done.returncode in okay, done.stdout + done.stderr
        return done.stdout + done.stderr

    run.folder = folder
    run("-m", "autograder.cli", "release", folder, "--format", "nbgrader", "--seed", "7", cwd=folder.parent)
    run("-c", GENERATE, *TRANSFORMER.modules)
    hand_in(folder)
    hand_in_beyond(folder)
    shutil.copy(folder / "gradebook.db", folder.parent / "fresh.db")
    return run


def scores(kit, folder):
    kit("-m", "nbgrader", "export", cwd=folder)
    with open(folder / "grades.csv", newline="") as file:
        return {
            row["student_id"]: float(row["score"]) for row in csv.DictReader(file) if row["assignment"] == ASSIGNMENT
        }


@pytest.fixture(scope="module")
def by_nbgrader(kit):
    log = kit("-m", "nbgrader", "autograde", ASSIGNMENT, okay=(0, 1))
    kit("-m", "nbgrader", "generate_feedback", ASSIGNMENT)
    return scores(kit, kit.folder), log


@pytest.fixture(scope="module")
def by_headway(kit):
    kit("-m", "autograder.cli", "grade", "submitted", "--out", "out", "--assignment", ASSIGNMENT, "--seed", "7")
    kit.graded = json.loads((kit.folder / "out" / "class.json").read_text())
    return {student["submission"]: student["earned"] for student in kit.graded["students"]}


def test_released_notebooks_hold_no_solution_and_no_hidden_test(kit):
    for module in TRANSFORMER.modules:
        text = (kit.folder / "release" / module / f"{module}.ipynb").read_text("utf-8")
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
    own = {path.name for path in (kit.folder / "release" / "attention").iterdir()}
    assert own == {"attention.ipynb", "softmax.py"}


def test_the_twelve_submissions_get_the_same_from_both(by_nbgrader, by_headway):
    graded, log = by_nbgrader
    full = {"right", "warning", "copied", "deleted", "stripped", "garbled", "display", "one_cell"}
    assert {name for name, score in by_headway.items() if score == FULL} - set(BEYOND) == full
    assert by_headway["stub"] == 0
    assert 0 < by_headway["loop"] < FULL
    assert 0 < by_headway["syntax"] < FULL
    assert by_headway["wrong"] == FULL - 2
    both = by_headway.keys() - set(BEYOND)
    assert len(both) == 12
    assert {name: graded[name] for name in both} == {name: by_headway[name] for name in both}, log


def test_what_nbgrader_cannot_grade_has_points_or_a_reason_from_ours(kit, by_nbgrader, by_headway):
    _, log = by_nbgrader
    for name in BEYOND:
        assert not (kit.folder / "autograded" / name / ASSIGNMENT / f"{ASSIGNMENT}.ipynb").exists(), log
    assert by_headway["dies"] == FULL, "a cell that is no part of the answer is not run"
    assert by_headway["unreadable"] == 0
    (student,) = (one for one in kit.graded["students"] if one["submission"] == "unreadable")
    assert student["status"] == "unreadable"
    assert "not valid JSON" in student["reason"]


def test_a_warning_costs_nothing_in_nbgraders_own_run(kit, by_nbgrader):
    def streams(student, wanted):
        path = kit.folder / "autograded" / student / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"
        cells = nbformat.read(path, as_version=4).cells
        found = [cell for cell in cells if cell.cell_type == "code" and wanted(cell)]
        assert found
        return [output.get("name") for cell in found for output in cell.outputs if output.output_type == "stream"]

    assert "stderr" in streams("display", lambda cell: cell.source == "np.log(-1.0)"), "the warning is a real one"
    assert streams("warning", lambda cell: cell.metadata.get("nbgrader", {}).get("grade")) == []
    assert by_nbgrader[0]["warning"] == FULL


def test_nbgraders_validate_tells_a_student_what_is_wrong(kit):
    released = kit.folder / "release" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"
    said = kit("-m", "nbgrader", "validate", released)
    assert f"VALIDATION FAILED ON {len(TRANSFORMER.modules[ASSIGNMENT].functions)} CELL(S)" in said


def test_nbgraders_feedback_shows_the_report(kit, by_nbgrader):
    wrong = (kit.folder / "feedback" / "wrong" / ASSIGNMENT / f"{ASSIGNMENT}.html").read_text("utf-8")
    assert "the scores were multiplied by the temperature" in wrong
    text = re.sub(r"<[^>]*>", "", wrong)
    assert "expected 0." not in text, "what is handed out tells no expected value"
    syntax = (kit.folder / "feedback" / "syntax" / ASSIGNMENT / f"{ASSIGNMENT}.html").read_text("utf-8")
    assert "is not valid Python: expected" in re.sub(r"<[^>]*>", "", syntax)


def test_our_grades_in_nbgraders_gradebook_and_feedback(kit, by_headway, tmp_path):
    course = tmp_path / "course"
    for name in ("source", "release", "submitted"):
        shutil.copytree(kit.folder / name, course / name)
    shutil.copy(kit.folder / "nbgrader_config.py", course)
    for name, text in EXCHANGE.items():
        (course / "submitted" / "right" / ASSIGNMENT / name).write_text(text)
    shutil.copy(kit.folder.parent / "fresh.db", course / "gradebook.db")
    said = kit("-m", "autograder.cli", "export", "out", "--format", "nbgrader", "--course", course)
    assert f"{len(by_headway)} submissions" in said
    assert f"{len(by_headway)} notebooks" in said
    assert scores(kit, course) == by_headway
    kit("-c", COMMENT, f"sqlite:///{course / 'gradebook.db'}")
    shutil.copy(kit.folder / release_manifest.MANIFEST, course)  # has the seed
    same = ("--assignment", ASSIGNMENT, "--nbgrader", course)
    said = kit("-m", "autograder.cli", "grade", "submitted", "--out", "out", *same)
    assert f"{len(by_headway)} already graded, 0 to grade" in said
    assert f"{len(by_headway)} submissions" in said
    kit("-m", "nbgrader", "generate_feedback", ASSIGNMENT, cwd=course)
    for student in by_headway:
        text = (course / "feedback" / student / ASSIGNMENT / f"{ASSIGNMENT}.html").read_text("utf-8")
        assert f"{by_headway[student]:g}" in text
    wrong = (course / "feedback" / "wrong" / ASSIGNMENT / f"{ASSIGNMENT}.html").read_text("utf-8")
    assert "the scores were multiplied by the temperature" in wrong
    assert "Look at the temperature" in wrong
    unreadable = (course / "feedback" / "unreadable" / ASSIGNMENT / f"{ASSIGNMENT}.html").read_text("utf-8")
    assert "This was not graded: it is not a notebook" in unreadable
    for name, text in EXCHANGE.items():
        assert (course / "feedback" / "right" / ASSIGNMENT / name).read_text() == text
