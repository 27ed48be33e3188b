"""The settings of a training run."""

from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from autograder.models.training import synthetic_corpus


@dataclass
class TrainingSettings:
    """The settings of a run. A resumed run keeps those it was started with."""

    preset: str
    data: str  # the name of a dataset, or the path of a file as the user gave it
    model: dict[str, int | float | bool | str]
    batch_size: Annotated[int, Meta(ge=1, le=4096)]
    lr: Annotated[float, Meta(gt=0, le=1000)]
    schedule: Annotated[str, Meta(pattern=r"^(constant|cosine)\Z")]
    steps: Annotated[int, Meta(ge=1)]
    seed: Annotated[int, Meta(ge=0)]
    prompt: str
    data_sha256: str
    kind: Annotated[str, Meta(pattern=r"^(gpt|bigram|llama|encoder-decoder)\Z")] = "gpt"  # of model; see `presets.py`
    shuffle_lines: bool = False  # of a file of the user's

    def entropy_floor(self) -> float | None:
        """Return the smallest possible expected loss if it is known: for the synthetic language only."""
        context = int(self.model["block_size"])
        return synthetic_corpus.entropy_per_character(context) if self.data == "synthetic" else None
