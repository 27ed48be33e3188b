"""`headway watch` in a real terminal: what its user sees after a save, a key, a resize, Ctrl-Z; and line by line."""

import os
import shlex
import shutil
import signal
import subprocess

import pytest
from support.commands import HEADWAY
from support.terminal import Terminal
from support.waiting import wait_until

from autograder.workspace.terminal import ENTER_SCREEN, LEAVE_SCREEN

pytestmark = pytest.mark.slow

STUB = 'raise NotImplementedError("softmax.softmax")'
RIGHT = """x = as_float(x) / temperature
    z = np.exp(x - x.max(axis, keepdims=True))
    return z / z.sum(axis, keepdims=True)"""
WRONG = RIGHT.replace("z / z.sum(axis, keepdims=True)", "z")


@pytest.fixture(scope="module")
def fresh(tmp_path_factory):
    """A new workspace in which softmax is in hand."""
    folder = tmp_path_factory.mktemp("fresh") / "my-gpt"
    subprocess.run([*HEADWAY, "init", folder], check=True, capture_output=True)
    return folder


@pytest.fixture
def workspace(fresh, tmp_path):
    return shutil.copytree(fresh, tmp_path / "my-gpt")


@pytest.fixture
def watching(workspace):
    opened = []

    def start(*arguments, first="tokenizer.build_vocab is not written yet", **settings):
        terminal = Terminal([*HEADWAY, "watch", *arguments], workspace, **settings)
        opened.append(terminal)
        terminal.wait_for(first)
        return terminal

    yield start
    for terminal in opened:
        terminal.close()


def save(workspace, body, module="softmax", stub=STUB):
    path = workspace / f"{module}.py"
    text = (workspace.parent / "first").read_text() if (workspace.parent / "first").exists() else path.read_text()
    (workspace.parent / "first").write_text(text)
    path.write_text(text.replace(stub, body))


def test_a_session(watching, workspace):
    terminal = watching(columns=80, lines=24)
    save(workspace, WRONG)
    screen = terminal.wait_for("✗ softmax.softmax")
    assert "is not close to PyTorch's softmax" in screen
    assert "softmax.py:" in screen
    assert max(map(len, screen.split("\n"))) <= 80
    assert "\x1b]8;" in terminal.raw  # a link to the place
    terminal.press("n")
    terminal.wait_for("does not pass yet")
    terminal.press("h")
    terminal.wait_for("hint 1 of 3")
    terminal.press("m")
    terminal.wait_for("hint 2 of 3")
    terminal.press("h")
    terminal.press("l")
    terminal.wait_for("▶  ✗ softmax")
    terminal.press("\x1b[B")
    terminal.wait_for("▶  · log_softmax")
    terminal.press("l")
    terminal.wait_for("✗ softmax.softmax ·")
    save(workspace, RIGHT)
    terminal.wait_for("softmax.softmax is right")
    assert "1 of 63" in terminal.screen()
    terminal.press("n")
    terminal.wait_for("softmax.log_softmax is not written yet")
    terminal.press("q")
    assert terminal.wait_end() == 0
    assert "1 of 63 functions are right" in terminal.raw


def test_it_survives_what_editors_do(watching, workspace):
    terminal = watching()
    save(workspace, WRONG)
    terminal.wait_for("✗ softmax.softmax")
    path = workspace / "softmax.py"
    good = path.read_text().replace(WRONG, RIGHT)
    path.write_text(path.read_text().replace("return z", "return z +"))
    terminal.wait_for("SyntaxError")
    (workspace / "new").write_text(good)  # an atomic rename, as many editors save
    os.replace(workspace / "new", path)
    terminal.wait_for("softmax.softmax is right")
    path.unlink()
    terminal.wait_for("There is no file softmax.py")
    path.write_text(good)
    terminal.wait_for("softmax.softmax is right")
    path.rename(workspace / "elsewhere.py")
    terminal.wait_for("There is no file softmax.py")
    (workspace / "elsewhere.py").rename(path)
    terminal.wait_for("softmax.softmax is right")
    path.write_bytes(b"\xff\x00" * 20)
    terminal.wait_for("! softmax.softmax")
    with open(path, "w") as file:  # in pieces
        for part in (good[:300], good[300:2000], good[2000:]):
            file.write(part)
            file.flush()
    terminal.wait_for("softmax.softmax is right")
    path.write_text(good + "\n# nothing\n")
    terminal.wait_for("nothing that runs was changed")
    terminal.press("q")
    assert terminal.wait_end() == 0


