"""The included runners, on samples."""

import zlib

import pytest
from support.paths import SUBMISSIONS

from autograder.benchmark import allclose_runner, dataset
from autograder.benchmark.allclose_worker import find_test
from autograder.benchmark.records import Implementation
from autograder.benchmark.run import ask, included_command
from autograder.benchmark.scoring import score_record
from autograder.curriculum import registry

FUNCTION_SHARE, SHARE = 8, 40  # in the test that is marked slow


def scored(command, asked, everything):
    return score_record(asked, everything, ask(command, asked, everything, seconds=120.0))


def few(items):
    """Return some right and wrong implementations of each kind."""
    chosen = {}
    for item in items:
        chosen.setdefault((item.function, item.style), item)
    return list(chosen.values())


def hostile(item, id, source):
    return Implementation(
        **{name: getattr(item, name) for name in item.__struct_fields__} | {"id": id, "source": source}
    )


def test_headway_runner_is_right_about_a_sample(items):
    record = scored(included_command("headway"), few(items), items)
    total = record["total"]
    assert total["found"] == total["wrong"] >= 4
    assert total["accepted"] == total["right"] >= 6
    assert total["named"] == total["nameable"] >= 3


def test_headway_runner_survives_hostile_sources(items):
    first = next(item for item in items if item.correct and item.function == "softmax.softmax")
    sources = ["import os\nos._exit(0)\n", "print('{\"id\": 1}')\ndef softmax(x: (", first.source]
    asked = [hostile(first, f"h{i}", source) for i, source in enumerate(sources)]
    record = scored(included_command("headway"), asked, items)
    assert [answer["wrong"] for answer in record["answers"]] == [True, True, False]
    assert not record["problems"]


def test_allclose_runner_accepts_right_ones_and_finds_most_wrong_ones(items):
    asked = [item for item in items if item.correct or zlib.crc32(item.id.encode()) % 4 == 0]
    total = scored(included_command("allclose"), asked, items)["total"]
    assert total["accepted"] == total["right"]
    assert total["wrong"] / 2 < total["found"] < total["wrong"]
    assert total["named"] == 0


def test_allclose_runner_refuses_foreign_sources(items, tmp_path):
    mark = tmp_path / "mark"
    foreign = hostile(items[0], "foreign", f"open({str(mark)!r}, 'w')\n{items[0].source}")
    record = scored(included_command("allclose"), [foreign], items)
    assert "not run" in record["answers"][0]["missing"]
    assert not mark.exists()


def test_allclose_runner_calls_endless_and_deadly_code_wrong(items, monkeypatch):
    right = next(item for item in items if item.style == "official")
    monkeypatch.setattr(allclose_runner, "SECONDS", 0.5)
    worker = allclose_runner._Worker()
    sources = ["while True: pass", "import os; os._exit(1)", "raise SystemExit", right.source]
    questions = dataset.questions([hostile(right, f"h{i}", s) for i, s in enumerate(sources)], items)
    try:
        assert [worker.answer(question).wrong for question in questions] == [True, True, True, False]
    finally:
        worker.stop()


def test_allclose_runner_keeps_implementations_apart():
    """A wrong implementation that changes its argument changes what the test passes to the next one."""
    items = dataset.implementations(SUBMISSIONS, ["gpt2.gpt2_config"])
    wrong = [item for item in items if not item.correct]
    right = [item for item in items if item.correct]
    total = scored(included_command("allclose"), wrong + right, items)["total"]
    assert total["accepted"] == total["right"] == 4


def test_naive_runner_finds_everything_and_accepts_nothing(items):
    total = scored(included_command("naive"), items, items)["total"]
    assert (total["sensitivity"], total["specificity"]) == (1.0, 0.0)
    assert 0 < total["named_share"] < 0.1


def test_docstring_tests_exist_for_every_function():
    missing = [name for name in registry.default().functions if find_test(name) is None]
    assert missing == [], "add test_FUNCTION to autograder/benchmark/docstring_tests/test_ASSIGNMENT.py"


@pytest.mark.slow
def test_sample_of_other_functions_is_verified():
    """One in SHARE implementations of one in FUNCTION_SHARE functions: wrong ones fail a check, right ones pass."""
    names = [name for name in registry.default().functions if zlib.crc32(name.encode()) % FUNCTION_SHARE == 0]
    items = dataset.implementations(SUBMISSIONS, names)
    asked = [item for item in items if zlib.crc32(item.id.encode()) % SHARE == 0]
    assert len(asked) > 12
    total = scored(included_command("headway"), asked, items)["total"]
    assert (total["found"], total["accepted"], total["missing"]) == (total["wrong"], total["right"], 0)
