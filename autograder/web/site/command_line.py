"""The page of the command line: every command with its arguments and options, as `--help` shows them."""

import inspect
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import click


@dataclass(frozen=True)
class CommandHelp:
    """What `headway NAME --help` says."""

    name: str  # such as "grade" or "data fetch"
    section: str  # of the commands, such as "Teach"
    usage: str
    summary: str
    paragraphs: tuple[str, ...]
    options: tuple[tuple[str, str], ...]  # each with its explanation

    @property
    def anchor(self) -> str:
        """Return the id of its section."""
        return "headway-" + self.name.replace(" ", "-")


def describe_commands(group: click.Group, sections: Mapping[str, Iterable[str]]) -> tuple[CommandHelp, ...]:
    """Return the help of all commands, by the sections of the help."""
    context = click.Context(group, info_name="headway")
    return tuple(
        command_help
        for section, names in sections.items()
        for name in names
        if (command := group.get_command(context, name)) and not command.hidden
        for command_help in _describe(name, section, command, context)
    )


def _describe(name: str, section: str, command: click.Command, parent: click.Context) -> Iterator[CommandHelp]:
    context = click.Context(command, info_name=name.rpartition(" ")[2], parent=parent, **command.context_settings)
    text = inspect.cleandoc(command.help or "").partition("\f")[0]
    paragraphs = [" ".join(paragraph.split()) for paragraph in re.split(r"\n\s*\n", text.replace("\b", ""))]
    records = [parameter.get_help_record(context) for parameter in command.get_params(context)]
    yield CommandHelp(
        name,
        section,
        f"headway {name} {' '.join(command.collect_usage_pieces(context))}",
        paragraphs[0],
        tuple(filter(None, paragraphs[1:])),
        tuple(
            (option, " ".join(explanation.split()))
            for option, explanation in filter(None, records)
            if explanation and not option.endswith("--help")
        ),
    )
    if isinstance(command, click.Group):
        for child in command.list_commands(context):
            if subcommand := command.get_command(context, child):
                yield from _describe(f"{name} {child}", section, subcommand, context)
