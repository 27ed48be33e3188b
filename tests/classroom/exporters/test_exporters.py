"""Test that every format has the columns and keys of its platform's documentation, and no cell is a formula."""

import codecs
import copy
import csv
import io
import json
import os
import re
import sys
import zipfile
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from support.commands import invoke, refusal, run_program, succeed
from support.editing import write_files
from support.paths import ROOT
from support.reading import csv_rows, read_json
from support.result_documents import check as check_record

from autograder.classroom.exporters import csv_cells, gradescope, junit, table
from autograder.classroom.policy.model import AssignmentPolicy, ChecksPolicy, PackagesPolicy, Policy
from autograder.classroom.policy.policy_file import load_policy
from autograder.classroom.storage import gradebook
from autograder.cli.export import export
from autograder.courses.transformer import TRANSFORMER
from autograder.errors import UsageError
from autograder.report.score_words import score_lines
from autograder.report.wording import all_checks

EXAMPLES = Path(__file__).parent / "examples"
# Formats without options of their own.
FEWEST = len(export.commands["csv"].params)
SIMPLE = [name for name, command in export.commands.items() if len(command.params) == FEWEST]


@pytest.fixture(scope="module")
def book(make_class):
    return gradebook.read(make_class(30, seed=11, assignments=("softmax", "training")))


def changed(book, number, **more):
    students = copy.deepcopy(book.students)
    students[number].update(more)
    if more.get("status") in ("missing", "unreadable"):  # no assignment has a result
        without = {"status": more["status"], "file": None}
        grades = students[number]["assignments"]
        students[number]["assignments"] = {name: {**grade, **without} for name, grade in grades.items()}
    return gradebook.Gradebook(book.out, {**book.document, "students": students})


@pytest.fixture
def failed(book):
    """The class, in which the assignments of three students have no result, but one of them a score by hand."""
    changed_book = copy.deepcopy(book)
    for number, status in enumerate(("waiting", "failed", "failed")):
        changed_book.students[number]["assignments"]["softmax"].update(status=status, score=0.0, by_hand=number == 2)
    return changed_book


STARTS = ("=", "+", "-", "@", "\t=", "\r\x07=", "＝", "＋", "－", "＠", " =", "-1+", "+4.5*")
PLAIN = ("Ada Lovelace", "d'Arc, Jeanne", "O'Neil", "-5", "+4917", "-", "Zoë", "100123", "")


@pytest.mark.parametrize("text", [*(f"{start}SUM(1)" for start in STARTS), *PLAIN])
def test_csv_cell_quotes_formulas_and_nothing_else(text):
    assert csv_cells.text(text) == text if text in PLAIN else csv_cells.text(text).startswith("'")


def test_table_has_a_row_per_student(book, tmp_path):
    assert table.write(book.document, tmp_path / "grades.csv") == 30
    assert (tmp_path / "grades.csv").read_bytes().startswith(codecs.BOM_UTF8), "Excel would guess another encoding"
    rows = csv_rows(tmp_path / "grades.csv")
    by_id = {student["id"]: student for student in book.students}
    assert [row["id"] for row in rows] == list(by_id)
    for row in rows:
        assert float(row["score"]) == pytest.approx(by_id[row["id"]]["score"], abs=0.006)
        assert float(row["softmax"]) == pytest.approx(by_id[row["id"]]["assignments"]["softmax"]["score"], abs=0.006)
        assert not row["name"].startswith(("=", "+", "@"))
        for title, key in (("raw", "earned"), ("late_days", "late_days"), ("late_penalty", "penalty")):
            assert float(row[title]) == pytest.approx(by_id[row["id"]][key], abs=0.006)
    assert {row["status"] for row in rows} >= {"graded"}


def test_table_leaves_scores_without_a_result_empty(failed, tmp_path):
    failed.students[3]["assignments"]["softmax"]["excused"], failed.students[3]["notes"] = True, ["=1+1"]
    table.write(failed.document, tmp_path / "grades.csv")
    columns = ("percent", "score", "softmax_raw", "softmax", "softmax_percent")
    rows = csv_rows(tmp_path / "grades.csv")[:4]
    known = [[bool(row[name]) for name in columns] for row in rows]
    assert known == [[False] * 5, [False] * 5, [True] * 5, [True] * 3 + [False] * 2]
    assert all(row["training"] for row in rows) and rows[3]["notes"] == "'=1+1"


