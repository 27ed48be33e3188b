"""Commands about the kit itself: release, doctor, verify."""

import sys
from pathlib import Path

import click

from autograder.cli._shared import (
    NOT_PASSED,
    PASSED,
    console_for,
    interruptible,
    json_option,
    no_color_option,
    write_json,
)
from autograder.errors import UsageError


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--stubs", is_flag=True, help="The stubs, generated from the solutions.")
def release(folder: Path, stubs: bool) -> None:
    """Write what students get, generated from the solutions."""
    from autograder import source

    if not stubs:
        raise UsageError("say what to release. The stubs: headway release DIR --stubs")
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in source.make_stubs(source.bundled("solutions")).items():
        (folder / name).write_text(text, "utf-8")
        click.echo(f"wrote {folder / name}")


@click.command()
@no_color_option
def doctor(no_color: bool) -> None:
    """Is everything here that is needed? Says what is missing and the command that mends it."""
    from autograder import doctor as examination
    from autograder.report import findings

    found = examination.examine()
    findings.render(found, console_for(no_color))
    sys.exit(PASSED if all(finding.ok or finding.optional for finding in found) else NOT_PASSED)


@click.command()
@click.option("-j", "processes", type=click.IntRange(1), default=2, show_default=True, help="How many at once.")
@click.option("--right", type=click.Path(path_type=Path), help="Folder of right answers (default: the clone's).")
@json_option
@no_color_option
@interruptible
def verify(processes: int, right: Path | None, json_file: str | None, no_color: bool) -> None:
    """Prove the kit: solutions pass, stubs fail, every known mistake fails and is called by its name."""
    from dataclasses import asdict

    from autograder import source
    from autograder import verify as verification
    from autograder.report import verification as view

    right = right or source.bundled("solutions").parent / "tests" / "submissions" / "right"
    console = console_for(no_color, stderr=json_file == "-")
    found = view.render(verification.verify(right, processes), len(verification.jobs(right)), console)
    if json_file:
        write_json(json_file, [asdict(finding) for finding in found])
    sys.exit(PASSED if all(finding.ok for finding in found) else NOT_PASSED)
