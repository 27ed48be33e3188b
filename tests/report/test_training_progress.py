"""A training run in the terminal: the loss curve, the plain lines, the sample."""

import io

import pytest
from rich.console import Console

from autograder.documents.records import MOST_POINTS, LossPoint, TrainingStart, TrainingUpdate, thinned
from autograder.models.page.runs import MAX_POINTS
from autograder.report.loss_curve import curve_lines
from autograder.report.training_progress import sample_text, show_training

POINTS = [LossPoint(10 * i, 3.0 - 0.01 * i, 3.5 - 0.01 * i if i % 25 == 0 else None) for i in range(1, 101)]
START = TrainingStart("names", "names", 0, 1000, 13_712, 27, 900, 100, 2.0, ("d_model=32",))


@pytest.mark.parametrize(("columns", "ascii_only"), [(139, False), (79, False), (79, True), (59, True), (24, False)])
def test_curve_fits_and_shows_both_losses(columns, ascii_only):
    lines = [line.plain for line in curve_lines(POINTS, 1000, columns, 8, ascii_only=ascii_only)]
    assert len(lines) == 10 and max(map(len, lines)) <= columns
    assert lines[0].startswith("   3.25") and "2.00" in lines[7]
    assert sum(line.count("o" if ascii_only else "●") for line in lines[:8]) == 4
    assert ("".join(lines).isascii()) == ascii_only


def test_curve_falls_from_left_to_right():
    rows = [line.plain for line in curve_lines(POINTS, 1000, 60, 6, ascii_only=True)][:6]
    first = [row.find("*") for row in rows]
    assert first == sorted(first) and first[0] <= 9
    assert rows[-1].rstrip()[-1] in "*o"
    rows = [line.plain for line in curve_lines(POINTS[:50], 1000, 60, 6, ascii_only=True)][:6]
    assert max(len(row.rstrip()) for row in rows) < 40, "of a part of the run"


@pytest.mark.parametrize(("points", "columns", "rows"), [(POINTS[:1], 80, 8), (POINTS, 12, 8), (POINTS, 80, 1)])
def test_curve_without_room_or_points_is_left_out(points, columns, rows):
    assert curve_lines(points, 1000, columns, rows, ascii_only=False) == []


@pytest.mark.parametrize("most", [MOST_POINTS, MAX_POINTS])
def test_history_of_a_long_run_is_thinned_and_keeps_its_ends_and_measurements(most):
    points = []
    for step in range(1, 3 * MOST_POINTS):
        points = thinned([*points, LossPoint(step, 1.0, 1.0 if step % 1000 == 0 else None)], most)
    steps = [point.step for point in points]
    assert len(steps) <= most and steps == sorted(set(steps))
    assert steps[0] == 1 and steps[-1] == 3 * MOST_POINTS - 1
    assert {step for step in steps if step % 1000 == 0} == set(range(1000, 3 * MOST_POINTS, 1000))


def test_sample_of_names_stands_in_a_row():
    assert sample_text("\nada\neve\n\nmia\nnoa\nlea\nt") == "ada, eve, mia, noa, lea, t"
    assert sample_text("a long line of 25 letters\n" * 9).count("\n") == 3
    assert sample_text("a\nb\nc\nd") == "a\nb\nc\nd"


def shown(*, plain, terminal, **console):
    file = io.StringIO()
    console = Console(file=file, force_terminal=terminal, width=80, height=30, legacy_windows=False, **console)
    with show_training(console, START, plain=plain) as show:
        for step in range(100, 1001, 100):
            show(TrainingUpdate(step, 3.0 - step / 1000, 5e4, 3.1 - step / 1000, "\nada\neve\n"))
        show(TrainingUpdate(1000, 1.5, 5e4, None, None))
    return file.getvalue()


def test_plain_run_prints_a_line_for_each_measurement():
    for text in (shown(plain=True, terminal=True, no_color=True), shown(plain=False, terminal=False)):
        assert "\x1b[?25l" not in text and "⡀" not in text
        steps = [int(line.split()[1]) for line in text.splitlines() if line.startswith("step")]
        assert steps == list(range(100, 1001, 100))
    assert "names (d_model=32)" in text and "validation 2.1000 = 1.050 × entropy (2.0000)" in text


def test_live_run_shows_curve_bar_and_sample():
    text = shown(plain=False, terminal=True)
    last = text[text.rindex("step ") :]
    assert "1000/1000" in last and "●" in last and "ada" in last and "1.5000" in last and "2.1000" in last
    assert "\x1b[38" not in shown(plain=False, terminal=True, no_color=True)
