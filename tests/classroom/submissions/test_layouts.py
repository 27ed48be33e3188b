"""Layouts of classes: plain folders, and the downloads of each platform, with the lateness in Moodle's worksheets."""

import os
import time
from contextlib import closing
from datetime import UTC, datetime, timedelta

import pytest
from support.editing import write_files, zip_bytes
from support.student_notebook import notebook

from autograder.classroom.submissions import intake
from autograder.classroom.submissions.account import account_for
from autograder.classroom.submissions.lms_downloads import parse_time
from autograder.classroom.submissions.roster import late_by
from autograder.classroom.submissions.sources import read_class_members
from autograder.courses.transformer import TRANSFORMER
from autograder.errors import UsageError
from autograder.sandbox.process import SpawnedWorkers
from autograder.sandbox.source_reader import SourceReader

CODE = "def softmax(x): return x\n"


def make(root, *paths, text=CODE):
    return write_files(root, dict.fromkeys(paths, text))


def read(folder, layout="auto", modules=()):
    return {member.submission: member for member in read_class_members(folder, TRANSFORMER, layout, modules)}


def modules_of(attempt, folder):
    """Return the names of the modules that are graded, and the notes; the modules are copied to the folder."""
    into = folder / "copied"
    into.mkdir(parents=True)
    with closing(SourceReader(SpawnedWorkers())) as reader:
        result = account_for(intake.read_files(attempt), TRANSFORMER, reader)
        result.write(into, TRANSFORMER)
    return sorted(path.name for path in into.iterdir()), result.notes


def test_plain_reads_folders_archives_and_files(tmp_path):
    group = make(tmp_path / "class", "ada/softmax.py", "bo/work/softmax.py", "chen_softmax.py", "attention-dara.py")
    write_files(group, {"emil.zip": zip_bytes({"work/softmax.py": CODE, "__MACOSX/softmax.py": "rubbish"})})
    found = read(group)
    assert list(found) == ["ada", "bo", "chen", "dara", "emil"]
    for name in ("ada", "bo", "chen", "emil"):
        assert modules_of(found[name].attempts[-1], tmp_path / name) == (["softmax.py"], [])


def test_suffix_in_capitals_loses_no_submission(tmp_path):
    plain = make(tmp_path / "plain", "ada/SOFTMAX.PY", "SOFTMAX_bo.PY", "chen/softmax.py")
    write_files(plain, {"DARA.ZIP": zip_bytes({"SOFTMAX.PY": CODE})})
    canvas = make(tmp_path / "canvas", "ada_1_2_SOFTMAX.PY", "bo_2_3_softmax.py")
    moodle = make(tmp_path / "moodle", *(f"{name}_assignsubmission_file_SOFTMAX.PY" for name in ("Ada_1", "Bo_2")))
    names = {"plain": ["DARA", "ada", "bo", "chen"], "canvas": ["ada_1", "bo_2"], "moodle": ["Ada_1", "Bo_2"]}
    for group in (plain, canvas, moodle):
        found = read(group, group.name)
        assert list(found) == names[group.name]
        for name, member in found.items():
            assert modules_of(member.attempts[0], tmp_path / "copies" / name) == (["softmax.py"], [])


@pytest.mark.parametrize("inside", ["", "submitted/"])
@pytest.mark.parametrize("name", ["__ada", ".ada", "._ada", ".#ada"])
def test_student_name_may_begin_with_dot_or_underscores(tmp_path, inside, name):
    path = f"{inside}{name}/softmax/softmax.py" if inside else f"{name}/softmax.py"
    group = make(tmp_path / "class", path, f"{inside}bo/softmax/softmax.py")
    tools = ("__MACOSX", "__pycache__", ".git", ".ipynb_checkpoints")
    make(group, *(f"{inside}{tool}/softmax.py" for tool in tools), f"{inside}._bo.py", f"{inside}.DS_Store")
    found = read(group)
    assert list(found) == [name, "bo"]
    assert modules_of(found[name].attempts[0], tmp_path) == (["softmax.py"], [])


def test_plain_folder_in_submission_may_begin_with_underscores(tmp_path):
    group = make(tmp_path / "class", "ada/__final/softmax.py", "bo/.old/softmax.py", "bo/work/softmax.py", "cy/a.txt")
    parts = {name: member.attempts[0].parts[0].path.name for name, member in read(group).items()}
    assert parts == {"ada": "__final", "bo": "work", "cy": "cy"}


