"""The page of a class: the values that `class.html.j2` shows, and the data that its script sorts and searches."""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from autograder.core.text import clean
from autograder.report.class_records import (
    GROUPS,
    HISTOGRAM_BINS,
    LETTERS,
    ClassComparison,
    ClassRecords,
    SimilarityResult,
    StudentRecord,
    histogram,
)
from autograder.report.html import render_page
from autograder.report.open_questions import QuestionLine
from autograder.report.wording import STATUS_MARKS, STATUS_WORDS

BAR_HEIGHT = 130  # of the highest bar of the histogram, in the units of its viewBox
LOW_DISCRIMINATION = 0.2  # below it, a function hardly tells strong students from weak ones (Ebel 1965)
MAX_COLUMNS = 8  # assignments in the table of sections
MAX_CHANGES = 10  # students with the largest gains, and losses
LETTER_WORDS = {letter: STATUS_WORDS[status] for status, letter in LETTERS.items()}


@dataclass
class ClassPageLinks:
    """The addresses that the page links to, relative to it; a function returns None where there is no page."""

    feedback: Callable[[StudentRecord], str | None] = lambda student: None
    results: Callable[[StudentRecord], str | None] = lambda student: None


def render_class(
    records: ClassRecords,
    links: ClassPageLinks | None = None,
    similarity: SimilarityResult | None = None,
    comparison: ClassComparison | None = None,
    questions: Sequence[QuestionLine] = (),
    out: str = "OUT",
) -> str:
    """Return the page; `questions` are open, and `out` is the folder of the class, for commands."""
    links, similarity = links or ClassPageLinks(), similarity or SimilarityResult()
    checks_by_assignment, blocked = defaultdict(list), Counter[str]()
    for check in records.checks.values():
        assignment = check.function.partition(".")[0]
        checks_by_assignment[assignment].append(check)
        blocked[assignment] += check.statuses["blocked"]
    changes = comparison.changes if comparison else []
    groups = [(title, records.groups(kind)) for title, kind in GROUPS.items()]
    return render_page(
        "class.html.j2",
        styles=("page.css", "class.css"),
        script="class.js",
        data=_script_data(records, links, similarity),
        records=records,
        letters=LETTERS,
        words=LETTER_WORDS,
        bins=_histogram_bins,
        groups=[(title, rows) for title, rows in groups if rows],
        columns=records.assignments if len(records.assignments) <= MAX_COLUMNS else [],
        comparison=comparison,
        gains=[change for change in changes if change.after > change.before][:MAX_CHANGES],
        losses=[change for change in changes[::-1] if change.after < change.before][:MAX_CHANGES],
        page=links.results,
        functions=[_function_row(records, name, comparison) for name in records.functions],
        low_discrimination=LOW_DISCRIMINATION,
        checks_by_assignment=checks_by_assignment,
        blocked=blocked,
        similarity=similarity,
        clean=clean,
        questions=questions,
        out=out,
    )


def _script_data(records: ClassRecords, links: ClassPageLinks, similarity: SimilarityResult) -> dict[str, Any]:
    groups = groupby(records.functions, key=lambda name: name.partition(".")[0])
    pairs: dict[str, list[Any]] = defaultdict(list)  # by submission: the other student's name, share, address
    for pair in similarity.pairs:
        for one, other in ((0, pair.second), (1, pair.first)):
            pairs[pair.submissions[one]].append([other, round(pair.share, 3), pair.page])
    return {
        "words": LETTER_WORDS,
        "marks": {letter: STATUS_MARKS[status] for status, letter in LETTERS.items() if status != "passed"},
        "functions": records.functions,
        "groups": [[name, len(list(names))] for name, names in groups],
        "assignments": [summary.name for summary in records.assignments],
        "mistakes": [[mistake.title, mistake.function] for mistake in records.mistakes],
        "students": [
            [
                *(student.name, student.id, student.submission, student.status, student.reason),
                *(round(student.score, 2), round(student.out_of, 2), student.late_days, student.letters),
                *(student.mistakes, links.feedback(student), student.notes),
                *(links.results(student), student.section, student.ta, pairs.get(student.submission, [])),
                [
                    round(100 * student.shares[one.name]) if one.name in student.shares else None
                    for one in records.assignments
                ],
            ]
            for student in records.students
        ],
    }


def _histogram_bins(shares: list[float]) -> list[dict[str, Any]]:
    counts = histogram(shares)
    highest, step = max([*counts, 1]), 100 // HISTOGRAM_BINS
    return [
        {"label": f"{i * step} to {(i + 1) * step}%", "count": count, "height": round(count * BAR_HEIGHT / highest, 1)}
        for i, count in enumerate(counts)
    ]


def _function_row(records: ClassRecords, name: str, comparison: ClassComparison | None) -> dict[str, Any]:
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
        "before": comparison.pass_rates.get(name) if comparison else None,
        "mean_share": records.statistics[name].mean_share,
        "discrimination": records.statistics[name].discrimination,
        "failed": counts["failed"] + counts["error"] + counts["timeout"],
        "blocked": counts["blocked"],
        "not_started": counts["not_started"],
        "parts": parts,
        "label": ", ".join(f"{count} {STATUS_WORDS[status]}" for status, count in counts.items()),
    }
