"""The feedback for one student, at the feedback level of the result document: an HTML page and Markdown."""

import re

from autograder.core.text import clean, counted
from autograder.documents import Document
from autograder.report.class_records import LETTERS
from autograder.report.html import render_page
from autograder.report.wording import (
    LABELS,
    MAP_GLYPHS,
    STATUS_MARKS,
    STATUS_WORDS,
    affected_text,
    broken_file,
    failed_checks,
    headline,
    likely_cause,
    location_text,
    map_legend,
    one_per_finding,
    panel_title,
    points_text,
    worst_value_text,
)

MAX_OUTPUT = 1500
_MARKDOWN = re.compile(r"([\\`*_{}\[\]()<>#+!|~&])")


def check_details(check: Document) -> list[tuple[str, str]]:
    """Return the details of a check as pairs of a label and a text of one or more lines."""
    rows = [
        (LABELS["mistake"], likely_cause(check)),
        (LABELS["hint"], (check["mistake"] or {}).get("hint")),
        (LABELS["inputs"], check["inputs"]),
        worst_value_text(check),
        (LABELS["stage"], check["first_wrong_stage"]),
        (LABELS["location"], _place(check["location"])),
        (LABELS["called_from"], _place((check["location"] or {}).get("called_from"))),
    ]
    # A check that waits for another check of the same function says so in its message.
    if check["blocked_by"] and not (set(check["blocked_by"]) == {check["function"]} and check["message"]):
        rows.append(("blocked by", ", ".join(check["blocked_by"])))
    rows += [(LABELS["warnings"], hint) for hint in check["warnings"]]
    rows.append((LABELS["help"], check["help"]))
    if check["status"] != "passed" and not check["message"] and not any(text for _, text in rows):
        rows.append(("hidden check", "only its points are shown"))
    rows.append((LABELS["affected"], affected_text(check)))
    rows.append((LABELS["also"] if check["mistake"] else "same result in", "\n".join(check.get("also", ()))))
    return [(label, clean(text)) for label, text in rows if text]


def _place(location: Document | None) -> str | None:
    return location_text(location) if location else None


def error_map_text(check: Document) -> str:
    """Return the map of wrong elements and its legend as plain characters, as in the terminal without colours."""
    if not check["error_map"]:
        return ""
    rows = check["error_map"]["rows"]
    legend = "  ".join(f"{MAP_GLYPHS[mark]} {word}" for mark, word in map_legend(check).items())
    return "\n".join([*("".join(MAP_GLYPHS[mark] for mark in row) for row in rows), "", legend])


def reported_checks(function: Document) -> list[Document]:
    """Return the checks of a function to report: those that did not pass, without those that were not started.

    Checks with the same text are merged, because hidden checks have no text, and so are those with the same named
    mistake. The first of them stands for all, with their points and, in `also`, the titles of the others. Those that
    fail because Python cannot read a file are left out: see `file_findings`.
    """
    merged: dict[tuple[str, ...], Document] = {}
    for number, check in enumerate(function["checks"]):
        if check["status"] in ("passed", "not_started") or broken_file(check):
            continue
        is_specific = (check["status"] != "error" and check["message"]) or check["output"].strip()
        texts = check["status"], check["message"], str(check["location"]), str(check["help"])
        key: tuple[str, ...] = (*texts, str(number) if is_specific else "")
        if check["mistake"]:  # one finding, however many checks it fails
            key = (check["status"], check["mistake"]["id"], check["mistake"]["title"])
        if key not in merged:
            merged[key] = {**check, "also": []}
        else:
            first = merged[key]
            first["also"].append(check["title"])
            first["points"] = {name: first["points"][name] + check["points"][name] for name in ("earned", "possible")}
    return list(merged.values())


def file_findings(result: Document) -> list[Document]:
    """Return one finding for each file that Python cannot read or import."""
    return one_per_finding(check for check in failed_checks(result) if broken_file(check))


def scaled_points(student: Document, result: Document) -> dict[str, tuple[str, str]]:
    """Return points under the class's policy and contribution to the score, as text, by assignment.

    Where both are the points of the checks, there is nothing to explain, and the result is empty.
    """
    scaled: dict[str, tuple[str, str]] = {}
    for assignment in result["assignments"]:
        name = assignment["name"]
        grade, weight = student.get("assignments", {}).get(name), student.get("weights", {}).get(name)
        if grade is None or weight is None:
            return {}
        share = grade["score"] / grade["possible"] if grade["possible"] else 0.0
        left_out = "excused" if grade.get("excused") else "dropped" if name in student["dropped"] else ""
        contribution = left_out or f"{weight * share:.4g} / {weight:g}"
        scaled[name] = (f"{grade['score']:.4g} / {grade['possible']:g}", contribution)
    same = all(set(scaled[entry["name"]]) == {points_text(entry["points"])} for entry in result["assignments"])
    return {} if same else scaled


