"""Start and end a process that trains or generates (`process.py`), and read its records in a thread."""

import contextlib
import json
import subprocess
import tempfile
import threading
from collections.abc import Callable
from typing import Any

import msgspec

from autograder.core.current_folder import python_command
from autograder.core.text import clean
from autograder.models.page.requests import PageJob

SECONDS_TO_SAVE = 10.0  # how long a stopped process may take to save, when the server ends
SECONDS_TO_END = 3.0

Record = dict[str, Any]


class TrainingJob:
    """A running process. `on_record` gets each record; the last one is "end", whatever happened.

    Both are called in the job's own thread.
    """

    def __init__(self, job: PageJob, on_record: Callable[[Record], None]) -> None:
        self._on_record = on_record
        self._ended_by_user = False
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (It lives as long as the process.)
        command = python_command("-X", "utf8", "-m", "autograder.models.page.process")
        # A session of its own: Ctrl-C in the server's terminal must not interrupt the process before it has saved.
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, encoding="utf-8",
            start_new_session=True,
        )  # fmt: skip
        self._send(msgspec.json.encode(job).decode())
        self._thread = threading.Thread(target=self._read, name="training", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Ask the process to stop and, if it trains, to save what it has."""
        self._send("stop")

    def end(self) -> None:
        """End the process at once; nothing is saved."""
        self._ended_by_user = True
        self._process.terminate()
        threading.Thread(target=self._kill_if_running, daemon=True).start()

    def close(self) -> None:
        """Stop the process because the server ends, and wait until it has saved."""
        self._close_input()
        try:
            self._process.wait(SECONDS_TO_SAVE)
        except subprocess.TimeoutExpired:
            self._process.terminate()
            self._kill_if_running()
        self._thread.join(SECONDS_TO_END)

    def _kill_if_running(self) -> None:
        try:
            self._process.wait(SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            self._process.kill()

    def _send(self, line: str) -> None:
        with contextlib.suppress(OSError, ValueError):  # The process has ended, which its thread reports.
            if self._process.stdin is not None:
                self._process.stdin.write(line + "\n")
                self._process.stdin.flush()

    def _close_input(self) -> None:
        with contextlib.suppress(OSError):  # The process has ended.
            if self._process.stdin is not None:
                self._process.stdin.close()

    def _read(self) -> None:
        last = ""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            try:
                record = json.loads(line)
            except ValueError:  # a line that was cut off when the process was ended
                break
            last = record["record"]
            self._on_record(record)
        code = self._process.wait()
        self._process.stdout.close()
        self._close_input()
        if last != "end":
            error = None if self._ended_by_user else self._why_it_ended(code)
            self._on_record({"record": "end", "stopped": self._ended_by_user, "error": error, "notes": []})
        self._errors.close()

    def _why_it_ended(self, code: int) -> str:
        if code == -9:
            return "the process was killed, perhaps because there is not enough memory. Choose a smaller model"
        self._errors.seek(0)
        lines = self._errors.read()[-4000:].decode("utf-8", "replace").strip().splitlines()
        reason = clean(lines[-1], 300) if lines else f"exit code {code}"
        return f"internal error (please report it): the process ended: {reason}"
