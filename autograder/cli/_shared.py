"""What the commands share: exit codes, options, consoles."""

import contextlib
import json
from collections.abc import Callable, Iterator
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from autograder.errors import UsageError

if TYPE_CHECKING:
    from rich.console import Console

PASSED, NOT_PASSED, USAGE, KIT_FAILED = 0, 1, 2, 3
INTERRUPTED = 130  # what a shell reports for Ctrl-C


def console_for(no_color: bool, *, stderr: bool = False) -> "Console":
    from rich.console import Console

    return Console(no_color=no_color or None, highlight=False, stderr=stderr)


def no_color_option(function: Callable[..., Any]) -> Callable[..., Any]:
    return click.option("--no-color", is_flag=True, help="Plain text; the environment's NO_COLOR does the same.")(
        function
    )


def json_option(function: Callable[..., Any]) -> Callable[..., Any]:
    option = click.option(
        "--json", "json_file", metavar="FILE", help="Write the result document; - is standard output."
    )
    return option(function)


def write_json(path: str, content: Any) -> None:
    text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
    if path == "-":
        click.echo(text, nl=False)
        return
    try:
        Path(path).write_text(text, "utf-8")
    except OSError as error:
        raise UsageError(
            f"cannot write {path} ({error.strerror}). Name a file that can be written: --json FILE"
        ) from None


@contextlib.contextmanager
def progress(console: "Console", text: str) -> Iterator[None]:
    if console.is_terminal:
        with console.status(text):
            yield
    else:
        yield


def interruptible(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except KeyboardInterrupt:
            raise click.Abort from None

    return run
