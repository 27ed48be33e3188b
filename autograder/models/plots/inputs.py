"""What a plot shows: the functions that compute it, the text, and the model, trained here or imported."""

import importlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from autograder.core.text import clean
from autograder.core.wire_format import Config, MappedArray, Rng
from autograder.courses.transformer import TRANSFORMER
from autograder.drawing import figure
from autograder.drawing.function_caller import Array, FunctionCaller, FunctionNotWritten, Ids
from autograder.errors import UsageError
from autograder.models.pretrained.model_file import ImportedModel
from autograder.models.training import datasets
from autograder.models.training.checkpoint import Checkpoint

# The first of these texts whose characters are all in the vocabulary of a model trained here is shown by default.
TEXTS = ("\nmichael", "\nmarina", "\nROMEO:\nWhat light is this?")
TEXT = "The capital of France is Paris, and the capital of Italy is"  # shown of an imported model by default
LONGEST_LABEL = 12  # characters


def functions_in_namespace(namespace: Mapping[str, Any]) -> FunctionCaller:
    """Provide the functions defined in a notebook and, for all others, the modules in its folder."""

    def function(module: str, name: str) -> Any:
        candidate = namespace.get(name)
        origins = ("__main__", namespace.get("__name__"), module)
        if callable(candidate) and getattr(candidate, "__module__", None) in origins:
            return candidate
        if module not in TRANSFORMER.modules:
            raise ValueError(f"the course has no module {module!r}")
        return getattr(importlib.import_module(module), name)

    def build(value: Any) -> Any:
        if isinstance(value, Rng):
            return np.random.default_rng(value.seed)
        if isinstance(value, MappedArray):
            return value.open()
        if isinstance(value, dict):
            return {name: item.open() if isinstance(item, MappedArray) else item for name, item in value.items()}
        return function(value.module, value.name)(**value.fields) if isinstance(value, Config) else value

    def call(qualified: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        module, _, name = qualified.partition(".")
        try:
            return function(module, name)(*map(build, args), **{key: build(value) for key, value in kwargs.items()})
        except (NotImplementedError, ImportError, AttributeError) as error:
            if isinstance(error, AttributeError) and error.name != name:
                raise UsageError(f"{qualified} raised AttributeError: {error}") from None
            raise FunctionNotWritten(str(error) if str(error) in TRANSFORMER.functions else qualified) from None
        except Exception as error:
            raise UsageError(f"{qualified} raised {type(error).__name__}: {error}") from None

    return FunctionCaller(call)


@dataclass(frozen=True)
class PlotInputs:
    """What a plot is drawn from."""

    functions: FunctionCaller
    text: str | None = None  # the text to show; None: a default that suits the plot
    load_model: Callable[[], Checkpoint | ImportedModel] | None = None  # called by plots that show a trained model

    def model(self, *kinds: str) -> Checkpoint | ImportedModel:
        """Return the model to show: an imported GPT-2, or one trained here, of one of these kinds (default: a GPT)."""
        if self.load_model is None:
            raise UsageError("the plot shows a trained model. Train one: headway train")
        model = self.load_model()
        if isinstance(model, Checkpoint) and model.settings.kind not in (kinds or ("gpt",)):
            raise UsageError(f"the plot shows a GPT, and the checkpoint holds a {model.settings.kind} model")
        if isinstance(model, ImportedModel) and model.description.kind != "gpt2":
            raise UsageError(f"the plot shows a GPT, and the file holds an imported {model.description.kind} model")
        return model

    def checkpoint(self, *kinds: str) -> Checkpoint:
        """Return the same, unless it was imported: then raise UsageError."""
        model = self.model(*kinds)
        if isinstance(model, ImportedModel):
            raise UsageError("the plot shows a model that was trained here, not an imported one. Train: headway train")
        return model


class ShownModel(ABC):
    """A GPT, and how its texts become tokens."""

    unit = "token"  # what its tokens are called

    def __init__(self, model: Checkpoint | ImportedModel, about: str, inputs: PlotInputs) -> None:
        self.config = model.config  # as it is passed to the student's functions
        self.params: Any = model.params  # likewise, by name
        self.about = about  # what model this is, in a few words
        self._inputs, self._functions = inputs, inputs.functions

    @abstractmethod
    def read(self) -> tuple[Ids, list[str]]:
        """Return the tokens of the user's text, or of a default one: their ids, (T,), and how plots show them."""

    @abstractmethod
    def labels(self, ids: Sequence[int]) -> list[str]:
        """Return how plots show these tokens."""

    @property
    def is_pre_norm(self) -> bool:
        """Return whether the norms are before the layers, and one more before the head."""
        return bool(self.config.fields.get("norm", "pre") == "pre")

    def layernorm(self, name: str, x: Array) -> Array:
        """Return vectors (N, D) after one of the model's layer norms."""
        gamma, beta = (self.params.get(f"{name}.{part}") for part in ("gamma", "beta"))
        return self._functions.array("layernorm.layernorm", x.shape, x, gamma, beta)

    def scores(self, x: Array) -> Array:
        """Return the scores of all tokens for vectors of the residual stream, (N, D) -> (N, V)."""
        if self.is_pre_norm:
            x = self.layernorm("ln_f", x)
        size = (self.config.vocab_size, len(x))
        if (head := self.params.get("W_head")) is None:  # The head is the transposed token table.
            table = self.params["W_tok"]
            columns = np.ascontiguousarray(x.T, table.dtype)  # Another dtype would need a copy of the table.
            scores = self._functions.array("ffn.linear", size, table, columns, None).T
        else:
            scores = self._functions.array("ffn.linear", size[::-1], x, head, None)
        bias = self.params.get("b_head")
        return scores if bias is None else scores + bias


class TrainedModel(ShownModel):
    """A model from a checkpoint of `headway train`, whose tokens are characters."""

    unit = "character"

    def __init__(self, run: Checkpoint, inputs: PlotInputs) -> None:
        about = f"{run.settings.preset} on {datasets.shown_name(run.settings.data)}, {run.step:,} steps"
        super().__init__(run, about, inputs)
        self._run = run

    def read(self) -> tuple[Ids, list[str]]:
        """Return the tokens of the user's text, or of a default one that the model can encode."""
        run, text, size = self._run, self._inputs.text, self.config.block_size
        if text is None:
            text = next((text for text in TEXTS if set(text) <= set(run.chars)), "".join(run.chars))[:size]
        else:
            run.require_known_characters(text)
            if not 2 <= len(text) <= size:
                problem = f"the text has {len(text)} characters; the model reads 2 to {size}"
                raise UsageError(f"{problem}. Give another: --text TEXT")
        return encode_text(text, run, self._functions), [figure.visible_character(c) for c in text]

    def labels(self, ids: Sequence[int]) -> list[str]:
        """Return how plots show these tokens."""
        return [figure.visible_character(self._run.chars[i]) for i in ids]


class ImportedGPT(ShownModel):
    """A model from `headway import-model`, whose tokens are sequences of bytes."""

    def __init__(self, model: ImportedModel, inputs: PlotInputs) -> None:
        about = f"imported from {clean(model.description.source, 80)}"
        super().__init__(model, about, inputs)
        self._model = model

    def read(self) -> tuple[Ids, list[str]]:
        """Return the tokens of the user's text, or of a default one."""
        text = TEXT if self._inputs.text is None else self._inputs.text
        ids = self._functions.call("bpe.bpe_encode", text, self._model.vocab, self._model.description.tokenizer.merges)
        size = self.config.vocab_size
        is_right = isinstance(ids, np.ndarray) and ids.ndim == 1 and ids.dtype.kind == "i"
        if not is_right or (ids.size and not 0 <= ids.min() <= ids.max() < size):
            raise UsageError("bpe.bpe_encode did not return token ids. To see more: headway check bpe.bpe_encode")
        if not 2 <= len(ids) <= self.config.block_size:
            problem = f"the text has {len(ids):,} tokens; the model reads 2 to {self.config.block_size:,}"
            raise UsageError(f"{problem}. Give another: --text TEXT")
        return ids.astype(np.int64), self.labels(ids.tolist())

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


def encode_text(text: str, run: Checkpoint, functions: FunctionCaller) -> Ids:
    """Return the text as ids, (T,), int64, from the student's tokenizer with the vocabulary of the model."""
    stoi = {char: index for index, char in enumerate(run.chars)}
    return functions.array("tokenizer.encode", (len(text),), text, stoi).astype(np.int64)
