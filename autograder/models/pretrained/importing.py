"""Turn a folder of Hugging Face files into one file of Headway, with the student's functions.

They are `gpt2_config` and `gpt2_params`, or `llama_config` and `llama_params`. They run in the student's process, which
maps the tensors from their files. Their parameters come back in pieces and go straight into the new file, so that no
process ever holds the model.
"""

import math
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from autograder.core import tensor_files
from autograder.core.files import report_write_error
from autograder.core.text import clean
from autograder.core.wire_format import FrameError, pack
from autograder.courses.transformer.common.pretrained.description import ModelDescription
from autograder.courses.transformer.common.pretrained.hugging_face import HuggingFaceModel
from autograder.errors import UsageError
from autograder.models.model_process import ModelProcess
from autograder.models.pretrained import model_file
from autograder.models.training import checkpoint_list
from autograder.sandbox.process import start_workers

PIECE = 1 << 22  # numbers in one answer of the student's process
_DTYPES = {"<f2": "F32", "<f4": "F32", "<f8": "F64"}  # as they are stored: numbers of 16 bits are widened
Parameters = dict[str, tuple[str, tuple[int, ...]]]  # dtype and shape by name


def require_new_file(out: Path, model: HuggingFaceModel, force: bool) -> None:
    """Raise UsageError if the import would replace one of its own files, or another one, unless that is wanted."""
    if out.resolve() in {tensor.path for tensor in model.tensors.values()}:
        raise UsageError(f"{out} is one of the files to import. Name another file: --out FILE")
    checkpoint_list.require_new_file(out, force)


def import_model(modules: Path, model: HuggingFaceModel, out: Path) -> ModelDescription:
    """Write the model to `out`, none of the files to import, converted by the modules in a folder.

    Return its description.
    """
    with start_workers() as workers, closing(ModelProcess(workers, modules, "pretrained")) as process:
        config, parameters = _convert(process, model)
        source = clean(model.folder.resolve().name, 100)
        description = ModelDescription(model.kind, source, config, model.tokenizer, model.ends, model.sampling)
        try:
            description.require_consistent({name: shape for name, (_, shape) in parameters.items()})
        except ValueError as error:
            raise UsageError(f"the files in {model.folder} do not fit together: {error}") from None
        try:
            with report_write_error(out, "Name another file: --out FILE"):
                model_file.save(out, description, parameters, _data(process, description, parameters))
        except tensor_files.DamagedFile as error:
            raise UsageError(f"{model.folder} cannot be imported: {error}") from None
    return description


def count_parameters(description: ModelDescription) -> int:
    """Return the number of trainable parameters of a model."""
    return sum(math.prod(shape) for shape in description.shapes.values())


def _convert(process: ModelProcess, model: HuggingFaceModel) -> tuple[dict[str, Any], Parameters]:
    """Have the student's functions convert the model; return the configuration's fields, and the parameters."""
    kinds = {tensor.dtype for tensor in model.tensors.values()}
    if "U16" in kinds or kinds >= {"F16", "BF16"}:
        problem = f"its tensors have the dtypes {', '.join(sorted(kinds))}"
        raise UsageError(f"{model.folder} cannot be imported: {problem}. Use one of F32, F16 and BF16 for all of them")
    tensors = {name: (model_file.mapped(tensor), tensor.dtype) for name, tensor in model.tensors.items()}
    request = {"module": model.kind, "config": model.config, "tensors": tensors}
    function = f"{model.kind}.{model.kind}_params"
    try:
        pack(request)
    except FrameError as error:
        raise UsageError(f"{model.folder} cannot be imported: {error}") from None
    try:
        config, described = process.request("import", function, model.folder, **request)
        parameters = {}
        for name, (dtype, shape) in described.items():
            if dtype not in _DTYPES:
                problem = f"{clean(name, 80)} has the dtype {clean(dtype, 20)}"
                raise UsageError(f"{model.folder}: {problem}. Only floating-point parameters can be imported")
            parameters[str(name)] = (_DTYPES[dtype], tuple(int(size) for size in shape))
        if model.kind == "gpt2":  # Its head that is the transposed token table is left out of the parameters.
            config = {**config, "tied": "W_head" not in parameters}
        return dict(config), parameters
    except (TypeError, ValueError, AttributeError):
        raise UsageError(f"{function} did not return parameters. Check it: headway check {model.kind}") from None


def _data(process: ModelProcess, description: ModelDescription, parameters: Parameters) -> Iterator[bytes]:
    """Yield the bytes of all parameters, in order, as they are stored."""
    function = f"{description.kind}.{description.kind}_params"
    for name, (dtype, shape) in parameters.items():
        code, count = tensor_files.DTYPES[dtype], math.prod(shape)
        process.request("choose", function, name=name, transposed=description.is_transposed(name))
        for start in range(0, count, PIECE):
            stop = min(count, start + PIECE)
            piece = process.request("piece", function, start=start, stop=stop)
            if not isinstance(piece, np.ndarray) or piece.dtype.str != code or piece.shape != (stop - start,):
                raise UsageError(
                    f"the parameter {name} changed while it was read. Check: headway check {description.kind}"
                )
            yield piece.tobytes()
