"""Read a local folder of Hugging Face files, and say in one line what is missing or cannot be used.

    config.json         sizes and options of the model
    model.safetensors   its parameters; or model.safetensors.index.json, which names several such files

    vocab.json          GPT-2: token -> id
    merges.txt          GPT-2: the merges of byte-pair encoding, one a line
    tokenizer.json      Llama: vocabulary, merges, special tokens, and how a text is split

and, where they are there,

    tokenizer_config.json     the token that begins a text
    generation_config.json    the tokens that end one, and how to sample

Nothing is downloaded, and files that can run code when they are read (pickles:
pytorch_model.bin) are never opened.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import msgspec

from autograder.core import tensor_files
from autograder.core.files import report_read_error
from autograder.core.tensor_files import StoredTensor
from autograder.core.text import clean
from autograder.courses.transformer.common.pretrained.description import ModelTokenizer, SuggestedSampling
from autograder.courses.transformer.common.pretrained.text_files import json_object
from autograder.courses.transformer.common.pretrained.tokenizer_files import (
    end_of_text,
    read_gpt2_tokenizer,
    read_llama_tokenizer,
)
from autograder.errors import UsageError

WEIGHTS, INDEX = "model.safetensors", "model.safetensors.index.json"
_SIZES = {  # in config.json
    "gpt2": ("vocab_size", "n_positions", "n_embd", "n_layer", "n_head"),
    "llama": ("vocab_size", "max_position_embeddings", "hidden_size", "intermediate_size", "num_hidden_layers",
              "num_attention_heads", "num_key_value_heads"),
}  # fmt: skip
_NEEDED = {
    "gpt2": ("config.json", WEIGHTS, "vocab.json", "merges.txt"),
    "llama": ("config.json", WEIGHTS, "tokenizer.json"),
}
_OPTIONAL = ("tokenizer_config.json", "generation_config.json")
_OTHER_WEIGHTS = (".bin", ".pt", ".pth", ".ckpt", ".h5", ".msgpack", ".onnx", ".gguf")


@dataclass(frozen=True)
class HuggingFaceModel:
    """A model as its files describe it; the tensors stay in their files."""

    folder: Path
    kind: Literal["gpt2", "llama"]
    config: dict[str, Any]
    tensors: dict[str, StoredTensor]
    tokenizer: ModelTokenizer
    ends: list[int]  # the ids of the tokens that end a text
    sampling: SuggestedSampling | None


def read_folder(folder: Path) -> HuggingFaceModel:
    """Read the folder of a GPT-2 or a Llama; raise UsageError if it cannot be imported."""
    names = _file_names(folder)
    config = json_object(folder / "config.json") if "config.json" in names else {}
    kind = _kind(folder, config)
    _require_files(folder, names, _NEEDED[kind])
    settings, wanted = (json_object(folder / name) if name in names else {} for name in _OPTIONAL)
    is_llama = kind == "llama"
    tokenizer = read_llama_tokenizer(folder, settings) if is_llama else read_gpt2_tokenizer(folder)
    size, said = len(tokenizer.tokens), config.get("vocab_size")
    if type(said) is int and said != size:
        file = "tokenizer.json" if is_llama else "vocab.json"
        sizes = f"{file} has {size:,} tokens, and config.json says vocab_size {said:,}"
        padded = "A token table with more rows than there are tokens cannot be imported"
        same = "Both files must come from the same model"
        raise UsageError(f"{folder}: {sizes}. {padded if is_llama and said > size else same}")
    tensors = _read_tensors(folder / WEIGHTS) if WEIGHTS in names else _read_shards(folder)
    if is_llama and config.get("tie_word_embeddings"):
        tensors.pop("lm_head.weight", None)  # a copy of the token table
    found = [where.get("eos_token_id") for where in (wanted, config)] + [end_of_text(settings, tokenizer.tokens)]
    end = next((value for value in found if value is not None), None)
    ends = [
        number for number in (end if isinstance(end, list) else [end]) if type(number) is int and 0 <= number < size
    ]
    return HuggingFaceModel(folder, kind, config, tensors, tokenizer, ends, _sampling(folder / _OPTIONAL[1], wanted))


def _sampling(path: Path, settings: dict[str, Any]) -> SuggestedSampling | None:
    """Return how the model's authors suggest to sample, if they do."""
    if settings.get("do_sample") is not True:
        return None
    values = {name: settings.get(name) for name in ("temperature", "top_k", "top_p")}
    values = {name: value for name, value in values.items() if value is not None and (name, value) != ("top_k", 0)}
    try:
        return msgspec.convert(values, SuggestedSampling)
    except msgspec.ValidationError as error:
        raise UsageError(f"{path}: {clean(error, 200)}. Download or copy it again") from None


def _file_names(folder: Path) -> set[str]:
    try:
        names = {path.name for path in folder.iterdir()}
    except FileNotFoundError:
        raise UsageError(f"no such folder: {folder}. Check the path") from None
    except NotADirectoryError:
        raise UsageError(f"{folder} is a file. Give the folder that contains {', '.join(_NEEDED['gpt2'])}") from None
    except OSError as error:
        raise UsageError(f"cannot read the folder {folder} ({error.strerror}). Check its permissions") from None
    if not names:
        raise UsageError(f"the folder {folder} is empty. It must contain {_listed(_NEEDED['gpt2'])}")
    return names


def _kind(folder: Path, config: dict[str, Any]) -> Literal["gpt2", "llama"]:
    """Return the kind of the model; raise UsageError if it is of another one, or a size cannot be one."""
    kind = config.get("model_type", "gpt2")
    if kind not in [*_SIZES]:
        raise UsageError(
            f"{folder / 'config.json'} describes a model of type {clean(kind, 40)!r}. "
            "Only GPT-2 and Llama models can be imported (model_type 'gpt2' or 'llama')"
        )
    problems = [(name, "integer") for name in _SIZES[kind] if name in config and not _is_positive(config[name], int)]
    if kind == "llama":
        problems = [(name, what) for name, what in problems if config[name] is not None]
        numbers = ("rms_norm_eps", "rope_theta")
        problems += [(name, "number") for name in numbers if not _is_positive(config.get(name) or 1, int, float)]
    for name, what in problems:
        problem = f"{name} is {clean(repr(config[name]), 40)}, expected a positive {what}"
        raise UsageError(f"{folder / 'config.json'}: {problem}. Download or copy it again")
    return "llama" if kind == "llama" else "gpt2"


def _is_positive(value: Any, *kinds: type) -> bool:
    return type(value) in kinds and bool(0 < value < math.inf)


def _require_files(folder: Path, names: set[str], needed: Sequence[str]) -> None:
    missing = [name for name in needed if name not in names and not (name == WEIGHTS and INDEX in names)]
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


def _read_tensors(path: Path) -> dict[str, StoredTensor]:
    if not path.is_file():
        raise UsageError(f"{path} is not a plain file. Replace it with the model's file")
    try:
        with report_read_error(path):
            return tensor_files.read_header(path.resolve()).tensors
    except tensor_files.DamagedFile as error:
        raise UsageError(f"{path}: {error}. Give a complete file in BF16, F16 or F32") from None


def _read_shards(folder: Path) -> dict[str, StoredTensor]:
    """Return the tensors of all files that the index names; they must be in the folder itself."""
    index = folder / INDEX
    places = json_object(index).get("weight_map")
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
