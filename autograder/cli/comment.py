"""The command `headway comment`."""

import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from autograder.cli import options
from autograder.core.text import clean
from autograder.errors import UsageError

if TYPE_CHECKING:
    from rich.console import Console

    from autograder.classroom.comments.comment_records import CommentRecord
    from autograder.classroom.regrade import Regrade

MAX_SHOWN = 20  # changes on the screen
TINY = 1e-5


@click.command()
@click.argument("out", metavar="OUT", type=options.PATH)
@click.argument("student", required=False)
@click.argument("text", required=False, default="")
@click.option("--assignment", metavar="NAME", default="", help="The assignment (default: the comment is on all).")
@click.option("--rubric", metavar="ID", default="", help="The rubric item of course.toml that --points is for.")
@click.option("--points", type=float, metavar="N", help="Points for the rubric item.")
@click.option("--add", type=float, metavar="N", help="Add points to the score; a negative number deducts them.")
@click.option("--score", type=float, metavar="N", help="Set the score, regardless of checks and late penalties.")
@click.option("--reason", default="", help="For the record only; the student does not see it.")
@click.option("--by", metavar="NAME", default="", help="Name to record (default: your user name).")
@click.option("--undo", "undoes", metavar="ID", default="", help="Undo an earlier comment of this student.")
@click.option("--from", "table", type=options.PATH, metavar="FILE", help="Read comments and points from a CSV file.")
@options.curriculum
@options.no_color
def comment(out: Path, student: str | None, text: str, by: str, table: Path | None, **choices: Any) -> None:
    """Comment on a student's work, or change its score.

    Records who decided what and why in OUT/comments.jsonl, and writes class.json and grades.csv again, without grading.
    STUDENT is any name, id or address in the class. The student reads TEXT in the feedback. Without TEXT and options,
    lists the comments of a student.

    For example: headway comment OUT ada "Shown in the lab." --assignment softmax --score 17
    """
    from rich.text import Text

    from autograder.classroom import regrade
    from autograder.classroom.comments import comment_records, comment_table
    from autograder.classroom.comments.comment_request import CommentRequest, not_recorded
    from autograder.classroom.storage import gradebook
    from autograder.classroom.submissions.student_names import StudentNames

    console, book = options.make_console(), gradebook.read(out)
    names = StudentNames.of_documents(book.students)
    given = CommentRequest("", text, **choices)
    if table is not None:
        if student or given != CommentRequest(""):
            raise UsageError("--from reads students, texts and points from the file. Leave out the other arguments.")
        requests = comment_table.read(table, names)
        new = not_recorded(requests, comment_records.read(out))
        if len(new) < len(requests):
            again = "is" if len(requests) - len(new) == 1 else "are"
            console.print(Text(f"{len(requests) - len(new)} of {len(requests)} rows {again} recorded already: skipped"))
        if not (requests := new):
            return
    elif student is None:
        raise UsageError("name a student: headway comment OUT STUDENT TEXT. For many: headway comment OUT --from FILE")
    else:
        submission = names.find(student, "headway comment OUT")
        if submission is None:
            raise UsageError(names.unknown(student))
        if given == CommentRequest(""):
            _list_comments(out, submission, console)
            return
        requests = [replace(given, student=submission)]
    done = regrade.apply(out, requests, by, options.selected_curriculum())
    for record in done.records[:MAX_SHOWN]:
        _show_change(done, record, console)
    if len(done.records) > MAX_SHOWN:
        console.print(f"… and {len(done.records) - MAX_SHOWN} more")
    first, last = done.records[0], done.records[-1]
    number = f"comment {last.id}" if first is last else f"comments {first.id} to {last.id}"
    by_whom = f"Recorded by {clean(last.by, 80)} as {number} in {out / 'comments.jsonl'}."
    folder = shlex.quote(str(out))
    console.print(Text(f"{by_whom}{_how_to_undo(folder, done.records)}", "dim"))
    console.print(Text(f"Next: headway report {folder} --feedback, or headway export FORMAT {folder}", "dim"))


def _how_to_undo(folder: str, records: "Sequence[CommentRecord]") -> str:
    """Return the command that undoes a record, or one of several; an undo cannot be undone."""
    if len(records) > 1:
        return f" To undo one: headway comment {folder} STUDENT --undo NUMBER"
    record = records[0]
    return (
        "" if record.undoes else f" To undo: headway comment {folder} {shlex.quote(record.student)} --undo {record.id}"
    )


def _show_change(done: "Regrade", record: "CommentRecord", console: "Console") -> None:
    """Print the score before and after, and how it follows from the points."""
    from rich.text import Text

    from autograder.classroom.storage.gradebook import display_name
    from autograder.core.points import format_points
    from autograder.report.score_words import score_lines

    before, after = done.students(record.student)
    name = clean(display_name(after), 80)
    changes = [
        f"{key} {format_points(old['score'])} → {format_points(new['score'])} of {format_points(new['possible'])}"
        for key, new in after["assignments"].items()
        if abs((old := before["assignments"][key])["score"] - new["score"]) > TINY
    ]
    totals = [one["percent"] for one in (before, after)]
    if None not in totals and abs(totals[0] - totals[1]) > TINY:
        changes.append(f"total {format_points(totals[0])}% → {format_points(totals[1])}%")
    if not changes and record.changes_points:
        changes = [f"the score of {record.assignment} stays the same"]
    console.print(Text(f"{name}: {', '.join(changes) or record.summary}"))
    if record.changes_points:
        lines = score_lines(after, done.after, [record.assignment])
        console.print(Text("\n".join(f"  {line}" for line in lines), "dim"))


def _list_comments(out: Path, submission: str, console: "Console") -> None:
    """Print what was recorded about a student, the oldest first."""
    from rich.text import Text

    from autograder.classroom.comments import comment_records

    records = comment_records.read(out)
    kept = {record.id for record in comment_records.in_force(records)}
    own = [record for record in records if record.student == submission]
    for record in own:
        where = f"{record.assignment}: " if record.assignment else ""
        undone = "" if record.id in kept or record.undoes else " (undone)"
        text = ": ".join(filter(None, [record.summary, clean(record.text, 300)]))
        reason = f" [{clean(record.reason, 300)}]" if record.reason else ""
        when = record.time[:16].replace("T", " ")
        console.print(Text(f"{record.id:>4}  {when}  {clean(record.by, 40)}  {where}{text}{reason}{undone}"))
    if not own:
        console.print(
            f"No comments yet. To write one: headway comment {shlex.quote(str(out))} {shlex.quote(submission)} TEXT"
        )
