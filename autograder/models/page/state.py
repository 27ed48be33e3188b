"""What a page that is opened later needs to know of a training run: its settings and its loss curve so far."""

from dataclasses import dataclass, field
from typing import Any, Literal

MAX_POINTS = 1500  # of the loss curve; then every second one is left out

Point = dict[str, Any]  # step, loss, validation (or None), seconds (None in an earlier part of the run)


@dataclass
class RunState:
    """A training run as the page shows it."""

    run: int  # its number
    checkpoint: str  # the name of its file
    preset: str
    state: Literal["starting", "running", "stopping", "ended"] = "starting"
    start: dict[str, Any] = field(default_factory=dict)  # what is known when the first step begins
    history: list[Point] = field(default_factory=list)
    sample: str = ""
    sample_step: int = 0
    end: dict[str, Any] | None = None

    def add(self, point: Point) -> None:
        """Add a point to the loss curve."""
        self.history.append(point)
        if len(self.history) > MAX_POINTS:
            last = len(self.history) - 1
            self.history = [
                kept for i, kept in enumerate(self.history) if i % 2 == 0 or i == last or kept["validation"] is not None
            ]

    def document(self) -> dict[str, Any]:
        """Return everything as data."""
        return {**vars(self), "start": self.start or None, "history": list(self.history)}
