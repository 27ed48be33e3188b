"""Stop a call of student code that takes too long, in an interpreter that has no other thread or process.

A signal interrupts the code between two of its instructions: natively that of a timer, in Pyodide one that
`pyodide_worker.js` makes up. Code inside NumPy is not interrupted: the page ends the worker if nothing else happens.
"""

import contextlib
import signal
from collections.abc import Callable, Iterator, Sequence
from types import FrameType

TICK_SECONDS = 0.1
_set_timer = getattr(signal, "setitimer", lambda *_: (0.0, 0.0))  # Pyodide has none.


class CallStopped(BaseException):
    """Raised in student code. No `except Exception` of it catches this."""


@contextlib.contextmanager
def watch(folders: Sequence[str], seconds_to_wait: Callable[[], float]) -> Iterator[list[str]]:
    """Ask `seconds_to_wait` again and again while code in `folders` runs, and end it once that raises TimeoutError.

    Yields a list that then says where the code was, in the lines of `faulthandler`.
    """
    where: list[str] = []
    is_asking = False

    def look(number: int, frame: FrameType | None) -> None:
        nonlocal is_asking
        lines = []
        while frame is not None:
            if (file := frame.f_code.co_filename).startswith(tuple(folders)):
                lines.append(f'  File "{file}", line {frame.f_lineno} in {frame.f_code.co_name}\n')
            frame = frame.f_back
        if not lines or is_asking:  # Headway's own code runs.
            return
        is_asking = True
        try:
            seconds_to_wait()
        except TimeoutError:
            where[:] = lines
            raise CallStopped from None
        finally:
            is_asking = False

    handler, timer = signal.signal(signal.SIGALRM, look), _set_timer(signal.ITIMER_REAL, TICK_SECONDS, TICK_SECONDS)
    try:
        yield where
    finally:
        _set_timer(signal.ITIMER_REAL, *timer)  # An official solution that is measured meanwhile is watched, too.
        signal.signal(signal.SIGALRM, handler)
