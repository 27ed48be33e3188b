"""Read the fields of what a page sends, each of which must have its type and lie in its range."""

import math
from collections.abc import Mapping
from typing import Any

from autograder.errors import UsageError


class Fields:
    """The fields of a request. Each is read once; `require_no_others` refuses what is left."""

    def __init__(self, payload: Any) -> None:
        if not isinstance(payload, Mapping):
            raise UsageError("the page sent something unknown. Reload it")
        self._fields = dict(payload)

    def integer(self, name: str, least: int, most: int) -> int | None:
        """Return an integer in a range, or None if it is missing or null."""
        value = self._fields.pop(name, None)
        if value is not None and not (type(value) is int and least <= value <= most):
            raise UsageError(f"{name} must be a whole number from {least:,} to {most:,}")
        return value

    def number(self, name: str, least: float, most: float) -> float | None:
        """Return a number in a range, or None if it is missing or null."""
        value = self._fields.pop(name, None)
        if value is None:
            return None
        if type(value) not in (int, float) or not (math.isfinite(value) and least <= value <= most):
            raise UsageError(f"{name} must be a number from {least:g} to {most:g}")
        return float(value)

    def text(self, name: str, longest: int) -> str | None:
        """Return a text, or None if it is missing or null."""
        value = self._fields.pop(name, None)
        if value is None:
            return None
        if not isinstance(value, str) or len(value) > longest:
            raise UsageError(f"{name} must be a text of at most {longest:,} characters")
        return value

    def required_text(self, name: str, longest: int) -> str:
        """Return a text; raise UsageError if it is missing or empty."""
        if not (value := self.text(name, longest)):
            raise UsageError(f"{name} is missing. Fill it in")
        return value

    def flag(self, name: str, default: bool = False) -> bool:
        """Return true or false."""
        value = self._fields.pop(name, default)
        if type(value) is not bool:
            raise UsageError(f"{name} must be true or false")
        return value

    def require_no_others(self) -> None:
        """Raise UsageError if there are fields that were not read."""
        if self._fields:
            raise UsageError("the page sent something unknown. Reload it")
