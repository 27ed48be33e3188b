"""The commands that check a workspace: check, submit."""

import shlex
import sys
from pathlib import Path

import click

from autograder.cli import options
from autograder.cli.completion import CourseName
from autograder.core.text import clean
from autograder.errors import UsageError


@click.command()
@click.argument("names", metavar="[NAME[.function]]...", nargs=-1, type=CourseName())
@options.submission_folder
@click.option("--seed", type=click.IntRange(0), default=0, help="Use other inputs, which need PyTorch (default: 0).")
@click.option(
    "--call-seconds",
    type=click.FloatRange(0.05),
    default=60.0,
    help="The most CPU time that a call may get, in seconds (default: 60); most calls get less.",
)
@click.option(
    "--sandbox", is_flag=True, help="Run the code in the strongest sandbox of this machine, as headway grade does."
)
@click.option("--all", "all_panels", is_flag=True, help="Show every failed check, not only the first few.")
@options.curriculum
@options.json_file
@options.no_color
def check(
    names: tuple[str, ...],
    folder: Path,
    seed: int,
    call_seconds: float,
    sandbox: bool,
    all_panels: bool,
    json_file: str | None,
) -> None:
    """Check everything, or the named assignments or functions.

    To check code that is not your own, use --dir DIR --sandbox. This records nothing in DIR.

    Exit codes: 0 all checks passed, 1 some check did not pass, 2 wrong usage, 3 internal error.
    """
    from autograder import results
    from autograder.engine import session
    from autograder.sandbox import Limits
    from autograder.workspace.check import check_workspace, next_step

    limits = Limits(call_seconds=call_seconds)
    badge_lines: list[str] = []
    when_passed, advice = None, ""
    if sandbox:  # the folder is not opened as a workspace: the files that Headway keeps in one are untrusted, too
        from autograder.classroom.single_submission import check_in_sandbox

        curriculum = options.selected_curriculum()
        functions = curriculum.select(names)
        session.require_folder(folder, curriculum)
        with options.checking_message():
            settings = session.Options(functions if names else None, seed, limits, curriculum)
            result = check_in_sandbox(folder, settings)
    else:
        workspace = options.open_workspace(folder)
        curriculum = workspace.curriculum
        functions = curriculum.select(names)
        workspace.require_assignments()
        if not workspace.is_initialized and folder.resolve() != Path.cwd():
            command = f"headway check --dir {shlex.quote(str(folder))} --sandbox"
            advice = clean(
                f"{folder} is not a workspace. If its code is not your own, run it in the sandbox: {command}"
            )
        options.preload("autograder.report.check_report")
        with options.checking_message():
            result, badge_lines = check_workspace(workspace, functions, seed=seed, limits=limits)
        when_passed = next_step(workspace, result) if result.passed else None
    document = results.to_document(result, curriculum)
    if json_file:
        options.write_json(json_file, document)
    from autograder.report import check_report

    console = options.make_console(stderr=json_file == "-")
    check_report.render(document, console, all_panels=all_panels, when_passed=when_passed)
    for note in result.notes:
        console.print(note, style="dim", markup=False)
    for line in badge_lines:
        console.print(line, style="bold", markup=False)
    if advice:
        click.echo(advice, err=True)
    status = options.PASSED if result.passed else options.NOT_PASSED
    sys.exit(options.INTERNAL_ERROR if result.internal_errors else status)


@click.command()
@click.argument("names", metavar="[NAME]...", nargs=-1, type=CourseName())
@options.workspace_folder
@click.option("--out", type=options.PATH, help="The archive (default: NAME.zip in the current folder).")
@click.option("--name", "student", help="Your name as your class knows it (default: the name of the workspace).")
@options.no_color
def submit(names: tuple[str, ...], folder: Path, out: Path | None, student: str | None) -> None:
    """Pack your work into one archive to submit.

    It is checked first: everything, or the named assignments or functions. You see what does not pass yet.
    """
    from autograder.report import submission
    from autograder.workspace import submit as archive
    from autograder.workspace.check import check_workspace

    workspace = options.open_workspace(folder)
    workspace.require_assignments()
    student = student or folder.resolve().name
    path = out or Path(f"{archive.safe_file_name(student)}.zip")
    if path.suffix != ".zip":
        raise UsageError(f"{path} does not end in .zip. Name the archive: --out {path.with_suffix('.zip')}")
    selected = workspace.curriculum.select(names)
    archive.refuse_outside_links(folder)
    result, _ = check_workspace(workspace, selected)
    contents = archive.collect_files(workspace.snapshot)
    manifest = archive.make_manifest(student, contents, result, workspace.state)
    archive.write_archive(path, contents, manifest)
    submission.render(manifest, result, path, options.make_console())
