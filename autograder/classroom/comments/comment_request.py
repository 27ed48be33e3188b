"""Read and check what an instructor asks to be recorded about students, before anything is written."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec import structs

from autograder.classroom.comments.comment_records import MAX_TEXT, PLACE, CommentRecord, in_force, requested
from autograder.classroom.policy.model import Policy
from autograder.classroom.submissions.student_names import StudentNames
from autograder.core import csv_table
from autograder.core.points import format_points
from autograder.core.text import clean
from autograder.documents.reading import Document
from autograder.errors import UsageError
from autograder.report.code_lines import code_files, find_line


def not_recorded(requests: Sequence[CommentRecord], stored: Sequence[CommentRecord]) -> list[CommentRecord]:
    """Return the requests that are not among the records in force, whoever made these."""
    known = {structs.replace(record, id="", time="", by="") for record in in_force(stored)}
    return [request for request in requests if request not in known]


def about_its_line(request: CommentRecord, code: Document | None) -> CommentRecord:
    """Return a request about a line with its assignment and its text; raise UsageError if there is no such line."""
    name, _, number = request.place.rpartition(":")
    files = code_files(code)
    found = find_line(files, request.assignment, {"file": name, "line": int(number)})
    if found is None:
        known = ", ".join(f"{file.name}:{file.lines[0].number} to {file.lines[-1].number}" for file in files)
        raise UsageError(f"no line {clean(request.place, 80)} in the graded code. It has {known or 'no lines'}.")
    file, index = found
    return structs.replace(request, assignment=file.module, code=file.lines[index].text)


def reusable_text(name: str, policy: Policy) -> str:
    """Return the text that `course.toml` has under a name; raise UsageError if there is none."""
    if name in policy.comments:
        return policy.comments[name]
    known = f"It has {', '.join(policy.comments)}." if policy.comments else "It has no table [comments]."
    apply = "After a change, apply it first: headway grade --out OUT"
    raise UsageError(f"course.toml has no comment {clean(name, 80)!r}. {known} {apply}")


def require_valid(request: CommentRecord, document: Document, policy: Policy, stored: Sequence[CommentRecord]) -> None:
    """Raise UsageError if the request is incomplete, gives too many points, or undoes a comment that does not exist."""
    if request.undoes:
        _require_undoable(request, stored)
        return
    if request.is_choice or request.asks:
        return
    known = [assignment["name"] for assignment in document["assignments"]]
    given = [value for value in (request.points, request.add, request.score) if value is not None]
    if len(given) > 1:
        raise UsageError("give only one of --points, --add and --score")
    if any(value != value or abs(value) > 10_000 for value in given):
        raise UsageError("points must be a number from -10000 to 10000")
    if max(len(request.text), len(request.reason)) > MAX_TEXT:
        raise UsageError(f"the text is longer than {MAX_TEXT} characters. Shorten it.")
    if request.assignment and request.assignment not in known:
        names = ", ".join(known)
        raise UsageError(f"{clean(request.assignment, 80)!r} is not graded. Name one of these: --assignment {names}")
    if request.rubric and request.points is None:
        raise UsageError(f"say how many points {request.rubric} gets: --rubric {request.rubric} --points N")
    if not given and not request.text.strip():
        raise UsageError("the comment is empty. Write a text, or points: --rubric ID --points N, --add N or --score N")
    if not given:
        return
    if not request.assignment:
        raise UsageError(f"name the assignment that the points are for: --assignment {' or '.join(known)}")
    if request.rubric or request.points is not None:
        _require_rubric_item(request, policy)
    elif not request.text.strip():
        raise UsageError("write why the score changes; the student reads it: headway comment OUT STUDENT TEXT …")
    if request.score is not None:
        possible = next(one["possible"] for one in document["assignments"] if one["name"] == request.assignment)
        if request.score < 0:
            raise UsageError("a score cannot be less than 0. To deduct points: --add -N")
        if request.score > possible + 1e-6 and policy.bonus != "extra":
            most = f"{request.assignment} has {format_points(possible)} points"
            raise UsageError(f'{most}. Give at most that many, or allow more in course.toml: bonus = "extra"')


def _require_undoable(request: CommentRecord, stored: Sequence[CommentRecord]) -> None:
    if request != requested(request.student, reason=request.reason, undoes=request.undoes):
        raise UsageError("--undo only takes back a comment. Write the new one with a second command.")
    own = [record.id for record in in_force(stored) if request.student in (record.student, record.owner)]
    if any(record.id == request.undoes and record.undoes for record in stored):
        raise UsageError(f"comment {request.undoes} is itself an undo. Write the comment again instead")
    if request.undoes not in own:
        known = f"Comments of this student: {', '.join(own)}." if own else "This student has no comments."
        raise UsageError(f"no comment {clean(request.undoes, 40)!r} to undo. {known}")


def _require_rubric_item(request: CommentRecord, policy: Policy) -> None:
    rules = policy.assignments.get(request.assignment)
    items = {item.id: item for item in rules.rubric} if rules else {}
    if request.rubric not in items:
        apply = "After a change of course.toml, apply it first: headway grade --out OUT"
        if not items:
            raise UsageError(f"{request.assignment} has no rubric. To add points: --add N. {apply}")
        missing = f"no rubric item {clean(request.rubric, 80)!r}" if request.rubric else "--points needs --rubric ID"
        raise UsageError(f"{missing}. {request.assignment} has {', '.join(items)}. {apply}")
    most, points = items[request.rubric].points, request.points or 0.0
    if not 0 <= points <= most:
        raise UsageError(f"{request.rubric} has {format_points(most)} points. Give 0 to {format_points(most)}.")


MAX_ASKED = 2000  # characters
_FIELD = re.compile(r"^[>\s]*(student|about|question):[ \t]*(.*)$", re.MULTILINE)


def read_request(text: str, names: StudentNames, document: Document) -> CommentRecord:
    """Return what a student asks, in the form of the feedback page; raise UsageError for a text without it."""
    found = {match[1]: match for match in _FIELD.finditer(text)}
    if len(found) < 3:
        missing = ", ".join(name for name in ("student", "about", "question") if name not in found)
        raise UsageError(f"this is no request of a feedback page: it has no line with {missing}")
    submission = names.require(found["student"][2].strip(), "line student")
    about, known = found["about"][2].strip(), [assignment["name"] for assignment in document["assignments"]]
    assignment = about.partition(".")[0]
    if assignment not in known:
        raise UsageError(f"line about: {clean(assignment, 80)!r} is not graded. Graded: {', '.join(known)}")
    lines = (line.lstrip("> ") for line in [found["question"][2], *text[found["question"].end() :].splitlines()])
    question = clean(" ".join(filter(None, map(str.strip, lines))), MAX_ASKED)
    if not question:
        raise UsageError("there is no text after question:")
    return requested(submission, assignment=assignment, asks=f"{clean(about, 120)}: {question}")


_TEXTS = ("text", "assignment", "rubric", "reason", "place")
_NUMBERS = ("points", "add", "score")


def read_table(path: Path, names: StudentNames) -> list[CommentRecord]:
    """Return a request for each row with a text or points; raise UsageError, naming the line, for a wrong one."""
    table = csv_table.read_given(path, "Save it as CSV (UTF-8)", option="--from FILE")
    titles = [title.lower() for title in table.titles]
    if not titles:
        raise UsageError(f"{path} is empty. It needs a row of titles, such as student,assignment,rubric,points,text")
    if "student" not in titles:
        known = ", ".join(("student", *_TEXTS, *_NUMBERS))
        raise UsageError(f"{path} has no column student. Its columns may be: {known}")
    requests = []
    for number, row in zip(table.line_numbers, table.rows, strict=True):
        cells = {title: cell.strip() for title, cell in zip(titles, row, strict=True)}
        where = f"{path}, line {number}"
        if any(cells.get(name) for name in ("text", *_NUMBERS)):
            student = names.find(cells.get("student", ""), f"{where}, column student")
            if student is None:
                raise UsageError(f"{where}: {names.unknown(cells.get('student', ''))}")
            values: dict[str, Any] = {name: cells.get(name, "") for name in _TEXTS}
            if not re.match(PLACE, values["place"]):
                raise UsageError(f"{where}: place must be a file and a line, such as softmax.py:12")
            values |= {name: _number(cells.get(name, ""), where, name) for name in _NUMBERS}
            requests.append(requested(student, **values))
    if not requests:
        raise UsageError(f"{path} has no row with a text or points")
    return requests


def _number(text: str, where: str, column: str) -> float | None:
    number = csv_table.parse_number(text)
    if text and number is None:
        raise UsageError(f"{where}: {column} must be a number, not {clean(text, 40)!r}")
    return number
