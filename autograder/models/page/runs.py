"""Train a model of the student's for a page, and generate text with the models of the workspace.

Each run has a process of its own, which ends with the server. The page gets the progress as events:

    training-started    run, checkpoint, first, until, using, baselines, earlier, …
    training            run, step, steps, loss, validation, seconds, sample
    training-ended      run, step, checkpoint (null if nothing was saved), stopped, error, notes
    generation          text (the next piece)
    generation-ended    stopped, error, notes
"""

import threading
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from msgspec.structs import replace

from autograder.course import registry
from autograder.courses.transformer.training.settings import PRESET_DESCRIPTIONS, PRESETS
from autograder.documents.records import LossPoint, thinned
from autograder.errors import UsageError
from autograder.models.page import requests
from autograder.models.page.job import Record, TrainingJob
from autograder.models.page.requests import PageJob, Request, RunRequest, StopRequest, TextRequest
from autograder.models.training import checkpoint_list, datasets
from autograder.workspace import files, notebook_files

DEFAULT_NAME = "model"
MAX_POINTS = 1500  # of the loss curve

Payload = dict[str, Any]
Reply = dict[str, Any]
StartJob = Callable[..., Any]  # with the arguments and the methods of `TrainingJob`


@dataclass
class RunState:
    """A training run as the page shows it, also one that is opened later."""

    run: int  # its number
    checkpoint: str  # the name of its file
    preset: str
    state: Literal["starting", "running", "stopping", "ended"] = "starting"
    start: dict[str, Any] = field(default_factory=dict)  # what is known when the first step begins
    history: list[LossPoint] = field(default_factory=list)
    sample: str = ""
    sample_step: int = 0
    end: dict[str, Any] | None = None

    def document(self) -> dict[str, Any]:
        """Return everything as data."""
        return {**vars(self), "start": self.start or None, "history": [asdict(point) for point in self.history]}


