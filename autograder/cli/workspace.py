"""The commands for the files of a workspace: init, reset, copy, update; solution, diff, experiment, debug."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from autograder.cli import options
from autograder.errors import UsageError

if TYPE_CHECKING:
    from autograder.workspace.sources import Version
    from autograder.workspace.workspace import Workspace


name_argument = click.argument("name", metavar="NAME", shell_complete=options.complete_name)
give_up_option = click.option("--give-up", is_flag=True, help="Show it before your code passes; this is recorded.")


@click.command()
@click.argument("folder", metavar="DIR", type=options.PATH)
@click.option(
    "--from",
    "archive",
    metavar="ARCHIVE",
    type=options.PATH,
    help="Import work from an archive of headway submit, or one exported from a lesson page.",
)
@options.assignments
@options.agents_file
@options.curriculum
def init(folder: Path, archive: Path | None, names: tuple[str, ...], agents: Path | None) -> None:
    """Create a workspace: stubs, notebooks, editor settings.

    With --assignment, the workspace has only these assignments, and official solutions of those that they import.
    To add an assignment to such a workspace, run the command again with its name.

    Existing files are never overwritten, except by --from, which keeps a backup of each file that it changes.
    """
    from autograder.cli import diagnostics
    from autograder.core.archives import MAX_ARCHIVE_BYTES
    from autograder.core.files import read_plain_file, report_read_error
    from autograder.workspace.archive import import_archive, read_submission
    from autograder.workspace.create import add_assignments, create, read_instructions

    curriculum = add_assignments(options.open_workspace(folder), names)
    content = b""
    if archive is not None:
        with report_read_error(archive, "Check the path"):
            content = read_plain_file(archive, MAX_ARCHIVE_BYTES + 1)
        read_submission(content, curriculum)  # before anything is written: the archive may be damaged
    lines = create(folder, curriculum, None if agents is None else read_instructions(agents))
    if archive is not None:
        workspace = options.open_workspace(folder)
        lines[1:1] = import_archive(folder, content, workspace.state)
        workspace.state.save()
        lines[2:2] = _check_imported(folder)
    for diagnostic in diagnostics.check_requirements():
        if not diagnostic.ok:
            click.echo(f"! {diagnostic.name}: {diagnostic.text}. {diagnostic.fix}", err=True)
    click.echo("\n".join(lines))


def _check_imported(folder: Path) -> list[str]:
    """Check what is written in a workspace, and return lines that say what it holds."""
    from autograder.workspace.check import statuses_of

    workspace = options.open_workspace(folder)
    checked, is_stub = workspace.statuses, workspace.snapshot.is_stub
    written = tuple(name for name in workspace.curriculum.functions if name not in checked and not is_stub(name))
    if not written:
        return []
    with options.make_console().status("Checking the imported work …"):
        passed = sum(status == "passed" for status in statuses_of(workspace, written).values())
    total = len(workspace.curriculum.functions)
    return [
        f"checked: {passed} of {total} functions pass. To see them: headway list",
        *workspace.describe_sources(workspace.curriculum.modules),
    ]


@click.command("reset")
@name_argument
@options.workspace_folder
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
def reset_(name: str, folder: Path, yes: bool) -> None:
    """Restore the stub of a function or assignment (keeps a backup).

    The backup is put into backups/, with the date in its name.
    """
    from autograder.workspace import files
    from autograder.workspace.sources import describe, split_file_names

    workspace = options.open_workspace(folder).require_assignments()
    (name,), workspace.named_versions = split_file_names([name], workspace.curriculum)
    name = workspace.resolve_name(name)
    module = name.partition(".")[0]
    if not workspace.named_versions:
        options.ask_which_version_counts(workspace, (module,))
    if undecided := workspace.undecided([module]):
        raise UsageError(f"nothing was changed. {describe(undecided[0])}")
    place = workspace.file_of(module)
    if not yes and not click.confirm(f"Reset {name} in {place} to its stub? A backup goes to {files.BACKUPS}/."):
        click.echo("Nothing was changed.")
        return
    backup, hint = workspace.reset(name)
    kept = f" Your version is in {backup}." if backup else ""
    click.echo(f"{name} was reset in {place}.{kept}{hint} Next: headway check {name}")


@click.command("copy")
@click.argument("name", metavar="ASSIGNMENT", shell_complete=options.complete_name)
@click.option("--to", type=click.Choice(["file", "notebook"]), required=True, help="Where the functions are copied.")
@options.workspace_folder
def copy_(name: str, to: "Version", folder: Path) -> None:
    """Copy your functions from the notebook into the file, or back.

    Copies what is written, with the helpers and imports that it uses, and lets the copy count. A backup of what was
    there is kept in backups/.
    """
    from autograder.workspace.copy_version import copy_version

    workspace = options.open_workspace(folder).require_assignments()
    module = workspace.resolve_name(name).partition(".")[0]
    backup = copy_version(workspace, module, to)
    click.echo(
        f"{workspace.file_of(module)} counts now. The version before is in {backup}. Next: headway check {module}"
    )


@click.command()
@options.workspace_folder
def update(folder: Path) -> None:
    """Update the stubs to this version; your work is kept."""
    from autograder import __version__
    from autograder.workspace import files, notebook_files

    workspace = options.open_workspace(folder).require_assignments()
    lines = [*files.update(folder, workspace.state), *notebook_files.update(folder, workspace.state)]
    workspace.state.save()
    click.echo("\n".join(lines) or f"Already up to date ({__version__}).")


def _require_solutions_allowed(workspace: "Workspace", name: str, give_up: bool) -> tuple[str, ...]:
    """Return the functions in `name`, checked if changed; raise UsageError unless their solutions may be shown."""
    from autograder.workspace import solutions
    from autograder.workspace.check import statuses_of

    workspace.require_assignments()
    selected = workspace.curriculum.select([name])
    passed = {function for function, status in statuses_of(workspace, selected).items() if status == "passed"}
    solutions.require_solutions_allowed(workspace, selected, passed, give_up=give_up)
    return selected


@click.command()
@name_argument
@options.workspace_folder
@give_up_option
def solution(name: str, folder: Path, give_up: bool) -> None:
    """Show the solution, once your code passes."""
    from autograder.workspace import solutions

    workspace = options.open_workspace(folder)
    _require_solutions_allowed(workspace, name, give_up)
    text = solutions.solution_of(workspace.resolve_name(name), workspace.curriculum)
    console = options.make_console()
    if console.is_terminal and console.color_system:
        from rich.syntax import Syntax

        console.print(Syntax(text, "python", theme="ansi_dark", background_color="default"))
    else:
        click.echo(text, nl=False)


@click.command()
@name_argument
@options.workspace_folder
@give_up_option
def diff(name: str, folder: Path, give_up: bool) -> None:
    """Compare your code with the solution, once it passes."""
    from autograder.report import diff as diff_report
    from autograder.workspace import solutions

    workspace, console = options.open_workspace(folder), options.make_console()
    for function in _require_solutions_allowed(workspace, name, give_up):
        mine, theirs = solutions.student_and_solution(workspace, function)
        rows = list(solutions.compare_lines(mine, theirs))
        console.print(diff_report.comparison(function, rows, console.width))


@click.command()
@click.argument("name", metavar="ASSIGNMENT", shell_complete=options.complete_name)
@click.argument("experiment", metavar="[EXPERIMENT]", default="")
@options.workspace_folder
def experiment(name: str, experiment: str, folder: Path) -> None:
    """Run the experiment of a lesson, with your files and notebooks.

    "python softmax.py" does the same where no assignment counts from a notebook.
    """
    import subprocess

    from autograder.workspace import experiments

    workspace = options.open_workspace(folder).require_assignments()
    module = workspace.resolve_name(name).partition(".")[0]
    known = experiments.names(module, workspace.curriculum)
    if experiment not in known:
        others = ", ".join(filter(None, known)) or "none with a name"
        raise UsageError(f"{module} has no experiment {experiment!r}. It has: {others}")
    program = experiments.program(workspace, module, experiment)
    done = subprocess.run([sys.executable, *program], cwd=workspace.folder, stderr=subprocess.PIPE, check=False)
    errors, place = done.stderr.decode("utf-8", "replace"), workspace.module_folder.resolve()
    warnings, error = experiments.explain_errors(errors, done.returncode, place, workspace.curriculum)
    click.echo(f"{warnings}{error}\n" if error else warnings, err=True, nl=False)
    sys.exit(done.returncode)


@click.command()
@click.argument("name", metavar="ASSIGNMENT.FUNCTION", shell_complete=options.complete_name)
@click.option("--print", "print_it", is_flag=True, help="Print the program, for example to paste it into a notebook.")
@options.workspace_folder
def debug(name: str, print_it: bool, folder: Path) -> None:
    """Get a failed call in your hands: a small program with the inputs of the check, opened in Python.

    It is written to debug_ASSIGNMENT.py, and calls the version of your function that counts.
    """
    import subprocess

    from autograder.core.files import write_atomically
    from autograder.workspace import failed_call
    from autograder.workspace.files import DEBUG_MARK

    workspace = options.open_workspace(folder).require_assignments()
    function = workspace.resolve_name(name)
    if "." not in function:
        raise UsageError(f"name one function of {function}, such as: headway debug {function}.NAME")
    with options.checking_message():
        check = failed_call.failed_check(workspace, function)
    text = failed_call.script(check, workspace, workspace.curriculum.package)
    if print_it:
        click.echo(text, nl=False)
        return
    path = workspace.folder / f"debug_{function.partition('.')[0]}.py"
    if path.exists() and not path.read_text("utf-8", "replace").startswith(DEBUG_MARK):
        raise UsageError(f"{path.name} is a file of your own. Rename it, or print the program: headway debug --print")
    write_atomically(path, text.encode())
    click.echo(f"Written: {path.name}. Run it again with: python {path.name}")
    sys.exit(subprocess.call([sys.executable, *["-i"] * sys.stdin.isatty(), path.name], cwd=workspace.folder))
