"""The guides "one week of a course": every command of Headway in them works, in this order, on such a download."""

import re
import shlex
import shutil

import pytest
from support.commands import succeed
from support.editing import write_files
from support.paths import ROOT
from support.reading import students_of

from autograder.course import stubs

pytestmark = pytest.mark.slow

NAMES = {"ada": "Ada Lovelace", "bo": "Bo Ek", "chen": "Chen Wu"}
CANVAS_ROSTER = """Student,ID,SIS User ID,SIS Login ID,Section,attention (881)
    Points Possible,,,,,35
"Lovelace, Ada",4021,s1,ada@example.edu,A,
"Ek, Bo",4022,s2,bo@example.edu,A,12
"Wu, Chen",4023,s3,chen@example.edu,B,
"""
WORKSHEET_TITLES = (
    "Identifier,Full name,Email address,Status,Grade,Maximum Grade,Grade can be changed,"
    "Last modified (submission),Last modified (grade),Feedback comments"
)


SUBMISSION = """submission_{0}:
  :submitters:
  - :name: {1}
    :sid: '{0}'
    :email: {2}
  :created_at: 2026-04-26 17:34:00.861687000 Z
"""


def work(folder, student, name="attention.py"):
    """Write a student's attention.py: right for Ada, a stub for the others."""
    kind = "solutions" if student == "ada" else "assignments"
    write_files(folder, {name: (stubs.bundled(kind) / "attention.py").read_bytes()})


def canvas(folder):
    write_files(folder, {"roster.csv": CANVAS_ROSTER, "gradebook.csv": CANVAS_ROSTER})
    for number, student in enumerate(NAMES, 4021):
        last, first = reversed(NAMES[student].lower().split())
        work(folder / "all", student, f"{last}{first}_{number}_{number}9_attention.py")
    shutil.make_archive(str(folder / "submissions"), "zip", folder / "all")


def moodle(folder):
    rows = [
        f"Participant {number},{NAMES[student]},{student}@example.edu,Submitted for grading,,35,Yes,-,-,"
        for number, student in enumerate(NAMES, 1001)
    ]
    (folder / "attention-worksheet.csv").write_text("\n".join([WORKSHEET_TITLES, *rows]) + "\n")
    people = [",".join((*NAMES[student].split(), f"{student}@example.edu")) for student in NAMES]
    (folder / "roster.csv").write_text("\n".join(["First name,Last name,Email address", *people]) + "\n")
    for number, student in enumerate(NAMES, 1001):
        work(folder / "attention" / f"{NAMES[student]}_{number}_assignsubmission_file", student)


def gradescope(folder):
    export = folder / "assignment_4711_export"
    entries = []
    for number, student in enumerate(NAMES, 1):
        work(export / f"submission_{number}", student)
        entries.append(SUBMISSION.format(number, NAMES[student], f"{student}@example.edu"))
    (export / "submission_metadata.yml").write_text("".join(entries))
    shutil.make_archive(str(export), "zip", folder, export.name)


def github_classroom(folder):
    for student in NAMES:
        work(folder / "attention-submissions" / f"attention-{student}-gh", student)
    rows = [f"{student}@example.edu,{student}-gh,1,{NAMES[student]}" for student in NAMES]
    (folder / "classroom_roster.csv").write_text("\n".join(["identifier,github_username,github_id,name", *rows]) + "\n")


def commands(page):
    """Return the lines with Headway's commands in the shell blocks of a page."""
    text = (ROOT / "docs" / f"week_{page}.md").read_text("utf-8")
    lines = "\n".join(re.findall(r"(?ms)^```sh\n(.*?)^```", text)).splitlines()
    return [line.partition("  #")[0].strip() for line in lines]


@pytest.mark.parametrize("prepare", [canvas, moodle, gradescope, github_classroom], ids=lambda each: each.__name__)
def test_week_commands_work_in_order(prepare, tmp_path):
    prepare(tmp_path)
    ran = 0
    for line in commands(prepare.__name__):
        if line.startswith("mkdir results && cp "):  # what the page tells the instructor to do by hand
            (tmp_path / "results").mkdir()
            for name in ("material/course.toml", "roster.csv"):
                shutil.copy(tmp_path / name, tmp_path / "results")
            policy = tmp_path / "results" / "course.toml"
            policy.write_text(policy.read_text("utf-8").replace('# roster = "class.csv"', 'roster = "roster.csv"'))
        elif line.startswith("headway "):
            arguments = shlex.split(line)[1:]
            if arguments[0] == "grade":
                arguments += ["--unsafe-no-sandbox", "--seed", "0"]
            said = succeed(*arguments, cwd=tmp_path).stdout
            if arguments[0] == "choose":
                for decision in re.findall(r"headway (choose results .* --keep)", said):
                    succeed(*shlex.split(decision), cwd=tmp_path)
            ran += 1
        else:
            assert line.startswith(("gh classroom clone", "#")) or not line, line
    assert ran >= 6
    students = students_of(tmp_path / "results")
    assert {student["name"] for student in students} == set(NAMES.values())
    assert sum(student["assignments"]["attention"]["score"] > 30 for student in students) == 1
