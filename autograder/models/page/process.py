"""The process that trains a model, or generates text, for the page: what `headway train` and `generate` do.

It reads a job, one line of JSON, from its standard input, and writes records, one line of JSON each. A line "stop", or
the end of the input (the server has ended), stops the job: what has been trained is saved, as Ctrl-C saves it.
"""

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Generator
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Any

import msgspec

from autograder.core.text import clean
from autograder.documents.records import TrainingStart, TrainingUpdate
from autograder.errors import HeadwayError, UsageError
from autograder.models.page.requests import PageJob, RunRequest, TextRequest
from autograder.models.pretrained import model_file
from autograder.models.pretrained.generation import Speed, stream_text
from autograder.models.training import checkpoint, datasets, runs, select_modules
from autograder.models.training.baselines import baselines
from autograder.models.training.checkpoint import Checkpoint
from autograder.models.training.sampling import Sampling
from autograder.sandbox.process import start_workers
from autograder.sandbox.workers import StartWorkers

LONGEST_ERROR = 1000
Record = dict[str, Any]


def main() -> int:
    """Do the job on the standard input; return the exit code."""
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))  # so that temporary folders are removed
    # Only records may be written to the standard output, whatever the checks print.
    with open(os.dup(sys.stdout.fileno()), "w", encoding="utf-8") as records:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        job = msgspec.json.decode(sys.stdin.readline(), type=PageJob)
        stop = threading.Event()
        threading.Thread(target=_wait_for_stop, args=(stop,), daemon=True).start()
        try:
            for record in work(job, stop):
                records.write(json.dumps(record) + "\n")
                records.flush()
        except BrokenPipeError:
            return 1  # The server has ended, so the records are not read.
    return 0


def _wait_for_stop(stop: threading.Event) -> None:
    sys.stdin.readline()
    stop.set()


def work(job: PageJob, stop: threading.Event, start: StartWorkers = start_workers) -> Generator[Record]:
    """Do a job until it ends or `stop` is set; yield its records, of which the last is "end"."""
    try:
        if job.request is not None:
            yield from _train(stop, Path(job.workspace), job.request, job.check, start)
        elif job.text is not None:
            yield from _generate(stop, Path(job.workspace), job.text, job.check, start)
    except select_modules.NoPassingModules as error:
        yield failure(f"{error.reason}. Or choose the official solution for everything")
    except HeadwayError as error:
        yield failure(str(error))
    except MemoryError:
        yield failure("not enough memory for this model. Close other programs, or choose a smaller model")


def failure(message: str) -> Record:
    """Return the record of an end with an error."""
    return {"record": "end", "stopped": False, "error": clean(message, LONGEST_ERROR), "notes": []}


def _train(stop: threading.Event, folder: Path, job: RunRequest, check: bool, start: StartWorkers) -> Generator[Record]:
    """Start a run in a workspace, or resume one."""
    path = folder / job.out
    resumed = checkpoint.load(path) if job.resume else None
    if resumed:
        settings = resumed.settings
    else:
        settings = runs.new_settings(job.preset, data=job.data, steps=job.steps, seed=job.seed)
    if datasets.is_file(settings.data) and not Path(settings.data).resolve().is_relative_to(folder):
        command = f"headway train --resume --out {job.out}"  # A checkpoint names the file, perhaps somebody else's.
        raise UsageError(f"the text of this run is not in the workspace. Resume it in a terminal: {command}")
    lines = baselines(settings, datasets.text_of(settings))
    with select_modules.use_modules(folder, job.solution, settings.kind, check=check) as modules:
        if stop.is_set():
            yield {"record": "end", "stopped": True, "error": None, "notes": [], "step": 0}
            return
        run = (modules.folder, settings, path, resumed, job.steps or settings.steps, stop, modules.student, start)
        with closing(runs.records(*run)) as records:
            for record in records:
                if isinstance(record, TrainingStart):
                    started = time.monotonic()
                    yield {
                        "record": "start", **asdict(record), "using": modules.describe(),
                        "baselines": [{"label": label, "loss": loss} for label, loss in lines.items()],
                        "earlier": [asdict(point) for point in resumed.curve()] if resumed else [],
                    }  # fmt: skip
                elif isinstance(record, TrainingUpdate):
                    yield {"record": "update", **asdict(record), "seconds": time.monotonic() - started}
                else:
                    badges = select_modules.award_loss_badge(folder, modules, record.run)
                    yield {"record": "end", "stopped": record.stopped, "error": None,
                           "notes": [*record.comparison, *badges], "step": record.run.step, "saved": True}  # fmt: skip


def _generate(
    stop: threading.Event, folder: Path, job: TextRequest, check: bool, start: StartWorkers
) -> Generator[Record]:
    """Generate a text with a model in a workspace."""
    model = model_file.load(folder / job.checkpoint)
    prompt, length, notes = job.prompt, job.length, []
    sampling = Sampling(job.temperature, job.top_k, job.top_p, job.seed)
    with select_modules.use_modules(folder, job.solution, select_modules.kind_of(model), check=check) as modules:
        yield {"record": "start", "using": modules.describe()}
        if isinstance(model, Checkpoint):
            pieces = runs.generate(modules.folder, model, prompt or None, length, sampling, start)
            text = yield from _texts(stop, pieces)
            notes = select_modules.award_name_badge(folder, modules, model, text)
        else:
            speed = Speed()
            yield from _texts(stop, stream_text(modules.folder, model, prompt, length, sampling, speed))
            notes = [str(speed)] if speed.first_seconds else []
        yield {"record": "end", "stopped": stop.is_set(), "error": None, "notes": notes}


def _texts(stop: threading.Event, pieces: Generator[str]) -> Generator[Record, None, str]:
    text = ""
    with closing(pieces):
        for piece in pieces:
            yield {"record": "text", "text": piece}
            text += piece
            if stop.is_set():
                break
    return text


if __name__ == "__main__":
    sys.exit(main())
