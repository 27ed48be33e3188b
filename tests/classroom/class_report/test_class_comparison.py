"""Statistics of functions, changes since an earlier run, sections, and similar pairs by name with their code."""

import json
from dataclasses import replace

import pytest
from support.commands import invoke, refusal, succeed

from autograder.classroom.class_report import class_statistics, similarity, student_pages
from autograder.classroom.comments import grade_history
from autograder.classroom.storage import gradebook
from autograder.errors import UsageError
from autograder.report import class_records
from autograder.report.class_records import ClassRecords, StudentRecord
from autograder.report.html import class_page
from autograder.report.score_words import score_lines

pytest.importorskip("jinja2")


def record(name, score, *, student_id="", **more):
    return StudentRecord(name, student_id, name, "graded", "", score, 10.0, 0, True, **more)


def outcomes(passes):
    """The outcomes of functions of one point each."""
    return [{name: (passed, float(passed), 1.0) for name, passed in row.items()} for row in passes]


def write_history(out, student, *changes, by="", cause="run"):
    """Write what a student's grades were changed to: (time, assignment, grade) each."""
    about = {"by": by, "cause": cause, "student": student, "before": None}
    lines = [{**about, "time": time, "assignment": name, "after": after} for time, name, after in changes]
    (out / grade_history.HISTORY).write_text("".join(f"{json.dumps(line)}\n" for line in lines), "utf-8")


def test_function_statistics_strong_students_pass_gives_high_discrimination():
    names = ["a.easy", "a.hard", "a.odd"]
    mixed = outcomes({"a.easy": True, "a.hard": i >= 6, "a.odd": i < 6} for i in range(12))
    found = class_statistics.function_statistics(names, mixed)
    assert found["a.easy"].discrimination is None  # everybody passes
    assert found["a.hard"].discrimination == pytest.approx(-1)  # the rest is the odd one
    assert found["a.hard"].mean_share == 0.5
    alike = outcomes(dict.fromkeys(names, i >= 6) for i in range(12))
    assert class_statistics.function_statistics(names, alike)["a.odd"].discrimination == pytest.approx(1)
    assert class_statistics.function_statistics(names, alike[1:11])["a.odd"].discrimination == pytest.approx(1)
    assert class_statistics.function_statistics(names, alike[1:10])["a.odd"].discrimination is None


def test_compare_matches_students_by_submission_then_id():
    now = ClassRecords("now", students=[record("ada", 8.0), record("bo new", 4.0, student_id="7"), record("chen", 5.0)])
    then = ClassRecords("then", students=[record("ada", 6.0), record("bo", 5.0, student_id="7"), record("dara", 1.0)])
    now.students.append(record("eve new", 3.0, email="Eve@x.edu"))
    then.students.append(record("eve", 3.0, email="eve@X.edu"))
    found = class_statistics.compare(now, then, "week 1")
    changes = [(now.students[change.student].name, change.before, change.after) for change in found.changes]
    assert changes == [("ada", 0.6, 0.8), ("bo new", 0.5, 0.4)]
    assert found.students == 3


def test_compare_prefers_the_submission_to_id_and_address():
    now = ClassRecords("now", students=[record("bo new", 4.0, student_id="7")])
    then = ClassRecords("then", students=[record(name, 5.0, student_id="7") for name in ("bo", "chen")])
    assert class_statistics.compare(now, then, "").students == 0
    now = [record("ada", 8.0, student_id="1"), record("bo", 4.0, student_id="2")]
    then = [record("ADA", 6.0, student_id="2"), record("old", 5.0, student_id="1")]
    found = class_statistics.compare(ClassRecords("", students=now), ClassRecords("", students=then), "")
    assert [(change.student, change.before, change.after) for change in found.changes] == [(0, 0.6, 0.8)]
    assert found.students == 1


def test_compare_sorts_gains_first_and_leaves_out_who_has_no_score():
    now = [record(name, score) for name, score in (("ada", 4.0), ("bo", 9.0), ("chen", 5.0), ("dara", 5.0))]
    then = [record(name, score) for name, score in (("ada", 6.0), ("bo", 5.0), ("chen", 5.004), ("dara", 1.0))]
    now[3].out_of = 0.0
    found = class_statistics.compare(ClassRecords("", students=now), ClassRecords("", students=then), "")
    assert [change.student for change in found.changes] == [1, 0]


def test_page_shows_the_largest_losses_first(monkeypatch):
    shown = {}
    monkeypatch.setattr(class_page, "render_page", lambda *_, **values: shown.update(values) or "")
    students = [record(f"s{number:02}", float(number % 10)) for number in range(40)]
    now, then = ClassRecords("", students=students), ClassRecords("", students=students[::-1])
    changes = sorted((class_records.StudentChange(n, 0.5, n / 40) for n in range(40)), key=lambda change: -change.after)
    class_page.render_class(now, comparison=replace(class_statistics.compare(now, then, ""), changes=changes))
    assert [change.student for change in shown["losses"]] == list(range(class_page.MAX_CHANGES))
    assert [change.student for change in shown["gains"]] == list(range(39, 39 - class_page.MAX_CHANGES, -1))


