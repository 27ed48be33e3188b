"""The commands that train and run the whole model: train, generate, bench."""

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
    from autograder.workspace.training.select_modules import ModuleSelection

solution_option = click.option("--solution", is_flag=True, help="Use the official solution instead of your code.")


@contextlib.contextmanager
def _selected_modules(folder: Path, solution: bool) -> "Iterator[ModuleSelection]":
    """Provide the official modules if `solution`; else the student's where they pass, official ones for the rest."""
    from autograder.courses.transformer import TRANSFORMER
    from autograder.curriculum import stubs
    from autograder.engine import session
    from autograder.workspace.training.select_modules import ModuleSelection, select_modules

    if solution:
        yield ModuleSelection(stubs.bundled("solutions"), (), tuple(TRANSFORMER.modules))
        return
    with select_modules(session.require_folder(folder, TRANSFORMER)) as modules:
        yield modules


@click.command()
@submission_option
@solution_option
@click.option("--preset", default="names", show_default=True, help="Model size: names, shakespeare or synthetic.")
@click.option("--data", "dataset", metavar="NAME", help="Dataset (default: the preset's; see headway data list).")
@click.option("--steps", type=click.IntRange(1), help="Number of steps (default: the preset's).")
@click.option(
    "--schedule",
    type=click.Choice(["constant", "cosine"]),
    default="constant",
    show_default=True,
    help="Learning-rate schedule.",
)
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of the initial parameters and batches."
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default="model.safetensors",
    show_default=True,
    help="The checkpoint to write.",
)
@click.option("--resume", is_flag=True, help="Continue the run saved in --out.")
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
    """Train your GPT and watch it learn. Ctrl-C saves the run.

    Uses your code for each assignment that passes, and the official solution for the rest.
    """
    from autograder.workspace.training import checkpoint, runs, select_modules

    settings = checkpoint.load(out).settings if resume else runs.new_settings(preset, dataset, steps, schedule, seed)
    console = console_for(no_color)
    with _selected_modules(folder, solution) as modules:
        if not solution:
            console.print(modules.describe(), markup=False)
        run = runs.train(modules.folder, settings, out, console, resume, steps or settings.steps)
        for line in select_modules.award_loss_badge(folder, modules, run):
            console.print(line, style="bold", markup=False)


@click.command()
@click.argument("path", metavar="CHECKPOINT", type=click.Path(path_type=Path))
@submission_option
@solution_option
@click.option("--prompt", metavar="TEXT", help="The beginning of the text (default: a new line).")
@click.option(
    "--length", type=click.IntRange(1), default=400, show_default=True, help="Number of characters to generate."
)
@click.option(
    "--temperature",
    type=click.FloatRange(0),
    default=1.0,
    show_default=True,
    help="Sampling temperature; 0 always takes the most likely character.",
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of the sampling.")
def generate(
    path: Path, folder: Path, solution: bool, prompt: str | None, length: int, temperature: float, seed: int
) -> None:
    """Generate text with a trained model."""
    from autograder.workspace.training import checkpoint, runs, select_modules

    run = checkpoint.load(path)
    with _selected_modules(folder, solution) as modules:
        text = runs.generate(modules.folder, run, prompt, length, temperature, seed)
        click.echo(text)
        for line in select_modules.award_name_badge(folder, modules, run, text):
            click.echo(line, err=True)


@click.command()
@submission_option
@solution_option
@click.option("--preset", default="shakespeare", show_default=True, help="Model size: names, shakespeare or synthetic.")
@click.option("--rounds", type=click.IntRange(1), default=7, show_default=True, help="Number of rounds.")
@click.option(
    "--seconds",
    type=click.FloatRange(0.05),
    default=0.5,
    show_default=True,
    help="Seconds per measurement (two in each round).",
)
@click.option("--name", help="Your name on the leaderboard (default: the folder's name).")
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
    """Measure your GPT's training speed against PyTorch.

    Shows where your code spends its time, and how to make the slowest function faster.
    --json FILE writes an entry for a class leaderboard.
    """
    from autograder.report import benchmark as speed_report
    from autograder.workspace.training import benchmark

    console = console_for(no_color, stderr=json_file == "-")
    with _selected_modules(folder, solution) as modules:
        console.print(modules.describe(), markup=False)
        with spinner(console, "training with your code and with PyTorch in turn"):
            comparison = benchmark.compare_with_torch(modules.folder, preset, rounds, seconds, modules.student)
    speed_report.render(comparison, console)
    if json_file:
        write_json(json_file, benchmark.leaderboard_record(comparison, name or folder.resolve().name))
