"""Random inputs for checks: the same on every machine and in every version.

The memo of PyTorch's answers is keyed by the exact bytes of the inputs. NumPy guarantees the raw output of its bit
generators (NEP 19), but not that of `Generator.normal`, and a logarithm differs between C libraries in its last bit. So
inputs are made from raw integers with exact arithmetic only.
"""

import hashlib
import math
import secrets
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from autograder.core.wire_format import Rng

Array = np.ndarray[Any, np.dtype[Any]]

MAX_REMEMBERED = 1 << 16  # Larger arrays are drawn again each time.


def fresh_seed() -> int:
    """Return an unpredictable seed, never 0, which gives the public inputs. Result documents record it."""
    return secrets.randbelow(2**31 - 1) + 1


class _Drawn(NamedTuple):
    """One draw from a stream: the request, the position of the stream after it, and the values, if they are few."""

    request: tuple[Any, ...]
    consumed: int
    values: Array | None


class RandomInputs:
    """A stream of random inputs for one check, so that a new check does not change the inputs of the others."""

    def __init__(self, seed: int, name: str) -> None:
        self._streams: dict[tuple[int, str], list[_Drawn]] = {}
        self.restart(seed, name)

    def restart(self, seed: int, name: str) -> None:
        """Begin the stream of a check, from its start. Values that were drawn before are remembered."""
        self._seed = f"{seed} {name}".encode()
        self._bits: np.random.PCG64 | None = None
        self._stream = self._streams.setdefault((seed, name), [])
        self._consumed = self._place = 0

    @property
    def is_used(self) -> bool:
        """Whether the current check has drawn anything, so that its inputs depend on the seed."""
        return self._place > 0

    def _draw(self, request: tuple[Any, ...], count: int, make: Callable[[Array], Array]) -> Array:
        """Return a new array that `make` computes from the stream's next `count` integers.

        It is remembered by its request, because a class draws the same values for each student.
        """
        place, self._place = self._place, self._place + 1
        if place < len(self._stream):
            known = self._stream[place]
            if known.request == request and known.values is not None:
                return known.values.copy()
            if known.request != request:  # This check's draws depend on the student's answers.
                del self._stream[place:]
        before = self._stream[place - 1].consumed if place else 0
        values = make(self._integers(before, count))
        if place == len(self._stream):
            remembered = values.copy() if values.size <= MAX_REMEMBERED else None
            self._stream.append(_Drawn(request, before + count, remembered))
        return values

    def _integers(self, before: int, count: int) -> Array:
        """Return `count` uniform 32-bit integers, as uint64, that follow the stream's first `before`."""
        if self._bits is None or self._consumed != before:
            digest = hashlib.blake2b(self._seed, digest_size=16).digest()
            self._bits = np.random.PCG64(int.from_bytes(digest, "little"))
            self._bits.advance(before)
        self._consumed = before + count
        raw: Array = np.atleast_1d(np.asarray(self._bits.random_raw(count), np.uint64))
        return np.right_shift(raw, np.uint64(32))

    def uniform(self, *shape: int, low: float = 0.0, high: float = 1.0, dtype: Any = np.float64) -> Array:
        """Return uniform numbers in [low, high), shape `shape`, in steps of 2⁻²⁰ of the range."""

        def make(raw: Array) -> Array:
            numbers: Array = low + (high - low) * ((raw >> np.uint64(12)).astype(np.float64) / 2**20)
            return numbers.reshape(shape).astype(dtype)

        return self._draw(("uniform", shape, low, high, dtype), math.prod(shape), make)

    def normal(self, *shape: int, scale: float = 1.0, dtype: Any = np.float64) -> Array:
        """Return nearly normal numbers, mean 0, standard deviation `scale`, shape `shape`."""
        count = math.prod(shape)

        def make(raw: Array) -> Array:
            # The sum of twelve uniform numbers minus 6 has variance 1 (Irwin 1927, Hall 1927). It is exact, because
            # its terms are multiples of 2⁻²⁰.
            steps = (raw >> np.uint64(12)).reshape(12, count).sum(axis=0)
            numbers: Array = scale * (steps.astype(np.float64) / 2**20 - 6.0)
            return numbers.reshape(shape).astype(dtype)

        return self._draw(("normal", shape, scale, dtype), 12 * count, make)

    def integers(self, *shape: int, low: int = 0, high: int) -> Array:
        """Return integers in [low, high), int64, shape `shape`."""
        request, span = ("integers", shape, low, high), np.uint64(high - low)
        return self._draw(request, math.prod(shape), lambda raw: (low + (raw % span).astype(np.int64)).reshape(shape))

    def booleans(self, *shape: int, true: float = 0.5) -> Array:
        """Return booleans that are True with probability `true`, shape `shape`."""
        return self.uniform(*shape) < true

    def text(self, length: int, alphabet: str) -> str:
        """Return `length` random characters of `alphabet`."""
        return "".join(alphabet[int(i)] for i in self.integers(length, high=len(alphabet)))

    def rng(self) -> Rng:
        """Return a seeded `numpy.random.Generator`, which is created in the student's process."""
        return Rng(int(self._draw(("rng",), 1, lambda raw: raw)[0]))
