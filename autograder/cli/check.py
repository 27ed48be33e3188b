"""The command `headway check`."""

import sys
from pathlib import Path

import click

from autograder.cli.completion import CourseName
from autograder.cli.options import (
    INTERNAL_ERROR,
    NOT_PASSED,
    PASSED,
    checking_message,
    console_for,
    curriculum_option,
    interruptible,
    json_option,
    no_color_option,
    open_workspace,
    preload,
    submission_option,
    write_json,
)


@click.command()
@click.argument("names", metavar="[NAME[.function]]...", nargs=-1, type=CourseName())
@submission_option
@click.option("--seed", type=click.IntRange(0), default=0, help="Use other inputs (default: 0, the public ones).")
@click.option(
    "--call-seconds",
    type=click.FloatRange(0.05),
    default=10.0,
    help="Time limit per call, in seconds (default: 10).",
)
@click.option("--all", "all_panels", is_flag=True, help="Show every failed check, not only the first few.")
@curriculum_option
@json_option
@no_color_option
@interruptible
def check(
    names: tuple[str, ...],
    folder: Path,
    seed: int,
    call_seconds: float,
    all_panels: bool,
    json_file: str | None,
    no_color: bool,
) -> None:
    """Check everything, or the named assignments or functions.

    Exit codes: 0 all checks passed, 1 some check failed, 2 wrong usage, 3 internal error.
    """
    from autograder import results
    from autograder.sandbox import Limits
    from autograder.workspace.check import check_workspace, next_step

    workspace = open_workspace(folder)
    functions = workspace.curriculum.select(names)
    workspace.require_assignments()
    preload("autograder.report.check_report")
    with checking_message():
        result, badge_lines = check_workspace(workspace, functions, seed=seed, limits=Limits(call_seconds=call_seconds))
    document = results.to_document(result, workspace.curriculum)
    if json_file:
        write_json(json_file, document)
    from autograder.report import check_report

    console = console_for(no_color, stderr=json_file == "-")
    when_passed = next_step(workspace, result) if result.passed else None
    check_report.render(document, console, all_panels=all_panels, when_passed=when_passed)
    for line in badge_lines:
        console.print(line, style="bold", markup=False)
    sys.exit(INTERNAL_ERROR if result.internal_errors else PASSED if result.passed else NOT_PASSED)
