"""Commands that test the installation and the course: doctor, verify."""

import sys
from pathlib import Path

import click

from autograder.cli.options import (
    NOT_PASSED,
    PASSED,
    console_for,
    curriculum_option,
    interruptible,
    json_option,
    no_color_option,
    selected_curriculum,
    write_json,
)


@click.command()
@no_color_option
def doctor(no_color: bool) -> None:
    """Check this machine: dependencies, sandbox, versions.

    For every problem you see the command that fixes it.
    """
    from autograder.cli import diagnostics
    from autograder.report import doctor as doctor_report

    results = diagnostics.run_diagnostics()
    doctor_report.render(results, console_for(no_color))
    sys.exit(PASSED if all(diagnostic.ok or diagnostic.optional for diagnostic in results) else NOT_PASSED)


@click.command()
@click.option("-j", "processes", type=click.IntRange(1), default=2, help="Number of processes (default: 2).")
@click.option("--right", type=click.Path(path_type=Path), help="Folder of correct submissions (default: the clone's).")
@curriculum_option
@json_option
@no_color_option
@interruptible
def verify(processes: int, right: Path | None, json_file: str | None, no_color: bool) -> None:
    """Prove the checks: solutions pass, stubs and mistakes fail.

    Every known mistake must also be named by the checks that it fails.
    """
    from dataclasses import asdict

    from autograder.curriculum import registry, stubs
    from autograder.engine import verify as verification
    from autograder.report import verify as verify_report

    curriculum = selected_curriculum()
    if right is None and curriculum.package == registry.BUILT_IN:
        right = stubs.bundled("solutions").parent / "tests" / "submissions" / "right"
    console = console_for(no_color, stderr=json_file == "-")
    count = len(verification.plan_tasks(right, curriculum))
    findings = verify_report.render(verification.verify(right, curriculum, processes), count, console)
    if json_file:
        write_json(json_file, [asdict(finding) for finding in findings])
    sys.exit(PASSED if all(finding.ok for finding in findings) else NOT_PASSED)
