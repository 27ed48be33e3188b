"""What needs a person: listed after grading, decided with `headway choose`, and in the way of exports until then."""

import pytest
from support.commands import invoke, refusal, succeed
from support.editing import write_files
from support.reading import students_of
from support.softmax_class import RIGHT, WRONG, grade

from autograder.cli.export import _concerns

pytestmark = pytest.mark.slow
STUB = 'def softmax(x, axis=-1, temperature=1.0):\n    raise NotImplementedError("softmax.softmax")\n'
FILES = {
    "ada/softmax.py": WRONG, "ada/softmax_final.py": RIGHT, "bo.py": WRONG, "bo/softmax.py": RIGHT, "cy.rar": "?",
    "di/softmax.py": STUB, "di/attention.py": "def attention(q, k, v, mask=None):\n    return q\n", "eve.txt": "?",
    "fay/softmax.py": STUB, "fay/notes/softmax.py": RIGHT, "gus/softmax.py": RIGHT,
    "gus/attention.ipynb": "?", "README.md": "", "roster.csv": "", "hal/homework.py": RIGHT, "hal/softmax.py": WRONG,
    "ida/softmax.txt": RIGHT, "ida/attention.py": "def", "jo/attention.py": WRONG, "jo/homework.py": RIGHT,
    "kim/softmax.py": "from helper import nothing", "kim/helper.py": "",
}  # fmt: skip


@pytest.fixture
def graded(tmp_path_factory):
    root = tmp_path_factory.mktemp("choose")
    grade(write_files(root / "class", FILES), "--out", root / "out")
    return root


def student(root, name):
    return next(one for one in students_of(root / "out") if one["submission"] == name)


def kinds(root):
    return {one["submission"]: [question["kind"] for question in one["open"]] for one in students_of(root / "out")}


def test_open_questions_are_decided_before_an_export(graded):
    root, out = graded, graded / "out"
    assert kinds(root) == {
        "ada": ["versions"], "bo": ["versions"], "cy": ["unreadable"], "di": ["nothing_written"],
        "eve": ["unreadable"], "fay": [], "gus": ["unreadable"], "hal": ["versions"], "jo": ["versions"],
        "ida": ["unreadable", "nothing_written"], "kim": ["unreadable"],
    }  # fmt: skip
    assert student(root, "jo")["assignments"]["softmax"]["graded_file"] == "homework.py"
    assert "11 questions" in refusal("export", "csv", out)
    assert "Needs a person" in succeed("report", out).stdout
    assert "softmax_final.py" in (out / "report.html").read_text("utf-8")
    kim = succeed("show", out, "kim", COLUMNS="200").stdout
    assert "from 'helper' (helper.py)" in kim and "helper.py was available for import" in kim and "headway-" not in kim
    listed = succeed("choose", out, COLUMNS="200").stdout
    assert "softmax.py counts, but softmax_final.py differs in softmax" in listed
    assert "softmax.py holds only stubs, or none of its functions; attention.py was submitted, too" in listed
    assert succeed("choose", out).stdout.count("--keep") == 11

    assert "'nothing.py' is none of the files" in refusal("choose", out, "ada", "softmax", "nothing.py")
    score = student(root, "ada")["score"]
    succeed("choose", out, "ada", "softmax", "softmax_final.py")
    assert kinds(root)["ada"] == ["chosen"], "it is open until the chosen file is graded"
    for name in ("bo", "cy", "di", "eve", "gus", "hal", "ida", "jo", "kim"):
        succeed("choose", out, name, "--keep")
    grade(root / "class", "--out", out)
    assert not any(kinds(root).values())
    ada = student(root, "ada")
    assert ada["score"] > score and ada["assignments"]["softmax"]["graded_file"] == "softmax_final.py"
    shown = succeed("show", out, "ada", COLUMNS="200").stdout
    assert "softmax_final.py was graded" in shown and "softmax.py was ignored" in shown
    succeed("export", "csv", out)

    succeed("comment", out, "ada", "--undo", "1")
    assert kinds(root)["ada"] == ["versions"], "the file that was chosen is graded still"
    (root / "class" / "di" / "softmax.py").write_text(f"# A comment.\n{STUB}")
    grade(root / "class", "--out", out)
    assert student(root, "ada")["score"] == score and kinds(root)["ada"] == ["versions"]
    assert kinds(root)["di"] == ["nothing_written"], "a decision is about the files as they were"
    assert "nothing is open" in refusal("choose", out, "fay", "--keep")
    assert invoke("choose", out, "nobody").returncode == 2


@pytest.mark.parametrize(("kind", "assignment", "names", "expected"), [
    ("identity", "", ["softmax"], True), ("versions", "softmax", ["softmax"], True),
    ("versions", "gpt", ["softmax"], False), ("versions", "gpt", [], True), ("request", "softmax", [], False),
])  # fmt: skip
def test_export_waits_for_questions_about_its_grades(kind, assignment, names, expected):
    assert _concerns({"kind": kind, "assignment": assignment}, names) is expected
