"""Presets of `headway train`: model sizes and training settings."""

from dataclasses import dataclass

from autograder.errors import UsageError

Model = dict[str, int | float | bool]


@dataclass(frozen=True)
class Preset:
    """A model size, a dataset and training settings."""

    data: str
    model: Model  # fields of `GPTConfig`, without the vocabulary size
    batch_size: int  # B, windows per step
    lr: float
    steps: int
    prompt: str = "\n"  # the beginning of generated samples


# At these widths, init_std=0.02 costs 0.1 nats after 1,000 steps (measured on the Shakespeare preset).
_COMMON: Model = {"n_layers": 4, "n_heads": 4, "init_std": 0.08}

PRESETS = {
    # The first two have the sizes of published runs to compare with: microgpt's names and nanoGPT's small CPU run.
    "names": Preset("names", {**_COMMON, "d_model": 16, "block_size": 8}, 4, 0.01, 5_000),
    "shakespeare": Preset(
        "tinyshakespeare", {**_COMMON, "d_model": 64, "block_size": 32, "tied": False}, 16, 1e-3, 5_000
    ),
    "synthetic": Preset("synthetic", {**_COMMON, "d_model": 64, "block_size": 32}, 16, 1e-3, 3_000),
}


def find_preset(name: str) -> Preset:
    """Return the preset with this name."""
    if name not in PRESETS:
        raise UsageError(f"no such preset: {name!r}. Choose one: --preset {'|'.join(PRESETS)}")
    return PRESETS[name]
