"""What counts as found, accepted and named."""

import pytest

from autograder.benchmark import scoring
from autograder.benchmark.records import Answer, Cause, Implementation
from autograder.benchmark.run import _parts, sample
from autograder.benchmark.runner_process import RunnerResult
from autograder.report.benchmark_scores import percentage

SWAPPED = Cause("m.f/swapped", "The axes were swapped", "m.f/swapped")
SAME_TITLE = Cause("m.f/swapped-late", "The axes were swapped", "m.f/swapped-late")
TWIN = Cause("m.f/twin", "a twin", "m:twins")
OTHER_TWIN = Cause("m.f/other-twin", "the other twin", "m:twins")


def implementation(id, *causes, correct=False, function="m.f"):
    style = "official" if correct else "edited"
    return Implementation(id, function, "m", "test", "f()", "", "", [], {}, correct, list(causes), style, "MIT")


ITEMS = [
    implementation("a", SWAPPED),
    implementation("b", TWIN),
    implementation("c", OTHER_TWIN),
    implementation("d", SAME_TITLE),
    implementation("e"),
    implementation("r", correct=True),
    implementation("s", correct=True),
]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("m.f/swapped", True),
        ("The axes were swapped", True),
        ("  the axes\nwere SWAPPED. ", True),
        ("m.f/swapped-late", True),  # the same title
        ("M.F/swapped", False),
        ("m.f/twin", False),
        ("axes swapped", False),
        ("", False),
        (None, False),
    ],
)
def test_names_cause_needs_the_exact_id_or_title(text, expected):
    assert scoring.Causes(ITEMS).names_cause(ITEMS[0], text) is expected


def test_names_cause_accepts_another_one_of_the_family():
    causes = scoring.Causes(ITEMS)
    assert causes.names_cause(ITEMS[1], "the other twin")
    assert not causes.names_cause(ITEMS[1], "m.f/swapped")


def test_score_record_counts_each_kind_of_answer():
    answers = {
        "a": Answer("a", True, "m.f/swapped"),
        "b": Answer("b", True, "m.f/swapped"),
        "c": Answer("c", False, "m.f/twin"),  # right about the mistake, but calls the code right
        "e": Answer("e", True),
        "r": Answer("r", False),
        "s": Answer("s", True, "m.f/twin"),
    }
    record = scoring.score_record(ITEMS, ITEMS, RunnerResult(answers, {"d": "too long"}))
    total = record["total"]
    assert (total["found"], total["wrong"]) == (3, 5)
    assert (total["accepted"], total["right"]) == (1, 2)
    assert (total["named"], total["nameable"]) == (1, 4)
    assert total["missing"] == 1
    assert total["sensitivity"] == 0.6
    assert record["by_style"]["official"]["sensitivity"] is None
    assert next(answer for answer in record["answers"] if answer["id"] == "d")["missing"] == "too long"


def test_sample_depends_on_the_ids_alone():
    many = [implementation(f"x{i}") for i in range(600)]
    assert sample(many, 1) == many
    chosen = sample(many, 6)
    assert 60 < len(chosen) < 140
    assert sample(many[::-1], 6) == chosen[::-1]


def test_parts_keep_each_function_together():
    asked = [implementation(f"{name}{i}", function=name) for i in range(3) for name in "abcde"]
    parts = _parts(asked, 2)
    assert sorted(len(part) for part in parts) == [6, 9]
    functions = [{item.function for item in part} for part in parts]
    assert functions[0].isdisjoint(functions[1])
    assert _parts(asked, 1) == [asked]


@pytest.mark.parametrize(
    ("part", "whole", "text"),
    [(0, 0, "–"), (0, 9, "0.0 %"), (9999, 10000, "99.9 %"), (1, 9999, "0.1 %"), (2, 2, "100.0 %")],
)
def test_percentage_is_100_or_0_only_if_exact(part, whole, text):
    assert percentage(part, whole) == text
