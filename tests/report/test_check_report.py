"""The check report in the terminal, rendered from documents at several widths, and in a notebook."""

import io
from pathlib import Path

import pytest
from support.result_documents import BROKEN, check, document, printed, words

from autograder.documents.results import SubmissionResult
from autograder.report import check_report
from autograder.report.console import SafeConsole


def rendered(doc, width=80, **options):
    return printed(check_report.render, doc, width=width, **options)


FAILED = check(
    status="failed", title="rectangular, padding mask",
    help="Compare the shapes.", message="out differs from PyTorch's scaled_dot_product_attention",
    inputs="(2, 4, 5, 8), (2, 4, 7, 8), (2, 4, 7, 6), mask (2, 1, 1, 7) bool",
    mistake={"id": "", "title": "the scores were not divided", "reason": "proof"}, wrong={"count": 240, "total": 240},
    worst={"index": [1, 3, 1, 4], "axes": ["batch", "head", "query", "d_v"], "yours": -2.80381, "expected": -1.60375,
           "tolerance": 1.6e-9},
    location={"file": "attention.py", "line": 41, "text": ""},
)  # fmt: skip
BONUS = {**FAILED, "function": "layernorm.rmsnorm"}


def test_panel_shows_every_part_of_a_failed_check():
    text = words(rendered(document(FAILED)))
    for part in (
        "✗ attention.attention · rectangular, padding mask",
        "0 / 1 points",
        "out differs from PyTorch's scaled_dot_product_attention (240 of 240 values)",
        "likely cause the scores were not divided (proof)",
        "help Compare the shapes.",
        "input (2, 4, 5, 8)",
        "largest error batch 1, head 3, query 1, d_v 4: got -2.80381, expected -1.60375 (tolerance 1.6e-9)",
        "in attention.py:41",
        "next headway hint attention.attention",
    ):
        assert part in text


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_report_is_never_wider_than_the_terminal_and_keeps_points_and_statuses(width):
    lines = rendered(document(check("attention.attention", status="not_started"), FAILED), width).splitlines()
    row = next(line for line in lines if "attention" in line)
    assert max(map(len, lines)) <= width and "0 / 2" in row and "failed" in row


@pytest.mark.parametrize("width", [40, 50, 60, 80, 120])
@pytest.mark.parametrize("letters", [10, 30, 44])
def test_title_is_never_cut(width, letters):
    title = "x" * min(letters, width - 4)
    assert title in rendered(document({**FAILED, "title": title}), width)


def test_student_text_is_not_read_as_markup_and_output_comes_after_the_location():
    text = rendered(document({**FAILED, "message": "x[b, t] [/bold]", "output": "[red]y[/red]\n"}))
    assert "x[b, t] [/bold]" in text and "[red]y[/red]" in text
    assert text.index("attention.py:41") < text.index("printed") < text.index("headway hint")


def test_render_shows_one_failure_per_function_unless_all_are_wanted():
    doc = document(FAILED, {**FAILED, "title": "another"})
    assert "another" not in rendered(doc) and "1 more failed check;" in rendered(doc)
    assert "another" in rendered(doc, all_panels=True)


@pytest.mark.parametrize(("checks", "expected"), [
    ([BONUS], "Next: fix rmsnorm"), ([check("layernorm.layernorm"), BONUS], "bonus checks left: 1"),
    ([check("attention.attention")], "The check passed. See what is left"),
    ([check("attention.attention"), check("attention.causal_mask", "not_started")], "Next: write causal_mask"),
    ([FAILED], "Next: fix attention (attention.py:41), then: headway check attention.attention"),
    ([check(status="blocked", blocked_by=["softmax.softmax"])], "Next: work on softmax.softmax, which blocks"),
])  # fmt: skip
def test_next_step_names_what_to_do(checks, expected):
    assert expected in words(rendered(document(*checks)))


def test_points_of_bonus_work_alone_have_their_own_maximum():
    alone = document(check("layernorm.rmsnorm"), BONUS)
    for holder in (alone, alone["assignments"][0]):
        holder["points"] = {"earned": 1.0, "possible": 0.0}  # bonus work counts as earned only
    text = rendered(alone)
    assert "1 / 2 bonus points" in text and "1 / 0" not in text


def test_next_command_stays_on_one_line():
    text = rendered(document({**FAILED, "function": "attention.a_function_with_a_long_name"}), 80)
    assert "\n    headway check attention.a_function_with_a_long_name\n" in text


def test_summary_shows_internal_errors_and_no_second_dot_before_not_started():
    text = rendered({**document(check(status="not_started")), "internal_errors": ["boom", "bang"]})
    assert "report it): bang" in text and "points · 1 not started" in text


def test_overview_names_other_inputs_and_what_did_not_pass():
    text = rendered({**document(FAILED, check()), "public_seed": False, "seed": 7})
    assert "my-gpt · seed 7\n" in text and "passed, " not in text
    assert "seed" not in rendered(document(FAILED))


