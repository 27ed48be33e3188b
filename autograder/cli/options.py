"""What the commands share: exit codes, options, consoles."""

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
    return click.option("--no-color", is_flag=True, help="Plain text; the environment's NO_COLOR does the same.")(
        function
    )


def curriculum_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """`--curriculum NAME`; the command asks `selected_curriculum` which course it is."""
    return click.option(
        "--curriculum",
        metavar="NAME",
        expose_value=False,
        callback=lambda context, _, name: context.meta.update({_CURRICULUM: name}),
        help="A course that an installed package brings, instead of the transformer. A workspace knows its own.",
    )(function)


def selected_curriculum(folder: Path | None = None) -> "Curriculum":
    """The course that was asked for, or else that of the workspace `folder`, or else the kit's own."""
    from autograder.courses.transformer import TRANSFORMER
    from autograder.curriculum import registry

    name = click.get_current_context().meta.get(_CURRICULUM)
    if name is not None:
        return registry.load(name)
    if folder is None:
        return TRANSFORMER
    from autograder.workspace import state

    return state.load(folder).curriculum


def json_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--json FILE`."""
    option = click.option(
        "--json", "json_file", metavar="FILE", help="Write the result document; - is standard output."
    )
    return option(function)


_REMEDIES = {
    errno.ENOSPC: "Make room, and do it again",
    errno.EDQUOT: "Make room, and do it again",
    errno.ENAMETOOLONG: "Name another",
    **dict.fromkeys((errno.EACCES, errno.EPERM, errno.EROFS), "Look at its permissions, or name another place"),
}


def describe_os_error(error: Exception) -> str | None:
    """What to say where it was not the kit that failed: the disk is full, a place is not the user's own."""
    if not isinstance(error, OSError) or error.errno not in _REMEDIES:
        return None
    where = f"{clean(error.filename, 300)}: " if isinstance(error.filename, str) else ""
    return f"{where}{error.strerror}. {_REMEDIES[error.errno]}"


def write_json(path: str, content: Any) -> None:
    """Write a document as JSON to a file, or to standard output if `path` is "-"."""
    text = (json.dumps(content, indent=2, ensure_ascii=False) + "\n").encode("utf-8", "replace")
    if path == "-":
        click.echo(text, nl=False)  # bytes: UTF-8, whatever the terminal is
        return
    try:
        Path(path).write_bytes(text)
    except OSError as error:
        raise UsageError(
            f"cannot write {path} ({error.strerror}). Name a file that can be written: --json FILE"
        ) from None


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
    """Say at once that something is being done, and take it back: without rich, which is loaded meanwhile."""
    shown = sys.stderr.isatty() and sys.stdout.isatty()
    if shown:
        click.echo("checking …", nl=False, err=True)
    try:
        yield
    finally:
        if shown:
            click.echo("\r\x1b[K", nl=False, err=True)


def preload(module: str) -> None:
    """Import a module in a thread: student code computes in another process, and leaves this one idle."""
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
