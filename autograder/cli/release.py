"""The command `headway release`."""

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from autograder.cli import options
from autograder.core.files import report_write_error, write_atomically
from autograder.errors import UsageError

if TYPE_CHECKING:
    from autograder.course import Curriculum
    from autograder.notebooks.nbgrader_course import Prerequisites

ANOTHER_FOLDER = "Name another folder: headway release DIR"


@click.command()
@click.argument("folder", metavar="DIR", type=options.PATH)
@click.option(
    "--format",
    "release_format",
    type=click.Choice(["stubs", "notebooks", "github", "nbgrader", "policy"]),
    help="Python files or notebooks for students, a template repository for GitHub Classroom, an nbgrader course, "
    "or a course.toml to fill in.",
)
@click.option(
    "--prerequisites",
    type=click.Choice(["official", "none"]),
    default="official",
    show_default=True,
    help="nbgrader: include the official solutions of the assignments that each notebook builds on; "
    "stubs: of those that are not named by --assignment.",
)
@click.option(
    "--seed",
    type=click.IntRange(0),
    help="nbgrader: seed of the hidden inputs (default: the course's own, or a new one).",
)
@click.option(
    "--install",
    "requirement",
    metavar="REQUIREMENT",
    help="github: what pip installs in the repository (default: this version of Headway, from where it came).",
)
@options.assignments
@options.agents_file
@options.force
@options.curriculum
def release(
    folder: Path,
    release_format: str | None,
    prerequisites: "Prerequisites",
    seed: int | None,
    requirement: str | None,
    names: tuple[str, ...],
    agents: Path | None,
    force: bool,
) -> None:
    """Generate student materials: stubs, notebooks, an nbgrader course.

    They are generated from the solutions. With --format policy, a course.toml to fill in is written instead.

    With --assignment, only these assignments are written. Those that they import and that are not named come with
    their official solutions.

    In an existing nbgrader course, files that you have changed are kept.
    """
    from autograder.course import registry, selection, stubs
    from autograder.engine.official_solutions import official_solutions
    from autograder.workspace import files
    from autograder.workspace.create import INSTRUCTIONS, read_instructions

    if release_format is None:
        raise UsageError("no format given. Use: headway release DIR --format stubs|notebooks|github|nbgrader|policy")
    if agents is not None and release_format not in ("stubs", "notebooks", "github"):
        raise UsageError(f"--agents is for --format stubs, notebooks and github, not {release_format}. Leave it out")
    if requirement is not None and release_format != "github":
        raise UsageError(f"--install is for --format github, not {release_format}. Leave it out")
    installed = _addressed_requirement(requirement) if release_format == "github" else ""
    curriculum = options.selected_curriculum()
    if names:
        curriculum = selection.select(curriculum, names)
    another = f"Name another folder: headway release DIR --format {release_format}"
    if release_format == "policy":
        _release_policy(folder, curriculum, force, another)
        return
    if _holds_work(folder, curriculum):
        raise UsageError(f"{folder} is a workspace that holds work. {another}")
    with official_solutions(curriculum) as solutions:
        if release_format == "nbgrader":
            _release_course(folder, solutions, curriculum, prerequisites, seed)
            return
        given: dict[str, str] = {}
        if release_format in ("stubs", "github"):
            if prerequisites == "official":
                given = files.given_texts(curriculum)
            shown = registry.figure_texts(curriculum) | registry.extra_texts(curriculum.package)
            texts = stubs.make_stubs(solutions, curriculum) | given | shown
            if release_format == "github":
                from autograder.classroom.class_setup import repository_files

                texts |= repository_files(curriculum, installed)
        else:
            from autograder.notebooks import student_notebooks

            texts = student_notebooks.student_notebooks(solutions, curriculum)
    if agents is not None:
        texts = {**texts, INSTRUCTIONS: read_instructions(agents).decode()}
    if not force:
        _require_replaceable(folder, texts, curriculum, another)
    with report_write_error(folder, ANOTHER_FOLDER):
        for name, text in texts.items():
            write_atomically(folder / name, text.encode())
            click.echo(f"wrote {folder / name}{' (official solution)' if name in given else ''}")
    if release_format == "github":
        click.echo("Next: push it to GitHub, and make it the template repository of an assignment in GitHub Classroom")
        click.echo(f"It installs {installed}")


