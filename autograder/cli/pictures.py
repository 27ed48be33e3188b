"""The command that draws: plot."""

from pathlib import Path

import click

from autograder.cli._shared import console_for, interruptible, no_color_option, submission_option
from autograder.cli.model import SOLUTION_OPTION


@click.command()
@click.argument("name", required=False)
@submission_option
@SOLUTION_OPTION
@click.option(
    "--checkpoint",
    type=click.Path(path_type=Path),
    default="model.safetensors",
    show_default=True,
    help="The trained model, for pictures that show one.",
)
@click.option("--text", help="What to show it for, where a picture shows a text.")
@click.option("--out", type=click.Path(path_type=Path), help="A .png, .svg or .pdf file (default: NAME.png).")
@no_color_option
@interruptible
def plot(
    name: str | None,
    folder: Path,
    solution: bool,
    checkpoint: Path,
    text: str | None,
    out: Path | None,
    no_color: bool,
) -> None:
    """Pictures, drawn by your own functions.

    Without a name it lists them.
    """
    from autograder import engine, source
    from autograder.study import pictures
    from autograder.study.checkpoint import load
    from autograder.study.pictures.subject import Subject, work_of_folder

    console = console_for(no_color)
    if name is None:
        from autograder.report import gallery

        gallery.render(pictures.PICTURES.values(), console)
        return
    picture = pictures.find(name)
    path = out or Path(f"{name}.{picture.suffixes[0]}")
    with work_of_folder(source.bundled("solutions") if solution else engine.require_folder(folder)) as work:
        pictures.write(picture, Subject(work, text, lambda: load(checkpoint)), path)
    click.echo(f"Wrote {path}. {picture.look}")
