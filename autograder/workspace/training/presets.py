"""Shapes and settings for `headway train`."""

from dataclasses import dataclass

from autograder.errors import UsageError

Model = dict[str, int | float | bool]


@dataclass(frozen=True)
class Preset:
    """What is trained, on what, and how.

    Attributes:
        data: the default dataset.
        model: fields of `GPTConfig`, without the vocabulary's size.
        batch_size: B, windows per step.
        lr: the learning rate.
        steps: the default number of steps.
        prompt: what a sample of text begins with.
    """

    data: str
    model: Model
    batch_size: int
    lr: float
    steps: int
    prompt: str = "\n"


# init_std: at these widths 0.02 costs 0.1 nats after 1,000 steps (measured on the Shakespeare preset).
_DEPTH: Model = {"n_layers": 4, "n_heads": 4, "init_std": 0.08}

PRESETS = {
    # The sizes of the published runs that they are compared with: microgpt's names, and nanoGPT's small CPU run.
    "names": Preset("names", {**_DEPTH, "d_model": 16, "block_size": 8}, 4, 0.01, 5_000),
    "shakespeare": Preset(
        "tinyshakespeare", {**_DEPTH, "d_model": 64, "block_size": 32, "tied": False}, 16, 1e-3, 5_000
    ),
    "synthetic": Preset("synthetic", {**_DEPTH, "d_model": 64, "block_size": 32}, 16, 1e-3, 3_000),
}


def find(name: str) -> Preset:
    """The preset of that name.

    Raises:
        UsageError: if there is none.
    """
    if name not in PRESETS:
        raise UsageError(f"there is no preset {name!r}. Choose one: --preset {'|'.join(PRESETS)}")
    return PRESETS[name]
