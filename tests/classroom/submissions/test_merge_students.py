"""Students of several sources: who is the same person, with and without a roster."""

import pytest

from autograder.classroom.submissions.merge_students import merge_students
from autograder.classroom.submissions.model import Attempt, ClassMember, Student
from autograder.classroom.submissions.roster import roster_entries
from autograder.classroom.submissions.student_names import StudentNames
from autograder.errors import UsageError

ONE = (Attempt(()),)


def canvas(name, number):
    return ClassMember(f"{name}_{number}", name, number, attempts=ONE, ids={"canvas": number})


def moodle(name, number, assignment="ffn"):
    return ClassMember(f"{name}_{number}", name, number, attempts=ONE, ids={f"moodle:{assignment}": number})


def gradescope(name, sid, email=""):
    return ClassMember(sid or name, name, sid, email, ONE, {"gradescope": sid} if sid else {})


def shape(students):
    return [sorted(student.work) for student in students]


def test_merge_students_joins_platforms_by_name():
    sources = {
        "softmax": [canvas("lovelaceada", "4021"), canvas("vonneumannjohn", "4022")],
        "ffn": [moodle("John von Neumann", "7"), moodle("Ada Lovelace", "8")],
        "gpt": [gradescope("Ada Lovelace", "S1", "ada@x.edu")],
    }
    students = merge_students(sources)
    assert shape(students) == [["ffn", "gpt", "softmax"], ["ffn", "softmax"]]
    assert students[0].ids == {"canvas": "4021", "moodle:ffn": "8", "gradescope": "S1"}
    first = students[0]
    assert (first.name, first.email, first.submission) == ("Ada Lovelace", "ada@x.edu", "lovelaceada_4021")
    assert not any(student.notes for student in students)


def test_merge_students_same_id_wins_over_the_name():
    students = merge_students({"a": [canvas("leeann", "1"), canvas("leeann", "2")], "b": [canvas("leeann", "2")]})
    assert [student.submission for student in students] == ["leeann_1", "leeann_2"]
    assert shape(students) == [["a"], ["a", "b"]]
    assert not any(student.notes for student in students)


@pytest.mark.parametrize(("first", "second"), [
    ([canvas("leeann", "1"), canvas("leeann", "2")], [moodle("Ann Lee", "7")]),
    ([canvas("leeann", "1")], [moodle("Ann Lee", "7"), moodle("Ann Lee", "8")]),
    ([gradescope("Ann Lee", "S1", "a@x")], [gradescope("Ann Lee", "", "b@x")]),
    ([canvas("leeann", "1")], [canvas("leeann", "2")]),
], ids=["two-before", "two-now", "other-address", "other-id"])  # fmt: skip
def test_merge_students_uncertain_names_stay_apart_with_a_note(first, second):
    students = merge_students({"softmax": first, "ffn": second})
    assert all(len(student.work) == 1 for student in students)
    assert all("may be another student" in student.notes[0] for student in students if "ffn" in student.work)


def test_merge_students_moodle_numbers_of_two_assignments_are_not_ids():
    sources = {"softmax": [moodle("Ada Lovelace", "7", "softmax")], "ffn": [moodle("Grace Hopper", "7")]}
    assert shape(merge_students(sources)) == [["softmax"], ["ffn"]]
    ada, grace = (ClassMember(name, name, attempts=ONE, ids={"moodle": "7"}) for name in ("Ada L", "Grace H"))
    assert shape(merge_students({"first": [ada], "second": [grace]})) == [["first"], ["second"]]


ROSTER = roster_entries(
    [
        {"Student": "Lovelace, Ada", "ID": "4021", "SIS User ID": "S1", "SIS Login ID": "ada@x.edu", "Section": "A"},
        {"Student": "Hopper, Grace", "ID": "4022", "SIS User ID": "S2", "SIS Login ID": "gh7", "Section": "B"},
        {"Student": "Noether, Emmy", "ID": "4023", "SIS User ID": "4022", "SIS Login ID": "emmy", "Section": "B"},
    ],
    "the roster",
)


