"""The commands that work through a class: points for the items of rubrics, and what students ask."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import click

from autograder.cli import options
from autograder.core.text import clean, counted
from autograder.errors import UsageError

MAX_MESSAGE = 100_000  # characters

if TYPE_CHECKING:
    from autograder.classroom.storage.gradebook import Gradebook
    from autograder.documents.reading import Document


@click.command()
@click.argument("out", metavar="OUT", type=options.PATH)
@click.argument("assignment", required=False)
@click.option("--section", metavar="NAME", help="Only the students of this section.")
@click.option("--mine", is_flag=True, help="Only the students whose teaching assistant you are (see --by).")
@click.option("--by", metavar="NAME", default="", help="Name to record (default: your user name).")
@options.curriculum
def mark(out: Path, assignment: str | None, section: str | None, mine: bool, by: str) -> None:
    """Give points for the items of rubrics, one student after the other.

    Shows a student's code and asks for the points of each item that has none. Type them and, after a space, what the
    student reads: 4 Right, but not why. Enter alone leaves the item for later; q ends. Each answer is recorded at once,
    like those of "headway comment", and several people can mark at the same time.
    """
    from autograder.classroom.comments.comment_records import current_user
    from autograder.classroom.storage import gradebook

    book, by = gradebook.read(out), by.strip() or current_user()
    names = [name for name, rules in book.policy.assignments.items() if rules.rubric]
    if not names:
        options.show("No assignment has a rubric. Add one to course.toml, then: headway grade --out OUT")
        return
    if assignment is not None and assignment not in names:
        raise UsageError(f"{clean(assignment, 80)} has no rubric. Assignments with one: {', '.join(names)}")
    chosen = [
        student["submission"]
        for student in book.students
        if (section is None or student["section"] == section) and (not mine or student["ta"].lower() == by.lower())
    ]
    if not chosen:
        sections, assistants = ({clean(one[key], 60) for one in book.students} - {""} for key in ("section", "ta"))
        known = (
            f"Sections: {', '.join(sorted(sections)) or 'none'}. Assistants: {', '.join(sorted(assistants)) or 'none'}"
        )
        raise UsageError(f"no student was chosen. {known}")
    given = skipped = 0
    try:
        for name in [assignment] if assignment else names:
            for number, submission in enumerate(chosen, start=1):
                book = gradebook.read(out)  # another person may have marked it
                student = next(one for one in book.students if one["submission"] == submission)
                if items := _without_points(student, name):
                    _show(book, student, name, f"{name}, student {number} of {len(chosen)}")
                    answers = [_mark(out, submission, name, item, by) for item in items]
                    given += sum(answers)
                    skipped += len(answers) - sum(answers)
    except click.Abort:  # Ctrl-C, Ctrl-D or q
        options.show("\nEnded. What you gave is recorded. To go on, run the same command again.")
        return
    left = f", {skipped} left for later" if skipped else ""
    options.show(f"{counted(given, 'item')} marked{left}. Next: headway report {shlex.quote(str(out))} --feedback")


def _without_points(student: "Document", assignment: str) -> "list[Document]":
    grade = student["assignments"].get(assignment)
    if grade is None or grade["excused"] or grade["status"] == "missing":
        return []
    return [item for item in grade["rubric"] if item["earned"] is None]


def _show(book: "Gradebook", student: "Document", assignment: str, title: str) -> None:
    from autograder.classroom.class_report import student_pages
    from autograder.report import student_results
    from autograder.workspace import files

    options.show(f"\n{title}", "bold")
    shown = student_pages.results_of(book, student, [assignment])
    if shown.code is not None:
        parts = shown.code["modules"].get(assignment, [])
        lesson = files.stub_text(assignment, options.selected_curriculum()).splitlines()
        shown.code = {**shown.code, "modules": {assignment: _written(parts, {*lesson})} if parts else {}}
    student_results.render(shown, options.make_console(), whole_code=True)


def _written(parts: "list[Document]", lesson: set[str]) -> "list[Document]":
    """Return the parts of stored code line by line, without the comments that were in the lesson already."""
    written: list[Document] = []
    for part in parts:
        is_given = True
        for number, text in enumerate(part["text"].split("\n"), part["line"]):
            is_given = (text.startswith("#") and text in lesson) or (is_given and not text.strip())
            if not is_given:
                written.append({**part, "line": number, "text": text})
    return written


def _mark(out: Path, submission: str, assignment: str, item: "Document", by: str) -> bool:
    """Ask for the points of an item until they can be recorded; return whether they were given."""
    from autograder.classroom.comments.comment_records import requested
    from autograder.classroom.score import record_decisions
    from autograder.core.csv_table import parse_number

    while answer := _asked(f"{clean(item['title'], 200)} (0 to {item['points']:g} points)"):
        points, _, text = answer.partition(" ")
        number = parse_number(points)
        if number is None:
            options.show("Type the points first, such as: 4 Right, but not why.  Enter: later. q: end.")
            continue
        request = requested(submission, assignment=assignment, rubric=item["id"], points=number, text=text.strip())
        try:
            record_decisions(out, [request], by, options.selected_curriculum())
        except UsageError as error:
            options.show(str(error))
            continue
        return True
    return False


def _asked(question: str) -> str:
    answer: str = click.prompt(question, default="", show_default=False)
    if answer.strip() == "q":
        raise click.Abort
    return answer.strip()


@click.command()
@click.argument("out", metavar="OUT", type=options.PATH)
@click.argument("file", type=click.File(encoding="utf-8", errors="replace"))
@click.option("--by", metavar="NAME", default="", help="Name to record (default: your user name).")
@options.curriculum
def request(out: Path, file: TextIO, by: str) -> None:
    """File what a student asks about a grade; it stays open until a comment answers it.

    FILE is a message with the text of the feedback page ("Ask about this"), or - for standard input. Open requests are
    listed by "headway show", "headway choose" and the class report.
    """
    from autograder.classroom.comments.comment_request import read_request
    from autograder.classroom.score import record_decisions
    from autograder.classroom.storage import gradebook
    from autograder.classroom.submissions.student_names import StudentNames

    book = gradebook.read(out)
    asked = read_request(file.read(MAX_MESSAGE), StudentNames.of_documents(book.students), book.document)
    (record,) = record_decisions(out, [asked], by, options.selected_curriculum()).records
    words = map(shlex.quote, (str(out), record.student))
    options.show(f"Filed for {clean(record.student, 80)}: {record.assignment}: {clean(record.summary, 200)}")
    options.show(f"To answer: headway comment {' '.join(words)} TEXT --assignment {record.assignment}", "dim")
