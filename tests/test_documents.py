"""Stored documents of older versions are still read, rendered and exported."""

import io
import json
import shutil
from importlib.resources import files

import jsonschema
import pytest
from bench.synthetic_class import make
from rich.console import Console
from support.paths import TESTS

from autograder.classroom.storage import gradebook
from autograder.documents import CLASS_SCHEMA, RESULT_SCHEMA, SchemaError, read_document
from autograder.report import check_report
from autograder.report.student_feedback import as_markdown

OUT = TESTS / "support" / "documents_v1"  # written by Headway when its documents were of version 1
RESULT = OUT / "results" / "bo.json"
CLASS = OUT / "class.json"


def schema(name):
    return json.loads(files("autograder").joinpath(f"schema/{name}.json").read_text("utf-8"))


@pytest.mark.parametrize(
    ("path", "name", "current"), [(RESULT, "result", RESULT_SCHEMA), (CLASS, "class", CLASS_SCHEMA)]
)
def test_read_document_version_1_is_upgraded(path, name, current):
    jsonschema.validate(json.loads(path.read_bytes()), schema(f"{name}-1"))
    document = read_document(path, current)
    jsonschema.validate(document, schema(current.removeprefix("headway.").replace("/", "-")))
    assert document["schema"] == current


def test_read_document_version_1_keeps_every_value():
    old, new = json.loads(RESULT.read_bytes()), read_document(RESULT, RESULT_SCHEMA)
    assert new["internal_errors"] == old["problems"] == ["boom"]
    was, now = (document["assignments"][0]["functions"][0]["checks"] for document in (old, new))
    for before, after in zip(was, now, strict=True):
        assert after["inputs"] == before["case"]
        assert after["error_map"] == before["picture"]
        assert after["first_wrong_stage"] == before["departure"]
        assert after["location"] == before["where"]
        assert after["warnings"] == before["hints"]
        assert after["worst"]["tolerance"] == before["worst"]["allowed"]
        unchanged = before.keys() & after.keys() - {"worst"}
        assert {key: after[key] for key in unchanged} == {key: before[key] for key in unchanged}
        assert len(before) == len(after) == len(unchanged) + 6


def test_report_of_version_1_equals_version_2(tmp_path):
    current = tmp_path / "bo.json"
    current.write_text(json.dumps(read_document(RESULT, RESULT_SCHEMA)), "utf-8")
    old, new = rendered(read_document(RESULT, RESULT_SCHEMA)), rendered(read_document(current, RESULT_SCHEMA))
    assert old == new
    for fragment in ("x (4, 6)", "12 of 24", "softmax.py:104", "-inf gets probability 0", "boom"):
        assert fragment in old, fragment


def test_class_of_version_1_is_read():
    book = gradebook.read(OUT)
    [(student, result)] = book.results()
    assert book.document["versions"]["headway"]
    feedback = as_markdown(student, result)
    assert student["assignments"]["softmax"]["exception"] in feedback
    assert "softmax.py:104" in feedback


@pytest.mark.parametrize(
    ("content", "error"),
    [
        ('{"schema": "headway.result/3"}', SchemaError),
        ('{"schema": "headway.class/3"}', SchemaError),
        ('{"schema": ["headway.result/1"]}', SchemaError),
        ("[]", SchemaError),
        ('{"schema": "headway.result/1"}', ValueError),
        ('{"schema": "headway.result/1", "assignments": [{"functions": 7}]}', ValueError),
        ("{", ValueError),
    ],
)
def test_read_document_invalid_content_raises(tmp_path, content, error):
    path = tmp_path / "result.json"
    path.write_text(content)
    with pytest.raises(error):
        read_document(path, RESULT_SCHEMA)


def test_gradebook_skips_a_damaged_result(tmp_path):
    shutil.copytree(OUT, tmp_path / "out")
    (tmp_path / "out" / "results" / "bo.json").write_text('{"schema": "headway.result/1", "ass')
    [(_, result)] = gradebook.read(tmp_path / "out").results()
    assert result is None


def rendered(document):
    file = io.StringIO()
    check_report.render(document, Console(file=file, width=100, no_color=True), all_panels=True)
    return file.getvalue()


def test_read_document_class_2_gives_each_assignment_its_submission(tmp_path):
    old = json.loads(CLASS.read_bytes())
    [student] = old["students"]
    new = read_document(CLASS, CLASS_SCHEMA)["students"][0]
    for name, grade in new["assignments"].items():
        assert grade["earned"] == student["assignments"][name]["earned"]
        for key in ("status", "reason", "file", "attempt", "attempts", "submitted_at"):
            assert grade[key] == student[key]
    assert "file" not in new
    assert new["percent"] == pytest.approx(100 * student["score"] / student["out_of"])
    assert {grade["counts"] for grade in new["assignments"].values()} == {"counts"}


def test_gradebook_merges_the_results_of_several_files(tmp_path):
    make(tmp_path, 12, assignments=("softmax", "attention"), hostile=False)
    document = json.loads((tmp_path / "class.json").read_bytes())
    student = next(student for student in document["students"] if student["assignments"]["softmax"]["file"])
    whole = gradebook.read(tmp_path).result_of(student)
    for name, grade in student["assignments"].items():
        grade["file"] = f"results/{name}.json"
        part = [assignment for assignment in whole["assignments"] if assignment["name"] == name]
        (tmp_path / grade["file"]).write_text(json.dumps({**whole, "assignments": part, "points": part[0]["points"]}))
    merged = gradebook.read(tmp_path).result_of(student)
    assert merged["assignments"] == whole["assignments"]
    assert merged["points"] == whole["points"]
