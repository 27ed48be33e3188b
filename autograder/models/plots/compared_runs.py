"""The losses of several training runs in one plot: `headway plot loss A B`."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from autograder.core.text import clean
from autograder.course import Plot
from autograder.drawing import figure
from autograder.errors import UsageError
from autograder.models import plots
from autograder.models.training import checkpoint
from autograder.models.training.checkpoint import Checkpoint
from autograder.models.training.hyperparameters import changed_settings

MOST_RUNS = 6


def write_comparison(plot: Plot, paths: Sequence[Path], out: Path, *, force: bool = False) -> list[str]:
    """Draw the losses of the runs in these files and write the plot; return lines that compare the runs."""
    if plot.name != "loss":
        raise UsageError(f"{plot.name} shows one model. Name one, or compare losses: headway plot loss A B")
    if len(paths) > MOST_RUNS:
        raise UsageError(f"{len(paths)} runs are too many for one plot. Name at most {MOST_RUNS}")
    runs = [(path.name, checkpoint.load(path)) for path in paths]
    for name, run in runs:
        if not run.losses:
            raise UsageError(f"{name} has not been trained yet. Train it: headway train --resume --out {name}")
    plots.write(plot, lambda: compared_losses(runs), out, force=force)
    lines = [f"Wrote {out}."]
    for name, run in runs:
        validation = f", validation {run.validation[-1][1]:.4f}" if run.validation else ""
        about = clean(", ".join([f"preset {run.settings.preset}", *changed_settings(run.settings)]), 200)
        steps, training = f"{clean(name, 100)}: {run.step:,} steps", f"training {run.curve()[-1].loss:.4f}"
        lines.append(f"  {steps}, {training}{validation} ({about})")
    if len({run.settings.data_sha256 for _, run in runs}) > 1:
        lines.append("The text or its order differs between these runs, so their losses are not directly comparable.")
    return lines


def compared_losses(runs: Sequence[tuple[str, Checkpoint]]) -> "figure.Figure":
    """Draw training losses as lines, and validation losses as points of the same color."""
    fig, [[panel]] = figure.subplots("The loss during training", size=(9.5, 5))
    for (name, run), color in zip(runs, figure.COLORS, strict=False):
        points = run.curve()
        panel.plot([point.step for point in points], [point.loss for point in points], color=color, linewidth=1.2,
                   label=clean(name, 60).lstrip("_"))  # fmt: skip
        if run.validation:
            steps, losses = np.array(run.validation).T
            panel.plot(steps, losses, "o--", color=color, markersize=4, linewidth=0.8)
    panel.plot([], [], "o--", color="gray", markersize=4, linewidth=0.8, label="validation")
    figure.label_axes(panel, "step", "loss (nats per character)")
    legend = fig.legend(frameon=False, loc="outside lower center", ncols=3, fontsize=9)
    for text in legend.get_texts():  # names of files
        text.set_parse_math(False)
    return fig
