"""The lines of the data set, of a runner's input and of its output; `docs/benchmark.md` explains every field.

All of them may come from others, so they are decoded with msgspec, with limits of size.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import msgspec

from autograder.core.files import read_plain_file
from autograder.core.text import clean
from autograder.errors import UsageError

MAX_FILE = 512 << 20
MAX_LINE = 4 << 20
_ID = re.compile(r"[\w.:-]{1,200}", re.ASCII)


def _text(description: str) -> msgspec.Meta:
    return msgspec.Meta(description=description)


class Cause(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A mistake that an implementation contains."""

    id: Annotated[str, _text("module.function/name of the mistake in Headway")]
    title: Annotated[str, _text("what is wrong, in a phrase")]
    family: Annotated[str, _text("mistakes of the same family give the same answers, so no test can distinguish them")]


class Implementation(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One line of the data set: an implementation of one function."""

    id: Annotated[str, _text("stays the same in later versions; does not depend on the source")]
    function: Annotated[str, _text("module.function")]
    assignment: Annotated[str, _text("the module")]
    split: Annotated[str, _text("dev or test; all implementations of a function are in the same one")]
    signature: Annotated[str, _text("name and parameters of the official function")]
    docstring: Annotated[str, _text("the task: what the function must do")]
    source: Annotated[str, _text("the function and the helpers that it uses; it can be executed as a module")]
    requires: Annotated[list[str], _text("official modules that must be importable")]
    dependencies: Annotated[dict[str, str], _text("signatures of the official functions that the source imports")]
    correct: Annotated[bool, _text("whether the implementation does what the docstring says")]
    causes: Annotated[list[Cause], _text("what is wrong; empty if correct, or if no mistake in the list describes it")]
    style: Annotated[str, _text("edited or beginner if wrong; official, loops, einsum or one_liners if right")]
    licence: Annotated[str, _text("the licence of the line")]


class Candidate(msgspec.Struct, frozen=True):
    """A mistake that a runner can choose as its answer."""

    id: str
    title: str


class Question(msgspec.Struct, frozen=True):
    """One line of a runner's input: an implementation without its labels."""

    id: str
    function: str
    signature: str
    docstring: str
    source: str
    requires: list[str]
    dependencies: dict[str, str]
    candidates: list[Candidate]


class Answer(msgspec.Struct, frozen=True, omit_defaults=True):
    """One line of a runner's output."""

    id: Annotated[str, _text("the id of the question")]
    wrong: Annotated[bool | None, _text("whether the implementation is wrong; null only with an error")] = None
    mistake: Annotated[str | None, _text("the id or the title of a candidate, or null")] = None
    error: Annotated[str | None, _text("why the runner cannot answer; the answer then counts as missing")] = None


def read_dataset(path: Path) -> list[Implementation]:
    """Return the implementations in a file; raise UsageError for a file that is not a valid data set."""
    make_one = "Make one: headway export-benchmark --out FILE"
    try:
        if path.stat().st_size > MAX_FILE:
            raise UsageError(f"{path} is larger than {MAX_FILE >> 20} MiB, which no data set is. {make_one}")
        content = read_plain_file(path)
    except OSError as error:
        raise UsageError(f"cannot read {path} ({error.strerror}). {make_one}") from None
    items: dict[str, Implementation] = {}
    for number, item in _decoded_lines(content, path):
        if not _ID.fullmatch(item.id):
            raise UsageError(f"{path}, line {number}: {clean(repr(item.id), 80)} is not a valid id. {make_one}")
        if item.id in items:
            raise UsageError(f"{path}, line {number}: the id {item.id} occurs twice. {make_one}")
        if item.correct and item.causes:
            raise UsageError(f"{path}, line {number}: a correct implementation has causes. {make_one}")
        items[item.id] = item
    if not items:
        raise UsageError(f"{path} is empty. {make_one}")
    return list(items.values())


def _decoded_lines(content: bytes, path: Path) -> Iterator[tuple[int, Implementation]]:
    decoder = msgspec.json.Decoder(Implementation)
    for number, line in enumerate(content.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            if len(line) > MAX_LINE:
                raise ValueError(f"longer than {MAX_LINE >> 20} MiB")
            yield number, decoder.decode(line)
        except (ValueError, RecursionError) as error:  # msgspec's errors are ValueErrors.
            text = clean(str(error), 200)
            raise UsageError(f"{path}, line {number} is not an implementation: {text}. See docs/benchmark.md") from None


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of all lines, as shipped in `schema/benchmark-1.json`."""
    types = (Implementation, Question, Answer)
    _, definitions = msgspec.json.schema_components(types, ref_template="#/$defs/{name}")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "headway.benchmark/1",
        "title": "Headway benchmark",
        "description": "A line of the data set (Implementation), of a runner's input (Question) or output (Answer).",
        "$ref": "#/$defs/Implementation",
        "$defs": definitions,
    }