def test_merge_students_with_a_roster_joins_ids_of_all_platforms():
    sources = {
        "softmax": [canvas("hoppergrace", "4022"), canvas("lovelaceada", "4021")],
        "ffn": [moodle("Ada Lovelace", "4022"), moodle("Grace Hopper", "4023")],
        "gpt": [gradescope("E. Noether", "4022"), gradescope("G. H.", "", "gh7@x.edu")],
    }
    students = merge_students(sources, ROSTER)
    assert [student.id for student in students] == ["S1", "S2", "4022", ""]
    assert shape(students) == [["ffn", "softmax"], ["ffn", "softmax"], ["gpt"], ["gpt"]]
    assert students[1].ids == {"canvas": "4022", "moodle:ffn": "4023"}
    assert [student.section for student in students] == ["A", "B", "B", ""]
    assert students[3].notes == ("not on the roster",)


ADA = roster_entries([{"id": "42", "name": "Ada", "email": "ada@x.edu"}], "the roster")
CLAIMS = [gradescope("Ada", "", ""), gradescope("A", "42", "eve@x.edu"), gradescope("A. L.", "", "ada@x.edu")]


@pytest.mark.parametrize(
    ("weaker", "stronger"), [(0, 1), (0, 2), (1, 2)], ids=["id-name", "address-name", "address-id"]
)
@pytest.mark.parametrize("order", [1, -1])
def test_merge_students_address_outranks_a_chosen_id_and_both_a_name(weaker, stronger, order):
    students = merge_students({"softmax": [CLAIMS[weaker], CLAIMS[stronger]][::order]}, ADA)
    assert [student.work["softmax"] for student in students[:1]] == [CLAIMS[stronger]]
    assert len(students) == 2 and "submitted twice" in students[1].notes[0]


def test_merge_students_address_outranks_the_name_of_another():
    roster = [*ADA, *roster_entries([{"id": "43", "name": "Bo", "email": "bo@x.edu"}], "the roster")]
    students = merge_students({"softmax": [gradescope("Bo", "", "ada@x.edu")]}, roster)
    assert [sorted(student.work) for student in students] == [["softmax"], []]


def test_merge_students_two_submissions_from_one_address_are_of_that_student():
    members = [gradescope(name, sid, "ada@x.edu") for name, sid in (("A. L.", "S1"), ("A. K.", "S2"))]
    assert [student.work["softmax"].id for student in merge_students({"softmax": members}, ADA)] == ["S1", "S2"]


@pytest.mark.parametrize(("name", "found"), [("noetheremmy", "Emmy Noether"), ("somebody", "Bo Berg")])
def test_merge_students_name_decides_whether_a_canvas_number_is_a_student_number(name, found):
    rows = [{"id": "4021", "name": "Bo Berg"}, {"id": "7", "name": "Emmy Noether"}]
    students = merge_students({"softmax": [canvas(name, "4021")]}, roster_entries(rows, "the roster"))
    assert [student.name for student in students if student.work] == [found]


def test_merge_students_other_canvas_account_with_a_name_of_the_roster_stays_apart():
    students = merge_students({"softmax": [canvas("lovelaceada", "999")]}, ROSTER)
    assert [student.id for student in students if student.work] == ["999"]
    assert "1 student on the roster has this name" in students[3].notes[0]
    students = merge_students({"softmax": [gradescope("Ada Lovelace", "999")]}, ROSTER)
    assert [student.id for student in students if student.work] == ["S1"]


def test_merge_students_roster_outranks_what_the_platform_says():
    (ada,) = merge_students({"softmax": [gradescope("ada", "42", "a.lovelace@home.example")]}, ADA)
    assert (ada.name, ada.email) == ("Ada", "ada@x.edu")
    (ada,) = merge_students({"softmax": [gradescope("Ada L.", "42")]}, roster_entries([{"id": "42"}], "the roster"))
    assert (ada.name, ada.id) == ("Ada L.", "42"), "of what the roster does not say"


