"""Grade a class: one pytest session for everybody, one result document per submission, one table."""

import csv
import hashlib
import io
import json
import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import quote

from autograder import engine, results
from autograder.course import intake
from autograder.course.feedback import Level, withhold
from autograder.errors import UsageError
from autograder.files import write_atomically
from autograder.worker import UNSAFE, TooWeak, Wall, strongest


@dataclass(frozen=True)
class Plan:
    """What is particular to grading a class.

    Attributes:
        feedback: how much the result documents tell.
        unsafe: grade without a sandbox.
    """

    feedback: Level = "summary"
    unsafe: bool = False


def fresh_seed() -> int:
    """A seed nobody knows beforehand; the result documents record it. Never 0, which is the public one."""
    return secrets.randbelow(2**31 - 1) + 1


def grade(
    folder: Path, out: Path, options: engine.Options, plan: Plan, seen: Callable[[int, results.Summary], None]
) -> list[results.Summary]:
    """Grade every submission in `folder` and write results and table to `out`.

    Args:
        folder: holds one folder per student.
        out: gets `results/<name>.json` and `grades.csv`; made if it does not exist.
        options: how to check; the same for everybody.
        plan: what is particular to a class.
        seen: called with the number of submissions and each row as soon as it is there.

    Raises:
        UsageError: if there is nothing to grade, `out` cannot be written, or the sandbox would be too weak.
    """
    submissions = intake.find_submissions(folder)
    rows: list[results.Summary] = []
    notes: dict[str, list[str]] = {}
    with _spool() as spool, ExitStack() as current:
        options = replace(options, wall=_wall(spool, plan))
        try:
            (out / "results").mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"cannot write to {out} ({error.strerror}). Name another folder: --out DIR") from None
        folders: dict[str, Path] = {}

        def fresh_folders() -> Iterator[tuple[str, Path]]:
            for submission in submissions:
                # A name that nobody can guess: the next submission waits here while this one runs.
                folders[submission.name] = target = spool / secrets.token_hex(16)
                target.mkdir()
                notes[submission.name] = intake.take_in(submission, target)
                yield submission.name, target

        def done(result: results.SubmissionResult) -> None:
            result.notes = notes.pop(result.submission)
            withhold(result, plan.feedback)
            document = results.to_document(result, options.curriculum)
            path = out / "results" / f"{_file_name(result.submission)}.json"
            write_atomically(
                path, (json.dumps(document, indent=1, ensure_ascii=False) + "\n").encode("utf-8", "replace")
            )
            rows.append(results.summarise(result, options.curriculum))
            seen(len(submissions), rows[-1])
            shutil.rmtree(folders.pop(result.submission), ignore_errors=True)

        current.callback(lambda: write_csv(out / "grades.csv", rows, options))
        engine.check_many(fresh_folders(), options, done)
    return rows


@contextmanager
def _spool() -> Iterator[Path]:
    """A folder for copies of submissions that its owner can use, but nobody can list: see the ladder in `wall.py`."""
    with tempfile.TemporaryDirectory(prefix="headway-") as name:
        spool = Path(name).resolve()
        spool.chmod(0o300)
        try:
            yield spool
        finally:
            spool.chmod(0o700)


def _wall(spool: Path, plan: Plan) -> Wall:
    if plan.unsafe:
        return Wall(unsafe=True)
    try:
        return strongest(spool)
    except TooWeak as error:
        raise UsageError(
            f"this machine has no sandbox for strangers' code ({error}). See what is missing: headway doctor. "
            f"Submissions that may read your files and use your network are graded with --{UNSAFE}"
        ) from None


def _file_name(name: str) -> str:
    """The name of a submission's document: readable, and short enough for every file system."""
    quoted = quote(name, safe=" .,@()")
    return quoted if len(quoted) <= 150 else f"{quoted[:120]}-{hashlib.sha256(name.encode()).hexdigest()[:16]}"


def write_csv(path: Path, rows: list[results.Summary], options: engine.Options) -> None:
    """The class table: one line per submission, points by assignment, a note."""
    text = io.StringIO(newline="")
    modules = list(rows[0].points) if rows else []
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["submission", "points", "possible", *modules, "seed", "sandbox", "note"])
    sandbox = "+".join(options.wall.names)
    for row in rows:
        note = "; ".join([*row.notes, *row.problems])
        cells = [
            _plain_cell(row.name),
            f"{row.earned:g}",
            f"{row.possible:g}",
            *(f"{row.points[m]:g}" for m in modules),
        ]
        writer.writerow([*cells, options.seed, sandbox, _plain_cell(note)])
    write_atomically(path, text.getvalue().encode("utf-8", "replace"))


def _plain_cell(text: str) -> str:
    # A spreadsheet runs a cell that begins like a formula (OWASP, CSV injection).
    return "'" + text if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text