def test_export_waits_for_students_without_a_result(failed, tmp_path):
    document = json.loads(json.dumps(failed.document))
    open_one = {"id": "1", "kind": "no_result", "assignment": "softmax", "files": [], "reason": ""}
    document["students"][0]["open"] = [open_one]
    (tmp_path / "class.json").write_text(json.dumps(document), "utf-8")
    done = invoke("export", "csv", tmp_path, COLUMNS="300")
    assert done.returncode == 2 and "1 question" in done.stderr and "softmax: no result yet" in done.stdout
    assert not (tmp_path / "exports").exists()
    succeed("export", "csv", tmp_path, "--despite-open")


def keys(document, path=""):
    """Every key of a JSON document with the types of its values."""
    if isinstance(document, dict):
        return set().union(*(keys(value, f"{path}.{key}") for key, value in document.items() if key != "extra_data"))
    if isinstance(document, list):
        return set().union(*(keys(value, f"{path}[]") for value in document)) if document else set()
    return {(path, "number" if isinstance(document, (int, float)) else type(document).__name__)}


def test_gradescope_has_the_keys_of_its_specification(book, tmp_path):
    allowed = keys(read_json(EXAMPLES / "gradescope.json"))
    handed_in = [s for s in book.students if s["status"] != "missing"]
    assert gradescope.write(book, tmp_path / "g", visibility="after_due_date") == len(handed_in)
    for document in map(read_json, (tmp_path / "g").iterdir()):
        assert keys(document) <= allowed
        assert document["visibility"] == "after_due_date"
        assert all(test["status"] in ("passed", "failed") for test in document["tests"])
    student = next(s for s in handed_in[9:] if s["assignments"]["softmax"]["file"])
    document = read_json(tmp_path / "g" / f"{student['submission']}.json")
    assert document["score"] == pytest.approx(student["score"])
    assert sum(test["score"] for test in document["tests"]) == pytest.approx(student["earned"])


@pytest.mark.parametrize(("assignment", "written"), [(None, False), ("softmax", False), ("training", True)])
def test_gradescope_without_a_result_gets_no_file(failed, tmp_path, assignment, written):
    gradescope.write(failed, tmp_path, assignment=assignment)
    files = [f"{failed.file_names()[student['submission']]}.json" for student in failed.students[:3]]
    assert [(tmp_path / file).exists() for file in files] == [written, written, True]


def test_gradescope_hidden_checks_stay_hidden(book):
    course = {"title": "", "policy": {"checks": {"hidden": ["softmax.softmax::*"]}}}
    hiding = gradebook.Gradebook(book.out, {**book.document, "course": course})
    student, result = next((s, r) for s, r in hiding.results() if r)
    tests = gradescope.document_of(hiding, student, result, "visible")["tests"]
    assert {test["name"].partition(" ")[0] for test in tests if test["visibility"] == "hidden"} == {"softmax.softmax"}


@pytest.mark.parametrize("status", ["failed", "error", "timeout", "blocked"])
def test_result_with_a_newly_hidden_check_shows_only_that_it_failed(book, monkeypatch, status):
    course = {"title": "", "policy": {"feedback": "summary", "checks": {"hidden": ["softmax.softmax::*"]}}}
    hiding = gradebook.Gradebook(book.out, {**book.document, "course": course})
    student, stored = next((s, r) for s, r in book.results() if r)
    (function, other, *_) = stored["assignments"][0]["functions"]
    for check in function["checks"]:
        check.update(status=status, message="", blocked_by=["attention.attention"], seconds=0.25)
    before, policy = copy.deepcopy(other), {**course["policy"], "feedback": "full"}
    monkeypatch.setattr(gradebook, "read_document", lambda path, schema: stored)
    full = gradebook.Gradebook(book.out, {**book.document, "course": {**course, "policy": policy}}).result_of(student)
    assert {check["status"] for check in full["assignments"][0]["functions"][0]["checks"]} == {status}
    shown, *others = hiding.result_of(student)["assignments"][0]["functions"]
    found = {(check["status"], *check["blocked_by"], check["seconds"]) for check in shown["checks"]}
    assert (shown["name"], shown["status"], found) == ("softmax", "failed", {("failed", 0.0)})
    assert others[0] == before


