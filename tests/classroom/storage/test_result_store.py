"""The results of a run on disk: which ones still count, the seed, the lock, and the names of files."""

import json
import tempfile
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from autograder.classroom.grading import cache_keys
from autograder.classroom.policy.model import Policy
from autograder.classroom.storage import run_records
from autograder.classroom.storage.gradebook import MAX_NAME_BYTES, readable_names
from autograder.classroom.storage.result_store import JOURNAL, LOCK, JournalEntry, ResultStore, file_name, locked
from autograder.classroom.submissions.model import Attempt, ClassMember, Source, Student, SubmissionPart
from autograder.classroom.submissions.roster import roster_entries
from autograder.course import registry
from autograder.courses.transformer import TRANSFORMER
from autograder.engine.session import Options
from autograder.errors import UsageError
from autograder.sandbox.limits import Limits


@pytest.mark.parametrize(("content", "changes", "key", "current"), [
    (b"{12}", {}, "k", True), (b"{1}", {}, "k", False), (b"{123}", {}, "k", False),
    (None, {}, "k", False), (b"{12}", {}, "other", False), (b"{12}", {"status": "failed"}, "k", False),
    (b"{12}", {"status": "unreadable"}, "k", True),
], ids=["complete", "truncated", "longer", "deleted", "other-key", "failed", "unreadable"])  # fmt: skip
def test_result_counts_only_if_it_is_complete(tmp_path, content, changes, key, current):
    with ResultStore(tmp_path) as store:
        store.add(JournalEntry("ada.json", "k", bytes=4, **changes))
    if content is not None:
        (tmp_path / "results" / "ada.json").write_bytes(content)
    with ResultStore(tmp_path) as store:
        assert store.is_current("ada.json", key) is current and not store.is_current("bo.json", key)


@pytest.mark.parametrize("changes", [
    {"functions": ("softmax.softmax",)}, {"seed": 8}, {"official": True}, {"diagnose": False},
    {"limits": Limits(memory_bytes=1 << 30)}, {"curriculum": replace(TRANSFORMER, name="mine")},
], ids=lambda changes: next(iter(changes)))  # fmt: skip
def test_key_of_a_result_depends_on_every_setting_of_the_run(changes):
    key = cache_keys.run_key(Options(), feedback="full")
    assert cache_keys.run_key(Options(), feedback="full") == key != cache_keys.run_key(Options(), feedback="summary")
    assert cache_keys.run_key(Options(**changes), feedback="full") != key
    assert len({cache_keys.result_key(*parts) for parts in ("kab", "xab", "kxb", "kax")}) == 4


def test_results_depend_on_every_file_that_runs_checks(monkeypatch):
    monkeypatch.setattr(cache_keys, "_digest_of_files", set)
    root, files = Path(cache_keys.__file__).parents[2], cache_keys.headway_digest.__wrapped__()
    folders = ("core", "course", "courses/transformer", "documents", "engine", "notebooks", "parsing", "sandbox")
    for pattern in (*(f"{name}/**/*.py" for name in folders), "engine/**/*.txt", "courses/transformer/**/*.txt"):
        assert files >= {*root.glob(pattern)}, pattern
    others = {"hints.toml", "errors.py", "account.py", "intake.py", "folder_reader.py", "worker.py"}
    assert others <= {path.name for path in files} and registry.solution_path("gpt", TRANSFORMER.package) in files


@pytest.mark.parametrize("line", [
    '{"file": "../ada.json", "key": "k"}', '{"file": "/etc/passwd", "key": "k"}',
    '{"file": "ada.json", "key": "k", "status": "passed"}', '{"file": "ada.json", "key": 3}',
    '{"file": "ada.json", "key": "k", "functions": {"softmax.softmax": "many"}}',
    '{"file": "ada.json", "key": "k", "checks": 7}', '"x"', "NaN", '{"file": "ada.json", "ke', "[" * 100_000, "",
])  # fmt: skip
def test_journal_line_that_is_damaged_counts_as_not_graded(tmp_path, line):
    (tmp_path / JOURNAL).write_text(f'{line}\n{{"file": "bo.json", "key": "k"}}\n{line}')
    with ResultStore(tmp_path) as store:
        assert list(store.entries) == ["bo.json"]


def test_journal_keeps_the_last_result_of_each_file(tmp_path):
    with ResultStore(tmp_path) as store:
        for key in ("old", "new"):
            store.add(JournalEntry("ada.json", key))
            assert f'"{key}"' in (tmp_path / JOURNAL).read_text(), "a run that is killed now has it"
    assert [json.loads(line)["key"] for line in (tmp_path / JOURNAL).read_text().splitlines()] == ["new"]


@pytest.mark.parametrize("wanted", [0, 7])
def test_seed_is_the_wanted_one_then_the_stored_one_then_drawn(tmp_path, wanted):
    run_records.write_settings(tmp_path, wanted, None, None)
    assert run_records.find_seed(tmp_path, Policy()) == wanted
    assert run_records.find_seed(tmp_path, Policy(seed=8)) == 8
    (tmp_path / run_records.RUN).write_text("[" * 100_000)  # It cannot be read.
    assert run_records.find_seed(tmp_path, Policy()) != run_records.find_seed(tmp_path, Policy())


