"""The command line: parses, calls, renders. Heavy modules are imported by the commands that need them."""

import importlib
import io
import os
import sys
from typing import Any

import click

from autograder import __version__
from autograder.cli.options import INTERNAL_ERROR, INTERRUPTED, USAGE, describe_os_error
from autograder.core import gc_tuning
from autograder.errors import UsageError

# Where each command is, in the order of the help. A command's module is imported when it is needed.
COMMANDS = {
    "init": "workspace:init",
    "watch": "solutions:watch",
    "check": "workspace:check",
    "list": "workspace:list_",
    "hint": "workspace:hint",
    "reset": "solutions:reset",
    "solution": "solutions:solution",
    "diff": "solutions:diff",
    "update": "solutions:update",
    "submit": "solutions:submit",
    "train": "train:train",
    "generate": "train:generate",
    "bench": "train:bench",
    "plot": "plot:plot",
    "data": "data:data",
    "grade": "grade:grade",
    "report": "report_export:report",
    "export": "report_export:export",
    "release": "maintainer:release",
    "completion": "solutions:completion",
    "doctor": "maintainer:doctor",
    "verify": "maintainer:verify",
}


class _Headway(click.Group):
    """Turns every failure into one clear line and the exit code of the contract."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        gc_tuning.raise_gc_threshold()
        if isinstance(sys.stdout, io.TextIOWrapper):
            # Where it is not UTF-8 (a pipe on Windows, an old locale) ✓ becomes ?: the verdict matters, not the mark.
            sys.stdout.reconfigure(errors="replace")
        try:
            sys.exit(super().main(*args, **{"prog_name": "headway", **kwargs, "standalone_mode": False}))
        except click.ClickException as error:
            context = getattr(error, "ctx", None)
            command = context.command_path if context else "headway"
            message = " ".join(error.format_message().split())  # click lists choices on lines of their own
            message = message if message.endswith((".", "?", "!")) else f"{message}."
            click.echo(f"headway: {message} How it is used: {command} --help", err=True)
            sys.exit(USAGE)
        except click.Abort:
            click.echo("headway: interrupted", err=True)
            sys.exit(INTERRUPTED)
        except UsageError as error:
            click.echo(f"headway: {error}", err=True)
            sys.exit(USAGE)
        except Exception as error:
            if os.environ.get("HEADWAY_TRACEBACK"):
                raise
            if refused := describe_os_error(error):
                click.echo(f"headway: {refused}", err=True)
                sys.exit(USAGE)
            click.echo(
                f"headway: the kit itself failed: {type(error).__name__}: {error}. "
                "Your work is as it was. With HEADWAY_TRACEBACK=1 set, the same command shows where it failed.",
                err=True,
            )
            sys.exit(INTERNAL_ERROR)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, name = COMMANDS[cmd_name].split(":")
        command: click.Command = getattr(importlib.import_module(f"{__name__}.{module}"), name)
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        import difflib

        try:
            return super().resolve_command(ctx, args)
        except click.UsageError:
            close = difflib.get_close_matches(args[0], self.list_commands(ctx), n=1)
            hint = f"Did you mean {close[0]!r}? " if close else ""
            raise UsageError(f"there is no command {args[0]!r}. {hint}All commands: headway --help") from None


@click.group(cls=_Headway, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="headway")
@click.pass_context
def main(context: click.Context) -> None:
    """Learn the transformer by writing it in NumPy, checked against PyTorch.

    In a workspace, headway alone watches it.
    """
    if context.invoked_subcommand is None:
        _alone(context)


def _alone(context: click.Context) -> None:
    from pathlib import Path

    from autograder.workspace.state import is_workspace

    if is_workspace(Path()):
        from autograder.cli.solutions import welcome

        welcome(Path())
    else:
        click.echo(context.get_help())
