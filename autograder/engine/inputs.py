"""Random inputs for checks: the same on every machine and in every version.

The memo of PyTorch's answers is keyed by the exact bytes of the inputs. NumPy guarantees the raw output of its bit
generators (NEP 19), but not that of `Generator.normal`, and a logarithm differs between C libraries in its last bit. So
inputs are made from raw integers with exact arithmetic only.
"""

import hashlib
import math
import secrets
from collections.abc import Callable
from typing import Any

import numpy as np

from autograder.core.wire_format import Rng

Array = np.ndarray[Any, np.dtype[Any]]

MAX_REMEMBERED = 1 << 16  # Larger arrays are drawn again each time.


def fresh_seed() -> int:
    """Return an unpredictable seed, never 0, which gives the public inputs. Result documents record it."""
    return secrets.randbelow(2**31 - 1) + 1


class RandomInputs:
    """A stream of random inputs for one check, so that a new check does not change the inputs of the others."""

    def __init__(self, seed: int, name: str) -> None:
        # The request and the values of each draw, by the stream and the number of draws before it.
        self._remembered: dict[tuple[bytes, int], tuple[tuple[Any, ...], Array]] = {}
        self.restart(seed, name)

    def restart(self, seed: int, name: str) -> None:
        """Begin the stream of a check, from its start. Values that were drawn before are remembered."""
        self._stream = f"{seed} {name}".encode()
        self._bits: np.random.PCG64 | None = None
        self._generated = self._position = self._draws = 0

    @property
    def is_used(self) -> bool:
        """Whether the current check has drawn anything, so that its inputs depend on the seed."""
        return self._draws > 0

    def _draw(self, request: tuple[Any, ...], count: int, make: Callable[[Array], Array]) -> Array:
        """Return a new array that `make` computes from the stream's next `count` integers.

        It is remembered by its request, because a class draws the same values for each student.
        """
        key, request = (self._stream, self._draws), (self._position, *request)
        known = self._remembered.get(key)
        if known is not None and known[0] == request:
            values = known[1].copy()
        else:
            values = make(self._integers(count))
            if values.size <= MAX_REMEMBERED:
                self._remembered[key] = request, values.copy()
        self._draws += 1
        self._position += count
        return values

    def _integers(self, count: int) -> Array:
        """Return the stream's next `count` uniform 32-bit integers, as uint64."""
        if self._bits is None or self._generated != self._position:
            digest = hashlib.blake2b(self._stream, digest_size=16).digest()
            self._bits = np.random.PCG64(int.from_bytes(digest, "little"))
            self._bits.advance(self._position)
        self._generated = self._position + count
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
