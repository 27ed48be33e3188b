"""Commands that run the whole model: train, generate."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from autograder.cli.options import (
    console_for,
    interruptible,
    json_option,
    no_color_option,
    spinner,
    submission_option,
    write_json,
)

if TYPE_CHECKING:
    from autograder.workspace.training import select_modules

SOLUTION_OPTION = click.option("--solution", is_flag=True, help="The official solution instead of your own code.")


@contextlib.contextmanager
def _modules(folder: Path, solution: bool) -> "Iterator[select_modules.Modules]":
    """The student's own modules where they pass, official ones in place of the rest, or official ones by wish."""
    from autograder.courses.transformer import TRANSFORMER
    from autograder.curriculum import stubs
    from autograder.engine import session
    from autograder.workspace.training import select_modules

    if solution:
        yield select_modules.Modules(stubs.bundled("solutions"), (), tuple(TRANSFORMER.modules))
        return
    with select_modules.modules(session.require_folder(folder, TRANSFORMER)) as found:
        yield found


@click.command()
@submission_option
@SOLUTION_OPTION
@click.option("--preset", default="names", show_default=True, help="names, shakespeare or synthetic.")
@click.option("--data", "dataset", metavar="NAME", help="Another text than the preset's (headway data list).")
@click.option("--steps", type=click.IntRange(1), help="How many steps (default: the preset's).")
@click.option("--schedule", type=click.Choice(["constant", "cosine"]), default="constant", show_default=True)
@click.option("--seed", type=click.IntRange(0), default=0, help="Of the first parameters and the batches.")
@click.option("--out", type=click.Path(path_type=Path), default="model.safetensors", show_default=True)
@click.option("--resume", is_flag=True, help="Go on from the checkpoint --out.")
@no_color_option
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
    """Train your own GPT, and watch. Ctrl-C saves what there is.

    Each assignment that passes is yours; official solutions stand in for the rest until yours pass.
    """
    from autograder.workspace.training import checkpoint, runs, select_modules

    settings = checkpoint.load(out).settings if resume else runs.new_settings(preset, dataset, steps, schedule, seed)
    console = console_for(no_color)
    with _modules(folder, solution) as mine:
        if not solution:
            console.print(mine.describe(), markup=False)
        run = runs.train(mine.folder, settings, out, console, resume, steps or settings.steps)
        for line in select_modules.award_for_training(folder, mine, run):
            console.print(line, style="bold", markup=False)


@click.command()
@click.argument("path", metavar="CHECKPOINT", type=click.Path(path_type=Path))
@submission_option
@SOLUTION_OPTION
@click.option("--prompt", help="What the text begins with (default: a new line).")
@click.option("--length", type=click.IntRange(1), default=400, show_default=True, help="How many characters.")
@click.option("--temperature", type=click.FloatRange(0), default=1.0, show_default=True, help="0 is greedy.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
def generate(
    path: Path, folder: Path, solution: bool, prompt: str | None, length: int, temperature: float, seed: int
) -> None:
    """Let a trained model talk."""
    from autograder.workspace.training import checkpoint, runs, select_modules

    run = checkpoint.load(path)
    with _modules(folder, solution) as mine:
        text = runs.generate(mine.folder, run, prompt, length, temperature, seed)
        click.echo(text)
        for line in select_modules.award_for_text(folder, mine, run, text):
            click.echo(line, err=True)


@click.command()
@submission_option
@SOLUTION_OPTION
@click.option("--preset", default="shakespeare", show_default=True, help="The size: names, shakespeare or synthetic.")
@click.option("--rounds", type=click.IntRange(1), default=7, show_default=True, help="Turns of each.")
@click.option("--seconds", type=click.FloatRange(0.05), default=0.5, show_default=True, help="How long a turn takes.")
@click.option("--name", help="Your name on the leaderboard (default: the folder's).")
@json_option
@no_color_option
@interruptible
def bench(
    folder: Path,
    solution: bool,
    preset: str,
    rounds: int,
    seconds: float,
    name: str | None,
    json_file: str | None,
    no_color: bool,
) -> None:
    """How fast your GPT trains beside PyTorch, and why.

    Says in which of your functions the time goes, and what usually makes the slowest faster.

    --json FILE writes a line for the class's leaderboard.
    """
    from autograder.report import benchmark
    from autograder.workspace.training import benchmark as comparison

    console = console_for(no_color, stderr=json_file == "-")
    with _modules(folder, solution) as mine:
        console.print(mine.describe(), markup=False)
        with spinner(console, "training in turn with PyTorch"):
            found = comparison.compare(mine.folder, preset, rounds, seconds, mine.own)
    benchmark.render(found, console)
    if json_file:
        write_json(json_file, comparison.leaderboard(found, name or folder.resolve().name))
