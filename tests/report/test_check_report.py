"""The terminal report is rendered from the document alone, at any width, with or without colour."""

import io

import pytest
from rich.console import Console

from autograder.report import benchmark, check_report


def check(function="attention.attention", status="passed", **more):
    record = {
        "id": f"{function}::case", "function": function, "title": "a case", "status": status,
        "points": {"earned": float(status == "passed"), "possible": 1.0}, "message": "", "help": None, "case": None,
        "wrong": None, "worst": None, "shapes": None, "picture": None, "departure": None,
        "mistake": None, "blocked_by": [], "where": None, "output": "",
        "hints": [], "seconds": 0.0,
    }  # fmt: skip
    return {**record, **more}


def document(*checks):
    functions = {}
    for one in checks:
        functions.setdefault(one["function"], []).append(one)
    entries = [
        {"name": name.partition(".")[2], "status": group[0]["status"], "bonus": "rmsnorm" in name, "checks": group,
         "points": {"earned": sum(c["points"]["earned"] for c in group), "possible": float(len(group))}}
        for name, group in functions.items()
    ]  # fmt: skip
    points = {"earned": sum(c["points"]["earned"] for c in checks), "possible": float(len(checks))}
    return {
        "schema": "headway.result/1", "submission": {"id": "my-gpt", "sha256": "0" * 64}, "seed": 0,
        "public_seed": True, "created": "2026-01-01T00:00:00+00:00", "versions": {}, "sandbox": [], "points": points,
        "passed": all(c["status"] == "passed" for c in checks), "problems": [], "notes": [], "seconds": 0.1,
        "assignments": [{"number": 4, "name": "attention", "title": "Attention", "points": points,
                         "functions": entries}],
    }  # fmt: skip


def rendered(doc, width=80, **options):
    file = io.StringIO()
    check_report.render(doc, Console(file=file, width=width, no_color=True, highlight=False), **options)
    return file.getvalue()


FAILED = check(
    status="failed",
    title="rectangular, padding mask",
    message="out is not close to PyTorch's scaled_dot_product_attention",
    case="(2, 4, 5, 8), (2, 4, 7, 8), (2, 4, 7, 6), mask (2, 1, 1, 7) bool",
    wrong={"count": 240, "total": 240},
    worst={"index": [1, 3, 1, 4], "axes": ["batch", "head", "query", "d_v"], "yours": -2.80381, "expected": -1.60375,
           "allowed": 1.6e-9},
    where={"file": "attention.py", "line": 41},
)  # fmt: skip


def test_a_failed_check_shows_what_the_house_style_shows():
    text = rendered(document(FAILED))
    for words in (
        "✗ attention.attention · rectangular, padding mask",
        "0 / 1 points",
        "out is not close to PyTorch's scaled_dot_product_attention",
        "case",
        "240 of 240 values",
        "[batch 1, head 3, query 1, d_v 4]: yours -2.80381, expected -1.60375",
        "(allowed ±1.6e-09)",
        "attention.py:41",
        "headway check attention.attention",
    ):
        assert words in " ".join(text.replace("│", " ").split()) or words in text, words


@pytest.mark.parametrize("width", [40, 80, 120])
def test_no_line_is_wider_than_the_terminal(width):
    text = rendered(document(FAILED, check("attention.causal_mask", "not_started")), width)
    assert max(map(len, text.splitlines())) <= width


def test_student_text_is_no_markup():
    text = rendered(document({**FAILED, "message": "x[b, t] [/bold]", "output": "[red]y[/red]\n"}))
    assert "x[b, t] [/bold]" in text
    assert "[red]y[/red]" in text


def test_only_the_first_failure_of_a_function_is_shown_until_all_are_asked_for():
    doc = document(FAILED, {**FAILED, "title": "another"})
    assert "another" not in rendered(doc)
    assert "--all shows them" in rendered(doc)
    assert "another" in rendered(doc, all_panels=True)


@pytest.mark.parametrize(
    ("checks", "words"),
    [
        ([check("attention.attention")], "The check passed. What is open"),
        ([check("attention.attention"), check("attention.causal_mask", "not_started")], "Next: write causal_mask"),
        ([FAILED], "Next: mend attention (attention.py, line 41)"),
        ([check(status="blocked", blocked_by=["softmax.softmax"])], "Next: softmax.softmax, which attention.attention"),
    ],
)
def test_the_next_step(checks, words):
    assert words in rendered(document(*checks)).replace("\n", " ")


def test_bonus_work_that_was_asked_for_is_what_comes_next():
    wrong = {**FAILED, "function": "layernorm.rmsnorm"}
    assert "Next: mend rmsnorm" in rendered(document(wrong))
    assert "checks passed" not in rendered(document(wrong))
    assert "but for 1 of bonus work" in rendered(document(check("layernorm.layernorm"), wrong))


def test_bonus_work_alone_has_its_own_sum():
    wrong = {**FAILED, "function": "layernorm.rmsnorm"}
    alone = document(check("layernorm.rmsnorm"), wrong)
    for holder in (alone, alone["assignments"][0]):
        holder["points"] = {"earned": 1.0, "possible": 0.0}  # bonus work counts as earned only
    text = rendered(alone)
    assert "1 / 2 bonus points" in text
    assert "1 / 0" not in text


def test_what_was_printed_comes_behind_the_place():
    text = rendered(document({**FAILED, "output": "hello"}))
    assert text.index("attention.py:41") < text.index("printed") < text.index("again")


def test_the_command_to_run_next_stays_in_one_line():
    text = rendered(document({**FAILED, "function": "attention.a_function_with_a_long_name"}), 80)
    assert "then:\n    headway check attention.a_function_with_a_long_name\n" in text


def test_functions_that_are_not_started_are_counted_without_a_second_dot():
    text = rendered(document(check("attention.attention", "not_started")))
    assert "points · 1 not started" in text


def test_the_kits_own_failure_is_said():
    assert "The kit itself failed: boom" in rendered({**document(FAILED), "problems": ["boom"]})


def test_an_unnamed_axis_is_a_number():
    worst = {**FAILED["worst"], "axes": ["axis 0", "axis 1", "query", "d_v"]}
    assert "[1, 3, query 1, d_v 4]" in rendered(document({**FAILED, "worst": worst}))


@pytest.mark.parametrize(
    ("slowest", "words"), [("softmax.softmax", "begin with softmax.softmax: x"), ("", "no noticeable time")]
)
def test_what_is_not_ones_own_is_marked_where_the_time_goes(slowest, words):
    file = io.StringIO()
    shares = {"gpt.gpt": 0.9, "softmax.softmax": 0.1}
    found = benchmark.SpeedComparison("names", 2.0, 1.0, 2.0, 0.0, shares, slowest, "x", own=("softmax",))
    benchmark.render(found, Console(file=file, width=80, no_color=True))
    lines = file.getvalue().splitlines()
    assert [line.endswith("official") for line in lines if "%" in line] == [True, False]
    assert words in lines[-1]
