"""The command line: parse arguments, call the packages, render results. Commands import heavy modules when they run."""

import importlib
import io
import os
import sys
from pathlib import Path
from typing import Any, NoReturn

import click

from autograder import __version__
from autograder.cli.options import INTERNAL_ERROR, INTERRUPTED, USAGE, describe_os_error, no_color
from autograder.core import ascii_fallback, interpreter, safe_output
from autograder.core.text import clean, did_you_mean
from autograder.errors import UsageError

# The module and name of each command, in the order of the help.
SECTIONS = {
    "Learn": {
        "init": "workspace:init",
        "watch": "watch:watch",
        "serve": "web:serve",
        "check": "check:check",
        "list": "progress:list_",
        "hint": "progress:hint",
        "debug": "workspace:debug",
        "experiment": "workspace:experiment",
        "solution": "workspace:solution",
        "diff": "workspace:diff",
        "reset": "workspace:reset_",
        "copy": "workspace:copy_",
        "update": "workspace:update",
        "submit": "check:submit",
    },
    "Train": {
        "train": "train:train",
        "runs": "models:runs",
        "card": "models:card",
        "import-model": "models:import_model",
        "generate": "train:generate",
        "chat": "models:chat",
        "plot": "train:plot",
        "data": "train:data",
    },
    "Teach": {
        "new-assignment": "maintainer:new_assignment",
        "release": "release:release",
        "site": "web:site",
        "grade": "grade:grade",
        "choose": "students:choose",
        "comment": "students:comment",
        "mark": "desk:mark",
        "request": "desk:request",
        "report": "report:report",
        "show": "students:show",
        "export": "export:export",
    },
    "Maintain": {
        "doctor": "maintainer:doctor",
        "verify": "maintainer:verify",
        "completion": "maintainer:completion",
    },
}
# The commands that matter most, as a student types them, with what they do.
FIRST_COMMANDS = {
    "headway init my-gpt": "create a workspace: the files that you fill in",
    "headway": "in the workspace: watch it, and check on every save",
    "headway hint": "help with the function that you are writing",
    "headway check softmax": "check one assignment, once",
    "headway train": "train your GPT",
}
COMMANDS = {name: target for commands in SECTIONS.values() for name, target in commands.items()}


def _exit(message: str, code: int) -> NoReturn:
    click.echo(f"headway: {clean(message)}", err=True)  # It may contain the name of a file.
    sys.exit(code)


class _HeadwayGroup(click.Group):
    """The group of all commands; it turns every failure into one line and an exit code."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        interpreter.raise_gc_threshold()
        interpreter.skip_slow_imports()
        if isinstance(sys.stdout, io.TextIOWrapper):
            # Where output is not UTF-8 (a pipe on Windows, an old locale), print v for ✓ rather than fail.
            sys.stdout.reconfigure(errors=ascii_fallback.ERRORS)
        with safe_output.safe_streams():
            self._main(*args, **kwargs)

    def _main(self, *args: Any, **kwargs: Any) -> NoReturn:
        try:
            sys.exit(super().main(*args, **{"prog_name": "headway", **kwargs, "standalone_mode": False}))
        except click.ClickException as error:
            context = getattr(error, "ctx", None)
            command = context.command_path if context else "headway"
            message = " ".join(error.format_message().split())  # click puts choices on lines of their own
            message = message if message.endswith((".", "?", "!")) else f"{message}."
            _exit(f"{message} See: {command} --help", USAGE)
        except click.Abort:
            _exit("interrupted", INTERRUPTED)
        except UsageError as error:
            _exit(str(error), USAGE)
        except Exception as error:
            if os.environ.get("HEADWAY_TRACEBACK"):
                raise
            if os_error := describe_os_error(error):
                _exit(os_error, USAGE)
            problem = f"internal error (please report it): {type(error).__name__}: {error}"
            _exit(f"{problem}. For the traceback, run the command again with HEADWAY_TRACEBACK=1 set.", INTERNAL_ERROR)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise click.Abort from None

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, name = COMMANDS[cmd_name].split(":")
        command: click.Command = getattr(importlib.import_module(f"{__name__}.{module}"), name)
        for each in command.commands.values() if isinstance(command, click.Group) else [command]:
            if no_color not in each.params:
                each.params.append(no_color)
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError:
            suggestion = did_you_mean(args[0], COMMANDS)
            raise UsageError(f"no such command: {args[0]!r}. {suggestion}List all commands: headway --help") from None

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Start here"):
            formatter.write_dl(list(FIRST_COMMANDS.items()))
        super().format_options(ctx, formatter)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, COMMANDS))
        for title, names in SECTIONS.items():
            commands = {name.ljust(width): self.get_command(ctx, name) for name in names}
            with formatter.section(title):
                formatter.write_dl([(name, cmd.get_short_help_str(200)) for name, cmd in commands.items() if cmd])


@click.group(cls=_HeadwayGroup, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="headway")
@click.pass_context
def main(context: click.Context) -> None:
    """Learn the transformer by writing it in NumPy, checked against PyTorch."""
    if context.invoked_subcommand is None:
        from autograder.cli.watch import welcome_and_watch

        welcome_and_watch(Path())
