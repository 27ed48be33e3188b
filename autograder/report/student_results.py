"""Everything about one student, for the instructor: `headway show`, in the terminal and as a page.

The instructor sees what the stored documents hold, which the feedback level of the run may have limited.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from autograder.core.points import format_points
from autograder.core.text import clean, counted, listed, local_time
from autograder.documents.reading import Document
from autograder.report import open_questions, styles
from autograder.report.check_report import STATUS_STYLES
from autograder.report.code_lines import CodeFile, Excerpts, ShownLine, code_files, commented_lines
from autograder.report.findings import check_details, findings_by_assignment
from autograder.report.html import render_page
from autograder.report.student_feedback import file_lines, page_values, student_exception_lines
from autograder.report.wording import CAUSES, STATUS_WORDS, comment_place, headline, panel_title, points_text

LIMITED = {
    level: f'{missing} are not in the stored results, because the class was graded with feedback = "{level}". '
    'To have them: feedback = "full", and grade again.'
    for level, missing in {"summary": "Expected values and differences", "none": "Messages, inputs and lines"}.items()
}
HIDDEN = "Of hidden checks, the stored results hold only the points, and whether they passed."
MAX_TITLES = 4


@dataclass
class StudentResults:
    """Everything that is known about one student of a graded class."""

    student: Document  # the entry in the class document, with the `time_zone` of the course
    class_document: Document
    result: Document | None
    code: Document | None
    arithmetic: Sequence[str] = ()  # how the score is computed, in words
    history: Sequence[Document] = ()  # changes of the grades, oldest first
    out: str = "OUT"  # the folder of the class, for commands
    links: Sequence[dict[str, str]] = field(default_factory=list)  # text and address, for the page

    @property
    def name(self) -> str:
        """The name to show."""
        return clean(self.student["name"] or self.student["id"] or self.student["submission"], 120)

    def about(self) -> list[str]:
        """Return the ids, the address and the section."""
        student = self.student
        ids = [student["id"], *(f"{platform} {value}" for platform, value in student["ids"].items())]
        section = student["section"]
        if section and not section.lower().startswith("section"):  # as in "Section A"
            section = f"section {section}"
        assistant = [f"TA {student['ta']}"] if student["ta"] else []
        texts = [student["submission"], *ids, student["email"], section, *assistant]
        return [clean(text, 100) for text in dict.fromkeys(filter(None, texts)) if text != student["name"]]

    def total(self) -> str:
        """Return the score in words."""
        student = self.student
        if not student["out_of"]:
            return "No score, because no assignment counts"
        percent, score, out_of = (format_points(student[key]) for key in ("percent", "score", "out_of"))
        return f"{percent}%  ({score} of {out_of})"

    def limits(self) -> str:
        """Return what the feedback level has kept out of the stored results, or ''."""
        policy = self.class_document["course"]["policy"]
        is_hiding = policy["checks"]["hidden"] and policy["feedback"] != "full"
        texts = [LIMITED.get(policy["feedback"]), HIDDEN if is_hiding else None] if self.result else []
        return " ".join(filter(None, texts))

    def notes(self) -> list[str]:
        """Return exceptions, adjustments and notes."""
        lines, zone = student_exception_lines(self.student), self.student["time_zone"]
        for name, grade in self.student["assignments"].items():
            lines += [f"{name}: {_adjustment_text(change, zone)}" for change in grade["adjustments"]]
        return [clean(line, 400) for line in dict.fromkeys([*lines, *self.student["notes"]])]

    def files(self) -> list[str]:
        """Return which files were graded, and which ones were ignored, and why."""
        return [clean(line, 300) for line in file_lines(self.student, self.result)]

    def attempts(self) -> list[dict[str, Any]]:
        """Return for each assignment which attempt counts, and what became of it."""
        functions = {a["name"]: a["functions"] for a in (self.result or {"assignments": []})["assignments"]}
        rows = []
        for name, grade in self.student["assignments"].items():
            late = f"{counted(grade['late_days'], 'day')} late" if grade["late_days"] else ""
            counts = grade["counts"]
            states = [grade["reason"] or grade["status"] if grade["status"] != "graded" else "", late]
            states += [counts if counts != "counts" else "", "set by hand" if grade["by_hand"] else ""]
            attempt = f"{grade['attempt']} of {grade['attempts']}" if grade["attempts"] else "none"
            rows.append(
                {
                    "name": clean(name, 60),
                    "score": f"{format_points(grade['score'])} / {format_points(grade['possible'])}",
                    "functions": functions.get(name, []),
                    "attempt": attempt,
                    "submitted": local_time(grade["submitted_at"], self.student["time_zone"]),
                    "state": clean(", ".join(filter(None, states)), 200),
                    "rubric": grade["rubric"],
                }
            )
        return rows

    def history_lines(self) -> list[dict[str, Any]]:
        """Return each change of a grade with its time, cause and author, and whether a run gave the first grade."""
        return [
            {
                "time": local_time(entry["time"], self.student["time_zone"]),
                "text": _history_text(entry),
                "is_first": entry["before"] is None and entry["cause"] == "run",
            }
            for entry in self.history
        ]

    def assignments(self) -> list[dict[str, Any]]:
        """Return each checked assignment with its findings and the code, which is marked where they are."""
        shown = []
        by_assignment = findings_by_assignment(self.result) if self.result else {}
        for assignment in self.result["assignments"] if self.result else ():
            found = by_assignment[assignment["name"]]
            module = {name: parts for name, parts in _modules(self.code).items() if name == assignment["name"]}
            files = code_files({"modules": module}, found, self.student["comments"])
            statuses = {function["name"]: function["status"] for function in assignment["functions"]}
            shown.append(
                {
                    "name": assignment["name"],
                    "points": assignment["points"],
                    "findings": found,
                    "files": files,
                    "excerpt": Excerpts(files),
                    "passed": set(statuses.values()) == {"passed"},
                    "not_started": [name for name, status in statuses.items() if status == "not_started"],
                }
            )
        return shown

    def other_files(self) -> list[CodeFile]:
        """Return the modules that belong to no checked assignment."""
        checked = {assignment["name"] for assignment in self.result["assignments"]} if self.result else set()
        return code_files({"modules": {k: v for k, v in _modules(self.code).items() if k not in checked}})


def _modules(code: Document | None) -> Document:
    return code["modules"] if code else {}


def _adjustment_text(adjustment: Document, zone: str) -> str:
    change = f"set to {adjustment['score']:g}" if adjustment["score"] is not None else f"{adjustment['add']:+g} points"
    who = ", ".join(filter(None, [adjustment["by"], local_time(adjustment["time"], zone).partition(",")[0]]))
    return f"{change}{f' ({who})' if who else ''}{': ' if adjustment['text'] else ''}{adjustment['text']}"


def _history_text(entry: Document) -> str:
    def points(value: Any) -> str:
        return format_points(value) if isinstance(value, int | float) else "–" if value is None else str(value)

    unit = "" if entry["assignment"] else "%"
    change = f"{points(entry['before'])} → {points(entry['after'])}{unit}"
    cause = CAUSES.get(entry["cause"], str(entry["cause"]))
    reason = f": {entry['reason']}" if entry.get("reason") else ""
    by = f", {entry['by']}" if entry["by"] else ""
    return clean(f"{entry['assignment'] or 'total'} {change} ({cause}{by}{reason})", 300)


def as_page(shown: StudentResults) -> str:
    """Return the page of a student for the instructor."""
    has_places = any(comment["location"] for comment in shown.student["comments"])
    files = code_files(shown.code) if has_places else []
    return render_page(
        "student_results.html.j2",
        styles=("page.css", "student.css", "student_results.css"),
        **page_values(shown.student),
        is_for_student=False,
        title=clean(shown.class_document["course"]["title"], 120) or "results",
        student={**shown.student, "name": shown.name},
        results=shown,
        commented=partial(commented_lines, files),
    )


def render(shown: StudentResults, console: Console, *, whole_code: bool = False) -> None:
    """Print everything about a student; the code around each finding, or all of it."""
    console.print(Text.assemble("\n", (shown.name, "bold"), (f"  {' · '.join(shown.about())}", "dim")))
    console.print(Text.assemble("\n", (shown.total(), "bold")))
    for line in shown.arithmetic:
        console.print(Padding(Text(clean(line)), (0, 0, 0, 2)))
    _print_attempts(shown, console)
    comments = [_comment_text(comment, shown.student["time_zone"]) for comment in shown.student["comments"]]
    _print_list("Comments", comments, console)
    _print_list("Notes and exceptions", shown.notes(), console)
    _print_list("Files", shown.files(), console)
    open_questions.render([shown.student], shown.out, console)
    entries = [entry for entry in shown.history_lines() if not entry["is_first"]]  # the table above has that one
    changes = [f"{entry['time']}  {entry['text']}" for entry in entries]
    _print_list("History of grades", changes, console)
    if shown.limits():
        console.print(Text(f"\n{shown.limits()}", "dim"))
    for assignment in shown.assignments():
        _print_assignment(assignment, console, whole_code)
    if whole_code:
        for file in shown.other_files():
            _print_code(file.title, file.lines, console)
    console.print()


def _comment_text(comment: Document, zone: str) -> str:
    where = comment_place(comment)
    about = f"{local_time(comment['time'], zone)}  {comment['by']}{where and f' on {where}'}"
    return clean(f"{about}: {comment['text']}")


def _print_attempts(shown: StudentResults, console: Console) -> None:
    table = styles.grid("left", "right", "left", "dim", "dim", "fold")
    for row in shown.attempts():
        marks = Text("").join(Text(*STATUS_STYLES[function["status"]]) for function in row["functions"])
        attempt = f"attempt {row['attempt']}" if row["attempt"] not in ("none", "1 of 1") else ""
        texts = map(Text, (attempt, row["submitted"], row["state"]))
        table.add_row(Text(row["name"]), Text(row["score"]), marks, *texts)
        for item in row["rubric"]:
            earned = "not graded yet" if item["earned"] is None else f"{item['earned']:g} / {item['points']:g}"
            row_texts = f"  {clean(item['title'] or item['id'], 60)}", earned, "", "", "", clean(item["comment"])
            table.add_row(*map(Text, row_texts))
    console.print()
    console.print(table)


def _print_list(title: str, lines: Sequence[str], console: Console) -> None:
    if lines:
        console.print(Text(f"\n{title}", "bold"))
        for line in lines:
            console.print(Padding(Text(line), (0, 0, 0, 2)))


def _print_assignment(assignment: dict[str, Any], console: Console, whole_code: bool) -> None:
    if not assignment["findings"] and not whole_code:
        return
    console.print(Text.assemble("\n", (assignment["name"], "bold underline")))
    excerpts = Excerpts(assignment["files"])
    for check in assignment["findings"]:
        mark, style = STATUS_STYLES[check["status"]]
        subject, check_title = panel_title(check)
        title = Text.assemble((f"{mark} {subject}", f"bold {style}"), f" · {check_title}" if check_title else "")
        points = Text(f"{STATUS_WORDS[check['status']]}, {points_text(check['points'])}")
        heading = styles.grid("fold", "dim")
        heading.add_row(title, points)
        console.print()
        console.print(heading)
        if check["message"]:
            console.print(Padding(Text(clean(headline(check)), "bold"), (0, 0, 0, 2)))
        table = styles.grid("dim", "fold")
        for label, text in check_details(check):
            lines = text.split("\n")
            most = len(lines) if len(lines) <= MAX_TITLES else MAX_TITLES - 1
            table.add_row(Text(label), Text(listed(lines, most, "\n")))
        console.print(Padding(table, (0, 0, 0, 2)))
        if not whole_code:
            _print_code(*excerpts(check), console)
    if whole_code:
        for file in assignment["files"]:
            _print_code(file.title, file.lines, console)


def _print_code(title: str, lines: Sequence[ShownLine], console: Console) -> None:
    if not lines:
        return
    console.print(Padding(Text(title, "dim"), (1, 0, 0, 2)))
    table = styles.grid("right dim", "left", "fold", gap=1)
    for line in lines:
        if line.number is None:
            table.add_row(Text(), Text(), Text("…", "dim"))
            continue
        mark, style = STATUS_STYLES.get(line.status, ("→", styles.BLUE) if line.status else ("│", "dim"))
        table.add_row(Text(str(line.number)), Text(mark, style), Text(line.text, style if line.status else ""))
        for note in line.notes:
            table.add_row(Text(), Text(), Text(f"  ↳ {': '.join(filter(None, note))}", style))
    console.print(Padding(table, (0, 0, 0, 2)))
