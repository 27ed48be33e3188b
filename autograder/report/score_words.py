"""Explain in words how a student's score is computed: one line for each assignment, and one for the total.

Every number is rounded to two decimals, as in grades.csv. Where the rounded numbers do not add up, the line says so.
"""

import math
from collections.abc import Collection
from dataclasses import dataclass, field
from decimal import Decimal

from autograder.core.points import format_points, rounded_points
from autograder.core.text import clean, counted
from autograder.documents.reading import Document

_TINY = 1e-4  # documents hold six decimals


def score_texts(student: Document, document: Document) -> dict[str, str]:
    """Return how a student of a class document got each score, by assignment, and last the "total".

    For example: "18 of 20 points, 1 day late: −2, so 16; weight 40: 16 / 20 × 40 = 32".
    """
    texts, contributions = {}, []
    for assignment in document["assignments"]:
        if (grade := student["assignments"].get(assignment["name"])) is not None:
            texts[assignment["name"]] = _assignment_text(grade, assignment["weight"])
            if grade["counts"] == "counts":
                contributions.append(_contribution(grade, assignment["weight"]))
    total, bank = _total_text(student, contributions), document["course"]["policy"].get("late", {}).get("bank")
    if bank:
        used = sum(grade["bank_days"] for grade in student["assignments"].values())
        total += f"; {used} of {counted(bank, 'late day')} taken from the bank"
    return {**texts, "total": total}


def score_lines(student: Document, document: Document, names: Collection[str] = ()) -> list[str]:
    """Return the same as lines that begin with the name; only those of `names`, if there are any."""
    texts = score_texts(student, document)
    return [f"{name}: {text}" for name, text in texts.items() if not names or name in names]


def unmarked_rubric_items(student: Document) -> list[tuple[str, str]]:
    """Return assignment and title of each question of a student's submissions that has no points yet."""
    return [
        (name, item["title"])
        for name, grade in student["assignments"].items()
        if grade["status"] != "missing" and not grade["excused"] and not grade["by_hand"]
        for item in grade["rubric"]
        if item["earned"] is None
    ]


def rubric_texts(student: Document, assignment: str | None = None) -> list[str]:
    """Return what an instructor wrote about each question, after its points; only for one assignment if it is named."""
    return [
        f"{name}, {clean(item['title'], 120)} ({format_points(item['earned'])} of {format_points(item['points'])}): "
        f"{clean(item['comment'])}"
        for name, grade in student["assignments"].items()
        for item in grade["rubric"]
        if item["comment"] and assignment in (None, name)
    ]


def _total_text(student: Document, contributions: list[float]) -> str:
    if student["percent"] is None:
        return "none, because no assignment counts"
    score, out_of, percent = (student[key] for key in ("score", "out_of", "percent"))
    total = f"{format_points(score)} of {format_points(out_of)}"
    if len(contributions) > 1:
        terms = " + ".join(map(format_points, contributions))
        total = f"{terms} = {total}{_rounded(sum(map(rounded_points, contributions)), score)}"
    share = 100 * rounded_points(score) / max(rounded_points(out_of), Decimal("0.01"))
    return f"{total}, which is {format_points(percent)}%{_rounded(share, percent)}"


def _contribution(grade: Document, weight: float) -> float:
    return float(weight * grade["score"] / grade["possible"]) if grade["possible"] else 0.0


def _assignment_text(grade: Document, weight: float) -> str:
    """Return the line of an assignment without its name."""
    if grade["counts"] == "excused":
        return clean(grade["exception"], 400) or "excused, does not count"
    text = ", ".join([*_status(grade), _points(grade), *_steps(grade)])
    if grade["counts"] == "dropped":
        return f"{text}; dropped, does not count"
    if grade["counts"] == "not counted":
        return f"{text}; does not count, because its {'points are' if weight else 'weight is'} 0"
    if math.isclose(weight, grade["possible"], abs_tol=_TINY):
        return text
    score, possible, contribution = grade["score"], grade["possible"], _contribution(grade, weight)
    shown = rounded_points(score) / max(rounded_points(possible), Decimal("0.01")) * rounded_points(weight)
    product = f"{format_points(score)} / {format_points(possible)} × {format_points(weight)}"
    result = f"{format_points(contribution)}{_rounded(shown, contribution)}"
    return f"{text}; weight {format_points(weight)}: {product} = {result}"


