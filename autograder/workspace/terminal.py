"""The terminal as `headway watch` uses it: single keys, a screen of its own, given back whenever others need it."""

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

ENTER_SCREEN, LEAVE_SCREEN = "\x1b[?1049h\x1b[?25l\x1b[2J", "\x1b[?25h\x1b[?1049l"
BEGIN_FRAME, END_FRAME = "\x1b[?2026h", "\x1b[?2026l"
NAMES = {
    "\x1b[A": "up",
    "\x1b[B": "down",
    "\x1bOA": "up",
    "\x1bOB": "down",
    "\r": "enter",
    "\n": "enter",
    "\x1b": "escape",
}
# A key that sends several characters, or one character. Of a key held down several come at once.
KEY = re.compile(r"\x1b(?:\[[0-9;]*[A-Za-z~]|O[A-Z])|.", re.DOTALL)
RESIZED = object()
LOOK = 0.2  # how often it is looked whether something has happened, seconds


def keys_in(text: str) -> list[str]:
    """The keys that were pressed, as characters or names; those without either are left out."""
    return [NAMES.get(key, key) for key in KEY.findall(text) if key in NAMES or key.isprintable()]


class Events:
    """What happens, in one line: put from any thread or signal handler, taken by the main thread."""

    def __init__(self) -> None:
        self._waiting: deque[Any] = deque()
        self._read, self._write = os.pipe()
        for descriptor in (self._read, self._write):
            os.set_blocking(descriptor, False)

    def put(self, event: Any) -> None:
        """Add an event; wakes the one who waits."""
        self._waiting.append(event)
        with contextlib.suppress(BlockingIOError):  # full: it will wake anyway
            os.write(self._write, b"\0")

    def take(self, keys: "Keyboard | None" = None, seconds: float | None = None) -> Any:
        """The next event; keys of the keyboard are events, too. None, if nothing happens for so many seconds."""
        while True:
            if self._waiting:
                return self._waiting.popleft()
            with selectors.DefaultSelector() as selector:
                selector.register(self._read, selectors.EVENT_READ)
                if keys is not None and keys.open:
                    selector.register(keys.descriptor, selectors.EVENT_READ)
                ready = [key.fd for key, _ in selector.select(seconds)]
            if not ready:
                return None
            if self._read in ready:
                with contextlib.suppress(BlockingIOError):
                    os.read(self._read, 4096)
            elif keys is not None:
                self._waiting.extend(keys.read())


@contextlib.contextmanager
def echo_disabled() -> Iterator[None]:
    """What is typed is not shown meanwhile, Ctrl-C neither: it would move a display that draws over its own lines."""
    if not _has_terminal():
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
        if _has_terminal():
            termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)


def _has_terminal() -> bool:
    """Whether there is a terminal whose settings may be changed: a job in the background would be stopped for it."""
    try:
        import termios  # noqa: F401

        return os.tcgetpgrp(sys.stdin.fileno()) == os.getpgrp()
    except (ImportError, OSError, ValueError):
        return False


def key_or(happened: Callable[[], bool]) -> None:
    """Wait for any key, or until something has happened; without a terminal that gives single keys, for Enter."""
    if not _has_terminal():
        sys.stdin.readline()
        return
    import termios
    import tty

    before = termios.tcgetattr(sys.stdin)
    tty.setcbreak(sys.stdin)
    try:
        while not happened():
            if select.select([sys.stdin], [], [], LOOK)[0]:
                os.read(sys.stdin.fileno(), 1024)
                return
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)


class Keyboard:
    """Keys from the terminal, unbuffered; and its screen. A context manager.

    Signals: a resize is the event `RESIZED`; Ctrl-Z gives the terminal back, stops, and takes it again.
    """

    def __init__(self, events: Events) -> None:
        self._events = events
        self.descriptor = sys.stdin.fileno()
        self.open = True
        self._before: Any = None
        self._handlers: dict[int, Any] = {}

    def __enter__(self) -> "Keyboard":
        self._take()
        for number, handler in (
            (signal.SIGWINCH, self._resized),
            (signal.SIGTSTP, self._stop),
            (signal.SIGCONT, self._resized),
            (signal.SIGTERM, self._quit),
            (signal.SIGHUP, self._quit),
        ):
            self._handlers[number] = signal.signal(number, handler)
        return self

    def __exit__(self, *exc: object) -> None:
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        self._give_back()

    def read(self) -> list[str]:
        """The keys that were pressed, as characters or names."""
        try:
            content = os.read(self.descriptor, 1024)
        except OSError:
            content = b""
        if not content:  # the terminal is gone
            self.open = False
            return ["q"]
        return keys_in(content.decode("utf-8", "ignore"))

    def size(self) -> tuple[int, int]:
        """Columns and lines of the terminal."""
        found = shutil.get_terminal_size()
        with contextlib.suppress(OSError):
            found = os.get_terminal_size(sys.stdout.fileno())
        return max(found.columns, 20) if found.columns else 80, max(found.lines, 5) if found.lines else 24

    def show(self, lines: list[str]) -> None:
        """Draw the screen anew, without flicker: each line over the old one, then what is left is cleared.

        The marks around it ask the terminal to show all of it at once; one that does not know them ignores them.
        """
        body = "\r\n".join(f"{line}\x1b[K" for line in lines)
        self.write(f"{BEGIN_FRAME}\x1b[H{body}\x1b[J{END_FRAME}")

    def write(self, text: str) -> None:
        """Write to the terminal, all of it; past Python's buffers, because signal handlers write, too."""
        content = text.encode("utf-8", "replace")
        while content:
            content = content[os.write(sys.stdout.fileno(), content) :]

    @contextlib.contextmanager
    def lent(self) -> Iterator[None]:
        """While another program has the terminal: an editor."""
        self._give_back()
        try:
            yield
        finally:
            self._take()

    def _take(self) -> None:
        import termios
        import tty

        self._before = termios.tcgetattr(self.descriptor)
        tty.setcbreak(self.descriptor)  # keys at once and echo_disabled; Ctrl-C and Ctrl-Z stay signals
        self.write(ENTER_SCREEN)

    def _give_back(self) -> None:
        import termios

        with contextlib.suppress(OSError, termios.error):
            self.write(LEAVE_SCREEN)
            termios.tcsetattr(self.descriptor, termios.TCSADRAIN, self._before)

    def _resized(self, number: int, frame: FrameType | None) -> None:
        self._events.put(RESIZED)

    def _quit(self, number: int, frame: FrameType | None) -> None:
        self._events.put("q")

    def _stop(self, number: int, frame: FrameType | None) -> None:
        self._give_back()
        handler: Callable[..., Any] | Any = signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTSTP)  # here the process stands still until it is continued
        signal.signal(signal.SIGTSTP, handler)
        self._take()
        self._events.put(RESIZED)