# A stroke for every second that it runs: what else a busy machine takes its time over does not count.
LOOP = """import time
    began, strokes = time.monotonic(), 0
    while True:
        if time.monotonic() - began >= strokes:
            strokes += 1
            open({marker!r}, "a").write("|")"""


def test_a_new_save_ends_a_check_that_loops(watching, workspace, tmp_path):
    marker = tmp_path / "seconds"
    terminal = watching()
    save(workspace, LOOP.format(marker=str(marker)))
    wait_until(marker.exists)
    save(workspace, RIGHT)
    terminal.wait_for("softmax.softmax is right")
    assert len(marker.read_text()) < 10  # the limit of one call is 10 s
    terminal.press("q")
    assert terminal.wait_end() == 0


def test_what_runs_long_is_explained_meanwhile(watching, workspace):
    terminal = watching()
    save(workspace, "while True: pass")
    terminal.wait_for("after 10 s a call is stopped")
    terminal.wait_for("did not return within 10 s")
    assert "a call is stopped" not in terminal.screen()


def test_a_resize(watching):
    terminal = watching(columns=100, lines=40)
    terminal.resize(60, 15)
    terminal.wait_for(lambda screen: "q quit" in screen and max(map(len, screen.split("\n"))) <= 60)
    terminal.press("\x03")
    assert terminal.wait_end() == 0


def test_stop_and_go_on(workspace):
    command = f"{shlex.join(HEADWAY)} watch; echo STOPPED; read answer; fg"
    terminal = Terminal(["bash", "-mc", command], workspace)
    try:
        terminal.wait_for("tokenizer.build_vocab is not written yet")
        terminal.press("\x1a")
        terminal.wait_for("STOPPED")
        assert LEAVE_SCREEN in terminal.raw  # the shell had its screen again
        save(workspace, RIGHT)
        terminal.press("\r")
        terminal.wait_for("softmax.softmax is right")
        assert terminal.raw.count(ENTER_SCREEN) == 2
        terminal.press("q")
        assert terminal.wait_end() == 0
    finally:
        terminal.close()


def test_reset_asks_and_keeps_a_copy(watching, workspace):
    terminal = watching()
    save(workspace, WRONG)
    terminal.wait_for("✗ softmax.softmax")
    terminal.press("r")
    terminal.wait_for("y / n")
    terminal.press("n")
    terminal.wait_for("nothing was changed")
    terminal.press("ry")
    terminal.wait_for(lambda screen: "is not written yet" in screen and "is a stub again; yours is backups/" in screen)
    (copy,) = (workspace / "backups").iterdir()
    assert WRONG in copy.read_text()
    terminal.press("q")
    assert terminal.wait_end() == 0


def test_the_editor_gets_the_terminal(watching, workspace, tmp_path):
    script = tmp_path / "my-editor"
    script.write_text('#!/bin/sh\necho "editing $@"\nread answer\n')
    script.chmod(0o755)
    terminal = watching(EDITOR=str(script), VISUAL="")
    terminal.press("e")
    terminal.wait_for(lambda screen: "editing +" in screen)
    terminal.press("\r")
    terminal.wait_for("tokenizer.build_vocab is not written yet")
    terminal.press("q")
    assert terminal.wait_end() == 0


