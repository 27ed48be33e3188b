"""Comments and points given by hand: recorded with who and why, and in the scores at once, without grading."""

import json
from pathlib import Path

import pytest
from support.commands import refusal, succeed
from support.document_damage import require_exact
from support.graded_class import comment
from support.reading import csv_rows

from autograder.classroom import score
from autograder.classroom.class_report import student_pages
from autograder.classroom.comments import comment_records, grade_history
from autograder.classroom.comments.comment_records import CommentRecord
from autograder.classroom.comments.comment_request import require_valid
from autograder.classroom.exporters import table
from autograder.classroom.policy.model import AssignmentPolicy, Policy, RubricItem
from autograder.classroom.scoring import class_document
from autograder.classroom.scoring.class_document import GradedClass
from autograder.classroom.storage import gradebook, run_records
from autograder.classroom.storage.result_store import JournalEntry, ResultStore, locked
from autograder.classroom.submissions.merge_students import merge_students
from autograder.classroom.submissions.model import Attempt, ClassMember, Source
from autograder.core.text import local_time
from autograder.courses.transformer import TRANSFORMER
from autograder.documents.reading import CLASS_SCHEMA
from autograder.errors import UsageError
from autograder.report.student_feedback import as_html, as_markdown, comment_texts

WITH_RUBRIC = AssignmentPolicy(points=20.0, rubric=(RubricItem("q1", "Why?", 5.0),))
POINTS = {"softmax": WITH_RUBRIC, "attention": AssignmentPolicy(points=25.0)}
POLICY = Policy(time_zone="Asia/Tokyo", assignments=POINTS)


@pytest.fixture
def out(tmp_path):
    """A graded class: ada with half of softmax and all of attention, bo with all of softmax, chen with nothing."""
    folder, names = tmp_path / "the class", ("softmax", "attention")
    source = Source("", names, Path("class"))
    submitted = {"attempts": (Attempt(()),)}
    ada, bo = ClassMember("ada", "Ada Lovelace", "4021", **submitted), ClassMember("bo", "Bo", **submitted)
    members = {"": [ada, bo, ClassMember("chen", "Chen")]}
    students = merge_students(members, None, {})
    points = {"ada": (5.0, 10.0), "bo": (10.0, 0.0)}
    with ResultStore(folder) as store:
        run_records.write_submissions(folder, [source], members, students, None)
        for name, (softmax, attention) in points.items():
            functions = {"softmax.softmax": (softmax, 10.0), "attention.attention": (attention, 10.0)}
            store.add(JournalEntry(f"{name}.json", "", functions=functions))
        document = GradedClass([source], students, POLICY, TRANSFORMER, 7, store.entries).document()
    class_document.write(folder, document)
    table.write(document, folder / "grades.csv", durable=True)
    return folder


def scores(out):
    return {student["submission"]: {name: grade["score"] for name, grade in student["assignments"].items()}
            for student in gradebook.read(out).students}  # fmt: skip


def test_comment_adds_points_and_says_before_and_after(out):
    before = scores(out)
    output = comment(out, "4021", "A typo in the sheet.", "--assignment", "softmax", "--add", "2", "--by", "Dr. Berg")
    assert "softmax 10 → 12 of 25, total 70% → 74%" in output and ": +2, so 12" in output
    assert f"To undo: headway comment '{out}' ada --undo 1\n" in output and f"report '{out}' --feedback" in output
    assert scores(out) == {**before, "ada": {"softmax": 12.0, "attention": 25.0}}
    (row,) = (row for row in csv_rows(out / "grades.csv") if row["submission"] == "ada")
    assert (row["softmax"], row["softmax_raw"], row["percent"]) == ("12", "10", "74")
    assert row["overrides"] == "softmax: 2 points added (A typo in the sheet.)"
    changes = [one for one in grade_history.read(out) if one["student"] == "ada"][-2:]
    found = [(one["assignment"], one["before"], one["after"]) for one in changes]
    assert found == [("softmax", 10.0, 12.0), ("", 70.0, 74.0)]
    assert {(one["by"], one["cause"], one["comment"]) for one in changes} == {("Dr. Berg", "comment", "1")}


