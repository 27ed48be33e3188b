"""What one student gets: the result document as a page and as Markdown, at the level that the document holds.

Nothing is looked up anywhere else: a document without expected values makes feedback without them.
"""

import re
from typing import Any

from autograder.core.text import clean, counted
from autograder.report.check_report import STATUS_STYLES, STATUS_WORDS, points_text
from autograder.report.error_map import MARKS
from autograder.report.html import render

Document = dict[str, Any]
MAX_OUTPUT = 1500
_MARKDOWN = re.compile(r"([\\`*_{}\[\]()<>#+!|~&])")


def check_details(check: Document) -> list[tuple[str, str]]:
    """What a check has to say, as pairs of a word and a text of one line or more."""
    rows = [("case", check["case"])]
    if check["wrong"]:
        rows.append(("wrong", f"{check['wrong']['count']} of {check['wrong']['total']} values"))
    if check["shapes"]:
        rows.append(
            ("shape", f"yours {tuple(check['shapes']['yours'])}, expected {tuple(check['shapes']['expected'])}")
        )
    worst = check["worst"]
    if worst:
        place = ", ".join(f"{axis} {i}" for axis, i in zip(worst["axes"], worst["index"], strict=True))
        rows.append(("worst", f"[{place}]: yours {worst['yours']}, expected {worst['expected']}"))
    if check["departure"]:
        rows.append(("right up to", check["departure"]))
    if check["mistake"]:
        reason = check["mistake"].get("reason")
        rows.append(("looks like", check["mistake"]["title"] + (f" ({reason})" if reason else "")))
        rows.append(("think about", check["mistake"].get("hint")))
    if check["where"]:
        rows.append(("where", f"{check['where']['file']}:{check['where']['line']}"))
    itself = set(check["blocked_by"]) == {check["function"]}
    if check["blocked_by"] and not (itself and check["message"]):  # which says it already
        rows.append(("make right first", ", ".join(check["blocked_by"])))
    rows += [("NumPy says", hint) for hint in check["hints"]]
    rows.append(("help", check["help"]))
    if check["status"] != "passed" and not check["message"] and not any(text for _, text in rows):
        rows.append(("not told", "what this check found; it counts, and only its points are told"))
    rows.append(("the same in", "\n".join(check.get("also", ()))))
    return [(word, clean(text)) for word, text in rows if text]


def picture(check: Document) -> str:
    """Which elements are wrong, in characters: the same as in the terminal, without colours."""
    found = check["picture"]
    return "\n".join("".join(MARKS[mark][0] for mark in row) for row in found["rows"]) if found else ""


def reported_checks(function: Document) -> list[Document]:
    """The checks of a function that say something. Of those that were not started, one says it all.

    A syntax error stops every check, and of a hidden function every check is silent: what would be said word for word
    again is said once, by the first, with the titles of the others in `also` and the points of all.
    """
    found: dict[tuple[str, ...], Document] = {}
    for number, check in enumerate(function["checks"]):
        if check["status"] in ("passed", "not_started"):
            continue
        own = (check["status"] != "error" and check["message"]) or check["output"].strip() or check["mistake"]
        said = (check["status"], check["message"], str(check["where"]), str(check["help"]), str(number) if own else "")
        if said not in found:
            found[said] = {**check, "also": []}
        else:
            first = found[said]
            first["also"].append(check["title"])
            first["points"] = {key: first["points"][key] + check["points"][key] for key in ("earned", "possible")}
    return list(found.values())


def scaled_points(student: Document, result: Document) -> dict[str, tuple[str, str]]:
    """How points of checks become the score: by assignment its points after the policy, and what it counts.

    Empty where the points of the checks are what counts, so that there is nothing to explain.
    """
    found: dict[str, tuple[str, str]] = {}
    for assignment in result["assignments"]:
        name = assignment["name"]
        grade, weight = student.get("assignments", {}).get(name), student.get("weights", {}).get(name)
        if grade is None or weight is None:
            return {}
        share = grade["score"] / grade["possible"] if grade["possible"] else 0.0
        left_out = "excused" if grade.get("excused") else "dropped" if name in student["dropped"] else ""
        counts = left_out or f"{weight * share:.4g} / {weight:g}"
        found[name] = (f"{grade['score']:.4g} / {grade['possible']:g}", counts)
    same = all(set(found[one["name"]]) == {points_text(one["points"])} for one in result["assignments"])
    return {} if same else found