def test_what_breaks_later_work_is_said(watching, workspace, solutions):
    for name in ("softmax", "ffn"):
        shutil.copy(solutions / f"{name}.py", workspace / f"{name}.py")
    terminal = watching(first="softmax.softmax is right")
    terminal.wait_for("16 of 63")
    path = workspace / "softmax.py"
    good = path.read_text()
    path.write_text(good + "\n\ndef as_float(x):\n    return 1.0 + np.asarray(x)\n")
    terminal.wait_for("! ffn.relu was right and is not any more")
    path.write_text(good)
    terminal.wait_for("16 of 63")
    terminal.wait_for(lambda screen: "any more" not in screen)
    terminal.press("q")
    assert terminal.wait_end() == 0


def test_what_a_half_written_line_breaks_is_said_once(watching, workspace, solutions):
    path = workspace / "softmax.py"
    good = (solutions / "softmax.py").read_text("utf-8")
    path.write_text(good)
    terminal = watching(first="softmax.softmax is right")
    terminal.wait_for("5 of 63")
    path.write_text(good + "\n\ndef more(:\n")
    screen = terminal.wait_for("Python cannot read this file")
    assert "any more" not in screen
    path.write_text(good)
    terminal.wait_for("5 of 63")


def test_a_function_that_is_right_is_never_said_to_be_unwritten(watching, workspace, solutions):
    path = workspace / "softmax.py"
    good = (solutions / "softmax.py").read_text("utf-8")
    path.write_text(good)
    terminal = watching(first="softmax.softmax is right")
    terminal.wait_for("5 of 63")
    later = 'def cross_entropy(logits, targets):\n    raise NotImplementedError("softmax.cross_entropy")\n'
    path.write_text(f"{good}\n\n{later}")
    terminal.wait_for("! softmax.cross_entropy was right and is not any more")
    path.write_text(f"{good.replace('z = as_float(x)', 'z = 0.0 + as_float(x)', 1)}\n\n{later}")
    terminal.wait_for("softmax.softmax is right")
    terminal.wait_for(lambda screen: "! softmax.cross_entropy was" in screen and "not written" not in screen)
    terminal.press("q")
    assert terminal.wait_end() == 0


def test_line_by_line_for_pipes_and_screen_readers(workspace):
    process = subprocess.Popen(
        [*HEADWAY, "watch", "--poll"],
        cwd=workspace,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
    try:
        assert process.stdout is not None
        lines = iter(process.stdout.readline, "")
        assert any("tokenizer.build_vocab: not started" in line for line in lines)
        save(workspace, WRONG)
        line = next(line for line in lines if "softmax.softmax: failed" in line)
        assert "is not close to PyTorch's softmax (softmax.py:" in line
        assert "\x1b" not in line
        save(workspace, RIGHT)
        assert any("✓ softmax.softmax: passed" in line for line in lines)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.stdout.close()


def test_headway_alone_welcomes_once_and_watches(workspace):
    terminal = Terminal(HEADWAY, workspace)
    try:
        assert "Welcome to Headway" in terminal.wait_for("Press any key")
        terminal.press(" ")
        terminal.wait_for("tokenizer.build_vocab is not written yet")
        terminal.press("q")
        assert terminal.wait_end() == 0
    finally:
        terminal.close()
    again = Terminal(HEADWAY, workspace)
    try:
        assert "Welcome" not in again.wait_for("tokenizer.build_vocab is not written yet")
    finally:
        again.close()


def test_a_save_ends_the_welcome_and_is_in_hand(workspace):
    terminal = Terminal(HEADWAY, workspace)
    try:
        terminal.wait_for("or save one of the files")
        save(workspace, WRONG)
        terminal.wait_for("✗ softmax.softmax")
        terminal.press("q")
        assert terminal.wait_end() == 0
    finally:
        terminal.close()


def test_headway_alone_elsewhere_is_the_help(tmp_path):
    done = subprocess.run(HEADWAY, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "headway alone watches it" in done.stdout
    assert done.returncode == 0
