"""Grading a class in the terminal: estimates that can be trusted, students, open questions, the summary of a class."""

import io
import shlex
from types import SimpleNamespace

import pytest
from rich.console import Console
from support.result_documents import printed

from autograder.report import class_summary, grading_progress, open_questions
from autograder.report.class_records import ClassRecords, StudentRecord
from autograder.report.grading_progress import GradingProgress


@pytest.mark.parametrize(("done", "todo", "seconds", "shown"), [
    (1, 12, 70, "1 of 12 graded"), (9, 150, 70, "9 of 150 graded"), (9, 150, 30, ""),
    (10, 150, 60, "10 of 150 graded, 0.2/s, about 14 min left"),
    (140, 150, 70, "140 of 150 graded, 2.0/s, under 1 min left"),
])  # fmt: skip
def test_progress_estimates_only_after_ten_results(monkeypatch, done, todo, seconds, shown):
    now = [0.0]
    monkeypatch.setattr(grading_progress, "time", SimpleNamespace(monotonic=lambda: now[0]))
    text = io.StringIO()
    with grading_progress.show_progress(Console(file=text, width=80)) as update:
        update(GradingProgress(todo, 0))
        now[0] = seconds
        update(GradingProgress(todo, 0, done, "ada"))
        update(GradingProgress(todo, 0, done, "bo", problem="1 check timed out"))
    assert text.getvalue().strip().splitlines() == [*filter(None, [shown]), "bo: 1 check timed out"]


def table(out, students, width=200):
    """Return what is shown after a class was graded; of a student, only what differs from the usual is given."""
    usual = {"name": "Ada", "submission": "ada", "status": "graded", "reason": "", "notes": [], "statuses": {},
             "score": 0.0, "out_of": 30.0, "penalty": 0.0, "late_days": 0, "assignments": {}}  # fmt: skip
    document = {"students": [usual | student for student in students], "seed": 1, "seconds": 1.0}
    return printed(grading_progress.render, document, out, width=width)


@pytest.mark.parametrize(("days", "said"), [
    (0, ""), (1, "1 day late: 3 points deducted"), (2, "2 days late: 3 points")
])  # fmt: skip
def test_table_shows_missing_and_late_students(tmp_path, days, said):
    given = {name: {"status": status, "exception": ""} for name, status in (("softmax", "missing"), ("ffn", "graded"))}
    late = {"statuses": {"passed": 9}, "score": 27.0, "penalty": 3.0 if days else 0.0, "late_days": days}
    missing = {"name": "Mia", "submission": "s013", "status": "missing", "reason": "no submission"}
    shown = table(tmp_path, [late | {"assignments": given}, missing])
    assert "Mia" in shown and "s013" not in shown
    assert "90% · 1 missing" in shown and said in shown
    assert ("late" in shown) is (days > 0) and "no submission: softmax" in shown and "more" not in shown
    assert "and 2 more" in table(tmp_path, [late] * (grading_progress.MAX_ROWS + 2))


def test_table_same_names_and_unreadable_work(tmp_path):
    ada = {"statuses": {"failed": 9}}
    broken = {"name": "Bo", "submission": "b1", "status": "unreadable", "reason": "no archive"}
    broken |= {"notes": ["softmax: no archive"], "statuses": {"not_started": 9}}
    text = table(tmp_path, [{**ada, "submission": "a1"}, {**ada, "submission": "a2"}, broken])
    assert "a1 Ada" in text and "a2 Ada" in text and "b1" not in text and text.count("no archive") == 1
    assert "unreadable: no archive" in text and "not started" not in text and "of 30" in text
    shown = table(tmp_path, [{**broken, "name": "x", "out_of": number % 2 + 1.0} for number in range(61)])
    assert shown.count("unreadable: ") == 60 and "… and 1 more" in shown and "0 / 2" in shown


def test_table_in_a_narrow_terminal_breaks_between_counts(tmp_path):
    statuses = {"failed": 12, "blocked": 3, "not_started": 10}
    student = {"name": "Ada Lovelace", "statuses": statuses, "score": 70.0, "out_of": 97.5}
    rows = [line.rstrip() for line in table(tmp_path, [student], width=66).splitlines()]
    assert any(row.endswith("✗ 12 failed, ◌ 3 blocked,") for row in rows)
    assert any(row.endswith("  · 10 not started") for row in rows)
    assert any(row.startswith(f"  headway show {tmp_path} ada") for row in rows)


