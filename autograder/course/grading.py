"""Grade a class: one pytest session for everybody, one result document per submission, one table."""

import csv
import io
import json
import secrets
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import quote

from autograder import engine, results
from autograder.course import intake
from autograder.errors import UsageError
from autograder.files import write_atomically


def fresh_seed() -> int:
    """A seed nobody knows beforehand; the result documents record it. Never 0, which is the public one."""
    return secrets.randbelow(2**31 - 1) + 1


def grade(
    folder: Path, out: Path, options: engine.Options, seen: Callable[[int, results.Summary], None]
) -> list[results.Summary]:
    """Grade every submission in `folder` and write results and table to `out`.

    Args:
        folder: holds one folder per student.
        out: gets `results/<name>.json` and `grades.csv`; made if it does not exist.
        options: how to check; the same for everybody.
        seen: called with the number of submissions and each row as soon as it is there.

    Raises:
        UsageError: if there is nothing to grade, or `out` cannot be written.
    """
    submissions = intake.find_submissions(folder)
    try:
        (out / "results").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot write to {out} ({error.strerror}). Name another folder: --out DIR") from None
    rows: list[results.Summary] = []
    notes: dict[str, list[str]] = {}
    with tempfile.TemporaryDirectory(prefix="headway-") as spool, ExitStack() as current:

        def fresh_folders() -> Iterator[tuple[str, Path]]:
            for number, submission in enumerate(submissions):
                target = Path(spool) / str(number)
                target.mkdir()
                notes[submission.name] = intake.take_in(submission, target)
                yield submission.name, target

        def done(result: results.SubmissionResult) -> None:
            result.notes = notes.pop(result.submission)
            document = results.to_document(result, options.curriculum)
            path = out / "results" / f"{quote(result.submission, safe=' .,@()')}.json"
            write_atomically(
                path, (json.dumps(document, indent=1, ensure_ascii=False) + "\n").encode("utf-8", "replace")
            )
            rows.append(results.summarise(result, options.curriculum))
            seen(len(submissions), rows[-1])

        current.callback(lambda: write_csv(out / "grades.csv", rows, options))
        engine.check_many(fresh_folders(), options, done)
    return rows


def write_csv(path: Path, rows: list[results.Summary], options: engine.Options) -> None:
    """The class table: one line per submission, points by assignment, a note."""
    text = io.StringIO(newline="")
    modules = list(rows[0].points) if rows else []
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["submission", "points", "possible", *modules, "seed", "note"])
    for row in rows:
        note = "; ".join([*row.notes, *row.problems])
        cells = [
            _plain_cell(row.name),
            f"{row.earned:g}",
            f"{row.possible:g}",
            *(f"{row.points[m]:g}" for m in modules),
        ]
        writer.writerow([*cells, options.seed, _plain_cell(note)])
    write_atomically(path, text.getvalue().encode("utf-8", "replace"))


def _plain_cell(text: str) -> str:
    # A spreadsheet runs a cell that begins like a formula (OWASP, CSV injection).
    return "'" + text if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text
