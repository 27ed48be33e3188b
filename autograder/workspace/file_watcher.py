"""Notices saves: watchfiles in a thread, which says that something may have changed, never what."""

import contextlib
import os
import threading
from collections.abc import Callable
from pathlib import Path

# Saves come in bursts (truncate and write, or write elsewhere and rename): wait until it is quiet for STEP ms, DEBOUNCE
# ms at most. Somebody looks after a save within RECHECK ms even if the system forgets to tell.
STEP, DEBOUNCE, RECHECK, POLL = 10, 80, 2000, 250


def stamps(folder: Path) -> dict[str, tuple[int, int]]:
    """When each Python file in a folder was written last, and its size: another answer after every save."""
    found = {}
    for path in folder.glob("*.py"):
        with contextlib.suppress(OSError):  # gone meanwhile
            about = path.stat()
            found[path.name] = (about.st_mtime_ns, about.st_size)
    return found


class Saves(threading.Thread):
    """Calls `tell` after each burst of changes to Python files in a folder, and now and then without.

    Args:
        poll: look at the files four times a second instead of asking the system, for network file systems.
    """

    def __init__(self, folder: Path, tell: Callable[[], None], poll: bool = False) -> None:
        super().__init__(name="saves", daemon=True)
        self._folder = folder
        self._tell = tell
        self._poll = poll
        self._ended = threading.Event()
        self.start()

    def close(self) -> None:
        """Stop; the thread ends by itself."""
        self._ended.set()

    def run(self) -> None:
        """Watch until closed; a folder that vanishes and comes back is watched again."""
        while not self._ended.is_set():
            with contextlib.suppress(OSError, RuntimeError):  # no such folder, or no more watches: again in a moment
                self._watch()
            if self._ended.wait(RECHECK / 1000):
                return
            self._tell()

    def _watch(self) -> None:
        import watchfiles

        identity = os.stat(self._folder).st_ino
        for changes in watchfiles.watch(
            self._folder,
            watch_filter=lambda change, path: path.endswith(".py"),
            step=STEP,
            debounce=DEBOUNCE,
            recursive=False,
            stop_event=self._ended,
            rust_timeout=RECHECK,
            yield_on_timeout=True,
            raise_interrupt=False,
            force_polling=self._poll or None,
            poll_delay_ms=POLL,
        ):
            if changes:
                self._tell()
            elif os.stat(self._folder).st_ino != identity:
                return
            else:
                self._tell()
