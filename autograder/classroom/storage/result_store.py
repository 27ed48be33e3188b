"""Store the results of a run on disk, so that the run can be interrupted at any moment and resumed.

    OUT/results/NAME.json   a result document for each submission, written atomically
    OUT/code/NAME.json      the modules as they were graded (schema `headway.code/1`), for people to read
    OUT/journal.jsonl       a line for each result: its key and what the class document needs of it
    OUT/run.json            the seed, the policy file and the roster of the run
    OUT/submissions.json    who submitted what and when, from each source
    OUT/class.json, grades.csv    made from the journal and the policy
    OUT/.lock               held during a run; contains the path of the run's scratch folder

A result is on disk before its journal line is, so a power cut never leaves a line without its result. Code is data: the
grader decodes it, splits it into lines and shows them as text. It never parses them.
"""

import contextlib
import hashlib
import json
import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, Self, TypeVar
from urllib.parse import quote

import msgspec

from autograder.core.files import read_plain_file, report_write_error, write_atomically
from autograder.core.text import counted
from autograder.documents.reading import CODE_SCHEMA
from autograder.documents.types import CodeDocument, CodePart
from autograder.engine.cell_locations import notebook_parts
from autograder.errors import UsageError

T = TypeVar("T")
Status = Literal["graded", "unreadable", "failed"]  # failed: an internal error of Headway
JOURNAL, LOCK, RESULTS, CODE = "journal.jsonl", ".lock", "results", "code"
ANOTHER_OUT = "Choose another folder: --out DIR"
MAX_MODULE_CHARACTERS = 128 << 10
MAX_CHARACTERS = 512 << 10  # of the code of a submission
# Old encodings that a file may declare in its first two lines (docs.python.org, "Encoding declarations"). A fixed list:
# a student could name a codec that runs for minutes.
_DECLARED = re.compile(
    rb"(?:[ \t\f]*(?:#[^\r\n]*)?\r?\n)?[ \t\f]*#[^\r\n]*?coding[:=][ \t]*(latin-?1|iso-8859-15?|cp1252)\b",
    re.IGNORECASE,
)


@dataclass
class JournalEntry:
    """What the class document needs of one result."""

    file: str  # name of the result document in `results/`
    key: str  # digest of everything that the result depends on, see `cache_keys.result_key`
    status: Status = "graded"
    reason: str = ""  # why the submission is not graded
    functions: dict[str, tuple[float, float]] = field(default_factory=dict)  # points earned and possible, by function
    checks: dict[str, dict[str, int]] = field(default_factory=dict)  # number of checks by assignment and status
    notes: list[str] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)  # the name of the file that counts, by assignment
    rivals: dict[str, list[str]] = field(default_factory=dict)  # see `account.Account`
    differing: dict[str, list[str]] = field(default_factory=dict)
    unreadable: list[str] = field(default_factory=list)  # submitted files that may hold work
    seconds: float = 0.0
    charged_seconds: float = 0.0  # CPU time of the submission's processes and of the grader, and time asleep
    bytes: int = 0  # size of the document, by which a truncated or replaced one is noticed
    digest: str = ""  # of the submitted files' contents
    signature: str = ""  # see `intake.file_signature`; empty if contents must be compared

    @property
    def problem(self) -> str:
        """Return what an instructor should know while the class is graded: why there is no result, notes, timeouts."""
        if self.status != "graded":
            return self.reason
        timeouts = sum(checks.get("timeout", 0) for checks in self.checks.values())
        return "; ".join([*self.notes, *([f"{counted(timeouts, 'check')} timed out"] if timeouts else [])])

    def has_begun(self, assignment: str) -> bool:
        """Return whether something of an assignment was submitted, besides untouched stubs."""
        return any(status not in ("not_started", "blocked") for status in self.checks.get(assignment, ()))


def file_name(submission: str, attempt: int = 0, source: str = "") -> str:
    """Return the name of a submission's result document: readable, and short enough for every file system.

    `source` names the download that the submission is in, if each assignment has its own. Quoted names contain no "+".
    """
    quoted = quote(submission, safe=" .,@()")
    if len(quoted) > 150:
        quoted = f"{quoted[:120]}-{hashlib.sha256(submission.encode()).hexdigest()[:16]}"
    quoted += f"+{source}" if source else ""
    return f"{quoted}#{attempt}.json" if attempt else f"{quoted}.json"


