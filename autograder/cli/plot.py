"""The command that draws: plot."""

from pathlib import Path

import click

from autograder.cli.options import console_for, interruptible, no_color_option, submission_option
from autograder.cli.train import SOLUTION_OPTION


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
    from autograder.curriculum import registry, stubs
    from autograder.engine import session
    from autograder.workspace import plots
    from autograder.workspace.plots.catalog import PLOTS, find_plot
    from autograder.workspace.plots.inputs import PlotInputs, functions_in_folder
    from autograder.workspace.training.checkpoint import load

    console = console_for(no_color)
    if name is None:
        from autograder.report import plot_list

        plot_list.render(PLOTS.values(), registry.default(), console)
        return
    chosen = find_plot(name)
    path = out or Path(f"{name}.{chosen.suffixes[0]}")
    with functions_in_folder(
        stubs.bundled("solutions") if solution else session.require_folder(folder, registry.default())
    ) as functions:
        plots.write(chosen, PlotInputs(functions, text, lambda: load(checkpoint)), path)
    click.echo(f"Wrote {path}. {chosen.caption}")
