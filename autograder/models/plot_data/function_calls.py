"""The functions of a submission, as plots and pictures call them."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.drawing.function_caller import FunctionCaller

if TYPE_CHECKING:
    from autograder.sandbox.workers import StartWorkers


@contextmanager
def functions_in_folder(folder: Path, start: "StartWorkers | None" = None) -> Iterator[FunctionCaller]:
    """Provide the functions of a submission, which run in a process of their own, or where `start` makes them run."""
    from autograder.courses.transformer import TRANSFORMER
    from autograder.engine.student import StudentCode
    from autograder.sandbox.limits import Limits
    from autograder.sandbox.policy import NO_SANDBOX
    from autograder.sandbox.process import start_workers

    with (
        (start or start_workers)(NO_SANDBOX) as workers,
        closing(StudentCode(workers, folder, TRANSFORMER, Limits.for_training(60.0))) as student,
    ):
        yield FunctionCaller(student.call)
