"""Train the student's model in a sandboxed process, and follow and save the run from this one."""

import math
import time
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from autograder.core.text import clean
from autograder.courses.transformer.training.settings import PRESETS, TrainingSettings
from autograder.documents.records import TrainingUpdate
from autograder.errors import UsageError
from autograder.models.model_process import ModelProcess
from autograder.models.training import datasets
from autograder.models.training.baselines import CountedPairs
from autograder.models.training.checkpoint import Checkpoint
from autograder.models.training.sampling import Sampling
from autograder.sandbox.workers import Workers

# The function that a run needs last, by the kind of model.
_FUNCTIONS = {
    "gpt": "training.train",
    "bigram": "bigram.train_bigram",
    "encoder-decoder": "encoder_decoder.transformer_backward",
    "llama": "llama.llama_backward",
}
CHUNK_SECONDS = 0.25  # the live report is updated about this often
LEAST_UPDATES = 100  # of a run, so that the curve of a fast one has enough points, too
SAMPLE, COMPARED_LINES = 160, 10  # characters of a sample, and lines of it that are shown beside counting
PIECE = 8  # characters of a text that is shown while it is generated


class Trainer:
    """A training run with the modules in a folder: new, or `resumed` with the settings that it was started with.

    If `only_text`, the run generates text and is not trained, so the text it was trained on is not needed.
    """

    def __init__(
        self,
        workers: Workers,
        folder: Path,
        settings: TrainingSettings,
        resumed: Checkpoint | None = None,
        *,
        only_text: bool = False,
    ) -> None:
        self._process = ModelProcess(workers, folder, "training")
        self.settings = settings
        self._function = _FUNCTIONS[settings.kind]
        text = "".join(resumed.chars) if only_text and resumed else datasets.text_of(settings)
        self.run = resumed or Checkpoint(settings, [], 0, {}, {})
        resumable = {name: getattr(self.run, name) or None for name in ("chars", "params", "state")}
        fixed = {name: getattr(settings, name) for name in ("model", "batch_size", "seed")}
        sizes = self._request(settings.kind, text=text, **resumable, **fixed)
        self.vocabulary, self.train_characters, self.val_characters, self.n_parameters = sizes

    def train(self, until: int, measure_every: int) -> Iterator[TrainingUpdate]:
        """Train to step `until`, measuring validation loss and a sample every `measure_every` steps and at the end."""
        tokens = self.settings.batch_size * int(self.settings.model["block_size"])
        chunk, begun = 1, time.perf_counter()
        earlier_seconds = self.run.seconds if self.run.step else 0.0
        while self.run.step < until:
            count = min(chunk, until - self.run.step, measure_every - self.run.step % measure_every)
            started = time.perf_counter()
            losses = self._request("steps", first=self.run.step, count=count, lr=self.settings.lr,
                               schedule=self.settings.schedule, total=self.settings.steps)  # fmt: skip
            seconds = time.perf_counter() - started
            chunk = max(1, min(1000, until // LEAST_UPDATES, round(count * CHUNK_SECONDS / seconds)))
            for number, loss in enumerate(losses, self.run.step + 1):
                self._require_finite(loss, f"the loss is {loss} at step {number}")
            self.run.step += count
            self.run.losses += losses
            loss = sum(self.run.losses[-100:]) / len(self.run.losses[-100:])
            update = TrainingUpdate(self.run.step, loss, count * tokens / seconds)
            if self.run.step % measure_every == 0 or self.run.step == until:
                validation = self._request("validation")
                self._require_finite(validation, f"the validation loss is {validation} after step {self.run.step}")
                self.run.validation.append((self.run.step, validation))
                update = replace(update, validation=validation, sample=self.sample(SAMPLE))
            if earlier_seconds is not None:  # Otherwise an earlier part of the run was not measured.
                self.run.seconds = earlier_seconds + time.perf_counter() - begun
            yield update

    def _require_finite(self, loss: float, problem: str) -> None:
        """Raise UsageError with the problem and what to try if training has diverged."""
        if math.isfinite(loss):
            return
        lr, preset, module = self.settings.lr, PRESETS.get(self.settings.preset), self._function.partition(".")[0]
        smaller = min(lr / 10, preset.lr) if preset else lr / 10  # None: the preset of another version
        advice = f"Start again with a smaller one: --lr {smaller:g}"
        raise UsageError(f"{problem}, with --lr {lr:g}. {advice}. If that does not help: headway check {module}")

    def sample(self, length: int, sampling: Sampling | None = None) -> str:
        """Return `length` characters generated after the preset's prompt (by default, the seed is the step)."""
        sampling = sampling or Sampling(seed=self.run.step)
        return "".join(self.pieces(self.settings.prompt, length, sampling, length))

    def pieces(self, prompt: str, length: int, sampling: Sampling, size: int = PIECE) -> Iterator[str]:
        """Yield the `length` characters generated after a prompt, at most `size` at a time."""
        if self.settings.kind == "encoder-decoder":
            size = length  # The answer to the prompt is one piece: the decoder starts anew in every call.
        self._request("start_text", prompt=prompt, **asdict(sampling))
        for start in range(0, length, size):
            count = min(size, length - start)
            yield clean(self._request("more_text", length=count), count)

    def comparison_with_counts(self) -> list[str]:
        """Return lines that compare the model with counting pairs: a bigram model by its losses, others by lines, too.

        A text whose lines are not separate examples, such as names, has no lines to compare.
        """
        if self.settings.kind != "bigram":
            comparable = self.settings.kind != "encoder-decoder" and datasets.has_lines(self.settings)
            if not comparable or not self.run.validation:  # or stopped before the first measurement
                return []
            counting = CountedPairs(datasets.text_of(self.settings))
            return [
                f"{label}, validation loss {loss:.4f}: {', '.join(sample.strip().splitlines()[:COMPARED_LINES])}"
                for label, loss, sample in (
                    ("counting pairs", counting.loss, counting.sample(SAMPLE, self.settings.seed)),
                    ("this model", self.run.validation[-1][1], self.sample(SAMPLE, Sampling(seed=self.settings.seed))),
                )
            ]
        learned, counted = self._request("losses_beside_counts")
        return [
            f"{label}: {training:.4f} on the training text, {validation:.4f} on the validation text"
            for label, (training, validation) in (("loss of your table", learned), ("loss of counting", counted))
        ]

    def checkpoint(self) -> Checkpoint:
        """Return the current state of the run."""
        self.run.params, self.run.state, self.run.chars = self._request("snapshot")
        return self.run

    def close(self) -> None:
        """End the student's process."""
        self._process.close()

    def _request(self, action: str, **request: Any) -> Any:
        return self._process.request(action, self._function, **request)
