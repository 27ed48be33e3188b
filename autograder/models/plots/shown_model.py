"""The model that a plot shows, trained here or imported: what is passed to the functions that compute with it."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from autograder.core.text import clean
from autograder.core.wire_format import Config
from autograder.drawing import figure
from autograder.drawing.function_caller import Array, Ids
from autograder.errors import UsageError
from autograder.models.plots.inputs import PlotInputs, encode_text, model_config, text_to_show
from autograder.models.pretrained.model_file import ImportedModel
from autograder.models.training import datasets
from autograder.models.training.checkpoint import Checkpoint

TEXT = "The capital of France is Paris, and the capital of Italy is"  # shown of an imported model by default
LONGEST_LABEL = 12  # characters


@dataclass(frozen=True)
class ShownText:
    """A text as a model reads it."""

    ids: Ids  # (T,)
    labels: list[str]  # of the tokens, as plots show them


class ShownModel(ABC):
    """A GPT, and how its texts become tokens."""

    unit = "token"  # what its tokens are called

    def __init__(self, config: Config, params: Any, about: str, inputs: PlotInputs) -> None:
        self.config = config  # as it is passed to the student's functions
        self.params = params  # likewise
        self.about = about  # what model this is, in a few words
        self._inputs, self._functions = inputs, inputs.functions

    @abstractmethod
    def read(self) -> ShownText:
        """Return the user's text, or a default one, as tokens."""

    @abstractmethod
    def labels(self, ids: Sequence[int]) -> list[str]:
        """Return how plots show these tokens."""

    def parameter(self, name: str) -> Any:
        """Return one parameter as it is passed to the student's functions, or None if the model has none such."""
        return self.params.get(name)

    @property
    def is_pre_norm(self) -> bool:
        """Return whether the norms are before the layers, and one more before the head."""
        return bool(self.config.fields.get("norm", "pre") == "pre")

    def layernorm(self, name: str, x: Array) -> Array:
        """Return vectors (N, D) after one of the model's layer norms."""
        gamma, beta = (self.parameter(f"{name}.{part}") for part in ("gamma", "beta"))
        return self._functions.array("layernorm.layernorm", x.shape, x, gamma, beta)

    def scores(self, x: Array) -> Array:
        """Return the scores of all tokens for vectors of the residual stream, (N, D) -> (N, V)."""
        if self.is_pre_norm:
            x = self.layernorm("ln_f", x)
        size = (self.config.vocab_size, len(x))
        if (head := self.parameter("W_head")) is None:  # The head is the transposed token table.
            table = self.parameter("W_tok")
            columns = np.ascontiguousarray(x.T, table.dtype)  # Another dtype would need a copy of the table.
            scores = self._functions.array("ffn.linear", size, table, columns, None).T
        else:
            scores = self._functions.array("ffn.linear", size[::-1], x, head, None)
        bias = self.parameter("b_head")
        return scores if bias is None else scores + bias


class TrainedModel(ShownModel):
    """A model from a checkpoint of `headway train`, whose tokens are characters."""

    unit = "character"

    def __init__(self, run: Checkpoint, inputs: PlotInputs) -> None:
        about = f"{run.settings.preset} on {datasets.shown_name(run.settings.data)}, {run.step:,} steps"
        super().__init__(model_config(run), run.params, about, inputs)
        self._run = run

    def read(self) -> ShownText:
        """Return the user's text, or a default one, as tokens."""
        text = text_to_show(self._inputs, self._run)
        return ShownText(encode_text(text, self._run, self._functions), [figure.visible_character(c) for c in text])

    def labels(self, ids: Sequence[int]) -> list[str]:
        """Return how plots show these tokens."""
        return [figure.visible_character(self._run.chars[i]) for i in ids]


class ImportedGPT(ShownModel):
    """A model from `headway import-model`, whose tokens are sequences of bytes."""

    def __init__(self, model: ImportedModel, inputs: PlotInputs) -> None:
        about = f"imported from {clean(model.description.source, 80)}"
        super().__init__(model.config, model.params, about, inputs)
        self._model = model

    def read(self) -> ShownText:
        """Return the user's text, or a default one, as tokens."""
        text = TEXT if self._inputs.text is None else self._inputs.text
        ids = self._functions.call("bpe.bpe_encode", text, self._model.vocab, self._model.description.tokenizer.merges)
        size = self.config.vocab_size
        is_right = isinstance(ids, np.ndarray) and ids.ndim == 1 and ids.dtype.kind == "i"
        if not is_right or (ids.size and not 0 <= ids.min() <= ids.max() < size):
            raise UsageError("bpe.bpe_encode did not return token ids. To see more: headway check bpe.bpe_encode")
        if not 2 <= len(ids) <= self.config.block_size:
            problem = f"the text has {len(ids):,} tokens; the model reads 2 to {self.config.block_size:,}"
            raise UsageError(f"{problem}. Give another: --text TEXT")
        return ShownText(ids.astype(np.int64), self.labels(ids.tolist()))

    def labels(self, ids: Sequence[int]) -> list[str]:
        """Return how plots show these tokens: as text, with U+FFFD for bytes that are no whole character."""
        tokens = [self._model.description.tokenizer.tokens[i] for i in ids]
        texts = [bytes(self._bytes.get(c, 63) for c in token).decode("utf-8", "replace") for token in tokens]
        texts = [text if len(text) <= LONGEST_LABEL else f"{text[: LONGEST_LABEL - 1]}…" for text in texts]
        return ["".join(map(figure.visible_character, text)) for text in texts]

    @cached_property
    def _bytes(self) -> dict[str, int]:
        """Return the byte of each symbol of a token, by the student's table."""
        table = self._functions.call("bpe.byte_symbols")
        if not isinstance(table, dict) or sorted(table) != [*range(256)] or len({*table.values()}) != 256:
            raise UsageError("bpe.byte_symbols did not return 256 symbols. To see more: headway check bpe.byte_symbols")
        return {symbol: byte for byte, symbol in table.items()}


def shown_model(inputs: PlotInputs) -> ShownModel:
    """Return the model that a plot shows."""
    model = inputs.model()
    return ImportedGPT(model, inputs) if isinstance(model, ImportedModel) else TrainedModel(model, inputs)
