"""Shapes and settings for `headway train`."""

from dataclasses import dataclass

from autograder.errors import UsageError


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
    model: dict[str, int | bool]
    batch_size: int
    lr: float
    steps: int
    prompt: str = "\n"


PRESETS = {
    # The sizes of the published runs that they are compared with: microgpt's names, and nanoGPT's small CPU run.
    "names": Preset("names", {"d_model": 16, "n_heads": 4, "n_layers": 4, "block_size": 8}, 4, 0.01, 5_000),
    "shakespeare": Preset(
        "tinyshakespeare",
        {"d_model": 64, "n_heads": 4, "n_layers": 4, "block_size": 32, "tied": False},
        16,
        1e-3,
        5_000,
    ),
    "synthetic": Preset("synthetic", {"d_model": 64, "n_heads": 4, "n_layers": 4, "block_size": 32}, 16, 1e-3, 3_000),
}


def find(name: str) -> Preset:
    """The preset of that name.

    Raises:
        UsageError: if there is none.
    """
    if name not in PRESETS:
        raise UsageError(f"there is no preset {name!r}. Choose one: --preset {'|'.join(PRESETS)}")
    return PRESETS[name]
