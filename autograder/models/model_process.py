"""The student's process that trains a model, or computes with an imported one."""

from pathlib import Path
from typing import Any, Literal

from autograder.core.text import clean
from autograder.courses.transformer import TRANSFORMER
from autograder.engine.student import StudentCode
from autograder.errors import Blocked, NotStarted, Raised, UsageError, Verdict
from autograder.sandbox.limits import Limits
from autograder.sandbox.workers import Workers

CALL_SECONDS = 600.0  # of one answer: a long prompt is read in one call
_PURPOSES = {"training": "training", "pretrained": "an imported model"}


class ModelProcess:
    """A process with the modules in a folder, which answers requests about one kind of model."""

    def __init__(self, workers: Workers, folder: Path, kind: Literal["training", "pretrained"]) -> None:
        self._student = StudentCode(workers, folder, TRANSFORMER, Limits.for_training(CALL_SECONDS))
        self._kind = kind

    def request(self, action: str, function: str, source: Path | None = None, **request: Any) -> Any:
        """Return the answer to one request.

        A failure is a UsageError. It names `function`, or `source` if the function raised ValueError: that is how the
        course's functions refuse what they are given.
        """
        try:
            return self._student.model_request(action, function, **request)
        except (NotStarted, Blocked) as verdict:
            needed = verdict.needed if isinstance(verdict, Blocked) else function
            raise UsageError(
                f"{_PURPOSES[self._kind]} needs {needed}, which is not written yet. Write it (headway check {needed}), "
                "or use the official solution: --solution"
            ) from None
        except Verdict as verdict:
            if source is not None and isinstance(verdict, Raised) and verdict.exception.type == "ValueError":
                raise UsageError(f"{source} cannot be imported: {clean(verdict.exception.message, 300)}") from None
            raise UsageError(f"{verdict.message}. To see more: headway check") from None

    def close(self) -> None:
        """End the process."""
        self._student.close()
