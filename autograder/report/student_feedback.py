"""The feedback for one student, at the feedback level of the result document: an HTML page and Markdown."""

import re
from collections.abc import Sequence
from functools import partial
from typing import Any

from autograder.core.points import format_points
from autograder.core.text import clean, code_block, counted, local_time
from autograder.documents.reading import Document
from autograder.report.class_records import LETTERS
from autograder.report.code_lines import CodeFile, Excerpts, ShownLine, code_files, commented_lines, is_changed
from autograder.report.findings import check_details, error_map_text, findings_by_assignment
from autograder.report.html import render_page
from autograder.report.score_words import rubric_texts
from autograder.report.wording import STATUS_MARKS, STATUS_WORDS, comment_place, headline, panel_title, points_text

MAX_OUTPUT = 1500
_MARKDOWN = re.compile(r"([\\`*_{}\[\]()<>#+!|~&])")


def scaled_points(student: Document, result: Document) -> dict[str, tuple[str, str]]:
    """Return points under the class's policy and contribution to the score, as text, by assignment.

    Where both are the points of the checks, there is nothing to explain, and the result is empty.
    """
    scaled: dict[str, tuple[str, str]] = {}
    for assignment in result["assignments"]:
        name = assignment["name"]
        grade, weight = student["assignments"].get(name), student.get("weights", {}).get(name)
        if grade is None or weight is None:
            return {}
        share = grade["score"] / grade["possible"] if grade["possible"] else 0.0
        left_out = "excused" if grade["excused"] else "dropped" if name in student["dropped"] else ""
        contribution = left_out or f"{format_points(weight * share)} / {format_points(weight)}"
        scaled[name] = (f"{format_points(grade['score'])} / {format_points(grade['possible'])}", contribution)
    same = all(set(scaled[entry["name"]]) == {points_text(entry["points"])} for entry in result["assignments"])
    return {} if same else scaled


def student_exception_lines(student: Document) -> list[str]:
    """Return one line for each assignment for which the instructor made an exception."""
    return [f"{name}: {grade['exception']}" for name, grade in student["assignments"].items() if grade["exception"]]


def file_lines(student: Document, result: Document | None) -> list[str]:
    """Return which file was graded for each assignment, and which ones were ignored, and why."""
    files, zone = result["files"] if result else [], student.get("time_zone", "UTC")
    times = {file["name"]: f", changed {local_time(file['changed'], zone)}" for file in files if file["changed"]}
    lines = [
        f"{name}: {file} was graded{times.get(file, '')}"
        for name, grade in student["assignments"].items()
        if (file := grade["graded_file"])
    ]
    graded = {grade["graded_file"] for grade in student["assignments"].values()}
    return lines + [f"{file['name']} {_what_became(file)}" for file in files if file["name"] not in graded]


def _what_became(file: Document) -> str:
    """Return what a file that was not graded was used for."""
    if file["ignored"]:
        return f"was ignored: {file['ignored']}"
    others = ", ".join(file["counts_as"])
    return f"is for {others}, which is not graded here" if others else "was available for import"


def _student_lines(student: Document) -> list[str]:
    """Return the lines about this student: the instructor's exceptions, and attempts that were not graded."""
    return [*student_exception_lines(student), *filter(None, [student["limit_note"]])]


def comment_texts(student: Document, code: Document | None, assignment: str | None) -> list[str]:
    """Return the instructor's comments for systems that show only text: on questions, then others with their lines."""
    files = code_files(code)
    comments = [one for one in student["comments"] if assignment is None or one["assignment"] in ("", assignment)]
    return [*rubric_texts(student, assignment), *(_with_place(one, files) for one in comments)]


def _with_place(comment: Document, files: list[CodeFile]) -> str:
    if not (location := comment["location"]):
        return str(comment["text"])
    before = f", before it was changed ({location['text'].strip()})" if is_changed(files, comment) else ""
    return f"{comment_place(comment)}{before}: {comment['text']}"


def page_values(student: Document) -> dict[str, Any]:
    """Return the values that the parts of every page of one student need."""
    return {
        "details": check_details,
        "error_map": error_map_text,
        "headline": headline,
        "subject": panel_title,
        "output": lambda check: clean(check["output"], MAX_OUTPUT),
        "clean": clean,
        "comment_place": comment_place,
        "local_time": partial(local_time, zone=student.get("time_zone", "UTC")),
        "words": STATUS_WORDS,
        "letters": LETTERS,
        "marks": STATUS_MARKS,
        "points_text": points_text,
    }


