"""Points as people read them: rounded to two decimals, half up, in tables, exports and sentences alike."""

from decimal import ROUND_HALF_UP, Decimal

_HUNDREDTH = Decimal("0.01")


def rounded_points(value: float) -> Decimal:
    """Return points rounded to two decimals.

    They are first rounded to six, as in documents: 0.285 is less than that in binary, and people expect 0.29.
    """
    return Decimal(f"{value:.6f}").quantize(_HUNDREDTH, ROUND_HALF_UP)


def format_points(value: float | Decimal) -> str:
    """Return points as text with at most two decimals, no exponent and no trailing zeros."""
    text = f"{rounded_points(float(value)):f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text
