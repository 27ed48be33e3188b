"""A workspace whose folder and files have hostile names, or are not files at all: one that was downloaded, say."""

import contextlib
import io
import json
import os
import re
import socket
from contextlib import nullcontext
from types import SimpleNamespace

import pytest
from rich.console import Console
from support.commands import invoke, refusal

from autograder.core.text import clean_name
from autograder.courses.transformer import TRANSFORMER
from autograder.workspace import create, editor, watch_plain
from autograder.workspace.session import WatchSession
from autograder.workspace.watch import WatchLoop
from autograder.workspace.workspace import Workspace

HOSTILE = "\x1b]0;title\x07\x1b[31m[red]x\u202e\u2066\nLINE\r\x9b2J"
NAMES = [
    HOSTILE, "-rf", "--help", "$(touch run)", "a;touch run", "`touch run`", "[bold]x", "%s{0.__class__}", "x" * 249,
    "\u0430ttention", "soft\u200bmax", "", "\t", "e\u0301", "\udcff",
]  # fmt: skip
SHOWN = "[red]x LINE2J"

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows does not allow such names")


@pytest.fixture
def hostile(tmp_path, monkeypatch):
    """A workspace with hostile names, pipes, sockets, links in loops, devices and large files."""
    create.create(folder := tmp_path / HOSTILE, TRANSFORMER)
    for name in NAMES:
        with contextlib.suppress(OSError):  # macOS allows only UTF-8.
            (folder / f"{name}.py").write_text("x = 1\n")
            (folder / f"{name}.ipynb").write_text("{}")
    for name in ("pipe.py", "pipe.ipynb", "notebooks/pipe.ipynb"):
        os.mkfifo(folder / name)
    monkeypatch.chdir(folder)  # The path of a socket is short.
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket.py")
    for name, target in {"loop": "loop.py", "zero": "/dev/zero", "tty": "/dev/tty", "memory": "/proc/self/mem"}.items():
        (folder / f"{name}.py").symlink_to(target)
    (folder / "up").symlink_to("..")
    (folder / "folder.py").mkdir()
    (folder / "large.py").write_bytes(b"#" * (3 << 20))
    (folder / "null.py").write_bytes(b"\0" * 1000)
    (folder / "deep.py").write_bytes(b"(" * 100_000)
    return folder


def assert_harmless(text):
    """Fail if a terminal would do anything but show the text."""
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e\u2066]", text), repr(text)
    assert not [line for line in text.splitlines() if line.startswith("LINE")]


@pytest.mark.slow
@pytest.mark.parametrize("command", [["check", "softmax"], ["list"], ["hint", "softmax"], ["update"], ["runs"]])
def test_command_in_hostile_workspace_prints_only_text(hostile, command):
    done = invoke(*command, cwd=hostile)
    assert done.returncode in (0, 1), done.stderr
    assert_harmless(done.stdout + done.stderr)
    assert not (hostile / "run").exists()


@pytest.mark.parametrize("command", ["generate", "chat", "card", "check --dir", "import-model", "train --data"])
def test_error_about_a_hostile_name_prints_only_text(hostile, command):
    name = "x\x1b]0;title\x07.safetensors"
    (hostile / name).mkdir() if command == "import-model" else (hostile / name).write_bytes(b"x")
    assert_harmless(refusal(*command.split(), name, cwd=hostile))


def test_headway_beside_hostile_workspace_prints_only_text(hostile, tmp_path):
    done = invoke(cwd=tmp_path)
    assert done.returncode == 0 and clean_name(HOSTILE) == SHOWN and SHOWN in done.stdout
    assert_harmless(done.stdout)


def test_watch_shows_hostile_folder_as_one_line(hostile, monkeypatch):
    # There is nothing to check in this session: the program ends after its first line.
    session = SimpleNamespace(curriculum=TRANSFORMER, workspace=Workspace.open(hostile), begin=lambda: None)
    output = io.StringIO()
    monkeypatch.setattr(watch_plain, "watched", lambda folder, on_event, poll: nullcontext(session))
    with pytest.raises(AttributeError, match="checking"):
        watch_plain.run(hostile, poll=False, console=Console(file=output))
    assert output.getvalue() == f"watching {SHOWN}; press Ctrl-C to stop\n"


def test_watch_draws_hostile_folder_in_one_line(hostile):
    checker, lines = SimpleNamespace(submit=lambda request: None, cancel_before=lambda number: None), []
    session = WatchSession(Workspace.open(hostile), checker)
    session.begin()
    WatchLoop(session, SimpleNamespace(size=lambda: (100, 40), show=lines.extend), no_color=True).draw()
    assert SHOWN in lines[0]
    assert_harmless(re.sub(r"\x1b\[[\d;]*m|\x1b\]8;[^\x07\x1b]*\x1b\\", "", "\n".join(lines)))


@pytest.mark.parametrize("program", ["vscode", ""])
def test_link_to_a_line_contains_no_command_for_the_terminal(hostile, monkeypatch, program):
    monkeypatch.setenv("TERM_PROGRAM", program)
    link = editor.link(hostile, f"{HOSTILE}.py", 3)
    assert link.isascii() and link.isprintable()
    assert link.startswith("vscode://file/" if program else "file:///")
    assert editor.functions_of(Workspace.open(hostile), "pipe") == {}, "a pipe is not read"


def test_task_of_vscode_quotes_the_name_of_the_file(hostile):
    tasks = json.loads((hostile / ".vscode" / "tasks.json").read_text())["tasks"]
    assert [task["command"] for task in tasks] == ["headway watch", "headway"]
    assert tasks[1]["args"][-1] == {"value": "${fileBasenameNoExtension}", "quoting": "strong"}
