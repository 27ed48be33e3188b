"""State of the student's work: progress, backups, resets, updates, solutions, archives."""

import datetime
import json
import zipfile

import pytest

from autograder import __version__
from autograder.core.relative_time import ago
from autograder.courses.transformer import TRANSFORMER
from autograder.curriculum.stubs import bundled
from autograder.errors import UsageError
from autograder.results import CheckResult
from autograder.workspace import badges, create, editor, files, progress, solutions, state, submit
from autograder.workspace.session import Live
from autograder.workspace.terminal import keys_in


def result(function, status="passed", possible=1.0):
    return CheckResult(f"{function}::x", function, "x", status, possible, possible if status == "passed" else 0.0)


@pytest.fixture
def folder(tmp_path):
    create.create(tmp_path / "w", TRANSFORMER)
    return tmp_path / "w"


def test_progress_is_kept_and_counts_while_the_code_is_the_same(folder):
    remembered = state.load(folder)
    entries = progress.load(remembered)
    prints = dict.fromkeys(TRANSFORMER.functions, "a")
    assert progress.update(entries, [result("softmax.softmax"), result("ffn.relu", "failed")], prints) == (
        "softmax.softmax",
    )
    progress.store(remembered, entries)
    remembered.save()
    again = progress.load(state.load(folder))
    assert again == entries
    assert progress.valid(again, prints) == {"softmax.softmax": "passed", "ffn.relu": "failed"}
    assert progress.valid(again, prints | {"ffn.relu": "b"}) == {"softmax.softmax": "passed"}
    assert progress.update(again, [result("softmax.softmax")], prints) == ()


@pytest.mark.parametrize("content", [[], {"softmax.softmax": 3}, {"softmax.softmax": {"print": 1}}, {"x.y": {}}, "no"])
def test_progress_that_makes_no_sense_is_none(folder, content):
    remembered = state.load(folder)
    remembered.content[progress.KEY] = content
    assert progress.load(remembered) == {}


def test_progress_of_another_kit_is_none(folder):
    remembered = state.load(folder)
    entries = {}
    progress.update(entries, [result("ffn.relu")], dict.fromkeys(TRANSFORMER.functions, "a"))
    progress.store(remembered, entries)
    assert progress.load(remembered)
    remembered.content[progress.KIT] = "0.0.1"
    assert progress.load(remembered) == {}


def test_since_stays_while_the_status_does():
    entries, prints = {}, dict.fromkeys(TRANSFORMER.functions, "a")
    progress.update(entries, [result("ffn.relu", "failed")], prints, "2026-01-01T00:00:00+00:00")
    progress.update(entries, [result("ffn.relu", "failed")], prints, "2026-01-02T00:00:00+00:00")
    assert entries["ffn.relu"].since == "2026-01-01T00:00:00+00:00"
    progress.update(entries, [result("ffn.relu")], prints, "2026-01-03T00:00:00+00:00")
    assert entries["ffn.relu"].since == "2026-01-03T00:00:00+00:00"
    now = datetime.datetime.fromisoformat("2026-01-05T01:00:00+00:00")
    assert ago(entries["ffn.relu"].since, now) == "2 d"


def test_next_comes_after_the_one_in_hand_and_bonus_last():
    statuses = dict.fromkeys(TRANSFORMER.functions, "passed")
    assert progress.next_open(statuses, TRANSFORMER) is None
    statuses["tokenizer.encode"] = statuses["ffn.relu"] = statuses["layernorm.rmsnorm"] = "failed"
    assert progress.next_open(statuses, TRANSFORMER, "softmax.softmax") == "ffn.relu"
    assert progress.next_open(statuses, TRANSFORMER, "ffn.relu") == "layernorm.rmsnorm"
    assert progress.next_open(statuses, TRANSFORMER) == "tokenizer.encode"
    statuses["softmax.softmax"] = "failed"  # stands before the one in hand, but belongs to the same assignment
    assert progress.next_open(statuses, TRANSFORMER, "softmax.cross_entropy") == "softmax.softmax"
    assert progress.next_open(statuses, TRANSFORMER, "softmax.softmax") == "ffn.relu"
    assert progress.next_open(statuses, TRANSFORMER, "layernorm.layernorm") == "ffn.relu"  # bonus work can wait
    assert "layernorm" in progress.passed_modules(statuses, TRANSFORMER)
    assert "ffn" not in progress.passed_modules(statuses, TRANSFORMER)


