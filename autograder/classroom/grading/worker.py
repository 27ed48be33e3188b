"""Run one grading process: a pytest session with a sandbox server that grades submissions one after another.

The process talks to the run through a pipe: tasks come in, small journal entries go back. A thread writes the documents
while the next submission is graded. When the pipe closes, the process exits at once.
"""

import contextlib
import json
import math
import os
import queue
import re
import signal
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

from autograder.classroom.grading import cache_keys
from autograder.classroom.policy.model import Policy
from autograder.classroom.storage import result_store
from autograder.classroom.storage.gradebook import iter_functions
from autograder.classroom.storage.result_store import JournalEntry, Status
from autograder.classroom.submissions import intake
from autograder.classroom.submissions.account import Account, account_for
from autograder.classroom.submissions.model import Attempt
from autograder.core import interpreter
from autograder.core.files import secret_folder, write_atomically
from autograder.core.text import listed
from autograder.course import Curriculum
from autograder.documents import results
from autograder.engine import session
from autograder.engine.cell_locations import locate_in_cells, modules_from_notebooks
from autograder.errors import UsageError
from autograder.report import wording

MAX_FILE_NAMES = 3  # in the reason why nothing is graded


@dataclass(frozen=True)
class WorkerSetup:
    """The settings that all submissions of a run share."""

    options: session.Options  # with a sandbox built for `scratch`
    scratch: Path  # the folder for copies of submissions
    policy: Policy = field(default_factory=Policy)
    results: Path | None = None  # the folder for result documents; None sends them back through the pipe


@dataclass(frozen=True)
class GradingTask:
    """One submission to grade."""

    number: int  # position in the run
    student: str  # the unique name of the student, who may have the same name in two sources as another
    name: str
    file: str  # name of its result document
    source: Attempt | list[intake.SubmittedFile]  # where the submission is, or its files (for another machine)
    cpu_seconds: float = math.inf  # what the student's limit leaves for it
    run_key: str = ""  # see `cache_keys.run_key`
    functions: tuple[str, ...] | None = None  # the functions to check; None for those of the session
    chosen: Mapping[str, str] = field(default_factory=dict)  # the file that a person chose, by assignment

    def read_files(self) -> list[intake.SubmittedFile]:
        """Return the submitted files."""
        return self.source if isinstance(self.source, list) else intake.read_files(self.source)


