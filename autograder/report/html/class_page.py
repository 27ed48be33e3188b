"""The page of a class: what `class.html.j2` shows, and the data that its script sorts and searches."""

from collections.abc import Callable, Sequence
from itertools import groupby
from statistics import mean, median
from typing import Any

from autograder.report import check_report
from autograder.report.class_records import BINS, LETTERS, CheckRecord, ClassRecords, StudentRecord
from autograder.report.html import render

HEIGHT = 130  # of the highest bar
WORDS = {letter: check_report.STATUS_WORDS[status] for status, letter in LETTERS.items()}


def render_class(
    insight: ClassRecords, link: Callable[[StudentRecord], str | None] = lambda student: None, pairs: Sequence[Any] = ()
) -> str:
    """The page, in one file that works without a network.

    Args:
        link: where a student's feedback lies, relative to the page.
        pairs: submissions that are alike, each with `one`, `other`, `share`, `where`.
    """
    shares = [student.share for student in insight.scored] or [0.0]
    by_assignment: dict[str, list[CheckRecord]] = {}
    for check in insight.checks.values():
        by_assignment.setdefault(check.function.partition(".")[0], []).append(check)
    return render(
        "class.html.j2",
        styles=("page.css", "class.css"),
        script="class.js",
        data=_data(insight, link),
        insight=insight,
        letters=LETTERS,
        words=WORDS,
        bins=_bins(insight.histogram()),
        median=median(shares),
        mean=mean(shares),
        lowest=min(shares),
        highest=max(shares),
        functions=[_function(insight, name) for name in insight.functions],
        checks_by_assignment=by_assignment,
        blocked={name: sum(check.statuses["blocked"] for check in checks) for name, checks in by_assignment.items()},
        pairs=list(pairs),
    )


def _data(insight: ClassRecords, link: Callable[[StudentRecord], str | None]) -> dict[str, Any]:
    groups = groupby(insight.functions, key=lambda name: name.partition(".")[0])
    return {
        "words": WORDS,
        "functions": insight.functions,
        "groups": [[name, len(list(names))] for name, names in groups],
        "mistakes": [[named.title, named.function] for named in insight.mistakes],
        "students": [
            [
                *(student.name, student.id, student.submission, student.status, student.reason),
                *(round(student.score, 2), round(student.out_of, 2), student.late_days, student.letters),
                *(student.mistakes, link(student), student.notes),
            ]
            for student in insight.students
        ],
    }


def _bins(counts: list[int]) -> list[dict[str, Any]]:
    highest, step = max([*counts, 1]), 100 // BINS
    return [
        {"label": f"{i * step} to {(i + 1) * step} %", "count": count, "height": round(count * HEIGHT / highest, 1)}
        for i, count in enumerate(counts)
    ]


def _function(insight: ClassRecords, name: str) -> dict[str, Any]:
    found = insight.of_function(name)
    total = found.total() or 1
    parts, start = [], 0.0
    for status in ("passed", "blocked", "failed", "error", "timeout", "not_started"):
        size = 100 * found[status] / total
        if size:
            parts.append({"letter": LETTERS[status], "start": round(start, 2), "width": round(size, 2)})
        start += size
    return {
        "name": name,
        "passed": found["passed"] / total,
        "wrong": found["failed"] + found["error"] + found["timeout"],
        "blocked": found["blocked"],
        "not_started": found["not_started"],
        "parts": parts,
        "label": ", ".join(f"{count} {status.replace('_', ' ')}" for status, count in found.items()),
    }
