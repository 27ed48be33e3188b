"""The terminal as `headway watch` uses it: single keys, a screen of its own, given back whenever others need it."""

import contextlib
import os
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
RESIZED = object()


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

    def take(self, keys: "Keyboard | None" = None) -> Any:
        """The next event; keys of the keyboard are events, too."""
        while True:
            if self._waiting:
                return self._waiting.popleft()
            with selectors.DefaultSelector() as selector:
                selector.register(self._read, selectors.EVENT_READ)
                if keys is not None and keys.open:
                    selector.register(keys.descriptor, selectors.EVENT_READ)
                ready = [key.fd for key, _ in selector.select()]
            if self._read in ready:
                with contextlib.suppress(BlockingIOError):
                    os.read(self._read, 4096)
            elif keys is not None:
                self._waiting.extend(keys.read())


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
        text = content.decode("utf-8", "ignore")
        return (
            [NAMES[text]]
            if text in NAMES
            else [NAMES.get(key, key) for key in text if key.isprintable() or key in NAMES]
        )

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
        tty.setcbreak(self.descriptor)  # keys at once and unseen; Ctrl-C and Ctrl-Z stay signals
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
