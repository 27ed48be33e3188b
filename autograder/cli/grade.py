"""Commands for a class: grade."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from autograder.cli.nbgrader import hidden_seed, open_course, write_course
from autograder.cli.options import (
    INTERNAL_ERROR,
    PASSED,
    console_for,
    curriculum_option,
    interruptible,
    no_color_option,
    preload,
    selected_curriculum,
)

if TYPE_CHECKING:
    from autograder.results import Level


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Where the results go.")
@click.option("-j", "processes", type=click.IntRange(1), help="How many at once (default: one for each core).")
@click.option(
    "--course", type=click.Path(path_type=Path), help="The policy (default: DIR/course.toml, if there is one)."
)
@click.option(
    "--roster", type=click.Path(path_type=Path), help="CSV file of the class; who is missing shows as missing."
)
@click.option(
    "--layout",
    type=click.Choice(["auto", "plain", "nbgrader", "canvas", "moodle", "gradescope"]),
    help="How DIR is laid out (default: recognised).",
)
@click.option("--only", multiple=True, metavar="STUDENT", help="Only this student; may be repeated.")
@click.option("--force", is_flag=True, help="Grade again what is already graded.")
@click.option("--resume", is_flag=True, hidden=True, help="What happens anyway.")
@click.option("--cluster", default="", metavar="ADDRESS", help="Grade on the workers of this Dask scheduler.")
@click.option("--assignment", "names", multiple=True, metavar="NAME", help="Only this assignment; may be repeated.")
@click.option("--seed", type=click.IntRange(0), help="Inputs; without it a fresh seed is drawn, and kept with OUT.")
@click.option("--call-seconds", type=click.FloatRange(0.05), help="Time limit of one call (default: 10).")
@click.option(
    "--submission-seconds",
    type=click.FloatRange(0.1),
    help="Time limit of all calls of a submission, and of their CPU time (default: 300).",
)
@click.option("--memory", type=click.IntRange(256), help="MiB of one process (default: 2048).")
@click.option("--output", type=click.IntRange(1), help="MiB that may be printed (default: 8).")
@click.option("--result", type=click.IntRange(1, 256), help="MiB of one answer (default: 64).")
@click.option(
    "--own-prerequisites",
    is_flag=True,
    help="Check assignments on top of the student's own earlier ones, not the official solutions.",
)
@click.option(
    "--feedback",
    type=click.Choice(["full", "summary", "none"]),
    help="What the documents tell (default: summary). Only full holds expected values: not to be handed out.",
)
@click.option(
    "--nbgrader",
    "nbgrader_course",
    type=click.Path(path_type=Path),
    metavar="COURSE",
    help="Grade on this nbgrader course's hidden inputs, and write grades and reports into it.",
)
@click.option("--unsafe-no-sandbox", "unsafe", is_flag=True, help="Run strangers' code with your rights. Marked.")
@curriculum_option
@no_color_option
@interruptible
def grade(
    folder: Path,
    out: Path,
    processes: int | None,
    course: Path | None,
    roster: Path | None,
    layout: str | None,
    only: tuple[str, ...],
    force: bool,
    resume: bool,
    cluster: str,
    names: tuple[str, ...],
    seed: int | None,
    call_seconds: float | None,
    submission_seconds: float | None,
    memory: int | None,
    output: int | None,
    result: int | None,
    own_prerequisites: bool,
    feedback: "Level | None",
    nbgrader_course: Path | None,
    unsafe: bool,
    no_color: bool,
) -> None:
    """Grade a class, in a sandbox.

    Writes one result document for each submission, class.json, and a table as CSV.

    DIR holds a folder, an archive, a module or a notebook for each student, or what Canvas, Moodle, Gradescope or
    nbgrader make of a class. Student code runs in a sandbox; a machine that has none refuses (headway doctor says what
    is missing). The same command again goes on where it was broken off, and grades only what has changed.
    """
    import os

    from autograder.classroom import grade as grading
    from autograder.classroom import gradebook
    from autograder.classroom.policy_file import find_policy
    from autograder.engine import session
    from autograder.report import grading_progress

    target = open_course(nbgrader_course) if nbgrader_course else None  # what is wrong with it is said before the work
    if target:
        preload("nbgrader.api")  # takes seconds
    curriculum = selected_curriculum()
    policy = find_policy(course, folder, curriculum)
    limits = {
        "call_seconds": call_seconds,
        "submission_seconds": submission_seconds,
        "memory_mib": memory,
        "output_mib": output,
        "result_mib": result,
    }
    policy = policy.with_options(
        limits,
        seed=hidden_seed(target) if target and seed is None and policy.seed is None else seed,
        layout=layout,
        feedback=feedback,
        own_prerequisites=own_prerequisites or None,
    )
    selected = curriculum.select(names or tuple(policy.assignments))
    options = session.Options(
        functions=selected if len(selected) < len(curriculum.functions) else None,
        limits=policy.limits.sandbox_limits(),
        official=not policy.own_prerequisites,
        curriculum=curriculum,
    )
    plan = grading.RunOptions(
        processes or (len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1),
        unsafe,
        force,
        only,
        tuple(dict.fromkeys(curriculum.functions[name].module for name in selected)),
        roster or (Path(policy.roster) if policy.roster else None),
        cluster,
    )
    console = console_for(no_color)
    if unsafe:
        grading_progress.warn_no_sandbox(console)
    try:
        with grading_progress.show_progress(console) as seen:
            document = grading.grade(folder, out, options, policy, plan, seen)
    except KeyboardInterrupt:
        click.echo(f"what is graded so far is kept in {out}; the same command again does the rest", err=True)
        raise
    grading_progress.render(document, out, console)
    if target:
        write_course(gradebook.read(out), target, console)
    sys.exit(INTERNAL_ERROR if any(student["status"] == "failed" for student in document["students"]) else PASSED)
