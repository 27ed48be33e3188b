"""Exchange requests and answers with the process of one submission, within its limits."""

import contextlib
import os
import re
import secrets
import signal
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from autograder.core import wire_format
from autograder.core.files import read_at
from autograder.core.interpreter import cpu_seconds_of
from autograder.errors import CodeLine
from autograder.sandbox.call_timer import Activity, CallTimer, Deadline, SleepMeter
from autograder.sandbox.limits import Limits
from autograder.sandbox.workers import ExitStatus, Process, WorkerDied, Workers


class WorkerTimedOut(Exception):
    """A limit was used up before the answer came, and the process was killed; the text says which one."""

    def __init__(self, reason: str, *, of_call: bool = False, lines: Sequence[CodeLine] = ()) -> None:
        super().__init__(reason)
        self.of_call = of_call  # whether it was the limit of this call, and not of the whole submission
        self.lines = lines  # where the call was, according to its process; the innermost line is the last


# A line of `faulthandler`, which cuts long names.
_FRAME = re.compile(r'^  File "([^"\n]{1,600})", line (\d{1,7}) in (\w{1,80}|<\w{1,20}>)$', re.ASCII | re.MULTILINE)
MAX_LINES = 12


def stopped_lines(traceback: str, folder: Path) -> list[CodeLine]:
    """Return the lines of files in `folder` that a traceback of `faulthandler` passes through, the innermost last."""
    own = Path(str(folder).encode("ascii", "backslashreplace").decode())  # as `faulthandler` writes it
    found = [match.groups() for match in _FRAME.finditer(traceback)]
    lines = [CodeLine(Path(file).name, int(line), name) for file, line, name in found if Path(file).parent == own]
    return lines[:MAX_LINES][::-1]


@dataclass
class ResourceUsage:
    """What a submission has used so far, in all its processes."""

    seconds: float = 0.0  # wall time of its calls
    cpu_seconds: float = 0.0  # of the processes that have ended
    sleep: SleepMeter = field(default_factory=SleepMeter)  # of its processes during calls
    grader_seconds: float = 0.0  # CPU time of the grader itself
    official_seconds: float = 0.0  # CPU time of official solutions that were run to decide what a call may take
    memory_bytes: int = 0  # of the process that had the most
    printed: int = 0  # bytes, by the processes that have ended
    received: int = 0  # bytes of its answers
    processes: int = 0
    slow: set[str] = field(default_factory=set)  # functions that timed out, and modules that did while loading