def test_comment_points_are_stored_with_the_reason(out):
    options = ("--assignment", "softmax", "--score", "19,5", "--reason", "mail of 3 October", "--by", "Eve")
    assert "Bo: softmax 20 → 19.5 of 25" in comment(out, "bo", "Shown in the lab.", *options)
    record = comment_records.read(out)[0]
    assert (record.id, record.student, record.score, record.reason) == ("1", "bo", 19.5, "mail of 3 October")
    assert scores(out)["bo"]["softmax"] == 19.5
    listed = f"   1  {local_time(record.time, 'Asia/Tokyo')}  Eve  softmax: {record.summary}: Shown in the lab."
    assert comment(out, "bo") == f"{listed} [mail of 3 October]\n"
    assert f"No comments yet. To write one: headway comment '{out}' ada TEXT" in comment(out, "ada")
    assert student_pages.history_by_student(gradebook.read(out))["bo"][-1]["reason"] == "mail of 3 October"
    assert "mail of 3 October" not in (out / "class.json").read_text("utf-8")


def test_comment_follows_a_line_that_was_edited_without_a_line_end(out):
    comment(out, "ada", "First.")
    path = out / comment_records.COMMENTS
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    comment(out, "bo", "Second.")
    assert [record.text for record in comment_records.read(out)] == ["First.", "Second."]


def test_comment_is_refused_while_a_run_writes_to_the_folder(out, monkeypatch):
    monkeypatch.setattr(score, "PATIENCE", 0.0)
    with locked(out):
        assert "another headway grade" in comment(out, "bo", "x", code=2)


def test_comment_marks_a_rubric_item(out):
    comment(out, "ada", "Right, but not why.", "--assignment", "softmax", "--rubric", "q1", "--points", "4")
    comment(out, "ada", "Right.", "--assignment", "softmax", "--rubric", "q1", "--points", "5")
    marked = comment(out, "ada", "Right!", "--assignment", "softmax", "--rubric", "q1", "--points", "5")
    assert "the score of softmax stays the same" in marked
    rubric = gradebook.read(out).students[0]["assignments"]["softmax"]["rubric"]
    assert rubric == [{"id": "q1", "title": "Why?", "points": 5.0, "earned": 5.0, "comment": "Right!"}]
    assert scores(out)["ada"]["softmax"] == 15.0


def test_comment_on_a_rubric_item_reaches_the_student(out):
    comment(out, "ada", "Right, *but* not why.", "--assignment", "softmax", "--rubric", "q1", "--points", "4,5")
    ada, text = gradebook.read(out).students[0], "softmax, Why? (4.5 of 5): Right, *but* not why."
    assert text in as_html(ada, None)
    assert "Why? \\(4.5 of 5\\): Right, \\*but\\* not why." in as_markdown(ada, None)
    assert comment_texts(ada, None, "softmax") == [text] and comment_texts(ada, None, "attention") == []
    assert "Right, *but* not why." in succeed("show", out, "ada", "--no-color", COLUMNS="200").stdout


def test_comment_without_points_is_in_the_class_document(out):
    before, document = scores(out), gradebook.read(out).document
    document["students"][1]["limit_note"] = "2 of 3 attempts were not graded"  # only the run knows it
    class_document.write(out, document)
    comment_records.append(out, [CommentRecord("1", "", "", "bo", "softmax", file="softmax.py")])  # no comment
    assert "Bo: comment" in comment(out, "bo", "Well explained.", "--by", "T\x1b[2JA")
    assert scores(out) == before
    (entry,) = gradebook.read(out).students[1]["comments"]
    assert gradebook.read(out).students[1]["limit_note"] == "2 of 3 attempts were not graded"
    assert (entry["text"], entry["by"], entry["assignment"]) == ("Well explained.", "TA", "")


