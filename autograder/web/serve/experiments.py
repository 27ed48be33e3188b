"""Run the experiments of lessons as a terminal would: each in a process of its own, in the folder of the workspace."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import IO

from autograder.course import Curriculum
from autograder.errors import UsageError
from autograder.workspace import experiments
from autograder.workspace.experiments import ERROR_BYTES, OUTPUT_BYTES, CappedOutput, ExperimentRun, explain_errors
from autograder.workspace.workspace import Workspace

SECONDS = 300.0
SECONDS_TO_READ = 3.0  # after the end of the process, for what it has printed
STOPPED = "The experiment was stopped."


class Experiments:
    """Runs one experiment at a time: the next one stops the one before."""

    def __init__(self, folder: Path, curriculum: Curriculum, seconds: float = SECONDS) -> None:
        self._folder, self._curriculum, self._seconds = folder, curriculum, seconds
        self._lock = threading.Lock()
        self._running: _Program | None = None
        self._is_closed = False

    def run(self, module: str, name: str) -> ExperimentRun:
        """Run an experiment until it ends, is cancelled, or has taken too long."""
        with self._lock:
            if self._is_closed:
                raise UsageError("headway serve has ended. Start it again in your terminal")
            if self._running is not None:
                self._running.stop()
            # Its copy of notebooks lives as long as it does.
            workspace = Workspace.open(self._folder, self._curriculum)
            program = self._running = _Program(experiments.program(workspace, module, name), self._folder)
        try:
            output, errors, ending = program.wait(self._seconds)
        finally:
            with self._lock:
                if self._running is program:
                    self._running = None
        warnings, error = explain_errors(errors, program.code, self._folder, self._curriculum)
        if program.code != 0:
            ending = ending or error or _how_it_ended(program.code)
        return ExperimentRun(output + warnings, round(program.seconds, 2), ending)

    def cancel(self) -> None:
        """Stop the experiment that runs, if there is one."""
        with self._lock:
            if self._running is not None:
                self._running.stop()

    def close(self) -> None:
        """Stop the experiment that runs, and start no other."""
        self._is_closed = True
        self.cancel()


class _Program:
    """A Python program that runs, with the processes that it starts."""

    def __init__(self, arguments: list[str], folder: Path) -> None:
        self.code, self.seconds = 0, 0.0
        self._is_stopped = threading.Event()
        self._begin = time.monotonic()
        # Unbuffered, so that what it has printed is known if it is stopped.
        command = [sys.executable, "-u", "-X", "utf8", *arguments]
        environment = {**os.environ, "PYTHON_COLORS": "0", "PYTHONIOENCODING": "utf-8:backslashreplace"}
        self._process = subprocess.Popen(
            command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip
        self._output, self._errors = CappedOutput(OUTPUT_BYTES), CappedOutput(ERROR_BYTES)
        assert self._process.stdout is not None and self._process.stderr is not None
        self._readers = [
            threading.Thread(target=_read, args=(stream, kept), name="experiment", daemon=True)
            for stream, kept in ((self._process.stdout, self._output), (self._process.stderr, self._errors))
        ]
        for reader in self._readers:
            reader.start()

    def wait(self, seconds: float) -> tuple[str, str, str]:
        """Return the output, the errors, and why the program was ended, if it was."""
        ending = ""
        try:
            self.code = self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            ending = f"The experiment did not end within {seconds:g} s, so it was stopped."
        self.seconds = time.monotonic() - self._begin
        self._end()
        self._process.wait()
        for reader in self._readers:
            reader.join(SECONDS_TO_READ)
        if self._is_stopped.is_set():
            ending = STOPPED
        return self._output.text(), self._errors.text(), ending

    def stop(self) -> None:
        """End the program at once."""
        self._is_stopped.set()
        self._end()

    def _end(self) -> None:
        """Kill the program and its children, which may outlive it."""
        if sys.platform == "win32":
            if self._process.poll() is None:
                command = ["taskkill", "/F", "/T", "/PID", str(self._process.pid)]
                subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)


def _read(stream: IO[bytes], kept: CappedOutput) -> None:
    with stream:
        while data := os.read(stream.fileno(), 1 << 16):
            kept.write(data)


def _how_it_ended(code: int) -> str:
    if code == -9:
        return "The experiment was killed, perhaps because there is not enough memory."
    return f"The experiment ended with exit code {code}."
