"""What the commands share: exit codes, options, consoles, error texts."""

import contextlib
import errno
import importlib
import json
import os
import sys
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from autograder.core import safe_output
from autograder.core.text import clean, escape_controls

if TYPE_CHECKING:
    from autograder.course import Curriculum
    from autograder.report.console import SafeConsole
    from autograder.workspace.workspace import Workspace

PASSED, NOT_PASSED, USAGE, INTERNAL_ERROR = 0, 1, 2, 3
INTERRUPTED = 130  # what a shell reports for Ctrl-C


class _Path(click.Path):
    """A path. It is an error if the system denies access to it.

    Since Python 3.14, `Path.exists()` and similar methods return False for such a path.
    """

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> Any:
        path = super().convert(value, parameter, context)
        try:
            os.stat(os.path.join(str(path), "."))  # A folder must also let its files be opened.
        except OSError as error:
            if error.errno in (errno.EACCES, errno.EPERM, errno.ENAMETOOLONG):
                raise
        return path


def complete_name(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Return the assignments that fit; once there is a dot or only one assignment fits, its functions, too."""
    from autograder.course import registry
    from autograder.errors import UsageError
    from autograder.workspace import state

    try:
        curriculum = state.load(context.params.get("folder") or Path()).curriculum
    except UsageError:
        curriculum = registry.default()
    names = [name for name in curriculum.modules if name.startswith(incomplete)]
    if "." in incomplete or len(names) == 1:
        names += [name for name in curriculum.functions if name.startswith(incomplete)]
    return names


PATH = _Path(path_type=Path)
WITH_DEFAULTS = {"show_default": True}  # settings of a command whose help shows the default of every option


def _store(context: click.Context, option: click.Parameter, value: Any) -> None:
    context.meta[f"headway.{option.name}"] = value


def _stored(name: str) -> Any:
    return click.get_current_context().meta.get(f"headway.{name}")


def _workspace_above(context: click.Context, option: click.Parameter, folder: Path) -> Path:
    """Return the workspace if `folder` is its folder of notebooks, in which JupyterLab opens terminals."""
    is_folder_of_notebooks = folder.resolve().name == "notebooks" and not (folder / ".headway.json").exists()
    return folder / ".." if is_folder_of_notebooks and (folder / ".." / ".headway.json").is_file() else folder


_folder = partial(
    click.option, "--dir", "folder", type=PATH, default=".", callback=_workspace_above, show_default=False
)
workspace_folder = _folder(help="Your workspace (default: this folder).")
submission_folder = _folder(help="The submission's folder (default: this folder).")
json_file = click.option(
    "--json", "json_file", metavar="FILE", help="Write the results as JSON (- for standard output)."
)
# The values of these two options are not passed to the command; the functions below use them. Every command has the
# first one.
no_color = click.Option(
    ["--no-color"], is_flag=True, expose_value=False, callback=_store, help="Plain text, as with NO_COLOR set."
)
curriculum = click.option(
    "--curriculum",
    metavar="NAME",
    expose_value=False,
    callback=_store,
    help="Use the course of an installed package (default: the workspace's course, or the transformer).",
)

agents_file = click.option(
    "--agents",
    type=PATH,
    metavar="FILE",
    help="Instructions for coding assistants, in place of those that ask them to tutor (AGENTS.md).",
)


def assignment_option(help_text: str) -> Callable[[Any], Any]:
    """Return the option `--assignment`, which passes `names` to the command."""
    return click.option("--assignment", "names", multiple=True, metavar="NAME", help=help_text)


assignments = assignment_option("Only this assignment; repeatable (default: all).")
call_seconds = click.option(
    "--call-seconds",
    type=click.FloatRange(0.05),
    help="The most CPU time that a call may get, in seconds (default: 60); most calls get less.",
)


def make_console(*, stderr: bool = False) -> "SafeConsole":
    """Return a console without highlighting, and without color if `--no-color` is given."""
    from autograder.report.console import SafeConsole

    return SafeConsole(no_color=_stored("no_color") or None, stderr=stderr)


def show(text: str, style: str = "") -> None:
    """Show plain text, in which no command is broken."""
    make_console().print_text(text, style)


def selected_curriculum() -> "Curriculum":
    """Return the course named by `--curriculum`, by default the built-in one."""
    from autograder.course import registry

    return registry.load(curriculum_name())


def curriculum_name() -> str:
    """Return the name given to `--curriculum`, by default that of the built-in course."""
    from autograder.course import registry

    return _stored("curriculum") or registry.DEFAULT


def open_workspace(folder: Path) -> "Workspace":
    """Open a workspace with the course named by `--curriculum`, by default with its own."""
    from autograder.workspace import state
    from autograder.workspace.workspace import Workspace

    named = _stored("curriculum")
    # The name of the workspace's own course does not undo its selection of assignments.
    is_own = named is None or named == state.load(folder).course_name
    return Workspace.open(folder, None if is_own else selected_curriculum())


def ask_which_version_counts(workspace: "Workspace", modules: tuple[str, ...]) -> None:
    """In a terminal, ask which version counts of each assignment that the user must decide, and remember the answer."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return
    from autograder.workspace.sources import describe

    for source in workspace.undecided(modules):
        click.echo(describe(source, command=False))
        choice = click.Choice(["file", "notebook"])
        answer = click.prompt(f"Which one of {source.module} counts?", type=choice, default=source.version)
        workspace.choose_version(source.module, "file" if answer == "file" else "notebook")


_OS_ERROR_REMEDIES = {
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT), "Free some disk space and try again"),
    errno.ENAMETOOLONG: "Use a shorter name",
    **dict.fromkeys((errno.EACCES, errno.EPERM, errno.EROFS), "Check its permissions, or use another folder"),
}