def test_merge_students_missing_student_never_shares_a_name():
    roster = roster_entries([{"id": "kim", "name": "Jo Lee"}, {"id": "2", "name": "Kim"}, {"name": "Lu"}], "the roster")
    students = merge_students({"softmax": [ClassMember("kim", attempts=ONE)]}, roster)
    assert [student.submission for student in students] == ["kim (missing)", "2", "Lu", "kim"]


@pytest.mark.parametrize("name", ["A. King", "Ada Lovelace"])
def test_merge_students_joins_addresses_in_any_case(name):
    sources = {"softmax": [gradescope("Ada Lovelace", "", "Ada@X.edu")], "ffn": [gradescope(name, "", "ada@x.EDU")]}
    (student,) = merge_students(sources)
    assert student.notes == ()


def test_merge_students_keeps_the_names_of_earlier_runs():
    sources = {"softmax": [canvas("lovelaceada", "4021")], "ffn": [moodle("Ada Lovelace", "8")]}
    (student,) = merge_students(sources, None, {"ffn": {"Ada Lovelace_8": "Ada Lovelace_8"}})
    assert student.submission == "Ada Lovelace_8"


def test_merge_students_stray_work_becomes_the_earlier_attempt_of_its_owner():
    stray, own = Attempt((), late=True), ClassMember("ada", attempts=ONE)
    sources = {"softmax": [own, ClassMember("x7", attempts=(stray,))]}
    (ada,) = merge_students(sources, owners={"x7": "ada"})
    assert ada.work["softmax"].attempts == (stray, *ONE)
    assert [one.submission for one in merge_students(sources, owners={"x7": "gone"})] == ["ada", "x7"]


def test_merge_students_equal_submissions_of_two_students_get_two_names():
    members = {"a": [ClassMember("7", "Ada L", attempts=ONE)], "b": [ClassMember("7", "Bo B", attempts=ONE)]}
    assert [student.submission for student in merge_students(members)] == ["7", "7 (b)"]


@pytest.mark.parametrize("name", ["lovelaceada_4021", "Ada Lovelace", "4021", "S1", "ada@x.edu", "8"])
def test_student_names_find_every_id_login_and_address(name):
    sources = {"softmax": [canvas("lovelaceada", "4021")], "ffn": [moodle("Ada Lovelace", "8")]}
    assert StudentNames(merge_students(sources, ROSTER)).find(name, "--only") == "lovelaceada_4021"


def test_student_names_ambiguous_id_is_refused():
    students = [Student("a", ids={"canvas": "7"}), Student("b", "Bo", roster={"id": "7"})]
    with pytest.raises(UsageError, match="'a', 'b'"):
        StudentNames(students).find("7", "--only")
    students = [Student("a", ids={"moodle:ffn": "7"}), Student("b", "Bo", roster={"id": "7"})]
    assert StudentNames(students).find("7", "--only") == "b", "a number of Moodle is another one in each assignment"
    documents = [{"submission": "b", "name": "Bo", "id": "", "email": "", "ids": {}, "roster": {"Login ID": "bo7"}}]
    assert StudentNames.of_documents(documents).find("bo7", "--only") == "b"


def test_submission_named_like_another_student_is_ambiguous():
    members = [gradescope("Mallory", "Grace Hopper", "m@x.edu"), gradescope("Grace Hopper", "43", "grace@x.edu")]
    names = StudentNames(merge_students({"softmax": members}))
    with pytest.raises(UsageError, match=r"several students.*'43', 'submission:Grace Hopper'"):
        names.find("Grace Hopper", "headway comment OUT")
    assert names.find("submission:Grace Hopper", "") == names.find("m@x.edu", "") == "Grace Hopper"
    assert names.require("43", "") == names.require("submission:43", "") == "43"
    assert names.find("submission:44", "") is None