def test_comment_undo_takes_back_the_points(out):
    before = scores(out)
    comment(out, "ada", "Why not.", "--assignment", "softmax", "--add", "3")
    assert "To undo" not in comment(out, "ada", "--undo", "1")
    assert scores(out) == before and gradebook.read(out).students[0]["comments"] == []
    listed = comment(out, "ada")
    assert "Why not. (undone)" in listed and "undid comment 1" in listed and listed.count("(undone)") == 1
    assert "no comment '1' to undo" in comment(out, "ada", "--undo", "1", code=2)
    # An undo is not undone; the points can be given again.
    assert "is itself an undo" in comment(out, "ada", "--undo", "2", code=2)


def test_comment_score_replaces_points_before_it_only(out):
    for option, points in (("--score", 0), ("--score", 25), ("--add", -9), ("--score", 10), ("--add", 1)):
        comment(out, "bo", "a", "--assignment", "softmax", option, points)
    assert scores(out)["bo"]["softmax"] == 11.0
    overrides = "softmax: 0 points given by hand (a); 25 points given by hand (a); 9 points deducted (a); "
    overrides += "10 points given by hand (a); 1 point added (a)"
    assert csv_rows(out / "grades.csv")[1]["overrides"] == overrides
    comment(out, "chen", "Oral exam.", "--assignment", "softmax", "--score", "12")
    assert scores(out)["chen"]["softmax"] == 12.0, "although nothing was submitted"


def test_comment_gives_more_points_than_possible_where_bonus_is_extra(out):
    request, document = comment_records.requested("bo", "softmax", "x", score=26.0), gradebook.read(out).document
    require_valid(request, document, Policy(bonus="extra"), [])


def test_class_document_is_exactly_of_its_schema(out):
    comment(out, "ada", "Right.", "--assignment", "softmax", "--rubric", "q1", "--points", "5")
    comment(out, "ada", "Well.", "--assignment", "softmax", "--add", "1")
    comment(out, "ada", "Well.")
    document = gradebook.read(out).document
    document["students"][0]["assignments"]["softmax"]["upload_name"] = "ada.zip"  # only in a class from Canvas
    document["students"][0]["comments"][0]["location"] = {"file": "softmax.py", "line": 3, "text": "x = 1"}
    (out / "class.json").write_text(json.dumps(document), "utf-8")
    require_exact(out / "class.json", CLASS_SCHEMA)


@pytest.mark.parametrize(("arguments", "fragment"), [
    (("bob", "x"), "Did you mean 'bo'?"), (("lovelace", "x"), "Did you mean 'Ada Lovelace'?"),
    (("--from", "/dev/null"), "is empty"), ((), "name a student"), (("bo", " "), "the comment is empty"),
    (("bo", "x", "--assignment", "sofmax"), "--assignment softmax, attention"),
    (("bo", "x", "--add", "1"), "name the assignment"),
    (("bo", "--assignment", "softmax", "--add", "1"), "write why the score changes"),
    (("bo", "x", "--assignment", "softmax", "--add", "1", "--score", "2"), "only one of"),
    (("bo", "x", "--assignment", "softmax", "--score", "26"), 'bonus = "extra"'),
    (("bo", "x", "--assignment", "softmax", "--score", "-1"), "cannot be less than 0"),
    (("bo", "x", "--assignment", "softmax", "--add", "nan"), "is not a number"),
    (("bo", "x", "--assignment", "softmax", "--points", "1"), "needs --rubric ID. softmax has q1"),
    (("bo", "x", "--assignment", "softmax", "--rubric", "q1"), "how many points q1"),
    (("bo", "x", "--assignment", "softmax", "--rubric", "q2", "--points", "1"), "no rubric item 'q2'"),
    (("bo", "x", "--assignment", "softmax", "--rubric", "q1", "--points", "6"), "Give 0 to 5"),
    (("bo", "x", "--assignment", "softmax", "--rubric", "q1", "--points", "-1"), "Give 0 to 5"),
    (("bo", "x", "--assignment", "attention", "--rubric", "q1", "--points", "1"), "has no rubric"),
    (("bo", "x" * 10_001), "longer than 10000"), (("bo", "x", "--reason", "x" * 10_001), "longer than 10000"),
    (("bo", "x", "--assignment", "softmax", "--add", "-10001"), "from -10000 to 10000"),
    (("bo", "x", "--undo", "1"), "second command"), (("bo", "--from", "marks.csv"), "Leave out the other"),
    (("--from", "marks.csv"), "cannot read marks.csv"), (("--from", "marks.csv", "--add", "1"), "Leave out the other"),
])  # fmt: skip
def test_comment_refuses_what_is_wrong(out, arguments, fragment):
    before = scores(out)
    assert fragment in comment(out, *arguments, code=2)
    assert scores(out) == before and not (out / "comments.jsonl").exists()