def test_reset_of_a_function_keeps_the_rest_and_a_copy(folder):
    path = folder / "softmax.py"
    solved = (bundled("solutions") / "softmax.py").read_text()
    path.write_text(solved)
    kept = files.reset(folder, "softmax.log_softmax", TRANSFORMER)
    assert (folder / kept).read_text() == solved
    text = path.read_text()
    assert files.function_text(text, "log_softmax") == files.function_text(
        files.stub_text("softmax", TRANSFORMER), "log_softmax"
    )
    assert files.function_text(text, "softmax") == files.function_text(solved, "softmax")
    second = files.reset(folder, "softmax", TRANSFORMER)
    assert second != kept
    assert path.read_text() == files.stub_text("softmax", TRANSFORMER)


def test_reset_of_what_python_cannot_read_names_the_way(folder):
    (folder / "softmax.py").write_text("def (")
    with pytest.raises(UsageError, match="headway reset softmax"):
        files.reset(folder, "softmax.softmax", TRANSFORMER)
    assert (folder / "softmax.py").read_text() == "def ("
    assert (folder / files.reset(folder, "softmax", TRANSFORMER)).read_text() == "def ("


def test_a_byte_order_mark_and_windows_line_ends_are_nothing(folder):
    path = folder / "softmax.py"
    solved = (bundled("solutions") / "softmax.py").read_bytes()
    path.write_bytes(b"\xef\xbb\xbf" + solved.replace(b"\n", b"\r\n"))
    mine, theirs = solutions.both_texts(folder, "softmax.softmax", TRANSFORMER)
    assert mine == theirs
    files.reset(folder, "softmax.log_softmax", TRANSFORMER)
    assert files.read(path) == files.replace_function(
        solved.decode(), "log_softmax", files.function_text(files.stub_text("softmax", TRANSFORMER), "log_softmax")
    )
    path.write_bytes(b"\xef\xbb\xbf" + files.stub_text("softmax", TRANSFORMER).encode())
    remembered = state.load(folder)
    assert files.update(folder, remembered) == []


def test_what_python_cannot_read_is_not_laid_beside_the_solution(folder):
    (folder / "softmax.py").write_text("def (")
    with pytest.raises(UsageError, match=r"Python cannot read softmax\.py .*line 1.*headway check softmax"):
        solutions.both_texts(folder, "softmax.softmax", TRANSFORMER)


def test_update_brings_new_stubs_and_leaves_work_alone(folder, monkeypatch):
    worked = (folder / "softmax.py").read_text().replace(
        'raise NotImplementedError("softmax.softmax")', "return my_work(x)"
    )  # fmt: skip
    (folder / "softmax.py").write_text(worked + "\n\ndef my_work(x):\n    return x\n")
    (folder / "ffn.py").unlink()
    new = files.stub_text

    def newer(module, curriculum):
        return (
            new(module, curriculum)
            .replace("import numpy as np", "import numpy as np  # newer", 1)
            .replace("Args:", "Newer args:")
        )

    monkeypatch.setattr(files, "stub_text", newer)
    remembered = state.load(folder)
    lines = files.update(folder, remembered)
    assert len(lines) == 12
    text = (folder / "softmax.py").read_text()
    assert "return my_work(x)" in text
    assert "def my_work" in text
    assert "# newer" not in text
    assert "Newer args:" not in files.function_text(text, "softmax")
    assert "Newer args:" in files.function_text(text, "log_softmax")
    assert (folder / "attention.py").read_text() == newer("attention", TRANSFORMER)
    assert (folder / "ffn.py").read_text() == newer("ffn", TRANSFORMER)
    assert files.update(folder, remembered) == []
    assert any(
        path.read_text() == worked + "\n\ndef my_work(x):\n    return x\n"
        for path in (folder / files.BACKUPS).iterdir()
    )


def test_a_renamed_function_is_said_to_be_missing_and_found_again(folder):
    path = folder / "tokenizer.py"
    path.write_text(path.read_text("utf-8").replace("def build_vocab(", "def build_vocabulary("), "utf-8")
    line = next(i for i, text in enumerate(path.read_text("utf-8").split("\n"), 1) if "def build_vocab" in text)
    file, at, text = editor.beginning(folder, "tokenizer.build_vocab")
    assert (file, at) == ("tokenizer.py", 0)
    assert "has no function build_vocab." in text
    assert f"Is it build_vocabulary, in line {line}? Then call it build_vocab again." in text
    path.write_text("def encode(text, stoi):\n    pass\n")
    assert "Is it" not in editor.beginning(folder, "tokenizer.decode")[2]  # encode is another of the course


