"""What a plot shows: the functions that compute it, the text and the trained model."""

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from autograder.core.wire_format import Config, MappedArray, Rng
from autograder.courses.transformer import TRANSFORMER
from autograder.drawing.function_caller import FunctionCaller, FunctionNotWritten, Ids
from autograder.errors import UsageError
from autograder.models.pretrained.model_file import ImportedModel
from autograder.models.training.checkpoint import Checkpoint


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


# The first of these texts whose characters are all in the model's vocabulary is the default.
TEXTS = ("\nmichael", "\nmarina", "\nROMEO:\nWhat light is this?")


def text_to_show(inputs: PlotInputs, run: Checkpoint) -> str:
    """Return the text to run a trained model on: the user's, or a default that the model can encode."""
    size = int(run.settings.model["block_size"])
    if inputs.text is None:
        default = next((text for text in TEXTS if set(text) <= set(run.chars)), "".join(run.chars))
        return default[:size]
    run.require_known_characters(inputs.text)
    if not 2 <= len(inputs.text) <= size:
        problem = f"the text has {len(inputs.text)} characters; the model reads 2 to {size}"
        raise UsageError(f"{problem}. Give another: --text TEXT")
    return inputs.text


def encode_text(text: str, run: Checkpoint, functions: FunctionCaller) -> Ids:
    """Return the text as ids, (T,), int64, from the student's tokenizer with the vocabulary of the model."""
    stoi = {char: index for index, char in enumerate(run.chars)}
    return functions.array("tokenizer.encode", (len(text),), text, stoi).astype(np.int64)


def model_config(run: Checkpoint) -> Config:
    """Return the `GPTConfig` of the trained model, in the form in which it is sent to the student's process."""
    return Config("gpt", "GPTConfig", {"vocab_size": len(run.chars), **run.settings.model})
