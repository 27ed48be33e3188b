"""The workspace as a whole: what is opened, recorded, watched, packed."""

import io
import json
import os
import sys
import zipfile
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest
from support.commands import invoke, succeed
from support.editing import edit

from autograder import __version__
from autograder.courses.transformer import TRANSFORMER
from autograder.documents.results import CheckResult, SubmissionResult
from autograder.workspace import archive, create, editor, progress, state
from autograder.workspace.check import check_workspace, statuses_of
from autograder.workspace.session import WatchSession
from autograder.workspace.terminal import parse_keys
from autograder.workspace.workspace import Workspace

INTERPRETER = "python.defaultInterpreterPath"


def test_create_writes_valid_editor_settings(folder):
    assert "headway watch" in (folder / ".vscode" / "tasks.json").read_text()
    assert json.loads((folder / ".vscode" / "extensions.json").read_text())["recommendations"]
    assert Path(json.loads((folder / ".vscode" / "settings.json").read_text())[INTERPRETER]).is_file()
    assert state.load(folder).content[progress.VERSION] == __version__


@pytest.mark.skipif(os.name == "nt", reason="the paths are POSIX")
@pytest.mark.parametrize(("executable", "written"), [
    ("/c/ada/my-gpt/.venv/bin/python", "${workspaceFolder}/.venv/bin/python"),
    ("/c/ada/.venv/bin/python", "${workspaceFolder}/../.venv/bin/python"), ("/usr/bin/python3", "/usr/bin/python3"),
])  # fmt: skip
def test_interpreter_path_near_the_workspace_is_relative(executable, written):
    assert create.interpreter_path(Path("/c/ada/my-gpt"), executable) == written
    assert create.interpreter_path(Path("/my-gpt"), executable) == executable


@pytest.mark.skipif(os.name == "nt", reason="the commands are those of a POSIX shell")
@pytest.mark.parametrize(("prefix", "first"), [
    ("/c/my env", ". '/c/my env/bin/activate'"), ("/c/pipx/venvs/headway", "cd"), ("/c/uv/tools/headway", "cd"),
])  # fmt: skip
def test_return_commands_activate_what_needs_it(monkeypatch, prefix, first):
    monkeypatch.setattr(sys, "prefix", prefix)
    monkeypatch.delenv("CONDA_DEFAULT_ENV", raising=False)
    commands = create.return_commands(Path("/c/my gpt"))
    assert commands[0].startswith(first) and commands[-2:] == ["cd '/c/my gpt'", "headway"]
    monkeypatch.setenv("CONDA_DEFAULT_ENV", "my env")
    assert create.return_commands(Path("/c"))[0] == "conda activate 'my env'"


def test_readme_of_workspace_says_how_to_come_back(tmp_path):
    folder = tmp_path / "my-gpt"
    assert invoke("init", folder).returncode == 0
    text = (folder / "README.md").read_text("utf-8")
    assert f"    cd {folder}\n    headway\n" in text.partition("## Coming back")[2]


@pytest.fixture
def passed_softmax():
    check = CheckResult("softmax.softmax::x", "softmax.softmax", "x", "passed", 1.0, 1.0)
    return SubmissionResult("w", "", 0, checks=[check])


def test_record_keeps_what_other_commands_recorded(workspace, passed_softmax):
    other = Workspace.open(workspace.folder)
    other.state.section("hints")["softmax.softmax"] = 2
    other.record_current_function("ffn.relu")
    workspace.record(passed_softmax)
    reopened = Workspace.open(workspace.folder)
    assert reopened.statuses == {"softmax.softmax": "passed"} and reopened.current_function == "ffn.relu"


def test_check_records_what_to_work_on_next(workspace, passed_softmax, monkeypatch):
    given, names = [], ("softmax.softmax", "ffn.relu")
    monkeypatch.setattr("autograder.engine.session.check", lambda *call: given.append(call[2]) or passed_softmax)
    outcome = check_workspace(workspace, names[:1], seed=7)
    assert workspace.statuses == {} and "softmax.log_softmax" in outcome.next_step and outcome.finished is None
    passed_softmax.checks.append(CheckResult("ffn.relu::x", "ffn.relu", "x", "failed", 1.0))
    assert "ffn.relu" in check_workspace(workspace, names).next_step and workspace.current_function == "ffn.relu"
    assert statuses_of(workspace, (*names, "gpt.gpt")) == {"softmax.softmax": "passed", "ffn.relu": "failed"}
    check_workspace(workspace, tuple(TRANSFORMER.functions))
    assert [options.functions for options in given] == [names[:1], names, ("gpt.gpt",), None]
    assert given[0].seed == 7 and all(options.sandbox is workspace.sandbox for options in given)
    passed_softmax.checks.pop()
    edit(workspace.folder / "softmax.py", 'raise NotImplementedError("softmax.log_softmax")', "return x")
    assert "Next: softmax.log_softmax, which has not" in check_workspace(workspace, names[:1]).next_step


def test_record_without_save_is_forgotten(workspace, passed_softmax):
    workspace.record(passed_softmax, save=False)
    assert workspace.statuses == {"softmax.softmax": "passed"}
    assert Workspace.open(workspace.folder).progress == {}


@pytest.mark.parametrize(("name", "resolved"), [
    ("softmax", "softmax"), ("4", "softmax"), ("softmax.py", "softmax"), ("softmax.softmax", "softmax.softmax"),
])  # fmt: skip
def test_resolve_name(workspace, name, resolved):
    assert workspace.resolve_name(name) == resolved


