"""Lateness in a grading worksheet of Moodle."""

from datetime import timedelta

import pytest

from autograder.classroom.submissions.roster import late_by
from autograder.classroom.submissions.sources import read_class_members
from autograder.courses.transformer import TRANSFORMER
from autograder.errors import UsageError


@pytest.mark.parametrize(("status", "late"), [
    ("Submitted for grading", timedelta(0)),
    ("Submitted for grading - 1 day 2 hours late", timedelta(days=1, hours=2)),
    ("Submitted for grading - 55 mins 10 secs late - Graded", timedelta(minutes=55, seconds=10)),
    ("Zur Bewertung abgegeben - 3 Tage 1 Stunde verspätet", timedelta(days=3, hours=1)),
    ("Remis pour évaluation - 2 jours en retard", timedelta(days=2)),
    ("Enviado para calificar - 1 año 4 días tarde", timedelta(days=369)),
    ("Submitted for grading - Extension granted until: Sunday, 1 March 2026, 12:00 PM", timedelta(0)),
])  # fmt: skip
def test_late_by_reads_durations_in_several_languages(status, late):
    assert late_by(status) == late


def test_read_moodle_takes_lateness_from_the_worksheet_of_the_folder(tmp_path):
    for name in ("Ada L_7", "Bo B_8", "Chen C_9"):
        (tmp_path / f"{name}_assignsubmission_file").mkdir()
        (tmp_path / f"{name}_assignsubmission_file" / "softmax.py").write_text("")
    rows = ["ID,Vollständiger Name,Status", "Teilnehmer/in 7,Ada L,Abgegeben - 2 Tage 1 Stunde verspätet"]
    (tmp_path / "Bewertungen.csv").write_text("\n".join([*rows, "Teilnehmer/in 8,Bo B,Abgegeben"]), "utf-8")
    ada, bo, chen = (member.attempts[0] for member in read_class_members(tmp_path, TRANSFORMER))
    assert (ada.late, ada.late_by) == (True, timedelta(days=2, hours=1))
    assert (bo.late, bo.late_by) == (False, timedelta(0))
    assert (chen.late, chen.late_by) == (None, None)


def test_read_moodle_refuses_two_worksheets_that_differ(tmp_path):
    (tmp_path / "Ada L_7_assignsubmission_file").mkdir()
    (tmp_path / "Ada L_7_assignsubmission_file" / "softmax.py").write_text("")
    for status in ("Abgegeben", "Abgegeben - 1 Tag zu spät"):
        read_class_members(tmp_path, TRANSFORMER)
        rows = f"ID,Vollständiger Name,Status\nTeilnehmer/in 7,Ada L,{status}\n"
        (tmp_path / f"Bewertungen-{len(status)}.csv").write_text(rows, "utf-8")
    with pytest.raises(UsageError, match=r"Bewertungen-25\.csv and Bewertungen-9\.csv"):
        read_class_members(tmp_path, TRANSFORMER)
