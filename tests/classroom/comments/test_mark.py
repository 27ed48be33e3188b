"""`headway mark`: points for rubric items, one student after the other."""

import pytest
from support.commands import invoke, refusal, succeed
from support.graded_class import grade_class

from autograder.classroom.comments import comment_records
from autograder.classroom.storage import gradebook
from autograder.courses.transformer import TRANSFORMER
from autograder.workspace.files import stub_text

pytestmark = pytest.mark.slow  # They grade a class.
POLICY = """roster = "class.csv"
[[assignments.softmax.rubric]]
id = "q1"
title = "Why subtract the maximum?"
points = 5
[[assignments.softmax.rubric]]
id = "q2"
points = 2.5
[[exceptions]]
student = "ed"
excused = true
"""
ROSTER = "submission,name,section,ta\nada,Ada,A,grace\nbo,Bo,B,linus\ncy,Cy,A,grace\ndi,Di,A,grace\ned,Ed,A,grace\n"


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    submissions = {name: f"# Because {name} says so.\n" for name in ("ada", "bo", "cy", "ed")}  # nothing from di
    submissions["cy"] = stub_text("softmax", TRANSFORMER) + submissions["cy"]
    return grade_class(tmp_path_factory.mktemp("the class"), submissions, course_toml=POLICY, class_csv=ROSTER)


@pytest.fixture
def out(graded):
    yield graded
    (graded / comment_records.COMMENTS).unlink(missing_ok=True)
    succeed("grade", "--out", graded)


def earned(out):
    students = gradebook.read(out).students[:3]
    return {one["submission"]: [item["earned"] for item in one["assignments"]["softmax"]["rubric"]] for one in students}


def test_mark_asks_for_each_item_that_has_no_points(out):
    typed = "five\n6\n4 Right, but not why.\n2,5\n\n1\nq\n"
    done = succeed("mark", out, "softmax", "--by", "Grace", typed=typed, COLUMNS="200").stdout
    assert "# Because ada says so." in done and "Why subtract the maximum? (0 to 5 points)" in done
    assert "Type the points first" in done and "q1 has 5 points. Give 0 to 5." in done
    assert earned(out) == {"ada": [4.0, 2.5], "bo": [None, 1.0], "cy": [None, None]}
    first = comment_records.read(out)[0]
    assert (first.text, first.by, first.rubric) == ("Right, but not why.", "Grace", "q1")
    done = succeed("mark", out, typed="3\n0\n0\n", COLUMNS="200").stdout  # goes on with what is left
    assert "Because ada" not in done and f"3 items marked. Next: headway report '{out}' --feedback" in done
    assert earned(out) == {"ada": [4.0, 2.5], "bo": [3.0, 1.0], "cy": [0.0, 0.0]}
    assert succeed("mark", out).stdout.startswith("0 items marked"), "0 points are points"


@pytest.mark.parametrize(("options", "names"), [(("--section", "B"), "bo"), (("--mine", "--by", " Grace"), "ada cy")])
def test_mark_only_some_students(out, options, names):
    done = succeed("mark", out, *options, typed="\n" * 6, COLUMNS="200").stdout
    assert "softmax, student 1 of " in done
    assert [name for name in ("ada", "bo", "cy", "ed") if f"Because {name} says" in done] == names.split()
    assert f"0 items marked, {2 * len(names.split())} left for later" in done
    assert ("def softmax(" in done) is ("cy" in names) and "# #" not in done, "code, and not the lesson"


@pytest.mark.parametrize(("options", "problem"), [
    (("attention",), "attention has no rubric. Assignments with one: softmax"),
    (("--section", "C"), "Sections: A, B. Assistants: grace, linus"),
])  # fmt: skip
def test_mark_refuses_what_is_not_there(out, options, problem):
    assert problem in refusal("mark", out, *options, COLUMNS="300")


def test_mark_ends_without_input(out):
    done = invoke("mark", out, typed="5\n", COLUMNS="200")
    assert done.returncode == 0 and "run the same command again" in done.stdout
    assert earned(out)["ada"] == [5.0, None]
