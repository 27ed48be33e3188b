"""Headers of safetensors files: read as the package safetensors writes them, and refused when they are damaged."""

import json
import os

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file
from support.calibration import peak_memory_below

from autograder.core import tensor_files
from autograder.core.tensor_files import MOST_COLONS, DamagedFile, StoredTensor, read_header, write_tensors


@pytest.fixture
def arrays():
    rng = np.random.default_rng(0)
    return {"b": rng.normal(size=(3, 5)).astype(np.float32), "a": rng.normal(size=7), "empty": np.zeros((0, 4))}


def file_of(path, header, data=b"", size=None):
    content = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes((len(content) if size is None else size).to_bytes(8, "little") + content + data)
    return path


def test_read_header_finds_what_safetensors_wrote(tmp_path, arrays):
    path = tmp_path / "a.safetensors"
    save_file(arrays, path, metadata={"format": "np"})
    file = read_header(path)
    assert file.metadata == {"format": "np"} and file.tensors.keys() == arrays.keys()
    for name, array in arrays.items():
        tensor = file.tensors[name]
        content = path.read_bytes()[tensor.offset : tensor.offset + tensor.size]
        assert tensor.shape == array.shape and content == array.tobytes()


def test_write_tensors_is_read_by_safetensors(tmp_path, arrays):
    path = tmp_path / "new" / "b.safetensors"
    described = {name: ({"f": "F32", "d": "F64"}[array.dtype.char], array.shape) for name, array in arrays.items()}
    pieces = [part for array in arrays.values() for part in (array.tobytes()[:8], array.tobytes()[8:])]
    write_tensors(path, described, {"text": "ö"}, pieces)
    read = load_file(path)
    assert all(np.array_equal(read[name], array) for name, array in arrays.items())
    assert read_header(path).metadata == {"text": "ö"}
    assert min(tensor.offset for tensor in read_header(path).tensors.values()) % tensor_files.ALIGNMENT == 0


def test_write_tensors_that_fails_keeps_the_old_file(tmp_path):
    path = tmp_path / "c.safetensors"
    path.write_bytes(b"old")

    def interrupted():
        yield b"1234"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_tensors(path, {"x": ("F32", (2,))}, {}, interrupted())
    with pytest.raises(ValueError, match="8 bytes, and 4"):
        write_tensors(path, {"x": ("F32", (2,))}, {}, [b"1234"])
    with pytest.raises(DamagedFile, match="too long"):
        write_tensors(path, {}, {"text": "x" * tensor_files.LARGEST_HEADER}, [])
    assert path.read_bytes() == b"old" and len([*tmp_path.iterdir()]) == 1


def entry(**changes):
    return {"x": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8], **changes}}


DAMAGED = {
    "too short": (b"1234", None, b"", "4 bytes"), "huge header": ({}, 1 << 62, b"", "does not begin with the length"),
    "header cut off": ({}, 1000, b"", "cut off"), "no JSON": (b"{]", None, b"", "not valid JSON"),
    "no UTF-8": (b'{"\xff": 1}', None, b"", "not valid JSON"),
    "nested deeply": (b'{"x":' + b"[" * 100_000, None, b"", "not valid JSON"),
    "a number of many digits": (b"9" * 10_000, None, b"", "not a JSON object"),
    "too large": (b" " * (tensor_files.LARGEST_HEADER + 1), None, b"", "does not begin with the length"),
    "many entries": (dict.fromkeys(range(MOST_COLONS + 1), 0), None, b"", "more entries"),
    "a list": ([], None, b"", "not a JSON object"),
    "metadata of numbers": ({"__metadata__": {"a": 1}}, None, b"", "metadata"),
    "an entry without shape": ({"x": {"dtype": "F32"}}, None, b"", "malformed"),
    "an entry that is a number": ({"x": 3}, None, b"", "malformed"),
    "unknown dtype": (entry(dtype="F8_E4M3"), None, b"12345678", "F8_E4M3"),
    "dtype of another type": (entry(dtype=["F32"]), None, b"12345678", "dtype"),
    "negative size": (entry(shape=[-2]), None, b"12345678", "malformed.*shape"),
    "fractional size": (entry(shape=[2.0]), None, b"12345678", "malformed.*shape"),
    "many axes": (entry(shape=[1] * 9), None, b"12345678", "malformed.*shape"),
    "huge sizes": (entry(shape=[1 << 40, 1 << 40]), None, b"12345678", "its shape needs"),
    "negative offset": (entry(data_offsets=[-8, 0]), None, b"12345678", "malformed.*offsets"),
    "offsets outside of the file": (entry(data_offsets=[1 << 40, (1 << 40) + 8]), None, b"12345678", "gaps"),
    "offsets in reverse": (entry(data_offsets=[8, 0]), None, b"12345678", "its shape needs"),
    "data cut off": (entry(), None, b"1234", "cut off"),
    "more data": (entry(), None, b"123456789", "after its last tensor"),
    "overlap": (entry() | {"y": entry()["x"]}, None, b"12345678", "overlap"),
}  # fmt: skip


@pytest.mark.parametrize("case", DAMAGED)
def test_read_header_of_damaged_file_raises(tmp_path, case):
    header, size, data, expected = DAMAGED[case]
    path = tmp_path / "d.safetensors"
    if case == "too short":
        path.write_bytes(header)
    else:
        file_of(path, header, data, size)
    with pytest.raises(DamagedFile, match=expected) as caught:
        read_header(path)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 200


@pytest.mark.parametrize(
    "text", ['{"x": [%s[]]}', '{"__metadata__": [%s[]]}', "[%s[]]", '{"x": {"dtype": "F32", "shape": [%s[]]}}']
)
def test_read_header_of_empty_lists_takes_little_memory(tmp_path, text):
    path = tmp_path / "lists.safetensors"
    file_of(path, (text % ("[]," * 1_000_000)).encode())
    with peak_memory_below(20_000_000), pytest.raises(DamagedFile):
        read_header(path)


def test_read_header_of_a_pipe_raises_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe.safetensors")
    with pytest.raises(DamagedFile, match="plain file"):
        read_header(tmp_path / "pipe.safetensors")


@pytest.mark.parametrize(
    ("shape", "rows", "first"), [((4,), 2, 4), ((4,), 9, 0), ((2, 2), 1, 4), ((), 1, 0), ((0,), 1, 0)]
)
def test_last_bytes_are_those_of_the_last_rows(tmp_path, shape, rows, first):
    (tmp_path / "data").write_bytes(bytes(range(100, 116)))
    tensor = StoredTensor(tmp_path / "data", "U16", shape, 3)
    assert tensor.last_bytes(rows) == bytes(range(103, 111))[first : tensor.size]


def test_read_header_of_every_truncation_raises(tmp_path, arrays):
    whole = tmp_path / "whole.safetensors"
    save_file(arrays, whole)
    content = whole.read_bytes()
    cut = tmp_path / "cut.safetensors"
    for size in range(len(content)):
        cut.write_bytes(content[:size])
        with pytest.raises(DamagedFile):
            read_header(cut)