def student_exception_lines(student: Document) -> list[str]:
    """Return one line for each assignment for which the instructor made an exception."""
    return [f"{name}: {grade['exception']}" for name, grade in student["assignments"].items() if grade.get("exception")]


def _student_lines(student: Document) -> list[str]:
    """Return the lines about this student: the instructor's exceptions, and attempts that were not graded."""
    return [*student_exception_lines(student), *filter(None, [student.get("limit_note")])]


def as_html(student: Document, result: Document | None) -> str:
    """Return the HTML page for a student's entry in the class document, and the result document if there is one.

    If the entry has `weights`, those of the assignments by name, the page explains how the score is computed.
    """
    return render_page(
        "student.html.j2",
        styles=("page.css", "student.css"),
        student={**student, "name": clean(student["name"], 120), "reason": clean(student["reason"])},
        result=result,
        details=check_details,
        error_map=error_map_text,
        headline=headline,
        reported_checks=reported_checks,
        file_findings=file_findings(result) if result else [],
        file_of=broken_file,
        output=lambda check: clean(check["output"], MAX_OUTPUT),
        clean=clean,
        words=STATUS_WORDS,
        letters=LETTERS,
        marks=STATUS_MARKS,
        points_text=points_text,
        scale=scaled_points(student, result) if result else {},
        student_lines=[clean(line) for line in _student_lines(student)],
        days=counted(student["late_days"], "day"),
    )


def as_markdown(student: Document, result: Document | None) -> str:
    """Return the feedback as Markdown, for an issue, a pull request or an email. Student text is in code blocks."""
    lines = [f"# {_escaped(student['name'])}", ""]
    if result is None:
        return "\n".join([*lines, f"{student['status']}: {_escaped(student['reason'])}", ""])
    total = f"**{student['score']:.4g} of {student['out_of']:g}**"
    score = f"Score: {total if student['out_of'] else 'none, because no assignment counts'}"
    late = f", {student['penalty']:.4g} points deducted: {counted(student['late_days'], 'day')} late"
    lines += [score + late if student["penalty"] else score, ""]
    lines += [f"- {_escaped(note)}" for note in [*_student_lines(student), *result["notes"]]]
    scaled = scaled_points(student, result)
    lines += ["", f"| assignment | {'checks | points | score' if scaled else 'points'} | passed |"]
    lines += [f"|---|---:|{'---:|---:|' if scaled else ''}---:|"]
    for assignment in result["assignments"]:
        passed = sum(function["status"] == "passed" for function in assignment["functions"])
        count = len(assignment["functions"])
        cells = [assignment["name"], points_text(assignment["points"]), *scaled.get(assignment["name"], ())]
        lines.append(f"| {' | '.join(cells)} | {passed} of {count} functions |")
    lines += [line for finding in file_findings(result) for line in _check_lines(finding)]
    functions = [function for assignment in result["assignments"] for function in assignment["functions"]]
    lines += [line for function in functions for check in reported_checks(function) for line in _check_lines(check)]
    return "\n".join(lines) + "\n"


def _check_lines(check: Document) -> list[str]:
    mark, status = STATUS_MARKS[check["status"]], STATUS_WORDS[check["status"]]
    subject, title = panel_title(check)
    head = f"## {mark} {subject}{title and f': {_escaped(title)}'}"
    lines = ["", head, "", f"{status}, {points_text(check['points'])} points", ""]
    rows = [f"{label + ':':19} {text}".replace("\n", "\n" + 20 * " ") for label, text in check_details(check)]
    rows = [clean(headline(check)), *rows] if check["message"] else rows
    lines += [_code_block("\n".join(rows))] if rows else []
    lines += ["", _code_block(error_map_text(check))] if check["error_map"] else []
    lines += ["", "printed:", "", _code_block(clean(check["output"], MAX_OUTPUT))] if check["output"].strip() else []
    return lines


def _escaped(text: str) -> str:
    """Return the text, on one line, without characters that mean something in Markdown."""
    return _MARKDOWN.sub(r"\\\1", " ".join(clean(text, 400).split()))


def _code_block(text: str) -> str:
    """Return a code block that the text cannot end: its fence is longer than any in the text."""
    fence = "`" * max(3, *(len(run) + 1 for run in re.findall("`*", text)))
    return f"{fence}text\n{text}\n{fence}"