@pytest.mark.slow
def test_plain_reads_notebooks(tmp_path):
    work = notebook(CODE)
    group = make(tmp_path / "class", "ada/softmax.ipynb", "bo_softmax.ipynb", "dara/softmax.ipynb", text=work)
    archive = zip_bytes({"week 1/softmax.ipynb": work})
    found = read(write_files(group, {"dara/softmax.py": CODE, "eve/softmax.ipynb": "{", "chen.zip": archive}))
    assert list(found) == ["ada", "bo", "chen", "dara", "eve"]
    for name, member in found.items():
        names, notes = modules_of(member.attempts[0], tmp_path / name)
        assert names == ([] if name == "eve" else ["softmax.py"])
        assert bool(notes) == (name in ("dara", "eve")), notes
    assert (tmp_path / "dara" / "copied" / "softmax.py").read_text() == CODE


def test_plain_file_of_any_name_counts_as_only_module(tmp_path):
    group = make(tmp_path / "class", "ada.py", "bo.py", text="x = 1\n")
    assert modules_of(read(group, modules=("layernorm",))["ada"].attempts[0], tmp_path) == (["layernorm.py"], [])


def test_plain_file_of_any_name_is_known_by_its_functions(tmp_path):
    names, (note,) = modules_of(read(make(tmp_path / "class", "ada.py"))["ada"].attempts[0], tmp_path)
    assert names == ["ada.py", "softmax.py"]
    assert "used as softmax.py" in note


def test_plain_numbered_folders_are_attempts(tmp_path):
    group = make(tmp_path, "ada/attempt 2/softmax.py", "ada/attempt 10/softmax.py", "ada/attempt 1/softmax.py")
    attempts = read(group)["ada"].attempts
    assert [attempt.parts[0].path.name for attempt in attempts] == ["attempt 1", "attempt 2", "attempt 10"]


def test_canvas_download_is_read(tmp_path):
    group = make(
        tmp_path / "class", "lovelaceada_4021_9990_softmax.py", "lovelaceada_4021_99880_softmax-1.py",
        "lovelaceada_4021_99881_attention.py", "vonneumannjohn_LATE_4022_99871_softmax-2.py",
        "anon_x7Qz2_99872_softmax.py", "LATE_anon_x7Qz3_99873_softmax.py", "noetheremmy_4023_99874_report.pdf",
        "noetheremmy_4023_99875_a.py", "noetheremmy_4023_99876_work.tar.gz", "studenttest_4024_99877_softmax.py",
    )  # fmt: skip
    found = read(group)
    assert list(found) == ["lovelaceada_4021", "vonneumannjohn_4022", "noetheremmy_4023", "anon_x7Qz2", "anon_x7Qz3"]
    ada = found["lovelaceada_4021"]
    assert (ada.id, ada.name, ada.attempts[0].late) == ("4021", "lovelaceada", False)
    chosen = {part.name: part.path.name for part in ada.attempts[0].parts}
    assert chosen["softmax.py"] == ada.attempts[0].upload_name("softmax.py") == "lovelaceada_4021_99880_softmax-1.py"
    assert ada.attempts[0].upload_name("attention.py") == "lovelaceada_4021_99881_attention.py"
    assert modules_of(ada.attempts[0], tmp_path) == (["attention.py", "softmax.py"], [])
    assert found["vonneumannjohn_4022"].attempts[0].late and found["anon_x7Qz3"].attempts[0].late
    emmy = found["noetheremmy_4023"].attempts[0]
    assert [part.name for part in emmy.parts] == ["report.pdf", "a.py", "work.tar.gz"]
    assert emmy.upload_name("work.tar.gz/src/softmax.py") == "noetheremmy_4023_99876_work.tar.gz"


@pytest.mark.parametrize("end", ["", "_"])
def test_moodle_download_in_folders_is_read(tmp_path, end):
    file, text = f"_assignsubmission_file{end}", f"_assignsubmission_onlinetext{end}/onlinetext.html"
    names = (f"Ada Lovelace_1234{file}/softmax.py", f"Bo Åkesson_77{file}/work/softmax.py")
    found = read(make(tmp_path / "class", *names, f"Bo Åkesson_77{text}", f"Chen_78{text}"))
    assert list(found) == ["Ada Lovelace_1234", "Bo Åkesson_77", "Chen_78"]
    assert (found["Bo Åkesson_77"].name, found["Bo Åkesson_77"].id) == ("Bo Åkesson", "77")
    assert modules_of(found["Bo Åkesson_77"].attempts[0], tmp_path) == (["softmax.py"], [])
    assert found["Chen_78"].attempts[0].parts == ()


