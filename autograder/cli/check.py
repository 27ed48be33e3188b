"""The commands that check a workspace: check, submit."""

import shlex
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import click

from autograder.cli import options
from autograder.core.files import report_write_error, write_atomically
from autograder.core.output_files import require_replaceable
from autograder.core.text import clean, clean_name
from autograder.errors import UsageError

if TYPE_CHECKING:
    from rich.console import Console

    from autograder.sandbox.limits import Limits
    from autograder.workspace.check import CheckOutcome
    from autograder.workspace.sources import Version
    from autograder.workspace.workspace import Workspace


@click.command()
@click.argument("names", metavar="[NAME[.function]]...", nargs=-1, shell_complete=options.complete_name)
@options.submission_folder
@click.option("--seed", type=click.IntRange(0), default=0, help="Use other inputs, which need PyTorch (default: 0).")
@options.call_seconds
@click.option(
    "--sandbox", is_flag=True, help="Run the code in the strongest sandbox of this machine, as headway grade does."
)
@click.option(
    "--use",
    type=click.Choice(["file", "notebook"]),
    help="If the file and the notebook of an assignment both contain work, count this one from now on.",
)
@click.option("--all", "all_panels", is_flag=True, help="Show every failed check, not only the first few.")
@options.curriculum
@options.json_file
@click.option("--markdown", type=options.PATH, metavar="FILE", help="Also write the report as Markdown.")
@click.option("--junit", type=options.PATH, metavar="FILE", help="Also write the results as JUnit XML.")
def check(
    names: tuple[str, ...],
    folder: Path,
    seed: int,
    call_seconds: float | None,
    sandbox: bool,
    use: "Version | None",
    all_panels: bool,
    json_file: str | None,
    markdown: Path | None,
    junit: Path | None,
) -> None:
    """Check everything, or the named assignments or functions.

    An assignment may be written in its file or in its notebook. To check a specific one, name it: softmax.ipynb.

    To check code that is not your own, use --dir DIR --sandbox. This records nothing in DIR.

    Exit codes: 0 all checks passed, 1 some check did not pass, 2 wrong usage, 3 internal error.
    """
    from autograder.sandbox.server import early_server

    with nullcontext() if sandbox else early_server():
        from autograder.documents.reading import RESULT_SCHEMA
        from autograder.sandbox.limits import Limits

        options.require_replaceable_json(json_file, {"schema": RESULT_SCHEMA})
        _require_replaceable_report(markdown, b"\nScore: **", "--markdown FILE")
        _require_replaceable_report(junit, b"<testsuites>", "--junit FILE")
        limits = Limits() if call_seconds is None else Limits(call_seconds=call_seconds)
        if sandbox:
            outcome = _check_in_sandbox(folder, names, seed, limits)
        else:
            outcome = _check_workspace(folder, names, seed, limits, use, may_ask=not json_file)
    if json_file:
        options.write_json(json_file, outcome.document)
    if markdown or junit:
        from autograder.classroom import single_submission

        title = clean_name(folder.resolve().name)
        with report_write_error(markdown or junit or folder, "Choose another place"):
            single_submission.write_reports(title, outcome.document, markdown, junit)
    _show(outcome, options.make_console(stderr=json_file == "-"), all_panels)
    from autograder.workspace.state import FILE as STATE_FILE

    if not sandbox and not (folder / STATE_FILE).is_file() and folder.resolve() != Path.cwd():
        command = f"headway check --dir {shlex.quote(str(folder))} --sandbox"
        advice = f"{folder} is not a workspace. If its code is not your own, run it in the sandbox: {command}"
        click.echo(clean(advice), err=True)
    status = options.PASSED if outcome.result.passed else options.NOT_PASSED
    sys.exit(options.INTERNAL_ERROR if outcome.result.internal_errors else status)


def _require_replaceable_report(path: Path | None, mark: bytes, option: str) -> None:
    """Raise UsageError if a file would be lost that is not an earlier report, which has the `mark` at its beginning."""
    if path:
        require_replaceable(path, lambda old: mark in old[:400], "an earlier report", option=option, force=None)