def _status(grade: Document) -> list[str]:
    """Return why there are no points from checks, if there are none."""
    if grade["status"] == "missing":
        return ["nothing submitted"]
    if grade["status"] == "waiting":
        return ["not graded yet"]
    return [] if grade["status"] == "graded" else [f"could not be graded ({clean(grade['reason'], 200)})"]


def _points(grade: Document) -> str:
    """Return the points before the late penalty and what they consist of."""
    total = f"{format_points(grade['earned'])} of {format_points(grade['possible'])} points"
    given = [item["earned"] or 0.0 for item in grade["rubric"]]
    if not given and not grade["bonus"]:
        return total
    code = grade["earned"] - grade["bonus"] - sum(given)
    parts = [(code, f"{format_points(code)} for the code")]
    parts += [(grade["bonus"], f"{format_points(grade['bonus'])} for bonus functions")] if grade["bonus"] else []
    for item, points in zip(grade["rubric"], given, strict=True):
        not_yet = " (not graded yet)" if item["earned"] is None else ""
        parts.append((points, f"{format_points(points)} for {clean(item['title'], 120)}{not_yet}"))
    shown = sum((rounded_points(value) for value, _ in parts), Decimal())
    return f"{' + '.join(text for _, text in parts)} = {total}" + _rounded(shown, grade["earned"])


@dataclass
class _Steps:
    """The changes to the points of an assignment after the checks."""

    exact: float
    shown: Decimal  # the sum that a reader gets from the rounded numbers
    texts: list[str] = field(default_factory=list)
    ends_with_score: bool = True  # whether the last step, or the text before it, already shows the result

    def add(self, amount: float, text: str) -> None:
        self.exact, self.shown = self.exact + amount, self.shown + rounded_points(amount)
        self.texts.append(f"{text}: {'+' if amount > 0 else '−'}{format_points(abs(amount))}")
        self.ends_with_score = False

    def replace(self, score: float, text: str) -> None:
        self.exact, self.shown = score, rounded_points(score)
        self.texts.append(text)
        self.ends_with_score = True


def _steps(grade: Document) -> list[str]:
    """Return what changes the points of an assignment after the checks, and the result."""
    steps, score = _Steps(grade["earned"], rounded_points(grade["earned"])), grade["score"]
    late = f"{counted(grade['late_days'], 'day')} late"
    late += f" ({grade['bank_days']} from the bank)" if grade["bank_days"] else ""
    if grade["penalty"]:
        steps.add(-grade["penalty"], late)
    elif grade["late_days"]:
        steps.texts.append(late)
    # A score given by hand replaces everything before it.
    last = max((n for n, one in enumerate(grade["adjustments"]) if one["score"] is not None), default=0)
    for one in grade["adjustments"][last:]:
        reason = f" ({clean(one['text'], 400)})" if one["text"] else ""
        if one["score"] is None:
            steps.add(one["add"], f"{'added' if one['add'] > 0 else 'deducted'}{reason}")
        else:
            steps.replace(one["score"], f"replaced by {format_points(one['score'])} points given by hand{reason}")
    if grade["replaced_by"]:
        steps.replace(score, f"replaced by {format_points(score)} points, the share of {grade['replaced_by']}")
    elif score < steps.exact - _TINY and math.isclose(score, grade["possible"], abs_tol=_TINY):
        steps.replace(score, f"of which at most {format_points(score)} count")
    elif steps.exact < -_TINY and score == 0:
        steps.replace(score, "but at least 0")
    if not steps.ends_with_score:
        steps.texts.append(f"so {format_points(score)}{_rounded(steps.shown, score)}")
    return steps.texts


def _rounded(shown: Decimal | int, exact: float) -> str:
    """Return a note if a sum of rounded numbers is not the rounded sum."""
    return "" if rounded_points(float(shown)) == rounded_points(exact) else " (rounded)"