class GradedDocuments(NamedTuple):
    """The stored data of a graded submission."""

    result: bytes
    code: bytes

    def write(self, folder: Path, file: str) -> None:
        """Write the result document `file` to `folder`, and the code document next to this folder."""
        # The result comes last: where there is one, there is its code.
        write_atomically(folder.parent / result_store.CODE / file, self.code, durable=True)
        write_atomically(folder / file, self.result, durable=True)


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Make a temporary folder for copies of submissions, which only its owner can use and which cannot be listed."""
    with tempfile.TemporaryDirectory(prefix="headway-") as name:
        scratch = Path(name).resolve()
        scratch.chmod(0o300)
        try:
            yield scratch
        finally:
            scratch.chmod(0o700)


def grade(task: GradingTask, checks: session.CheckSession, setup: WorkerSetup) -> tuple[JournalEntry, GradedDocuments]:
    """Grade one submission and return its journal entry and its documents."""
    started = time.thread_time()
    # The signature is taken before the files are read: a file that changes in between is then graded again next time.
    signature = "" if isinstance(task.source, list) else intake.file_signature(task.source)
    files = task.read_files()
    with secret_folder(setup.scratch) as folder:
        curriculum, functions = setup.options.curriculum, task.functions or setup.options.functions
        graded = {name.partition(".")[0] for name in functions} if functions else curriculum.modules
        account = account_for(files, curriculum, checks.reader, task.chosen, graded)
        account.write(folder, curriculum)
        read_seconds = time.thread_time() - started
        result = checks.check(task.name, folder, functions, limits=setup.options.limits.within(task.cpu_seconds))
        charged_until = time.thread_time()
        locate_in_cells(result, modules_from_notebooks(folder))
        code = result_store.code_document(folder)
    if result.used is not None:
        result.used["grader_seconds"] = round(result.used["grader_seconds"] + read_seconds, 3)
    charged_seconds = result.charged_seconds
    result.notes, result.files = [*account.notes, *result.notes], account.files
    # An attempt that had all of the student's time is not tried again: it would end in the same way.
    limit = setup.policy.limits.student_seconds
    is_cut_short = task.cpu_seconds <= charged_seconds and task.cpu_seconds < limit
    if is_cut_short:
        used_up = f"the student's limit ({limit:g} s of CPU time in one run) was reached while this attempt was graded"
        result.notes.append(f"{used_up}. The next run grades it again")
    counts = _status_counts(result)
    results.withhold(result, setup.policy.feedback, setup.policy.is_hidden)
    document = results.to_document(result, curriculum)
    # Indentation would make json use its slow Python encoder, which takes ten times as long.
    text = json.dumps(document, ensure_ascii=False) + "\n"
    # The paths of copies, which tracebacks and warnings print, differ from run to run.
    copies = re.compile(rf"{re.escape(str(setup.scratch))}/[\w-]+/(?:\d+/)?")
    content = copies.sub("", text).encode("utf-8", "replace")
    found = wording.all_checks(document)
    broken = {file: check["message"] for check in found if (file := wording.broken_file(check))}
    digest = intake.content_digest(files)
    status, reason = _outcome(result, account, curriculum)
    entry = JournalEntry(
        task.file, "" if is_cut_short else cache_keys.result_key(task.run_key, task.name, digest), status, reason,
        functions={name: (f["points"]["earned"], f["points"]["possible"]) for name, f in iter_functions(document)},
        checks=counts, notes=[copies.sub("", note) for note in (*result.notes, *broken.values())],
        files=account.counting, rivals=account.rivals, differing=account.differing, unreadable=account.unreadable[:20],
        seconds=document["seconds"], bytes=len(content), digest=digest, signature=signature,
    )  # fmt: skip
    entry.charged_seconds = charged_seconds + time.thread_time() - charged_until
    return entry, GradedDocuments(content, code)


def _outcome(result: results.SubmissionResult, account: Account, curriculum: Curriculum) -> tuple[Status, str]:
    if result.internal_errors:
        return "failed", f"internal error: {result.internal_errors[0]}"
    if account.assignments(curriculum):
        return "graded", ""
    others = listed([file["name"] for file in account.files], MAX_FILE_NAMES)
    nothing = f"no Python file or notebook of an assignment was found, only {others}" if others else "no file was found"
    return "unreadable", "; ".join(account.notes[:3]) or nothing


def _status_counts(result: results.SubmissionResult) -> dict[str, dict[str, int]]:
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for check in result.checks:
        counts[check.function.partition(".")[0]][check.status] += 1
    return {name: {key: count[key] for key in results.STATUSES if count[key]} for name, count in counts.items()}


def main(pipe: Connection) -> None:
    """Run a grading process: receive a WorkerSetup, then GradingTasks until None.

    Sends ("started", task number, `time.monotonic`) and then ("done", task number, entry[, documents]) for each task,
    ("refused", reason) if no submission can be graded for a reason that the user can fix, and ("error", message) if the
    session failed.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the run handles Ctrl-C: it closes the pipe
    tasks: queue.Queue[GradingTask | None] = queue.Queue()
    outbox: queue.Queue[tuple[Any, ...] | None] = queue.Queue(maxsize=2)
    setup: WorkerSetup = pipe.recv()
    threading.Thread(target=_receive, args=(pipe, tasks), daemon=True).start()
    lock = threading.Lock()  # two threads send
    sender = threading.Thread(target=_send, args=(pipe, lock, outbox, setup.results), daemon=True)
    sender.start()

    def grade_tasks(checks: session.CheckSession) -> None:
        interpreter.raise_gc_threshold(freeze=True)
        while (task := tasks.get()) is not None:
            # Sent at once, past the outbox: if this submission kills the process, the run must know which one it was.
            with lock, contextlib.suppress(OSError):
                pipe.send(("started", task.number, time.monotonic()))
            outbox.put(("done", task.number, *grade(task, checks, setup)))

    try:
        session.run_in_session(setup.options, grade_tasks)
    except UsageError as error:
        outbox.put(("refused", str(error)))
    except Exception as error:
        outbox.put(("error", f"{type(error).__name__}: {error}"))
    outbox.put(None)
    sender.join()


def _receive(pipe: Connection, tasks: "queue.Queue[GradingTask | None]") -> None:
    with contextlib.suppress(EOFError, OSError):
        while True:
            tasks.put(pipe.recv())
    os._exit(1)


def _send(
    pipe: Connection, lock: threading.Lock, outbox: "queue.Queue[tuple[Any, ...] | None]", folder: Path | None
) -> None:
    """Write documents, if there is a `folder` of results, and send the messages."""
    while (message := outbox.get()) is not None:
        if message[0] == "done" and folder is not None:
            kind, number, entry, graded = message
            message = (kind, number, entry)
            try:
                graded.write(folder, entry.file)
            except OSError as error:
                where = error.filename or folder
                message = ("refused", f"cannot write {where} ({error.strerror}). Free some space, then resume the run")
        with lock, contextlib.suppress(OSError):
            pipe.send(message)