@pytest.mark.slow
def test_groups_give_medians_and_the_most_common_mistake(make_class):
    records = class_statistics.collect(gradebook.read(make_class(60, seed=2, assignments=("softmax", "attention"))))
    records.graded[0].status = "unreadable"  # It was submitted.
    groups = {group.name: group for group in records.groups("ta")}
    assert set(groups) == {"Grace Hopper", "Alan Turing", ""}
    assert sum(group.students for group in groups.values()) == len(records.students)
    shares = sorted(s.share for s in records.graded if s.ta == "Alan Turing")
    assert shares[0] <= groups["Alan Turing"].median <= shares[-1]
    assert len(groups["Alan Turing"].by_assignment) == 2
    assert sum(group.submitted for group in groups.values()) == sum(s.status != "missing" for s in records.students)
    for student in records.students:
        student.ta = "Grace Hopper"
    assert records.groups("ta") == []  # a table of one row compares nothing


@pytest.mark.slow
def test_report_compare_shows_changes(make_class):
    out = make_class(30, seed=4, assignments=("softmax",), week=1)
    done = succeed("report", out, "--compare", make_class(30, seed=4, assignments=("softmax",)), "--no-student-pages")
    assert "30 students in both" in " ".join(done.stdout.split())
    assert "Largest gains" in (out / "report.html").read_text("utf-8")
    assert not (out / "report").exists()


def test_similar_names_students_and_tells_namesakes_apart(make_class):
    book = gradebook.read(make_class(4, seed=2, assignments=("softmax",), hostile=False))
    names = ("Ada", "Ada", "Bo", "Chen")
    students = [{**student, "name": name} for student, name in zip(book.students, names, strict=True)]
    book = gradebook.Gradebook(book.out, {**book.document, "students": students})
    names = [student["submission"] for student in students]
    pair = class_records.SimilarPair(names[0], names[2], 0.9, 40, "softmax 90%", (names[0], names[2]), ("softmax",))
    found = similarity.with_names(class_records.SimilarityResult([pair], [(names[2], "why")]), book)
    (named,) = found.pairs
    assert (named.first, named.second) == (f"Ada ({students[0]['id'] or names[0]})", "Bo")
    first, second, *others = [student.name for student in class_statistics.collect(book).students]
    assert (first, others) == (named.first, ["Bo", "Chen"]) and second.startswith("Ada (") and second != first
    assert named.submissions == (names[0], names[2]) and found.unread == [("Bo", "why")]


def test_pair_page_marks_common_lines_that_are_not_of_the_stub():
    stub = "import numpy as np"
    parts = [[stub, "a", "x = first(1, 2)"], ["x = first(1, 2)", "a", "y = 2 ** 10", "y = 2 ** 10", stub]]
    second = {"modules": {"softmax": [{"text": part} for part in ("\n".join(parts[1]), "x = first(1, 2)")]}}
    first = {"modules": {"softmax": [{"text": "\n".join([*parts[0], "y = 2 ** 10"])}]}}
    pair = class_records.SimilarPair("", "", 1.0, 9, "", names=("softmax", "gpt"))
    modules = similarity._modules(pair, first, second, lambda lines: [line.decode() for line in lines])
    assert [module.partners for module in modules] == [({3: 1, 4: 3}, {1: 3, 3: 4, 4: 4, 6: 3}), ({}, {})]


@pytest.mark.slow
def test_report_similar_compares_the_stored_code(make_class):
    pytest.importorskip("copydetect")
    out = make_class(18, seed=2, assignments=("softmax", "attention"), hostile=False, code=True)
    book = gradebook.read(out)
    found = similarity.find_similar_code(book)
    copies = [("student00006", "student00007"), ("student00016", "student00017")]
    assert sorted(pair.submissions for pair in found.pairs) == copies
    assert all(0 < pair.share <= 1 for pair in found.pairs)
    succeed("report", out, "--similar")
    assert 'href="report/pair-1.html"' in (out / "report.html").read_text("utf-8")
    pair = (out / "report" / "pair-1.html").read_text("utf-8")
    assert any(student["name"] in pair for student in (book.students[6], book.students[16]))
    assert pair.count('class="l same"') > 10
    page = (out / "report" / "student00006.html").read_text("utf-8")
    assert f"Similar to {book.names['student00007']} (" in page and 'href="../report/pair-' in page


