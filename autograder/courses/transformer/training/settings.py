"""The settings of training runs, and the presets of `headway train`: settings that runs begin with."""

from dataclasses import dataclass
from typing import Annotated, NamedTuple

from msgspec import Meta

from autograder.courses.transformer.training import synthetic_corpus
from autograder.errors import UsageError

Model = dict[str, int | float | bool | str]


@dataclass
class TrainingSettings:
    """The settings of a run, or of a preset. A resumed run keeps those it was started with."""

    preset: str
    data: str  # the name of a dataset, or the path of a file as the user gave it
    model: Model  # of the configuration, without the vocabulary size; of a bigram model only `block_size`, which is 1
    batch_size: Annotated[int, Meta(ge=1, le=4096)]  # windows per step
    lr: Annotated[float, Meta(gt=0, le=1000)]
    schedule: Annotated[str, Meta(pattern=r"^(constant|cosine)\Z")]  # of the learning rate
    steps: Annotated[int, Meta(ge=1)]
    seed: Annotated[int, Meta(ge=0)] = 0
    prompt: str = "\n"  # the beginning of generated samples
    data_sha256: str = ""  # of the text; a preset has none
    # Of model. An encoder-decoder learns to copy windows of the text.
    kind: Annotated[str, Meta(pattern=r"^(gpt|bigram|llama|encoder-decoder)\Z")] = "gpt"
    shuffle_lines: bool = False  # of a file of the user's

    def entropy_floor(self) -> float | None:
        """Return the smallest possible expected loss if it is known: for the synthetic language only."""
        context = int(self.model["block_size"])
        return synthetic_corpus.entropy_per_character(context) if self.data == "synthetic" else None


# At this width, init_std=0.02 costs 0.1 nats after 1,000 steps (measured on the Shakespeare preset).
_SMALL: Model = {"n_layers": 4, "n_heads": 4, "init_std": 0.08, "d_model": 64, "block_size": 32}

# The best validation loss after 60 seconds on two quiet cores, of the sizes and rates tried (tests/bench/README.md).
_NAMES: Model = {**_SMALL, "n_layers": 2, "block_size": 16}

_PRESETS = (
    TrainingSettings("names", "names", _NAMES, 32, 0.004, "cosine", 5_000),
    # It has the size of a published run to compare with: nanoGPT's small CPU run.
    TrainingSettings("shakespeare", "tinyshakespeare", {**_SMALL, "tied": False}, 16, 1e-3, "constant", 5_000),
    TrainingSettings("bigram", "names", {"block_size": 1}, 500, 10.0, "constant", 4_000, kind="bigram"),
    TrainingSettings("synthetic", "synthetic", _SMALL, 16, 1e-3, "constant", 3_000),
    # The forms of well-known small models, one for each combination of options.
    TrainingSettings(
        "dropout", "tinyshakespeare", {**_SMALL, "tied": False, "dropout": 0.1}, 16, 1e-3, "constant", 5_000
    ),
    # Attention without biases; the feed-forward network and the head have them.
    TrainingSettings(
        "bias-free-attention", "names", {**_SMALL, "block_size": 16, "tied": False, "bias": "b_1,b_2,b_head"},
        32, 5e-4, "constant", 5_000,
    ),
    # The GPT of Karpathy's lecture "Let's build GPT": ReLU, and no biases for queries, keys and values.
    TrainingSettings(
        "lecture", "tinyshakespeare",
        {**_SMALL, "init_std": 0.02, "activation": "relu", "tied": False, "bias": "b_o,b_1,b_2,b_head"},
        16, 1e-3, "constant", 5_000,
    ),
    # The Annotated Transformer on its first task, to copy what it reads: pre-norm, with a norm after each stack.
    TrainingSettings(
        "annotated", "digits",
        {"n_layers": 2, "n_heads": 4, "d_model": 64, "block_size": 10, "norm": "pre", "head_bias": True},
        32, 1e-3, "constant", 1_000, prompt="3141592653", kind="encoder-decoder",
    ),
    # The decoder of the first transformer, without its source attention.
    TrainingSettings(
        "post-norm", "tinyshakespeare",
        {**_SMALL, "activation": "relu", "norm": "post", "positions": "sinusoidal"}, 16, 1e-3, "constant", 5_000,
    ),
    # It has 13,712 parameters, so that it learns in a browser, too, where NumPy is slow.
    TrainingSettings(
        "small", "names", {**_SMALL, "d_model": 16, "block_size": 8}, 32, 0.01, "cosine", 2_000,
    ),
    # A Llama beside the GPT of the preset names: same width, depth, head and context, and fewer parameters.
    TrainingSettings(
        "llama", "names", {**_NAMES, "n_kv_heads": 2, "tied": True}, 32, 0.004, "cosine", 5_000, kind="llama"
    ),
)  # fmt: skip
PRESETS = {settings.preset: settings for settings in _PRESETS}


class PresetDescription(NamedTuple):
    """A preset in words."""

    title: str
    text: str
    milliseconds: float  # of a training step: the official solution, one thread, the fastest of five measurements


PRESET_DESCRIPTIONS = {
    "names": PresetDescription("Names", "A small GPT that invents names.", 7.1),
    "bigram": PresetDescription(
        "Bigram model", "One table: how likely each letter is after any other. It needs only three assignments.",
        0.36,
    ),
    "llama": PresetDescription("Llama", "A Llama of the same width and depth as the GPT for names.", 11.0),
    "shakespeare": PresetDescription("Shakespeare", "A GPT that writes in the style of Shakespeare's plays.", 19.0),
    "synthetic": PresetDescription(
        "Artificial language", "A GPT that learns a language whose entropy, the smallest possible loss, is known.", 19.0
    ),
    "dropout": PresetDescription("Shakespeare with dropout", "The same GPT, trained with dropout of 10 %.", 34.0),
    "bias-free-attention": PresetDescription(
        "Attention without biases", "A wider GPT for names, whose attention layers have no biases.", 20.0
    ),
    "lecture": PresetDescription(
        "GPT of a lecture", "The GPT of Karpathy's lecture “Let's build GPT”: ReLU, and few biases.", 24.0
    ),
    "post-norm": PresetDescription(
        "First transformer's decoder", "The decoder of 2017: norms after each layer, and sinusoidal positions.", 29.0
    ),
    # Beside that of names, 0.26 of its time, on a machine that is slower than the one of the other figures.
    "small": PresetDescription("Names, small", "A GPT of 13,712 parameters that invents names.", 1.8),
    "annotated": PresetDescription(
        "Encoder–decoder", "The Annotated Transformer on its first task: it learns to copy ten digits.", 18.5
    ),
}  # fmt: skip


def find_preset(name: str) -> TrainingSettings:
    """Return the preset with this name."""
    if name not in PRESETS:
        raise UsageError(f"no such preset: {name!r}. Choose one: --preset {'|'.join(PRESETS)}")
    return PRESETS[name]
