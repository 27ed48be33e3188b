"""Let Ctrl-C ask a long task to stop, so that it can save its work."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def stop_on_ctrl_c() -> Iterator[threading.Event]:
    """Provide an event that Ctrl-C sets, so that a run can be saved; a second Ctrl-C interrupts at once."""
    stop_requested = threading.Event()

    def handle(number: int, frame: object) -> None:
        if stop_requested.is_set():
            raise KeyboardInterrupt
        stop_requested.set()

    previous = signal.signal(signal.SIGINT, handle)
    try:
        yield stop_requested
    finally:
        signal.signal(signal.SIGINT, previous)
