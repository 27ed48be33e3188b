"""What a page sees of training runs: their events, and the actions by name."""

from autograder.models.page.runs import TrainingRuns
from support.waiting import wait_until

TINY = {"preset": "bigram", "steps": 40, "solution": True}
LONG = {**TINY, "steps": 10_000_000}


class Page:
    """A page without a browser."""

    def __init__(self, folder):
        self.events = []
        self.runs = TrainingRuns(folder, self.events.append)

    def __call__(self, action, **payload):
        return self.runs.actions[action](payload)

    def of_kind(self, name):
        return [event for event in self.events if event["event"] == name]

    def wait(self, name, count=1):
        wait_until(lambda: len(self.of_kind(name)) >= count, what=lambda: f"no {name}: {self.events}")
        return self.of_kind(name)[count - 1]

    def train(self, **payload):
        """Train to the end and return the event of it."""
        count = len(self.of_kind("training-ended"))
        assert "conflict" not in self("train", **payload)
        return self.wait("training-ended", count + 1)
