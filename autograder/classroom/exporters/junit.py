"""Write JUnit XML, which Jenkins, GitLab and others show: a suite per student, a case per check.

Sources: the schema of Jenkins' xUnit plugin (github.com/jenkinsci/xunit-plugin, `junit-10.xsd`) and Ant's
(github.com/windyroad/JUnit-Schema, `JUnit.xsd`). The output satisfies both: Ant's order of elements in a suite
(`properties`, `testcase`, `system-out`, `system-err`), a time stamp without zone, `type` on every failure and error.

The file is written suite by suite, because a class of 2,000 has 750,000 cases.
"""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from xml.etree import ElementTree as ET

from autograder.classroom.exporters import csv_cells
from autograder.classroom.storage.gradebook import Gradebook, display_name
from autograder.core.files import written_file
from autograder.core.text import clean  # removes what XML cannot contain, too
from autograder.documents.reading import Document
from autograder.report.wording import STATUS_WORDS

_SKIPPED = ("not_started", "blocked")


def write(book: Gradebook, path: Path) -> int:
    """Write the file atomically; return the number of students."""
    write_suites(book.results(), path)
    return len(book.students)


def write_suites(results: Iterable[tuple[Document, Document | None]], path: Path) -> None:
    """Write a suite for each student, given with the result document, atomically."""
    with written_file(path) as file:
        file.write(b'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n')
        for number, (student, result) in enumerate(results):
            suite = ET.tostring(_suite(student, result, number), encoding="unicode")
            file.write(f"{suite}\n".encode("utf-8", "replace"))
        file.write(b"</testsuites>\n")


def _suite(student: Document, result: Document | None, number: int) -> ET.Element:
    entries = result["assignments"] if result else []
    cases = [_case(check) for entry in entries for function in entry["functions"] for check in function["checks"]]
    checked = {entry["name"] for entry in entries}
    # An assignment without checks has one case: skipped without a submission, else an error.
    cases += [
        _case_without_checks(name, grade) for name, grade in student["assignments"].items() if name not in checked
    ]
    outcomes = Counter(child.tag for case in cases for child in case)
    suite = ET.Element(
        "testsuite",
        {
            "name": clean(display_name(student)),
            "package": "headway",
            "id": str(number),
            "timestamp": result["created"][:19] if result else "1970-01-01T00:00:00",
            "hostname": "localhost",
            "tests": str(len(cases)),
            "failures": str(outcomes["failure"]),
            "errors": str(outcomes["error"]),
            "skipped": str(outcomes["skipped"]),
            "time": f"{result['seconds'] if result else 0.0:.3f}",
        },
    )
    properties = ET.SubElement(suite, "properties")
    values = {key: str(student[key]) for key in ("submission", "status")}
    values |= {key: csv_cells.points(student[key]) for key in ("score", "out_of", "percent")}
    for name, grade in student["assignments"].items():
        values[name] = f"{csv_cells.points(grade['score'])} of {csv_cells.points(grade['possible'])}"
    for key, value in values.items():
        ET.SubElement(properties, "property", {"name": key, "value": clean(value)})
    suite.extend(cases)
    ET.SubElement(suite, "system-out")
    ET.SubElement(suite, "system-err")
    return suite


def _case_without_checks(assignment: str, grade: Document) -> ET.Element:
    case = ET.Element("testcase", {"name": "submission", "classname": assignment, "time": "0"})
    if grade["status"] in ("missing", "waiting"):
        ET.SubElement(case, "skipped").text = clean(grade["reason"] or "not graded yet")
    else:
        ET.SubElement(case, "error", {"type": grade["status"], "message": clean(grade["reason"])})
    return case


def _case(check: Document) -> ET.Element:
    seconds = f"{check['seconds']:.5f}"
    case = ET.Element("testcase", {"name": clean(check["title"]), "classname": check["function"], "time": seconds})
    if check["status"] in _SKIPPED:
        # The reason is text, because only one of the two schemas has an attribute for it.
        reason = f"{STATUS_WORDS[check['status']]}: {check['message']}".removesuffix(": ")
        ET.SubElement(case, "skipped").text = clean(reason)
    elif check["status"] != "passed":
        kind = "failure" if check["status"] == "failed" else "error"
        mistake = check["mistake"] or {"id": check["status"], "title": ""}
        entry = ET.SubElement(case, kind, {"type": clean(mistake["id"]), "message": clean(check["message"])})
        location = check["location"] or {}
        lines = [mistake["title"], check["inputs"] or "", f"{location['file']}:{location['line']}" if location else ""]
        entry.text = clean("\n".join(line for line in lines if line))
    return case
