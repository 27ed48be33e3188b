"""The commands about trained models: runs lists them."""

from dataclasses import asdict
from pathlib import Path

import click

from autograder.cli import options


@click.command()
@options.workspace_folder
@click.option("--plain", is_flag=True, help="Print one line for each run, for screen readers and logs.")
@options.json_file
@options.no_color
def runs(folder: Path, plain: bool, json_file: str | None) -> None:
    """List training runs: settings, losses, steps, time.

    The losses are those of the latest steps. Settings are shown if they are not the preset's.
    """
    from autograder.errors import UsageError
    from autograder.report import runs_table
    from autograder.workspace.training import checkpoint_list

    if not folder.is_dir():
        raise UsageError(f"no such folder: {folder}. Check the path")
    found = [run for run in checkpoint_list.model_summaries(folder) if run.step is not None]
    if json_file:
        options.write_json(json_file, [asdict(run) for run in found])
    console = options.make_console(stderr=json_file == "-")
    if not found:
        console.print("No training runs here yet. Start one: headway train")
        return
    runs_table.render(found, console, plain=plain)
    if len(found) > 1:
        first, second = (run.name for run in found[:2])
        console.print(f"\nCompare losses: headway plot loss {second} {first}", markup=False, soft_wrap=True)
