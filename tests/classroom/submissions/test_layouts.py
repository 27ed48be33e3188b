"""How a class is laid out: what each platform's download looks like, and who handed in what."""

import json
import os
import zipfile
from datetime import UTC, datetime

import pytest

from autograder.classroom.submissions import intake, layouts, roster
from autograder.courses.transformer import TRANSFORMER
from autograder.errors import UsageError

CODE = "def softmax(x): return x\n"


def make(root, *paths, text=CODE):
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, "utf-8")
    return root


def read(folder, layout="auto", modules=()):
    return {one.submission: one for one in layouts.read_class_members(folder, TRANSFORMER, layout, modules)}


def modules_of(attempt, tmp_path):
    into = tmp_path / "taken"
    into.mkdir()
    taken = intake.copy_modules(intake.read_files(attempt), into, TRANSFORMER)
    return sorted(path.name for path in into.iterdir()), taken.notes


def test_folders_archives_and_files_side_by_side(tmp_path):
    group = make(tmp_path / "class", "ada/softmax.py", "bo/work/softmax.py", "chen_softmax.py", "attention-dara.py")
    with zipfile.ZipFile(group / "emil.zip", "w") as archive:
        archive.writestr("work/softmax.py", CODE)
        archive.writestr("__MACOSX/softmax.py", "rubbish")
    found = read(group)
    assert list(found) == ["ada", "bo", "chen", "dara", "emil"]
    for name in ("ada", "bo", "chen", "emil"):
        (tmp_path / name).mkdir()
        assert modules_of(found[name].attempts[-1], tmp_path / name) == (["softmax.py"], [])


def test_notebooks_alone_in_folders_and_in_archives(tmp_path):
    cell = {"cell_type": "code", "source": CODE, "metadata": {}, "outputs": [], "execution_count": None}
    notebook = json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [cell]})
    group = make(tmp_path / "class", "ada/softmax.ipynb", "bo_softmax.ipynb", "dara/softmax.ipynb", text=notebook)
    make(group, "dara/softmax.py")
    make(group, "eve/softmax.ipynb", text="{")
    with zipfile.ZipFile(group / "chen.zip", "w") as archive:
        archive.writestr("week 1/softmax.ipynb", notebook)
    found = read(group)
    assert list(found) == ["ada", "bo", "chen", "dara", "eve"]
    for name, student in found.items():
        (tmp_path / name).mkdir()
        names, notes = modules_of(student.attempts[0], tmp_path / name)
        assert names == ([] if name == "eve" else ["softmax.py"])
        assert bool(notes) == (name in ("dara", "eve")), notes
    assert (tmp_path / "dara" / "taken" / "softmax.py").read_text() == CODE


def test_a_file_of_any_name_is_the_one_module_that_is_graded(tmp_path):
    group = make(tmp_path / "class", "ada.py", "bo.py", text="x = 1\n")
    attempt = read(group, modules=("layernorm",))["ada"].attempts[0]
    assert modules_of(attempt, tmp_path) == (["layernorm.py"], [])


def test_a_file_of_any_name_is_known_by_the_functions_in_it(tmp_path):
    group = make(tmp_path / "class", "ada.py")
    assert modules_of(read(group)["ada"].attempts[0], tmp_path) == (["softmax.py"], [])


def test_the_workspace_of_one_student_is_not_a_class(tmp_path):
    with pytest.raises(UsageError, match="headway check --dir"):
        read(make(tmp_path, "softmax.py", "attention.py"))


def test_folders_with_numbers_are_attempts(tmp_path):
    group = make(tmp_path, "ada/attempt 2/softmax.py", "ada/attempt 10/softmax.py", "ada/attempt 1/softmax.py")
    attempts = read(group)["ada"].attempts
    assert [attempt.parts[0].path.name for attempt in attempts] == ["attempt 1", "attempt 2", "attempt 10"]


