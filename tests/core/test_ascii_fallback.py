"""Characters that an encoding does not have are replaced, and text is cleaned before it is shown."""

import subprocess
import sys

import pytest

from autograder.core.ascii_fallback import ERRORS
from autograder.core.text import clean
from autograder.report.value_words import MAP_GLYPHS
from autograder.report.wording import STATUS_MARKS


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "latin-1"])
@pytest.mark.parametrize("marks", [STATUS_MARKS, MAP_GLYPHS])
def test_marks_stay_apart_in_every_encoding(encoding, marks):
    written = [mark.encode(encoding, ERRORS) for mark in marks.values()]
    assert len(set(written)) == len(marks) and b"?" not in written
    assert {len(mark) for mark in written} == {1}


@pytest.mark.parametrize(("text", "expected"), [
    ("scores of ±1000", "scores of +-1000"), ("Σ σ² / √v̂", "Sigma sigma^2 / Vv_hat"),
    ("10⁻⁴ x₁₂ aᵀ kᵥ", "10^-4 x_12 a^T k_v"), ("2½ (∂L / ∂θ)", "2(1/2) (dL / dtheta)"),
    ("é Ġ 中 ٣ \x1b 🙂", "? ? ? ? \x1b ?"),
])  # fmt: skip
def test_formulas_stay_readable_in_ascii(text, expected):
    assert text.encode("ascii", ERRORS).decode("ascii") == expected


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_no_character_is_an_error(encoding):
    everything = "".join(chr(number) for number in range(0x110000) if not 0xD800 <= number < 0xE000)
    assert everything.encode(encoding, ERRORS)


@pytest.mark.slow
def test_command_prints_ascii_marks_where_utf_8_is_missing(tmp_path):
    command = [sys.executable, "-m", "autograder.cli", "list", "--all"]
    environment = {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "COLUMNS": "80"}
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=True, env=environment)
    assert b"**o" in done.stdout  # the effort, in place of two full circles and an empty one
    done.stdout.decode("ascii")


@pytest.mark.parametrize(("text", "shown"), [
    ("a\u2028\ufeff\u200b\ufff9\ud800", "a?"), ("x" * 9, "x" * 9), ("x" * 10, 8 * "x" + "…"), ("\x1b[m" * 9 + "x", "x"),
])  # fmt: skip
def test_clean_leaves_out_what_is_not_seen_and_cuts_what_is_too_long(text, shown):
    assert clean(text, 9) == shown
