"""What a run leaves behind, so that it can be broken off at any moment and gone on with.

    OUT/results/NAME.json   a result document for each submission, written whole or not at all
    OUT/journal.jsonl       a line for each result: its key, and what the class needs of it
    OUT/run.json            the seed of the run
    OUT/class.json, grades.csv    made from the journal and the policy
    OUT/.lock               held while a run is under way

A result is on the disk before its line is, so that a line never promises what a power cut took away.
"""

import contextlib
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from autograder.core.files import write_atomically
from autograder.engine.inputs import fresh_seed
from autograder.errors import UsageError

RESULTS, JOURNAL, RUN, LOCK = "results", "journal.jsonl", "run.json", ".lock"


@dataclass
class JournalEntry:
    """What the class needs of one result.

    Attributes:
        file: the document's name in `results/`.
        key: digest of all that the result depends on; another key, another result.
        status: graded, unreadable, or failed (the kit did).
        reason: why it is not graded.
        points: earned by assignment.
        statuses: how many checks have each status.
        digest: of what was handed in.
        signature: of its files, see `intake.signature`; empty if they have to be read.
        bytes: size of the document, to notice one that was cut short or exchanged.
    """

    file: str
    key: str
    status: str = "graded"
    reason: str = ""
    points: dict[str, float] = field(default_factory=dict)
    possible: dict[str, float] = field(default_factory=dict)
    statuses: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    sandbox: list[str] = field(default_factory=list)
    seconds: float = 0.0
    bytes: int = 0
    digest: str = ""
    signature: str = ""

    @property
    def earned(self) -> float:
        """Points of all assignments."""
        return sum(self.points.values())


def file_name(name: str, attempt: int = 0) -> str:
    """The name of a submission's document: readable, and short enough for every file system."""
    quoted = quote(name, safe=" .,@()")
    short = quoted if len(quoted) <= 150 else f"{quoted[:120]}-{hashlib.sha256(name.encode()).hexdigest()[:16]}"
    return f"{short}#{attempt}.json" if attempt else f"{short}.json"


class ResultStore:
    """The folder OUT. Only one process writes the journal; the documents may be written by others before."""

    def __init__(self, out: Path) -> None:
        self.out = out
        self.entries: dict[str, JournalEntry] = {}
        self._journal: Any = None

    def open(self) -> None:
        """Read what is there, and get ready to add to it.

        Raises:
            UsageError: if the folder cannot be written.
        """
        try:
            self.results.mkdir(parents=True, exist_ok=True)
            self.entries = {entry.file: entry for entry in _read_journal(self.out / JOURNAL)}
            self._rewrite()
            self._journal = open(self.out / JOURNAL, "ab")  # noqa: SIM115 (open as long as the run)
        except OSError as error:
            raise UsageError(f"cannot write to {self.out} ({error.strerror}). Name another folder: --out DIR") from None

    @property
    def results(self) -> Path:
        """Where the documents are."""
        return self.out / RESULTS

    def is_there(self, file: str, key: str) -> bool:
        """Whether a result of this key is here, whole."""
        entry = self.entries.get(file)
        if entry is None or entry.key != key or entry.status == "failed":
            return False
        try:
            return (self.results / file).stat().st_size == entry.bytes
        except OSError:
            return False

    def add(self, entries: Iterable[JournalEntry]) -> None:
        """Write that these results are there: on the disk when this returns."""
        for entry in entries:
            self.entries[entry.file] = entry
            self._journal.write((json.dumps(asdict(entry), ensure_ascii=False) + "\n").encode("utf-8", "replace"))
        self._journal.flush()
        os.fsync(self._journal.fileno())

    def seed(self, wanted: int | None) -> int:
        """The seed of the run: the wanted one, else that of the run before, else a fresh one; kept from now on."""
        path = self.out / RUN
        known: object = None
        with contextlib.suppress(OSError, ValueError, AttributeError):
            known = json.loads(path.read_text("utf-8")).get("seed")
        seed = wanted if wanted is not None else known if type(known) is int and known >= 0 else fresh_seed()
        if seed != known:
            write_atomically(
                path, (json.dumps({"schema": "headway.run/1", "seed": seed}) + "\n").encode(), durable=True
            )
        return seed

    def close(self) -> None:
        """Tidy the journal up and close it."""
        if self._journal is not None:
            self._journal.close()
            self._journal = None
            self._rewrite()

    def _rewrite(self) -> None:
        lines = [json.dumps(asdict(entry), ensure_ascii=False) + "\n" for entry in self.entries.values()]
        write_atomically(self.out / JOURNAL, "".join(lines).encode("utf-8", "replace"), durable=True)


def _read_journal(path: Path) -> Iterator[JournalEntry]:
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return
    for line in content.splitlines():
        with contextlib.suppress(ValueError, TypeError):  # the last line of a run that was killed may be half a line
            yield JournalEntry(**json.loads(line))


@contextmanager
def locked(out: Path) -> Iterator[Any]:
    """Hold the folder for this run, and clear away what a killed one left in the temporary folder.

    Yields:
        a function to be told the folder of this run's copies of submissions.

    Raises:
        UsageError: if another run holds it.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
        file = open(out / LOCK, "a+", encoding="utf-8")  # noqa: SIM115 (held as long as the run)
    except OSError as error:
        raise UsageError(f"cannot write to {out} ({error.strerror}). Name another folder: --out DIR") from None
    with file:
        _take(file, out)
        file.seek(0)
        left = file.read().strip()
        if Path(left).name.startswith("headway-") and Path(left).parent == Path(tempfile.gettempdir()).resolve():
            with contextlib.suppress(OSError):
                os.chmod(left, 0o700)
            shutil.rmtree(left, ignore_errors=True)

        def remember(scratch: Path) -> None:
            file.truncate(0)
            file.write(str(scratch))
            file.flush()

        yield remember
        file.truncate(0)


def _take(file: Any, out: Path) -> None:
    try:
        import fcntl
    except ImportError:  # Windows: two runs at once are the user's own affair
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise UsageError(
            f"another headway grade is writing to {out}. Wait for it, or name another folder: --out DIR"
        ) from None
    except OSError:  # a file system without locks, as Lustre often is: the same
        return
