"""The command `headway new-assignment`."""

from pathlib import Path

import click

from autograder.cli import options


@click.command("new-assignment")
@click.argument("name", metavar="NAME")
@click.option(
    "--course",
    "folder",
    type=options.PATH,
    default=".",
    help="Folder of the course; if it is new or empty, a course is created in it (default: this folder).",
)
@click.option("--title", default="", help="Title of the assignment (default: its name).")
def new_assignment(name: str, folder: Path, title: str) -> None:
    """Write the skeleton of an assignment into a course.

    The course is one of your own or, in a clone of Headway, the built-in one. The skeleton has a lesson, a
    solution, checks, a reference, two mistakes, promises and hints, and passes headway verify as it is. Comments in
    each file say what to replace.
    """
    from autograder.authoring import built_in_assignment, new_assignment

    module = built_in_assignment if built_in_assignment.is_clone(folder) else new_assignment
    for line in module.create(folder, name, title):
        click.echo(line)