def test_comment_reads_many_from_a_table(out, tmp_path):
    table = tmp_path / "marks.csv"
    rows = "Student;assignment;rubric;points;text\nAda Lovelace;softmax;q1;4,5;Good.\nbo;softmax;q1;0;\nchen;;;;\n"
    table.write_text(rows, "utf-8-sig")
    printed = comment(out, "--from", table)
    assert "comments 1 to 2" in printed and "STUDENT --undo NUMBER" in printed
    assert scores(out)["ada"]["softmax"] == 14.5 and len(comment_records.read(out)) == 2
    assert "2 of 2 rows are recorded already" in comment(out, "--from", table)
    comment(out, "bo", "--undo", "2")
    assert "1 of 2 rows is recorded already" in comment(out, "--from", table)
    assert [record.undoes for record in comment_records.read(out)] == ["", "", "2", ""]
    for text, problem in (
        ("student,assignment,rubric,points\nada,softmax,q1,3\nbob,softmax,q1,3\n", "line 3: no student 'bob'"),
        ("student,assignment,rubric,points\nada,softmax,q1,3\nbo,softmax,q1,33\n", "Give 0 to 5"),
        ("student,assignment,text\nada,softmax,Good, but late\n", "line 2 has 4 cells for 3"),
        ("student,text\nada,\n", "no row with a text or points"),
        ("name,text\nada,x\n", "has no column student"),
        ("student,text,place\nada,x,12\n", "place must be a file and a line"),
        ("student,assignment,text,add\nada,softmax,x,many\n", "add must be a number, not 'many'"),
        ('student,assignment,text\nada,softmax,"' + "a" * 200_000, "not valid CSV after line"),
    ):
        table.write_text(text)
        assert problem in comment(out, "--from", table, code=2)
    assert scores(out)["ada"]["softmax"] == 14.5 and len(comment_records.read(out)) == 4  # all or nothing
    table.write_text("\n".join([*rows.splitlines()[:2], *(f"bo;;;;{number}" for number in range(21))]), "utf-8")
    printed = comment(out, "--from", table)
    assert "1 of 22 rows is recorded already" in printed
    assert printed.count("Bo: comment") == 20 and "… and 1 more" in printed


def test_comment_needs_a_class_that_this_version_graded(out):
    (out / "submissions.json").write_text('{"schema": "headway.submissions/1", "more": 1}')
    assert "submissions.json is damaged" in comment(out, "bo", "x", code=2)
    (out / "submissions.json").unlink()
    assert "headway grade DIR" in comment(out, "bo", "x", code=2)
    assert not (out / "comments.jsonl").exists()


def test_read_comments_damaged_line_is_an_error(tmp_path):
    (tmp_path / "comments.jsonl").write_text('{"id": "1", "time": "", "by": "x", "student": "bo"}\n{"id": "2"')
    with pytest.raises(UsageError, match=r"comments\.jsonl, line 2"):
        comment_records.read(tmp_path)


