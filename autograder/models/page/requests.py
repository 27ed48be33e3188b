"""What a page may send about training: the types say what is allowed, and a process gets two of them as its job."""

import typing
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta, Struct

from autograder.errors import UsageError
from autograder.models.training.checkpoint import MOST_STEPS

T = TypeVar("T")
Name = Annotated[str, Meta(max_length=200)]
Seed = Annotated[int, Meta(ge=0, le=(1 << 31) - 1)]


class Request(Struct, frozen=True, forbid_unknown_fields=True):
    """What an action takes; one without fields takes nothing."""


class RunRequest(Request, frozen=True):
    """A run to start, or to resume from the checkpoint `out`."""

    preset: Name = "names"
    data: Name = ""  # empty: the preset's
    steps: Annotated[int, Meta(ge=1, le=MOST_STEPS)] | None = None  # None: the preset's, or the rest of the run
    seed: Seed = 0
    out: Name = ""
    resume: bool = False
    solution: bool = False


class TextRequest(Request, frozen=True):
    """A text to generate with a trained or an imported model."""

    checkpoint: Name = ""
    prompt: Annotated[str, Meta(max_length=10_000)] = ""
    length: Annotated[int, Meta(ge=1, le=10_000)] = 400  # characters; of an imported model: tokens
    temperature: Annotated[float, Meta(ge=0, le=100)] = 1.0
    top_k: Annotated[int, Meta(ge=1, le=1_000_000)] | None = None
    top_p: Annotated[float, Meta(gt=0, le=1)] | None = None
    seed: Seed = 0
    solution: bool = False


class StopRequest(Request, frozen=True):
    """The run is to stop, or the `generation`; a run that is not saved is lost."""

    generation: bool = False
    save: bool = True


class PageJob(Struct, frozen=True):
    """What a process does, in a workspace: one of the two."""

    workspace: str
    request: RunRequest | None = None
    text: TextRequest | None = None
    check: bool = True  # functions that are not yet known to pass


def read(payload: Any, kind: type[T]) -> T:
    """Return what a page has sent; raise UsageError if it is not of that kind."""
    try:
        return msgspec.convert(payload, kind)
    except msgspec.ValidationError as error:
        name = str(error).partition(" - at `$.")[2].rstrip("`")
    if not name:
        raise UsageError("the page sent something unknown. Reload it")
    raise UsageError(f"{name} must be {_describe(typing.get_type_hints(kind, include_extras=True)[name])}")


def _describe(expected: Any) -> str:
    if type(None) in typing.get_args(expected):
        expected = typing.get_args(expected)[0]
    if expected is bool:
        return "true or false"
    type_, limits = typing.get_args(expected)
    if type_ is str:
        return f"a text of at most {limits.max_length:,} characters"
    least = f"above {limits.gt:,}" if limits.ge is None else f"from {limits.ge:,}"
    return f"a {'whole number' if type_ is int else 'number'} {least} to {limits.le:,}"
