"""The page of a class: the values that `class.html.j2` shows, and the data that its script sorts and searches."""

from collections import Counter, defaultdict
from collections.abc import Callable
from itertools import groupby
from statistics import mean, median
from typing import Any

from autograder.core.text import clean
from autograder.report.class_records import HISTOGRAM_BINS, LETTERS, ClassRecords, SimilarityResult, StudentRecord
from autograder.report.html import render_page
from autograder.report.wording import STATUS_WORDS

BAR_HEIGHT = 130  # of the highest bar of the histogram, in the units of its viewBox
LETTER_WORDS = {letter: STATUS_WORDS[status] for status, letter in LETTERS.items()}


def render_class(
    records: ClassRecords,
    link: Callable[[StudentRecord], str | None] = lambda student: None,
    similarity: SimilarityResult | None = None,
) -> str:
    """Return the page; `link` returns the address of a student's feedback, relative to the page."""
    shares = [student.share for student in records.scored] or [0.0]
    checks_by_assignment, blocked = defaultdict(list), Counter[str]()
    for check in records.checks.values():
        assignment = check.function.partition(".")[0]
        checks_by_assignment[assignment].append(check)
        blocked[assignment] += check.statuses["blocked"]
    return render_page(
        "class.html.j2",
        styles=("page.css", "class.css"),
        script="class.js",
        data=_script_data(records, link),
        records=records,
        letters=LETTERS,
        words=LETTER_WORDS,
        bins=_histogram_bins(records.histogram()),
        median=median(shares),
        mean=mean(shares),
        lowest=min(shares),
        highest=max(shares),
        functions=[_function_row(records, name) for name in records.functions],
        checks_by_assignment=checks_by_assignment,
        blocked=blocked,
        similarity=similarity or SimilarityResult(),
        clean=clean,
    )


def _script_data(records: ClassRecords, link: Callable[[StudentRecord], str | None]) -> dict[str, Any]:
    groups = groupby(records.functions, key=lambda name: name.partition(".")[0])
    return {
        "words": LETTER_WORDS,
        "functions": records.functions,
        "groups": [[name, len(list(names))] for name, names in groups],
        "mistakes": [[mistake.title, mistake.function] for mistake in records.mistakes],
        "students": [
            [
                *(student.name, student.id, student.submission, student.status, student.reason),
                *(round(student.score, 2), round(student.out_of, 2), student.late_days, student.letters),
                *(student.mistakes, link(student), student.notes),
            ]
            for student in records.students
        ],
    }


def _histogram_bins(counts: list[int]) -> list[dict[str, Any]]:
    highest, step = max([*counts, 1]), 100 // HISTOGRAM_BINS
    return [
        {"label": f"{i * step} to {(i + 1) * step}%", "count": count, "height": round(count * BAR_HEIGHT / highest, 1)}
        for i, count in enumerate(counts)
    ]


def _function_row(records: ClassRecords, name: str) -> dict[str, Any]:
    counts = records.status_counts(name)
    total = counts.total() or 1
    parts, start = [], 0.0
    for status in ("passed", "blocked", "failed", "error", "timeout", "not_started"):
        if size := 100 * counts[status] / total:
            parts.append({"letter": LETTERS[status], "start": round(start, 2), "width": round(size, 2)})
            start += size
    return {
        "name": name,
        "pass_rate": counts["passed"] / total,
        "failed": counts["failed"] + counts["error"] + counts["timeout"],
        "blocked": counts["blocked"],
        "not_started": counts["not_started"],
        "parts": parts,
        "label": ", ".join(f"{count} {STATUS_WORDS[status]}" for status, count in counts.items()),
    }