def describe_os_error(error: Exception) -> str | None:
    """Return a message for an error that is not Headway's, such as a full disk; None for any other error."""
    if not isinstance(error, OSError) or error.errno not in _OS_ERROR_REMEDIES:
        return None
    where = f"{clean(error.filename, 300)}: " if isinstance(error.filename, str) else ""
    return f"{where}{error.strerror}. {_OS_ERROR_REMEDIES[error.errno]}"


def write_json(path: str, content: Any) -> None:
    """Write a document as JSON to a file, or to standard output if `path` is "-"."""
    text = escape_controls(json.dumps(content, indent=2, ensure_ascii=False)) + "\n"
    if path == "-":
        click.echo(text.encode("utf-8", "replace"), nl=False)  # bytes: UTF-8, whatever the terminal is
        return
    from autograder.core.files import report_write_error, write_atomically

    require_replaceable_json(path, content)
    with report_write_error(path, "Name another file: --json FILE"):
        Path(path).parent.stat()  # A folder that does not exist is a typing error: it is not made.
        write_atomically(Path(path), text.encode("utf-8", "replace"))


def require_replaceable_json(path: str | None, like: Any) -> None:
    """Raise UsageError if `path` is a file other than a document like this one, which may be replaced."""
    from autograder.core.output_files import require_replaceable

    def is_own(content: bytes) -> bool:
        with contextlib.suppress(ValueError, RecursionError):
            return bool(_kind_of_document(json.loads(content)) == _kind_of_document(like))
        return False

    if path and path != "-":
        what = "an earlier result of this command"
        require_replaceable(Path(path), is_own, what, option="--json FILE", force=None)


def _kind_of_document(document: Any) -> Any:
    """Return what documents of one command have in common."""
    if isinstance(document, dict):
        return str(document.get("schema")).partition("/")[0]
    return [type(document).__name__, *(sorted(item) for item in document[:1])] if document else ["list"]


force = click.option("--force", is_flag=True, help="Replace a file that exists.")


@contextlib.contextmanager
def checking_message() -> Iterator[None]:
    """Show "checking …" on a terminal while the block runs, without rich, which is loaded meanwhile."""
    shown = sys.stderr.isatty() and sys.stdout.isatty()
    if shown:
        click.echo("checking …", nl=False, err=True)
    try:
        yield
    finally:
        if shown:
            safe_output.erase_line()


def preload(module: str) -> None:
    """Import a module in a thread, while this process waits for student code in another one."""
    threading.Thread(target=importlib.import_module, args=(module,), daemon=True).start()
