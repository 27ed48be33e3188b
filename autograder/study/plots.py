"""Pictures of a training run."""

import io
from pathlib import Path

import numpy as np

from autograder.errors import UsageError
from autograder.files import write_atomically
from autograder.study.checkpoint import Checkpoint

# Okabe and Ito (2008): apart for colour-blind readers too.
BLUE, ORANGE, GREEN = "#0072b2", "#d55e00", "#009e73"


def loss_curve(run: Checkpoint, path: Path, floor: float | None = None) -> None:
    """Draw training and validation loss against the step, with the losses to compare with.

    Args:
        run: the history.
        path: a PNG or SVG file.
        floor: the entropy per character of the text, nats, where it is known.
    """
    try:
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.pyplot as plt
    except ImportError:
        raise UsageError("plots need one more package. Install it: pip install 'headway[train]'") from None
    figure, axes = plt.subplots(figsize=(8, 4.5), dpi=120, layout="constrained")
    losses = np.asarray(run.losses)
    steps = np.arange(1, len(losses) + 1)
    width = max(1, len(losses) // 100)
    axes.plot(steps, losses, color=BLUE, alpha=0.15, linewidth=0.7)
    if len(losses) >= 2 * width:
        smooth = np.convolve(losses, np.full(width, 1 / width), mode="valid")
        axes.plot(steps[width - 1 :], smooth, color=BLUE, label=f"training (mean of {width} steps)")
    if run.validation:
        at, values = zip(*run.validation, strict=True)
        axes.plot(at, values, "o-", color=ORANGE, markersize=4, label=f"validation (last {values[-1]:.3f})")
    knows_nothing = float(np.log(len(run.chars)))
    axes.axhline(knows_nothing, color="gray", linestyle=":", label=f"knows nothing: log {len(run.chars)}")
    if floor is not None:
        axes.axhline(floor, color=GREEN, linestyle="--", label=f"entropy of the language: {floor:.3f}")
    axes.set_xlabel("step")
    axes.set_ylabel("loss (nats per character)")
    axes.set_title(f"{run.settings.preset} on {run.settings.data}")
    axes.set_ylim(top=min(float(losses.max()), 1.5 * knows_nothing) * 1.03)
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    buffer = io.BytesIO()
    figure.savefig(buffer, format=path.suffix.lstrip(".") or "png")
    plt.close(figure)
    write_atomically(path, buffer.getvalue())