def _check_in_sandbox(folder: Path, names: tuple[str, ...], seed: int, limits: "Limits") -> "CheckOutcome":
    """Check a folder that is not opened as a workspace: the files that Headway keeps in one are untrusted, too."""
    from autograder.classroom.single_submission import check_in_sandbox
    from autograder.documents.results import to_document
    from autograder.engine import session
    from autograder.workspace.check import CheckOutcome

    curriculum = options.selected_curriculum()
    functions = curriculum.select(names)
    session.require_folder(folder, curriculum)
    with options.checking_message():
        settings = session.Options(functions if names else None, seed, limits, curriculum)
        result = check_in_sandbox(folder, settings)
    return CheckOutcome(result, to_document(result, curriculum))


def _check_workspace(
    folder: Path, names: tuple[str, ...], seed: int, limits: "Limits", use: "Version | None", *, may_ask: bool
) -> "CheckOutcome":
    from autograder.workspace.check import check_workspace
    from autograder.workspace.sources import split_file_names

    workspace = options.open_workspace(folder)
    names, workspace.named_versions = split_file_names(names, workspace.curriculum)
    functions = workspace.curriculum.select(names)
    workspace.require_assignments()
    _choose_versions(workspace, functions, use, may_ask=may_ask)
    options.preload("autograder.report.check_report")
    with options.checking_message():
        return check_workspace(workspace, functions, seed=seed, limits=limits)


def _show(outcome: "CheckOutcome", console: "Console", all_panels: bool) -> None:
    from autograder.report import check_report

    check_report.render(outcome.document, console, all_panels=all_panels, next_step=outcome.next_step)
    if outcome.finished is not None:
        from autograder.report.assignment_finished import finished_panel

        console.print(finished_panel(outcome.finished, console.width))
    for note in outcome.result.notes:
        console.print(note, style="dim", markup=False)
    for line in outcome.badge_lines:
        console.print(line, style="bold", markup=False)


def _choose_versions(
    workspace: "Workspace", functions: tuple[str, ...], use: "Version | None", *, may_ask: bool
) -> None:
    """Let one version of each assignment count: the one to `use`, or, in a terminal, the one that the user chooses."""
    modules = tuple(dict.fromkeys(name.partition(".")[0] for name in functions))
    if use is None:
        if may_ask:
            options.ask_which_version_counts(workspace, modules)
        return
    if workspace.named_versions:
        raise UsageError("name the assignment with --use, not its file, for example: softmax --use notebook")
    some = len(functions) < len(workspace.curriculum.functions)
    for module in modules:
        if some or module in workspace.sources:
            workspace.choose_version(module, use)


@click.command()
@click.argument("names", metavar="[NAME]...", nargs=-1, shell_complete=options.complete_name)
@options.workspace_folder
@click.option("--out", type=options.PATH, help="The archive (default: NAME.zip in the current folder).")
@click.option("--name", "student", help="Your name as your class knows it (default: the name of the workspace).")
@options.force
def submit(names: tuple[str, ...], folder: Path, out: Path | None, student: str | None, force: bool) -> None:
    """Pack your work into one archive to submit.

    It is checked first: everything, or the named assignments or functions. You see what does not pass yet.
    """
    from autograder.report import check_report
    from autograder.workspace import archive
    from autograder.workspace.check import check_workspace

    workspace = options.open_workspace(folder).require_assignments()
    student = student or folder.resolve().name
    path = out or Path(f"{archive.safe_file_name(student)}.zip")
    if path.suffix != ".zip":
        raise UsageError(f"{path} does not end in .zip. Name the archive: --out {path.with_suffix('.zip')}")
    archive.require_new_archive(path, student, force)
    selected = workspace.curriculum.select(names)
    archive.refuse_outside_links(folder)
    options.ask_which_version_counts(workspace, tuple(workspace.curriculum.modules))
    archive.require_decided(workspace)
    result = check_workspace(workspace, selected).result
    contents = archive.collect_files(workspace)
    manifest = archive.make_manifest(student, contents, result, workspace.state)
    with report_write_error(path, "Name another file: --out FILE"):
        write_atomically(path, archive.make_archive(contents, manifest))
    check_report.render_submission(manifest, result, path, options.make_console())