def test_file_name_of_a_long_submission_is_short_and_unique():
    names = [file_name("é" * 60 + end) for end in "ab"]
    assert len(set(names)) == 2 and max(map(len, names)) < 200
    parts = {file_name("ada"), file_name("ada", 1), file_name("ada", 2), file_name("ada", 1, "ffn"), file_name("a/da")}
    assert len(parts) == 5 and not any("/" in part for part in parts)


@pytest.mark.parametrize(("statuses", "begun"), [(("not_started", "blocked"), False), (("blocked", "failed"), True)])
def test_untouched_stubs_are_not_begun(statuses, begun):
    entry = JournalEntry("ada.json", "", checks={"softmax": dict.fromkeys(statuses, 1)})
    assert entry.has_begun("softmax") is begun and not entry.has_begun("attention")


def test_problem_of_a_result_is_the_reason_or_the_notes_and_timeouts():
    assert JournalEntry("ada.json", "", "failed", "why", notes=["a"]).problem == "why"
    checks = {"softmax": {"timeout": 1}, "ffn": {"timeout": 1, "passed": 3}}
    assert JournalEntry("ada.json", "", notes=["a"], checks=checks).problem == "a; 2 checks timed out"
    assert JournalEntry("ada.json", "").problem == ""


def test_locked_folder_is_refused_to_another_run(tmp_path, monkeypatch):
    out = tmp_path / "new"
    with locked(out), pytest.raises(UsageError, match="another headway grade"), locked(out):
        pass
    with ExitStack() as first:
        first.enter_context(locked(out))
        monkeypatch.setattr("time.sleep", lambda seconds: first.close())
        with locked(out, patience=60):
            pass
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match=r"file.* --out"), locked(tmp_path / "file" / "out"):
        pass


def test_submissions_are_stored_without_their_files_or_a_roster(tmp_path):
    assert run_records.read_submissions(tmp_path) == run_records.SubmissionRecords()
    sources = [Source("ffn", ("ffn",), tmp_path, unpacked=tmp_path)]
    ada = ClassMember("ada 1", attempts=(Attempt((), late=True),))
    work = replace(ada, attempts=(replace(ada.attempts[0], parts=(SubmissionPart(tmp_path / "ffn.py", "ffn.py"),)),))
    students = [Student("ada", work={"ffn": work})]
    for roster in (None, roster_entries([{"id": "1", "name": "Ada"}], "the roster")):
        run_records.write_submissions(tmp_path, sources, {"ffn": [work]}, students, roster)
        stored = run_records.read_submissions(tmp_path)
        assert stored.members == {"ffn": [ada]} and stored.names == {"ffn": {"ada 1": "ada"}}
        assert stored.sources == [replace(sources[0], unpacked=None)] and stored.roster_entries(tmp_path) == roster
    run_records.write_settings(tmp_path, 7, tmp_path / "gone.toml", tmp_path / "people.csv")
    with pytest.raises(UsageError, match=r"last run is gone: .*gone\.toml"):
        run_records.find_policy(tmp_path, None, None, TRANSFORMER)
    assert run_records.find_roster(tmp_path, Policy(), None, None) is None
    (tmp_path / "people.csv").touch()
    assert run_records.find_roster(tmp_path, Policy(), None, None) == tmp_path / "people.csv"


@pytest.mark.parametrize(("parent", "name", "deleted"), [
    ("", "headway-x", True), ("", "thesis", False), ("deeper", "headway-x", False)
])  # fmt: skip
def test_locked_deletes_only_a_scratch_folder_of_a_killed_run(tmp_path, monkeypatch, parent, name, deleted):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    scratch = tmp_path / parent / name
    scratch.mkdir(parents=True)
    (tmp_path / LOCK).write_text(str(scratch))
    with locked(tmp_path) as record:
        assert scratch.exists() is not deleted
        record(Path("/x/headway-new"))
        assert (tmp_path / LOCK).read_text() == "/x/headway-new"
    assert (tmp_path / LOCK).read_text() == ""


def test_readable_names_keeps_safe_names():
    names = ["ada", "Ada Lovelace_500", "José", "01002", "bo.berg@uni.example", "王小明"]
    assert readable_names(names) == {name: name for name in names}


@pytest.mark.parametrize(("text", "readable"), [
    ("<img src=x onerror=alert(1)>", "img src x onerror alert(1) "), ("../../etc/passwd", "etc passwd "),
    ("50%", "50 "), ("a\u202eb\x1b[31m", "a b 31m "), ("-rf", "rf "),
    ("nul", ""), ("COM1.txt", ""), ("...", ""), ("", ""),
])  # fmt: skip
def test_readable_names_unsafe_name_gets_a_digest(text, readable):
    name = readable_names([text])[text]
    assert name.startswith(readable) and len(name) == len(readable) + 8
    assert not set(name) & set("/\\%#?*:|\"<>'`$&;\x1b\u202e")


def test_readable_names_are_unique_and_stable():
    texts = ["Ada", "ada", "a/b", "a:b", "a b", "x" * 500, "x" * 501, "é" * 200, "bo"]
    found = readable_names(texts)
    assert len({name.casefold() for name in found.values()}) == len(texts)
    assert all(len(name.encode()) <= MAX_NAME_BYTES + 9 for name in found.values())
    assert readable_names(texts[::-1]) == found
    assert readable_names(["a/b", "bo", "new"])["a/b"] == found["a/b"]
