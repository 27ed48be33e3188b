"""Read a local folder of Hugging Face files, and say in one line what is missing or cannot be used.

    config.json         sizes and options of the model
    model.safetensors   its parameters; or model.safetensors.index.json, which names several such files
    vocab.json          token -> id
    merges.txt          the merges of byte-pair encoding, one a line

Nothing is downloaded, and files that can run code when they are read (pickles: pytorch_model.bin) are never opened.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.core import tensor_files
from autograder.core.tensor_files import StoredTensor
from autograder.core.text import clean
from autograder.errors import UsageError

WEIGHTS, INDEX = "model.safetensors", "model.safetensors.index.json"
SIZES = ("vocab_size", "n_positions", "n_embd", "n_layer", "n_head")  # in config.json
NEEDED = ("config.json", WEIGHTS, "vocab.json", "merges.txt")
LARGEST_TEXT = 8 << 20  # bytes of a JSON file, or of the merges; GPT-2's vocabulary has 1 MB
_OTHER_WEIGHTS = (".bin", ".pt", ".pth", ".ckpt", ".h5", ".msgpack", ".onnx", ".gguf")


@dataclass(frozen=True)
class HuggingFaceModel:
    """A model as its files describe it; the tensors stay in their files."""

    folder: Path
    config: dict[str, Any]
    tensors: dict[str, StoredTensor]
    tokens: list[str]  # the vocabulary, in the order of the ids
    merges: list[tuple[str, str]]


def read_folder(folder: Path) -> HuggingFaceModel:
    """Read the folder of a GPT-2 model; raise UsageError if it cannot be imported."""
    names = _file_names(folder)
    config: dict[str, Any] = {}
    if "config.json" in names:
        config = _json_object(folder / "config.json")
        _require_gpt2(folder, config)
    _require_files(folder, names)
    tokens = _read_vocabulary(folder / "vocab.json")
    if type(config.get("vocab_size")) is int and config["vocab_size"] != len(tokens):
        sizes = f"vocab.json has {len(tokens):,} tokens, and config.json says vocab_size {config['vocab_size']:,}"
        raise UsageError(f"{folder}: {sizes}. Both files must come from the same model")
    merges = _read_merges(folder / "merges.txt", set(tokens))
    tensors = _read_tensors(folder / WEIGHTS) if WEIGHTS in names else _read_shards(folder)
    return HuggingFaceModel(folder, config, tensors, tokens, merges)


def _file_names(folder: Path) -> set[str]:
    try:
        names = {path.name for path in folder.iterdir()}
    except FileNotFoundError:
        raise UsageError(f"no such folder: {folder}. Check the path") from None
    except NotADirectoryError:
        raise UsageError(f"{folder} is a file. Give the folder that contains {', '.join(NEEDED)}") from None
    except OSError as error:
        raise UsageError(f"cannot read the folder {folder} ({error.strerror}). Check its permissions") from None
    if not names:
        raise UsageError(f"the folder {folder} is empty. It must contain {_listed(NEEDED)}")
    return names


def _require_gpt2(folder: Path, config: dict[str, Any]) -> None:
    """Raise UsageError if the model is of another type, or a size cannot be one."""
    kind = config.get("model_type", "gpt2")
    if kind != "gpt2":
        raise UsageError(
            f"{folder / 'config.json'} describes a model of type {clean(kind, 40)!r}. "
            "Only GPT-2 models can be imported (model_type 'gpt2')"
        )
    for name in SIZES:
        if name in config and not (type(config[name]) is int and config[name] > 0):
            problem = f"{name} is {clean(repr(config[name]), 40)}, expected a positive integer"
            raise UsageError(f"{folder / 'config.json'}: {problem}. Download or copy it again")


def _require_files(folder: Path, names: set[str]) -> None:
    missing = [name for name in NEEDED if name not in names and not (name == WEIGHTS and INDEX in names)]
    others = sorted(name for name in names if name.endswith(_OTHER_WEIGHTS))
    if WEIGHTS in missing and others:
        raise UsageError(
            f"{folder} has the model's parameters only as {clean(others[0], 80)}, which Headway does not read, "
            f"because reading such a file can run code. Get {WEIGHTS}, or save the model again with save_pretrained"
        )
    if missing:
        files = "files" if len(missing) > 1 else "file"
        raise UsageError(f"{folder} has no {_listed(missing)}. Copy the missing {files} there")


def _listed(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]


def _read_text(path: Path) -> str:
    try:
        if not path.is_file():
            raise UsageError(f"{path} is not a plain file. Replace it with the model's file")
        if path.stat().st_size > LARGEST_TEXT:
            raise UsageError(f"{path} is larger than {LARGEST_TEXT >> 20} MB. Replace it with the model's file")
        return path.read_text("utf-8-sig")
    except OSError as error:
        raise UsageError(f"cannot read {path} ({error.strerror}). Check its permissions") from None
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not UTF-8 text. Download or copy it again") from None


def _json_object(path: Path) -> dict[str, Any]:
    text = _read_text(path)
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        problem = f"{path} is not valid JSON (line {error.lineno}, column {error.colno}: {error.msg})"
        raise UsageError(f"{problem}. Download or copy it again") from None
    except (ValueError, RecursionError) as error:  # numbers of thousands of digits, or lists nested as deeply
        raise UsageError(f"{path} is not usable JSON ({clean(error, 80)}). Download or copy it again") from None
    if not isinstance(value, dict):
        raise UsageError(f"{path} must hold a JSON object, not a {type(value).__name__}. Download or copy it again")
    return value


def _read_vocabulary(path: Path) -> list[str]:
    """Return the tokens in the order of their ids, which must be 0, 1, 2, …"""
    ids = _json_object(path)
    if not all(type(number) is int for number in ids.values()) or sorted(ids.values()) != [*range(len(ids))]:
        raise UsageError(f"{path} does not give its {len(ids):,} tokens the ids from 0 to {len(ids) - 1:,}, once each")
    return sorted(ids, key=ids.__getitem__)


def _read_merges(path: Path, tokens: set[str]) -> list[tuple[str, str]]:
    """Return the pairs, one a line; the hub's file begins with a line `#version`."""
    lines = [line.removesuffix("\r") for line in _read_text(path).split("\n")]
    first = 1 if lines[0].startswith("#version") else 0
    merges = []
    for number, line in enumerate(lines[first:], start=first + 1):
        if not line:
            continue
        left, _, right = line.partition(" ")
        if not left or not right or " " in right:
            raise UsageError(f"{path}, line {number}: {clean(line, 40)!r} is not two tokens with a space between them")
        if unknown := [token for token in (left, right, left + right) if token not in tokens]:
            token = clean(unknown[0], 40)
            problem = f"{path}, line {number}: the token {token!r} is not in vocab.json"
            raise UsageError(f"{problem}. Both files must come from the same model")
        merges.append((left, right))
    return merges


