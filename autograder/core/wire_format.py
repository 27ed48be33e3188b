"""Encode values as frames, which contain data and nothing else, for sockets and files.

A frame is a JSON header and the raw bytes of the arrays that it mentions, in order:

    magic "HWF1" | header length (u32) | body length (u64) | header (JSON) | body

Nothing in a frame is ever executed: no pickle, no `.npy`, no constructor chosen by the sender. Sizes are checked
before anything is read, dtypes come from a list, and a body with unused bytes is refused. A frame from a student's
process is data: it may contain only the handles that the grader issued for it, and no marker that the grader would turn
into an object if it were passed on.

This file is also loaded by its path in the student's process, so it imports nothing of Headway.
"""

import json
import math
import mmap
import struct
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, fields, is_dataclass
from functools import lru_cache
from typing import Any

import numpy as np

MAGIC = b"HWF1"
PREFIX = struct.Struct("<4sIQ")
MAX_HEADER = 4 << 20
MAX_BODY = 256 << 20
MAX_BYTES = 16 << 20  # of bytes from a student's process: a message may show them, which takes four times as much
MAX_DEPTH = 16
MAX_AXES = 64  # as many as NumPy allows, so that an answer with too many axes is reported as one of a wrong shape
MAX_REPETITIONS = 100  # of the items of an endless generator: code that takes them all must not run until it times out
MAX_KEY = 1 << 60  # Larger integers can be chosen to have equal hashes: a dictionary of them takes hours to build.
# Every dtype that ordinary NumPy code returns.
DTYPES = {
    code: np.dtype(code)
    for code in ["|b1", "|i1", "|u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", "<f2", "<f4", "<f8", "<c8", "<c16"]
}


class FrameError(ValueError):
    """The bytes are not a valid frame, or the frame is too large."""


@dataclass(frozen=True)
class Handle:
    """A value that stays in the student's process and is represented by its number."""

    number: int


@dataclass(frozen=True)
class Rng:
    """A marker for `numpy.random.default_rng(seed)`, which the receiver makes."""

    seed: int


@dataclass(frozen=True)
class Config:
    """A marker for `module.name(**fields)`, which the receiver makes; the sender can read the fields as attributes."""

    module: str
    name: str
    fields: dict[str, Any] = field(default_factory=dict)

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["fields"][name]
        except KeyError:
            raise AttributeError(name) from None


@dataclass(frozen=True)
class GeneratorOf:
    """A marker for a Python generator of these items, which the receiver starts; an endless one repeats them."""

    items: list[Any]
    endless: bool = False

    def start(self) -> Iterator[Any]:
        """Yield the items. An endless generator repeats them, and raises RuntimeError if far too many are taken."""
        yield from self.items
        if self.endless:
            for _ in range(MAX_REPETITIONS):
                yield from self.items
            raise RuntimeError("this generator is endless: take only as many items as you need")


# The functions that a grader can pass to a student's function, of weights and an array of the same shape. Only these
# can be named in a frame.
FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "sum(w * x**2)": lambda w, x: (w * x**2).sum(),
    "sum(w * sin(x))": lambda w, x: (w * np.sin(x)).sum(),
    "sum(w * x)**3": lambda w, x: (w * x).sum() ** 3,
}


@dataclass(frozen=True)
class FunctionOf:
    """A marker for one of `FUNCTIONS` with these weights w, which the receiver makes.

    The function takes arrays of the shape of the weights only. With `max_calls` it raises RuntimeError if it is called
    more often.
    """

    kind: str
    weights: Any
    max_calls: int | None = None

    def start(self) -> Callable[[Any], Any]:
        """Return the function, whose calls are counted from 0."""
        calls, shape = 0, np.shape(self.weights)

        def function(x: Any) -> Any:
            nonlocal calls
            calls += 1
            if self.max_calls is not None and calls > self.max_calls:
                raise RuntimeError(f"this function was called more than {self.max_calls} times")
            if np.shape(x) != shape:
                raise ValueError(f"this function takes an array of shape {shape}, not {np.shape(x)}")
            return FUNCTIONS[self.kind](self.weights, np.asarray(x))

        return function


