"""The commands for lessons in a browser: serve, in which code is written and checked, and site."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from autograder.cli import options
from autograder.errors import UsageError, missing_package

if TYPE_CHECKING:
    from autograder.web.site.guides import CommandHelp
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
    open_browser = not no_browser
    server.run(folder.resolve(), _make_pages, port=port, open_browser=open_browser, poll=poll, echo=click.echo)


def _make_pages(workspace: "Workspace") -> Mapping[str, bytes]:
    from autograder.web.site import build

    return build.pages(workspace.curriculum, "server", commands=command_help())


@click.command()
@click.option("--out", "folder", type=options.PATH, required=True, help="The folder that the site is written into.")
@click.option(
    "--pyodide",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Take Pyodide and NumPy from this folder, not from the public network.",
)
@click.option("--no-checks", is_flag=True, help="Only lessons to read: nothing can be checked in the pages.")
@click.option(
    "--repository",
    metavar="URL",
    default="",
    help="Where the files of Headway's repository can be read; without it, the site has no links to them.",
)
@options.force
@options.curriculum
def site(folder: Path, pyodide: Path | None, no_checks: bool, repository: str, force: bool) -> None:
    """Write the course as a website, with checks in the browser.

    A site can be served by any web server: it is a folder of files. To look at it here: python -m http.server -d DIR
    """
    from autograder.core.files import report_write_error
    from autograder.core.output_files import OutputRecord
    from autograder.web.site import build

    if no_checks and pyodide:
        raise UsageError("--pyodide is of no use with --no-checks. Leave out one of them: headway site --help")
    backend: build.Backend = "none" if no_checks else "browser"
    curriculum = options.selected_curriculum()
    if backend == "browser" and not curriculum.is_built_in:
        raise UsageError(
            "checks in the browser work only for the built-in course. Add --no-checks, or use: headway serve"
        )
    contents = build.pages(curriculum, backend, commands=command_help(), repository=repository, pyodide=pyodide)
    written, paths = OutputRecord(folder), [folder / name for name in contents]
    written.require_replaceable(paths, option="--out DIR", force=force)
    with report_write_error(folder, "Name another folder: headway site --out DIR"):
        build.write(contents, folder)
        written.add(paths)
    count = sum(name.endswith(".html") for name in contents)
    click.echo(f"wrote {count} pages to {folder}. To look at them: python -m http.server -d {folder}")


def command_help() -> "tuple[CommandHelp, ...]":
    """Return what `headway NAME --help` says, of every command."""
    from autograder.cli import SECTIONS, main
    from autograder.web.site.guides import describe_commands

    return describe_commands(main, SECTIONS)
