"""A file that is not a valid data set gets one line that says where."""

import json

import pytest

from autograder.benchmark import records
from autograder.benchmark.dataset import lines
from autograder.errors import UsageError


def changed(items, **fields):
    return json.dumps({**json.loads(lines(items[:1])), **fields}).encode()


@pytest.mark.parametrize(
    ("content", "fragment"),
    [
        (lambda items: b"", "is empty"),
        (lambda items: lines(items[:2])[:-20], "line 2 is not an implementation"),
        (lambda items: b"\x00\xff\n", "line 1 is not an implementation"),
        (lambda items: b"[" * 100_000, "line 1 is not an implementation"),
        (lambda items: lines([items[0], items[0]]), "occurs twice"),
        (lambda items: changed(items, correct="yes"), "correct"),
        (lambda items: changed(items, extra=1), "extra"),
        (lambda items: changed(items, id="\x1b[2J"), "not a valid id"),
        (lambda items: changed(items, correct=True, causes=[{"id": "a", "title": "b", "family": "c"}]), "has causes"),
    ],
)
def test_read_dataset_of_an_invalid_file_says_where(items, tmp_path, content, fragment):
    path = tmp_path / "data.jsonl"
    path.write_bytes(content(items))
    with pytest.raises(UsageError) as error:
        records.read_dataset(path)
    assert fragment in str(error.value)
    assert "\n" not in str(error.value) and "\x1b" not in str(error.value)


def test_read_dataset_of_a_huge_file_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(records, "MAX_FILE", 10)
    path = tmp_path / "data.jsonl"
    path.write_bytes(b"x" * 11)
    with pytest.raises(UsageError, match="larger than"):
        records.read_dataset(path)


def test_read_dataset_returns_what_was_written(items, small_file):
    assert records.read_dataset(small_file) == items
