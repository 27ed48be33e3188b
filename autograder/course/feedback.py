"""How much a class's result documents tell. They are made to be handed out: without expected values, unless asked for.

- full: everything, expected values too; for the instructor's eyes
- summary: what is wrong, for which inputs, where, and the named mistake; no expected value
- none: status and points
"""

import re
from typing import Literal, get_args

from autograder.results import SubmissionResult

Level = Literal["full", "summary", "none"]
LEVELS: tuple[Level, ...] = get_args(Level)

# The comparer's sentence for single values: "tokens is [3, 1], expected [1, 3]". Shapes and dtypes are no secret.
_EXPECTED_VALUE = re.compile(r"^(?!.* has (?:shape|dtype) )(.*?), expected .*", re.DOTALL)


def withhold(result: SubmissionResult, level: Level) -> None:
    """Take out of the result what is not to be told. Points and statuses stay as they are."""
    for check in result.checks if level != "full" else []:
        check.worst = None
        if check.picture is not None:
            check.picture = {key: value for key, value in check.picture.items() if key not in ("yours", "expected")}
        check.message = _EXPECTED_VALUE.sub(r"\1, which is not what was expected", check.message)
        if level == "none":
            check.message, check.help, check.case, check.where, check.output = "", None, None, None, ""
            check.wrong, check.shapes, check.picture, check.departure = None, None, None, None
            check.mistake, check.hints = None, []
