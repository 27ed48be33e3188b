"""Write Gradescope's `results.json`, one per student.

Source: "Autograder Specifications", section "Output format" (gradescope-autograders.readthedocs.io/en/latest/specs/).
"""

import json
from pathlib import Path
from typing import Any, Literal

from autograder.classroom.storage.gradebook import Gradebook, has_no_result
from autograder.core.files import write_atomically
from autograder.documents.reading import Document
from autograder.report.score_words import score_lines
from autograder.report.student_feedback import comment_texts

Visibility = Literal["visible", "after_due_date", "after_published", "hidden"]


def write(book: Gradebook, folder: Path, *, visibility: Visibility = "visible", assignment: str | None = None) -> int:
    """Write `<submission>.json` into `folder` for every student with a result; return the number of files.

    With `assignment`, score and tests are those of this assignment.
    """
    count, names = 0, book.file_names()
    for student, result in book.results([assignment] if assignment else ()):
        chosen = [grade for name, grade in student["assignments"].items() if assignment in (None, name)]
        if any(grade["status"] != "missing" for grade in chosen) and not any(map(has_no_result, chosen)):
            content = json.dumps(document_of(book, student, result, visibility, assignment), indent=1) + "\n"
            write_atomically(folder / f"{names[student['submission']]}.json", content.encode())
            count += 1
    return count


def document_of(
    book: Gradebook, student: Document, result: Document | None, visibility: Visibility, assignment: str | None = None
) -> dict[str, Any]:
    """Return one student's `results.json`, for one assignment or all; it reveals no more than the result document."""
    grade = student if assignment is None else student["assignments"][assignment]
    base = {
        "score": round(grade["score"], 4),
        "visibility": visibility,
        "stdout_visibility": "hidden",
        "output_format": "text",
        "extra_data": {"submission": student["submission"]} | {key: book.document[key] for key in ("versions", "seed")},
    }
    if result is None or not result["assignments"]:
        return {**base, "output": f"This submission could not be graded: {grade['reason']}", "tests": []}
    hides = book.policy.checks.hides
    tests = [
        # Gradescope's numbers are assignment.function.check.
        _test(check, f"{assignment['number']}.{i}.{j}", "hidden" if hides(check["id"]) else visibility)
        for assignment in result["assignments"]
        for i, function in enumerate(assignment["functions"], 1)
        for j, check in enumerate(function["checks"], 1)
    ]
    output, seconds = _summary(book, student, result, assignment), round(result["seconds"], 3)
    return {**base, "execution_time": seconds, "output": output, "tests": tests}


def _test(check: Document, number: str, visibility: Visibility) -> dict[str, Any]:
    lines = [check["message"]]
    lines += [f"likely cause: {check['mistake']['title']}"] if check["mistake"] else []
    lines += [f"input: {check['inputs']}"] if check["inputs"] and check["status"] != "passed" else []
    lines += [f"in: {check['location']['file']}:{check['location']['line']}"] if check["location"] else []
    others = [name for name in check["blocked_by"] if name != check["function"] or not check["message"]]
    lines += [f"blocked by: {', '.join(others)}"] if others else []
    return {
        "name": f"{check['function']} · {check['title']}",
        "number": number,
        "score": check["points"]["earned"],
        "max_score": check["points"]["possible"],
        "status": "passed" if check["status"] == "passed" else "failed",
        "output": "\n".join(line for line in lines if line),
        "output_format": "text",
        "tags": [check["function"].partition(".")[0], check["status"]],
        "visibility": visibility,
    }


def _summary(book: Gradebook, student: Document, result: Document, assignment: str | None) -> str:
    """Return how the score follows from the points, the instructor's comments, and notes on the submission."""
    lines = score_lines(student, book.document, () if assignment is None else [assignment])
    comments = comment_texts(student, book.code_of(student), assignment)
    return "\n".join([*lines, *comments, *result["notes"]])