@pytest.mark.slow
def test_report_similar_without_stored_code_is_one_line(make_class):
    pytest.importorskip("copydetect")
    assert "--similar=SUBMISSIONS" in refusal("report", make_class(3, seed=2, assignments=("softmax",)), "--similar")


def test_show_lists_the_history_of_grades(make_class):
    out = make_class(3, seed=2, assignments=("softmax",))
    changes = [("2026-03-05T10:00:00+00:00", name, 7.5) for name in ("softmax", "ffn", "")]
    write_history(out, "student00001", *changes, by="grace", cause="policy")
    text = " ".join(invoke("show", out, "student00001").stdout.split())
    book = gradebook.read(out)
    assert student_pages.results_of(book, book.students[1]).arithmetic == score_lines(book.students[1], book.document)
    assert "softmax – → 7.5 (changed policy, grace)" in text and "total – → 7.5% (changed policy, grace)" in text
    one = invoke("show", out, "student00001", "--assignment", "softmax").stdout
    assert "ffn – →" in text and "total – →" in one and "ffn – →" not in one
    assert "7.5" not in invoke("show", out, "student00002").stdout.partition("History")[2]


def test_report_since_a_date_reads_the_history(make_class):
    out = make_class(12, seed=2, assignments=("softmax",), hostile=False)
    graded = [s for s in gradebook.read(out).students if s["status"] == "graded" and s["percent"] > 20]
    before, after = ("2026-03-04T23:59:59+00:00", "", 10.0), ("2026-03-05T00:00:00+00:00", "", graded[0]["percent"])
    write_history(out, graded[0]["submission"], before, after)
    book = gradebook.read(out)
    found = class_statistics.since(class_statistics.collect(book), book, "2026-03-05")
    changes = [(change.before, change.after) for change in found.changes]
    assert changes == [(0.1, pytest.approx(graded[0]["percent"] / 100))]
    done = succeed("report", out, "--since", "2026-03-05", "--no-student-pages")
    assert "1 student in both" in " ".join(done.stdout.split())
    assert "2026-03-05" in refusal("report", out, "--since", "last week")


@pytest.mark.parametrize(("zone", "before"), [("UTC", 0.1), ("Europe/Berlin", None), ("America/New_York", 0.2)])
def test_since_begins_at_midnight_of_the_course(make_class, zone, before):
    book = gradebook.read(make_class(12, seed=2, assignments=("softmax",), hostile=False))
    document = {**book.document, "course": {"title": "", "policy": {"time_zone": zone}}}
    graded = next(s for s in book.students if s["status"] == "graded" and s["percent"] > 20)
    # The first is on March 5 in Berlin, and the last is still on March 4 in New York.
    changes = [("2026-03-04T23:30:00+00:00", 10.0), ("2026-03-05T04:30:00+00:00", 20.0), ("soon", 30.0)]
    write_history(book.out, graded["submission"], *((time, "", after) for time, after in changes))
    records = class_statistics.collect(book)
    book = gradebook.Gradebook(book.out, document)
    if before is None:
        with pytest.raises(UsageError, match="from before 2026-03-05"):
            class_statistics.since(records, book, "2026-03-05")
    else:
        assert [change.before for change in class_statistics.since(records, book, "2026-03-05").changes] == [before]


def test_since_reads_scores_of_zero_and_needs_possible_points(tmp_path):
    write_history(tmp_path, "ada", *(("2026-03-01", *entry) for entry in (("a", 0.0), ("b", 3.0), ("", 0.0))))
    grades = {"a": {"possible": 10.0}, "b": {"possible": 0.0}}
    students = [{"submission": name, "name": "", "id": "", "assignments": grades} for name in ("Ada", "ada")]
    book = gradebook.Gradebook(tmp_path, {"students": students, "course": {"policy": {}}})
    now = ClassRecords("", students=[record("Ada", 5.0)])
    now.assignments = [class_records.AssignmentSummary(name, [0.5]) for name in grades]
    found = class_statistics.since(now, book, "2026-03-05")
    assert [(change.before, change.after) for change in found.changes] == [(0.0, 0.5)]
    shown = [(one.name, one.before, one.after) for one in found.assignments]
    assert shown == [("total", 0.0, 0.5), ("a", 0.0, 0.5), ("b", None, 0.5)]


def test_compare_gives_the_earlier_pass_rates():
    students = [record("ada", 1.0, statuses={"a.f": "passed"}), record("bo", 1.0, statuses={"a.f": "failed"})]
    then = ClassRecords("", functions=["a.f"], students=students)
    passed = dict.fromkeys(["a.f", "a.g"], "passed")
    now = ClassRecords("", functions=[*passed], students=[record("ada", 1.0, statuses=passed)])
    assert class_statistics.compare(now, then, "").pass_rates == {"a.f": 0.5}