def _read_tensors(path: Path) -> dict[str, StoredTensor]:
    try:
        if not path.is_file():
            raise UsageError(f"{path} is not a plain file. Replace it with the model's file")
        return tensor_files.read_header(path.resolve()).tensors
    except tensor_files.DamagedFile as error:
        raise UsageError(f"{path} is damaged: {error}. Download or copy it again") from None
    except OSError as error:
        raise UsageError(f"cannot read {path} ({error.strerror}). Check its permissions") from None


def _read_shards(folder: Path) -> dict[str, StoredTensor]:
    """Return the tensors of all files that the index names; they must be in the folder itself."""
    index = folder / INDEX
    places = _json_object(index).get("weight_map")
    if not isinstance(places, dict) or not places or not all(isinstance(file, str) for file in places.values()):
        raise UsageError(f"{index} has no usable weight_map. Download or copy it again")
    tensors: dict[str, StoredTensor] = {}
    for file in sorted(set(places.values())):
        if not file.endswith(".safetensors") or {"/", "\\", "\0"} & set(file):
            problem = f"{index} names the file {clean(file, 80)!r}"
            raise UsageError(f"{problem}. It may only name .safetensors files beside it")
        if not (folder / file).exists():
            raise UsageError(f"{folder} has no {clean(file, 80)}, which {INDEX} names. Copy the missing file there")
        found = _read_tensors(folder / file)
        wanted = [name for name, place in places.items() if place == file]
        if absent := [name for name in wanted if name not in found]:
            problem = f"{folder / file} has no tensor {clean(absent[0], 80)!r}, which {INDEX} says it has"
            raise UsageError(f"{problem}. Download or copy the files again")
        tensors |= {name: found[name] for name in wanted}
    return tensors
