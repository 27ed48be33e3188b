"""`headway watch` in a real terminal: what it shows after a save, a key, a resize or Ctrl-Z; and as plain lines."""

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys

import pytest
from support.commands import HEADWAY
from support.softmax_code import BODY as RIGHT
from support.softmax_code import STUB
from support.terminal import Terminal
from support.waiting import wait_until

from autograder.course.stubs import bundled
from autograder.courses.transformer import TRANSFORMER
from autograder.workspace.terminal import ENTER_SCREEN, LEAVE_SCREEN

TOTAL = len(TRANSFORMER.functions)

pytestmark = pytest.mark.slow

WRONG = RIGHT.replace("z / z.sum(axis, keepdims=True)", "z")


@pytest.fixture
def started(folder):
    """Start a command in a terminal; at the end of the test, q must end it if it still runs."""
    opened = []

    def start(command, first, **settings):
        opened.append(Terminal(command, folder, **settings))
        opened[-1].wait_for(first)
        return opened[-1]

    yield start
    for terminal in opened:
        try:
            if terminal.process.poll() is None:
                terminal.press("q")
                assert terminal.wait_end() == 0
        finally:
            terminal.close()


@pytest.fixture
def watching(started, folder):
    """Start `headway watch`, and save a softmax with a wrong `body` if that is given."""

    def start(*arguments, body=None, first="def build_vocab(", command=HEADWAY, **settings):
        terminal = started([*command, "watch", *arguments], first, **settings)
        if body:
            save(folder, body)
            terminal.wait_for("✗ softmax.softmax")
        return terminal

    return start


@pytest.fixture
def plain_lines(folder):
    """Start `headway watch` in a pipe and return its lines; at the end of the test, Ctrl-C must end it."""
    processes = []

    def start(*arguments):
        command = [*HEADWAY, "watch", "--poll", *arguments]
        streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "text": True, "encoding": "utf-8"}
        processes.append(subprocess.Popen(command, cwd=folder, **streams))
        lines = iter(processes[0].stdout.readline, "")
        assert any("tokenizer.build_vocab: not started" in line for line in lines)
        return lines

    yield start
    try:
        processes[0].send_signal(signal.SIGINT)
        assert processes[0].wait(60) == 0
    finally:
        processes[0].kill()
        processes[0].stdout.close()


def save(folder, body):
    """Save the stub of softmax with another body."""
    (folder / "softmax.py").write_text((bundled("assignments") / "softmax.py").read_text("utf-8").replace(STUB, body))


def test_watch_full_session(watching, folder):
    terminal = watching(body=WRONG, columns=80, lines=24)
    screen = terminal.screen()
    assert "PyTorch's softmax" in screen and "softmax.py:" in screen
    assert max(map(len, screen.split("\n"))) <= 80
    assert "\x1b]8;" in terminal.raw  # a link to the line
    terminal.press("n", shows="does not pass yet")
    terminal.press("h", shows="hint 1 of 3")
    terminal.press("m", shows="hint 2 of 3")
    assert "PyTorch's softmax" in terminal.screen()  # the report stays under the hint
    terminal.press("h")
    terminal.press("l", shows="▶  ✗ softmax")
    terminal.press("\x1b[B", shows="▶  · log_softmax")
    terminal.press("l", shows="✗ softmax.softmax ·")
    screen = terminal.press("p", shows=lambda screen: "softmax.py:" not in screen)
    assert "PyTorch's softmax" in screen
    terminal.press("pg", shows=lambda screen: "The check says:" in screen and ">>>" in screen)
    terminal.press("\x04", shows="✗ softmax.softmax")
    save(folder, f'print("looked at x")\n    {RIGHT}')
    terminal.wait_for("✓ softmax.softmax")
    assert f"1 of {TOTAL}" in terminal.screen() and "It still prints, when it is called:" in terminal.screen()
    terminal.press("n", shows="def log_softmax(")
    terminal.press("q")
    assert terminal.wait_end() == 0 and f"1 of {TOTAL} functions pass" in terminal.raw


def test_watch_survives_unusual_saves(watching, folder):
    terminal = watching(body=WRONG)
    path = folder / "softmax.py"
    good = path.read_text().replace(WRONG, RIGHT)
    path.write_text(path.read_text().replace("return z", "return z +"))
    terminal.wait_for("SyntaxError")
    (folder / "new").write_text(good)  # many editors save by an atomic rename
    os.replace(folder / "new", path)
    terminal.wait_for("✓ softmax.softmax")
    path.unlink()
    terminal.wait_for("No such file: softmax.py")
    path.write_text(good)
    terminal.wait_for("✓ softmax.softmax")
    path.rename(folder / "elsewhere.py")
    terminal.wait_for("No such file: softmax.py")
    (folder / "elsewhere.py").rename(path)
    terminal.wait_for("✓ softmax.softmax")
    path.write_bytes(b"\xff\x00" * 20)
    terminal.wait_for("! softmax.py")
    with open(path, "w") as file:  # written in pieces
        for part in (good[:300], good[300:2000], good[2000:]):
            file.write(part)
            file.flush()
    terminal.wait_for("✓ softmax.softmax")
    path.write_text(good + "\n# nothing\n")
    terminal.wait_for("no code was changed")


