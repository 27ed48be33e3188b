"""Run a command that answers questions: one JSON object a line from standard input, one to standard output.

Whatever the command does, no answer that it has given is lost: it may crash, hang, answer in any order, leave questions
out or print other lines. A question on which it crashed or hung is left out, and the command is started again with the
questions after it.
"""

import contextlib
import os
import queue
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import IO

import msgspec

from autograder.benchmark.records import Answer, Question
from autograder.core.text import clean

MAX_ANSWER = 1 << 20  # bytes
MAX_FAILURES = 3  # in a row, each without any answer
MAX_PROBLEMS = 1000  # lines that are not answers; after that, the command is ended
END_SECONDS = 10.0  # for the command to end after its last answer
THREAD_SECONDS = 1.0  # for a pipe to close; a process that has left the command's group may keep it open
MODULES_VARIABLE = "BENCHMARK_MODULES"


@dataclass
class RunnerResult:
    """What a command has answered."""

    answers: dict[str, Answer] = field(default_factory=dict)  # by id
    missing: dict[str, str] = field(default_factory=dict)  # why a question has no answer, by id
    problems: list[str] = field(default_factory=list)  # lines that are no answers
    interrupted: bool = False  # The user pressed Ctrl-C.

    def add(self, other: "RunnerResult") -> None:
        """Add the result for other questions."""
        self.answers |= other.answers
        self.missing |= other.missing
        self.problems += other.problems


class CommandNotFound(Exception):
    """The command cannot be started."""


@dataclass
class RunnerProcess:
    """Asks one command; several of these can run at the same time."""

    command: Sequence[str]
    modules: str  # the folder with the official modules
    seconds: float  # between two answers
    on_answer: Callable[[], object] = lambda: None
    result: RunnerResult = field(default_factory=RunnerResult)
    _process: subprocess.Popen[bytes] | None = field(default=None, init=False)
    _stopped: threading.Event = field(default_factory=threading.Event, init=False)

    def stop(self) -> None:
        """From another thread: end the command, and ask no more."""
        self._stopped.set()
        if self._process is not None:
            _kill(self._process)

    def ask(self, questions: Sequence[Question]) -> RunnerResult:
        """Ask all questions, and return the answers; raise CommandNotFound if the command cannot be started."""
        pending = {question.id: question for question in questions}
        failures = 0
        while pending:
            before = len(pending)
            reason, is_complete = self._run_once(pending)
            if self._stopped.is_set():
                reason, is_complete = "not asked: interrupted", True
            if is_complete:
                self._give_up(pending, reason)
                break
            failures = 0 if len(pending) < before else failures + 1
            if pending:
                first = next(iter(pending))
                del pending[first]
                self.result.missing[first] = reason
            if failures == MAX_FAILURES:
                self._give_up(pending, f"not asked: the command failed {MAX_FAILURES} times in a row ({reason})")
                break
        return self.result

    def _give_up(self, pending: dict[str, Question], reason: str) -> None:
        self.result.missing |= dict.fromkeys(pending, reason)
        pending.clear()

    def _run_once(self, pending: dict[str, Question]) -> tuple[str, bool]:
        """Run the command until it has answered, ended or hung; remove what it has answered from `pending`.

        Returns:
            Why other questions have no answer.
            Whether it makes no sense to ask them again.
        """
        with tempfile.TemporaryFile() as errors:
            process = self._process = self._start(errors)
            assert process.stdin is not None and process.stdout is not None
            lines: queue.Queue[bytes | None] = queue.Queue(maxsize=1000)
            content = b"".join(msgspec.json.encode(question) + b"\n" for question in pending.values())
            writer = threading.Thread(target=_write, args=(process.stdin, content), daemon=True)
            reader = threading.Thread(target=_read, args=(process.stdout, lines), daemon=True)
            writer.start()
            reader.start()
            try:
                while pending and not self._stopped.is_set():
                    try:
                        line = lines.get(timeout=self.seconds)
                    except queue.Empty:
                        return f"no answer within {self.seconds:g} s", False
                    if line is None:
                        return self._describe_end(process, errors)
                    self._take(line, pending)
                    if len(self.result.problems) >= MAX_PROBLEMS:
                        return f"the command was ended after {MAX_PROBLEMS} lines that are no answers", True
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(0 if self._stopped.is_set() else END_SECONDS)
                return "", True
            finally:
                _kill(process)
                process.wait()
                latest = time.monotonic() + THREAD_SECONDS
                while reader.is_alive() and time.monotonic() < latest:
                    with contextlib.suppress(queue.Empty):  # The thread may be waiting for a place in the queue.
                        lines.get(timeout=0.01)
                writer.join(THREAD_SECONDS)

    def _start(self, errors: IO[bytes]) -> subprocess.Popen[bytes]:
        environment = {**os.environ, "PYTHONUNBUFFERED": "1", MODULES_VARIABLE: self.modules}
        try:
            return subprocess.Popen(
                self.command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                env=environment,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise CommandNotFound(getattr(error, "strerror", None) or str(error)) from None

    def _describe_end(self, process: subprocess.Popen[bytes], errors: IO[bytes]) -> tuple[str, bool]:
        try:
            code = process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            return "the command closed its output without an answer", False
        if code == 0:
            return "left out: the command ended without an answer", True
        ending = f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
        errors.seek(max(0, errors.seek(0, os.SEEK_END) - 4000))
        last = errors.read().decode("utf-8", "replace").strip().splitlines()[-1:]
        return f"the command {ending}{f': {clean(last[0], 200)}' if last else ''}", False

    def _take(self, line: bytes, pending: dict[str, Question]) -> None:
        """Record one line of output."""
        if not line.strip():
            return
        try:
            if len(line) > MAX_ANSWER:
                raise ValueError(f"longer than {MAX_ANSWER >> 20} MiB")
            answer = msgspec.json.decode(line, type=Answer)
            if answer.wrong is None and answer.error is None:
                raise ValueError("`wrong` is neither true nor false")
        except (ValueError, RecursionError) as error:
            shown = clean(line[:80].decode("utf-8", "replace").strip(), 80)
            self.result.problems.append(f"not an answer ({clean(str(error), 120)}): {shown}")
            return
        if answer.id not in pending:
            known = answer.id in self.result.answers or answer.id in self.result.missing
            what = "a second answer" if known else "an answer to no question"
            self.result.problems.append(f"{what}: {clean(answer.id, 200)}")
            return
        del pending[answer.id]
        if answer.wrong is None:
            self.result.missing[answer.id] = clean(answer.error, 200)
        else:
            self.result.answers[answer.id] = answer
        self.on_answer()


def _write(stream: IO[bytes], content: bytes) -> None:
    with contextlib.suppress(OSError, ValueError):  # The command may end before it has read everything.
        stream.write(content)
    with contextlib.suppress(OSError, ValueError):
        stream.close()


def _read(stream: IO[bytes], lines: "queue.Queue[bytes | None]") -> None:
    with contextlib.suppress(OSError, ValueError):
        while line := stream.readline(MAX_ANSWER + 1):
            lines.put(line)
    with contextlib.suppress(OSError):
        stream.close()
    lines.put(None)


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a command and everything that it has started."""
    with contextlib.suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
