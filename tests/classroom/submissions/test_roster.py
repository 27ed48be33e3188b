"""Rosters: how submissions are matched with people, and what a roster file may look like."""

import pytest
from support.editing import write_files

from autograder.classroom.submissions.merge_students import merge_students
from autograder.classroom.submissions.roster import read_roster
from autograder.classroom.submissions.sources import read_class_members
from autograder.courses.transformer import TRANSFORMER
from autograder.errors import UsageError


def match(tmp_path, table, *names):
    """Return the students of a class with submissions of these names, and with this table as the roster."""
    group = write_files(tmp_path / "class", dict.fromkeys(names, "def softmax(x): return x\n"))
    write_files(tmp_path, {"roster.csv": table})
    return merge_students({"": read_class_members(group, TRANSFORMER)}, read_roster(tmp_path / "roster.csv"))


MOODLE_WORKSHEET = """Identifier,Full name,Email address
Participant 77,Ada Lovelace,a@x
Participant 78,J,b@x
Participant 9,E,c@x
"""
NAMES = "\ufeffname;id\nAda Lovelace;1\nJöhn von Neumann;2\nE;3\n"
LOGINS = "id,first_name,last_name,email\nalove,Ada,Lovelace,\njneu,John,von Neumann,\nen,E,N,\n"
CANVAS_GRADEBOOK = """Student,ID,SIS User ID,SIS Login ID,Section,Softmax (12)
    Points Possible,,,,,10
"Lovelace, Ada",4021,S1,ada@x.edu,A,
"von Neumann, John",4022,S2,john@x.edu,A,
"Noether, Emmy",4023,S3,emmy@x.edu,A,
"""


@pytest.mark.parametrize(("names", "table"), [
    (("lovelaceada_4021_1_softmax.py", "vonneumannjohn_4022_2_softmax.py"), CANVAS_GRADEBOOK),
    (("ada/softmax.py", "john/softmax.py"), CANVAS_GRADEBOOK),
    (("Ada Lovelace/softmax.py", "John von Neumann/softmax.py"), NAMES),
    ([f"{name}_assignsubmission_file/softmax.py" for name in ("Ada Lovelace_77", "John von Neumann_78")],
     MOODLE_WORKSHEET),
    (("alove/softmax.py", "vonneumannjohn/softmax.py"), LOGINS),
])  # fmt: skip
def test_merge_students_finds_people_in_every_export(tmp_path, names, table):
    found = match(tmp_path, table, *names)
    assert [bool(member.attempts) for member in found] == [True, True, False]
    assert found[0].name == "Ada Lovelace"
    assert all(member.id and not member.notes for member in found)


@pytest.mark.parametrize(("table", "names", "expected"), [
    ("id,name\nAda B,Ada B\nbo,Bo\n", ("ada  b /softmax/softmax.py", "bo/softmax/softmax.py"),
     [("ada  b ", "Ada B", "ada  b ", 1, ""), ("bo", "Bo", "bo", 1, "")]),
    ("Identifier,Full name,Nume\u0301ro d'identification\nParticipant 77,Ada,M7\nParticipant 78,Bo,\n",
     ("M7/softmax.py", "78/softmax.py"),
     [("M7", "Ada", "M7", 1, ""), ("78 (missing)", "Bo", "78", 0, ""), ("78", "", "", 1, "not on the roster")]),
    ("id,name\nada,Ada\n", ("ada/softmax.py", "eve/softmax.py"),
     [("ada", "Ada", "ada", 1, ""), ("eve", "", "", 1, "not on the roster")]),
    ("id,name\n1,Ann Lee\n2,Ann Lee\n", ("Ann Lee/softmax.py",),
     [("1", "Ann Lee", "1", 0, ""), ("2", "Ann Lee", "2", 0, ""), ("Ann Lee", "", "", 1, "2 students")]),
    ("id,name,email\nada,Ada,ada@x.edu\n", ("ada/softmax.py", "ada@x.edu/softmax.py"),
     [("ada", "Ada", "ada", 1, ""), ("ada@x.edu", "", "", 1, "submitted twice: see ada")]),
    ("name\nAda Lovelace\nBo\n", ("lovelaceada_100_1_softmax.py", "lovelaceada_4021_2_softmax.py"),
     [("Ada Lovelace", "Ada Lovelace", "", 0, ""), ("Bo", "Bo", "", 0, ""),
      ("lovelaceada_100", "lovelaceada", "100", 1, "another submission has the same name"),
      ("lovelaceada_4021", "lovelaceada", "4021", 1, "another submission has the same name")]),
    ("email\nada@x.edu\n", ("ada@x.edu/softmax.py",), [("ada@x.edu", "", "", 1, "")]),
], ids=["blanks", "Moodle's number", "not listed", "two students", "two works", "two accounts", "address"])  # fmt: skip
def test_merge_students_matches_who_is_certain_and_says_why_others_are_not(tmp_path, table, names, expected):
    found = match(tmp_path, table, *names)
    assert [(one.submission, one.name, one.id, one.attempts) for one in found] == [row[:4] for row in expected]
    for one, (*_, note) in zip(found, expected, strict=True):
        assert [note in text for text in one.notes] == [True] * bool(note)


@pytest.mark.parametrize(("text", "fragment"), [
    ("a,b\n1,2\n", "no column name, id or email"), ("id\n1\n1\n", "'1' twice: entries 1 and 2"),
    ("", "lists no students"), ("x" * 200_000, "not valid CSV"), ("name,id\n", "lists no students"),
    ('id,name\n1,"' + "a" * 200_000, "not valid CSV after line"),
    ("id,name\n1,Ada\n2,Lovelace, Bo\n", "line 3 has 3 cells for 2 titles"),
    ("id;name\n1;Ada;Lovelace\n", "A text that contains a semicolon"),
], ids=["no-column", "twice", "empty", "long", "titles-only", "open-quote", "comma", "semicolon"])  # fmt: skip
def test_read_roster_invalid_file_is_an_error(tmp_path, text, fragment):
    (tmp_path / "roster.csv").write_text(text, "utf-8")
    with pytest.raises(UsageError, match=fragment):
        read_roster(tmp_path / "roster.csv")


TABLE = " name;id ;section;TA\n;;;\nZoë\x07 Müller;1815 ;A;Kim\n\nAda Łukasz;1816;B\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "cp1252"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_read_roster_in_the_encodings_of_spreadsheets(tmp_path, encoding, delimiter):
    table = TABLE.replace(";", delimiter).replace("Ł", "Š" if encoding == "cp1252" else "Ł")
    (tmp_path / "roster.csv").write_bytes(table.encode(encoding))
    found = read_roster(tmp_path / "roster.csv")
    assert [(entry.name, entry.section, entry.ta) for entry in found[:1]] == [("Zoë Müller", "A", "Kim")]
    assert found[1].name in ("Ada Łukasz", "Ada Šukasz") and found[1].ta == ""


@pytest.mark.parametrize("row", [
    '"Student, Test",9,,,A', '"Testperson, Eine",9,,3f786850e387550fdab836ed7e6dc881de23001b,A', "Test Student,9,,,A",
])  # fmt: skip
def test_read_roster_ignores_the_test_student_of_canvas(tmp_path, row):
    table = f'Student,ID,Integration ID,SIS Login ID,Section\n"Lovelace, Ada",4021,S1,ada,A\n{row}\n'
    (tmp_path / "roster.csv").write_text(table, "utf-8")
    (entry,) = read_roster(tmp_path / "roster.csv")
    assert (entry.name, entry.id, entry.ids) == ("Ada Lovelace", "ada", {"canvas": "4021"})
