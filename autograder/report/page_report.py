"""The check report for a page in a browser: a result document as sentences and tables, without HTML.

Every text is composed here, with the words of the terminal report; `static/report.js` only lays it out. Text of
students is cleaned of control and direction characters, and still has to be shown as text, never as HTML.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from autograder.core.text import clean, counted
from autograder.documents.reading import Document
from autograder.report import value_words, wording

MAX_OUTPUT_LINES = 200  # more than in the terminal, because the page folds them


def page_report(document: Document) -> dict[str, Any]:
    """Return what a page shows of a result document: the findings that the terminal shows first, and what is left."""
    checks = wording.all_checks(document)
    findings = wording.one_per_finding(wording.failed_checks(document))
    shown = wording.first_failures(findings)[: wording.MAX_FAILURES]
    left = [
        f"{finding['function']}: {clean(title)}"
        for finding in findings
        if finding not in shown
        for title in (finding["title"], *finding["also"])
    ]
    return {
        "passed": bool(document["passed"]) and not document["internal_errors"],
        "subject": wording.subject(checks),
        "headline": wording.verdict(document),
        "points": document["points"],
        "points_text": f"{wording.total_points_text(document)} points",
        "counts": [
            {"status": status, "count": count, "word": word} for status, count, word in wording.check_counts(checks)
        ],
        "seconds": document["seconds"],
        "notes": [clean(note) for note in document["notes"]],
        "internal_errors": [f"{wording.INTERNAL_ERROR}{clean(error)}" for error in document["internal_errors"]],
        "cards": [_card(finding) for finding in shown],
        "waiting": [clean(line) for line in wording.waiting_lines(checks)],
        "remaining": wording.remaining_text(len(left)) if left else "",
        "remaining_titles": left,  # function and title of each failed check that has no card
        "labels": dict(wording.LABELS),
    }


def _card(check: Document) -> dict[str, Any]:
    """Return one finding: the first failed check of a function, and those that fail for the same reason."""
    status, mistake, worst = check["status"], wording.cause(check) and check["mistake"], value_words.worst_value(check)
    subject, title = wording.panel_title(check)
    texts = {key: clean(mistake[key]) for key in ("title", "reason", "explanation", "hint")} if mistake else {}
    return {
        "function": subject,  # or the file that Python cannot read or import; then there is no title
        "title": clean(title),
        "status": status,
        "word": wording.STATUS_WORDS[status],
        "points_text": f"{wording.points_text(check['points'])} points",
        "message": clean(wording.headline(check)),
        "inputs": clean(check["inputs"] or ""),
        "also": [clean(title) for title in check["also"]],
        "affected": wording.affected_text(check),
        "help": clean(check["help"] or ""),
        "mistake": mistake and {"label": wording.cause_label(check), **texts},
        "values": worst and {key: clean(text) for key, text in worst._asdict().items()},
        "shapes": check["shapes"] and {whose: str(tuple(sizes)) for whose, sizes in check["shapes"].items()},
        "map": _error_map(check) if check["error_map"] else None,
        "stage": clean(check["first_wrong_stage"] or ""),
        "location": _location(check["location"]),
        "called_from": _location(check["called_from"]),
        "output": wording.shortened(clean(check["output"], 20_000), MAX_OUTPUT_LINES),
        "warnings": [clean(warning) for warning in check["warnings"][: wording.MAX_WARNINGS]],
    }  # fmt: skip


def _location(location: Document | None) -> dict[str, Any] | None:
    return {**location, "file": clean(location["file"]), "text": clean(location["text"])} if location else None


def _error_map(check: Document) -> dict[str, Any]:
    """Return the map of wrong elements; the numbers of both arrays where it is small."""
    picture = check["error_map"]
    down, across = value_words.map_axes(picture)
    rows: list[str] = picture["rows"]
    row_labels = _index_labels(down or "row", picture["shape"][-2], len(rows))
    if len(rows) == 1 and not down:
        row_labels = [""]  # of a vector
    legend = value_words.map_legend(check)
    return {
        "rows": rows,
        "axes": [down, across],  # empty where an axis has no name
        "at": clean(picture["at"]),
        "row_labels": row_labels,
        "column_labels": _index_labels(across or "column", picture["shape"][-1], len(rows[0])),
        "yours": _numbers(picture.get("yours")),
        "expected": _numbers(picture.get("expected")),
        "yours_short": _numbers(picture.get("yours"), short=True),
        "expected_short": _numbers(picture.get("expected"), short=True),
        "legend": [entry._asdict() for entry in legend],
        "legend_note": value_words.threshold_note(legend),
        "description": _description(picture, legend),  # for readers who do not see the map
    }


def _index_labels(axis: str, size: int, groups: int) -> list[str]:
    """Return a label for each row or column of the map; it stands for several elements where the array is larger."""
    edges = [int(group * (size / groups)) for group in range(groups)] + [size]
    ranges = pairwise(edges)
    return [f"{axis} {start}" if end - start == 1 else f"{axis} {start} to {end - 1}" for start, end in ranges]


def _numbers(values: list[list[object]] | None, short: bool = False) -> list[list[str]] | None:
    if values is None:
        return None
    text = value_words.short_number if short else value_words.number
    return [[clean(text(value), 200) for value in row] for row in values]


def _description(picture: Document, legend: Sequence[value_words.LegendEntry]) -> str:
    height, width = picture["shape"][-2:]
    shown = "".join(picture["rows"])
    counts = [f"{shown.count(entry.mark)} {entry.word}" for entry in legend]
    place = f" at {clean(picture['at'])}" if picture["at"] else ""
    merged = height * width > len(shown)
    marks = f"{counted(len(shown), 'mark')}, each for the largest error of a group of elements" if merged else ""
    what = f"{height} by {width} elements{place}" if height > 1 else f"{counted(width, 'element')}{place}"
    return f"Map of {what}{f', in {marks}' if marks else ''}: {', '.join(counts)}."