# Write one stroke for each second that the loop runs, so that other delays on a busy machine do not count.
LOOP = """import time
    began, strokes = time.monotonic(), 0
    while True:
        if time.monotonic() - began >= strokes:
            strokes += 1
            open({marker!r}, "a").write("|")"""
# The limit of a call would end the loop within a second: here, every call may take a minute.
PATIENT_HEADWAY = """
from functools import partialmethod
from autograder.sandbox import limits
limits.Limits.__init__ = partialmethod(limits.Limits.__init__, least_seconds=60.0)
from autograder.cli import main
main()
"""


def test_new_save_ends_an_endless_check(watching, folder, tmp_path):
    marker = tmp_path / "seconds"
    terminal = watching(command=[sys.executable, "-c", PATIENT_HEADWAY])
    save(folder, LOOP.format(marker=str(marker)))
    wait_until(marker.exists)
    save(folder, RIGHT)
    terminal.wait_for("✓ softmax.softmax")
    assert len(marker.read_text()) < 10


def test_slow_check_is_explained(watching, folder):
    terminal = watching()
    save(folder, "while True: pass")
    terminal.wait_for("takes too long")
    screen = terminal.wait_for("more than 1 s of CPU time")
    assert "stopped in" in screen and "while True: pass" in screen
    assert "takes too long" not in terminal.screen()


def test_ctrl_z_restores_the_shell_and_fg_resumes(started, folder):
    command = f"{shlex.join(HEADWAY)} watch; echo STOPPED; read answer; fg"
    terminal = started(["bash", "-mc", command], "def build_vocab(")
    terminal.press("\x1a", shows="STOPPED")
    assert LEAVE_SCREEN in terminal.raw  # the shell had its screen again
    save(folder, RIGHT)
    terminal.press("\r", shows="✓ softmax.softmax")
    assert terminal.raw.count(ENTER_SCREEN) == 2


def test_reset_asks_and_keeps_a_backup(watching, folder):
    terminal = watching(body=WRONG)
    terminal.press("r", shows="y / n")
    terminal.press("n", shows="nothing was changed")
    terminal.press("ry")
    terminal.wait_for(lambda screen: "def softmax(" in screen and "was reset (backup: backups/" in screen)
    (copy,) = (folder / "backups").iterdir()
    assert WRONG in copy.read_text()


def test_edit_lends_the_terminal_to_the_editor(watching, folder, tmp_path):
    script = tmp_path / "my-editor"
    script.write_text('#!/bin/sh\necho "editing $@"\nread answer\n')
    script.chmod(0o755)
    terminal = watching(EDITOR=str(script), VISUAL="")
    line = (folder / "tokenizer.py").read_text("utf-8").partition("def build_vocab(")[0].count("\n") + 1
    terminal.press("e", shows=lambda screen: f"editing +{line} " in screen)
    terminal.press("\r", shows=lambda screen: "editing +" not in screen and "def build_vocab(" in screen)


def test_solution_is_offered_after_the_last_hint_and_confirmed(watching, folder):
    terminal = watching(body=WRONG, columns=140, lines=60)
    assert "Return the softmax" in terminal.screen()  # the documentation beside the report
    terminal.press("s", shows="after the last hint")
    terminal.press("hmm", shows="s shows the solution")
    terminal.press("s", shows="This is recorded. y / n")
    terminal.press("n", shows="nothing was changed")
    assert not json.loads((folder / ".headway.json").read_text()).get("gave_up")
    terminal.press("sy", shows="softmax.softmax · the solution")
    assert "softmax.softmax" in json.loads((folder / ".headway.json").read_text())["gave_up"]
    terminal.press("\x1b", shows="✗ softmax.softmax")
    terminal.press("d", shows="- yours   + the solution")


def test_help_lists_all_keys_and_a_resize_redraws_within_the_width(watching):
    terminal = watching(columns=80, lines=40)
    assert "timed out" in terminal.press("?", shows="compare your code with the solution")
    terminal.press("?", shows=lambda screen: "timed out" not in screen)
    terminal.resize(60, 15)
    terminal.wait_for(lambda screen: "q quit" in screen and max(map(len, screen.split("\n"))) <= 60)
    terminal.press("\x03")
    assert terminal.wait_end() == 0


def test_screen_scrolls_to_the_end_of_the_documentation(watching, folder):
    terminal = watching(body=WRONG, columns=80, lines=24)
    terminal.wait_for("checked in")  # The search for the mistake has ended: nothing is added any more.
    assert "ValueError: if" in terminal.press("\x1b[F", shows="above · ↑ ↓")
    terminal.press("\x1b[H\x1b[B", shows="↑ 1 above")


