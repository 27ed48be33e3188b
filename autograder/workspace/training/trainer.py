"""Train the student's own GPT: in the student's process, watched and saved from this one."""

import hashlib
import math
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from autograder.core.text import clean
from autograder.courses.transformer import TRANSFORMER
from autograder.engine.student import StudentCode
from autograder.errors import Blocked, NotStarted, UsageError, Verdict
from autograder.report.training_progress import TrainingUpdate
from autograder.sandbox import Limits, Workers
from autograder.workspace.training import datasets
from autograder.workspace.training.checkpoint import Checkpoint, TrainingSettings

CALL_SECONDS = 600.0
CHUNK_SECONDS = 0.25  # how long the live report waits for news


class Trainer:
    """One run, new or resumed.

    Args:
        workers: where the student's process comes from.
        folder: the submission: its own tokenizer, gpt, training and generation are used.
        settings: of a new run; those of `resumed` otherwise.
        resumed: a checkpoint to go on from.

    Raises:
        UsageError: if a function of the student's that is needed is missing or fails.
    """

    def __init__(
        self, workers: Workers, folder: Path, settings: TrainingSettings, resumed: Checkpoint | None = None
    ) -> None:
        self._student = StudentCode(workers, folder, TRANSFORMER, Limits.for_training(CALL_SECONDS))
        self.settings = settings
        text = datasets.load(settings.data, settings.seed)
        if hashlib.sha256(text.encode()).hexdigest() != settings.data_sha256:
            raise UsageError(f"the dataset {settings.data} is not what this run was started with. Start a new one")
        self.run = resumed or Checkpoint(settings, [], 0, {}, {})
        started = self._ask(
            "start",
            text=text,
            chars=self.run.chars or None,
            model=settings.model,
            batch_size=settings.batch_size,
            seed=settings.seed,
            params=self.run.params or None,
            state=self.run.state or None,
        )
        self.vocabulary, self.train_characters, self.val_characters, self.n_parameters = started

    def train(self, until: int, every: int) -> Iterator[TrainingUpdate]:
        """Train to step `until`; measure the validation loss and draw a sample every `every` steps and at the end."""
        tokens = self.settings.batch_size * int(self.settings.model["block_size"])
        chunk = 1
        while self.run.step < until:
            count = min(chunk, until - self.run.step, every - self.run.step % every)
            started = time.perf_counter()
            losses = self._ask("steps", first=self.run.step, count=count, lr=self.settings.lr,
                               schedule=self.settings.schedule, total=self.settings.steps)  # fmt: skip
            took = time.perf_counter() - started
            chunk = max(1, min(1000, round(count * CHUNK_SECONDS / took)))
            self.run.step += count
            self.run.losses += losses
            loss = sum(self.run.losses[-100:]) / len(self.run.losses[-100:])
            if not math.isfinite(loss):
                raise UsageError(f"the loss is {loss} at step {self.run.step}: look at headway check training")
            measured = self.run.step % every == 0 or self.run.step == until
            yield self._news(loss, count * tokens / took, measured)

    def _news(self, loss: float, speed: float, measured: bool) -> TrainingUpdate:
        if not measured:
            return TrainingUpdate(self.run.step, loss, speed)
        validation = self._ask("validation")
        self.run.validation.append((self.run.step, validation))
        return TrainingUpdate(self.run.step, loss, speed, validation, self.sample(160))

    def sample(self, length: int, temperature: float = 1.0, prompt: str | None = None, seed: int | None = None) -> str:
        """Text that the model makes up after the prompt (default: the preset's; seeded by the step)."""
        prompt = self.settings.prompt if prompt is None else prompt
        seed = self.run.step if seed is None else seed
        text = self._ask("sample", prompt=prompt, length=length, seed=seed, temperature=temperature)
        return clean(text, len(prompt) + length)[len(prompt) :]

    def timed_steps(self, count: int) -> tuple[float, list[float]]:
        """Do `count` steps; the seconds that they took in the student's process, and the losses."""
        seconds, losses = self._ask("timed_steps", **self._next_steps(count))
        return seconds, losses

    def profile(self, count: int) -> dict[str, float]:
        """Do `count` steps; the share of their time that each of the student's functions took, the largest first."""
        _, seconds = self._ask("profile", **self._next_steps(count))
        total = sum(seconds.values()) or 1.0
        shares = {clean(name, 80): taken / total for name, taken in seconds.items()}
        return dict(sorted(shares.items(), key=lambda item: -item[1]))

    def _next_steps(self, count: int) -> dict[str, Any]:
        first, self.run.step = self.run.step, self.run.step + count
        return {"first": first, "count": count, "lr": self.settings.lr, "schedule": "constant", "total": 0}

    def tokens(self) -> Any:
        """The training text as ids."""
        return self._ask("tokens")

    def checkpoint(self) -> Checkpoint:
        """The state of the run now."""
        self.run.params, self.run.state, self.run.chars = self._ask("snapshot")
        return self.run

    def close(self) -> None:
        """End the student's process."""
        self._student.close()

    def _ask(self, act: str, **request: Any) -> Any:
        try:
            return self._student.training_request(act, **request)
        except (NotStarted, Blocked) as verdict:
            needed = verdict.blocked_by[0] if isinstance(verdict, Blocked) else "training.train"
            raise UsageError(
                f"training needs {needed}, which is not written yet. See headway check {needed}, "
                "or train the official solution: headway train --solution"
            ) from None
        except Verdict as verdict:
            raise UsageError(f"{verdict.message}. Look at it first: headway check") from None
