"""Exceptions of course.toml: they need no regrading, and every report and export shows them."""

import pytest
from support.commands import SOFTMAX, headway, succeed
from support.editing import write_files
from support.reading import csv_rows, read_json
from support.softmax_class import WRONG, grade_arguments

from autograder.classroom.class_report import class_statistics, student_pages
from autograder.classroom.exporters import gradescope, junit, table
from autograder.classroom.storage import gradebook
from autograder.report.html.class_page import render_class

pytestmark = pytest.mark.slow

pytest.importorskip("jinja2")

PEOPLE = """id,name,email
1,Ada Lovelace,ada@x.edu
2,Bo Berg,bo@x.edu
3,Chen Wu,chen@x.edu
4,Dara Singh,dara@x.edu
"""
POLICY = 'title = "CS"\nroster = "people.csv"\n[assignments.softmax]\npoints = 20\n'
EXCEPTIONS = """
[[exceptions]]
student = "Bo Berg"
assignment = "softmax"
score = 17.5
reason = "shown on paper, <b>3 October</b>"
[[exceptions]]
student = "3"
excused = true
[[exceptions]]
student = "dara@x.edu"
assignment = "softmax"
score = 12
[[exceptions]]
student = "ada"
assignment = "softmax"
bonus = 2
[[exceptions]]
student = "adam"
excused = true
"""


def grade(folder, out):
    return succeed(*grade_arguments(folder, "--out", out), run=headway).stdout


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """The students of a class graded without exceptions; the output of a second run with them, and its gradebook."""
    folder = tmp_path_factory.mktemp("exceptions") / "class"
    code = {"ada/softmax.py": SOFTMAX, "bo/softmax.py": WRONG, "chen/softmax.py": WRONG}
    write_files(folder, {**code, "people.csv": PEOPLE, "course.toml": POLICY})
    grade(folder, folder.parent / "out")
    before = gradebook.read(folder.parent / "out").students
    (folder / "course.toml").write_text(POLICY + EXCEPTIONS)
    return before, grade(folder, folder.parent / "out"), gradebook.read(folder.parent / "out")


def test_exceptions_change_scores_without_regrading(graded):
    before, output, book = graded
    assert "3 already graded" in output
    checks = {student["submission"]: student["earned"] for student in before}
    assert {student["submission"]: student["earned"] for student in book.students} == checks
    totals = {student["submission"]: (student["score"], student["out_of"]) for student in book.students}
    assert totals == {"ada": (20.0, 20.0), "bo": (17.5, 20.0), "chen": (0.0, 0.0), "4": (12.0, 20.0)}
    flat = " ".join(output.split())
    assert "no student 'adam'" in flat and "17.5 of 20 points given" in flat


def test_feedback_shows_exceptions(graded, tmp_path):
    student_pages.write_feedback(graded[2], tmp_path)
    page, text = ((tmp_path / f"bo.{kind}").read_text("utf-8") for kind in ("html", "md"))
    assert "17.5 of 20" in page and "given by hand" in page
    assert "&lt;b&gt;3 October" in page and "<b>3 October" not in page
    assert "**17.5 of 20**" in text and "\\<b\\>3 October" in text
    assert "excused, does not count" in (tmp_path / "chen.md").read_text("utf-8")
    page = render_class(class_statistics.collect(graded[2]))  # the instructor's page
    assert "17.5 of 20 points" in page and "<b>3 October" not in page
    assert "2 points added" in (tmp_path / "ada.html").read_text("utf-8")


def test_excused_student_is_not_in_statistics(graded):
    statistics = class_statistics.collect(graded[2])
    assert [student.submission for student in statistics.graded] == ["ada", "bo", "chen"]
    assert [student.submission for student in statistics.scored] == ["ada", "bo"]
    assert len(statistics.shares) == 2
    output = headway("report", graded[2].out).stdout
    assert "mean 94%" in output and "lowest 88%" in output and "Below 50%" not in output


def test_exports_include_exceptions(graded, tmp_path):
    book = graded[2]
    table.write(book.document, tmp_path / "grades.csv")
    grades = {row["name"]: row for row in csv_rows(tmp_path / "grades.csv")}
    assert [row["softmax"] for row in grades.values()] == ["20", "17.5", "", "12"]
    assert grades["Bo Berg"]["overrides"].startswith("softmax: 17.5 of 20")
    gradescope.write(book, tmp_path / "gradescope")
    bo = read_json(tmp_path / "gradescope" / "bo.json")
    assert bo["score"] == 17.5 and "given by hand" in bo["output"]
    assert junit.write(book, tmp_path / "junit.xml") == 4
    assert 'name="score" value="17.5"' in (tmp_path / "junit.xml").read_text("utf-8")


@pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning", "ignore::DeprecationWarning")
@pytest.mark.notebook
def test_nbgrader_export_names_the_excused(graded, tmp_path):
    pytest.importorskip("nbgrader.api")
    done = succeed("export", "nbgrader", graded[2].out, "--to", tmp_path / "gradebook.db", "--despite-open")
    output = " ".join(done.stdout.split())
    assert "nbgrader has no excuses" in output and output.endswith("count there: Chen Wu")