# The two schemas, as far as both agree: element -> (attributes that must be there, that may be, children in order).
SCHEMA = {
    "testsuites": (set(), {"name", "time", "tests", "failures", "disabled", "errors"}, ["testsuite"]),
    "testsuite": ({"name", "tests", "failures", "errors", "time", "timestamp", "hostname", "id", "package"},
                  {"skipped"}, ["properties", "testcase", "system-out", "system-err"]),
    "properties": (set(), set(), ["property"]), "property": ({"name", "value"}, set(), []),
    "testcase": ({"name", "classname", "time"}, set(), ["skipped", "error", "failure"]),
    "skipped": (set(), set(), []), "error": ({"type"}, {"message"}, []), "failure": ({"type"}, {"message"}, []),
    "system-out": (set(), set(), []), "system-err": (set(), set(), []),
}  # fmt: skip


def assert_valid(element):
    must, may, children = SCHEMA[element.tag]
    assert must <= set(element.attrib) <= must | may, element.tag
    order = [children.index(child.tag) for child in element]
    assert order == sorted(order), element.tag
    for child in element:
        assert_valid(child)


def test_junit_output_is_valid_and_counts_match(book, tmp_path):
    assert_valid(ET.parse(EXAMPLES / "junit.xml").getroot())
    book = changed(book, 2, status="unreadable", reason="bad zip \x00\x1b[31m")
    assert junit.write(book, tmp_path / "junit.xml") == 30
    root = ET.parse(tmp_path / "junit.xml").getroot()
    assert_valid(root)
    for suite, student in zip(root, book.students, strict=True):
        for kind, attribute in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
            assert len(suite.findall(f"testcase/{kind}")) == int(suite.get(attribute))
        assert len(suite.findall("testcase")) == int(suite.get("tests"))
        assert re.fullmatch(r"[\d-]{10}T[\d:]{8}", suite.get("timestamp"))
        if student["status"] == "graded":
            without = sum(grade["file"] is None for grade in student["assignments"].values())
            assert int(suite.get("tests")) == sum(student["statuses"].values()) + without
            assert int(suite.get("failures")) == student["statuses"].get("failed", 0)


def test_junit_assignment_without_checks_has_one_case(book, tmp_path):
    other = changed(book, 2)
    student = other.students[2]
    student["assignments"] = copy.deepcopy(student["assignments"])
    student["assignments"]["softmax"].update(status="waiting", reason="not graded yet", file=None)
    student["assignments"]["training"].update(status="unreadable", reason="bad zip", file=None)
    junit.write(other, tmp_path / "junit.xml")
    suite = ET.parse(tmp_path / "junit.xml").getroot()[2]
    assert [(case.get("classname"), case[0].tag) for case in suite.iter("testcase")] == [
        ("softmax", "skipped"), ("training", "error"),
    ]  # fmt: skip
    values = {entry.get("name"): entry.get("value") for entry in suite.iter("property")}
    possible = other.assignments[0]["possible"]
    assert values["softmax"].endswith(f" of {possible:g}") and "percent" in values


def test_junit_skipped_check_gives_the_reason(book, tmp_path):
    junit.write(book, tmp_path / "junit.xml")
    texts = [skipped.text for skipped in ET.parse(tmp_path / "junit.xml").iter("skipped")]
    assert {text.partition(":")[0] for text in texts if text} == {"not started", "blocked", "no submission"}


def test_details_of_a_failed_check_are_in_gradescope_and_junit():
    about = {"inputs": "x (2,)", "location": {"file": "a.py", "line": 3}, "mistake": {"id": "m", "title": "why"}}
    check = check_record(status="failed", message="differs", blocked_by=["softmax.softmax"], **about)
    lines = gradescope._test(check, "1.1.1", "visible")["output"].splitlines()
    assert lines == ["differs", "likely cause: why", "input: x (2,)", "in: a.py:3", "blocked by: softmax.softmax"]
    case = junit._case(check)[0]
    assert (case.tag, case.attrib, case.text) == ("failure", {"type": "m", "message": "differs"}, "why\nx (2,)\na.py:3")
    case = junit._case(check_record(status="timeout"))[0]
    assert (case.tag, case.get("type")) == ("error", "timeout")


