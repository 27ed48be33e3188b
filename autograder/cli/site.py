"""The command `headway site`."""

from pathlib import Path

import click

from autograder.cli import options
from autograder.errors import UsageError


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
    from autograder.cli.command_help import command_help
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
    contents = build.pages(
        curriculum,
        backend,
        commands=command_help(),
        repository=repository,
        pyodide=pyodide,
    )
    written, paths = OutputRecord(folder), [folder / name for name in contents]
    written.require_replaceable(paths, option="--out DIR", force=force)
    try:
        build.write(contents, folder)
        written.add(paths)
    except OSError as error:
        reason = f"cannot write {error.filename or folder} ({error.strerror})"
        raise UsageError(f"{reason}. Name another folder: headway site --out DIR") from None
    count = sum(name.endswith(".html") for name in contents)
    click.echo(f"wrote {count} pages to {folder}. To look at them: python -m http.server -d {folder}")
