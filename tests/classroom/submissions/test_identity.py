"""Nobody gets 0 because their work stands in another row: namesakes, long names, strays."""

import pytest
from support.editing import write_files

from autograder.classroom.submissions.merge_students import merge_students
from autograder.classroom.submissions.model import Attempt, ClassMember, Source
from autograder.classroom.submissions.roster import read_roster, roster_entries
from autograder.classroom.submissions.sources import read_class_members, read_source
from autograder.courses.transformer import TRANSFORMER
from autograder.errors import UsageError

LONG = "Anna-Maria " * 12 + "von und zu Beispiel"
# Two people of one name; participants have other numbers in each assignment.
PEOPLE = {"kim1@x.edu": "Kim Lee", "kim2@x.edu": "Kim Lee", "long@x.edu": LONG}
NUMBERS = {"softmax": dict(zip(PEOPLE, (11, 12, 13), strict=True)), "ffn": dict(zip(PEOPLE, (22, 21, 23), strict=True))}
TITLES = {
    "English": ("Identifier", "Full name", "Email address", "Status", "Participant {}"),
    "German": ("ID", "Vollständiger Name", "E-Mail-Adresse", "Status", "Teilnehmer/in{}"),
}


def moodle(root, assignment, language):
    """A download of Moodle, which cuts long names, with its worksheet."""
    *titles, participant = TITLES[language]
    files, rows = {}, [",".join(titles)]
    for email, number in NUMBERS[assignment].items():
        files[f"{PEOPLE[email][:80]}_{number}_assignsubmission_file/{assignment}.py"] = email
        rows.append(f"{participant.format(number)},{PEOPLE[email]},{email},Submitted for grading")
    folder = write_files(root / assignment, {**files, "grades.csv": "\n".join(rows)})
    return read_source(Source(assignment, (assignment,), folder), TRANSFORMER, root / "out")


@pytest.mark.parametrize("language", TITLES)
def test_worksheet_tells_namesakes_apart_in_a_term(tmp_path, language):
    students = merge_students({name: moodle(tmp_path, name, language) for name in NUMBERS})
    assert sorted(student.email for student in students) == sorted(PEOPLE)
    for student in students:
        assert student.work.keys() == NUMBERS.keys() and not student.notes
        paths = [member.attempts[0].parts[0].path for member in student.work.values()]
        texts = {next(path.rglob("*.py")).read_text() for path in paths}
        assert texts == {student.email}, "all of the work is the same person's"


def test_folder_name_of_any_length_is_found_on_the_roster(tmp_path):
    members = read_class_members(write_files(tmp_path, {f"{LONG}/softmax.py": ""}), TRANSFORMER)
    (student,) = merge_students({"": members}, roster_entries([{"name": LONG, "id": "7"}], "the roster"))
    assert student.id == "7" and student.work


def test_rosters_of_sections_make_one_class(tmp_path):
    (tmp_path / "a.csv").write_text("name,id,section,alias,ta\nAda,1,A,countess; ada-old,Kim\nBo,2,A,,\n")
    (tmp_path / "b.csv").write_text("id;name;section;ta\n1;Ada;B;Kim\n3;Cy;B;\n")
    entries = read_roster(tmp_path)
    assert [(one.id, one.section) for one in entries] == [("1", "A, B"), ("2", "A"), ("3", "B")]
    assert entries[0].ta == "Kim"
    stored = roster_entries([one.row for one in entries], "the roster")
    assert [(one.id, one.section) for one in stored] == [(one.id, one.section) for one in entries]
    members = [ClassMember("ada-old", attempts=(Attempt(()),)), ClassMember("Cy", attempts=(Attempt(()),))]
    students = merge_students({"": members}, entries)
    assert [(student.id, bool(student.work)) for student in students] == [("1", True), ("2", False), ("3", True)]
    for row in ("Eve,1,C", "Ada,1,A"):
        (tmp_path / "c.csv").write_text(f"name,id,section\n{row}\n")
        with pytest.raises(UsageError, match="lists '1' twice"):
            read_roster(tmp_path)


def test_roster_with_the_line_ends_of_old_macs_is_read(tmp_path):
    (tmp_path / "roster.csv").write_bytes(b"name;id\rAda;1\rBo;2\r")
    assert [entry.id for entry in read_roster(tmp_path / "roster.csv")] == ["1", "2"]


def test_stray_work_goes_to_its_owner_in_every_run(tmp_path):
    folder = write_files(tmp_path, {"grace/softmax.py": "", "unknown-7/softmax.py": ""})
    sources = {"": read_class_members(folder, TRANSFORMER)}
    for entries in (None, roster_entries([{"id": "grace"}], "the roster")):
        known = {}
        for _ in range(2):
            (grace,) = merge_students(sources, entries, known, {"unknown-7": "grace"})
            assert (grace.submission, grace.attempts) == ("grace", 2)
            assert grace.work[""].attempts[-1].parts[0].path.name == "grace"
            known = {source: {member.submission: grace.submission} for source, member in grace.work.items()}
            known[""]["unknown-7"] = "grace"
