"""What the commands share: exit codes, options, consoles, error texts."""

import contextlib
import errno
import importlib
import json
import sys
import threading
from collections.abc import Callable, Iterator
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from autograder.core.text import clean
from autograder.errors import UsageError

if TYPE_CHECKING:
    from rich.console import Console

    from autograder.curriculum import Curriculum
    from autograder.workspace.workspace import Workspace

PASSED, NOT_PASSED, USAGE, INTERNAL_ERROR = 0, 1, 2, 3
_CURRICULUM = "headway.curriculum"
INTERRUPTED = 130  # what a shell reports for Ctrl-C


def console_for(no_color: bool, *, stderr: bool = False) -> "Console":
    """Return a console without highlighting, and without colour if `no_color`."""
    from rich.console import Console

    return Console(no_color=no_color or None, highlight=False, stderr=stderr)


def _dir_option(help: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    return click.option("--dir", "folder", type=click.Path(path_type=Path), default=".", help=help)


workspace_option = _dir_option("Your workspace (default: this folder).")
submission_option = _dir_option("The submission's folder (default: this folder).")


def no_color_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--no-color`."""
    return click.option("--no-color", is_flag=True, help="Plain text, as with NO_COLOR set.")(function)


def curriculum_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--curriculum NAME`; the command gets the course from `selected_curriculum` or `open_workspace`."""
    return click.option(
        "--curriculum",
        metavar="NAME",
        expose_value=False,
        callback=lambda context, _, name: context.meta.update({_CURRICULUM: name}),
        help="Use the course of an installed package (default: the workspace's course, or the transformer).",
    )(function)


def selected_curriculum() -> "Curriculum":
    """Return the course named by `--curriculum`, by default the built-in one."""
    from autograder.curriculum import registry

    return registry.load(click.get_current_context().meta.get(_CURRICULUM) or registry.DEFAULT)


def open_workspace(folder: Path) -> "Workspace":
    """Open a workspace with the course named by `--curriculum`, by default with its own."""
    from autograder.workspace.workspace import Workspace

    is_named = click.get_current_context().meta.get(_CURRICULUM) is not None
    return Workspace.open(folder, selected_curriculum() if is_named else None)


def json_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--json FILE`."""
    option = click.option(
        "--json", "json_file", metavar="FILE", help="Write the results as JSON (- for standard output)."
    )
    return option(function)


_OS_ERROR_REMEDIES = {
    errno.ENOSPC: "Free some disk space and try again",
    errno.EDQUOT: "Free some disk space and try again",
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
    text = (json.dumps(content, indent=2, ensure_ascii=False) + "\n").encode("utf-8", "replace")
    if path == "-":
        click.echo(text, nl=False)  # bytes: UTF-8, whatever the terminal is
        return
    try:
        Path(path).write_bytes(text)
    except OSError as error:
        raise UsageError(f"cannot write {path} ({error.strerror}). Name another file: --json FILE") from None


@contextlib.contextmanager
def spinner(console: "Console", text: str) -> Iterator[None]:
    """Show a spinner with `text` on a terminal."""
    if console.is_terminal:
        with console.status(text):
            yield
    else:
        yield


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
            click.echo("\r\x1b[K", nl=False, err=True)


def preload(module: str) -> None:
    """Import a module in a thread, while this process waits for student code in another one."""
    threading.Thread(target=importlib.import_module, args=(module,), daemon=True).start()


def interruptible(function: Callable[..., Any]) -> Callable[..., Any]:
    """Turn Ctrl-C into exit code 130 without a traceback."""

    @wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except KeyboardInterrupt:
            raise click.Abort from None

    return run
