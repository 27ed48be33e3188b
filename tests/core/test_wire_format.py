"""Frames carry data and only data; whatever is not a frame is refused, not guessed at."""

import contextlib
import dataclasses
import io
import itertools
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from autograder.core import wire_format

SCALARS = st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.floats(allow_nan=False) | st.text(max_size=20)
SHAPES = hnp.array_shapes(min_dims=0, max_dims=4, min_side=0)
ARRAYS = hnp.arrays(st.sampled_from([*wire_format.DTYPES.values()]), SHAPES)
VALUES = st.recursive(
    SCALARS | ARRAYS | st.binary(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text(max_size=5) | st.integers(-9, 9), inner, max_size=4)
    ),
    max_leaves=12,
)


def same(a, b):
    if isinstance(a, np.ndarray):
        return type(b) is np.ndarray and a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    if isinstance(a, (tuple, list)):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return type(b) is dict and list(a) == list(b) and all(same(a[k], b[k]) for k in a)
    return type(a) is type(b) and a == b


@pytest.mark.slow
@given(VALUES)
@settings(max_examples=200, deadline=None)
def test_pack_unpack_round_trip(value):
    assert same(value, wire_format.unpack(wire_format.pack(value)))


@pytest.mark.slow
@given(st.binary(max_size=200))
@settings(max_examples=300, deadline=None)
def test_unpack_random_bytes_raises(data):
    with pytest.raises(wire_format.FrameError):
        wire_format.unpack(data)


@pytest.mark.slow
@given(VALUES, st.data())
@settings(max_examples=300, deadline=None)
def test_unpack_damaged_frame_raises_or_gives_data(value, data):
    frame = bytearray(wire_format.pack(value))
    for _ in range(data.draw(st.integers(1, 4))):
        frame[data.draw(st.integers(0, len(frame) - 1))] = data.draw(st.integers(0, 255))
    with contextlib.suppress(wire_format.FrameError):
        wire_format.unpack(bytes(frame))


def framed(header, body=b""):
    text = json.dumps(header).encode()
    return wire_format.PREFIX.pack(wire_format.MAGIC, len(text), len(body)) + text + body


@pytest.mark.parametrize(("header", "body", "words"), [
    ({"a": ["|O", [1]]}, bytes(8), "dtype"), ({"a": ["<f8", [-1]]}, b"", "shape"),
    ({"a": ["<f8", [2**62, 2**62]]}, b"", "shape"), ({"a": ["<f8", [0, 2**39, 2**39]]}, b"", "shape"),
    ({"a": ["<f8", [2]]}, bytes(8), "larger than the body"),
    ({"a": ["<f8", [1]]}, bytes(16), "longer than its arrays"),
    ({"a": ["|b1", [1]]}, b"\x02", "boolean"), ({"a": ["<f8", [1] * 65]}, bytes(8), "shape"),
    ({"s": ["<f8", [1]]}, bytes(8), "scalar"), ({"d": [[{"l": []}, 1]]}, b"", "key"),
    ({"d": [[2**61 - 1, 1]]}, b"", "key"),  # of 100,000 such keys, which all have the same hash, nobody saw the end
    ({"x": 1}, b"", "malformed"), ({"t": [1], "l": [1]}, b"", "unknown"), ({"h": "1"}, b"", "malformed"),
    ({"b": -1}, b"", "malformed"), ({"b": 9}, bytes(8), "larger than the body"),
    ({"c": ["os", "system", 3]}, b"", "malformed"), ({"m": ["f", "<f4", {"t": [1]}, 0]}, b"", "malformed"),
    ({"m": ["f", "O", {"t": [1]}, 0, False]}, b"", "malformed"),
    ({"m": [1, "<f4", {"t": [1]}, 0, False]}, b"", "malformed"),
    ({"m": ["f", "<f4", {"t": [-1]}, 0, False]}, b"", "malformed"),
    ({"m": ["f", {"l": ["<f4"]}, {"t": [1]}, 0, False]}, b"", "malformed"),
    ({"m": ["f", "<f4", {"t": [1]}, "0", False]}, b"", "malformed"),
    ({"m": ["f", "<f4", {"t": [1]}, 0, 1]}, b"", "malformed"),
])  # fmt: skip
def test_unpack_malformed_header_raises(header, body, words):
    with pytest.raises(wire_format.FrameError, match=words):
        wire_format.unpack(framed(header, body))


