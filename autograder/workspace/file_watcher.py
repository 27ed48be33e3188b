"""Watch a workspace for saved Python files and notebooks, in a thread. Reports that something may have changed."""

import contextlib
import os
import threading
from collections.abc import Callable
from pathlib import Path

from autograder.core.files import file_stamp
from autograder.workspace.notebook_files import FOLDER

# Editors save in bursts (truncate and write, or write elsewhere and rename), so wait for a quiet STEP, but at most
# DEBOUNCE. Report a possible change every RECHECK, in case the system misses an event. All in milliseconds.
STEP, DEBOUNCE, RECHECK, POLL = 5, 80, 2000, 250
SAVED, REREAD = object(), object()  # events for a reported change, and for one that may have been missed


def file_stamps(folder: Path) -> dict[Path, tuple[int, ...]]:
    """Return what tells each Python file and notebook of a workspace from a changed one."""
    paths = (*folder.glob("*.py"), *folder.glob("*.ipynb"), *(folder / FOLDER).glob("*.ipynb"))
    return {path: file_stamp(path) for path in paths}


class FileWatcher(threading.Thread):
    """Calls `on_event` with SAVED after each burst of changes to a workspace, else with REREAD every RECHECK ms.

    With `poll`, looks at the files four times a second instead of asking the system, for network file systems.
    """

    def __init__(self, folder: Path, on_event: Callable[[object], None], poll: bool) -> None:
        super().__init__(name="file watcher", daemon=True)
        self._folder = folder
        self._on_event, self._poll = on_event, poll
        self._ended = threading.Event()
        self.start()

    def close(self) -> None:
        """Ask the thread to end."""
        self._ended.set()

    def run(self) -> None:
        """Watch until closed, also when the folder is replaced by another one."""
        while not self._ended.is_set():
            with contextlib.suppress(OSError, RuntimeError):  # no such folder, or no more watches: try again
                self._watch()
            if self._ended.wait(RECHECK / 1000):
                return
            with contextlib.suppress(OSError):  # The folder is being deleted.
                self._on_event(REREAD)

    def _inodes(self) -> dict[Path, int]:
        """Return the folders to watch with their inodes; JupyterLab's checkpoints are in a folder below them."""
        inodes = {self._folder: os.stat(self._folder).st_ino}
        with contextlib.suppress(OSError):  # The folder of notebooks need not exist.
            inodes[self._folder / FOLDER] = os.stat(self._folder / FOLDER).st_ino
        return inodes

    def _watch(self) -> None:
        import watchfiles

        inodes = self._inodes()
        for changes in watchfiles.watch(
            *inodes,
            watch_filter=lambda change, path: path.endswith((".py", ".ipynb")),
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
            if not changes and self._inodes() != inodes:
                return
            self._on_event(SAVED if changes else REREAD)
