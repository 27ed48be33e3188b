"""Random inputs for checks: the same on every machine, for ever, and exactly representable.

NumPy guarantees the raw output of its bit generators (NEP 19) but not what `Generator.normal` makes of it, and a
logarithm differs between C libraries in its last bit. The memo of PyTorch's answers is found by the inputs' exact
bytes, so inputs are made from raw integers with exact arithmetic only.
"""

import hashlib
import math
import secrets
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from autograder.core.wire_format import Rng

Array = np.ndarray[Any, np.dtype[Any]]

MAX_KEPT = 1 << 16  # entries of an array that is remembered


def fresh_seed() -> int:
    """A seed nobody knows beforehand; the result documents record it. Never 0, which is the public one."""
    return secrets.randbelow(2**31 - 1) + 1


class _Drawn(NamedTuple):
    """One draw of a stream: what was asked for, how far the stream was after it, and the values, if they are few."""

    what: tuple[Any, ...]
    consumed: int
    values: Array | None


class RandomInputs:
    """A stream of inputs for one check.

    Args:
        seed: the run's seed; 0 is the public one.
        name: the check's name: each check has a stream of its own, so that adding a check changes no other.
    """

    def __init__(self, seed: int, name: str) -> None:
        self._streams: dict[tuple[int, str], list[_Drawn]] = {}
        self.restart(seed, name)

    def restart(self, seed: int, name: str) -> None:
        """Begin the stream of another check, or the same once more: what was drawn for it before is remembered."""
        self._seed = f"{seed} {name}".encode()
        self._bits: np.random.PCG64 | None = None
        self._consumed = 0
        self._stream = self._streams.setdefault((seed, name), [])
        self._place = 0

    def _drawn(self, what: tuple[Any, ...], count: int, make: Callable[[Array], Array]) -> Array:
        """What `make` makes of the stream's next `count` integers; `what` names it.

        A class draws the same for each of its students. The array is the caller's own.
        """
        place, self._place = self._place, self._place + 1
        if place < len(self._stream):
            known = self._stream[place]
            if known.what == what and known.values is not None:
                return known.values.copy()
            if known.what != what:  # a check that draws by what the student answered
                del self._stream[place:]
        before = self._stream[place - 1].consumed if place else 0
        values = make(self._integers(before, count))
        if place == len(self._stream):
            kept = values.copy() if values.size <= MAX_KEPT else None
            self._stream.append(_Drawn(what, before + count, kept))
        return values

    def _integers(self, before: int, count: int) -> Array:
        """`count` uniform integers of 32 bits, as uint64, after the stream's first `before`."""
        if self._bits is None or self._consumed != before:
            digest = hashlib.blake2b(self._seed, digest_size=16).digest()
            self._bits = np.random.PCG64(int.from_bytes(digest, "little"))
            self._bits.advance(before)
        self._consumed = before + count
        raw: Array = np.atleast_1d(np.asarray(self._bits.random_raw(count), np.uint64))
        return np.right_shift(raw, np.uint64(32))

    def uniform(self, *shape: int, low: float = 0.0, high: float = 1.0, dtype: Any = np.float64) -> Array:
        """Uniform numbers in [low, high), shape `shape`, in steps of 2⁻²⁰ of the range."""

        def make(raw: Array) -> Array:
            numbers: Array = low + (high - low) * ((raw >> np.uint64(12)).astype(np.float64) / 2**20)
            return numbers.reshape(shape).astype(dtype)

        return self._drawn(("uniform", shape, low, high, dtype), math.prod(shape), make)

    def normal(self, *shape: int, scale: float = 1.0, dtype: Any = np.float64) -> Array:
        """Nearly normal numbers, mean 0, standard deviation `scale`, shape `shape`.

        The sum of twelve uniform numbers less 6 has variance 1 (Irwin 1927, Hall 1927). All of it is exact: sums of
        multiples of 2⁻²⁰.
        """
        count = math.prod(shape)

        def make(raw: Array) -> Array:
            steps = (raw >> np.uint64(12)).reshape(12, count).sum(axis=0)
            numbers: Array = scale * (steps.astype(np.float64) / 2**20 - 6.0)
            return numbers.reshape(shape).astype(dtype)

        return self._drawn(("normal", shape, scale, dtype), 12 * count, make)

    def integers(self, *shape: int, low: int = 0, high: int) -> Array:
        """Integers in [low, high), int64, shape `shape`."""

        def make(raw: Array) -> Array:
            return (low + (raw % np.uint64(high - low)).astype(np.int64)).reshape(shape)

        return self._drawn(("integers", shape, low, high), math.prod(shape), make)

    def booleans(self, *shape: int, true: float = 0.5) -> Array:
        """Booleans that are True with probability `true`, shape `shape`."""
        return self.uniform(*shape) < true

    def text(self, length: int, alphabet: str) -> str:
        """`length` characters of `alphabet`."""
        return "".join(alphabet[int(i)] for i in self.integers(length, high=len(alphabet)))

    def rng(self) -> Rng:
        """A seeded `numpy.random.Generator` for the student's function, made in the student's process."""
        return Rng(int(self._drawn(("rng",), 1, lambda raw: raw)[0]))