def test_nesting_is_limited():
    value = []
    for _ in range(50):
        value = [value]
    with pytest.raises(wire_format.FrameError, match="nested"):
        wire_format.pack(value)
    header = b'{"l":[' * 100_000 + b"]}" * 100_000
    with pytest.raises(wire_format.FrameError):
        wire_format.unpack(wire_format.PREFIX.pack(wire_format.MAGIC, len(header), 0) + header)


def test_read_frame_checks_sizes_before_reading():
    asked = []

    def receive(count):
        asked.append(count)
        return wire_format.PREFIX.pack(wire_format.MAGIC, 10, 2**40)

    with pytest.raises(wire_format.FrameError, match="too large"):
        wire_format.read_frame(receive)
    assert asked == [wire_format.PREFIX.size]


def test_unsendable_value_becomes_its_type_name():
    assert wire_format.unpack(wire_format.pack(iter([]))) == wire_format.Opaque("list_iterator")
    assert wire_format.unpack(wire_format.pack(np.array([None]))) == wire_format.Opaque("numpy.ndarray of object")
    with pytest.warns(PendingDeprecationWarning):
        matrix = np.matrix([[1.0]])
    assert wire_format.unpack(wire_format.pack(matrix)).type_name == "numpy.matrix"
    assert wire_format.unpack(wire_format.pack(Settings)) == wire_format.Opaque("type"), "a class itself"


@dataclasses.dataclass
class Settings:
    width: int
    table: object = None


def test_instance_of_dataclass_becomes_its_fields():
    sent = Settings(3, np.arange(2))
    for handles in (None, ()):
        back = wire_format.unpack(wire_format.pack([sent]), handles)[0]
        assert back.type_name.endswith("test_wire_format.Settings")
        assert list(back.fields) == ["width", "table"] and back.fields["width"] == 3
        assert back.fields["table"].tolist() == [0, 1]
        assert repr(wire_format.unpack(wire_format.pack(back), handles)) == repr(back)


@pytest.mark.parametrize("entry", [{"n": ["gpt.Config", {"l": []}]}, {"n": [1, {"d": []}]}, {"n": ["gpt.Config"]}])
def test_malformed_instance_is_refused(entry):
    with pytest.raises(wire_format.FrameError, match="malformed"):
        wire_format.unpack(framed(entry), ())


def test_markers_round_trip():
    marks = [wire_format.Handle(3), wire_format.Rng(7), wire_format.Config("gpt", "GPTConfig", {"d_model": 8})]
    marks.append(wire_format.GeneratorOf([1, (2, 3)], endless=True))
    back = wire_format.unpack(wire_format.pack(marks))
    assert back == marks and back[2].d_model == 8
    with pytest.raises(AttributeError):
        _ = back[2].unknown


def test_function_round_trips_and_computes_for_arrays_of_its_shape():
    sent = wire_format.FunctionOf("sum(w * x)**3", np.array([1.0, 2.0]), max_calls=1)
    f = wire_format.unpack(wire_format.pack(sent)).start()
    assert f(np.array([3.0, 0.5])) == 64.0
    with pytest.raises(RuntimeError, match="more than 1 times"):
        f(np.array([3.0, 0.5]))
    f = wire_format.FunctionOf("sum(w * x**2)", np.ones(3)).start()
    assert [f(np.full(3, 2.0)) for _ in range(3)] == [12.0, 12.0, 12.0]
    with pytest.raises(ValueError, match=r"shape \(3,\), not \(\)"):
        f(2.0)


def test_function_of_unknown_kind_is_refused():
    frame = wire_format.pack(wire_format.FunctionOf("__import__('os')", np.ones(1)))
    with pytest.raises(wire_format.FrameError, match="malformed"):
        wire_format.unpack(frame)