class TrainingRuns:
    """The training and the generation of one workspace: at most one run and one text at a time.

    `emit` gets the events; it is called in the threads of the jobs. `start` starts a job, by default a process.
    """

    def __init__(self, workspace: Path, emit: Callable[[Record], None], start: StartJob = TrainingJob) -> None:
        self._folder, self._emit, self._start = workspace.resolve(), emit, start
        self._lock = threading.RLock()
        self._run: RunState | None = None
        self._training: Any = None
        self._generation: Any = None
        self._n_generations = 0
        self._closed = False
        # Each takes a payload of the page and returns a reply, or raises UsageError.
        actions = (self.train, self.training, self.stop, self.checkpoints, self.generate)
        self.actions: dict[str, Callable[[Payload], Reply]] = {action.__name__: action for action in actions}

    def close(self) -> None:
        """Stop the run, which saves its checkpoint, and the generation."""
        with self._lock:
            self._closed = True
            training, generation = self._training, self._generation
        if generation is not None:
            generation.end()
        if training is not None:
            training.close()

    def train(self, payload: Payload) -> Reply:
        """Start a run, or resume the one in an existing checkpoint; `conflict` in the reply says what exists."""
        wanted = requests.read(payload, RunRequest)
        if wanted.preset not in PRESETS:
            raise UsageError("there is no such preset. Choose one of the list")
        dataset = datasets.find_dataset(wanted.data or PRESETS[wanted.preset].data)
        self._refuse_links(wanted.solution)
        path = checkpoint_list.model_path(self._folder, wanted.out or DEFAULT_NAME)
        if wanted.resume:
            self._require_resumable(path, wanted.steps)
        elif not path.exists() and not datasets.is_available(dataset):
            advice = f"Choose another text, or download it in a terminal: headway data fetch {dataset.name}"
            raise UsageError(f"the text {dataset.name} is not on this machine. {advice}")
        job = PageJob(str(self._folder), request=replace(wanted, out=path.name))
        with self._lock:
            if self._training is not None:
                raise UsageError("a run is in progress. Stop it, or wait until it has ended")
            if not wanted.resume and path.exists():
                return {"conflict": self._conflict(path)}
            self._require_open()
            run = RunState(self._run.run + 1 if self._run else 1, path.name, wanted.preset)
            self._training = self._start(job, lambda record: self._receive(run, record))
            self._run = run
            return {"run": run.run, "checkpoint": path.name}

    def training(self, payload: Payload) -> Reply:
        """Return the latest run with its loss curve, and everything there is to choose from."""
        requests.read(payload, Request)
        with self._lock:
            reply = {"run": self._run and self._run.document(), "generating": self._generation is not None}
        return reply | {
            "presets": [
                {"name": name, **about._asdict(), "kind": PRESETS[name].kind, "data": PRESETS[name].data,
                 "steps": PRESETS[name].steps}
                for name, about in PRESET_DESCRIPTIONS.items()
            ],
            "datasets": [
                {"name": name, "description": dataset.description, "available": datasets.is_available(dataset)}
                for name, dataset in datasets.DATASETS.items()
            ],
        }  # fmt: skip

    def stop(self, payload: Payload) -> Reply:
        """Stop the run and save it (unless `save` is false), or stop the `generation`."""
        wanted = requests.read(payload, StopRequest)
        with self._lock:
            job = self._generation if wanted.generation else self._training
            if job is None:
                return {"stopping": False}
            if wanted.generation or not wanted.save:
                job.end()
            else:
                job.stop()
            if not wanted.generation and self._run is not None:
                self._run.state = "stopping"
        return {"stopping": True}

    def checkpoints(self, payload: Payload) -> Reply:
        """Return the models in the workspace, the latest first."""
        requests.read(payload, Request)
        return {"checkpoints": [asdict(model) for model in checkpoint_list.model_summaries(self._folder)]}

    def generate(self, payload: Payload) -> Reply:
        """Generate text with a model in the workspace; the pieces are events."""
        wanted = requests.read(payload, TextRequest)
        if not wanted.checkpoint:
            raise UsageError("checkpoint is missing. Fill it in")
        self._refuse_links(wanted.solution)
        path = checkpoint_list.model_path(self._folder, wanted.checkpoint)
        if not path.exists():
            raise UsageError(f"there is no {path.name} in the workspace. Train a model first")
        job = PageJob(str(self._folder), text=replace(wanted, checkpoint=path.name))
        with self._lock:
            if self._generation is not None:
                raise UsageError("a text is being generated. Stop it, or wait until it is complete")
            self._require_open()
            self._n_generations += 1
            number = self._n_generations
            self._generation = self._start(job, lambda record: self._receive_text(number, record))
            return {"generation": number}

    def _refuse_links(self, solution: bool) -> None:
        if not solution:
            files.refuse_links(self._folder, notebook_files.version_names(registry.default()))

    def _require_open(self) -> None:
        if self._closed:
            raise UsageError("the server is ending. Start it again: headway serve")

    def _require_resumable(self, path: Path, steps: int | None) -> None:
        """Raise UsageError unless the file is a run that can go on to this step."""
        if not path.exists():
            raise UsageError(f"there is no {path.name} in the workspace. Start a new run")
        saved = checkpoint_list.summary(path)
        if saved.step is None or saved.steps is None:
            raise UsageError(f"{path.name} is not a run that can be resumed: {saved.about}. Choose another name")
        if saved.step >= (steps or saved.steps):
            raise UsageError(f"{path.name} has {saved.step:,} steps already. Give a larger number of steps")

    def _conflict(self, path: Path) -> dict[str, Any]:
        """Return what the page needs to offer another name, or to resume the run in a file that exists."""
        saved = checkpoint_list.summary(path)
        return {
            "checkpoint": path.name,
            "message": f"{path.name} exists already ({saved.about}). It was not changed.",
            "resumable": saved.step is not None,
            "step": saved.step,
            "steps": saved.steps,
            "suggestion": checkpoint_list.unused_path(path).name,
        }

    def _receive(self, run: RunState, record: Record) -> None:
        kind = record.pop("record")
        with self._lock:
            if kind == "start":
                run.history = [LossPoint(**point) for point in record.pop("earlier")]
                run.start = record
                run.state = "running" if run.state == "starting" else run.state
                event = {"event": "training-started", **run.document()}
            elif kind == "update":
                point = LossPoint(record["step"], record["loss"], record["validation"], record["seconds"])
                run.history = thinned([*run.history, point], MAX_POINTS)
                if record["sample"] is not None:
                    run.sample, run.sample_step = record["sample"], record["step"]
                event = {"event": "training", "run": run.run, "steps": run.start["until"], **record}
            else:
                run.state, self._training = "ended", None
                saved = record.pop("saved", False)
                run.end = {"step": None, "checkpoint": run.checkpoint if saved else None, **record}
                event = {"event": "training-ended", "run": run.run, **run.end}
        self._publish(event)

    def _receive_text(self, number: int, record: Record) -> None:
        kind = record.pop("record")
        if kind == "end":
            with self._lock:
                self._generation = None
        event = {"start": "generation-started", "text": "generation", "end": "generation-ended"}[kind]
        self._publish({"event": event, **record, "generation": number})

    def _publish(self, event: dict[str, Any]) -> None:
        if not self._closed:  # When the server ends, the last events of a run reach no page.
            self._emit(event)
