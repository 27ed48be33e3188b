"""Completion of assignment and function names."""

import click


def complete_names(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Assignments; once a dot is there, or only one assignment fits, its functions."""
    from autograder.curriculum import TRANSFORMER

    modules = [name for name in TRANSFORMER.modules if name.startswith(incomplete)]
    if "." not in incomplete and len(modules) != 1:
        return modules
    return modules + [name for name in TRANSFORMER.functions if name.startswith(incomplete)]
