"""The command `headway choose`."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from autograder.cli import options
from autograder.errors import UsageError

if TYPE_CHECKING:
    from autograder.classroom.comments.comment_request import CommentRequest
    from autograder.classroom.storage.gradebook import Gradebook
    from autograder.documents.reading import Document


@click.command()
@click.argument("out", metavar="OUT", type=options.PATH)
@click.argument("student", required=False)
@click.argument("what", nargs=-1, metavar="[ASSIGNMENT] [FILE | STUDENT-ID]")
@click.option("--keep", is_flag=True, help="Leave it as it is: the question needs no more attention.")
@click.option("--by", metavar="NAME", default="", help="Name to record (default: your user name).")
@options.curriculum
@options.no_color
def choose(out: Path, student: str | None, what: tuple[str, ...], keep: bool, by: str) -> None:
    r"""Decide what needs a person: which file counts, and whose work it is.

    Without more arguments, lists what is open in a class, or about one student, with a command for each question.
    Choices are recorded like comments ("headway comment OUT STUDENT" lists them, and --undo takes one back), and later
    runs respect them.

    \b
    headway choose OUT ada softmax softmax_final.py    this file counts
    headway choose OUT unknown-7 grace                 this work is Grace's
    headway choose OUT ada softmax --keep              the grade is right as it is
    """
    from rich.text import Text

    from autograder.classroom import regrade
    from autograder.classroom.storage import gradebook
    from autograder.classroom.storage.student_lookup import find_student
    from autograder.report import open_questions

    console, book = options.make_console(), gradebook.read(out)
    found = find_student(book, student) if student is not None else None
    if found is None or not (what or keep):
        students = [found] if found else book.students
        open_questions.render(students, str(out), console, limit=None, commands=True)
        if not any(one["open"] for one in students):
            console.print("Nothing is open.")
        return
    request, next_step = _request(book, found, what, keep)
    done = regrade.apply(out, [request], by, options.selected_curriculum())
    name, record = shlex.quote(found["submission"]), done.records[-1]
    undo = f"headway comment {shlex.quote(str(out))} {name} --undo {record.id}"
    console.print(Text(f"Recorded by {record.by}: {record.summary}. To undo: {undo}"))
    if next_step:
        console.print(Text(next_step, "dim"))


def _request(book: "Gradebook", student: "Document", what: tuple[str, ...], keep: bool) -> "tuple[CommentRequest, str]":
    """Return what is to be recorded, and the command that comes next."""
    from autograder.classroom.comments.comment_request import CommentRequest
    from autograder.classroom.storage.student_lookup import find_student

    known = [assignment["name"] for assignment in book.assignments]
    assignment = what[0] if what and what[0] in known else ""
    rest = what[1:] if assignment else what
    questions = [one for one in student["open"] if not assignment or one["assignment"] in (assignment, "")]
    submission, out = student["submission"], shlex.quote(str(book.out))
    if not questions:
        raise UsageError(f"nothing is open about {submission}. To see what is: headway choose {out}")
    if keep:
        if rest:
            raise UsageError(f"--keep leaves everything as it is. Leave it out to choose {rest[0]}")
        ids = tuple(one["id"] for one in questions if one["kind"] != "no_result")
        if not ids:
            raise UsageError(f"{submission} has no result yet. Grade again: headway grade DIR --out {out}")
        return CommentRequest(submission, assignment=assignment, settles=ids), ""
    if len(rest) != 1:
        raise UsageError("name one file or one student, or leave it as it is: --keep")
    for question in questions:
        if question["kind"] == "versions" and rest[0] in question["files"]:
            again = f"The next run grades it: headway grade DIR --out {out}"
            return CommentRequest(submission, assignment=question["assignment"], file=rest[0]), again
    if any(one["kind"] == "identity" for one in questions) and not assignment:
        owner = find_student(book, rest[0])["submission"]
        return CommentRequest(submission, owner=owner), f"To apply it: headway grade --out {out}"
    files = [file for one in questions if one["kind"] == "versions" for file in one["files"]]
    raise UsageError(f"{rest[0]!r} is none of the files in question. Name one of these: {', '.join(files) or '--keep'}")
