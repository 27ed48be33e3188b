"""The command `headway grade`."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from autograder.cli import options
from autograder.cli.nbgrader import write_course
from autograder.errors import UsageError

if TYPE_CHECKING:
    from autograder.classroom.exporters.nbgrader_course import Course
    from autograder.classroom.grade import GradingPlan


@click.command()
@click.argument("folder", metavar="[DIR]", type=options.PATH, required=False)
@click.option(
    "--source",
    "given_sources",
    multiple=True,
    metavar="ASSIGNMENT=DIR",
    help="Grade the submissions of one assignment in DIR, a folder or a .zip; repeatable.",
)
@click.option("--out", type=options.PATH, required=True, help="Folder for the results of all assignments.")
@click.option("-j", "processes", type=click.IntRange(1), help="Number of grading processes (default: one per core).")
@click.option(
    "--course", type=options.PATH, help="Policy file (default: course.toml in DIR or OUT, or that of the last run)."
)
@click.option(
    "--roster",
    type=options.PATH,
    help="CSV file of the class, or a folder with one for each section. Adds names and who is missing.",
)
@click.option(
    "--layout",
    type=click.Choice(["auto", "plain", "nbgrader", "canvas", "moodle", "gradescope", "github"]),
    help="Layout of DIR (default: detected).",
)
@click.option("--only", multiple=True, metavar="STUDENT", help="Grade only this student; repeatable.")
@click.option("--partial", is_flag=True, help="Accept that most students on the roster have no submission.")
@click.option("--force", is_flag=True, help="Also grade submissions that have a current result.")
@click.option("--cluster", default="", metavar="ADDRESS", help="Grade on the workers of this Dask scheduler.")
@options.assignment_option("Grade only this assignment; repeatable.")
@click.option("--seed", type=click.IntRange(0), help="Seed of the inputs (default: drawn once and stored in OUT).")
@options.call_seconds
@click.option(
    "--own-prerequisites",
    is_flag=True,
    help="Check each assignment with the student's own earlier modules, not the official solutions.",
)
@click.option(
    "--feedback",
    type=click.Choice(["full", "summary", "none"]),
    help='How much results reveal (default: summary). "full" includes expected values; do not give it to students.',
)
@click.option(
    "--nbgrader",
    "nbgrader_course",
    type=options.PATH,
    metavar="COURSE",
    help="Use the hidden inputs of this nbgrader course, and write grades and reports into it.",
)
@click.option(
    "--unsafe-no-sandbox",
    "unsafe",
    is_flag=True,
    help="Run untrusted code with your own privileges (recorded in the results).",
)
@options.curriculum
def grade(
    folder: Path | None,
    given_sources: tuple[str, ...],
    out: Path,
    course: Path | None,
    roster: Path | None,
    names: tuple[str, ...],
    nbgrader_course: Path | None,
    processes: int | None,
    **choices: Any,
) -> None:
    """Grade a class, in a sandbox.

    Writes a result document for each submission, class.json and grades.csv.

    DIR contains a folder, an archive, a module or a notebook for each student, or is a download from Canvas, Moodle or
    Gradescope (a folder or the .zip), or the submitted folder of an nbgrader course. Student code runs in a sandbox;
    without one, grading is refused ("headway doctor" shows what is missing). Running the same command again resumes an
    interrupted run and grades only what has changed.

    OUT holds a whole term: --source softmax=DIR grades one assignment, or DIR contains a folder for each, and results
    of earlier runs stay. Without DIR and --source, only the scores are computed again: after a change of course.toml or
    of the roster.
    """
    import os

    from autograder.classroom.exporters import nbgrader_course as course_exporter
    from autograder.classroom.grade import GradingPlan
    from autograder.classroom.storage import run_records
    from autograder.classroom.submissions import sources
    from autograder.notebooks.nbgrader_course import released_seed

    if folder and given_sources:
        raise UsageError(f"give DIR or --source, not both. For one more assignment: --source NAME={folder}")
    # The nbgrader course is opened first, so that an error in it is reported before the class is graded.
    target = course_exporter.find(nbgrader_course) if nbgrader_course else None
    if target:
        options.preload("nbgrader.api")  # importing it takes seconds
    curriculum = options.selected_curriculum()
    policy, file = run_records.find_policy(out, folder, course, curriculum)
    if target and choices["seed"] is None and policy.seed is None:
        choices["seed"] = released_seed(target.root)  # With it, both ways of grading agree.
    policy = policy.with_options(choices)
    selected = curriculum.select(names or tuple(policy.assignments))
    found = [sources.source_from_option(text, curriculum, policy.layout) for text in given_sources]
    if folder:
        found = sources.find_sources(folder, curriculum, policy.layout, selected, out)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    roster, seed = run_records.find_roster(out, policy, file, roster), run_records.find_seed(out, policy)
    how = {name: choices[name] for name in ("unsafe", "force", "only", "partial", "cluster")}
    plan = GradingPlan(found, out, policy, curriculum, seed, processes or cores, course=file, roster=roster, **how)
    _run(plan, target)


def _run(plan: "GradingPlan", target: "Course | None") -> None:
    """Carry out the plan, show its results, and exit."""
    from autograder.classroom import grade
    from autograder.classroom.comments import grade_history
    from autograder.classroom.storage import gradebook
    from autograder.report import grading_progress, open_questions

    console = options.make_console()
    if plan.unsafe:
        grading_progress.warn_no_sandbox(console)
    try:
        with grading_progress.show_progress(console) as on_progress:
            document, changes = grade.run(plan, on_progress)
    except KeyboardInterrupt:
        click.echo(f"results so far are in {plan.out}; run the same command again to resume", err=True)
        raise
    grading_progress.render(document, plan.out, console)
    names = gradebook.Gradebook(plan.out, document).names
    for line in grade_history.changed_grades(changes, names):
        options.show(f"\n{line}")
    open_questions.render(gradebook.with_class(document), str(plan.out), console)
    if target:
        write_course(gradebook.read(plan.out), target)
    grades = (grade for student in document["students"] for grade in student["assignments"].values())
    has_failed = any(grade["status"] == "failed" for grade in grades)
    sys.exit(options.INTERNAL_ERROR if has_failed else options.PASSED)
