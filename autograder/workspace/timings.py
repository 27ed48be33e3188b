"""Measure how long each stage from a save to its result takes."""

import json
import os
import time


class Timings:
    """Appends a line of JSON for each result to the file HEADWAY_TIMINGS, if set: when each stage was reached."""

    def __init__(self) -> None:
        self._file = os.environ.get("HEADWAY_TIMINGS")
        self._marks: dict[str, float] = {}

    def mark(self, stage: str) -> None:
        """Record that a stage is reached; only the first time counts until the result is drawn."""
        if self._file:
            self._marks.setdefault(stage, time.time())

    def drawn(self) -> None:
        """Record that the screen was drawn, and write the line if it showed a result."""
        if self._file and "answered" in self._marks:
            self.mark("drawn")
            with open(self._file, "a", encoding="utf-8") as file:
                file.write(json.dumps(self._marks) + "\n")
            self._marks = {}