def test_locate_stub_of_renamed_function_finds_it(folder, workspace):
    path = folder / "tokenizer.py"
    edit(path, "def build_vocab(", "def build_vocabulary(")
    line = next(i for i, text in enumerate(path.read_text("utf-8").split("\n"), 1) if "def build_vocab" in text)
    file, at, text = editor.locate_stub(workspace, "tokenizer.build_vocab")
    assert (file, at) == ("tokenizer.py", 0)
    assert f"build_vocabulary (line {line})" in text
    path.write_text("def encode(text, stoi):\n    pass\n")
    text = editor.locate_stub(Workspace.open(folder), "tokenizer.decode")[2]
    assert "encode" not in text  # encode belongs to the course


@pytest.mark.parametrize(("variables", "command", "said"), [
    ({"EDITOR": "vi -R"}, "vi -R +7 a.py", ""), ({"VISUAL": "nano", "EDITOR": "vi"}, "nano +7 a.py", ""),
    ({"EDITOR": "/opt/code"}, "/opt/code --goto a.py:7", "opened a.py in code"),
    ({"EDITOR": "kate", "TERM_PROGRAM": "vscode"}, "kate --line 7 a.py", "opened a.py in kate"),
    ({"TERM_PROGRAM": "vscode"}, "code --goto a.py:7", "opened a.py in code"),
])  # fmt: skip
def test_editor_gets_the_line_and_only_one_without_a_window_gets_the_terminal(monkeypatch, variables, command, said):
    started = []
    terminal = SimpleNamespace(suspended=lambda: nullcontext(started.append("suspended")))
    monkeypatch.setattr(editor, "os", SimpleNamespace(environ=variables))
    monkeypatch.setattr("shutil.which", lambda name: name)
    for name in ("run", "Popen"):
        monkeypatch.setattr(f"subprocess.{name}", lambda words, **how: started.append(" ".join(words)))
    assert editor.open_in_editor(Path("a.py"), 7, terminal) == said
    assert started == ([command] if said else ["suspended", command])


@pytest.mark.parametrize(("typed", "keys"), [
    ("n", ["n"]), ("\x1b[B\x1b[B\x1bOA\r", ["down", "down", "up", "enter"]), ("\x1b", ["escape"]),
    ("j\x1b[2~\x1b[1;5Bk\x00", ["j", "k"]), ("\x1b[5~\x1b[6~\x1b[H\x1bOF", ["page up", "page down", "home", "end"]),
])  # fmt: skip
def test_parse_keys_separates_keys_that_arrive_together(typed, keys):
    assert parse_keys(typed) == keys


def test_session_starts_at_work_begun_before(folder):
    def focus():
        return WatchSession(Workspace.open(folder), checker=None).focus

    assert focus() == "tokenizer.build_vocab"
    edit(folder / "softmax.py", 'raise NotImplementedError("softmax.log_softmax")', "return x")
    assert focus() == "softmax.log_softmax"
    Workspace.open(folder).record_current_function("gpt.gpt")
    assert focus() == "gpt.gpt"


def test_watch_and_serve_pass_their_options_on(folder, monkeypatch):
    pytest.importorskip("uvicorn")
    used = []
    for name in ("workspace.watch", "workspace.watch_plain", "web.serve.server"):
        monkeypatch.setattr(
            f"autograder.{name}.run",
            lambda *_, name=name, console=None, echo=None, **how: used.append((name.rpartition(".")[2], *how.values())),
        )
    monkeypatch.setattr("autograder.workspace.watch.can_be_interactive", lambda: True)
    for arguments in ("watch", "watch --plain", "watch --poll", "serve", "serve --port 0 --no-browser --poll"):
        succeed(*arguments.split(), cwd=folder)
    watched = [("watch", False), ("watch_plain", False), ("watch", True)]
    assert used == [*watched, ("server", 8791, True, False), ("server", 0, False, True)]


def test_archive_of_same_work_is_identical(workspace):
    contents = archive.collect_files(workspace)
    assert set(contents) == {f"{module}.py" for module in TRANSFORMER.modules}
    manifest = {"schema": archive.SCHEMA}
    content = archive.make_archive(contents, manifest)
    assert content == archive.make_archive(contents, manifest)
    with zipfile.ZipFile(io.BytesIO(content)) as opened:
        assert json.loads(opened.read(archive.MANIFEST)) == manifest
        assert opened.read("softmax.py") == contents["softmax.py"]


def test_badges_are_awarded_once(workspace):
    passed = ["attention.attention", "ffn.relu"]
    assert len(progress.award_badges(workspace.state, passed)) == 1
    assert progress.award_badges(workspace.state, passed) == []


def test_loss_has_fallen_needs_a_lasting_drop():
    assert progress.loss_has_fallen([3.0] * 10 + [2.0] * 90) and not progress.loss_has_fallen([3.0] * 50 + [2.9] * 50)
    assert not progress.loss_has_fallen([3.0, 1.0])


@pytest.mark.slow
def test_first_new_line_skips_known_and_incomplete_lines():
    assert progress.first_new_line("\nemma\nb\nbolina\nzz", "emma\nava\n") == "bolina"
    assert progress.first_new_line("\nemma\nbol", "emma\nava\n") is None
