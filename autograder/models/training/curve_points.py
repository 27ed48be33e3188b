"""The loss curve of a checkpoint as points like those that a run reports."""

import math

import numpy as np

from autograder.models.training.checkpoint import Checkpoint

MOST_POINTS = 400
LOSSES = 100  # how many of the latest steps the training loss of a run averages


def curve_points(run: Checkpoint) -> list[tuple[int, float, float | None]]:
    """Return some points of the curve: step, mean training loss of the latest steps, validation loss if measured."""
    every = max(1, math.ceil(len(run.losses) / MOST_POINTS))
    validation = {step: loss for step, loss in run.validation if math.isfinite(loss)}
    steps = sorted({*range(every, len(run.losses) + 1, every), len(run.losses), *validation})
    means = {step: float(np.mean(run.losses[max(0, step - LOSSES) : step])) for step in steps if 0 < step <= run.step}
    return [(step, loss, validation.get(step)) for step, loss in means.items() if math.isfinite(loss)]