def test_next_commands_can_be_copied_and_name_a_student_with_a_result(tmp_path):
    entries = [("ada", "missing"), ("-x", "graded"), ("Åsa O'Brien", "graded")]
    students = [{"name": name, "submission": name, "status": status} for name, status in entries]
    out = tmp_path / "autumn term"
    lines = [line for line in table(out, students, width=60).splitlines() if line.startswith("  headway")]
    assert [shlex.split(line, comments=True)[1:] for line in lines] == [
        ["report", str(out)], ["show", str(out), "Åsa O'Brien"], ["export", "csv", str(out)]
    ]  # fmt: skip


@pytest.mark.parametrize(("kind", "files", "reason", "text", "answers"), [
    ("versions", ["a.py", "b c.py"], "softmax", "a.py counts, but b c.py differs in softmax", ["'b c.py'", "--keep"]),
    ("versions", ["a.py", "b.py", "c.py"], "", "a.py counts, but b.py and c.py differ", ["b.py", "c.py", "--keep"]),
    ("nothing_written", [], "", "nothing was submitted", ["--keep"]),
    ("nothing_written", ["b.py"], "", "nothing was submitted, only b.py", ["--keep"]),
    ("nothing_written", ["b"], "a", "a holds only stubs, or none of its functions; b was submitted, too", ["--keep"]),
    ("chosen", ["b", "a"], "", "b was chosen, and the next run grades it; the grade is still that of a", []),
    ("elsewhere", ["b.py"], "", "no submission, but b.py was submitted for another assignment", ["--keep"]),
    ("no_result", [], "", "no result yet", []), ("no_result", [], "it broke", "no result (it broke)", []),
    ("identity", [], "two\x1b", "two", ["STUDENT-ID", "--keep"]),
])  # fmt: skip
def test_open_question_says_what_is_unclear_and_the_commands_that_decide(kind, files, reason, text, answers):
    question = {"kind": kind, "assignment": "ffn", "files": files, "reason": reason}
    [line] = open_questions.question_lines([{"submission": "ada b", "name": "Ada", "id": "7", "open": [question]}])
    choose = "headway choose 'my class' 'ada b' ffn"
    expected = [f"{choose} {answer}" for answer in answers] or ["headway grade DIR --out 'my class'"]
    assert (line.name, line.text, line.commands("my class")) == ("Ada", f"ffn: {text}", expected)


def test_open_questions_are_listed_up_to_a_limit():
    student = {"submission": "ada", "name": "", "id": "7"}
    question = {"kind": "request", "assignment": "ffn", "files": [], "reason": "Why?"}
    shown = printed(open_questions.render, [student | {"open": [question] * 3}], "out", limit=2)
    assert shown.count("7  ffn: asks: Why?") == 2 and "3 open questions" in shown and "\n1 more. To decide:" in shown
    shown = printed(open_questions.render, [student | {"open": [question]}], "out", commands=True)
    assert shown.endswith("headway comment out ada TEXT --assignment ffn\n") and "To decide" not in shown
    assert printed(open_questions.render, [student | {"open": []}], "out") == ""


def record(name, score, status="graded", **more):
    return StudentRecord(name, "", name, status, "", score, 10.0, 0, None, **more)


def test_summary_counts_pass_rates_among_the_students_who_started():
    statuses = ("passed", "failed", "not_started", "not_started")
    students = [record("s", 5.0, statuses={"softmax.softmax": status, "ffn.relu": "error"}) for status in statuses]
    shown = printed(class_summary.render, ClassRecords("", functions=[*students[0].statuses], students=students))
    assert shown.index(" 0%  ffn.relu ") < shown.index("50%  softmax.softmax ")


def test_summary_lists_low_scores_and_missing_students():
    students = [record(f"s{n:02}", n / 10) for n in range(20)]
    students += [record("half", 5.0), record("best", 10.0), record("mia", 0.0, "missing")]
    kim = record("kim", 0.0, "unreadable", section="B", ta="Al")
    found = ClassRecords("CS", students=[*students, kim], timed_out=2, slowest=[(1.5, 0, "ffn.relu", "large")])
    lines = printed(class_summary.render, found, width=400).splitlines()
    assert lines[1] == "CS · 22 graded, 1 missing, 1 not graded" and "0% ████      ▂        ▂ 100%" in lines
    assert "slowest check 1.50 s (ffn.relu, s00) · 2 checks timed out" in lines
    groups = [line.split()[:4] for line in lines if "submitted" in line]  # by section and by assistant
    others = ["(none)", "11%", "22", "of"]
    assert groups == [["B", "–", "1", "of"], others, ["Al", "–", "1", "of"], others]
    (low,) = (line for line in lines if line.startswith("Below 50%: "))
    assert low.startswith("Below 50%: s00 0%, s01 1%, ") and low.endswith("s11 11% … and 8 more")
    assert "No submission: mia" in lines
    assert not any("half" in line or "best" in line for line in lines)