def as_html(
    student: Document, result: Document | None, code: Document | None = None, arithmetic: Sequence[str] = ()
) -> str:
    """Return the HTML page for a student's entry in the class document, and the result document if there is one.

    Args:
        student: with `weights`, those of the assignments by name, the page shows how the score is computed; with
            `time_zone`, times are shown in it.
        code: the code document; the page shows the lines that failed.
        arithmetic: how the score is computed, in words.
    """
    files = code_files(code)
    return render_page(
        "student.html.j2",
        styles=("page.css", "student.css"),
        **page_values(student),
        commented=partial(commented_lines, files),
        is_for_student=True,
        student={**student, "name": clean(student["name"], 120), "reason": clean(student["reason"])},
        result=result,
        findings=findings_by_assignment(result) if result else {},
        excerpt=Excerpts(files),
        arithmetic=[clean(line) for line in arithmetic],
        rubric=rubric_texts(student),
        scale=scaled_points(student, result) if result else {},
        student_lines=[clean(line) for line in _student_lines(student)],
        file_lines=[clean(line, 300) for line in file_lines(student, result)],
        days=counted(student["late_days"], "day"),
    )


def as_markdown(
    student: Document, result: Document | None, code: Document | None = None, arithmetic: Sequence[str] = ()
) -> str:
    """Return the feedback as Markdown, for an issue, a pull request or an email. Student text is in code blocks."""
    lines = [f"# {_escaped(student['name'])}", ""]
    files = code_files(code)
    zone = student.get("time_zone", "UTC")
    comments = [f"- {_escaped(text, 2400)}" for text in rubric_texts(student)]
    comments += [line for comment in student["comments"] for line in _comment_lines(comment, files, zone)]
    if result is None:
        return "\n".join([*lines, f"{student['status']}: {_escaped(student['reason'])}", "", *comments])
    total = f"**{format_points(student['score'])} of {format_points(student['out_of'])}**"
    score = f"Score: {total if student['out_of'] else 'none, because no assignment counts'}"
    late = f", {format_points(student['penalty'])} points deducted: {counted(student['late_days'], 'day')} late"
    lines += [score + late if student["penalty"] else score, ""]
    lines += [f"- {_escaped(line)}" for line in [*arithmetic, *_student_lines(student), *result["notes"]]]
    lines += ["", "## Comments", "", *comments] if comments else []
    scaled = scaled_points(student, result)
    lines += ["", f"| assignment | {'checks | points | score' if scaled else 'points'} | passed |"]
    lines += [f"|---|---:|{'---:|---:|' if scaled else ''}---:|"]
    for assignment in result["assignments"]:
        passed = sum(function["status"] == "passed" for function in assignment["functions"])
        count = len(assignment["functions"])
        cells = [assignment["name"], points_text(assignment["points"]), *scaled.get(assignment["name"], ())]
        lines.append(f"| {' | '.join(cells)} | {passed} of {count} functions |")
    excerpts = Excerpts(files)
    for found in findings_by_assignment(result).values():
        lines += [line for finding in found for line in _check_lines(finding, excerpts)]
    return "\n".join(lines) + "\n"


def _comment_lines(comment: Document, files: list[CodeFile], zone: str) -> list[str]:
    day = local_time(comment["time"], zone).partition(",")[0]
    place = f"{comment_place(comment)}{', before it was changed' if is_changed(files, comment) else ''}"
    about = ", ".join(filter(None, [clean(comment["by"], 80), day, place]))
    line = f"- {_escaped(comment['text'], 2000)}" + (f" ({_escaped(about)})" if about else "")
    _, code = commented_lines(files, comment)
    return [line, "", code_block("\n".join(map(_code_line, code)), "python"), ""] if code else [line]


def _check_lines(check: Document, excerpts: Excerpts) -> list[str]:
    mark, status = STATUS_MARKS[check["status"]], STATUS_WORDS[check["status"]]
    subject, title = panel_title(check)
    head = f"## {mark} {subject}{title and f': {_escaped(title)}'}"
    lines = ["", head, "", f"{status}, {points_text(check['points'])} points", ""]
    rows = [f"{label + ':':19} {text}".replace("\n", "\n" + 20 * " ") for label, text in check_details(check)]
    rows = [clean(headline(check)), *rows] if check["message"] else rows
    lines += [code_block("\n".join(rows), "text")] if rows else []
    where, code = excerpts(check)
    lines += ["", f"{_escaped(where)}:", "", code_block("\n".join(map(_code_line, code)), "python")] if code else []
    lines += ["", code_block(error_map_text(check), "text")] if check["error_map"] else []
    output = clean(check["output"], MAX_OUTPUT)
    lines += ["", "printed:", "", code_block(output, "text")] if check["output"].strip() else []
    return lines


def _code_line(line: ShownLine) -> str:
    if line.number is None:
        return "       …"
    return f"{'>' if line.status else ' '} {line.number:4} {line.text}".rstrip()


def _escaped(text: str, limit: int = 400) -> str:
    """Return the text, on one line, without characters that mean something in Markdown."""
    return _MARKDOWN.sub(r"\\\1", " ".join(clean(text, limit).split()))
