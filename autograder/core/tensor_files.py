"""Read the header of a safetensors file, and write such a file tensor by tensor.

    header length (u64) | header (JSON: name -> dtype, shape, offsets; texts under __metadata__) | data

Only the header is read here: the data stay in the file, and are mapped into memory where they are needed. Nothing in a
file is trusted. Offsets, shapes and lengths are compared with the file's size, and nothing is ever executed.
"""

import json
import math
import os
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import msgspec

from autograder.core.files import written_file

LARGEST_HEADER = 16 << 20  # bytes; the headers of large models have less than 1 MB, and ours hold a vocabulary, too
MOST_COLONS = 200_000  # in a header: each entry has four
LARGEST_SIZE = 1 << 48  # of an axis, or of a file in bytes
ALIGNMENT = 64  # bytes; data that start at a multiple of it suit every vector instruction
# NumPy's names by the format's; BF16, which NumPy does not have, is read as its bits.
DTYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2", "I64": "<i8", "I32": "<i4", "I16": "<i2",
          "I8": "|i1", "U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "|u1", "BOOL": "|b1"}  # fmt: skip
_SIZES = {name: int(code[-1]) for name, code in DTYPES.items()}


class DamagedFile(ValueError):
    """The file is not a complete safetensors file; the text says what is wrong, without the file's name."""


@dataclass(frozen=True)
class StoredTensor:
    """Where the numbers of one tensor are."""

    path: Path
    dtype: str  # a key of DTYPES
    shape: tuple[int, ...]
    offset: int  # of its first byte, from the beginning of the file

    @property
    def size(self) -> int:
        """Return the number of bytes."""
        return math.prod(self.shape) * _SIZES[self.dtype]

    def last_bytes(self, rows: int) -> bytes:
        """Return the bytes of its last rows, or of all if it has fewer: of its numbers, if it has one axis."""
        size = self.size // max(1, self.shape[0]) * min(rows, self.shape[0]) if self.shape else self.size
        with self.path.open("rb") as file:
            file.seek(self.offset + self.size - size)
            return file.read(size)


@dataclass(frozen=True)
class TensorFile:
    """The header of a safetensors file."""

    tensors: dict[str, StoredTensor]
    metadata: dict[str, str]


_Size = Annotated[int, msgspec.Meta(ge=0, lt=LARGEST_SIZE)]


class _TensorEntry(msgspec.Struct):
    dtype: str
    shape: Annotated[list[_Size], msgspec.Meta(max_length=8)]
    data_offsets: tuple[_Size, _Size]


def read_header(path: Path) -> TensorFile:
    """Read the header of a safetensors file; raise DamagedFile if it is not one, OSError if it cannot be read."""
    if not stat.S_ISREG(path.stat().st_mode):
        raise DamagedFile("it is not a plain file")
    with path.open("rb") as file:
        file_size = os.fstat(file.fileno()).st_size
        if file_size < 8:
            raise DamagedFile(f"it has {file_size} bytes, fewer than a safetensors file begins with")
        header_size = int.from_bytes(file.read(8), "little")
        if header_size > LARGEST_HEADER:
            raise DamagedFile("it does not begin with the length of a safetensors header")
        if 8 + header_size > file_size:
            raise DamagedFile(f"it is cut off: {header_size:,} bytes of header, and the file has {file_size:,} bytes")
        content = file.read(header_size)
    header = _entries(content)
    try:
        metadata = msgspec.json.decode(header.pop("__metadata__", b"{}"), type=dict[str, str])
    except (msgspec.DecodeError, ValueError, RecursionError):
        raise DamagedFile("its metadata are not texts") from None
    start = 8 + header_size
    tensors = {name: _stored_tensor(path, name, entry, start) for name, entry in header.items()}
    _require_complete(tensors.values(), start, file_size)
    return TensorFile(tensors, metadata)


def _entries(content: bytes) -> dict[str, Any]:
    """Return the entries of a header by name, as JSON: parsing them at once could take a hundred times its size."""
    if content.count(b":") > MOST_COLONS:
        raise DamagedFile("its header has more entries than any model")
    try:
        return msgspec.json.decode(content, type=dict[str, msgspec.Raw])
    except msgspec.ValidationError:
        raise DamagedFile("its header is not a JSON object") from None
    except (msgspec.DecodeError, ValueError, RecursionError):
        raise DamagedFile("its header is not valid JSON") from None


def _stored_tensor(path: Path, name: str, content: Any, start: int) -> StoredTensor:
    """Return one entry of the header, whose offsets count from `start`."""
    name = repr(name[:80])
    try:
        entry = msgspec.json.decode(content, type=_TensorEntry)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise DamagedFile(f"the entry of {name} in its header is malformed ({error})") from None
    if entry.dtype not in DTYPES:
        raise DamagedFile(f"{name} has the dtype {entry.dtype[:20]}, which Headway cannot read")
    first, end = entry.data_offsets
    tensor = StoredTensor(path, entry.dtype, tuple(entry.shape), start + first)
    if end - first != tensor.size:
        raise DamagedFile(f"{name} has {end - first:,} bytes, and its shape needs {tensor.size:,}")
    return tensor


def _require_complete(tensors: Iterable[StoredTensor], start: int, file_size: int) -> None:
    """Raise DamagedFile unless the tensors fill the rest of the file, one after the other."""
    end = start
    for tensor in sorted(tensors, key=lambda tensor: (tensor.offset, tensor.size)):
        if tensor.offset != end:
            raise DamagedFile("its tensors overlap, or have gaps between them")
        end += tensor.size
    if end > file_size:
        raise DamagedFile(f"it is cut off: it should have {end:,} bytes and has {file_size:,}")
    if end < file_size:
        raise DamagedFile(f"it has {file_size - end:,} bytes after its last tensor")


def write_tensors(
    path: Path, tensors: Mapping[str, tuple[str, tuple[int, ...]]], metadata: Mapping[str, str], data: Iterable[bytes]
) -> None:
    """Write a safetensors file atomically: the old file stays until the new one is complete.

    Args:
        tensors: dtype and shape of each tensor, by name, in the order of their data.
        data: the bytes of all tensors in this order, in pieces of any size, so that they need not fit into memory.
    """
    header: dict[str, Any] = {"__metadata__": dict(metadata)}
    end = 0
    for name, (dtype, shape) in tensors.items():
        start, end = end, end + math.prod(shape) * _SIZES[dtype]
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [start, end]}
    content = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    content += b" " * (-(8 + len(content)) % ALIGNMENT)
    if len(content) > LARGEST_HEADER or content.count(b":") > MOST_COLONS:
        raise DamagedFile("its names and texts are too long")
    with written_file(path) as file:
        file.write(len(content).to_bytes(8, "little") + content)
        written = sum(file.write(piece) for piece in data)
        if written != end:
            raise ValueError(f"the tensors have {end} bytes, and {written} were given")
