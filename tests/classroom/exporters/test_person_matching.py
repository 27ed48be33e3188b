"""Test that students and rows are matched by identifiers of one kind or by a name that only one person has."""

import pytest

from autograder.classroom.exporters.lms_plan import Person, identifiers, match, name_words, person_of_student


def person(name, **ids):
    return Person(name_words(name), {kind: frozenset({value}) for kind, value in ids.items()})


@pytest.mark.parametrize(("student", "row", "reason"), [
    (person("Ada Lovelace", platform="1"), person("A. L.", platform="1"), None),
    (person("Ada Lovelace", email="a@x.org"), person("Countess", email="a@x.org"), None),
    (person("Ada Lovelace", number="7"), person("Lovelace, Ada", number="7"), None),
    (person("Ada Lovelace", number="7"), person("Lovelace-King, Ada", number="7"), None),
    (person("Ada Lovelace"), person("LOVELACE, Ada", number="7"), None),
    (person("João d’Été"), person("d'Ete, Joao"), None),
    (person("Ada Lovelace", number="7"), person("Bo Berg", number="7"), "another name"),
    (person("Ada Lovelace", number="7"), person("Ada Lovelace", number="8"), "another id"),
    (person("Ada Lovelace", platform="7"), person("Ada Lovelace", platform="8"), "another id"),
    (person("Ada Lovelace", platform="7"), person("Bo Berg", number="7"), "no such row"),
    (person("Ada Lovelace", login="7"), person("Bo Berg", number="7"), "no such row"),
    (person("Ada"), person("Ada Lovelace"), "no such row"), (person(""), person(""), "no such row"),
])  # fmt: skip
def test_match_one_student(student, row, reason):
    result = match([student], [row])
    assert result.rows == ({0: 0} if reason is None else {})
    assert (reason or "") in result.unmatched.get(0, "")


def test_match_namesakes_only_by_identifier():
    students = [person("Jo Kim", email="a@x.org"), person("Jo Kim"), person("Ann Li")]
    rows = [person("Kim, Jo", email="a@x.org"), person("Kim, Jo"), person("Li, Ann"), person("Li, Ann")]
    result = match(students, rows)
    assert result.rows == {0: 0} and set(result.unmatched) == {1, 2}


def test_match_identifiers_of_two_rows_or_two_students():
    students = [person("Ada", email="a@x.org", number="2"), person("Bo", number="3"), person("Bo B", number="3")]
    result = match(students, [person("Ada", email="a@x.org"), person("X", number="2"), person("Bo B", number="3")])
    assert result.rows == {} and "several rows" in result.unmatched[0]
    assert "several students" in result.unmatched[1]
    students = [person("Ada", platform="1", number="2")]  # the platform's number settles it
    assert match(students, [person("Bo", number="2"), person("Ada", platform="1")]).rows == {1: 0}


def test_identifiers_are_found_by_title_and_form():
    row = {"SIS User ID": " S-1 ", "SIS Login ID": "ADA@x.org", "ID-Nummer": "M3", "Section": "S-9", "ID": "4"}
    assert identifiers(row.items()) == {"number": {"s-1", "m3"}, "login": {"ada@x.org"}, "email": {"ada@x.org"}}


def test_person_of_student_ignores_ids_of_other_platforms():
    student = {"name": "Ada", "id": "1815", "email": "", "roster": {}, "ids": {"canvas": "4021", "gradescope": "S1"}}
    assert person_of_student(student, "canvas").ids == {"platform": {"4021"}, "number": {"s1"}}
    assert person_of_student(student, "moodle:softmax").ids == {"number": {"s1"}}
