"""The commands for datasets: data list, data fetch."""

import click

from autograder.cli.options import console_for, no_color_option


@click.group(invoke_without_command=True)
@click.pass_context
def data(context: click.Context) -> None:
    """List and download datasets."""
    if context.invoked_subcommand is None:
        context.invoke(data_list)


@data.command("list")
@no_color_option
def data_list(no_color: bool) -> None:
    """List the datasets and show which are available offline."""
    from rich.table import Table
    from rich.text import Text

    from autograder.workspace.training import datasets

    table = Table(box=None, pad_edge=False, header_style="dim")
    for title in ("name", "characters", "available", "description"):
        table.add_column(title, justify="right" if title == "characters" else "left")
    for dataset in datasets.DATASETS.values():
        available = Text("yes" if datasets.is_available(dataset) else "no")
        table.add_row(Text(dataset.name), Text(f"{dataset.size:,}"), available, Text(dataset.description))
    console = console_for(no_color)
    console.print(table)
    if not all(map(datasets.is_available, datasets.DATASETS.values())):
        console.print("\nDownload one: headway data fetch NAME")


@data.command()
@click.argument("name")
def fetch(name: str) -> None:
    """Download a dataset and verify it."""
    from autograder.workspace.training import datasets

    click.echo(f"{name} is complete: {datasets.fetch(name)}")
