"""Collect what is shown when an assignment passes, from the course, its lesson and the workspace."""

import re
from collections.abc import Mapping

from autograder.course import Assignment, Curriculum, registry
from autograder.course.stubs import EXPERIMENT, PICTURE
from autograder.documents.records import FinishedAssignment
from autograder.documents.results import Status
from autograder.errors import UsageError
from autograder.workspace import files, progress, solutions
from autograder.workspace.function_source import written_lines
from autograder.workspace.workspace import Workspace

_PLOT_COMMAND = re.compile(r"headway plot ([a-z0-9-]+)")
_TEXT_COMMENT = re.compile(r"\n# ?")
READ_STEP = ("read next", "Attention Is All You Need", "the paper of 2017")
CARD_STEP = ("your GPT", "headway card model.safetensors", "a page about the model that you trained, to share")
MAPS = "figures/map-"  # how the names of the maps of the whole model begin: every lesson has one


def finished_assignment(workspace: Workspace, module: str, statuses: Mapping[str, Status]) -> FinishedAssignment | None:
    """Return what to show for an assignment; None unless its functions pass, apart from bonus functions."""
    curriculum = workspace.curriculum
    complete = progress.passed_assignments(statuses, curriculum)
    if module not in complete:
        return None
    assignment = curriculum.modules[module]
    passed = sum(statuses.get(name) == "passed" for name in curriculum.functions)
    at_end = []
    outcome = assignment.outcome
    if len(complete) == len(curriculum.modules):
        at_end = _last_steps(workspace) if curriculum.is_built_in else []
        outcome = _what_you_wrote(workspace, passed)
    name = progress.next_unfinished(statuses, curriculum, assignment.functions[-1].qualified)
    following = curriculum.modules[name.partition(".")[0]] if name and not curriculum.functions[name].bonus else None
    return FinishedAssignment(
        number=assignment.number,
        module=module,
        outcome=outcome,
        assignments=(len(complete), len(curriculum.modules)),
        functions=(passed, len(curriculum.functions)),
        steps=[*_steps(workspace, assignment, with_command=not at_end), *at_end],
        unlocks=_built_on(module, curriculum),
        next_text=f"{following.module} · {following.title}" if following else "",
    )


def _what_you_wrote(workspace: Workspace, functions: int) -> str:
    """Return a sentence about all that the student wrote."""
    modules = workspace.snapshot.modules
    lines = sum(written_lines(modules[name].content) for name in workspace.curriculum.modules if name in modules)
    return f"You wrote all of it: {functions} functions, {lines:,} lines."


def _last_steps(workspace: Workspace) -> list[tuple[str, str, str]]:
    """Return the steps at the end of the course: the model, its text, its card, and what to read next."""
    trained = (workspace.folder / "model.safetensors").is_file()
    train = ("your model", "headway train", "with your own functions")
    return [*([] if trained else [train]), ("its text", "headway generate", "let it write"), CARD_STEP, READ_STEP]


def _steps(workspace: Workspace, assignment: Assignment, *, with_command: bool) -> list[tuple[str, str, str]]:
    module = assignment.module
    steps = []
    source = workspace.snapshot.modules.get(module)
    if module in workspace.notebook_modules:
        about = "predict the result, then run the cell of the experiment"
        steps.append(("experiment", workspace.file_of(module), about))
    elif source is not None and EXPERIMENT.encode() in source.content:  # Students may remove it.
        steps.append(("experiment", f"headway experiment {module}", "predict its result first"))
    if picture := _picture(workspace, module):
        steps.append(picture)
    if with_command and assignment.command:
        steps.append(("try it", assignment.command, "with your own functions"))
    try:
        rule = solutions.solution_rule(workspace.folder)
    except UsageError:
        rule = "never"
    if rule != "never":
        steps.append(("compare", f"headway diff {module}", "compare your code with the solution"))
    return steps


def _picture(workspace: Workspace, module: str) -> tuple[str, str, str] | None:
    """Return the step that shows a picture: a plot that the lesson mentions, or else a picture in the lesson.

    Plots that need no trained model come first.
    """
    curriculum = workspace.curriculum
    lesson = _TEXT_COMMENT.sub(" ", files.stub_text(module, curriculum))
    if curriculum.is_built_in:
        plots = registry.default().plots
        names = [name for name in _PLOT_COMMAND.findall(lesson) if name in plots]
        for name in sorted(names, key=lambda name: plots[name].trained):
            note = "; train one first: headway train" if plots[name].trained else ""
            return "picture", f"headway plot {name}", f"{plots[name].title}{note}"
    figures = [file for _, file in PICTURE.findall(lesson) if not file.startswith(MAPS)]
    figure = next((file for file in figures if (workspace.folder / file).is_file()), None)
    return ("picture", figure, "a picture in the lesson, to look at again") if figure else None


def _built_on(module: str, curriculum: Curriculum) -> list[str]:
    """Return the later assignments with a function that is built directly on one of this assignment."""
    return [
        other.module
        for other in curriculum.assignments
        if other.module != module
        and any(need.startswith(f"{module}.") for function in other.functions for need in function.needs)
    ]
