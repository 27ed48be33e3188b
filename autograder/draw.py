"""Random inputs for checks: the same on every machine, for ever, and exactly representable.

NumPy guarantees the raw output of its bit generators (NEP 19) but not what `Generator.normal` makes of it, and a
logarithm differs between C libraries in its last bit. The memo of PyTorch's answers is found by the inputs' exact
bytes, so inputs are made from raw integers with exact arithmetic only.
"""

import hashlib
import math
from typing import Any

import numpy as np

from autograder.frames import Rng

Array = np.ndarray[Any, np.dtype[Any]]


class Draw:
    """A stream of inputs for one check.

    Args:
        seed: the run's seed; 0 is the public one.
        name: the check's name: each check has a stream of its own, so that adding a check changes no other.
    """

    def __init__(self, seed: int, name: str) -> None:
        self.restart(seed, name)

    def restart(self, seed: int, name: str) -> None:
        """Begin the stream of another check."""
        digest = hashlib.blake2b(f"{seed} {name}".encode(), digest_size=16).digest()
        self._bits = np.random.PCG64(int.from_bytes(digest, "little"))

    def _integers(self, count: int) -> Array:
        """`count` uniform integers of 32 bits, as uint64."""
        raw: Array = np.atleast_1d(np.asarray(self._bits.random_raw(count), np.uint64))
        return np.right_shift(raw, np.uint64(32))

    def uniform(self, *shape: int, low: float = 0.0, high: float = 1.0, dtype: Any = np.float64) -> Array:
        """Uniform numbers in [low, high), shape `shape`, in steps of 2⁻²⁰ of the range."""
        steps = self._integers(math.prod(shape)) >> np.uint64(12)
        numbers: Array = low + (high - low) * (steps.astype(np.float64) / 2**20)
        return numbers.reshape(shape).astype(dtype)

    def normal(self, *shape: int, scale: float = 1.0, dtype: Any = np.float64) -> Array:
        """Nearly normal numbers, mean 0, standard deviation `scale`, shape `shape`.

        The sum of twelve uniform numbers less 6 has variance 1 (Irwin 1927, Hall 1927). All of it is exact: sums of
        multiples of 2⁻²⁰.
        """
        count = math.prod(shape)
        steps = (self._integers(12 * count) >> np.uint64(12)).reshape(12, count).sum(axis=0)
        numbers: Array = scale * (steps.astype(np.float64) / 2**20 - 6.0)
        return numbers.reshape(shape).astype(dtype)

    def integers(self, *shape: int, low: int = 0, high: int) -> Array:
        """Integers in [low, high), int64, shape `shape`."""
        return (low + (self._integers(math.prod(shape)) % np.uint64(high - low)).astype(np.int64)).reshape(shape)

    def booleans(self, *shape: int, true: float = 0.5) -> Array:
        """Booleans that are True with probability `true`, shape `shape`."""
        return self.uniform(*shape) < true

    def text(self, length: int, alphabet: str) -> str:
        """`length` characters of `alphabet`."""
        return "".join(alphabet[int(i)] for i in self.integers(length, high=len(alphabet)))

    def rng(self) -> Rng:
        """A seeded `numpy.random.Generator` for the student's function, made in the student's process."""
        return Rng(int(self._integers(1)[0]))