@pytest.mark.parametrize(
    ("typed", "keys"),
    [
        ("n", ["n"]),
        ("\x1b[B\x1b[B\x1bOA\r", ["down", "down", "up", "enter"]),
        ("\x1b", ["escape"]),
        ("j\x1b[5~\x1b[1;5Bk\x00", ["j", "k"]),
    ],
)
def test_keys_that_come_at_once_are_told_apart(typed, keys):
    assert keys_in(typed) == keys


def test_what_was_begun_before_it_is_watched_is_in_hand(folder):
    class Nobody:
        def ask(self, request): ...

    assert Live(folder, Nobody(), TRANSFORMER).focus == "tokenizer.build_vocab"
    path = folder / "softmax.py"
    path.write_text(path.read_text("utf-8").replace('raise NotImplementedError("softmax.log_softmax")', "return x"))
    assert Live(folder, Nobody(), TRANSFORMER).focus == "softmax.log_softmax"
    remembered = state.load(folder)
    remembered.content[progress.AT] = "gpt.gpt"
    remembered.save()
    assert Live(folder, Nobody(), TRANSFORMER).focus == "gpt.gpt"


def test_every_solution_can_be_shown_alone():
    for name in TRANSFORMER.functions:
        text = files.solution_of(name, TRANSFORMER)
        compile(text, name, "exec")
        assert f"def {name.partition('.')[2]}(" in text


def test_the_solution_comes_after_a_pass_or_giving_up(folder):
    remembered = state.load(folder)
    one = ("softmax.softmax",)
    assert not solutions.require_open(folder, one, {"softmax.softmax"}, False, remembered)
    with pytest.raises(UsageError, match=r"headway solution softmax\.softmax --give-up"):
        solutions.require_open(folder, one, set(), False, remembered)
    assert solutions.require_open(folder, one, set(), True, remembered)
    assert "softmax.softmax" in remembered.content[solutions.GAVE_UP]
    assert not solutions.require_open(folder, one, set(), False, remembered)


@pytest.mark.parametrize(("text", "words"), [
    ('solutions = "never"', "switched the solutions off"),
    ('solutions = "after-pass"', "comes after"),
    ('solutions = "sometimes"', "none of"),
    ("solutions =", "cannot be read"),
])  # fmt: skip
def test_an_instructor_decides(folder, text, words):
    (folder / solutions.COURSE).write_text(text)
    with pytest.raises(UsageError, match=words):
        solutions.require_open(folder, ("softmax.softmax",), set(), True, state.load(folder))


def test_two_texts_side_by_side():
    rows = list(solutions.compare("a\nb\nc", "a\nx\nc\nd"))
    assert rows == [("same", "a", "a"), ("other", "b", "x"), ("same", "c", "c"), ("theirs", "", "d")]


def test_the_archive_is_the_same_for_the_same_work(folder, tmp_path):
    contents = submit.collect(folder, TRANSFORMER)
    assert set(contents) == {f"{module}.py" for module in TRANSFORMER.modules}
    about = {"schema": submit.SCHEMA}
    submit.write(tmp_path / "a.zip", contents, about)
    submit.write(tmp_path / "b.zip", contents, about)
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        assert json.loads(archive.read(submit.MANIFEST)) == about
        assert archive.read("softmax.py") == contents["softmax.py"]


def test_badges_are_told_once(folder):
    remembered = state.load(folder)
    assert badges.for_functions(remembered, ["attention.attention", "ffn.relu"]) == [
        "★ your first attention head looks back"
    ]
    assert badges.for_functions(remembered, ["attention.attention"]) == []


def test_losses_that_fall_and_names_that_are_new():
    assert badges.fell([3.0] * 10 + [2.0] * 90)
    assert not badges.fell([3.0] * 100)
    assert not badges.fell([3.0, 1.0])
    assert badges.invented("\nemma\nbolina\nzz", "emma\nava\n") == "bolina"
    assert badges.invented("\nemma\nbol", "emma\nava\n") is None


def test_a_workspace_has_editor_settings_that_are_json(folder):
    assert "headway watch" in (folder / ".vscode" / "tasks.json").read_text()
    assert json.loads((folder / ".vscode" / "extensions.json").read_text())["recommendations"]
    assert state.load(folder).content[progress.KIT] == __version__