@pytest.mark.parametrize(("size", "width", "shown"), [(5, 90, True), (6, 90, False), (5, 45, False)])
def test_slices_stand_beside_the_map_where_they_fit(size, width, shown):
    numbers = [[1.0] * size for _ in range(size)]
    picture = {"rows": ["0" * size] * size, "axes": ["row", "key"], "at": "batch 1", "shape": [size, size]}
    picture |= {"yours": numbers, "expected": [[2.5, *row[1:]] for row in numbers]}
    text = rendered(document({**FAILED, "error_map": picture}), width)
    assert text.count("row ↓") == 1 and "batch 1 · key →" in text
    assert ("difference" in text) == ("-1.5" in text) == shown


def test_submission_lists_what_does_not_pass():
    functions = {"m.g": "passed", **{f"m.f{number}": "error" for number in range(13)}}
    about = {"functions": functions, "files": {"m.py": ""}, "kit": "1", "gave_up": {"m.g": ""}}  # codespell:ignore kit
    result = SubmissionResult("ada", "", 0, [], notes=["a note"])
    text = printed(check_report.render_submission, about, result, Path("a.zip"))
    assert "a.zip: 1 files, 0 points" in text and "Submit a.zip as it is" in text
    assert "13 of 14 functions do not pass" in text and "m.f11  ! stopped by" in text and "m.f12" not in text
    assert "… and 1 more" in text and "m.g: you saw the solution" in text and "a note\n" in text
    del functions["m.f12"]
    assert "more:" not in printed(check_report.render_submission, about, result, Path("a.zip"))


@pytest.mark.parametrize(("worst", "expected"), [
    ({"axes": ["", "", "query", "d_v"]}, "largest error [1, 3, query 1, d_v 4]: got"),
    ({"tolerance": 0.0, "yours": 3, "expected": 4}, "first wrong value batch 1, head 3, query 1, d_v 4: got 3"),
    ({"axes": [], "index": []}, "value got -2.80381, expected -1.60375"),
])  # fmt: skip
def test_worst_value_names_its_index(worst, expected):
    assert expected in words(rendered(document({**FAILED, "worst": FAILED["worst"] | worst}), width=120))


def test_one_finding_is_reported_once():
    mistake = {"id": "attention.attention/no-scale", "title": "the scores were not divided", "reason": "proof"}
    alike = [check(status="failed", title=title, mistake=mistake) for title in ("first", "second")]
    shown = rendered(document(*alike, check(status="failed", title="third")), all_panels=True)
    assert shown.count("the scores were not divided") == 1
    assert words("same mistake in second") in words(shown)


def test_panel_shows_where_the_function_called_the_line_that_failed():
    place, caller = ({"file": f"{name}.py", "line": 41, "text": "f(q)"} for name in ("helpers", "attention"))
    shown = words(rendered(document(check(status="error", location=place, called_from=caller))))
    assert "helpers.py:41" in shown and "from attention.py:41" in shown
    slow = words(rendered(document({**FAILED, "status": "timeout", "warnings": [*"abcd"]})))
    assert "NumPy warns a b c stopped in attention.py:41" in slow


def test_syntax_error_is_one_panel_that_names_the_file():
    checks = [check(**BROKEN), check(title="b", **BROKEN), check("attention.causal_mask", **BROKEN)]
    shown = rendered(document(*checks))
    assert shown.count("Python cannot read") == 1
    assert "! attention.py" in shown and "attention, causal_mask" in shown and "! 1 file with an error" in shown
    assert "more failed check" not in shown and "headway hint" not in shown
    assert words("Next: fix attention.py, line 3, then: headway check attention") in words(shown)


def test_command_in_a_long_text_is_not_broken():
    file = io.StringIO()
    command = f"headway comment OUT {'a' * 60} TEXT --assignment softmax"
    SafeConsole(file=file, width=60).print_text(f"A text that is so long that it takes two lines. To answer: {command}")
    *text, shown = file.getvalue().splitlines()
    assert len(text) == 1 and shown.strip() == command


ISOLATED = "correct in isolation; blocked only by softmax.softmax"


def in_notebook(*checks):
    return str(check_report.NotebookReport(document(*checks), {}, {}))


def blocked(message):
    return check(status="blocked", blocked_by=["softmax.softmax"], message=message)


def test_correct_in_isolation_is_said_if_all_checks_say_it():
    assert ISOLATED in in_notebook(blocked(ISOLATED), blocked(ISOLATED))
    text = in_notebook(blocked("blocked by softmax.softmax. out differs"), blocked(ISOLATED))
    assert "in isolation" not in text and "2 checks blocked" in text
    assert "not written yet" not in in_notebook(check(status="not_started"), blocked(ISOLATED))


def test_notebook_shows_three_findings_and_internal_errors():
    text = in_notebook(*({**FAILED, "function": f"attention.f{number}"} for number in range(4)))
    assert text.count("likely cause") == 3 and "1 more failed check" in text and "Stuck? hint(f0)" in text
    text = str(check_report.NotebookReport({**document(check(**BROKEN)), "internal_errors": ["bang"]}, {}, {}))
    assert "Stuck" not in text and "report it): bang" in text
