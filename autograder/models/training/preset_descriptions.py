"""What each preset of `headway train` is, in a sentence, and how long it takes."""

from typing import NamedTuple


class PresetDescription(NamedTuple):
    """A preset in words."""

    title: str
    text: str
    milliseconds: float  # of a training step: the official solution, one thread, the fastest of five measurements


PRESET_DESCRIPTIONS = {
    "names": PresetDescription("Names", "A small GPT that invents names. Start with this one.", 7.1),
    "bigram": PresetDescription(
        "Bigram model", "One table: how likely each letter is after each other. It needs only three assignments.",
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
    "annotated": PresetDescription(
        "Encoder–decoder", "The Annotated Transformer on its first task: it learns to copy ten digits.", 18.5
    ),
}  # fmt: skip
