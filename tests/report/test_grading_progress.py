"""Grading a class in the terminal: estimates that can be trusted, and rows that are broken where a person would."""

import io
import shlex
from types import SimpleNamespace

import pytest
from rich.console import Console

from autograder.report import grading_progress
from autograder.report.grading_progress import GradingProgress


@pytest.mark.parametrize(("done", "todo", "seconds", "shown"), [
    (1, 12, 70, "1 of 12 graded"),
    (9, 150, 70, "9 of 150 graded"),
    (10, 150, 60, "10 of 150 graded, 0.2/s, about 14 min left"),
    (140, 150, 70, "140 of 150 graded, 2.0/s, under 1 min left"),
])  # fmt: skip
def test_progress_estimates_only_after_ten_results(monkeypatch, done, todo, seconds, shown):
    now = [0.0]
    monkeypatch.setattr(grading_progress, "time", SimpleNamespace(monotonic=lambda: now[0]))
    text = io.StringIO()
    with grading_progress.show_progress(Console(file=text, width=80)) as update:
        update(GradingProgress(todo, 0))
        now[0] = seconds
        update(GradingProgress(todo, 0, done, "ada"))
    assert text.getvalue() == f"{shown}\n"


def test_table_in_a_narrow_terminal_breaks_between_counts(tmp_path):
    student = {
        "name": "Ada Lovelace", "submission": "ada", "status": "graded", "reason": "", "notes": [],
        "statuses": {"failed": 12, "blocked": 3, "not_started": 10}, "score": 70.0, "out_of": 97.5, "late_days": 0,
        "assignments": {},
    }  # fmt: skip
    text = io.StringIO()
    document = {"students": [student], "seed": 0, "seconds": 1.0}
    grading_progress.render(document, tmp_path, Console(file=text, width=66))
    rows = [line.rstrip() for line in text.getvalue().splitlines()]
    assert any(row.endswith("✗ 12 failed, ◌ 3 blocked,") for row in rows)
    assert any(row.endswith("  · 10 not started") for row in rows)
    assert any(row.startswith(f"  headway show {tmp_path} ada") for row in rows)


def test_next_commands_can_be_copied_and_name_a_student_with_a_result(tmp_path):
    about = {
        "reason": "", "notes": [], "statuses": {}, "score": 1.0, "out_of": 1.0, "late_days": 0, "assignments": {}
    }  # fmt: skip
    entries = [("ada", "missing"), ("-x", "graded"), ("Åsa O'Brien", "graded")]
    students = [{**about, "name": name, "submission": name, "status": status} for name, status in entries]
    text = io.StringIO()
    out = tmp_path / "autumn term"
    grading_progress.render({"students": students, "seed": 0, "seconds": 1.0}, out, Console(file=text, width=60))
    commands = [
        shlex.split(line, comments=True) for line in text.getvalue().splitlines() if line.startswith("  headway")
    ]
    assert commands == [
        ["headway", "report", str(out)],
        ["headway", "show", str(out), "Åsa O'Brien"],
        ["headway", "export", "csv", str(out)],
    ]
