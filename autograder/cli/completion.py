"""Shell completion: the `completion` command, and the names of assignments and functions as an argument type."""

from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.types import StringParamType

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class CourseName(StringParamType):
    """The name of an assignment, or of a function as `assignment.function`, with completion."""

    name = "name"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> "list[CompletionItem]":
        """Return the assignments that fit; once there is a dot or only one assignment fits, its functions, too."""
        from click.shell_completion import CompletionItem

        from autograder.course import registry
        from autograder.errors import UsageError
        from autograder.workspace import state

        try:
            curriculum = state.load(ctx.params.get("folder") or Path()).curriculum
        except UsageError:
            curriculum = registry.default()
        names = [name for name in curriculum.modules if name.startswith(incomplete)]
        if "." in incomplete or len(names) == 1:
            names += [name for name in curriculum.functions if name.startswith(incomplete)]
        return [CompletionItem(name) for name in names]


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print a script that completes commands and names in your shell.

    For bash: eval "$(headway completion bash)"
    """
    from click.shell_completion import shell_complete

    from autograder.cli import main

    shell_complete(main, {}, "headway", "_HEADWAY_COMPLETE", f"{shell}_source")
