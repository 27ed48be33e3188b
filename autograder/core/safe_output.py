"""The one place where text reaches the terminal: control sequences in it are left out.

A terminal obeys the text that it shows: a sequence can fill the clipboard, set the title, change colors or hide lines.
Names, messages, code and generated text may come from somebody else's file, so commands run with these streams, whoever
prints. Headway's own colors and movements are written by `SafeConsole` (in `report/console.py`) and `erase_line`.
"""

import contextlib
import io
import os
import sys
from collections.abc import Iterator
from typing import Any, TextIO, cast

from autograder.core.text import without_controls


class _SafeBuffer(io.RawIOBase):
    """The bytes of a stream, to which click writes what is already encoded in UTF-8."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def writable(self) -> bool:
        return True

    def write(self, content: Any) -> int:
        self._stream.flush()
        self._stream.buffer.write(without_controls(bytes(content).decode("utf-8", "replace")).encode())
        self._stream.buffer.flush()
        return len(content)


class SafeStream(io.TextIOBase):
    """A text stream that writes no control sequences."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """Return the encoding of the stream."""
        return self.stream.encoding

    @property
    def errors(self) -> str | None:  # type: ignore[override]
        """Return how the stream writes what its encoding lacks."""
        return self.stream.errors

    @property
    def buffer(self) -> io.RawIOBase:
        """Return a binary stream that writes no control sequences either."""
        if os.name == "nt" and self.isatty():
            raise AttributeError("click writes to the console of Windows by itself where there is a buffer")
        return _SafeBuffer(self.stream)

    def write(self, text: str) -> int:
        """Write text without control sequences; raise TypeError for bytes, as every text stream does."""
        if not isinstance(text, str):
            raise TypeError(f"{type(text).__name__} is not text")
        self.stream.write(without_controls(text))
        return len(text)

    def flush(self) -> None:
        """Write what is buffered."""
        self.stream.flush()

    def fileno(self) -> int:
        """Return the descriptor of the stream."""
        return self.stream.fileno()

    def isatty(self) -> bool:
        """Return whether the stream is a terminal."""
        return self.stream.isatty()

    def writable(self) -> bool:
        """Return that the stream can be written to."""
        return True


@contextlib.contextmanager
def safe_streams() -> Iterator[None]:
    """Let standard output and standard error write no control sequences while the block runs."""
    before = sys.stdout, sys.stderr
    # A stream is None where its descriptor is closed.
    sys.stdout, sys.stderr = (stream and cast("TextIO", SafeStream(unwrapped(stream))) for stream in before)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def echo(text: object, *, end: str = "\n") -> None:
    """Print text without control sequences, where no command runs: in a notebook or a script."""
    print(without_controls(str(text)), end=end)  # noqa: T201


def unwrapped(stream: TextIO) -> TextIO:
    """Return the stream to which Headway's own control sequences, and bytes, are written."""
    return stream.stream if isinstance(stream, SafeStream) else stream


def erase_line() -> None:
    """Erase the line of standard error on which the cursor is."""
    stream = unwrapped(sys.stderr)
    stream.write("\r\x1b[K")
    stream.flush()
