"""The commands of the benchmark "Wrong transformers": export-benchmark, score-benchmark."""

import hashlib
import shlex
import sys
from pathlib import Path

import click

from autograder.cli import options
from autograder.errors import UsageError

RUNNER_NAMES = ("headway", "allclose", "naive")
DEFAULT_OUT = Path("wrong-transformers.jsonl")


@click.command("export-benchmark", context_settings=options.WITH_DEFAULTS)
@click.option("--out", "path", type=options.PATH, default=DEFAULT_OUT, metavar="FILE", help="The file to write.")
@click.option(
    "--submissions",
    type=options.PATH,
    metavar="DIR",
    show_default=False,
    help="Folder of hand-written answers (default: the clone's tests/submissions).",
)
@options.force
def export_benchmark(path: Path, submissions: Path | None, force: bool) -> None:
    """Write right and wrong implementations as a data set.

    Each line is a JSON object: an implementation of one function of the course, whether it is right, and what is wrong
    with it. A data card is written to the same folder. docs/benchmark.md describes both.
    """
    from autograder.benchmark import dataset
    from autograder.core.files import report_write_error, write_atomically

    folder = dataset.find_submissions(submissions)
    card_path = dataset.card_path(path)
    if not force:
        _require_own_files(path, card_path)
    with options.spinner(options.make_console(), "writing the implementations …"):
        items = dataset.implementations(folder)
    content = dataset.lines(items)
    card = dataset.card(items, content)
    with report_write_error(path, "Name another file: --out FILE"):
        path.parent.stat()  # A folder that does not exist is a typing error: it is not made.
        write_atomically(path, content)
        write_atomically(card_path, dataset.card_text(card))
    counts = card["counts"]
    click.echo(
        f"wrote {path}: version {card['version']}, {counts['wrong']:,} wrong and {counts['right']:,} right "
        f"implementations of {counts['functions']} functions"
    )
    click.echo(f"wrote {card_path}")
    click.echo(f"Next: headway score-benchmark {path} --runner headway --share 50")


def _require_own_files(path: Path, card_path: Path) -> None:
    """Raise UsageError if a file would be replaced that is not an earlier data set, as its card describes it."""
    import msgspec

    from autograder.benchmark import dataset

    card: object = None
    if card_path.is_file():
        try:
            card = msgspec.json.decode(card_path.read_bytes())
        except (OSError, ValueError, RecursionError):
            card = None
    known = card if isinstance(card, dict) and card.get("name") == dataset.NAME else {}
    for file, is_own in ((path, known.get("sha256") == _sha256(path)), (card_path, bool(known))):
        if file.is_file() and not is_own:
            problem = f"{file} exists and is not an earlier data set, so it was kept"
            raise UsageError(f"{problem}. Name another one: --out FILE. To replace it: --force")


def _sha256(path: Path) -> str | None:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None


@click.command("score-benchmark", context_settings=options.WITH_DEFAULTS)
@click.argument("path", metavar="DATASET", type=options.PATH)
@click.argument("command", metavar="[-- COMMAND...]", nargs=-1, type=click.UNPROCESSED)
@click.option("--runner", type=click.Choice(RUNNER_NAMES), help="Score a runner that comes with Headway.")
@click.option(
    "--share", type=click.IntRange(1), default=1, metavar="N", help="Ask only about one in N implementations."
)
@click.option("--split", type=click.Choice(["dev", "test"]), help="Ask only about one split (default: both).")
@click.option("-j", "processes", type=click.IntRange(1), default=1, help="Number of processes.")
@click.option(
    "--timeout", "seconds", type=click.FloatRange(0.1), default=120.0, help="Seconds to wait for the next answer."
)
@options.json_file
@options.no_color
def score_benchmark(
    path: Path,
    command: tuple[str, ...],
    runner: str | None,
    share: int,
    split: str | None,
    processes: int,
    seconds: float,
    json_file: str | None,
) -> None:
    """Score a grader or a language model on a data set.

    COMMAND reads one JSON object a line from standard input and writes one to standard output:
    {"id": ..., "wrong": true or false, "mistake": an id, a title or null}. docs/benchmark.md has an example.

    After Ctrl-C, the answers so far are scored.

    Exit codes: 0 every implementation was answered, 1 some were not, 2 wrong usage, 3 internal error.
    """
    from autograder.benchmark import run, scoring
    from autograder.benchmark.records import read_dataset
    from autograder.report import benchmark_scores

    if bool(command) == bool(runner):
        example = f"headway score-benchmark {path} -- python3 my_runner.py"
        raise UsageError(f"give either a command or --runner {'|'.join(RUNNER_NAMES)}. For example: {example}")
    options.require_replaceable_json(json_file, {"schema": scoring.SCHEMA})
    everything = read_dataset(path)
    items = [item for item in run.sample(everything, share) if split in (None, item.split)]
    if not items:
        raise UsageError("nothing is left to ask about. Use a smaller number: --share N")
    console = options.make_console(stderr=json_file == "-")
    with benchmark_scores.progress(len(items), console) as on_answer:
        result = run.ask(
            run.included_command(runner) if runner else command,
            items,
            everything,
            processes=processes,
            seconds=seconds,
            on_answer=on_answer,
        )
    document = {
        "dataset": {"sha256": _sha256(path), "implementations": len(everything), "share": share, "split": split},
        "runner": runner or shlex.join(command),
        **scoring.score_record(items, everything, result),
    }
    document = {"schema": document.pop("schema"), **document}
    if json_file:
        options.write_json(json_file, document)
    benchmark_scores.render(document, console)
    if result.interrupted:
        sys.exit(options.INTERRUPTED)
    sys.exit(options.NOT_PASSED if document["total"]["missing"] else options.PASSED)
