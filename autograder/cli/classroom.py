"""Commands for a class: grade."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from autograder.cli._shared import (
    KIT_FAILED,
    PASSED,
    console_for,
    interruptible,
    no_color_option,
)

if TYPE_CHECKING:
    from autograder.course.feedback import Level


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Where the results go.")
@click.option("--assignment", "names", multiple=True, metavar="NAME", help="Only this assignment; may be repeated.")
@click.option("--seed", type=click.IntRange(0), help="Inputs; without it a fresh seed is drawn and recorded.")
@click.option(
    "--call-seconds", type=click.FloatRange(0.05), default=10.0, show_default=True, help="Time limit of one call."
)
@click.option(
    "--submission-seconds",
    type=click.FloatRange(0.1),
    default=300.0,
    show_default=True,
    help="Time limit of all calls of a submission, and of their CPU time.",
)
@click.option("--memory", type=click.IntRange(256), default=2048, show_default=True, help="MiB of one process.")
@click.option("--output", type=click.IntRange(1), default=8, show_default=True, help="MiB that may be printed.")
@click.option("--result", type=click.IntRange(1, 256), default=64, show_default=True, help="MiB of one answer.")
@click.option(
    "--own-prerequisites",
    is_flag=True,
    help="Check assignments on top of the student's own earlier ones, not the official solutions.",
)
@click.option(
    "--feedback",
    type=click.Choice(["full", "summary", "none"]),
    default="summary",
    show_default=True,
    help="How much the result documents tell. Only full holds expected values: not to be handed out.",
)
@click.option("--unsafe-no-sandbox", "unsafe", is_flag=True, help="Run strangers' code with your rights. Marked.")
@no_color_option
@interruptible
def grade(
    folder: Path,
    out: Path,
    names: tuple[str, ...],
    seed: int | None,
    call_seconds: float,
    submission_seconds: float,
    memory: int,
    output: int,
    result: int,
    own_prerequisites: bool,
    feedback: "Level",
    unsafe: bool,
    no_color: bool,
) -> None:
    """Grade a folder of submissions (folders or zip archives); write one result document each, and a table as CSV.

    Student code runs in a sandbox; a machine that has none refuses (headway doctor says what is missing).
    """
    from autograder import engine
    from autograder.course import grading
    from autograder.curriculum import TRANSFORMER
    from autograder.report import table
    from autograder.worker import Limits

    selected = TRANSFORMER.select(names)
    limits = Limits(
        call_seconds=call_seconds,
        submission_seconds=submission_seconds,
        cpu_seconds=submission_seconds,
        memory_bytes=memory << 20,
        output_bytes=output << 20,
        result_bytes=result << 20,
    )
    options = engine.Options(
        functions=selected if names else None,
        seed=grading.fresh_seed() if seed is None else seed,
        limits=limits,
        official=not own_prerequisites,
    )
    console = console_for(no_color)
    if unsafe:
        table.warn_of_no_sandbox(console)
    with table.live(console) as seen:
        rows = grading.grade(folder, out, options, grading.Plan(feedback, unsafe), seen)
    table.render(rows, options.seed, out, console)
    sys.exit(KIT_FAILED if any(row.problems for row in rows) else PASSED)
