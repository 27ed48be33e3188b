"""Test that Moodle's importer accepts each worksheet and archive, in several languages, and that nothing is deleted."""

import copy
import csv
import io
import json
import re

import pytest
from support.commands import succeed
from support.lms_files import ENGLISH, FRENCH, GERMAN, POLISH, SPANISH, moodle_worksheet, written
from support.lms_importers import MoodleAssignment
from support.result_documents import check, document

from autograder.classroom.exporters import feedback_zip, moodle
from autograder.classroom.storage import gradebook
from autograder.errors import UsageError

LANGUAGES = {"en": ENGLISH, "de": GERMAN, "fr": FRENCH, "es": SPANISH, "pl": POLISH}
MAXIMUM = 20.0
COMMENT = {"time": "", "by": "", "assignment": "softmax", "location": None}


@pytest.fixture(scope="module")
def graded(make_class):
    return gradebook.read(make_class(20, seed=4, assignments=("softmax", "attention"), hostile=False))


@pytest.fixture
def book(graded):
    """The class, with softmax downloaded from Moodle; the first student submitted nothing."""
    document = copy.deepcopy(graded.document)
    for number, student in enumerate(document["students"]):
        student.update(name=f"Zoë{number} d'Été{number}", roster={}, ids={"moodle:softmax": str(1800 + number)})
        student["id"] = str(1800 + number)
    first = document["students"][0]
    for record in (first, *first["assignments"].values()):
        record.update(status="missing", reason="no submission", score=0.0)
    first["assignments"]["softmax"]["file"] = first["assignments"]["attention"]["file"] = None
    return gradebook.Gradebook(graded.out, document)


def people(book, **changes):
    """The rows of a worksheet; `changes` by the student's number as text: (grade, comment, locked)."""
    for number, student in enumerate(book.students):
        grade, comment, locked = changes.get(f"s{number}", (None, "", False))
        yield 1800 + number, student["name"], f"M{number}", student["email"], grade, comment, locked


def assignment(book, language=ENGLISH, **changes):
    rows = list(people(book, **changes))
    known = {
        "grades": {number: grade for number, _, _, _, grade, _, _ in rows if grade is not None},
        "comments": {number: comment for number, _, _, _, _, comment, _ in rows if comment},
    }
    names = {number: name for number, name, *_ in rows}
    return MoodleAssignment(language.titles, language.participant, MAXIMUM, names, language.decimal, **known)


def worksheet(book, tmp_path, language=ENGLISH, *, encoding="utf-8", columns=None, changes=None, **options):
    path = tmp_path / "worksheet.csv"
    text = moodle_worksheet(language, people(book, **(changes or {})), maximum=MAXIMUM, **options)
    path.write_bytes(text.encode(encoding, "replace"))
    return moodle.read_worksheet(path, columns or {})


def imported(book, sheet, tmp_path, language=ENGLISH, *, changes=None, **options):
    """What Moodle's import stores of the worksheet for softmax, and the lines of the plan."""
    plan = moodle.plan(book, sheet, assignment="softmax", **options)
    return assignment(book, language, **(changes or {})).import_worksheet(written(plan, tmp_path)), plan.lines


def expected(book, name="softmax"):
    return {
        1800 + number: pytest.approx(grade["score"] * MAXIMUM / grade["possible"], abs=0.006)
        for number, student in enumerate(book.students)
        if (grade := student["assignments"][name])["status"] in ("graded", "unreadable")
    }


@pytest.mark.parametrize("code", LANGUAGES)
def test_moodle_accepts_the_worksheet_in_its_language(book, tmp_path, code):
    language = LANGUAGES[code]
    content = written(moodle.plan(book, worksheet(book, tmp_path, language), assignment="softmax"), tmp_path)
    stored = assignment(book, language).import_worksheet(content)
    assert stored["grades"] == expected(book) and not stored["unknown"]
    assert csv.reader(io.StringIO(content.decode())).__next__() == list(language.titles.values())
    assert (len(stored["comments"]) == len(expected(book))) == (code != "pl")
    remarks = set(re.findall(r"(\w+)\.\w+ \d", " ".join(stored["comments"].values())))
    assert remarks == ({"softmax"} if code != "pl" else set()), "on this assignment only"