def student_exception_lines(student: Document) -> list[str]:
    """What an instructor has student_exception_lines for a student, a line for each assignment that it concerns."""
    return [f"{name}: {one['ruling']}" for name, one in student["assignments"].items() if one.get("ruling")]


def as_html(student: Document, result: Document | None) -> str:
    """The page.

    Args:
        student: the student's entry of the class document; with `weights`, the assignments' by name, the page says how
            the score comes about.
        result: the result document; None if there is none.
    """
    return render(
        "student.html.j2",
        styles=("page.css", "student.css"),
        student={**student, "name": clean(student["name"], 120), "reason": clean(student["reason"])},
        result=result,
        details=check_details,
        picture=picture,
        reported_checks=reported_checks,
        output=lambda check: clean(check["output"], MAX_OUTPUT),
        clean=clean,
        words=STATUS_WORDS,
        marks={status: mark for status, (mark, _) in STATUS_STYLES.items()},
        points_text=points_text,
        scale=scaled_points(student, result) if result else {},
        student_exception_lines=[clean(line) for line in student_exception_lines(student)],
        days=counted(student["late_days"], "day"),
    )


def as_markdown(student: Document, result: Document | None) -> str:
    """The same as Markdown, for an issue, a pull request or a mail. What the student wrote stands in code blocks."""
    lines = [f"# {_plain(student['name'])}", ""]
    if result is None:
        return "\n".join([*lines, f"{student['status']}: {_plain(student['reason'])}", ""])
    lines += [f"**{student['score']:.4g} of {student['out_of']:g}**{_late(student)}", ""]
    lines += [f"- {_plain(note)}" for note in [*student_exception_lines(student), *result["notes"]]]
    scaled = scaled_points(student, result)
    more = " points | counts |" if scaled else ""
    lines += ["", f"| assignment | {'checks' if scaled else 'points'} |{more} passed |"]
    lines += [f"|---|---:|{'---:|---:|' if scaled else ''}---:|"]
    for assignment in result["assignments"]:
        passed = sum(function["status"] == "passed" for function in assignment["functions"])
        count = len(assignment["functions"])
        cells = [assignment["name"], points_text(assignment["points"]), *scaled.get(assignment["name"], ())]
        lines.append(f"| {' | '.join(cells)} | {passed} of {count} functions |")
    for assignment in result["assignments"]:
        for function in assignment["functions"]:
            for check in reported_checks(function):
                lines += _check(check)
    return "\n".join(lines) + "\n"


def _check(check: Document) -> list[str]:
    mark, word = STATUS_STYLES[check["status"]][0], STATUS_WORDS[check["status"]]
    name = f"{check['function']}: {_plain(check['title'])}"
    lines = ["", f"## {mark} {name}", "", f"{word}, {points_text(check['points'])} points", ""]
    told = [*([("", clean(check["message"]))] if check["message"] else []), *check_details(check)]
    rows = [f"{word + ':':17} {text}".replace("\n", "\n" + 18 * " ") if word else text for word, text in told]
    lines += [_fenced("\n".join(rows))] if rows else []
    lines += ["", _fenced(picture(check))] if picture(check) else []
    lines += ["", "printed:", "", _fenced(clean(check["output"], MAX_OUTPUT))] if check["output"].strip() else []
    return lines


def _late(student: Document) -> str:
    if not student["penalty"]:
        return ""
    return f", {student['penalty']:.4g} points less for {counted(student['late_days'], 'day')}"


def _plain(text: str) -> str:
    """Text that Markdown does not read as its own."""
    return _MARKDOWN.sub(r"\\\1", " ".join(clean(text, 400).split()))


def _fenced(text: str) -> str:
    """A code block that the text cannot end: its fence is longer than any in it."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{text}\n{fence}"
