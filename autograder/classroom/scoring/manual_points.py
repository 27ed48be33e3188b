"""Points that an instructor gives by hand: the records that scores are computed from (see `comment_records.py`)."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Adjustment:
    """One change of an assignment's score by an instructor: points added, or a score set."""

    text: str = ""  # why, for the student
    add: float = 0.0
    score: float | None = None  # replaces everything before it
    by: str = ""
    time: str = ""  # ISO 8601; empty for an entry of course.toml


@dataclass(frozen=True)
class RubricPoints:
    """The points given for one rubric item, and the comment on it."""

    points: float
    comment: str = ""


@dataclass(frozen=True)
class ManualPoints:
    """The points that instructors gave one student by hand for one assignment."""

    rubric: Mapping[str, RubricPoints] = field(default_factory=dict)  # by the item's id
    adjustments: tuple[Adjustment, ...] = ()  # in the order in which they apply