@pytest.mark.parametrize("options", [
    {"encoding": "cp1252", "separator": ";"}, {"encoding": "utf-16", "separator": "\t"}, {"encoding": "utf-8-sig"},
    {"encoding": "utf-16-le", "separator": ";"}, {"anonymous": True},
])  # fmt: skip
def test_moodle_worksheet_saved_by_a_spreadsheet_or_anonymous_is_read(book, tmp_path, options):
    stored, _ = imported(book, worksheet(book, tmp_path, GERMAN, **options), tmp_path, GERMAN)
    assert stored["grades"] == expected(book)


def test_moodle_unknown_language_can_be_named(book, tmp_path):
    sheet = worksheet(book, tmp_path, POLISH, columns={"comments": "Komentarze zwrotne"})
    stored, _ = imported(book, sheet, tmp_path, POLISH)
    assert len(stored["comments"]) == len(expected(book))


def test_moodle_missing_work_changes_nothing_and_a_comment_on_it_says_nothing_of_checks(book, tmp_path):
    by_hand = {"s0": (12.5, "Handed in on paper", False)}
    given = {"text": "oral exam", "add": 2.0, "score": None, "by": "", "time": "2026-10-01T12:00:00+00:00"}
    book.students[1]["assignments"]["softmax"].update(status="missing", file=None, score=2.0, adjustments=[given])
    stored, _ = imported(book, worksheet(book, tmp_path, changes=by_hand), tmp_path, changes=by_hand)
    assert 1800 not in stored["grades"] and 1800 not in stored["comments"]
    assert "oral exam" in stored["comments"][1801] and "checks" not in stored["comments"][1801]


def test_moodle_comment_by_hand_stays_and_ours_is_replaced(book, tmp_path):
    by_hand = {"s3": (None, "<p>See me</p>", False)}
    book.students[5]["comments"] = [{**COMMENT, "text": "Is x < 0 & y > 0?"}]
    ours = imported(book, worksheet(book, tmp_path), tmp_path)[0]["comments"]
    changed = [ours[1806].replace("Headway: ", "Headway: I think: "), f"{ours[1807]}<p>Come to my office.</p>"]
    changes = {
        **by_hand,
        "s4": (None, f"<p>{ours[1804]}</p>", False), "s5": (None, ours[1805].replace(" ", "&nbsp;"), False),
        "s6": (None, changed[0], False), "s7": (None, changed[1], False),
    }  # fmt: skip
    book.students[4]["comments"] = book.students[5]["comments"] = []
    sheet = worksheet(book, tmp_path, changes=changes)
    stored, lines = imported(book, sheet, tmp_path, changes=changes)
    assert not {1803, 1806, 1807} & stored["comments"].keys() and 1805 in stored["comments"]
    (kept,) = (line for line in lines if "(--replace-comments)" in line)
    assert kept.endswith("(3): Zoë3 d'Été3, Zoë6 d'Été6, Zoë7 d'Été7")
    stored, _ = imported(book, sheet, tmp_path, changes=changes, replace_comments=True)
    assert 1803 in stored["comments"]


@pytest.mark.parametrize(("more", "remark"), [
    ({}, "All checks passed"), ({"status": "failed"}, "attention.attention 0/1"),
    ({"status": "not_started"}, "attention.attention 0/1: not started"),
    ({"status": "error", "mistake": {"title": "no\x07 scale"}}, "attention.attention 0/1: no scale"),
])  # fmt: skip
def test_moodle_remarks_name_what_does_not_pass(more, remark):
    assert moodle._remarks(document(check(**more), check("attention.softmax"))) == remark


