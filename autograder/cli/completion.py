"""Completion of assignment and function names."""

import click


def complete_names(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Assignments; once a dot is there, or only one assignment fits, its functions."""
    from pathlib import Path

    from autograder.courses.transformer import TRANSFORMER
    from autograder.errors import UsageError
    from autograder.workspace import state

    try:
        curriculum = state.load(context.params.get("folder") or Path()).curriculum
    except UsageError:
        curriculum = TRANSFORMER
    modules = [name for name in curriculum.modules if name.startswith(incomplete)]
    if "." not in incomplete and len(modules) != 1:
        return modules
    return modules + [name for name in curriculum.functions if name.startswith(incomplete)]