class ResultStore:
    """The folder OUT of a run: its journal and result documents. A context manager; the journal is open inside.

    Only one process writes the journal. Result documents may be written by other processes, before their entries.
    """

    def __init__(self, out: Path) -> None:
        self.out, self.results = out, out / RESULTS  # the folder of the result documents
        self.entries: dict[str, JournalEntry] = {}
        self._journal: Any = None

    def __enter__(self) -> Self:
        """Read the journal and open it for appending, or raise UsageError if the folder cannot be written."""
        with report_write_error(self.out / JOURNAL, ANOTHER_OUT):
            self.results.mkdir(parents=True, exist_ok=True)
            journal = read_lines(self.out / JOURNAL, JournalEntry)
            self.entries = {entry.file: entry for entry in journal if Path(entry.file).name == entry.file}
            self._compact()
            self._journal = open(self.out / JOURNAL, "ab")
        return self

    def __exit__(self, *_: object) -> None:
        """Close the journal and drop the lines that later ones replace."""
        self._journal.close()
        self._compact()

    def is_current(self, file: str, key: str) -> bool:
        """Return whether the store holds a complete result with this key."""
        entry = self.entries.get(file)
        with contextlib.suppress(OSError):
            if entry and entry.key == key and entry.status != "failed":
                return (self.results / file).stat().st_size == entry.bytes
        return False

    def add(self, entry: JournalEntry) -> None:
        """Append an entry to the journal; it is on disk when this returns."""
        self.entries[entry.file] = entry
        self._journal.write(_journal_line(entry))
        self._journal.flush()
        os.fsync(self._journal.fileno())

    def _compact(self) -> None:
        content = b"".join(map(_journal_line, self.entries.values()))
        path = self.out / JOURNAL
        if not path.exists() or read_plain_file(path) != content:
            write_atomically(path, content, durable=True)


def _journal_line(entry: JournalEntry) -> bytes:
    try:
        return msgspec.json.encode(entry) + b"\n"
    except UnicodeEncodeError:  # a lone surrogate, which only Python's own encoder can replace
        return (json.dumps(asdict(entry), ensure_ascii=False) + "\n").encode("utf-8", "replace")


def code_document(folder: Path) -> bytes:
    """Return the document of the modules in `folder`, as `Account.write` wrote them."""
    modules: dict[str, list[CodePart]] = {}
    left_out: list[str] = []
    remaining = MAX_CHARACTERS
    for path in sorted(folder.glob("*.py")):
        # Python ends a line in three ways; a byte order mark is no part of the first line.
        content = path.read_bytes()
        encoding = declared[1].decode() if (declared := _DECLARED.match(content)) else "utf-8-sig"
        text = re.sub(r"\r\n?", "\n", content.decode(encoding, "replace"))
        parts = notebook_parts(text) or [(path.name, 1, text.rstrip("\n"))]
        stored: list[CodePart] = []
        limit = min(MAX_MODULE_CHARACTERS, remaining)
        for file, line, code in parts:
            kept = code if len(code) <= limit else code[:limit].rpartition("\n")[0]
            limit -= len(kept)
            remaining -= len(kept)
            if kept:
                stored.append({"file": file, "line": line, "text": kept})
            if kept != code:
                lines = counted(code.count("\n") - kept.count("\n"), "line")
                left_out.append(f"{path.name}: {lines} of {file} not stored, because the file is too long")
                break
        modules[path.stem] = stored
    document: CodeDocument = {"schema": CODE_SCHEMA, "modules": modules, "left_out": left_out}
    return (json.dumps(document, ensure_ascii=False) + "\n").encode("utf-8", "replace")


def read_lines(path: Path, kind: type[T]) -> Iterator[T]:
    """Yield the objects in the lines of a JSON file, if there is one.

    A killed run or a power cut may leave half a line at the end. A line that is damaged in any way is left out.
    """
    with contextlib.suppress(FileNotFoundError):
        for line in read_plain_file(path).splitlines():
            with contextlib.suppress(ValueError, RecursionError):
                yield msgspec.json.decode(line, type=kind)


@contextmanager
def locked(out: Path, patience: float = 0.0) -> Iterator[Callable[[Path], None]]:
    """Hold the folder `out` for this run, and delete the scratch folder that a killed run left behind.

    Yields a function that records the path of this run's scratch folder. Raises UsageError if another run still holds
    `out` after `patience` seconds, or it cannot be written.
    """
    with report_write_error(out, ANOTHER_OUT):
        out.mkdir(parents=True, exist_ok=True)
    with report_write_error(out / LOCK, ANOTHER_OUT):
        file = open(out / LOCK, "a+", encoding="utf-8", errors="replace")  # noqa: SIM115 (closed below)
    with file:
        _lock(file, out, time.monotonic() + patience)
        file.seek(0)
        scratch = Path(file.read().strip())
        # The lock file could name any folder, so only one that looks like ours is deleted.
        if scratch.name.startswith("headway-") and scratch.parent == Path(tempfile.gettempdir()).resolve():
            with contextlib.suppress(OSError):
                scratch.chmod(0o700)
            shutil.rmtree(scratch, ignore_errors=True)

        def record_scratch(scratch: Path) -> None:
            file.truncate(0)
            file.write(str(scratch))
            file.flush()

        yield record_scratch
        file.truncate(0)


def _lock(file: Any, out: Path, deadline: float) -> None:
    try:
        import fcntl
    except ImportError:  # Windows has no such lock: there, the user must not start two runs
        return None
    while True:
        try:
            return fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                hint = "Wait for it, or choose another folder: --out DIR"
                raise UsageError(f"another headway grade is writing to {out}. {hint}") from None
            time.sleep(0.02)
        except OSError:  # a file system without locks, as Lustre often is
            return None
