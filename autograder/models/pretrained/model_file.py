"""The file of an imported model: parameters in the course's names, with configuration, vocabulary and merges.

It is a safetensors file; everything but the parameters is JSON in its metadata. Only that is read here. The parameters
are mapped from the file by the process that computes with them.

The token table is stored transposed, (D, V), where it is the head as well. For every new token the whole of it is
multiplied by one vector, and that is faster if the numbers of one feature lie side by side (tests/bench/bench_gpt2.py).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

from autograder.core import tensor_files
from autograder.core.tensor_files import DTYPES, StoredTensor, TensorFile
from autograder.core.text import clean
from autograder.core.wire_format import Config, MappedArray
from autograder.courses.transformer.common.pretrained.description import CONFIGS, FORMAT, ModelDescription
from autograder.errors import UsageError
from autograder.models.training import checkpoint
from autograder.models.training.checkpoint import Checkpoint


@dataclass(frozen=True)
class ImportedModel:
    """An imported model, whose parameters are in its file."""

    path: Path
    description: ModelDescription
    tensors: dict[str, StoredTensor]

    @property
    def config(self) -> Config:
        """Return its configuration, in the form in which it is sent to the student's process."""
        return Config(*CONFIGS[self.description.kind], self.description.config)

    @property
    def params(self) -> dict[str, MappedArray]:
        """Return its parameters, in the form in which they are sent to the student's process: as places in the file."""
        return {name: mapped(tensor, self.description.is_transposed(name)) for name, tensor in self.tensors.items()}

    @property
    def vocab(self) -> dict[str, int]:
        """Return the id of each token."""
        return {token: number for number, token in enumerate(self.description.tokenizer.tokens)}


def mapped(tensor: StoredTensor, transposed: bool = False) -> MappedArray:
    """Return a tensor in the form in which it is sent to the student's process: as a place in the file."""
    return MappedArray(str(tensor.path), DTYPES[tensor.dtype], tensor.shape, tensor.offset, transposed)


def save(
    path: Path,
    description: ModelDescription,
    parameters: Mapping[str, tuple[str, tuple[int, ...]]],
    data: Iterable[bytes],
) -> None:
    """Write the file of an imported model atomically.

    `parameters` has the dtype and the shape of each. `data` are their bytes as they are stored, in this order, in
    pieces of any size.
    """
    header = msgspec.json.encode(description).decode()
    stored = {name: (dtype, description.stored_shape(name, shape)) for name, (dtype, shape) in parameters.items()}
    tensor_files.write_tensors(path, stored, {"headway": header}, data)


def load(path: Path) -> Checkpoint | ImportedModel:
    """Read a model: a checkpoint of `headway train`, or the file of an imported model, without its parameters."""
    try:
        file = tensor_files.read_header(path.resolve())
    except (OSError, tensor_files.DamagedFile):
        return checkpoint.load(path)  # which says what is wrong
    if "headway" not in file.metadata:
        raise UsageError(
            f"{path} is no model of Headway. To import a model from a folder of Hugging Face files: "
            "headway import-model FOLDER"
        )
    try:
        if checkpoint.file_format(file) != FORMAT:
            return checkpoint.load(path)
        return ImportedModel(path, read_description(file), file.tensors)
    except (msgspec.MsgspecError, ValueError, KeyError, RecursionError) as error:
        problem = f"{path} is damaged: {clean(error, 300)}"
        raise UsageError(f"{problem}. Import the model again: headway import-model") from None


def read_description(file: TensorFile) -> ModelDescription:
    """Return the description of an imported model; raise ValueError or DecodeError unless it fits the parameters."""
    description = msgspec.json.decode(file.metadata["headway"], type=ModelDescription)
    shapes = {name: description.stored_shape(name, tensor.shape) for name, tensor in file.tensors.items()}
    description.require_consistent(shapes)
    if wrong := {tensor.dtype for tensor in file.tensors.values()} - {"F32", "F64"}:
        raise ValueError(f"a parameter has the dtype {min(wrong)}")
    return description
