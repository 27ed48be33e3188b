"""Train models and write text in this interpreter, in parts, between which the page can send other requests.

Only the page that trains has this module and what it imports: they are in an archive of their own.
"""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from autograder.models.page import process
from autograder.models.page.job import Record
from autograder.models.page.requests import PageJob
from autograder.models.page.runs import Payload, Reply, TrainingRuns
from autograder.sandbox.in_process import InProcessWorkers

FIRST_PRESET = "small"


class BrowserJob:
    """A job like `TrainingJob`, without a process: `advance` does the next part of it.

    Functions that are not known to pass are not checked, because that would need the answers of many assignments.
    """

    def __init__(self, job: PageJob, on_record: Callable[[Record], None]) -> None:
        self._on_record, self._stop = on_record, threading.Event()
        self._records = process.work(replace(job, check=False), self._stop, InProcessWorkers)

    def advance(self) -> None:
        """Work until there is a record, a fraction of a second for most."""
        try:
            record = next(self._records)
        except Exception as error:
            record = process.failure(f"internal error (please report it): {error!r}")
        self._on_record(record)

    def stop(self) -> None:
        """Have the next part save what has been trained, and end."""
        self._stop.set()

    def end(self) -> None:
        """End the job at once; nothing is saved."""
        self._records.close()
        self._on_record(process.failure("") | {"stopped": True, "error": None})


class BrowserRuns(TrainingRuns):
    """The training and the generation of the workspace of a page."""

    def __init__(self, workspace: Path, emit: Callable[[dict[str, Any]], None]) -> None:
        super().__init__(workspace, emit, BrowserJob)
        self.actions["advance"] = self.advance

    def training(self, payload: Payload) -> Reply:
        """Return the same as in `headway serve`; how long a step takes in this browser is not known."""
        reply = super().training(payload)
        presets = [preset | {"milliseconds": None} for preset in reply["presets"]]
        return reply | {"presets": sorted(presets, key=lambda preset: bool(preset["name"] != FIRST_PRESET))}

    def advance(self, payload: Payload) -> Reply:
        """Do the next part of what runs, and say whether anything still does."""
        for job in filter(None, (self._training, self._generation)):
            job.advance()
        return {"busy": bool(self._training or self._generation)}