def _addressed_requirement(given: str | None) -> str:
    """Return what the repository installs; raise UsageError if that is a bare name, which anybody may own in an index.

    Whoever owns it would get the code of every student and the token of every run.
    """
    from autograder import installation

    example = '--install "headway @ git+https://…", with the address of a repository of Headway'
    if given is None:
        if requirement := installation.requirement():
            return requirement
        raise UsageError(f"this Headway does not know where the repository can install it from. Use {example}")
    if installation.names_no_address(given):
        raise UsageError(f"--install {given!r} names a package of an index, and Headway is in none. Use {example}")
    return given


def _require_replaceable(folder: Path, texts: Mapping[str, str], curriculum: "Curriculum", another: str) -> None:
    """Raise UsageError if a file that would be replaced may be a person's own work.

    Assignments were checked before, and pictures are always generated.
    """
    modules = {name.partition(".")[0] for name in curriculum.all_functions}
    for name, text in texts.items():
        path = folder / name
        if name.partition(".")[0] in modules or name.startswith("figures/") or not path.is_file():
            continue
        if path.read_bytes() != text.encode():
            raise UsageError(
                f"{path} exists and differs from the file of this release. {another}. To replace it: --force"
            )


def _release_policy(folder: Path, curriculum: "Curriculum", force: bool, another: str) -> None:
    from autograder.classroom.class_setup import policy_template
    from autograder.classroom.policy import policy_file
    from autograder.course import registry

    path = folder / policy_file.POLICY_FILE
    if path.exists() and not force:
        raise UsageError(f"{path} already exists. {another}. To replace it: --force")
    with report_write_error(folder, ANOTHER_FOLDER):
        write_atomically(path, policy_template(curriculum).encode())
    click.echo(f"wrote {path}")
    course = "" if curriculum.name == registry.DEFAULT else f" --curriculum {curriculum.name}"
    click.echo(f"Next: fill it in, then: headway grade {shlex.quote(str(folder))} --out OUT{course}")


def _holds_work(folder: Path, curriculum: "Curriculum") -> bool:
    """Return whether `headway init` made `folder`, or it holds assignments with more than stubs or given solutions."""
    from autograder.workspace import files
    from autograder.workspace.workspace import Workspace

    workspace = Workspace.open(folder, curriculum)
    present = {f"{module}.py": content for module, content in workspace.snapshot.contents.items()}
    unchanged = [name for name, text in files.given_texts(curriculum).items() if present.get(name) == text.encode()]
    functions = [name for name in curriculum.all_functions if f"{name.partition('.')[0]}.py" not in unchanged]
    return workspace.is_initialized or not all(map(workspace.snapshot.is_stub, functions))


def _release_course(
    folder: Path, solutions: Path, curriculum: "Curriculum", prerequisites: "Prerequisites", seed: int | None
) -> None:
    from autograder.engine.inputs import fresh_seed
    from autograder.notebooks import nbgrader_course
    from autograder.notebooks.nbgrader_course import SETTINGS, SETTINGS_TO_COPY

    seeds = (seed, nbgrader_course.released_seed(folder), fresh_seed())
    hidden_seed = next(candidate for candidate in seeds if candidate is not None)
    with report_write_error(folder, ANOTHER_FOLDER):
        own = (folder / SETTINGS).read_bytes() if (folder / SETTINGS).is_file() else None
        files = nbgrader_course.course_files(solutions, curriculum, prerequisites, hidden_seed, own)
        done = nbgrader_course.write_release(folder, files, hidden_seed)
    for verb, names in (("wrote", done.written), ("removed", done.removed)):
        for name in names:
            click.echo(f"{verb} {folder / name}")
    for name in done.kept:
        advice = "" if name == SETTINGS else " (you changed it; for the new version, move it away and release again)"
        click.echo(f"kept {folder / name}{advice}")
    if SETTINGS_TO_COPY in files:
        where = f"{folder / SETTINGS_TO_COPY}. Copy them into {SETTINGS}"
        click.echo(f"! nbgrader autograde needs the settings in {where}. headway grade needs none.")
    change = "" if folder.resolve() == Path.cwd() else f"cd {shlex.quote(str(folder))} && "
    click.echo(f"Next: {change}nbgrader generate_assignment {next(iter(curriculum.modules))}")