def test_comment_on_another_assignment_answers_no_request():
    asks = CommentRecord("1", "", "x", "bo", "softmax", asks="Why?")
    answers = [CommentRecord("2", "", "x", "bo", name, text="So.") for name in ("gpt", "softmax", "")]
    answers += [CommentRecord("2", "", "x", "bo", "softmax", settles=("3",)), CommentRecord("2", "", "x", "ada")]
    asked = [comment_records.decisions([asks, answer])["bo"].requests for answer in answers]
    assert [len(requests) for requests in asked] == [1, 0, 0, 1, 1]


def test_changed_grades_name_the_scores_before_and_after():
    scores = (("ffn", 2.0, 3.5), ("ffn", 3.5, None), ("", 1.0, 2.0), ("ffn", None, 1.0))
    changes = [grade_history.GradeChange("", "", "policy", "ada", *score) for score in scores]
    (line,) = grade_history.changed_grades(changes, {"ada": "Ada"})
    assert line.endswith(": Ada (ffn 2 → 3.5); Ada (ffn 3.5 → –)")


def test_comment_warnings_name_records_without_effect():
    records = [
        CommentRecord("0", "", "x", "stray", owner="bo"),  # whose work is another's now
        CommentRecord("1", "", "x", "eve", text="gone"),
        CommentRecord("2", "", "x", "bo", "bpe", add=1.0),
        CommentRecord("3", "", "x", "bo", "softmax", rubric="q9", points=1.0),
        CommentRecord("4", "", "x", "bo", "softmax", rubric="q1", points=1.0),
        CommentRecord("5", "", "x", "dan", text="gone"), CommentRecord("6", "", "x", "dan", undoes="5"),
    ]  # fmt: skip
    found = comment_records.warnings(records, ["bo"], {"softmax": {"q1"}})
    assert [f"comment {number} is" in line for number, line in enumerate(found, 1)] == [True, True, True]
    assert "'eve'" in found[0] and "bpe" in found[1] and "'q9'" in found[2]


def test_history_keeps_only_changes(out):
    document = gradebook.read(out).document
    grade_history.record(out, document, lambda *_: "run")
    first = grade_history.read(out)
    assert [(one["student"], one["assignment"], one["after"]) for one in first] == [
        ("ada", "softmax", 10.0), ("ada", "attention", 25.0), ("ada", "", 70.0),
        ("bo", "softmax", 20.0), ("bo", "attention", 0.0), ("bo", "", 40.0),
    ]  # fmt: skip
    (out / "history.jsonl").write_bytes((out / "history.jsonl").read_bytes() + b'{"half')
    document["students"][1]["assignments"]["softmax"]["score"] = 18.0
    grade_history.record(out, document, lambda *_: "policy")
    changes = grade_history.read(out)[len(first) :]
    values = [(one["student"], one["before"], one["after"], one["cause"]) for one in changes]
    assert values == [("bo", 20.0, 18.0, "policy")]
    ada, bo, chen = document["students"]
    ada["assignments"]["softmax"]["status"] = "waiting"
    bo["assignments"]["softmax"]["excused"], bo["percent"] = True, 0.0
    chen["assignments"]["attention"]["score"] = chen["score"] = chen["percent"] = 1.0  # given by hand
    changes = grade_history.record(out, document, lambda _, name: "comment" if name == "attention" else "run")
    values = [(one.student, one.assignment, one.after, one.cause) for one in changes]
    assert values == [
        ("ada", "", None, "run"), ("bo", "softmax", None, "run"), ("bo", "", 0.0, "run"),
        ("chen", "attention", 1.0, "comment"), ("chen", "", 1.0, "comment"),
    ]  # fmt: skip


def test_export_names_an_unmarked_question_once(out):
    refused = refusal("export", "gradescope", out, "--assignment", "softmax")
    assert "2 questions" in refused, "they are about students and not about another assignment"
    done = succeed("export", "csv", out, "--despite-open", "--no-color", COLUMNS="300")
    assert done.stdout.count("Why?") == 1 and "0: Ada Lovelace, Bo" in done.stdout
