"""Is a gradient a difference quotient? What (f(x + h) - f(x - h)) / 2h leaves behind in its last digits.

Floats near f are whole multiples of their spacing u, a power of 2, and so is the difference of two of them. The
quotient is then a whole multiple of u / 2h, and so is every entry of such a gradient. What was computed by a formula is
not: that six different numbers all come that near to multiples of one of the spacings tried happens once in 10¹¹ times.
So it is a proof, whatever the forward pass looks like.
"""

from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

# h, as people choose it. The smallest first: what is a whole multiple for one is so for ten times as much, too.
STEPS = tuple(10.0**-power for power in range(8, 1, -1))
ENTRIES = 6  # different numbers that have to be whole multiples
NEAR = 0.002  # of a whole number
LARGEST = 2.0**42  # multiples whose own rounding, of 2⁻⁵² and some, is still less than that


def step_of(values: Array, spacing: Array | None = None) -> float | None:
    """The h of a difference quotient, or None if it is not proved to be one.

    Args:
        values: entries of a gradient, float64.
        spacing: that of floats around each of them before the division, if every entry has its own forward value.
            None: all are quotients of one number, whose spacing is found by trying.
    """
    usable = np.isfinite(values) & (values != 0)
    if spacing is not None:
        usable &= spacing > 0
    numbers, first = np.unique(np.abs(values[usable]), return_index=True)
    if len(numbers) < ENTRIES:
        return None
    if _on_a_grid(numbers):
        return None  # round numbers, as integers in give them: h is round, too, and proves nothing
    for step in STEPS:
        differences = numbers * (2 * step)  # and where only h was divided by, twice the difference
        if spacing is None:
            if _on_a_grid(differences):
                return step
        else:
            multiples = differences / spacing[usable][first]
            multiples = multiples[multiples < LARGEST]
            if len(multiples) >= ENTRIES and _whole(multiples):
                return step
    return None


def _on_a_grid(numbers: Array) -> bool:
    """Whether all are whole multiples of one power of 2, which is tried from coarse to fine."""
    top = int(np.frexp(numbers.max())[1])
    return any(_whole(np.ldexp(numbers, bits - top)) for bits in range(8, 42))


def _whole(multiples: Array) -> bool:
    nearest = np.rint(multiples)
    return bool(((np.abs(multiples - nearest) <= NEAR) & (nearest > 0)).all())
