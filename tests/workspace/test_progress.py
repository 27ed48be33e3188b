"""Recorded progress: results that count while the code is the same, and the next function."""

import pytest

from autograder import __version__
from autograder.courses.transformer import TRANSFORMER
from autograder.documents.results import CheckResult
from autograder.workspace import progress, state

SOFT, RELU = "softmax.softmax", "ffn.relu"
FINGERPRINTS = dict.fromkeys(TRANSFORMER.functions, "a")


def result(function, status="passed", possible=1.0):
    return CheckResult(f"{function}::x", function, "x", status, possible, possible if status == "passed" else 0.0)


def test_store_then_load_returns_the_same_entries(folder):
    recorded = state.load(folder)
    entries = progress.load(recorded, TRANSFORMER)
    assert progress.update(entries, [result(SOFT), result(RELU, "failed")], FINGERPRINTS) == (SOFT,)
    progress.store(recorded, entries, TRANSFORMER)
    recorded.save()
    loaded = progress.load(state.load(folder), TRANSFORMER)
    assert loaded == entries
    assert progress.update(loaded, [result(SOFT)], FINGERPRINTS) == ()


def test_current_statuses_leaves_out_changed_code():
    entries = {}
    progress.update(entries, [result(SOFT), result(RELU, "failed")], FINGERPRINTS)
    assert progress.current_statuses(entries, FINGERPRINTS) == {SOFT: "passed", RELU: "failed"}
    changed = FINGERPRINTS | {RELU: "b"}
    assert progress.current_statuses(entries, changed) == {SOFT: "passed"}


ENTRY = {"fingerprint": "a", "status": "passed", "earned": 1.0, "possible": 1.0, "since": "2026-01-05"}
BAD = {"fingerprint": 1, "status": "great", "earned": -1.0, "possible": 0.0, "since": "today"}


@pytest.mark.parametrize("content", [[], {SOFT: 3}, *({SOFT: ENTRY | {k: BAD[k]}} for k in BAD), {"x.y": ENTRY}, "no"])
def test_load_damaged_progress_is_empty(folder, content):
    recorded = state.load(folder)
    recorded.content |= {progress.VERSION: __version__, progress.KEY: content}
    assert progress.load(recorded, TRANSFORMER) == {}


def test_load_other_version_is_empty(folder):
    recorded = state.load(folder)
    entries = {}
    progress.update(entries, [result(RELU)], FINGERPRINTS)
    progress.store(recorded, entries, TRANSFORMER)
    assert progress.load(recorded, TRANSFORMER)
    recorded.content[progress.VERSION] = "0.0.1"
    assert progress.load(recorded, TRANSFORMER) == {}


def test_since_changes_only_with_the_status():
    entries = {}
    progress.update(entries, [result(RELU, "failed")], FINGERPRINTS, "2026-01-01T00:00:00+00:00")
    progress.update(entries, [result(RELU, "failed")], FINGERPRINTS, "2026-01-02T00:00:00+00:00")
    assert entries[RELU].since == "2026-01-01T00:00:00+00:00"
    progress.update(entries, [result(RELU)], FINGERPRINTS, "2026-01-03T00:00:00+00:00")
    assert entries[RELU].since == "2026-01-03T00:00:00+00:00"


def test_state_that_cannot_be_saved_is_kept_until_it_is(folder, monkeypatch):
    (recorded := state.load(folder)).content = {"one": 1}
    with monkeypatch.context() as patch:
        patch.setattr(state, "replace_file", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left")))
        recorded.save()
        recorded.save()
    (folder / state.FILE).write_text("{}")
    recorded.refresh()
    assert recorded.content == {"one": 1} and "No space left" in str(*recorded.notes)
    recorded.save()
    (folder / state.FILE).write_text('{"two": 2}')
    recorded.refresh()
    assert recorded.content == {"two": 2}


def test_next_unfinished_prefers_the_current_assignment():
    statuses = dict.fromkeys(TRANSFORMER.functions, "passed")
    assert progress.next_unfinished(statuses, TRANSFORMER) is None
    statuses["tokenizer.encode"] = statuses[RELU] = statuses["layernorm.rmsnorm"] = "failed"
    assert progress.next_unfinished(statuses, TRANSFORMER, SOFT) == RELU
    assert progress.next_unfinished(statuses, TRANSFORMER, RELU) == "tokenizer.encode"  # bonus functions come last
    assert progress.next_unfinished(statuses, TRANSFORMER, "layernorm.rmsnorm") == RELU  # also after one of them
    assert progress.next_unfinished(statuses, TRANSFORMER) == "tokenizer.encode"
    statuses[SOFT] = "failed"  # before the current function, but in the same assignment
    assert progress.next_unfinished(statuses, TRANSFORMER, "softmax.cross_entropy") == SOFT
    assert progress.next_unfinished(statuses, TRANSFORMER, SOFT) == RELU
    assert progress.next_unfinished(statuses, TRANSFORMER, "layernorm.layernorm") == RELU


def test_passed_assignments_ignores_bonus_functions():
    statuses = dict.fromkeys(TRANSFORMER.functions, "passed")
    statuses[RELU] = statuses["layernorm.rmsnorm"] = "failed"
    passed = progress.passed_assignments(statuses, TRANSFORMER)
    assert "layernorm" in passed and "ffn" not in passed
    progress.update(entries := {}, [result(SOFT), result("layernorm.rmsnorm")], FINGERPRINTS)
    assert progress.total_points(entries, TRANSFORMER) == (2.0, 1.0)