@dataclass(frozen=True)
class Instance:
    """An instance of a dataclass that a student's function returned: the name of its type, and its fields.

    It is data: nothing makes an object of it again.
    """

    type_name: str
    fields: dict[str, Any]

    @classmethod
    def of(cls, value: Any) -> "Instance":
        """Return what stands for an instance of a dataclass."""
        return cls(_type_name(value), {field.name: getattr(value, field.name) for field in fields(value)})


@dataclass(frozen=True)
class MappedArray:
    """A marker for an array in a file, which the receiver maps into its memory instead of reading it.

    The array is read-only, so that the file cannot change, and every process that maps it shares the same memory.
    """

    path: str
    dtype: str  # a key of DTYPES
    shape: tuple[int, ...]  # in the file
    offset: int  # of its first byte in the file
    transposed: bool = False  # whether the file has the transpose of the array

    def open(self) -> "np.ndarray[Any, np.dtype[Any]]":
        """Return the array; raise OSError or ValueError if the file does not have it any more."""
        count = math.prod(self.shape)
        if count == 0:
            array = np.zeros(self.shape, DTYPES[self.dtype])
        else:
            flat = np.frombuffer(_mapped(self.path), DTYPES[self.dtype], count, self.offset)
            array = flat.reshape(self.shape)
        return array.T if self.transposed else array


