"""What a picture shows: whose functions draw it, over which text, with which trained model."""

import importlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from autograder.core.wire_format import Config, Rng
from autograder.courses.transformer import TRANSFORMER
from autograder.errors import Blocked, NotStarted, UsageError, Verdict
from autograder.workspace.plots import NotWritten
from autograder.workspace.training.checkpoint import Checkpoint

CALL_SECONDS = 60.0
LARGEST = 1e100  # what matplotlib can still scale, and whose square is a number
Array = npt.NDArray[np.float64]
Ids = npt.NDArray[np.int64]
Shape = tuple[int, ...]
Call = Callable[[str, tuple[Any, ...], dict[str, Any]], Any]


class Work:
    """Functions of the contract, called by name, and a look at what they give back before it is drawn.

    Args:
        call: calls one function: qualified name, arguments, keyword arguments.
    """

    def __init__(self, call: Call) -> None:
        self._call = call

    def call(self, qualified: str, *args: Any, **kwargs: Any) -> Any:
        """What the function returns, as it is.

        Raises:
            UsageError: if it is not written yet, or fails.
        """
        try:
            return self._call(qualified, args, kwargs)
        except (NotStarted, Blocked) as verdict:
            raise NotWritten(verdict.blocked_by[0] if isinstance(verdict, Blocked) else qualified) from None
        except Verdict as verdict:
            raise UsageError(f"{verdict.message}. Look at it first: headway check {qualified}") from None

    def array(self, qualified: str, shape: Shape | None, *args: Any, **kwargs: Any) -> Array:
        """The array that the function returns, float64; `shape` is what is needed to draw it (None: any)."""
        return drawable(self.call(qualified, *args, **kwargs), shape, qualified)

    def arrays(self, qualified: str, count: int, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """The tuple of `count` values that the function returns; the arrays in it are for `drawable`."""
        value = self.call(qualified, *args, **kwargs)
        if not isinstance(value, tuple) or len(value) != count:
            raise UsageError(f"{qualified} does not return {count} values. Look at it first: headway check {qualified}")
        return value


def drawable(value: Any, shape: Shape | None, qualified: str) -> Array:
    """`value` as a float64 array.

    Raises:
        UsageError: if it is no array of numbers, has another shape, or holds infinity or nan.
    """
    look = f"Look at it first: headway check {qualified}"
    if isinstance(value, (bool, int, float, np.number)):
        value = np.asarray(value)
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "biuf":
        raise UsageError(f"{qualified} gives {type(value).__name__}, and no array of numbers. {look}")
    if shape is not None and value.shape != shape:
        raise UsageError(f"{qualified} gives an array of shape {value.shape} instead of {shape}. {look}")
    if not np.isfinite(value).all():
        raise UsageError(f"{qualified} gives values that are infinite or nan, which cannot be drawn. {look}")
    if value.size and np.abs(value.astype(np.float64)).max() > LARGEST:
        raise UsageError(f"{qualified} gives values beyond {LARGEST:g}, which cannot be drawn. {look}")
    return value.astype(np.float64)


@contextmanager
def work_of_folder(folder: Path) -> Iterator[Work]:
    """The functions of a submission, in a process of their own."""
    from autograder.engine.student import StudentCode
    from autograder.sandbox import Limits, Workers

    with Workers() as workers:
        student = StudentCode(workers, folder, TRANSFORMER, Limits.for_training(CALL_SECONDS))
        try:
            yield Work(student.call)
        finally:
            student.close()


def work_of_namespace(namespace: Mapping[str, Any]) -> Work:
    """The functions of a notebook: those defined in it, and for all others the modules beside it."""

    def function(module: str, name: str) -> Any:
        found = namespace.get(name)
        if callable(found) and getattr(found, "__module__", None) in ("__main__", namespace.get("__name__"), module):
            return found
        return getattr(importlib.import_module(module), name)

    def made(value: Any) -> Any:
        if isinstance(value, Rng):
            return np.random.default_rng(value.seed)
        if isinstance(value, Config):
            return function(value.module, value.name)(**value.fields)
        return value

    def call(qualified: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        module, _, name = qualified.partition(".")
        try:
            asked = function(module, name)
            return asked(*map(made, args), **{key: made(value) for key, value in kwargs.items()})
        except (NotImplementedError, ImportError, AttributeError) as error:
            if isinstance(error, AttributeError) and error.name != name:
                raise UsageError(f"{qualified} raised AttributeError: {error}") from None
            raise NotWritten(str(error) if str(error) in TRANSFORMER.functions else qualified) from None
        except Exception as error:
            raise UsageError(f"{qualified} raised {type(error).__name__}: {error}") from None

    return Work(call)


@dataclass(frozen=True)
class Subject:
    """What is shown.

    Attributes:
        work: the functions.
        text: what the user wants to see it for; None: something that fits.
        checkpoint: reads the trained model; called by pictures that need one.
    """

    work: Work
    text: str | None = None
    checkpoint: Callable[[], Checkpoint] | None = None

    def run(self) -> Checkpoint:
        """The trained model.

        Raises:
            UsageError: if there is none.
        """
        if self.checkpoint is None:
            raise UsageError("the picture shows a trained model. Train one: headway train")
        return self.checkpoint()


# Tried in this order on the vocabulary of a model: the first that it knows is shown.
TEXTS = ("\nmichael", "\nmarina", "\nROMEO:\nWhat light is this?")


def text_for(subject: Subject, run: Checkpoint) -> str:
    """The text to show a trained model with: the user's, or one that the model knows.

    Raises:
        UsageError: if the model does not know a character of the user's text, or the text is too long or too short.
    """
    size = int(run.settings.model["block_size"])
    if subject.text is None:
        known = [text for text in TEXTS if set(text) <= set(run.chars)]
        return (known[0] if known else "".join(run.chars))[:size]
    unknown = sorted(set(subject.text) - set(run.chars))
    if unknown:
        raise UsageError(f"the model does not know {unknown[0]!r}. It knows: {''.join(run.chars)!r}")
    if not 2 <= len(subject.text) <= size:
        raise UsageError(
            f"the model reads at most {size} characters, and the text has {len(subject.text)}. "
            f"Give it 2 to {size}: --text"
        )
    return subject.text


def ids_of(text: str, run: Checkpoint, work: Work) -> Ids:
    """The text as ids, (T,), int64, with the tokenizer of the subject and the vocabulary of the model."""
    stoi = {char: index for index, char in enumerate(run.chars)}
    ids = work.array("tokenizer.encode", (len(text),), text, stoi)
    return ids.astype(np.int64)


def config_of(run: Checkpoint) -> Config:
    """The configuration of the trained model, to be handed to its functions."""
    return Config("gpt", "GPTConfig", {"vocab_size": len(run.chars), **run.settings.model})
