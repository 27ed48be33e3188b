"""Write JUnit XML, which Jenkins, GitLab and others show: a suite per student, a case per check.

Sources: the schema of Jenkins' xUnit plugin (github.com/jenkinsci/xunit-plugin, `junit-10.xsd`) and Ant's
(github.com/windyroad/JUnit-Schema, `JUnit.xsd`). The output satisfies both: Ant's order of elements in a suite
(`properties`, `testcase`, `system-out`, `system-err`), a time stamp without zone, `type` on every failure and error.

The file is written suite by suite, because a class of 2,000 has 750,000 cases.
"""

from pathlib import Path
from xml.etree import ElementTree as ET

from autograder.classroom.gradebook import Gradebook, display_name
from autograder.core.text import clean
from autograder.documents import Document
from autograder.report.check_report import STATUS_WORDS

_SKIPPED = ("not_started", "blocked")


def write(book: Gradebook, path: Path) -> int:
    """Write the file atomically.

    Returns:
        The number of suites.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.part")
    count = 0
    try:
        with partial.open("w", encoding="utf-8", errors="replace") as file:
            file.write('<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n')
            for student, result in book.results():
                file.write(ET.tostring(_suite(student, result, count), encoding="unicode") + "\n")
                count += 1
            file.write("</testsuites>\n")
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
    return count


def _suite(student: Document, result: Document | None, number: int) -> ET.Element:
    checks = [c for a in result["assignments"] for f in a["functions"] for c in f["checks"]] if result else []
    statuses = [check["status"] for check in checks]
    created = result["created"][:19] if result else "1970-01-01T00:00:00"
    name = _text(display_name(student))
    suite = ET.Element(
        "testsuite",
        {
            "name": name,
            "package": "headway",
            "id": str(number),
            "timestamp": created,
            "hostname": "localhost",
            "tests": str(len(checks) if result else 1),
            "failures": str(statuses.count("failed")),
            "errors": str(
                sum(status in ("error", "timeout") for status in statuses) + (not result and _not_graded(student))
            ),
            "skipped": str(sum(status in _SKIPPED for status in statuses) + (not result and not _not_graded(student))),
            "time": f"{result['seconds'] if result else 0.0:.3f}",
        },
    )
    properties = ET.SubElement(suite, "properties")
    for key in ("submission", "status", "score", "out_of"):
        ET.SubElement(properties, "property", {"name": key, "value": _text(str(student[key]))})
    for check in checks:
        suite.append(_case(check))
    if result is None:
        case = ET.SubElement(suite, "testcase", {"name": "submission", "classname": "headway", "time": "0"})
        if _not_graded(student):
            ET.SubElement(case, "error", {"type": student["status"], "message": _text(student["reason"])})
        else:
            ET.SubElement(case, "skipped")
    ET.SubElement(suite, "system-out")
    ET.SubElement(suite, "system-err")
    return suite


def _not_graded(student: Document) -> bool:
    """Return whether a student without a result document has a submission, so that the lack of one is an error."""
    return student["status"] in ("unreadable", "failed", "graded")


def _case(check: Document) -> ET.Element:
    case = ET.Element(
        "testcase",
        {"name": _text(check["title"]), "classname": check["function"], "time": f"{check['seconds']:.5f}"},
    )
    if check["status"] in _SKIPPED:
        # The reason is text, because only one of the two schemas has an attribute for it.
        ET.SubElement(case, "skipped").text = _text(
            f"{STATUS_WORDS[check['status']]}: {check['message']}".removesuffix(": ")
        )
    elif check["status"] != "passed":
        kind = "failure" if check["status"] == "failed" else "error"
        mistake = check["mistake"] or {"id": check["status"], "title": ""}
        entry = ET.SubElement(case, kind, {"type": _text(mistake["id"]), "message": _text(check["message"])})
        location = check["location"] or {}
        lines = [mistake["title"], check["inputs"] or "", f"{location['file']}:{location['line']}" if location else ""]
        entry.text = _text("\n".join(line for line in lines if line))
    return case


def _text(text: str) -> str:
    """Remove what XML 1.0 cannot contain: control characters, surrogates and the two noncharacters."""
    return clean(text).replace("\ufffe", "").replace("\uffff", "")
