"""The command that draws plots: plot."""

from pathlib import Path

import click

from autograder.cli.options import console_for, interruptible, no_color_option, submission_option
from autograder.cli.train import solution_option


@click.command()
@click.argument("name", required=False)
@submission_option
@solution_option
@click.option(
    "--checkpoint",
    type=click.Path(path_type=Path),
    default="model.safetensors",
    show_default=True,
    help="The trained model, for plots that show one.",
)
@click.option("--text", help="The text to show, for plots that show one.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="The file to write, as .png, .svg or .pdf; the attention viewer as .html (default: NAME.png or NAME.html).",
)
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
    """Draw plots with your functions.

    Without a name, lists the plots.
    """
    from autograder.curriculum import registry, stubs
    from autograder.engine import session
    from autograder.workspace import plots
    from autograder.workspace.plots.catalog import PLOTS, find_plot
    from autograder.workspace.plots.inputs import PlotInputs, functions_in_folder
    from autograder.workspace.training.checkpoint import load

    if name is None:
        from autograder.report import plot_list

        plot_list.render(PLOTS.values(), registry.default(), console_for(no_color))
        return
    chosen = find_plot(name)
    path = out or Path(f"{name}.{chosen.suffixes[0]}")
    source = stubs.bundled("solutions") if solution else session.require_folder(folder, registry.default())
    with functions_in_folder(source) as functions:
        plots.write(chosen, PlotInputs(functions, text, lambda: load(checkpoint)), path)
    click.echo(f"Wrote {path}. {chosen.caption}")
