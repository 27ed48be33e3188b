"""The terminal of `headway watch`: single keys, and a full screen that is restored for other programs."""

import contextlib
import os
import re
import select
import selectors
import shutil
import signal
import sys
from collections import deque
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

from autograder.core import ascii_fallback

ENTER_SCREEN, LEAVE_SCREEN = "\x1b[?1049h\x1b[?25l\x1b[2J", "\x1b[?25h\x1b[?1049l"
BEGIN_FRAME, END_FRAME = "\x1b[?2026h", "\x1b[?2026l"  # to show all at once; some terminals ignore them
KEY_NAMES = {"\x1b[A": "up", "\x1bOA": "up", "\x1b[B": "down", "\x1bOB": "down"}
KEY_NAMES |= {f"\x1b[{code}": name for code, name in (("5~", "page up"), ("6~", "page down"))}
KEY_NAMES |= {f"\x1b{code}": "home" for code in ("[H", "OH", "[1~", "[7~")}
KEY_NAMES |= {f"\x1b{code}": "end" for code in ("[F", "OF", "[4~", "[8~")}
KEY_NAMES |= {"\r": "enter", "\n": "enter", "\x1b": "escape"}
# Some keys send several characters, and a key that is held down arrives several times at once.
KEY = re.compile(r"\x1b(?:\[[0-9;]*[A-Za-z~]|O[A-Z])|.", re.DOTALL)
RESIZED = object()
POLL_SECONDS = 0.2


def parse_keys(text: str) -> list[str]:
    """Return the keys pressed, as printable characters or names; all others are left out."""
    return [KEY_NAMES.get(key, key) for key in KEY.findall(text) if key in KEY_NAMES or key.isprintable()]


class EventQueue:
    """A queue that any thread or signal handler adds to and the main thread reads."""

    def __init__(self) -> None:
        self._waiting: deque[Any] = deque()
        self._read, self._write = os.pipe()
        os.set_blocking(self._read, False)
        os.set_blocking(self._write, False)

    def put(self, event: Any) -> None:
        """Add an event, and wake the main thread."""
        self._waiting.append(event)
        with contextlib.suppress(BlockingIOError):  # the pipe is full, so the reader wakes anyway
            os.write(self._write, b"\0")

    def next_event(self, terminal: "InteractiveTerminal", seconds: float | None) -> Any:
        """Wait for the next event or key and return it; None if there is none for that many seconds, if any."""
        while True:
            if self._waiting:
                return self._waiting.popleft()
            with selectors.DefaultSelector() as selector:
                selector.register(self._read, selectors.EVENT_READ)
                if terminal.open:
                    selector.register(terminal.descriptor, selectors.EVENT_READ)
                ready = [key.fd for key, _ in selector.select(seconds)]
            if not ready:
                return None
            if self._read in ready:
                with contextlib.suppress(BlockingIOError):
                    os.read(self._read, 4096)
            else:
                self._waiting.extend(terminal.read())


@contextlib.contextmanager
def echo_disabled() -> Iterator[None]:
    """Disable echo: typed characters, Ctrl-C included, would disturb a display that redraws its own lines."""
    if not _owns_terminal():
        yield
        return
    import termios

    before = termios.tcgetattr(sys.stdin)
    silent = [*before]
    silent[3] &= ~termios.ECHO
    termios.tcsetattr(sys.stdin, termios.TCSADRAIN, silent)
    try:
        yield
    finally:
        if _owns_terminal():
            termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)


def _owns_terminal() -> bool:
    """Return whether this process may change the terminal's settings; a background job would be stopped for it."""
    try:
        import termios  # noqa: F401

        return os.tcgetpgrp(sys.stdin.fileno()) == os.getpgrp()
    except (ImportError, OSError, ValueError):
        return False


def wait_for_key(or_until: Callable[[], bool]) -> None:
    """Wait for any key, or until a condition holds; for Enter where single keys cannot be read."""
    if not _owns_terminal():
        sys.stdin.readline()
        return
    import termios
    import tty

    before = termios.tcgetattr(sys.stdin)
    tty.setcbreak(sys.stdin, termios.TCSADRAIN)  # The default, TCSAFLUSH, loses a key that was pressed already.
    try:
        while not or_until():
            if select.select([sys.stdin], [], [], POLL_SECONDS)[0]:
                os.read(sys.stdin.fileno(), 1024)
                return
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)


class InteractiveTerminal:
    """Unbuffered keys and a full screen, as a context manager.

    A resize becomes the event `RESIZED`. Ctrl-Z restores the terminal, stops the process, and takes the terminal again
    when the process continues.
    """

    def __init__(self, events: EventQueue) -> None:
        self._events = events
        self.descriptor = sys.stdin.fileno()
        self.open = True
        self._handlers: dict[int, Any] = {}

    def __enter__(self) -> "InteractiveTerminal":
        self._take()
        for number in (signal.SIGWINCH, signal.SIGCONT, signal.SIGTERM, signal.SIGHUP):
            self._handlers[number] = signal.signal(number, self._handle_signal)
        self._handlers[signal.SIGTSTP] = signal.signal(signal.SIGTSTP, self._handle_stop)
        return self

    def __exit__(self, *exc: object) -> None:
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        self._restore()

    def read(self) -> list[str]:
        """Return the keys pressed, as characters or names."""
        try:
            content = os.read(self.descriptor, 1024)
        except OSError:
            content = b""
        if not content:  # the terminal is gone
            self.open = False
            return ["q"]
        return parse_keys(content.decode("utf-8", "ignore"))

    def size(self) -> tuple[int, int]:
        """Return the columns and lines of the terminal."""
        size = shutil.get_terminal_size()
        with contextlib.suppress(OSError):
            size = os.get_terminal_size(sys.stdout.fileno())
        return max(size.columns, 20) if size.columns else 80, max(size.lines, 5) if size.lines else 24

    def show(self, lines: list[str]) -> None:
        """Redraw the screen without flicker: overwrite each line, then clear the rest."""
        body = "\r\n".join(f"{line}\x1b[K" for line in lines)
        self.write(f"{BEGIN_FRAME}\x1b[H{body}\x1b[J{END_FRAME}")

    def write(self, text: str) -> None:
        """Write text to the terminal, bypassing Python's buffers because signal handlers write, too."""
        content = text.encode(sys.stdout.encoding, ascii_fallback.ERRORS)
        while content:
            content = content[os.write(sys.stdout.fileno(), content) :]

    @contextlib.contextmanager
    def suspended(self) -> Iterator[None]:
        """Restore the terminal while another program, such as an editor, uses it."""
        self._restore()
        try:
            yield
        finally:
            self._take()

    def _take(self) -> None:
        import termios
        import tty

        self._before = termios.tcgetattr(self.descriptor)
        tty.setcbreak(self.descriptor)  # unbuffered and without echo; Ctrl-C and Ctrl-Z remain signals
        self.write(ENTER_SCREEN)

    def _restore(self) -> None:
        import termios

        with contextlib.suppress(OSError, termios.error):
            self.write(LEAVE_SCREEN)
            termios.tcsetattr(self.descriptor, termios.TCSADRAIN, self._before)

    def _handle_signal(self, number: int, frame: FrameType | None) -> None:
        self._events.put("q" if number in (signal.SIGTERM, signal.SIGHUP) else RESIZED)

    def _handle_stop(self, number: int, frame: FrameType | None) -> None:
        self._restore()
        handler = signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTSTP)  # the process is stopped here until it continues
        signal.signal(signal.SIGTSTP, handler)
        self._take()
        self._events.put(RESIZED)