def test_canvas(tmp_path):
    group = make(
        tmp_path / "class",
        "lovelaceada_4021_99870_softmax.py",
        "lovelaceada_4021_99880_softmax-1.py",
        "lovelaceada_4021_99881_attention.py",
        "vonneumannjohn_LATE_4022_99871_softmax-2.py",
        "anon_x7Qz2_99872_softmax.py",
        "LATE_anon_x7Qz3_99873_softmax.py",
        "noetheremmy_4023_99874_report.pdf",
    )
    found = read(group)
    assert list(found) == ["lovelaceada_4021", "vonneumannjohn_4022", "noetheremmy_4023", "anon_x7Qz2", "anon_x7Qz3"]
    ada = found["lovelaceada_4021"]
    assert (ada.id, ada.name, ada.attempts[0].late) == ("4021", "lovelaceada", False)
    chosen = {part.name: part.path.name for part in ada.attempts[0].parts}
    assert chosen["softmax.py"] == "lovelaceada_4021_99880_softmax-1.py"
    assert modules_of(ada.attempts[0], tmp_path) == (["attention.py", "softmax.py"], [])
    assert found["vonneumannjohn_4022"].attempts[0].late and found["anon_x7Qz3"].attempts[0].late
    assert found["noetheremmy_4023"].attempts[0].parts == ()


@pytest.mark.parametrize("end", ["", "_"])
def test_moodle_in_folders(tmp_path, end):
    group = make(
        tmp_path / "class",
        f"Ada Lovelace_1234_assignsubmission_file{end}/softmax.py",
        f"Bo Åkesson_77_assignsubmission_file{end}/work/softmax.py",
        f"Bo Åkesson_77_assignsubmission_onlinetext{end}/onlinetext.html",
        f"Chen_78_assignsubmission_onlinetext{end}/onlinetext.html",
    )
    found = read(group)
    assert list(found) == ["Ada Lovelace_1234", "Bo Åkesson_77", "Chen_78"]
    assert (found["Bo Åkesson_77"].name, found["Bo Åkesson_77"].id) == ("Bo Åkesson", "77")
    assert modules_of(found["Bo Åkesson_77"].attempts[0], tmp_path) == (["softmax.py"], [])
    assert found["Chen_78"].attempts[0].parts == ()


def test_moodle_without_folders(tmp_path):
    group = make(tmp_path / "class", "Ada Lovelace_1234_assignsubmission_file_softmax.py")
    assert modules_of(read(group)["Ada Lovelace_1234"].attempts[0], tmp_path) == (["softmax.py"], [])


METADATA = """submission_409194023:
  :submitters:
  - :name: Ada Lovelace
    :sid: '0042'
    :email: ada@example.edu
  - :name: Bo
    :sid: 43
    :email: bo@example.edu
  :created_at: 2026-04-26 17:34:00.861687000 Z
  :score: 2.0
  :results:
    output: |-
      ====
submission_409194099:
  :submitters:
  - :name: Ada Lovelace
    :sid: '0042'
    :email: ada@example.edu
  :created_at: 2026-04-27 09:00:00.000000000 Z
"""


def test_a_file_name_that_a_student_chose_is_not_another_students_number(tmp_path):
    group = make(
        tmp_path,
        "Ada_1234_assignsubmission_file_Bo_5678_assignsubmission_file_softmax.py",
        "Bo_5678_assignsubmission_file_softmax.py",
    )
    found = read(group)
    assert [(one.id, one.name) for one in found.values()] == [("1234", "Ada"), ("5678", "Bo")]
    assert len(found["Bo_5678"].attempts[0].parts) == 1


@pytest.mark.parametrize(
    "odd", ["a/softmax/softmax.py", "a_1_assignsubmission_file_/softmax.py", "a_1_assignsubmission_file.zip"]
)
def test_one_student_does_not_make_a_class_another_platforms(tmp_path, odd):
    found = read(make(tmp_path, odd, "bo/softmax.py", "chen/softmax.py"))
    assert len(found) == 3
    for name in ("bo", "chen"):
        (tmp_path / f"into {name}").mkdir()
        assert modules_of(found[name].attempts[0], tmp_path / f"into {name}") == (["softmax.py"], [])


