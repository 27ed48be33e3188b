"""Commands that run the whole model: train, generate."""

from pathlib import Path

import click

from autograder.cli._shared import console_for, no_color_option

DIR_OPTION = click.option(
    "--dir", "folder", type=click.Path(path_type=Path), default=".", help="The submission's folder."
)
SOLUTION_OPTION = click.option("--solution", is_flag=True, help="The official solution instead of your own code.")


def _modules(folder: Path, solution: bool) -> Path:
    from autograder import engine, source

    return source.bundled("solutions") if solution else engine.require_folder(folder)


@click.command()
@DIR_OPTION
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
    """Train your own GPT, and watch. Ctrl-C saves what there is."""
    from autograder.study import checkpoint, runs

    settings = checkpoint.load(out).settings if resume else runs.new_settings(preset, dataset, steps, schedule, seed)
    runs.train(_modules(folder, solution), settings, out, console_for(no_color), resume, steps or settings.steps)


@click.command()
@click.argument("path", metavar="CHECKPOINT", type=click.Path(path_type=Path))
@DIR_OPTION
@SOLUTION_OPTION
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