def test_gradescope_output_explains_the_score(book):
    student, result = next((s, r) for s, r in book.results() if r)
    comment = {"time": "", "by": "", "assignment": "training", "text": "See me", "location": None}
    result["notes"] = ["left out"]
    document = gradescope.document_of(book, {**student, "comments": [comment]}, result, "visible")
    assert document["output"].startswith("\n".join(score_lines(student, book.document)))
    assert "See me" in document["output"] and document["output"].endswith("left out")
    check = next(check for _, result in book.results() if result for check in all_checks(result) if check["mistake"])
    assert f"likely cause: {check['mistake']['title']}" in gradescope._test(check, "1.1.1", "visible")["output"]
    grade = {**student["assignments"]["softmax"], "possible": 0.0, "score": 0.0, "earned": 0.0}
    assert table._grade_cells(grade)[:4] == ["0", "0", "0", ""]


def test_gradescope_one_assignment_has_its_own_score(book, tmp_path):
    student, result = next((s, r) for s, r in book.results(["softmax"]) if r)
    document = gradescope.document_of(book, student, result, "visible", "softmax")
    assert document["score"] == student["assignments"]["softmax"]["score"]
    assert {test["name"].partition(".")[0] for test in document["tests"]} == {"softmax"}
    assert document["output"].startswith("softmax: ") and "training" not in document["output"]
    missing = changed(book, 4, status="missing")
    missing.students[5]["assignments"]["softmax"]["status"] = "missing"
    count = gradescope.write(missing, tmp_path, assignment="softmax")
    assert count == sum(s["assignments"]["softmax"]["status"] != "missing" for s in missing.students)
    assert not (tmp_path / f"{missing.students[5]['submission']}.json").exists()


def test_gradescope_policy_is_what_the_class_has(tmp_path):
    weightless = AssignmentPolicy(weight=0.0, functions={"softmax": 2.0})
    rules = {"softmax": weightless, "gpt": AssignmentPolicy(points=0.0, weight=1.0)}
    more = {"checks": ChecksPolicy(("softmax.softmax::*",)), "packages": PackagesPolicy(("scipy",))}
    policy = Policy(bonus="off", own_prerequisites=True, assignments=rules, **more)
    (tmp_path / "course.toml").write_text(gradescope.policy_text(policy))
    assert load_policy(tmp_path / "course.toml", TRANSFORMER) == policy


@pytest.mark.slow
def test_gradescope_autograder_grades_a_submission(tmp_path, solutions):
    """Unpacked as Gradescope does it, run with this Python instead of the one that setup.sh installs."""
    rules = AssignmentPolicy(points=40.0, functions={"log_softmax": 8.0})
    policy = Policy(checks=ChecksPolicy(("softmax.softmax::*",)), assignments={"softmax": rules})
    more = {"unsafe": True, "visibility": "after_due_date", "policy": gradescope.policy_text(policy)}
    settings = gradescope.GradescopeSettings(("softmax",), **more)
    gradescope.write_autograder(tmp_path / "autograder.zip", settings)
    root = tmp_path / "autograder"
    with zipfile.ZipFile(tmp_path / "autograder.zip") as archive:
        archive.extractall(root / "source")
        assert archive.getinfo("requirements.txt").file_size
        assert all(archive.getinfo(name).external_attr >> 16 & 0o111 for name in ("setup.sh", "run_autograder"))
    run_program("bash", "-n", root / "source" / "setup.sh")
    write_files(root / "submission", {"softmax.py": (solutions / "softmax.py").read_bytes()})
    environment = {**os.environ, "HEADWAY_AUTOGRADER_ROOT": str(root), "HEADWAY_AUTOGRADER_PYTHON": sys.executable}
    run_program("bash", root / "source" / "run_autograder", env=environment)
    document = read_json(root / "results" / "results.json")
    assert document["tests"], document["output"]
    assert (document["extra_data"]["seed"], document["visibility"]) == (0, "after_due_date")
    assert all(test["status"] == "passed" for test in document["tests"])
    assert document["score"] == 40 > sum(test["max_score"] for test in document["tests"]) > 10
    assert "weight" not in document["output"] and "of 40" in document["output"]
    hidden = {test["name"].partition(" ")[0] for test in document["tests"] if test["visibility"] == "hidden"}
    assert hidden == {"softmax.softmax"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "graded"), [([], ["softmax", "training"]), (["--assignment", "gpt"], ["gpt"]), (["nowhere"], [])]
)
def test_gradescope_autograder_assignments_default_to_class(book, tmp_path, words, graded):
    out, *names = ["nowhere"] if words == ["nowhere"] else [str(book.out), *words]
    names += ["--seed", "5", "--feedback", "none", "--visibility", "hidden", "--unsafe-no-sandbox"]
    done = succeed("export", "gradescope-autograder", out, *names, "--to", tmp_path / "a.zip")
    assert f"It grades {', '.join(graded) or 'all assignments'}" in done.stdout and "Next:" in done.stdout
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        settings = json.loads(archive.read("settings.json"))
    expected = {"assignments": graded, "seed": 5, "feedback": "none", "visibility": "hidden", "unsafe": True}
    assert expected.items() <= settings.items()


