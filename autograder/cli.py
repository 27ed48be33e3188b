"""The command line: parses, calls, renders. Heavy modules are imported by the commands that need them."""

import contextlib
import json
import os
import sys
from collections.abc import Callable, Iterator
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from autograder import __version__
from autograder.errors import UsageError

if TYPE_CHECKING:
    from rich.console import Console

    from autograder.course.feedback import Level

PASSED, NOT_PASSED, USAGE, KIT_FAILED = 0, 1, 2, 3
INTERRUPTED = 130  # what a shell reports for Ctrl-C


class _Headway(click.Group):
    """Turns every failure into one clear line and the exit code of the contract."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        try:
            sys.exit(super().main(*args, **{"prog_name": "headway", **kwargs, "standalone_mode": False}))
        except click.ClickException as error:
            context = getattr(error, "ctx", None)
            command = context.command_path if context else "headway"
            click.echo(f"headway: {error.format_message()} How it is used: {command} --help", err=True)
            sys.exit(USAGE)
        except click.Abort:
            click.echo("headway: interrupted", err=True)
            sys.exit(INTERRUPTED)
        except UsageError as error:
            click.echo(f"headway: {error}", err=True)
            sys.exit(USAGE)
        except BrokenPipeError:  # `headway check | head`: whoever reads has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(PASSED)
        except Exception as error:
            if os.environ.get("HEADWAY_TRACEBACK"):
                raise
            click.echo(
                f"headway: the kit itself failed: {type(error).__name__}: {error}. "
                "Your work is as it was. With HEADWAY_TRACEBACK=1 set, the same command shows where it failed.",
                err=True,
            )
            sys.exit(KIT_FAILED)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        import difflib

        try:
            return super().resolve_command(ctx, args)
        except click.UsageError:
            close = difflib.get_close_matches(args[0], self.list_commands(ctx), n=1)
            hint = f"Did you mean {close[0]!r}? " if close else ""
            raise UsageError(f"there is no command {args[0]!r}. {hint}All commands: headway --help") from None


def _console(no_color: bool, *, stderr: bool = False) -> "Console":
    from rich.console import Console

    return Console(no_color=no_color or None, highlight=False, stderr=stderr)


def _no_color(function: Callable[..., Any]) -> Callable[..., Any]:
    return click.option("--no-color", is_flag=True, help="Plain text; the environment's NO_COLOR does the same.")(
        function
    )


def _json_option(function: Callable[..., Any]) -> Callable[..., Any]:
    option = click.option(
        "--json", "json_file", metavar="FILE", help="Write the result document; - is standard output."
    )
    return option(function)


def _write_json(path: str, content: Any) -> None:
    text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
    if path == "-":
        click.echo(text, nl=False)
        return
    try:
        Path(path).write_text(text, "utf-8")
    except OSError as error:
        raise UsageError(
            f"cannot write {path} ({error.strerror}). Name a file that can be written: --json FILE"
        ) from None


@contextlib.contextmanager
def _progress(console: "Console", text: str) -> Iterator[None]:
    if console.is_terminal:
        with console.status(text):
            yield
    else:
        yield


def _interruptible(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except KeyboardInterrupt:
            raise click.Abort from None

    return run


@click.group(cls=_Headway, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="headway")
def main() -> None:
    """Learn the transformer by writing it in NumPy, checked against PyTorch."""


@main.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
def init(folder: Path) -> None:
    """Make a workspace: the stubs to fill in and a short README. Never overwrites work."""
    from autograder.study.workspace import create

    for line in create(folder):
        click.echo(line)


@main.command()
@click.argument("names", metavar="[NAME[.function]]...", nargs=-1)
@click.option("--dir", "folder", type=click.Path(path_type=Path), default=".", help="The submission's folder.")
@click.option("--seed", type=click.IntRange(0), default=0, help="Draw fresh inputs; 0 is the public set.")
@click.option(
    "--call-seconds", type=click.FloatRange(0.05), default=10.0, show_default=True, help="Time limit of one call."
)
@click.option("--all", "all_panels", is_flag=True, help="Show every failed check, not the first few.")
@_json_option
@_no_color
@_interruptible
def check(
    names: tuple[str, ...],
    folder: Path,
    seed: int,
    call_seconds: float,
    all_panels: bool,
    json_file: str | None,
    no_color: bool,
) -> None:
    """One verdict: everything, some assignments, or single functions.

    Exit code 0: all passed; 1: some check did not pass; 2: wrong usage; 3: the kit itself failed.
    """
    from autograder import engine, results
    from autograder.curriculum import TRANSFORMER
    from autograder.worker import Limits

    selected = TRANSFORMER.select(names)
    engine.require_folder(folder)
    limits = Limits(call_seconds=call_seconds)
    options = engine.Options(functions=selected if names else None, seed=seed, limits=limits)
    console = _console(no_color, stderr=json_file == "-")
    with _progress(console, "checking"):
        result = engine.check(folder.resolve().name, folder, options)
    document = results.to_document(result, TRANSFORMER)
    if json_file:
        _write_json(json_file, document)
    from autograder.report import terminal

    terminal.render(document, console, all_panels=all_panels)
    sys.exit(KIT_FAILED if result.problems else PASSED if result.passed else NOT_PASSED)


@main.command("list")
@click.argument("names", metavar="[NAME]...", nargs=-1)
@_no_color
def list_(names: tuple[str, ...], no_color: bool) -> None:
    """The assignments and functions there are."""
    from autograder.curriculum import TRANSFORMER
    from autograder.report import overview

    overview.render(TRANSFORMER, TRANSFORMER.select(names), _console(no_color))


@main.command()
@click.argument("name", metavar="NAME")
@click.option("--more", count=True, help="One hint more than those shown so far.")
@click.option("--dir", "folder", type=click.Path(path_type=Path), help="Your workspace (default: this folder).")
@_no_color
def hint(name: str, more: int, folder: Path | None, no_color: bool) -> None:
    """Hints for a function, one at a time: a question, the idea, the shape of the line.

    What was shown is remembered in the workspace. Elsewhere --more counts from the first hint.
    """
    import shlex

    from autograder.curriculum import TRANSFORMER
    from autograder.report import hints as view
    from autograder.study import hints, state

    selected = TRANSFORMER.select([name])
    where = "" if folder is None else f" --dir {shlex.quote(str(folder))}"
    if folder is not None:
        from autograder import engine

        engine.require_folder(folder)
    here = folder or Path()
    remembered = state.load(here) if state.is_workspace(here) else None
    section = remembered.section(hints.KEY) if remembered else {}
    console = _console(no_color)
    if len(selected) > 1:
        counts = {function: hints.shown(section, function) for function in selected}
        module = TRANSFORMER.functions[selected[0]].module
        view.render_choice(module, counts, [f"headway hint {function}{where}" for function in selected], console)
    else:
        (function,) = selected
        already = hints.shown(section, function) if remembered else None
        count = hints.next_count(already, more)
        if remembered and count != already:
            section[function] = count
            remembered.save()
        steps = list(zip(hints.KINDS, hints.steps(function), strict=True))
        again = " --more" * (1 if remembered else more + 1)
        asks = (f"headway check {function}{where}", f"headway hint {function}{again}{where}")
        view.render(function, steps[:count], len(steps), asks, console)
    if remembered:
        view.render_notes(remembered.notes, _console(no_color, stderr=True))


@main.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Where the results go.")
@click.option("--assignment", "names", multiple=True, metavar="NAME", help="Only this assignment; may be repeated.")
@click.option("--seed", type=click.IntRange(0), help="Inputs; without it a fresh seed is drawn and recorded.")
@click.option(
    "--call-seconds", type=click.FloatRange(0.05), default=10.0, show_default=True, help="Time limit of one call."
)
@click.option(
    "--submission-seconds",
    type=click.FloatRange(0.1),
    default=300.0,
    show_default=True,
    help="Time limit of all calls of a submission, and of their CPU time.",
)
@click.option("--memory", type=click.IntRange(256), default=2048, show_default=True, help="MiB of one process.")
@click.option("--output", type=click.IntRange(1), default=8, show_default=True, help="MiB that may be printed.")
@click.option("--result", type=click.IntRange(1, 256), default=64, show_default=True, help="MiB of one answer.")
@click.option(
    "--own-prerequisites",
    is_flag=True,
    help="Check assignments on top of the student's own earlier ones, not the official solutions.",
)
@click.option(
    "--feedback",
    type=click.Choice(["full", "summary", "none"]),
    default="summary",
    show_default=True,
    help="How much the result documents tell. Only full holds expected values: not to be handed out.",
)
@click.option("--unsafe-no-sandbox", "unsafe", is_flag=True, help="Run strangers' code with your rights. Marked.")
@_no_color
@_interruptible
def grade(
    folder: Path,
    out: Path,
    names: tuple[str, ...],
    seed: int | None,
    call_seconds: float,
    submission_seconds: float,
    memory: int,
    output: int,
    result: int,
    own_prerequisites: bool,
    feedback: "Level",
    unsafe: bool,
    no_color: bool,
) -> None:
    """Grade a folder of submissions (folders or zip archives); write one result document each, and a table as CSV.

    Student code runs in a sandbox; a machine that has none refuses (headway doctor says what is missing).
    """
    from autograder import engine
    from autograder.course import grading
    from autograder.curriculum import TRANSFORMER
    from autograder.report import table
    from autograder.worker import Limits

    selected = TRANSFORMER.select(names)
    limits = Limits(
        call_seconds=call_seconds,
        submission_seconds=submission_seconds,
        cpu_seconds=submission_seconds,
        memory_bytes=memory << 20,
        output_bytes=output << 20,
        result_bytes=result << 20,
    )
    options = engine.Options(
        functions=selected if names else None,
        seed=grading.fresh_seed() if seed is None else seed,
        limits=limits,
        official=not own_prerequisites,
    )
    console = _console(no_color)
    if unsafe:
        table.warn_of_no_sandbox(console)
    with table.live(console) as seen:
        rows = grading.grade(folder, out, options, grading.Plan(feedback, unsafe), seen)
    table.render(rows, options.seed, out, console)
    sys.exit(KIT_FAILED if any(row.problems for row in rows) else PASSED)


@main.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--stubs", is_flag=True, help="The stubs, generated from the solutions.")
def release(folder: Path, stubs: bool) -> None:
    """Write what students get, generated from the solutions."""
    from autograder import source

    if not stubs:
        raise UsageError("say what to release. The stubs: headway release DIR --stubs")
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in source.make_stubs(source.bundled("solutions")).items():
        (folder / name).write_text(text, "utf-8")
        click.echo(f"wrote {folder / name}")


@main.command()
@_no_color
def doctor(no_color: bool) -> None:
    """Is everything here that is needed? Says what is missing and the command that mends it."""
    from autograder import doctor as examination
    from autograder.report import findings

    found = examination.examine()
    findings.render(found, _console(no_color))
    sys.exit(PASSED if all(finding.ok or finding.optional for finding in found) else NOT_PASSED)


@main.group()
def data() -> None:
    """Datasets: what there is, and fetching it."""


@data.command("list")
@_no_color
def data_list(no_color: bool) -> None:
    """The datasets, and which of them are here."""
    from rich.table import Table
    from rich.text import Text

    from autograder import datasets

    table = Table(box=None, pad_edge=False, header_style="dim")
    for title in ("name", "characters", "here", "what it is"):
        table.add_column(title, justify="right" if title == "characters" else "left")
    for dataset in datasets.DATASETS.values():
        here = Text("yes" if datasets.is_here(dataset) else f"headway data fetch {dataset.name}")
        table.add_row(Text(dataset.name), Text(f"{dataset.size:,}"), here, Text(dataset.about))
    _console(no_color).print(table)


@data.command()
@click.argument("name")
def fetch(name: str) -> None:
    """Fetch a dataset and check it by its SHA-256."""
    from autograder import datasets

    click.echo(f"{name} is here and is what it should be: {datasets.fetch(name)}")


_DIR = click.option("--dir", "folder", type=click.Path(path_type=Path), default=".", help="The submission's folder.")
_SOLUTION = click.option("--solution", is_flag=True, help="The official solution instead of your own code.")


def _modules(folder: Path, solution: bool) -> Path:
    from autograder import engine, source

    return source.bundled("solutions") if solution else engine.require_folder(folder)


@main.command()
@_DIR
@_SOLUTION
@click.option("--preset", default="names", show_default=True, help="names, shakespeare or synthetic.")
@click.option("--data", "dataset", metavar="NAME", help="Another text than the preset's (headway data list).")
@click.option("--steps", type=click.IntRange(1), help="How many steps (default: the preset's).")
@click.option("--schedule", type=click.Choice(["constant", "cosine"]), default="constant", show_default=True)
@click.option("--seed", type=click.IntRange(0), default=0, help="Of the first parameters and the batches.")
@click.option("--out", type=click.Path(path_type=Path), default="model.safetensors", show_default=True)
@click.option("--resume", is_flag=True, help="Go on from the checkpoint --out.")
@_no_color
def train(
    folder: Path,
    solution: bool,
    preset: str,
    dataset: str | None,
    steps: int | None,
    schedule: str,
    seed: int,
    out: Path,
    resume: bool,
    no_color: bool,
) -> None:
    """Train your own GPT, and watch. Ctrl-C saves what there is."""
    from autograder.study import checkpoint, runs

    settings = checkpoint.load(out).settings if resume else runs.new_settings(preset, dataset, steps, schedule, seed)
    runs.train(_modules(folder, solution), settings, out, _console(no_color), resume, steps or settings.steps)


@main.command()
@click.argument("path", metavar="CHECKPOINT", type=click.Path(path_type=Path))
@_DIR
@_SOLUTION
@click.option("--prompt", help="What the text begins with (default: a new line).")
@click.option("--length", type=click.IntRange(1), default=400, show_default=True, help="How many characters.")
@click.option("--temperature", type=click.FloatRange(0), default=1.0, show_default=True, help="0 is greedy.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
def generate(
    path: Path, folder: Path, solution: bool, prompt: str | None, length: int, temperature: float, seed: int
) -> None:
    """Let a trained model talk."""
    from autograder.study import runs

    click.echo(runs.generate(_modules(folder, solution), path, prompt, length, temperature, seed))


@main.command()
@click.option("-j", "processes", type=click.IntRange(1), default=2, show_default=True, help="How many at once.")
@click.option("--right", type=click.Path(path_type=Path), help="Folder of right answers (default: the clone's).")
@_json_option
@_no_color
@_interruptible
def verify(processes: int, right: Path | None, json_file: str | None, no_color: bool) -> None:
    """Prove the kit: solutions pass, stubs fail, every known mistake fails and is called by its name."""
    from dataclasses import asdict

    from autograder import source
    from autograder import verify as verification
    from autograder.report import verification as view

    right = right or source.bundled("solutions").parent / "tests" / "submissions" / "right"
    console = _console(no_color, stderr=json_file == "-")
    found = view.render(verification.verify(right, processes), len(verification.jobs(right)), console)
    if json_file:
        _write_json(json_file, [asdict(finding) for finding in found])
    sys.exit(PASSED if all(finding.ok for finding in found) else NOT_PASSED)


if __name__ == "__main__":
    main()
