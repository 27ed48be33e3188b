"""The help of all commands as data, for the page of the command line."""

from autograder.web.site.command_line import CommandHelp, describe_commands


def command_help() -> tuple[CommandHelp, ...]:
    """Return what `headway NAME --help` says, of every command."""
    from autograder.cli import SECTIONS, main

    return describe_commands(main, SECTIONS)