@pytest.mark.parametrize("inner", ["", "assignment_8046601_export/"])
def test_gradescope(tmp_path, inner):
    group = make(tmp_path, f"{inner}submission_409194023/softmax.py", f"{inner}submission_409194099/softmax.py")
    make(tmp_path, f"{inner}submission_metadata.yml", text=METADATA)
    found = read(group)
    assert list(found) == ["0042", "43"]
    ada = found["0042"]
    assert (ada.name, ada.id, ada.email, len(ada.attempts)) == ("Ada Lovelace", "0042", "ada@example.edu", 2)
    assert ada.attempts[1].submitted_at() == datetime(2026, 4, 27, 9, tzinfo=UTC)
    assert ada.attempts[0].submitted_at("softmax") == datetime(2026, 4, 26, 17, 34, 0, 861687, tzinfo=UTC)


def test_results_that_lie_among_the_work_are_nobodys(tmp_path):
    group = make(tmp_path, "ada/softmax.py", "bo/softmax.py", "results/class.json")
    found = layouts.read_class_members(group, TRANSFORMER, out=group / "ada" / ".." / "results")
    assert [student.submission for student in found] == ["ada", "bo"]


def test_an_index_that_names_nobody_costs_no_submission(tmp_path):
    group = make(tmp_path, "submission_1/softmax.py", "submission_2/softmax.py")
    text = "submission_1:\n  :submitters: [ada, [x]]\nsubmission_2:\n  :submitters: ada\n"
    make(tmp_path, "submission_metadata.yml", text=text)
    assert list(read(group)) == ["submission_1", "submission_2"]


def test_a_broken_index_says_where(tmp_path):
    make(tmp_path, "submission_metadata.yml", text="a: [1\nb: }")
    with pytest.raises(UsageError, match=r"submission_metadata\.yml, line 2"):
        read(tmp_path)


@pytest.mark.parametrize("inside", ["", "submitted/"])
def test_nbgrader(tmp_path, inside):
    group = make(
        tmp_path / "class",
        f"{inside}ada/softmax/softmax.py",
        f"{inside}ada/attention/attention.py",
        f"{inside}ada/attention/softmax.py",
        f"{inside}bo/week1/softmax.py",
    )
    make(tmp_path / "class", f"{inside}ada/attention/softmax.py", text="another = 1\n")
    make(tmp_path / "class", f"{inside}ada/softmax/timestamp.txt", text="2026-02-02 15:58:23.948203 UTC")
    make(tmp_path / "class", f"{inside}bo/week1/timestamp.txt", text="2026-02-03 15:58:23 UTC")
    found = read(group)
    assert list(found) == ["ada", "bo"]
    ada = found["ada"].attempts[0]
    assert ada.submitted_at("softmax") == datetime(2026, 2, 2, 15, 58, 23, 948203, tzinfo=UTC)
    assert ada.submitted_at("attention") is None
    names, notes = modules_of(ada, tmp_path)
    assert names == ["attention.py", "softmax.py"]
    assert (tmp_path / "taken" / "softmax.py").read_text() == CODE
    assert notes == []
    assert found["bo"].attempts[0].submitted_at("softmax") == datetime(2026, 2, 3, 15, 58, 23, tzinfo=UTC)


def test_the_wrong_layout_is_said(tmp_path):
    make(tmp_path, "ada/softmax.py")
    with pytest.raises(UsageError, match="is not laid out as moodle has it"):
        read(tmp_path, "moodle")
    assert list(read(tmp_path, "plain")) == ["ada"]


MOODLE_WORKSHEET = """Identifier,Full name,Email address
Participant 77,Ada Lovelace,a@x
Participant 78,J,b@x
Participant 9,E,c@x
"""
CANVAS_GRADEBOOK = """Student,ID,SIS User ID,SIS Login ID,Section,Softmax (12)
    Points Possible,,,,,10
"Lovelace, Ada",4021,S1,ada@x.edu,A,
"von Neumann, John",4022,S2,john@x.edu,A,
"Noether, Emmy",4023,S3,emmy@x.edu,A,
"""


