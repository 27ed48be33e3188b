"""Marks in an encoding that lacks them."""

import subprocess
import sys

import pytest

from autograder.core.ascii_fallback import ERRORS
from autograder.report.value_words import MAP_GLYPHS
from autograder.report.wording import STATUS_MARKS


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "latin-1"])
@pytest.mark.parametrize("marks", [STATUS_MARKS, MAP_GLYPHS])
def test_marks_stay_apart_in_every_encoding(encoding, marks):
    written = [mark.encode(encoding, ERRORS) for mark in marks.values()]
    assert len(set(written)) == len(marks)
    assert b"?" not in written
    assert {len(mark) for mark in written} == {1}


def test_command_prints_ascii_marks_where_utf_8_is_missing(tmp_path):
    command = [sys.executable, "-m", "autograder.cli", "list", "--all"]
    environment = {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "COLUMNS": "80"}
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=True, env=environment)
    assert b"**o" in done.stdout  # the effort, in place of two full circles and an empty one
    done.stdout.decode("ascii")
