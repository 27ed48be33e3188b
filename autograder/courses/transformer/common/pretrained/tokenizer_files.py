"""Read how a model turns texts into ids: vocab.json and merges.txt of a GPT-2, tokenizer.json of a Llama.

Three ways of splitting a text are known. What a file says is compared with them: nothing of a file is compiled or run,
and templates of chats, which are programs, are not even looked at. Anything that would give other ids is refused.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from autograder.core.text import clean
from autograder.courses.transformer.common.pretrained.description import LLAMA3_PATTERN, ModelTokenizer, Splitting
from autograder.courses.transformer.common.pretrained.text_files import json_object, read_text
from autograder.errors import UsageError

_BYTES = {"type": "ByteLevel", "add_prefix_space": False}
_PRE_TOKENIZERS: dict[Splitting, list[dict[str, Any]]] = {
    "gpt2": [_BYTES | {"use_regex": True}],
    "digits": [{"type": "Digits", "individual_digits": True}, _BYTES | {"use_regex": True}],
    "llama3": [
        {"type": "Split", "pattern": {"Regex": LLAMA3_PATTERN}, "behavior": "Isolated", "invert": False},
        _BYTES | {"use_regex": False},
    ],
}


class _AddedToken(msgspec.Struct):
    """A token that is split off before anything else."""

    id: int
    content: Annotated[str, msgspec.Meta(pattern="^[!-~]+$")]  # Each of these characters is the symbol of its byte.
    single_word: bool = False
    lstrip: bool = False
    rstrip: bool = False
    normalized: bool = False


class _BpeModel(msgspec.Struct):
    """Vocabulary and merges."""

    vocab: dict[str, int]
    merges: list[str | tuple[str, str]]
    type: Literal["BPE"] = "BPE"
    dropout: None = None
    continuing_subword_prefix: Literal["", None] = None
    end_of_word_suffix: Literal["", None] = None
    byte_fallback: bool = False
    ignore_merges: bool = False


class _TokenDecoder(msgspec.Struct):
    """How tokens become a text."""

    type: Literal["ByteLevel"]


class _Name(msgspec.Struct):
    id: str


class _TemplatePart(msgspec.Struct):
    SpecialToken: _Name | None = None  # or the text


class _PostProcessor(msgspec.Struct):
    type: Literal["ByteLevel", "TemplateProcessing", "Sequence"] = "ByteLevel"
    single: list[_TemplatePart] = []
    processors: "list[_PostProcessor]" = []


class _TokenizerFile(msgspec.Struct):
    """What is read of a tokenizer.json: other values of these settings give other ids."""

    model: _BpeModel
    decoder: _TokenDecoder
    pre_tokenizer: dict[str, Any]
    post_processor: _PostProcessor | None = None
    normalizer: None = None
    added_tokens: Annotated[list[_AddedToken], msgspec.Meta(max_length=10_000)] = []


def read_gpt2_tokenizer(folder: Path) -> ModelTokenizer:
    """Read vocab.json and merges.txt, whose first line may be `#version`."""
    path = folder / "merges.txt"
    tokens = _in_order(folder / "vocab.json", json_object(folder / "vocab.json"))
    lines = [line.removesuffix("\r") for line in read_text(path).split("\n")]
    first = 1 if lines[0].startswith("#version") else 0
    places = {f"line {number}": line for number, line in enumerate(lines[first:], start=first + 1) if line}
    return ModelTokenizer(tokens, _merges(path, places.items(), tokens, "in vocab.json"))


def read_llama_tokenizer(folder: Path, settings: dict[str, Any]) -> ModelTokenizer:
    """Read tokenizer.json; `settings` is the content of tokenizer_config.json."""
    path = folder / "tokenizer.json"
    try:
        file = msgspec.convert(json_object(path), _TokenizerFile)
    except msgspec.ValidationError as error:
        raise UsageError(f"{path} is damaged, or asks for what Headway does not have: {clean(error, 200)}") from None
    vocab = file.model.vocab
    for token in file.added_tokens:
        if vocab.setdefault(token.content, token.id) != token.id:
            raise UsageError(f"{path} gives the token {clean(token.content, 60)!r} two ids. Download it again")
    begin, front = _token_text(settings.get("bos_token")), settings.get("add_bos_token")
    template = _template(path, file.post_processor or _PostProcessor())
    if template is not None and front is not False:
        begin, front = template, True
    unsupported = {
        "byte_fallback of the model": file.model.byte_fallback,
        "add_eos_token in tokenizer_config.json": settings.get("add_eos_token"),
        "single_word, lstrip or rstrip of an added token": any(
            token.single_word or token.lstrip or token.rstrip for token in file.added_tokens
        ),
        "normalized for only some of the added tokens": len({token.normalized for token in file.added_tokens}) > 1,
    }
    for name, used in unsupported.items():
        if used:
            raise _unsupported(path, name)
    if (begin is not None or front) and begin not in vocab:
        shown = clean(begin or "bos_token", 60)
        raise UsageError(
            f"{folder}: the token that begins a text, {shown!r}, is not in tokenizer.json. Copy both again"
        )
    tokens = _in_order(path, vocab)
    merges = ((f"merge {number}", merge) for number, merge in enumerate(file.model.merges, start=1))
    return ModelTokenizer(
        tokens,
        _merges(path, merges, tokens, "in its vocabulary"),
        special=list(dict.fromkeys(token.content for token in file.added_tokens)),
        splitting=_splitting(path, file.pre_tokenizer),
        ignore_merges=file.model.ignore_merges,
        begin=None if begin is None else vocab[begin],
        begin_in_front=bool(front),
    )


def end_of_text(settings: dict[str, Any], tokens: list[str]) -> int | None:
    """Return the id of the token that tokenizer_config.json calls eos_token."""
    end = _token_text(settings.get("eos_token"))
    return tokens.index(end) if end in tokens else None


def _unsupported(path: Path, setting: str) -> UsageError:
    return UsageError(f"{path} asks for what Headway does not have: {setting}. It would read texts differently")


def _token_text(value: Any) -> str | None:
    text = value.get("content") if isinstance(value, dict) else value
    return text if isinstance(text, str) else None


def _splitting(path: Path, part: dict[str, Any]) -> Splitting:
    """Return which of the known ways of splitting a text the file describes."""
    found = part.get("pretokenizers") if part.get("type") == "Sequence" else [part]
    steps = [dict(step) if isinstance(step, dict) else {} for step in found] if isinstance(found, list) else []
    for step in steps:
        step.pop("trim_offsets", None)
        if step.get("type") == "ByteLevel":
            step.setdefault("use_regex", True)
    for name, known in _PRE_TOKENIZERS.items():
        if steps == known:
            return name
    shown = ", ".join(clean(step.get("type", "?"), 40) for step in steps[:5])
    raise _unsupported(path, f"the pre_tokenizer ({shown}), which is none of those of GPT-2, SmolLM2 and Llama 3")


def _template(path: Path, part: _PostProcessor) -> str | None:
    """Return the token that the post-processor puts in front of a text, or None; ByteLevel changes no ids."""
    steps = part.processors if part.type == "Sequence" else [part]
    pieces = [piece for step in steps if step.type == "TemplateProcessing" for piece in step.single]
    tokens = [piece.SpecialToken.id if piece.SpecialToken else None for piece in pieces]
    if [token is None for token in tokens] not in ([], [True], [False, True]):
        raise _unsupported(path, "a post_processor that does more than put a token in front of a text")
    return tokens[0] if tokens else None


def _in_order(path: Path, ids: dict[str, Any]) -> list[str]:
    """Return the tokens in the order of their ids, which must be 0, 1, 2, …"""
    try:
        "".join(ids).encode()
    except UnicodeEncodeError:
        raise UsageError(f"{path} has a token that is not text. Download or copy it again") from None
    if not all(type(number) is int for number in ids.values()) or sorted(ids.values()) != [*range(len(ids))]:
        raise UsageError(f"{path} does not give its {len(ids):,} tokens the ids from 0 to {len(ids) - 1:,}, once each")
    return sorted(ids, key=ids.__getitem__)


def _merges(path: Path, places: Iterable[tuple[str, Any]], tokens: list[str], where: str) -> list[tuple[str, str]]:
    """Return the pairs, which are lists of two tokens or texts with a space between them."""
    known, merges = set(tokens), []
    for place, merge in places:
        pair = merge.split(" ") if isinstance(merge, str) else merge
        if len(pair) != 2 or not all(pair):
            shown = clean(" ".join(pair), 40)
            raise UsageError(f"{path}, {place}: {shown!r} is not two tokens with a space between them")
        left, right = pair
        if unknown := [token for token in (left, right, left + right) if token not in known]:
            problem = f"{path}, {place}: the token {clean(unknown[0], 40)!r} is not {where}"
            raise UsageError(f"{problem}. Both must come from the same model")
        merges.append((left, right))
    return merges
