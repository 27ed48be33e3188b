"""One grading process: a session of pytest and a sandbox server of its own, graded submissions one after another.

It talks to the run through a pipe. Units come in, small entries go back; the documents are written here, by a thread
that waits for the disk while the next submission is graded. When the pipe closes, the process ends at once: a run that
was killed leaves nobody behind.
"""

import contextlib
import json
import os
import queue
import re
import secrets
import shutil
import signal
import threading
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from autograder import results
from autograder.classroom import cache_keys
from autograder.classroom.policy import Policy
from autograder.classroom.result_store import JournalEntry
from autograder.classroom.submissions import intake
from autograder.classroom.submissions.model import Attempt
from autograder.core import gc_tuning
from autograder.core.files import write_atomically
from autograder.engine import session
from autograder.errors import UsageError
from autograder.notebooks.line_to_cell import locate_in_cells, modules_from_notebooks
from autograder.results import Level, withhold


@dataclass(frozen=True)
class WorkerSetup:
    """What is the same for every submission of a run.

    Attributes:
        options: with a sandbox around `scratch`.
        scratch: where copies of submissions are put.
        results: where documents are written; None: they are handed back.
        key: digest of the run's settings.
    """

    options: session.Options
    scratch: Path
    key: str
    feedback: Level = "summary"
    policy: Policy = field(default_factory=Policy)
    results: Path | None = None


@dataclass(frozen=True)
class GradingTask:
    """One submission to grade.

    Attributes:
        file: name of its document.
        work: where it lies, or (for another machine) what was read of it.
    """

    number: int
    name: str
    file: str
    work: Attempt | list[intake.SubmittedFile]


def grade(unit: GradingTask, checks: session.CheckSession, setup: WorkerSetup) -> tuple[JournalEntry, bytes]:
    """Grade one submission: what the class needs to know, and the document."""
    signature = "" if isinstance(unit.work, list) else intake.signature(unit.work)  # before the files are read
    files = unit.work if isinstance(unit.work, list) else intake.read_files(unit.work)
    # A name that nobody can guess: nobody can list the folder around it.
    folder = setup.scratch / secrets.token_hex(16)
    folder.mkdir()
    try:
        taken = intake.copy_modules(files, folder, setup.options.curriculum)
        result = checks.check(unit.name, folder, setup.options.functions)
        locate_in_cells(result, modules_from_notebooks(folder))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    result.notes = taken.notes
    withhold(result, setup.feedback, setup.policy.is_hidden)
    document = results.to_document(result, setup.options.curriculum)
    # Without indentation: only then is it written by the encoder in C, a tenth of the time.
    text = _without_our_folders(json.dumps(document, ensure_ascii=False), setup.scratch)
    content = (text + "\n").encode("utf-8", "replace")
    entry = _entry(unit, document, result, taken)
    entry.digest, entry.signature = intake.digest(files), signature
    entry.key = cache_keys.result_key(setup.key, unit.name, entry.digest)
    entry.bytes = len(content)
    return entry, content


def _without_our_folders(text: str, scratch: Path) -> str:
    """The document without the paths of copies, which tracebacks and warnings print: they are another each time."""
    return re.sub(rf"{re.escape(str(scratch))}/[\w-]+/(?:\d+/)?", "", text)


def _entry(
    unit: GradingTask, document: dict[str, Any], result: results.SubmissionResult, taken: intake.IntakeResult
) -> JournalEntry:
    status, reason = "graded", ""
    if result.problems:
        status, reason = "failed", f"the kit failed: {result.problems[0]}"
    elif not taken.modules:
        status, reason = "unreadable", "; ".join(taken.notes[:3]) or "no module of the course was handed in"
    return JournalEntry(
        unit.file,
        "",
        status,
        reason,
        points={one["name"]: one["points"]["earned"] for one in document["assignments"]},
        possible={one["name"]: one["points"]["possible"] for one in document["assignments"]},
        statuses={s: n for s in results.STATUSES if (n := sum(check.status == s for check in result.checks))},
        notes=taken.notes,
        sandbox=result.sandbox,
        seconds=document["seconds"],
    )


def main(pipe: Connection) -> None:
    """Be a grading process: a WorkerSetup comes first, then Units; None ends it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the run, which closes the pipe
    units: queue.Queue[GradingTask | None] = queue.Queue()
    finished: queue.Queue[tuple[Any, ...] | None] = queue.Queue(maxsize=2)
    setup: WorkerSetup = pipe.recv()
    threading.Thread(target=_listen, args=(pipe, units), daemon=True).start()
    writer = threading.Thread(target=_write, args=(pipe, finished, setup.results), daemon=True)
    writer.start()

    def work(checks: session.CheckSession) -> None:
        gc_tuning.raise_gc_threshold(spare=True)
        while (unit := units.get()) is not None:
            finished.put(("done", unit.number, *grade(unit, checks, setup)))

    try:
        session.run_in_session(setup.options, work)
    except UsageError as error:
        finished.put(("refused", str(error)))
    except Exception as error:
        finished.put(("broke", f"{type(error).__name__}: {error}"))
    finished.put(None)
    writer.join()


def _listen(pipe: Connection, units: "queue.Queue[GradingTask | None]") -> None:
    with contextlib.suppress(EOFError, OSError):
        while True:
            units.put(pipe.recv())
    os._exit(1)


def _write(pipe: Connection, finished: "queue.Queue[tuple[Any, ...] | None]", folder: Path | None) -> None:
    while (message := finished.get()) is not None:
        if message[0] == "done" and folder is not None:
            kind, number, entry, content = message
            try:
                write_atomically(folder / entry.file, content, durable=True)
            except OSError as error:
                message = ("refused", f"cannot write {folder / entry.file} ({error.strerror}). Make room, and go on")
            else:
                message = (kind, number, entry)
        with contextlib.suppress(OSError):
            pipe.send(message)
