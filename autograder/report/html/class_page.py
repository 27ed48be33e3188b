"""The page of a class, whose script sorts and searches its data, and the page of two similar submissions."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from autograder.core.text import clean
from autograder.report.class_records import (
    GROUPS,
    HISTOGRAM_BINS,
    LETTERS,
    STATES,
    ClassComparison,
    ClassRecords,
    SimilarityResult,
    SimilarPair,
    StudentRecord,
    histogram,
)
from autograder.report.code_lines import shown_text
from autograder.report.html import render_page
from autograder.report.open_questions import QuestionLine
from autograder.report.wording import STATUS_MARKS, STATUS_WORDS

NO_RESULT = "-"  # in place of the letter of a status
BAR_HEIGHT = 65  # of the highest bar of the histogram, in percent
LOW_DISCRIMINATION = 0.2  # below it, a function hardly tells strong students from weak ones (Ebel 1965)
MAX_COLUMNS = 8  # assignments in the table of sections
MAX_CHANGES = 10  # students with the largest gains, and losses
AROUND = 2  # lines shown around one that two submissions have in common
MIN_HIDDEN = 4  # lines that are worth a button
WORDS = {letter: STATUS_WORDS[status] for status, letter in LETTERS.items()}
WORDS |= {letter: state for state, letter in STATES.items()} | {STATES["failed"]: "grading failed"}
MARKS = {letter: STATUS_MARKS[status] for status, letter in LETTERS.items()} | dict(zip("xmuwi", "⊘–?…▲", strict=True))

_Line = tuple[int, str, int | None]  # number, text, number of the same line on the other side


def render_class(
    records: ClassRecords,
    similarity: SimilarityResult | None = None,
    comparison: ClassComparison | None = None,
    questions: Sequence[QuestionLine] = (),
    out: str = "OUT",
) -> str:
    """Return the page; `questions` are open, and `out` is the folder of the class, for commands."""
    similarity = similarity or SimilarityResult()
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
        data=_script_data(records, similarity),
        records=records,
        words=WORDS,
        marks=MARKS,
        bins=_histogram_bins,
        groups=[(title, rows) for title, rows in groups if rows],
        columns=records.assignments if len(records.assignments) <= MAX_COLUMNS else [],
        comparison=comparison,
        gains=[change for change in changes if change.after > change.before][:MAX_CHANGES],
        losses=[change for change in changes[::-1] if change.after < change.before][:MAX_CHANGES],
        functions=[_function_row(records, name, comparison) for name in records.functions],
        low_discrimination=LOW_DISCRIMINATION,
        checks_by_assignment=checks_by_assignment,
        blocked=blocked,
        similarity=similarity,
        clean=clean,
        questions=questions,
        out=out,
    )


def _script_data(records: ClassRecords, similarity: SimilarityResult) -> dict[str, Any]:
    groups = groupby(records.functions, key=lambda name: name.partition(".")[0])
    pairs: dict[str, list[Any]] = defaultdict(list)  # by submission: the other student's name, share, address
    for pair in similarity.pairs:
        for one, other in ((0, pair.second), (1, pair.first)):
            pairs[pair.submissions[one]].append([other, round(pair.share, 3), pair.page])
    return {
        "words": WORDS,
        "marks": {letter: mark for letter, mark in MARKS.items() if letter != LETTERS["passed"]},
        "states": [*STATES.values()],
        "functions": records.functions,
        "groups": [[name, len(list(names))] for name, names in groups],
        "assignments": [summary.name for summary in records.assignments],
        "mistakes": [[mistake.title, mistake.function] for mistake in records.mistakes],
        "students": [
            [
                *(student.name, student.id, student.submission, student.status, student.reason),
                *(round(student.score, 2), round(student.out_of, 2), student.late_days, _letters(student, records)),
                *(student.mistakes, student.feedback, student.notes),
                *(student.page, student.section, student.ta, pairs.get(student.submission, [])),
                [
                    round(100 * student.shares[one.name]) if one.name in student.shares else None
                    for one in records.assignments
                ],
            ]
            for student in records.students
        ],
    }


def _letters(student: StudentRecord, records: ClassRecords) -> str:
    """Return a letter for each function, which is the same for all of an assignment without a result that counts."""
    letters = []
    for name in records.functions:
        state, status = student.states.get(name.partition(".")[0]), student.statuses.get(name)
        letters.append(STATES[state] if state in STATES else LETTERS[status] if status else NO_RESULT)
    return "".join(letters)


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


@dataclass(frozen=True)
class PairModule:
    """A module of two students. Everything is given for the first and for the second."""

    name: str
    lines: tuple[list[str], list[str]]
    partners: tuple[dict[int, int], dict[int, int]]  # by common line: the same line on the other side


def render_pair(pair: SimilarPair, modules: list[PairModule], class_page: str) -> str:
    """Return the page; `class_page` is the address of the page of the class."""
    names = clean(pair.first, 120), clean(pair.second, 120)
    return render_page(
        "pair.html.j2",
        styles=("page.css", "student.css", "pair.css"),
        pair=pair,
        names=names,
        modules=[_pair_values(module, names) for module in modules],
        class_page=class_page,
    )


def _pair_values(module: PairModule, names: tuple[str, str]) -> dict[str, Any]:
    sides = []
    for side, name in enumerate(names):
        partners = module.partners[side]
        lines = [(n, shown_text(text), partners.get(n)) for n, text in enumerate(module.lines[side], 1)]
        values = {"name": name, "letter": "ab"[side], "other": "ba"[side], "count": len(lines), "common": len(partners)}
        sides.append({**values, "runs": _runs(lines)})
    return {"name": clean(module.name, 80), "sides": sides}


def _runs(lines: list[_Line]) -> list[tuple[bool, list[_Line]]]:
    """Return the lines in runs, each with whether it is far from every common line, so that it need not be shown."""
    common = [number for number, _, partner in lines if partner]
    near = {number + step for number in common for step in range(-AROUND, AROUND + 1)}
    runs = [(is_far, list(run)) for is_far, run in groupby(lines, key=lambda line: line[0] not in near)]
    return [(is_far and len(run) >= MIN_HIDDEN, run) for is_far, run in runs]