@pytest.mark.parametrize("odd", [
    "x_4022_4021_99_softmax.zip", "lovelaceada_4022_1_x_4021_99_softmax.zip", "lovelaceada_4022_4021_99_softmax.zip",
    "studenttest_4022_4021_99_softmax.py",
])  # fmt: skip
def test_canvas_name_with_number_of_another_replaces_nothing(tmp_path, odd):
    group = make(tmp_path, odd, "lovelaceada_4022_99871_softmax.py", "lovelaceada_4022_99880_2024_1_notes.py")
    ada = read(group)["lovelaceada_4022"]
    assert ada.attempts[0].parts[0].path.name == "lovelaceada_4022_99871_softmax.py"
    assert "lovelaceada_4022_99880_2024_1_notes.py" in {part.path.name for part in ada.attempts[0].parts}
    assert ("of another student" in str(ada.notes)) == (not odd.startswith("lovelace"))


FILE = "assignsubmission_file"


@pytest.mark.parametrize(("odd", "other", "known"), [
    ("lovelaceada_anon_x_4021_99_softmax.py", "lovelaceada_4022_98_softmax.py",
     ["4021 lovelaceada_anon_x: softmax.py", "4022 lovelaceada: softmax.py"]),
    (f"Bo_5678_{FILE}_x_1234_{FILE}/softmax.py", f"Bo_5678_{FILE}/softmax.py",
     ["5678 Bo: ", f"1234 Bo_5678_{FILE}_x: "]),
    (f"Bo_5678_{FILE}_a_1234_{FILE}_softmax.zip", f"Bo_5678_{FILE}_softmax.py",
     [f"5678 Bo: softmax.py a_1234_{FILE}_softmax.zip"]),
    (f"Ada_1234_{FILE}_Bo_5678_{FILE}_softmax.py", f"Bo_5678_{FILE}_softmax.py",
     [f"1234 Ada: Bo_5678_{FILE}_softmax.py", "5678 Bo: softmax.py"]),
])  # fmt: skip
def test_number_in_the_name_of_a_students_file_is_not_taken(tmp_path, odd, other, known):
    found = read(make(tmp_path, odd, other)).values()
    parts = {one.id: " ".join(part.name or "" for part in one.attempts[0].parts) for one in found}
    assert [f"{one.id} {one.name}: {parts[one.id]}" for one in found] == known