@lru_cache(maxsize=8)
def _mapped(path: str) -> mmap.mmap:
    with open(path, "rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


@dataclass(frozen=True)
class Opaque:
    """A value that cannot be sent (a generator, an object array, a class instance), represented by its type's name."""

    type_name: str


# The classes above by the tag of their header entries, with the types that their fields may have (none listed: any).
# The content of an entry is a list of the fields, or the only field.
_MARKERS: dict[str, tuple[type, dict[str, tuple[type, ...]]]] = {
    "h": (Handle, {"number": (int,)}),
    "o": (Opaque, {"type_name": (str,)}),
    "n": (Instance, {"type_name": (str,), "fields": (dict,)}),
    "r": (Rng, {"seed": (int,)}),
    "c": (Config, {"module": (str,), "name": (str,), "fields": (dict,)}),
    "g": (GeneratorOf, {"items": (list,), "endless": (bool,)}),
    "f": (FunctionOf, {"kind": (str,), "weights": (), "max_calls": (int, type(None))}),
    "m": (MappedArray, {"path": (str,), "dtype": (str,), "shape": (tuple,), "offset": (int,), "transposed": (bool,)}),
}
_TAGS = {kind: tag for tag, (kind, _) in _MARKERS.items()}
_PLAIN = frozenset({type(None), bool, int, float, str})
_to_json = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode
_FROM_STUDENTS = (Handle, Opaque, Instance)  # All others make objects.


def pack(value: Any) -> bytes:
    """Encode a value as one frame.

    None, bool, int, float, str, bytes, tuple, list, dict, NumPy arrays and scalars, and the markers above are encoded.
    An instance of a dataclass becomes an `Instance`, anything else an `Opaque` with the name of its type. Raises
    FrameError if the value is too deep or large.
    """
    chunks: list[bytes] = []
    header = _to_json(_describe(value, chunks, 0)).encode()
    size = sum(map(len, chunks))
    if len(header) > MAX_HEADER or size > MAX_BODY:
        raise FrameError(f"the value is too large to send ({len(header) + size:,} bytes)")
    return b"".join([PREFIX.pack(MAGIC, len(header), size), header, *chunks])


def unpack(frame: bytes, handles: Iterable[int] | None = None) -> Any:
    """Decode one frame; raise FrameError if the bytes are not exactly one well-formed frame.

    `handles` are, for a frame from a student's process, the numbers of the handles that it may contain, each of them
    once; the markers that make objects, such as `Rng`, are then refused. None: the sender is trusted.
    """
    if len(frame) < PREFIX.size:
        raise FrameError("the frame is too short")
    header_size, body_size = parse_prefix(frame[: PREFIX.size])
    if len(frame) != PREFIX.size + header_size + body_size:
        raise FrameError("the frame's length is not what its prefix says")
    return _decode(frame[PREFIX.size : PREFIX.size + header_size], frame[PREFIX.size + header_size :], handles)


def read_frame(receive: Callable[[int], bytes], max_body: int = MAX_BODY, handles: Iterable[int] | None = None) -> Any:
    """Decode one frame from a stream; `receive(n)` returns exactly n bytes or raises. For `handles` see `unpack`."""
    header_size, body_size = parse_prefix(receive(PREFIX.size), max_body)
    content = receive(header_size + body_size)
    return _decode(content[:header_size], content[header_size:], handles)


def parse_prefix(prefix: bytes, max_body: int = MAX_BODY) -> tuple[int, int]:
    """Return the lengths of header and body from a frame's first 16 bytes, checked against the limits."""
    magic, header_size, body_size = PREFIX.unpack(prefix)
    if magic != MAGIC:
        raise FrameError("this is not a frame")
    if header_size > MAX_HEADER or body_size > max_body:
        raise FrameError(f"the frame is too large ({header_size + body_size:,} bytes)")
    return header_size, body_size


def _describe(value: Any, chunks: list[bytes], depth: int) -> Any:
    kind = type(value)
    if kind in _PLAIN:
        return value
    if depth > MAX_DEPTH:
        raise FrameError("the value is nested too deeply")
    depth += 1
    if kind is dict:
        return {"d": [[_describe(k, chunks, depth), _describe(v, chunks, depth)] for k, v in value.items()]}
    if kind is tuple or kind is list:
        return {"t" if kind is tuple else "l": [_describe(item, chunks, depth) for item in value]}
    if isinstance(value, np.str_):
        return str(value)
    if kind is np.ndarray or isinstance(value, np.generic):
        array = np.asarray(value)
        if array.dtype.str not in DTYPES:
            return {"o": f"{_type_name(value)} of {array.dtype}"}
        chunks.append(array.tobytes())
        return {"a" if kind is np.ndarray else "s": [array.dtype.str, array.shape]}
    if kind is bytes:
        chunks.append(value)
        return {"b": len(value)}
    if kind not in _TAGS:
        is_instance = is_dataclass(value) and not isinstance(value, type)
        value = Instance.of(value) if is_instance else Opaque(_type_name(value))
    tag = _TAGS[type(value)]
    parts = [_describe(getattr(value, name), chunks, depth) for name in _MARKERS[tag][1]]
    return {tag: parts if len(parts) > 1 else parts[0]}


def _type_name(value: Any) -> str:
    kind = type(value)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def _malformed(tag: Any) -> FrameError:
    return FrameError(f"malformed header entry {str(tag)[:8]!r}")


def _is_shape(value: list[Any] | tuple[Any, ...]) -> bool:
    return len(value) <= MAX_AXES and all(type(n) is int and 0 <= n < 1 << 40 for n in value)


def _decode(header: bytes, body: bytes, handles: Iterable[int] | None) -> Any:
    try:
        spec = json.loads(header.decode())
    except (ValueError, RecursionError) as error:  # ValueError also for numbers of thousands of digits.
        raise FrameError(f"the header is not JSON ({type(error).__name__})") from None
    decoder = _Decoder(body, handles)
    value = decoder.build(spec, 0)
    if decoder.position != len(body):
        raise FrameError("the body is longer than its arrays")
    return value


class _Decoder:
    """Builds the value that a header describes; its arrays are in the body, in order from `position`."""

    def __init__(self, body: bytes, handles: Iterable[int] | None) -> None:
        self._body, self.position = body, 0
        self._trusted, self._handles = handles is None, set(handles or ())

    def build(self, spec: Any, depth: int) -> Any:
        """Return the value of one header entry, which is nested in `depth` others."""
        if type(spec) in _PLAIN:
            return spec
        if depth > MAX_DEPTH + 1:
            raise FrameError("the value is nested too deeply")
        if type(spec) is not dict or len(spec) != 1:
            raise FrameError("unknown header entry")
        ((tag, content),) = spec.items()
        if tag in ("a", "s"):
            return self._array(tag, content)
        if tag in ("t", "l") and type(content) is list:
            items = [self.build(item, depth + 1) for item in content]
            return tuple(items) if tag == "t" else items
        if tag == "d" and type(content) is list:
            return self._dict(content, depth)
        if tag == "b" and type(content) is int and content >= 0 and (self._trusted or content <= MAX_BYTES):
            start = self._skip(content)
            return self._body[start : self.position]
        if tag in _MARKERS:
            return self._marker(tag, content, depth)
        raise _malformed(tag)

    def _marker(self, tag: str, content: Any, depth: int) -> Any:
        kind, types = _MARKERS[tag]
        if not self._trusted and kind not in _FROM_STUDENTS:
            raise FrameError(f"it contains a marker ({kind.__name__}) that only the grader may send")
        parts = content if len(types) > 1 else [content]
        if type(parts) is not list or len(parts) != len(types):
            raise _malformed(tag)
        values = [self.build(part, depth + 1) for part in parts]
        for value, allowed in zip(values, types.values(), strict=True):
            if allowed and type(value) not in allowed:
                raise _malformed(tag)
        if kind in (Opaque, Instance):
            values[0] = values[0][:200]  # the name of a type
        marker = kind(*values)
        if isinstance(marker, Handle) and not self._trusted:
            if marker.number not in self._handles:
                raise FrameError("it contains a handle that the grader did not issue for it")
            self._handles.remove(marker.number)
        if isinstance(marker, FunctionOf) and marker.kind not in FUNCTIONS:
            raise _malformed(tag)
        if isinstance(marker, MappedArray) and not (marker.dtype in DTYPES and _is_shape(marker.shape)):
            raise _malformed(tag)
        return marker

    def _dict(self, content: list[Any], depth: int) -> dict[Any, Any]:
        result: dict[Any, Any] = {}
        for pair in content:
            if type(pair) is not list or len(pair) != 2:
                raise FrameError("malformed dictionary")
            key, value = pair
            if type(key) is not str:
                key = self.build(key, depth + 1)
                if isinstance(key, np.generic):
                    key = key.item()  # np.int64(3) and 3 are the same key of a dict.
                if type(key) not in _PLAIN:
                    raise FrameError("a dictionary key is neither a string nor a number")
                if type(key) is int and abs(key) >= MAX_KEY:
                    raise FrameError("a dictionary key is too large")
            result[key] = value if type(value) in _PLAIN else self.build(value, depth + 1)
        return result

    def _array(self, tag: str, content: Any) -> Any:
        if type(content) is not list or len(content) != 2:
            raise FrameError("malformed array entry")
        code, shape = content
        if type(code) is not str or code not in DTYPES:
            raise FrameError("an array has a dtype that is not allowed")
        if type(shape) is not list or not _is_shape(shape):
            raise FrameError("an array has a malformed shape")
        if tag == "s" and shape:
            raise FrameError("a scalar has axes")
        dtype = DTYPES[code]
        size = math.prod(shape) * dtype.itemsize
        start = self._skip(size)
        if code == "|b1" and self._body[start : self.position].translate(None, b"\0\1"):
            raise FrameError("a boolean is neither 0 nor 1")
        try:
            array = np.ndarray(shape, dtype, self._body, start).copy()
        except ValueError:  # No elements, but axes whose product overflows.
            raise FrameError("an array has a malformed shape") from None
        return array if tag == "a" else array[()]

    def _skip(self, size: int) -> int:
        """Return where the next `size` bytes of the body begin."""
        start, self.position = self.position, self.position + size
        if self.position > len(self._body):
            raise FrameError("a value is larger than the body")
        return start
