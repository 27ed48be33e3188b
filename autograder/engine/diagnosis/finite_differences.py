"""Recognize difference quotients: (f(x + h) - f(x - h)) / 2h leaves a pattern in the last digits of a gradient.

Floats near f are whole multiples of their spacing u, a power of 2, and so is the difference of two of them. The
quotient, and every entry of such a gradient, is then a whole multiple of u / 2h. Numbers computed by a formula are not:
the chance that six different numbers are all this close to multiples of one of the spacings tried is 1 in 10¹¹. This
holds for any forward pass.
"""

from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

# Usual choices of h. The smallest first: a whole multiple for one h is a whole multiple for ten times that h, too.
STEPS = tuple(10.0**-power for power in range(8, 1, -1))
MIN_ENTRIES = 6  # different numbers that must be whole multiples
MAX_DISTANCE = 0.002  # from a whole number
MAX_MULTIPLE = 2.0**42  # Larger ones have rounding errors, of about 2⁻⁵², beyond that distance.


def find_step(values: Array, spacing: Array | None = None) -> float | None:
    """Return the step h if the values, entries of a float64 gradient, are provably difference quotients, else None.

    `spacing` is that of floats near the forward value of each entry, same shape; None if all entries are derivatives of
    one number, whose spacing is found by trying.
    """
    usable = np.isfinite(values) & (values != 0)
    if spacing is not None:
        usable &= spacing > 0
    numbers, first = np.unique(np.abs(values[usable]), return_index=True)
    if len(numbers) < MIN_ENTRIES or _share_a_grid(numbers):  # Round numbers are multiples of anything.
        return None
    for step in STEPS:
        differences = numbers * (2 * step)  # twice the difference, if it was divided by h only
        if spacing is None:
            if _share_a_grid(differences):
                return step
        else:
            multiples = differences / spacing[usable][first]
            multiples = multiples[multiples < MAX_MULTIPLE]
            if len(multiples) >= MIN_ENTRIES and _all_whole(multiples):
                return step
    return None


def _share_a_grid(numbers: Array) -> bool:
    """Return whether all are whole multiples of one power of 2, trying coarse ones first."""
    top = int(np.frexp(numbers.max())[1])
    return any(_all_whole(np.ldexp(numbers, bits - top)) for bits in range(8, 42))


def _all_whole(multiples: Array) -> bool:
    nearest = np.rint(multiples)
    return bool(((np.abs(multiples - nearest) <= MAX_DISTANCE) & (nearest > 0)).all())