class StudentProcess:
    """The process of one submission, started when it is first needed and again whenever it has ended.

    Several processes of one submission share its `usage`. Modules in `official` take the place of those in `folder`.
    """

    def __init__(
        self,
        workers: Workers,
        folder: Path,
        limits: Limits,
        usage: ResourceUsage | None = None,
        official: Path | None = None,
    ) -> None:
        self._workers, self._folder, self._limits = workers, folder.resolve(), limits
        self._folders = [str(path.resolve()) for path in (official, folder) if path]
        self._process: Process | None = None
        self._output: IO[bytes] | None = None
        self._shown = 0
        self._usage = usage or ResourceUsage()
        self._timer: CallTimer | None = None  # of the running call
        self.processes_started = 0

    def request(self, message: dict[str, Any], deadline: Deadline) -> dict[str, Any]:
        """Send one request and return its answer, which may contain the handles that the request issues.

        Raises:
            WorkerTimedOut: at the deadline, or if the submission has used up its time.
            WorkerDied: if the process ends, or sends anything but the answer.
        """
        self._require_time()
        process = self._running()
        started = time.monotonic()
        wall_seconds = self._limits.submission_seconds - self._usage.seconds
        used = cpu_seconds_of(process.pid)  # takes a twentieth of the time of `activity`
        timer = self._timer = CallTimer(deadline, wall_seconds, self.activity, self._usage.sleep, used)
        try:
            try:
                return self._exchange(process, message, timer)
            finally:
                self._timer = None
                timer.advance()  # The time of short calls counts, too.
                self._usage.seconds += time.monotonic() - started
        except TimeoutError:
            traceback = self._process.traceback() if self._process is not None else ""
            lines = stopped_lines(traceback, self._folder)
            self.end()
            self._require_time()
            reason = timer.reason or "it did not accept the request"
            raise WorkerTimedOut(reason, of_call=True, lines=lines) from None
        except (OSError, EOFError):
            ending = self._end_after_grace()
            if self._charged_seconds >= self._limits.cpu_seconds:
                self._require_time()
            raise WorkerDied(ending) from None
        except wire_format.FrameError as error:
            self.end()
            raise WorkerDied(f"its process sent something that is not an answer: {error}") from None

    @property
    def is_running(self) -> bool:
        """Whether a process is running that the next request will reach."""
        return self._process is not None

    @property
    def seconds_left(self) -> float | None:
        """Roughly how long the running call may still take, for another thread; None if no call is running."""
        return timer.seconds_left() if (timer := self._timer) else None

    @property
    def cpu_seconds(self) -> float:
        """CPU time of all processes so far, with that of the running one if this system can tell."""
        activity = self.activity()
        return self._usage.cpu_seconds + (activity.cpu_seconds if activity else 0.0)

    def activity(self) -> Activity | None:
        """Return what the running process has used so far; None if there is none, or this system cannot tell."""
        return self._process.activity() if self._process is not None else None

    def _exchange(self, process: Process, message: dict[str, Any], timer: CallTimer) -> dict[str, Any]:
        number = secrets.randbits(53)  # An answer forged in advance would have to guess it.
        process.send(wire_format.pack({**message, "id": number}))

        def receive_counted(count: int) -> bytes:
            self._usage.received += count
            data = process.receive(count, timer.seconds_to_wait)
            timer.note_answer()
            return data

        issued = message.get("handles", {}).values()
        reply = wire_format.read_frame(receive_counted, self._limits.result_bytes, issued)
        if not isinstance(reply, dict) or type(reply.get("id")) is not int or reply["id"] != number:
            raise wire_format.FrameError("it does not belong to the request")
        return reply

    @property
    def _charged_seconds(self) -> float:
        """CPU time, and the time asleep, which keeps a grading process from other work just as well."""
        asleep = self._usage.sleep.seconds
        # Honest code never sleeps, so that only a sleeper's running process is measured before each call.
        return asleep + self.cpu_seconds if asleep else self._usage.cpu_seconds

    def _require_time(self) -> None:
        sleep = ", which its sleep counts as" if self._usage.sleep.seconds else ""
        for used, allowed, what in (
            (self._usage.seconds, self._limits.submission_seconds, "time"),
            (self._charged_seconds, self._limits.cpu_seconds, f"CPU time{sleep}"),
        ):
            if used >= allowed:
                raise WorkerTimedOut(f"the submission has used up its {allowed:g} s of {what}")

    def read_output(self) -> str:
        """Return what was printed since the last call of this method; long output is shortened in the middle."""
        if self._output is None:
            return ""
        start, end, limit = self._shown, os.fstat(self._output.fileno()).st_size, self._limits.shown_bytes
        self._shown = end
        if end <= start:
            return ""
        try:
            if end - start <= limit:
                return read_at(self._output, start, end - start).decode("utf-8", "replace")
            head, tail = read_at(self._output, start, limit // 2), read_at(self._output, end - limit // 2, limit // 2)
        except OSError as error:  # The student's process shares the open file and may have changed its mode.
            return f"(the output cannot be read: {error.strerror})"
        # The cuts are between lines, if there are any.
        head, tail = head[: head.rfind(b"\n")] if b"\n" in head else head, tail[tail.find(b"\n") + 1 :] or tail
        gap = f"… {end - start - len(head) - len(tail):,} bytes omitted …"
        return f"{head.decode('utf-8', 'replace')}\n{gap}\n{tail.decode('utf-8', 'replace')}"

    def _running(self) -> Process:
        if self._process is None:
            if self._output is not None:
                self._output.close()
            self._output, self._shown = tempfile.TemporaryFile(), 0  # noqa: SIM115 (It lives as long as the process.)
            self.processes_started += 1
            self._usage.processes += 1
            limits = self._limits.for_child(self._charged_seconds, self._usage.printed)
            self._process = self._workers.start(self._folders, limits, self._output)
        return self._process

    def _end_after_grace(self) -> str:
        """End a process that no longer answers; return how it ended."""
        # The socket closes a moment before the process ends; killing it in that moment would hide the reason.
        time.sleep(0.02)
        try:
            code = self._end().code
        except WorkerDied as error:
            return str(error)
        if code < 0:
            return f"its process was ended by signal {-code} ({_signal_name(-code)})"
        return f"its process ended by itself with exit code {code} (os._exit, or a crash)"

    def _end(self) -> ExitStatus:
        assert self._process is not None and self._output is not None
        process, self._process = self._process, None
        ending = process.end()
        self._usage.cpu_seconds += ending.cpu_seconds
        self._usage.memory_bytes = max(self._usage.memory_bytes, ending.memory_bytes)
        self._usage.printed += os.fstat(self._output.fileno()).st_size
        return ending

    def end(self) -> None:
        """Kill the process. Its output can still be read; the next request starts another process."""
        if self._process is not None:
            with contextlib.suppress(WorkerDied):
                self._end()

    def interrupt(self) -> None:
        """Make the current request, in another thread, end at once as if the process had died."""
        if process := self._process:
            process.interrupt()

    def close(self) -> None:
        """Kill the process and discard its output."""
        self.end()
        if self._output is not None:
            self._output.close()
            self._output = None


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return "unknown"