def test_moodle_changed_grades_are_all_named_or_kept(book, tmp_path):
    changes = {f"s{number}": (0.25, "", False) for number in range(20)}
    sheet = worksheet(book, tmp_path, changes=changes)
    stored, lines = imported(book, sheet, tmp_path, changes=changes)
    assert any(line.startswith("Grade: softmax, out of 20") for line in lines)
    (line,) = (line for line in lines if line.startswith("Grades in Moodle that change"))
    assert line.count("(0.25 → ") == len(expected(book)) and 1803 in stored["grades"]
    kept, _ = imported(book, sheet, tmp_path, changes=changes, keep_existing=True)
    assert 1803 not in kept["grades"]


def test_moodle_localized_date_needs_the_box(book, tmp_path):
    changes = {"s3": (0.25, "", False)}
    plan = moodle.plan(book, worksheet(book, tmp_path, GERMAN, changes=changes), assignment="softmax")
    moodle_side = assignment(book, GERMAN, **changes)
    assert 1803 not in moodle_side.import_worksheet(written(plan, tmp_path))["grades"]
    assert 1803 in moodle_side.import_worksheet(written(plan, tmp_path), ignore_modified=True)["grades"]


def test_moodle_score_above_the_maximum_and_locked_grade_are_named(book, tmp_path):
    grade = book.students[5]["assignments"]["softmax"]
    grade["score"] = grade["possible"] + 1
    sheet = worksheet(book, tmp_path, GERMAN, changes={"s7": (None, "", True)})
    stored, lines = imported(book, sheet, tmp_path, GERMAN)
    assert stored["grades"][1805] == MAXIMUM
    for reason, name in (("Above Moodle's maximum", "Zoë5"), ("Locked", "Zoë7")):
        assert any(reason in line and name in line for line in lines)


def test_moodle_worksheet_of_another_assignment_is_refused(book, tmp_path):
    for student in book.students:
        student["ids"] = {"moodle:softmax": str(int(student["id"]) + 5000)}
    with pytest.raises(UsageError, match="another assignment"):
        moodle.plan(book, worksheet(book, tmp_path), assignment="softmax")


def test_moodle_canvas_class_never_gets_participant_numbers(book, tmp_path):
    """Ids of Canvas equal other students' participant numbers; only names and addresses match."""
    for number, student in enumerate(book.students):
        student.update(id=str(1800 + (number + 1) % 20), ids={"canvas": str(1800 + (number + 1) % 20)})
    stored, _ = imported(book, worksheet(book, tmp_path), tmp_path)
    assert stored["grades"] == expected(book)


def test_moodle_roster_counts_if_it_is_of_this_assignment(book, tmp_path):
    sheet = worksheet(book, tmp_path)
    for student, row in zip(book.students, sheet.rows, strict=True):
        student["roster"] = dict(zip(sheet.titles, row, strict=True))
    stored, _ = imported(book, None, tmp_path)
    assert stored["grades"] == expected(book)
    for name in ("attention", None):
        with pytest.raises(UsageError, match="--worksheet FILE"):
            moodle.plan(book, None, assignment=name)


def test_moodle_total_is_scaled_to_the_maximum_and_left_out_without_a_result(book, tmp_path):
    sheet = worksheet(book, tmp_path)
    with pytest.raises(UsageError, match=r"belongs to softmax in Moodle.*--assignment softmax"):
        moodle.plan(book, sheet)
    for student in book.students:
        student["ids"] = {}
    stored = assignment(book).import_worksheet(written(moodle.plan(book, sheet), tmp_path))
    student = book.students[2]
    assert stored["grades"][1802] == pytest.approx(MAXIMUM * student["score"] / student["out_of"], abs=0.006)
    assert f" of {student['out_of']:g}" in stored["comments"][1802].partition(".")[0]
    for number, status in enumerate(("waiting", "failed", "unreadable"), 2):
        book.students[number]["assignments"]["attention"].update(status=status, score=0.0)
    stored = assignment(book).import_worksheet(written(moodle.plan(book, sheet), tmp_path))
    assert not {1802, 1803} & stored["grades"].keys() and 1804 in stored["grades"]


