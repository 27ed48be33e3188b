"""How much a class's result documents tell. They are made to be handed out: without expected values, unless asked for.

- full: everything, expected values too; for the instructor's eyes
- summary: what is wrong, for which inputs, where, and the named mistake; no expected value
- none: status and points
"""

from collections.abc import Callable
from typing import Literal

from autograder.results import SubmissionResult

Level = Literal["full", "summary", "none"]


def withhold(result: SubmissionResult, whole: Level, is_hidden: Callable[[str], bool] = lambda check: False) -> None:
    """Take out of the result what is not to be told. Points and statuses stay as they are.

    Args:
        whole: the level for all checks that are not hidden.
        is_hidden: whether of a check, by its id, only status and points are told.
    """
    for check in result.checks:
        level = "none" if is_hidden(check.id) and whole != "full" else whole
        if level == "full":
            continue
        check.worst = None
        if check.picture is not None:
            check.picture = {key: value for key, value in check.picture.items() if key not in ("yours", "expected")}
        if check.secret is not None:
            told, instead = check.secret
            before, found, _ = check.message.partition(told)
            check.message = before + instead if found else f"the value{instead}"
        if level == "none":
            check.message, check.help, check.case, check.where, check.output = "", None, None, None, ""
            check.wrong, check.shapes, check.picture, check.departure = None, None, None, None
            check.mistake, check.hints = None, []
