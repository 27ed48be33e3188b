"""The command `headway serve`: the lessons of a workspace as pages in which code is written and checked."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from autograder.cli import options
from autograder.errors import missing_package

if TYPE_CHECKING:
    from autograder.workspace.workspace import Workspace

PORT = 8791


@click.command(context_settings=options.WITH_DEFAULTS)
@click.argument("workspace", metavar="[WORKSPACE]", type=options.PATH, required=False)
@click.option("--dir", "folder", type=options.PATH, default=".", hidden=True)  # As all other commands have it.
@click.option(
    "--port", type=click.IntRange(0, 65535), default=PORT, help="The port on this machine; 0 for any free one."
)
@click.option("--no-browser", is_flag=True, help="Only print the address.")
@click.option("--poll", is_flag=True, help="Look for changes four times a second, for network file systems.")
def serve(workspace: Path | None, folder: Path, port: int, no_browser: bool, poll: bool) -> None:
    """Read, write and check in your browser.

    Serves the lessons to this machine only. What you write in a page is saved in the files of your workspace, and
    checked as headway watch does it. Ctrl-C ends the server.
    """
    try:
        from autograder.web.serve import server
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("starlette", "uvicorn", "anyio"):
            raise
        raise missing_package("headway serve needs Starlette and uvicorn", "serve") from None
    folder = workspace or folder
    options.open_workspace(folder).require_assignments()
    server.run(
        folder.resolve(),
        _make_pages,
        port=port,
        open_browser=not no_browser,
        poll=poll,
        echo=click.echo,
    )


def _make_pages(workspace: "Workspace") -> Mapping[str, bytes]:
    from autograder.cli.command_help import command_help
    from autograder.web.site import build

    return build.pages(workspace.curriculum, "server", commands=command_help())