@pytest.mark.parametrize(
    ("names", "table"),
    [
        (("lovelaceada_4021_1_softmax.py", "vonneumannjohn_4022_2_softmax.py"), CANVAS_GRADEBOOK),
        (("ada/softmax.py", "john/softmax.py"), CANVAS_GRADEBOOK),
        (
            ("Ada Lovelace/softmax.py", "John von Neumann/softmax.py"),
            "\ufeffname;id\nAda Lovelace;1\nJohn von Neumann;2\nE;3\n",
        ),
        (
            (
                "Ada Lovelace_77_assignsubmission_file/softmax.py",
                "John von Neumann_78_assignsubmission_file/softmax.py",
            ),
            MOODLE_WORKSHEET,
        ),
        (
            ("alove/softmax.py", "jneu/softmax.py"),
            "id,first_name,last_name,email\nalove,Ada,Lovelace,\njneu,J,N,\nen,E,N,\n",
        ),
    ],
)
def test_a_roster_joins_names_and_people(tmp_path, names, table):
    group = make(tmp_path / "class", *names)
    (tmp_path / "roster.csv").write_text(table, "utf-8")
    found = roster.join(layouts.read_class_members(group, TRANSFORMER), roster.read(tmp_path / "roster.csv"))
    assert [bool(one.attempts) for one in found] == [True, True, False]
    assert found[0].name == "Ada Lovelace"
    assert all(not one.notes for one in found) and all(one.id for one in found)


def test_who_is_not_on_the_roster_is_graded_and_marked(tmp_path):
    group = make(tmp_path / "class", "ada/softmax.py", "eve/softmax.py")
    (tmp_path / "roster.csv").write_text("id,name\nada,Ada\n", "utf-8")
    found = roster.join(layouts.read_class_members(group, TRANSFORMER), roster.read(tmp_path / "roster.csv"))
    assert [(one.submission, one.notes) for one in found] == [("ada", ()), ("eve", ("not on the roster",))]


def test_a_name_that_two_people_have_joins_nobody(tmp_path):
    group = make(tmp_path / "class", "Ann Lee/softmax.py")
    (tmp_path / "roster.csv").write_text("id,name\n1,Ann Lee\n2,Ann Lee\n", "utf-8")
    found = roster.join(layouts.read_class_members(group, TRANSFORMER), roster.read(tmp_path / "roster.csv"))
    assert [len(one.attempts) for one in found] == [0, 0, 1]
    assert found[2].notes == ("2 people on the roster have this name: name the work by id or e-mail address",)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a,b\n1,2\n", "no column name, id or email"),
        ("id\n1\n1\n", "twice"),
        ("", "no column"),
        ('id,name\n1,"' + "a" * 200_000, "after line 1: this is not CSV"),
    ],
    ids=["no-column", "twice", "empty", "open-quote"],
)
def test_a_bad_roster_is_said(tmp_path, text, says):
    (tmp_path / "roster.csv").write_text(text, "utf-8")
    with pytest.raises(UsageError, match=says):
        roster.read(tmp_path / "roster.csv")


def test_a_folder_that_cannot_be_read_does_not_stop_the_class(tmp_path, monkeypatch):
    group = make(tmp_path / "class", "ada/softmax.py", "bo/softmax.py")
    scandir, listdir = os.scandir, os.listdir

    def refusing(function):
        def call(path):
            if str(path).endswith("bo"):
                raise PermissionError(13, "Permission denied", str(path))
            return function(path)

        return call

    monkeypatch.setattr(os, "scandir", refusing(scandir))
    monkeypatch.setattr(os, "listdir", refusing(listdir))
    found = read(group)
    assert list(found) == ["ada", "bo"]
    assert modules_of(found["bo"].attempts[0], tmp_path) == (
        [],
        ["the submission cannot be read (Permission denied)"],
    )


def test_a_pipe_in_place_of_a_time_stamp_is_no_trap(tmp_path):
    group = make(tmp_path / "class", "ada/softmax/softmax.py")
    os.mkfifo(group / "ada" / "softmax" / "timestamp.txt")
    assert read(group)["ada"].attempts[0].submitted_at("softmax") is None