def test_gradescope_run_failure_writes_the_reason_and_full_feedback_is_refused(tmp_path):
    settings = '{"assignments": [], "seed": 0, "feedback": "summary"}'
    root = write_files(tmp_path / "autograder", {"source/settings.json": settings})
    gradescope.main(root)
    assert "could not run" in read_json(root / "results" / "results.json")["output"]
    with pytest.raises(UsageError, match="expected values"):
        gradescope.write_autograder(tmp_path / "a.zip", gradescope.GradescopeSettings(feedback="full"))


@pytest.mark.slow
@pytest.mark.parametrize(("arguments", "words"), [
    (["csv", "nowhere"], "no such folder"), (["csv", "{here}"], "class.json"),
    (["moodle", "{book}", "--assignment", "gpt"], "not graded for 'gpt'"),
    (["moodle", "{book}", "--worksheet", "nowhere.csv"], "--worksheet FILE"),
    (["moodle", "{book}"], "Download grading worksheet"), (["canvas", "{book}"], "Export Entire Gradebook"),
    (["canvas", "{book}", "--gradebook", "nowhere.csv"], "--gradebook FILE"),
    (["canvas", "{book}", "--column", "softmax"], "NAME=TITLE"),
    (["canvas-feedback", "{book}"], "--assignment softmax or training"),
    (["canvas-feedback", "{book}", "--assignment", "softmax"], "Download Submissions"),
    (["nbgrader", "{book}", "--database", "nonsense"], "--database"),
    (["csv", "{book}", "--to", "/proc/nowhere/x.csv"], "--to PATH"),
])  # fmt: skip
def test_export_unusable_argument_is_one_line(book, tmp_path, arguments, words):
    assert words in refusal("export", *[part.format(here=tmp_path, book=book.out) for part in arguments])


@pytest.mark.parametrize("kind", SIMPLE)
def test_exporter_writes_every_student_once(kind, book, tmp_path):
    target = tmp_path / kind
    done = succeed("export", kind, book.out, "--to", target)
    assert f"Wrote {len(book.students)} students" in done.stdout and "Next:" in done.stdout
    written = target.read_bytes()
    assert b"\x1b" not in written
    if not written.startswith(b"<?xml"):
        rows = list(csv.reader(io.StringIO(written.decode("utf-8"), newline="")))
        assert len(rows) == len(book.students) + 1
        cells = [cell for row in rows for cell in row if not re.fullmatch(r"-?[\d.]*|#", cell)]
        assert [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t", "\r"))] == []


def test_export_gradescope_has_the_visibility(book, tmp_path):
    succeed("export", "gradescope", book.out, "--visibility", "hidden", "--to", tmp_path)
    assert {read_json(path)["visibility"] for path in tmp_path.glob("*.json")} == {"hidden"}


def test_every_format_is_in_the_table_for_instructors():
    text = (ROOT / "docs" / "instructors.md").read_text("utf-8")
    assert [kind for kind in export.commands if f"| `{kind}` |" not in text] == []
