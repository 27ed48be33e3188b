"""The commands, and what docs/benchmark.md says about them."""

import json
import re
import sys

import pytest
from support.commands import invoke
from support.paths import ROOT

from autograder.benchmark import dataset
from autograder.benchmark.records import Answer, Implementation, Question

DOCUMENT = (ROOT / "docs" / "benchmark.md").read_text("utf-8")


@pytest.fixture
def quick_export(items, monkeypatch):
    monkeypatch.setattr(dataset, "implementations", lambda folder: items)


def test_export_benchmark_writes_a_data_set_and_its_card(quick_export, items, tmp_path):
    done = invoke("export-benchmark", "--out", tmp_path / "data.jsonl")
    assert done.returncode == 0, done.stderr
    card = json.loads((tmp_path / "data.card.json").read_text("utf-8"))
    assert card["version"] == dataset.VERSION
    assert card["counts"]["implementations"] == len(items)
    assert set(card["modules"]) >= {module for item in items for module in item.requires}
    assert invoke("export-benchmark", "--out", tmp_path / "data.jsonl").returncode == 0, "its own files are replaced"


@pytest.mark.parametrize("name", ["data.jsonl", "data.card.json"])
def test_export_benchmark_keeps_other_files(quick_export, tmp_path, name):
    (tmp_path / name).write_text("somebody's work")
    done = invoke("export-benchmark", "--out", tmp_path / "data.jsonl")
    assert done.returncode == 2
    assert "--force" in done.stderr
    assert (tmp_path / name).read_text() == "somebody's work"


def test_export_benchmark_keeps_a_data_set_that_was_edited(quick_export, tmp_path):
    path = tmp_path / "data.jsonl"
    invoke("export-benchmark", "--out", path)
    path.write_text("edited")
    assert invoke("export-benchmark", "--out", path).returncode == 2
    assert path.read_text() == "edited"
    assert invoke("export-benchmark", "--out", path, "--force").returncode == 0


def test_score_benchmark_prints_a_table_and_writes_json(small_file, items, tmp_path):
    out = tmp_path / "scores.json"
    done = invoke("score-benchmark", small_file, "--runner", "naive", "--json", out)
    assert done.returncode == 0, done.stderr
    assert re.search(r"all +\d+/\d+ +100.0 %", done.stdout)
    document = json.loads(out.read_text("utf-8"))
    assert document["schema"] == "headway.benchmark-scores/1"
    assert len(document["answers"]) == len(items)


def test_score_benchmark_with_missing_answers_exits_with_1(small_file):
    done = invoke("score-benchmark", small_file, "--share", "20", "--", sys.executable, "-c", "pass")
    assert done.returncode == 1
    assert "left out" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "fragment"),
    [
        ((), "give either a command or --runner"),
        (("--runner", "naive", "--", "cat"), "give either a command or --runner"),
        (("--", "no-such-command-here"), "cannot start"),
        (("--runner", "naive", "--share", "1000000000"), "--share"),
    ],
)
def test_score_benchmark_with_wrong_usage_says_what_to_do(small_file, arguments, fragment):
    done = invoke("score-benchmark", small_file, *arguments)
    assert done.returncode == 2
    assert fragment in done.stderr


def test_example_in_the_document_runs(small_file, tmp_path):
    (example,) = re.findall(r"```python\n(.*?)```", DOCUMENT, re.DOTALL)
    assert len(example.splitlines()) <= 16
    (tmp_path / "my_runner.py").write_text(example, "utf-8")
    command = (sys.executable, tmp_path / "my_runner.py")
    done = invoke("score-benchmark", small_file, "--share", "10", "--", *command)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("record", [Implementation, Question, Answer])
def test_document_describes_every_field(record):
    missing = [name for name in record.__struct_fields__ if f"| `{name}` |" not in DOCUMENT]
    assert missing == []


def test_document_states_the_version():
    assert f"version {dataset.VERSION}" in DOCUMENT
