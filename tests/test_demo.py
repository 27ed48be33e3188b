"""The class of `make demo`: each student's mistakes are named, and nothing else is wrong."""

import json

import pytest
from support import demo_class
from support.commands import invoke

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo")
    demo_class.write_class(folder / "class")
    done = invoke("grade", folder / "class", "--out", folder / "results", "--seed", "0", "--unsafe-no-sandbox")
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "results"


def test_demo_class_names_every_mistake(graded):
    for student in json.loads((graded / "class.json").read_text("utf-8"))["students"]:
        _, _, mistakes = demo_class.STUDENTS[student["submission"]]
        files = {grade["file"] for grade in student["assignments"].values()}
        results = [json.loads((graded / file).read_text("utf-8")) for file in files]
        checks = [c for r in results for a in r["assignments"] for f in a["functions"] for c in f["checks"]]
        named = {part for check in checks if check["mistake"] for part in check["mistake"]["id"].split("|")}
        assert set(mistakes) <= named, student["submission"]
        assert student["status"] == "graded"
        wrong = [check["id"] for check in checks if check["status"] in ("failed", "error", "timeout")]
        assert bool(wrong) == bool(mistakes), student["submission"]


def test_demo_class_is_at_different_points(graded):
    scores = [student["score"] for student in json.loads((graded / "class.json").read_text("utf-8"))["students"]]
    assert len(set(scores)) >= len(scores) - 2
    assert min(scores) > 0
