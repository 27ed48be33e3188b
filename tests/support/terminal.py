"""Run a program in a real pseudo-terminal with a terminal emulator: what its user sees, and can type."""

import codecs
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time

import pyte

from autograder.workspace.terminal import BEGIN_FRAME, END_FRAME


class Terminal:
    """Runs a command; `screen()` is what stands on the screen now."""

    def __init__(self, command, cwd, columns=100, lines=40, **environment):
        self.screen_ = pyte.Screen(columns, lines)
        self._stream = pyte.Stream(self.screen_)
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.raw = ""
        self.master, slave = pty.openpty()
        self.resize(columns, lines)
        plain = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "LINES", "NO_COLOR")}
        environment = {**plain, "TERM": "xterm-256color", "PYTHONUTF8": "1", **environment}
        streams = {"stdin": slave, "stdout": slave, "stderr": slave}
        session = {"start_new_session": True, "preexec_fn": _take_terminal}
        self.process = subprocess.Popen(list(map(str, command)), cwd=cwd, env=environment, **streams, **session)
        os.close(slave)

    def resize(self, columns, lines):
        self.screen_.resize(lines, columns)
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def feed(self, seconds):
        """Take what the program writes, waiting for something at most so long; whether anything came."""
        if not select.select([self.master], [], [], seconds)[0]:
            return False
        try:
            text = self._decoder.decode(os.read(self.master, 65536))
        except OSError:  # the program is gone
            return False
        self.raw += text
        self._stream.feed(text)
        return True

    def screen(self):
        return "\n".join(line.rstrip() for line in self.screen_.display)

    def wait_for(self, wanted, seconds=120.0):
        """Wait until `wanted` is on the screen (a text, or a predicate of the screen); returns the screen."""
        deadline = time.monotonic() + seconds
        seen = wanted if callable(wanted) else lambda screen: wanted in screen
        while self.raw.rfind(BEGIN_FRAME) > self.raw.rfind(END_FRAME) or not seen(self.screen()):
            left = deadline - time.monotonic()
            if left <= 0 or (not self.feed(min(left, 1.0)) and self.process.poll() is not None and not self.feed(0)):
                ended = self.process.poll()
                raise AssertionError(f"{wanted!r} is not on the screen (exit code {ended}):\n{self.screen()}")
        return self.screen()

    def press(self, keys, shows=None):
        """Type keys; with `shows`, wait until that is on the screen, and return the screen."""
        os.write(self.master, keys.encode())
        return shows and self.wait_for(shows)

    def wait_end(self, seconds=120.0):
        """Wait until the program has ended; its exit code."""
        deadline = time.monotonic() + seconds
        while self.process.poll() is None and time.monotonic() < deadline:
            self.feed(0.05)
        while self.feed(0):
            pass
        assert self.process.poll() is not None, self.screen()
        return self.process.returncode

    def close(self):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        os.close(self.master)


def _take_terminal():
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