def test_generator_yields_the_items_once_or_repeats_and_finally_raises():
    assert list(wire_format.GeneratorOf([1, 2]).start()) == [1, 2]
    endless = wire_format.GeneratorOf([1, 2], endless=True).start()
    assert list(itertools.islice(endless, 5)) == [1, 2, 1, 2, 1]
    with pytest.raises(RuntimeError, match="endless"):
        list(endless)


FORBIDDEN = [  # as header entries, because a Config cannot be a key of a dict
    {"r": 7}, {"c": ["gpt", "GPTConfig", {"d": [["d_model", 8]]}]}, {"c": ["/tmp/evil", "run", {"d": []}]},
    {"g": [{"l": [1]}, False]}, {"f": ["sum(w * x**2)", 1.0, None]}, {"m": ["/etc/passwd", "|u1", [4], 0, False]},
    {"h": 2}, {"h": -1},
]  # fmt: skip
PLACES = {
    "top level": lambda entry: entry, "list": lambda entry: {"l": [0, {"l": [entry]}]},
    "tuple": lambda entry: {"t": [None, {"t": [entry]}]},
    "dict": lambda entry: {"d": [["value", {"d": [["weights", entry]]}]]}, "key": lambda entry: {"d": [[entry, 1]]},
    "field": lambda entry: {"c": ["gpt", "GPTConfig", {"d": [["d_model", entry]]}]},
    "instance": lambda entry: {"n": ["gpt.GPTConfig", {"d": [["d_model", entry]]}]},
}  # fmt: skip


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("entry", FORBIDDEN, ids=json.dumps)
def test_student_frame_with_forbidden_marker_is_refused(entry, place):
    frame = framed(PLACES[place](entry))
    for handles in ((), (1, 3)):
        with pytest.raises(wire_format.FrameError):
            wire_format.unpack(frame, handles)
        with pytest.raises(wire_format.FrameError):
            wire_format.read_frame(io.BytesIO(frame).read, handles=handles)


@pytest.mark.parametrize("transposed", [False, True])
def test_mapped_array_is_read_from_its_file(tmp_path, transposed):
    path = tmp_path / "numbers"
    numbers = np.arange(12, dtype=np.float32).reshape(3, 4)
    path.write_bytes(b"header.." + numbers.tobytes())
    marker = wire_format.unpack(wire_format.pack(wire_format.MappedArray(str(path), "<f4", (3, 4), 8, transposed)))
    array = marker.open()
    assert np.array_equal(array, numbers.T if transposed else numbers)
    assert type(array) is np.ndarray and not array.flags.writeable and not array.flags.owndata
    with pytest.raises(ValueError, match="buffer"):
        wire_format.MappedArray(str(path), "<f4", (3, 5), 8).open()
    assert wire_format.MappedArray(str(path), "<f4", (0, 5), 8).open().shape == (0, 5)


@pytest.mark.parametrize("place", ["top level", "list", "tuple", "dict"])
def test_student_frame_with_issued_handle_is_decoded_once(place):
    entry = PLACES[place]({"h": 3})
    assert "Handle(number=3)" in repr(wire_format.unpack(framed(entry), (3,)))
    with pytest.raises(wire_format.FrameError, match="did not issue"):
        wire_format.unpack(framed({"l": [entry, entry]}), (3,))


NESTED = {
    "top level": lambda value: value, "list": lambda value: [0, [value]], "tuple": lambda value: (None, (value,)),
    "dict": lambda value: {"value": {"weights": value}},
}  # fmt: skip


@pytest.mark.parametrize("place", NESTED)
@pytest.mark.parametrize(
    "data", [None, True, 3, 0.5, "x", b"x", np.arange(3), np.float32(2), (1,), [2], {"a": 1}, wire_format.Opaque("x")]
)
def test_student_frame_of_data_is_decoded(data, place):
    value = NESTED[place](data)
    assert repr(wire_format.unpack(wire_format.pack(value), ())) == repr(value)
