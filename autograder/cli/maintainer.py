"""Commands for authors and maintainers: new-assignment, verify; and for the installation: doctor, completion."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from autograder.cli import options
from autograder.errors import UsageError

if TYPE_CHECKING:
    from autograder.course import Curriculum


@click.command()
@click.option("--report", is_flag=True, help="Write what a bug report needs, without private data, as Markdown.")
def doctor(report: bool) -> None:
    """Check this machine: dependencies, sandbox, versions.

    Shows the command that fixes each problem.
    """
    from autograder.cli import diagnostics
    from autograder.report import doctor as doctor_report

    results = diagnostics.run_diagnostics()
    if report:
        click.echo(doctor_report.as_markdown(results, diagnostics.environment()))
        return
    doctor_report.render(results, options.make_console())
    ok = all(diagnostic.ok or diagnostic.optional for diagnostic in results)
    sys.exit(options.PASSED if ok else options.NOT_PASSED)


@click.command()
@click.argument("names", metavar="[NAME]...", nargs=-1)
@click.option("-j", "processes", type=click.IntRange(1), default=2, help="Number of processes (default: 2).")
@click.option("--promises", is_flag=True, help="Show what breaks each promise, and the check that fails.")
@click.option("--changes", is_flag=True, help="Also try wrong changes that rules derive; show those that pass.")
@click.option(
    "--build-answers",
    is_flag=True,
    help="If everything is verified, write the answers to the inputs that students have into the course's package.",
)
@options.curriculum
@options.json_file
def verify(
    names: tuple[str, ...], processes: int, promises: bool, changes: bool, build_answers: bool, json_file: str | None
) -> None:
    """Verify the checks: solutions must pass, stubs and mistakes must fail.

    Verifies everything, or the named assignments or functions.

    The files of the course are examined first: each broken rule is reported with its file, its line and what to do.
    Every known mistake must also be named by the checks that it fails. For every promise of a docstring, a check must
    fail when the promise is broken.

    --changes is a test of the checks themselves, which needs no list of mistakes: rules leave out a factor or a minus
    sign, swap two arguments, take another axis and so on, each alone, in every solution.

    With --build-answers, students of the course need neither PyTorch nor anything else that the references import.
    """
    from dataclasses import asdict

    from autograder.authoring import rules
    from autograder.authoring import verify as verification
    from autograder.course import registry, stubs
    from autograder.report import verify as verify_report

    if names and build_answers:
        raise UsageError("--build-answers verifies the whole course. Give it no names")
    console = options.make_console(stderr=json_file == "-")
    declared = registry.find(options.curriculum_name())
    if problems := rules.find_problems(declared):
        findings = [verification.VerifyResult("rule", "", False, str(problem)) for problem in problems]
        verify_report.render(findings, len(findings), console)
        if json_file:
            options.write_json(json_file, [asdict(finding) for finding in findings])
        sys.exit(options.NOT_PASSED)
    curriculum = registry.load(declared.name)
    right_answers = stubs.bundled("solutions").parent / "tests" / "submissions" / "right"
    right = right_answers if curriculum.is_built_in else None
    selected = curriculum.select(names)
    tasks = verification.plan_tasks(right, curriculum, selected, changes=changes)
    results = verification.verify(tasks, processes)
    if build_answers:  # They are written again, so it does not matter if they are outdated.
        results = (result for result in results if result.kind != "answers")
    findings = verify_report.render(results, len(tasks), console)
    if promises:
        verify_report.render_promises(findings, console)
    if changes:
        verify_report.render_changes(findings, console)
    if json_file:
        options.write_json(json_file, [asdict(finding) for finding in findings])
    passed = all(finding.ok for finding in findings)
    if build_answers:
        _build_answers(curriculum, passed)
    sys.exit(options.PASSED if passed else options.NOT_PASSED)


def _build_answers(curriculum: "Curriculum", passed: bool) -> None:
    from autograder.authoring import build_memo
    from autograder.core.files import report_write_error
    from autograder.course import registry

    if not passed:
        click.echo("The answers were not built. Fix what is marked ✗, then try again.", err=True)
        return
    with report_write_error(registry.folder(curriculum.package), "Check its permissions"):
        click.echo(build_memo.build(curriculum), err=True)


@click.command("new-assignment")
@click.argument("name", metavar="NAME")
@click.option(
    "--course",
    "folder",
    type=options.PATH,
    default=".",
    help="Folder of the course; if it is new or empty, a course is created in it (default: this folder).",
)
@click.option("--title", default="", help="Title of the assignment (default: its name).")
def new_assignment(name: str, folder: Path, title: str) -> None:
    """Write the skeleton of an assignment into a course.

    The course is one of your own or, in a clone of Headway, the built-in one. The skeleton has a lesson, a
    solution, checks, a reference, two mistakes, promises and hints, and passes headway verify as it is. Comments in
    each file say what to replace.
    """
    from autograder.authoring import new_assignment

    click.echo("\n".join(new_assignment.create(folder, name, title)))


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print a script that completes commands and names in your shell.

    For bash: eval "$(headway completion bash)"
    """
    from click.shell_completion import shell_complete

    from autograder.cli import main

    shell_complete(main, {}, "headway", "_HEADWAY_COMPLETE", f"{shell}_source")