def test_moodle_comment_has_score_reason_texts_of_questions_and_one_mark_at_their_ends(book, tmp_path):
    item = {"id": "q1", "title": "Why?", "points": 5.0, "earned": 4.5, "comment": "Right, but why"}
    grade = book.students[6]["assignments"]["softmax"]
    grade.update(status="unreadable", reason="<img src=x>", file=None, score=0.0, rubric=[item])
    texts = (("softmax", "Come to my office"), ("", "Is x = 1000?"), ("", "See me!"))
    book.students[6]["comments"] = [{**COMMENT, "assignment": about, "text": text} for about, text in texts]
    comment = imported(book, worksheet(book, tmp_path), tmp_path)[0]["comments"][1806]
    assert comment.startswith("Headway: could not be graded (&lt;img src=x&gt;), ")
    assert " softmax, Why? (4.5 of 5): Right, but why. Come to my office. Is x = 1000? See me! " in comment


@pytest.mark.parametrize(("text", "words"), [
    ("", "is not a grading worksheet"), ("Name,Grade\nAda,3\n", "first columns are Name, Grade"),
    ("Identifier,Full name,Grade,Scale\nParticipant 1,Ada,,good\n", "with a scale"),
    ("Identifier,Full name,Points\nParticipant 1,Ada,\n", "--column grade=TITLE"),
])  # fmt: skip
def test_read_worksheet_unusable_file_is_one_line(tmp_path, text, words):
    (tmp_path / "w.csv").write_text(text)
    with pytest.raises(UsageError) as raised:
        moodle.read_worksheet(tmp_path / "w.csv", {})
    assert words in str(raised.value) and "\n" not in str(raised.value)


def test_moodle_feedback_zip_reaches_every_participant(book, tmp_path):
    count, lines = feedback_zip.write_moodle(book, tmp_path / "f.zip", "softmax", None)
    found, ignored = assignment(book).import_zip((tmp_path / "f.zip").read_bytes())
    with_result = {1800 + n for n, s in enumerate(book.students) if book.result_of(s)}
    assert set(found) == with_result and count == len(with_result)
    assert not ignored and not lines
    assert set(map(tuple, found.values())) == {("/feedback-softmax.html",)}


def test_moodle_feedback_zip_takes_numbers_from_the_worksheet(book, tmp_path):
    for student in book.students:
        student.update(ids={"canvas": "1801"})
    book.students[4].update(name="Not_There/..", email="")
    with pytest.raises(UsageError, match="--worksheet FILE"):
        feedback_zip.write_moodle(book, tmp_path / "f.zip", "softmax", None)
    sheet = worksheet(book, tmp_path)
    sheet.rows[4][1:4] = ["Somebody Else", "x", "y@example.org"]
    _, lines = feedback_zip.write_moodle(book, tmp_path / "f.zip", "softmax", sheet)
    found, ignored = assignment(book).import_zip((tmp_path / "f.zip").read_bytes())
    assert 1804 not in found and not ignored
    assert "Not_There" in lines[0]


def test_export_moodle_writes_a_worksheet_per_assignment(book, tmp_path):
    (tmp_path / "class.json").write_text(json.dumps(book.document), "utf-8")
    worksheet(book, tmp_path, GERMAN)
    command = ("export", "moodle", tmp_path, "--worksheet", tmp_path / "worksheet.csv", "--assignment", "softmax")
    shown = " ".join(succeed(*command).stdout.split())
    assert "20 rows of 20 matched" in shown and "Tick “Allow updating records" in shown
    assert "Left out, because they have no score" in shown and ": Zoë0 d'Été0" in shown, shown
    assert [path.name for path in (tmp_path / "exports").iterdir()] == ["moodle-softmax.csv"]
