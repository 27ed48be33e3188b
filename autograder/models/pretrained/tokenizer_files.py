"""Read how a model turns texts into ids: vocab.json and merges.txt of a GPT-2, tokenizer.json of a Llama.

Three ways of splitting a text are known. What a file says is compared with them: nothing of a file is compiled or run,
and templates of chats, which are programs, are not even looked at. Anything that would give other ids is refused.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NoReturn

from autograder.core.text import clean
from autograder.errors import UsageError
from autograder.models.pretrained.model_file import LLAMA3_PATTERN, ModelTokenizer, Splitting
from autograder.models.pretrained.text_files import json_object, read_text

_BYTES = {"type": "ByteLevel", "add_prefix_space": False}
_PRE_TOKENIZERS: dict[Splitting, list[dict[str, Any]]] = {
    "gpt2": [_BYTES | {"use_regex": True}],
    "digits": [{"type": "Digits", "individual_digits": True}, _BYTES | {"use_regex": True}],
    "llama3": [
        {"type": "Split", "pattern": {"Regex": LLAMA3_PATTERN}, "behavior": "Isolated", "invert": False},
        _BYTES | {"use_regex": False},
    ],
}
# The settings of a BPE model that change ids, with the values that change nothing.
_MODEL = {"type": ("BPE", None), "dropout": (None, 0), "continuing_subword_prefix": (None, ""),
          "end_of_word_suffix": (None, ""), "byte_fallback": (None, False)}  # fmt: skip
MOST_ADDED = 10_000


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
    content = json_object(path)
    model, vocab = _part(path, content, "model"), _part(path, content.get("model"), "vocab")
    for name, harmless in _MODEL.items():
        if model.get(name) not in harmless:
            _refuse(path, f"the setting {name} = {clean(repr(model[name]), 40)} of its model")
    if content.get("normalizer") is not None:
        _refuse(path, f"its normalizer ({_types(content['normalizer'])})")
    if _types(content.get("decoder")) != "ByteLevel":
        _refuse(path, f"its decoder ({_types(content.get('decoder'))})")
    special = _added_tokens(path, content.get("added_tokens") or [], vocab)
    tokens = _in_order(path, vocab)
    places = model.get("merges")
    if not isinstance(places, list):
        raise UsageError(f"{path} has no list of merges. Download or copy it again")
    named = ((f"merge {number}", merge) for number, merge in enumerate(places, start=1))
    begin = _token_text(settings.get("bos_token"))
    front = settings.get("add_bos_token")
    if (template := _template(path, content.get("post_processor"))) is not None and front is not False:
        begin, front = template, True
    if begin not in vocab and (begin is not None or front):
        problem = f"the token at the beginning of a text, {clean(begin or 'bos_token', 40)!r}, is not in tokenizer.json"
        raise UsageError(f"{folder}: {problem}. Both files must come from the same model")
    if settings.get("add_eos_token"):
        _refuse(folder / "tokenizer_config.json", "the setting add_eos_token")
    return ModelTokenizer(
        tokens,
        _merges(path, named, tokens, "in its vocabulary"),
        special=special,
        splitting=_splitting(path, content.get("pre_tokenizer")),
        ignore_merges=model.get("ignore_merges") is True,
        begin=vocab[begin] if begin is not None else None,
        begin_in_front=bool(front),
    )


def end_of_text(settings: dict[str, Any], tokens: list[str]) -> int | None:
    """Return the id of the token that tokenizer_config.json calls eos_token."""
    end = _token_text(settings.get("eos_token"))
    return tokens.index(end) if end in tokens else None


def _refuse(path: Path, what: str) -> NoReturn:
    raise UsageError(f"{path}: {what} is not supported, because Headway would read texts in another way")


def _part(path: Path, content: Any, name: str) -> dict[str, Any]:
    part = content.get(name) if isinstance(content, dict) else None
    if not isinstance(part, dict):
        raise UsageError(f"{path} has no usable {name}. Download or copy it again")
    return part


def _types(part: Any) -> str:
    """Return the types of a part of a tokenizer, in order."""
    return ", ".join(clean(step.get("type", "?"), 40) for step in _steps(part)[:8]) or "none"


def _steps(part: Any) -> list[dict[str, Any]]:
    """Return the steps of a part that may be a sequence of several."""
    if not isinstance(part, dict):
        return []
    lists = [part[name] for name in ("pretokenizers", "processors", "normalizers", "decoders") if name in part]
    steps = lists[0] if part.get("type") == "Sequence" and lists else [part]
    return [step if isinstance(step, dict) else {} for step in steps] if isinstance(steps, list) else []


def _splitting(path: Path, part: Any) -> Splitting:
    """Return which of the known ways of splitting a text the file describes."""
    steps = [{name: value for name, value in step.items() if name != "trim_offsets"} for step in _steps(part)]
    steps = [{"use_regex": True, **step} if step.get("type") == "ByteLevel" else step for step in steps]
    for name, known in _PRE_TOKENIZERS.items():
        if steps == known:
            return name
    _refuse(path, f"its pre_tokenizer ({_types(part)}), which is none of those of GPT-2, SmolLM2 and Llama 3,")


def _template(path: Path, part: Any) -> str | None:
    """Return the token that the post-processor puts in front of a text, or None."""
    begin = None
    for step in _steps(part):
        if step.get("type") == "ByteLevel":
            continue  # It changes offsets, not ids.
        pieces = step.get("single") if step.get("type") == "TemplateProcessing" else None
        kinds = [next(iter(piece)) if isinstance(piece, dict) and piece else "" for piece in pieces or []]
        if kinds == ["SpecialToken", "Sequence"] and begin is None and isinstance(pieces, list):
            begin = _token_text({"content": _part(path, pieces[0], "SpecialToken").get("id")})
        if begin is None and kinds != ["Sequence"]:
            _refuse(path, f"its post_processor ({_types(part)}), which does more than put a token in front,")
    return begin


def _token_text(value: Any) -> str | None:
    text = value.get("content") if isinstance(value, dict) else value
    return text if isinstance(text, str) else None


def _added_tokens(path: Path, entries: Any, vocab: dict[str, Any]) -> list[str]:
    """Return the tokens that are split off before anything else, and add them to the vocabulary."""
    if not isinstance(entries, list) or len(entries) > MOST_ADDED or not all(isinstance(e, dict) for e in entries):
        raise UsageError(f"{path} has no usable added_tokens. Download or copy it again")
    for entry in entries:
        text = entry.get("content")
        shown = clean(repr(text), 60)
        if not isinstance(text, str) or not (text.isascii() and text.isprintable() and text and " " not in text):
            _refuse(path, f"the added token {shown}, which is not made of visible ASCII characters,")
        if used := [name for name in ("single_word", "lstrip", "rstrip") if entry.get(name)]:
            _refuse(path, f"the setting {used[0]} of the added token {shown}")
        if vocab.setdefault(text, entry.get("id")) != entry.get("id"):
            raise UsageError(f"{path} gives the added token {shown} two ids. Download or copy it again")
    if len({entry.get("normalized", not entry.get("special")) for entry in entries}) > 1:
        _refuse(path, "a list of added tokens of which only some are normalized")
    return list(dict.fromkeys(entry["content"] for entry in entries))


def _in_order(path: Path, ids: dict[str, Any]) -> list[str]:
    """Return the tokens in the order of their ids, which must be 0, 1, 2, …"""
    if not all(type(number) is int for number in ids.values()) or sorted(ids.values()) != [*range(len(ids))]:
        raise UsageError(f"{path} does not give its {len(ids):,} tokens the ids from 0 to {len(ids) - 1:,}, once each")
    try:
        "".join(ids).encode()
    except UnicodeEncodeError:
        raise UsageError(f"{path} has a token that is not text. Download or copy it again") from None
    return sorted(ids, key=ids.__getitem__)


def _merges(path: Path, places: Iterable[tuple[str, Any]], tokens: list[str], where: str) -> list[tuple[str, str]]:
    """Return the pairs, which are lists of two tokens or texts with a space between them."""
    known, merges = set(tokens), []
    for place, merge in places:
        pair = merge.split(" ") if isinstance(merge, str) else merge
        if not isinstance(pair, list) or len(pair) != 2 or not all(isinstance(token, str) and token for token in pair):
            shown = clean(merge if isinstance(merge, str) else repr(merge), 40)
            raise UsageError(f"{path}, {place}: {shown!r} is not two tokens with a space between them")
        left, right = pair
        if unknown := [token for token in (left, right, left + right) if token not in known]:
            problem = f"{path}, {place}: the token {clean(unknown[0], 40)!r} is not {where}"
            raise UsageError(f"{problem}. Both must come from the same model")
        merges.append((left, right))
    return merges
