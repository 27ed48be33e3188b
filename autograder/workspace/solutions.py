"""When a student may see a solution, and how it is compared with the student's code."""

import difflib
from collections.abc import Collection, Iterator, Sequence
from itertools import zip_longest
from pathlib import Path

from autograder.core.text import now
from autograder.course import Curriculum, registry
from autograder.errors import UsageError
from autograder.workspace import files, hints
from autograder.workspace.function_source import function_with_helpers
from autograder.workspace.workspace import COURSE, Workspace, course_settings

GAVE_UP = "gave_up"  # key of the state file: function -> when its solution was shown before it passed
RULES = ("give-up", "after-pass", "never")


class SolutionRefused(UsageError):
    """A solution may not be shown now; `rule` is the instructor's rule."""

    def __init__(self, message: str, rule: str) -> None:
        super().__init__(message)
        self.rule = rule


def solution_rule(folder: Path) -> str:
    """Return the instructor's rule: "give-up" (the default), "after-pass" (no giving up) or "never"."""
    rule = course_settings(folder).get("solutions", RULES[0])
    if rule not in RULES:
        raise UsageError(f"{COURSE}: solutions = {rule!r} must be one of {', '.join(RULES)}. Ask your instructor")
    return str(rule)


def require_solutions_allowed(
    workspace: Workspace, functions: Sequence[str], passed: Collection[str], *, give_up: bool
) -> None:
    """Raise SolutionRefused unless these solutions may be shown; record those that are shown before they pass."""
    rule, state = solution_rule(workspace.folder), workspace.state
    state.refresh()
    if rule == "never":
        message = "your instructor has disabled solutions. Ask for a hint: headway hint NAME --more"
        raise SolutionRefused(message, rule)
    gave_up = state.section(GAVE_UP)
    not_passed = [name for name in functions if name not in passed and name not in gave_up]
    if not not_passed:
        return
    first = not_passed[0]
    hint = f"{first} does not pass yet. Ask for a hint: headway hint {first} --more"
    if rule == "after-pass":
        raise SolutionRefused(f"{hint} (your instructor shows solutions only after they pass)", rule)
    if not give_up:
        name = first if len(functions) == 1 else first.partition(".")[0]
        command = f"headway solution {name} --give-up"
        raise SolutionRefused(f"{hint}. To see the solution now (this is recorded): {command}", rule)
    gave_up.update(dict.fromkeys(not_passed, now()))
    state.save()


def solution_of(name: str, curriculum: Curriculum) -> str:
    """Return the solution of a function, with the private helpers that it uses, or of a whole assignment."""
    module, _, function = name.partition(".")
    text = registry.solution_text(module, curriculum.package)
    return function_with_helpers(text, function) + "\n" if function else text


def student_and_solution(workspace: Workspace, function: str) -> tuple[str, str]:
    """Return the student's version of a function and the solution's, with the private helpers that each uses."""
    module, _, name = function.partition(".")
    notebook = workspace.notebook_modules.get(module)
    source = files.read_file(workspace.folder / f"{module}.py") if notebook is None else notebook
    try:
        student = function_with_helpers(source, name)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise UsageError(f"Python cannot read {module}.py ({error}). Fix it first: headway check {module}") from None
    return student, solution_of(function, workspace.curriculum).rstrip("\n")


def compare_lines(mine: str, theirs: str) -> Iterator[tuple[str, str, str]]:
    """Yield rows of two texts side by side: "same", "other", "mine" or "theirs", and the line of each."""
    a, b = mine.split("\n"), theirs.split("\n")
    for kind, i1, i2, j1, j2 in difflib.SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        for left, right in zip_longest(a[i1:i2], b[j1:j2]):
            how = "theirs" if left is None else "mine" if right is None else "other"
            yield "same" if kind == "equal" else how, left or "", right or ""


def offers_solution(workspace: Workspace, function: str, passes: bool) -> bool:
    """Return whether a solution may be shown now: the code passes, or the last hint was seen and the rule allows it."""
    try:
        rule = solution_rule(workspace.folder)
    except UsageError:
        return False
    if passes or function in workspace.state.section(GAVE_UP):
        return rule != "never"
    steps = hints.steps(function, workspace.curriculum.package)
    return rule == "give-up" and hints.shown_count(workspace.state, function) >= len(steps)
