"""Commands about the kit itself: release, doctor, verify."""

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from autograder.cli.options import (
    NOT_PASSED,
    PASSED,
    console_for,
    curriculum_option,
    interruptible,
    json_option,
    no_color_option,
    selected_curriculum,
    write_json,
)
from autograder.core.files import write_atomically
from autograder.errors import UsageError, missing_package

if TYPE_CHECKING:
    from autograder.curriculum import Curriculum
    from autograder.notebooks.nbgrader_course import Prerequisites

SETTINGS = "nbgrader_config.py"
OUR_SETTINGS = "nbgrader_config.headway.py"  # beside the instructor's own


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "--format",
    "form",
    type=click.Choice(["stubs", "notebooks", "nbgrader", "policy"]),
    help="Python files or notebooks for students, a course for nbgrader, or a course.toml to fill in.",
)
@click.option(
    "--prerequisites",
    type=click.Choice(["official", "none"]),
    default="official",
    show_default=True,
    help="nbgrader: put official solutions of earlier assignments beside each notebook that is built on them.",
)
@click.option("--seed", type=click.IntRange(0), help="nbgrader: the hidden inputs; without it fresh ones, once.")
@curriculum_option
@interruptible
def release(folder: Path, form: str | None, prerequisites: "Prerequisites", seed: int | None) -> None:
    """Write what students get: stubs, notebooks, nbgrader's.

    All of it is generated from the solutions; or the policy of a course to fill in.

    Over an nbgrader course that is there already, what somebody has changed in it stays as it is.
    """
    from autograder.curriculum import registry, stubs

    if form is None:
        raise UsageError("say what to release: headway release DIR --format stubs, notebooks, nbgrader or policy")
    curriculum = selected_curriculum()
    if form == "policy":
        _release_policy(folder, curriculum)
        return
    if _holds_work(folder, curriculum):
        raise UsageError(
            f"{folder} is a workspace, with somebody's work. Name another folder: headway release DIR --format {form}"
        )
    solutions = registry.solutions(curriculum.package)
    if form == "nbgrader":
        _release_course(folder, solutions, curriculum, prerequisites, seed)
        return
    if form == "stubs":
        files = stubs.make_stubs(solutions, curriculum)
    else:
        with _notebook_packages():
            from autograder.notebooks import student_notebooks
        files = student_notebooks.student_notebooks(solutions, curriculum)
    with _writing(folder):
        for name, text in files.items():
            write_atomically(folder / name, text.encode())
            click.echo(f"wrote {folder / name}")


def _release_policy(folder: Path, curriculum: "Curriculum") -> None:
    from autograder.classroom import policy_file, policy_template

    path = folder / policy_file.POLICY_FILE
    if path.exists():
        raise UsageError(
            f"{path} is there already, and stays. Name another folder: headway release DIR --format policy"
        )
    with _writing(folder):
        write_atomically(path, policy_template.template(curriculum).encode())
    click.echo(f"wrote {path}")
    click.echo(f"Next: fill it in, then headway grade {folder} --out OUT")


def _holds_work(folder: Path, curriculum: "Curriculum") -> bool:
    """Whether there are assignments in `folder` that are more than stubs, or that `headway init` put there."""
    from autograder.workspace import dependencies, state

    if not state.is_workspace(folder):
        return False
    written = dependencies.take(folder, curriculum)
    return (folder / state.FILE).exists() or not all(map(written.is_stub, curriculum.functions))


def _release_course(
    folder: Path, solutions: Path, curriculum: "Curriculum", prerequisites: "Prerequisites", seed: int | None
) -> None:
    with _notebook_packages():
        from autograder.engine.inputs import fresh_seed
        from autograder.notebooks import nbgrader_course, release_manifest
    hidden = next(known for known in (seed, release_manifest.seed_of(folder), fresh_seed()) if known is not None)
    with _writing(folder):
        done = release_manifest.write(
            folder, nbgrader_course.files(solutions, curriculum, prerequisites, hidden), hidden
        )
        if SETTINGS in done.kept:
            write_atomically(folder / OUR_SETTINGS, nbgrader_course.CONFIG.encode())
    for what, names in (("wrote", done.written), ("removed", done.removed)):
        for name in names:
            click.echo(f"{what} {folder / name}")
    for name in done.kept:
        click.echo(f"kept {folder / name}, which is yours; for ours, move it away and do this again")
    if SETTINGS in done.kept:
        click.echo(f"! The course needs the settings in {folder / OUR_SETTINGS}: put them into {SETTINGS}")
    click.echo(f"Next: cd {folder} && nbgrader generate_assignment {next(iter(curriculum.modules))}")


@contextlib.contextmanager
def _notebook_packages() -> Iterator[None]:
    try:
        yield
    except ImportError as error:
        raise missing_package(f"notebooks need {error.name}", "notebooks") from None


@contextlib.contextmanager
def _writing(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UsageError(
            f"cannot write {error.filename or folder} ({error.strerror}). Name another folder: headway release DIR"
        ) from None


@click.command()
@no_color_option
def doctor(no_color: bool) -> None:
    """Is everything here that is needed?

    Says what is missing and the command that mends it.
    """
    from autograder.cli import diagnostics as examination
    from autograder.report import doctor as findings

    found = examination.examine()
    findings.render(found, console_for(no_color))
    sys.exit(PASSED if all(finding.ok or finding.optional for finding in found) else NOT_PASSED)


@click.command()
@click.option("-j", "processes", type=click.IntRange(1), default=2, show_default=True, help="How many at once.")
@click.option("--right", type=click.Path(path_type=Path), help="Folder of right answers (default: the clone's).")
@curriculum_option
@json_option
@no_color_option
@interruptible
def verify(processes: int, right: Path | None, json_file: str | None, no_color: bool) -> None:
    """Prove the kit: that its checks tell right from wrong.

    Solutions pass, stubs fail, every known mistake fails and is called by its name.
    """
    from dataclasses import asdict

    from autograder.curriculum import registry, stubs
    from autograder.engine import verify as verification
    from autograder.report import verify as view

    curriculum = selected_curriculum()
    if right is None and curriculum.package == registry.BUILT_IN:
        right = stubs.bundled("solutions").parent / "tests" / "submissions" / "right"
    console = console_for(no_color, stderr=json_file == "-")
    count = len(verification.jobs(right, curriculum))
    found = view.render(verification.verify(right, curriculum, processes), count, console)
    if json_file:
        write_json(json_file, [asdict(finding) for finding in found])
    sys.exit(PASSED if all(finding.ok for finding in found) else NOT_PASSED)