def test_broken_dependent_function_is_reported(watching, folder, solutions):
    for name in ("softmax", "ffn"):
        shutil.copy(solutions / f"{name}.py", folder / f"{name}.py")
    passing = sum(len(TRANSFORMER.modules[name].functions) for name in ("softmax", "ffn"))
    terminal = watching(first="✓ softmax.softmax")
    terminal.wait_for(f"{passing} of {TOTAL}")
    path = folder / "softmax.py"
    good = path.read_text()
    path.write_text(good + "\n\ndef as_float(x):\n    return 1.0 + np.asarray(x)\n")
    terminal.wait_for("! ffn.relu used to pass and now fails")
    terminal.press("b", shows="Headway · my-gpt · ffn.")
    path.write_text(good)
    terminal.wait_for(f"{passing} of {TOTAL}")
    terminal.wait_for(lambda screen: "used to pass" not in screen)


def test_passing_assignment_that_breaks_is_reported(watching, folder, solutions):
    path = folder / "softmax.py"
    good = (solutions / "softmax.py").read_text("utf-8")
    path.write_text(good)
    terminal = watching(first="✓ softmax.softmax")
    terminal.wait_for(f"5 of {TOTAL}")
    path.write_text(good + "\n\ndef more(:\n")
    assert "used to pass" not in terminal.wait_for("Python cannot read softmax.py"), "a syntax error is reported once"
    path.write_text(good)
    terminal.wait_for(f"5 of {TOTAL}")
    later = 'def cross_entropy(logits, targets):\n    raise NotImplementedError("softmax.cross_entropy")\n'
    path.write_text(f"{good}\n\n{later}")
    terminal.wait_for("! softmax.cross_entropy used to pass and now fails")
    path.write_text(f"{good.replace('z = as_float(x)', 'z = 0.0 + as_float(x)', 1)}\n\n{later}")
    terminal.wait_for("✓ softmax.softmax")
    # A function that passed is never shown as a stub.
    terminal.wait_for(lambda screen: "! softmax.cross_entropy used" in screen and "def cross_entropy(" not in screen)


def test_watch_in_a_pipe_prints_plain_lines(plain_lines, folder):
    lines = plain_lines()
    save(folder, WRONG)
    line = next(line for line in lines if "softmax.softmax: failed" in line)
    assert "(softmax.py:" in line and "\x1b" not in line
    assert "input: x" in next(lines) + next(lines)
    assert any(line.startswith("softmax.softmax: ") and "likely cause: " in line for line in lines)
    save(folder, f'print("looked at x")\n    {RIGHT}')
    assert any(line == "softmax.softmax: passed\n" for line in lines)
    assert next(lines).startswith("  it still prints: looked at x")
    save(folder, RIGHT + "\n    return (")
    line = next(line for line in lines if "cannot read softmax.py" in line)
    assert "affects softmax, log_softmax" in line
    assert "softmax" not in next(lines).replace("softmax.py", "")
    save(folder, RIGHT)
    assert any(line == "softmax.softmax: passed\n" for line in lines)
    save(folder, WRONG)
    line = next(line for line in lines if line.startswith("used to pass"))
    assert line.endswith(": softmax.softmax\n")  # The report is just above.


def test_plain_watch_reports_a_finished_assignment_once(plain_lines, folder, solutions):
    lines = plain_lines("--plain")
    shutil.copy(solutions / "tokenizer.py", folder)
    assert any(line.startswith("tokenizer is complete: assignment 1 of") for line in lines)
    assert "5 of " in next(lines)
    assert next(lines).startswith("experiment: headway experiment tokenizer")
    shutil.copy(solutions / "softmax.py", folder)
    assert next(line for line in lines if " is complete" in line).startswith("softmax is complete")
    (folder / "tokenizer.py").unlink()
    assert any("there is no tokenizer.py" in line for line in lines)


def test_headway_without_command_welcomes_once(started):
    terminal = started(HEADWAY, "Press any key", columns=50)
    assert "Welcome to Headway" in terminal.screen()
    assert "transformer in\nNumPy, from" in terminal.screen(), "lines break between words"
    terminal.press(" ", shows="def build_vocab(")
    terminal.press("q")
    assert terminal.wait_end() == 0
    assert "Welcome" not in started(HEADWAY, "def build_vocab(").screen()


def test_key_pressed_before_it_is_waited_for_counts(started):
    code = """
import time
from autograder.workspace.terminal import wait_for_key
print("press", flush=True)
time.sleep(1)
wait_for_key(lambda: False)
print("begun", flush=True)
"""
    terminal = started([sys.executable, "-c", code], "press")
    terminal.press(" ", shows="begun")
    terminal.wait_end()


def test_save_ends_the_welcome(started, folder):
    terminal = started(HEADWAY, "or save a file")
    save(folder, WRONG)
    terminal.wait_for("✗ softmax.softmax")