METADATA = """submission_409194023:
  :submitters:
  - :name: Ada Lovelace
    :sid: '0042'
    :email: Ada@Example.edu
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


@pytest.mark.parametrize(
    "odd", ["a/softmax/softmax.py", "a_1_assignsubmission_file_/softmax.py", "a_1_assignsubmission_file.zip"]
)
def test_auto_layout_ignores_one_odd_name(tmp_path, odd):
    found = read(make(tmp_path, odd, "bo/softmax.py", "chen/softmax.py"))
    assert len(found) == 3
    for name in ("bo", "chen"):
        assert modules_of(found[name].attempts[0], tmp_path / f"into {name}") == (["softmax.py"], [])


@pytest.mark.parametrize("inner", ["", "assignment_8046601_export/"])
def test_gradescope_export_is_read(tmp_path, inner):
    group = make(tmp_path, f"{inner}submission_409194023/softmax.py", f"{inner}submission_409194099/softmax.py")
    make(tmp_path, f"{inner}submission_metadata.yml", text=METADATA)
    found = read(group)
    assert list(found) == ["0042", "43"]
    ada = found["0042"]
    assert (ada.name, ada.id, ada.email, len(ada.attempts)) == ("Ada Lovelace", "0042", "ada@example.edu", 2)
    assert ada.attempts[1].submitted_at("softmax") == datetime(2026, 4, 27, 9, tzinfo=UTC)
    assert ada.attempts[0].submitted_at("softmax") == datetime(2026, 4, 26, 17, 34, 0, 861687, tzinfo=UTC)


def test_gradescope_number_of_another_student_takes_no_attempt(tmp_path):
    group = make(tmp_path, "submission_1/softmax.py", "submission_2/softmax.py")
    text = "submission_{0}:\n  :submitters:\n  - :name: {1}\n    :sid: '{2}'\n    :email: {1}@x.edu\n"
    make(tmp_path, "submission_metadata.yml", text=text.format(1, "ada", "42") + text.format(2, "eve", " 42"))
    found = read(group)
    assert [(one.name, one.id, len(one.attempts)) for one in found.values()] == [("eve", "", 1), ("ada", "", 1)]
    assert all("2 students have" in member.notes[0] for member in found.values())


@pytest.mark.parametrize(("text", "expected"), [
    ("2026-02-02T15:00:30+00:00:30", datetime(2026, 2, 2, 15, tzinfo=UTC)), ("0001-01-01T00:00:00+14:00", None),
    ("9999-12-31T23:59:59-14:00", None), ("2026-02-02 15:00", datetime(2026, 2, 2, 15, tzinfo=UTC)),
])  # fmt: skip
def test_parse_time_returns_a_time_that_can_be_stored(monkeypatch, text, expected):
    monkeypatch.setenv("TZ", "UTC-9")  # It means nothing for a time without a zone.
    time.tzset()
    found = parse_time(text)
    monkeypatch.undo()
    time.tzset()
    assert str(found) == str(expected)  # equal times may have different zones


def test_results_folder_is_no_submission(tmp_path):
    group = make(tmp_path, "ada/softmax.py", "bo/softmax.py", "results/class.json")
    found = read_class_members(group, TRANSFORMER, out=group / "ada" / ".." / "results")
    assert [member.submission for member in found] == ["ada", "bo"]


def test_gradescope_index_without_names_keeps_submissions(tmp_path):
    group = make(tmp_path, "submission_1/softmax.py", "submission_2/softmax.py")
    text = "submission_1:\n  :submitters: [ada, [x]]\nsubmission_2:\n  :submitters: ada\n"
    make(tmp_path, "submission_metadata.yml", text=text)
    assert list(read(group)) == ["submission_1", "submission_2"]


@pytest.mark.parametrize("inside", ["", "submitted/"])
def test_nbgrader_course_is_read(tmp_path, inside):
    files = {
        "ada/softmax/softmax.py": CODE, "ada/softmax/timestamp.txt": "2026-02-02 15:58:23.948203 UTC",
        "ada/attention/attention.py": "def attention(q, k, v): ...\n", "ada/attention/softmax.py": "another = 1\n",
        "bo/week1/softmax.py": CODE, "bo/week1/timestamp.txt": "2026-02-03 15:58:23 UTC",
    }  # fmt: skip
    write_files(tmp_path / "class" / inside, files)
    found = read(tmp_path / "class")
    assert list(found) == ["ada", "bo"]
    ada = found["ada"].attempts[0]
    assert ada.submitted_at("softmax") == datetime(2026, 2, 2, 15, 58, 23, 948203, tzinfo=UTC)
    assert ada.submitted_at("attention") is None
    names, notes = modules_of(ada, tmp_path)
    assert names == ["attention.py", "softmax.py"]
    assert (tmp_path / "copied" / "softmax.py").read_text() == CODE
    assert notes == []
    assert found["bo"].attempts[0].submitted_at("softmax") == datetime(2026, 2, 3, 15, 58, 23, tzinfo=UTC)


def test_folder_that_is_no_class_or_wrong_layout_is_an_error(tmp_path):
    with pytest.raises(UsageError, match=r"no such folder: .*cls"):
        read(tmp_path / "cls")
    with pytest.raises(UsageError, match="no submissions"):
        read(tmp_path)
    with pytest.raises(UsageError, match=r"headway check --dir .* --sandbox"):
        read(make(tmp_path / "work of one student", "softmax.py", "attention.py"))
    with pytest.raises(UsageError, match=r"submission_metadata\.yml, line 2"):
        read(make(tmp_path / "broken", "submission_metadata.yml", text="a: [1\nb: }"))
    make(tmp_path, "ada/softmax.py")
    with pytest.raises(UsageError, match=r"moodle.*--layout auto"):
        read(tmp_path, "moodle")
    assert "ada" in read(tmp_path, "plain")


def test_unreadable_folder_does_not_stop_the_class(tmp_path, monkeypatch):
    group = make(tmp_path / "class", "ada/softmax.py", "bo/softmax.py")

    def refusing(function):
        def call(path, *arguments, **options):
            if str(path).endswith("bo"):
                raise PermissionError(13, "Permission denied", str(path))
            return function(path, *arguments, **options)

        return call

    for function in (os.scandir, os.listdir, os.open):
        monkeypatch.setattr(os, function.__name__, refusing(function))
    found = read(group)
    assert list(found) == ["ada", "bo"]
    assert modules_of(found["bo"].attempts[0], tmp_path) == ([], ["the submission cannot be read (Permission denied)"])


def test_nbgrader_timestamp_pipe_is_ignored(tmp_path):
    group = make(tmp_path / "class", "ada/softmax/softmax.py")
    os.mkfifo(group / "ada" / "softmax" / "timestamp.txt")
    assert read(group)["ada"].attempts[0].submitted_at("softmax") is None


@pytest.mark.parametrize("name", ["ad\na_7_9_softmax.py", "Ad\na_7_assignsubmission_file_softmax.py"])
def test_line_break_in_name_loses_no_submission(tmp_path, name):
    others = [name.lower().replace("ad\na_7", f"bo_{number}") for number in range(2)]
    assert {member.id for member in read(make(tmp_path / "class", name, *others)).values()} == {"0", "1", "7"}


def test_name_on_a_platform_has_no_commands_to_the_terminal(tmp_path):
    names = ("\x1b[31mAda\u202e Smith_7_assignsubmission_file/softmax.py", "Bo_8_assignsubmission_file/softmax.py")
    members = {member.id: member for member in read(make(tmp_path / "class", *names)).values()}
    assert not set(members["7"].name) & set("\x1b\u202e")
    assert "Smith" in members["7"].name


def test_nbgrader_ids_that_differ_in_blanks_stay_apart(tmp_path):
    names = ["ada b", "ada  b", "ada b ", "ada\tb"]
    members = read(make(tmp_path / "class", *(f"{name}/softmax/softmax.py" for name in names)), "nbgrader").values()
    ids = {member.id for member in members}
    assert ids > set(names[:3]) and len(ids) == 4
    assert not any("\t" in text for text in ids)


def test_clones_of_github_classroom_are_read(tmp_path):
    names = ("softmax-ada-l/softmax.py", "softmax-ada-l/.git/HEAD", "softmax-Bo99/softmax.py", "softmax-chen/README.md")
    found = read(make(tmp_path / "softmax-submissions", *names))
    ids = {name: {"github": name} for name in ("Bo99", "ada-l", "chen")}
    assert {name: member.ids for name, member in found.items()} == ids
    assert modules_of(found["ada-l"].attempts[0], tmp_path) == (["softmax.py"], [])


@pytest.mark.parametrize("other", ["ada/softmax.py", "notes.txt"])
def test_folder_with_other_entries_is_not_of_github_classroom(tmp_path, other):
    assert "softmax-ada" in read(make(tmp_path / "softmax-submissions", "softmax-ada/softmax.py", other))


@pytest.mark.parametrize(("status", "late"), [
    ("Submitted for grading", timedelta(0)), ("Submitted for grading - 1 day 2 hours late", timedelta(days=1, hours=2)),
    ("Submitted for grading - 55 mins 10 secs late - Graded", timedelta(minutes=55, seconds=10)),
    ("Zur Bewertung abgegeben - 3 Tage 1 Stunde verspätet", timedelta(days=3, hours=1)),
    ("Remis pour évaluation - 2 jours en retard", timedelta(days=2)),
    ("Enviado para calificar - 1 año 4 días tarde", timedelta(days=369)),
    ("Submitted for grading - Extension granted until: Sunday, 1 March 2026, 12:00 PM", timedelta(0)),
])  # fmt: skip
def test_late_by_reads_durations_in_several_languages(status, late):
    assert late_by(status) == late


def test_read_moodle_takes_lateness_from_the_worksheet_of_the_folder(tmp_path):
    files = {f"{name}_assignsubmission_file/softmax.py": "" for name in ("Ada L_7", "Bo B_8", "Chen C_9")}
    rows = ["ID,Vollständiger Name,Status", "Teilnehmer/in 7,Ada L,Abgegeben - 2 Tage 1 Stunde verspätet"]
    write_files(tmp_path, {**files, "Bewertungen.csv": "\n".join([*rows, "Teilnehmer/in 8,Bo B,Abgegeben"])})
    ada, bo, chen = (member.attempts[0] for member in read_class_members(tmp_path, TRANSFORMER))
    assert (ada.late, ada.late_by) == (True, timedelta(days=2, hours=1))
    assert (bo.late, bo.late_by) == (False, timedelta(0))
    assert (chen.late, chen.late_by) == (None, None)


def test_read_moodle_refuses_two_worksheets_that_differ(tmp_path):
    write_files(tmp_path, {"Ada L_7_assignsubmission_file/softmax.py": ""})
    for status in ("Abgegeben", "Abgegeben - 1 Tag zu spät"):
        read_class_members(tmp_path, TRANSFORMER)
        rows = f"ID,Vollständiger Name,Status\nTeilnehmer/in 7,Ada L,{status}\n"
        (tmp_path / f"Bewertungen-{len(status)}.csv").write_text(rows, "utf-8")
    with pytest.raises(UsageError, match=r"Bewertungen-25\.csv and Bewertungen-9\.csv"):
        read_class_members(tmp_path, TRANSFORMER)
