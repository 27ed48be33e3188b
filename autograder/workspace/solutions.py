"""When a student may see the solution, and how it is shown beside their own."""

import datetime
import difflib
import tomllib
from collections.abc import Iterator
from pathlib import Path

from autograder.curriculum import Curriculum
from autograder.errors import UsageError
from autograder.workspace import files
from autograder.workspace.state import State

GAVE_UP = "gave_up"  # in the workspace's state: function -> when the solution was looked at before it passed
COURSE = "course.toml"  # an instructor's settings for a workspace: solutions = "after-pass" | "give-up" | "never"
RULES = ("give-up", "after-pass", "never")


def rule(folder: Path) -> str:
    """What the instructor allows: "give-up" (the default), "after-pass" (no giving up) or "never".

    Raises:
        UsageError: if the settings cannot be understood.
    """
    path = folder / COURSE
    if not path.exists():
        return RULES[0]
    try:
        found = tomllib.loads(path.read_text("utf-8-sig")).get("solutions", RULES[0])
    except (OSError, ValueError) as error:
        raise UsageError(f"{COURSE} cannot be read ({error}). Ask the one who gave it to you") from None
    if found not in RULES:
        raise UsageError(f"{COURSE}: solutions = {found!r} is none of {', '.join(RULES)}")
    return str(found)


def require_open(folder: Path, functions: tuple[str, ...], passed: set[str], give_up: bool, state: State) -> bool:
    """See that the solution of these functions may be shown; giving up is noted in the state.

    Returns:
        Whether the state has something new to save.

    Raises:
        UsageError: if it may not be shown yet, or not at all.
    """
    allowed = rule(folder)
    if allowed == "never":
        raise UsageError("your instructor has switched the solutions off. A hint instead: headway hint NAME --more")
    section = state.section(GAVE_UP)
    lacking = [name for name in functions if name not in passed and name not in section]
    if not lacking:
        return False
    first = lacking[0]
    if allowed == "after-pass":
        raise UsageError(
            f"{first} does not pass yet, and the solution comes after. A hint: headway hint {first} --more"
        )
    if not give_up:
        name = first if len(functions) == 1 else first.partition(".")[0]
        raise UsageError(
            f"{first} does not pass yet. A hint: headway hint {first} --more. "
            f"To see the solution all the same (it is noted): headway solution {name} --give-up"
        )
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    section.update(dict.fromkeys(lacking, now))
    return True


def compare(mine: str, theirs: str) -> Iterator[tuple[str, str, str]]:
    """Rows of two texts side by side: how they are ("same", "other", "mine", "theirs"), and the lines."""
    a, b = mine.split("\n"), theirs.split("\n")
    for kind, i1, i2, j1, j2 in difflib.SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if kind == "equal":
            yield from (("same", line, line) for line in a[i1:i2])
            continue
        left, right = a[i1:i2], b[j1:j2]
        for row in range(max(len(left), len(right))):
            both = row < len(left) and row < len(right)
            how = "other" if both else "mine" if row < len(left) else "theirs"
            yield how, left[row] if row < len(left) else "", right[row] if row < len(right) else ""


def both_texts(folder: Path, function: str, curriculum: Curriculum) -> tuple[str, str]:
    """The student's function and the solution's, each with the private helpers that it uses.

    Raises:
        UsageError: if Python cannot read the student's file.
    """
    module, _, name = function.partition(".")
    own = files.read(folder / f"{module}.py")
    try:
        mine = [files.function_text(own, one) for one in (*files.helpers(own, [name]), name)]
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise UsageError(f"Python cannot read {module}.py ({error}). Mend it first: headway check {module}") from None
    return "\n\n\n".join(filter(None, mine)), files.solution_of(function, curriculum).rstrip("\n")
