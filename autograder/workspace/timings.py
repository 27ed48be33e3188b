"""How long each stage from a save to its verdict takes."""

import json
import os
import time


class Timings:
    """When each stage from a save to its verdict was reached: a line of JSON each, for `tests/bench/bench_watch.py`.

    Nothing is written unless HEADWAY_TIMINGS names a file.
    """

    def __init__(self) -> None:
        self._file = os.environ.get("HEADWAY_TIMINGS")
        self._marks: dict[str, float] = {}

    def mark(self, stage: str) -> None:
        """Note that a stage is reached; the first time counts, until the verdict is drawn."""
        if self._file:
            self._marks.setdefault(stage, time.time())

    def drawn(self) -> None:
        """Note that the screen was drawn; write the line if that was a verdict."""
        if self._file and "answered" in self._marks:
            self.mark("drawn")
            with open(self._file, "a", encoding="utf-8") as file:
                file.write(json.dumps(self._marks) + "\n")
            self._marks = {}
